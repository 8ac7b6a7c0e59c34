"""The caller's notices through the API."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.utils import timezone

from hits.models import Notice
from hits.notifications.rules import notices
from tests.hits import factories as make
from tests.hits.api_calls import signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice(db: None) -> Any:
    return make.user("alice")


def _notices(owner: Any) -> list[Notice]:
    project = make.project(owner=owner, slug="river")
    start = timezone.now()
    return [
        Notice.objects.create(
            project=project, kind="budget", key=str(number), words=f"Notice {number}", is_event=True,
            address="/projects/river/#money", told_at=start + timedelta(microseconds=number),
        )
        for number in range(3)
    ]  # fmt: skip


def test_a_program_reads_marks_and_chooses(alice: Any, settings: Any) -> None:
    settings.PUBLIC_URL = "https://leads.example.org"
    rows, api = _notices(alice), signed_in(alice)
    page = api.get("/api/notices/?limit=2").json()
    assert [row["words"] for row in page["results"]] == ["Notice 0", "Notice 1"]
    first = page["results"][0]
    assert first["link"] == "https://leads.example.org/projects/river/#money"
    assert (first["project"], first["kind"], first["is_new"], first["ended_at"]) == ("river", "budget", True, None)
    assert [row["words"] for row in api.get(page["next"]).json()["results"]] == ["Notice 2"]
    seen = {"until": rows[1].told_at.isoformat(), "project": "river"}
    assert api.post("/api/notices/seen/", seen, format="json").status_code == 204
    assert [row["words"] for row in api.get("/api/notices/?new=true").json()["results"]] == ["Notice 2"]
    choice = {"choices": [{"kind": "budget", "on_page": False, "by_email": True}]}
    told = api.patch("/api/notices/choices/", choice, format="json").json()["choices"]
    assert choice["choices"][0] in told and len(told) == len(Notice.Kind.values)
    assert api.get("/api/notices/").json()["results"] == []
    assert api.get("/api/notices/choices/").json() == {"choices": told}


def test_an_outsider_reads_nothing_and_a_filter_opens_no_project(alice: Any) -> None:
    _notices(alice)
    eve = signed_in(make.user("eve"))
    assert eve.get("/api/notices/?project=river").json()["results"] == []
    eve.post("/api/notices/seen/", {"until": timezone.now().isoformat(), "project": "river"}, format="json")
    assert notices.new_count(alice) == 3


@pytest.mark.parametrize(
    ("method", "route", "given"),
    [
        ("post", "seen", {"until": "yesterday"}),
        ("post", "seen", {}),
        ("patch", "choices", {"choices": [{"kind": "weather", "on_page": True, "by_email": True}]}),
        ("patch", "choices", {"choices": [{"kind": "budget", "on_page": True}]}),
        ("post", "address", {"email": "nobody"}),
        ("post", "address", {"email": "a@example.org\nBcc: b@example.org"}),
    ],
)
def test_wrong_input_changes_nothing(alice: Any, method: str, route: str, given: dict[str, Any]) -> None:
    _notices(alice)
    reply = getattr(signed_in(alice), method)(f"/api/notices/{route}/", given, format="json")
    assert (reply.status_code, reply.json()["error"]["code"]) == (400, "invalid")
    assert (notices.new_count(alice), mail.outbox) == (3, [])


def test_an_address_is_asked_for_by_a_letter_and_said_to_be_missing(alice: Any, settings: Any) -> None:
    alice.set_password("a-long-enough-password-7")
    alice.save()
    api = signed_in(alice)
    asked = {"email": "a@example.org", "password": "a-long-enough-password-7"}
    assert "no mail server" in api.get("/api/notices/address/").json()["why_no_email"]
    refused = api.post("/api/notices/address/", asked, format="json")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "link_not_sent")
    settings.MAIL = True
    wrong = api.post("/api/notices/address/", asked | {"password": "a guess"}, format="json")
    assert (wrong.status_code, wrong.json()["error"]["code"], mail.outbox) == (403, "not_confirmed", [])
    assert api.post("/api/notices/address/", asked, format="json").status_code == 200
    assert [letter.to for letter in mail.outbox] == [["a@example.org"]]
    told = api.get("/api/notices/address/").json()
    assert told == {"email": "", "why_no_email": "Your account has no e-mail address, so you get no e-mail."}
