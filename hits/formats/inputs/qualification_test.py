"""What a lead writes for a qualification test: its details and its questions, on screen or in a JSON or CSV file.

A question is {"text": passage or "", "question": str, "choices": [2..10 texts], "right": index from 0}. In JSON a file
is a list of these. In CSV the columns are `question`, `choice1` .. `choice10`, `right` (the number of the right
choice, counted from 1 as in the columns' names) and, if wanted, `text`.
"""

from __future__ import annotations

import csv
import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from common.names import hidden_sign
from hits.formats.files.encodings import decoded
from hits.formats.files.faults import Faults
from hits.formats.files.reading import MOST_COLUMNS, CsvLines, lines_of, repeated, sentence, too_large, too_many_cells
from hits.formats.pool_keys import PREFIX
from hits.text.written import kept

Json = dict[str, Any]
MOST_QUESTIONS = 50
FEWEST_CHOICES, MOST_CHOICES = 2, 10
LONGEST_TITLE, LONGEST_DESCRIPTION = 80, 1500
LONGEST_TEXT, LONGEST_QUESTION, LONGEST_CHOICE = 10_000, 1_000, 500
MINUTES, RETRY_DAYS, PASS_MARK = (1, 1440), (1, 365), (1, 100)
MOST_BYTES = 1024 * 1024
# Passage, question and all choices of a line together are far shorter.
LONGEST_ROW = 65_536
CHOICE_COLUMNS = tuple(f"choice{number}" for number in range(1, MOST_CHOICES + 1))
COLUMNS = ("question", "right", "text", *CHOICE_COLUMNS)
FIELDS = frozenset({"text", "question", "choices", "right"})
_KEY = re.compile(r"[a-z0-9]+(-[a-z0-9]+)+")
_LINE_ENDS = re.compile(r"\r\n?")
_RIGHT = re.compile(r"[0-9]{1,2}")


@dataclass(frozen=True)
class Details:
    """What a test is called, and how it is passed: `pass_mark` in percent, `retry_days` None for one attempt only."""

    key: str
    title: str
    description: str
    pass_mark: int
    minutes: int
    retry_days: int | None


def check_details(given: Details, faults: Faults) -> Details:
    """The details in the form in which they are kept; adds to `faults`, whose places are the fields' names."""
    if not _KEY.fullmatch(given.key) or len(given.key) > 60:
        faults.add(None, "key", "Write lower-case words joined by hyphens, at least two, such as reading-test.")
    elif given.key.startswith(PREFIX):
        faults.add(None, "key", f"Names that begin with {PREFIX} are those of pools: choose another one.")
    _check_range("pass_mark", given.pass_mark, PASS_MARK, faults)
    _check_range("minutes", given.minutes, MINUTES, faults)
    if given.retry_days is not None:
        _check_range("retry_days", given.retry_days, RETRY_DAYS, faults)
    title = _text(given.title, "title", LONGEST_TITLE, faults)
    if "\n" in title:
        faults.add(None, "title", "Write it on one line.")
    elif code := hidden_sign(title):
        faults.add(None, "title", f"This holds a character that cannot be seen ({code}). Leave it out.")
    description = _text(given.description, "description", LONGEST_DESCRIPTION, faults)
    return Details(given.key, title, description, given.pass_mark, given.minutes, given.retry_days)


def _check_range(name: str, value: int, bounds: tuple[int, int], faults: Faults) -> None:
    low, high = bounds
    if type(value) is not int or not low <= value <= high:
        faults.add(None, name, f"Write a whole number from {low:,} to {high:,}.")


def _text(value: object, place: str, longest: int, faults: Faults, *, blank: bool = False) -> str:
    """A text without the space around it; what neither XML nor the database keeps is a fault."""
    if not isinstance(value, str):
        faults.add(None, place, f"This must be a text, not {str(value)[:40]}.")
        return ""
    text = _LINE_ENDS.sub("\n", value).strip()
    if not kept(text) and not blank:
        faults.add(None, place, "This is empty.")
    if len(text) > longest:
        faults.add(None, place, f"This has {len(text):,} characters; at most {longest:,} are taken.")
    if any(unicodedata.category(char) in ("Cc", "Cs", "Cn") and char not in "\n\t" for char in text):
        faults.add(None, place, "This holds characters that are not text, such as control characters.")
    return text


def read_questions(given: object, faults: Faults) -> list[Json]:
    """The questions in the form in which they are kept; adds to `faults`, whose places count questions from 1."""
    if not isinstance(given, list):
        faults.add(None, "", "The questions must be a list.")
        return []
    if len(given) > MOST_QUESTIONS:
        faults.add(None, "", f"There are {len(given):,} questions; at most {MOST_QUESTIONS} make a test.")
        return []
    return [_question(one, f"question {number}", faults) for number, one in enumerate(given, start=1)]


def _question(given: object, place: str, faults: Faults) -> Json:
    if not isinstance(given, Mapping):
        faults.add(None, place, "This must be an object with question, choices and right.")
        return {}
    unknown = sorted(str(name)[:40] for name in given if name not in FIELDS)
    if unknown:
        faults.add(None, place, f"This has fields that mean nothing here: {', '.join(unknown[:5])}.")
    choices = _choices(given.get("choices"), place, faults)
    return {
        "text": _text(given.get("text", ""), f"{place}, passage", LONGEST_TEXT, faults, blank=True),
        "question": _text(given.get("question", ""), f"{place}, wording", LONGEST_QUESTION, faults),
        "choices": choices,
        "right": _right(given.get("right"), len(choices), place, faults),
    }


def _choices(given: object, place: str, faults: Faults) -> list[str]:
    if not isinstance(given, list):
        faults.add(None, place, "The choices must be a list of texts.")
        return []
    if not FEWEST_CHOICES <= len(given) <= MOST_CHOICES:
        faults.add(None, place, f"There must be {FEWEST_CHOICES} to {MOST_CHOICES} choices; there are {len(given)}.")
        return [str(one) for one in given[:MOST_CHOICES]]
    choices = [_text(one, f"{place}, choice {n}", LONGEST_CHOICE, faults) for n, one in enumerate(given, start=1)]
    read = [" ".join(choice.split()).casefold() for choice in choices]
    equal = [choice for n, choice in enumerate(choices) if choice and read[n] in read[:n]]
    if equal:
        faults.add(None, place, f"Two choices read the same: “{equal[0][:60]}”.")
    return choices


def _right(given: object, choices: int, place: str, faults: Faults) -> int:
    """The index, from 0, of the right choice."""
    if given is None or type(given) is not int or not 0 <= given < max(choices, 1):
        faults.add(None, place, "No right answer is named: say which of the choices is right.")
        return 0
    return given


def known_question(document: Mapping[str, Any], item: Mapping[str, Any], settings: Mapping[str, Any]) -> Json | None:
    """The question of an item whose answer is known: a question set, or a choice with one gold answer; else None."""
    choices = item.get("candidates") or item.get("choices") or settings.get("choices") or []
    gold = [item["intended"]] if item.get("intended") else item.get("gold") or []
    listed = [(choice.get("id"), choice.get("text")) for choice in choices if isinstance(choice, Mapping)]
    # An imported row may name its answer by what workers read.
    right = [number for number, names in enumerate(listed) if len(gold) == 1 and gold[0] in names]
    if len(right) != 1 or len(listed) != len(choices):
        return None
    faults = Faults()
    found = _question(
        {
            "text": document.get("text", ""),
            "question": item.get("question") or settings.get("question") or "",
            "choices": [choice.get("text") for choice in choices],
            "right": right[0],
        },
        "",
        faults,
    )
    return None if faults.count else found


def read_file(content: bytes, faults: Faults) -> list[Json]:
    """The questions of a JSON or CSV file in UTF-8, or in UTF-16 with its mark; adds to `faults`."""
    if len(content) > MOST_BYTES:
        faults.add(
            None, "", f"The file has {len(content) / 1e6:,.1f} MB; at most {MOST_BYTES / 1e6:,.1f} MB are taken."
        )
        return []
    try:
        text = decoded(content).replace("\0", "\ufffd")
    except UnicodeDecodeError as error:
        faults.add(
            content.count(b"\n", 0, error.start) + 1,
            "",
            "This is neither UTF-8 nor UTF-16. Save the file as “CSV UTF-8”.",
        )
        return []
    found = _json(text, faults) if text.lstrip()[:1] in ("[", "{") else list(_csv(text, faults))
    if not found and not faults.count:
        faults.add(None, "", "The file holds no question.")
    return read_questions(found, faults) if not faults.count else []


def _json(text: str, faults: Faults) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        faults.add(getattr(error, "lineno", None), "", f"This is not JSON: {error}.")
        return []


def _csv(text: str, faults: Faults) -> Iterator[Json]:
    source = CsvLines(lines_of(text), LONGEST_ROW)
    reader = csv.reader(source, delimiter=_delimiter(text), strict=True)
    columns: list[str] = []
    try:
        for cells in reader:
            source.size = 0
            if len(cells) > MOST_COLUMNS:
                told = f"{sentence(too_many_cells(len(cells)))}, so nothing after it can be read."
                faults.add(reader.line_num, "", told)
                return
            if not any(cell.strip() for cell in cells):
                continue
            if not columns:
                columns = _columns([cell.strip().lower() for cell in cells], faults)
                if not columns:
                    return
            elif len(cells) != len(columns):
                told = f"{len(cells)} cells where the first line has {len(columns)}. Quote a text that holds commas."
                faults.add(reader.line_num, "", told)
            else:
                yield _of_line(dict(zip(columns, cells, strict=True)), reader.line_num, faults)
    except csv.Error as error:
        what = sentence(too_large(error)) or f"The quotes do not match ({error})"
        faults.add(reader.line_num, "", f"{what}, so nothing after this can be read.")


def _delimiter(text: str) -> str:
    head = text.lstrip().partition("\n")[0]
    return max(",;\t", key=head.count)


def _columns(names: Sequence[str], faults: Faults) -> list[str]:
    missing = [name for name in ("question", "right", "choice1", "choice2") if name not in names]
    unknown = [name[:40] for name in names if name not in COLUMNS]
    twice = [name[:40] for name in repeated(names)]
    for said, found in (("lacks", missing), ("has columns that mean nothing here:", unknown), ("repeats", twice)):
        if found:
            faults.add(
                1, "", f"The first line {said} {', '.join(found[:5])}. Columns: question, right, choice1 …, text."
            )
    return [] if missing or unknown or twice else list(names)


def _of_line(cells: Mapping[str, str], line: int, faults: Faults) -> Json:
    slots = [cells.get(name, "") for name in CHOICE_COLUMNS]
    right = cells["right"].strip()
    number = int(right) if right.isascii() and _RIGHT.fullmatch(right) else 0
    if not 1 <= number <= MOST_CHOICES or not slots[number - 1].strip():
        faults.add(line, "right", f"“{right[:20]}” is not the number of a choice that this line has.")
    return {"text": cells.get("text", ""), "question": cells["question"], **without_blanks(slots, number - 1)}


def without_blanks(slots: Sequence[str], right: int | None) -> Json:
    """`choices` that are filled in, and the index among them of the slot `right`; None when that one is blank."""
    filled = [slot for slot, text in enumerate(slots) if text.strip()]
    return {"choices": [slots[slot] for slot in filled], "right": filled.index(right) if right in filled else None}
