"""Refuses the calls of a requester who makes too many. The bucket is a row: all processes share it."""

from django.conf import settings
from django.db.models import F, Value
from django.db.models.functions import Greatest

from marketplace.models import Bucket, Controls, Requester
from marketplace.rules import throttling
from marketplace.rules.errors import WireError
from marketplace.verbs import clock


def admit(requester: Requester) -> None:
    """Take one token from the requester's bucket; raises WireError when it is empty.

    Without a limit it costs no query, else one UPDATE; a refused call takes no token.
    """
    rate = _rate()
    if rate is not None and not _take_token(requester, rate):
        raise WireError("ThrottlingException", "Rate exceeded")


def _rate() -> throttling.Rate | None:
    if settings.MARKETPLACE_TEST_CONTROLS:
        text = Controls.objects.filter(pk=1).values_list("throttle", flat=True).first()
        if text is not None:
            return throttling.parse(text)
    rate: throttling.Rate | None = settings.MARKETPLACE_THROTTLE
    return rate


def _take_token(requester: Requester, rate: throttling.Rate) -> bool:
    # The machine's own time: the limit protects the machine, and a clock that jumps would fill all buckets.
    now_ms = int(clock.wall().timestamp() * 1000)
    left = Bucket.objects.filter(requester=requester, full_at_ms__lte=rate.latest_full_ms(now_ms))
    moved_on = Greatest(F("full_at_ms"), Value(now_ms)) + rate.token_ms
    if left.update(full_at_ms=moved_on) == 1:
        return True
    # Empty, or not there yet: the first calls of a requester may come at once, so whoever made it, try again.
    Bucket.objects.get_or_create(requester=requester)
    return left.update(full_at_ms=moved_on) == 1
