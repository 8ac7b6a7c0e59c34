"""`manage.py account --notice-address` and what an account may do by `create_lead --allow`."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.management import CommandError

from hits.models import Guest
from tests.hits import factories as make
from tests.hits.commands.conftest import Run

pytestmark = pytest.mark.django_db


def test_the_address_of_a_lead_is_shown_set_and_removed(run: Run, settings: Any) -> None:
    settings.MAIL = True
    alice = make.user("alice")
    assert "Your account has no e-mail address" in run("account", "alice")
    assert run("account", "alice", "--notice-address", "alice@example.org") == "Letters go to alice@example.org.\n"
    assert "Letters go to alice@example.org.\n" in run("account", "alice")
    with pytest.raises(CommandError, match="no e-mail address"):
        run("account", "alice", "--notice-address", "nobody")
    alice.refresh_from_db()
    assert alice.email == "alice@example.org"
    assert "Your account has no e-mail address" in run("account", "alice", "--notice-address", "")
    with pytest.raises(CommandError, match="There is no user"):
        run("account", "nobody")


def test_an_invited_account_is_allowed_to_start_projects(run: Run) -> None:
    dora = make.user("dora")
    with pytest.raises(CommandError, match="dora is no account that an invitation made"):
        run("create_lead", "dora", "--allow")
    Guest.objects.create(user=dora)
    assert run("create_lead", "dora", "--allow") == "dora may start projects.\n"
    assert not Guest.objects.exists()
