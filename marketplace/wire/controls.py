"""The address at which tests read and turn the controls: /test-controls/, JSON in and out.

It exists only with MARKETPLACE_TEST_CONTROLS. It asks for no key, but answers this machine only, and
only programs: a page in a browser can neither send JSON across origins nor use another host's name.
"""

import json
from collections.abc import Callable
from datetime import timedelta
from ipaddress import ip_address
from typing import Any

from django.core.exceptions import DisallowedHost
from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse

from marketplace.models import Bucket, Controls, Fault, RequestCount
from marketplace.rules import throttling
from marketplace.verbs import clock

PATH = "/test-controls/"
_LONGEST_YEAR = 100 * 366 * 86_400


def answer(request: HttpRequest) -> HttpResponse:
    """GET tells how everything stands; POST changes what its JSON object names, all or nothing."""
    if not _from_here(request):
        return _refused(403, "The test controls answer this machine only.")
    if request.method == "POST":
        if request.content_type != "application/json":
            return _refused(415, "Send application/json.")
        try:
            _change(json.loads(request.body))
        except (ValueError, TypeError, KeyError) as error:
            return _refused(400, str(error) or "The JSON cannot be read.")
    elif request.method != "GET":
        return _refused(405, "Use GET or POST.")
    return JsonResponse(_state())


def _from_here(request: HttpRequest) -> bool:
    try:
        request.get_host()
    except DisallowedHost:
        return False
    peer = request.META.get("REMOTE_ADDR", "")
    return not peer or ip_address(peer).is_loopback


def _refused(status: int, words: str) -> HttpResponse:
    return JsonResponse({"error": words}, status=status)


def _state() -> dict[str, Any]:
    row = Controls.objects.filter(pk=1).first() or Controls()
    fields = ("kind", "operation", "remaining", "probability", "seed", "drawn", "milliseconds")
    return {
        "now": clock.now().isoformat(),
        "offset_seconds": row.clock_offset_ms / 1000,
        "stale_seconds": row.stale_seconds,
        "event_delay_seconds": row.event_delay_seconds,
        "event_copies": row.event_copies,
        "throttle": row.throttle,
        "faults": list(Fault.objects.order_by("pk").values(*fields)),
        "requests": dict(RequestCount.objects.order_by("operation").values_list("operation", "total")),
    }


def _change(wanted: Any) -> None:
    if not isinstance(wanted, dict):
        raise ValueError("Send one JSON object.")
    unknown = wanted.keys() - _TURN.keys()
    if unknown:
        raise ValueError(f"There is no control {', '.join(sorted(unknown))}; there are {', '.join(_TURN)}.")
    with transaction.atomic():
        Controls.objects.get_or_create(pk=1)
        # In the order of _TURN, so that a reset may come with new settings.
        for name, turn in _TURN.items():
            if name in wanted:
                turn(wanted[name])


def _reset(really: Any) -> None:
    if really is not True:
        raise ValueError("reset takes true")
    for table in (Controls, Fault, RequestCount, Bucket):
        table.objects.all().delete()
    Controls.objects.create(pk=1)


def _advance(seconds: Any) -> None:
    clock.advance(timedelta(seconds=_number("advance_seconds", seconds, 0, _LONGEST_YEAR)))


def _set_faults(wanted: Any) -> None:
    """The list takes the place of the one before."""
    if not isinstance(wanted, list):
        raise ValueError("faults takes a list")
    Fault.objects.all().delete()
    Fault.objects.bulk_create([_fault(one) for one in wanted])


def _fault(wanted: Any) -> Fault:
    allowed = {"kind", "operation", "count", "probability", "seed", "milliseconds"}
    if not isinstance(wanted, dict) or wanted.keys() - allowed or wanted.get("kind") not in Fault.Kind.values:
        raise ValueError(f"A fault has a kind of {', '.join(Fault.Kind.values)}, and may have {', '.join(allowed)}.")
    count = wanted.get("count")
    return Fault(
        kind=wanted["kind"],
        operation=str(wanted.get("operation", ""))[:60],
        remaining=None if count is None else int(_number("count", count, 0, 10**9)),
        probability=_number("probability", wanted.get("probability", 1), 0, 1),
        seed=int(_number("seed", wanted.get("seed", 0), 0, 2**62)),
        milliseconds=int(_number("milliseconds", wanted.get("milliseconds", 0), 0, 60_000)),
    )


def _set_throttle(text: Any) -> None:
    """Null goes back to the setting, an empty text switches throttling off."""
    if text is not None:
        if not isinstance(text, str):
            raise ValueError("throttle takes a text such as 20,5/s")
        throttling.parse(text)
    Controls.objects.filter(pk=1).update(throttle=text)
    Bucket.objects.all().delete()


def _setter(name: str, most: float) -> Callable[[Any], None]:
    def turn(value: Any) -> None:
        Controls.objects.filter(pk=1).update(**{name: _number(name, value, 0, most)})

    return turn


def _number(name: str, value: Any, least: float, most: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise ValueError(f"{name} takes a number from {least} to {most}")
    return value


def _forget_requests(really: Any) -> None:
    if really is not True:
        raise ValueError("forget_requests takes true")
    RequestCount.objects.all().delete()


_TURN: dict[str, Callable[[Any], None]] = {
    "reset": _reset,
    "advance_seconds": _advance,
    "faults": _set_faults,
    "throttle": _set_throttle,
    "stale_seconds": _setter("stale_seconds", 86_400),
    "event_delay_seconds": _setter("event_delay_seconds", 86_400),
    "event_copies": _setter("event_copies", 10),
    "forget_requests": _forget_requests,
}
