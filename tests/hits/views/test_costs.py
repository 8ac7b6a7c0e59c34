"""A page costs the same however large the batch is."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from tests.hits import factories as make
from tests.hits.market import Marketplace
from tests.hits.world import PAGES, World, build_world

pytestmark = pytest.mark.django_db
BIG_TABLES = re.compile(r"COUNT\(.*FROM \"hits_(item|hit|assignment|label|verdict|ledgerentry)\"", re.S)


def _queries(client: Client, address: str) -> list[str]:
    with CaptureQueriesContext(connection) as queries:
        assert client.get(address).status_code == 200
    return [query["sql"] for query in queries]


def _grow(world: World, count: int) -> None:
    rows = make.items(world.stage, count, state="open")
    answers = make.assignments(make.hits(rows), world.worker, remark="More than one name fits.")
    for answer in answers[-60:]:
        make.label(answer)
    make.items(world.stage, count)


FILES = {
    "release-archive",
    "release-file", "ledger-csv", "answers-csv", "items-csv", "changes-csv", "results-file",
    "project-results-file",
}  # fmt: skip
COUNTING = {
    # It says exactly what goes before that goes for good: as many answers as a file can hold.
    "remove-results",
    # It measures a whole stage when somebody asks for it.
    "suggestions",
}
PAGES_WITHOUT_FILES = sorted({*PAGES} - FILES)


def test_the_number_of_queries_does_not_grow(world: World, lead_client: Client, market: Marketplace) -> None:
    """One growth for all pages, for growing is what takes time."""
    _grow(world, 100)
    for name in PAGES_WITHOUT_FILES:
        lead_client.get(world.url(name))
    before = {name: _queries(lead_client, world.url(name)) for name in PAGES_WITHOUT_FILES}
    _grow(world, 2000)
    after = {name: _queries(lead_client, world.url(name)) for name in PAGES_WITHOUT_FILES}
    assert {name: len(queries) for name, queries in after.items()} == {
        name: len(queries) for name, queries in before.items()
    }
    others = [queries for name, queries in after.items() if name not in COUNTING]
    counted = [query for queries in others for query in queries if BIG_TABLES.search(query)]
    # What waits to be judged has an index of its own, which holds nothing else.
    assert [query for query in counted if not query.endswith('"hits_item"."stale")')] == []


def test_the_project_list_takes_the_same_queries_for_one_project_and_for_ten(lead_client: Client, alice: Any) -> None:
    build_world([alice])
    lead_client.get(reverse("projects"))
    before = _queries(lead_client, reverse("projects"))
    for _ in range(9):
        make.stage(make.project(owner=alice))
    assert len(_queries(lead_client, reverse("projects"))) == len(before)


def test_no_page_of_a_list_holds_more_than_fifty_rows(world: World, lead_client: Client) -> None:
    _grow(world, 120)
    for name in ("items", "hits", "answers"):
        assert len(lead_client.get(world.url(name)).context["page"].rows) == 50
