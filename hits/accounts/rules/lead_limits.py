"""How much a lead may budget in all: the budgets of the projects that the lead owns, against what the operator set.

Whoever makes a budget higher, or makes somebody an owner, stays within the limit of each owner of the project. Without
a row there is no limit, and commands of the server, which have no user, are held by none.

A row of `LeadLimit` is what several projects share: it is locked after everything that belongs to one project
(project, stage, request, account), and several rows in the order of their users. So nobody who waits for one holds
what somebody who has it will want.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from django.contrib.auth.models import User
from django.db.models import Sum

from hits.accounts.models import LeadLimit
from hits.payments.models import Account
from hits.projects.models import Guest, Membership, Project
from hits.refusals import Refused


@dataclass(frozen=True)
class Room:
    """What a lead with a limit has budgeted. Amounts in dollars; `budgeted` may be more where the limit came later."""

    lead: User
    limit: Decimal
    budgeted: Decimal

    @property
    def left(self) -> Decimal:
        return max(self.limit - self.budgeted, Decimal(0))

    def said_to(self, reader: User) -> str:
        whose = "your" if reader == self.lead else f"{self.lead.get_username()}’s"
        return f"${self.left:,.2f} of {whose} ${self.limit:,.2f} are left for budgets."


def room_of(lead: User) -> Room | None:
    """None: the lead has no limit."""
    row = LeadLimit.objects.select_related("user").filter(user=lead).first()
    return _room(row) if row else None


def narrowest(project: Project) -> Room | None:
    """Of the project's owners with a limit, the one who has the least left."""
    rows = LeadLimit.objects.select_related("user").filter(user__in=project.owners).order_by("user_id")
    return min(map(_room, rows), key=lambda room: room.left, default=None)


def _room(row: LeadLimit) -> Room:
    # An archived project counts with its whole budget: restored, it can spend that without anybody setting a budget.
    # What it will not need is freed by lowering its budget, to no less than what is paid, before it is archived.
    owned = Membership.objects.owning().filter(user=row.user_id)
    total = Account.objects.filter(project__in=owned.values("project")).aggregate(total=Sum("budget"))["total"]
    return Room(row.user, row.amount, total or Decimal(0))


def refuse_above(owners: Iterable[User], more: Decimal, user: User | None) -> None:
    """To be called in the transaction that makes budgets of these people higher by `more`, before it is written; the
    caller holds the accounts whose budgets or owners it changes. Raises Refused (above_lead_limit).
    """
    if user is None or more <= 0:
        return
    rows = LeadLimit.objects.select_for_update(of=("self",)).select_related("user").filter(user__in=list(owners))
    for row in rows.order_by("user_id"):
        # A query after the lock: it sees what whoever held the row before has written.
        room = _room(row)
        if room.budgeted + more > room.limit:
            name = row.user.get_username()
            raise Refused(
                "above_lead_limit",
                f"The budgets of all projects that {name} owns may come to ${room.limit:,.2f}. ${room.left:,.2f} of "
                f"that is left, and this takes ${more:,.2f}. Lower the budget of another of these projects, or ask "
                f"whoever runs this installation for a higher limit: manage.py account {name} --budget-limit AMOUNT. "
                "Nothing was changed.",
                field="budget",
                lead=name,
                limit=f"{room.limit:.2f}",
                budgeted=f"{room.budgeted:.2f}",
                left=f"{room.left:.2f}",
                more=f"{more:.2f}",
            )


def refuse_new_owner(project: Project, person: User, user: User | None) -> None:
    """Of somebody who is about to be an owner; the caller holds the project. Raises Refused (above_lead_limit)."""
    # So that nobody changes the budget before the new owner is seen.
    account = Account.objects.select_for_update().get(project=project)
    refuse_above([person], account.budget, user)


def refuse_former_owner(project: Project, leaving: User, user: User | None) -> None:
    """Of an owner who is about to be none any more; the caller holds the project. Raises Refused (limited_owner).

    Otherwise a lead would get room for ever new budgets by handing the projects on, such as to a guest. An owner
    without a limit who starts projects may take one over.
    """
    if user is None or not LeadLimit.objects.filter(user=leaving).exists():
        return
    if LeadLimit.objects.filter(user__in=project.owners.exclude(pk=leaving.pk)).exists():
        return
    if LeadLimit.objects.filter(user=user).exists() or not may_start_projects(user):
        name = leaving.get_username()
        raise Refused(
            "limited_owner",
            f"What {name} may budget is limited, and without {name} this project’s budget would count for nobody who "
            "has a limit. Make somebody with a limit an owner first, or ask an owner without one, or whoever runs this "
            "installation, to do this. Nothing was changed.",
        )


def may_start_projects(user: User) -> bool:
    return not Guest.objects.filter(user=user).exists()


def refuse_guest(user: User) -> None:
    """Raises Refused (guest)."""
    if not may_start_projects(user):
        raise Refused(
            "guest",
            f"The account {user.get_username()} was made through an invitation and starts no projects. Whoever runs "
            f"this server allows it: manage.py create_lead {user.get_username()} --allow",
            status=403,
        )
