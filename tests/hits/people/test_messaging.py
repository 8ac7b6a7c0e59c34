"""Messages to workers: what they begin with, and that each is sent once at most."""

from __future__ import annotations

from typing import Any

import pytest

from hits.models import Stage, Worker, WorkerMessage
from hits.mturk.errors import RefusedError, ThrottledError, UnreachableError
from hits.people.verbs import messaging
from tests.hits import factories as make
from tests.hits.doing import refused
from tests.hits.market import Marketplace
from tests.hits.stand_in import StandIn

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.on_postgresql]
State = WorkerMessage.State


@pytest.fixture
def stage() -> Stage:
    settings = {"question": "Wet?", "choices": [{"id": "yes", "text": "Yes"}, {"id": "no", "text": "No, dry"}]}
    return make.stage(make.project(), protocol="multiple_choice", hit_title="Was it wet?", settings=settings)


@pytest.fixture
def worker(stage: Stage) -> Worker:
    row = make.worker()
    make.worker_stat(stage, row)
    return row


def said(stage: Stage, text: str, answers: list[tuple[Worker, str, bool | None]]) -> None:
    item = make.item(stage, document=make.document(stage.project, data={"text": text}), data={})
    hit = make.hit(item)
    for worker, value, correct in answers:
        make.label(make.assignment(hit, worker), unit="choice", value=value, correct=correct)


def write(stage: Stage, worker: Worker, confirmation: str = "page-0001", text: str = "Look again.") -> int:
    return messaging.write(stage, "Your answers", {worker.worker_id: text}, confirmation, None)


def states() -> list[str]:
    return list(WorkerMessage.objects.order_by("pk").values_list("state", flat=True))


def test_a_draft_names_the_answers_that_are_known_to_be_wrong_as_the_worker_saw_them(
    stage: Stage, worker: Worker
) -> None:
    said(stage, "Rain fell on the quay.", [(worker, "no", False)])
    said(stage, "The sun shone.", [(worker, "no", True)])
    subject, text = messaging.draft(stage, worker)
    assert subject == "About your answers to “Was it wet?”"
    assert "- “Rain fell on the quay.”: You answered “No, dry”, which is not right." in text
    assert "sun" not in text and stage.project.contact_email in text


def test_without_known_answers_it_names_what_most_others_answered_otherwise(stage: Stage, worker: Worker) -> None:
    others = [make.worker() for _ in range(3)]
    said(stage, "Rain fell.", [(worker, "no", None), *((other, "yes", None) for other in others)])
    said(stage, "Fog lay.", [(worker, "no", None), (others[0], "yes", None)])
    said(stage, "Snow lay.", [(worker, "yes", None), *((other, "yes", None) for other in others)])
    _, text = messaging.draft(stage, worker)
    assert "- “Rain fell.”: You answered “No, dry”; most others answered “Yes”." in text
    assert "Fog" not in text and "Snow" not in text


def test_a_draft_quotes_what_was_chosen_in_a_questionnaire_by_its_text() -> None:
    form = {"show": [{"kind": "text", "text": "Read."}], "ask": [
        {"kind": "one", "key": "tone", "question": "Which tone?",
         "choices": [{"id": "a", "text": "Very kind"}, {"id": "b", "text": "Rude"}]},
    ]}  # fmt: skip
    stage, worker = make.stage(make.project(), protocol="form", settings={"form": form}), make.worker()
    item = make.item(stage, document=make.document(stage.project, data={"columns": {"text": "Hello."}}), data={})
    make.label(make.assignment(make.hit(item), worker), unit="tone", value="a", correct=False)
    assert "You answered “Very kind”, which is not right." in messaging.draft(stage, worker)[1]


def test_a_draft_quotes_the_text_with_a_question_that_all_items_share(stage: Stage, worker: Worker) -> None:
    document = make.document(stage.project, data={"text": "I left my umbrella on the ferry."})
    item = make.item(stage, document=document, data={"question": "What is it about?"})
    make.label(make.assignment(make.hit(item), worker), unit="choice", value="no", correct=False)
    told = "- “I left my umbrella on the ferry.”: “What is it about?” You answered “No, dry”, which is not right."
    assert told in messaging.draft(stage, worker)[1]


def test_a_draft_shows_the_blank_of_a_sentence_as_workers_saw_it() -> None:
    stage, worker = make.stage(make.project(), protocol="clickable_entity"), make.worker()
    document = make.document(stage.project, data={"text": "Ada sails. Ben waits.", "entities": [[0, 2], [11, 13]]})
    answers = [{"start": 0, "end": 2, "text": "Ada"}]
    item = make.item(stage, document=document, data={"query": "It is @placeholder who sails.", "answers": answers})
    make.label(make.assignment(make.hit(item), worker), unit="answer", value="Ben", correct=False)
    text = messaging.draft(stage, worker)[1]
    assert "- “It is ____ who sails.”: You answered “Ben”" in text and "@placeholder" not in text


def test_a_draft_without_mistakes_has_to_be_written(stage: Stage, worker: Worker) -> None:
    _, text = messaging.draft(stage, worker)
    with refused("message_refused", match="words in brackets"):
        write(stage, worker, text=text)


def test_every_fault_is_named_and_nothing_is_written(stage: Stage, worker: Worker) -> None:
    with refused("message_refused") as caught:
        messaging.write(stage, " ", {worker.worker_id: "", "ANOBODY": "x" * 4097}, "page-0001", None)
    assert len(caught.value.details()["faults"]) == 3
    with refused("message_refused", match="1 to 20 workers"):
        messaging.write(stage, "A", {}, "page-0001", None)
    assert states() == []


def test_a_message_is_sent_once_however_often_it_is_confirmed(stage: Stage, worker: Worker, stand_in: StandIn) -> None:
    assert (write(stage, worker), write(stage, worker)) == (1, 0)
    assert (messaging.send(stage.project), messaging.send(stage.project)) == (1, 0)
    [(to, subject, text)] = stand_in.notes
    assert (to, subject, text.partition("\n")[0]) == (worker.worker_id, "Your answers", "Look again.")
    assert states() == [State.SENT] and WorkerMessage.objects.get().sent_at
    assert write(stage, worker, "page-0002") == 1


def test_while_the_marketplace_is_away_it_waits(stage: Stage, worker: Worker, stand_in: StandIn) -> None:
    write(stage, worker)
    stand_in.silent = True
    with pytest.raises(UnreachableError):
        messaging.send(stage.project)
    assert states() == [State.PLANNED] and messaging.unfinished() == [stage.project_id]
    stand_in.silent = False
    assert messaging.send(stage.project) == 1 and messaging.unfinished() == []


def failing(stand_in: StandIn, monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def notify(*_: Any) -> str:
        raise error

    monkeypatch.setattr(stand_in, "notify", notify)


@pytest.mark.parametrize(
    ("error", "raised", "sent_later"),
    [
        pytest.param(UnreachableError("No answer came."), UnreachableError, 0, id="no answer came"),
        pytest.param(KeyboardInterrupt(), KeyboardInterrupt, 0, id="the program ended"),
        pytest.param(ThrottledError("Too many calls."), UnreachableError, 1, id="refused for now"),
    ],
)
def test_only_a_call_that_had_no_effect_is_made_again(
    stage: Stage,
    worker: Worker,
    stand_in: StandIn,
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    raised: type[BaseException],
    sent_later: int,
) -> None:
    write(stage, worker)
    with monkeypatch.context() as patch:
        failing(stand_in, patch, error)
        with pytest.raises(raised):
            messaging.send(stage.project)
    assert messaging.send(stage.project) == len(stand_in.notes) == sent_later
    row = WorkerMessage.objects.get()
    assert row.state == (State.SENT if sent_later else State.UNKNOWN)
    assert sent_later or "not sent again" in row.error


def test_a_crash_after_the_call_began_sends_nothing_twice(stage: Stage, worker: Worker, stand_in: StandIn) -> None:
    write(stage, worker)
    WorkerMessage.objects.update(attempted_at=make.NOON)
    assert messaging.send(stage.project) == 0
    assert states() == [State.UNKNOWN] and stand_in.notes == []


def test_one_that_is_refused_holds_up_no_other(
    stage: Stage, worker: Worker, stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(stage, worker)
    with monkeypatch.context() as patch:
        failing(stand_in, patch, RefusedError("RequestError", "The subject is too long."))
        assert messaging.send(stage.project) == 0
    assert states() == [State.REFUSED]
    write(stage, worker, "page-0002")
    assert messaging.send(stage.project) == 1


def test_the_marketplace_says_whom_it_does_not_write_to(stage: Stage, market: Marketplace) -> None:
    stranger = make.worker(market.sign_up_worker())
    make.worker_stat(stage, stranger)
    write(stage, stranger)
    assert messaging.send(stage.project) == 0
    row = WorkerMessage.objects.get()
    assert row.state == State.REFUSED and "no work that you have approved or rejected" in row.error


def test_a_confirmation_that_other_messages_have_is_refused(stage: Stage, worker: Worker) -> None:
    """Programs choose keys of their own; nobody takes the messages of another project for sent."""
    other = make.stage(make.project(slug="other"))
    make.worker_stat(other, worker)
    assert write(stage, worker, "monday") == 1
    with refused("confirmation_used", match="choose a fresh one"):
        write(other, worker, "monday")
    assert (write(stage, worker, "monday"), write(other, worker, "tuesday")) == (0, 1)


def test_a_confirmation_belongs_to_the_words_and_workers_that_were_confirmed(stage: Stage, worker: Worker) -> None:
    another = make.worker()
    make.worker_stat(stage, another)
    assert write(stage, worker) == 1
    others: list[tuple[str, Worker, str]] = [
        ("Your answers", worker, "Look twice."),
        ("Other answers", worker, "Look again."),
        ("Your answers", another, "Look again."),
    ]
    for subject, to, text in others:
        with refused("confirmation_used", match="choose a fresh one") as caught:
            messaging.write(stage, subject, {to.worker_id: text}, "page-0001", None)
        assert (caught.value.http_status, caught.value.error_code) == (409, "confirmation_used")
    assert write(stage, worker, text=" Look again. ") == 0
    assert WorkerMessage.objects.count() == 1


def test_the_confirmation_of_a_result_of_a_test_cannot_be_taken_nor_asked_for(stage: Stage, worker: Worker) -> None:
    """Whoever had it first would keep the result from the worker, and the refusal would tell how many were right."""
    columns = {"project": make.project(slug="other"), "stage": make.stage(), "worker": worker}
    WorkerMessage.objects.create(**columns, confirmation="test-17-4")
    for confirmation in ("test-17-4", "test-18-0"):
        with refused("message_refused", match="belong to results of tests: choose another"):
            write(stage, worker, confirmation)
    assert WorkerMessage.objects.count() == 1
