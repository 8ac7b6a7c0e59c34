"""What an order asks for is judged as a whole: every fault at once, and then nothing is done."""

from __future__ import annotations

from decimal import Decimal

import pytest

from hits.flow.payments import ordering
from hits.formats.faults import FormatErrors
from hits.models import Bonus, BonusOrder, Project
from tests.hits import factories as make

pytestmark = [pytest.mark.django_db, pytest.mark.on_postgresql]


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
        ordering.read_file(river, file.encode())
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
        ordering.read_file(river, f"{head}3A,,1,Clear.\n".encode())
    (new,) = ordering.read_file(river, f"{head}3A,ATWO,1,Clear.\n".encode())
    assert new.assignment.worker.worker_id == "ATWO"


def test_thousands_of_lines_are_ordered_in_a_few_queries(river: Project, django_assert_max_num_queries: object) -> None:
    river.account.budget = Decimal("1000.00")
    river.account.save()
    hits = make.hits(make.items(make.stage(river), 300))
    rows = make.assignments(hits, make.worker())
    lines = [f"{row.assignment_id},0.0{cents},Clear." for row in rows for cents in range(1, 10)]
    file = ("assignment_id,amount,reason\n" + "\n".join(lines)).encode()
    new = ordering.read_file(river, file)
    quote = ordering.quote(river, new)
    assert (quote.count, quote.workers, quote.highest) == (2700, 1, Decimal("0.09"))
    assert (quote.amount, quote.fee) == (Decimal("135.00"), Decimal("33.00"))
    with django_assert_max_num_queries(100):  # type: ignore[operator]
        made = ordering.order(river, new, quote.total, "page-1", None, "all.csv", "d" * 64)
    assert (made.total, made.cost, Bonus.objects.count()) == (2700, Decimal("168.00"), 2700)
    river.account.refresh_from_db()
    assert river.account.reserved == Decimal("168.00") == river.account.sums()[0]
    assert quote.shares[0].count == 2700


def test_somebody_else_s_confirmation_is_not_met(river: Project) -> None:
    answer(river, "3A", "AONE")
    other = make.project()
    answer(other, "3B", "ATWO")
    for project, assignment_id in ((river, "3A"), (other, "3B")):
        new = ordering.read_file(project, f"assignment_id,amount,reason\n{assignment_id},1,Clear.".encode())
        made = ordering.order(project, new, Decimal("1.20"), f"{project.pk}:page-1", None)
        assert made.project == project
    assert BonusOrder.objects.count() == 2


@pytest.mark.parametrize(("total", "problems"), [("2.00", 0), ("2.01", 1)])
def test_an_order_leaves_what_calls_on_their_way_need_of_the_balance(river: Project, total: str, problems: int) -> None:
    money = {"amount": Decimal(total), "total": Decimal(total), "highest": Decimal(total), "fee": Decimal(0)}
    there = {"budget_left": Decimal(100), "balance": Decimal("10.00"), "planned": Decimal("8.00")}
    found = ordering.BonusQuote(count=1, workers=1, shares=[], **money, **there)
    assert len(list(ordering.problems(found))) == problems
