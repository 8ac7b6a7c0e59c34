"""A large file of bonuses is checked, priced and ordered in the background, once, and comes to an end."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from celery.exceptions import SoftTimeLimitExceeded

from hits import tasks
from hits.core.jobs.leases import lease
from hits.models import Bonus, BonusFile, BonusOrder, Project
from hits.payments.verbs import ordering_bonuses
from tests.hits import factories as make

pytestmark = pytest.mark.django_db
State = BonusFile.State
HEAD = "assignment_id,amount,reason\n"


@pytest.fixture(autouse=True)
def _no_marketplace(settings: Any) -> None:
    settings.MTURK_ENDPOINT_URL = "http://127.0.0.1:1"


@pytest.fixture
def river(db: None) -> Project:
    project = make.project(budget="100.00")
    make.assignment(make.hit(make.item(make.stage(project))), make.worker("AONE"), assignment_id="3A")
    return project


def kept(project: Project, lines: str = "3A,1.00,Clear.\n3A,2.00,Fast.\n") -> BonusFile:
    return ordering_bonuses.keep_file(project, "march.csv", (HEAD + lines).encode(), None)


def test_a_file_is_checked_then_priced_then_ordered_as_it_was_confirmed(river: Project) -> None:
    row = ordering_bonuses.work_file(kept(river).pk)
    assert (row.state, row.faults) == (State.READY, [])
    quote = ordering_bonuses.quote_again(row)
    assert (quote.count, quote.workers, quote.amount, quote.total) == (2, 1, Decimal("3.00"), Decimal("3.60"))
    assert quote.budget_left == Decimal("100.00") and not quote.problems
    assert [one["assignment"]["worker"]["worker_id"] for one in ordering_bonuses.first_lines(row)] == ["AONE", "AONE"]
    assert not Bonus.objects.exists()
    assert ordering_bonuses.confirm_file(row, quote.total, "page-1", None)
    row = ordering_bonuses.work_file(row.pk)
    assert (row.state, row.order) == (State.ORDERED, BonusOrder.objects.get())
    assert [bonus.amount for bonus in Bonus.objects.order_by("id")] == [Decimal("1.00"), Decimal("2.00")]


def test_confirming_twice_and_working_twice_orders_once(river: Project) -> None:
    row = ordering_bonuses.work_file(kept(river).pk)
    assert ordering_bonuses.confirm_file(row, Decimal("3.60"), "page-1", None)
    assert not ordering_bonuses.confirm_file(row, Decimal("3.60"), "page-2", None)
    ordering_bonuses.work_file(row.pk)
    # As a crash leaves it, after the order and before the file's row.
    BonusFile.objects.update(state=State.ORDERING, order=None)
    assert ordering_bonuses.work_file(row.pk).state == State.ORDERED
    assert (BonusOrder.objects.count(), Bonus.objects.count()) == (1, 2)


def test_every_fault_is_kept_and_nothing_can_be_confirmed(river: Project) -> None:
    row = ordering_bonuses.work_file(kept(river, "3NONE,1.00,Clear.\n3A,x,\n").pk)
    assert (row.state, row.fault_count) == (State.REFUSED, 3)
    assert {fault["line"] for fault in row.faults} == {2, 3}
    assert not ordering_bonuses.confirm_file(row, Decimal("1.20"), "page-1", None)


def test_a_price_that_is_not_the_file_s_pays_nothing_and_is_shown_again(river: Project) -> None:
    row = ordering_bonuses.work_file(kept(river).pk)
    assert ordering_bonuses.confirm_file(row, Decimal("1.00"), "page-1", None)
    row = ordering_bonuses.work_file(row.pk)
    assert row.state == State.READY and "It is now 2 bonuses for $3.60" in row.error
    assert not Bonus.objects.exists()


def test_the_same_file_sent_in_twice_is_not_paid_again_without_its_warning(river: Project) -> None:
    first, second = (ordering_bonuses.work_file(kept(river).pk) for _ in range(2))
    assert ordering_bonuses.confirm_file(first, Decimal("3.60"), "page-1", None)
    ordering_bonuses.work_file(first.pk)
    paid = Bonus.objects.count()
    assert ordering_bonuses.confirm_file(second, Decimal("3.60"), "page-2", None)
    second = ordering_bonuses.work_file(second.pk)
    assert second.state == State.READY and "Nothing was paid" in second.error
    assert any("ordered before" in warning for warning in ordering_bonuses.quote_again(second).warnings)
    assert Bonus.objects.count() == paid
    assert ordering_bonuses.confirm_file(second, Decimal("3.60"), "page-3", None)
    assert ordering_bonuses.work_file(second.pk).state == State.ORDERED


def test_more_than_the_budget_has_pays_nothing_and_says_so(river: Project) -> None:
    row = ordering_bonuses.work_file(kept(river).pk)
    river.account.budget = Decimal("1.00")
    river.account.save()
    assert "of the budget is left" in ordering_bonuses.quote_again(row).problems[0]
    assert ordering_bonuses.confirm_file(row, Decimal("3.60"), "page-1", None)
    row = ordering_bonuses.work_file(row.pk)
    assert row.state == State.READY and "$1.00 of the budget is left" in row.error
    assert not Bonus.objects.exists()


def test_after_three_attempts_that_a_crash_ended_the_file_is_failed(
    river: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = kept(river)

    def crash(*given: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(ordering_bonuses, "read_file", crash)
    for _ in range(3):
        assert ordering_bonuses.unfinished_files() == [row.pk]
        with pytest.raises(KeyboardInterrupt):
            ordering_bonuses.work_file(row.pk)
    row = ordering_bonuses.work_file(row.pk)
    assert row.state == State.FAILED and "begun 3 times" in row.error
    assert ordering_bonuses.unfinished_files() == []


def test_a_file_whose_time_is_up_is_failed_with_a_sentence(
    river: Project, monkeypatch: pytest.MonkeyPatch, eager: None
) -> None:
    row = kept(river)

    def too_slow(*given: object) -> None:
        raise SoftTimeLimitExceeded

    monkeypatch.setattr(ordering_bonuses, "read_file", too_slow)
    tasks.work_bonus_file.delay(row.pk)
    row.refresh_from_db()
    assert row.state == State.FAILED and "more than 30 minutes, the most that a file of bonuses may take" in row.error


def test_a_checked_file_is_priced_in_words_and_cents_with_its_first_five_lines(river: Project) -> None:
    lines = "".join(f"3A,{number}.10,Clear.\n" for number in range(1, 8))
    row = ordering_bonuses.work_file(kept(river, lines).pk)
    assert row.quote["highest"] == "7.10" and row.quote["shares"] == [["AONE", 7, "28.70"]]
    assert [str(one["amount"]) for one in ordering_bonuses.first_lines(row)] == ["1.10", "2.10", "3.10", "4.10", "5.10"]
    assert {one["reason"] for one in ordering_bonuses.first_lines(row)} == {"Clear."}
    quote = ordering_bonuses.quote_again(row)
    assert (quote.fee, quote.total) == (Decimal("5.74"), Decimal("34.44"))
    assert [(one.worker_id, one.count, one.amount) for one in quote.shares] == [("AONE", 7, Decimal("28.70"))]


def test_a_file_that_is_not_checked_yet_has_no_first_lines(river: Project) -> None:
    assert ordering_bonuses.first_lines(kept(river)) == []


def test_confirming_begins_the_count_of_attempts_anew_and_notes_who_did_it(river: Project) -> None:
    row = ordering_bonuses.work_file(kept(river).pk)
    BonusFile.objects.update(attempts=3, error="It is now 2 bonuses.")
    lead = make.user("ada")
    assert ordering_bonuses.confirm_file(row, Decimal("3.60"), "page-1", lead)
    row.refresh_from_db()
    assert (row.attempts, row.error, row.total, row.confirmed_by) == (0, "", Decimal("3.60"), lead)
    row = ordering_bonuses.work_file(row.pk)
    assert (row.state, row.attempts, row.order.created_by) == (State.ORDERED, 1, lead)


def test_a_file_that_another_process_works_at_is_left_to_it(river: Project) -> None:
    row = kept(river)
    with lease(f"bonus-file:{row.pk}") as held:
        assert held is not None
        assert ordering_bonuses.work_file(row.pk).state == State.QUEUED


def test_what_has_come_to_an_end_is_failed_no_more(river: Project) -> None:
    row = ordering_bonuses.work_file(kept(river).pk)
    ordering_bonuses.fail_file(row.pk, "Too late.")
    row.refresh_from_db()
    assert (row.state, row.error) == (State.READY, "")
    waiting = [kept(river), kept(river)]
    ordering_bonuses.fail_file(waiting[0].pk, "Stopped.")
    assert ordering_bonuses.unfinished_files() == [waiting[1].pk]


def test_a_file_that_came_to_an_end_is_not_begun_again(river: Project) -> None:
    row = ordering_bonuses.work_file(kept(river).pk)
    ordering_bonuses.work_file(row.pk)
    row.refresh_from_db()
    assert (row.state, row.attempts) == (State.READY, 1)
