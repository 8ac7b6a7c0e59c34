"""Confidence intervals for shares such as a worker's accuracy."""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist


def wilson(correct: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Score interval (low, high) for a share, within 0..1; without observations it is all of (0.0, 1.0).

    Source: E. B. Wilson (1927), Probable inference, the law of succession, and statistical inference,
    JASA 22(158), 209-212. Raises ValueError unless 0 <= correct <= n and 0 < level < 1.
    """
    if not 0 <= correct <= n:
        raise ValueError(f"correct must lie between 0 and n, but is {correct} of {n}")
    return wilson_of_share(correct / n if n else 0.0, n, level)


def wilson_of_share(share: float, n: int, level: float = 0.95) -> tuple[float, float]:
    """The same for the mean of n values within 0..1, such as shares: they vary at most as much as right and wrong do
    with the same mean, so the interval is rather too wide. Raises ValueError unless 0 <= share <= 1 and 0 < level < 1.
    """
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, but is {level}")
    if not 0 <= share <= 1:
        raise ValueError(f"a share must lie between 0 and 1, but is {share}")
    if n == 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1 + level) / 2)
    weight = z * z / n
    centre = (share + weight / 2) / (1 + weight)
    half = sqrt(share * (1 - share) * weight + weight * weight / 4) / (1 + weight)
    # At the ends the bound is exactly 0 or 1; the subtraction alone would leave a rounding error.
    low = 0.0 if share == 0 else max(0.0, centre - half)
    high = 1.0 if share == 1 else min(1.0, centre + half)
    return low, high
