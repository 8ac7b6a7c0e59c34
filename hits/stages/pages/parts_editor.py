"""Editing a setting that is an object of lists of parts, such as a form, in plain inputs that the server renders.

Everything typed is in the posted fields: `<setting>-<list>-<number>-<name>`. A button of the same form, `do`, changes
what is typed and shows it again; nothing of that is saved. A verb is `<setting>:<list>:add` (of the kind that
`<setting>-<list>-new` says), `<setting>:<list>:up:<number>` (down, remove), `<setting>:ready:<number>`,
`<setting>:file` or `<setting>:export`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.files.uploadedfile import UploadedFile

from hits.protocols.base import Json
from hits.protocols.optional import PartKind, PartList, PartsEditor, Setting
from hits.refusals import Refused

# Of a list. A page with more would send more fields than are taken.
MOST_PARTS = 50
MAX_FILE_BYTES = 1_000_000
_PLACE = re.compile(r"([a-z_]+)\[([0-9]+)\](?:\.([a-z_]+))?")
_WHOLE = re.compile(r"-?[0-9]{1,15}")
_NUMBER = re.compile(r"-?[0-9]{1,15}\.[0-9]{1,10}")


@dataclass(frozen=True)
class Input:
    """One input of the page, with what is wrong with it."""

    setting: Setting
    name: str
    value: Any
    faults: tuple[str, ...] = ()
    default: Any = ""


@dataclass(frozen=True)
class ShownPart:
    """`number` counts from 1; `place` from 0, as addresses of faults do."""

    place: int
    number: int
    kind: PartKind
    name: str
    inputs: tuple[Input, ...]
    faults: tuple[str, ...] = ()
    rest: str = ""

    @property
    def often(self) -> list[Input]:
        return [one for one in self.inputs if not one.setting.seldom]

    @property
    def seldom(self) -> list[Input]:
        return [one for one in self.inputs if one.setting.seldom]

    @property
    def opened(self) -> bool:
        """Whether anything is written where seldom something is."""
        return any(one.faults or one.value != one.default for one in self.seldom)


@dataclass(frozen=True)
class ShownList:
    list: PartList
    parts: tuple[ShownPart, ...]
    faults: tuple[str, ...] = ()


@dataclass
class Editor:
    """One setting as it is typed; `faults` are the sentences of the protocol about it."""

    setting: Setting
    value: Json
    faults: Sequence[str] = ()
    hint: str = ""
    message: str = ""

    @property
    def editor(self) -> PartsEditor:
        assert self.setting.editor is not None
        return self.setting.editor

    def as_json(self) -> str:
        return json.dumps(self.value, ensure_ascii=False, indent=2)

    def owns(self, sentence: str) -> bool:
        """Whether a sentence is about this setting."""
        first = sentence.split()[0]
        names = [*(one.name for one in self.editor.lists), *(one.name for one in self.editor.settings)]
        return first.rstrip(".") in (self.setting.name, *names) or bool(
            (found := _PLACE.match(first)) and found[1] in names
        )

    @property
    def lists(self) -> list[ShownList]:
        by_place: dict[tuple[str, int], list[tuple[str, str]]] = {}
        for sentence in self.faults:
            if found := _PLACE.match(sentence):
                by_place.setdefault((found[1], int(found[2])), []).append((found[3] or "", sentence))
        return [self._list(one, by_place) for one in self.editor.lists]

    @property
    def settings(self) -> list[Input]:
        return [
            Input(
                setting,
                f"{self.setting.name}-{setting.name}",
                _shown(setting, self.value.get(setting.name, "")),
                tuple(fault for fault in self.faults if fault.startswith(f"{setting.name} ")),
            )
            for setting in self.editor.settings
        ]

    def _list(self, one: PartList, by_place: Mapping[tuple[str, int], list[tuple[str, str]]]) -> ShownList:
        parts = [
            self._part(one, place, given, by_place.get((one.name, place), []))
            for place, given in enumerate(_parts_of(self.value, one))
        ]
        about = tuple(fault for fault in self.faults if fault.startswith(f"{one.name} "))
        return ShownList(one, tuple(parts), about)

    def _part(self, one: PartList, place: int, given: Json, faults: Sequence[tuple[str, str]]) -> ShownPart:
        kind = _kind(one, given)
        start = f"{self.setting.name}-{one.name}-{place}"
        inputs = tuple(
            Input(
                setting,
                f"{start}-{setting.name}",
                _shown(setting, given.get(setting.name, kind.defaults.get(setting.name))),
                tuple(sentence for name, sentence in faults if name == setting.name),
                _shown(setting, kind.defaults.get(setting.name)),
            )
            for setting in kind.settings
        )
        own = {"kind", *(setting.name for setting in kind.settings)}
        rest = {name: value for name, value in given.items() if name not in own}
        others = tuple(sentence for name, sentence in faults if name not in own or name == "kind")
        kept = json.dumps(rest, ensure_ascii=False) if rest else ""
        return ShownPart(place, place + 1, kind, start, inputs, others, kept)


def _parts_of(value: Json, one: PartList) -> list[Json]:
    given = value.get(one.name)
    parts = given if isinstance(given, list) else []
    return [part for part in parts if isinstance(part, dict)][:MOST_PARTS]


def _kind(one: PartList, given: Json) -> PartKind:
    """The kind of a part; of an unknown one, something that keeps it as it is."""
    name = str(given.get("kind", ""))
    return next((kind for kind in one.kinds if kind.name == name), PartKind(name, f"Unknown kind {name!r:.40}", ()))


def _shown(setting: Setting, value: Any) -> Any:
    if setting.kind == "lines":
        return "\n".join(setting.lines(value)) if isinstance(value, list) else str(value or "")
    if setting.kind == "bool":
        return value is True
    if value is None:
        return ""
    return value if setting.kind != "text" else setting.line(value)


# What is posted


def posted(setting: Setting, data: Mapping[str, str]) -> Json:
    """The object that was typed."""
    editor = setting.editor
    assert editor is not None
    found: Json = {}
    for one in editor.lists:
        found[one.name] = []
        for place in range(MOST_PARTS):
            start = f"{setting.name}-{one.name}-{place}"
            if f"{start}-kind" not in data:
                break
            found[one.name].append(_posted_part(one, start, data))
    for own in editor.settings:
        if value := data.get(f"{setting.name}-{own.name}"):
            found[own.name] = value
    return found


def is_posted(setting: Setting, data: Mapping[str, str]) -> bool:
    """Whether the inputs of the setting were on the page that was sent."""
    return f"{setting.name}-typed" in data


def _posted_part(one: PartList, start: str, data: Mapping[str, str]) -> Json:
    part: Json = {"kind": data[f"{start}-kind"]}
    for setting in _kind(one, part).settings:
        value = _read(setting, data.get(f"{start}-{setting.name}", ""))
        if value is not None:
            part[setting.name] = value
    try:
        rest = json.loads(data.get(f"{start}-rest") or "{}")
    except (ValueError, RecursionError):
        rest = {}
    return {**rest, **part} if isinstance(rest, dict) else part


def _read(setting: Setting, text: str) -> Any:
    """None where nothing was typed that a setting could be."""
    if setting.kind == "bool":
        return text == "on"
    if setting.kind == "lines":
        return [line.strip() for line in text.splitlines() if line.strip()]
    if setting.kind == "number":
        return number(text.strip()) if text.strip() else None
    return text


def number(text: str) -> int | float | str:
    """What is no number stays as it was typed, and is refused as such."""
    if _WHOLE.fullmatch(text):
        return int(text)
    return float(text) if _NUMBER.fullmatch(text) else text


# What a button changes


def done(setting: Setting, value: Json, data: Mapping[str, str], file: UploadedFile | None) -> Json:
    """The object after the verb; itself after one that means nothing here. Raises Refused (file_refused)."""
    editor = setting.editor
    assert editor is not None
    what, _, rest = data["do"].removeprefix(f"{setting.name}:").partition(":")
    if what == "file":
        return of_file(file, editor)
    if what == "ready":
        return editor.ready[int(rest)][1] if rest.isdecimal() and int(rest) < len(editor.ready) else value
    one = next((one for one in editor.lists if one.name == what), None)
    if one is None:
        return value
    action, _, about = rest.partition(":")
    about = data.get(f"{setting.name}-{one.name}-new", "") if action == "add" else about
    return {**value, one.name: _changed(one, list(_parts_of(value, one)), action, about)}


def _changed(one: PartList, parts: list[Json], action: str, about: str) -> list[Json]:
    if action == "add":
        kind = next((kind for kind in one.kinds if kind.name == about), one.kinds[0])
        return [*parts, {"kind": kind.name, **_new_key(one, parts), **kind.new}] if len(parts) < MOST_PARTS else parts
    if not about.isdecimal() or int(about) >= len(parts):
        return parts
    at = int(about)
    if action == "remove":
        return parts[:at] + parts[at + 1 :]
    other = at - 1 if action == "up" else at + 1
    if action in ("up", "down") and 0 <= other < len(parts):
        parts[at], parts[other] = parts[other], parts[at]
    return parts


def _new_key(one: PartList, parts: Sequence[Json]) -> Json:
    if not one.key:
        return {}
    taken = {part.get(one.key) for part in parts}
    return {one.key: next(name for count in range(1, MOST_PARTS + 2) if (name := f"q{count}") not in taken)}


def of_file(file: UploadedFile | None, editor: PartsEditor) -> Json:
    """The object that a file holds, alone or under a name as ready-made ones are kept. Raises Refused."""
    if file is None:
        raise Refused("form_file_refused", "Choose a file first.")
    if (file.size or 0) > MAX_FILE_BYTES:
        raise Refused("form_file_refused", f"The file has more than {MAX_FILE_BYTES / 1e6:,.0f} MB.")
    try:
        held = json.loads(file.read().decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise Refused("form_file_refused", f"The file holds no JSON: {str(error)[:200]}") from error
    names = {one.name for one in editor.lists}
    for found in (held, *(held.values() if isinstance(held, dict) else ())):
        if isinstance(found, dict) and names & set(found):
            return found
    raise Refused("form_file_refused", f"The file holds no object with {' and '.join(sorted(names))}.")
