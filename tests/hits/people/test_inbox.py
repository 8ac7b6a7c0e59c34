"""The inbox: remarks and replies, each open or answered, and the link by which workers reply."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.core import signing
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from hits.answers.rules import task_words
from hits.judging.verbs import scoring
from hits.models import InboxEntry, Project, Stage, Worker, WorkerMessage
from hits.notifications.jobs import needs, pending_notices
from hits.people.models import LONGEST_REPLY, LONGEST_TEXT, LONGEST_WRITTEN
from hits.people.rules import inbox as domain
from hits.people.rules.inbox import reply_path, with_link
from hits.people.verbs import inbox, messaging
from hits.projects.rules.archived import ArchivedError
from hits.refusals import Refused
from hits.workers.verbs import personal_data
from tests.hits import factories as make
from tests.hits.doing import refused
from tests.hits.payments.test_two_leads import database_with_connections
from tests.hits.stand_in import StandIn

__all__ = ["database_with_connections"]

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def stage() -> Stage:
    return make.stage(make.project(owner=make.user("lena")), title="Choose", hit_title="Was it wet?")


@pytest.fixture
def worker(stage: Stage) -> Worker:
    row = make.worker("AREADER")
    make.worker_stat(stage, row)
    return row


@pytest.fixture
def message(stage: Stage, worker: Worker) -> WorkerMessage:
    return make.message(stage, worker)


def token(message: WorkerMessage) -> str:
    return reply_path(message.pk).split("/")[3]


def reply(message: WorkerMessage, text: str = "Why was it rejected?", address: str = "192.0.2.1") -> InboxEntry:
    return inbox.take_reply(token(message), text, address)


def remark(stage: Stage, worker: Worker, text: str = "Two names fit.") -> InboxEntry:
    answer = make.assignment(make.hit(make.item(stage)), worker, remark=text)
    domain.enter([answer])
    return InboxEntry.objects.get(assignment=answer)


# What comes in


def test_a_remark_enters_with_its_answer_once_and_an_answer_without_one_does_not(stage: Stage) -> None:
    for said in ("The text is cut off.", ""):
        fields = {"answer": "46-51", "text": "Linden", "comment": said}
        make.assignment(make.hit(make.item(stage)), answer=fields, scored=False)
    assert scoring.score(stage) == 2
    [entry] = InboxEntry.objects.all()
    assert "The text is cut off." in entry.said and (entry.stage, entry.project) == (stage, stage.project)
    assert (entry.worker, entry.at) == (entry.assignment.worker, entry.assignment.submitted_at)
    domain.enter([entry.assignment])
    assert InboxEntry.objects.count() == 1


def test_a_remark_of_a_file_of_results_does_not_enter(stage: Stage) -> None:
    upload = make.upload(stage.project, stage=stage, kind="results")
    answer = make.assignment(
        make.hit(make.item(stage)), remark="From elsewhere.", hit=None, item=make.item(stage), imported_from=upload,
        row={}, state="Imported",
    )  # fmt: skip
    domain.enter([answer])
    assert not InboxEntry.objects.exists()


@pytest.mark.on_postgresql
def test_an_entry_is_a_remark_or_a_reply_and_never_both(stage: Stage, worker: Worker, message: WorkerMessage) -> None:
    common = {"project": stage.project, "stage": stage, "worker": worker}
    for columns in (
        {},
        {"message": message, "assignment": make.assignment()},
        {"assignment": make.assignment(), "text": "x"},
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            InboxEntry.objects.create(**common, **columns)


# The link


def test_a_message_ends_with_a_link_that_opens_its_own_form_alone(
    stage: Stage, worker: Worker, stand_in: StandIn, settings: Any
) -> None:
    settings.PUBLIC_URL = "https://lab.example"
    messaging.write(stage, "Your answers", {worker.worker_id: "Look again."}, "page-0001", None)
    assert messaging.send(stage.project) == 1
    [(_, _, text)] = stand_in.notes
    row = WorkerMessage.objects.get()
    assert text == f"Look again.\n\nTo answer this message, open:\nhttps://lab.example{reply_path(row.pk)}"
    assert row.text == "Look again."
    assert inbox.resolve(text.rpartition("/task/reply/")[2].strip("/")) == row


def test_the_link_is_introduced_in_the_language_of_the_stages_pages(message: WorkerMessage) -> None:
    message.stage.page_language = "de"
    assert "Um auf diese Nachricht zu antworten" in with_link(message)


def test_what_a_lead_may_write_leaves_room_for_the_link_and_a_longer_text_goes_without(
    message: WorkerMessage, settings: Any
) -> None:
    settings.PUBLIC_URL = "https://a-rather-long-name-of-a-server.department.university.example"
    message.text = "x" * LONGEST_WRITTEN
    for language in task_words.LANGUAGES:
        message.stage.page_language = language
        assert "/task/reply/" in with_link(message)
    message.text = "x" * (LONGEST_TEXT - 9)
    assert with_link(message) == message.text


def test_a_token_opens_the_form_of_its_message_and_a_changed_one_none(stage: Stage, message: WorkerMessage) -> None:
    other = make.message(stage)
    assert inbox.resolve(token(message)) == message and inbox.resolve(token(other)) == other
    pk, _, signature = token(message).partition(":")
    foreign = signing.Signer(salt="hits.task").sign(str(message.pk))
    forged = [
        "", "x", ":", pk, f"{other.pk}:{signature}", token(message)[:-1], f"{token(message)}x", foreign,
        f"0{token(message)}", f"{pk}:{'x' * 100_000}", "９:" + signature, f"-{pk}:{signature}",
    ]  # fmt: skip
    for wrong in forged:
        with refused("reply_link", match="belongs to no message"):
            inbox.resolve(wrong)
        with refused("reply_link"):
            inbox.take_reply(wrong, "Hello")
    assert not InboxEntry.objects.exists()


def test_a_message_that_is_gone_old_or_of_an_archived_project_takes_no_reply(
    stage: Stage, worker: Worker, message: WorkerMessage
) -> None:
    gone = make.message(stage, worker, confirmation="page-gone")
    address = token(gone)
    gone.delete()
    with refused("reply_link", match="does not exist any more"):
        inbox.take_reply(address, "Hello")
    WorkerMessage.objects.update(created_at=timezone.now() - timedelta(days=91))
    with refused("reply_link", match="takes no reply any more. Write to lab@example.org"):
        reply(message)
    WorkerMessage.objects.update(created_at=timezone.now())
    Project.objects.update(archived_at=timezone.now())
    with refused("reply_link", match="takes no reply any more"):
        reply(message)
    assert not InboxEntry.objects.exists()


# Replies


def test_a_reply_is_kept_as_plain_lines_with_its_message_and_worker(message: WorkerMessage) -> None:
    entry = reply(message, "\x00Why?\r\n\r\n\r\n\r\n<b>Tell</b> me\x1b[31m.\n")
    assert entry.said == "Why?\n\n<b>Tell</b> me[31m." and entry.answered_at is None
    assert (entry.message, entry.worker, entry.stage) == (message, message.worker, message.stage)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "Write something"),
        (" \n\u200b\u2028 ", "Write something"),
        ("x" * (LONGEST_REPLY + 1), "at most 4000 characters"),
        ("x" * 1_000_000, "at most 4000 characters"),
    ],
)
def test_an_empty_and_a_huge_reply_are_refused(message: WorkerMessage, text: str, said: str) -> None:
    with refused("reply_refused", match=said):
        reply(message, text)
    assert not InboxEntry.objects.exists()
    assert reply(message, "x" * LONGEST_REPLY).text == "x" * LONGEST_REPLY


@pytest.mark.on_postgresql
def test_the_same_reply_twice_is_kept_once_and_of_a_hundred_ten_are_kept(message: WorkerMessage) -> None:
    assert reply(message, "Again") == reply(message, " Again \n")
    refusals = 0
    for number in range(100):
        try:
            reply(message, f"Reply {number}", address=f"192.0.2.{number}")
        except Refused as refusal:
            assert refusal.error_code == "too_many_replies"
            refusals += 1
    assert (InboxEntry.objects.count(), refusals) == (inbox.MOST_REPLIES, 100 - inbox.MOST_REPLIES + 1)


def test_one_address_sends_so_many_a_minute_whatever_the_messages(stage: Stage, worker: Worker) -> None:
    sent = 0
    for number in range(inbox.REPLIES_A_MINUTE_FROM_AN_ADDRESS + 5):
        try:
            reply(make.message(stage, worker, confirmation=f"page-{number}"), "Hello")
            sent += 1
        except Refused as refusal:
            assert refusal.error_code == "too_many_replies" and "Wait a minute" in str(refusal)
    assert sent <= inbox.REPLIES_A_MINUTE_FROM_AN_ADDRESS


@pytest.mark.on_postgresql
def test_replies_that_come_at_once_are_bounded_too(database_with_connections: None, message: WorkerMessage) -> None:
    def send(number: int) -> bool:
        try:
            reply(message, f"Reply {number}", address=str(number))
        except Refused as refusal:
            assert refusal.error_code == "too_many_replies"
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(send, range(40))) == inbox.MOST_REPLIES
    assert message.replies.count() == inbox.MOST_REPLIES


# What leads do


def test_an_entry_is_marked_and_opened_again_and_the_log_says_by_whom(stage: Stage, worker: Worker) -> None:
    lena, entries = stage.project.owners.get(), [remark(stage, worker), remark(stage, worker)]
    pks = [entry.pk for entry in entries]
    assert (inbox.mark_answered(stage.project, pks, lena), inbox.mark_answered(stage.project, pks[:1], lena)) == (2, 0)
    first = InboxEntry.objects.get(pk=pks[0])
    assert first.answered_at and (first.answered_by, first.answered_with) == (lena, None)
    assert (inbox.open_again(stage.project, pks[:1], lena), inbox.open_again(stage.project, pks[:1], lena)) == (1, 0)
    first.refresh_from_db()
    assert (first.answered_at, first.answered_by) == (None, None)
    said = [(row.verb, row.about, row.user) for row in stage.project.actions.order_by("id")]
    assert said == [("marked as answered", "AREADER", lena)] * 2 + [("opened again", "AREADER", lena)]


def test_entries_of_another_project_and_none_are_refused_and_nothing_changes(stage: Stage, worker: Worker) -> None:
    mine, other = remark(stage, worker), remark(make.stage(), worker)
    for pks in ([mine.pk, other.pk], [mine.pk, 10**9], [], list(range(1, 502))):
        for change in (inbox.mark_answered, inbox.open_again):
            with refused("no_entry"):
                change(stage.project, pks, None)
    assert InboxEntry.objects.open().count() == 2
    Project.objects.update(archived_at=timezone.now())
    with pytest.raises(ArchivedError):
        inbox.mark_answered(stage.project, [mine.pk], None)


def test_a_message_that_answers_an_entry_marks_it_and_a_second_click_changes_nothing(
    stage: Stage, worker: Worker
) -> None:
    lena, entry = stage.project.owners.get(), remark(stage, worker)
    texts = {worker.worker_id: "Thank you, it is mended."}
    for expected in (1, 0):
        assert messaging.write(stage, "Re: Yours", texts, "page-0001", lena, answers=entry) == expected
    entry.refresh_from_db()
    assert (entry.answered_with, entry.answered_by) == (WorkerMessage.objects.get(), lena)
    with refused("message_refused"):
        messaging.write(stage, "", texts, "page-0002", lena, answers=remark(stage, worker))
    assert InboxEntry.objects.open().count() == 1


def test_open_ones_are_among_what_needs_a_decision_and_open_replies_are_told(
    stage: Stage, worker: Worker, message: WorkerMessage
) -> None:
    def told() -> tuple[list[str], list[str]]:
        projects = list(Project.objects.with_state().select_related("account").prefetch_related("stages__summary"))
        words = [need.words for need in needs.beside(projects)[stage.project_id]]
        return words, [due.words for due in pending_notices.of_projects(projects) if due.key == "inbox"]

    assert told() == ([], [])
    first = remark(stage, worker)
    assert told() == (["1 message of a worker is open"], [])
    second = reply(message)
    assert told() == (["2 messages of workers are open"], ["1 reply of a worker is open"])
    inbox.mark_answered(stage.project, [first.pk, second.pk], None)
    assert told() == ([], [])


def test_the_data_of_a_worker_have_the_replies_and_deleting_what_they_told_takes_the_texts(
    stage: Stage, worker: Worker, message: WorkerMessage
) -> None:
    remark(stage, worker), reply(message, "I am a nurse.")
    [row] = personal_data.export(worker)["replies"]
    assert (row["text"], row["to"]) == ("I am a nurse.", message.subject)
    assert personal_data.erasable(worker).replies == 1
    assert personal_data.erase(worker).replies == 1
    [left] = InboxEntry.objects.all()
    assert (left.text, left.message) == (personal_data.DELETED, message)
    assert personal_data.erasable(worker).replies == 0
