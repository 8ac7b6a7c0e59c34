"""What is approved without a lead: at once what passed and was eligible, later a limited number of other answers."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from hits.answers.rules.automatic_approval import LAST_RESORT
from hits.answers.verbs import harvesting, reviewing
from hits.judging.verbs import deciding, scoring
from hits.models import Assignment, Project, Stage
from hits.mturk.gateway import Gateway
from hits.notifications.jobs import needs, pending_notices
from hits.projects.verbs import projects
from tests.hits import factories as make
from tests.hits.answers.test_straight_to_the_marketplace import second_pass  # noqa: F401
from tests.hits.record_project import fields

pytestmark = pytest.mark.django_db(transaction=True)
EMPTY = {"comment": "nice"}


@pytest.fixture(autouse=True)
def checked(project: Project) -> None:
    """As recipes have it."""
    project.stages.update(auto_approval_seconds=259_200)


def go_on(stage: Stage) -> None:
    harvesting.harvest(stage)
    scoring.score(stage)
    deciding.decide(stage)
    reviewing.finish(stage)


def let_the_time_of_leads_pass(stage: Stage) -> None:
    stage.assignments.exclude(approve_at=None).update(approve_at=timezone.now())
    assert stage.pk in reviewing.unfinished()
    reviewing.finish(stage)


@pytest.mark.parametrize("how", ["empty", "too fast", "blocked"])
def test_what_did_not_pass_waits_for_a_lead_and_is_paid_in_time(
    market: Any, bring: Any, publish: Any, project: Project, stage: Stage, how: str
) -> None:
    bring(1)
    projects.want_seconds(project, 20 if how == "too fast" else 0)
    stage.refresh_from_db()
    publish(stage)
    hit, worker = stage.hits.get(), market.sign_up_worker()
    if how == "blocked":
        make.block(stage, make.worker(worker))
    sent = market.answer(worker, hit.hit_id, **(EMPTY if how == "empty" else fields(hit, "Linden")))
    go_on(stage)
    row = stage.assignments.get()
    assert market.status(sent)["status"] == row.state == "Submitted"
    assert {"empty": row.problem, "too fast": "s after it was accepted" in row.held, "blocked": row.held}[how]
    assert row.approve_at == row.submitted_at + timedelta(days=3)
    # The marketplace pays no sooner, and at last.
    assert row.auto_approval_at == row.submitted_at + timedelta(seconds=LAST_RESORT)
    stage.summary.refresh_from_db()
    assert stage.summary.next_auto_approval == row.approve_at
    assert "1 answer waits for review" in [need.words for need in needs.of_stage(stage, 0, 0)]
    reviewing.finish(stage)
    assert market.status(sent)["status"] == "Submitted"
    let_the_time_of_leads_pass(stage)
    row.refresh_from_db()
    assert market.status(sent)["status"] == row.state == "Approved"
    assert row.admitted is None and not stage.labels.counting().exists()


def test_a_worker_who_validates_an_own_item_waits_too(market: Any, second_pass: Any) -> None:  # noqa: F811
    second, hit, worker = second_pass
    sent = market.answer(worker, hit.hit_id, **fields(hit, "Linden"))
    go_on(second)
    assert market.status(sent)["status"] == "Submitted"
    row = second.assignments.get()
    assert reviewing.reject(second, [row.pk], "It was your own.", None) == 1
    Assignment.objects.update(approve_at=timezone.now())
    reviewing.finish(second)
    assert market.status(sent)["status"] == "Rejected"


def test_an_honest_answer_is_approved_at_once(
    market: Any, bring: Any, publish: Any, answer: Any, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    bring(1)
    publish(stage)
    answer(market.sign_up_worker(), stage.hits.get())
    harvesting.harvest(stage)
    scoring.score(stage)
    # Written down before it is asked, so that a crash loses nothing.
    assert stage.assignments.get().decision == "Approved" and reviewing.unfinished() == [stage.pk]
    reviewing.finish(stage)
    asked: list[str] = []
    monkeypatch.setattr(Gateway, "approve", lambda *given, **_: asked.append(given[1]))
    reviewing.finish(stage)
    row = stage.assignments.get()
    assert (row.state, row.approve_at, asked, reviewing.unfinished()) == ("Approved", None, [], [])
    assert not needs.of_stage(stage, 0, 0)


def test_beyond_its_limit_a_worker_waits_for_the_lead_who_is_told(
    market: Any, bring: Any, publish: Any, project: Project, stage: Stage
) -> None:
    Stage.objects.filter(pk=stage.pk).update(unchecked_answers=2)
    bring(3)
    publish(stage)
    worker = market.sign_up_worker()
    for hit in stage.hits.all():
        market.answer(worker, hit.hit_id, **EMPTY)
    go_on(stage)
    told = [due.words for due in pending_notices.of_projects([_loaded(project)]) if "unchecked" in due.key]
    assert told and told[0].startswith("1 answer waits for your decision")
    let_the_time_of_leads_pass(stage)
    assert sorted(stage.assignments.values_list("state", flat=True)) == ["Approved", "Approved", "Submitted"]
    left = stage.assignments.get(state="Submitted")
    assert left.approve_at is None and reviewing.unfinished() == []
    reviewing.approve(stage, [left.pk], None)
    reviewing.finish(stage)
    assert set(stage.assignments.values_list("state", flat=True)) == {"Approved"}


def _loaded(project: Project) -> Project:
    found = Project.objects.filter(pk=project.pk).with_state().select_related("account")
    return found.prefetch_related("stages__summary").get()
