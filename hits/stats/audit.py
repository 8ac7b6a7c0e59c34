"""How often models are wrong, from items that people answered too, whose answers are wrong now and then themselves."""

from __future__ import annotations

from dataclasses import dataclass

from hits.stats.intervals import wilson

# Of an interval of a share, 0..1: a figure with a wider one would look like knowledge.
WIDEST = 0.5


@dataclass(frozen=True)
class Share:
    """`count` of `of`, with the 95 % interval of the share (Wilson's); without observations it is all of 0..1."""

    count: int
    of: int

    @property
    def value(self) -> float | None:
        return self.count / self.of if self.of else None

    @property
    def low(self) -> float:
        return self.between()[0]

    @property
    def high(self) -> float:
        return self.between()[1]

    def between(self, level: float = 0.95) -> tuple[float, float]:
        return wilson(self.count, self.of, level)


@dataclass(frozen=True)
class Estimate:
    """A share, 0..1, and an interval that holds it with 95 % at least."""

    value: float
    low: float
    high: float

    @property
    def tells(self) -> bool:
        """Whether it says enough to be shown by itself."""
        return self.high - self.low <= WIDEST


def error_behind(differ: Share, people_wrong: Share, values: int = 2) -> Estimate | None:
    """The models' error, where people's answers beside theirs differ in `differ` of the items and are wrong in
    `people_wrong` of those with a known answer. None where either has no observation.

    People and models err independently of each other: with the error m of the models, c of people, and s the share of
    the items on which both are wrong with the same value, they differ in d = m (1 - c s) + (1 - m) c of the items, so m
    = (d - c) / (1 - c - c s). The value takes s = 1 / (values - 1), as where all wrong values are equally likely; the
    interval takes whichever s from 0 to 1 makes it widest, and the 97.5 % intervals of d and of c, so that both hold
    together with 95 % at least. The correction is that of Rogan and Gladen (1978), Estimating prevalence from the
    results of a screening test, American Journal of Epidemiology 107(1), 71-76.
    """
    if differ.value is None or people_wrong.value is None:
        return None
    same = 1 / max(1, values - 1)
    corners = [_behind(d, c, s) for d in differ.between(0.975) for c in people_wrong.between(0.975) for s in (0.0, 1.0)]
    value = _behind(differ.value, people_wrong.value, same)
    return Estimate(value, min(corners), max(corners))


def _behind(differ: float, wrong: float, same: float) -> float:
    """Within 0..1; people who are wrong as often as right say nothing of anybody else."""
    left = 1 - wrong - wrong * same
    return min(1.0, max(0.0, (differ - wrong) / left)) if left > 0 else float(differ > wrong)
