"""Review policies at work: scoring answers, and the approvals, rejections and extensions that follow.

A policy's own failures never stop the worker's submission: what cannot be done is written into the
report as a failed action, and nothing of it remains.
"""

from collections.abc import Callable, Sequence
from datetime import datetime

from django.db import transaction

from marketplace.models import Assignment, Hit, ReviewLine, Worker
from marketplace.rules import lifecycle
from marketplace.rules import review_policies as rules
from marketplace.rules.errors import InvalidState, MarketplaceError
from marketplace.rules.ids import entity_id
from marketplace.verbs import hits, judging

_Status = Assignment.Status
_Level = ReviewLine.Level
_Kind = ReviewLine.Kind


class _Report:
    """The lines of one reading, written in one go."""

    def __init__(self, hit: Hit, level: str, now: datetime) -> None:
        self.hit, self.level, self.now = hit, level, now
        self.lines: list[ReviewLine] = []

    def add(self, subject: Hit | Assignment, kind: str, name: str, value: str, **more: str) -> None:
        of_hit = isinstance(subject, Hit)
        line = ReviewLine(
            hit=self.hit,
            level=self.level,
            kind=kind,
            subject_id=subject.hit_id if isinstance(subject, Hit) else subject.assignment_id,
            subject_type=_Level.HIT if of_hit else _Level.ASSIGNMENT,
            name=name,
            value=value,
            created_at=self.now,
        )
        for field, content in more.items():
            setattr(line, field, content)
        self.lines.append(line)

    def reading(
        self, subject: Hit | Assignment, found: Sequence[tuple[Hit | Assignment, str, str, str]], said: str
    ) -> None:
        """The results (subject, question, key, value) of one reading, and the action that it was."""
        action_id = entity_id()
        for about, question, key, value in found:
            self.add(about, _Kind.RESULT, key, value, question_id=question, action_id=action_id)
        self.add(subject, _Kind.ACTION, "review", said, action_id=action_id, status="Succeeded")

    def attempt(self, subject: Hit | Assignment, name: str, act: Callable[[], str]) -> None:
        """Do `act`, which says how it ended; a refusal undoes it and is written down."""
        try:
            with transaction.atomic():
                said = act()
        except MarketplaceError as refusal:
            self.hit.refresh_from_db()
            code = f"AWS.MechanicalTurk.{refusal.turk_code}"
            self.add(
                subject,
                _Kind.ACTION,
                name,
                refusal.message,
                action_id=entity_id(),
                status="Failed",
                error_code=code,
            )
            return
        self.add(subject, _Kind.ACTION, name, said, action_id=entity_id(), status="Succeeded")

    def write(self) -> None:
        ReviewLine.objects.bulk_create(self.lines)


def score_submission(assignment: Assignment, now: datetime) -> None:
    """Compare a locked, just submitted answer with the known answers, and act; part of the submission."""
    hit = assignment.hit
    if hit.assignment_review_policy is None:
        return
    policy = rules.read_known_answers(hit.assignment_review_policy)
    known = rules.score_known_answers(policy, rules.answers_of(assignment.answer))
    report = _Report(hit, _Level.ASSIGNMENT, now)
    found = [(assignment, name, "KnownAnswerCorrect", str(int(right))) for name, right in known.correct.items()]
    correct, asked = sum(known.correct.values()), len(known.correct)
    report.reading(
        assignment,
        [*found, (assignment, "", "KnownAnswerScore", str(known.score))],
        f"Reviewed {asked} known {'answer' if asked == 1 else 'answers'}; {correct}/{asked} correct",
    )
    _judge(report, assignment, known.score, policy, policy.approve_reason)
    _extend(report, hit, known.score, policy)
    report.write()


def run_if_due(hit: Hit, now: datetime) -> None:
    """Apply the HIT's policy when the change just made to `hit` has made it reviewable."""
    if hit.review_due:
        run(hit.pk, now)
        hit.refresh_from_db()


def run_due(now: datetime, limit: int = 100) -> int:
    """Apply the policies of all HITs that have become reviewable; returns how many were applied."""
    return sum(
        run(pk, now) for pk in Hit.objects.filter(review_due=True).order_by("pk").values_list("pk", flat=True)[:limit]
    )


def run(pk: int, now: datetime) -> bool:
    """Apply one HIT's policy, once for each time that it became reviewable."""
    with transaction.atomic():
        hit = hits.locked_by_pk(pk)
        if not hit.review_due:
            return False
        hit.review_due = False
        hit.save(update_fields=["review_due"])
        if hit.hit_review_policy is None or hit.status(now) != lifecycle.REVIEWABLE:
            # Extended before its policy came to look at it: it will become reviewable again.
            return False
        return _compare(hit, rules.read_plurality(hit.hit_review_policy), now)


def _compare(hit: Hit, policy: rules.Plurality, now: datetime) -> bool:
    """Whether there was anything to compare; without an answer nothing is scored and nothing done."""
    rows = _lock_answers(hit)
    answers = {row.pk: rules.answers_of(row.answer) for row in rows}
    kept = [row for row in rows if not _disregarded(hit, policy, row, answers[row.pk])]
    if not kept:
        return False
    agreement = rules.score_plurality(policy, [answers[row.pk] for row in kept])
    report = _Report(hit, _Level.HIT, now)
    _report_agreement(report, kept, agreement)
    for row, score in zip(kept, agreement.workers, strict=True):
        if score is not None:
            _judge(report, row, score.score, policy)
    _extend(report, hit, agreement.hit_score, policy)
    report.write()
    return True


def _lock_answers(hit: Hit) -> list[Assignment]:
    """The answers of a locked HIT, they and their workers under lock, in the order of all verbs."""
    visible = Assignment.objects.filter(hit=hit, status__in=Assignment.VISIBLE)
    rows = list(visible.select_for_update(of=("self",), no_key=True).order_by("pk"))
    for row in rows:
        row.hit = hit
    workers = Worker.objects.filter(pk__in=[row.worker_id for row in rows])
    list(workers.select_for_update(no_key=True).order_by("pk").values_list("pk"))
    return rows


def _disregarded(hit: Hit, policy: rules.Plurality, row: Assignment, answers: dict[str, list[str]]) -> bool:
    if policy.disregard_rejected and row.status == _Status.REJECTED:
        return True
    if policy.disregard_known_below is None or hit.assignment_review_policy is None:
        return False
    known = rules.read_known_answers(hit.assignment_review_policy)
    return rules.score_known_answers(known, answers).score < policy.disregard_known_below


def _report_agreement(report: _Report, kept: Sequence[Assignment], agreement: rules.Agreement) -> None:
    hit = report.hit
    found: list[tuple[Hit | Assignment, str, str, str]] = []
    for name, agreed in agreement.agreed.items():
        found.append((hit, name, "AgreedAnswerFound", "false" if agreed is None else "true"))
        if agreed is not None:
            found.append((hit, name, "AgreedAnswer", "|".join(sorted(agreed.answer))))
            found.append((hit, name, "AnswerAgreementScore", str(agreed.score)))
    for row, score in zip(kept, agreement.workers, strict=True):
        if score is not None:
            found.append((row, "", "WorkerAgreementScore", str(score.score)))
            found.append((row, "", "PluralityAnswersCorrect", str(score.agreeing)))
            found.append((row, "", "PluralityAnswersIncorrect", str(score.differing)))
    found.append((hit, "", "HitAgreementScore", str(agreement.hit_score)))
    agreed_on = sum(agreed is not None for agreed in agreement.agreed.values())
    said = f"Compared {len(kept)} answers; agreed on {agreed_on} of {len(agreement.agreed)} questions"
    report.reading(hit, found, said)


def _judge(
    report: _Report,
    assignment: Assignment,
    score: int,
    policy: rules.KnownAnswers | rules.Plurality,
    approve_reason: str = "",
) -> None:
    if policy.approve_from is not None and score >= policy.approve_from:
        report.attempt(assignment, "approve", lambda: _approve(assignment, report.now, approve_reason))
    if policy.reject_below is not None and score < policy.reject_below:
        report.attempt(assignment, "reject", lambda: _reject(assignment, report.now, policy.reject_reason))


def _approve(assignment: Assignment, now: datetime, reason: str) -> str:
    if assignment.status == _Status.APPROVED:
        return "Already approved"
    if assignment.status != _Status.SUBMITTED:
        raise InvalidState("Assignment", _Status.SUBMITTED)
    judging.approve(assignment, now, now, reason or None)
    return "Approved"


def _reject(assignment: Assignment, now: datetime, reason: str) -> str:
    if assignment.status == _Status.REJECTED:
        return "Already rejected"
    if assignment.status != _Status.SUBMITTED:
        raise InvalidState("Assignment", _Status.SUBMITTED)
    judging.reject(assignment, now, reason)
    return "Rejected"


def _extend(report: _Report, hit: Hit, score: int, policy: rules.KnownAnswers | rules.Plurality) -> None:
    if policy.extend_below is not None and score < policy.extend_below:
        report.attempt(hit, "extend", lambda: _one_more(hit, policy, report.now))


def _one_more(hit: Hit, policy: rules.KnownAnswers | rules.Plurality, now: datetime) -> str:
    if hit.max_assignments >= policy.extend_to:
        return f"Already at the maximum of {policy.extend_to} assignments"
    hits.extend_locked(hit, 1, now, policy.extend_seconds)
    return f"Extended to {hit.max_assignments} assignments"
