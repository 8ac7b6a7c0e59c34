"""Invitations: a link lets one person into a project, with an account or without one."""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from hits.accounts.models import token_digest
from hits.models import Guest, Invitation, Project
from hits.projects.verbs import invitations
from hits.projects.verbs.projects import create_project
from tests.hits import factories as make
from tests.hits.api_calls import logged, signed_in
from tests.hits.doing import do, refused

pytestmark = pytest.mark.django_db
LINK = re.compile(r'<code class="token">http[^<]*(/invitations/[^<]+)</code>')
ACCOUNT = {"username": "dora", "password1": "reading by the river", "password2": "reading by the river"}


@pytest.fixture
def project(alice: Any) -> Project:
    return make.project(owner=alice, name="River", slug="river")


def invited(client: Client, project: Project, **given: object) -> str:
    """The path of a new link, as the page shows it."""
    form = {"role": "reviewer", "days": 7, **given}
    reply = client.post(reverse("invitations.create", args=[project.slug]), form, follow=True)
    found = LINK.search(reply.content.decode())
    assert found, reply.content.decode()
    return found[1]


def roles(project: Project) -> dict[str, str]:
    return dict(project.memberships.values_list("user__username", "role"))


def test_somebody_without_an_account_makes_one_and_is_in_the_project(lead_client: Client, project: Project) -> None:
    link, visitor = invited(lead_client, project), Client()
    page = visitor.get(link).content.decode()
    assert "Join River" in page and "reviewer" in page
    assert roles(project) == {"alice": "owner"}
    assert visitor.post(link, ACCOUNT).headers["Location"] == "/projects/river/"
    assert roles(project) == {"alice": "owner", "dora": "reviewer"}
    assert visitor.get("/projects/river/").status_code == 200
    assert Invitation.objects.get().used_by.username == "dora"
    assert list(project.actions.order_by("id").values_list("verb", "name", "origin")) == [
        ("invited somebody", "alice", "page"),
        ("added a member", "dora", "page"),
    ]


def test_a_link_is_good_for_one_person(lead_client: Client, project: Project) -> None:
    link = invited(lead_client, project)
    Client().post(link, ACCOUNT)
    assert Client().get(link).status_code == 404
    assert Client().post(link, {**ACCOUNT, "username": "emil"}).status_code == 404
    assert "emil" not in roles(project)


def test_who_is_signed_in_accepts_with_one_press_and_opening_the_link_does_nothing(
    lead_client: Client, project: Project, charlie: Any
) -> None:
    link, browser = invited(lead_client, project), Client()
    browser.force_login(charlie)
    assert "Join as charlie" in browser.get(link).content.decode()
    assert "charlie" not in roles(project)
    browser.post(link)
    assert roles(project)["charlie"] == "reviewer"
    assert not Guest.objects.exists()


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"username": "ALICE"}, "has this user name already"),
        ({"username": "ａlice"}, "has this user name already"),
        ({"password1": "short", "password2": "short"}, "too short"),
        ({"password1": "password1234", "password2": "password1234"}, "too common"),
        ({"password2": "another river"}, "match"),
    ],
)
def test_a_wrong_name_or_password_makes_no_account(
    lead_client: Client, project: Project, given: dict[str, str], reason: str
) -> None:
    link = invited(lead_client, project)
    reply = Client().post(link, {**ACCOUNT, **given})
    assert (reply.status_code, reason in reply.content.decode()) == (400, True)
    assert (roles(project), Invitation.objects.living().count()) == ({"alice": "owner"}, 1)


def test_forms_that_are_sent_back_are_slowed_down(lead_client: Client, project: Project) -> None:
    link = invited(lead_client, project)
    found = {Client().post(link, {**ACCOUNT, "username": "alice"}).status_code for _ in range(22)}
    assert found == {400, 429}


def test_a_member_with_another_role_keeps_it_and_the_link_stays_good(lead_client: Client, project: Project) -> None:
    link = invited(lead_client, project)
    reply = lead_client.post(link, follow=True)
    assert "is an owner of River already" in reply.content.decode()
    assert (roles(project), Invitation.objects.living().count()) == ({"alice": "owner"}, 1)


def test_an_expired_and_a_revoked_link_let_nobody_in(lead_client: Client, project: Project) -> None:
    link = invited(lead_client, project)
    Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert Client().post(link, ACCOUNT).status_code == 404
    other = invited(lead_client, project)
    row = Invitation.objects.living().get()
    lead_client.post(reverse("invitations.revoke", args=["river", row.pk]))
    assert Client().post(other, ACCOUNT).status_code == 404
    assert "can be used" not in Client().get(other).content.decode()
    assert roles(project) == {"alice": "owner"}


def test_an_invitation_that_is_sent_again_has_another_link(
    lead_client: Client, project: Project, settings: Any
) -> None:
    settings.MAIL = True
    old = invited(lead_client, project, email="dora@example.org", days=9)
    row = Invitation.objects.get()
    reply = lead_client.post(reverse("invitations.resend", args=["river", row.pk]), follow=True)
    new = LINK.search(reply.content.decode())[1]  # type: ignore[index]
    reloaded = lead_client.get(reply.redirect_chain[-1][0]).content.decode()
    assert new not in reloaded and "The link was shown already" in reloaded
    assert new in mail.outbox[1].body and mail.outbox[1].to == ["dora@example.org"]
    assert Client().get(old).status_code == 404
    assert Invitation.objects.living().get().expires_at - timezone.now() > timedelta(days=8)
    again = signed_in(project.owners.get()).post(f"/api/projects/river/invitations/{row.pk}/resend/")
    assert (again.status_code, again.json()["error"]["code"]) == (404, "no_invitation")
    assert logged(project) == ["invited somebody", "sent an invitation again"]
    assert lead_client.post(reverse("invitations.resend", args=["river", row.pk])).status_code == 404
    assert Client().post(new, ACCOUNT).status_code == 302
    assert roles(project)["dora"] == "reviewer"


def test_an_invitation_of_another_project_is_not_sent_again(lead_client: Client, project: Project, bob: Any) -> None:
    other = make.project(owner=bob, name="Sea", slug="sea", namespace="sea")
    row = make.invitation(other, "theirs")
    lead_client.post(reverse("invitations.resend", args=["river", row.pk]))
    assert lead_client.post(reverse("invitations.resend", args=["sea", row.pk])).status_code == 404
    row.refresh_from_db()
    assert row.revoked_at is None and Invitation.objects.count() == 1


def test_links_of_a_former_owner_let_nobody_in(lead_client: Client, project: Project, alice: Any, bob: Any) -> None:
    make.member(project, bob)
    link = invited(lead_client, project, role="owner")
    do("members.change_role", project.memberships.get(user=alice), bob, role="reader")
    assert Client().post(link, ACCOUNT).status_code == 404


def test_only_the_digest_of_a_link_is_kept(lead_client: Client, project: Project) -> None:
    token = invited(lead_client, project).rstrip("/").rpartition("/")[2]
    assert Invitation.objects.get().digest == token_digest(token)
    assert token not in lead_client.get(reverse("members", args=["river"])).content.decode()


def test_an_account_made_by_an_invitation_starts_no_project(lead_client: Client, alice: Any) -> None:
    project = create_project("River", "choice", Decimal(5), "lab@example.org", alice)
    link, visitor = invited(lead_client, project, role="owner"), Client()
    visitor.post(link, ACCOUNT)
    new = {"name": "Mine", "recipe": "choice", "budget": "5", "contact_email": "d@example.org"}
    assert visitor.post(reverse("new-project"), new).status_code == 403
    assert visitor.post(reverse("clone-project", args=["river"]), new).status_code == 403
    api = signed_in(Guest.objects.get().user)
    assert api.post("/api/projects/", new, format="json").json()["error"]["code"] == "guest"
    assert Project.objects.count() == 1
    Guest.objects.all().delete()
    assert visitor.post(reverse("new-project"), new).status_code == 302


def test_the_link_is_sent_where_a_mail_server_is_set(lead_client: Client, project: Project, settings: Any) -> None:
    invited(lead_client, project, email="dora@example.org")
    assert mail.outbox == []
    settings.MAIL = True
    link = invited(lead_client, project, email="dora@example.org")
    assert (mail.outbox[0].to, mail.outbox[0].subject) == (["dora@example.org"], "Invitation to River")
    assert link in mail.outbox[0].body


def test_a_mail_server_that_refuses_leaves_the_link_to_copy(
    lead_client: Client, project: Project, settings: Any
) -> None:
    settings.MAIL, settings.EMAIL_HOST, settings.EMAIL_PORT = True, "127.0.0.1", 9
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    form = {"role": "reader", "days": 7, "email": "dora@example.org"}
    reply = lead_client.post(reverse("invitations.create", args=["river"]), form, follow=True).content.decode()
    assert LINK.search(reply)
    assert "server did not take it" in reply


def test_the_number_of_waiting_links_is_bounded(lead_client: Client, project: Project, alice: Any) -> None:
    for number in range(invitations.MOST_OPEN):
        make.invitation(project, f"token {number}")
    reply = lead_client.post(reverse("invitations.create", args=["river"]), {"role": "reader", "days": 7})
    assert (reply.status_code, "Revoke one first" in reply.content.decode()) == (429, True)


def test_letters_are_bounded_in_a_day_whatever_became_of_them(project: Project, alice: Any) -> None:
    for number in range(invitations.MOST_LETTERS_A_DAY):
        make.invitation(project, f"token {number}", email="d@example.org", revoked_at=timezone.now())
    with refused("too_many_invitations", match="hand the link over"):
        do("invitations.create", project, alice, role="reader", email="d@example.org")
    assert do("invitations.create", project, alice, role="reader").link


def test_a_program_invites_lists_revokes_and_accepts(project: Project, alice: Any, charlie: Any) -> None:
    api, home = signed_in(alice), "/api/projects/river/invitations/"
    made = api.post(home, {"role": "reader"}, format="json").json()
    assert [row["id"] for row in api.get(home).json()] == [made["id"]]
    assert "link" not in api.get(home).json()[0]
    token = made["link"].rstrip("/").rpartition("/")[2]
    answer = signed_in(charlie).post("/api/invitations/accept/", {"token": token}, format="json")
    assert answer.json() == {"project": "river"}
    again = signed_in(charlie).post("/api/invitations/accept/", {"token": token}, format="json")
    assert (again.status_code, again.json()["error"]["code"]) == (404, "no_invitation")
    other = api.post(home, {"role": "reader"}, format="json").json()["id"]
    assert api.post(f"{home}{other}/revoke/").status_code == 204
    assert api.post(f"{home}{other}/revoke/").status_code == 404
    assert logged(project)[-1] == "revoked an invitation"
    assert api.post(home, {"role": "reader", "days": 31}, format="json").status_code == 400
