"""Testing workers: a lead builds a short test from questions with known answers, and the marketplace grades it.

A test is offered as a qualification that workers earn by themselves; a stage may require it. What the marketplace is
to be told stands in the row before the call, and a qualification that a lost answer left behind is found by its name,
which is the row's own: so it is made once, whatever crashes.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from hits.core.action_log import record
from hits.core.jobs import queue
from hits.core.jobs.leases import Held, lease
from hits.core.roles import MANAGER
from hits.core.targets import PROJECT
from hits.core.verbs import Unchanged, verb
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
from hits.text.language.amounts import amount
from hits.workers.api.qualification_tests import (
    TAG,
    TEST,
    Confirmed,
    DrawShape,
    NewTest,
    TestChange,
    TestShape,
)
from hits.workers.rules.project_qualifications import INVITED, requiring

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


def _key(_: Any, row: QualificationTest, values: Mapping[str, Any]) -> dict[str, Any]:
    return {"test": row.key}


def _page(row: QualificationTest) -> tuple[str, str, str]:
    return "qualification-test", row.project.slug, row.key


@verb(
    "qualification_tests.create", "Make a test", tag=TAG, on=PROJECT, role=MANAGER, route="POST qualification-tests/",
    summary="Make a draft, which workers do not see. Every fault is named at once", takes=NewTest, gives=TestShape,
    status=201, activity="made a qualification test {test}", makes="test", detail=_key, refuses=("test_refused",),
    pages=("new-qualification-test",),
)  # fmt: skip
def create(
    project: Project, user: User | None, *, questions: Sequence[object] = (), **details: Any
) -> QualificationTest:
    """A draft. Raises RefusedTestError."""
    faults = Faults()
    found, asked = check_details(Details(**details), faults), read_questions(_plain(questions), faults)
    # Workers get it without a test: from a stage that they answer in, or because it was made for that.
    granted = project.stages.filter(grants=found.key).exists() or project.qualifications.filter(key=found.key).exists()
    if found.key in TAKEN_KEYS or granted:
        faults.add(None, "key", "The project grants a qualification of this name itself. Take another one.")
    # The project is locked: of two leads at once, the second one sees the first one's test.
    if project.qualification_tests.filter(key=found.key).exists():
        faults.add(None, "key", "The project has a test of this name. Take another one.")
    _refuse(faults, found, asked)
    return QualificationTest.objects.create(
        project=project, created_by=user, questions=asked, **_columns(found), key=found.key
    )


def _plain(questions: Sequence[object]) -> list[object]:
    return [dict(one) if isinstance(one, Mapping) else one for one in questions]


@verb(
    "qualification_tests.change", "Change a draft", tag=TAG, on=TEST, role=MANAGER, route="PATCH ",
    summary="Change a draft; what was offered can no longer be changed", takes=TestChange, gives=TestShape,
    activity="changed a qualification test {test}", detail=_key, refuses=("test_refused", "wrong_test_state"),
    pages=("qualification-test", "qualification-test-row"),
)  # fmt: skip
def change(
    row: QualificationTest, user: User | None, *, questions: Sequence[object] | None = None, **details: Any
) -> QualificationTest | Unchanged:
    """Its key stays, and stages that require its pass mark follow. Raises RefusedTestError too."""
    faults = Faults()
    found = check_details(replace(_details(row), **details), faults)
    asked = row.questions if questions is None else read_questions(_plain(questions), faults)
    _refuse(faults, found, asked)
    old_mark = row.pass_mark
    changed = _write_draft(row, questions=asked, **_columns(found))
    if row.pass_mark != old_mark:
        _move_mark(row, old_mark)
    return row if changed else Unchanged(row)


def _write_draft(row: QualificationTest, **columns: Any) -> bool:
    """Whether something of it changed."""
    if row.state != State.DRAFT:
        raise Refused(
            "wrong_test_state", "This test was offered to workers, so it can no longer be changed. Make a new one."
        )
    changed = any(value != getattr(row, name) for name, value in columns.items())
    for name, value in {**columns, "error": ""}.items():
        setattr(row, name, value)
    row.save()
    return changed


def replace_by_file(row: QualificationTest, content: bytes, user: User | None) -> int:
    """Put a file's questions in the place of the draft's; how many.

    Raises RefusedTestError, Refused (wrong_test_state).
    """
    faults = Faults()
    asked = read_file(content, faults)
    _refuse(faults, _details(row), asked)
    with transaction.atomic():
        locked = TEST.locked(row)
        if _write_draft(locked, questions=asked):
            record(row.project, user, "changed a qualification test", detail={"test": row.key})
        locked.drawn.clear()
    return len(asked)


def _read_through(row: QualificationTest, values: Mapping[str, Any]) -> str:
    return f"The draft now has {amount(len(row.questions), 'question')}. Read them through."


@verb(
    "qualification_tests.draw", "Draw the questions of a test", tag=TAG, on=TEST, role=MANAGER, route="POST draw/",
    summary="Put questions drawn from items with gold answers in the place of the draft's; the same draw each time",
    takes=DrawShape, gives=TestShape, heavy=True, activity="drew the questions of a qualification test {test}",
    detail=_key, done=_read_through, refuses=("nothing_known", "test_refused", "wrong_test_state"),
)  # fmt: skip
def draw(row: QualificationTest, user: User | None, *, count: int, stage: str = "") -> QualificationTest:
    """At most `count`. The draw depends on the project's seed and the test's key alone. Raises RefusedTestError too."""
    # Whoever publishes holds the stage: what is drawn here does not go out as a check question meanwhile.
    list(row.project.stages.select_for_update(no_key=True).order_by("pk").values_list("pk"))
    found = list(_known(row, stage, min(count, MOST_QUESTIONS)))
    if not found:
        raise Refused(
            "nothing_known",
            "No item here has a gold answer that makes a question and is not asked as a check question: import "
            "question sets first, or write the questions.",
        )
    asked = [one for _, one in found]
    _refuse(Faults(), _details(row), asked)
    _write_draft(row, questions=asked)
    row.drawn.set([pk for pk, _ in found])
    return row


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


@verb(
    "qualification_tests.remove", "Remove a draft", tag=TAG, on=TEST, role=MANAGER, route="DELETE ", status=204,
    summary="Remove a draft that no stage requires", activity="removed a qualification test {test}", detail=_key,
    leads_to=lambda row: ("qualification-tests", row.project.slug),
    done=lambda row, values: f"The draft “{row.title}” is removed.", refuses=("test_required", "wrong_test_state"),
)  # fmt: skip
def remove(row: QualificationTest, user: User | None) -> QualificationTest:
    if stages := requiring(row):
        raise Refused(
            "test_required", f"{_named(stages)} requires this test. Take the requirement out of the stage first."
        )
    if row.state != State.DRAFT:
        raise Refused("wrong_test_state", "Only a draft can be removed. What workers have seen is withdrawn instead.")
    row.delete()
    return row


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


# Offer and withdraw


def _finish(row: QualificationTest, _: Any) -> None:
    queue.start_named("finish_tests", row.project_id)


@verb(
    "qualification_tests.offer", "Offer a test", tag=TAG, on=TEST, role=MANAGER, route="POST offer/", status=202,
    summary="Let workers see and take the test; from then on it cannot be changed. Offering twice is once",
    takes=Confirmed, gives=TestShape, quoted_by="qualification_tests_show",
    activity="offered a qualification test {test}", detail=_key, leads_to=_page, after=_finish,
    done="The marketplace is being told. Workers can take the test in a moment.",
    refuses=("test_changed", "test_refused", "wrong_test_state"), pages=("offer-qualification-test",),
)  # fmt: skip
def offer(row: QualificationTest, user: User | None, *, fingerprint: str) -> QualificationTest | Unchanged:
    """Write down that workers shall see it, or see it again; `finish` tells the marketplace.

    `fingerprint` is of the test that was confirmed. Raises RefusedTestError too.
    """
    if not row.questions:
        raise RefusedTestError([Fault(None, "", "The test has no question yet. Write at least one.")])
    if row.fingerprint != fingerprint:
        raise Refused(
            "test_changed",
            "The test has changed since this page was opened. Look at it again and confirm. Nothing was offered.",
        )
    if row.state == State.WITHDRAWING:
        raise Refused(
            "wrong_test_state",
            "It is just being withdrawn. Wait a moment and offer it again. Nothing was offered.",
        )
    if row.state not in (State.DRAFT, State.WITHDRAWN):
        return Unchanged(row, "It is on offer already.")
    return _moved(row, State.OFFERING)


def _moved(row: QualificationTest, state: str) -> QualificationTest:
    row.state, row.error = state, ""
    row.save(update_fields=["state", "error"])
    return row


@verb(
    "qualification_tests.withdraw", "Withdraw a test", tag=TAG, on=TEST, role=MANAGER, route="POST withdraw/",
    summary="Let no more workers take the test; who passed keeps it", status=202, gives=TestShape,
    activity="withdrew a qualification test {test}", detail=_key, leads_to=_page, after=_finish,
    confirm="No more workers can take the test. Who has it keeps the value, and may go on with HITs that require it. "
    "In stages that require it nothing more can be published, answers that have to be bought again included, until "
    "you offer it again, unchanged.",
    done="The marketplace is being told. From then on nobody can take the test.", refuses=("wrong_test_state",),
)  # fmt: skip
def withdraw(row: QualificationTest, user: User | None) -> QualificationTest | Unchanged:
    if row.state in (State.WITHDRAWING, State.WITHDRAWN):
        return Unchanged(row, "It is withdrawn already.")
    if row.state != State.OFFERED:
        raise Refused("wrong_test_state", "Only a test that is on offer can be withdrawn.")
    return _moved(row, State.WITHDRAWING)


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


@verb(
    "qualification_tests.fetch", "Fetch the results of a test", tag=TAG, on=TEST, role=MANAGER,
    route="POST results/fetch/", summary="Read the workers' scores from the marketplace", heavy=True,
    see="qualification_tests.results", activity="fetched the results of a qualification test {test}", detail=_key,
    done="The scores are being fetched. Reload in a moment.",
    after=lambda row, _: queue.start_named("fetch_scores", row.pk),
)  # fmt: skip
def fetch(row: QualificationTest, user: User | None) -> QualificationTest:
    return row


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
