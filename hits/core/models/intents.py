"""What rows have in common whose call must happen exactly once: they are committed before it is made."""

from __future__ import annotations

from datetime import timedelta

from django.db import models
from django.utils import timezone

# A token lives 24 hours at the marketplace; from an hour before its end the call's effect is looked for first.
TOKEN_LIFE = timedelta(hours=23)


class Intent(models.Model):
    """A call with a token of the row's own: made again with it, it has no second effect as long as the token lives.

    `hits.core.jobs.outbox` makes the calls.
    """

    attempted_at = models.DateTimeField(null=True, help_text="First time that the call was sent.")
    error = models.TextField(blank=True, help_text="What the marketplace said last, when it was not yes.")

    class Meta:
        abstract = True

    @property
    def outlives_its_token(self) -> bool:
        """Sent so long ago that asking again with the token may have a second effect."""
        return self.attempted_at is not None and self.attempted_at < timezone.now() - TOKEN_LIFE
