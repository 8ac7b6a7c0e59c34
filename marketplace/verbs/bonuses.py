"""Money beside the reward, with the reason for it."""

from datetime import datetime, timedelta
from decimal import Decimal

from django.db import IntegrityError, transaction
from django.db.models import F

from marketplace.models import Assignment, BonusPayment, Requester, Worker
from marketplace.models.fields import money as amount_of
from marketplace.rules import limits
from marketplace.rules.errors import ParameterValidationError, RequestError, token_processed
from marketplace.rules.fees import bonus_fee
from marketplace.verbs import assignments, messages, money, tokens

_STATES = "Reviewable,Approved,Rejected"
# Six months of at most 31 days.
RECENT = timedelta(days=184)


def pay(
    requester: Requester,
    worker_id: str,
    assignment_id: str,
    amount: Decimal,
    reason: str,
    now: datetime,
    token: str = "",
) -> BonusPayment:
    """Pay a worker at once, with a fee on top, and write the reason into the worker's inbox.

    The assignment must be handed in and the worker's own; a used `token` raises RequestAlreadyProcessed
    whatever else is given, and pays nothing.
    """
    limits.check_length("Reason", reason, messages.TEXT, blank=False)
    try:
        return _pay(requester, worker_id, assignment_id, amount, reason, now, token)
    except IntegrityError:
        if tokens.first_use(requester.pk, tokens.BONUS, token, now) is not None:
            raise token_processed(token) from None
    return _pay(requester, worker_id, assignment_id, amount, reason, now, token)


def _pay(
    requester: Requester, worker_id: str, assignment_id: str, amount: Decimal, reason: str, now: datetime, token: str
) -> BonusPayment:
    with transaction.atomic():
        pk, _ = assignments.find(requester, assignment_id, allowed=_STATES)
        assignment = Assignment.objects.select_related("hit", "worker").get(pk=pk)
        # Before the rules: the repetition of a payment must learn that it was made, and nothing else.
        tokens.use(assignment.hit, tokens.BONUS, token, now)
        _check_worker(requester, worker_id, assignment, now)
        worker = assignment.worker
        paid = BonusPayment.objects.create(
            requester=requester,
            worker=worker,
            assignment=assignment,
            amount=amount,
            fee=bonus_fee(amount),
            reason=reason,
            created_at=now,
        )
        Worker.objects.filter(pk=worker.pk).update(earned=F("earned") + amount_of(amount))
        subject = f"A bonus of ${amount:,.2f} from {requester.name}"
        messages.send(worker, sender=requester, subject=subject, text=reason, now=now)
        money.spend(requester.pk, amount + paid.fee, now, assignment)
    return paid


def _check_worker(requester: Requester, worker_id: str, assignment: Assignment, now: datetime) -> None:
    if assignment.worker.worker_id != worker_id:
        raise ParameterValidationError(
            f"Assignment {assignment.assignment_id} was not submitted by worker {worker_id}; "
            "a bonus goes to the worker of the assignment."
        )
    since = now - RECENT
    if assignment.submitted_at is not None and assignment.submitted_at >= since:
        return
    done = Assignment.objects.filter(worker=assignment.worker, hit__requester=requester, submitted_at__gte=since)
    if not done.exists():
        raise RequestError(f"Worker {worker_id} has not completed an assignment for you in the last six months.")
