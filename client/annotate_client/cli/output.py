"""What is printed: tables and lines for people, JSON or CSV for programs."""

from __future__ import annotations

import csv
import json
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import click

Row = Mapping[str, Any]
#: Characters of a cell of a table, and of a line where no terminal says how wide it is.
WIDEST_CELL, WIDTH = 40, 120
#: A text of a worker must not steer a terminal.
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
#: What a spreadsheet takes for the beginning of a formula, at the beginning of a cell and after what may begin one.
_FORMULA = re.compile("(^|[;\t\r\n])(?=[\\s\u200b-\u200f\ufeff'\"]*[=+\\-@＝＋－＠])")
_NUMBER = re.compile(r"[-+]?\d+(\.\d+)?")


def show(value: Any, form: str) -> None:
    """An object. `form` is `json`, `csv` or empty: lines on a terminal, JSON in a pipe."""
    if _chosen(form) == "json":
        click.echo(json.dumps(value, indent=2, ensure_ascii=False))
    elif form == "csv":
        _write_csv([value] if isinstance(value, Mapping) else value)
    else:
        for line in lines(value):
            click.echo(line)


def show_rows(rows: Iterable[Row], form: str) -> None:
    """A list: one JSON document, CSV, or a table. They are written while they are read, except for a table."""
    if _chosen(form) == "json":
        _write_json(rows)
    elif form == "csv":
        _write_csv(rows)
    else:
        for line in table(list(rows), shutil.get_terminal_size((WIDTH, 24)).columns):
            click.echo(line)


def note(sentence: str) -> None:
    """For people, beside what is printed."""
    click.echo(sentence, err=True)


def _chosen(form: str) -> str:
    return form or ("" if sys.stdout.isatty() else "json")


def _write_json(rows: Iterable[Row]) -> None:
    before = "[\n"
    for row in rows:
        click.echo(before + json.dumps(row, ensure_ascii=False), nl=False)
        before = ",\n"
    click.echo("[]" if before == "[\n" else "\n]")


def _write_csv(rows: Iterable[Any]) -> None:
    """The columns are those of the first row; what is nested is JSON."""
    found = iter(rows)
    first = next(found, None)
    if first is None:
        return
    columns = list(first) if isinstance(first, Mapping) else ["value"]
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(map(_harmless, columns))
    for row in chain([first], found):
        values = [row.get(name) for name in columns] if isinstance(row, Mapping) else [row]
        writer.writerow([_harmless(cell(value)) for value in values])


def _harmless(text: str) -> str:
    """With an apostrophe wherever a spreadsheet, which may begin a cell after a semicolon too, would see a formula."""
    return text if _NUMBER.fullmatch(text) else _FORMULA.sub(r"\1'", text)


def table(rows: Sequence[Any], width: int) -> Iterator[str]:
    """As many columns as fit, in the order of the answer; without those that are empty everywhere or nested."""
    if not rows:
        yield "Nothing is there."
        return
    if not isinstance(rows[0], Mapping):
        yield from (cell(row) for row in rows)
        return
    columns: list[tuple[str, list[str], int]] = []
    left = width
    for name in rows[0]:
        values = [row.get(name) for row in rows]
        if any(isinstance(value, dict | list) for value in values) or all(value in (None, "") for value in values):
            continue
        cells = [_short(cell(value)) for value in values]
        size = max(map(len, [name, *cells]))
        if columns and size > left:
            break
        is_number = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
        columns.append((name, cells, -size if is_number else size))
        left -= size + 2
    for number in range(-1, len(rows)):
        shown = [(name if number < 0 else cells[number], size) for name, cells, size in columns]
        yield "  ".join(text.rjust(-size) if size < 0 else text.ljust(size) for text, size in shown).rstrip()


def lines(value: Any, before: str = "") -> Iterator[str]:
    """`name: value` of what is not empty, and what is nested further to the right."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if inner in (None, "", [], {}):
                continue
            if isinstance(inner, dict) or (isinstance(inner, list) and isinstance(inner[0], dict | list)):
                yield f"{before}{_clean(str(name))}:"
                yield from lines(inner, f"{before}  ")
            else:
                yield f"{before}{_clean(str(name))}: {_hanging(inner, before)}".rstrip()
    elif isinstance(value, list):
        for one in value:
            first, *rest = list(lines(one, f"{before}  ")) or [before]
            yield from [f"{before}- {first.strip()}", *rest]
    else:
        yield f"{before}{_hanging(value, before)}"


def cell(value: Any) -> str:
    """One value as a text."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list) and not any(isinstance(one, dict | list) for one in value):
        return ", ".join(map(str, value))
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else str(value)


def _hanging(value: Any, before: str) -> str:
    """Of a text of several lines, the later ones under the name."""
    first, *rest = _clean(cell(value)).split("\n")
    return "\n".join([first, *(f"{before}  {line}" for line in rest)])


def _short(text: str) -> str:
    plain = " ".join(_clean(text).split())
    return plain if len(plain) <= WIDEST_CELL else f"{plain[: WIDEST_CELL - 1]}…"


def _clean(text: str) -> str:
    return CONTROLS.sub("�", text)
