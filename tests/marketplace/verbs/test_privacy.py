import json
from datetime import datetime
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db import connection, models
from django.test import Client

from marketplace.models import Assignment, HitType, Requester, Worker
from marketplace.rules.errors import AlreadyDone
from marketplace.verbs import (
    access,
    accounts,
    assignments,
    concerns,
    letters,
    messages,
    operators,
    panels,
    privacy,
    resolutions,
)
from tests.marketplace.verbs.test_panels import PANEL

NAME, EMAIL, OUTSIDE = "nina-of-the-lab", "nina.surname@example.org", "5f0c-outside-77"
TEXT = (models.CharField, models.TextField, models.JSONField)


def every_text() -> list[str]:
    """`table.column: value` for all text in the database, whatever the table."""
    found = []
    for model in apps.get_models():
        columns = [field.column for field in model._meta.concrete_fields if isinstance(field, TEXT)]
        with connection.cursor() as cursor:
            for column in columns:
                cursor.execute(f'SELECT "{column}" FROM "{model._meta.db_table}" WHERE "{column}" IS NOT NULL')
                found += [f"{model._meta.db_table}.{column}: {row[0]}" for row in cursor.fetchall()]
    return found


def traces() -> list[str]:
    return [line for line in every_text() if any(word in line.lower() for word in (NAME, EMAIL, OUTSIDE))]


@pytest.fixture
def nina(requester: Requester, hit_type: HitType, make_hit: Any, now: datetime) -> Worker:
    """A worker with a trace in every table that can hold one."""
    invitation = access.invite(now=now, email=EMAIL.title(), note=f"For {NAME}")
    nina = access.sign_up(NAME, "long-enough-7", email=EMAIL, country="CA", now=now, invitation=invitation)
    access.invite(now=now, email=EMAIL)
    letters.write(nina, EMAIL, "Hello", f"Dear {NAME}", now)
    for _ in range(3):
        make_hit(hit_type)
    done, refused, _held = (assignments.accept(hit_type, nina, now) for _ in range(3))
    for each in (done, refused):
        assignments.submit(each.assignment_id, {"answer": ["a bridge"]}, now)
    assignments.approve(requester, done.assignment_id, now)
    assignments.reject(requester, refused.assignment_id, now, "Wrong")
    concerns.dispute(nina, Assignment.objects.get(pk=refused.pk), f"I am {NAME}, {EMAIL}", now)
    resolutions.resolve(
        accounts.create_operator("olga", "long-enough-7"), nina.concerns.get(), f"No, {NAME} ({EMAIL})", now
    )
    messages.send(nina, sender=requester, subject=f"Hello {NAME}", text="Thank you", now=now)
    panel = panels.make_panel(**PANEL, now=now)
    entry = panels.enter(panel, OUTSIDE, {"SESSION_ID": f"s-{OUTSIDE}"}, now)
    type(entry).objects.filter(pk=entry.pk).update(worker=nina)
    operator = accounts.create_operator("oscar", "long-enough-7")
    with operators.act(operator, f"Wrote to {NAME} at {EMAIL} about {OUTSIDE}", now, worker=nina):
        pass
    return Worker.objects.get(pk=nina.pk)


def test_the_export_holds_all_that_is_there(nina: Worker) -> None:
    data = json.loads(json.dumps(privacy.export(nina)))
    assert (data["account"]["username"], data["account"]["email"]) == (NAME, EMAIL)
    assert data["account"]["earned"] == data["account"]["owed"] == "0.50"
    assert data["panel"]["outside_id"] == OUTSIDE
    assert sorted(row["status"] for row in data["assignments"]) == ["Accepted", "Approved", "Rejected"]
    assert "a bridge" in data["assignments"][0]["answer"]
    assert [row["subject"] for row in data["messages"]][-1] == f"Hello {NAME}"
    assert NAME in data["reports_and_disputes"][0]["text"]
    assert EMAIL in data["what_operators_did"][-1]["action"]


def test_nothing_tells_who_a_deleted_worker_was(nina: Worker, now: datetime) -> None:
    browser = Client()
    assert browser.login(username=NAME, password="long-enough-7")
    before = {line.partition(":")[0] for line in traces()}
    assert before >= {
        "auth_user.username",
        "auth_user.email",
        "marketplace_worker.email_key",
        "marketplace_invitation.email",
        "marketplace_letter.text",
        "marketplace_message.subject",
        "marketplace_concern.text",
        "marketplace_panelentry.outside_id",
        "marketplace_panelentry.parameters",
        "marketplace_operatoraction.about",
    }
    privacy.erase(nina, now)
    assert traces() == []
    assert browser.get("/worker/").status_code == 302
    assert not Client().login(username=NAME, password="long-enough-7")
    with pytest.raises(AlreadyDone):
        privacy.erase(nina, now)


def test_a_requester_still_reads_the_answers_of_a_deleted_worker(
    nina: Worker, requester: Requester, mturk: Any, now: datetime
) -> None:
    answered = Assignment.objects.filter(worker=nina, status="Approved").select_related("hit").get()
    before = mturk.list_assignments_for_hit(HITId=answered.hit.hit_id)["Assignments"]
    privacy.erase(nina, now)
    assert mturk.list_assignments_for_hit(HITId=answered.hit.hit_id)["Assignments"] == before
    assert before[0]["WorkerId"] == nina.worker_id
    assert not Assignment.objects.filter(worker=nina, status="Accepted").exists()
    assert (nina.earned, nina.country) == (answered.hit.hit_type.reward, "")


def test_an_open_invitation_for_a_deleted_address_lets_nobody_in(nina: Worker, now: datetime) -> None:
    privacy.erase(nina, now)
    assert not access.Invitation.objects.filter(revoked_at=None).exists()
    assert User.objects.filter(is_active=False).count() == 1
