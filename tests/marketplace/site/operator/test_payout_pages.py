import csv
from collections.abc import Callable
from decimal import Decimal
from io import StringIO

import pytest
from django.test import Client

from marketplace.models import Payout, Worker
from tests.marketplace.site.operator.conftest import text_of

FIVE = Decimal("5.00")


@pytest.fixture
def earners(make_worker: Callable[..., Worker]) -> list[Worker]:
    made = [make_worker("walter", earned=FIVE), make_worker("=HYPERLINK(1)", earned=Decimal("2.00"))]
    made[0].user.email = "walter@example.org"
    made[0].user.save()
    return made


@pytest.fixture
def draft(desk: Client, earners: list[Worker], token_of: Callable[[str], str]) -> Payout:
    desk.post("/operator/payouts/new/", {"minimum": "", "q": "", "token": token_of("/operator/owed/")})
    return Payout.objects.get()


def rows(answer: object) -> list[list[str]]:
    return list(csv.reader(StringIO(text_of(answer).removeprefix("\ufeff"))))


def test_the_page_says_who_is_owed_what(desk: Client, earners: list[Worker]) -> None:
    assert "$7.00 owed to 2 workers" in text_of(desk.get("/operator/owed/"))
    assert "$5.00 owed to 1 worker" in text_of(desk.get("/operator/owed/?minimum=2.01"))
    assert "$5.00 owed to 1 worker" in text_of(desk.get("/operator/owed/?q=walter@ex"))
    assert "Nobody matches" in text_of(desk.get("/operator/owed/?minimum=10"))
    assert desk.get("/operator/owed/?minimum=a lot").status_code == 400


def test_the_draft_s_button_says_what_it_does_and_does_it_once(desk: Client, draft: Payout) -> None:
    run = f"/operator/payouts/{draft.pk}/"
    assert "Mark 2 workers as paid, $7.00" in text_of(desk.get(run))
    assert "waits" in text_of(desk.get("/operator/owed/"))
    Worker.objects.filter(user__username="walter").update(earned=Decimal("6.00"))
    assert "Marked as paid: 2 workers, $7.00" in text_of(desk.post(run + "pay/", follow=True))
    second = desk.post(run + "pay/")
    assert second.status_code == 409
    assert "marked as paid before, by olive" in text_of(second)
    assert Worker.objects.get(user__username="walter").paid == FIVE
    assert "$1.00 owed to 1 worker" in text_of(desk.get("/operator/owed/"))
    assert desk.get(run + "pay/").status_code == 405


def test_the_csv_is_for_a_payroll_and_no_formula_runs(desk: Client, draft: Payout, earners: list[Worker]) -> None:
    answer = desk.get(f"/operator/payouts/{draft.pk}/csv/")
    assert answer.streaming
    assert "draft" in answer.headers["Content-Disposition"]
    ids = [worker.worker_id for worker in earners]
    assert rows(answer) == [
        ["worker id", "name", "e-mail", "outside id", "amount", "currency"],
        [ids[0], "walter", "walter@example.org", "", "5.00", "USD"],
        [ids[1], "'=HYPERLINK(1)", "", "", "2.00", "USD"],
    ]
    desk.post(f"/operator/payouts/{draft.pk}/pay/")
    assert "draft" not in desk.get(f"/operator/payouts/{draft.pk}/csv/").headers["Content-Disposition"]


def test_a_draft_can_be_dropped(desk: Client, draft: Payout) -> None:
    assert "Nothing was paid" in text_of(desk.post(f"/operator/payouts/{draft.pk}/drop/", follow=True))
    assert desk.post(f"/operator/payouts/{draft.pk}/pay/").status_code == 404


def test_one_line_is_taken_back_with_a_reason_that_stays(
    desk: Client, draft: Payout, token_of: Callable[[str], str]
) -> None:
    run = f"/operator/payouts/{draft.pk}/"
    desk.post(run + "pay/")
    line = draft.lines.get(worker__user__username="walter")
    undo = f"{run}lines/{line.pk}/undo/"
    assert "Take back $5.00 of walter?" in text_of(desk.get(undo))
    token = token_of(undo)
    assert desk.post(undo, {"reason": "", "token": token}).status_code == 400
    done = text_of(desk.post(undo, {"reason": "transfer bounced", "token": token}, follow=True))
    assert "−$5.00" in done and "transfer bounced" in done
    assert desk.post(undo, {"reason": "transfer bounced", "token": token}).status_code == 409
    assert "taken back" in text_of(desk.get(run))
    assert "$2.00 will be owed again to 1 worker" in text_of(desk.get(run + "undo/"))
    assert "takes back run" in text_of(desk.get("/operator/payouts/"))


def test_a_run_over_money_that_was_paid_meanwhile_changes_nothing(
    desk: Client, draft: Payout, token_of: Callable[[str], str]
) -> None:
    desk.post("/operator/payouts/new/", {"minimum": "3", "q": "", "token": token_of("/operator/owed/")})
    newer = Payout.objects.order_by("pk").last()
    assert newer
    desk.post(f"/operator/payouts/{newer.pk}/pay/")
    refused = desk.post(f"/operator/payouts/{draft.pk}/pay/")
    assert refused.status_code == 409
    assert "Nothing was marked" in text_of(refused)
    assert Worker.objects.get(user__username="walter").paid == FIVE
