"""Asking for money and deciding about it: on pages, in the API and in commands, with notices of both."""

from __future__ import annotations

import uuid
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client

from hits import tasks
from hits.core.roles import RoleRefusedError
from hits.models import Account, BudgetRequest, Notice, Project, Stage
from hits.notifications.jobs import pending_notices
from hits.notifications.verbs import writing_notices
from hits.payments.jobs import approve_request
from hits.payments.verbs import requesting_budget
from tests.hits import factories as make
from tests.hits.api_calls import signed_in
from tests.hits.doing import do
from tests.hits.stand_in import StandIn

pytestmark = pytest.mark.django_db
PAGE = "/projects/river/requests/"


@pytest.fixture
def stage() -> Stage:
    project = make.project(owner=make.user("olga"), budget="0.10", name="River", slug="river")
    make.member(project, make.user("mia"), "manager")
    stage = make.stage(project, key="validate")
    make.items(stage, 4)
    return stage


def client_of(stage: Stage, name: str) -> Client:
    client = Client()
    client.force_login(stage.project.memberships.get(user__username=name).user)
    return client


def shown(client: Client) -> str:
    return " ".join(client.get(PAGE).content.decode().split())


def notices(project: Project) -> list[str]:
    writing_notices.write_all(pending_notices.of_projects)
    return [f"{row.words} / {row.more}" for row in Notice.objects.filter(project=project, kind="money").order_by("pk")]


def test_a_budget_above_the_limit_is_asked_for_on_the_page_and_approved_there(stage: Stage) -> None:
    mia, olga = client_of(stage, "mia"), client_of(stage, "olga")
    olga.post("/projects/river/members/mia/may-budget/", {"may_budget": "5.00"})
    mia.post("/projects/river/budget/", {"budget": "0.50"})
    assert Account.objects.get().budget == Decimal("0.50")
    mia.post("/projects/river/budget/", {"budget": "9.00", "why": "The second half."})
    row = BudgetRequest.objects.get()
    assert Account.objects.get().budget == Decimal("0.50") and "The second half." in shown(olga)
    assert "mia asks for a budget of $9.00" in olga.get("/").content.decode()
    assert notices(stage.project) == ["mia asks for a budget of $9.00 / The second half."]
    assert mia.post(f"{PAGE}{row.pk}/approve/").status_code == 403
    assert olga.post(f"{PAGE}{row.pk}/approve/", {"reason": "Go on."}).status_code == 302
    assert Account.objects.get().budget == Decimal("9.00")
    told = "The request of mia for a budget of $9.00 was approved by olga / Go on."
    assert notices(stage.project)[1:] == [told]
    assert "approved a request for money" in olga.get("/projects/river/done/").content.decode().lower()


def test_a_batch_that_the_budget_has_no_room_for_is_published_once_it_is_approved(
    stage: Stage, stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks.publish_batch, "delay", lambda *given: None)
    mia, olga = client_of(stage, "mia"), client_of(stage, "olga")
    quote = "/projects/river/stages/validate/publish/"
    assert "Ask an owner for $0.20" in mia.get(quote).content.decode()
    assert "Ask an owner" not in olga.get(quote).content.decode()
    confirmation = {"items": 4, "total": "0.20", "confirmation": str(uuid.uuid4())}
    for _ in range(2):
        assert mia.post(quote, confirmation).headers["Location"] == PAGE
    assert olga.post(quote, {**confirmation, "confirmation": str(uuid.uuid4())}).status_code == 409
    row = BudgetRequest.objects.get()
    declined = olga.post(f"{PAGE}{row.pk}/decline/")
    assert declined.status_code == 400 and "Say why" in declined.content.decode()
    olga.post(f"{PAGE}{row.pk}/approve/")
    account = Account.objects.get()
    assert (account.budget, account.reserved, stage.batches.get().budget_request) == (Decimal("0.20"),) * 2 + (row,)


def test_what_is_too_long_is_refused_on_pages_and_asks_or_decides_nothing(stage: Stage) -> None:
    mia, olga = client_of(stage, "mia"), client_of(stage, "olga")
    refused = mia.post("/projects/river/budget/", {"budget": "9.00", "why": "x" * 501})
    assert refused.status_code == 400 and "at most 500 characters" in refused.content.decode()
    assert not BudgetRequest.objects.exists()
    mia.post("/projects/river/budget/", {"budget": "9.00"})
    row = BudgetRequest.objects.get()
    refused = olga.post(f"{PAGE}{row.pk}/approve/", {"reason": "x" * 501})
    assert refused.status_code == 400 and "at most 500 characters" in refused.content.decode()
    assert (BudgetRequest.objects.get().state, Account.objects.get().budget) == ("waiting", Decimal("0.10"))


def test_each_refusal_of_a_decision_has_the_status_of_its_reason(
    stage: Stage, stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    mia, olga = client_of(stage, "mia"), client_of(stage, "olga")
    mia.post("/projects/river/budget/", {"budget": "9.00"})
    row = BudgetRequest.objects.get()
    page = f"{PAGE}{row.pk}"
    assert olga.post(f"{page}/withdraw/").status_code == 403
    assert olga.post("/projects/river/members/mia/may-budget/", {"may_budget": "a lot"}).status_code == 400

    # An owner who stops being one after the page's guard let the request in, and before the verb holds the project.
    olgas = stage.project.memberships.get(user__username="olga")

    def demoted_first(*given: Any) -> Any:
        stage.project.memberships.filter(pk=olgas.pk).update(role="manager")
        return approve_request(*given)

    with monkeypatch.context() as patched:
        patched.setattr("hits.payments.pages.budget_requests.approve_request", demoted_first)
        refused = olga.post(f"{page}/approve/")
        assert refused.status_code == 403 and "takes the role owner" in refused.content.decode()
    with pytest.raises(RoleRefusedError):
        do("members.may_budget", stage.project.memberships.get(user__username="mia"), olgas.user, may_budget="5")
    olgas.save()
    assert BudgetRequest.objects.get().waits and Account.objects.get().budget == Decimal("0.10")
    assert olga.post(f"{page}/approve/").status_code == 302
    assert olga.post(f"{page}/approve/").status_code == 409
    assert mia.post(f"{page}/withdraw/").status_code == 409


@pytest.mark.parametrize("items", [None, 4])
def test_a_long_reason_of_a_command_is_cut_whatever_was_asked_for(
    stage: Stage, stand_in: StandIn, items: int | None
) -> None:
    mia = stage.project.memberships.get(user__username="mia").user
    if items is None:
        row: BudgetRequest | None = requesting_budget.ask_for_budget(stage.project, mia, Decimal("0.20"))
    else:
        row = requesting_budget.ask_for_batch(stage, mia, items, Decimal("0.20"), "batch")
    assert row is not None
    approve_request(row, None, " " + "x" * 501)
    assert BudgetRequest.objects.get().reason == "x" * 500


def test_the_api_asks_decides_and_withdraws(stage: Stage, stand_in: StandIn) -> None:
    people = {row.user.username: row.user for row in stage.project.memberships.select_related("user")}
    mia, olga = signed_in(people["mia"]), signed_in(people["olga"])
    root = "/api/projects/river/"
    first = mia.put(f"{root}budget/", {"budget": "3.00"}, format="json")
    again = mia.put(f"{root}budget/", {"budget": "4.00", "why": "More."}, format="json")
    assert (first.status_code, again.status_code, again.json()["state"]) == (202, 202, "waiting")
    listed = mia.get(f"{root}requests/").json()["results"]
    assert [(row["budget"], row["state"]) for row in listed] == [("3.00", "withdrawn"), ("4.00", "waiting")]
    asked = mia.post(
        f"{root}stages/validate/publish/", {"items": 4, "total": "0.20", "confirmation": "batch-one"}, format="json"
    )
    assert (asked.status_code, asked.json()["stage"], asked.json()["total"]) == (200, "validate", "0.20")
    one, batch = (f"{root}requests/{row['id']}/" for row in (listed[1], asked.json()))
    assert mia.post(f"{one}decline/", {"reason": "No."}, format="json").status_code == 403
    assert olga.post(f"{one}decline/", {"reason": "No."}, format="json").json()["reason"] == "No."
    assert olga.post(f"{one}approve/", {}, format="json").json()["error"]["code"] == "request_decided"
    assert olga.post(f"{batch}withdraw/", {}, format="json").json()["error"]["code"] == "not_yours"
    assert mia.post(f"{batch}withdraw/", {}, format="json").json()["state"] == "withdrawn"
    allowed = olga.put(f"{root}members/mia/may-budget/", {"may_budget": "2.00"}, format="json")
    assert allowed.json()["may_budget"] == "2.00"
    assert mia.put(f"{root}budget/", {"budget": "0.90"}, format="json").json()["budget"] == "0.90"
