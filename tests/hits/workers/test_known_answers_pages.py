"""A worker's gold answers over time, on the worker's page: the chart of each stage and its table."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from hits.judging.rules.summaries import refresh_worker_stats
from hits.models import Assignment, Label, Project, Stage, Worker
from hits.workers.rules import known_answers
from tests.hits import factories as make
from tests.markup import squeezed

pytestmark = pytest.mark.django_db


@pytest.fixture
def stage(alice: object) -> Stage:
    project: Project = make.project(owner=alice)
    return make.stage(project, key="judge", title="Judge")


@pytest.fixture
def ann() -> Worker:
    return make.worker("AANN000000001")


def _answer(stage: Stage, worker: Worker, right: list[bool | None]) -> list[Assignment]:
    """An answer an hour, each right, wrong, or compared with nothing."""
    answers = make.assignments(make.hits(make.items(stage, len(right))), worker)
    for hour, answer in enumerate(answers):
        answer.submitted_at = make.NOON + timedelta(hours=hour)
    Assignment.objects.bulk_update(answers, ["submitted_at"])
    Label.objects.bulk_create(
        Label(assignment=one, item=one.hit.item, stage=stage, worker=worker, unit="entity", value="x", correct=correct)
        for one, correct in zip(answers, right, strict=True)
    )
    refresh_worker_stats(stage, [worker.pk])
    return answers


def _page(client: Client, stage: Stage, worker: Worker) -> str:
    return squeezed(client.get(reverse("worker", args=[stage.project.slug, worker.worker_id])))


def _rows(page: str) -> list[tuple[str, ...]]:
    """(right, of known, share, interval) of the table of each chart."""
    table = page.partition("Gold answers right over time")[2].partition("</section>")[0]
    cell = '<td class="n"[^>]*>(.*?)</td>'
    return re.findall("</time></td>" + 4 * cell, table)


def test_a_worker_without_known_answers_has_no_chart(lead_client: Client, stage: Stage, ann: Worker) -> None:
    _answer(stage, ann, [None, None])
    assert "Gold answers right over time" not in _page(lead_client, stage, ann)


def test_one_known_answer_is_one_column_with_its_row(lead_client: Client, stage: Stage, ann: Worker) -> None:
    _answer(stage, ann, [True])
    page = _page(lead_client, stage, ann)
    assert _rows(page) == [("1", "1", "100.0 %", "20.7 to 100.0 %")]
    assert "1 of 1 right, 100.0 %</title>" in page and "polyline" not in page


def test_a_worker_who_grows_worse_is_seen_to(lead_client: Client, stage: Stage, ann: Worker) -> None:
    _answer(stage, ann, [True] * 10 + [None] * 5 + [True, False] * 5 + [False] * 10)
    page = _page(lead_client, stage, ann)
    assert [(right, of, share) for right, of, share, _ in _rows(page)] == [
        ("10", "10", "100.0 %"), ("5", "10", "50.0 %"), ("0", "10", "0.0 %")
    ]  # fmt: skip
    assert "Gold answers right in Judge, 3 times from" in page and "first 100 %, last 0 %." in page


def test_parts_hold_every_known_answer_once_and_say_as_many_as_the_figures(stage: Stage, ann: Worker) -> None:
    _answer(stage, ann, [number % 3 > 0 for number in range(137)])
    parts = known_answers.over_time(stage, ann)
    stat = stage.worker_stats.get(worker=ann)
    assert (len(parts), sum(part.scored for part in parts), sum(part.right for part in parts)) == (
        10,
        137,
        stat.correct,
    )
    assert {part.scored for part in parts} == {13, 14}
    assert parts[0].first == make.NOON and parts[-1].last == make.NOON + timedelta(hours=136)
    assert all(before.last < after.first for before, after in zip(parts, parts[1:], strict=False))


def test_answers_that_wait_for_a_word_and_those_of_others_are_left_out(stage: Stage, ann: Worker) -> None:
    held, *_ = _answer(stage, ann, [False, True])
    Assignment.objects.filter(pk=held.pk).update(held="test")
    _answer(stage, make.worker(), [False])
    (part,) = known_answers.over_time(stage, ann)
    assert (part.scored, part.right) == (1, 1)


def test_of_many_known_answers_the_newest_are_read_by_one_query(stage: Stage, ann: Worker) -> None:
    _answer(stage, ann, [False] * 200 + [True] * known_answers.NEWEST)
    with CaptureQueriesContext(connection) as queries:
        parts = known_answers.over_time(stage, ann)
    assert (len(queries), len(parts), {part.scored for part in parts}) == (1, 10, {100})
    assert all(part.right == 100 for part in parts)


def test_many_known_answers_take_no_more_queries_than_one(lead_client: Client, stage: Stage, ann: Worker) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as asked:
            _page(lead_client, stage, ann)
        return len(asked)

    _answer(stage, ann, [True])
    queries()
    before = queries()
    _answer(stage, ann, [True] * 150)
    assert queries() == before


def test_each_stage_has_its_own_chart(lead_client: Client, stage: Stage, ann: Worker) -> None:
    later = make.stage(stage.project, key="again", title="Judge again")
    _answer(stage, ann, [True])
    _answer(later, ann, [False])
    page = _page(lead_client, stage, ann)
    assert [row[2] for row in _rows(page)] == ["100.0 %", "0.0 %"]
    assert "<h3>Judge</h3>" in page and "<h3>Judge again</h3>" in page
