"""A questionnaire made from a file of results: what was shown then is shown, and what was answered is asked.

Of Mechanical Turk's and Turkle's files: each column `Input.*` becomes a text, each `Answer.*` a field whose kind is
proposed from its values, and which a lead may change. The values are looked at in the file's first rows.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import BinaryIO

from django.conf import settings
from django.utils.text import slugify

from hits.formats.files import rows
from hits.formats.files.faults import Fault, Faults, FormatErrors
from hits.formats.inputs import results_reading
from hits.formats.inputs.results_reading import MTURK
from hits.formats.outputs.results import ANSWER, INPUT
from hits.models import Stage
from hits.protocols import get
from hits.protocols.base import Json, SettingsRefusedError
from hits.protocols.form.parts import LONGEST_CHOICE, LONGEST_KEY, TAKEN
from hits.protocols.form.schema import MOST_DISPLAYS, MOST_FIELDS
from hits.publishing.rules.hit_plans import is_published
from hits.refusals import Refused

FORM = "form"
KINDS: Mapping[str, str] = {
    "one": "One choice",
    "any": "Several choices",
    "scale": "Scale",
    "number": "Number",
    "short_text": "Short text",
    "long_text": "Long text",
    "": "Left out",
}
_KNOWN = ", ".join(filter(None, KINDS))
# A choice is proposed for so many values, and can be made of so many.
FEW, MOST_CHOICES = 12, 40
HIGHEST_POINT = 10
LONGEST_SHORT, LONGEST_LONG = 200, 10_000
# Rows that are looked at, different values of a column that are counted, and those that a lead sees.
MOST_ROWS, MOST_VALUES, SHOWN_VALUES = 50_000, 200, 12
_NUMBER = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,10})?")
# Such a column tells workers what is right.
_TELLS = re.compile(r"gold|known|expected|correct|solution", re.IGNORECASE)
_UNNAMED = re.compile(r"[{}\n]")


def _refused(faults: Sequence[str]) -> Refused:
    """No questionnaire can be made from the file in this way."""
    shown = list(faults[:20])
    return Refused("no_form_from_file", " ".join(shown), status=400, faults=shown)


@dataclass
class _Seen:
    """What the cells of one column are. `values` has how often each came; `more` says that not all are in it."""

    values: Counter[str] = field(default_factory=Counter)
    parts: Counter[str] = field(default_factory=Counter)
    more: bool = False
    blank: int = 0
    longest: int = 0
    lines: bool = False
    numbers: bool = True
    whole: bool = True
    low: float = 0
    high: float = 0

    def add(self, cell: str) -> None:
        text = cell.strip()
        if not text:
            self.blank += 1
            return
        is_first = not self.values
        self.longest, self.lines = max(self.longest, len(text)), self.lines or "\n" in text
        if _NUMBER.fullmatch(text):
            value = float(text)
            self.low, self.high = (value, value) if is_first else (min(self.low, value), max(self.high, value))
            self.whole = self.whole and "." not in text
        else:
            self.numbers = False
        self.more |= not _counted(self.values, text)
        for part in text.split("|") if "|" in text else [text]:
            self.more |= not _counted(self.parts, part.strip())

    @property
    def is_parted(self) -> bool:
        return any("|" in value for value in self.values)


def _counted(counts: Counter[str], text: str) -> bool:
    """False for a value that there is no room for; long ones are none that anybody chooses."""
    if len(text) > LONGEST_CHOICE or (text not in counts and len(counts) >= MOST_VALUES):
        # One is kept, so that a column with long texts alone is not taken for an empty one.
        counts.update([text[:LONGEST_CHOICE]] if not counts else [])
        return False
    counts[text] += 1
    return True


@dataclass(frozen=True)
class ProposedField:
    """`values` are the most frequent ones with their numbers; `why` says what is in the way of the chosen kind."""

    column: str
    key: str
    kind: str
    values: tuple[tuple[str, int], ...]
    different: int
    more: bool
    blank: int
    setting: Json
    why: str = ""


@dataclass(frozen=True)
class Proposal:
    """`shown` has each column `Input.*` with whether it is shown. `rows` were looked at, of which `all_rows` says
    whether there are no others.
    """

    fields: tuple[ProposedField, ...]
    shown: tuple[tuple[str, bool], ...]
    rows: int
    all_rows: bool

    @property
    def faults(self) -> list[str]:
        found = [f"{one.column}: {one.why}" for one in self.fields if one.why]
        asked = sum(1 for one in self.fields if one.kind)
        if not asked:
            found.append("Nothing is asked: give one column of answers a kind.")
        if asked > MOST_FIELDS:
            found.append(f"{asked} columns are asked; a questionnaire has at most {MOST_FIELDS}. Leave some out.")
        shown = sum(1 for _, is_shown in self.shown if is_shown)
        if shown > MOST_DISPLAYS:
            found.append(f"{shown} columns are shown; a questionnaire has at most {MOST_DISPLAYS}. Hide some.")
        return found

    @property
    def form(self) -> Json:
        return {
            "show": [
                {"kind": "text", "heading": _words(name.removeprefix(INPUT)), "text": f"{{{name.removeprefix(INPUT)}}}"}
                for name, is_shown in self.shown
                if is_shown
            ],
            "ask": [one.setting for one in self.fields if one.kind],
        }

    @property
    def mapping(self) -> list[tuple[str, str]]:
        """(field of the form, column of the file), as an import takes them."""
        return [(f"{ANSWER}{one.key}", one.column) for one in self.fields if one.kind]


def propose(
    stream: BinaryIO, name: str, kinds: Mapping[str, str] | None = None, hidden: Collection[str] | None = None
) -> Proposal:
    """What a questionnaire of the file's columns would be; `kinds` by column of answers replaces what is proposed.

    `hidden` are the columns `Input.*` that are not shown; None: those that may tell the right answer, and those
    beyond the most that a form shows. Raises FormatErrors, and Refused for a kind or a column that does not exist.
    """
    seen: dict[str, _Seen] = {}
    faults = Faults()
    with rows.opened(stream, name, max_bytes=settings.MAX_IMPORT_BYTES) as file:
        table = results_reading.layout_of(file.columns)
        if table.layout != MTURK:
            raise _refused(
                ["Only files with Input.* and Answer.*, such as Mechanical Turk’s and Turkle’s, say what was asked."]
            )
        _refuse_unknown(table.asks, table.shows, kinds or {}, hidden or ())
        seen = {column: _Seen() for column in table.asks}
        count, left = 0, iter(file.rows(faults))
        for _, cells in islice(left, MOST_ROWS):
            count += 1
            for column, of in seen.items():
                of.add(cells[column])
        all_rows = next(left, None) is None
    faults.refuse()
    if not count:
        raise FormatErrors([Fault(None, "", "holds no row")])
    keys = _keys(table.asks)
    asked = (_field(column, keys[column], seen[column], (kinds or {}).get(column)) for column in table.asks)
    fields = tuple(asked) if kinds is not None else _at_most(asked)
    return Proposal(fields, tuple(_shown(table.shows, hidden)), count, all_rows)


def with_kinds(content: bytes, name: str, kinds: Mapping[str, str], hidden: Collection[str] | None) -> Proposal:
    """As `propose`, where `kinds` names some columns alone: the others are as proposed."""
    found = propose(io.BytesIO(content), name, None, hidden)
    if not kinds:
        return found
    return propose(io.BytesIO(content), name, {one.column: one.kind for one in found.fields} | dict(kinds), hidden)


def checked(proposal: Proposal) -> Json:
    """The settings of a stage with the proposed form. Raises Refused (no_form_from_file) with every fault."""
    if faults := proposal.faults:
        raise _refused(faults)
    try:
        return get(FORM).settings({"form": proposal.form})
    except SettingsRefusedError as refusal:
        raise _refused(refusal.reasons) from refusal


def can_be_rewritten(stage: Stage) -> bool:
    """Whether the stage's own questionnaire can become the one of a file: it was never published nor answered."""
    return stage.protocol == FORM and not is_published(stage) and not stage.assignments.exists()


def refuse_without_rows(stage: Stage) -> None:
    """A stage that is added asks about the rows that the first one has. Raises Refused (no_form_from_file)."""
    first = stage.project.stages.filter(crowd=True).order_by("position").first()
    if first is None or not first.items.exists():
        raise _refused(
            [
                "A new stage would ask about the rows of the project, which has none: import their file first, or "
                "start a project with the recipe form and send the results to its stage."
            ]
        )


def _refuse_unknown(asks: Sequence[str], shows: Sequence[str], kinds: Mapping[str, str], hidden: Iterable[str]) -> None:
    faults = [f"There is no column {name[:80]!r} of answers." for name in kinds if name not in asks]
    faults += [
        f"{name[:80]}: there is no kind {kind[:40]!r}; there are {_KNOWN}, and '' to leave it out."
        for name, kind in kinds.items()
        if kind not in KINDS
    ]
    faults += [f"There is no column {name[:80]!r} that was shown." for name in hidden if name not in shows]
    if faults:
        raise _refused(faults)


def _shown(columns: Sequence[str], hidden: Collection[str] | None) -> Iterable[tuple[str, bool]]:
    left = MOST_DISPLAYS
    for column in columns:
        name = column.removeprefix(INPUT)
        can_be = bool(name.strip()) and not _UNNAMED.search(name) and len(name) <= 200
        is_shown = column not in hidden if hidden is not None else left > 0 and not _TELLS.search(name)
        left -= can_be and is_shown
        yield column, can_be and is_shown


def _keys(columns: Sequence[str]) -> dict[str, str]:
    """A key of its own for each column, made of its name."""
    found: dict[str, str] = {}
    for number, column in enumerate(columns, 1):
        made = slugify(re.sub(r"[._]+", "-", column.removeprefix(ANSWER)))[: LONGEST_KEY - 4].strip("-")
        key = re.sub("-+", "-", made.replace("_", "-")).strip("-")
        if not key or not key[0].isalpha():
            key = f"field-{key}" if key else f"field-{number}"
        found[column] = _free(key, number, {*TAKEN, *found.values()})
    return found


def _free(key: str, number: int, taken: Collection[str]) -> str:
    """The key, where another one has it with a number behind it."""
    found = key
    while found in taken:
        found, number = f"{key[: LONGEST_KEY - 5].rstrip('-')}-{number}", number + 1
    return found


def _at_most(fields: Iterable[ProposedField]) -> tuple[ProposedField, ...]:
    """As many as a form asks; the others are proposed to be left out."""
    left, found = MOST_FIELDS, []
    for one in fields:
        found.append(one if not one.kind or left > 0 else ProposedField(**{**vars(one), "kind": "", "setting": {}}))
        left -= bool(one.kind)
    return tuple(found)


def _field(column: str, key: str, seen: _Seen, wanted: str | None) -> ProposedField:
    kind = _guess(seen) if wanted is None else wanted
    setting, why = _setting(kind, seen)
    asked = {"kind": kind, "key": key, "question": _words(column.removeprefix(ANSWER)) or key}
    return ProposedField(
        column,
        key,
        kind,
        tuple(seen.values.most_common(SHOWN_VALUES)),
        len(seen.values),
        seen.more,
        seen.blank,
        {**asked, **({"required": False} if seen.blank else {}), **setting} if kind else {},
        why,
    )


def _guess(seen: _Seen) -> str:
    if not seen.values:
        return ""
    if seen.numbers and len(seen.values) > 2:
        return "scale" if seen.whole and seen.low >= 0 and seen.high <= HIGHEST_POINT else "number"
    if seen.is_parted and _are_few(seen.parts, seen):
        return "any"
    if _are_few(seen.values, seen):
        return "one"
    if seen.numbers:
        return "number"
    return "long_text" if seen.lines or seen.longest > LONGEST_SHORT else "short_text"


def _are_few(counts: Counter[str], seen: _Seen) -> bool:
    """Different values, not many, and each of them more than once."""
    return not seen.more and 2 <= len(counts) <= FEW and min(counts.values()) >= 2


def _setting(kind: str, seen: _Seen) -> tuple[Json, str]:
    """(what the field has besides key and question, why its values are none of this kind)."""
    match kind:
        case "one" | "any":
            counts = seen.parts if kind == "any" else seen.values
            if seen.more or not 2 <= len(counts) <= MOST_CHOICES:
                told = f"more than {MOST_CHOICES}" if seen.more or len(counts) > MOST_CHOICES else str(len(counts))
                return {}, f"a list of answers has 2 to {MOST_CHOICES}, and the column has {told}: choose another kind."
            return {"choices": _choices(counts)}, ""
        case "scale":
            first = 0 if seen.low == 0 else 1
            if not (seen.numbers and seen.whole and seen.values and seen.low >= 0 and seen.high <= HIGHEST_POINT):
                return {}, f"a scale has whole numbers from 0 or 1 to {HIGHEST_POINT}: choose another kind."
            return {"points": max(2, int(seen.high) - first + 1), "first": first}, ""
        case "number":
            if not (seen.numbers and seen.values):
                return {}, "not all of its values are numbers: choose another kind."
            return {"whole": seen.whole}, ""
        case "short_text":
            if seen.lines or seen.longest > 500:
                return {}, "a short text is one line of at most 500 characters: choose a long text."
            return {"most": max(LONGEST_SHORT, seen.longest)}, ""
        case "long_text":
            if seen.longest > LONGEST_LONG:
                return (
                    {},
                    f"a text has at most {LONGEST_LONG:,} characters, and one has {seen.longest:,}: leave it out.",
                )
            return {"most": max(2000, seen.longest)}, ""
    return {}, ""


def _choices(counts: Counter[str]) -> list[Json]:
    """In the order of their names; numbers by their size. An id is made of the text, where it tells it apart."""
    texts = sorted(counts, key=lambda text: (0, float(text), text) if _NUMBER.fullmatch(text) else (1, 0.0, text))
    made = [slugify(text)[:40].strip("-_") for text in texts]
    # Where the id of one is the text of another one, a cell could mean both.
    is_mixed = any(ident in texts and texts[at] != ident for at, ident in enumerate(made))
    is_plain = len(set(made)) == len(made) and all(made) and not is_mixed
    ids = made if is_plain else [f"answer-{number}" for number in range(1, len(texts) + 1)]
    return [{"id": ident, "text": _words(text)} for ident, text in zip(ids, texts, strict=True)]


def _words(text: str) -> str:
    """Braces in a form stand for columns."""
    return text.strip().replace("{", "{{").replace("}", "}}")
