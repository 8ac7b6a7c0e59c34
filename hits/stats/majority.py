"""The value that was given most often, for measures and releases; verdicts go by the stage's rule (`votes`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from typing import TypeVar

Value = TypeVar("Value", bound=Hashable)


def majority_of(values: Iterable[Value]) -> Value | None:
    """The value given more often than every other; None in a tie and where nothing was given.

    A Counter stands for as many values as it counts.
    """
    counts = values if isinstance(values, Counter) else Counter(values)
    ranked = counts.most_common(2)
    return ranked[0][0] if ranked and (len(ranked) == 1 or ranked[0][1] > ranked[1][1]) else None
