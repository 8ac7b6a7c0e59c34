"""Lists of a large stage: as many queries as of a small one, each of them by an index."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from hits.models import Stage
from tests.benchmarks import reviewing
from tests.benchmarks.rows import vacuumed

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.on_postgresql]
FEW, MANY = 100, 5000
LARGE = ("hits_item", "hits_assignment", "hits_label", "hits_computationresult", "hits_hit")
# Nothing of the rows is so: only a window of them is looked through.
EMPTY = {"show": "rejected"}
PAGES = [
    *(("items", query) for query in reviewing.ITEM_LISTS),
    *(("answers", query) for query in reviewing.ANSWER_LISTS if "compared" not in query),
]


@pytest.fixture
def stages(alice: Any) -> list[tuple[Stage, Stage]]:
    """A small and a large project: in each a stage with answers that wait, and one with items alone."""
    return [reviewing.filled(number, count, count, alice) for number, count in enumerate((FEW, MANY))]


def _asked(client: Client, name: str, stage: Stage, query: dict[str, Any]) -> list[str]:
    given = reviewing.asked_for(name, stage, query)
    with CaptureQueriesContext(connection) as queries:
        reply = client.get(reverse(name, args=[stage.project.slug, stage.key]), given)
    assert reply.status_code == 200 and (reply.context["page"].rows or query == EMPTY)
    return [one["sql"] for one in queries if one["sql"].startswith(("SELECT", "("))]


def _scanned(sql: str) -> list[str]:
    """The large tables of which the query has to read every row. PostgreSQL may rather read a few thousand rows than
    look them up: so it is asked not to.
    """
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET enable_seqscan = off")
        cursor.execute(f"EXPLAIN {'QUERY PLAN ' if connection.vendor == 'sqlite' else ''}{sql}")
        plan = "\n".join(str(cell) for row in cursor.fetchall() for cell in row)
    found = re.findall(r"SCAN (\w+)(?! USING)\b" if connection.vendor == "sqlite" else r"Seq Scan on (\w+)", plan)
    return [name for name in found if name in LARGE]


def test_pages_of_a_large_stage_take_as_many_queries_and_read_no_table_to_its_end(
    lead_client: Client, stages: list[tuple[Stage, Stage]]
) -> None:
    vacuumed()
    for name, query in PAGES:
        at = 1 if name == "items" else 0
        few, many = (_asked(lead_client, name, pair[at], query) for pair in stages)
        assert len(few) == len(many), (name, query)
        assert [(sql, found) for sql in many if (found := _scanned(sql))] == [], (name, query)


def test_an_approval_in_a_large_stage_takes_as_many_queries_and_reads_no_table_to_its_end(
    lead_client: Client, stages: list[tuple[Stage, Stage]]
) -> None:
    vacuumed()
    asked = []
    for stage, _ in stages:
        first, second = stage.assignments.order_by("pk")[:2]
        for row in (first, second):
            with CaptureQueriesContext(connection) as queries:
                address = reverse("review-approve", args=[stage.project.slug, stage.key, row.pk])
                assert lead_client.post(address, headers=reviewing.PART).status_code == 200
        asked.append([one["sql"] for one in queries])
    assert len(asked[0]) == len(asked[1])
    selects = [sql for sql in asked[1] if sql.startswith("SELECT")]
    assert [(sql, found) for sql in selects if (found := _scanned(sql))] == []


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite does not say how many rows it looked at")
def test_the_page_of_a_large_stage_looks_at_few_rows_that_it_does_not_want(
    lead_client: Client, stages: list[tuple[Stage, Stage]]
) -> None:
    vacuumed()
    for name in ("stage", "stage-progress"):
        for stage in stages[1]:
            with CaptureQueriesContext(connection) as queries:
                assert lead_client.get(reverse(name, args=[stage.project.slug, stage.key])).status_code == 200
            selects = [one["sql"] for one in queries if one["sql"].startswith("SELECT")]
            assert [(sql, rows) for sql in selects if (rows := _passed_over(sql)) > FEW] == [], name


def _passed_over(sql: str) -> int:
    """Rows of large tables that the query read and left out."""
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN ANALYZE {sql}")
        plan = "\n".join(row[0] for row in cursor.fetchall())
    return sum(map(int, re.findall(r"Rows Removed by Filter: (\d+)", plan)))
