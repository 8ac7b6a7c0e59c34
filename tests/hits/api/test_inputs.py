"""Bodies that break programs: each is refused with a sentence, and nothing changes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.urls import URLPattern, reverse
from rest_framework import parsers
from rest_framework.test import APIClient

from hits.api import urls
from hits.models import Stage

pytestmark = pytest.mark.django_db
BODIES = {
    "half of a surrogate pair": json.dumps({"username": "\ud800", "password": "\ud800", "name": "\ud800"}),
    "half of a pair in a name": json.dumps({"\udfff": 1}),
    "NUL": json.dumps({"username": "a\0b", "password": "x", "name": ["a\0b"]}),
    "brackets": "[" * 100_000,
    "objects": '{"a":' * 100_000,
    "a number of 5,000 digits": "9" * 5000,
    "not a number": '{"budget": NaN}',
}
HOW = {
    "slug": "river",
    "key": "validate",
    "pk": 1,
    "number": 1,
    "test": "a-b",
    "username": "ann",
    "name": "x.json",
    "computation": "filter",
    "pool": "pool-readers",
}


def addresses() -> list[str]:
    """Every address of the API, filled in."""
    found = []
    for pattern in urls.urlpatterns:
        if isinstance(pattern, URLPattern) and pattern.name and pattern.name != "nowhere":
            names = pattern.pattern.converters
            found.append(reverse(f"api:{pattern.name}", kwargs={name: HOW[name] for name in names}))
    return found


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_nobody_crashes_signing_in(client: Any, body: str) -> None:
    client.raise_request_exception = False
    answer = client.post("/api/token/", body, content_type="application/json")
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "parse_error"), answer.content


def test_no_address_of_the_api_crashes(api: APIClient, river_stage: Stage, monkeypatch: Any) -> None:
    """One body to every address, for all are read by one parser; each of them to the list of projects."""
    monkeypatch.setattr("hits.api.base.HeavyThrottle.rate", "10000/min")
    api.raise_request_exception = False
    one = BODIES["half of a surrogate pair"]
    for path, body in [(path, one) for path in addresses()] + [("/api/projects/", body) for body in BODIES.values()]:
        for method in (api.post, api.put, api.patch, api.delete):
            answer = method(path, body, content_type="application/json")
            assert answer.status_code < 500, (path, answer.content)


def test_every_view_reads_json_with_the_parser_that_refuses_such_bodies() -> None:
    views = [pattern.callback.view_class for pattern in urls.urlpatterns]
    others = [view for view in views if parsers.JSONParser in getattr(view, "parser_classes", ())]
    assert [view.__name__ for view in others if view.__name__ not in ("Schema", "Docs")] == []
