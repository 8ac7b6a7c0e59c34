"""Agreement over time, on the page "Agreement": each unit has a chart and a table of the reports of finished runs."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from hits.judging.rules import stage_statistics
from hits.models import ComputationRun, Project, Stage
from tests.hits import factories as make
from tests.hits.said import computed, say
from tests.markup import squeezed

pytestmark = pytest.mark.django_db

BEGINNING = datetime(2026, 11, 2, 8, tzinfo=UTC)


@pytest.fixture
def stage(alice: object) -> Stage:
    project: Project = make.project(owner=alice)
    return make.stage(project, key="judge", title="Judge", protocol="multiple_choice")


def _run(stage: Stage, hour: int, answers: int, alpha: float | None, pairs: float = 0.75, **columns: Any) -> None:
    figures = {
        "alpha": {"value": alpha, "low": 0.1, "high": 0.9, "n": 9, "why": ""},
        "pairwise": {"value": pairs, "low": None, "high": None, "n": 9, "why": ""},
    }
    unit = {"unit": "choice", "level": "nominal", "why": "", "methods": [], "answers": 9, "workers": 3, "items": 9}
    report = {"harvested": answers, "method": "majority", "units": [{**unit, "paired": 9, "figures": figures}]}
    done = {
        "key": "judge-agreement",
        "state": ComputationRun.State.DONE,
        "finished_at": BEGINNING + timedelta(hours=hour),
    }
    ComputationRun.objects.create(
        project=stage.project, params={"method": "majority"}, seed=1,
        log=[{"answers": answers}, {"report": report}], summary=stage_statistics.summary_of(report),
        **{**done, **columns},
    )  # fmt: skip


def _page(client: Client, stage: Stage) -> str:
    return squeezed(client.get(reverse("agreement", args=[stage.project.slug, stage.key])))


def _rows(page: str) -> list[tuple[str, str, str]]:
    """(answers, value, interval) of the chart's table."""
    table = page.partition("The numbers over time")[2].partition("</table>")[0]
    return re.findall(
        r'</time></td><td class="n"[^>]*>(.*?)</td><td class="n"[^>]*>(.*?)</td><td class="n"[^>]*>(.*?)</td>', table
    )


def test_before_the_first_run_there_is_no_chart(lead_client: Client, stage: Stage) -> None:
    assert "each time it was computed" not in _page(lead_client, stage)


def test_one_run_is_one_column_with_the_figures_of_its_report(lead_client: Client, stage: Stage) -> None:
    say(stage, [{"ann": "yes", "ben": "yes", "cleo": "no"}, {"ann": "no", "ben": "no"}, {"ann": "yes", "ben": "yes"}])
    alpha = computed(stage)["units"][0]["figures"]["alpha"]
    page = _page(lead_client, stage)
    assert "<h3>Krippendorff’s alpha each time it was computed</h3>" in page and "polyline" not in page
    assert _rows(page) == [("0", f"{alpha['value']:.3f}", f"{alpha['low']:.3f} to {alpha['high']:.3f}")]
    assert f"UTC: {alpha['value']:.3f} over 0 answers</title>" in page


def test_three_runs_are_a_line_with_their_rows_oldest_first(lead_client: Client, stage: Stage) -> None:
    for hour, (answers, alpha) in enumerate([(30, 0.4), (60, -0.2), (100_000, 0.8)]):
        _run(stage, hour, answers, alpha)
    page = _page(lead_client, stage)
    assert _rows(page) == [
        ("30", "0.400", "0.100 to 0.900"), ("60", "-0.200", "0.100 to 0.900"), ("100,000", "0.800", "0.100 to 0.900")
    ]  # fmt: skip
    assert "<title>2 Nov 2026, 10:00 UTC: 0.800 over 100,000 answers</title>" in page
    assert "alpha of choice, 3 times from 2 Nov 08:00 to 2 Nov 10:00 UTC: first 0.40, last 0.80." in page


def test_where_no_run_has_an_alpha_pairs_of_answers_are_drawn(lead_client: Client, stage: Stage) -> None:
    _run(stage, 0, 30, None, pairs=1.0)
    page = _page(lead_client, stage)
    assert "<h3>Pairs of answers that are the same each time it was computed</h3>" in page
    assert _rows(page) == [("30", "100.0 %", "–")]


def test_runs_that_are_not_done_and_those_of_other_stages_are_left_out(lead_client: Client, stage: Stage) -> None:
    _run(stage, 0, 30, 0.5)
    _run(stage, 1, 40, 0.6, state=ComputationRun.State.STOPPED)
    _run(stage, 2, 50, 0.7, key="other-agreement")
    assert _rows(_page(lead_client, stage)) == [("30", "0.500", "0.100 to 0.900")]


def test_of_many_runs_some_of_equal_distance_are_read_with_the_newest(lead_client: Client, stage: Stage) -> None:
    for hour in range(90):
        _run(stage, hour, 1000 + hour, 0.5)
    harvested = [summary["harvested"] for _, summary in stage_statistics.figures_over_time(stage)]
    assert harvested == list(range(1004, 1090, 5)) and len(harvested) <= stage_statistics.MOST_POINTS


def test_many_runs_take_no_more_queries_than_two_and_one_report_is_read(lead_client: Client, stage: Stage) -> None:
    def asked() -> list[str]:
        with CaptureQueriesContext(connection) as found:
            _page(lead_client, stage)
        return [query["sql"] for query in found]

    for hour in range(2):
        _run(stage, hour, 30 + hour, 0.5)
    asked()
    before = asked()
    for hour in range(2, 200):
        _run(stage, hour, 100 * hour, 0.5)
    after = asked()
    assert len(after) == len(before)
    # The chart reads the summaries: what whole reports there are, are those of single runs.
    with_log = [sql for sql in after if '."log"' in sql]
    assert with_log and all("LIMIT 1" in sql for sql in with_log)
