"""Corrections of the items of `hits.text.questions.passage_queries`: what a lead changes, and what was annotated
elsewhere.

Every correction gives new data in which what each sentence is dropped for is computed anew; the data that it is given
stays as it is. A place is the number of a sentence, counted from 0, or None for the passage. A mention is named by
where it starts: mentions do not overlap, so no two start at the same place.

All raise CorrectionError, with every reason, where the result would be no item.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Sequence
from itertools import pairwise
from typing import NamedTuple

from hits.text.language.entities import TYPES
from hits.text.language.passages import passage_parts
from hits.text.questions.passage_queries import CONDITIONS, PLACEHOLDER, Json, Rule, judged, queries

Place = int | None

LONGEST_PASSAGE = 200_000
LONGEST_ENTITY = 1000
MOST_SENTENCES = 20_000
MOST_MENTIONS = 50_000
# Characters of a sentence times its mentions: each mention is looked for in the whole sentence. No sentence in which
# the tagger marks anything comes near.
MOST_COMPARED = 8_000_000
MOST_WRONG = 1000
_QUERY_ID = re.compile(r"s\d{1,6}-e\d{1,6}", re.ASCII)
_FIELDS = ("text", "mentions", "sentences", "removed")


class Wrong(NamedTuple):
    """`place` is a path such as sentences[3].mentions[0]."""

    place: str
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message}" if self.place else self.message


class CorrectionError(ValueError):
    """A correction that cannot be made; `wrong` says why."""

    def __init__(self, wrong: Sequence[Wrong]) -> None:
        self.wrong = list(wrong)
        super().__init__("; ".join(map(str, self.wrong[:5])))


# What a lead does


def change_mention(data: Json, rule: Rule, place: Place, at: int, start: int, end: int, *, type: str = "") -> Json:
    """The mention that starts `at` becomes text[start:end], with its entity, and with its type where none is given."""
    new = {"start": start, "end": end} | ({"type": type} if type else {})
    return _with_mention(data, rule, place, at, lambda one: {**one, **new})


def add_mention(
    data: Json, rule: Rule, place: Place, start: int, end: int, *, type: str = "ORG", entity: int | None = None
) -> Json:
    """Without an entity it is a new one of the passage, and in a sentence one that the passage does not have."""
    number = _new_entity(data) if entity is None and place is None else entity
    new = {"start": start, "end": end, "type": type, "entity": number}
    return _with_mentions(data, rule, place, [*_mentions(data, place), new])


def remove_mention(data: Json, rule: Rule, place: Place, at: int) -> Json:
    old = _found(data, place, at)
    return _with_mentions(data, rule, place, [one for one in _mentions(data, place) if one is not old])


def move_mention(data: Json, rule: Rule, place: Place, at: int, entity: int | None) -> Json:
    """To another entity of the passage; None is a new one there, and in a sentence none at all."""
    number = _new_entity(data) if entity is None and place is None else entity
    return _with_mention(data, rule, place, at, lambda one: {**one, "entity": number})


def drop_query(data: Json, query: str) -> Json:
    """Takes a query out until it is restored. Raises CorrectionError for one that the data does not give."""
    if query not in {one.id for one in queries(data)}:
        raise CorrectionError([Wrong("", f"there is no query {query}")])
    return {**data, "removed": [*data["removed"], query]}


def restore_query(data: Json, query: str) -> Json:
    """Raises CorrectionError for a query that was not taken out."""
    if query not in data["removed"]:
        raise CorrectionError([Wrong("", f"the query {query} was not dropped")])
    return {**data, "removed": [one for one in data["removed"] if one != query]}


def _new_entity(data: Json) -> int:
    return max((one["entity"] for one in data["mentions"]), default=-1) + 1


def _mentions(data: Json, place: Place) -> list[Json]:
    if place is None:
        own: list[Json] = data["mentions"]
        return own
    if not 0 <= place < len(data["sentences"]):
        raise CorrectionError([Wrong("", f"there is no sentence {place}")])
    own = data["sentences"][place]["mentions"]
    return own


def _found(data: Json, place: Place, at: int) -> Json:
    for one in _mentions(data, place):
        if one["start"] == at:
            return one
    where = "the passage" if place is None else f"sentence {place}"
    raise CorrectionError([Wrong("", f"in {where} no mention starts at {at}: it may have been changed meanwhile")])


def _with_mention(data: Json, rule: Rule, place: Place, at: int, change: Callable[[Json], Json]) -> Json:
    old = _found(data, place, at)
    return _with_mentions(data, rule, place, [change(one) if one is old else one for one in _mentions(data, place)])


def _with_mentions(data: Json, rule: Rule, place: Place, own: Sequence[Json]) -> Json:
    """A sentence's mention that loses its antecedent by this is no fault."""
    ordered = sorted(own, key=lambda one: (one["start"], one["end"]))
    if place is None:
        changed = {**data, "mentions": ordered}
        wrong = _Wrongs().passage(changed)
    else:
        sentences = list(data["sentences"])
        sentences[place] = {**sentences[place], "mentions": ordered}
        changed = {**data, "sentences": sentences}
        wrong = _Wrongs().sentences(sentences, _entities(changed))
    if wrong:
        raise CorrectionError(wrong)
    return judged(changed, rule)


# What comes from elsewhere


def validate(data: object, before: Json | None = None) -> list[Wrong]:
    """What is wrong with the data of an item, at most 1,000 faults; nothing where it can be taken.

    With `before`, the item as it was handed out, its texts must be the same: only mentions, and what is removed, may
    differ. What `dropped` says is not believed: call `judged` on the data.
    """
    return _Wrongs().item(data, before)


def _entities(data: Json) -> set[int]:
    return {one["entity"] for one in data["mentions"]}


class _Wrongs:
    """Collects what is wrong."""

    def __init__(self) -> None:
        self.found: list[Wrong] = []

    def say(self, place: str, message: str) -> None:
        if len(self.found) < MOST_WRONG:
            self.found.append(Wrong(place, message))

    def item(self, data: object, before: Json | None) -> list[Wrong]:
        if not self.has_fields(data, "", _FIELDS):
            return self.found
        assert isinstance(data, dict)
        if before and self.differs(data, before):
            return self.found
        self.passage(data)
        if not self.found:
            self.sentences(data["sentences"], _entities(data))
            self.removed(data["removed"])
        return self.found

    def has_fields(self, value: object, place: str, fields: Collection[str]) -> bool:
        if type(value) is not dict or value.keys() != set(fields):
            self.say(place, f"must be an object with {', '.join(fields)}, and nothing else")
            return False
        return True

    def differs(self, data: Json, before: Json) -> bool:
        """Whether its texts are not those that were handed out."""
        if data["text"] != before["text"]:
            self.say("text", "is not the passage that was handed out: only mentions may be changed")
        if _texts(data["sentences"]) != _texts(before["sentences"]):
            self.say("sentences", "are not those that were handed out, in their order: only mentions may be changed")
        return bool(self.found)

    def passage(self, data: Json) -> list[Wrong]:
        text = data["text"]
        if not self.is_text(text, "text", LONGEST_PASSAGE):
            return self.found
        if self.mentions(data["mentions"], text, "mentions", None):
            parts = [(part.start, part.end) for part in passage_parts(text)]
            for at, one in enumerate(data["mentions"]):
                index = bisect_right(parts, (one["start"], len(text))) - 1
                if index < 0 or one["end"] > parts[index][1]:
                    self.say(f"mentions[{at}]", "must lie within one paragraph or one bullet")
        return self.found

    def is_text(self, value: object, place: str, longest: int) -> bool:
        if type(value) is not str or not value.strip() or len(value) > longest:
            self.say(place, f"must be a text of 1 to {longest:,} characters that is not blank")
            return False
        return True

    def sentences(self, sentences: object, entities: set[int]) -> list[Wrong]:
        if type(sentences) is not list or len(sentences) > MOST_SENTENCES:
            self.say("sentences", f"must be a list of at most {MOST_SENTENCES:,} sentences")
            return self.found
        for number, one in enumerate(sentences):
            place = f"sentences[{number}]"
            if self.has_fields(one, place, ("text", "dropped", "mentions")):
                self.sentence(one, place, entities)
        return self.found

    def sentence(self, one: Json, place: str, entities: set[int]) -> None:
        if not self.is_text(one["text"], f"{place}.text", LONGEST_PASSAGE):
            return
        if "\n" in one["text"] or PLACEHOLDER in one["text"]:
            self.say(f"{place}.text", f"must be one line, without {PLACEHOLDER}")
        if one["dropped"] != "" and one["dropped"] not in list(CONDITIONS):
            self.say(f"{place}.dropped", f"must be empty or one of {', '.join(CONDITIONS)}")
        most = MOST_COMPARED // len(one["text"])
        if type(one["mentions"]) is list and len(one["mentions"]) > most:
            self.say(f"{place}.mentions", f"must be at most {most:,} in a sentence of this length")
        else:
            self.mentions(one["mentions"], one["text"], f"{place}.mentions", entities)

    def mentions(self, given: object, text: str, place: str, entities: set[int] | None) -> bool:
        """Whether they can be used. In a sentence an entity is one of the passage's, or null."""
        before = len(self.found)
        if type(given) is not list or len(given) > MOST_MENTIONS:
            self.say(place, f"must be a list of at most {MOST_MENTIONS:,} mentions")
            return False
        for at, one in enumerate(given):
            if self.has_fields(one, f"{place}[{at}]", ("start", "end", "type", "entity")):
                self.mention(one, text, f"{place}[{at}]", entities)
        if len(self.found) == before:
            self.overlaps(given, text, place)
        return len(self.found) == before

    def mention(self, one: Json, text: str, place: str, entities: set[int] | None) -> None:
        start, end, entity = one["start"], one["end"], one["entity"]
        if type(start) is not int or type(end) is not int or not 0 <= start < end <= len(text):
            self.say(place, f"start and end must be whole numbers, 0 <= start < end <= {len(text)}")
        elif end - start > LONGEST_ENTITY or "\n" in text[start:end] or text[start:end] != text[start:end].strip():
            self.say(place, f"must be at most {LONGEST_ENTITY:,} characters of one line, without space around them")
        if type(one["type"]) is not str or one["type"] not in TYPES:
            self.say(f"{place}.type", f"must be one of {', '.join(TYPES)}")
        if entities is None and (type(entity) is not int or not 0 <= entity < MOST_MENTIONS):
            self.say(f"{place}.entity", f"must be a whole number from 0 to {MOST_MENTIONS - 1:,}")
        elif entities is not None and entity is not None and (type(entity) is not int or entity not in entities):
            self.say(f"{place}.entity", "must be null, or an entity that has a mention in the passage")

    def overlaps(self, given: Sequence[Json], text: str, place: str) -> None:
        ordered = sorted((one["start"], one["end"], at) for at, one in enumerate(given))
        for (before, end, first), (start, after, at) in pairwise(ordered):
            if start < end:
                both = f"“{text[start:after]}” overlaps “{text[before:end]}”"
                self.say(f"{place}[{at}]", f"overlaps {place}[{first}]: {both}")

    def removed(self, given: object) -> None:
        if type(given) is not list or not all(type(one) is str and _QUERY_ID.fullmatch(one) for one in given):
            self.say("removed", "must be a list of ids of queries, such as s3-e2")
        elif len(set(given)) < len(given):
            self.say("removed", "names a query more than once")


def _texts(sentences: object) -> list[object]:
    return [one.get("text") if type(one) is dict else None for one in sentences] if type(sentences) is list else []
