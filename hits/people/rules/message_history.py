"""What a project's leads and one of its workers have written to each other: messages, and words that go with something.

The marketplace passes on messages in one direction only, so what a worker says comes as a remark with an answer, or as
a reply by the link that each message ends with.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from hits.models import Assignment, Project, Worker

# Of each kind, on the worker's page; the API and commands have all.
LATEST = 20


@dataclass(frozen=True)
class Letter:
    """Words of the worker, or words to them. `kind` is remark, reply, message, feedback or bonus.

    `answer` is what it goes with. `state` says what became of a message that is not known to have arrived, `by` who
    wrote it.
    """

    at: datetime
    kind: str
    title: str
    text: str
    answer: Assignment | None = None
    state: str = ""
    by: str = ""

    @property
    def from_worker(self) -> bool:
        return self.kind in ("remark", "reply")


def letters(project: Project, worker: Worker) -> list[Letter]:
    """The latest of each kind, newest first. A fixed number of queries."""
    found = [*_remarks(project, worker), *_replies(project, worker), *_messages(project, worker)]
    found += [*_feedback(project, worker), *_bonuses(project, worker)]
    return sorted(found, key=lambda letter: letter.at, reverse=True)


def _remarks(project: Project, worker: Worker) -> Iterator[Letter]:
    answers = _answers(project, worker).exclude(remark="").order_by("-id")[:LATEST]
    for answer in answers:
        yield Letter(answer.submitted_at, "remark", "A remark with an answer", answer.remark, answer)


def _replies(project: Project, worker: Worker) -> Iterator[Letter]:
    rows = project.inbox.filter(worker=worker).exclude(message=None).select_related("message").order_by("-id")
    for row in rows[:LATEST]:
        subject = row.message.subject if row.message else ""
        yield Letter(row.at, "reply", f"A reply to “{subject}”", row.text)


def _messages(project: Project, worker: Worker) -> Iterator[Letter]:
    rows = project.worker_messages.filter(worker=worker).select_related("stage", "created_by").order_by("-id")
    for row in rows[:LATEST]:
        state = "" if row.state == row.State.SENT else " ".join(filter(None, (row.get_state_display(), row.error)))
        by = row.created_by.get_username() if row.created_by else ""
        yield Letter(row.sent_at or row.created_at, "message", row.subject, row.text, None, state, by)


def _feedback(project: Project, worker: Worker) -> Iterator[Letter]:
    answers = _answers(project, worker).exclude(feedback="").order_by("-id").prefetch_related("actions")[:LATEST]
    for answer in answers:
        at = max((action.at for action in answer.actions.all()), default=answer.submitted_at)
        title = f"Feedback: {answer.get_state_display().lower()}"
        yield Letter(at, "feedback", title, answer.feedback, answer)


def _bonuses(project: Project, worker: Worker) -> Iterator[Letter]:
    rows = project.bonuses.filter(worker=worker).order_by("-id")
    rows = rows.select_related("assignment__stage", "assignment__hit__item", "order__created_by")
    for row in rows[:LATEST]:
        state = "" if row.state == row.State.PAID else row.get_state_display()
        by = row.order.created_by.get_username() if row.order.created_by else ""
        title = f"Reason of a bonus of ${row.amount:,.2f}"
        yield Letter(row.paid_at or row.order.created_at, "bonus", title, row.reason, row.assignment, state, by)


def _answers(project: Project, worker: Worker) -> QuerySet[Assignment]:
    rows = Assignment.objects.filter(stage__project=project, worker=worker)
    return rows.select_related("stage", "hit__item", "item")
