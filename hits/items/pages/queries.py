"""Queries that were made of articles: how many sentences each condition dropped, and one article to correct.

The forms work without a script: one mention is changed at a time, by its first and last word and its entity.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db.models import Exists, OuterRef, Subquery
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from hits import charts
from hits.items.rules.item_changes import fingerprint
from hits.items.verbs import annotating
from hits.models import Item, ItemChange, Stage
from hits.protocols.base import AnswerRefusedError
from hits.protocols.optional import MentionCorrection
from hits.refusals import Refused
from hits.stages.pages.stages import frame
from hits.text.language.entities import TYPES
from hits.text.language.passages import passage_parts
from hits.text.questions import passage_queries
from hits.text.questions.passage_queries import CONDITIONS, entity_names
from hits.views import paging
from hits.views.guard import PAGE, VERB, LeadRequest, for_stage

SHOWN_CHANGES = 20
SHADES = 6
NEW = "new"
Json = dict[str, Any]
_PIECE = re.compile(r"\w+|[^\w\s]")
# Of the bar; a condition's tone follows its place in the table.
TONES = ("d1", "d2", "d3", "d4", "d5", "d6")
SHORT = {
    "short": "too short",
    "question": "a question",
    "overlap": "repeats the passage",
    "no_entity": "names no entity",
    "no_antecedent": "an entity is not in the passage",
    "shows_answer": "shows its answer",
}


def refuse_other(stage: Stage) -> None:
    """Raises Http404 for a stage whose items are no articles with queries."""
    try:
        annotating.protocol_for(stage)
    except Refused as error:
        raise Http404(str(error)) from error


# In all


@for_stage(PAGE, crowd=False)
def index(request: HttpRequest, stage: Stage) -> HttpResponse:
    refuse_other(stage)
    made = stage.summary.made
    words = {word: number for _, word, number in stage.summary.conclusions}
    filters = [("", "All", stage.summary.items), ("corrected", "Corrected", None), ("sent", "Sent to people", None)]
    filters += [(word, word.capitalize(), number) for word, number in words.items()]
    show = request.GET.get("show", "")
    page = paging.by_id(_listed(stage, show), request.GET)
    context = {
        **frame(stage),
        "made": made,
        "conditions": _conditions(made),
        "bar": _bar(made),
        "filters": filters,
        "show": show,
        "page": page,
        "draws": stage.project.stages.filter(crowd=True, draws__gt=0).order_by("position").first(),
    }
    return render(request, "items/queries/index.html", context)


def _listed(stage: Stage, show: str) -> Any:
    """Without their texts: a page of fifty articles costs fifty small rows."""
    rows = stage.items.defer("data").annotate(
        title=Subquery(Item.objects.filter(pk=OuterRef("pk")).values("document__data__title")[:1]),
        corrected=Exists(ItemChange.objects.filter(item=OuterRef("pk"), undone_at=None)),
        sent=Exists(Item.objects.filter(parent=OuterRef("pk"))),
    )
    if show in ("corrected", "sent"):
        return rows.filter(**{show: True})
    return rows.filter(conclusion=show) if show else rows


def _conditions(made: Mapping[str, int]) -> list[Json]:
    """Rows of the table: what dropped a sentence, how many and which share of all."""
    rows = [
        {"name": SHORT[code], "why": said, "count": made.get(code, 0), "tone": tone}
        for (code, said), tone in zip(CONDITIONS.items(), TONES, strict=True)
    ]
    return [*rows, {"name": "kept", "why": "None of this holds.", "count": made.get("kept", 0), "tone": "good"}]


def _bar(made: Mapping[str, int]) -> charts.Markup:
    parts = [(row["name"], row["count"], row["tone"]) for row in reversed(_conditions(made))]
    total = made.get("sentences", 0)
    label = ", ".join(f"{name} {charts.share(amount, total):.0f} %" for name, amount, _ in parts)
    return charts.stacked_bar(parts, total, f"Sentences: {label}")


# One article


@dataclass(frozen=True)
class Mark:
    """A piece of a text. `name` addresses its mention, empty for plain words; `entity` None is not in the passage."""

    text: str
    name: str = ""
    entity: int | None = None
    type: str = ""

    @property
    def number(self) -> str:
        return "–" if self.entity is None else str(self.entity + 1)

    @property
    def shade(self) -> str:
        return "none" if self.entity is None else str(self.entity % SHADES)


@for_stage(PAGE, crowd=False)
def article(request: HttpRequest, stage: Stage, pk: int) -> HttpResponse:
    """`?mention=p3` or `?mention=s2-0` shows the form of a mention, `?add=p0` or `?add=s2` that of a new one."""
    refuse_other(stage)
    return _page(request, _item(stage, pk), request.GET)


def _item(stage: Stage, pk: int) -> Item:
    item = get_object_or_404(stage.items.select_related("document"), pk=pk)
    item.stage = stage
    return item


def _page(
    request: HttpRequest, item: Item, asked: Mapping[str, str], status: int = 200, faults: Sequence[str] = ()
) -> HttpResponse:
    stage, data = item.stage, item.data
    changes = list(item.changes.select_related("changed_by", "undone_by", "together")[:SHOWN_CHANGES])
    removed = set(data["removed"])
    context = {
        **frame(stage),
        "item": item,
        "title": item.document.data.get("title", ""),
        "parts": list(_parts(data)),
        "entities": _entities(data),
        "queries": [(one, one.id in removed) for one in _queries(data)],
        "sentences": list(_sentences(data)),
        "is_sent": annotating.is_sent(item),
        "sent_to": item.children.select_related("stage").first(),
        "form": _form(data, asked),
        "faults": faults,
        "seen": fingerprint(item),
        "changes": [(change, _difference(change)) for change in changes],
        "newest": next((change.pk for change in changes if change.undone_at is None), None),
        "before": stage.items.filter(pk__lt=item.pk).order_by("-pk").values_list("pk", flat=True).first(),
        "after": stage.items.filter(pk__gt=item.pk).order_by("pk").values_list("pk", flat=True).first(),
    }
    return render(request, "items/queries/article.html", context, status=status)


def _parts(data: Json) -> Iterator[tuple[str, bool, list[Mark]]]:
    """(name, is a bullet, pieces) of each paragraph and bullet of the passage."""
    for number, part in enumerate(passage_parts(data["text"])):
        own = [
            (f"p{at}", one)
            for at, one in enumerate(data["mentions"])
            if part.start <= one["start"] and one["end"] <= part.end
        ]
        yield f"p{number}", part.kind == "bullet", list(_marks(data["text"], part.start, part.end, own))


def _sentences(data: Json) -> Iterator[Json]:
    """Each sentence of the rest, its pieces, and why it was dropped."""
    for number, one in enumerate(data["sentences"]):
        own = [(f"s{number}-{at}", mention) for at, mention in enumerate(one["mentions"])]
        yield {
            "name": f"s{number}",
            "number": number + 1,
            "pieces": list(_marks(one["text"], 0, len(one["text"]), own)),
            "dropped": CONDITIONS.get(one["dropped"], ""),
            "short": SHORT.get(one["dropped"], ""),
        }


def _marks(text: str, start: int, end: int, mentions: Sequence[tuple[str, Json]]) -> Iterator[Mark]:
    at = start
    for name, one in sorted(mentions, key=lambda found: int(found[1]["start"])):
        if at < one["start"]:
            yield Mark(text[at : one["start"]])
        yield Mark(text[one["start"] : one["end"]], name, one["entity"], one["type"])
        at = one["end"]
    if at < end:
        yield Mark(text[at:end])


def _queries(data: Json) -> list[Any]:
    """With those that were taken out, which can come back; each with the words of its references."""
    names = entity_names(data)
    return [
        QueryRow(one.id, *_around(one.query), one.entity, sorted(names[one.entity]))
        for one in passage_queries.queries(data, with_removed=True)
    ]


def _around(query: str) -> tuple[str, str]:
    before, _, after = query.partition(passage_queries.PLACEHOLDER)
    return before, after


@dataclass(frozen=True)
class QueryRow:
    id: str
    before: str
    after: str
    entity: int
    names: list[str]

    @property
    def number(self) -> int:
        return self.entity + 1

    @property
    def shade(self) -> int:
        return self.entity % SHADES


def _entities(data: Json) -> list[Json]:
    """Each entity of the passage with its names and how often it is mentioned there."""
    return [
        {
            "number": entity + 1,
            "shade": entity % SHADES,
            "names": sorted(names),
            "mentions": sum(one["entity"] == entity for one in data["mentions"]),
        }
        for entity, names in sorted(entity_names(data).items())
    ]


def _difference(change: ItemChange) -> tuple[list[str], list[str]]:
    """What is annotated no more, and what is since, in words."""
    before, after = _said(change.before), _said(change.after)
    return [said for said in before if said not in after], [said for said in after if said not in before]


def _said(data: Json) -> dict[str, None]:
    """Sentences about each annotation, in order."""
    found = [_words(data["text"], one, "") for one in data["mentions"]]
    for number, sentence in enumerate(data["sentences"], start=1):
        found += [_words(sentence["text"], one, f" in sentence {number}") for one in sentence["mentions"]]
    queries = passage_queries.queries(data)
    return dict.fromkeys([*found, *(f"the query “{one.query}”" for one in queries)])


def _words(text: str, one: Json, where: str) -> str:
    entity = "no entity of the passage" if one["entity"] is None else f"entity {one['entity'] + 1}"
    return f"“{text[one['start'] : one['end']]}”{where} as {entity}, {one['type']}"


# The form of one mention


@dataclass(frozen=True)
class MentionForm:
    """A mention to change, or a new one. `words` are (number, word) of its paragraph, bullet or sentence."""

    mention: str
    add: str
    words: list[tuple[int, str]]
    first: int | None
    last: int | None
    type: str
    entity: str
    entities: list[tuple[str, str]]
    types: list[tuple[str, str]]
    text: str


def _form(data: Json, asked: Mapping[str, str]) -> MentionForm | None:
    """None where nothing is asked for, or something that is not there."""
    found = _place(data, asked)
    if found is None:
        return None
    mention, text, start, end, in_passage = found
    placed = _placed(text, start, end)
    touched = [n for n, (_, a, b) in enumerate(placed) if mention and a < mention["end"] and mention["start"] < b]
    entities = [(str(one["number"] - 1), f"{one['number']} {', '.join(one['names'])}") for one in _entities(data)]
    other = (NEW, "one that is new") if in_passage else ("", "none of the passage")
    return MentionForm(
        mention=asked.get("mention", "") if mention else "",
        add="" if mention else asked.get("add", ""),
        words=[(n, word) for n, (word, _, _) in enumerate(placed)],
        first=touched[0] if touched else None,
        last=touched[-1] if touched else None,
        type=mention["type"] if mention else "",
        entity="" if mention is None or mention["entity"] is None else str(mention["entity"]),
        entities=[*entities, other],
        types=list(TYPES.items()),
        text=text[mention["start"] : mention["end"]] if mention else "",
    )


def _place(data: Json, asked: Mapping[str, str]) -> tuple[Json | None, str, int, int, bool] | None:
    """(mention or None for a new one, text, its part's start and end, whether it is the passage)."""
    name, add = asked.get("mention", ""), asked.get("add", "")
    kind, numbers = (name or add)[:1], [_number(one) for one in (name or add)[1:].split("-")]
    if None in numbers or kind not in ("p", "s"):
        return None
    first, second = numbers[0] or 0, (numbers[1] or 0 if len(numbers) > 1 else 0)
    parts = passage_parts(data["text"])
    if kind == "p" and name and first < len(data["mentions"]):
        mention = data["mentions"][first]
        part = next((one for one in parts if one.start <= mention["start"] < one.end), None)
        return (mention, data["text"], part.start, part.end, True) if part else None
    if kind == "p" and add and first < len(parts):
        return None, data["text"], parts[first].start, parts[first].end, True
    if kind == "s" and first < len(data["sentences"]):
        sentence = data["sentences"][first]
        if add:
            return None, sentence["text"], 0, len(sentence["text"]), False
        if second < len(sentence["mentions"]):
            return sentence["mentions"][second], sentence["text"], 0, len(sentence["text"]), False
    return None


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 6 else None


def _placed(text: str, start: int, end: int) -> list[tuple[str, int, int]]:
    """Pieces that a mention can begin and end with: words, and each sign of punctuation."""
    return [(one.group(), one.start(), one.end()) for one in _PIECE.finditer(text, start, end)]


@for_stage(VERB, crowd=False)
def mention(request: LeadRequest, stage: Stage, pk: int) -> HttpResponse:
    """Change, add or remove one mention."""
    refuse_other(stage)
    item = _item(stage, pk)
    wanted = _wanted(item.data, request.POST)
    if isinstance(wanted, str):
        return _page(request, item, request.POST, 400, [wanted])
    return _save(request, item, wanted)


def _save(request: LeadRequest, item: Item, wanted: MentionCorrection) -> HttpResponse:
    try:
        is_new = annotating.correct(item, wanted, request.POST.get("seen", ""), request.user)
    except AnswerRefusedError as refusal:
        said_of_it = [f"This mention {reason[0].lower()}{reason[1:]}" for reason in refusal.reasons]
        return _page(request, item, request.POST, 400, said_of_it)
    except Refused as error:
        messages.error(request, f"{error} Nothing was saved.")
    else:
        said = "Saved." if is_new else "Nothing was different, so nothing was saved."
        messages.success(request, said)
    return redirect("article", item.stage.project.slug, item.stage.key, item.pk)


def _wanted(data: Json, post: Mapping[str, str]) -> MentionCorrection | str:
    """The correction, or a sentence that says what to choose."""
    found = _place(data, post)
    if found is None:
        return "This mention is there no more. Choose one again."
    mention, text, start, end, in_passage = found
    place = None if in_passage else int((post.get("mention") or post["add"])[1:].split("-")[0])
    at = mention["start"] if mention else None
    if "remove" in post and mention:
        return MentionCorrection(place, at, None)
    made = _typed(data, _placed(text, start, end), post, in_passage)
    return made if isinstance(made, str) else MentionCorrection(place, at, made)


def _typed(
    data: Json, words: Sequence[tuple[str, int, int]], post: Mapping[str, str], in_passage: bool
) -> tuple[int, int, str, int | None] | str:
    first, last = _number(post.get("first", "")), _number(post.get("last", ""))
    if first is None or last is None or not first <= last < len(words):
        return "Choose the first and the last word, in this order."
    if post.get("type", "") not in TYPES:
        return "Choose what kind of entity it is."
    entity = _entity(data, post.get("entity", ""), in_passage)
    return entity if isinstance(entity, str) else (words[first][1], words[last][2], post["type"], entity)


def _entity(data: Json, said: str, in_passage: bool) -> int | None | str:
    if said == (NEW if in_passage else ""):
        return None
    number = _number(said)
    return number if number in entity_names(data) else "Choose the entity that is meant."


# Queries


@for_stage(VERB, crowd=False)
def drop(request: LeadRequest, stage: Stage, pk: int) -> HttpResponse:
    """Take a query out, or put it back."""
    refuse_other(stage)
    item = _item(stage, pk)
    back = "back" in request.POST
    query, seen = request.POST.get("query", ""), request.POST.get("seen", "")
    try:
        annotating.drop(item, query, seen, request.user, back=back)
    except AnswerRefusedError as refusal:
        messages.error(request, f"{refusal} Nothing was changed.")
    except Refused as error:
        messages.error(request, f"{error} Nothing was changed.")
    else:
        messages.success(request, "The query is back." if back else "The query is taken out.")
    return redirect("article", stage.project.slug, stage.key, pk)


@for_stage(VERB, crowd=False)
def undo(request: LeadRequest, stage: Stage, pk: int) -> HttpResponse:
    refuse_other(stage)
    item = _item(stage, pk)
    try:
        annotating.undo(item, request.user)
    except Refused as error:
        messages.error(request, f"{error} Nothing was undone.")
    else:
        messages.success(request, "Undone.")
    return redirect("article", stage.project.slug, stage.key, pk)
