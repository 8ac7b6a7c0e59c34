"""A run of the fuzzer against a marketplace that is up: people, threads, invariants."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import requests
from django.contrib.auth.models import User
from django.db import connections

from marketplace.management.commands.tick import tick
from marketplace.models import AccessKey, Assignment, Worker
from marketplace.verbs import accounts, clock
from ops.waiting import PATIENCE_SECONDS
from tests.fuzz import invariants
from tests.fuzz.report import Report
from tests.fuzz.site import Visitor
from tests.fuzz.values import Pool
from tests.fuzz.wire import Caller
from tests.marketplace.process import signed_in, stranger

KEYS = [("fuzz-alice", "secret-of-alice"), ("fuzz-bob", "secret-of-bob")]


def fuzz(url: str, seed: str, stop: Callable[[Report], bool], threads: int = 4, settle: float = 20) -> Report:
    """Attack until `stop` says so; the counters and balances are compared with the rows every `settle` seconds."""
    report, pool = Report(), Pool()
    _people(pool)
    gate = Gate()
    over = threading.Event()
    crowd = [
        threading.Thread(target=_attack, args=(url, f"{seed}:{n}", pool, report, gate, over), daemon=True)
        for n in range(threads)
    ]
    for thread in crowd:
        thread.start()
    looked = time.monotonic()
    try:
        while not stop(report) and len(report.failures) < 40:
            time.sleep(0.1)
            if time.monotonic() - looked > settle:
                _look(gate, report, pool)
                looked = time.monotonic()
    finally:
        over.set()
        for thread in crowd:
            thread.join(60)
    _look(gate, report, pool)
    # One may always meet its end in the moment in which it is used again, however short the run.
    if report.dropped > 1 + report.requests / 1000:
        report.fail("the server", f"{report.dropped} connections were dropped, more than one in a thousand")
    return report


class Gate:
    """Attackers pass one by one as they like; `closed()` waits until none is inside and keeps them out."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._inside = 0
        self._closed = False

    def __enter__(self) -> None:
        with self._condition:
            self._condition.wait_for(lambda: not self._closed)
            self._inside += 1

    def __exit__(self, *error: Any) -> None:
        with self._condition:
            self._inside -= 1
            self._condition.notify_all()

    def close(self) -> None:
        with self._condition:
            self._closed = True
            self._condition.wait_for(lambda: not self._inside)

    def open(self) -> None:
        with self._condition:
            self._closed = False
            self._condition.notify_all()


def _people(pool: Pool) -> None:
    now = clock.now()
    for key, secret in KEYS:
        if not AccessKey.objects.filter(access_key_id=key).exists():
            accounts.create_requester(f"Requester {key}", Decimal("100000.00"), now, key, secret)
    for number in range(6):
        if not User.objects.filter(username=f"fuzz{number}").exists():
            pool.add("WorkerId", accounts.create_worker(f"fuzz{number}", "worker").worker_id)
    User.objects.get_or_create(username="fuzz-operator", defaults={"is_staff": True})


def _attack(url: str, seed: str, pool: Pool, report: Report, gate: Gate, over: threading.Event) -> None:
    draw = random.Random(seed)
    attackers: list[Any] = [
        Caller(url, KEYS, draw, pool, report),
        Visitor(url, lambda: _worker(url, draw), draw, pool, report),
        Visitor(url, lambda: _operator(url), draw, pool, report),
        Visitor(url, lambda: stranger(url), draw, pool, report),
    ]
    try:
        while not over.is_set():
            attacker = draw.choices(attackers, (5, 4, 2, 1))[0]
            with gate:
                attacker.step()
                if attacker is attackers[1] and draw.random() < 0.3:
                    _answer(url, draw, pool, report)
    except Exception as error:
        report.fail("the fuzzer itself", repr(error))
        raise
    finally:
        connections.close_all()


def _worker(url: str, draw: random.Random) -> requests.Session:
    """A worker who is there; a new one now and then, because accounts are closed here too."""
    found = list(Worker.objects.filter(user__is_active=True, user__username__startswith="fuzz").order_by("pk")[:8])
    if len(found) < 4 or draw.random() < 0.05:
        found.append(accounts.create_worker(f"fuzz-{draw.randrange(10**9)}", "worker"))
    return signed_in(url, draw.choice(found))


def _operator(url: str) -> requests.Session:
    operator, _ = User.objects.get_or_create(username="fuzz-operator", defaults={"is_staff": True})
    return signed_in(url, operator)


def _answer(url: str, draw: random.Random, pool: Pool, report: Report) -> None:
    """What a task page posts; half of the time for an assignment that somebody holds."""
    held = Assignment.objects.filter(status="Accepted").order_by("-pk").values_list("assignment_id", flat=True)
    ids = list(held[:10])
    wanted = draw.choice(ids) if ids and draw.random() < 0.5 else pool.any(draw)
    # `q` and its choice `a` answer the fuzzer's QuestionForm.
    fields = {
        "assignmentId": wanted,
        "q": draw.choice(("a", "a", "b")),
        "answer": draw.choice(("yes", "é", "\x00", "\x0b", "x" * 9000, "")),
    }
    try:
        response = stranger(url).post(f"{url}/mturk/externalSubmit", fields, timeout=PATIENCE_SECONDS)
    except requests.ConnectionError:
        report.count("site", "(connection dropped)", 0)
        return
    report.count("site", "POST /mturk/externalSubmit", response.status_code)
    if response.status_code >= 500:
        report.fail("POST /mturk/externalSubmit", f"status {response.status_code} to {fields}")


def _look(gate: Gate, report: Report, pool: Pool) -> None:
    gate.close()
    try:
        # Some of what is in hand runs out, so that time does its part.
        overdue = Assignment.objects.filter(status="Accepted").order_by("pk").values_list("pk", flat=True)[:3]
        Assignment.objects.filter(pk__in=list(overdue)).update(deadline=clock.now() - timedelta(seconds=1))
        now = clock.now()
        tick()
        for text in invariants.broken(now):
            report.fail("invariant", text)
        # The operator among the visitors has revoked them.
        AccessKey.objects.filter(access_key_id__in=dict(KEYS)).update(active=True, revoked_at=None)
        for worker_id in Worker.objects.values_list("worker_id", flat=True)[:20]:
            pool.add("WorkerId", worker_id)
    finally:
        gate.open()
