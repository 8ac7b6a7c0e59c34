"""Faults on demand, for tests of programs that must live with them. Only with MARKETPLACE_TEST_CONTROLS.

What goes wrong stands in the table Fault; this module carries it out around one call.
"""

import os
import random
import socket
import struct
import time
from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.db.models import F, Q
from django.http import HttpRequest

from marketplace.models import Fault, RequestCount
from marketplace.rules.errors import WireError

_Kind = Fault.Kind


def around(request: HttpRequest, operation: str, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Do the work of one call, with what goes wrong before and after it; the call is counted."""
    _count(operation)
    struck = _draw(operation)
    time.sleep(sum(fault.milliseconds for fault in struck) / 1000)
    kinds = {fault.kind for fault in struck}
    _fail_before(request, kinds)
    try:
        return work()
    finally:
        # Whatever the call came to, a refusal too: it is done, and its caller does not get to know.
        _fail_after(request, kinds)


def _count(operation: str) -> None:
    row = RequestCount.objects.filter(operation=operation[:60])
    if not row.update(total=F("total") + 1):
        RequestCount.objects.get_or_create(operation=operation[:60])
        row.update(total=F("total") + 1)


def _draw(operation: str) -> list[Fault]:
    """The faults that strike this call: every latency, and the first of all others."""
    rules = Fault.objects.filter(Q(operation="") | Q(operation=operation)).exclude(remaining=0)
    if not rules.exists():
        return []
    struck: list[Fault] = []
    with transaction.atomic():
        for rule in rules.select_for_update().order_by("pk"):
            if rule.kind != _Kind.LATENCY and any(fault.kind != _Kind.LATENCY for fault in struck):
                continue
            rule.drawn += 1
            if random.Random(f"{rule.seed} {rule.drawn}").random() < rule.probability:
                struck.append(rule)
                if rule.remaining is not None:
                    rule.remaining -= 1
            rule.save(update_fields=["drawn", "remaining"])
    return struck


def _fail_before(request: HttpRequest, kinds: set[str]) -> None:
    if _Kind.THROTTLE in kinds:
        raise WireError("ThrottlingException", "Rate exceeded")
    if _Kind.RESET_BEFORE in kinds:
        _cut(request, reset=True)
    if _Kind.ERROR_BEFORE in kinds or _Kind.RESET_BEFORE in kinds:
        raise WireError("ServiceFault", "This fault was asked for. Nothing was done.", 500, "ServiceFault")


def _fail_after(request: HttpRequest, kinds: set[str]) -> None:
    if _Kind.DROP_AFTER in kinds:
        _cut(request, reset=False)
    if _Kind.ERROR_AFTER in kinds or _Kind.DROP_AFTER in kinds:
        raise WireError(
            "ServiceFault", "This fault was asked for. The call was carried out before.", 500, "ServiceFault"
        )


def _cut(request: HttpRequest, *, reset: bool) -> None:
    """End the connection without a byte of an answer; the answer that follows goes nowhere.

    The server goes on with a descriptor whose other end is closed, which it takes for a client that left.
    """
    connection = _connection(request)
    if reset:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    near, far = socket.socketpair()
    far.close()
    os.dup2(near.fileno(), connection.fileno())
    near.close()


def _connection(request: HttpRequest) -> socket.socket:
    """The client's socket: gunicorn hands it over, Django's own test server has it below its input stream."""
    given = request.META.get("gunicorn.socket")
    if given is None:
        reader = getattr(request.META.get("wsgi.input"), "_read", None)
        given = getattr(getattr(getattr(reader, "__self__", None), "raw", None), "_sock", None)
    if not isinstance(given, socket.socket):
        raise RuntimeError("This server does not show its connections, so none can be cut.")
    return given
