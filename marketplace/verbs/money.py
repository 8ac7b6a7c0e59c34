"""Movements of a requester's money. Each writes one MoneyEntry and one conditional UPDATE.

The verbs expect to run inside the transaction of the state change that they pay for, and last in
it: the UPDATE locks the requester's row, which all of a requester's calls share.
"""

from datetime import datetime
from decimal import Decimal

from django.db.models import F

from marketplace.models import Assignment, Hit, MoneyEntry, Requester
from marketplace.models.fields import money
from marketplace.rules.errors import InsufficientFunds

_Kind = MoneyEntry.Kind


def deposit(requester: Requester, amount: Decimal, now: datetime) -> None:
    _record(_Kind.DEPOSIT, requester.pk, amount, now)
    Requester.objects.filter(pk=requester.pk).update(funds=F("funds") + money(amount))


def hold(requester_id: int, amount: Decimal, now: datetime, hit: Hit, assignment: Assignment | None = None) -> None:
    """Reserve money; raises InsufficientFunds and changes nothing when less is available."""
    _record(_Kind.HOLD, requester_id, amount, now, hit, assignment)
    funded = Requester.objects.filter(pk=requester_id, funds__gte=F("held") + F("charged") + money(amount))
    if funded.update(held=F("held") + money(amount)) != 1:
        raise _insufficient(requester_id, amount)


def charge(requester_id: int, amount: Decimal, now: datetime, assignment: Assignment) -> None:
    """Turn held money into spent money."""
    _record(_Kind.CHARGE, requester_id, amount, now, assignment.hit, assignment)
    Requester.objects.filter(pk=requester_id).update(
        held=F("held") - money(amount), charged=F("charged") + money(amount)
    )


def release(requester_id: int, amount: Decimal, now: datetime, hit: Hit, assignment: Assignment | None = None) -> None:
    """Give held money back."""
    _record(_Kind.RELEASE, requester_id, amount, now, hit, assignment)
    Requester.objects.filter(pk=requester_id).update(held=F("held") - money(amount))


def spend(requester_id: int, amount: Decimal, now: datetime, assignment: Assignment) -> None:
    """Take money that nothing was held for; raises InsufficientFunds as hold does."""
    _record(_Kind.BONUS, requester_id, amount, now, assignment.hit, assignment)
    funded = Requester.objects.filter(pk=requester_id, funds__gte=F("held") + F("charged") + money(amount))
    if funded.update(charged=F("charged") + money(amount)) != 1:
        raise _insufficient(requester_id, amount)


def _insufficient(requester_id: int, amount: Decimal) -> InsufficientFunds:
    available = Requester.objects.get(pk=requester_id).available
    return InsufficientFunds(needed=f"{amount:.2f}", available=f"{available:.2f}")


def _record(
    kind: str,
    requester_id: int,
    amount: Decimal,
    now: datetime,
    hit: Hit | None = None,
    assignment: Assignment | None = None,
) -> None:
    MoneyEntry.objects.create(
        kind=kind, requester_id=requester_id, amount=amount, created_at=now, hit=hit, assignment=assignment
    )
