from __future__ import annotations

from argparse import ArgumentParser
from decimal import Decimal
from typing import Any

from django.core.management.base import CommandError
from django.db.models import Count, F, Q, Sum

from hits.flow.common import gateway
from hits.management.commands._base import ProjectCommand, dollars
from hits.models import Assignment, Hit, Project
from hits.mturk.errors import MarketplaceError

ZERO = Decimal("0.00")


class Command(ProjectCommand):
    help = (
        "Compare a project's account with its entries, its entries with its answers, and what this installation "
        "has at the marketplace with what the marketplace holds. Exit code 1 when the books do not agree."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--strict", action="store_true", help="fail also when the marketplace's figures differ")

    def run(self, options: dict[str, Any]) -> None:
        project = self.project(options)
        rows = _own_books(project)
        held = _held(options["strict"])
        self.table(["what", "books", "found"], [(what, dollars(a), dollars(b)) for what, a, b in [*rows, *held]])
        if held and held[0][1] != held[0][2]:
            self.say(
                "The marketplace's figure differs while answers are approved there and not harvested here, when it has "
                "deleted old HITs, and when other programs use the same account."
            )
        wrong = [what for what, a, b in [*rows, *(held if options["strict"] else [])] if a != b]
        if wrong:
            raise CommandError(f"These do not agree: {', '.join(wrong)}.")
        self.say("The books agree.")


Row = tuple[str, Decimal, Decimal]


def _own_books(project: Project) -> list[Row]:
    account = project.account
    reserved, paid = account.sums()
    return [
        ("reserved: account, entries", account.reserved, reserved),
        ("paid: account, entries", account.paid, paid),
        ("paid: entries, approved answers", paid, _approved(project)),
        ("reserved: entries, places still to be paid", reserved, _open_places(project)),
    ]


def _approved(project: Project) -> Decimal:
    rows = Assignment.objects.filter(stage__project=project, state=Assignment.State.APPROVED)
    return rows.aggregate(total=Sum("hit__unit_cost"))["total"] or ZERO


def _open_places(project: Project) -> Decimal:
    """What is reserved by right: places of HITs that are not closed, extensions to come, answers under review."""
    hits = Hit.objects.filter(stage__project=project)
    unsettled = [Hit.State.PLANNED, Hit.State.SENT, Hit.State.LIVE]
    total = _cost(hits.filter(state__in=unsettled), "max_assignments")
    settled = Q(assignments__state__in=[Assignment.State.APPROVED, Assignment.State.REJECTED])
    reopened = hits.filter(state__in=unsettled).annotate(n=Count("assignments", filter=settled)).filter(n__gt=0)
    total -= _cost(reopened, "n")
    waiting = Assignment.objects.filter(hit__in=hits.filter(state=Hit.State.CLOSED), state=Assignment.State.SUBMITTED)
    total += waiting.aggregate(total=Sum("hit__unit_cost"))["total"] or ZERO
    planned = hits.filter(extensions__state="planned").values_list("unit_cost", "extensions__assignments")
    return total + sum((cost * places for cost, places in planned), ZERO)


def _cost(hits: Any, places: str) -> Decimal:
    return sum((cost * n for cost, n in hits.values_list("unit_cost", places).iterator()), ZERO)


def _held(strict: bool) -> list[Row]:
    """The marketplace holds the money of every place that is not approved or rejected, until the HIT is deleted."""
    try:
        on_hold = gateway().balance().on_hold
    except MarketplaceError:
        if strict:
            raise
        return []
    if on_hold is None:
        return []
    there = Hit.objects.filter(hit_id__isnull=False)
    settled = Q(assignments__state__in=[Assignment.State.APPROVED, Assignment.State.REJECTED])
    open_places = there.annotate(n=F("max_assignments") - Count("assignments", filter=settled))
    return [("on hold: this installation, marketplace", _cost(open_places, "n"), on_hold)]
