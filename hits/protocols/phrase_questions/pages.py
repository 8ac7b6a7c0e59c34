"""Targets: the sentences and phrases that a stage's items ask about, corrected by a lead before they go out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hits.protocols.base import Json
from hits.protocols.optional import MarkedSentence
from hits.protocols.pages import ChangeRow, Correct, ItemPage, ItemRow, ItemRows, Page
from hits.protocols.phrase_questions.correcting import about, marked
from hits.protocols.phrase_questions.target_form import added, form_rows, put_beside, to_add, wanted

Span = tuple[int, int]


def listed(rows: Sequence[ItemRow]) -> Json:
    found = [(row, marked(row.data)) for row in rows]
    return {"listed": [(row, len(own), sum(len(one.phrases) for one in own)) for row, own in found]}


def shown(rows: ItemRows) -> Json:
    item, text = rows.item, str(rows.item.document["text"])
    own = marked(item.data)
    sentences = form_rows(text, own, rows.fields)
    _, places = wanted(sentences)
    return {
        "about": about(item.data),
        "scenario": item.document.get("scenario", ""),
        "story": list(_story(text, own)),
        "sentences": sentences,
        "faults": put_beside(rows.refusal, places) if rows.refusal else [],
        "to_add": to_add(text, own),
        "fellows": [(row, about(row.data)) for row in rows.fellows],
        "fixed_sentences": next((row for row in rows.fellows if row.is_published), None),
        "differences": {change.pk: _difference(text, change) for change in rows.changes},
    }


def correction(item: ItemRow, fields: Mapping[str, str]) -> Correct:
    text, own = str(item.document["text"]), marked(item.data)
    kept, _ = wanted(form_rows(text, own, fields))
    return Correct([*kept, *added(text, own, fields)])


def _story(text: str, own: Sequence[MarkedSentence]) -> Iterator[tuple[int, list[tuple[bool, str]]]]:
    """The text in order: the number of a sentence, 0 for what is none, with its pieces as (is a phrase, words)."""
    at = 0
    for number, one in enumerate(own, start=1):
        yield 0, [(False, text[at : one.start])]
        yield number, list(_pieces(text, one))
        at = one.end
    yield 0, [(False, text[at:])]


def _pieces(text: str, one: MarkedSentence) -> Iterator[tuple[bool, str]]:
    at = one.start
    for start, end in one.phrases:
        if start >= at:
            yield False, text[at:start]
            yield True, text[start:end]
            at = end
    yield False, text[at : one.end]


def _difference(text: str, change: ChangeRow) -> tuple[list[str], list[str]]:
    """The words that are no longer marked, and those that are since."""
    before, after = _spans(marked(change.before)), _spans(marked(change.after))
    return _words(text, before - after), _words(text, after - before)


def _words(text: str, spans: set[Span]) -> list[str]:
    return [text[start:end] for start, end in sorted(spans)]


def _spans(own: Sequence[MarkedSentence]) -> set[Span]:
    return {span for one in own for span in ((one.start, one.end), *one.phrases)}


PAGES = (
    Page(
        slug="targets",
        title="Targets",
        template="phrase_questions/targets.html",
        context=listed,
        item=ItemPage(
            template="phrase_questions/target.html",
            context=shown,
            form=correction,
            fellows_named="the other part of this text",
        ),
    ),
)
