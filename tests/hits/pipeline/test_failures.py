"""A fault in the code of a task or recipe stops one answer or one item, and nothing else."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client
from django.urls import reverse

from hits.answers.verbs import serving
from hits.judging.rules.recipe_rows import Rows
from hits.judging.verbs import advancing, deciding, scoring
from hits.models import Assignment, Hit, Item, Stage, Verdict
from hits.projects.rules.plugins import recipe_of, settings_of
from hits.projects.verbs import projects
from hits.protocols import get
from hits.protocols.base import CheckedAnswer, LabelValue
from hits.recipes import NextItem
from tests.hits import factories as make

pytestmark = pytest.mark.django_db
CLICKS = get("clickable_entity")
SUBMITTED = {"state": Assignment.State.SUBMITTED, "scored": False}


@pytest.fixture
def stage() -> Stage:
    return make.stage(make.project(slug="river"), key="validate", approval=Stage.Approval.REVIEW)


@pytest.fixture
def answers(stage: Stage) -> list[Assignment]:
    """Three; the middle one holds what the tests make fatal."""
    hits = make.hits(make.items(stage, 3), state=Hit.State.CLOSED, harvested=1)
    rows = make.assignments(hits, make.worker(), **SUBMITTED)
    Assignment.objects.filter(pk=rows[1].pk).update(answer={"answer": "fatal"})
    return rows


def fail_on_the_fatal_one(monkeypatch: pytest.MonkeyPatch, failing: Any) -> None:
    """`failing` raises, or returns what no table takes."""
    check = CLICKS.check

    def checked(document: Any, item: Any, settings: Any, fields: Any, worker: str = "") -> CheckedAnswer:
        return failing() if fields.get("answer") == "fatal" else check(document, item, settings, fields, worker)

    monkeypatch.setattr(CLICKS, "check", checked)


def key_error() -> CheckedAnswer:
    raise KeyError("shuffle")


def not_for_a_table() -> CheckedAnswer:
    return CheckedAnswer((LabelValue("entity", {"a set"}, None),))


def too_deep() -> CheckedAnswer:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    return CheckedAnswer((LabelValue("entity", deep, None),), "\0")


@pytest.mark.parametrize("failing", [key_error, not_for_a_table, too_deep])
def test_a_failure_on_one_answer_is_that_answers_problem(stage, answers, monkeypatch, caplog, failing) -> None:
    fail_on_the_fatal_one(monkeypatch, failing)
    assert scoring.score(stage) == 3
    assert scoring.unfinished() == []
    deciding.decide(stage)
    first, fatal, last = (Assignment.objects.get(pk=row.pk) for row in answers)
    assert [row.labels.count() for row in (first, fatal, last)] == [1, 0, 1]
    assert [row.problem for row in (first, last)] == ["", ""]
    assert "no fault of the worker" in fatal.problem
    assert (fatal.state, fatal.decision) == ("Submitted", "")
    assert [row.hit.item.state for row in (first, fatal, last)] == ["kept", "again", "kept"]
    [logged] = {record for record in caplog.records if record.levelno == logging.ERROR and record.exc_info}
    assert fatal.assignment_id in logged.getMessage()


def test_the_stages_page_says_so_and_the_answer_says_why(stage, answers, monkeypatch) -> None:
    lead = make.user("anna")
    make.member(stage.project, lead)
    client = Client()
    client.force_login(lead)
    fail_on_the_fatal_one(monkeypatch, key_error)
    scoring.score(stage)
    page = client.get(reverse("stage", args=["river", "validate"])).content.decode()
    assert "1 answer could not be read, because the task&#x27;s own code failed" in page
    listed = client.get(reverse("answers", args=["river", "validate"]) + "?show=invalid").content.decode()
    assert "KeyError: &#x27;shuffle&#x27;" in listed


def test_a_database_that_is_away_is_no_answers_problem(stage, answers, monkeypatch) -> None:
    def away() -> CheckedAnswer:
        raise OperationalError("database is locked")

    fail_on_the_fatal_one(monkeypatch, away)
    with pytest.raises(OperationalError):
        scoring.score(stage)
    assert scoring.unfinished() == [stage.pk]


def test_a_worker_may_send_what_our_own_code_fails_on(stage, answers, monkeypatch, caplog) -> None:
    """The page's check would keep the worker from being paid for a fault of ours."""
    fail_on_the_fatal_one(monkeypatch, key_error)
    hit = make.hit(make.item(stage))
    token = serving.page_token(serving.Visit(hit, "3ASSIGNMENT", "AWORKER"))
    serving.check(token, {"answer": "fatal"})
    assert "KeyError" in caplog.text


def test_a_setting_that_an_older_version_did_not_store_has_its_default_everywhere() -> None:
    choices = {"question": "Who?", "choices": [{"id": "a", "text": "Mara"}, {"id": "b", "text": "Nobody"}]}
    stage = make.stage(protocol="multiple_choice", key="choose", settings=choices)
    protocol = get("multiple_choice")
    complete = protocol.settings(choices)
    assert set(complete) > set(choices)
    assert settings_of(stage) == complete == Rows(stage.project).settings("choose")


def test_the_answers_of_a_stage_whose_settings_are_older_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[set[str]] = []
    check = CLICKS.check

    def checked(document: Any, item: Any, settings: Any, fields: Any, worker: str = "") -> CheckedAnswer:
        seen.append(set(settings))
        return check(document, item, settings, fields, worker)

    monkeypatch.setattr(CLICKS, "check", checked)
    stage = make.stage(settings={})
    make.assignment(make.hit(make.item(stage)), **SUBMITTED)
    scoring.score(stage)
    assert seen == [set(CLICKS.settings({}))] != [set()]


def test_an_item_that_the_rule_cannot_judge_holds_up_no_other(stage, answers, monkeypatch, caplog) -> None:
    scoring.score(stage)
    real, fatal = deciding.apply_rule, answers[0]

    def apply(*given: Any) -> Any:
        if deciding_fails and Assignment.objects.get(pk=fatal.pk).hit.item.state == "new" and not failed:
            failed.append(1)
            raise ZeroDivisionError("no votes")
        return real(*given)

    failed: list[int] = []
    deciding_fails = True
    monkeypatch.setattr(deciding, "apply_rule", apply)
    deciding.decide(stage)
    assert stage.items.filter(state=Item.State.KEPT).count() == 1
    [hit] = Hit.objects.exclude(error="")
    assert hit.error.startswith("Its answers could not be judged: ZeroDivisionError: no votes.")
    assert hit.item.state == Item.State.NEW and deciding.unfinished() == [] and "ZeroDivisionError" in caplog.text
    deciding_fails = False
    Item.objects.update(stale=True)
    deciding.decide(stage)
    assert not Hit.objects.exclude(error="").exists()
    assert Item.objects.get(pk=hit.item_id).state == Item.State.KEPT


def test_measures_that_fail_leave_the_verdicts(stage, answers, monkeypatch, caplog) -> None:
    Stage.objects.update(rule={"name": "measured", "version": 1, "params": {"answers": 1}})
    stage.refresh_from_db()
    monkeypatch.setattr(CLICKS, "scores", lambda rows: 1 / 0)
    scoring.score(stage)
    assert deciding.decide(stage) == 3
    assert stage.items.filter(state=Item.State.KEPT).count() == 2
    assert "ZeroDivisionError" in caplog.text


def test_a_verdict_on_which_the_recipe_fails_waits_and_holds_up_no_other(monkeypatch, caplog) -> None:
    project = projects.create_project("River", "record", 20, "lab@example.org", make.user(), seed=3)
    first, second = project.stages.filter(crowd=True).order_by("position")[:2]
    hits = make.hits(make.items(first, 3, state=Item.State.KEPT))
    for hit in hits:
        make.verdict(hit.item)
    steps = recipe_of(project).steps
    fatal, fails = hits[1].item, [True]

    def failing(found: Any) -> Any:
        if fails[0] and found.key == fatal.key:
            raise IndexError("no sentence")
        return [NextItem(second.key, found.key, {})]

    monkeypatch.setattr(steps, "next_items", failing)
    for _ in range(2):
        advancing.advance(first)
    assert second.items.count() == 2
    assert [row.error[:44] for row in Hit.objects.exclude(error="")] == ["What its verdict leads to could not be made:"]
    assert (Verdict.objects.filter(advanced=False).count(), caplog.text.count("Traceback")) == (1, 1)
    fails[0] = False
    advancing.advance(first)
    assert (second.items.count(), Hit.objects.exclude(error="").count()) == (3, 0)
