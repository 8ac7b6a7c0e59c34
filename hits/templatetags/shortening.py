"""Long answers in lists: the beginning of each, and whether there is more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from django import template

from hits.answers.rules.answer_words import BESIDE, SHOWN, SaidOfItem, beginning, shortened
from hits.models import Assignment
from hits.templatetags.figures import said

register = template.Library()
# Of a remark, and of why an answer is invalid.
LONGEST_BESIDE = 500


@dataclass(frozen=True)
class Short:
    """What lists show of an answer: what it says of each item or, where nothing was read of it, what was posted."""

    parts: Sequence[SaidOfItem]
    posted: str
    remark: str
    problem: str
    is_cut: bool


@register.filter
def in_short(answer: Assignment, told: Mapping[int, Sequence[SaidOfItem]]) -> Short:
    """`told` are the words of answers by their ids."""
    whole = told.get(answer.pk) or ()
    parts = list(_beginnings(whole))
    texts = ("" if whole else said(answer.answer), answer.remark, answer.problem)
    posted, remark, problem = map(shortened, texts, (SHOWN, LONGEST_BESIDE, LONGEST_BESIDE))
    is_cut = parts != list(whole) or (posted, remark, problem) != texts
    return Short(parts, posted, remark, problem, is_cut)


def _beginnings(parts: Iterable[SaidOfItem]) -> Iterator[SaidOfItem]:
    left = SHOWN
    for part in parts:
        if lines := beginning(part.lines, left):
            yield replace(part, lines=tuple(lines))
        left -= sum(len(one.line.said) + BESIDE for one in part.lines)
