"""What is written down for a webhook arrives at a real receiver in another process, whatever either of them does."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from hits import tasks
from hits.judging.verbs import deciding
from hits.models import Lease, Restoration, Webhook, WebhookDelivery
from hits.notifications.jobs import needs
from hits.publishing.rules import restorations, stuck_rows
from hits.webhooks import jobs
from ops.surroundings import ROOT, free_port
from tests.hits import factories as make
from tests.hits.doing import do
from tests.hits.webhooks.test_verbs import answered
from tests.receiver import PATIENCE_SECONDS, Receiver, is_signed, receiver

# Leases and receivers are of other threads and processes.
pytestmark = pytest.mark.django_db(transaction=True)
Event = Webhook.Event


@pytest.fixture(autouse=True)
def short_waits(settings: Any) -> None:
    settings.WEBHOOK_HTTP, settings.WEBHOOK_NETWORKS = True, [ip_network("127.0.0.0/8")]
    settings.WEBHOOK_RETRY_SECONDS, settings.WEBHOOK_TIMEOUT_SECONDS = 0.05, 10


@pytest.fixture
def listener(tmp_path: Path) -> Iterator[Receiver]:
    with receiver(tmp_path) as made:
        yield made


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Receiver]:
    with receiver(tmp_path) as made:
        yield made


@pytest.fixture
def hook(listener: Receiver) -> Webhook:
    return make.webhook(make.project(slug="river"), address=listener.address)


def happen(hook: Webhook, number: int, event: str = Event.RELEASE_MADE) -> None:
    WebhookDelivery.objects.announce(hook.project_id, event, lambda: [{"number": n} for n in range(number)])


def states(hook: Webhook) -> dict[str, int]:
    found: dict[str, int] = {}
    for state in hook.deliveries.values_list("state", flat=True):
        found[state] = found.get(state, 0) + 1
    return found


def send_until(done: Callable[[], bool]) -> None:
    """As the background jobs do it, again and again."""
    give_up = time.monotonic() + PATIENCE_SECONDS
    while not done():
        assert time.monotonic() < give_up
        jobs.send()
        time.sleep(0.02)


def all_arrived(hook: Webhook) -> bool:
    return not hook.deliveries.exclude(state="delivered").exists()


def test_what_happens_arrives_once_signed_and_in_its_order(hook: Webhook, listener: Receiver) -> None:
    listener.begin()
    happen(hook, 45)
    assert jobs.send() == 45
    assert [message["data"]["number"] for message in listener.messages] == list(range(45))
    assert all(is_signed(one, hook.secret) for one in listener.got)
    assert {one["path"] for one in listener.got} == {"/hook"}
    assert len(set(listener.attempts)) == 45 and {number for _, number in listener.attempts} == {1}
    assert states(hook) == {"delivered": 45}
    assert jobs.send() == 0 and len(listener.got) == 45


def test_a_receiver_that_is_down_for_a_while_loses_nothing_and_gets_nothing_twice_untold(
    hook: Webhook, listener: Receiver
) -> None:
    """It is down, comes back, dies again in the middle of an answer, and comes back."""
    happen(hook, 30)
    for _ in range(5):
        jobs.send()
        time.sleep(0.06)
    hook.refresh_from_db()
    assert states(hook) == {"waiting": 30}
    assert hook.failures >= 2 and hook.failing_since and "did not answer" in hook.error
    listener.begin(slow_from=11, seconds=600)
    happen(hook, 10)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hits.webhooks.jobs.settings.WEBHOOK_TIMEOUT_SECONDS", 0.5)
        send_until(lambda: len(listener.got) >= 11)
    listener.end()
    jobs.send()
    listener.begin()
    send_until(lambda: all_arrived(hook))
    ids = [message for message, _ in listener.attempts]
    assert set(ids) == set(hook.deliveries.values_list("message_id", flat=True)) and len(set(ids)) == 40
    # Whatever came before says so when it comes again.
    seen: set[str] = set()
    for message, number in listener.attempts:
        assert number > 1 or message not in seen
        seen.add(message)
    assert len(ids) > 40
    firsts = list(dict.fromkeys(message["event"] for message in listener.messages))
    assert firsts == list(hook.deliveries.order_by("pk").values_list("event_id", flat=True))
    assert all(is_signed(one, hook.secret) for one in listener.got)
    hook.refresh_from_db()
    assert (hook.failures, hook.failing_since, hook.error) == (0, None, "")


@pytest.mark.long
def test_a_process_that_is_killed_between_the_call_and_its_note_sends_again_and_says_so(
    tmp_path: Path, listener: Receiver
) -> None:
    env = {
        **os.environ,
        "DATABASE_URL": f"sqlite:///{tmp_path / 'river.sqlite3'}",
        "DJANGO_SETTINGS_MODULE": "tests.settings.annotate",
        "WEBHOOK_HTTP": "True",
        "WEBHOOK_NETWORKS": "127.0.0.0/8",
        "ANNOTATE_TEST_SETTINGS": '{"WEBHOOK_TIMEOUT_SECONDS": 60}',
    }
    program = [sys.executable, "-m", "tests.hits.webhooks.killed_sending"]
    listener.begin(slow_from=2, seconds=600)
    with (tmp_path / "said").open("w+") as said:
        process = subprocess.Popen([*program, "begin", listener.address], cwd=ROOT, env=env, stdout=said, stderr=said)
        give_up = time.monotonic() + PATIENCE_SECONDS
        while len(listener.got) < 2 and process.poll() is None and time.monotonic() < give_up:
            time.sleep(0.05)
        process.kill()
        process.wait(PATIENCE_SECONDS)
        said.seek(0)
        assert len(listener.got) == 2, said.read()
    listener.begin()
    done = subprocess.run(
        [*program, "resume", listener.address], cwd=ROOT, env=env, capture_output=True, text=True,
        timeout=PATIENCE_SECONDS,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout.splitlines()[-1])
    first, second, third = [message for message, _, _ in rows]
    assert [state for _, state, _ in rows] == ["delivered"] * 3
    # The answer to the first was not noted either; of the third nothing had gone out, which nobody could know.
    assert listener.attempts == [(first, 1), (second, 1), (first, 2), (second, 2), (third, 2)]


def test_a_slow_receiver_holds_up_nobody_else(
    hook: Webhook, listener: Receiver, other: Receiver, settings: Any
) -> None:
    settings.WEBHOOK_TIMEOUT_SECONDS = 0.5
    listener.begin(seconds=600)
    other.begin()
    quick = make.webhook(hook.project, address=other.address)
    happen(hook, 30)
    begun = time.monotonic()
    send_until(lambda: all_arrived(quick))
    assert time.monotonic() - begun < 30
    assert states(hook) == {"waiting": 30}
    assert hook.deliveries.order_by("pk")[0].attempts >= 1
    assert set(hook.deliveries.order_by("pk").values_list("attempts", flat=True)[1:]) == {0}


@pytest.mark.on_postgresql
def test_a_receiver_that_answers_with_what_no_table_takes_holds_up_nobody_else(
    hook: Webhook, listener: Receiver, other: Receiver
) -> None:
    second = make.webhook(make.project(slug="quay"), address=other.address)
    listener.begin(raw="\x00\xff\x00 200\r\n\r\n")
    other.begin()
    happen(hook, 1)
    happen(second, 2)
    assert jobs.send() >= 2
    assert states(second) == {"delivered": 2} and len(other.got) == 2
    hook.refresh_from_db()
    assert hook.failures >= 1 and hook.not_before and hook.failing_since
    assert "\x00" not in hook.error and "did not answer" in hook.error


def test_what_cannot_be_written_down_of_one_webhook_leaves_the_others_of_its_round_alone(
    hook: Webhook, listener: Receiver, other: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = make.webhook(make.project(slug="quay"), address=other.address)
    listener.begin()
    other.begin()
    happen(hook, 1)
    happen(second, 1)
    note = jobs._note

    def trips(row: Webhook, *more: Any) -> int:
        if row.pk == hook.pk:
            raise ValueError("a mistake")
        return note(row, *more)

    monkeypatch.setattr(jobs, "_note", trips)
    monkeypatch.setattr(jobs, "SEND_SECONDS", 0.01)
    jobs.send()
    assert states(second) == {"delivered": 1}
    hook.refresh_from_db()
    assert hook.failures == 1 and hook.not_before and states(hook) == {"waiting": 1}
    monkeypatch.undo()
    send_until(lambda: all_arrived(hook))
    assert [number for _, number in listener.attempts] == [1, 2]


def test_the_webhooks_of_one_project_wait_for_each_other_and_not_those_of_another(
    hook: Webhook, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = [hook, *(make.webhook(hook.project) for _ in range(9))]
    theirs = make.webhook(make.project(slug="quay"))
    for each in (*mine, theirs):
        happen(each, 1)
    first = [turn.hook.pk for turn in jobs._turns()]
    assert first[:2] == [hook.pk, theirs.pk] and len(first) == jobs.AT_ONCE
    # The others were called just now: those that waited are next.
    second = [turn.hook.pk for turn in jobs._turns()]
    assert {each.pk for each in mine[7:]} <= set(second)


def test_a_page_without_end_is_not_read(hook: Webhook, listener: Receiver) -> None:
    listener.begin(endless=True)
    happen(hook, 3)
    begun = time.monotonic()
    assert jobs.send() == 3
    assert time.monotonic() - begun < 30


def test_a_redirect_is_not_followed(hook: Webhook, listener: Receiver, other: Receiver) -> None:
    other.begin()
    listener.begin(statuses=[307], headers={"Location": other.address})
    happen(hook, 1)
    jobs.send()
    row = hook.deliveries.get()
    assert (row.state, row.status, row.error) == (
        "waiting",
        307,
        "The receiver answered 307. Redirects are not followed.",
    )
    assert other.got == []


def test_an_address_that_leads_to_annotate_or_an_internal_network_is_not_called(
    hook: Webhook, listener: Receiver, settings: Any
) -> None:
    """It was allowed when it was saved, or its name led elsewhere then."""
    listener.begin()
    happen(hook, 1)
    settings.PUBLIC_URL = f"http://localhost:{listener.port}"
    jobs.send()
    hook.refresh_from_db()
    assert "Annotate's own" in hook.error
    settings.PUBLIC_URL, settings.WEBHOOK_NETWORKS = "http://localhost:8000", []
    Webhook.objects.update(not_before=None, address=f"http://rebound.example.org:{listener.port}/")
    with pytest.MonkeyPatch.context() as patch:
        entry = (2, 1, 6, "", ("127.0.0.1", listener.port))
        patch.setattr("socket.getaddrinfo", lambda *given, **named: [entry])
        jobs.send()
    hook.refresh_from_db()
    assert "is on an internal network: 127.0.0.1" in hook.error
    assert listener.got == [] and states(hook) == {"waiting": 1}


def test_a_message_that_the_receiver_refuses_waits_alone(hook: Webhook, listener: Receiver, settings: Any) -> None:
    listener.begin(by_type={"budget.low": 500})
    settings.WEBHOOK_RETRY_SECONDS = 600
    happen(hook, 2)
    happen(hook, 1, Event.BUDGET_LOW)
    happen(hook, 2)
    assert jobs.send() >= 4
    assert states(hook) == {"delivered": 4, "waiting": 1}
    row = hook.deliveries.get(state="waiting")
    assert (row.status, row.error) == (500, "The receiver answered 500.") and row.not_before
    hook.refresh_from_db()
    assert hook.failing_since is None
    settings.WEBHOOK_RETRY_SECONDS = 0.05
    hook.deliveries.filter(pk=row.pk).update(not_before=timezone.now())
    send_until(lambda: hook.deliveries.get(pk=row.pk).attempts >= 3)
    listener.begin()
    send_until(lambda: all_arrived(hook))


@pytest.mark.parametrize("status", [429, 503])
def test_a_receiver_that_asks_to_be_left_alone_is(hook: Webhook, listener: Receiver, status: int) -> None:
    listener.begin(statuses=[status], headers={"Retry-After": "120"})
    happen(hook, 3)
    jobs.send()
    hook.refresh_from_db()
    assert hook.not_before and hook.not_before > timezone.now() + timedelta(seconds=100)
    assert len(listener.got) == 1 and not jobs.is_anything_due()
    assert list(hook.deliveries.order_by("pk").values_list("attempts", flat=True)) == [1, 0, 0]


def test_a_receiver_that_is_gone_is_switched_off_and_leads_are_told(hook: Webhook, listener: Receiver) -> None:
    listener.begin(statuses=[410])
    happen(hook, 2)
    jobs.send()
    hook.refresh_from_db()
    assert (hook.active, len(listener.got), states(hook)) == (False, 1, {"waiting": 2})
    assert hook.project.actions.get().verb == "switched off a webhook"
    (need,) = needs.beside([hook.project])[hook.project_id]
    assert "wants nothing any more, and was switched off" in need.words
    listener.begin()
    do("webhooks.change", hook, active=True)
    assert jobs.send() == 2
    assert needs.beside([hook.project])[hook.project_id] == []


def test_leads_are_told_of_a_receiver_that_has_taken_nothing_for_ten_minutes(hook: Webhook) -> None:
    happen(hook, 1)
    jobs.send()
    assert needs.beside([hook.project])[hook.project_id] == []
    Webhook.objects.update(failing_since=timezone.now() - timedelta(minutes=11))
    (need,) = needs.beside([hook.project])[hook.project_id]
    assert need.words == f"The webhook {hook.host} does not take what it is sent"
    WebhookDelivery.objects.update(since=timezone.now() - timedelta(minutes=16))
    assert stuck_rows.counts()["messages to webhooks"] == 1


def test_after_three_days_it_is_given_up_with_all_that_is_as_old_and_can_be_sent_again(
    hook: Webhook, listener: Receiver
) -> None:
    happen(hook, 3)
    jobs.send()
    WebhookDelivery.objects.update(since=timezone.now() - timedelta(hours=73))
    happen(hook, 1)
    Webhook.objects.update(not_before=None)
    assert jobs.send() == 3
    assert states(hook) == {"given_up": 3, "waiting": 1}
    listener.begin()
    row = hook.deliveries.order_by("pk")[0]
    before = row.attempts
    do("webhooks.send_again", row)
    Webhook.objects.update(not_before=None)
    assert jobs.send() == 2
    assert listener.attempts[0] == (row.message_id, before + 1)


def test_a_message_that_is_refused_for_three_days_is_given_up(hook: Webhook, listener: Receiver) -> None:
    listener.begin(statuses=[400])
    happen(hook, 1)
    WebhookDelivery.objects.update(since=timezone.now() - timedelta(hours=73))
    assert jobs.send() == 1
    assert states(hook) == {"given_up": 1}


def test_both_secrets_sign_for_a_day_after_a_rotation(hook: Webhook, listener: Receiver) -> None:
    listener.begin()
    first, second = hook.secret, do("webhooks.rotate", hook).secret
    happen(hook, 1)
    jobs.send()
    assert is_signed(listener.got[0], first) and is_signed(listener.got[0], second)
    Webhook.objects.update(earlier_until=timezone.now() - timedelta(seconds=1))
    happen(hook, 1)
    jobs.send()
    assert is_signed(listener.got[1], second) and not is_signed(listener.got[1], first)


def test_while_it_is_off_what_waits_waits_on(hook: Webhook, listener: Receiver) -> None:
    listener.begin()
    happen(hook, 2)
    do("webhooks.change", hook, active=False)
    happen(hook, 1)
    assert jobs.send() == 0 and not jobs.is_anything_due()
    do("webhooks.change", hook, active=True)
    assert jobs.send() == 2


def test_what_was_written_for_a_webhook_that_ended_meanwhile_is_not_sent(hook: Webhook, listener: Receiver) -> None:
    listener.begin()
    do("webhooks.end", hook)
    make.webhook_delivery(hook)
    assert jobs.send() == 0
    assert (listener.got, states(hook)) == ([], {"given_up": 1})


def test_one_process_sends_at_a_time(hook: Webhook, listener: Receiver) -> None:
    listener.begin()
    happen(hook, 1)
    Lease.objects.create(name="webhooks", holder="another", until=timezone.now() + timedelta(minutes=1))
    assert jobs.send() == 0 and listener.got == []
    Lease.objects.all().delete()
    assert jobs.send() == 1


def test_after_a_restore_nothing_is_sent_before_it_is_reconciled_and_then_as_what_may_have_come(
    hook: Webhook, listener: Receiver
) -> None:
    listener.begin()
    happen(hook, 2)
    restorations.begin(timezone.now() - timedelta(hours=1))
    assert jobs.send() == 0 and not jobs.is_anything_due()
    restorations.agree(list(Restoration.objects.values_list("pk", flat=True)))
    assert jobs.send() == 2
    assert [number for _, number in listener.attempts] == [2, 2]


def test_what_was_done_with_long_ago_is_forgotten(hook: Webhook) -> None:
    long_ago = timezone.now() - timedelta(days=31)
    for state in ("delivered", "given_up"):
        make.webhook_delivery(hook, state=state, done_at=long_ago)
    make.webhook_delivery(hook, state="delivered", done_at=timezone.now())
    make.webhook_delivery(hook, created_at=long_ago)
    ended = make.webhook(hook.project, ended_at=long_ago, active=False)
    make.webhook_delivery(ended, state="given_up", done_at=long_ago)
    assert tasks.forget_tries() == 4
    assert states(hook) == {"delivered": 1, "waiting": 1}
    assert list(Webhook.objects.all()) == [hook]


def test_a_round_of_many_takes_as_many_queries_as_one_of_few(hook: Webhook, listener: Receiver) -> None:
    listener.begin()

    def queries(number: int) -> int:
        happen(hook, number)
        with CaptureQueriesContext(connection) as caught:
            assert jobs.send() == number
        # Leases are renewed by the clock.
        return len([one for one in caught if "hits_lease" not in one["sql"]])

    # The first one makes the row of the lease.
    queries(1)
    assert queries(2) == queries(20)


# The script of the documentation


def script() -> str:
    text = (ROOT / "docs" / "how-to" / "webhooks.md").read_text(encoding="utf-8")
    (found,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    return str(found)


def test_the_listener_of_the_documentation_has_20_lines() -> None:
    assert len([line for line in script().splitlines() if line.strip()]) <= 20


@pytest.mark.long
def test_the_listener_of_the_documentation_stores_each_decided_item(tmp_path: Path) -> None:
    """As a process of its own: a thousand decided items, one of them decided again, and what is not signed."""
    port, store = free_port(), tmp_path / "items.sqlite3"
    project = make.project(slug="river")
    stage = make.stage(project, key="validate")
    hook = make.webhook(project, address=f"http://127.0.0.1:{port}/", events=["item.decided"])
    forged = make.webhook(project, address=hook.address, events=["release.made"], secret="whsec_" + "QUFB" * 8)
    file = tmp_path / "listener.py"
    file.write_text(script())
    env = {"PATH": os.environ["PATH"], "WEBHOOK_SECRET": hook.secret, "STORE": str(store), "PORT": str(port)}
    items = answered(stage, 1000)
    deciding.decide(stage)
    jobs.send()
    with (tmp_path / "said").open("w") as said:
        process = subprocess.Popen([sys.executable, "-S", str(file)], env=env, stdout=said, stderr=said)
        try:
            send_until(lambda: all_arrived(hook))
            stage.labels.filter(item=items[0]).update(correct=False)
            stage.items.filter(pk=items[0].pk).update(stale=True)
            deciding.decide(stage)
            do("webhooks.send_again", hook.deliveries.order_by("pk")[0])
            happen(forged, 1)
            send_until(lambda: all_arrived(hook) and forged.deliveries.get().attempts > 0)
        finally:
            process.kill()
            process.wait(PATIENCE_SECONDS)
    rows = sqlite3.connect(store).execute("SELECT id, item, outcome, revision FROM items ORDER BY id").fetchall()
    expected = [(item.pk, item.key, "kept", 1) for item in items]
    expected[0] = (items[0].pk, items[0].key, "dropped", 3)
    assert rows == expected
    assert forged.deliveries.get().status == 401
