"""Who may answer which item, and which recorded answers do not count yet because their workers might not.

One author for two questions: the task page asks before it is shown, scoring asks again of every recorded answer,
because a worker can post an answer straight to the marketplace. Recorded answers alone count, in the order of their
submission: an answer is judged by what was submitted before it, whenever either of them was fetched. An answer that
its worker was not eligible to give does not make them one of those who did a stage's part.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import BooleanField, Case, DateTimeField, Q, QuerySet, Value, When
from django.utils import timezone

from hits import protocols
from hits.answers.models import Assignment
from hits.answers.rules import automatic_approval
from hits.items.models import Item
from hits.judging.rules.counting import recount
from hits.judging.rules.required_answers import chunks
from hits.judging.rules.summaries import refresh_worker_stats
from hits.people.rules import terms
from hits.pools import rules as pools
from hits.publishing.models import Hit
from hits.publishing.rules.hit_items import ITEMS_OF_ANSWERS, all_item_pks, hits_of, items_of, lock_items
from hits.stages.models import Stage
from hits.workers.models import Block, Grant, QualificationTest, Worker
from hits.workers.rules.project_qualifications import STANDING, presence

CHUNK = 500
# Clocks that differ, and a closing time that is on its way to the marketplace.
GRACE = timedelta(minutes=15)
# Both times of an answer may be given in whole seconds.
ROUNDING_SECONDS = 1


class Cause(Enum):
    """The values stand in `Assignment.held_for`."""

    BLOCKED = "blocked"
    ANSWERED = "answered"
    LACKING = "lacking"
    OTHER_PART = "other-part"
    KEPT_OUT = "kept-out"
    UNTIMELY = "untimely"
    TERMS = "terms"
    # Of no recorded answer: what is given during a pause counts.
    PAUSED = "paused"


# What says nothing of whether the worker might answer: who was too fast or too late, or agreed to no terms, has seen
# the task. In the order in which they stand in `held_for`.
_OF_THE_ANSWER = (Cause.UNTIMELY.value, Cause.TERMS.value)
# Of recorded answers: their workers were eligible, or a lead lets them count.
ELIGIBLE = Q(admitted=True) | Q(held_for__in=["", *_OF_THE_ANSWER, " ".join(_OF_THE_ANSWER)])
# (worker id, assignment id): assignment ids are passed on after a return.
Key = tuple[str, str]


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
    """Why the worker may not answer. `about` is the earlier answer's assignment id, the qualification's key, or when a
    pause ends, in ISO format.
    """

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
    eligible: bool


@dataclass(frozen=True)
class Hold:
    """Why a recorded answer is held for review: `reasons` as sentences for a lead. Without causes it is not held."""

    causes: tuple[Cause, ...] = ()
    reasons: tuple[str, ...] = ()

    @property
    def held(self) -> str:
        return " ".join(self.reasons)

    @property
    def held_for(self) -> str:
        return " ".join(cause.value for cause in self.causes)


# Who may answer


def judge(stage: Stage, claims: Sequence[Claim]) -> list[Ineligible | None]:
    """Of each claim on a HIT of the stage why its worker may not answer; None where nothing speaks against it.

    A few queries, however many the claims are.
    """
    evidence = _Evidence.about(stage, claims)
    return [evidence.against(claim, {}) for claim in claims]


@dataclass(frozen=True)
class _Evidence:
    """What the tables say about the workers of claims on HITs of one stage."""

    stage: Stage
    blocks: Mapping[str, datetime]
    pauses: Mapping[str, datetime]
    items: Mapping[int, Sequence[Item]]
    ancestors: Mapping[int, Sequence[Item]]
    answers: Mapping[str, Sequence[_Answer]]
    said: Mapping[tuple[str, str], Sequence[_Said]]

    @classmethod
    def about(cls, stage: Stage, claims: Sequence[Claim]) -> _Evidence:
        workers = sorted({claim.worker_id for claim in claims})
        blocks = Block.objects.keeping_out().filter(project=stage.project_id, worker__worker_id__in=workers)
        kept_out = list(blocks.values_list("worker__worker_id", "created_at", "until"))
        items = items_of((claim.hit for claim in claims), documents=False)
        asked = [item for of_hit in items.values() for item in of_hit]
        ancestors = _ancestors(asked) if stage.not_workers_of else {}
        return cls(
            stage,
            {worker: since for worker, since, until in kept_out if until is None},
            {worker: until for worker, _, until in kept_out if until is not None},
            items,
            ancestors,
            _answers(stage, asked, workers, ancestors),
            _said(stage, workers),
        )

    def against(self, claim: Claim, eligible: Mapping[Key, bool]) -> Ineligible | None:
        """`eligible` has the answers that were judged just now; of others the tables say whether their workers were."""
        return (
            _blocked(claim, self.blocks)
            or self._answered_before(claim)
            or _why_ineligible(self.stage, claim, self.said, eligible)
            or _paused(claim, self.pauses)
        )

    def _answered_before(self, claim: Claim) -> Ineligible | None:
        """Of a HIT about several items: any of them."""
        answers = self.answers.get(claim.worker_id, ())
        found = (
            _answered(self.stage, claim, item, answers, self.ancestors.get(item.pk, ()))
            for item in self.items[claim.hit.pk]
        )
        return next((against for against in found if against), None)


def _paused(claim: Claim, pauses: Mapping[str, datetime]) -> Ineligible | None:
    until = pauses.get(claim.worker_id)
    now = claim.at is None
    return Ineligible(Cause.PAUSED, until.isoformat()) if now and until and until > timezone.now() else None


def _blocked(claim: Claim, blocks: Mapping[str, datetime]) -> Ineligible | None:
    since = blocks.get(claim.worker_id)
    return Ineligible(Cause.BLOCKED) if since and claim.comes_after(since) else None


def _answered(
    stage: Stage, claim: Claim, item: Item, answers: Iterable[_Answer], ancestors: Sequence[Item]
) -> Ineligible | None:
    """An answer to the same item, or in a stage whose workers this one excludes to what the item was made from."""
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
    stage: Stage, asked: Sequence[Item], workers: Sequence[str], ancestors: Mapping[int, Sequence[Item]]
) -> dict[str, list[_Answer]]:
    """The recorded answers that may speak against answers to these items, by worker, first submitted first. One query.

    One about several items stands there once for each of them.
    """
    items = {item.pk for item in asked} | {each.pk for chain in ancestors.values() for each in chain}
    mine = Assignment.objects.filter(worker__worker_id__in=workers).order_by()
    derived = {item.document_id for item in asked if ancestors.get(item.pk)}
    excluded = Q(stage__project=stage.project_id, stage__key__in=stage.not_workers_of)
    parts = []
    for path in ITEMS_OF_ANSWERS:
        columns = (
            "worker__worker_id",
            "assignment_id",
            "submitted_at",
            path,
            f"{path}__document",
            "stage",
            "stage__key",
        )
        parts.append(mine.filter(**{f"{path}__in": items}).values_list(*columns))
        if derived:
            parts.append(mine.filter(excluded, **{f"{path}__document__in": derived}).values_list(*columns))
    rows = parts[0].union(*parts[1:])
    found: dict[str, list[_Answer]] = defaultdict(list)
    for answer in sorted((_Answer(*row) for row in rows), key=lambda each: (each.at, each.assignment_id)):
        found[answer.worker_id].append(answer)
    return found


def _why_ineligible(
    stage: Stage, claim: Claim, said: Mapping[tuple[str, str], Sequence[_Said]], eligible: Mapping[Key, bool]
) -> Ineligible | None:
    """The project's own qualifications: one that is lacking, or one that is too many.

    The marketplace asks the same; but between an answer and the qualification that it gives lies a while, and what
    the marketplace let in before that is found here.
    """
    for key, wanted in sorted(presence(stage.requirements).items()):
        known = said.get((key, claim.worker_id), ())
        about = [each for each in known if eligible.get((each.worker_id, each.assignment_id), each.eligible)]
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
    """By key and worker; tests stand under no worker. One query, none where the stage asks for nothing, and one more
    where it asks for a pool.
    """
    asked = presence(stage.requirements)
    if not asked:
        return {}
    closing = [key for key, wanted in asked.items() if not wanted]
    known = Q(state__in=STANDING) | Q(withdrawn_at__isnull=False)
    grants = Grant.objects.filter(known, _given(stage, asked), worker__worker_id__in=workers)
    answers = Assignment.objects.filter(
        stage__project=stage.project_id, stage__grants__in=closing, worker__worker_id__in=workers
    )
    tests = QualificationTest.objects.filter(project=stage.project_id, key__in=asked).order_by()
    never = Value(None, output_field=DateTimeField())
    eligible = Case(When(ELIGIBLE, then=Value(True)), default=Value(False), output_field=BooleanField())
    worker, times = "worker__worker_id", ("created_at", "withdrawn_at")
    rows = _rows(grants.filter(stage=None), "key", "given", worker, "", *times).union(
        _rows(grants.filter(stage__isnull=False), "key", "granted", worker, "", *times),
        _rows(answers, "stage__grants", "answered", worker, "assignment_id", "submitted_at", never, eligible),
        _rows(tests, "key", "test", "", "", never, never),
        all=True,
    )
    found: dict[tuple[str, str], list[_Said]] = defaultdict(list)
    for row in rows:
        said = _Said(*row)
        found[said.key, said.worker_id].append(said)
    return found


def _given(stage: Stage, asked: Iterable[str]) -> Q:
    """Of grants: those of the project with these keys; of a pool, those of the project that the pool belongs to."""
    homes = pools.homes(stage.project_id, asked)
    found = Q(project=stage.project_id, key__in=[key for key in asked if key not in homes])
    for key, home in homes.items():
        found |= Q(project=home, key=key)
    return found


def _rows(
    query: QuerySet[Any], key: str, kind: str, worker: str, assignment: str, at: Any, until: Any, eligible: Any = None
) -> Any:
    columns = [key, Value(kind), worker or Value(""), assignment or Value(""), at, until, eligible or Value(True)]
    return query.order_by().values_list(*columns)


# Which recorded answers do not count until a lead approves them


def held(rows: Iterable[Assignment]) -> dict[int, Hold]:
    """Of each of these answers, with stage, HIT, item and worker, why it is held for review, if it is.

    They are judged in the order of their submission, because one that is held may leave a later one free. A few queries
    for each stage, and one for the projects' terms, however many the answers are.
    """
    claims: dict[Stage, dict[int, Claim]] = defaultdict(dict)
    in_order = sorted(rows, key=lambda row: (row.submitted_at, row.assignment_id))
    for row in in_order:
        claims[row.stage][row.pk] = Claim(row.hit, row.worker.worker_id, row.assignment_id, row.submitted_at)
    evidence = {stage: _Evidence.about(stage, list(of_stage.values())) for stage, of_stage in claims.items()}
    least = {stage: least_seconds(stage) for stage in claims}
    unagreed = terms.unagreed(in_order)
    found: dict[int, Hold] = {}
    eligible: dict[Key, bool] = {}
    for row in in_order:
        against = evidence[row.stage].against(claims[row.stage][row.pk], eligible)
        eligible[row.worker.worker_id, row.assignment_id] = against is None or row.admitted is True
        untimely = _untimely(row, least[row.stage] * row.hit.item_count)
        found[row.pk] = _hold(against, {Cause.UNTIMELY: untimely, Cause.TERMS: unagreed.get(row.pk, [])})
    return found


def _hold(against: Ineligible | None, of_the_answer: Mapping[Cause, Sequence[str]]) -> Hold:
    causes = [against.cause] if against else []
    reasons = [in_words(against)] if against else []
    for cause, sentences in of_the_answer.items():
        causes += [cause] if sentences else []
        reasons += sentences
    return Hold(tuple(causes), tuple(reasons))


def in_words(found: Ineligible) -> str:
    return {
        Cause.BLOCKED: "The worker was blocked when it was submitted.",
        Cause.ANSWERED: f"The worker had answered this item, or what it was made from, before ({found.about}).",
        Cause.LACKING: f"The worker did not hold the qualification “{found.about}”, which this stage asks for.",
        Cause.OTHER_PART: f"The worker had answered in a stage that gives “{found.about}”, which this stage excludes.",
        Cause.KEPT_OUT: f"The worker held the qualification “{found.about}”, which this stage excludes.",
    }[found.cause]


def _untimely(row: Assignment, least: int) -> list[str]:
    """By the marketplace's times: what the page notes of itself can be invented."""
    sentences = []
    taken = (row.submitted_at - row.accepted_at).total_seconds()
    if taken < least - ROUNDING_SECONDS:
        asked = f"this stage asks for {least} s at least"
        sentences.append(f"It was submitted {taken:.1f} s after it was accepted; {asked}.")
    hit = row.hit
    if hit.expires_at and not hit.closed_early and row.accepted_at > hit.expires_at + GRACE:
        sentences.append("It was accepted after its HIT had expired.")
    if taken > hit.assignment_seconds + GRACE.total_seconds():
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


def recheck(assignment_pks: Sequence[int]) -> int:
    """Judge these answers, and the later ones that depend on them, from what the tables say now; writes `held`.

    Returns how many are held, or not any more, anew. To be called when answers are scored, and when something changed
    that an answer's worker was judged by.
    """
    return sum(_recheck(some) for some in chunks(sorted(assignment_pks), CHUNK))


def recheck_later(assignment_pks: Sequence[int]) -> int:
    """Judge again what depends on these answers, and not themselves: a lead has said whether they count."""
    return recheck(_later(assignment_pks))


@transaction.atomic
def _recheck(assignment_pks: Sequence[int]) -> int:
    pks = [*assignment_pks, *_later(assignment_pks)]
    lock(pks)
    chosen = Assignment.objects.filter(pk__in=pks).defer("answer").select_related("stage", "hit__item", "worker")
    rows = list(chosen.order_by("pk"))
    # Of two processes that judge answers of one worker, the later one sees what the earlier one wrote.
    workers = Worker.objects.select_for_update(no_key=True).filter(pk__in={row.worker.pk for row in rows})
    list(workers.order_by("pk").values_list("pk"))
    lock_items(all_item_pks(row.hit for row in rows))
    found = held(rows)
    changed = [row for row in rows if (row.held, row.held_for) != (found[row.pk].held, found[row.pk].held_for)]
    for row in changed:
        row.held, row.held_for = found[row.pk].held, found[row.pk].held_for
    Assignment.objects.bulk_update(changed, ["held", "held_for"], batch_size=250)
    recount(Assignment.objects.filter(pk__in=[row.pk for row in changed]))
    # Also where an answer had no label: the figures of its stage change.
    Item.objects.filter(pk__in=all_item_pks(row.hit for row in changed)).update(stale=True)
    automatic_approval.decide(row.pk for row in rows)
    for stage in {row.stage for row in changed}:
        refresh_worker_stats(stage, [row.worker.pk for row in changed if row.stage == stage])
    return len(changed)


def lock(assignment_pks: Sequence[int]) -> None:
    """Within a transaction, and before workers are locked."""
    rows = Assignment.objects.select_for_update(of=("self",)).filter(pk__in=assignment_pks)
    list(rows.order_by("pk").values_list("pk"))


def _later(assignment_pks: Sequence[int]) -> list[int]:
    """What the same workers submitted later to the same items, or in stages that these answers may close to them.

    Answers that nobody scored are left out: they are judged with what is known when they are.
    """
    first: dict[int, datetime] = {}
    stages = set()
    rows = Assignment.objects.filter(pk__in=assignment_pks).select_related("hit", "worker").defer("answer")
    for row in rows:
        first[row.worker.pk] = min(row.submitted_at, first.get(row.worker.pk, row.submitted_at))
        stages.add(row.stage_id)
    if not first:
        return []
    hits = hits_of(all_item_pks(row.hit for row in rows))
    touched = Q(hit__in=hits.values("pk")) | Q(stage__in=_closed_by(stages))
    mine = Assignment.objects.filter(touched, scored=True, worker__in=first, submitted_at__gte=min(first.values()))
    found = mine.exclude(pk__in=assignment_pks).values_list("pk", "worker__pk", "submitted_at")
    return [pk for pk, worker, at in found if at >= first[worker]]


def _closed_by(stage_pks: Set[int]) -> set[int]:
    """The stages whose answers depend on those of these stages.

    They ask for other workers than these do; and where one of them gives a qualification, whom it holds up decides
    about answers in stages that exclude who has it, and so on.
    """
    rows = Stage.objects.filter(project__stages__in=stage_pks).distinct()
    stages = rows.only("pk", "project", "key", "grants", "not_workers_of", "requirements").in_bulk()
    excluded = {
        pk: {(stage.project_id, key) for key, wanted in presence(stage.requirements).items() if not wanted}
        for pk, stage in stages.items()
    }

    def refusing(pks: Iterable[int]) -> set[int]:
        given = {(stages[pk].project_id, stages[pk].grants) for pk in pks}
        return {pk for pk in stages if excluded[pk] & given}

    names = {(stages[pk].project_id, stages[pk].key) for pk in stage_pks}
    found = {pk for pk, stage in stages.items() if names & {(stage.project_id, key) for key in stage.not_workers_of}}
    news = found | refusing(stage_pks)
    while news:
        found |= news
        news = refusing(news) - found
    return found
