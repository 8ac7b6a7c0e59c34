"""Members of a project and their roles on the command line."""

from __future__ import annotations

import pytest
from django.core.management.base import CommandError

from hits.models import Guest, Project
from tests.hits import factories as make
from tests.hits.commands.conftest import Run, logged

pytestmark = pytest.mark.django_db


@pytest.fixture
def river() -> Project:
    make.user("omar")
    make.user("gone", is_active=False)
    return make.project(slug="river", owner=make.user("lena"))


def roles(project: Project) -> dict[str, str]:
    return dict(project.memberships.order_by("user__username").values_list("user__username", "role"))


def test_members_are_listed_added_changed_and_removed(run: Run, river: Project) -> None:
    assert run("members", "river") == "user name  role   may budget\nlena       owner  any\n"
    for _ in range(2):
        run("members", "river", "--add", "omar=reader")
        assert roles(river) == {"lena": "owner", "omar": "reader"}
    run("members", "river", "--change", "omar=owner")
    assert "omar       owner" in run("members", "river", "--remove", "lena", "--yes")
    assert roles(river) == {"omar": "owner"}
    assert logged(river) == ["added a member", "changed a role", "removed a member"]
    assert [row.detail for row in river.actions.order_by("id")] == [
        {"member": "omar", "role": "reader"},
        {"member": "omar", "before": "reader", "role": "owner"},
        {"member": "lena", "role": "owner"},
    ]


def test_a_project_is_handed_over_at_once(run: Run, river: Project) -> None:
    run("members", "river", "--add", "omar=owner", "--remove", "lena", "--yes")
    assert roles(river) == {"omar": "owner"}


def test_nobody_is_removed_unasked(run: Run, river: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("builtins.input", lambda question: "n")
    with pytest.raises(CommandError, match="Nothing was changed"):
        run("members", "river", "--add", "omar=owner", "--remove", "lena")
    assert (roles(river), logged(river)) == ({"lena": "owner"}, [])
    monkeypatch.setattr("builtins.input", lambda question: "y")
    run("members", "river", "--add", "omar=owner", "--remove", "lena")
    assert roles(river) == {"omar": "owner"}


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--add", "omar=reader", "--add", "nobody=reader"), "There is no user 'nobody'"),
        (("--add", "gone=reader"), "There is no user 'gone'"),
        (("--add", "omar"), "no NAME=ROLE"),
        (("--add", "omar=boss"), "Roles: owner, manager, reviewer, reader"),
        (("--add", "omar=reader", "--add", "lena=reader"), "lena is an owner of"),
        (("--add", "omar=reader", "--remove", "omar"), "omar is no member of river. Its members: lena"),
        (("--change", "omar=owner"), "omar is no member of river"),
        (("--remove", "lena"), "needs an owner"),
        (("--change", "lena=manager"), "needs an owner"),
    ],
)
def test_a_refusal_changes_nothing(run: Run, river: Project, arguments: tuple[str, ...], reason: str) -> None:
    with pytest.raises(CommandError, match=reason):
        run("members", "river", *arguments, "--yes")
    assert (roles(river), logged(river)) == ({"lena": "owner"}, [])


def test_where_one_removal_is_refused_the_others_are_not_made_either(run: Run, river: Project) -> None:
    make.member(river, make.user("nora"))
    with pytest.raises(CommandError, match="needs an owner"):
        run("members", "river", "--remove", "nora", "--remove", "lena", "--yes")
    assert (roles(river), logged(river)) == ({"lena": "owner", "nora": "owner"}, [])


def test_somebody_is_invited_and_the_invitation_revoked(run: Run, river: Project) -> None:
    said = run("members", "river", "--invite", "reviewer", "--email", "dora@example.org")
    row = river.invitations.get()
    assert "/invitations/" in said and "No e-mail was sent: hand the link over." in said
    assert f"{row.pk}" in said and "dora@example.org" in said
    with pytest.raises(CommandError, match="No invitation 99999 waits"):
        run("members", "river", "--revoke", "99999")
    assert "/invitations/" in run("members", "river", "--resend", str(row.pk))
    row = river.invitations.living().get()
    run("members", "river", "--revoke", str(row.pk))
    assert not river.invitations.living().exists()
    with pytest.raises(CommandError, match="from 1 to 30"):
        run("members", "river", "--invite", "reader", "--days", "31")
    assert logged(river) == ["invited somebody", "sent an invitation again", "revoked an invitation"]


def test_an_invited_account_is_allowed_to_start_projects(run: Run, river: Project) -> None:
    dora = make.user("dora")
    with pytest.raises(CommandError, match="dora is no account that an invitation made"):
        run("create_lead", "dora", "--allow")
    Guest.objects.create(user=dora)
    assert run("create_lead", "dora", "--allow") == "dora may start projects.\n"
    assert not Guest.objects.exists()
