"""Forms that no page sends, to every address."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from tests import odd_forms
from tests.marketplace.security.addresses import ADDRESSES
from tests.marketplace.security.test_inputs import NAMES
from tests.marketplace.security.test_matrix import RIGHT_ONE

pytestmark = pytest.mark.on_postgresql


@pytest.mark.parametrize("strict", [False, True], ids=["with its token", "without a token"])
def test_a_body_that_cannot_be_read_is_refused_without_a_traceback(
    visit: Callable[..., Client], world: dict[str, Any], caplog: Any, strict: bool
) -> None:
    sweep = odd_forms.Sweep(caplog)
    # All that can be wrong once for each who may open an address; elsewhere what a view can get wrong.
    whole = set({address.who: name for name, address in ADDRESSES.items()}.values())
    for name, address in ADDRESSES.items():
        if strict and name not in whole:
            continue
        client = visit(RIGHT_ONE[address.who], raise_request_exception=False, enforce_csrf_checks=strict)
        whats = odd_forms.MALFORMED if name in whole else odd_forms.OF_EVERY_ADDRESS
        sweep.malformed(client, address.path(name, world), whats)
    assert not sweep.faults, "\n".join(sweep.faults)


def test_a_value_that_no_column_holds_is_refused_without_a_traceback(
    visit: Callable[..., Client], world: dict[str, Any], caplog: Any
) -> None:
    sweep = odd_forms.Sweep(caplog)
    found, clients = [], {who: visit(who, raise_request_exception=False) for who in set(RIGHT_ONE.values())}
    for name, address in ADDRESSES.items():
        if name != "site:logout":
            path = address.path(name, world)
            page = clients[RIGHT_ONE[address.who]].get(path, address.filled(world))
            if page.status_code == 200 and "html" in page.headers["Content-Type"]:
                found += odd_forms.forms_of(path, page.content)
    shown = odd_forms.by_path(found)
    for name, address in ADDRESSES.items():
        path = address.path(name, world)
        given = [*address.filled(world).items()]
        client = clients[RIGHT_ONE[address.who]]
        # Long values of those are sent by test_inputs.
        unseen = (*((field, "1") for field in NAMES), *given)
        forms = shown.get(path) or [odd_forms.Form(path, unseen, dict.fromkeys(NAMES, "select"))]
        # An address that takes no form refuses every one before it reads it.
        if name == "site:logout" or sweep.post(client, path, "no field", b"", odd_forms.URLENCODED).status_code == 405:
            continue
        for form in forms:
            sweep.odd(client, path, form)
    print(f"{len(shown)} addresses with forms, {sweep.sent} posts")
    assert not sweep.faults, "\n".join(sweep.faults)
