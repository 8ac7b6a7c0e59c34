"""What workers bring before the operator, and what becomes of it."""

from collections.abc import Callable
from datetime import datetime

from django.db import IntegrityError, transaction

from marketplace.models import Assignment, Concern, Hit, Worker
from marketplace.rules import limits
from marketplace.rules.errors import DoesNotExist, RequestError
from marketplace.rules.sentences import Sentence
from marketplace.verbs import workers

_Status = Assignment.Status


def report(worker: Worker, hit: Hit, reason: str, text: str, now: datetime) -> Concern:
    """Report a HIT, once for each worker and HIT; "other" needs words. The caller has checked that it may be seen.

    Raises RequestError.
    """
    text = _checked(text, blank=reason != Concern.Reason.OTHER)
    if reason not in Concern.Reason.values:
        raise RequestError(Sentence("Choose what is wrong with this HIT."))
    last = Assignment.objects.filter(worker=worker, hit=hit).order_by("-pk").first()

    def create() -> Concern:
        made = Concern.objects.create(
            kind=Concern.Kind.REPORT,
            reason=reason,
            worker=worker,
            hit=hit,
            assignment=last,
            text=text,
            created_at=now,
        )
        # An operator's judgement of the HIT stands; the report itself is kept all the same.
        unjudged = Hit.objects.filter(pk=hit.pk, review_status=Hit.ReviewStatus.NOT_REVIEWED)
        unjudged.update(review_status=Hit.ReviewStatus.MARKED)
        return made

    return _raise_once(create, Sentence("You have reported this HIT before; the operator has it."))


def dispute(worker: Worker, assignment: Assignment, text: str, now: datetime) -> Concern:
    """Ask the operator to look at a rejection, once, while it can still be undone.

    Raises RequestError, also for somebody else's assignment.
    """
    if assignment.worker_id != worker.pk:
        raise DoesNotExist("Assignment", assignment.assignment_id)
    text = _checked(text, blank=False)
    if not can_dispute(assignment, now):
        raise RequestError(
            Sentence("This answer cannot be disputed: it is not rejected, or its rejection is final by now.")
        )

    return _raise_once(
        lambda: Concern.objects.create(
            kind=Concern.Kind.DISPUTE,
            worker=worker,
            hit=assignment.hit,
            assignment=assignment,
            text=text,
            created_at=now,
        ),
        Sentence("You have disputed this rejection before; the operator has it."),
    )


def can_dispute(assignment: Assignment, now: datetime) -> bool:
    """Whether a rejection could still be undone: the same rule as for overriding it. Reads the HIT."""
    if assignment.status != _Status.REJECTED or assignment.submitted_at is None:
        return False
    return now - assignment.submitted_at <= limits.OVERRIDE_REJECTION and assignment.hit.disposed_at is None


def resolve(concern: Concern, resolution: str, now: datetime) -> bool:
    """Close an open concern with a note that its worker reads; False when it was closed before.

    Telling the worker and undoing a rejection are the caller's, in the same transaction.
    """
    resolution = _checked(resolution, blank=False)
    still_open = Concern.objects.filter(pk=concern.pk, resolved_at__isnull=True)
    if still_open.update(resolved_at=now, resolution=resolution) != 1:
        return False
    concern.resolved_at, concern.resolution = now, resolution
    return True


def _checked(text: str, *, blank: bool) -> str:
    text = text.strip()
    if len(text) > limits.CONCERN:
        raise RequestError(
            Sentence(
                "Use at most %(most)s characters; this is %(has)s.", most=f"{limits.CONCERN:,}", has=f"{len(text):,}"
            )
        )
    if not text and not blank:
        raise RequestError(Sentence("Say in a few words what is wrong."))
    return text


def _raise_once(create: Callable[[], Concern], refusal: str) -> Concern:
    try:
        with transaction.atomic():
            # First of all: it may wait for whoever resolves the one before, who goes on to the HIT and the worker.
            made = create()
            # What is written down after an account's end would stay for good.
            workers.lock(made.worker_id)
            return made
    except IntegrityError as error:
        raise RequestError(refusal) from error
