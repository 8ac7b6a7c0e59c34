"""A job that is cut off says so where its state is shown, can go on, and is not begun for ever."""

from __future__ import annotations

from typing import Any

import pytest
from celery.exceptions import SoftTimeLimitExceeded

from hits import tasks
from hits.judging.rules.recipe_rows import Rows
from hits.judging.verbs import computing
from hits.models import ComputationRun, LedgerCheck, Notice, Project
from hits.payments.verbs import checking_ledger
from hits.releases.verbs import releasing
from tests.hits import factories
from tests.hits.doing import refused
from tests.hits.small_recipe import small_project, small_recipe

pytestmark = pytest.mark.django_db
__all__ = ["small_recipe"]


@pytest.fixture
def project(small_recipe: str) -> Project:
    return small_project(factories.user("lena"))


def _out_of_time(*given: Any, **more: Any) -> None:
    raise SoftTimeLimitExceeded


def test_a_computation_that_is_out_of_time_says_so_and_goes_on_when_a_lead_wants_it(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = computing.start(project, "words", {}, None)
    with monkeypatch.context() as patch:
        patch.setattr(Rows, "judged", _out_of_time)
        tasks.compute(run.pk)
    run.refresh_from_db()
    assert run.state == ComputationRun.State.FAILED
    assert run.error.startswith("It took more than 360 minutes, the most that a computation may take")
    computing.resume(run)
    assert tasks.compute(run.pk) == 3


def test_a_computation_whose_process_dies_is_begun_three_times_and_then_waits_for_a_lead(project: Project) -> None:
    run = computing.start(project, "words", {"crash_at": 0}, None)
    for _ in range(computing.MOST_ATTEMPTS):
        with pytest.raises(SystemExit):
            computing.run(run.pk)
    assert computing.unfinished() == [run.pk] and computing.run(run.pk) == 0
    run.refresh_from_db()
    assert (run.state, run.error) == (ComputationRun.State.FAILED, computing.TRIED)
    assert computing.unfinished() == []
    computing.resume(run)
    run.refresh_from_db()
    assert run.attempts == 0


def test_what_comes_forward_may_be_interrupted_as_often_as_it_likes(project: Project) -> None:
    run = computing.start(project, "words", {"crash_at": 1}, None)
    with pytest.raises(SystemExit):
        computing.run(run.pk)
    run.refresh_from_db()
    assert (run.checkpoint, run.attempts) == ({"step": 1}, 0)


def test_a_comparison_of_the_books_that_is_out_of_time_or_dies_is_broken_off_with_a_sentence(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = checking_ledger.begin(project, None)
    with monkeypatch.context() as patch:
        patch.setattr(checking_ledger, "_run", _out_of_time)
        assert tasks.check_ledger(row.pk) == 0
    row.refresh_from_db()
    assert row.state == LedgerCheck.State.FAILED and "60 minutes" in row.message and "Compare again" in row.message
    again = checking_ledger.begin(project, None)
    LedgerCheck.objects.filter(pk=again.pk).update(attempts=checking_ledger.MOST_ATTEMPTS)
    assert checking_ledger.run(again.pk).message == checking_ledger.TRIED


def test_a_release_that_is_cut_off_is_a_notice(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(releasing, "release", _out_of_time)
    assert tasks.make_release(project.pk, None) == 0
    assert "60 minutes" in Notice.objects.get(project=project).more


def test_a_release_whose_process_dies_each_time_is_given_up(project: Project) -> None:
    for _ in range(tasks.MOST_BEGINNINGS):
        tasks._refuse_another_beginning("job-1")
    with refused("release_cut_off", match="began 3 times"):
        tasks._refuse_another_beginning("job-1")
