"""Who may answer which item, and which recorded answers are held for review because their workers might not.

One author for two questions: the task page asks before it is shown, scoring asks again of every recorded answer,
because a worker can post an answer straight to the marketplace. Recorded answers alone count, in the order of their
submission: an answer is judged by what was submitted before it, whenever either of them was fetched.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import DateTimeField, Q, QuerySet, Value

from hits import protocols
from hits.models.answers import Assignment
from hits.models.counting import recount
from hits.models.holding import STANDING, presence
from hits.models.needs import chunks
from hits.models.projects import Item, Stage
from hits.models.publishing import Hit
from hits.models.qualification_tests import QualificationTest
from hits.models.summaries import refresh_worker_stats
from hits.models.workers import Block, Grant

CHUNK = 500
# Clocks that differ, and a closing time that is on its way to the marketplace.
GRACE = timedelta(minutes=15)
# Both times of an answer may be given in whole seconds.
ROUNDING_SECONDS = 1
WHILE_BLOCKED = "The worker was blocked when it was submitted."


class Cause(Enum):
    BLOCKED = "blocked"
    ANSWERED = "answered"
    LACKING = "lacking"
    OTHER_PART = "other part"
    KEPT_OUT = "kept out"


@dataclass(frozen=True)
class Claim:
    """One worker with one assignment of one HIT. `at` is when it was submitted; None: it is not, now is meant."""

    hit: Hit
    worker_id: str
    assignment_id: str
    at: datetime | None = None

    def comes_after(self, moment: datetime, assignment_id: str = "") -> bool:
        """Whether something of the same worker's came first; two answers of one second go by their ids."""
        if assignment_id == self.assignment_id:
            return False
        return self.at is None or (moment, assignment_id) < (self.at, self.assignment_id)


@dataclass(frozen=True)
class Ineligible:
    """Why the worker may not answer. `about` is the earlier answer's assignment id, or the qualification's key."""

    cause: Cause
    about: str = ""


@dataclass(frozen=True)
class _Answer:
    worker_id: str
    assignment_id: str
    at: datetime
    item: int
    document: int
    stage: int
    stage_key: str


@dataclass(frozen=True)
class _Said:
    """What speaks of a worker and a qualification: a lead's grant, a grant for an answer, an answer, or a test."""

    key: str
    kind: str
    worker_id: str
    assignment_id: str
    at: datetime
    until: datetime | None


# Who may answer


def judge(stage: Stage, claims: Sequence[Claim]) -> list[Ineligible | None]:
    """Of each claim on a HIT of the stage why its worker may not answer; None where nothing speaks against it.

    A few queries, however many the claims are.
    """
    workers = sorted({claim.worker_id for claim in claims})
    blocks = dict(
        Block.objects.in_force()
        .filter(project=stage.project_id, worker__worker_id__in=workers)
        .values_list("worker__worker_id", "created_at")
    )
    ancestors = _ancestors([claim.hit.item for claim in claims]) if stage.not_workers_of else {}
    answers = _answers(stage, claims, workers, ancestors)
    said = _said(stage, workers)
    return [
        _blocked(claim, blocks)
        or _answered(stage, claim, answers.get(claim.worker_id, ()), ancestors.get(claim.hit.item_id, ()))
        or _misfit(stage, claim, said)
        for claim in claims
    ]


def _blocked(claim: Claim, blocks: Mapping[str, datetime]) -> Ineligible | None:
    since = blocks.get(claim.worker_id)
    return Ineligible(Cause.BLOCKED) if since and claim.comes_after(since) else None


def _answered(stage: Stage, claim: Claim, answers: Iterable[_Answer], ancestors: Sequence[Item]) -> Ineligible | None:
    """An answer to the same item, or in a stage whose workers this one excludes to what the item was made from."""
    item = claim.hit.item
    sources, their_stages = {each.pk for each in ancestors}, {each.stage_id for each in ancestors}
    for answer in answers:
        if not claim.comes_after(answer.at, answer.assignment_id):
            continue
        # An item can be made of several stages' answers about its document, and names one of them as its parent.
        beside = bool(ancestors) and answer.document == item.document_id and answer.stage not in their_stages
        excluded = answer.stage_key in stage.not_workers_of and (answer.item in sources or beside)
        if answer.item == item.pk or excluded:
            return Ineligible(Cause.ANSWERED, answer.assignment_id)
    return None


def _ancestors(items: Iterable[Item]) -> dict[int, list[Item]]:
    """Item to the items that it was made from, nearest first; one query a generation, none for what is there."""
    chains: dict[int, list[Item]] = {item.pk: [] for item in items}
    ends = {item.pk: item for item in items}
    while ends := {pk: end for pk, end in ends.items() if end.parent_id}:
        _fetch_parents(ends.values())
        for pk, end in ends.items():
            if end.parent:
                chains[pk].append(end.parent)
                ends[pk] = end.parent
    return chains


def _fetch_parents(items: Iterable[Item]) -> None:
    field = Item._meta.get_field("parent")
    without = [item for item in items if not field.is_cached(item)]  # type: ignore[union-attr]
    if without:
        found = Item.objects.defer("data", "ballots").in_bulk({item.parent_id for item in without})
        for item in without:
            item.parent = found[item.parent_id]


def _answers(
    stage: Stage, claims: Sequence[Claim], workers: Sequence[str], ancestors: Mapping[int, Sequence[Item]]
) -> dict[str, list[_Answer]]:
    """The recorded answers that may speak against these claims, by worker, first submitted first. One query."""
    items = {claim.hit.item_id for claim in claims} | {each.pk for chain in ancestors.values() for each in chain}
    mine = Assignment.objects.filter(worker__worker_id__in=workers).order_by()
    columns = (
        "worker__worker_id",
        "assignment_id",
        "submitted_at",
        "hit__item",
        "hit__item__document",
        "stage",
        "stage__key",
    )
    rows = mine.filter(hit__item__in=items).values_list(*columns)
    if derived := {claim.hit.item.document_id for claim in claims if ancestors.get(claim.hit.item_id)}:
        excluded = Q(stage__project=stage.project_id, stage__key__in=stage.not_workers_of)
        rows = rows.union(mine.filter(excluded, hit__item__document__in=derived).values_list(*columns))
    found: dict[str, list[_Answer]] = defaultdict(list)
    for answer in sorted((_Answer(*row) for row in rows), key=lambda each: (each.at, each.assignment_id)):
        found[answer.worker_id].append(answer)
    return found


def _misfit(stage: Stage, claim: Claim, said: Mapping[tuple[str, str], Sequence[_Said]]) -> Ineligible | None:
    """The project's own qualifications: one that is lacking, or one that is too many.

    The marketplace asks the same; but between an answer and the qualification that it gives lies a while, and what
    the marketplace let in before that is found here.
    """
    for key, wanted in sorted(presence(stage.requirements).items()):
        about = said.get((key, claim.worker_id), ())
        # Who passed a test, the marketplace alone knows.
        tested = (key, "") in said
        if wanted and not tested and not any(_holds(each, claim) or each.until is None for each in about):
            return Ineligible(Cause.LACKING, key)
        standing = [each for each in about if _speaks_against(each, claim, about)]
        if not wanted and standing:
            answered = any(each.kind != "given" for each in standing)
            return Ineligible(Cause.OTHER_PART if answered else Cause.KEPT_OUT, key)
    return None


def _holds(each: _Said, claim: Claim) -> bool:
    return claim.comes_after(each.at) and (each.until is None or (claim.at is not None and claim.at < each.until))


def _speaks_against(each: _Said, claim: Claim, about: Sequence[_Said]) -> bool:
    if each.kind == "granted" and claim.at is not None:
        # The answer that it was granted for speaks for itself, unless it is this very one.
        return False
    if each.kind != "answered":
        return _holds(each, claim)
    withdrawn = [other.until for other in about if other.until and other.until >= each.at]
    # What the answer gave was taken back from the worker after it: then the answer gives it no more.
    taken_back = any(claim.at is None or moment <= claim.at for moment in withdrawn)
    return claim.comes_after(each.at, each.assignment_id) and not taken_back


def _said(stage: Stage, workers: Sequence[str]) -> dict[tuple[str, str], list[_Said]]:
    """By key and worker; tests stand under no worker. One query, none where the stage asks for nothing."""
    asked = presence(stage.requirements)
    if not asked:
        return {}
    closing = [key for key, wanted in asked.items() if not wanted]
    known = Q(state__in=STANDING) | Q(withdrawn_at__isnull=False)
    grants = Grant.objects.filter(known, project=stage.project_id, key__in=asked, worker__worker_id__in=workers)
    answers = Assignment.objects.filter(
        stage__project=stage.project_id, stage__grants__in=closing, worker__worker_id__in=workers
    )
    tests = QualificationTest.objects.filter(project=stage.project_id, key__in=asked).order_by()
    never = Value(None, output_field=DateTimeField())
    worker, times = "worker__worker_id", ("created_at", "withdrawn_at")
    rows = _rows(grants.filter(stage=None), "key", "given", worker, "", *times).union(
        _rows(grants.filter(stage__isnull=False), "key", "granted", worker, "", *times),
        _rows(answers, "stage__grants", "answered", worker, "assignment_id", "submitted_at", never),
        _rows(tests, "key", "test", "", "", never, never),
        all=True,
    )
    found: dict[tuple[str, str], list[_Said]] = defaultdict(list)
    for row in rows:
        said = _Said(*row)
        found[said.key, said.worker_id].append(said)
    return found


def _rows(query: QuerySet[Any], key: str, kind: str, worker: str, assignment: str, at: Any, until: Any) -> Any:
    columns = [key, Value(kind), worker or Value(""), assignment or Value(""), at, until]
    return query.order_by().values_list(*columns)


# Which recorded answers are held for review


def held(stage: Stage, rows: Sequence[Assignment]) -> dict[int, str]:
    """Of these answers of the stage, with HIT, item and worker, those that are held, and why, as sentences for a lead.

    A few queries, however many the answers are.
    """
    claims = [Claim(row.hit, row.worker.worker_id, row.assignment_id, row.submitted_at) for row in rows]
    least = least_seconds(stage)
    found = {}
    for row, against in zip(rows, judge(stage, claims), strict=True):
        sentences = [in_words(against)] if against else []
        sentences += _untimely(stage, row, least)
        if sentences:
            found[row.pk] = " ".join(sentences)
    return found


def in_words(found: Ineligible) -> str:
    return {
        Cause.BLOCKED: WHILE_BLOCKED,
        Cause.ANSWERED: f"The worker had answered this item, or what it was made from, before ({found.about}).",
        Cause.LACKING: f"The worker did not hold the qualification “{found.about}”, which this stage asks for.",
        Cause.OTHER_PART: f"The worker had answered in a stage that gives “{found.about}”, which this stage excludes.",
        Cause.KEPT_OUT: f"The worker held the qualification “{found.about}”, which this stage excludes.",
    }[found.cause]


def _untimely(stage: Stage, row: Assignment, least: int) -> list[str]:
    """By the marketplace's times: what the page notes of itself can be invented."""
    sentences = []
    taken = (row.submitted_at - row.accepted_at).total_seconds()
    if taken < least - ROUNDING_SECONDS:
        asked = f"this stage asks for {least} s at least"
        sentences.append(f"It was submitted {taken:.1f} s after it was accepted; {asked}.")
    hit = row.hit
    if hit.expires_at and not hit.closed_early and row.accepted_at > hit.expires_at + GRACE:
        sentences.append("It was accepted after its HIT had expired.")
    if taken > stage.assignment_seconds + GRACE.total_seconds():
        sentences.append("It was submitted after the time for the assignment was over.")
    return sentences


def least_seconds(stage: Stage) -> int:
    """What the page asks for, 0 where it asks for nothing."""
    try:
        completed = protocols.get(stage.protocol, settings.PLUGIN_ROOTS).settings(stage.settings)
    except Exception:
        # What is wrong with a protocol or its settings is told by the scoring of its own stage.
        completed = stage.settings
    least = completed.get("min_seconds", 0)
    return least if isinstance(least, int) else 0


def lock(assignment_pks: Sequence[int]) -> None:
    """Within a transaction: of two processes that judge an answer, the later one sees what the earlier one saw."""
    rows = Assignment.objects.select_for_update(of=("self",)).filter(pk__in=assignment_pks)
    list(rows.order_by("pk").values_list("pk"))


def recheck_later(stage: Stage, rows: Sequence[Assignment]) -> int:
    """Judge again what the same workers submitted after these answers of the stage and what was fetched before them.

    Returns how many answers changed.
    """
    first: dict[int, datetime] = {}
    for row in rows:
        first[row.worker.pk] = min(row.submitted_at, first.get(row.worker.pk, row.submitted_at))
    mine = Assignment.objects.filter(worker__in=first, submitted_at__gte=min(first.values()))
    touched = Q(hit__item__in={row.hit.item_id for row in rows}) | Q(stage__in=_closed_by(stage))
    later = mine.filter(touched).exclude(pk__in=[row.pk for row in rows])
    found = later.values_list("pk", "worker__pk", "submitted_at")
    return recheck([pk for pk, worker, at in found if at >= first[worker]])


def _closed_by(stage: Stage) -> list[int]:
    """The stages that ask for other workers than those of this one."""
    stages = Stage.objects.filter(project=stage.project_id).only("pk", "not_workers_of", "requirements")
    return [
        other.pk
        for other in stages
        if stage.key in other.not_workers_of
        or (stage.grants and presence(other.requirements).get(stage.grants) is False)
    ]


def recheck(assignment_pks: Sequence[int]) -> int:
    """Judge these answers again, from what the tables say now; returns how many are held, or not any more, anew.

    To be called when something changed that an answer's worker was judged by.
    """
    return sum(_recheck(some) for some in chunks(sorted(assignment_pks), CHUNK))


def _recheck(assignment_pks: Sequence[int]) -> int:
    with transaction.atomic():
        lock(assignment_pks)
        rows = Assignment.objects.filter(pk__in=assignment_pks).defer("answer")
        by_stage: dict[int, list[Assignment]] = defaultdict(list)
        for row in rows.select_related("stage", "hit__item", "worker").order_by("pk"):
            by_stage[row.stage_id].append(row)
        changed = [row for found in by_stage.values() for row in _now_held(found[0].stage, found)]
        Assignment.objects.bulk_update(changed, ["held"], batch_size=250)
        recount(Assignment.objects.filter(pk__in=[row.pk for row in changed]))
        # Also where an answer had no label: the figures of its stage change.
        Item.objects.filter(pk__in={row.hit.item_id for row in changed}).update(stale=True)
    for found in by_stage.values():
        refresh_worker_stats(found[0].stage, [row.worker.pk for row in changed if row in found])
    return len(changed)


def _now_held(stage: Stage, rows: Sequence[Assignment]) -> list[Assignment]:
    """Sets `held` of these answers of one stage and saves nothing; returns those that changed."""
    found = held(stage, rows)
    changed = [row for row in rows if row.held != found.get(row.pk, "")]
    for row in changed:
        row.held = found.get(row.pk, "")
    return changed
