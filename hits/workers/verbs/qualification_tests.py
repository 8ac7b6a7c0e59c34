"""Testing workers: a lead builds a short test from questions with known answers, and the marketplace grades it.

A test is offered as a qualification that workers earn by themselves; a stage may require it. What the marketplace is
to be told stands in the row before the call, and a qualification that a lost answer left behind is found by its name,
which is the row's own: so it is made once, whatever crashes.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from hits.core.action_log import record
from hits.core.jobs.leases import Held, lease
from hits.formats.files.faults import Fault, Faults, FormatErrors
from hits.formats.inputs.qualification_test import (
    MOST_QUESTIONS,
    Details,
    check_details,
    known_question,
    read_file,
    read_questions,
)
from hits.judging.rules.required_answers import chunks
from hits.models import Item, Project, QualificationScore, QualificationTest, Stage
from hits.mturk.errors import GoneError, MarketplaceError, RefusedError
from hits.mturk.gateway import Gateway, GradedTest, RemoteQualification
from hits.mturk.qualification_test import Question, answer_key, question_form
from hits.projects.rules.plugins import settings_of
from hits.publishing.rules import hit_plans
from hits.publishing.rules.hit_items import never_shown
from hits.publishing.rules.hit_types import QUALIFICATIONS
from hits.publishing.rules.marketplace_account import gateway, sentence
from hits.refusals import Refused
from hits.workers.rules.project_qualifications import INVITED

State = QualificationTest.State
LEASE_SECONDS = 120
DAY_SECONDS = 86_400
MOST_REQUIREMENTS = 10
# Qualifications that the product grants by itself.
TAKEN_KEYS = frozenset({*QUALIFICATIONS, "compensation", INVITED})


class RefusedTestError(FormatErrors):
    """What was written is no test: every fault with its place. Nothing was changed."""

    error_code = "test_refused"


# Build


def create(
    project: Project, details: Details, user: User | None, questions: Sequence[object] = ()
) -> QualificationTest:
    """A draft. Raises RefusedTestError."""
    faults = Faults()
    found, asked = check_details(details, faults), read_questions(list(questions), faults)
    # Workers get it without a test: from a stage that they answer in, or because it was made for that.
    granted = project.stages.filter(grants=found.key).exists() or project.qualifications.filter(key=found.key).exists()
    if found.key in TAKEN_KEYS or granted:
        faults.add(None, "key", "The project grants a qualification of this name itself. Take another one.")
    _refuse(faults, found, asked)
    try:
        with transaction.atomic():
            row = QualificationTest.objects.create(
                project=project, created_by=user, questions=asked, **_columns(found), key=found.key
            )
            _record(row, user, "made a qualification test")
    except IntegrityError as error:
        raise RefusedTestError(
            [Fault(None, "key", "The project has a test of this name. Take another one.")]
        ) from error
    return row


def change(
    row: QualificationTest, details: Details, user: User | None, questions: Sequence[object] | None = None
) -> None:
    """Change a draft; its key stays, and stages that require its pass mark follow.

    Raises RefusedTestError, Refused (wrong_test_state).
    """
    faults = Faults()
    found = check_details(details, faults)
    asked = list(row.questions) if questions is None else read_questions(list(questions), faults)
    _refuse(faults, found, asked)
    with transaction.atomic():
        old_mark = row.pass_mark
        _change_draft(row, user, questions=asked, **_columns(found))
        if found.pass_mark != old_mark:
            _move_mark(row, old_mark)


def replace_by_file(row: QualificationTest, content: bytes, user: User | None) -> int:
    """Put a file's questions in the place of the draft's; how many.

    Raises RefusedTestError, Refused (wrong_test_state).
    """
    faults = Faults()
    asked = read_file(content, faults)
    return _replace(row, asked, faults, user, [])


def replace_by_known(row: QualificationTest, count: int, user: User | None, stage_key: str = "") -> int:
    """Draw questions from items with known answers in the place of the draft's; how many there were, at most `count`.

    The draw depends on the project's seed and the test's key alone. Raises RefusedTestError, Refused (nothing_known,
    wrong_test_state).
    """
    with transaction.atomic():
        # Whoever publishes holds the stage: what is drawn here does not go out as a check question meanwhile.
        list(row.project.stages.select_for_update(no_key=True).order_by("pk").values_list("pk"))
        found = list(_known(row, stage_key, min(count, MOST_QUESTIONS)))
        if not found:
            raise Refused(
                "nothing_known",
                "No item here has a gold answer that makes a question and is not asked as a check question: import "
                "question sets first, or write the questions.",
            )
        return _replace(row, [one for _, one in found], Faults(), user, [pk for pk, _ in found])


def _replace(
    row: QualificationTest, asked: list[dict[str, Any]], faults: Faults, user: User | None, items: Sequence[int]
) -> int:
    _refuse(faults, _details(row), asked)
    with transaction.atomic():
        _change_draft(row, user, questions=asked)
        row.drawn.set(items)
    return len(asked)


def _known(row: QualificationTest, stage_key: str, count: int) -> Iterator[tuple[int, dict[str, Any]]]:
    free = known_items(row.project, stage_key).filter(Q(qualification_tests=None) | Q(qualification_tests=row))
    pks = list(free.order_by("id").values_list("id", flat=True))
    random.Random(f"{row.project.seed}:{row.key}").shuffle(pks)
    seen: set[tuple[str, str]] = set()
    for some in chunks(pks):
        items = Item.objects.select_related("document", "stage").in_bulk(some)
        settings = {stage.pk: settings_of(stage) for stage in {item.stage for item in items.values()}}
        for item in (items[pk] for pk in some):
            found = known_question(item.document.data, item.data, settings[item.stage_id])
            if found and (found["text"], found["question"]) not in seen:
                seen.add((found["text"], found["question"]))
                yield item.pk, found
            if len(seen) == count:
                return


def known_items(project: Project, stage_key: str = "") -> QuerySet[Item]:
    """Items whose data names a right answer, dropped ones and check questions that workers can have seen excepted; of
    one stage, or of all but those that are tests themselves.
    """
    items = Item.objects.filter(stage__project=project, stage__screening_share=0).exclude(
        state__in=[Item.State.DROPPED, Item.State.WITHDRAWN]
    )
    items = items.filter(Q(data__has_key="intended") | Q(data__has_key="gold"))
    items = items.filter(~Q(state=Item.State.CHECK) | Q(pk__in=never_shown(items).values("pk")))
    return items.filter(stage__key=stage_key) if stage_key else items


def remove(row: QualificationTest, user: User | None) -> None:
    """Delete a draft that no stage requires. Raises Refused (test_required, wrong_test_state)."""
    stages = requiring(row)
    if stages:
        raise Refused(
            "test_required", f"{_named(stages)} requires this test. Take the requirement out of the stage first."
        )
    with transaction.atomic():
        if not QualificationTest.objects.filter(pk=row.pk, state=State.DRAFT).delete()[0]:
            raise Refused(
                "wrong_test_state", "Only a draft can be removed. What workers have seen is withdrawn instead."
            )
        _record(row, user, "removed a qualification test")


def _details(row: QualificationTest) -> Details:
    return Details(row.key, row.title, row.description, row.pass_mark, row.minutes, row.retry_days)


def _columns(found: Details) -> dict[str, Any]:
    return {name: value for name, value in vars(found).items() if name != "key"}


def _refuse(faults: Faults, found: Details, asked: Sequence[Mapping[str, Any]]) -> None:
    """Raises RefusedTestError for the faults, or when the whole is too long for a call."""
    if not faults.count and asked:
        try:
            _documents(found, asked)
        except ValueError as error:
            faults.add(None, "", str(error))
    if faults.count:
        raise RefusedTestError(faults.listed, faults.rest)


def _documents(found: Details, asked: Sequence[Mapping[str, Any]]) -> GradedTest:
    """What the marketplace is sent."""
    questions = [Question(**one) for one in asked]
    told = f"{len(asked):,} questions, {found.minutes:,} minutes. You pass with {found.pass_mark} % right answers."
    return GradedTest(
        question_form(found.title, [*found.description.splitlines(), told], questions),
        answer_key(questions),
        found.minutes * 60,
        None if found.retry_days is None else found.retry_days * DAY_SECONDS,
    )


def _change_draft(row: QualificationTest, user: User | None, **columns: Any) -> None:
    with transaction.atomic():
        if not _standing(row, State.DRAFT).update(error="", **columns):
            raise Refused(
                "wrong_test_state", "This test was offered to workers, so it can no longer be changed. Make a new one."
            )
        if any(value != getattr(row, name) for name, value in columns.items()):
            _record(row, user, "changed a qualification test")
    row.refresh_from_db()


def _record(row: QualificationTest, user: User | None, verb: str) -> None:
    record(row.project, user, verb, detail={"test": row.key})


# Offer and withdraw


def offer(row: QualificationTest, fingerprint: str, user: User | None) -> None:
    """Write down that workers shall see it, or see it again; `finish` tells the marketplace. Offering twice is once.

    `fingerprint` is of the test that was confirmed. Raises RefusedTestError, Refused (test_changed,
    wrong_test_state).
    """
    if not row.questions:
        raise RefusedTestError([Fault(None, "", "The test has no question yet. Write at least one.")])
    with transaction.atomic():
        now = QualificationTest.objects.select_for_update().get(pk=row.pk)
        if now.fingerprint != fingerprint:
            raise Refused(
                "test_changed", "The test has changed since this page was opened. Look at it again and confirm."
            )
        if now.state == State.WITHDRAWING:
            raise Refused("wrong_test_state", "It is just being withdrawn. Wait a moment and offer it again.")
        if _standing(row, State.DRAFT, State.WITHDRAWN).update(state=State.OFFERING, error=""):
            _record(row, user, "offered a qualification test")
    row.refresh_from_db()


def withdraw(row: QualificationTest, user: User | None) -> None:
    """Write down that no more workers shall take it. Who passed keeps it. Raises Refused (wrong_test_state)."""
    with transaction.atomic():
        is_new = _standing(row, State.OFFERED).update(state=State.WITHDRAWING, error="")
        if is_new:
            _record(row, user, "withdrew a qualification test")
    row.refresh_from_db()
    if not is_new and row.state not in (State.WITHDRAWING, State.WITHDRAWN):
        raise Refused("wrong_test_state", "Only a test that is on offer can be withdrawn.")


def finish(project: Project) -> int:
    """Tell the marketplace what is written down; returns how many tests came to where they shall be.

    A silent marketplace leaves rows as they are, with a sentence, and calling it again goes on. Another process at the
    same project makes it return 0.
    """
    with lease(f"qualification-tests:{project.pk}", seconds=LEASE_SECONDS) as held:
        if held is None:
            return 0
        return sum(_advance(row, gateway(), held) for row in _waiting().filter(project=project))


def unfinished() -> list[int]:
    """Projects with tests that a crash or an absent marketplace left."""
    return sorted(set(_waiting().values_list("project", flat=True)))


def _waiting() -> QuerySet[QualificationTest]:
    rows = QualificationTest.objects.filter(state__in=[State.OFFERING, State.WITHDRAWING])
    return rows.select_related("project").order_by("id")


def _standing(row: QualificationTest, *states: str) -> QuerySet[QualificationTest]:
    return QualificationTest.objects.filter(pk=row.pk, state__in=states)


def _advance(row: QualificationTest, market: Gateway, held: Held) -> int:
    held.renew()
    try:
        if row.state == State.OFFERING:
            return _offer(row, market)
        # Gone is what was wanted.
        with suppress(GoneError):
            market.offer_qualification(row.qualification_type_id, offered=False)
        return _standing(row, State.WITHDRAWING).update(state=State.WITHDRAWN, withdrawn_at=timezone.now(), error="")
    except RefusedError as error:
        _standing(row, State.OFFERING).update(state=_before(row), error=sentence(error))
        _standing(row, State.WITHDRAWING).update(state=State.OFFERED, error=sentence(error))
    except MarketplaceError as error:
        _standing(row, row.state).update(error=f"{sentence(error)} It goes on by itself.")
    return 0


def _before(row: QualificationTest) -> str:
    return State.WITHDRAWN if row.qualification_type_id else State.DRAFT


def _offer(row: QualificationTest, market: Gateway) -> int:
    made = row.qualification_type_id
    if made:
        market.offer_qualification(made, offered=True)
    else:
        test = _documents(_details(row), row.questions)
        made = market.ensure_qualification_type(row.remote_name, row.description, test)
    done = _standing(row, State.OFFERING)
    return done.update(state=State.OFFERED, qualification_type_id=made, offered_at=timezone.now(), error="")


# Results


@dataclass(frozen=True)
class Results:
    """Of the workers whose scores are known, as of `at`; None when they were never fetched."""

    passed: int
    failed: int
    at: datetime | None

    @property
    def workers(self) -> int:
        return self.passed + self.failed


def fetch_scores(test_pk: int) -> int:
    """Read from the marketplace who holds the qualification, and with which value; how many.

    Raises MarketplaceError. A run that breaks off has renewed some scores and lost none; another process at the same
    test makes it return 0.
    """
    with lease(f"qualification-scores:{test_pk}", seconds=LEASE_SECONDS) as held:
        row = QualificationTest.objects.get(pk=test_pk)
        if held is None or not row.qualification_type_id:
            return 0
        began = timezone.now()
        for some in gateway().holder_pages(row.qualification_type_id):
            _store(row, some, began)
            held.renew()
        # Revoked meanwhile.
        row.scores.filter(seen_at__lt=began).delete()
        QualificationTest.objects.filter(pk=test_pk).update(scores_at=began)
        return row.scores.count()


def _store(row: QualificationTest, holders: Sequence[RemoteQualification], seen_at: datetime) -> None:
    QualificationScore.objects.bulk_create(
        [QualificationScore(test=row, seen_at=seen_at, **vars(holder)) for holder in holders],
        update_conflicts=True,
        unique_fields=["test", "worker_id"],
        update_fields=["value", "granted_at", "seen_at"],
    )


def results(row: QualificationTest) -> Results:
    found = row.scores.aggregate(workers=Count("id"), passed=Count("id", Q(value__gte=row.pass_mark)))
    return Results(found["passed"], found["workers"] - found["passed"], row.scores_at)


# Requirements of stages


def requiring(row: QualificationTest) -> list[Stage]:
    """The project's stages that require the test."""
    stages = row.project.stages.order_by("position")
    return [stage for stage in stages if any(one["qualification"] == row.key for one in stage.requirements)]


def require(stage: Stage, row: QualificationTest, user: User | None) -> None:
    """Let in only workers who passed the test. Raises Refused (stage_frozen, test_required, wrong_test_state)."""
    if row.state in (State.WITHDRAWING, State.WITHDRAWN):
        raise Refused(
            "wrong_test_state", "This test is withdrawn, so nobody could take it any more. Offer it again first."
        )
    with transaction.atomic():
        locked = hit_plans.locked(stage)
        others = _other_requirements(locked, row)
        if len(others) >= MOST_REQUIREMENTS:
            raise Refused("test_required", f"A stage has at most {MOST_REQUIREMENTS} requirements. Take one out first.")
        _write(stage, [*others, _requirement(row)])
        if _requirement(row) not in locked.requirements:
            record(stage.project, user, "required a qualification test", [stage], {"test": row.key})


def drop_requirement(stage: Stage, row: QualificationTest, user: User | None) -> None:
    """Let workers in whether or not they passed the test. Raises Refused (stage_frozen)."""
    with transaction.atomic():
        locked = hit_plans.locked(stage)
        others = _other_requirements(locked, row)
        _write(stage, others)
        if others != locked.requirements:
            record(stage.project, user, "stopped requiring a qualification test", [stage], {"test": row.key})


def _requirement(row: QualificationTest) -> dict[str, Any]:
    return {
        "qualification": row.key,
        "comparator": "GreaterThanOrEqualTo",
        "guards": "PreviewAndAccept",
        "integers": [row.pass_mark],
    }


def _other_requirements(locked: Stage, row: QualificationTest) -> list[dict[str, Any]]:
    if hit_plans.is_published(locked):
        raise Refused("stage_frozen", "This stage is published, so who may answer it can no longer change.")
    return [one for one in locked.requirements if one["qualification"] != row.key]


def _write(stage: Stage, requirements: list[dict[str, Any]]) -> None:
    Stage.objects.filter(pk=stage.pk).update(requirements=requirements)
    stage.requirements = requirements


def _move_mark(row: QualificationTest, old_mark: int) -> None:
    """A recipe's stage that asks for another value than the pass mark keeps it."""
    old = {"qualification": row.key, "integers": [old_mark]}
    for stage in requiring(row):
        given = [
            {**one, "integers": [row.pass_mark]} if old.items() <= one.items() else one for one in stage.requirements
        ]
        _write(stage, given)


def _named(stages: Sequence[Stage]) -> str:
    return ", ".join(f"“{stage.title}”" for stage in stages)
