"""Forms that no page sends, to every address of pages and of the API."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from hits import urls
from hits.api.urls import urlpatterns as of_api
from tests import odd_forms
from tests.hits.api.test_inputs import HOW
from tests.hits.market import Marketplace
from tests.hits.world import FREE, PAGES, VERBS, World

pytestmark = [pytest.mark.django_db, pytest.mark.on_postgresql]
PARTS = {**HOW, "slug": "river-news", "token": "a-token", "page": "review", "key": "validate"}
# One of each way to read a body: fields, a file, the API's own parsers, an address without a form.
KINDS = ("change-budget", "import", "stage-settings", "project")
KINDS_OF_API = ("projects", "media", "publish", "token")
# It ends the session.
LEFT_OUT = {"logout"}
# Shown where there is a new notice.
SEEN = odd_forms.Form("/notices/seen/", (("project", "river-news"), ("until", "2026-01-01T00:00:00+00:00")))


def places(world: World) -> list[str]:
    """Every address of a page or a form; that of a row which tests name leads to the row."""
    found = {world.url(name) for name in [*PAGES, *VERBS, *sorted(FREE)]}
    names = {pattern.name: pattern for pattern in urls.urlpatterns if getattr(pattern, "name", None)}
    for name, pattern in names.items():
        parts = pattern.pattern.converters
        if name not in {*PAGES, *VERBS, *FREE, *LEFT_OUT} and parts.keys() <= PARTS.keys():
            found.add(reverse(name, kwargs={part: PARTS[part] for part in parts}))
    return sorted(found)


def routes(*names: str) -> list[str]:
    named = [route for route in of_api if route.name != "nowhere" and (not names or route.name in names)]
    parts = {**PARTS, "slug": "river-news"}
    return [reverse(f"api:{one.name}", kwargs={part: parts[part] for part in one.pattern.converters}) for one in named]


@pytest.mark.parametrize("strict", [False, True], ids=["with its token", "without a token"])
def test_a_body_that_cannot_be_read_is_refused_without_a_traceback(
    world: World, alice: Any, caplog: Any, monkeypatch: Any, strict: bool
) -> None:
    monkeypatch.setattr("hits.api.base.HeavyThrottle.rate", "100000/min")
    monkeypatch.setattr("hits.api.base.LeadThrottle.rate", "100000/min")
    client = Client(raise_request_exception=False, enforce_csrf_checks=strict)
    client.force_login(alice)
    sweep = odd_forms.Sweep(caplog)
    for path in [*map(world.url, KINDS), *routes(*KINDS_OF_API)]:
        sweep.malformed(client, path)
    # The middleware that looks for the token reads the body before any view.
    for path in [] if strict else [*places(world), *routes()]:
        sweep.malformed(client, path, odd_forms.OF_EVERY_ADDRESS)
    print(f"{sweep.sent} posts")
    assert not sweep.faults, "\n".join(sweep.faults)


def test_a_value_that_no_column_holds_is_refused_without_a_traceback(
    world: World, lead_client: Client, caplog: Any, market: Marketplace
) -> None:
    lead_client.raise_request_exception = False
    sweep = odd_forms.Sweep(caplog)
    found, paths = [SEEN], places(world)
    for path in paths:
        page = lead_client.get(path)
        if page.status_code == 200 and not page.streaming and "html" in page.headers["Content-Type"]:
            found += odd_forms.forms_of(path, page.content)
    shown = odd_forms.by_path(found)
    for path in sorted({*paths, *shown} - {reverse(name) for name in LEFT_OUT}):
        for form in shown.get(path, ()):
            sweep.odd(lead_client, path, form)
    sweep.odd(lead_client, SEEN.action, SEEN, odd_forms.DECODED)
    print(f"{len(shown)} addresses with forms, {sweep.sent} posts")
    assert not sweep.faults, "\n".join(sweep.faults)
