"""Correcting by hand what an item asks about: its target sentences and the phrases in them.

The parts of a text, np and vp, have the same target sentences, for answers are later written to the text without them.
So a sentence that comes or goes in one part does so in the other; phrases are each part's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from hits.protocols.base import AnswerRefusedError, Json
from hits.protocols.optional import MarkedSentence
from hits.text.language.words import placed

# Stages for long texts pay more: texts with so many target sentences are theirs.
LONG_FROM = 4
LONGEST_SHOWN = 60
_ABOUT = {"np": "people, things and places", "vp": "what happens"}

Fault = tuple[str, str]


def about(item: Json) -> str:
    """What the item's questions are about, in words that follow "about"."""
    return _ABOUT["vp" if item.get("part") == "vp" else "np"]


def marked(item: Json) -> tuple[MarkedSentence, ...]:
    """In the order of the text."""
    found = [
        MarkedSentence(
            one["start"], one["end"], tuple(sorted((phrase["start"], phrase["end"]) for phrase in one["phrases"]))
        )
        for one in item.get("targets", [])
    ]
    return tuple(sorted(found))


class Correcting:
    """`MarkedProtocol` for items with `targets`."""

    def marked(self, item: Json) -> tuple[MarkedSentence, ...]:
        return marked(item)

    def correct(self, document: Json, item: Json, wanted: Sequence[MarkedSentence]) -> Json:
        """The item with these sentences and phrases. Raises AnswerRefusedError; a place is "0", or "0.1" for the
        second phrase of the first sentence, counted as they were given, or "" for the whole."""
        found = [*_sentence_faults(document["text"], wanted), *_phrase_faults(document["text"], wanted)]
        if not found and not any(one.phrases for one in wanted):
            found.append(("", "Nothing would be left to ask about. Keep a phrase, or leave the text unpublished."))
        if found:
            raise AnswerRefusedError([sentence for _, sentence in found], [place for place, _ in found])
        return _with(item, wanted)

    def follow(self, item: Json, before: Json, after: Json) -> Json:
        """Another part of the text with the sentences that came, still without phrases, and without those that went.

        Raises AnswerRefusedError when nothing would be left of it to ask about.
        """
        was, now = _sentences(before), _sentences(after)
        if was == now:
            return item
        own = marked(item)
        kept = [one for one in own if (one.start, one.end) not in was - now]
        there = {(one.start, one.end) for one in kept}
        if any(one.phrases for one in own) and not any(one.phrases for one in kept):
            raise AnswerRefusedError(
                [f"The part about {about(item)} would have nothing left to ask about. Keep one of its sentences."],
                [""],
            )
        return _with(item, [*kept, *(MarkedSentence(*span, ()) for span in now - was - there)])

    def correction_note(self, first: Json, now: Json) -> str:
        """What to know of an item that was `first` when it came into its stage; empty without any."""
        came, has = len(marked(first)), len(marked(now))
        if (came >= LONG_FROM) == (has >= LONG_FROM):
            return ""
        return (
            f"This text came with {came} target sentence{'' if came == 1 else 's'} and now has {has}. "
            "It stays in this stage, with this stage's pay."
        )


def _sentences(item: Json) -> set[tuple[int, int]]:
    return {(one.start, one.end) for one in marked(item)}


def _with(item: Json, wanted: Sequence[MarkedSentence]) -> Json:
    """Phrases are numbered anew, in the order of the text."""
    number, targets = 0, []
    for one in sorted(wanted):
        phrases = []
        for start, end in sorted(one.phrases):
            number += 1
            phrases.append({"id": f"p{number}", "start": start, "end": end})
        targets.append({"start": one.start, "end": one.end, "phrases": phrases})
    return {**item, "targets": targets}


def _said(text: str, start: int, end: int) -> str:
    words = " ".join(text[start:end].split())
    return f"“{words if len(words) <= LONGEST_SHOWN else words[: LONGEST_SHOWN - 1] + '…'}”"


def _sentence_faults(text: str, wanted: Sequence[MarkedSentence]) -> Iterator[Fault]:
    for at, one in enumerate(wanted):
        if not (0 <= one.start < one.end <= len(text) and text[one.start : one.end].strip()):
            yield str(at), f"There is no sentence from {one.start:,} to {one.end:,} in this text."
    for (_, earlier), (at, later) in pairwise(sorted(enumerate(wanted), key=lambda found: found[1])):
        if later.start < earlier.end:
            yield str(at), f"Two sentences overlap at {_said(text, later.start, later.end)}. Take one of them out."


def _phrase_faults(text: str, wanted: Sequence[MarkedSentence]) -> Iterator[Fault]:
    for at, one in enumerate(wanted):
        for number, (start, end) in enumerate(one.phrases):
            if start >= end:
                yield f"{at}.{number}", "The last word stands before the first one. Choose them the other way round."
            elif not (one.start <= start and end <= one.end and placed(text[start:end])):
                yield f"{at}.{number}", "A phrase is one or more words of its sentence."
        numbered = sorted(enumerate(one.phrases), key=lambda found: found[1])
        for (_, earlier), (number, later) in pairwise(numbered):
            if later[0] < earlier[1] and later[0] < later[1]:
                yield (
                    f"{at}.{number}",
                    f"{_said(text, *later)} and {_said(text, *earlier)} have words in common. "
                    "Make one of them shorter, or take it out.",
                )
