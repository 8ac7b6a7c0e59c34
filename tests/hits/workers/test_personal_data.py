"""What is kept about a worker is handed over whole, and what they told about themselves is deleted for good."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.management.base import CommandError

from hits.answers.rules.item_answers import without
from hits.judging.verbs import scoring
from hits.models import Assignment, Draft, Stage, WebhookDelivery, Worker, WorkerMessage
from hits.workers.verbs import personal_data
from tests.hits import factories as make
from tests.hits.commands.conftest import Run, run

__all__ = ["run"]

pytestmark = [pytest.mark.django_db, pytest.mark.on_postgresql]
COMMENT = "I am a nurse in Linden and know the ferry."
ANSWER = {"answer": "46-51", "text": "Linden", "comment": COMMENT}


@pytest.fixture
def worker() -> Worker:
    return make.worker("AFERRY")


@pytest.fixture
def stage(worker: Worker) -> Stage:
    """Two workers wrote a comment beside their answers and left a draft; one message is sent, one waits."""
    stage = make.stage()
    for person in (worker, make.worker("AOTHER")):
        hit = make.hit(make.item(stage))
        make.label(make.assignment(hit, person, answer=ANSWER, remark=COMMENT))
        Draft.objects.create(hit=hit, assignment_id="3DRAFT", worker_id=person.worker_id, fields={"comment": COMMENT})
        for state in (WorkerMessage.State.SENT, WorkerMessage.State.PLANNED):
            WorkerMessage.objects.create(
                project=stage.project, stage=stage, worker=person, subject="Your answer", text=f"You wrote: {COMMENT}",
                state=state, confirmation=f"page-{state}",
            )  # fmt: skip
    make.worker_stat(stage, worker)
    make.block(stage, worker)
    make.grant(stage.project, worker)
    make.bonus(Assignment.objects.get(worker=worker))
    make.compensation(stage.project, worker_id=worker.worker_id)
    return stage


def test_the_export_has_each_row_about_the_worker_and_none_about_another_one(stage: Stage, run: Run) -> None:
    found = json.loads(run("export_worker", "AFERRY"))
    assert found.pop("worker_id") == "AFERRY"
    assert found.pop("test_results") == found.pop("text_evidence") == found.pop("replies") == []
    assert {name: len(rows) for name, rows in found.items()} == {
        "answers": 1, "figures": 1, "blocks": 1, "qualifications": 1, "bonuses": 1, "compensations": 1, "messages": 2,
        "drafts": 1, "pools": 0, "webhook_messages": 0,
    }  # fmt: skip
    [answer] = found["answers"]
    assert (answer["answer"], answer["project"], answer["stage"]) == (ANSWER, stage.project.slug, stage.key)
    assert found["figures"][0]["earned"] == "1.60" and answer["submitted_at"].startswith("2026-11-19T12:00:38")


def test_the_export_lists_the_messages_to_webhooks_that_name_the_worker(stage: Stage, run: Run) -> None:
    make.webhook(stage.project)
    for worker_id in ("AFERRY", "AFERRY2"):
        facts = {"worker": worker_id, "stage": stage.key, "block": 1, "by_hand": True}
        WebhookDelivery.objects.announce(stage.project_id, "worker.blocked", lambda facts=facts: [facts])
    [told] = json.loads(run("export_worker", "AFERRY"))["webhook_messages"]
    row = WebhookDelivery.objects.earliest("pk")
    assert (told["message"], told["event"], told["project"]) == (row.message_id, "worker.blocked", stage.project.slug)
    assert told["when"][:19] == row.created_at.isoformat()[:19]


def test_deleting_takes_the_words_away_and_leaves_answers_judgements_and_money(
    stage: Stage, worker: Worker, run: Run
) -> None:
    before = _rows_that_stay(stage)
    assert run("erase_worker", "AFERRY", "--yes") == (
        "Of AFERRY are deleted: drafts 1, comments 1, texts of messages 2, replies 0, text evidence of answers 0, "
        "places in pools 0.\n"
    )
    found = personal_data.export(worker)
    assert COMMENT not in json.dumps(found, default=str)
    assert found["answers"][0]["answer"] == {"answer": "46-51", "text": "Linden"}
    assert [(row["state"], row["text"]) for row in found["messages"]] == [("sent", personal_data.DELETED)]
    assert _rows_that_stay(stage) == before
    [action] = stage.project.actions.filter(verb="deleted what a worker told")
    assert action.about == "AFERRY"
    assert json.dumps(personal_data.export(Worker.objects.get(worker_id="AOTHER")), default=str).count(COMMENT) == 5
    assert run("erase_worker", "AFERRY", "--yes").endswith(
        "drafts 0, comments 0, texts of messages 0, replies 0, text evidence of answers 0, places in pools 0.\n"
    )


def test_a_deleted_comment_does_not_come_back_when_the_answer_is_read_again(stage: Stage, worker: Worker) -> None:
    personal_data.erase(worker)
    stage.assignments.update(scored=False)
    scoring.score(stage)
    remarks = dict(stage.assignments.values_list("worker__worker_id", "remark"))
    assert remarks == {"AFERRY": "", "AOTHER": COMMENT}


def test_nothing_is_deleted_without_a_yes_and_nobody_is_looked_for_by_half_an_id(stage: Stage, run: Run) -> None:
    with pytest.raises(CommandError, match="Of AFERRY this would delete: drafts 1, comments 1, texts of messages 2"):
        run("erase_worker", "AFERRY")
    for name in ("export_worker", "erase_worker"):
        with pytest.raises(CommandError, match="No worker AFER has"):
            run(name, "AFER")
    assert Assignment.objects.filter(remark=COMMENT).count() == Draft.objects.count() == 2


def test_the_comment_of_each_item_of_a_hit_is_found() -> None:
    fields = {"item1:comment": "a", "item2:comment": "b", "comment": "c", "item1:comments": "d", "item1:choice": "e"}
    assert without(fields, "comment") == {"item1:comments": "d", "item1:choice": "e"}


def _rows_that_stay(stage: Stage) -> list[Any]:
    answers = stage.assignments.order_by("pk").values_list("state", "seconds", "worker", "scored")
    money = stage.project.ledger.order_by("pk").values_list("kind", "reserved", "paid")
    labels = stage.labels.order_by("pk").values_list("unit", "value", "correct", "void")
    return [list(answers), list(money), list(labels), list(stage.project.blocks.values_list("state", "worker"))]
