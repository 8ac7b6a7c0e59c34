"""How operators settle what workers have raised."""

from datetime import datetime

from django.contrib.auth.models import User

from marketplace.models import Concern, Hit
from marketplace.rules.errors import AlreadyDone, InsufficientFunds, InvalidState, RequestError
from marketplace.verbs import assignments, concerns, hits, messages
from marketplace.verbs.operators import act


def resolve(
    operator: User, concern: Concern, note: str, now: datetime, *, overturn: bool = False, take_down: bool = False
) -> None:
    """Close a concern and tell its worker; `note` is what the worker reads.

    `overturn` approves the disputed answer by the rules of OverrideRejection: within 30 days, unless the
    HIT was deleted, and the requester pays. `take_down` ends the reported HIT: who holds it may finish.
    All of it happens or nothing. Raises AlreadyDone when the concern was closed before, RequestError
    when the rejection can no longer be undone.
    """
    worker, hit = concern.worker, concern.hit
    with act(operator, f"Resolved the {concern.kind} {concern.pk}", now, worker=worker) as action:
        if not concerns.resolve(concern, note, now):
            raise AlreadyDone("This was resolved before.")
        outcome = ""
        if overturn:
            _overturn(concern, now)
            action.about += f": overturned the rejection of {_assignment_id(concern)}"
            reward = concern.assignment.reward if concern.assignment else hit.hit_type.reward
            outcome = f"\n\nThe rejection was undone, and ${reward:,.2f} is yours."
        if take_down:
            hits.set_expiration(hit.requester, hit.hit_id, now, now)
            action.about += f": took down the HIT {hit.hit_id}"
            outcome = "\n\nThe HIT was taken down."
        if concern.kind == Concern.Kind.REPORT:
            judged = Hit.ReviewStatus.INAPPROPRIATE if take_down else Hit.ReviewStatus.APPROPRIATE
            Hit.objects.filter(pk=hit.pk).update(review_status=judged)
        subject = f"Your {concern.kind}: {hit.hit_type.title}"
        messages.send(worker, sender=None, subject=subject, text=concern.resolution + outcome, now=now)


def _overturn(concern: Concern, now: datetime) -> None:
    try:
        assignments.approve(concern.hit.requester, _assignment_id(concern), now, override=True)
    except InvalidState as error:
        raise RequestError(
            "The rejection can no longer be undone: 30 days have passed, the HIT was deleted, or the requester has "
            "approved the answer meanwhile. Nothing was changed."
        ) from error
    except InsufficientFunds as error:
        raise RequestError(f"The requester cannot pay. {error.message} Nothing was changed.") from error


def _assignment_id(concern: Concern) -> str:
    return concern.assignment.assignment_id if concern.assignment else ""
