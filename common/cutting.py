"""Texts that are longer than what is kept of them: cut, and marked as cut."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

# Of the values of one answer, and of the names of its fields, in characters. No task takes a longer answer, and a form
# of thousands of boxes has short names.
LONGEST_VALUES, LONGEST_NAMES = 250_000, 750_000
# The field that says how many were left out; no form of ours has such a name.
LEFT_OUT = "[left out]"
# For the words that say how much was cut.
_ROOM = 60


def cut(text: str, longest: int) -> str:
    """The text; of a longer one its beginning and how much of it was not kept, together no longer than that."""
    if len(text) <= longest:
        return text
    kept = max(longest - _ROOM, 0)
    return f"{text[:kept]} [… {len(text) - kept:,} more characters were cut off]"[:longest]


def bounded(fields: Mapping[str, str]) -> dict[str, str]:
    """The fields of an answer; of one that is too long the longest values are cut, so that no short one is lost."""
    kept, names = dict[str, str](), 0
    for name, value in fields.items():
        names += len(name)
        if names > LONGEST_NAMES:
            kept[LEFT_OUT] = f"{len(fields) - len(kept):,} fields were left out: the answer is too long"
            break
        kept[name] = value
    longest = _share(map(len, kept.values()), LONGEST_VALUES)
    return {name: cut(value, longest) for name, value in kept.items()}


def _share(lengths: Iterable[int], most: int) -> int:
    """How long each may be, so that all together are at most so long and none is cut that is shorter."""
    rising, left = sorted(lengths), most
    for number, length in enumerate(rising):
        share = left // (len(rising) - number)
        if length > share:
            return share
        left -= length
    return most
