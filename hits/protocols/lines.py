"""Answers line by line, as people read them: what protocols share that let choose, tick or write."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from hits.protocols.base import Json
from hits.protocols.choosing import YES
from hits.protocols.optional import Line
from hits.text.wording import _

Said = Mapping[str, Any]


def nothing() -> str:
    """What is said of an empty answer, in the language of the page."""
    return _("nothing")


def plain(value: Any) -> str:
    """A value that has no other words: of an object its text, of a list its parts with semicolons between them."""
    if isinstance(value, dict):
        return (
            plain(value["text"])
            if "text" in value
            else ", ".join(f"{name} {plain(one)}" for name, one in value.items())
        )
    if isinstance(value, list | tuple | set | frozenset):
        return "; ".join(map(plain, value)) or nothing()
    return nothing() if value is None or value == "" else str(value)


def written(asked: str, unit: str, said: Said, known: str = "") -> Iterator[Line]:
    """A text in the worker's own words."""
    if unit in said:
        yield Line(asked, plain(said[unit]), (unit,), known)


def chosen(
    asked: str, unit: str, choices: Sequence[Json], said: Said, gold: Collection[str] = frozenset()
) -> Iterator[Line]:
    """One of the choices, by its text."""
    if unit in said:
        texts = {choice["id"]: choice["text"] for choice in choices}
        known = " or ".join(text for ident, text in texts.items() if ident in gold)
        yield Line(asked, str(texts.get(said[unit], plain(said[unit]))), (unit,), known)


def ticked(
    asked: str, part: str, choices: Sequence[Json], said: Said, gold: Collection[str] = frozenset()
) -> Iterator[Line]:
    """Those of the choices whose unit, `<id>/<part>`, is yes. Of a single one that is not, it says so."""
    units = {f"{choice['id']}/{part}": choice for choice in choices if f"{choice['id']}/{part}" in said}
    if not units:
        return
    texts = [choice["text"] for unit, choice in units.items() if said[unit] == YES]
    if not texts and len(units) == 1:
        texts = [_("not “%(choice)s”", choice=choice["text"]) for choice in units.values()]
    known = _listed([choice["text"] for choice in choices if choice["id"] in gold])
    yield Line(asked, _listed(texts) or nothing(), tuple(units), known)


def _listed(texts: Sequence[str]) -> str:
    return "; ".join(text.rstrip(".") for text in texts) if len(texts) > 1 else "".join(texts)


def measured(said: Said, places: Mapping[str, str]) -> Iterator[Line]:
    """What the page noted on the way (`evidence`); `places` are the names of its fields as workers see them."""
    noted = said.get("evidence")
    if not isinstance(noted, dict):
        return
    for paste in noted.get("pastes") or []:
        place = places.get(paste["field"], paste["field"])
        characters = f"{paste['characters']:,} character{'' if paste['characters'] == 1 else 's'}"
        yield Line("", f"Pasted: {characters} into “{place}”.", is_note=True)
    if noted.get("seconds") is not None:
        yield Line("", f"The page was open for {_time(noted['seconds'])}.", is_note=True)


def _time(seconds: int) -> str:
    return f"{seconds} s" if seconds < 60 else f"{seconds // 60:,} min {seconds % 60} s"
