"""Steps of the recipe spans: texts come in, and spans of them that enough workers marked go out.

A file is JSON Lines, {"id", "text"} a line, or plain text, one text a line. Offsets count characters of the text
(Unicode code points) from 0, and ends are exclusive. Every text is marked by several workers; one whose workers differ
goes to another worker, who sees what they marked and decides.
"""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, BinaryIO

from hits.formats.files.faults import Faults, counted
from hits.formats.files.reading import Keys, Row, first_character, json_lines, text_lines, told
from hits.formats.outputs.parquet import Kind
from hits.formats.outputs.tables import write_jsonl, write_parquet
from hits.protocols.marked import LONGEST_TEXT, Span
from hits.recipes.source import Collected, Json, JudgedItem, NextItem, ReleaseContent, SourceDocument, SourceItem
from hits.recipes.spans import conll
from hits.recipes.spans.agreement import Agreement
from hits.recipes.spans.scoring import SCORING as SCORING
from hits.recipes.table_rows import ANNOTATIONS, annotations_file, told_kept
from hits.stats.aggregation.spans import votes_of
from hits.text.language.token_tags import flat
from hits.text.language.words import is_without_spaces

ANNOTATE, ADJUDICATE = "annotate", "adjudicate"
LONGEST_KEY = 200
NO_OPTIONS: Mapping[str, Any] = MappingProxyType({})
TYPES: dict[str, Kind] = {
    "id": "string",
    "text": "string",
    "spans": [{"start": "int64", "end": "int64", "label": "string", "text": "string", "marked_by": "int64"}],
    "answers": "int64",
    "decided_by": "string",
}
COLUMNS = tuple(TYPES)
_LANGUAGE = re.compile("[a-z]{2,3}")
VOTES, ADJUDICATOR = "votes", "adjudicator"
EXPLAINED = """\
spans.jsonl: one text a line. `start` and `end` count characters of `text` (Unicode code points, as Python does) from 0;
the end is exclusive. `marked_by` of `answers` workers marked that span with that label. `decided_by` is "votes",
where at least {enough} of them must have done so, or "adjudicator", where they differed and another worker decided.

spans.conll: a token a line with its tag after a tab, a blank line after each sentence; texts in the same order. Tokens
are words and every other sign by itself; tags are B-<label>, I-<label> and O. A token that a span covers in part is
tagged as a whole, and a span goes on in the next sentence with B-<label>. Of spans that overlap the longest is written,
of equally long ones the one that begins first, then the label that comes first in the alphabet: {flattened} left out.
"""


# Import


def read_documents(
    stream: BinaryIO,
    *,
    name: str = "",
    max_bytes: int,
    default_origin: str,
    progress: Callable[[int], None] | None = None,
    seed: int = 0,
    options: Mapping[str, Any] = NO_OPTIONS,
) -> list[SourceDocument]:
    """One document with one item a line. Raises FormatErrors with every fault.

    A file whose first character is a bracket is JSON Lines, any other is plain text.
    """
    faults = Faults()
    is_json = first_character(stream) in ("{", "[", "")
    lines = text_lines(stream, max_bytes, faults)
    rows = _of_json(lines, faults) if is_json else _of_plain(lines, faults)
    found = [
        SourceDocument(key, default_origin, {"text": text}, (SourceItem(key, {}),), line)
        for line, key, text in told(rows, progress)
    ]
    if not found and not faults.count:
        faults.add(None, "", 'the file holds no text: write one a line, plain or as {"id": "1", "text": "..."}')
    faults.refuse()
    return found


def _of_json(lines: Iterable[str], faults: Faults) -> Iterator[tuple[int, str, str]]:
    keys = Keys()
    for line, fields in json_lines(lines, faults):
        row = Row(faults, line)
        row.check_names(fields, ("id", "text"))
        key = row.text(fields["id"], "id", LONGEST_KEY) if "id" in fields else ""
        text = row.text(fields["text"], "text", LONGEST_TEXT) if "text" in fields else ""
        keys.check(row, key)
        yield line, key, text


def _of_plain(lines: Iterable[str], faults: Faults) -> Iterator[tuple[int, str, str]]:
    """A text without an id is named after what it says, so that the same one is known again in another file."""
    seen: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        if not (text := line.strip()):
            continue
        row = Row(faults, number)
        row.text(text, "", LONGEST_TEXT)
        key = hashlib.sha256(text.encode(errors="replace")).hexdigest()[:16]
        if key in seen:
            row.say("", f"is the same text as line {seen[key]}: remove one of them")
        seen.setdefault(key, number)
        yield number, key, text


def import_notes(documents: Sequence[SourceDocument]) -> list[str]:
    """Where words cannot be told apart by spaces, a lead learns what can be marked."""
    count = sum(is_without_spaces(document.data["text"]) for document in documents)
    if not count:
        return []
    return [
        f"{counted(count, 'text')} with a script without spaces between words, such as Japanese, Chinese or Thai: "
        "there each character can be marked by itself, also where only whole words can be marked."
    ]


def mark(documents_meta: Iterable[tuple[str, str]], *, seed: int, options: Mapping[str, Any]) -> dict[str, str]:
    """There are no splits: everything may be released."""
    return dict.fromkeys((key for key, _ in documents_meta), "train")


def check_option(name: str, value: object) -> None:
    if name == "language" and not _LANGUAGE.fullmatch(str(value)):
        raise ValueError("write the two or three small letters of a language, such as en")


# Who decides


def next_items(item: JudgedItem) -> list[NextItem]:
    """A text whose workers differ goes to somebody who decides, with every span and how many marked it."""
    answers = answers_of(item)
    if item.stage != ANNOTATE or item.outcome != "kept" or len(set(map(frozenset, answers))) < 2:
        return []
    proposals = [[*span, votes] for span, votes in sorted(votes_of(answers).items())]
    return [NextItem(ADJUDICATE, item.key, {"proposals": proposals, "answers": len(answers)})]


def answers_of(item: JudgedItem) -> list[list[Span]]:
    """The spans of each answer that counts."""
    return [
        [(start, end, label) for start, end, label in given.value] for given in item.labels if given.unit == "spans"
    ]


# Release


@dataclass
class _Figures:
    """What is counted while rows are written."""

    agreement: Agreement = field(default_factory=Agreement)
    spans: Counter[str] = field(default_factory=Counter)
    decided_by: Counter[str] = field(default_factory=Counter)
    differing: int = 0
    flattened: int = 0

    def statistics(self) -> Json:
        agreement = self.agreement
        figures: Json = {
            "texts whose workers differ": self.differing,
            "decided by another worker": self.decided_by[ADJUDICATOR],
            "spans": self.spans.total(),
            "pairs of workers": agreement.pairs,
            "exact F1": agreement.exact.f1,
            "overlapping F1": agreement.overlapping.f1,
        }
        for label in sorted({*self.spans, *agreement.exact_by_label}):
            figures[f"spans, {label}"] = self.spans[label]
            figures[f"exact F1, {label}"] = agreement.exact_by_label[label].f1
            figures[f"overlapping F1, {label}"] = agreement.overlapping_by_label[label].f1
        return {"all": figures}


def build_release(collected: Collected) -> ReleaseContent:
    """spans.jsonl, spans.conll and README.txt, with the agreement of the workers."""
    # Whoever stores the release reads them; they are gone with the last reference.
    jsonl_file, conll_file, parquet_file = (tempfile.TemporaryFile() for _ in range(3))  # noqa: SIM115
    figures, enough = _Figures(), collected.options["enough"]
    texts = write_jsonl(_rows(collected, figures, conll_file), COLUMNS, jsonl_file)
    jsonl_file.seek(0)
    write_parquet(map(json.loads, jsonl_file), TYPES, parquet_file)
    kept = (item for item in collected.judged(ANNOTATE, labels=True) if item.outcome == "kept")
    outcomes = Counter(item.outcome for item in collected.judged(ANNOTATE))
    left_out = {"dropped by the rule": outcomes["dropped"], "answers are missing": outcomes["open"]}
    explained = EXPLAINED.format(enough=enough, flattened=figures.flattened)
    undecided = figures.differing - figures.decided_by[ADJUDICATOR]
    return ReleaseContent(
        files={
            "spans.jsonl": jsonl_file,
            "spans.parquet": parquet_file,
            "spans.conll": conll_file,
            "README.txt": explained.encode(),
            ANNOTATIONS: annotations_file(kept, collected.pseudonym_key),
        },
        tables={"texts": {"train": "spans.parquet"}, "annotations": {"train": ANNOTATIONS}},
        counts={"texts": texts},
        left_out={why: count for why, count in left_out.items() if count},
        statistics=figures.statistics(),
        notes=(
            "Offsets count characters of the text (Unicode code points) from 0; ends are exclusive.",
            f"Of the texts whose workers differ, {undecided:,} have no decision of another worker: "
            f"there the spans stand that at least {enough} marked.",
            f"Spans that overlap a longer one and so stand in spans.jsonl alone: {figures.flattened:,}.",
        ),
        told=told_kept(collected, ANNOTATE, ADJUDICATE),
    )


def _rows(collected: Collected, figures: _Figures, conll_file: BinaryIO) -> Iterator[Json]:
    """Rows of spans.jsonl; on the way each text is counted and written to the other file."""
    for item, decision in _decided(collected):
        answers = answers_of(item)
        votes = votes_of(answers)
        spans = _spans(votes, decision, collected.options["enough"])
        decided_by = VOTES if decision is None else ADJUDICATOR
        figures.agreement.add(answers)
        figures.differing += len(set(map(frozenset, answers))) > 1
        figures.decided_by[decided_by] += 1
        figures.spans.update(label for _, _, label in spans)
        figures.flattened += len(spans) - len(flat(spans))
        text = item.document["text"]
        conll_file.write("".join(conll.lines(text, spans, collected.options["language"])).encode())
        yield {
            "id": item.key,
            "text": text,
            "spans": [_row(text, span, votes) for span in spans],
            "answers": len(answers),
            "decided_by": decided_by,
        }


def _row(text: str, span: Span, votes: Counter[Span]) -> Json:
    start, end, label = span
    return {"start": start, "end": end, "label": label, "text": text[start:end], "marked_by": votes[span]}


def _spans(votes: Counter[Span], decision: Sequence[Span] | None, enough: int) -> list[Span]:
    if decision is not None:
        return sorted(decision)
    return sorted(span for span, count in votes.items() if count >= enough)


def _decided(collected: Collected) -> Iterator[tuple[JudgedItem, list[Span] | None]]:
    """Each kept text with what another worker decided about it, if somebody did.

    Both stages come in the same order and have the same keys, so that no list of either is kept.
    """
    decisions = collected.judged(ADJUDICATE, labels=True)
    waiting = next(decisions, None)
    for item in collected.judged(ANNOTATE, labels=True):
        decision = None
        if waiting is not None and waiting.key == item.key:
            said = answers_of(waiting) if waiting.outcome == "kept" else []
            decision = said[0] if said else None
            waiting = next(decisions, None)
        if item.outcome == "kept":
            yield item, decision
