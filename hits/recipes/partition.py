"""Choosing whole groups, such as the items of one passage, so that their number comes as near to a target as can be.

The sums that groups can reach are the set bits of one integer, so the answer is exact and still quick: groups are
halved again and again, and each half gets a share of the target that it can reach. Shuffle the groups to make the
choice random; groups that stand side by side are chosen in about the same proportion.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction


def _reachable(sizes: Sequence[int]) -> str:
    """A flag "0" or "1" for every sum from 0 on: whether some of the groups add up to it."""
    bits = 1
    for size in sizes:
        bits |= bits << size
    return f"{bits:b}"[::-1]


def _nearest(sums: Sequence[int], target: Fraction) -> int:
    """The sum nearest to the target, the smaller one of two that are equally near."""
    return min(sums, key=lambda found: (abs(found - target), found))


def _choose(sizes: Sequence[int], total: int) -> list[bool]:
    """Groups that add up to exactly `total`, which must be a sum that they can reach."""
    if len(sizes) == 1:
        return [total > 0]
    left, right = sizes[: len(sizes) // 2], sizes[len(sizes) // 2 :]
    left_sums, right_sums = _reachable(left), _reachable(right)
    lowest, highest = max(0, total - sum(right)), min(total, sum(left))
    fits = [s for s in range(lowest, highest + 1) if left_sums[s] == "1" and right_sums[total - s] == "1"]
    share = _nearest(fits, Fraction(total * sum(left), sum(sizes)))
    return _choose(left, share) + _choose(right, total - share)


def nearest_subset(sizes: Sequence[int], target: Fraction) -> list[bool]:
    """Which groups to take, so that their sizes add up to as near to the target as whole groups allow.

    Sizes are whole numbers of at least 1; raises ValueError for others.
    """
    if any(size < 1 for size in sizes):
        raise ValueError("every group needs at least one member")
    if not sizes:
        return []
    sums = [number for number, flag in enumerate(_reachable(sizes)) if flag == "1"]
    return _choose(sizes, _nearest(sums, target))
