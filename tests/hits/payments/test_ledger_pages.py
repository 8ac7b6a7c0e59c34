"""The ledger's page and the comparison with the marketplace, as a lead sees them."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from hits.models import LedgerCheck, LedgerEntry
from hits.payments.rules.ledger import settle
from tests.hits import factories as make
from tests.hits.market import Marketplace
from tests.hits.world import World

pytestmark = pytest.mark.django_db
Kind = LedgerEntry.Kind


@pytest.fixture
def entries(world: World) -> World:
    """Beside what a world reserves: a paid answer, a release in another stage."""
    world.project.account.post([settle(world.answer)])
    other = world.project.stages.get(key="revalidate")
    make.ledger_entry(other, reserved=Decimal("2.00"))
    make.ledger_entry(other, kind=Kind.RELEASE, reserved=Decimal("-0.75"), note="=expired")
    return world


def text(reply: Any) -> str:
    return " ".join(reply.content.decode().split())


def test_entries_lead_to_what_they_are_for(entries: World, lead_client: Client) -> None:
    page = text(lead_client.get(entries.url("ledger")))
    assert "answer by AREA…001" in page and "bonus for AREA…001" in page and "compensation for AUNL" in page
    assert entries.url("item") in page
    assert reverse("compensation", args=[entries.project.slug, entries.compensation.pk]) in page


def test_filters_choose_entries_and_show_their_sums(entries: World, lead_client: Client) -> None:
    reply = lead_client.get(entries.url("ledger"), {"stage": "revalidate"})
    assert {entry.kind for entry in reply.context["page"].rows} == {"reserve", "release"}
    assert reply.context["sums"] == {"reserved": Decimal("1.25"), "paid": Decimal(0), "fee": Decimal(0)}
    assert "reserved +$1.25" in text(reply)
    paid = lead_client.get(entries.url("ledger"), {"kind": "settle", "stage": "validate"})
    assert paid.context["sums"] == {"reserved": Decimal("-0.05"), "paid": Decimal("0.05"), "fee": Decimal("0.01")}
    assert lead_client.get(entries.url("ledger")).context["sums"] is None
    unknown = lead_client.get(entries.url("ledger"), {"kind": "nope", "stage": "nope"})
    assert unknown.context["sums"] is None


def test_entries_of_a_worker_and_of_days_are_chosen_by_the_address_and_counted_by_kind(
    entries: World, lead_client: Client
) -> None:
    LedgerEntry.objects.filter(kind=Kind.RELEASE).update(created_at=datetime(2026, 3, 31, 23, 59, tzinfo=UTC))
    reply = lead_client.get(entries.url("ledger"), {"worker": "AREADER000001"})
    assert {entry.kind for entry in reply.context["page"].rows} == {"settle", "reserve"}
    counts = {value: number for value, _, number in reply.context["kinds"]}
    assert counts == {"": "2", "settle": "1", "reserve": "1", **dict.fromkeys(
        ("bonus", "release", "set-aside", "compensate"), "0")}  # fmt: skip
    march = lead_client.get(entries.url("ledger"), {"since": "2026-03-31", "until": "2026-03-31"})
    assert [entry.kind for entry in march.context["page"].rows] == ["release"]
    later = lead_client.get(entries.url("ledger"), {"since": "2026-04-01", "kind": "release"})
    assert later.context["page"].rows == [] and "Show all entries" in text(later)
    assert lead_client.get(entries.url("ledger"), {"since": "spring"}).context["sums"] is None


def test_the_export_holds_every_column_of_what_is_chosen(entries: World, lead_client: Client) -> None:
    def rows(**chosen: str) -> list[dict[str, str]]:
        reply = lead_client.get(entries.url("ledger-csv"), chosen)
        return list(csv.DictReader(io.StringIO(b"".join(reply.streaming_content).decode())))

    assert len(rows()) == LedgerEntry.objects.count()
    bonus = next(row for row in rows() if row["bonus"])
    assert (bonus["bonus_worker"], bonus["bonus_assignment"]) == ("AREADER000001", entries.answer.assignment_id)
    assert next(row for row in rows() if row["compensation"])["compensation_worker"].startswith("AUNLUCKY")
    [settled] = rows(kind="settle")
    assert (settled["paid"], settled["worker"], settled["hit"]) == ("0.05", "AREADER000001", entries.hit.hit_id)
    assert [row["note"] for row in rows(kind="release")] == ["'=expired"]


def test_a_comparison_that_was_never_made_says_how_to_make_it(world: World, lead_client: Client) -> None:
    LedgerCheck.objects.all().delete()
    page = text(lead_client.get(world.url("ledger-checks")))
    assert "Never compared" in page and "Compare now" in page
    ledger = text(lead_client.get(world.url("ledger")))
    assert "Never compared with the marketplace" in ledger and "Reconcile ledger…" in ledger


def test_each_difference_is_shown_with_what_to_do(world: World, lead_client: Client) -> None:
    page = text(lead_client.get(world.url("ledger-check")))
    faults, passing = page.split("Normal at the moment")
    assert "A second HIT carries the mark of the same row." in faults and "HIT 3SECOND" in faults
    assert "Answers are there that are fetched soon." in passing
    assert "1 difference " in text(lead_client.get(world.url("ledger")))


def test_a_difference_leads_to_its_item(world: World, lead_client: Client) -> None:
    row = {**world.check.differences[0], "stage": world.stage.key, "item": world.item.pk}
    LedgerCheck.objects.update(differences=[row])
    assert f'<a href="{world.url("item")}">HIT 3SECOND</a>' in text(lead_client.get(world.url("ledger-check")))


def test_agreement_is_said_to_the_cent_as_it_was_then(world: World, lead_client: Client) -> None:
    figures = [
        ["Reserved: the account, its entries", "5.00", "5.00"],
        ["Paid: the account, its entries", "1.20", "1.20"],
    ]
    LedgerCheck.objects.update(differences=[], figures=figures)
    page = text(lead_client.get(world.url("ledger-checks")))
    assert "The books agree, to the cent: $5.00 reserved, $1.20 paid" in page


def test_a_running_comparison_shows_its_progress(world: World, lead_client: Client) -> None:
    LedgerCheck.objects.update(state=LedgerCheck.State.RUNNING, total=300, done=200)
    page = text(lead_client.get(world.url("ledger-check-progress")))
    assert "200 of 300 HITs looked at" in page and 'hx-trigger="every 2s"' in page


def test_a_check_of_another_project_is_not_found(world: World, lead_client: Client, alice: Any) -> None:
    other = make.project(owner=alice)
    for name in ("ledger-check", "ledger-check-progress"):
        assert lead_client.get(reverse(name, args=[other.slug, world.check.pk])).status_code == 404


def test_the_button_compares(world: World, lead_client: Client, market: Marketplace, eager: None) -> None:
    reply = lead_client.post(world.url("check-ledger"), {"deep": "1"}, follow=True)
    made = LedgerCheck.objects.first()
    assert reply.redirect_chain[-1][0] == reverse("ledger-check", args=[world.project.slug, made.pk])
    assert (made.state, made.deep, made.created_by.username) == (LedgerCheck.State.DONE, True, "alice")
    # The world's HITs were never published.
    assert "A HIT of the books is not at the marketplace." in text(reply)
