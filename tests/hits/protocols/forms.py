"""Forms for tests: one with every kind, and strategies for random ones with an answer that fits."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

from hypothesis import strategies as some

from hits.protocols import marked

COLUMNS = {
    "text": "The ferry sails <b>again</b>.",
    "answer a": "At six.",
    "answer b": "I do not know.",
    "talk": '[{"speaker": "Ilse", "text": "Is it late?"}, {"speaker": "Tom", "text": "A year."}]',
    "prices": '[["From", "Price"], ["Linden", "2.50"]]',
    "photo": "https://pictures.example.org/ferry.jpg?size=2",
    "noise": "https://sounds.example.org/horn.mp3",
    "film": "https://films.example.org:8443/ferry.mp4",
    "page": "https://example.org/ferry",
    "mood gold": "Happy",
    # Signs of two units of a browser, a letter with a combining mark, and a line end of two characters.
    "report": "🛳🛳 Ilse Cafe\u0301 asked.\r\nTom de Wit 👩\u200d🚀 left Linden.",
}
SHOW: list[dict[str, Any]] = [
    {"kind": "text", "heading": "The text", "text": "Read: {text}"},
    {"kind": "markdown", "text": "**Mind** the {text}.\n\n- one\n- [two](https://example.org)"},
    {"kind": "conversation", "column": "talk"},
    {"kind": "side_by_side", "parts": ["One | {answer a}", "Two | {answer b}"]},
    {"kind": "table", "rows": ["Ferry | {text}", "Price | 2.50"]},
    {"kind": "table", "column": "prices"},
    {"kind": "link", "column": "page", "text": "The ferry's page"},
    {"kind": "image", "column": "photo", "description": "A ferry"},
    {"kind": "audio", "column": "noise", "description": "A horn"},
    {"kind": "video", "column": "film", "description": "A ferry that leaves"},
]
ASK: list[dict[str, Any]] = [
    {"kind": "one", "key": "mood", "question": "Mood of “{text}”?", "choices": ["Happy", "Sad", "Angry"],
     "gold": "mood gold", "help": "As the writer feels."},
    {"kind": "long_text", "key": "why-sad", "question": "Why sad?", "least_words": 2,
     "shown_if": {"field": "mood", "values": ["sad", "angry"]}},
    {"kind": "dropdown", "key": "size", "question": "Size?", "choices": ["Small", "Large"], "ordered": True},
    {"kind": "any", "key": "topic", "question": "Topics?", "choices": ["Ships", "Soup", "Rain"], "most": 2},
    {"kind": "short_text", "key": "code", "question": "Code?", "pattern": "[A-Z]{2}[0-9]{3}",
     "pattern_help": "Two letters, three digits.", "example": "AB123"},
    {"kind": "number", "key": "year", "question": "Year?", "low": 1900, "high": 2100},
    {"kind": "scale", "key": "fluency", "question": "Fluent?", "anchors": ["Not at all", "Fully"]},
    {"kind": "slider", "key": "warmth", "question": "Warm?", "low": 0, "high": 100, "low_text": "cold",
     "high_text": "hot"},
    {"kind": "ranking", "key": "first", "question": "Which first?", "choices": ["Boat", "Train", "Car"]},
    {"kind": "pair", "key": "better", "question": "Which is better?", "a": "{answer a}", "b": "{answer b}"},
    {"kind": "date", "key": "day", "question": "Since when?", "earliest": "2020-01-01", "required": False},
    {"kind": "matrix", "key": "rate", "question": "Rate these", "rows": ["Deck", "Soup"], "points": 3,
     "anchors": ["bad", "so-so", "good"]},
    {"kind": "spans", "key": "names", "question": "Which names?", "column": "report",
     "choices": ["Person", "Place | A town or a land"]},
]  # fmt: skip


def span(words: str, label: str) -> list[Any]:
    """Where the words stand in the text to mark, counted in characters."""
    start = COLUMNS["report"].index(words)
    return [start, start + len(words), label]


FORM = {"show": SHOW, "ask": ASK}
ANSWER = {
    "mood": "happy", "size": "small", "topic.ships": "yes", "topic.rain": "yes", "code": "AB123", "year": "2026",
    "fluency": "4", "warmth": "37", "first.boat": "2", "first.train": "1", "first.car": "3", "better": "left",
    "day": "2026-11-22", "rate.deck": "1", "rate.soup": "3",
    "names": json.dumps([span("Ilse Cafe\u0301", "person"), span("Linden", "place")], separators=(",", ":")),
}  # fmt: skip

WORDS = some.text(alphabet="abc XYZ09-äß?<&\"'", min_size=1, max_size=30).map(str.strip).filter(bool)
Fields = tuple[dict[str, Any], dict[str, str], tuple[dict[str, str], str]]


def _choices(draw: some.DrawFn, least: int = 2) -> list[dict[str, str]]:
    texts = draw(
        some.lists(WORDS, min_size=least, max_size=6, unique_by=lambda text: " ".join(text.casefold().split()))
    )
    return [{"id": f"c{number}", "text": text} for number, text in enumerate(texts)]


@some.composite
def random_field(draw: some.DrawFn, key: str) -> Fields:
    """(a field, the fields of an answer to it, (fields that are none, the name of the field at fault))."""
    kind = draw(some.sampled_from(
        ["one", "dropdown", "any", "short_text", "long_text", "number", "scale", "slider", "ranking", "pair", "date",
         "matrix", "spans"]
    ))  # fmt: skip
    field: dict[str, Any] = {"kind": kind, "key": key, "question": draw(WORDS), "help": draw(WORDS)}
    if kind in ("one", "dropdown"):
        field |= {"choices": _choices(draw), "shuffle": draw(some.booleans())}
        return field, {key: draw(some.sampled_from(field["choices"]))["id"]}, ({key: "c99"}, key)
    if kind == "any":
        field["choices"] = choices = _choices(draw)
        field["most"] = len(choices) - 1
        everything = {f"{key}.{one['id']}": "yes" for one in choices}
        return field, {f"{key}.c1": "yes"}, (everything, f"{key}.c0")
    if kind == "short_text":
        field |= {"most": draw(some.integers(5, 500)), "pattern": "[a-e]+", "pattern_help": "Letters."}
        return field, {key: "abcde"}, ({key: "xyz"}, key)
    if kind == "long_text":
        field["least_words"] = least = draw(some.integers(1, 20))
        return field, {key: "word " * least}, ({key: "word " * (least - 1) or "x" * 9999}, key)
    if kind in ("number", "slider"):
        low = draw(some.integers(-1000, 1000))
        field |= {"low": low, "high": low + draw(some.integers(1, 1000)), "whole": draw(some.booleans())}
        return field, {key: str(draw(some.integers(low, field["high"])))}, ({key: str(field["high"] + 1)}, key)
    if kind in ("scale", "matrix"):
        field |= {"points": draw(some.integers(2, 11)), "first": draw(some.integers(0, 1))}
        point = str(draw(some.integers(field["first"], field["first"] + field["points"] - 1)))
        if kind == "scale":
            return field, {key: point}, ({key: "12"}, key)
        field["rows"] = rows = _choices(draw, 1)
        names = [f"{key}.{row['id']}" for row in rows]
        return field, dict.fromkeys(names, point), ({**dict.fromkeys(names, point), names[0]: "x"}, names[0])
    if kind == "ranking":
        field["choices"] = choices = _choices(draw)
        order = draw(some.permutations(range(1, len(choices) + 1)))
        right = {f"{key}.{one['id']}": str(place) for one, place in zip(choices, order, strict=True)}
        return field, right, ({name: "1" for name in right}, f"{key}.c0")
    if kind == "pair":
        field |= {"a": draw(WORDS), "b": draw(WORDS), "tie": False}
        return field, {key: draw(some.sampled_from(["left", "right", "bad"]))}, ({key: "tie"}, key)
    if kind == "spans":
        places = marked.words(COLUMNS["report"])
        field |= {"column": "report", "choices": _choices(draw, 1), "overlap": draw(some.booleans())}
        first, last = sorted(draw(some.lists(some.integers(0, len(places) - 1), min_size=2, max_size=2)))
        right = [[places[first][0], places[last][1], "c0"]]
        return field, {key: json.dumps(right)}, ({key: json.dumps([[*right[0][:2], "c99"]])}, key)
    field["earliest"] = "2026-01-01"
    return field, {key: draw(some.dates(min_value=date(2026, 1, 1))).isoformat()}, ({key: "2025-12-31"}, key)


@some.composite
def random_form(draw: some.DrawFn) -> tuple[dict[str, Any], dict[str, str], dict[str, tuple[dict[str, str], str]]]:
    """(a form, an answer that fits, by key: (what would be no answer to that field, the name of its control))."""
    shows = draw(some.lists(some.sampled_from(SHOW), max_size=4))
    fields, right, wrong = [], {}, {}
    for number in range(draw(some.integers(1, 6))):
        field, good, bad = draw(random_field(f"f{number}"))
        fields.append(field)
        right |= good
        wrong[field["key"]] = bad
    layout = draw(some.sampled_from(["beside", "below"]))
    return {"show": shows, "ask": fields, "layout": layout}, right, wrong
