"""Asking an owner for money: a budget above what one may set, a batch that the budget has no room for. And who may
budget how much: a member of a project, as its owners say, and a lead in all, as whoever runs the installation says.
"""

from __future__ import annotations

import uuid
from decimal import Decimal
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from rest_framework import serializers

from hits.api.shapes import MoneyField
from hits.core.action_log import record_account
from hits.core.roles import OWNER
from hits.core.verbs import Unchanged, verb
from hits.models import Account, LeadLimit, Membership, Project, Stage
from hits.payments.models import LONGEST_REASON, BudgetRequest
from hits.payments.rules import budget_requests
from hits.projects.api.members import MEMBER, MemberShape
from hits.projects.rules.archived import refuse_archived
from hits.projects.rules.memberships import hold
from hits.refusals import Refused

LEAD_LIMIT = "changed how much the account may budget in all"
MAY_BUDGET = "changed how high a member may set the budget"


def ask_for_budget(project: Project, user: User, budget: Decimal, why: str = "") -> BudgetRequest:
    """A request that waits for an owner. Raises ArchivedError."""
    return budget_requests.ask(project, user, lambda account: budget, f"budget:{uuid.uuid4()}", why[:LONGEST_REASON])


def ask_for_batch(stage: Stage, user: User, items: int, total: Decimal, confirmation: str) -> BudgetRequest | None:
    """A request for the money of a batch that the budget has no room for; it is published when an owner approves.

    None for somebody who may raise the budget that far. The same confirmation gives the same request.
    Raises ArchivedError.
    """

    if not has_to_ask(Account.objects.get(project=stage.project_id), user, total):
        return None
    batch = {"stage": stage, "items": items, "total": total}
    confirmation = f"batch:{stage.pk}:{confirmation}"
    return budget_requests.ask(stage.project, user, lambda account: _needed(account, total), confirmation, "", **batch)


def has_to_ask(account: Account, user: User | None, total: Decimal) -> bool:
    """Whether this person may not raise the budget so far that there is room for a batch of this price."""
    limit = budget_requests.limit_of(account.project, user)
    return limit is not None and _needed(account, total) > limit


def _needed(account: Account, total: Decimal) -> Decimal:
    """The budget that has room for a batch of this price."""
    return account.reserved + account.paid + total


def approve(row: BudgetRequest, user: User | None, reason: str = "") -> None:
    """Of a request for a budget alone; `publishing.publish_requested` approves one for a batch.

    Raises RoleRefusedError for somebody who is no owner at this moment, Refused (request_decided) and ArchivedError.
    """
    with transaction.atomic():
        hold(row.project, user)
        refuse_archived(row.project)
        budget_requests.grant(row, user, reason)


def decline(row: BudgetRequest, user: User | None, reason: str) -> None:
    """Raises Refused (reason_missing), RoleRefusedError and Refused (request_decided)."""
    said = reason.strip()
    if not said or len(said) > LONGEST_REASON:
        raise Refused(
            "reason_missing",
            f"Say why, in up to {LONGEST_REASON} characters: the person who asked reads it. Nothing was changed.",
            status=400,
        )
    with transaction.atomic():
        hold(row.project, user)
        budget_requests.decline(row, user, said)


def withdraw(row: BudgetRequest, user: User | None) -> None:
    """Raises Refused (not_yours, request_decided)."""
    if user is not None and row.asked_by_id != user.pk:
        raise Refused(
            "not_yours",
            "Somebody else asked for this: an owner approves or declines it. Nothing was changed.",
            status=403,
        )
    budget_requests.withdraw(row, user)


class MayBudget(serializers.Serializer[Any]):
    may_budget = MoneyField(label="May set the budget up to, $", help_text="0: not at all.")


@verb(
    "members.may_budget", "Say how high a member may set the budget", tag="Money", on=MEMBER, role=OWNER,
    route="PUT may-budget/", pays=True, takes=MayBudget, gives=MemberShape,
    summary="Say how high a member who is no owner may set the budget; the budget stays as it is",
    activity=MAY_BUDGET,
    detail=lambda row, changed, values: {
        "member": f"{row.user.get_username()}, ${row.may_budget:,.2f} to ${changed.may_budget:,.2f}"
    },
    done=lambda changed, values: f"What {changed.user} may set the budget to is changed. The budget stays as it is.",
)  # fmt: skip
def allow(row: Membership, user: User | None, *, may_budget: Decimal) -> Membership | Unchanged:
    """Gives the changed row; `row` has the limit before."""
    hold(row.project, user)
    if row.may_budget == may_budget:
        return Unchanged(row, f"{row.user} may do so already.")
    changed = row.project.memberships.with_users().get(pk=row.pk)
    changed.may_budget = may_budget
    changed.save(update_fields=["may_budget"])
    return changed


def limit_lead(lead: User, amount: Decimal | None) -> None:
    """The most that the budgets of all projects that this person owns may come to; None: any sum. Budgets stay."""
    with transaction.atomic():
        row = LeadLimit.objects.select_for_update().filter(user=lead).first()
        before = row.amount if row else None
        if amount is None:
            LeadLimit.objects.filter(user=lead).delete()
        else:
            LeadLimit.objects.update_or_create(user=lead, defaults={"amount": amount})
        if before != amount:
            record_account(lead, None, LEAD_LIMIT, f"{_in_words(before)} to {_in_words(amount)}")


def _in_words(amount: Decimal | None) -> str:
    return "no limit" if amount is None else f"${amount:,.2f}"
