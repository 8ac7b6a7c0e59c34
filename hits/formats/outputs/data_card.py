"""README.md of a release: a card in the layout that loaders of data sets read.

The head is YAML, in which `configs` names the file of each split: the layout of the Hugging Face Hub, which the library
`datasets` reads from a folder too (huggingface.co/docs/datasets, "Manual configuration").
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hits.formats.outputs.licences import LICENCES, OWN, OWN_FILE
from hits.formats.outputs.parquet_facts import TableFacts

UNSTATED = "Not stated."
# What makes a line something else than a paragraph: (a number, the sign after it) or (nothing, the sign).
_BEGINNING = re.compile(r"^(\d*)([#>+=~.)|*_-])")
_SIGNS = re.compile(r"[\\`\[*~]|(?<!\w)_|_(?!\w)")
Tables = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class Card:
    """`tables` has the file of each split by the name of the table, the first of which is the usual one.

    `stages` are those that people answered, in order: (title, facts by their name); `aggregated` are those with values
    from all answers to an item, likewise; `pages` say which file has the page of a stage. What a lead states is text,
    never markup: `about` the collection, the `licence` (an id of `hits.formats.outputs.licences`, or `OWN` with the
    `terms`), and the `citation`. `agreed` has the number of answers by the version of the terms that their workers
    agreed to. `key` is the file with the answers of test, which does not lie in the folder. `facts` go by the files of
    tables; `language` are codes such as "en"; `tasks` are names of the Hub's list of tasks; `asked` are the lead's
    answers to questions about the data, by question. `funnel` begins with what was written, and its other lines add up
    to that.
    """

    title: str
    recipe: str
    description: str
    tables: Tables
    counts: Mapping[str, int]
    left_out: Mapping[str, int]
    notes: Sequence[str]
    stages: Sequence[tuple[str, Mapping[str, str]]]
    rules: Mapping[str, str] = field(default_factory=dict)
    aggregated: Sequence[tuple[str, Mapping[str, str]]] = ()
    pages: Mapping[str, str] = field(default_factory=dict)
    about: str = ""
    licence: str = ""
    terms: str = ""
    citation: str = ""
    agreed: Mapping[str, str] = field(default_factory=dict)
    key: str = ""
    facts: Mapping[str, TableFacts] = field(default_factory=dict)
    language: str = ""
    tasks: Sequence[str] = ()
    asked: Mapping[str, str] = field(default_factory=dict)
    funnel: Mapping[str, int] = field(default_factory=dict)


def written(card: Card) -> bytes:
    """The whole file in UTF-8. The same card gives the same bytes."""
    return "\n".join([*_head(card), "", *_body(card)]).encode() + b"\n"


def _head(card: Card) -> Iterator[str]:
    yield "---"
    yield f"pretty_name: {_quoted(card.title)}"
    if card.licence == OWN:
        yield from ("license: other", "license_name: own-terms", f"license_link: {OWN_FILE}")
    elif card.licence:
        yield f"license: {LICENCES[card.licence].hub}"
    yield from _listed("language", re.findall(r"[\w-]+", card.language))
    yield from _listed("task_categories", card.tasks)
    if card.facts and card.tables:
        yield from _listed("size_categories", [_size(sum(card.facts[file].rows for file in _first(card.tables)))])
        yield from _dataset_info(card)
    if card.tables:
        yield "configs:"
    for number, (name, splits) in enumerate(card.tables.items()):
        yield f"- config_name: {_quoted(name)}"
        if number == 0:
            yield "  default: true"
        yield "  data_files:"
        for split, file in splits.items():
            yield f"  - split: {_quoted(split)}"
            yield f"    path: {_quoted(file)}"
    yield "---"


def _listed(name: str, values: Sequence[str]) -> list[str]:
    return [f"{name}:", *(f"- {_quoted(value)}" for value in values)] if values else []


def _first(tables: Tables) -> Iterable[str]:
    return next(iter(tables.values())).values()


def _size(rows: int) -> str:
    """The Hub's category of so many rows."""
    bounds = ["1K", "10K", "100K", "1M", "10M", "100M", "1B"]
    at = next((number for number in range(len(bounds)) if rows < 1000 * 10**number), len(bounds) - 1)
    return f"n<{bounds[0]}" if at == 0 else f"{bounds[at - 1]}<n<{bounds[at]}"


def _dataset_info(card: Card) -> Iterator[str]:
    """Columns in JSON, which is YAML too."""
    yield "dataset_info:"
    for table, splits in card.tables.items():
        columns = card.facts[next(iter(splits.values()))].columns
        yield f"- config_name: {_quoted(table)}"
        yield f"  features: {_json([{'name': name, **_feature(kind)} for name, kind in columns.items()])}"
        yield "  splits:"
        for split, file in splits.items():
            yield f"  - name: {_quoted(split)}"
            yield f"    num_bytes: {card.facts[file].bytes}"
            yield f"    num_examples: {card.facts[file].rows}"


def _feature(kind: Any) -> dict[str, Any]:
    """The type of a column as the Hub writes it: {"dtype": "string"}, {"list": "string"}, {"struct": [...]}."""
    if isinstance(kind, list):
        inner = _feature(kind[0])
        return {"list": inner.get("dtype") or inner.get("struct") or inner}
    if isinstance(kind, dict):
        return {"struct": [{"name": name, **_feature(of)} for name, of in kind.items()]}
    return {"dtype": kind}


def _quoted(text: str) -> str:
    return _json(text)


def _json(value: Any) -> str:
    """JSON, which is YAML too once the characters are escaped that YAML does not take or reads as the end of a line."""
    quoted = json.dumps(value, ensure_ascii=False)
    return "".join(sign if sign.isprintable() else f"\\U{ord(sign):08x}" for sign in quoted)


def _body(card: Card) -> Iterator[str]:
    yield f"# {_plain(card.title)}"
    yield ""
    for paragraph in _paragraphs(card.about):
        yield from (paragraph, "")
    yield f"Collected with the recipe {_plain(card.recipe)}. {_plain(card.description)}"
    yield from _section("What is in it", _rows("count", card.counts))
    yield from _section("What is left out", _rows("reason", card.left_out))
    yield from _section("What became of all that was written", _rows("", card.funnel))
    yield from _section("How to load it", _loading(card.tables))
    yield from _section("Answers of test", _key(card.key))
    for title, facts in card.stages:
        yield from _section(f"Stage: {_plain(title)}", _rows("fact", facts))
    yield from _section("What workers saw", _rows("stage", card.pages))
    yield from _section("What workers agreed to", _rows("answers under", card.agreed))
    for title, facts in card.aggregated:
        yield from _section(f"Aggregated values: {_plain(title)}", _rows("fact", facts))
    for title, text in card.rules.items():
        yield from _section(f"Rule of {_plain(title)}", _fenced("\n".join(text.splitlines())))
    yield from _section("Notes", [f"* {_with_names(note)}" for note in card.notes])
    for question, answer in card.asked.items():
        yield from _section(question, _paragraphs(answer) or [UNSTATED])
    yield from _section("Licence", _licence(card))
    yield from _section("Citation", _fenced(card.citation, _language(card.citation)) if card.citation else [UNSTATED])


def _licence(card: Card) -> list[str]:
    if card.licence == OWN:
        return [f"Terms of its own, which the file {OWN_FILE} has too:", "", *_fenced(card.terms)]
    if card.licence:
        known = LICENCES[card.licence]
        return [f"{known.title} ([{known.spdx}]({known.url})). Texts that others wrote may have rights of their own."]
    return [f"{UNSTATED} Nobody may take it that the data are free to use: ask whoever made them."]


def _language(citation: str) -> str:
    return "bibtex" if citation.startswith("@") else ""


def _fenced(text: str, language: str = "") -> list[str]:
    """Between fences that are longer than any in the text, so that nothing of it is markup."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return [fence + language, *text.split("\n"), fence]


def _section(title: str, lines: Sequence[str] | Iterator[str]) -> Iterator[str]:
    """Nothing without lines."""
    found = list(lines)
    if found:
        yield from ("", f"## {title}", "", *found)


def _rows(name: str, values: Mapping[str, Any]) -> list[str]:
    if not values:
        return []
    rows = [(key, f"{value:,}" if isinstance(value, int) else value) for key, value in values.items()]
    return table_lines((name, ""), rows)


def table_lines(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """A table as Markdown."""
    lines = [f"| {' | '.join(map(_cell, row))} |" for row in (head, *rows)]
    return [lines[0], f"|{'---|' * len(head)}", *lines[1:]]


def _loading(tables: Tables) -> list[str]:
    if not tables:
        return []
    lines = [
        f"* `{name}`: " + ", ".join(f"{split} in `{file}`" for split, file in splits.items())
        for name, splits in tables.items()
    ]
    return ["```python", "import datasets", "", 'datasets.load_dataset("path/of/this/folder")', "```", "", *lines]


def _key(name: str) -> list[str]:
    if not name:
        return []
    return [
        f"No file of this folder has them. They are in a file of their own, `{name}`, which lies beside the folder as "
        f"FOLDER-{name} and is not published with it: nothing shall learn from them."
    ]


def _paragraphs(text: str) -> list[str]:
    """Each in one line, and never markup, also where its first sign would make it a heading, a list or a quotation."""
    parts = (_plain(part) for part in re.split(r"\n\s*\n", text) if part.strip())
    return [_BEGINNING.sub(lambda found: f"{found[1]}\\{found[2]}", part) for part in parts]


def _plain(text: str) -> str:
    """In one line, and never markup: a lead's title is text."""
    return _SIGNS.sub(r"\\\g<0>", " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;"))


def _with_names(note: str) -> str:
    """A note of ours: what stands between two backticks is a name of a column or file, the rest is text."""
    parts = note.split("`")
    if len(parts) % 2 == 0:
        return _plain(note)
    return "".join(f"`{part}`" if at % 2 else _between(part) for at, part in enumerate(parts))


def _between(text: str) -> str:
    """As `_plain`, with the spaces at its ends."""
    return f"{' ' * text[:1].isspace()}{_plain(text)}{' ' * (len(text) > 1 and text[-1:].isspace())}"


def _cell(value: object) -> str:
    return _plain(str(value)).replace("|", "\\|")
