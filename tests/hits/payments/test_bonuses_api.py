"""Bonuses and compensations by program: a quote, the confirmation, what became of it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from rest_framework.test import APIClient

from hits.core.verbs import REGISTRY, perform
from hits.models import Bonus, BonusOrder, Compensation, Project
from tests.hits.api_calls import HOME
from tests.hits.market import Marketplace
from tests.hits.payments.payments_stage import answered

pytestmark = pytest.mark.django_db(transaction=True)


def csv(text: str) -> SimpleUploadedFile:
    return SimpleUploadedFile("march.csv", text.encode())


def test_bonuses_are_quoted_then_paid_once(market: Marketplace, river: Project, api: APIClient, eager: None) -> None:
    (answer,) = answered(river, market)
    asked = {"bonuses": [{"assignment_id": answer.assignment_id, "amount": "1.00", "reason": "Clear."}]}
    quote = api.post(HOME + "bonuses/quote/", asked, format="json").json()
    assert (quote["fee"], quote["total"], quote["problems"], quote["workers"]) == ("0.20", "1.20", [], 1)
    assert not BonusOrder.objects.exists()
    confirmed = {**asked, "total": quote["total"], "confirmation": quote["confirmation"]}
    orders = [api.post(HOME + "bonuses/", confirmed, format="json") for _ in range(2)]
    assert [order.status_code for order in orders] == [202, 202]
    assert orders[0].json()["id"] == orders[1].json()["id"]
    found = api.get(HOME + f"bonus-orders/{orders[0].json()['id']}/").json()
    assert (found["counts"], found["cost"], found["created_by"]) == ({"paid": 1}, "1.20", "alice")
    (listed,) = api.get(HOME + "bonuses/?state=paid").json()["results"]
    assert (listed["worker_id"], listed["amount"], listed["state"]) == (answer.worker.worker_id, "1.00", "paid")
    entries = api.get(HOME + "ledger/").json()["results"]
    assert [(entry["kind"], entry["bonus"]) for entry in entries] == [
        ("reserve", listed["id"]),
        ("bonus", listed["id"]),
    ]


@pytest.mark.parametrize(
    ("changed", "code", "word"),
    [
        ({"total": "9.99"}, 409, "order_changed"),
        ({"confirmation": "short"}, 400, "invalid"),
        ({"bonuses": []}, 400, "invalid"),
        ({"bonuses": [{"assignment_id": "3NONE", "amount": "1", "reason": "x"}]}, 400, "file_refused"),
    ],
)
def test_what_is_not_right_pays_nothing(
    market: Marketplace, river: Project, api: APIClient, changed: dict[str, Any], code: int, word: str
) -> None:
    (answer,) = answered(river, market)
    asked = {
        "bonuses": [{"assignment_id": answer.assignment_id, "amount": "1.00", "reason": "Clear."}],
        "total": "1.20",
        "confirmation": "page-one",
    }
    reply = api.post(HOME + "bonuses/", {**asked, **changed}, format="json")
    assert (reply.status_code, reply.json()["error"]["code"]) == (code, word)
    assert not BonusOrder.objects.exists()


def test_beyond_the_budget_is_refused_with_the_sums(market: Marketplace, river: Project, api: APIClient) -> None:
    (answer,) = answered(river, market)
    asked = {"assignment_id": answer.assignment_id, "amount": "90.00", "reason": "Clear."}
    reply = api.post(
        HOME + "bonuses/", {"bonuses": [asked], "total": "108.00", "confirmation": "page-one"}, format="json"
    )
    assert (reply.status_code, reply.json()["error"]["code"]) == (409, "budget_exceeded")
    assert reply.json()["error"]["details"] == {"needed": "108.00", "left": "100.00"}


def test_a_worker_who_could_not_submit_is_offered_a_hit(
    market: Marketplace, river: Project, api: APIClient, eager: None
) -> None:
    asked = {"worker_id": market.sign_up_worker(), "amount": "1.25", "reason": "The page broke."}
    quote = api.post(HOME + "compensations/quote/", asked, format="json").json()
    assert (quote["fee"], quote["total"], quote["problems"]) == ("0.25", "1.50", [])
    confirmed = {**asked, "total": "1.50", "confirmation": quote["confirmation"]}
    made = [api.post(HOME + "compensations/", confirmed, format="json").json() for _ in range(2)]
    assert made[0]["id"] == made[1]["id"]
    offered = api.get(f"{HOME}compensations/{made[0]['id']}/").json()
    assert offered["state"] == "offered" and offered["address"] in offered["letter"]
    again = api.post(HOME + "compensations/", {**confirmed, "confirmation": "another-page"}, format="json")
    assert (again.status_code, again.json()["error"]["code"]) == (409, "already_offered")
    reply = api.post(HOME + f"compensations/{made[0]['id']}/withdraw/")
    assert (reply.status_code, reply.json()["error"], reply.json()["letter"]) == (202, "Withdrawn by alice.", "")
    Compensation.objects.update(state=Compensation.State.PAID)
    refused = api.post(HOME + f"compensations/{made[0]['id']}/withdraw/")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "not_withdrawable")


def test_a_compensation_names_every_fault_at_once(market: Marketplace, river: Project, api: APIClient) -> None:
    reply = api.post(HOME + "compensations/quote/", {"worker_id": "x", "amount": "1,5", "reason": "y"}, format="json")
    assert reply.status_code == 400 and set(reply.json()["error"]["details"]) == {"worker_id", "amount"}


def test_a_body_beyond_all_measure_is_not_read(river: Project, api: APIClient) -> None:
    reply = api.post(HOME + "bonus-files/", {"file": SimpleUploadedFile("big.csv", b"x" * (9 * 1024 * 1024))})
    assert (reply.status_code, reply.json()["error"]["code"]) == (413, "too_large")
    assert not river.bonus_files.exists()


def test_a_file_is_checked_priced_and_ordered_in_the_background(
    market: Marketplace, river: Project, api: APIClient, eager: None
) -> None:
    (answer,) = answered(river, market)
    wrong = api.post(HOME + "bonus-files/", {"file": csv("assignment_id,amount,reason\n3NONE,x,\n")}).json()
    row = api.get(f"{HOME}bonus-files/{wrong['id']}/").json()
    assert (row["state"], row["fault_count"], {fault["line"] for fault in row["faults"]}) == ("refused", 3, {2})
    lines = [f"{answer.assignment_id},0.{n:02d},{'x' * 4000}" for n in range(10, 80)]
    kept = api.post(HOME + "bonus-files/", {"file": csv("assignment_id,amount,reason\n" + "\n".join(lines))})
    row = api.get(f"{HOME}bonus-files/{kept.json()['id']}/").json()
    assert (kept.status_code, row["state"], row["count"], row["order"]) == (202, "ready", 70, None)
    body = {"total": row["total"], "confirmation": "march-2026"}
    for _ in range(2):
        assert api.post(f"{HOME}bonus-files/{row['id']}/order/", body, format="json").status_code == 202
    row = api.get(f"{HOME}bonus-files/{row['id']}/").json()
    order = api.get(f"{HOME}bonus-orders/{row['order']}/").json()
    assert (row["state"], order["total"], order["filename"]) == ("ordered", 70, "march.csv")
    assert set(Bonus.objects.values_list("state", flat=True)) == {Bonus.State.PAID}
    assert BonusOrder.objects.count() == 1


def test_a_bonus_for_one_answer_is_quoted_then_paid_once(
    market: Marketplace, river: Project, api: APIClient, eager: None
) -> None:
    (answer,) = answered(river, market)
    home, asked = f"{HOME}answers/{answer.pk}/bonus/", {"amount": "1.00", "reason": "Clear."}
    quote = api.post(home + "quote/", asked, format="json").json()
    assert (quote["total"], quote["count"], quote["shares"][0]["worker_id"]) == ("1.20", 1, answer.worker.worker_id)
    confirmed = {**asked, "total": quote["total"], "confirmation": quote["confirmation"]}
    assert len({api.post(home, confirmed, format="json").json()["id"] for _ in range(2)}) == 1
    assert Bonus.objects.get().state == Bonus.State.PAID
    refused = api.post(home, {**confirmed, "amount": "1,5"}, format="json").json()["error"]
    assert (refused["code"], list(refused["details"])) == ("invalid", ["amount"])


def test_two_confirmations_of_one_page_at_the_same_moment_are_one_order(
    market: Marketplace, river: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    (answer,) = answered(river, market)
    asked = {"bonuses": [{"assignment_id": answer.assignment_id, "amount": "1.00", "reason": "Clear."}]}

    def confirm(page: str) -> BonusOrder:
        confirmed = {**asked, "total": Decimal("1.20"), "confirmation": page}
        made: BonusOrder = perform(REGISTRY["bonuses.create"], river, None, confirmed)
        return made

    def meanwhile(cost: Decimal) -> None:
        """The other click, between the orders of two other pages, before this one has the lock."""
        monkeypatch.undo()
        for page in ("page-0", "page-1", "page-2"):
            confirm(page)

    monkeypatch.setattr("hits.payments.verbs.declared.refuse_beyond_balance", meanwhile)
    assert confirm("page-1").confirmation.endswith(":page-1")
    assert (BonusOrder.objects.count(), Bonus.objects.count()) == (3, 3)
