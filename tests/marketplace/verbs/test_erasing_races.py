"""A worker's account is deleted while its owner still has a page open, or while somebody writes about it."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction

from marketplace.models import Assignment, Concern, Hit, HitType, Letter, Message, Requester, Worker
from marketplace.rules.errors import MarketplaceError, NotAdmitted, RequestError
from marketplace.site.account_forms import ChangePasswordForm
from marketplace.verbs import access, accounts, assignments, concerns, messages, privacy, resolutions

pytestmark = pytest.mark.on_postgresql

ADDRESS = "nina@example.org"


@pytest.fixture
def before(worker: Worker, now: datetime) -> Worker:
    """The worker as a request knows it that began before the account was deleted."""
    before = Worker.objects.select_related("user").get(pk=worker.pk)
    privacy.erase(worker, now)
    return before


def test_a_request_that_comes_too_late_takes_no_hit(before: Worker, hit: Hit, hit_type: HitType, now: datetime) -> None:
    with pytest.raises(NotAdmitted, match="suspended"):
        assignments.accept(hit_type, before, now)
    assert not Assignment.objects.exists()


@pytest.mark.parametrize("mail", [False, True])
def test_it_brings_no_address_back(before: Worker, settings: Any, mail: bool, now: datetime) -> None:
    settings.MARKETPLACE_MAIL = mail
    with pytest.raises(RequestError, match="was deleted"):
        access.change_email(before, ADDRESS, now)
    assert not Letter.objects.exists()
    assert Worker.objects.get(pk=before.pk).email_key is None


def test_a_new_password_does_not_bring_the_account_back(before: Worker) -> None:
    form = {"old_password": "worker", "new_password1": "long-enough-7", "new_password2": "long-enough-7"}
    change = ChangePasswordForm(before.user, form)
    assert change.is_valid()
    change.save()
    user = User.objects.get(pk=before.user_id)
    assert (user.is_active, user.has_usable_password(), user.username == "walter") == (False, False, False)


def test_it_reports_and_disputes_nothing(before: Worker, hit: Hit, hit_type: HitType, now: datetime) -> None:
    mine = Assignment.objects.create(
        hit=hit, worker=before, status="Rejected", accepted_at=now, deadline=now, submitted_at=now, rejected_at=now
    )
    with pytest.raises(RequestError, match="was deleted"):
        concerns.report(before, hit, "other", "I am Nina", now)
    with pytest.raises(RequestError, match="was deleted"):
        concerns.dispute(before, mine, "I am Nina", now)
    assert not Concern.objects.exists()


def test_nobody_writes_to_the_account_any_more(before: Worker, requester: Requester, hit: Hit, now: datetime) -> None:
    Assignment.objects.create(hit=hit, worker=before, status="Approved", accepted_at=now, deadline=now)
    failures = messages.notify(requester, [before.worker_id], "Hello", "Dear Nina", now)
    assert [name for name, _ in failures] == [before.worker_id]
    messages.send(before, sender=requester, subject="Hello", text="Dear Nina", now=now)
    assert not Message.objects.exists()


# Locks


def in_this_order(worker: Worker, *works: Callable[[], Any]) -> list[Any]:
    """Let the works queue up for the worker's row in their order, then let them go. A deadlock is raised."""
    gate = threading.Event()

    def run(work: Callable[[], Any]) -> Any:
        try:
            return work()
        except MarketplaceError as refusal:
            return refusal
        finally:
            connection.close()

    def hold() -> None:
        with transaction.atomic():
            list(Worker.objects.select_for_update(no_key=True).filter(pk=worker.pk))
            gate.wait()
        connection.close()

    with ThreadPoolExecutor(len(works) + 1) as pool:
        pool.submit(hold)
        time.sleep(0.2)
        waiting = []
        for work in works:
            waiting.append(pool.submit(run, work))
            time.sleep(0.2)
        gate.set()
        return [each.result() for each in waiting]


@pytest.mark.django_db(transaction=True)
def test_reading_messages_and_deleting_the_account_do_not_wait_for_each_other(worker: Worker, now: datetime) -> None:
    first, _ = [messages.send(worker, sender=None, subject="Hello", text="x", now=now) for _ in range(2)]
    works: list[Callable[[], Any]] = [
        lambda: privacy.erase(worker, now),
        lambda: messages.mark_read(worker, first.pk, now),
        lambda: messages.mark_all_read(worker, now),
    ]
    in_this_order(worker, *works)
    assert not Message.objects.exists()
    assert Worker.objects.get(pk=worker.pk).unread_messages == 0


@pytest.mark.django_db(transaction=True)
def test_resolving_a_report_and_deleting_the_account_do_not_wait_for_each_other(
    worker: Worker, hit: Hit, now: datetime
) -> None:
    concern = concerns.report(worker, hit, "other", "I am Nina", now)
    operator = accounts.create_operator("olive", "a-long-password")
    in_this_order(
        worker,
        lambda: privacy.erase(worker, now),
        lambda: resolutions.resolve(operator, concern, "Thank you", now, take_down=True),
    )
    concern.refresh_from_db()
    assert (concern.text, concern.resolution) == (privacy.ERASED, "Thank you")


@pytest.mark.django_db(transaction=True)
def test_an_address_confirmed_while_the_account_is_deleted_is_gone_with_it(
    worker: Worker, settings: Any, now: datetime
) -> None:
    settings.MARKETPLACE_MAIL = True
    token = access.confirmation_link(worker, ADDRESS, now).rstrip("/").rpartition("/")[2]
    in_this_order(worker, lambda: privacy.erase(worker, now), lambda: access.confirm(token, now))
    worker.refresh_from_db()
    assert (worker.email_key, worker.user.email) == (None, "")
