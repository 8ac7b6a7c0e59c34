"""The kinds of field: what a form asks, in order. `KINDS` at the end has them all.

A field is a table {"kind", "key", "question", ...}: the fields of its class say which settings it has and what they
must be. It posts its value under its key, or the parts of it under `key.id`, and gives a label under its key; what
rules count of a value with parts is a label more under `key/id`.
"""

from __future__ import annotations

import json
import re
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, StrictFloat, StrictInt

from hits.protocols import marked
from hits.protocols.base import Json, LabelValue
from hits.protocols.choosing import YES, yes_no
from hits.protocols.form import filling, patterns
from hits.protocols.form.parts import (
    KEY,
    LONGEST_KEY,
    LONGEST_WORDS,
    MOST_CHOICES,
    TAKEN,
    Choice,
    Fault,
    Filled,
    Given,
    Item,
    Kind,
    Plain,
    Row,
    ShownIf,
    choice_lines,
    column,
    condition,
    condition_line,
    doubled,
    number,
    words,
)
from hits.protocols.given_settings import printed
from hits.protocols.lines import nothing, plain
from hits.protocols.optional import Line, Setting
from hits.text.tables import must, truth, whole
from hits.text.wording import _, gettext_noop, ngettext
from hits.text.wording import number as figure

Level = Literal["nominal", "ordinal", "interval", "set", "span", "text"]
Number = StrictInt | StrictFloat
MOST_LETTERS = 10_000
SHORT, LONG = 200, 2000
MOST_POINTS, MOST_ROWS = 11, 20
SHORT_CONTROL = 100
_NUMBER = re.compile(r"-?[0-9]{1,13}(\.[0-9]{1,9})?")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_WHOLE = re.compile(r"[0-9]{1,4}")
COLUMNS_HELP = "{column} stands for the value of that column."


class NotTakenError(ValueError):
    """What was posted is no answer to the field: the rest of each sentence about it, and the name of its control."""

    def __init__(self, sentence: str, name: str, *more: str) -> None:
        self.name = name
        self.sentences = (sentence, *more)
        super().__init__(sentence)


class NoGoldError(ValueError):
    """A known answer that nobody can give; the message ends a sentence about it."""


def _free_key(key: str) -> str:
    if key in TAKEN:
        raise ValueError(f"must not be {key}, which means something else: choose another word")
    return key


# The settings that every field has, on the page "Task".
KEY_INPUT = Setting("key", "Key", "text", "Small letters, digits and hyphens. Rules and releases name the field by it.")
QUESTION = Setting("question", "Question", "text", COLUMNS_HELP, rows=2)
CLOSING = (
    Setting("help", "Help", "text", "Below the question; may be empty.", seldom=True),
    Setting(
        "example", "Example of an answer", "text", "Shown to workers with the question; may be empty.", seldom=True
    ),
    Setting("required", "Must be answered", "bool", "Without an answer to it nothing can be sent.", seldom=True),
    Setting(
        "shown_if",
        "Asked only if",
        "text",
        "The key of a question before this one, and its answers by their ids: mood = bad, angry. May be empty.",
        line=condition_line,
        seldom=True,
    ),
)
SHUFFLE = Setting("shuffle", "Shuffle answers", "bool", "Each worker sees them in an order of their own.", seldom=True)
STAY_LAST = Setting(
    "stay_last",
    "Answers that stay last",
    "number",
    "Such as 1 for “Other”: the others change places.",
    seldom=True,
    unit="answers",
)
CHOICES = Setting(
    "choices",
    "Answers, one a line",
    "lines",
    f"The first nine have the keys 1 to 9. Help may follow a bar: text | help. {COLUMNS_HELP}",
    rows=5,
    lines=choice_lines,
)


class Field(Kind):
    """What a kind of field does besides having settings."""

    key: Annotated[str, AfterValidator(_free_key)] = must(
        f"be small letters and digits, joined by hyphens, at most {LONGEST_KEY}",
        pattern=f"^{KEY}$",
        max_length=LONGEST_KEY,
    )
    question: Filled = words()
    help: Filled = words(LONGEST_WORDS, "")
    example: Filled = words(LONGEST_WORDS, "")
    required: bool = truth(True)
    shown_if: ShownIf | None = must('be an object such as {"field": "mood", "values": ["bad"]}', None)

    level: ClassVar[Level]

    @classmethod
    def completed(cls, given: Mapping[str, Any]) -> Json:
        """A condition may be a text, such as `mood = bad, angry`; an empty one is none."""
        found = super().completed(given)
        if isinstance(line := found.get("shown_if"), str):
            found["shown_if"] = condition(line) if line.strip() else None
        return found

    @property
    def measure(self) -> Level:
        """How its values can be compared."""
        return self.level

    def values(self) -> tuple[str, ...]:
        """The values that a condition of a later field may name; none where no condition can."""
        return ()

    def holds(self, value: Any, wanted: Sequence[str]) -> bool:
        """Whether a value is one of those that a condition names."""
        return str(value) in wanted

    def told(self, value: str, item: Item) -> tuple[str, str]:
        """How a page posts one of `values`, and how workers read it."""
        return value, value

    def worded(self, value: Any, item: Item) -> str:
        """A value of its labels as workers read it; empty where it has no other words."""
        return ""

    def lines(self, said: Mapping[str, Any], item: Item) -> Iterator[Line]:
        """What an answer says of it, from the values of its units; a part of it only where that stands alone."""
        units = tuple(unit for unit in self.units() if unit in said)
        if not units and self.key not in said:
            return
        asked = item.fill(self.question)
        if self.key in said:
            right = dict(self.known_values(item))
            known = self.in_words(right[self.key], item) if self.key in right else ""
            yield Line(asked, self.in_words(said[self.key], item), units, known)
        else:
            for unit in units:
                yield Line(asked, self.part_in_words(unit.removeprefix(f"{self.key}/"), said[unit], item), (unit,))

    def in_words(self, value: Any, item: Item) -> str:
        return nothing() if value in ([], "") else self.worded(value, item) or plain(value)

    def choice_texts(self, item: Item) -> dict[str, str]:
        """What workers read of each of its choices, by id."""
        return {}

    def part_in_words(self, part: str, value: Any, item: Item) -> str:
        """One of its smaller units, such as whether a box was ticked."""
        text = self.choice_texts(item).get(part, part)
        return {YES: text, "no": f"not {text}"}.get(value, f"{text}: {plain(value)}")

    def texts(self) -> Iterator[str]:
        yield from (self.question, self.help, self.example)

    def gold_columns(self) -> dict[str, str]:
        """The column with the known answer, by the unit that it is about."""
        return {}

    def units(self) -> dict[str, Level]:
        """The units of its labels, with how the values of each can be compared."""
        return {self.key: self.measure}

    @property
    def first_name(self) -> str:
        """The name of its first control, at which the page tells what is wrong."""
        return self.key

    @property
    def most_characters(self) -> int:
        """The most that its controls post together, with their names: each has a short name and a short value."""
        return SHORT_CONTROL * len(self.units())

    def shown(self, item: Item) -> Json:
        """What its template shows besides what every field has, as plain JSON."""
        return {}

    def page(self, item: Item, number: int) -> Json:
        return {
            "template": self.template,
            "kind": getattr(self, "kind", ""),
            "key": self.key,
            "number": number,
            "question": item.fill(self.question),
            "help": item.fill(self.help),
            "example": item.fill(self.example),
            "required": self.required,
            **self.shown(item),
        }

    @abstractmethod
    def taken(self, given: Given, item: Item) -> Any:
        """The value that was posted; None where there is none. Raises NotTakenError."""

    def labels(self, value: Any, item: Item) -> Iterator[LabelValue]:
        yield LabelValue(self.key, value, self.judged(self.key, value, item))

    def known(self, text: str, item: Item) -> Any:
        """The value that a known answer stands for. Raises NoGoldError."""
        raise NoGoldError("cannot be compared")

    def told_by(self) -> list[str]:
        """What a file of results may have instead of what the page posts."""
        return [self.key]

    def posted(self, told: Mapping[str, str], item: Item) -> dict[str, str]:
        """What the page posts for a value as files of results have it. Raises NoGoldError and NotTakenError."""
        written = _written(told.get(self.key, ""))
        return {} if written is None else {self.key: written}

    def suggested(self, text: str, item: Item) -> Any:
        """The value that a suggestion stands for, which is written as in a file of results; None for none. Raises
        NoGoldError and NotTakenError.
        """
        return self.taken(Given(self.key, {self.key: text, **self.posted({self.key: text}, item)}), item)

    def judged(self, unit: str, value: Any, item: Item) -> bool | None:
        known = dict(self.known_values(item))
        return bool(value == known[unit]) if unit in known else None

    def known_values(self, item: Item) -> Iterator[tuple[str, Any]]:
        """(unit, the value that is right) where one is known."""
        for unit, name in self.gold_columns().items():
            if told := item.said(name):
                with suppress(NoGoldError):
                    yield unit, self.known(told, item)

    def item_faults(self, item: Item) -> Iterator[str]:
        for name in self.gold_columns().values():
            if told := item.said(name):
                try:
                    self.known(told, item)
                except NoGoldError as error:
                    yield f"The gold answer {told!r:.60} of the column {name!r:.60} {error}."


def _written(cell: str) -> str | None:
    """The text of a label about a written text, as the long table has it; None for any other cell."""
    if not cell.startswith('{"text": '):
        return None
    try:
        value = json.loads(cell)
    except (ValueError, RecursionError):
        return None
    return value["text"] if set(value) == {"text"} and isinstance(value["text"], str) else None


class _Known(Field):
    """Its known answer stands in a column."""

    gold: Plain = column("")

    def gold_columns(self) -> dict[str, str]:
        return {self.key: self.gold} if self.gold else {}


GOLD = Setting(
    "gold",
    "Column with the gold answer",
    "text",
    "A column of your file that answers are compared with; may be empty.",
    seldom=True,
)


# Choices


class _Listing(_Known):
    """It has a list of choices."""

    lists = {"choices": Choice}
    choices: tuple[Choice, ...] = must(
        f"be a list of 2 to {MOST_CHOICES} texts or objects of id, text and help", min_length=2, max_length=MOST_CHOICES
    )

    def faults(self) -> Iterator[Fault]:
        yield from doubled(self.choices)

    def texts(self) -> Iterator[str]:
        yield from super().texts()
        for choice in self.choices:
            yield from (choice.text, choice.help)

    def values(self) -> tuple[str, ...]:
        return tuple(choice.id for choice in self.choices)

    def told(self, value: str, item: Item) -> tuple[str, str]:
        return value, self.choice_texts(item)[value]

    def offered(self, item: Item) -> list[Json]:
        return [
            {"id": one.id, "text": item.fill(one.text), "help": item.fill(one.help), "name": f"{self.key}.{one.id}"}
            for one in self.choices
        ]

    def choice_texts(self, item: Item) -> dict[str, str]:
        return {choice.id: item.fill(choice.text) for choice in self.choices}

    def worded(self, value: Any, item: Item) -> str:
        texts = self.choice_texts(item)
        return "; ".join(str(texts.get(one, one)) for one in (value if isinstance(value, list) else [value]))

    def choice_of(self, text: str, item: Item) -> str:
        """The id that is meant by an id or a text. Raises NoGoldError."""
        for choice in self.choices:
            if text in (choice.id, item.fill(choice.text)):
                return choice.id
        raise NoGoldError(f"is none of the answers of {self.key!r}")


class _Choosing(_Listing):
    shuffle: bool = truth(False)
    stay_last: int = whole(0, MOST_CHOICES, 0)

    def faults(self) -> Iterator[Fault]:
        yield from super().faults()
        if self.stay_last >= len(self.choices):
            yield "stay_last", f"must be less than {len(self.choices)}, the number of choices"

    def offered(self, item: Item) -> list[Json]:
        found = super().offered(item)
        if not self.shuffle:
            return found
        moving = len(found) - self.stay_last
        return [*item.order(found[:moving], self.key), *found[moving:]]

    def shown(self, item: Item) -> Json:
        return {"choices": self.offered(item)}


class One(_Choosing):
    kind: Literal["one"] = "one"
    ordered: bool = truth(False)

    title = "One answer of several"
    template = "form/ask/one.html"
    level = "nominal"
    new: ClassVar[Json] = {"choices": ["First answer", "Second answer"]}
    inputs = (
        KEY_INPUT, QUESTION, CHOICES, SHUFFLE, STAY_LAST,
        Setting(
            "ordered", "The answers are steps, in this order", "bool",
            "Statistics then count the steps between.", seldom=True,
        ),
        *CLOSING, GOLD,
    )  # fmt: skip

    @property
    def measure(self) -> Level:
        return "ordinal" if self.ordered else "nominal"

    def taken(self, given: Given, item: Item) -> str | None:
        if not given.own:
            return None
        if given.own not in self.values():
            raise NotTakenError(_("has an answer that is not in the list. Choose one of the list"), self.key)
        return given.own

    def known(self, text: str, item: Item) -> str:
        return self.choice_of(text, item)

    def posted(self, told: Mapping[str, str], item: Item) -> dict[str, str]:
        return {self.key: self.choice_of(text, item)} if (text := told.get(self.key, "").strip()) else {}


class Dropdown(One):
    kind: Literal["dropdown"] = "dropdown"  # type: ignore[assignment]
    title = "One answer of a drop-down list"
    template = "form/ask/dropdown.html"


class _Parted(_Choosing):
    """Each choice has a control of its own."""

    @property
    def first_name(self) -> str:
        return f"{self.key}.{self.choices[0].id}"


class AnyOf(_Parted):
    """Boxes. The value is the list of the ids that were ticked, in the order of the choices."""

    kind: Literal["any"] = "any"
    least: int = whole(0, MOST_CHOICES, 1)
    most: int | None = must(f"be a whole number from 1 to {MOST_CHOICES}", None, strict=True, ge=1, le=MOST_CHOICES)

    title = "Any of several answers"
    template = "form/ask/any.html"
    level = "set"
    new: ClassVar[Json] = {"choices": ["First answer", "Second answer"]}
    inputs = (
        KEY_INPUT, QUESTION, CHOICES, SHUFFLE, STAY_LAST,
        Setting("least", "Fewest answers", "number", "0: ticking nothing is an answer.", unit="answers"),
        Setting("most", "Most answers", "number", "More cannot be sent. Empty: all of them.", unit="answers"),
        *CLOSING, GOLD,
    )  # fmt: skip

    def faults(self) -> Iterator[Fault]:
        yield from super().faults()
        if self.least > len(self.choices):
            yield "least", f"must be at most {len(self.choices)}, the number of choices"
        if self.most is not None and self.most < self.least:
            yield "most", f"must be at least {self.least}, the fewest answers"

    def holds(self, value: Any, wanted: Sequence[str]) -> bool:
        return bool(set(value) & set(wanted))

    def units(self) -> dict[str, Level]:
        return {self.key: "set", **{f"{self.key}/{choice.id}": "nominal" for choice in self.choices}}

    def shown(self, item: Item) -> Json:
        return {**super().shown(item), "least": self.least, "most": self.most or len(self.choices)}

    def taken(self, given: Given, item: Item) -> list[str] | None:
        boxes = {choice.id: given.part(choice.id) for choice in self.choices}
        if any(box not in ("", YES) for box in boxes.values()):
            raise NotTakenError(
                _("has a box that says neither yes nor no. Reload the page and tick again"), self.first_name
            )
        ticked = [ident for ident, box in boxes.items() if box == YES]
        if not ticked and (self.least or not self.required):
            return None
        if len(ticked) < self.least:
            raise NotTakenError(_("needs at least %(least)s answers", least=self.least), self.first_name)
        if self.most and len(ticked) > self.most:
            sentence = ngettext("takes at most %(count)s answer", "takes at most %(count)s answers", self.most)
            raise NotTakenError(sentence, self.first_name)
        return ticked

    def labels(self, value: Any, item: Item) -> Iterator[LabelValue]:
        yield from super().labels(value, item)
        for choice in self.choices:
            yield LabelValue(f"{self.key}/{choice.id}", yes_no(choice.id in value), None)

    def known(self, text: str, item: Item) -> list[str]:
        told = _parts_of(text)
        meant = {self.choice_of(str(one), item) for one in told}
        return [ident for ident in self.values() if ident in meant]

    def posted(self, told: Mapping[str, str], item: Item) -> dict[str, str]:
        ticked = self.known(told[self.key], item) if self.key in told else []
        return {f"{self.key}.{ident}": YES for ident in ticked}


def _parts_of(text: str) -> list[str]:
    """A list in JSON, or what bars part."""
    if text.startswith("["):
        try:
            return [filling.said(one) for one in filling.listed(text)]
        except ValueError:
            pass
    return [part.strip() for part in text.split("|") if part.strip()]


class Ranking(_Parted):
    """The value is the list of all ids, the best first; `key/id` is the place of one, counted from 1."""

    kind: Literal["ranking"] = "ranking"

    title = "Ranking"
    template = "form/ask/ranking.html"
    level = "ordinal"
    new: ClassVar[Json] = {"choices": ["First thing", "Second thing"]}
    inputs = (
        KEY_INPUT, QUESTION,
        Setting(
            "choices", "What is ranked, one a line", "lines", f"text | help. {COLUMNS_HELP}", rows=5, lines=choice_lines
        ),
        SHUFFLE, *CLOSING, GOLD,
    )  # fmt: skip

    def values(self) -> tuple[str, ...]:
        return ()

    def units(self) -> dict[str, Level]:
        return {self.key: "ordinal", **{f"{self.key}/{choice.id}": "ordinal" for choice in self.choices}}

    def taken(self, given: Given, item: Item) -> list[str] | None:
        places = {choice.id: given.part(choice.id).strip() for choice in self.choices}
        if not any(places.values()):
            return None
        wanted = {str(place) for place in range(1, len(places) + 1)}
        for ident, place in places.items():
            if place not in wanted:
                sentence = _("needs a number from 1 to %(most)s for each", most=len(places))
                raise NotTakenError(sentence, f"{self.key}.{ident}")
        if set(places.values()) != wanted:
            twice = next(ident for ident in places if list(places.values()).count(places[ident]) > 1)
            raise NotTakenError(_("has the same number more than once"), f"{self.key}.{twice}")
        return sorted(places, key=lambda ident: int(places[ident]))

    def labels(self, value: Any, item: Item) -> Iterator[LabelValue]:
        yield from super().labels(value, item)
        for place, ident in enumerate(value, 1):
            yield LabelValue(f"{self.key}/{ident}", place, None)

    def known(self, text: str, item: Item) -> list[str]:
        told = [self.choice_of(one, item) for one in _parts_of(text)]
        if sorted(told) != sorted(choice.id for choice in self.choices):
            raise NoGoldError(f"does not name each of {self.key!r} once")
        return told

    def posted(self, told: Mapping[str, str], item: Item) -> dict[str, str]:
        order = self.known(told[self.key], item) if told.get(self.key, "").strip() else []
        return {f"{self.key}.{ident}": str(place) for place, ident in enumerate(order, 1)}


A, B, TIE, BAD = "a", "b", "tie", "bad"


class Pair(_Known):
    """Two texts, of which each worker sees one or the other on the left. The value is `a` or `b`, whatever the side."""

    kind: Literal["pair"] = "pair"
    a: Filled = words(LONGEST_WORDS)
    b: Filled = words(LONGEST_WORDS)
    tie: bool = truth(True)
    both_bad: bool = truth(True)

    title = "Preference of one of two"
    template = "form/ask/pair.html"
    level = "nominal"
    new: ClassVar[Json] = {"a": "First text", "b": "Second text"}
    inputs = (
        KEY_INPUT, QUESTION,
        Setting("a", "First", "text", f"Workers see the two in an order of their own. {COLUMNS_HELP}", rows=2),
        Setting("b", "Second", "text", f"What the first one is compared with. {COLUMNS_HELP}", rows=2),
        Setting("tie", "Both may be equally good", "bool", "Workers can then answer that neither is better."),
        Setting("both_bad", "Both may be bad", "bool", "Workers can then answer that neither is good."),
        *CLOSING, GOLD,
    )  # fmt: skip

    def texts(self) -> Iterator[str]:
        yield from (*super().texts(), self.a, self.b)

    def values(self) -> tuple[str, ...]:
        return (A, B, *([TIE] if self.tie else []), *([BAD] if self.both_bad else []))

    def shown(self, item: Item) -> Json:
        sides = [item.fill(self.a), item.fill(self.b)]
        left, right = reversed(sides) if item.turned(self.key) else sides
        return {"left": left, "right": right, "others": _others(self.values()[2:])}

    def told(self, value: str, item: Item) -> tuple[str, str]:
        side = {meant: posted for posted, meant in self._sides(item).items()}[value]
        if side in _ELSE:
            return side, _(_ELSE[side])
        return side, _("A is better") if side == "left" else _("B is better")

    def worded(self, value: Any, item: Item) -> str:
        texts = {A: item.fill(self.a), B: item.fill(self.b)} | {one: _(words) for one, words in _ELSE.items()}
        return texts.get(value, "")

    def _sides(self, item: Item) -> dict[str, str]:
        """The value that is meant by what is posted: the page does not say which of the two is on which side."""
        left, right = (B, A) if item.turned(self.key) else (A, B)
        return {"left": left, "right": right, **{value: value for value in self.values()[2:]}}

    def taken(self, given: Given, item: Item) -> str | None:
        if given.own and given.own not in self._sides(item):
            raise NotTakenError(_("has an answer that is not in the list. Choose one of the list"), self.key)
        return self._sides(item)[given.own] if given.own else None

    def known(self, text: str, item: Item) -> str:
        if text not in self.values():
            raise NoGoldError(f"is none of {', '.join(self.values())}, the answers of {self.key!r}")
        return text

    def posted(self, told: Mapping[str, str], item: Item) -> dict[str, str]:
        text = told.get(self.key, "").strip()
        if text in ("left", "right"):
            raise NoGoldError("is a side of the page, and which text stood there no file says: import the long table")
        return {self.key: self.told(self.known(text, item), item)[0]} if text else {}


_ELSE = {TIE: gettext_noop("Both are equally good"), BAD: gettext_noop("Both are bad")}


def _others(values: Sequence[str]) -> list[Json]:
    return [{"id": value, "text": _(_ELSE[value])} for value in values]


# Numbers and days


LEAST = Setting("low", "Least", "number", "Less is refused. May be empty.", unit="in the unit of the question")
MOST = Setting("high", "Most", "number", "More is refused. May be empty.", unit="in the unit of the question")
WHOLE = Setting("whole", "Only whole numbers", "bool", "Otherwise decimals can be answered too.")


class Numeric(_Known):
    kind: Literal["number"] = "number"
    low: Number | None = number(" or left out", None)
    high: Number | None = number(" or left out", None)
    whole: bool = truth(True)

    title = "Number"
    template = "form/ask/number.html"
    level = "interval"
    inputs: ClassVar[tuple[Setting, ...]] = (
        KEY_INPUT, QUESTION, LEAST,
        MOST, WHOLE,
        *CLOSING, GOLD,
    )  # fmt: skip

    def faults(self) -> Iterator[Fault]:
        if self.low is not None and self.high is not None and self.low > self.high:
            yield "high", f"must be at least {self.low}, the least"

    def shown(self, item: Item) -> Json:
        return {"low": self.low, "high": self.high, "step": 1 if self.whole else "any", "limits": self.limits}

    @property
    def limits(self) -> str:
        """What a number must be, in words."""
        what = _("a whole number") if self.whole else _("a number")
        if self.low is not None and self.high is not None:
            return _("%(what)s from %(low)s to %(high)s", what=what, low=self.low, high=self.high)
        if self.low is not None:
            return _("%(what)s of %(low)s or more", what=what, low=self.low)
        return _("%(what)s of %(high)s or less", what=what, high=self.high) if self.high is not None else what

    def taken(self, given: Given, item: Item) -> Number | None:
        return self.read(given.own.strip()) if given.own.strip() else None

    def read(self, text: str) -> Number:
        """Raises NotTakenError."""
        value = float(text) if _NUMBER.fullmatch(text) else None
        if (
            value is None
            or (self.whole and value != int(value))
            or (self.low is not None and value < self.low)
            or (self.high is not None and value > self.high)
        ):
            raise NotTakenError(
                _("must be %(limits)s, not %(said)s", limits=self.limits, said=f"{text!r:.40}"), self.key
            )
        return int(value) if self.whole else value

    def known(self, text: str, item: Item) -> Number:
        try:
            return self.read(text)
        except NotTakenError as error:
            raise NoGoldError(f"cannot be an answer of {self.key!r}, which {error}") from error


LOW_END = Setting("low", "Least", "number", "The number at the low end.", unit="in the unit of the question")
HIGH_END = Setting("high", "Most", "number", "The number at the high end.", unit="in the unit of the question")
STEP = Setting("step", "Step", "number", "From one number to the next.", unit="in the unit of the question")


class Slider(Numeric):
    """A number that is moved by hand, too; it has none until the worker moves it."""

    kind: Literal["slider"] = "slider"  # type: ignore[assignment]
    low: Number = number("")  # type: ignore[assignment]
    high: Number = number("")  # type: ignore[assignment]
    step: Number = number(" above 0", 1)
    low_text: Filled = words(200, "")
    high_text: Filled = words(200, "")
    whole: bool = truth(False)

    title = "Slider"
    template = "form/ask/slider.html"
    new: ClassVar[Json] = {"low": 0, "high": 100}
    inputs = (
        KEY_INPUT, QUESTION, LOW_END, HIGH_END, STEP, WHOLE,
        Setting("low_text", "Words at the low end", "text", "Shown below it; may be empty."),
        Setting("high_text", "Words at the high end", "text", "Shown below it; may be empty."),
        *CLOSING, GOLD,
    )  # fmt: skip

    def faults(self) -> Iterator[Fault]:
        if self.low >= self.high:
            yield "high", f"must be more than {self.low}, the least"
        elif not 0 < self.step <= self.high - self.low:
            yield "step", f"must be more than 0 and at most {self.high - self.low}"

    def texts(self) -> Iterator[str]:
        yield from (*super().texts(), self.low_text, self.high_text)

    def read(self, text: str) -> Number:
        value = super().read(text)
        steps = (value - self.low) / self.step
        if abs(steps - round(steps)) > 1e-6:
            said, step = f"{text!r:.40}", self.step
            sentence = _(
                "must be %(limits)s in steps of %(step)s, not %(said)s", limits=self.limits, step=step, said=said
            )
            raise NotTakenError(sentence, self.key)
        return value

    def shown(self, item: Item) -> Json:
        ends = {"low_text": item.fill(self.low_text), "high_text": item.fill(self.high_text)}
        return {**super().shown(item), **ends, "step": self.step}


ANCHORS = Setting(
    "anchors", "Words of the points, one a line", "lines", "Shown at the first and the last point, or at each.", rows=3
)
POINTS = Setting("points", "Points", "number", f"2 to {MOST_POINTS}; workers choose one of so many.", unit="points")
FIRST = Setting(
    "first", "Number of the first point", "number", "1 or 0; the others count on from it.", seldom=True, unit="point"
)


class _Points(Field):
    points: int = whole(2, MOST_POINTS, 5)
    first: int = whole(0, 1, 1)
    anchors: tuple[Filled, ...] = must(
        f"be a list of 2 texts, or of a text for each of the points, none longer than {LONGEST_WORDS} characters",
        (),
        max_length=MOST_POINTS,
    )

    def faults(self) -> Iterator[Fault]:
        if self.anchors and len(self.anchors) not in (2, self.points):
            yield "anchors", f"must be 2 texts, or {self.points}, one for each point, not {len(self.anchors)}"
        for at, text in enumerate(self.anchors):
            if len(text) > 200:
                yield f"anchors[{at}]", f"has {len(text)} characters, the limit is 200"

    def texts(self) -> Iterator[str]:
        yield from (*super().texts(), *self.anchors)

    def scale(self, item: Item) -> list[Json]:
        """Each point with its value and its words."""
        told = [item.fill(text) for text in self.anchors]
        if len(told) == 2:
            told = [told[0], *[""] * (self.points - 2), told[1]]
        told = told or [""] * self.points
        return [{"value": str(value), "text": told[value - self.first]} for value in self.point_values]

    @property
    def point_values(self) -> range:
        return range(self.first, self.first + self.points)

    def point_in_words(self, value: Any, item: Item) -> str:
        """Such as “4 of 5: agree”; of a scale that begins with 0, “4 from 0 to 5”."""
        told = {point["value"]: point["text"] for point in self.scale(item)}.get(str(value), "")
        place = f"{value} of {self.points}" if self.first else f"{value} from 0 to {self.points - 1}"
        return f"{place}: {told}" if told else place

    def point(self, text: str, name: str) -> int:
        if not _WHOLE.fullmatch(text) or int(text) not in self.point_values:
            raise NotTakenError(
                _(
                    "has a point that is not on the scale from %(first)s to %(last)s. Choose one of the scale",
                    first=self.point_values[0],
                    last=self.point_values[-1],
                ),
                name,
            )
        return int(text)

    def known(self, text: str, item: Item) -> int:
        try:
            return self.point(text, self.key)
        except NotTakenError as error:
            raise NoGoldError(f"is no point of the scale {self.key!r}") from error


class Scale(_Points, _Known):
    """A Likert scale; the value is the number of the point."""

    kind: Literal["scale"] = "scale"

    title = "Scale (Likert)"
    template = "form/ask/scale.html"
    level = "ordinal"
    inputs = (KEY_INPUT, QUESTION, POINTS, FIRST, ANCHORS, *CLOSING, GOLD)

    def values(self) -> tuple[str, ...]:
        return tuple(map(str, self.point_values))

    def shown(self, item: Item) -> Json:
        return {"scale": self.scale(item), "named": len(self.anchors) > 2}

    def taken(self, given: Given, item: Item) -> int | None:
        return self.point(given.own, self.key) if given.own else None

    def worded(self, value: Any, item: Item) -> str:
        return self.point_in_words(value, item)


class Matrix(_Points):
    """The same scale for several rows, each of which is a unit of its own."""

    lists = {"rows": Row}
    kind: Literal["matrix"] = "matrix"
    rows: tuple[Row, ...] = must(
        f"be a list of 1 to {MOST_ROWS} texts or objects of id, text, help and gold", min_length=1, max_length=MOST_ROWS
    )
    shuffle: bool = truth(False)

    title = "Matrix: the same scale for several rows"
    template = "form/ask/matrix.html"
    level = "ordinal"
    new: ClassVar[Json] = {"rows": ["First row", "Second row"]}
    inputs = (
        KEY_INPUT, QUESTION,
        Setting("rows", "Rows, one a line", "lines", f"text | help. {COLUMNS_HELP}", rows=4, lines=choice_lines),
        POINTS, FIRST, ANCHORS, SHUFFLE, *CLOSING,
    )  # fmt: skip

    def faults(self) -> Iterator[Fault]:
        yield from super().faults()
        yield from doubled(self.rows, "rows")

    def texts(self) -> Iterator[str]:
        yield from super().texts()
        for row in self.rows:
            yield from (row.text, row.help)

    @property
    def first_name(self) -> str:
        return f"{self.key}.{self.rows[0].id}"

    def units(self) -> dict[str, Level]:
        return {f"{self.key}/{row.id}": "ordinal" for row in self.rows}

    def gold_columns(self) -> dict[str, str]:
        return {f"{self.key}/{row.id}": row.gold for row in self.rows if row.gold}

    def told_by(self) -> list[str]:
        return [f"{self.key}.{row.id}" for row in self.rows]

    def posted(self, told: Mapping[str, str], item: Item) -> dict[str, str]:
        units = {row.id: f"{self.key}/{row.id}" for row in self.rows}
        return {f"{self.key}.{ident}": told[unit] for ident, unit in units.items() if unit in told}

    def shown(self, item: Item) -> Json:
        rows = [
            {"id": row.id, "text": item.fill(row.text), "help": item.fill(row.help), "name": f"{self.key}.{row.id}"}
            for row in self.rows
        ]
        return {"rows": item.order(rows, self.key) if self.shuffle else rows, "scale": self.scale(item)}

    def taken(self, given: Given, item: Item) -> dict[str, int] | None:
        told = {row.id: given.part(row.id) for row in self.rows}
        if not any(told.values()):
            return None
        found = {}
        for ident, text in told.items():
            name = f"{self.key}.{ident}"
            if text:
                found[ident] = self.point(text, name)
            elif self.required:
                raise NotTakenError(_("is not answered in every row"), name)
        return found

    def lines(self, said: Mapping[str, Any], item: Item) -> Iterator[Line]:
        right = dict(self.known_values(item))
        for row in self.rows:
            unit = f"{self.key}/{row.id}"
            if unit in said:
                known = self.point_in_words(right[unit], item) if unit in right else ""
                asked = f"{item.fill(self.question)}\n{item.fill(row.text)}"
                yield Line(asked, self.point_in_words(said[unit], item), (unit,), known)

    def labels(self, value: Any, item: Item) -> Iterator[LabelValue]:
        for ident, point in value.items():
            unit = f"{self.key}/{ident}"
            yield LabelValue(unit, point, self.judged(unit, point, item))


class Day(_Known):
    """A day; the value is written as 2026-11-22, so that the order of texts is that of days."""

    kind: Literal["date"] = "date"
    earliest: str = must("be a day such as 2026-11-22, or left out", "", max_length=10)
    latest: str = must("be a day such as 2026-11-22, or left out", "", max_length=10)

    title = "Date"
    template = "form/ask/date.html"
    level = "ordinal"
    inputs = (
        KEY_INPUT, QUESTION,
        Setting("earliest", "Earliest day", "text", "Others are refused. As 2026-11-22; may be empty."),
        Setting("latest", "Latest day", "text", "Others are refused. As 2026-11-22; may be empty."), *CLOSING, GOLD,
    )  # fmt: skip

    def faults(self) -> Iterator[Fault]:
        right = True
        for name in ("earliest", "latest"):
            if getattr(self, name) and not _is_day(getattr(self, name)):
                right = False
                yield name, f"must be a day such as 2026-11-22, not {getattr(self, name)!r}"
        if right and self.earliest and self.latest and self.latest < self.earliest:
            yield "latest", f"must not be before {self.earliest}, the earliest day"

    def shown(self, item: Item) -> Json:
        return {"earliest": self.earliest, "latest": self.latest}

    def taken(self, given: Given, item: Item) -> str | None:
        text = given.own.strip()
        if not text:
            return None
        if not _is_day(text):
            raise NotTakenError(_("must be a day, written as 2026-11-22"), self.key)
        if (self.earliest and text < self.earliest) or (self.latest and text > self.latest):
            raise NotTakenError(self._outside, self.key)
        return text

    @property
    def _outside(self) -> str:
        first, last = self.earliest, self.latest
        if first and last:
            return _("must be a day not before %(first)s and not after %(last)s", first=first, last=last)
        if first:
            return _("must be a day not before %(first)s", first=first)
        return _("must be a day not after %(last)s", last=last)

    def known(self, text: str, item: Item) -> str:
        if not _is_day(text):
            raise NoGoldError("is no day such as 2026-11-22")
        return text


def _is_day(text: str) -> bool:
    try:
        return bool(_DAY.fullmatch(text)) and bool(date.fromisoformat(text))
    except ValueError:
        return False


# Texts


def _is_pattern(pattern: str) -> str:
    try:
        patterns.check(pattern)
    except ValueError as error:
        raise ValueError(f"must be a regular expression of RE2: {error}") from error
    return pattern


class _Written(Field):
    """The value is an object with the text, so that no rule takes a short text for a value to count."""

    least: int = whole(0, MOST_LETTERS, 0)
    least_words: int = whole(0, 2000, 0)
    most_words: int | None = must("be a whole number from 1 to 2,000", None, strict=True, ge=1, le=2000)

    level = "text"

    @property
    @abstractmethod
    def longest(self) -> int:
        """The most characters."""

    @property
    def most_characters(self) -> int:
        # A line end counts as one character, and some browsers post it as two.
        return SHORT_CONTROL + 2 * self.longest

    def faults(self) -> Iterator[Fault]:
        if self.least > self.longest:
            yield "least", f"must be at most {self.longest}, the most characters"
        if self.most_words is not None and self.most_words < self.least_words:
            yield "most_words", f"must be at least {self.least_words}, the fewest words"

    def shown(self, item: Item) -> Json:
        return {
            "least": self.least,
            "most": self.longest,
            "least_words": self.least_words,
            "most_words": self.most_words,
            "limits": self.limits,
        }

    @property
    def limits(self) -> str:
        """What is asked of the text, in words; empty where it is nothing but its length."""
        low, high = self.least_words, self.most_words
        if low and high:
            return _("%(low)s to %(high)s words", low=low, high=high)
        if low:
            return _("at least %(low)s words", low=low)
        return _("at most %(high)s words", high=high) if high else ""

    def taken(self, given: Given, item: Item) -> Json | None:
        text = printed(given.own)
        if not text:
            return None
        count = len(text.split())
        if len(text) < self.least:
            sentence = _("has %(length)s characters. Write at least %(least)s", length=len(text), least=self.least)
            raise NotTakenError(sentence, self.key)
        if len(text) > self.longest:
            length, most = figure(len(text)), figure(self.longest)
            sentence = _("has %(length)s characters. Shorten it to %(most)s", length=length, most=most)
            raise NotTakenError(sentence, self.key)
        if count < self.least_words:
            words_there = ngettext("%(count)s word", "%(count)s words", count)
            sentence = _("has %(words)s. Write at least %(least)s", words=words_there, least=self.least_words)
            raise NotTakenError(sentence, self.key)
        if self.most_words and count > self.most_words:
            sentence = _(
                "has %(length)s words. Shorten it to %(most)s", length=figure(count), most=figure(self.most_words)
            )
            raise NotTakenError(sentence, self.key)
        return {"text": text}


LENGTHS = (
    Setting("least", "Fewest characters", "number", "Shorter texts are refused.", seldom=True, unit="characters"),
    Setting("most", "Most characters", "number", "Longer texts are refused.", seldom=True, unit="characters"),
    Setting("least_words", "Fewest words", "number", "Texts with fewer are refused.", seldom=True, unit="words"),
    Setting(
        "most_words",
        "Most words",
        "number",
        "Texts with more are refused. Empty: any number.",
        seldom=True,
        unit="words",
    ),
)


class ShortText(_Written):
    kind: Literal["short_text"] = "short_text"
    most: int = whole(1, 500, SHORT)
    pattern: Annotated[str, AfterValidator(_is_pattern)] = must("be a text", "", max_length=patterns.LONGEST)
    pattern_help: Filled = words(200, "")

    title = "Short text"
    template = "form/ask/short_text.html"
    inputs = (
        KEY_INPUT, QUESTION, *LENGTHS,
        Setting("pattern", "Regular expression", "text", "The whole text must fit it; RE2. May be empty.", seldom=True),
        Setting(
            "pattern_help", "What the expression asks for", "text",
            "Told to whoever writes something else, such as: three digits.", seldom=True,
        ),
        *CLOSING,
    )  # fmt: skip

    @property
    def longest(self) -> int:
        return self.most

    def faults(self) -> Iterator[Fault]:
        yield from super().faults()
        if self.pattern and not self.pattern_help:
            yield "pattern_help", "must say in words what the expression asks for"

    def texts(self) -> Iterator[str]:
        yield from (*super().texts(), self.pattern_help)

    def shown(self, item: Item) -> Json:
        return {**super().shown(item), "pattern": bool(self.pattern), "pattern_help": item.fill(self.pattern_help)}

    def taken(self, given: Given, item: Item) -> Json | None:
        value = super().taken(given, item)
        if value and "\n" in value["text"]:
            raise NotTakenError(_("has more than one line. Write one"), self.key)
        if value and self.pattern and not patterns.fits(self.pattern, value["text"]):
            wanted = item.fill(self.pattern_help)[:120]
            raise NotTakenError(_("does not fit what is asked for: %(wanted)s", wanted=wanted), self.key)
        return value


class LongText(_Written):
    kind: Literal["long_text"] = "long_text"
    most: int = whole(1, MOST_LETTERS, LONG)

    title = "Long text"
    template = "form/ask/long_text.html"
    inputs = (KEY_INPUT, QUESTION, *LENGTHS, *CLOSING)

    @property
    def longest(self) -> int:
        return self.most


# Spans of a text


# Of a text to mark: below it the labels can follow. Of a longer one they stay in sight and lie over its end.
SHORT_TEXT = 300


class Spans(_Listing):
    """Spans of the text of a column, each with a label. The value is the list of {"start", "end", "label"}, sorted;
    `hits.protocols.marked` says what is counted. `key/id` is yes or no: whether anything has that label; `key/nothing`
    is yes where the worker says that there is nothing to mark.
    """

    kind: Literal["spans"] = "spans"
    column: Plain = column()
    choices: tuple[Choice, ...] = must(
        f"be a list of 1 to {MOST_CHOICES} texts or objects of id, text and help", min_length=1, max_length=MOST_CHOICES
    )
    whole_words: bool = truth(True)
    overlap: bool = truth(False)
    least: int = whole(0, marked.MOST_SPANS, 0)
    most: int = whole(1, marked.MOST_SPANS, 50)

    title = "Spans of a text with labels"
    template = "form/ask/spans.html"
    level = "span"
    new: ClassVar[Json] = {"column": "text", "choices": ["First label", "Second label"]}
    inputs = (
        KEY_INPUT, QUESTION,
        Setting("column", "Column with the text to mark", "text", "The question shows this text."),
        Setting(
            "choices", "Labels, one a line", "lines",
            f"The first nine have the keys 1 to 9. Help may follow a bar: text | help. {COLUMNS_HELP}",
            rows=4, lines=choice_lines,
        ),
        Setting("whole_words", "Only whole words can be marked", "bool", marked.WHOLE_WORDS),
        Setting("overlap", "Marked spans may overlap", "bool", "Otherwise a span within another is refused."),
        Setting(
            "least", "Fewest spans", "number",
            "0: there may be nothing to mark.", seldom=True, unit="spans",
        ),
        Setting(
            "most", "Most spans", "number",
            f"1 to {marked.MOST_SPANS}; more are refused.", seldom=True, unit="spans",
        ),
        *CLOSING,
        Setting(
            "gold", "Column with the gold answer", "text",
            "Its values are JSON: [[start, end, label], ...], counted in characters from 0. May be empty.", seldom=True,
        ),
    )  # fmt: skip

    def faults(self) -> Iterator[Fault]:
        yield from super().faults()
        for at, choice in enumerate(self.choices):
            if choice.id == marked.NOTHING:
                yield f"choices[{at}].id", f"must not be {marked.NOTHING}, which stands for a text without any mark"
        if self.most < self.least:
            yield "most", f"must be at least {self.least}, the fewest spans"

    def columns(self) -> set[str]:
        return super().columns() | {self.column}

    def holds(self, value: Any, wanted: Sequence[str]) -> bool:
        return any(span["label"] in wanted for span in value)

    def units(self) -> dict[str, Level]:
        parts = [*([] if self.least else [marked.NOTHING]), *self.values()]
        return {self.key: self.level, **{f"{self.key}/{part}": "nominal" for part in parts}}

    def text(self, item: Item) -> str:
        """What is marked, as it is stored: places in it count; empty where the item has none that can be."""
        value = item.columns.get(self.column)
        return value if isinstance(value, str) and value.strip() and len(value) <= marked.LONGEST_TEXT else ""

    def item_faults(self, item: Item) -> Iterator[str]:
        if self.column in item.columns and not self.text(item):
            yield (
                f"The column {self.column!r:.60} holds no text to mark: it must be a text that is not blank, at most "
                f"{marked.LONGEST_TEXT:,} characters."
            )
        else:
            yield from super().item_faults(item)

    @property
    def most_characters(self) -> int:
        return 2 * SHORT_CONTROL + marked.LONGEST_FIELD

    @property
    def limits(self) -> marked.Limits:
        return marked.Limits(frozenset(self.values()), self.whole_words, self.overlap, self.least, self.most)

    def shown(self, item: Item) -> Json:
        if not (text := self.text(item)):
            return {"instead": f"[{self.column}]"}
        part, heading = f"{self.key}.", f"question-{self.key}"
        labels = self.offered(item)
        marking = marked.shown(text, labels, self.limits, name=self.key, part=part, heading=heading)
        return {"marking": marking, "short": len(text) <= SHORT_TEXT}

    def taken(self, given: Given, item: Item) -> list[Json] | None:
        if marked.is_empty(given.own, given.part):
            return None
        spans, faults = marked.taken(given.own, given.part, self.text(item), self.limits)
        if faults:
            told = [_("is not marked as asked. %(fault)s", fault=fault.rstrip(".")) for fault in faults]
            raise NotTakenError(told[0], self.key, *told[1:])
        return _as_objects(spans)

    def labels(self, value: Any, item: Item) -> Iterator[LabelValue]:
        yield from super().labels(value, item)
        given = {span["label"] for span in value} or {marked.NOTHING}
        for unit in list(self.units())[1:]:
            yield LabelValue(unit, yes_no(unit.removeprefix(f"{self.key}/") in given), None)

    def worded(self, value: Any, item: Item) -> str:
        return marked.in_words(value, self.text(item), self.choice_texts(item))

    def known(self, text: str, item: Item) -> list[Json]:
        spans: list[marked.Span] = []
        try:
            for one in filling.listed(text):
                start, end, label = (one["start"], one["end"], one["label"]) if isinstance(one, dict) else one
                if type(start) is not int or type(end) is not int:
                    raise ValueError("An end is no whole number.")
                spans.append((start, end, self.choice_of(str(label), item)))
        except NoGoldError:
            raise
        except (ValueError, TypeError, LookupError) as error:
            raise NoGoldError("is no list such as [[0, 5, label], ...] in JSON") from error
        faults = marked.faults(spans, not spans, self.text(item), self.limits)
        if faults:
            raise NoGoldError(f"cannot be an answer of {self.key!r}: {faults[0].rstrip('.')}")
        return _as_objects(sorted(spans))

    def suggested(self, text: str, item: Item) -> Any:
        return self.known(text, item)


def _as_objects(spans: Sequence[marked.Span]) -> list[Json]:
    return [{"start": start, "end": end, "label": label} for start, end, label in spans]


_ALL: Sequence[type[Field]] = (
    One, Dropdown, AnyOf, ShortText, LongText, Numeric, Scale, Slider, Ranking, Pair, Day, Matrix, Spans,
)  # fmt: skip
KINDS: Mapping[str, type[Field]] = {kind.model_fields["kind"].default: kind for kind in _ALL}
