"""Which changes of what may be spent are so large that they are confirmed: a slip of the finger makes such amounts.

One rule for budgets, rewards and numbers of answers, on pages, in the API and in commands alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from hits.models import Stage
from hits.mturk import fees
from hits.publishing.rules import hit_plans
from hits.refusals import Refusal

# Ten times is what one zero too many, or a decimal point in the wrong place, makes of an amount.
MANY_TIMES, MUCH = 10, Decimal(1000)
RULE = f"A raise to {MANY_TIMES} times as much or more, or a difference of more than ${MUCH:,.0f}, has to be confirmed."
MOST_DIGITS = 20
# The settings of a stage that say what an item costs.
SPENDING = ("reward", "answers", "most_answers")


def is_large(before: Decimal, after: Decimal) -> bool:
    """Of two amounts in dollars."""
    return _is_many_times(before, after) or abs(after - before) > MUCH


def _is_many_times(before: Decimal, after: Decimal) -> bool:
    return before < after and MANY_TIMES * before <= after


@dataclass(frozen=True)
class Cost:
    """What a stage pays: dollars an answer, answers an item at most, for so many HITs that wait to be published."""

    reward: Decimal
    answers: int
    hits: int

    @property
    def a_hit(self) -> Decimal:
        """Dollars for all answers to one HIT, with fees."""
        return fees.unit_cost(self.reward, self.answers) * self.answers

    @property
    def waiting(self) -> Decimal:
        """Dollars for all answers to all HITs that wait, with fees."""
        return self.a_hit * self.hits


def cost(stage: Stage, values: Mapping[str, object] | None = None) -> Cost:
    """Of the stage as it is, or with other values of `reward`, `answers` and `most_answers`."""
    found = {name: getattr(stage, name) for name in SPENDING} | dict(values or {})
    reward, answers = Decimal(str(found["reward"])), int(found["most_answers"] or found["answers"])
    return Cost(reward, answers, hit_plans.hit_count(stage, stage.summary.waiting))


class LargeChangeError(Refusal):
    """A large raise of what a stage pays needs its values a second time. Nothing was changed.

    `changes` has the value before and the one wanted, as text, by the name of the setting.
    """

    error_code = "change_not_confirmed"

    def __init__(self, changes: Mapping[str, tuple[str, str]], before: Cost, after: Cost) -> None:
        self.changes, self.before, self.after = dict(changes), before, after
        said = " and ".join(f"{name} from {old} to {new}" for name, (old, new) in self.changes.items())
        super().__init__(
            f"This raises {said}; the items that wait would cost up to ${after.waiting:,.2f} instead of "
            f"${before.waiting:,.2f}. {RULE} Nothing was changed."
        )

    @property
    def wanted(self) -> dict[str, str]:
        """What confirms it."""
        return {name: new for name, (_, new) in self.changes.items()}

    def details(self) -> dict[str, object]:
        return {
            "before": {name: old for name, (old, _) in self.changes.items()},
            "confirm": self.wanted,
            "waiting_cost": {"before": f"{self.before.waiting:.2f}", "after": f"{self.after.waiting:.2f}"},
        }


def refuse_unconfirmed(stage: Stage, values: Mapping[str, object], confirmed: Mapping[str, object]) -> None:
    """Raises LargeChangeError for a large raise, unless `confirmed` has the same values.

    `values` are the new ones of `SPENDING` among the settings that change.
    """
    changed = {name: value for name, value in values.items() if name in SPENDING}
    if not changed:
        return
    before, after = cost(stage), cost(stage, changed)
    raised = after.reward > before.reward or after.answers > before.answers
    many = _is_many_times(before.reward, after.reward) or _is_many_times(
        Decimal(before.answers), Decimal(after.answers)
    )
    if not (many or (raised and after.waiting - before.waiting > MUCH)):
        return
    told = {name: (_text(name, getattr(stage, name)), _text(name, value)) for name, value in changed.items()}
    if any(_text(name, confirmed.get(name)) != new for name, (_, new) in told.items()):
        raise LargeChangeError(told, before, after)


def _text(name: str, value: object) -> str:
    """0.5 as '0.50' where it is money; None, for no more answers, as '0'. A reward that is none is no text."""
    if name != "reward":
        return str(value or 0)
    try:
        amount = Decimal(str(value))
        # Written out, 1e999999999 fills the memory.
        return f"{amount:.2f}" if abs(amount.adjusted()) < MOST_DIGITS else ""
    except InvalidOperation:
        return ""
