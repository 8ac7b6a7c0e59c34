"""`manage.py notices`."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from hits.domain import notices
from hits.models import Upload
from tests.hits import factories as make

pytestmark = pytest.mark.django_db


def said(*given: str) -> str:
    out = StringIO()
    call_command("notices", *given, stdout=out)
    return out.getvalue()


@pytest.fixture
def alice(db: None) -> Any:
    user = make.user("alice")
    make.upload(make.project(owner=user, slug="river"), name="rows.csv", state=Upload.State.FAILED)
    return user


def test_what_is_due_is_told_listed_and_marked(alice: Any) -> None:
    text = said("alice", "--tell", "--seen")
    assert text.startswith("1 new.")
    assert "new    river    rows.csv was not imported" in text
    assert "seen   river    rows.csv was not imported" in said("alice")
    assert "rows.csv" not in said("alice", "--new")
    assert said("--tell").startswith("0 new.")


def test_choices_and_address_are_set_together_or_not_at_all(alice: Any, settings: Any) -> None:
    settings.MAIL = True
    text = said("alice", "--set", "stuck=email", "--set", "block=", "--email", "alice@example.org")
    assert "Letters go to alice@example.org." in text
    wanted = {one.kind: (one.on_page, one.by_email) for one in notices.choices_of(alice)}
    assert (wanted["stuck"], wanted["block"], wanted["review"]) == ((False, True), (False, False), (True, True))
    for wrong in (["--set", "weather=page"], ["--set", "stuck=post"], ["--set", "stuck"]):
        with pytest.raises(CommandError, match="Nothing was changed"):
            said("alice", *wrong, "--email", "")
    alice.refresh_from_db()
    assert alice.email == "alice@example.org"
    with pytest.raises(CommandError, match="no e-mail address"):
        said("alice", "--email", "nobody")
    assert "Your account has no e-mail address" in said("alice", "--email", "")


def test_without_a_lead_there_is_something_to_say(alice: Any) -> None:
    with pytest.raises(CommandError, match="Name a lead"):
        said()
    with pytest.raises(CommandError, match="There is no user"):
        said("nobody")
