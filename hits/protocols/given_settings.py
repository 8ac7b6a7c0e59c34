"""Settings as a lead or a recipe gives them: completed with defaults, every fault found before one is told."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from hits.protocols.base import Json, SettingsRefusedError
from hits.protocols.optional import Setting

MAX_SECONDS = 600
LONGEST_INSTRUCTIONS = 10_000
LONGEST_QUESTION = 1000
LONGEST_CHOICE = 500
MOST_CHOICES = 40
LONGEST_ID = 40
# Every protocol whose page extends `answers/task/base.html` understands these.
COMMON: Json = {"instructions": "", "comment": True, "min_seconds": 0, "early_submit": "notice"}

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_NO_ID = re.compile(r"[^a-z0-9]+")
# Line ends and tabs apart, neither a page nor the marketplace's XML keeps control characters.
_NOT_PRINTED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")

INSTRUCTIONS = Setting(
    "instructions",
    "Instructions",
    "text",
    "What a worker has to know who has never seen this. A blank line begins a new paragraph. Empty: ours are shown.",
    rows=8,
)
LEAST_TIME = f"Asked for before an answer is sent; 0 to {MAX_SECONDS}. A faster answer counts only when you approve it."
EARLY = "What happens when an answer is sent before the minimum time is over."
CLOSING = (
    Setting(
        "comment", "A box for comments", "bool", "Workers can tell what was unclear; you read it beside the answer."
    ),
    Setting("min_seconds", "Minimum time", "number", LEAST_TIME, unit="seconds"),
    Setting(
        "early_submit",
        "If submitted too early",
        "choice",
        EARLY,
        options=(("notice", "say so, and let the worker decide"), ("hold", "let the worker wait")),
    ),
)


class Given:
    """The given settings over their defaults; each check adds its fault, and `done` refuses them all.

    Those of `COMMON` that are among the defaults are checked by itself.
    """

    def __init__(self, given: Mapping[str, Any], defaults: Json) -> None:
        self.values: Json = {**defaults, **given}
        self.faults = [
            f"There is no setting {name!r}; there are {', '.join(defaults)}." for name in given if name not in defaults
        ]
        if "instructions" in defaults:
            self.text("instructions", LONGEST_INSTRUCTIONS, may_be_blank=True)
        if "comment" in defaults:
            self.truth("comment")
        if "min_seconds" in defaults:
            self.whole("min_seconds", 0, MAX_SECONDS)
        if "early_submit" in defaults:
            self.one_of("early_submit", ("notice", "hold"))

    def done(self) -> Json:
        """Raises SettingsRefusedError."""
        if self.faults:
            raise SettingsRefusedError(self.faults)
        return self.values

    def whole(self, name: str, low: int, high: int) -> None:
        value = self.values[name]
        if type(value) is not int or not low <= value <= high:
            self.faults.append(f"{name} must be a whole number from {low} to {high}, not {value!r:.60}.")

    def truth(self, *names: str) -> None:
        for name in names:
            if type(self.values[name]) is not bool:
                self.faults.append(f"{name} must be true or false, not {self.values[name]!r:.60}.")

    def one_of(self, name: str, allowed: Sequence[str]) -> None:
        if self.values[name] not in allowed:
            self.faults.append(f"{name} must be one of {', '.join(allowed)}, not {self.values[name]!r:.60}.")

    def text(self, name: str, longest: int, *, may_be_blank: bool = False) -> None:
        value = self.values[name]
        if type(value) is not str:
            self.faults.append(f"{name} must be a text, not {value!r:.60}.")
            return
        self.values[name] = value = printed(value)
        if not value and not may_be_blank:
            self.faults.append(f"{name} must not be blank.")
        if len(value) > longest:
            self.faults.append(f"{name} has {len(value):,} characters; at most {longest:,} are shown.")

    def choices(self, name: str, least: int, taken: Sequence[str] = ()) -> list[Json]:
        """The setting as [{"id", "text", "help"?}, ...]; a text becomes a choice with an id made from its words.

        `taken` are ids of another list, which this one may not use again.
        """
        value = self.values[name]
        if not isinstance(value, list):
            self.faults.append(f"{name} must be a list, not {value!r:.60}.")
            return []
        found = _with_ids([_choice(one) for one in value], taken)
        faults = [fault for number, one in enumerate(found, 1) for fault in _faults(one, f"{name} {number}")]
        faults += _doubled(found, name)
        faults += [f"{name} has the id {one['id']}, which another list has." for one in found if one["id"] in taken]
        if not least <= len(found) <= MOST_CHOICES:
            faults.append(f"{name} must hold {least} to {MOST_CHOICES} lines, not {len(found)}.")
        self.faults += faults
        if not faults:
            self.values[name] = found
        return [] if faults else found

    def named(self, name: str, choices: Sequence[Json], of: str) -> None:
        """The setting as a list of ids of these choices, each of which may be given by its text as well."""
        value = self.values[name]
        if not isinstance(value, list):
            self.faults.append(f"{name} must be a list, not {value!r:.60}.")
            return
        ids = {said: choice["id"] for choice in choices for said in (choice["text"], choice["id"])}
        unknown = [one for one in value if not isinstance(one, str) or one.strip() not in ids]
        self.faults += [f"{name} names {one!r:.60}, which is not one of {of}." for one in unknown]
        if not unknown:
            self.values[name] = list(dict.fromkeys(ids[one.strip()] for one in value))


def printed(text: str) -> str:
    """The text with one kind of line end, without control characters and outer space."""
    return _NOT_PRINTED.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).strip()


def paragraphs(text: str) -> list[str]:
    """What blank lines part."""
    return [part.strip() for part in re.split(r"\n\s*\n", text) if part.strip()]


def choice_lines(choices: Sequence[Json]) -> list[str]:
    """Choices as a lead writes them, one a line: `text`, `text | help` or `id | text | help`.

    The id is left out where it is the one that the words give anyway.
    """
    plain = _with_ids([{"id": "", "text": choice["text"]} for choice in choices], ())
    return [_line(choice, with_id=choice["id"] != own["id"]) for choice, own in zip(choices, plain, strict=True)]


def _line(choice: Json, *, with_id: bool) -> str:
    help = choice.get("help", "")
    parts = [choice["id"], choice["text"], help] if with_id else [choice["text"], *([help] if help else [])]
    return " | ".join(parts).rstrip()


def _choice(given: object) -> Json:
    """Whatever was given as {"id", "text", "help"} of texts; what is no choice has no text."""
    if isinstance(given, str):
        parts = [printed(part) for part in given.split("|", 2)]
        ident, text, help = {1: ["", *parts, ""], 2: ["", *parts], 3: parts}[len(parts)]
        return {"id": ident, "text": text, "help": help}
    if isinstance(given, dict) and set(given) <= {"id", "text", "help"} and set(map(type, given.values())) <= {str}:
        return {"id": "", "text": "", "help": "", **{name: printed(value) for name, value in given.items()}}
    return {"id": "", "text": "", "help": ""}


def _with_ids(choices: Sequence[Json], taken: Sequence[str]) -> list[Json]:
    used = {*taken, *(choice["id"] for choice in choices if choice["id"])}
    found = []
    for choice in choices:
        slug = _NO_ID.sub("-", str(choice["text"]).lower()).strip("-")[: LONGEST_ID - 4].strip("-") or "choice"
        ident = choice["id"] or _free(slug, used)
        used.add(ident)
        found.append({"id": ident, "text": choice["text"], **({"help": choice["help"]} if choice.get("help") else {})})
    return found


def _free(slug: str, used: set[str]) -> str:
    if slug not in used:
        return slug
    return next(name for number in range(2, len(used) + 3) if (name := f"{slug}-{number}") not in used)


def _faults(choice: Json, place: str) -> list[str]:
    text, help = choice["text"], choice.get("help", "")
    faults = []
    if not text:
        faults.append(f"{place} has no text. Write one, and help after a bar if you like: text | help.")
    if max(len(text), len(help)) > LONGEST_CHOICE:
        faults.append(f"{place} is longer than {LONGEST_CHOICE} characters.")
    if "|" in text + help:
        faults.append(f"{place} has a bar too many: bars part id, text and help.")
    if not _ID.fullmatch(choice["id"]) or len(choice["id"]) > LONGEST_ID:
        faults.append(
            f"{place} has the id {choice['id']!r:.60}: use letters, digits and hyphens, at most {LONGEST_ID}."
        )
    return faults


def _doubled(choices: Sequence[Json], name: str) -> list[str]:
    """Workers cannot tell two equal texts apart, nor rules two equal ids."""
    faults = []
    for part in ("id", "text"):
        said = [" ".join(str(choice[part]).casefold().split()) for choice in choices]
        twice = dict.fromkeys(str(choices[i][part]) for i, one in enumerate(said) if one in said[:i])
        faults += [f"{name} has the {part} {one!r:.60} more than once." for one in twice]
    return faults
