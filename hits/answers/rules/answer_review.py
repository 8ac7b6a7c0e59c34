"""One answer as a reviewer sees it: what it is about, what it says, what others said, who gave it and how fast."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db.models import Prefetch

from hits.answers.models import Assignment, Label
from hits.answers.rules.answer_words import SaidLine, Words, beginning, shortened
from hits.items.models import Item
from hits.items.rules.item_texts import text_of_document
from hits.items.rules.media import with_media
from hits.protocols.base import Json
from hits.protocols.optional import MediaProtocol, RowsProtocol
from hits.publishing.rules import hit_items
from hits.stages.models import Stage
from hits.stats.worker_figures import is_hurried
from hits.text.language.passages import passage_parts
from hits.workers.models import Block, Worker, WorkerStat
from hits.workers.rules.worker_table import WorkerRow, alone

# Of the answers that others gave to the same item.
MOST_OTHERS = 12
# Characters of another answer beyond which only its beginning is open.
LONG = 240
# Of another answer to an item, so many characters are shown.
OF_OTHERS = 4000
# Decisions about one worker's answers that can still be undone: more are not counted.
MOST_ON_THEIR_WAY = 1000
# Columns of a row of which its task names none.
MOST_COLUMNS = 10
# Characters of all cells of all items of an answer together; of each, so many are shown in any case.
MOST_OF_CELLS, LEAST_OF_A_CELL = 400_000, 200
# Of the newest rejections of the stage, among which this lead's own are looked for.
LOOKED_AT = 500
MOST_REASONS = 4
STOCK_REASONS = (
    "The answer does not fit the text. Please read the whole text before you answer.",
    "The instructions ask for something else. Please read them once more before you go on.",
    "Part of the task is not answered.",
    "The answer was copied and not written for this task.",
    "The same answer was given again and again, whatever the text says.",
)


@dataclass(frozen=True)
class Other:
    """What another answer says about the same item."""

    answer: Assignment
    lines: tuple[SaidLine, ...]

    @property
    def is_brief(self) -> bool:
        """Whether it is plain without the question what is answered."""
        return len(self.lines) == 1

    @property
    def is_long(self) -> bool:
        return sum(len(one.line.said) for one in self.lines) > LONG

    @property
    def beginning(self) -> str:
        return self.lines[0].line.said


@dataclass(frozen=True)
class Picture:
    """An uploaded picture as the task's page shows it; width and height are 0 where they are not known."""

    address: str
    width: int
    height: int


@dataclass(frozen=True)
class Column:
    """What a row has in a column; `picture` is what it names, where that is one that was uploaded."""

    name: str
    value: str
    picture: Picture | None


@dataclass(frozen=True)
class ReviewedItem:
    """An item with what an answer says about it. `passage` is its text as (is a bullet, words); where it is a row of a
    table, `columns` are those that its task names.
    """

    item: Item
    lines: tuple[SaidLine, ...]
    passage: tuple[tuple[bool, str], ...]
    columns: tuple[Column, ...]
    others: tuple[Other, ...]
    more_others: bool


@dataclass(frozen=True)
class Record:
    """What is known of a worker: figures in this stage, None before any, and of the whole project the block or pause
    that is not undone, and what was decided.
    """

    row: WorkerRow | None
    block: Block | None
    approved: int
    rejected: int

    @property
    def judged(self) -> int:
        return self.approved + self.rejected

    @property
    def rate(self) -> float | None:
        """The share of the decided answers that were approved."""
        return self.approved / self.judged if self.judged else None

    @property
    def rate_once_rejected(self) -> float:
        return self.approved / (self.judged + 1)


def items_with_words(stage: Stage, answer: Assignment) -> list[ReviewedItem]:
    """The items of the answer, in their order. So many queries, however many items and other answers there are."""
    words = Words.of(stage)
    items = [answer.item] if answer.item else hit_items.items_of([answer.hit])[answer.hit.pk]
    own = _said(words, [answer], items)
    others, more = _others(answer, items)
    said = _said(words, others, items)
    media = _media(words, items)
    return [
        ReviewedItem(
            item,
            own.get((answer.pk, item.pk), ()),
            passage(text_of_document(item.document.data)),
            _columns(words, item, media.get(item.pk, {}), MOST_OF_CELLS // len(items)),
            tuple(
                Other(other, tuple(beginning(lines, OF_OTHERS)))
                for other in others
                if (lines := said.get((other.pk, item.pk)))
            ),
            more,
        )
        for item in items
    ]


def _said(
    words: Words, answers: Sequence[Assignment], items: Sequence[Item]
) -> dict[tuple[int, int], tuple[SaidLine, ...]]:
    by_pk = {item.pk: item for item in items}
    return {
        (answer.pk, pk): words.of_item(item, [label for label in answer.labels.all() if label.item_id == pk])
        for answer in answers
        for pk, item in by_pk.items()
        if any(label.item_id == pk for label in answer.labels.all())
    }


def _others(answer: Assignment, items: Sequence[Item]) -> tuple[list[Assignment], bool]:
    pks = [item.pk for item in items]
    rows = hit_items.answers_to(pks).exclude(pk=answer.pk)
    labels = Prefetch("labels", Label.objects.filter(item__in=pks).order_by("pk"))
    found = list(
        rows.select_related("worker").defer("answer").prefetch_related(labels).order_by("pk")[: MOST_OTHERS + 1]
    )
    return found[:MOST_OTHERS], len(found) > MOST_OTHERS


def passage(text: str) -> tuple[tuple[bool, str], ...]:
    """Paragraphs and bullets as (is a bullet, words)."""
    return tuple((part.kind == "bullet", text[part.start : part.end].strip()) for part in passage_parts(text))


def _media(words: Words, items: Sequence[Item]) -> dict[int, Json]:
    """The uploaded files that each item names, by its id: each by the name in the column. One query for all."""
    if not isinstance(words.protocol, MediaProtocol):
        return {}
    rows = [(item.document.data, item.data) for item in items]
    documents = with_media(words.protocol, words.stage.project_id, rows, words.options)
    return {item.pk: document.get("media", {}) for item, document in zip(items, documents, strict=True)}


def _columns(words: Words, item: Item, media: Json, most: int) -> tuple[Column, ...]:
    """Of all of them together about `most` characters."""
    if not isinstance(words.protocol, RowsProtocol):
        return ()
    given = words.protocol.columns(item.document.data, item.data)
    named = words.protocol.named_columns(words.options) or list(given)[:MOST_COLUMNS]
    longest = max(LEAST_OF_A_CELL, most // max(1, len(named)))
    return tuple(
        Column(name, shortened(str(given[name]), longest), _picture(media.get(str(given[name]).strip())))
        for name in named
        if given.get(name)
    )


def _picture(file: Json | None) -> Picture | None:
    if not file or file["kind"] != "image":
        return None
    return Picture(str(file["address"]), int(file["width"]), int(file["height"]))


def record_of(stage: Stage, worker: Worker) -> Record:
    """The worker has one row of figures in each stage of the project. What can still be undone is counted."""
    rows = WorkerStat.objects.filter(worker=worker, stage__project=stage.project_id)
    stats = list(rows)
    block = Block.objects.standing().filter(project=stage.project_id, worker=worker).first()
    own = next((stat for stat in stats if stat.stage_id == stage.pk), None)
    if own is not None:
        # Both were read before.
        own.stage, own.worker = stage, worker
    stages = [stat.stage_id for stat in stats]
    coming = Assignment.objects.filter(stage__in=stages, worker=worker, state=Assignment.State.SUBMITTED)
    decided = Counter(coming.exclude(decision="").order_by().values_list("decision", flat=True)[:MOST_ON_THEIR_WAY])
    return Record(
        alone(own, block) if own else None,
        block,
        sum(stat.approved for stat in stats) + decided[Assignment.State.APPROVED],
        sum(stat.rejected for stat in stats) + decided[Assignment.State.REJECTED],
    )


def was_hurried(stage: Stage, answer: Assignment) -> bool:
    """Whether it took implausibly little time beside the others of the stage."""
    return is_hurried(answer.seconds, stage.summary.median_seconds)


def reasons(stage: Stage, user: User) -> list[str]:
    """Reasons for a rejection: those that this lead gave last in the stage, then stock ones."""
    newest = stage.assignments.exclude(feedback="").order_by("-id").values("pk")[:LOOKED_AT]
    own = Assignment.objects.filter(pk__in=newest, actions__user=user, actions__verb="rejected")
    used = own.order_by("-id").values_list("feedback", flat=True)
    return list(dict.fromkeys([*list(dict.fromkeys(used))[:MOST_REASONS], *STOCK_REASONS]))
