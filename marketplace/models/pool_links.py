from django.db import models
from django.db.models import F, Q

from marketplace.models.accounts import Requester, Worker
from marketplace.models.qualifications import QualificationType


class PoolLink(models.Model):
    """A link of a requester that lets people into a qualification type, counted from the first person who joins.

    The requester's side made the link and names it by `link_id`; how many it lets in stands in each signed address.
    """

    requester = models.ForeignKey(Requester, models.CASCADE, related_name="pool_links")
    link_id = models.CharField(max_length=64)
    type = models.ForeignKey(QualificationType, models.CASCADE, related_name="pool_links")
    uses = models.PositiveIntegerField()
    used = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["requester", "link_id"], name="one_row_for_each_pool_link"),
            models.CheckConstraint(name="pool_link_used_within_uses", condition=Q(used__lte=F("uses"))),
        ]

    def __str__(self) -> str:
        return self.link_id


class PoolJoin(models.Model):
    """Somebody who has joined by a link: once for each link, also after the requester took the qualification back."""

    link = models.ForeignKey(PoolLink, models.CASCADE, related_name="joins")
    worker = models.ForeignKey(Worker, models.CASCADE, related_name="pool_joins")
    joined_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["link", "worker"], name="worker_joins_once_by_a_pool_link")]

    def __str__(self) -> str:
        return f"{self.link_id} {self.worker_id}"
