from django.db import models

from marketplace.models.accounts import Requester
from marketplace.models.hits import HitType


class GroupSummary(models.Model):
    """What the list of work says about a group, measured now and then by marketplace.verbs.summaries.

    `seconds` is the median time of recent answers, which stays when the group is quiet; None where nobody takes
    so little.
    """

    hit_type = models.OneToOneField(HitType, models.CASCADE, primary_key=True, related_name="summary")
    open_hits = models.PositiveIntegerField(default=0)
    seconds = models.FloatField(null=True)

    def __str__(self) -> str:
        return f"{self.open_hits} open"


class RequesterSummary(models.Model):
    """How a requester judges: percent of recent judged answers approved, mean seconds from submit to judgement."""

    requester = models.OneToOneField(Requester, models.CASCADE, primary_key=True, related_name="summary")
    approval = models.PositiveSmallIntegerField()
    seconds = models.FloatField()

    def __str__(self) -> str:
        return f"{self.approval} % approved"
