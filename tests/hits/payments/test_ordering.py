"""What an order asks for is judged as a whole: every fault at once, and then nothing is done."""

from __future__ import annotations

from decimal import Decimal

import pytest

from hits.formats.files.faults import FormatErrors
from hits.formats.inputs.payments import AskedBonus
from hits.models import Bonus, BonusOrder, Project
from hits.payments.verbs import ordering_bonuses
from tests.hits import factories as make
from tests.hits.doing import refused

pytestmark = pytest.mark.django_db


@pytest.fixture
def river(db: None) -> Project:
    return make.project(budget="100.00")


@pytest.fixture(autouse=True)
def _no_marketplace(settings: object) -> None:
    settings.MTURK_ENDPOINT_URL = "http://127.0.0.1:1"  # type: ignore[attr-defined]


def answer(project: Project, assignment_id: str, worker_id: str) -> None:
    hit = make.hit(make.item(make.stage(project)))
    make.assignment(hit, make.worker(worker_id), assignment_id=assignment_id)


def test_every_fault_of_a_file_is_named_with_its_line(river: Project) -> None:
    answer(river, "3A", "AONE")
    answer(make.project(), "3OTHER", "ATWO")
    file = (
        "assignment_id,worker_id,amount,reason\n"
        "3A,AONE,0.50,Clear.\n"
        "3NONE,,0.50,Clear.\n"
        "3OTHER,,0.50,Clear.\n"
        "3A,ATWO,0.50,Fast.\n"
        "3A,,-1,\n"
        "3A,,1.234,Fast.\n"
        "3A,,0.5,Clear.\n"
        "=1+1,,1\n"
    )
    with pytest.raises(FormatErrors) as refused:
        ordering_bonuses.read_file(river, file.encode())
    said = sorted((fault.line, fault.place, fault.message) for fault in refused.value.errors)
    assert [(line, place) for line, place, _ in said] == [
        (3, "assignment_id"), (4, "assignment_id"), (5, "worker_id"), (6, "amount"), (6, "reason"), (7, "amount"),
        (8, ""), (9, ""),
    ]  # fmt: skip
    assert "the same answer, amount and reason as line 2" in said[6][2]
    assert said[0][2].replace("3NONE", "3OTHER") == said[1][2], "nothing tells that another project has it"


def test_two_workers_with_one_assignment_id_have_to_be_told_apart(river: Project) -> None:
    answer(river, "3A", "AONE")
    answer(river, "3A", "ATWO")
    head = "assignment_id,worker_id,amount,reason\n"
    with pytest.raises(FormatErrors, match="say whom you mean"):
        ordering_bonuses.read_file(river, f"{head}3A,,1,Clear.\n".encode())
    (new,) = ordering_bonuses.read_file(river, f"{head}3A,ATWO,1,Clear.\n".encode())
    assert new.assignment.worker.worker_id == "ATWO"


@pytest.mark.on_postgresql
def test_thousands_of_lines_are_ordered_in_a_few_queries(river: Project, django_assert_max_num_queries: object) -> None:
    river.account.budget = Decimal("1000.00")
    river.account.save()
    hits = make.hits(make.items(make.stage(river), 300))
    rows = make.assignments(hits, make.worker())
    lines = [f"{row.assignment_id},0.0{cents},Clear." for row in rows for cents in range(1, 10)]
    file = ("assignment_id,amount,reason\n" + "\n".join(lines)).encode()
    new = ordering_bonuses.read_file(river, file)
    quote = ordering_bonuses.quote(river, new)
    assert (quote.count, quote.workers, quote.highest) == (2700, 1, Decimal("0.09"))
    assert (quote.amount, quote.fee) == (Decimal("135.00"), Decimal("33.00"))
    with django_assert_max_num_queries(100):  # type: ignore[operator]
        made = ordering_bonuses.order(river, new, quote.total, "page-1", None, "all.csv", "d" * 64)
    assert (made.total, made.cost, Bonus.objects.count()) == (2700, Decimal("168.00"), 2700)
    river.account.refresh_from_db()
    assert river.account.reserved == Decimal("168.00") == river.account.sums()[0]
    assert quote.shares[0].count == 2700


@pytest.mark.parametrize(("total", "problems"), [("2.00", 0), ("2.01", 1)])
def test_an_order_leaves_what_calls_on_their_way_need_of_the_balance(river: Project, total: str, problems: int) -> None:
    money = {"amount": Decimal(total), "total": Decimal(total), "highest": Decimal(total), "fee": Decimal(0)}
    there = {"budget_left": Decimal(100), "balance": Decimal("10.00"), "planned": Decimal("8.00")}
    found = ordering_bonuses.BonusQuote(count=1, workers=1, shares=[], **money, **there)
    assert len(list(ordering_bonuses.problems(found))) == problems


def of_budget(left: str, total: str) -> list[str]:
    money = {"amount": Decimal(total), "total": Decimal(total), "highest": Decimal(total), "fee": Decimal(0)}
    there = {"budget_left": Decimal(left), "balance": None, "planned": Decimal("8.00")}
    return list(ordering_bonuses.problems(ordering_bonuses.BonusQuote(count=1, workers=1, shares=[], **money, **there)))


@pytest.mark.on_postgresql
def test_an_order_may_take_the_budget_to_the_last_cent(river: Project) -> None:
    """Where the marketplace does not tell its balance, that is no problem of the order."""
    assert of_budget("2000.00", "2000.00") == []
    assert of_budget("1999.99", "2000.00") == [
        "This needs $2,000.00 and $1,999.99 of the budget is left. Raise the project's budget or pay less."
    ]


def bonuses_of(project: Project, *lines: tuple[str, str]) -> list[ordering_bonuses.NewBonus]:
    """(assignment id, amount), all for the same reason."""
    return ordering_bonuses.check(project, [AskedBonus(None, key, amount, "Clear.") for key, amount in lines])


@pytest.mark.on_postgresql
def test_a_quote_shows_the_ten_workers_who_get_most_and_of_equal_ones_the_first_by_name(river: Project) -> None:
    names = [f"A{number:02}" for number in range(12)]
    for name in names:
        answer(river, f"3{name}", name)
    more = ("3A07", "0.30"), ("3A07", "0.21"), ("3A11", "0.50")
    found = ordering_bonuses.quote(river, bonuses_of(river, *((f"3{name}", "0.10") for name in reversed(names)), *more))
    assert [(share.worker_id, share.count, share.amount) for share in found.shares[:3]] == [
        ("A07", 3, Decimal("0.61")),
        ("A11", 2, Decimal("0.60")),
        ("A00", 1, Decimal("0.10")),
    ]
    assert (found.workers, [share.worker_id for share in found.shares[2:]]) == (12, names[:7] + names[8:9])
    assert (found.count, found.amount, found.fee) == (15, Decimal("2.21"), found.total - Decimal("2.21"))


def test_a_quote_of_nothing_costs_nothing(river: Project) -> None:
    found = ordering_bonuses.quote(river, [])
    assert (found.count, found.workers, found.highest, found.total, found.shares) == (0, 0, 0, 0, [])


@pytest.mark.parametrize(
    ("amounts", "what"), [(["1.00"], "1 bonus for $1.20"), (["1.00", "2.00"], "2 bonuses for $3.60")]
)
def test_a_total_that_was_not_confirmed_is_said_with_the_one_that_would_be_paid(
    river: Project, amounts: list[str], what: str
) -> None:
    answer(river, "3A", "AONE")
    new = bonuses_of(river, *(("3A", amount) for amount in amounts))
    with refused("order_changed") as refusal:
        ordering_bonuses.order(river, new, Decimal("0.01"), "page-1", None)
    assert what in str(refusal.value)


def test_an_order_of_nothing_is_refused(river: Project) -> None:
    with refused("order_changed"):
        ordering_bonuses.order(river, [], Decimal(0), "page-1", None)
    assert not BonusOrder.objects.exists()


def test_an_order_keeps_the_end_of_a_long_file_name_and_what_its_bonuses_cost(river: Project) -> None:
    answer(river, "3A", "AONE")
    lead = make.user("ada")
    made = ordering_bonuses.order(
        river, bonuses_of(river, ("3A", "1.00")), Decimal("1.20"), "page-1", lead, "x" * 300 + ".csv"
    )
    assert (len(made.filename), made.filename[-5:], made.created_by) == (200, "x.csv", lead)
    row = Bonus.objects.get()
    assert (row.order, row.project, row.worker.worker_id) == (made, river, "AONE")
    assert (row.amount, row.fee, row.reason) == (Decimal("1.00"), Decimal("0.20"), "Clear.")


def warned(project: Project, *lines: tuple[str, str], digest: str = "") -> list[str]:
    return ordering_bonuses.quote(project, bonuses_of(project, *lines), digest).warnings


def test_lines_that_would_be_paid_again_are_counted(river: Project) -> None:
    answer(river, "3A", "AONE")
    answer(river, "3B", "ATWO")
    ordering_bonuses.order(river, bonuses_of(river, ("3A", "1.00"), ("3A", "2.00")), Decimal("3.60"), "page-1", None)
    assert warned(river, ("3B", "1.00"), ("3A", "3.00")) == []
    (one,) = warned(river, ("3B", "1.00"), ("3A", "1.00"))
    (both,) = warned(river, ("3A", "2.00"), ("3A", "1.00"))
    assert (one[:10], both[:12]) == ("1 line has", "2 lines have")


def test_a_bonus_that_was_refused_is_ordered_again_without_a_warning(river: Project) -> None:
    answer(river, "3A", "AONE")
    ordering_bonuses.order(river, bonuses_of(river, ("3A", "1.00")), Decimal("1.20"), "page-1", None)
    Bonus.objects.update(state=Bonus.State.REFUSED)
    assert warned(river, ("3A", "1.00")) == []


def test_three_earlier_orders_of_a_file_are_named_and_of_another_file_none(river: Project) -> None:
    for number in range(4):
        answer(river, f"3{number}", f"A{number}")
        new = bonuses_of(river, (f"3{number}", "1.00"))
        ordering_bonuses.order(river, new, Decimal("1.20"), f"page-{number}", None, f"{number}.csv", "d" * 64)
    answer(river, "3A", "AONE")
    said = warned(river, ("3A", "1.00"), digest="d" * 64)
    assert len(said) == 3 and all("This very file was ordered before" in one for one in said)
    assert warned(river, ("3A", "1.00")) == warned(river, ("3A", "1.00"), digest="e" * 64) == []


def test_what_a_program_asks_for_twice_in_one_call_is_refused_without_a_line(river: Project) -> None:
    answer(river, "3A", "AONE")
    with pytest.raises(FormatErrors, match="the same answer, amount and reason as another line"):
        bonuses_of(river, ("3A", "1.00"), ("3A", "1.00"))


def test_an_answer_by_somebody_else_is_refused_with_the_names_of_those_who_gave_it(river: Project) -> None:
    answer(river, "3A", "ATWO")
    answer(river, "3A", "AONE")
    with pytest.raises(FormatErrors, match="This answer is by AONE and ATWO, not by AFOUR"):
        ordering_bonuses.check(river, [AskedBonus(None, "3A", "1.00", "Clear.", "AFOUR")])


def test_faults_come_in_the_order_of_the_lines(river: Project) -> None:
    answer(river, "3A", "AONE")
    asked = [AskedBonus(line, "3A", "no", "Clear.") for line in (9, 2, None, 5)]
    with pytest.raises(FormatErrors) as refused:
        ordering_bonuses.check(river, asked)
    assert [fault.line for fault in refused.value.errors] == [None, 2, 5, 9]


def test_eight_mebibytes_are_kept_for_the_background_and_a_byte_more_is_refused(river: Project) -> None:
    most = 8 * 1024 * 1024
    lead = make.user("ada")
    row = ordering_bonuses.keep_file(river, "y" * 300 + ".csv", b" " * most, lead)
    assert (len(row.name), row.name[-4:], row.created_by, row.project) == (200, ".csv", lead, river)
    with pytest.raises(ordering_bonuses.TooLargeError, match=r"has 8\.4 MB; at most 8\.4 MB are taken"):
        ordering_bonuses.keep_file(river, "all.csv", b" " * (most + 1), lead)
