"""What a check of the ledger can find: each kind of difference with a sentence and what to do about it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

FETCH = "Open the stage and choose “Collect answers now”: what the marketplace says is adopted."
WAIT = "Nothing: it goes on by itself. Compare again in a few minutes."
BY_HAND = "Rows were changed outside of the product. Compare them with a backup, and tell who runs the installation."


@dataclass(frozen=True)
class Kind:
    """`key` is a stable word for programs. `passing`: normal while calls are under way, and gone afterwards."""

    key: str
    title: str
    remedy: str
    passing: bool = False


@dataclass(frozen=True)
class Difference:
    """One row that differs. `stage` and `item` lead to its page; `passing`: the row changed a moment ago."""

    kind: str
    subject: str
    books: str = ""
    marketplace: str = ""
    stage: str = ""
    item: int | None = None
    passing: bool = False

    def as_row(self) -> dict[str, Any]:
        return {**asdict(self), "passing": self.passing or KINDS[self.kind].passing}


OWN_BOOKS = (
    Kind("account_sums", "The account's figure is not the sum of its entries.", BY_HAND),
    Kind("answer_not_paid", "An approved answer has no entry that pays it.", BY_HAND),
    Kind("paid_without_approval", "An entry pays an answer that is not approved.", BY_HAND),
    Kind("paid_another_amount", "An entry pays another amount than the HIT's reward and fee.", BY_HAND),
    Kind("bonus_not_booked", "A paid bonus has no entry, or one of another amount.", BY_HAND),
    Kind("bonus_without_payment", "An entry pays a bonus that is not paid.", BY_HAND),
    Kind("compensation_not_booked", "A paid compensation has no entry, or one of another amount.", BY_HAND),
    Kind("compensation_without_payment", "An entry pays a compensation that is not paid.", BY_HAND),
    Kind("batch_reservation", "A batch did not reserve what its HITs cost.", BY_HAND),
    Kind("hit_reservation", "What is reserved for a HIT is not what its open places cost.", BY_HAND),
    Kind("set_aside", "What is set aside for further answers is not what the items may still cost.", BY_HAND),
    Kind("payment_reservation", "What is reserved for a bonus or a compensation is not what it still costs.", BY_HAND),
)
MARKETPLACE = (
    Kind("second_hit", "A second HIT carries the mark of the same row.", "Close it at the marketplace and tell who "
         "runs the installation: a worker could be paid twice for one item."),
    Kind("unknown_hit", "A HIT there carries this project's mark, and no row here knows it.",
         "A database that was set back to an older backup causes this: whoever runs the installation has "
         "`manage.py reconcile` for it. Else close it at the marketplace."),
    Kind("missing_hit", "A HIT of the books is not at the marketplace.", FETCH),
    Kind("cleared_hit", "A HIT that was deleted is still there.", "Delete the finished HITs of the stage again."),
    Kind("places", "The HIT has another number of places.", "Compare again in 15 minutes. If it stays, somebody "
         "changed the HIT by another program: set the places right there."),
    Kind("answers_not_fetched", "Answers there have not been fetched for more than an hour.", FETCH),
    Kind("unknown_answer", "An answer of the books is not at the marketplace.", "Compare again in 15 minutes. If it "
         "stays, the marketplace lost it: what was paid for it stays paid."),
    Kind("state_differs", "An answer is decided otherwise at the marketplace.", "Somebody decided it by another "
         "program. If it waits for review here, decide it: what the marketplace says is adopted instead."),
    Kind("bonus_unknown_here", "A bonus was paid there that no row here ordered.", "Somebody paid it by another "
         "program: it is not part of this budget."),
    Kind("bonus_missing_there", "A bonus that is paid in the books is not there.", "Compare again in 15 minutes. If it "
         "stays, the worker was not paid: pay a bonus of that amount."),
    Kind("bonus_twice", "A bonus was paid more often than it was ordered.", "Tell who runs the installation. The "
         "marketplace does not take a bonus back."),
    Kind("compensation_differs", "A compensation is taken up at the marketplace and not in the books, or the other "
         "way round.", "Open “Payments”: it is looked at again by itself. Compare again after that."),
)  # fmt: skip
IN_FLIGHT = (
    Kind("publishing", "The HIT is being published: it is there, and its row does not know yet.", WAIT, passing=True),
    Kind("extending", "The HIT is getting more places.", WAIT, passing=True),
    Kind("answers_coming", "Answers are there that are fetched soon.", WAIT, passing=True),
    Kind("deciding", "A decision or an approval by time is on its way.", WAIT, passing=True),
    Kind("paying_bonus", "A bonus is being paid.", WAIT, passing=True),
    Kind("compensating", "A compensation is being offered or taken up.", WAIT, passing=True),
    Kind("clearing", "The HIT is being deleted.", WAIT, passing=True),
    Kind("on_hold", "The marketplace holds another sum for the whole account.", "Nothing, when other programs use the "
         "account, when answers are not fetched yet, or when it cleared old HITs away.", passing=True),
)  # fmt: skip
KINDS = {kind.key: kind for kind in (*OWN_BOOKS, *MARKETPLACE, *IN_FLIGHT)}
