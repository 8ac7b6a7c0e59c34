"""How questions begin, as a chart: Cosmos QA's Figure 2."""

from __future__ import annotations

from collections.abc import Sequence

from hits import charts
from hits.text.figures.set_statistics import PREFIX_LENGTH, Prefix


def prefix_chart(tree: Sequence[Prefix]) -> str:
    """An icicle chart as SVG text; an empty string where there is no question."""
    return charts.icicle(_branches(tree), PREFIX_LENGTH, "How questions begin", _description(tree))


def _branches(tree: Sequence[Prefix]) -> tuple[charts.Branch, ...]:
    return tuple(charts.Branch(prefix.word, prefix.count, _branches(prefix.following)) for prefix in tree)


def _description(tree: Sequence[Prefix]) -> str:
    total = sum(prefix.count for prefix in tree)
    first = ", ".join(f"{prefix.word} {100 * prefix.count / total:.0f} %" for prefix in tree[:5])
    return (
        f"Three columns: the first, second and third word of {total:,} questions; "
        f"the height of a block is its number of questions. First words: {first}."
    )
