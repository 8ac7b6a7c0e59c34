"""What the kinds of displays and of fields are made of: texts, lists of choices, and the item as a worker sees it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, StringConstraints

from hits.protocols.base import Json
from hits.protocols.choosing import shuffled
from hits.protocols.form import filling
from hits.protocols.given_settings import printed
from hits.protocols.optional import Setting
from hits.text.tables import Table, must, named

LONGEST_TEXT = 10_000
LONGEST_WORDS = 1000
LONGEST_CHOICE = 500
LONGEST_COLUMN = 200
# A key, a dot or a slash and an id are a name of at most 60 characters, which a label's unit can have.
LONGEST_KEY, LONGEST_ID = 24, 35
MOST_CHOICES = 40
KEY = "[a-z][a-z0-9]*(-[a-z0-9]+)*"
ID = "[A-Za-z0-9][A-Za-z0-9_-]*"
# Names of fields that every task page has, and words of the rule language.
TAKEN = ("comment", "page", "step", "order", "and", "or", "not", "in")
# Stands for a line end in what is written one a line.
NEW_LINE = "⏎"
_NO_ID = re.compile(r"[^a-z0-9]+")

Fault = tuple[str, str]
"""Where in a display or field something is wrong, such as `choices[2].text`, and the rest of the sentence."""


def _with_braces(text: str) -> str:
    if faults := filling.faults_of(text):
        raise ValueError(*faults)
    return text


def _without_bar(text: str) -> str:
    if "|" in text:
        raise ValueError("must not hold a bar: bars part id, text and help where choices are written one a line")
    return text


def _one_line(text: str) -> str:
    return " ".join(text.split())


_Stripped = Annotated[str, StringConstraints(strip_whitespace=True, strict=True), AfterValidator(printed)]
Filled = Annotated[_Stripped, AfterValidator(_with_braces)]
"""A text with `{column}` in it."""
Parted = Annotated[Filled, AfterValidator(_without_bar)]
"""A text of a choice."""
Plain = Annotated[_Stripped, AfterValidator(_one_line)]
"""A text of one line, without columns."""


def words(longest: int = LONGEST_WORDS, default: Any = ...) -> Any:
    what = "be a text that is not blank" if default is ... else "be a text"
    return must(what, default, min_length=1 if default is ... else 0, max_length=longest)


def column(default: Any = ...) -> Any:
    what = f"be the name of a column, at most {LONGEST_COLUMN} characters"
    return must(what, default, min_length=1 if default is ... else 0, max_length=LONGEST_COLUMN)


def number(what: str, default: Any = ...) -> Any:
    return must(f"be a number{what}", default, ge=-1e12, le=1e12, allow_inf_nan=False)


@dataclass(frozen=True)
class Item:
    """The columns of an item, and who sees it: the seed of every order of one's own.

    `shown` are the names of the columns that the form shows. Known answers are none of them, so they decide no order.
    `media` are the uploaded files that its columns name; see `hits.protocols.optional.MediaProtocol`.
    """

    columns: filling.Columns
    shown: Sequence[str] = ()
    worker: str = ""
    media: Mapping[str, Json] = field(default_factory=dict)

    @cached_property
    def identity(self) -> str:
        told = "\0".join(f"{name}\0{filling.said(self.columns.get(name))}" for name in self.shown)
        return hashlib.sha256(told.encode(errors="replace")).hexdigest()

    def fill(self, text: str) -> str:
        return filling.filled(text, self.columns)

    def said(self, name: str) -> str:
        return filling.said(self.columns.get(name)).strip()

    def order(self, choices: Sequence[Json], key: str) -> list[Json]:
        """In an order of the worker's own."""
        return shuffled(choices, self.worker, key, self.identity)

    def turned(self, key: str) -> bool:
        """Whether two sides change places for this worker."""
        seed = "\0".join(["sides", self.worker, key, self.identity])
        return bool(hashlib.sha256(seed.encode(errors="replace")).digest()[0] & 1)

    def missing(self, names: Sequence[str]) -> Iterator[str]:
        for name in names:
            if name not in self.columns:
                # What an earlier stage said is a column such as `ask.mood`; a file may have such a name too.
                said = " An earlier stage brings it only where its answers agree." if "." in name else ""
                yield f"The form names the column {name!r:.60}, which is missing: add it, or correct the form.{said}"


class Choice(Table):
    """One of several answers."""

    id: str = must(
        f"be letters, digits and hyphens, at most {LONGEST_ID}", pattern=f"^{ID}$", min_length=1, max_length=LONGEST_ID
    )
    text: Parted = words(LONGEST_CHOICE)
    help: Parted = words(LONGEST_CHOICE, "")


class Row(Choice):
    """A row of a matrix; `gold` is the column with its known answer."""

    gold: Plain = column("")


class Part(Table):
    """A heading and a text below or beside it."""

    heading: Filled = words(200, "")
    text: Filled = words(LONGEST_TEXT)


class ShownIf(Table):
    """A field is shown only if another one, which comes before it, has one of these values."""

    field: str = named(KEY, "the key of a field before this one")
    values: tuple[str, ...] = must("be a list of texts", min_length=1, max_length=MOST_CHOICES)


class Kind(Table):
    """A kind of display or field: the settings of one are the values of its class's fields.

    `title` names the kind for leads, `inputs` are the settings as the page "Task" shows them, and `new` are those with
    which one begins that was added there.
    """

    title: ClassVar[str]
    template: ClassVar[str]
    inputs: ClassVar[tuple[Setting, ...]] = ()
    new: ClassVar[Json] = {}

    @classmethod
    def completed(cls, given: Mapping[str, Any]) -> Json:
        """What was given, with lists as they are kept: choices with an id each."""
        found = dict(given)
        for name in cls.lists:
            if isinstance(found.get(name), list):
                found[name] = completed_list(cls.lists[name], found[name])
        return found

    @classmethod
    def defaults(cls) -> Json:
        """The values of settings that are left out."""
        given = {name: setting.default for name, setting in cls.model_fields.items() if not setting.is_required()}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in given.items()}

    def faults(self) -> Iterator[Fault]:
        """What does not fit together of settings each of which is right by itself."""
        return iter(())

    def texts(self) -> Iterator[str]:
        """Every text in which columns may be named."""
        return iter(())

    def columns(self) -> set[str]:
        """The columns that it shows."""
        return {name for text in self.texts() for name in filling.columns_in(text)}

    def item_faults(self, item: Item) -> Iterator[str]:
        """Why it cannot show this item, sentences; columns that are missing are told elsewhere."""
        return iter(())


def completed_list(model: type[Table], given: Sequence[Any]) -> list[Any]:
    """Lines as the tables that they stand for, and an id for every choice that has none.

    A choice is `text`, `text | help` or `id | text | help`, a row of a matrix may have its column of known answers
    behind one more bar, and a part is `text` or `heading | text`.
    """
    if not issubclass(model, Choice):
        return [_part(one) if isinstance(one, str) else one for one in given]
    found = [_choice(one) if isinstance(one, str) else dict(one) if isinstance(one, dict) else one for one in given]
    used = {str(one.get("id")) for one in found if isinstance(one, dict)}
    for one in found:
        if isinstance(one, dict) and "id" not in one and isinstance(one.get("text"), str):
            one["id"] = _free(one["text"], used)
            used.add(one["id"])
    return [{name: one[name] for name in _ordered(one)} if isinstance(one, dict) else one for one in found]


def _ordered(table: Mapping[str, Any]) -> list[str]:
    """The id first, as people read it."""
    return sorted(table, key=lambda name: name != "id")


def _part(line: str) -> Json:
    heading, bar, text = line.replace(NEW_LINE, "\n").partition("|")
    return {"heading": heading.strip(), "text": text.strip()} if bar else {"text": line.strip()}


def _choice(line: str) -> Json:
    parts = [part.strip() for part in line.replace(NEW_LINE, "\n").split("|", 3)]
    names = ("id", "text", "help", "gold")[: len(parts)] if len(parts) > 2 else ("text", "help")
    return {name: part for name, part in zip(names, parts, strict=False) if part or name in ("id", "text")}


def slug(text: str) -> str:
    return _NO_ID.sub("-", text.lower()).strip("-")[: LONGEST_ID - 4].strip("-") or "choice"


def _free(text: str, used: set[Any]) -> str:
    own = slug(text)
    if own not in used:
        return own
    return next(name for number in range(2, len(used) + 3) if (name := f"{own}-{number}") not in used)


def doubled(choices: Sequence[Choice], name: str = "choices") -> Iterator[Fault]:
    """Workers cannot tell two equal texts apart, nor rules two equal ids."""
    for part in ("id", "text"):
        told = [" ".join(str(getattr(choice, part)).casefold().split()) for choice in choices]
        for at, one in enumerate(told):
            if one in told[:at]:
                yield f"{name}[{at}].{part}", f"must differ from that of {name}[{told.index(one)}]"


def choice_lines(choices: Sequence[Any]) -> list[str]:
    """Choices as a lead writes them, one a line; an id is left out where the words give it anyway."""
    used: set[Any] = set()
    found = []
    for choice in choices:
        if not isinstance(choice, dict):
            found.append(str(choice))
            continue
        ident, text, help, gold = (str(choice.get(name, "")) for name in ("id", "text", "help", "gold"))
        usual = ident in ("", _free(text, used)) and not gold
        used.add(ident)
        parts = [text, *([help] if help else [])] if usual else [ident, text, help, *([gold] if gold else [])]
        found.append(_as_line(" | ".join(parts)))
    return found


def part_lines(parts: Sequence[Any]) -> list[str]:
    found = []
    for part in parts:
        heading, text = (
            (str(part.get(name, "")) for name in ("heading", "text")) if isinstance(part, dict) else ("", str(part))
        )
        found.append(_as_line(f"{heading} | {text}" if heading or ("|" in text and isinstance(part, dict)) else text))
    return found


def _as_line(text: str) -> str:
    return text.rstrip().replace("\n", NEW_LINE)


def condition(line: str) -> Json:
    """`mood = bad, angry` as {"field", "values"}."""
    field, _, values = line.partition("=")
    return {"field": field.strip(), "values": [value.strip() for value in values.split(",") if value.strip()]}


def condition_line(value: Any) -> str:
    if not isinstance(value, dict):
        return str(value or "")
    values = value.get("values")
    return f"{value.get('field', '')} = {', '.join(map(str, values)) if isinstance(values, list) else ''}"


@dataclass(frozen=True)
class Given:
    """The posted values of one field, by the part of the name behind its key; `own` is that of the key alone."""

    key: str
    posted: Mapping[str, str] = field(default_factory=dict)

    @property
    def own(self) -> str:
        return str(self.posted.get(self.key, ""))

    def part(self, name: str) -> str:
        return str(self.posted.get(f"{self.key}.{name}", ""))
