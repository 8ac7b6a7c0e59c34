"""What became of a stage's suggestions: of each field, how often answers agree with them in sight and out of sight."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from typing import Any

from django.db.models import Count, Exists, OuterRef

from hits.answers.models import Label
from hits.model_assist.models import SuggestedAnswer, Suggestion
from hits.stages.models import Stage
from hits.stats.anchoring import Arm, Comparison, Interval, compare
from hits.text.cells import as_text

ALL, RIGHT, WRONG = "all", "right", "wrong"
# Of which suggestions a line of the report is.
KINDS = {
    ALL: "All suggestions",
    RIGHT: "Those that are the gold answer",
    WRONG: "Those that are not the gold answer",
}
# Of a file with the raw rows.
COLUMNS = (
    "item", "field", "suggestion", "score", "model", "worker", "assignment", "shown", "agrees", "right", "counts",
)  # fmt: skip
# Of each arm: of fewer answers no figure says anything of others.
FEWEST_ANSWERS = 20
# Of the share that follows, 0..1: an interval that is wider says nothing of it.
WIDEST = 1.0
# Comparisons that are remembered: of a page's fields, each needs a few.
REMEMBERED = 256
# Fields and kinds together have fewer than this at most; the seeds of their draws differ.
_STEP = 1000


@dataclass(frozen=True)
class Line:
    """One comparison, without the figures for which it has too few answers; `why` says why one is missing, a sentence,
    and is empty where none is.
    """

    kind: str
    found: Comparison
    why: str

    @property
    def title(self) -> str:
        return KINDS[self.kind]


@dataclass(frozen=True)
class FieldReport:
    """One field. The lines of right and wrong suggestions are there where a gold answer is known."""

    field: str
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Report:
    """`suggestions` are there for so many `items`; `answers` to them are in, of which `counted` are compared."""

    suggestions: int
    items: int
    answers: int
    counted: int
    fields: tuple[FieldReport, ...] = field(default_factory=tuple)

    def to_dict(self) -> dict[str, Any]:
        """Only values that JSON holds."""
        return {
            "suggestions": self.suggestions,
            "items": self.items,
            "answers": self.answers,
            "counted": self.counted,
            "fields": [{"field": one.field, "lines": [_line(line) for line in one.lines]} for one in self.fields],
        }


def _line(line: Line) -> dict[str, Any]:
    found = asdict(line.found)
    for arm in ("shown", "hidden"):
        found[arm]["share"] = getattr(line.found, arm).share
    return {"suggestions": line.kind, **found, "why": line.why}


def report(stage: Stage) -> Report:
    """Of the answers that count. A few queries, whose rows are counted by worker in the database."""
    suggestions = Suggestion.objects.filter(item__stage=stage)
    by_field: dict[str, dict[str, dict[int, list[Arm]]]] = defaultdict(lambda: defaultdict(dict))
    counted = 0
    for name, worker, shown, agrees, right, number in _counts(stage):
        counted += number
        for kind in (ALL, *([RIGHT if right else WRONG] if right is not None else [])):
            arms = by_field[name][kind].setdefault(worker, [Arm(), Arm()])
            arms[0 if shown else 1] += Arm(number if agrees else 0, number)
    for name in suggestions.order_by("field").values_list("field", flat=True).distinct():
        by_field[name].setdefault(ALL, {})
    return Report(
        suggestions=suggestions.count(),
        items=suggestions.values("item").distinct().count(),
        answers=stage.suggested_answers.count(),
        counted=counted,
        fields=tuple(
            FieldReport(name, tuple(_lines(stage, by_field[name], _STEP * at)))
            for at, name in enumerate(sorted(by_field))
        ),
    )


def _counts(stage: Stage) -> Iterator[tuple[str, int, bool, bool, bool | None, int]]:
    """(field, worker, shown, agrees, right, answers)."""
    counting = Label.objects.counting().filter(assignment=OuterRef("assignment"), item=OuterRef("suggestion__item"))
    rows = SuggestedAnswer.objects.filter(Exists(counting), stage=stage, agrees__isnull=False)
    columns = ("suggestion__field", "assignment__worker", "shown", "agrees", "right")
    counted = rows.order_by().values_list(*columns).annotate(number=Count("pk"))
    yield from counted.order_by(*columns)


def table(stage: Stage) -> Iterator[list[Any]]:
    """Each answer beside each suggestion, in the order of the answers, by COLUMNS."""
    counting = Label.objects.counting().filter(assignment=OuterRef("assignment"), item=OuterRef("suggestion__item"))
    rows = SuggestedAnswer.objects.filter(stage=stage).annotate(counts=Exists(counting)).order_by("assignment", "pk")
    names = ("suggestion__value", "suggestion__score", "suggestion__model")
    columns = ("suggestion__item__key", "suggestion__field", *names, "assignment__worker__worker_id")
    found = rows.values_list(*columns, "assignment__assignment_id", "shown", "agrees", "right", "counts")
    for item, name, value, *rest in found.iterator(chunk_size=2000):
        yield [item, name, as_text(value), *rest]


def _lines(stage: Stage, by_kind: dict[str, dict[int, list[Arm]]], seed: int) -> Iterator[Line]:
    for at, kind in enumerate(KINDS):
        if kind in by_kind:
            workers = by_kind[kind].values()
            found = _compared(tuple((arms[0], arms[1]) for arms in workers), abs(stage.project.seed) + seed + at)
            yield Line(kind, found, _why(stage, found))


@lru_cache(maxsize=REMEMBERED)
def _compared(workers: tuple[tuple[Arm, Arm], ...], seed: int) -> Comparison:
    """Without the figures for which there are too few answers. The same answers are drawn anew only once."""
    shown, hidden = (sum((arms[at] for arms in workers), Arm()) for at in (0, 1))
    if min(shown.of, hidden.of) < FEWEST_ANSWERS:
        return Comparison(shown, hidden)
    found = compare(workers, seed)
    over = found.over_workers
    if over and over.followed and _is_wide(over.followed):
        found = replace(found, over_workers=replace(over, followed=None))
    if found.followed_interval and _is_wide(found.followed_interval):
        over = found.over_workers and replace(found.over_workers, followed=None)
        return replace(found, followed=None, followed_interval=None, over_workers=over)
    return found


def _is_wide(interval: Interval) -> bool:
    return interval.high - interval.low > WIDEST


def _why(stage: Stage, found: Comparison) -> str:
    if found.shown.of and found.hidden.of:
        return _too_few(found)
    if not found.shown.of and not found.hidden.of:
        return "No answer that counts is in yet."
    if found.hidden.of:
        hidden = stage.suggestions == Stage.Suggestions.HIDDEN
        return (
            "Nobody saw the suggestions: the stage hides them. Where it shows them to half, it is measured."
            if hidden
            else "No answer that counts was given with the suggestion in sight yet."
        )
    everybody = stage.suggestions == Stage.Suggestions.SHOWN
    return (
        "Everybody saw the suggestions, so nobody knows what would have been answered without them. Where the stage "
        "shows them to half, it is measured."
        if everybody
        else "No answer that counts was given without the suggestion yet."
    )


def _too_few(found: Comparison) -> str:
    """Of two arms with answers."""
    if found.difference is None:
        return (
            f"Too few answers to tell: {found.shown.of:,} in sight and {found.hidden.of:,} out of sight. The "
            f"difference is shown from {FEWEST_ANSWERS} of each on."
        )
    if found.followed is not None:
        return ""
    if found.hidden.same == found.hidden.of:
        return "Every answer that was given without the suggestion agrees with it, so there are no doubts to measure."
    return (
        "Too few answers that were given without the suggestion disagree with it to tell which share of the doubtful "
        "ones follows."
    )
