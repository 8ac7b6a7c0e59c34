"""Adopting payments: bonuses and compensations that the marketplace knows, after a restore.

A bonus is known by worker, answer, amount and reason; of equal ones the numbers are compared. A compensation is a
private HIT, whose annotation has the number of its row and whose qualification the number of its worker.
"""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from defusedxml import ElementTree
from django.db import transaction
from django.db.models import Exists, OuterRef

from hits.models import (
    Assignment,
    Bonus,
    BonusOrder,
    BudgetExceededError,
    Compensation,
    Hit,
    LedgerEntry,
    Project,
    Qualification,
)
from hits.mturk import fees
from hits.mturk.errors import MarketplaceError
from hits.mturk.gateway import Gateway, RemoteBonus, RemoteHit
from hits.payments.rules.ledger import pay_payment, reserve_payment
from hits.publishing.rules.marketplace_account import if_there
from hits.publishing.rules.reconciliation import FOUND, Report

CHUNK = 200
OPEN = (Bonus.State.PLANNED, Bonus.State.SENT)
# The qualification that shows a compensation to its one worker, as `hits.payments.verbs.compensating` names it.
QUALIFICATION = "compensation"
_Key = tuple[str, str, Decimal, str]


def adopt_bonuses(market: Gateway, report: Report) -> None:
    """One call for each HIT with answers. Raises MarketplaceError."""
    answered = Exists(Assignment.objects.filter(hit=OuterRef("pk")))
    hits = Hit.objects.filter(answered, hit_id__isnull=False).select_related("stage__project__account")
    for some in _by_key(hits):
        for hit, paid in market.run(lambda row: if_there(lambda: market.bonuses(hit_id=row.hit_id or ""), []), some):
            if isinstance(paid, MarketplaceError):
                raise paid
            if paid or hit.assignments.filter(bonuses__state__in=OPEN).exists():
                _compare(hit, paid, report)


def _by_key(hits: object) -> Iterator[list[Hit]]:
    last = 0
    while page := list(hits.filter(pk__gt=last).order_by("pk")[:CHUNK]):  # type: ignore[attr-defined]
        yield page
        last = page[-1].pk


def _compare(hit: Hit, paid: Sequence[RemoteBonus], report: Report) -> None:
    there: dict[_Key, list[RemoteBonus]] = defaultdict(list)
    for one in sorted(paid, key=lambda one: one.granted_at):
        there[one.assignment_id, one.worker_id, one.amount, one.reason].append(one)
    here: dict[_Key, list[Bonus]] = defaultdict(list)
    rows = Bonus.objects.filter(assignment__hit=hit).exclude(state=Bonus.State.REFUSED)
    for row in rows.select_related("assignment", "worker", "project").order_by("pk"):
        here[row.assignment.assignment_id, row.worker.worker_id, row.amount, row.reason].append(row)
    new: list[RemoteBonus] = []
    project = hit.stage.project
    try:
        with transaction.atomic():
            for key, payments in there.items():
                done = [row for row in here[key] if row.state == Bonus.State.PAID]
                left = payments[len(done) :]
                for row in [row for row in here[key] if row.state in OPEN][: len(left)]:
                    _settle(project, row, left.pop(0), report)
                new += left
            _order(hit, new, report)
    except BudgetExceededError as error:
        report.not_known("over_budget", project.slug, f"bonuses of HIT {hit.hit_id}", str(error))


def _settle(project: Project, row: Bonus, payment: RemoteBonus, report: Report) -> None:
    columns = {"state": Bonus.State.PAID, "paid_at": payment.granted_at, "error": "", "not_before": None}
    if Bonus.objects.filter(pk=row.pk, state__in=OPEN).update(**columns):
        project.account.post([pay_payment(row)])
        report.changed("bonus_found", project.slug, f"bonus {row.pk}", f"${row.amount:,.2f}")


def _order(hit: Hit, payments: Sequence[RemoteBonus], report: Report) -> None:
    """Orders and rows of payments that nobody here knows of; an answer that is not fetched yet has its bonus later."""
    answers = {
        (row.assignment_id, row.worker.worker_id): row
        for row in Assignment.objects.filter(hit=hit).select_related("worker").defer("answer")
    }
    known = [one for one in payments if (one.assignment_id, one.worker_id) in answers]
    if not known:
        return
    project = hit.stage.project
    costs = [one.amount + fees.bonus_fee(one.amount) for one in known]
    order = BonusOrder.objects.create(
        project=project,
        confirmation=f"restored:{secrets.token_hex(12)}",
        total=len(known),
        cost=sum(costs, Decimal(0)),
    )
    entries: list[LedgerEntry] = []
    for one in known:
        answer = answers[one.assignment_id, one.worker_id]
        row = Bonus.objects.create(
            project=project,
            order=order,
            assignment=answer,
            worker=answer.worker,
            amount=one.amount,
            fee=fees.bonus_fee(one.amount),
            reason=one.reason,
            state=Bonus.State.PAID,
            paid_at=one.granted_at,
            attempted_at=one.granted_at,
        )
        entries += [reserve_payment(row), pay_payment(row)]
        report.changed("bonus_adopted", project.slug, f"bonus for answer {one.assignment_id}", f"${one.amount:,.2f}")
    project.account.post(entries)


# Compensations


def adopt_compensations(market: Gateway, offers: Mapping[int, Sequence[RemoteHit]], report: Report) -> None:
    """`offers` are the private HITs of each project, by its key. What became of them is looked for when calls are made
    again. Raises MarketplaceError.
    """
    for pk, remotes in offers.items():
        project = Project.objects.select_related("account").get(pk=pk)
        rows = {row.token: row for row in project.compensations.select_related("project")}
        new = []
        for remote in remotes:
            row = rows.get(remote.annotation)
            if row is None:
                new.append(remote)
            elif row.hit_id is None and row.state == Compensation.State.PLANNED:
                columns = {"hit_id": remote.hit_id, "hit_type_id": remote.hit_type_id, "expires_at": remote.expires_at}
                Compensation.objects.filter(pk=row.pk).update(**columns, state=Compensation.State.OFFERED)
                report.changed("compensation_found", project.slug, f"compensation {row.pk}", f"${row.amount:,.2f}")
        for remote in new:
            if not _number(remote):
                subject = f"{remote.annotation}, which names no compensation"
                report.not_known("unknown_item", project.slug, f"HIT {remote.hit_id}", subject)
        if numbered := [remote for remote in new if _number(remote)]:
            _adopt_offers(market, project, numbered, report)


def _number(remote: RemoteHit) -> int:
    """Of the compensation that the HIT offers; 0 where its annotation has none that a database could hold."""
    written = remote.annotation.rpartition(".c")[2]
    return int(written) if written.isascii() and written.isdigit() and len(written) < 19 else 0


def _adopt_offers(market: Gateway, project: Project, remotes: Sequence[RemoteHit], report: Report) -> None:
    workers: dict[tuple[str, int], str] = {}
    for kind in sorted({kind for remote in remotes if (kind := _qualification(remote))}):
        Qualification.objects.get_or_create(
            project=project, key=QUALIFICATION, defaults={"qualification_type_id": kind}
        )
        for page in market.holder_pages(kind):
            workers |= {(kind, holder.value): holder.worker_id for holder in page}
    for remote in remotes:
        number = _number(remote)
        worker_id = workers.get((_qualification(remote), number))
        subject = f"compensation {number}"
        if worker_id is None:
            # A worker who was offered another one since holds the number of that.
            report.not_known(
                "unknown_item", project.slug, f"HIT {remote.hit_id}", f"{subject}, whose worker is not told"
            )
            continue
        _adopt_offer(project, number, worker_id, remote, report)


def _adopt_offer(project: Project, number: int, worker_id: str, remote: RemoteHit, report: Report) -> None:
    row = Compensation(
        pk=number,
        project=project,
        worker_id=worker_id,
        amount=remote.reward,
        fee=fees.bonus_fee(remote.reward),
        reason=_reason(remote) or FOUND,
        confirmation=f"restored:{remote.hit_id}",
        state=Compensation.State.OFFERED,
        hit_type_id=remote.hit_type_id,
        hit_id=remote.hit_id,
        expires_at=remote.expires_at,
    )
    try:
        with transaction.atomic():
            row.save(force_insert=True)
            project.account.post([reserve_payment(row)])
    except BudgetExceededError as error:
        report.not_known("over_budget", project.slug, f"compensation {number}", str(error))
        return
    report.changed("compensation_adopted", project.slug, f"compensation {number}", f"${row.amount:,.2f}")


def _qualification(remote: RemoteHit) -> str:
    return next((str(one["QualificationTypeId"]) for one in remote.requirements if one.get("IntegerValues")), "")


def _reason(remote: RemoteHit) -> str:
    """The first paragraph of what the worker reads."""
    for element in ElementTree.fromstring(remote.question.encode()).iter() if remote.question else ():
        if element.tag.endswith("}Text"):
            return str(element.text or "")
    return ""
