"""Paying from the dashboard: a form, a price that changes nothing, one confirmation."""

from __future__ import annotations

import inspect
import re
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from hits.flow.payments import ordering
from hits.models import Bonus, BonusFile, BonusOrder, Compensation, Project
from tests.hits import factories as make
from tests.hits.flow.payments_stage import answered, money_of
from tests.hits.market import Marketplace

pytestmark = pytest.mark.django_db(transaction=True)
CONFIRMATION = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff"


@pytest.fixture
def river(alice: Any) -> Project:
    return make.project(owner=alice, slug="river", budget="100.00")


def text(reply: Any) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", reply.content.decode()).split())


def upload(client: Client, project: Project, content: str) -> Any:
    file = SimpleUploadedFile("march.csv", content.encode())
    return client.post(reverse("bonus-file", args=[project.slug]), {"file": file})


def test_a_bonus_is_priced_then_paid_once(market: Marketplace, river: Project, client: Client, eager: None) -> None:
    (answer,) = answered(river, market)
    address = reverse("pay-bonus", args=[river.slug, answer.pk])
    asked = {"amount": "$0.12", "reason": "Clear <b>and</b> fast."}
    priced = client.post(address, asked)
    assert "Marketplace's fee $0.02 Total $0.14 Budget left $100.00" in text(priced)
    assert "<b>and</b>" not in priced.content.decode()
    assert not BonusOrder.objects.exists()
    confirmed = {**asked, "total": "0.14", "confirmation": CONFIRMATION}
    for _ in range(2):
        reply = client.post(address, confirmed)
        assert reply.status_code == 302
    assert Bonus.objects.get().state == Bonus.State.PAID
    assert BonusOrder.objects.get().created_by is not None
    listed = client.get(reply.headers["Location"])
    assert "Paid 1" in text(listed) and "by alice" in text(listed) and "Clear &lt;b&gt;" in listed.content.decode()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"amount": "1,50", "reason": "Clear."}, "not dollars and cents"),
        ({"amount": "0", "reason": "Clear."}, "out of range"),
        ({"amount": "1.00", "reason": " "}, "required"),
    ],
)
def test_a_form_that_cannot_be_paid_says_why_and_keeps_what_was_typed(
    river: Project, client: Client, asked: dict[str, str], said: str
) -> None:
    answer = make.assignment(make.hit(make.item(make.stage(river))))
    reply = client.post(reverse("pay-bonus", args=[river.slug, answer.pk]), asked)
    assert reply.status_code == 400 and said in text(reply) and f'value="{asked["amount"]}"' in reply.content.decode()


def test_a_page_that_is_out_of_date_pays_nothing(market: Marketplace, river: Project, client: Client) -> None:
    (answer,) = answered(river, market)
    address = reverse("pay-bonus", args=[river.slug, answer.pk])
    asked = {"amount": "1.00", "reason": "Clear.", "confirmation": CONFIRMATION}
    reply = client.post(address, {**asked, "total": "1.10"})
    assert reply.status_code == 409 and "It is now 1 bonus for $1.20. Please confirm again. Nothing was paid" in text(
        reply
    )  # fmt: skip
    river.account.budget = river.account.budget * 0 + 1
    river.account.save()
    reply = client.post(address, {**asked, "total": "1.20"})
    assert reply.status_code == 409 and "$1.00 of the budget is left" in text(reply)
    assert 'name="confirmation"' not in reply.content.decode(), "there is nothing to confirm"
    assert not BonusOrder.objects.exists()


def test_answers_of_other_projects_are_not_there(river: Project, client: Client, alice: Any) -> None:
    answer = make.assignment(make.hit(make.item(make.stage(make.project(owner=alice)))))
    assert client.get(reverse("pay-bonus", args=[river.slug, answer.pk])).status_code == 404


def test_a_file_with_faults_names_them_all_and_nothing_is_kept(river: Project, client: Client) -> None:
    reply = upload(client, river, "assignment_id,amount,reason\n3NONE,0.50,<i>Clear</i>\n3NONE,-1,\n")
    assert reply.status_code == 400
    assert "4 faults in march.csv. Nothing was paid." in text(reply)
    assert not BonusOrder.objects.exists()


def test_a_file_is_priced_confirmed_paid_and_exported(
    market: Marketplace, river: Project, client: Client, eager: None
) -> None:
    rows = answered(river, market, 2)
    lines = [f"{row.assignment_id},0.50,=Clear {n}" for n, row in enumerate(rows)]
    file = "assignment_id,amount,reason\n" + "\n".join(lines)
    preview = upload(client, river, file).headers["Location"]
    priced = client.get(preview)
    assert "Bonuses 2 Workers 2 The highest single bonus $0.50 To the workers $1.00" in text(priced)
    assert not BonusOrder.objects.exists()
    confirmed = {"total": "1.20", "confirmation": CONFIRMATION}
    first, second = client.post(preview, confirmed), client.post(preview, confirmed)
    assert first.headers["Location"] == second.headers["Location"]
    assert [row.state for row in Bonus.objects.all()] == ["paid", "paid"]
    assert "This very file was ordered before: march.csv, 2 bonuses" in text(client.get(preview))
    export = b"".join(client.get(reverse("bonuses-csv", args=[river.slug]) + "?state=paid").streaming_content)  # type: ignore[attr-defined]
    assert export.decode().count("'=Clear") == 2 and b",0.50,0.10," in export


def test_a_file_s_address_opens_it_in_its_own_project_alone(
    river: Project, client: Client, alice: Any, market: Marketplace
) -> None:
    answer = make.assignment(make.hit(make.item(make.stage(river))))
    preview = upload(client, river, f"assignment_id,amount,reason\n{answer.assignment_id},1,Clear.").headers["Location"]
    other = make.project(owner=alice)
    assert client.get(preview).status_code == 200
    assert client.get(preview.replace("/river/", f"/{other.slug}/")).status_code == 404
    assert client.get(preview[:-3] + "x/").status_code == 404


def test_progress_shows_what_is_open_and_why_it_waits(river: Project, client: Client) -> None:
    answer = make.assignment(make.hit(make.item(make.stage(river))))
    row = make.bonus(answer, error="Add money to the marketplace account: it goes on by itself.")
    address = reverse("payments-progress", args=[river.slug])
    reply = client.get(address)
    assert "0 of 1 done" in text(reply) and "Add money" in text(reply) and "hx-get" in reply.content.decode()
    Bonus.objects.filter(pk=row.pk).update(state=Bonus.State.PAID)
    assert "Every bonus has its outcome" in text(client.get(address))


def test_filters_and_orders_narrow_the_list(river: Project, client: Client) -> None:
    answer = make.assignment(make.hit(make.item(make.stage(river))))
    first, second = make.bonus(answer), make.bonus(answer, reason="Once more.", state=Bonus.State.REFUSED)
    address = reverse("payments", args=[river.slug])
    assert client.get(f"{address}?state=refused").context["page"].rows == [second]
    assert client.get(f"{address}?order={first.order_id}").context["page"].rows == [first]
    assert client.get(f"{address}?order={make.bonus().order_id}").status_code == 404
    assert client.get(f"{address}?order=x").status_code == 404


def test_somebody_who_could_not_submit_is_paid_from_the_project_s_page(
    market: Marketplace, river: Project, client: Client, eager: None
) -> None:
    worker = market.sign_up_worker()
    assert reverse("new-compensation", args=[river.slug]) in client.get(
        reverse("project", args=[river.slug])
    ).content.decode()  # fmt: skip
    address = reverse("new-compensation", args=[river.slug])
    asked = {"worker_id": worker, "amount": "1.25", "reason": "The page broke."}
    assert "Total $1.50" in text(client.post(address, asked))
    assert not Compensation.objects.exists()
    confirmed = {**asked, "total": "1.50", "confirmation": CONFIRMATION}
    page = client.post(address, confirmed).headers["Location"]
    assert client.post(address, confirmed).status_code in (302, 409)
    row = Compensation.objects.get()
    assert row.state == Compensation.State.OFFERED
    shown = client.get(page)
    assert f"groupId={row.hit_type_id}" in shown.content.decode() and "Withdraw the offer of $1.25" in text(shown)
    assert client.get(reverse("withdraw-compensation", args=[river.slug, row.pk])).status_code == 405
    client.post(reverse("withdraw-compensation", args=[river.slug, row.pk]))
    assert "Withdrawn by alice." in text(client.get(page))
    assert money_of(river)[0] == row.amount + row.fee, "until it is certain that nobody submitted"


def test_a_compensation_that_cannot_be_paid_says_everything_at_once(river: Project, client: Client) -> None:
    reply = client.post(
        reverse("new-compensation", args=[river.slug]), {"worker_id": "x", "amount": "x", "reason": "y"}
    )
    assert reply.status_code == 400
    assert "no worker id" in text(reply) and "not dollars and cents" in text(reply)


def test_answers_items_and_workers_lead_to_a_bonus(world: Any, client: Client) -> None:
    link = reverse("pay-bonus", args=[world.project.slug, world.answer.pk])
    for name in ("answers", "item", "worker"):
        assert link in client.get(world.url(name)).content.decode()


def test_a_large_file_is_checked_and_ordered_in_the_background(
    river: Project, client: Client, market: Marketplace, eager: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    (answer,) = answered(river, market)
    monkeypatch.setattr("hits.flow.payments.ordering.read_file", _not_in_a_web_process(ordering.read_file))
    padding = "x" * 4000
    lines = [f"{answer.assignment_id},0.{n:02d},{padding}" for n in range(10, 80)]
    reply = upload(client, river, "assignment_id,amount,reason\n" + "\n".join(lines))
    row = BonusFile.objects.get()
    page = client.get(reply.headers["Location"])
    assert (row.state, page.status_code) == (BonusFile.State.READY, 200)
    assert "Pay 70 bonuses for" in text(page) and not Bonus.objects.exists()
    confirmation = {"total": row.quote["total"], "confirmation": page.context["confirmation"]}
    last = client.post(reply.headers["Location"], confirmation, follow=True)
    assert Bonus.objects.count() == 70
    assert last.redirect_chain[-1][0] == f"{reverse('payments', args=[river.slug])}?order={BonusOrder.objects.get().pk}"


def _not_in_a_web_process(read: Any) -> Any:
    def watched(*given: Any) -> Any:
        callers = [frame.function for frame in inspect.stack()]
        assert "work_bonus_file" in callers
        return read(*given)

    return watched


def test_a_large_file_with_faults_names_them(river: Project, client: Client, eager: None) -> None:
    lines = [f"3NONE{n},0.50,{'x' * 3000}" for n in range(100)]
    reply = upload(client, river, "assignment_id,amount,reason\n" + "\n".join(lines))
    page = text(client.get(reply.headers["Location"]))
    assert "100 faults. Nothing was paid." in page and "3NONE99" in page


@pytest.mark.parametrize("file", ["x" * 200_000, "assignment_id,amount,reason\n3A,1," + "x" * 140_000, "," * 200_000])
def test_a_file_with_a_huge_cell_is_refused_with_a_sentence(river: Project, client: Client, file: str) -> None:
    page = upload(client, river, file)
    assert page.status_code == 400 and "nothing after it can be read" in text(page)
