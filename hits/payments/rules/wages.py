"""What a stage pays an hour: at the time that its answers took, or that is expected until enough of them are there.

The time is the median of all paid answers. Where that median is implausible, below a fifth of the expected time, or is
one of fewer than five answers, the wage goes by the expected time and says so: on the stage's page, in a quote and in
releases alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_UP, Decimal

from hits.mturk.fees import CENT
from hits.stages.models import Stage
from hits.stats.worker_figures import LEAST_OF_EXPECTED
from hits.text.language.durations import longest_duration

# The hourly wage that leads want to pay at least, where the project has no option of that name.
WAGE_FLOOR = Decimal("7.25")
# A median of fewer answers says little.
FEWEST_MEASURED = 5


@dataclass(frozen=True)
class AnswerTime:
    """Seconds of one answer. `assumed` until they are measured; `doubt` says why a measured median is not believed."""

    seconds: float
    assumed: bool
    doubt: str = ""

    def hourly(self, reward: Decimal) -> Decimal:
        """Dollars an hour."""
        return (reward * 3600 / Decimal(self.seconds)).quantize(CENT)

    @property
    def told(self) -> str:
        """What a reader of the wage has to know of its time; empty where it is measured and believed."""
        if not self.assumed:
            return self.doubt
        return f"{self.doubt} The wage is that of {self.seconds:,.3g} s an answer, as expected.".strip()

    def reward_for(self, hourly: Decimal) -> Decimal:
        """The least reward, in whole cents, that pays so many dollars an hour."""
        return (hourly * Decimal(self.seconds) / 3600).quantize(CENT, ROUND_UP)


def wage_floor(stage: Stage) -> Decimal:
    return Decimal(str(stage.project.options.get("wage_floor", WAGE_FLOOR)))


def expected_seconds(stage: Stage) -> int | None:
    """What the lead or the recipe expects, else what the description tells workers, for each of a HIT's items; None
    where neither says it."""
    told = longest_duration(stage.hit_description)
    return stage.expected_seconds or (told * stage.items_per_hit if told else None)


def answer_time(stage: Stage) -> AnswerTime | None:
    """None where nothing is measured and nobody said what to expect."""
    summary = getattr(stage, "summary", None)
    median = summary.median_seconds if summary else None
    expected = expected_seconds(stage)
    if not median:
        return AnswerTime(expected, assumed=True) if expected else None
    doubt = _doubt(median, summary.answers - summary.imported, expected) if summary else ""
    if doubt and expected:
        return AnswerTime(expected, assumed=True, doubt=doubt)
    return AnswerTime(median, assumed=False, doubt=doubt)


def _doubt(median: float, answers: int, expected: int | None) -> str:
    if answers < FEWEST_MEASURED:
        return f"The median of {answers} answer{'' if answers == 1 else 's'} so far, {median:.3g} s, says little."
    if expected and median < LEAST_OF_EXPECTED * expected:
        said = f"The measured median of {median:.3g} s is implausible"
        return f"{said}: less than a fifth of the {expected:,} s that are expected."
    return ""
