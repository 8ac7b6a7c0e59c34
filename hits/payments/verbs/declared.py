"""Bonuses and compensations are priced, confirmed and paid once; an offer of a compensation is taken back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from django.contrib.auth.models import User
from django.core.validators import MaxLengthValidator
from rest_framework import serializers

from hits import tasks
from hits.api.shapes import AT_ONCE, Shape
from hits.core.jobs import queue
from hits.core.quotes import PaymentConfirmation, Quote, kept_as
from hits.core.roles import MANAGER
from hits.core.targets import PROJECT
from hits.core.verbs import Unchanged, verb
from hits.formats.inputs.payments import (
    LONGEST_REASON,
    MOST_BYTES,
    AskedBonus,
    read_amount,
    read_reason,
    read_worker_id,
)
from hits.models import Assignment, BonusFile, BonusOrder, Compensation, Project
from hits.payments.api.bonuses import (
    ANSWER,
    BONUS_FILE,
    COMPENSATION,
    TAG,
    BonusFileRowShape,
    BonusOrderDetailShape,
    BonusQuoteShape,
    CompensationDetailShape,
    CompensationQuoteShape,
)
from hits.payments.verbs import compensating, ordering_bonuses
from hits.payments.verbs.ordering_bonuses import NewBonus
from hits.publishing.rules.marketplace_account import refuse_beyond_balance

REFUSED = ("order_changed", "budget_exceeded", "balance_too_low", "not_reconciled")


class _Read(serializers.CharField):
    """A text that a function of `hits.formats.inputs.payments` reads; that raises ValueError with a sentence."""

    def __init__(self, read: Callable[[str], Any], **options: Any) -> None:
        self.read = read
        super().__init__(**options)

    def run_validation(self, data: Any = serializers.empty) -> Any:
        try:
            return self.read(super().run_validation(data))
        except ValueError as error:
            raise serializers.ValidationError(str(error)) from None


# In the order of a form.
_WORKER_ID = _Read(
    read_worker_id,
    max_length=64,
    label="Worker's id at the marketplace",
    help_text="Begins with A. The worker may have no answer in this project.",
)
# A comma is refused: it may be meant as a decimal point.
_AMOUNT = _Read(
    lambda text: read_amount(text.removeprefix("$")),
    max_length=20,
    label="Amount, $",
    help_text="Dollars and cents, such as 1.50.",
    style={"inputmode": "decimal"},
)
_REASON = _Read(
    read_reason,
    max_length=LONGEST_REASON,
    label="Reason",
    help_text="The worker reads it, in the language that you write.",
    style={"kind": "text area", "rows": 3},
)


def _refuse_beyond_balance(row: Any, *, total: Decimal, **values: Any) -> Mapping[str, Any]:
    refuse_beyond_balance(total)
    return {}


# Bonuses


class AskedBonusShape(Shape):
    assignment_id = serializers.CharField(max_length=64)
    amount = serializers.CharField(max_length=20, help_text="Dollars and cents, such as 1.50.")
    reason = serializers.CharField(max_length=LONGEST_REASON, help_text="The worker reads it.")
    worker_id = serializers.CharField(
        required=False, default="", max_length=64, help_text="Compared with the answer's worker when it is given."
    )


class AskedBonuses(Shape):
    bonuses = AskedBonusShape(many=True, allow_empty=False, validators=[MaxLengthValidator(AT_ONCE)])


class BonusForAnswer(Shape):
    amount, reason = _AMOUNT, _REASON


def _asked(project: Project, bonuses: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    return {
        "new": ordering_bonuses.check(project, [AskedBonus(line, **one) for line, one in enumerate(bonuses, start=1)])
    }


def _are_paid(order: BonusOrder, values: Any) -> str:
    what = "The bonus is" if order.total == 1 else f"{order.total:,} bonuses are"
    return f"{what} being paid. You may close this page: it goes on."


PAY = {
    "tag": TAG,
    "role": MANAGER,
    "gives": BonusOrderDetailShape,
    "status": 202,
    "pays": True,
    "makes": "order",
    "activity": "ordered bonuses {order}",
    "confirm": "It is paid at once and cannot be taken back.",
    "done": _are_paid,
    "leads_to": lambda order: ("payments", order.project.slug, {"order": order.pk}),
    "refuses": REFUSED,
    "before": _refuse_beyond_balance,
}


@verb(
    "bonuses.create", "Pay bonuses", on=PROJECT, route="POST bonuses/", takes=AskedBonuses,
    summary="Confirm a quote: reserve its money and pay the bonuses; the same confirmation gives the same order",
    after=lambda project, _: queue.start(tasks.send_bonuses, project.pk),
    quote=Quote(
        name="bonuses.quote", summary="What these bonuses would cost; pays nothing. Every fault is named at once",
        ask=_asked, price=lambda project, new: ordering_bonuses.quote(project, new), gives=BonusQuoteShape,
        template="payments/_bonus_price.html", button="Pay", made=ordering_bonuses.made_by,
    ),
    **PAY,
)  # fmt: skip
def create(
    project: Project, user: User | None, *, new: list[NewBonus], total: Decimal, confirmation: str, **asked: Any
) -> BonusOrder:
    return ordering_bonuses.order(project, new, total, confirmation, user)


@verb(
    "bonuses.pay", "Pay a bonus", on=ANSWER, route="POST bonus/", takes=BonusForAnswer, pages=("pay-bonus",),
    summary="Confirm the quote of a bonus for one answer: reserve its money and pay it",
    after=lambda answer, _: queue.start(tasks.send_bonuses, answer.stage.project_id),
    quote=Quote(
        name="bonuses.quote_for_answer", summary="What a bonus for one answer would cost; pays nothing",
        ask=lambda answer, amount, reason: {"new": [NewBonus(answer, amount, reason)]},
        price=lambda answer, new: ordering_bonuses.quote(answer.stage.project, new),
        gives=BonusQuoteShape, template="payments/_bonus_price.html", button="Pay", made=ordering_bonuses.made_by,
    ),
    **PAY,
)  # fmt: skip
def pay(
    answer: Assignment, user: User | None, *, new: list[NewBonus], total: Decimal, confirmation: str, **asked: Any
) -> BonusOrder:
    return ordering_bonuses.order(answer.stage.project, new, total, confirmation, user)


# Files of bonuses


class NewBonusFile(Shape):
    file = serializers.FileField(
        label="File",
        help_text="CSV in UTF-8 with a header row, at most 10,000 lines.",
        style={"accept": ".csv,.tsv,.txt,text/csv"},
    )


@verb(
    "bonus_files.create", "Pay a file of bonuses", tag=TAG, on=PROJECT, role=MANAGER, route="POST bonus-files/",
    summary="Send in a file of bonuses: it is checked and priced in the background; pays nothing", status=202,
    takes=NewBonusFile, gives=BonusFileRowShape, most_bytes=MOST_BYTES, heavy=True, pages=("bonus-file",),
    activity="sent in a file of bonuses {file}", makes="file", refuses=("bonus_file_too_large",),
    done=lambda row, values: f"{row.name} is kept and is being checked.",
    leads_to=lambda row: ("kept-bonus-file", row.project.slug, row.pk),
    after=lambda _, file: queue.start(tasks.work_bonus_file, file.pk),
)  # fmt: skip
def create_file(project: Project, user: User | None, *, file: Any) -> BonusFile:
    return ordering_bonuses.keep_file(project, file.name, file.read(), user)


@verb(
    "bonus_files.order", "Order a file of bonuses", tag=TAG, on=BONUS_FILE, role=MANAGER, route="POST order/",
    summary="Confirm the price of a file: its bonuses are ordered in the background, and paid", status=202,
    takes=PaymentConfirmation, gives=BonusFileRowShape, quoted_by="bonus_files_show", pays=True,
    pages=("kept-bonus-file", "kept-bonus-file-progress"), activity="ordered a file of bonuses {file}",
    done="The bonuses are being ordered. You may close this page: it goes on.",
    after=lambda row, _: queue.start(tasks.work_bonus_file, row.pk),
)  # fmt: skip
def order_file(row: BonusFile, user: User | None, *, total: Decimal, confirmation: str) -> BonusFile | Unchanged:
    if ordering_bonuses.confirm_file(row, total, kept_as(row.project, confirmation), user):
        row.refresh_from_db()
        return row
    return Unchanged(row, "Nothing was changed. This is how the file stands.")


# Compensations


class AskedCompensation(Shape):
    worker_id, amount, reason = _WORKER_ID, _AMOUNT, _REASON


@verb(
    "compensations.create", "Compensate a worker", tag=TAG, on=PROJECT, role=MANAGER, route="POST compensations/",
    summary="Confirm a quote: reserve its money and offer the worker a HIT that nobody else sees", status=202,
    takes=AskedCompensation, gives=CompensationDetailShape, pays=True, pages=("new-compensation",),
    activity="offered a compensation {compensation}", makes="compensation",
    confirm="It is reserved now, and paid when the worker submits the HIT.",
    done=lambda row, values: f"A HIT for {row.worker_id} alone is being made.",
    leads_to=lambda row: ("compensation", row.project.slug, row.pk),
    refuses=("already_offered", "price_changed", "budget_exceeded", "balance_too_low", "not_reconciled"),
    before=_refuse_beyond_balance,
    after=lambda project, _: queue.start(tasks.send_compensations, project.pk),
    quote=Quote(
        name="compensations.quote", summary="What paying a worker who could not submit would cost; pays nothing",
        ask=lambda project, **asked: asked, price=lambda project, **asked: compensating.quote(project, **asked),
        gives=CompensationQuoteShape, template="payments/_compensation_price.html", button="Offer it for",
        made=lambda project, key: project.compensations.filter(confirmation=key).first(),
    ),
)  # fmt: skip
def compensate(
    project: Project, user: User | None, *, worker_id: str, amount: Decimal, reason: str, total: Decimal,
    confirmation: str,
) -> Compensation:  # fmt: skip
    return compensating.order(project, worker_id, amount, reason, total, confirmation, user)


@verb(
    "compensations.withdraw", "Withdraw a compensation", tag=TAG, on=COMPENSATION, role=MANAGER, status=202,
    route="POST withdraw/", summary="Take back an offer that nobody has taken up", gives=CompensationDetailShape,
    activity="withdrew a compensation {compensation}", refuses=("not_withdrawable",),
    done="The offer is being withdrawn. If the worker submits it before it is closed, it is paid all the same.",
    after=lambda row, _: queue.start(tasks.send_compensations, row.project_id),
)  # fmt: skip
def withdraw(row: Compensation, user: User | None) -> Compensation:
    compensating.withdraw(row, user)
    row.refresh_from_db()
    return row
