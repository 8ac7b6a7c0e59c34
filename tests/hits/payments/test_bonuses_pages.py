"""Paying from the dashboard: a form, a price that changes nothing, one confirmation."""

from __future__ import annotations

import inspect
import re
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from hits.core.pages import FIELDS, NEXT
from hits.models import Bonus, BonusFile, BonusOrder, Compensation, Project
from hits.payments.verbs import ordering_bonuses
from tests.hits import factories as make
from tests.hits.market import Marketplace
from tests.hits.payments.payments_stage import answered, money_of

pytestmark = pytest.mark.django_db(transaction=True)
CONFIRMATION = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff"


@pytest.fixture
def river(alice: Any) -> Project:
    return make.project(owner=alice, slug="river", budget="100.00")


def text(reply: Any) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", reply.content.decode()).split())


def upload(client: Client, project: Project, content: str) -> Any:
    """The page of the file."""
    file = SimpleUploadedFile("march.csv", content.encode())
    reply = client.post(reverse("bonus_files.create", args=[project.slug]), {FIELDS: "file", "file": file})
    return client.get(reply.headers["Location"])


def form(**typed: str) -> dict[str, str]:
    """As the form of a verb is posted: with the names of the fields that it shows."""
    return {FIELDS: " ".join(typed), **typed}


def test_a_bonus_is_priced_then_paid_once(
    market: Marketplace, river: Project, lead_client: Client, eager: None
) -> None:
    (answer,) = answered(river, market)
    assert lead_client.get(reverse("pay-bonus", args=[river.slug, answer.pk])).status_code == 200
    address = reverse("bonuses.pay", args=[river.slug, answer.pk])
    asked = form(amount="$0.12", reason="Clear <b>and</b> fast.")
    priced = lead_client.post(address, asked)
    assert "Marketplace's fee $0.02 Total $0.14 Budget left $100.00" in text(priced)
    assert "<b>and</b>" not in priced.content.decode()
    assert not BonusOrder.objects.exists()
    back = lead_client.post(address, {**asked, "change": "yes"}).content.decode()
    assert 'value="$0.12"' in back and "Clear &lt;b&gt;" in back and 'name="confirmation"' not in back
    confirmed = {**asked, "total": "0.14", "confirmation": CONFIRMATION}
    for _ in range(2):
        reply = lead_client.post(address, confirmed)
        assert reply.status_code == 302
    assert Bonus.objects.get().state == Bonus.State.PAID
    assert BonusOrder.objects.get().created_by is not None
    listed = lead_client.get(reply.headers["Location"])
    assert "Paid 1" in text(listed) and "by alice" in text(listed) and "Clear &lt;b&gt;" in listed.content.decode()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"amount": "1,50", "reason": "Clear."}, "not dollars and cents"),
        ({"amount": "0", "reason": "Clear."}, "out of range"),
        ({"amount": "1.00", "reason": " "}, "may not be blank"),
    ],
)
def test_a_form_that_cannot_be_paid_says_why_and_keeps_what_was_typed(
    river: Project, lead_client: Client, asked: dict[str, str], said: str
) -> None:
    answer = make.assignment(make.hit(make.item(make.stage(river))))
    reply = lead_client.post(reverse("bonuses.pay", args=[river.slug, answer.pk]), form(**asked))
    assert reply.status_code == 400 and said in text(reply) and f'value="{asked["amount"]}"' in reply.content.decode()


def test_a_page_that_is_out_of_date_pays_nothing(market: Marketplace, river: Project, lead_client: Client) -> None:
    (answer,) = answered(river, market)
    address = reverse("bonuses.pay", args=[river.slug, answer.pk])
    asked = {**form(amount="1.00", reason="Clear."), "confirmation": CONFIRMATION}
    reply = lead_client.post(address, {**asked, "total": "1.10"})
    assert reply.status_code == 409 and "It is now 1 bonus for $1.20. Please confirm again. Nothing was paid" in text(
        reply
    )  # fmt: skip
    river.account.budget = river.account.budget * 0 + 1
    river.account.save()
    reply = lead_client.post(address, {**asked, "total": "1.20"})
    assert reply.status_code == 409 and "$1.00 of the budget is left" in text(reply)
    assert 'name="confirmation"' not in reply.content.decode(), "there is nothing to confirm"
    assert not BonusOrder.objects.exists()


def test_answers_of_other_projects_are_not_there(river: Project, lead_client: Client, alice: Any) -> None:
    answer = make.assignment(make.hit(make.item(make.stage(make.project(owner=alice)))))
    assert lead_client.get(reverse("pay-bonus", args=[river.slug, answer.pk])).status_code == 404


def test_a_file_with_faults_names_them_all(river: Project, lead_client: Client, eager: None) -> None:
    page = text(upload(lead_client, river, "assignment_id,amount,reason\n3NONE,0.50,<i>Clear</i>\n3NONE,-1,\n"))
    assert "4 faults. Nothing was paid." in page and "3NONE" in page
    assert not BonusOrder.objects.exists()


def test_a_file_is_priced_confirmed_paid_and_exported(
    market: Marketplace, river: Project, lead_client: Client, eager: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "hits.payments.verbs.ordering_bonuses.read_file", _not_in_a_web_process(ordering_bonuses.read_file)
    )
    rows = answered(river, market, 2)
    lines = [f"{row.assignment_id},0.50,=Clear {n}" for n, row in enumerate(rows)]
    file = "assignment_id,amount,reason\n" + "\n".join(lines)
    priced = upload(lead_client, river, file)
    assert "Bonuses 2 Workers 2 The highest single bonus $0.50 To the workers $1.00" in text(priced)
    assert "Pay 2 bonuses for $1.20" in text(priced) and not BonusOrder.objects.exists()
    row = BonusFile.objects.get()
    address = reverse("bonus_files.order", args=[river.slug, row.pk])
    page = reverse("kept-bonus-file", args=[river.slug, row.pk])
    confirmed = {"total": "1.20", "confirmation": priced.context["confirmation"], NEXT: page}
    for _ in range(2):
        last = lead_client.post(address, confirmed, follow=True)
        assert (
            last.redirect_chain[-1][0]
            == f"{reverse('payments', args=[river.slug])}?order={river.bonus_orders.get().pk}"
        )
    assert [row.state for row in Bonus.objects.all()] == ["paid", "paid"]
    assert "This very file was ordered before: march.csv, 2 bonuses" in text(upload(lead_client, river, file))
    export = b"".join(lead_client.get(reverse("bonuses.list.csv", args=[river.slug]) + "?state=paid").streaming_content)  # type: ignore[attr-defined]
    assert export.decode().count("'=Clear") == 2 and b",0.50,0.10," in export


def _not_in_a_web_process(read: Any) -> Any:
    def watched(*given: Any) -> Any:
        assert "work_bonus_file" in [frame.function for frame in inspect.stack()]
        return read(*given)

    return watched


def test_progress_shows_what_is_open_and_why_it_waits(river: Project, lead_client: Client) -> None:
    answer = make.assignment(make.hit(make.item(make.stage(river))))
    row = make.bonus(answer, error="Add money to the marketplace account: it goes on by itself.")
    address = reverse("payments-progress", args=[river.slug])
    reply = lead_client.get(address)
    assert "0 of 1 done" in text(reply) and "Add money" in text(reply) and "hx-get" in reply.content.decode()
    Bonus.objects.filter(pk=row.pk).update(state=Bonus.State.PAID)
    assert "Every bonus has its outcome" in text(lead_client.get(address))


def test_filters_and_orders_narrow_the_list(river: Project, lead_client: Client) -> None:
    answer = make.assignment(make.hit(make.item(make.stage(river))))
    first, second = make.bonus(answer), make.bonus(answer, reason="Once more.", state=Bonus.State.REFUSED)
    address = reverse("payments", args=[river.slug])
    assert lead_client.get(f"{address}?state=refused").context["page"].rows == [second]
    assert lead_client.get(f"{address}?order={first.order_id}").context["page"].rows == [first]
    assert lead_client.get(f"{address}?order={make.bonus().order_id}").status_code == 404
    assert lead_client.get(f"{address}?order=x").status_code == 404


def test_somebody_who_could_not_submit_is_paid_from_the_project_s_page(
    market: Marketplace, river: Project, lead_client: Client, eager: None
) -> None:
    worker = market.sign_up_worker()
    assert reverse("new-compensation", args=[river.slug]) in lead_client.get(
        reverse("project", args=[river.slug])
    ).content.decode()  # fmt: skip
    empty = lead_client.get(reverse("new-compensation", args=[river.slug]) + f"?worker={worker}")
    assert f'value="{worker}"' in empty.content.decode()
    address = reverse("compensations.create", args=[river.slug])
    asked = form(worker_id=worker, amount="1.25", reason="The page broke.")
    assert "Total $1.50" in text(lead_client.post(address, asked))
    assert not Compensation.objects.exists()
    confirmed = {**asked, "total": "1.50", "confirmation": CONFIRMATION}
    page = lead_client.post(address, confirmed).headers["Location"]
    assert lead_client.post(address, confirmed).status_code in (302, 409)
    row = Compensation.objects.get()
    assert row.state == Compensation.State.OFFERED
    shown = lead_client.get(page)
    assert f"groupId={row.hit_type_id}" in shown.content.decode() and "Withdraw the offer of $1.25" in text(shown)
    assert lead_client.get(reverse("compensations.withdraw", args=[river.slug, row.pk])).status_code == 405
    lead_client.post(reverse("compensations.withdraw", args=[river.slug, row.pk]))
    assert "Withdrawn by alice." in text(lead_client.get(page))
    assert money_of(river)[0] == row.amount + row.fee, "until it is certain that nobody submitted"


def test_a_compensation_that_cannot_be_paid_says_everything_at_once(river: Project, lead_client: Client) -> None:
    asked = form(worker_id="x", amount="x", reason="y")
    reply = lead_client.post(reverse("compensations.create", args=[river.slug]), asked)
    assert reply.status_code == 400
    assert "no worker id" in text(reply) and "not dollars and cents" in text(reply)


def test_answers_items_and_workers_lead_to_a_bonus(world: Any, lead_client: Client) -> None:
    link = reverse("pay-bonus", args=[world.project.slug, world.answer.pk])
    for name in ("answers", "item", "worker"):
        assert link in lead_client.get(world.url(name)).content.decode()


@pytest.mark.parametrize("file", ["x" * 200_000, "assignment_id,amount,reason\n3A,1," + "x" * 140_000, "," * 200_000])
def test_a_file_with_a_huge_cell_is_refused_with_a_sentence(
    river: Project, lead_client: Client, eager: None, file: str
) -> None:
    assert "nothing after it can be read" in text(upload(lead_client, river, file))
