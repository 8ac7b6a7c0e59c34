"""Targets: the sentences and phrases that a stage's items ask about, corrected by a lead before they go out.

The form works without a script: each phrase has a first and a last word to choose, each sentence room for one more
phrase, and everything is saved, or refused, together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.contrib import messages
from django.db.models import Exists, OuterRef
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from hits.flow.data import correcting
from hits.models import Item, ItemChange, Stage
from hits.protocols.base import AnswerRefusedError
from hits.protocols.optional import MarkedSentence
from hits.text.sentences import sentences
from hits.text.words import placed
from hits.views import paging
from hits.views.guard import FORM, PAGE, VERB, LeadRequest, for_stage
from hits.views.stages import frame

SHOWN_CHANGES = 20
NEW = "new"
Span = tuple[int, int]


@dataclass
class PhraseRow:
    """The fields of a phrase: `first` and `last` are numbers of words in its sentence; None: not chosen yet."""

    name: str
    text: str
    span: Span | None
    first: int | None
    last: int | None
    removed: bool = False
    faults: list[str] = field(default_factory=list)


@dataclass
class SentenceRow:
    """The fields of a sentence. `words` are its words with their places in the text; the last row is a new phrase's."""

    name: str
    number: int
    span: Span
    text: str
    words: list[tuple[str, int, int]]
    rows: list[PhraseRow]
    removed: bool = False
    faults: list[str] = field(default_factory=list)


@for_stage(PAGE)
def index(request: HttpRequest, stage: Stage) -> HttpResponse:
    protocol = _protocol(stage)
    rows = stage.items.select_related("document").annotate(
        corrected=Exists(ItemChange.objects.filter(item=OuterRef("pk"), undone_at=None))
    )
    waits = request.GET.get("show") == "waiting"
    page = paging.by_id(rows.filter(state=Item.State.NEW) if waits else rows, request.GET)
    listed = [(row, protocol.marked(row.data)) for row in page.rows]
    context = {
        **frame(stage),
        "page": page,
        "listed": [(row, len(found), sum(len(one.phrases) for one in found)) for row, found in listed],
        "waits": waits,
    }
    return render(request, "targets/index.html", context)


def _protocol(stage: Stage) -> Any:
    try:
        return correcting.protocol_for(stage)
    except correcting.NotCorrectableError as error:
        raise Http404(str(error)) from error


@for_stage(FORM)
def text(request: LeadRequest, stage: Stage, pk: int) -> HttpResponse:
    """The text with its sentences and phrases; POST saves them all."""
    _protocol(stage)
    item = get_object_or_404(stage.items.select_related("document"), pk=pk)
    item.stage = stage
    if request.method != "POST":
        return _page(request, item, _rows(item))
    rows = _typed(_rows(item), request.POST)
    wanted, places = _wanted(rows)
    added = _added(item, request.POST)
    try:
        count = correcting.correct(item, [*wanted, *added], request.POST.get("seen", ""), request.user)
    except AnswerRefusedError as refusal:
        return _page(request, item, rows, 400, faults=_put(refusal, places))
    except (correcting.ChangedError, correcting.PublishedError) as error:
        messages.error(request, f"{error} Nothing was saved.")
        item.refresh_from_db()
        return _page(request, item, _rows(item), 409)
    said = {0: "Nothing was different, so nothing was saved.", 1: "Saved."}
    messages.success(request, said.get(count, "Saved, in the other part of this text too."))
    return redirect("target", stage.project.slug, stage.key, item.pk)


@for_stage(VERB)
def undo(request: LeadRequest, stage: Stage, pk: int) -> HttpResponse:
    _protocol(stage)
    item = get_object_or_404(stage.items.select_related("document"), pk=pk)
    item.stage = stage
    try:
        count = correcting.undo(item, request.user)
    except (correcting.NothingToUndoError, correcting.PublishedError) as error:
        messages.error(request, f"{error} Nothing was undone.")
    else:
        messages.success(request, f"Undone{', in the other part of this text too' if count > 1 else ''}.")
    return redirect("target", stage.project.slug, stage.key, item.pk)


# What the page shows


def _page(
    request: HttpRequest, item: Item, rows: Sequence[SentenceRow], status: int = 200, faults: Sequence[str] = ()
) -> HttpResponse:
    protocol = _protocol(item.stage)
    marked = protocol.marked(item.data)
    fellows = list(correcting.fellows(item)[:10])
    taken = set(correcting.published(Item.objects.filter(pk__in=[item.pk, *(row.pk for row in fellows)])))
    changes = list(item.changes.select_related("changed_by", "undone_by")[:SHOWN_CHANGES])
    story = str(item.document.data["text"])
    context = {
        **frame(item.stage),
        "item": item,
        "about": protocol.about(item.data),
        "scenario": item.document.data.get("scenario", ""),
        "story": list(_story(story, marked)),
        "rows": rows,
        "to_add": _others(story, marked),
        "fellows": [(row, protocol.about(row.data), row in taken) for row in fellows],
        "fixed": item in taken,
        "fixed_sentences": next((row for row in fellows if row in taken), None),
        "note": correcting.note(item),
        "faults": faults,
        "seen": correcting.fingerprint(item),
        "changes": [(change, *_difference(story, protocol, change)) for change in changes],
        "newest": next((change.pk for change in changes if change.undone_at is None), None),
    }
    return render(request, "targets/text.html", context, status=status)


def _story(story: str, marked: Sequence[MarkedSentence]) -> Iterator[tuple[int, list[tuple[bool, str]]]]:
    """The text in order: the number of a sentence, 0 for what is none, with its pieces as (is a phrase, words)."""
    at = 0
    for number, one in enumerate(marked, start=1):
        yield 0, [(False, story[at : one.start])]
        yield number, list(_pieces(story, one))
        at = one.end
    yield 0, [(False, story[at:])]


def _pieces(story: str, one: MarkedSentence) -> Iterator[tuple[bool, str]]:
    at = one.start
    for start, end in one.phrases:
        if start >= at:
            yield False, story[at:start]
            yield True, story[start:end]
            at = end
    yield False, story[at : one.end]


def _others(story: str, marked: Sequence[MarkedSentence]) -> list[tuple[str, str]]:
    """The sentences that are no targets, as (value, words)."""
    return [
        (f"{one.start}-{one.end}", one.text)
        for one in sentences(story)
        if not any(one.start < target.end and target.start < one.end for target in marked)
    ]


def _difference(story: str, protocol: Any, change: ItemChange) -> tuple[list[str], list[str]]:
    """The words that are no longer marked, and those that are since."""
    before, after = _marks(protocol.marked(change.before)), _marks(protocol.marked(change.after))
    return _words(story, before - after), _words(story, after - before)


def _words(story: str, spans: set[Span]) -> list[str]:
    return [story[start:end] for start, end in sorted(spans)]


def _marks(marked: Sequence[MarkedSentence]) -> set[Span]:
    return {span for one in marked for span in ((one.start, one.end), *one.phrases)}


# The form


def _rows(item: Item) -> list[SentenceRow]:
    story = str(item.document.data["text"])
    found = []
    for number, one in enumerate(_protocol(item.stage).marked(item.data)):
        said = story[one.start : one.end]
        words = [(said[a:b], one.start + a, one.start + b) for _, a, b in placed(said)]
        rows = [
            PhraseRow(f"s{number}p{at}", story[span[0] : span[1]], span, *_around(words, span))
            for at, span in enumerate(one.phrases)
        ]
        rows.append(PhraseRow(f"s{number}{NEW}", "", None, None, None))
        found.append(SentenceRow(f"s{number}", number + 1, (one.start, one.end), said, words, rows))
    return found


def _around(words: Sequence[tuple[str, int, int]], span: Span) -> tuple[int | None, int | None]:
    """The first and the last word that the span touches."""
    touched = [number for number, (_, start, end) in enumerate(words) if start < span[1] and span[0] < end]
    return (touched[0], touched[-1]) if touched else (None, None)


def _typed(rows: list[SentenceRow], post: Mapping[str, str]) -> list[SentenceRow]:
    """The rows as they stand in the form. What is not chosen anew keeps its span to the character."""
    for sentence in rows:
        sentence.removed = f"{sentence.name}-remove" in post
        for row in sentence.rows:
            row.removed = f"{row.name}-remove" in post
            first = _number(post.get(f"{row.name}-first"), len(sentence.words))
            last = _number(post.get(f"{row.name}-last"), len(sentence.words))
            if (first, last) != (row.first, row.last) and (row.span is None or None not in (first, last)):
                row.first, row.last, row.span = first, last, _span(sentence, first, last)
    return rows


def _number(text: str | None, below: int) -> int | None:
    good = text and text.isascii() and text.isdigit() and len(text) < 5 and int(text) < below
    return int(text) if text and good else None


def _span(sentence: SentenceRow, first: int | None, last: int | None) -> Span | None:
    """One word where only one of the two is chosen. Words back to front give a span that the protocol refuses."""
    first, last = (last if first is None else first), (first if last is None else last)
    if first is None or last is None:
        return None
    return sentence.words[first][1], sentence.words[last][2]


def _wanted(rows: Sequence[SentenceRow]) -> tuple[list[MarkedSentence], dict[str, SentenceRow | PhraseRow]]:
    """What the form says, and the row behind each place of it."""
    wanted: list[MarkedSentence] = []
    places: dict[str, SentenceRow | PhraseRow] = {}
    for sentence in rows:
        if not sentence.removed:
            kept = [(row, row.span) for row in sentence.rows if row.span and not row.removed]
            places[str(len(wanted))] = sentence
            places |= {f"{len(wanted)}.{at}": row for at, (row, _) in enumerate(kept)}
            wanted.append(MarkedSentence(*sentence.span, tuple(span for _, span in kept)))
    return wanted, places


def _added(item: Item, post: Mapping[str, str]) -> list[MarkedSentence]:
    """The sentence that was chosen, without a phrase yet; an invented one is none."""
    story = str(item.document.data["text"])
    known = dict(_others(story, _protocol(item.stage).marked(item.data)))
    chosen = post.get("add", "")
    if chosen not in known:
        return []
    start, end = chosen.split("-")
    return [MarkedSentence(int(start), int(end), ())]


def _put(refusal: AnswerRefusedError, places: Mapping[str, SentenceRow | PhraseRow]) -> list[str]:
    """Each reason beside its row; returns those that belong to none."""
    loose = []
    for place, reason in zip(refusal.fields, refusal.reasons, strict=True):
        if place in places:
            places[place].faults.append(reason)
        else:
            loose.append(reason)
    return loose
