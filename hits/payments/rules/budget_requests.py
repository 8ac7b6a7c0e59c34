"""How high each member may set a project's budget, and what becomes of a request for more: asked, approved, declined.

An owner sets any budget. Somebody who may publish sets it as high as an owner allowed (`Membership.may_budget`; not at
all where nothing was allowed) and asks for more. Whatever is reserved and paid stays within the budget, which is a
constraint of the database; so the money that a member can bind never exceeds what an owner set, allowed or approved.
What an owner may budget in all may be limited (`hits.accounts.rules.lead_limits`).
Locks are taken in the order project, stage, request, account, limits of leads.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from hits.accounts.rules.lead_limits import refuse_above
from hits.core.action_log import record
from hits.models import Account, Membership, Project
from hits.payments.models import LONGEST_REASON, BudgetRequest
from hits.projects.rules.archived import refuse_archived
from hits.refusals import Refusal, Refused

BUDGET_CHANGED = "changed the budget"
ASKED, APPROVED, DECLINED = "asked for money", "approved a request for money", "declined a request for money"
WITHDRAWN = "withdrew a request for money"
State = BudgetRequest.State


class AboveLimitError(Refusal):
    """The member may not set so high a budget; an owner is to be asked. Nothing was changed."""

    error_code = "above_limit"

    def __init__(self, budget: Decimal, limit: Decimal) -> None:
        self.budget, self.limit = budget, limit
        super().__init__(
            f"A budget of ${budget:,.2f} is above the ${limit:,.2f} that you may set: ask an owner. "
            "Nothing was changed."
        )

    def details(self) -> dict[str, Any]:
        return {"budget": f"{self.budget:.2f}", "limit": f"{self.limit:.2f}"}


def limit_of(project: Project, user: User | None) -> Decimal | None:
    """How high this person may set the budget; None: as high as they like, as owners and the server's commands."""
    if user is None:
        return None
    row = project.memberships.filter(user=user).first()
    if row is None:
        return Decimal(0)
    return None if row.role == Membership.Role.OWNER else row.may_budget


def refuse_above_limit(project: Project, user: User | None, budget: Decimal) -> None:
    """Raises AboveLimitError."""
    limit = limit_of(project, user)
    if limit is not None and budget > limit:
        raise AboveLimitError(budget, limit)


@transaction.atomic
def ask(
    project: Project, user: User, wanted: Callable[[Account], Decimal], confirmation: str, why: str, **batch: Any
) -> BudgetRequest:
    """Write the request down; the same confirmation gives the same one, and an older one of the member that waits for
    the same thing is withdrawn. `wanted` says the budget, from the account as it is under the lock.

    Raises ArchivedError.
    """
    refuse_archived(Project.objects.select_for_update(no_key=True).get(pk=project.pk))
    if earlier := project.budget_requests.filter(confirmation=confirmation).first():
        return earlier
    older = project.budget_requests.filter(asked_by=user, state=State.WAITING, stage=batch.get("stage"))
    older.update(state=State.WITHDRAWN, decided_at=timezone.now(), reason="Asked for anew.", told=True)
    account = Account.objects.select_for_update().get(project=project)
    row = BudgetRequest.objects.create(
        project=project, asked_by=user, budget=wanted(account), confirmation=confirmation, why=why, **batch
    )
    record(project, user, ASKED, detail=_told(row))
    return row


def find(project: Project, pk: int) -> BudgetRequest | None:
    """A request of this project, with what deciding about it reads."""
    rows = project.budget_requests.select_related("asked_by", "stage__project__account", "stage__summary")
    row = rows.filter(pk=pk).first()
    if row is not None:
        row.project = project
    return row


def grant(row: BudgetRequest, user: User | None, reason: str) -> None:
    """Approve a request that still waits, and raise the budget to what it needs now; never lower it.

    Inside a transaction that holds the project, and the stage of a batch. Raises Refused (request_decided) and
    Refused (above_lead_limit).
    """
    _decide(row, State.APPROVED, user, reason.strip()[:LONGEST_REASON])
    account = Account.objects.select_for_update().get(project=row.project_id)
    before = account.budget
    needed = row.budget if row.stage_id is None else account.reserved + account.paid + row.total
    if needed > before:
        refuse_above(row.project.owners, needed - before, user)
        Account.objects.filter(pk=account.pk).update(budget=needed)
        record(row.project, user, BUDGET_CHANGED, detail={"from": f"{before:.2f}", "to": f"{needed:.2f}"})
    record(row.project, user, APPROVED, detail=_told(row))


@transaction.atomic
def decline(row: BudgetRequest, user: User | None, reason: str) -> None:
    """Raises Refused (request_decided)."""
    _decide(row, State.DECLINED, user, reason)
    record(row.project, user, DECLINED, detail=_told(row))


@transaction.atomic
def withdraw(row: BudgetRequest, user: User | None) -> None:
    """Raises Refused (request_decided)."""
    _decide(row, State.WITHDRAWN, user, "")
    record(row.project, user, WITHDRAWN, detail=_told(row))


def _decide(row: BudgetRequest, state: str, user: User | None, reason: str) -> None:
    waiting = BudgetRequest.objects.filter(pk=row.pk, state=State.WAITING)
    values = {"state": state, "reason": reason, "decided_by": user, "decided_at": timezone.now()}
    # Of two who decide at once, the second waits for the row and finds it decided.
    if not waiting.update(**values, told=state == State.WITHDRAWN):
        row.refresh_from_db()
        state = row.get_state_display().lower()
        raise Refused("request_decided", f"This request was {state} already. Nothing was changed.")
    row.refresh_from_db()


def _told(row: BudgetRequest) -> dict[str, str]:
    return {"member": f"{row.asker}, {in_words(row)}", "request": str(row.pk)}


def in_words(row: BudgetRequest) -> str:
    """What is asked for."""
    budget = f"a budget of ${row.budget:,.2f}"
    if row.stage is None or row.items is None:
        return budget
    items = "1 item" if row.items == 1 else f"{row.items:,} items"
    return f"{budget} to publish {items} of “{row.stage.title}” for ${row.total:,.2f}"
