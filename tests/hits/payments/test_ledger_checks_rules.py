"""The project's own books: rows and entries, each difference named by its row."""

from decimal import Decimal

import pytest

from hits.models import Account, Assignment, Bonus, Compensation, Extension, Hit, LedgerEntry
from hits.payments.rules.ledger import pay_payment, release, settle
from hits.payments.rules.ledger_checks import (
    ENTRY_COLUMNS,
    differences,
    entry_lines,
    figures,
    held_there,
    paid_for,
    still_to_pay,
)
from tests.hits import factories as make

pytestmark = [pytest.mark.django_db, pytest.mark.on_postgresql]
Kind = LedgerEntry.Kind
State = Assignment.State


@pytest.fixture
def hits() -> list[Hit]:
    """Two live HITs of two places each, with their reservation: 4 x $0.05."""
    stage = make.stage(answers=2)
    found = make.hits(make.items(stage, 2), unit_cost=Decimal("0.05"))
    reserve(found[0].batch, "0.20")
    return found


def reserve(batch, amount: str, **more) -> None:
    account = batch.stage.project.account
    account.post([LedgerEntry(kind=Kind.RESERVE, reserved=Decimal(amount), stage=batch.stage, batch=batch, **more)])


def account(hits: list[Hit]) -> Account:
    return hits[0].stage.project.account


def kinds(hits: list[Hit]) -> list[str]:
    return sorted(found.kind for found in differences(hits[0].stage.project))


def agree(hits: list[Hit]) -> bool:
    return all(one == other for _, one, other in figures(hits[0].stage.project)) and kinds(hits) == []


def close(hit: Hit, answers: int) -> None:
    account([hit]).post([release(hit, hit.max_assignments - answers, "expired")])
    Hit.objects.filter(pk=hit.pk).update(state=Hit.State.CLOSED, harvested=answers)


def test_an_empty_project_agrees():
    assert agree([make.hit(unit_cost=Decimal(0))])


def test_reserved_places_agree_from_publishing_to_the_last_answer(hits):
    assert still_to_pay(hits[0].stage.project) == Decimal("0.20")
    assert agree(hits)
    account(hits).post([settle(make.assignment(hits[0]))])
    last = make.assignment(hits[0], state=State.SUBMITTED)
    assert agree(hits)
    close(hits[1], 0)
    Hit.objects.filter(pk=hits[0].pk).update(state=Hit.State.CLOSED)
    assert agree(hits)
    assert figures(hits[0].stage.project)[2][1:] == (Decimal("0.05"), Decimal("0.05"))
    Assignment.objects.filter(pk=last.pk).update(state=State.APPROVED)
    account(hits).post([settle(last)])
    assert agree(hits)
    assert figures(hits[0].stage.project)[2][1:] == (Decimal(0), Decimal(0))


def test_an_approved_answer_without_its_entry_is_named(hits):
    answer = make.assignment(hits[0])
    found = list(differences(hits[0].stage.project))
    assert [(one.kind, one.subject) for one in found] == [
        ("answer_not_paid", f"answer {answer.assignment_id}"),
        ("hit_reservation", f"HIT {hits[0].hit_id}"),
    ]
    assert (found[0].stage, found[0].item, found[0].passing) == (hits[0].stage.key, hits[0].item_id, False)


def test_a_payment_for_an_answer_that_is_not_approved_is_named(hits):
    answer = make.assignment(hits[0], state=State.REJECTED)
    account(hits).post([settle(answer)])
    assert kinds(hits) == ["paid_without_approval"]


def test_a_payment_of_another_amount_is_named(hits):
    entry = settle(make.assignment(hits[0]))
    entry.paid += Decimal("0.01")
    account(hits).post([entry])
    assert kinds(hits) == ["paid_another_amount"]


def test_a_changed_sum_is_named(hits):
    Account.objects.update(paid=Decimal("0.16"))
    found = list(differences(hits[0].stage.project))
    assert [(one.kind, one.subject, one.books) for one in found] == [("account_sums", "paid", "$0.16")]


def test_a_batch_that_reserved_too_little_is_named(hits):
    other = make.hit(make.item(hits[0].stage), unit_cost=Decimal("0.05"), max_assignments=2, created_with=2)
    reserve(other.batch, "0.05")
    found = list(differences(hits[0].stage.project))
    assert [(one.kind, one.subject) for one in found] == [("batch_reservation", f"batch {other.batch_id}")]
    assert found[0].books == "$0.05 instead of $0.10"


def test_places_that_were_released_twice_are_named(hits):
    close(hits[0], 0)
    close(hits[0], 1)
    assert kinds(hits) == ["hit_reservation"]


def test_a_rejection_that_is_being_taken_back_is_reserved_again(hits):
    answer = make.assignment(hits[0], state=State.REJECTED, decision=State.APPROVED)
    account(hits).post([release(hits[0], 1, "rejected")])
    assert kinds(hits) == ["hit_reservation"]
    reserve(hits[0].batch, "0.05", hit=hits[0], assignment=answer)
    assert agree(hits)


def test_an_answer_that_was_reserved_again_and_never_paid_is_named(hits):
    answer = make.assignment(hits[0])
    account(hits).post([release(hits[0], 1, "rejected")])
    reserve(hits[0].batch, "0.05", hit=hits[0], assignment=answer)
    assert "answer_not_paid" in kinds(hits)


def test_a_hit_that_the_marketplace_refused_costs_nothing(hits):
    account(hits).post([release(hits[0], 2, "refused")])
    Hit.objects.filter(pk=hits[0].pk).update(state=Hit.State.REFUSED)
    assert still_to_pay(hits[0].stage.project) == Decimal("0.10")
    assert agree(hits)


def test_what_is_set_aside_for_further_answers_is_still_to_pay(hits):
    stage = hits[0].stage
    make.stage(stage.project)
    stage.items.filter(pk=hits[0].item_id).update(further=2, further_cost=Decimal("0.05"))
    assert kinds(hits) == ["set_aside"]
    account(hits).post([LedgerEntry(kind=Kind.SET_ASIDE, reserved=Decimal("0.10"), stage=stage)])
    assert still_to_pay(stage.project) == Decimal("0.30")
    assert agree(hits)


def bonus(hits: list[Hit], state: str) -> Bonus:
    answer = make.assignment(hits[0], state=State.SUBMITTED)
    project = hits[0].stage.project
    order = project.bonus_orders.create(confirmation=f"order-{state}", total=1, cost=Decimal("1.20"))
    money = {"amount": Decimal("1.00"), "fee": Decimal("0.20")}
    return order.bonuses.create(project=project, assignment=answer, worker=answer.worker, state=state, **money)


def test_a_bonus_is_reserved_then_paid(hits):
    row = bonus(hits, Bonus.State.PLANNED)
    assert kinds(hits) == ["payment_reservation"]
    account(hits).post([LedgerEntry(kind=Kind.RESERVE, reserved=Decimal("1.20"), bonus=row)])
    assert agree(hits)
    Bonus.objects.update(state=Bonus.State.PAID)
    assert kinds(hits) == ["bonus_not_booked", "payment_reservation"]
    paying = {"reserved": Decimal("-1.20"), "paid": Decimal("1.20"), "fee": Decimal("0.20")}
    account(hits).post([LedgerEntry(kind=Kind.BONUS, bonus=row, **paying)])
    assert agree(hits)
    Bonus.objects.update(state=Bonus.State.REFUSED)
    assert kinds(hits) == ["bonus_without_payment"]


def test_the_figures_of_other_projects_do_not_matter(hits):
    make.assignment(make.hit())
    assert agree(hits)


def grow(hit: Hit, state: str, places: int = 1) -> None:
    number = hit.extensions.count() + 1
    given = {"batch": hit.batch, "number": number, "places": places, "token": f"{hit.token}+{number}"}
    Extension.objects.create(hit=hit, state=state, **given)


def test_places_to_come_are_reserved_and_those_that_were_refused_are_not(hits):
    grow(hits[0], Extension.State.PLANNED, places=2)
    assert kinds(hits) == ["batch_reservation"]
    reserve(hits[0].batch, "0.10")
    assert agree(hits) and still_to_pay(hits[0].stage.project) == Decimal("0.30")
    grow(hits[1], Extension.State.REFUSED)
    grow(hits[1], Extension.State.DROPPED)
    assert agree(hits)
    Extension.objects.filter(state=Extension.State.PLANNED).update(state=Extension.State.DONE)
    Hit.objects.filter(pk=hits[0].pk).update(max_assignments=4)
    assert agree(hits) and still_to_pay(hits[0].stage.project) == Decimal("0.30")


def test_a_compensation_is_reserved_then_paid(hits):
    project = hits[0].stage.project
    row = make.compensation(project, state=Compensation.State.OFFERED)
    assert agree(hits) and still_to_pay(project) == Decimal("1.70")
    Compensation.objects.update(state=Compensation.State.PAID)
    assert kinds(hits) == ["compensation_not_booked", "payment_reservation"]
    account(hits).post([pay_payment(row)])
    assert agree(hits) and paid_for(project) == Decimal("1.50")
    LedgerEntry.objects.filter(kind=Kind.COMPENSATION).update(paid=Decimal("1.25"))
    found = [one for one in differences(project) if one.kind == "compensation_not_booked"]
    assert [(one.subject, one.books) for one in found] == [(f"compensation {row.pk}", "$1.25 instead of $1.50")]
    Compensation.objects.update(state=Compensation.State.EXPIRED)
    assert "compensation_without_payment" in kinds(hits)


def test_the_marketplace_holds_open_places_until_a_hit_is_deleted_and_what_is_offered(hits):
    assert held_there() == Decimal("0.20")
    make.assignment(hits[0], state=State.SUBMITTED)
    assert held_there() == Decimal("0.20")
    make.assignment(hits[0], state=State.REJECTED)
    make.assignment(hits[0])
    assert held_there() == Decimal("0.10")
    Hit.objects.filter(pk=hits[1].pk).update(deleted_at=make.NOON)
    assert held_there() == 0
    make.compensation(state=Compensation.State.OFFERED)
    make.compensation(state=Compensation.State.PLANNED)
    assert held_there() == Decimal("1.50")


def test_what_was_paid_is_that_of_approved_answers_and_of_paid_bonuses(hits):
    make.assignment(hits[0])
    make.assignment(hits[0], state=State.REJECTED)
    make.bonus(make.assignment(hits[1], state=State.SUBMITTED), state=Bonus.State.PAID)
    make.bonus(make.assignment(hits[1], state=State.SUBMITTED), state=Bonus.State.SENT)
    assert paid_for(hits[0].stage.project) == Decimal("0.65")
    assert still_to_pay(hits[0].stage.project) == Decimal("0.10") + Decimal("0.60")


def test_each_difference_says_both_sums(hits):
    project = hits[0].stage.project
    entry = settle(make.assignment(hits[0]))
    entry.paid += Decimal("0.01")
    account(hits).post([entry])
    (found,) = differences(project)
    assert found.books == "$0.06 instead of $0.05"
    close(hits[1], 0)
    close(hits[1], 1)
    (found,) = (one for one in differences(project) if one.kind == "hit_reservation")
    assert (found.books, found.subject) == ("$-0.05 instead of $0.00", f"HIT {hits[1].hit_id}")
    assert (found.stage, found.item) == (hits[1].stage.key, hits[1].item_id)
    row = bonus(hits, Bonus.State.SENT)
    (found,) = (one for one in differences(project) if one.kind == "payment_reservation")
    assert (found.subject, found.books) == (f"bonus {row.pk}", "$0.00 instead of $1.20")


def test_an_entry_that_pays_no_answer_at_all_is_named(hits):
    entry = LedgerEntry(kind=Kind.SETTLE, reserved=Decimal("-0.05"), paid=Decimal("0.05"), hit=hits[0])
    account(hits).post([entry])
    found = [one for one in differences(hits[0].stage.project) if one.kind == "paid_without_approval"]
    assert [(one.subject, one.books) for one in found] == [
        (f"entry {LedgerEntry.objects.latest('pk').pk}", "no answer")
    ]


def test_an_answer_that_was_settled_in_part_only_is_named(hits):
    """It is paid in full, and half of what was reserved for it stays reserved."""
    entry = settle(make.assignment(hits[0]))
    entry.reserved = Decimal("-0.03")
    account(hits).post([entry])
    assert kinds(hits) == ["hit_reservation", "paid_another_amount"]


def test_lines_of_the_export_have_a_value_for_each_column(hits):
    answer = make.assignment(hits[0])
    account(hits).post([settle(answer)])
    reserving, settling = (
        dict(zip(ENTRY_COLUMNS, line, strict=True)) for line in entry_lines(LedgerEntry.objects.all())
    )
    assert (reserving["kind"], reserving["reserved"], reserving["batch"]) == (
        "reserve",
        Decimal("0.20"),
        hits[0].batch_id,
    )
    assert (settling["assignment"], settling["worker"]) == (answer.assignment_id, answer.worker.worker_id)
    assert settling["created_at"] == LedgerEntry.objects.latest("pk").created_at.isoformat()
    assert reserving["id"] < settling["id"]
