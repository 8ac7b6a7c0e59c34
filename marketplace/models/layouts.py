from django.db import models

from marketplace.models.accounts import Requester
from marketplace.rules.ids import entity_id


class HitLayout(models.Model):
    """A page with ${placeholders}; never changed, because HITs are told apart by its id."""

    requester = models.ForeignKey(Requester, models.CASCADE, related_name="layouts")
    layout_id = models.CharField(max_length=64, unique=True, default=entity_id)
    name = models.CharField(max_length=128)
    html = models.TextField()
    # Values are put in as they are, so that markup and entities in them count; else they are escaped.
    raw = models.BooleanField(default=False)
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name
