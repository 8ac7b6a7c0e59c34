"""How much a lead may budget in all: on the pages where budgets are set, in the API and on the command line."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from django.core.management.base import CommandError
from django.test import Client
from django.urls import reverse

from hits.models import Account, AccountAction, LeadLimit, Project
from hits.payments.verbs import requesting_budget
from hits.projects.verbs.projects import create_project
from tests.hits import factories as make
from tests.hits.api_calls import signed_in
from tests.hits.commands.conftest import run

pytestmark = pytest.mark.django_db
__all__ = ["run"]
LEFT = "$120.00 of your $500.00 are left for budgets."
NEW = {"name": "Second", "recipe": "choice", "contact_email": "lab@example.org"}


@pytest.fixture
def anna() -> Any:
    anna = make.user("anna")
    create_project("River", "choice", Decimal(380), "lab@example.org", anna)
    requesting_budget.limit_lead(anna, Decimal(500))
    return anna


@pytest.fixture
def page(anna: Any) -> Callable[[str], str]:
    """What a page says to anna."""
    return lambda address: " ".join(client_of(anna).get(address).content.decode().split())


def client_of(user: Any) -> Client:
    client = Client()
    client.force_login(user)
    return client


def budgets() -> list[Decimal]:
    return list(Account.objects.order_by("id").values_list("budget", flat=True))


# Pages


PLACES = ["/new-project/", "/projects/river/", "/projects/river/clone/", "/projects/river/requests/", "/account/"]


@pytest.mark.parametrize("address", PLACES)
def test_pages_where_money_is_set_say_what_is_left(page: Callable[[str], str], address: str) -> None:
    assert LEFT in page(address)
    LeadLimit.objects.all().delete()
    assert "left for budgets" not in page(address)


def test_a_reader_of_the_project_sees_nothing_of_the_limit_of_its_owner(anna: Any) -> None:
    reader, river = make.user(), Project.objects.get()
    make.member(river, reader, "reader")
    for address in ("/projects/river/", "/projects/river/requests/"):
        reply = client_of(reader).get(address)
        assert reply.status_code == 200 and "left for budgets" not in reply.content.decode()


@pytest.mark.parametrize(
    ("address", "given"),
    [
        (reverse("new-project"), {**NEW, "budget": "120.01"}),
        ("/projects/river/clone/", {"name": "Second", "budget": "120.01"}),
        ("/projects/river/budget/", {"budget": "500.01"}),
    ],
)
def test_what_a_page_sends_above_the_limit_is_refused_beside_its_field(anna: Any, address: str, given: Any) -> None:
    reply = client_of(anna).post(address, given)
    said = " ".join(reply.content.decode().split())
    assert reply.status_code == 400 and LEFT in said and "this takes $120.01" in said
    assert budgets() == [380]


def test_pages_take_what_is_left(anna: Any) -> None:
    client = client_of(anna)
    assert client.post(reverse("new-project"), {**NEW, "budget": "20.00"}).status_code == 302
    assert client.post("/projects/river/clone/", {"name": "Third", "budget": "30.00"}).status_code == 302
    assert client.post("/projects/river/budget/", {"budget": "450.00"}).status_code == 302
    assert budgets() == [450, 20, 30]


def test_a_request_that_is_approved_above_the_limit_waits_and_says_why(anna: Any) -> None:
    mia, river = make.user("mia"), Project.objects.get()
    make.member(river, mia, "manager")
    row = requesting_budget.ask_for_budget(river, mia, Decimal(600))
    reply = client_of(anna).post(f"/projects/river/requests/{row.pk}/approve/")
    assert reply.status_code == 409 and "this takes $220.00" in reply.content.decode()
    row.refresh_from_db()
    assert row.waits and budgets() == [380]


def test_pages_of_members_say_why_somebody_cannot_become_or_stop_being_an_owner(anna: Any) -> None:
    ben, client = make.user("ben"), client_of(anna)
    requesting_budget.limit_lead(ben, Decimal(1))
    refused = client.post("/projects/river/members/add/", {"username": "ben", "role": "owner"})
    assert refused.status_code == 409 and "that ben owns may come to $1.00" in refused.content.decode()
    make.member(Project.objects.get(), make.user("carl"))
    said = client.post("/projects/river/members/anna/remove/").content.decode()
    assert "Make somebody with a limit an owner first" in said
    token = make_invitation()
    assert "that ben owns" in client_of(ben).post(token, follow=True).content.decode()
    assert sorted(Project.objects.get().owners.values_list("username", flat=True)) == ["anna", "carl"]


def make_invitation() -> str:
    make.invitation(Project.objects.get(), "the link", role="owner")
    return reverse("invitation", args=["the link"])


# API


def test_the_api_refuses_what_is_above_the_limit_with_its_amounts(anna: Any) -> None:
    api = signed_in(anna)
    details = {"lead": "anna", "limit": "500.00", "budgeted": "380.00", "left": "120.00", "more": "120.01"}
    for reply in (
        api.post("/api/projects/", {**NEW, "budget": "120.01"}, format="json"),
        api.post("/api/projects/river/clone/", {"name": "Second", "budget": "120.01"}, format="json"),
        api.put("/api/projects/river/budget/", {"budget": "500.01"}, format="json"),
    ):
        error = reply.json()["error"]
        assert (reply.status_code, error["code"], error["details"]) == (409, "above_lead_limit", details)
    assert budgets() == [380]
    assert api.put("/api/projects/river/budget/", {"budget": "500.00"}, format="json").status_code == 200


def test_the_api_says_what_is_left(anna: Any) -> None:
    described = signed_in(anna).get("/api/account/").json()
    assert described["budget_limit"] == {"limit": "500.00", "budgeted": "380.00", "left": "120.00"}
    LeadLimit.objects.all().delete()
    assert signed_in(anna).get("/api/account/").json()["budget_limit"] is None


def test_the_api_refuses_an_owner_who_would_leave_a_project_without_a_limit(anna: Any) -> None:
    make.member(Project.objects.get(), make.user("carl"))
    reply = signed_in(anna).delete("/api/projects/river/members/anna/")
    assert (reply.status_code, reply.json()["error"]["code"]) == (409, "limited_owner")


# Command


def test_the_limit_is_set_shown_and_removed(run: Callable[..., str], anna: Any) -> None:
    assert "Budgets in all: $380.00 of at most $500.00, $120.00 left" in run("account", "anna")
    said = run("account", "anna", "--budget-limit", "100")
    assert said == (
        "Budgets in all: $380.00 of at most $100.00, $0.00 left\n"
        "They stay as they are; none of them can be raised until others are lowered.\n"
    )
    assert LeadLimit.objects.get().amount == 100 and budgets() == [380]
    run("account", "anna", "--budget-limit", "100")
    assert run("account", "anna", "--no-budget-limit") == "Budgets in all: no limit\n"
    assert not LeadLimit.objects.exists()
    told = list(AccountAction.objects.filter(account=anna).values_list("about", flat=True))
    assert told == ["$100.00 to no limit", "$500.00 to $100.00", "no limit to $500.00"]
    with pytest.raises(CommandError, match="no amount of money"):
        run("account", "anna", "--budget-limit", "much")


def test_a_limit_of_nothing_is_a_limit(run: Callable[..., str], anna: Any) -> None:
    run("account", "anna", "--budget-limit", "0")
    assert client_of(anna).post(reverse("new-project"), {**NEW, "budget": "0.01"}).status_code == 400
