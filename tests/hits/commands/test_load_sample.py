"""`manage.py load_sample`, against a real marketplace."""

from __future__ import annotations

import json
import stat
import time
from decimal import Decimal
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from kombu.exceptions import OperationalError
from rest_framework.test import APIClient

from hits import tasks
from hits.answers.rules.eligibility import Cause
from hits.core.jobs import queue
from hits.items.verbs import importing
from hits.judging.rules.summaries import refresh_summary
from hits.management.commands import load_sample
from hits.models import Action, ApiToken, Batch, Document, Hit, Item, Project, Stage, StageSummary, Upload, WaitingJob
from hits.payments.rules import wages
from hits.projects.jobs import sample_crowd
from hits.projects.verbs import projects
from hits.publishing.rules.marketplace_account import gateway
from hits.publishing.verbs import publishing, sending
from hits.releases.verbs import withdrawing
from hits.stages.verbs import stage_settings
from hits.workers.verbs import blocking
from tests.hits import factories as make
from tests.hits.doing import refused
from tests.hits.mailbox import mail_server
from tests.hits.market import Marketplace

NAME = "Sample: harbour news"


def load(*options: str) -> str:
    said = StringIO()
    call_command("load_sample", *options, stdout=said)
    return said.getvalue()


@pytest.fixture
def laptop(db: None, settings: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    settings.DATA_DIR = tmp_path
    settings.DEBUG = True
    settings.PUBLIC_URL = "http://localhost:8000"
    monkeypatch.delenv("SAMPLE_LEAD_PASSWORD", raising=False)
    return settings


def test_the_command_line_of_this_machine_is_signed_in_as_the_lead_and_nobody_else_reads_how(
    laptop: Any, market: Marketplace, tmp_path: Path
) -> None:
    assert f"The command line signs in as lead by {tmp_path / 'command-line.json'}." in load()
    file = tmp_path / "command-line.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    kept = json.loads(file.read_text())
    assert kept["address"] == "http://localhost:8000"
    answer = APIClient().get("/api/token/", headers={"Authorization": f"Token {kept['token']}"})
    assert (answer.status_code, answer.data["scope"]) == (200, "pay")
    load()
    assert json.loads(file.read_text()) == kept


@pytest.mark.parametrize("lost", ["the file", "the token", "the address"])
def test_a_token_that_no_longer_serves_is_replaced_and_never_added_to(laptop: Any, tmp_path: Path, lost: str) -> None:
    lead, file = load_sample.lead(), tmp_path / "command-line.json"
    load_sample.leave_token(lead)
    before = json.loads(file.read_text())
    if lost == "the file":
        file.unlink()
    elif lost == "the token":
        ApiToken.objects.all().delete()
    else:
        laptop.PUBLIC_URL = "http://localhost:8470"
    load_sample.leave_token(lead)
    now = json.loads(file.read_text())
    assert now["token"] != before["token"] and now["address"] == laptop.PUBLIC_URL
    assert ApiToken.objects.filter(user=lead).count() == 1


def test_it_publishes_a_project_that_its_lead_can_look_at(laptop: Any, market: Marketplace) -> None:
    assert "47 HITs published" in load()
    project = Project.objects.get(name=NAME)
    lead = authenticate(username="lead", password="lead-sample-password")
    assert list(project.owners.all()) == [lead]
    assert project.account.budget == 50
    assert project.account.reserved == 47 * Hit.objects.first().unit_cost  # type: ignore[union-attr]
    assert set(Hit.objects.values_list("state", flat=True)) == {Hit.State.LIVE}


def test_every_stage_of_the_sample_pays_what_a_lead_should(laptop: Any, market: Marketplace) -> None:
    load()
    for stage in Project.objects.get(name=NAME).stages.filter(crowd=True):
        time = wages.answer_time(stage)
        assert time and time.hourly(stage.reward) >= wages.wage_floor(stage), stage.key
    assert Hit.objects.values_list("stage__reward", flat=True).distinct().get() == Decimal("0.09")


def test_who_has_just_signed_up_may_answer_the_samples(laptop: Any, market: Marketplace, queued: list[int]) -> None:
    load("--finished")
    for stage in Stage.objects.filter(crowd=True):
        asked = {one["qualification"]: one["comparator"] for one in stage.requirements}
        assert asked == {"poor-quality": "DoesNotExist"}, stage.key


def test_a_second_time_changes_nothing(laptop: Any, market: Marketplace) -> None:
    load()
    ids = set(Hit.objects.values_list("hit_id", flat=True))
    assert "47 HITs published" in load()
    assert Project.objects.filter(name=NAME).count() == 1
    assert set(Hit.objects.values_list("hit_id", flat=True)) == ids


def test_without_a_marketplace_it_says_so_and_goes_on_later(laptop: Any, market: Marketplace) -> None:
    market.stop()
    try:
        assert "the rest later" in load()
    finally:
        market.start()
    assert "47 HITs published" in load()


def test_the_password_comes_from_the_environment(
    laptop: Any, market: Marketplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAMPLE_LEAD_PASSWORD", "one that only this test knows")
    load()
    assert authenticate(username="lead", password="one that only this test knows")


@pytest.mark.parametrize(("name", "value"), [("DEBUG", False), ("PUBLIC_URL", "https://annotate.example.org")])
def test_a_server_is_refused(laptop: Any, name: str, value: object) -> None:
    setattr(laptop, name, value)
    with pytest.raises(CommandError, match="known password"):
        load()
    assert not Project.objects.exists()


STEPS = [
    (User, "set_password"),
    (projects, "create_project"),
    (stage_settings, "change"),
    (blocking, "block_by_itself"),
    (withdrawing, "change_card"),
    (projects, "want_seconds"),
    (importing, "create_upload"),
    (importing, "import_upload"),
    (publishing, "publish"),
    (sending, "send"),
]


def test_interrupted_before_and_after_each_step_it_goes_on_and_doubles_nothing(
    laptop: Any, market: Marketplace, queued: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    for place, step in STEPS:
        for done in (False, True):
            with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
                patch.setattr(place, step, _interrupted(getattr(place, step), done))
                load("--finished")
    load("--finished")
    models = (User, Project, Upload, Batch)
    assert [model.objects.count() for model in models] == [1, 2, 2, 2]
    assert Document.objects.count() == 26 + 48 and Item.objects.count() == Hit.objects.count() == 47 + 48
    assert set(Hit.objects.values_list("state", flat=True)) == {Hit.State.LIVE}
    ours = tuple(Project.objects.values_list("namespace", flat=True))
    there = [hit.hit_id for hit in gateway().all_hits() if hit.annotation.startswith(ours)]
    assert sorted(there) == sorted(Hit.objects.values_list("hit_id", flat=True))
    told = [(one.project_id, one.stage_id, one.verb, str(one.detail)) for one in Action.objects.all()]
    assert len(told) == len(set(told))
    assert authenticate(username="lead", password="lead-sample-password")
    stage = Project.objects.get(name="Sample: letters to a ferry line").stages.get()
    assert (stage.answers, stage.auto_block, stage.settings["min_seconds"]) == (5, True, 0)


def _interrupted(real: Any, done: bool) -> Any:
    """Ctrl-C comes before the step is done, or right after."""

    def step(*given: Any, **named: Any) -> None:
        if done:
            real(*given, **named)
        raise KeyboardInterrupt

    return step


def test_it_waits_for_a_worker_that_has_taken_up_the_import_of_an_earlier_run(
    laptop: Any, market: Marketplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, looks = importing.import_upload, []

    def elsewhere(seconds: float) -> None:
        looks.append(seconds)
        real(Upload.objects.get().pk)

    monkeypatch.setattr(importing, "import_upload", lambda pk: 0)
    monkeypatch.setattr(load_sample, "time", SimpleNamespace(sleep=elsewhere, monotonic=time.monotonic))
    assert "47 HITs published" in load()
    assert len(looks) == 1


@pytest.fixture
def queued(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Keys of the projects that are to be answered and released: no worker runs in these tests."""
    found: list[int] = []
    monkeypatch.setattr(tasks.finish_sample, "delay", found.append)
    return found


def test_a_second_sample_is_to_be_answered_by_a_simulated_crowd_until_it_is_released(
    laptop: Any, market: Marketplace, queued: list[int]
) -> None:
    assert "A simulated crowd answers them now" in load("--finished")
    project = Project.objects.get(name="Sample: letters to a ferry line")
    stage = project.stages.get()
    assert (stage.hits.filter(state=Hit.State.LIVE).count(), stage.answers, stage.auto_block) == (48, 5, True)
    assert Project.objects.filter(is_sample=True).count() == 2
    load("--finished")
    assert queued == [project.pk] * 2 and Hit.objects.count() == 47 + 48
    make.release(project)
    assert "Answered and released" in load("--finished")
    assert queued == [project.pk] * 2


def test_without_a_queue_the_crowd_is_kept_for_when_it_is_back(
    laptop: Any, market: Marketplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*given: Any) -> None:
        raise OperationalError("no broker")

    monkeypatch.setattr(queue.absence, "until", 0.0)
    monkeypatch.setattr(tasks.finish_sample, "delay", refuse)
    assert "The job queue does not answer: a simulated crowd answers them when it is back." in load("--finished")
    project = Project.objects.get(name="Sample: letters to a ferry line")
    assert [(row.task, row.arguments) for row in WaitingJob.objects.all()] == [(tasks.finish_sample.name, [project.pk])]


def test_the_crowd_knows_the_answers_to_the_items_of_its_project(
    laptop: Any, market: Marketplace, queued: list[int]
) -> None:
    load("--finished")
    live, letters = (Project.objects.get(name__startswith=f"Sample: {name}") for name in ("harbour", "letters"))
    item = Item.objects.filter(stage__project=live).select_related("document")[0]
    truth = sample_crowd.key_of(live).find(item.document.data["text"], item.data["query"])
    assert truth and truth.texts == {answer["text"] for answer in item.data["answers"]}
    item = Item.objects.filter(stage__project=letters).select_related("document")[5]
    asked = sample_crowd.key_of(letters).question(item.document.data["text"], item.data["question"])
    right = [one["text"] for one in item.data["choices"] if one["id"] in item.data["gold"]]
    assert asked and list(asked.correct) == right


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DEBUG", False),
        ("PUBLIC_URL", "https://annotate.example.org"),
        ("MTURK_SUBMIT_ORIGINS", ["https://workers.example.org"]),
    ],
)
def test_no_crowd_answers_on_a_server(laptop: Any, name: str, value: object) -> None:
    setattr(laptop, name, value)
    with refused("no_sample"):
        tasks.let_crowd_answer(make.project(is_sample=True).pk)


def test_no_crowd_answers_a_project_that_is_no_sample(laptop: Any, db: None) -> None:
    with refused("no_sample"):
        tasks.let_crowd_answer(make.project().pk)


def test_a_sample_that_is_answered_is_released_once(laptop: Any, db: None) -> None:
    project = make.project(is_sample=True, recipe="choice")
    stage = make.stage(project, key="choose", protocol="multiple_choice", state="live")
    data = {"question": "Rain?", "choices": [{"id": "c1", "text": "Yes"}, {"id": "c2", "text": "No"}]}
    item = make.item(stage, data=data, state=Item.State.KEPT)
    make.verdict(item)
    StageSummary.objects.filter(stage=stage).update(items=1, kept=1)
    assert [tasks.finish_sample(project.pk) for _ in range(2)] == [1, 1]
    assert project.releases.count() == 1


def test_a_finished_sample_waits_for_no_decision_about_a_worker_who_was_blocked_while_they_answered(
    laptop: Any, db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "SAMPLE_LOOKS", 1)
    stage = make.stage(make.project(is_sample=True, recipe="choice"), key="choose", protocol="multiple_choice")
    hit = make.hit(make.item(stage), state=Hit.State.CLOSED)
    held = make.assignment(
        hit, make.block(stage).worker, state="Approved", scored=True, held="Blocked.", held_for=Cause.BLOCKED.value
    )
    refresh_summary(stage)
    assert list(stage.assignments.held()) == [held]
    tasks.finish_sample(stage.project.pk)
    assert not stage.assignments.held().exists()


def test_a_finished_sample_says_where_no_crowd_can_sign_up(
    laptop: Any, market: Marketplace, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setattr(tasks.finish_sample, "delay", lambda pk: pytest.fail("It was started."))
    with mail_server() as mailbox:
        other = Marketplace(tmp_path, EMAIL_URL=f"smtp://127.0.0.1:{mailbox.port}")
        other.start()
        laptop.MTURK_SUBMIT_ORIGINS = [other.url]
        try:
            assert "Start the marketplace without EMAIL_URL" in load("--finished")
        finally:
            other.close()
