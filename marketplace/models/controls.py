"""What tests may turn, and what throttling remembers. Rows, because several processes share them."""

from django.db import models

from marketplace.models.accounts import Requester


class Controls(models.Model):
    """The one row (primary key 1) that a sandbox with MARKETPLACE_TEST_CONTROLS looks at."""

    clock_offset_ms = models.BigIntegerField(default=0)
    # Reads answer as of so many seconds ago.
    stale_seconds = models.FloatField(default=0)
    event_delay_seconds = models.FloatField(default=0)
    event_copies = models.PositiveSmallIntegerField(default=1)
    # Takes the place of MARKETPLACE_THROTTLE; null leaves the setting in force, empty switches throttling off.
    throttle = models.CharField(max_length=40, null=True)  # noqa: DJ001

    def __str__(self) -> str:
        return "test controls"


class Fault(models.Model):
    """What goes wrong on demand: in calls of one operation, or of all when `operation` is empty.

    Strikes at most `remaining` times (null: without end), each time with `probability`; the draws
    follow from `seed` and the number of calls drawn for, so that a run can be repeated.
    """

    class Kind(models.TextChoices):
        ERROR_BEFORE = "error_before"
        ERROR_AFTER = "error_after"
        RESET_BEFORE = "reset_before"
        DROP_AFTER = "drop_after"
        THROTTLE = "throttle"
        LATENCY = "latency"

    kind = models.CharField(max_length=12, choices=Kind.choices)
    operation = models.CharField(max_length=60, blank=True)
    remaining = models.PositiveIntegerField(null=True)
    probability = models.FloatField(default=1.0)
    seed = models.BigIntegerField(default=0)
    drawn = models.PositiveIntegerField(default=0)
    milliseconds = models.PositiveIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.kind} {self.operation or 'all'}"


class RequestCount(models.Model):
    """How many calls of one operation have arrived, refused and faulted ones included."""

    operation = models.CharField(max_length=60, unique=True)
    total = models.PositiveBigIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.operation} {self.total}"


class Bucket(models.Model):
    """A requester's token bucket, as the one moment at which it will be full again (milliseconds since 1970)."""

    requester = models.OneToOneField(Requester, models.CASCADE, related_name="+")
    full_at_ms = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return str(self.requester_id)
