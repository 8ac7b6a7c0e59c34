"""A marketplace with one row of everything that has an owner, and the people who come to look."""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import cache
from typing import Any
from urllib.parse import parse_qsl

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from marketplace.management.commands.tick import tick
from marketplace.models import Hit, HitType, Notification, PanelEntry, Requester, Worker
from marketplace.verbs import (
    access,
    accounts,
    assignments,
    concerns,
    layouts,
    messages,
    panels,
    payouts,
    qualification_requests,
    qualifications,
)
from tests.fuzz.values import FORM
from tests.marketplace.pool_addresses import signed


@pytest.fixture
def world(
    requester: Requester,
    worker: Worker,
    hit_type: HitType,
    make_hit: Callable[..., Hit],
    now: datetime,
) -> dict[str, Any]:
    """Rows by the names that tests/marketplace/security/addresses.py uses; Walter owns what a worker can own."""
    for _ in range(4):
        make_hit(hit_type, max_assignments=3)

    def answer() -> Any:
        held = assignments.accept(hit_type, worker, now - timedelta(seconds=60))
        return assignments.submit(held.assignment_id, {"answer": ["secret of walter"]}, now)

    approved, rejected, done = answer(), answer(), answer()
    assignments.approve(requester, approved.assignment_id, now, "Thank you")
    rejected = assignments.reject(requester, rejected.assignment_id, now, "This is wrong")
    held = assignments.accept(hit_type, worker, now)
    kind = qualifications.create_type(requester, name="Reader", description="d", status="Active", now=now)
    qualifications.grant(requester, kind.qualification_type_id, worker.worker_id, now, value=90)
    concern = concerns.dispute(worker, rejected, "It is right", now)
    request = qualification_requests.ask(worker, _tested(requester, now), now)
    messages.send(worker, sender=requester, subject="About your work", text="secret for walter", now=now)
    layout = layouts.register(requester, "Layout", "<!doctype html><title>t</title><p>${text}</p>", now)
    operator = User.objects.create_user("olivia", password="operator", is_staff=True)
    paid = payouts.pay(operator, payouts.draft(operator, payouts.owing(), "all", now).pk, now)
    assignments.approve(requester, done.assignment_id, now)
    draft = payouts.draft(operator, payouts.owing(), "all", now)
    tick()
    line = paid.lines.first()
    key = requester.access_keys.first()
    assert line is not None and key is not None
    invitation = access.invite(now=now)
    panel = panels.make_panel(
        name="Panel", slug="panel", terms="Be kind.", completion_url="https://panel.example.org/", now=now
    )
    entry = PanelEntry.objects.create(
        panel=panel, worker=worker, outside_id="secret of walter", consented_at=now, last_seen_at=now
    )
    reset_user, reset_token = access.reset_link(worker, now).split("/")[-3:-1]
    return {
        **{f"pool {name}": value for name, value in parse_qsl(signed(kind.qualification_type_id))},
        "group": hit_type.hit_group_id,
        "held": held.pk,
        "held_id": held.assignment_id,
        "hit": held.hit.hit_id,
        "done": done.pk,
        "rejected": rejected.pk,
        "customer": requester.customer_id,
        "key": key.pk,
        "worker": worker.worker_id,
        "payout": draft.pk,
        "paid": paid.pk,
        "operator_session": 0,
        "line": line.pk,
        "concern": concern.pk,
        "kind": kind.qualification_type_id,
        "request": request.request_id,
        "offered": request.type.qualification_type_id,
        "message": worker.messages.latest("pk").pk,
        "notification": _given_up(requester, now).pk,
        "layout": layout.layout_id,
        "layout_pk": layout.pk,
        "invitation": invitation.pk,
        "invitation_token": invitation.token,
        "panel": panel.slug,
        "language": "de",
        "outside_id": entry.outside_id,
        "confirmation": access.confirmation_link(worker, "walter@example.org", now).split("/")[-2],
        "cancellation": access.cancellation_link(worker).split("/")[-2],
        "reset_user": reset_user,
        "reset_token": reset_token,
    }


def _given_up(requester: Requester, now: datetime) -> Notification:
    return Notification.objects.create(
        requester=requester,
        transport="SQS",
        destination="https://queue.example.org/1/q",
        document_id="d",
        body="{}",
        created_at=now,
        due_at=now,
        done_at=now,
    )


def _tested(requester: Requester, now: datetime) -> str:
    test = qualifications.NewTest(FORM, 3600, "")
    kind = qualifications.create_type(
        requester, name="Tested", description="d", status="Active", test=test, retry_delay_seconds=0, now=now
    )
    return kind.qualification_type_id


@pytest.fixture
def visit(world: dict[str, Any], worker: Worker, make_worker: Callable[..., Worker]) -> Callable[..., Client]:
    """The browser of `anybody`, of the `owner` Walter, of `another` worker, or of the `operator`."""
    users = {
        "owner": worker.user,
        "another": make_worker("olga").user,
        "operator": User.objects.get(username="olivia"),
    }

    def make(who: str, **options: Any) -> Client:
        client = Client(**options)
        if who in users:
            client.force_login(users[who])
        return client

    return make


@pytest.fixture
def bob(requester: Requester, now: datetime) -> Requester:
    """Another requester, with the key `bob`."""
    return accounts.create_requester("Bob", 1000, now, "bob", "secret-of-bob").requester


# What is written down about a visit itself.
NOTED = {"last_login", "last_used_at"}


def tables() -> dict[str, list[Any]]:
    """All rows of all tables, but sessions and when somebody was here."""
    found = {}
    with connection.cursor() as cursor:
        for label, query in _queries().items():
            cursor.execute(query)
            found[label] = cursor.fetchall()
    return found


@cache
def _queries() -> dict[str, str]:
    found = {}
    for model in apps.get_models():
        if model._meta.label not in ("sessions.Session", "marketplace.OperatorSession"):
            columns = [field.column for field in model._meta.concrete_fields if field.attname not in NOTED]
            named = ", ".join(map(connection.ops.quote_name, columns))
            found[model._meta.label] = f"SELECT {named} FROM {model._meta.db_table} ORDER BY {model._meta.pk.column}"
    return found


def changed(before: dict[str, list[Any]]) -> list[str]:
    """The tables that are not as they were."""
    after = tables()
    return [label for label, rows in before.items() if after[label] != rows]
