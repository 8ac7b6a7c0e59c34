"""Messages: who may write to whom, the count of unread ones, and the copies by e-mail."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
from django.core import mail

from marketplace.models import Message, Requester, Worker
from marketplace.rules.errors import ParameterValidationError
from marketplace.verbs import assignments, letters, messages


@pytest.fixture
def judged(
    make_worker: Callable[..., Worker], make_hit: Any, hit_type: Any, requester: Requester, now: datetime
) -> Callable[..., Worker]:
    """A worker whose answer Alice has rejected, or has not looked at yet."""

    def make(name: str, rejected: bool = True, **attributes: Any) -> Worker:
        worker = make_worker(name, **attributes)
        held = assignments.accept(hit_type, worker, now, make_hit(hit_type))
        assignments.submit(held.assignment_id, {"a": ["1"]}, now)
        if rejected:
            assignments.reject(requester, held.assignment_id, now, "no")
        return worker

    return make


def unread(worker: Worker) -> int:
    worker.refresh_from_db()
    return worker.unread_messages


def test_only_workers_with_judged_work_are_reached(requester: Requester, judged: Any, now: datetime) -> None:
    reached, waiting = judged("walter"), judged("wanda", rejected=False)
    ids = [reached.worker_id, "A0", waiting.worker_id, reached.worker_id, "A0"]
    failures = messages.notify(requester, ids, "News", "More work\ntomorrow", now)
    assert failures == [
        ("A0", "Worker A0 has no work that you have approved or rejected."),
        (waiting.worker_id, f"Worker {waiting.worker_id} has no work that you have approved or rejected."),
    ]
    (message,) = Message.objects.all()
    assert (message.worker, message.sender, message.text) == (reached, requester, "More work\ntomorrow")
    assert (unread(reached), unread(waiting)) == (1, 0)


def test_writing_to_many_takes_as_many_queries_as_to_one(
    requester: Requester, judged: Any, now: datetime, django_assert_max_num_queries: Any
) -> None:
    ids = [judged(f"w{number}").worker_id for number in range(4)]
    for some in (ids[:1], ids):
        with django_assert_max_num_queries(7):
            assert messages.notify(requester, some, "News", "text", now) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"worker_ids": ["A0"] * 101}, "101 ids"),
        ({"worker_ids": []}, "0 ids"),
        ({"subject": "s" * 201}, "at most 200"),
        ({"subject": " "}, "blank"),
        ({"text": "t" * 4097}, "at most 4096"),
        ({"text": ""}, "blank"),
    ],
)
def test_a_letter_without_words_or_readers_is_refused(
    requester: Requester, now: datetime, change: dict[str, Any], words: str
) -> None:
    values = {"worker_ids": ["A0"], "subject": "s", "text": "t"} | change
    with pytest.raises(ParameterValidationError, match=words):
        messages.notify(requester, now=now, **values)


def test_a_message_is_read_once(worker: Worker, make_worker: Any, now: datetime) -> None:
    first, second = (messages.send(worker, sender=None, subject="s", text="t", now=now) for _ in range(2))
    assert not messages.mark_read(make_worker("other"), first.pk, now)
    assert [messages.mark_read(worker, first.pk, now) for _ in range(2)] == [True, False]
    assert unread(worker) == 1
    assert messages.mark_all_read(worker, now) == 1
    assert unread(worker) == 0
    assert Message.objects.get(pk=second.pk).read_at == now


@pytest.fixture
def mailed(make_worker: Callable[..., Worker], now: datetime) -> Worker:
    """A worker with a confirmed address."""
    worker = make_worker("mia", email_confirmed_at=now)
    worker.user.email = "mia@example.org"
    worker.user.save()
    return worker


def test_a_copy_goes_to_a_confirmed_address_once(mailed: Worker, requester: Requester, now: datetime) -> None:
    messages.send(mailed, sender=requester, subject="Good\nnews", text="Dear Mia", now=now)
    assert mail.outbox == []
    assert (letters.send_due(now), letters.send_due(now)) == (1, 0)
    (copy,) = mail.outbox
    assert (copy.to, copy.subject) == (["mia@example.org"], "Good news")
    assert copy.body.startswith("Dear Mia\n") and "From Alice" in copy.body and "/worker/messages/" in copy.body


def test_no_copy_without_a_confirmed_address_or_the_wish(worker: Worker, mailed: Worker, now: datetime) -> None:
    messages.send(worker, sender=None, subject="s", text="t", now=now)
    messages.choose_mail(mailed, False)
    mailed.refresh_from_db()
    messages.send(mailed, sender=None, subject="s", text="t", now=now)
    assert letters.send_due(now) == 0 and mail.outbox == []


def test_a_letter_that_no_header_can_carry_does_not_stop_the_others(mailed: Worker, now: datetime) -> None:
    letters.write(mailed, "mia@example.org", "two\nlines", "t", now)
    messages.send(mailed, sender=None, subject="s", text="t", now=now)
    assert letters.send_due(now) == 1
    assert [copy.subject for copy in mail.outbox] == ["s"]
