"""Workers by accuracy and answers given, on the page "Workers": the chart and its table."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from lxml import html

from hits.models import Project, Stage, StageSummary, Worker, WorkerStat
from hits.workers.rules import worker_table
from tests.hits import factories as make
from tests.markup import squeezed

pytestmark = pytest.mark.django_db


@pytest.fixture
def stage(alice: object) -> Stage:
    project: Project = make.project(owner=alice)
    return make.stage(project, key="judge", title="Judge")


def _page(client: Client, stage: Stage) -> str:
    return squeezed(client.get(reverse("workers", args=[stage.project.slug, stage.key])))


def _titles(page: str) -> list[str | None]:
    plots = re.findall(r'<svg class="plot".*?</svg>', page)
    return [title.text for plot in plots for title in ElementTree.fromstring(plot).iter("title")]


def _many(stage: Stage, count: int) -> None:
    """`count` workers with 400 answers each; every tenth is right in 30 %, the others in 80 %."""
    workers = Worker.objects.bulk_create(Worker(worker_id=f"AMANY{at:06d}") for at in range(count))
    WorkerStat.objects.bulk_create(
        WorkerStat(stage=stage, worker=worker, answers=400, scored=100, correct=80 if at % 10 else 30)
        for at, worker in enumerate(workers)
    )
    StageSummary.objects.filter(stage=stage).update(answers=400 * count)


def test_a_stage_that_nobody_answered_has_no_chart(lead_client: Client, stage: Stage) -> None:
    assert "Accuracy by answers given" not in _page(lead_client, stage)


def _cells(page: str) -> list[list[str]]:
    """The texts of the rows below the chart."""
    rows = html.fromstring(page).xpath("//table[contains(@class, 'of-chart')]/tbody/tr")
    return [[" ".join(cell.text_content().split()) for cell in row] for row in rows]


def test_answers_that_were_compared_with_nothing_are_said_to_be_waited_for(lead_client: Client, stage: Stage) -> None:
    make.worker_stat(stage, scored=0, correct=0)
    page = _page(lead_client, stage)
    assert "Drawn when answers have been compared" in page and _titles(page) == []


def test_one_worker_is_one_point_with_its_row(lead_client: Client, stage: Stage) -> None:
    make.worker_stat(stage, make.worker("AONLY00000001"), answers=40, scored=16, correct=12)
    page = _page(lead_client, stage)
    assert _titles(page) == ["AONLY00000001: 40 answers, 75.0 % of gold answers right"]
    assert _cells(page)[-1] == ["AONL…001", "40", "75.0 %", "16"]


def test_known_answers_come_before_agreement_and_workers_without_any_are_left_out(
    lead_client: Client, stage: Stage
) -> None:
    make.worker_stat(stage, make.worker("AKNOWN0000001"), scored=4, correct=3, compared=10, agreed=1.0)
    make.worker_stat(stage, make.worker("AOTHER0000001"), scored=0, correct=0, compared=10, agreed=9.0)
    assert _titles(_page(lead_client, stage)) == ["AKNOWN0000001: 40 answers, 75.0 % of gold answers right"]


def test_without_known_answers_workers_stand_by_their_agreement(lead_client: Client, stage: Stage) -> None:
    make.worker_stat(stage, make.worker("AOTHER0000001"), scored=0, correct=0, compared=10, agreed=9.0)
    page = _page(lead_client, stage)
    assert _titles(page) == ["AOTHER0000001: 40 answers, 90.0 % agreement with the others"]
    assert "since no answer here was compared with a known one" in page


def test_a_crowd_of_hundred_thousand_answers_is_drawn_in_groups(lead_client: Client, stage: Stage) -> None:
    _many(stage, 250)
    page = _page(lead_client, stage)
    assert sorted(filter(None, _titles(page))) == [
        "225 workers: 400 answers, 80.0 % of gold answers right",
        "25 workers: 400 answers, 30.0 % of gold answers right",
    ]
    assert "A point is a group of the 250 workers" in page
    assert ["225", "400", "80.0 %", "22,500"] in _cells(page)


def test_groups_hold_every_worker_once_and_say_their_own_ends(stage: Stage) -> None:
    _many(stage, 250)
    make.worker_stat(stage, answers=210, scored=10, correct=10)
    make.worker_stat(stage, answers=499, scored=10, correct=9)
    places = worker_table.accuracies(stage).places
    assert sum(place.workers for place in places) == 252
    best = max(places, key=lambda place: place.share)
    assert (best.workers, best.fewest, best.most, best.lowest, best.highest) == (2, 210, 499, 0.9, 1.0)
    assert (best.compared, best.mean) == (20, 354.5)


def test_the_row_of_a_group_says_its_ends(lead_client: Client, stage: Stage) -> None:
    _many(stage, 250)
    make.worker_stat(stage, answers=210, scored=10, correct=10)
    make.worker_stat(stage, answers=499, scored=10, correct=9)
    page = _page(lead_client, stage)
    assert "2 workers: 210 to 499 answers, 90.0 to 100.0 % of gold answers right" in _titles(page)
    assert ["2", "210 to 499", "90.0 % to 100.0 %", "20"] in _cells(page)


def test_the_chart_takes_the_same_queries_for_one_worker_and_for_many(lead_client: Client, stage: Stage) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as asked:
            _page(lead_client, stage)
        return len(asked)

    make.worker_stat(stage)
    queries()
    before = queries()
    _many(stage, 250)
    assert queries() == before
