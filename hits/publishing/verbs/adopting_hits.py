"""Adopting HITs: after a restore each HIT at the marketplace has its row here, as large and as long as it is there.

The list of all HITs is read once. A HIT is known by its annotation, which names item and slot and has a mark of what it
asks (`hits.publishing.rules.hit_tokens`); the number of its row stands in the address of its page. What is there and
differs is written down with its money, and the HITs with answers that are not here become due: `harvesting` fetches
those.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import islice
from typing import TypeVar
from urllib.parse import urlsplit

from defusedxml import ElementTree
from django.core.signing import BadSignature
from django.db import transaction
from django.db.models import F, Max, Q
from django.utils import timezone

from hits.answers.rules import task_links
from hits.answers.rules.hits_to_harvest import mark_due
from hits.judging.rules.required_answers import chunks
from hits.judging.rules.summaries import refresh_summary
from hits.models import (
    Assignment,
    Batch,
    BudgetExceededError,
    Extension,
    Hit,
    HitItem,
    Item,
    Project,
    Stage,
)
from hits.mturk import fees
from hits.mturk.errors import AlreadyDoneError, GoneError, MarketplaceError, WrongStateError
from hits.mturk.gateway import Gateway, RemoteHit
from hits.payments.rules import answer_reserves
from hits.payments.rules.ledger_checks import ZERO, with_places
from hits.publishing.rules import hit_plans, restorations
from hits.publishing.rules.hit_items import all_item_pks
from hits.publishing.rules.hit_tokens import Named
from hits.publishing.rules.reconciliation import FOUND, Report
from hits.publishing.rules.restorations import asked_items

T = TypeVar("T")
CHUNK = 200
# What reads may lag behind, and what clocks differ: a HIT that is listed anew says so once.
WHOLE_SECOND = timedelta(seconds=1)
UNKNOWN_OUTCOME = (Hit.State.PLANNED, Hit.State.SENT)


@dataclass
class Listed:
    """What one reading of the list came to: HITs of no row here, by project, and HITs of compensations."""

    unknown: dict[int, list[RemoteHit]] = field(default_factory=lambda: defaultdict(list))
    offers: dict[int, list[RemoteHit]] = field(default_factory=lambda: defaultdict(list))
    hit_ids: set[str] = field(default_factory=set)


@dataclass
class _Candidate:
    """A HIT without a row whose items are all here."""

    remote: RemoteHit
    named: Named
    items: list[Item]


def adopt(market: Gateway, report: Report) -> Listed:
    """Compare every HIT of this installation with its row; returns what has none. Raises MarketplaceError."""
    projects = {project.namespace: project for project in Project.objects.select_related("account")}
    listed = Listed()
    for chunk in _pieces(market.all_hits(), CHUNK):
        listed.hit_ids.update(remote.hit_id for remote in chunk)
        _adopt_listed([one for one in chunk if one.annotation.partition(".")[0] in projects], projects, listed, report)
    by_pk = {project.pk: project for project in projects.values()}
    for pk, remotes in listed.unknown.items():
        listed.unknown[pk] = _adopt_unknown(by_pk[pk], remotes, report)
    _look_for_unlisted(market, listed, report)
    return listed


def close_unknown(market: Gateway, listed: Listed, report: Report) -> None:
    """Have nobody begin on HITs about items that are not here; those that nobody answered are deleted with what they
    hold. Raises MarketplaceError.
    """
    projects = {project.pk: project.slug for project in Project.objects.all()}
    for pk, remotes in listed.unknown.items():
        for remote in remotes:
            if remote.expires_at > timezone.now():
                with suppress(AlreadyDoneError, GoneError):
                    market.set_expiration(remote.hit_id, timezone.now())
            restorations.write_down(pk, remote, deleted=_delete_unanswered(market, remote))
            report.changed("unknown_closed", projects[pk], f"HIT {remote.hit_id}")


def _delete_unanswered(market: Gateway, remote: RemoteHit) -> bool:
    if remote.submitted or remote.pending:
        return False
    try:
        market.delete_hit(remote.hit_id)
    except WrongStateError:
        # Somebody took it, or answered it, meanwhile.
        return False
    except GoneError:
        return True
    return True


def adopt_returned(market: Gateway, project: Project, report: Report) -> None:
    """HITs that `close_unknown` closed and whose items are here again: each gets its row. Raises MarketplaceError."""
    remotes = []
    for hit_id in restorations.returned(project):
        try:
            remote = market.hit(hit_id)
        except GoneError:
            restorations.write_down_deleted(hit_id)
            continue
        if remote.status == "Disposed":
            restorations.write_down_deleted(hit_id)
        else:
            remotes.append(remote)
    for some in _pieces(remotes, CHUNK):
        _adopt_unknown(project, some, report)


def _adopt_listed(
    remotes: Sequence[RemoteHit], projects: Mapping[str, Project], listed: Listed, report: Report
) -> None:
    hits = with_places(Hit.objects.filter(token__in=[one.annotation for one in remotes]))
    rows = {row.token: row for row in hits.select_related("stage__project__account")}
    changed: dict[int, list[tuple[Hit, RemoteHit]]] = defaultdict(list)
    for remote in remotes:
        project = projects[remote.annotation.partition(".")[0]]
        row = rows.get(remote.annotation)
        if row is not None:
            changed[row.stage_id].append((row, remote))
        elif remote.annotation.partition(".")[2].startswith("c"):
            listed.offers[project.pk].append(remote)
        else:
            listed.unknown[project.pk].append(remote)
    for pairs in changed.values():
        _adopt_known(pairs, report)


# HITs that have a row


def _adopt_known(pairs: Sequence[tuple[Hit, RemoteHit]], report: Report) -> None:
    stage = pairs[0][0].stage
    try:
        with transaction.atomic():
            grown = [(row, more) for row, remote in pairs if (more := _adopt_one(row, remote, report))]
            if grown:
                _grow(stage, grown, report)
    except BudgetExceededError as error:
        report.not_known("over_budget", stage.project.slug, stage.key, str(error))
    _mark_due(pairs)


def _adopt_one(row: Hit, remote: RemoteHit, report: Report) -> tuple[int, int] | None:
    """The places that it has more there, and how many more answers are to be paid; None where it has not grown."""
    slug, subject = row.stage.project.slug, f"HIT {remote.hit_id}"
    if row.hit_id is None:
        columns = {"hit_id": remote.hit_id, "expires_at": remote.expires_at, "state": Hit.State.LIVE, "error": ""}
        # Whoever sends it may have learned of it meanwhile.
        if Hit.objects.filter(pk=row.pk, hit_id=None, state__in=UNKNOWN_OUTCOME).update(**columns):
            row.hit_id, row.expires_at, row.state = remote.hit_id, remote.expires_at, Hit.State.LIVE
            Batch.objects.filter(pk=row.batch_id).update(done=F("done") + 1)
            Item.objects.filter(pk__in=all_item_pks([row]), state=Item.State.NEW).update(state=Item.State.OPEN)
            report.changed("hit_found", slug, subject, row.token)
    elif row.hit_id != remote.hit_id:
        report.not_known("not_there", slug, subject, f"a second one of {row.token}")
        return None
    if row.deleted_at:
        return None
    more = remote.max_assignments - row.max_assignments
    if more < 0:
        report.not_known(
            "not_there", slug, subject, f"{row.max_assignments} places here, {remote.max_assignments} there"
        )
        return None
    open_there = remote.expires_at > timezone.now() and remote.available + remote.pending > 0
    to_pay = row.to_pay  # type: ignore[attr-defined]
    settled = row.settled  # type: ignore[attr-defined]
    reopened = row.state == Hit.State.CLOSED and (more > 0 or open_there)
    later = abs((row.expires_at or remote.expires_at) - remote.expires_at) >= WHOLE_SECOND
    if later:
        early = row.expires_at is not None and remote.expires_at < row.expires_at
        _write(row, expires_at=remote.expires_at, short_since=None, closed_early=early)
        report.changed("hit_times", slug, subject, f"{remote.expires_at:%Y-%m-%d %H:%M} UTC")
    if not more and not reopened:
        return None
    due = remote.max_assignments - settled if reopened or row.state != Hit.State.CLOSED else to_pay + more
    return more, due - to_pay


def _write(row: Hit, **columns: object) -> None:
    Hit.objects.filter(pk=row.pk).update(**columns)
    for name, value in columns.items():
        setattr(row, name, value)


def _grow(stage: Stage, grown: Sequence[tuple[Hit, tuple[int, int]]], report: Report) -> None:
    """`grown` has the places that each HIT has more, and how many more answers money is reserved for."""
    batch = _batch(stage, Batch.Kind.AGAIN, len(grown))
    for row, (more, places) in grown:
        left = more - _settle_planned(row, more)
        if left or places > 0:
            last = row.extensions.aggregate(last=Max("number"))["last"] or 0
            Extension.objects.create(
                hit=row,
                batch=batch,
                number=last + 1,
                assignments=left,
                places=max(0, places),
                token=f"{row.token}+{last + 1}:found",
                state=Extension.State.DONE,
                attempted_at=timezone.now(),
            )
        now = f"{row.max_assignments + more} places"
        report.changed("hit_grown", stage.project.slug, f"HIT {row.hit_id}", now)
        _write(row, max_assignments=row.max_assignments + more, state=Hit.State.LIVE, short_since=None, error="")
    hit_plans.reserve(stage, batch, sum((row.unit_cost * max(0, places) for row, (_, places) in grown), start=ZERO))
    items = Item.objects.filter(pk__in=all_item_pks([row for row, _ in grown]))
    items.filter(state=Item.State.AGAIN).update(state=Item.State.OPEN)
    items.update(stale=True)


def _settle_planned(row: Hit, more: int) -> int:
    """The extension that was on its way was carried out, where the HIT has its places; returns how many these are."""
    planned = row.extensions.filter(state=Extension.State.PLANNED).first()
    if planned is None or planned.assignments > more:
        return 0
    if not Extension.objects.filter(pk=planned.pk, state=planned.state).update(state=Extension.State.DONE):
        return 0
    Batch.objects.filter(pk=planned.batch_id).update(done=F("done") + 1)
    return planned.assignments


def _mark_due(pairs: Sequence[tuple[Hit, RemoteHit]]) -> None:
    """Those with answers that are not here, or that wait or were rejected: their state there may be another."""
    undecided = {
        *Assignment.objects.filter(hit__in=[row.pk for row, _ in pairs])
        .filter(Q(state__in=[Assignment.State.SUBMITTED, Assignment.State.REJECTED]))
        .values_list("hit", flat=True)
    }
    due = [
        row.pk
        for row, remote in pairs
        if row.deleted_at is None
        and (row.pk in undecided or remote.submitted > row.harvested or remote.completed > row.settled)  # type: ignore[attr-defined]
    ]
    mark_due(Hit.objects.filter(pk__in=due, hit_id__isnull=False))


# HITs that have none


def _adopt_unknown(project: Project, remotes: Sequence[RemoteHit], report: Report) -> list[RemoteHit]:
    """Make rows of those whose items are here; returns the others, less those that were closed for that."""
    found, others = _candidates(project, remotes)
    ended = restorations.closed([remote.hit_id for remote, _ in others if remote.expires_at <= timezone.now()])
    others = [(remote, item) for remote, item in others if remote.hit_id not in ended]
    for remote, items in others:
        report.not_known("unknown_item", project.slug, f"HIT {remote.hit_id}", _told(remote, items))
    by_stage: dict[int, list[_Candidate]] = defaultdict(list)
    for one in found:
        by_stage[one.items[0].stage_id].append(one)
    left = [remote for remote, _ in others]
    for candidates in by_stage.values():
        stage = candidates[0].items[0].stage
        try:
            with transaction.atomic():
                _make_rows(_locked(stage), candidates, report)
        except BudgetExceededError as error:
            report.not_known("over_budget", project.slug, stage.key, str(error))
            left += [one.remote for one in candidates]
    return left


def _locked(stage: Stage) -> Stage:
    rows = Stage.objects.select_for_update(of=("self",), no_key=True).select_related("project__account")
    return rows.get(pk=stage.pk)


def _told(remote: RemoteHit, number: int) -> str:
    answers = f"{remote.submitted} of {remote.max_assignments} answers"
    return f"{answers}, item {number}, open until {remote.expires_at:%Y-%m-%d %H:%M} UTC"


def _candidates(project: Project, remotes: Sequence[RemoteHit]) -> tuple[list[_Candidate], list[tuple[RemoteHit, int]]]:
    found, others = [], []
    known = asked_items(project, [remote.whole_annotation for remote in remotes])
    for remote, (named, items) in zip(remotes, known, strict=True):
        if named and items:
            found.append(_Candidate(remote, named, items))
        else:
            others.append((remote, named.item if named else 0))
    return found, others


def _make_rows(stage: Stage, found: Sequence[_Candidate], report: Report) -> None:
    batch = _batch(stage, Batch.Kind.FIRST, len(found))
    numbers = [pk for one in found if (pk := _row_number(one.remote))]
    taken = set(Hit.objects.filter(pk__in=numbers).values_list("pk", flat=True))
    rows = []
    needs: dict[int, int] = {}
    for one in found:
        row = _row(stage, batch, one)
        number = _row_number(one.remote)
        row.pk = number if number not in taken else None
        row.save(force_insert=True)
        rows.append(row)
        HitItem.objects.bulk_create(
            HitItem(hit=row, item=item, number=number) for number, item in enumerate(one.items[1:], 2)
        )
        needs |= {item.pk: one.remote.max_assignments for item in one.items if item.state == Item.State.NEW}
        report.changed("hit_adopted", stage.project.slug, f"HIT {one.remote.hit_id}", one.items[0].key)
    hit_plans.reserve(stage, batch, sum((row.unit_cost * row.max_assignments for row in rows), start=ZERO))
    again = Item.objects.filter(pk__in=all_item_pks(rows), state=Item.State.AGAIN)
    again.update(state=Item.State.OPEN)
    if not stage.screening_share:
        for some in chunks(sorted(needs)):
            Item.objects.filter(pk__in=some, state=Item.State.NEW).update(state=Item.State.OPEN)
        answer_reserves.put(stage, needs)
    _know_types(stage, {one.remote.hit_type_id for one in found})
    restorations.write_down_adopted([one.remote.hit_id for one in found])
    refresh_summary(stage)


def _row(stage: Stage, batch: Batch, one: _Candidate) -> Hit:
    remote, first = one.remote, one.items[0]
    slots = Hit.objects.filter(item=first).aggregate(last=Max("slot"))["last"] or 0
    taken = Hit.objects.filter(item=first, slot=one.named.slot).exists()
    return Hit(
        item=first,
        item_count=len(one.items),
        stage=stage,
        batch=batch,
        slot=slots + 1 if taken else one.named.slot,
        token=one.named.token,
        state=Hit.State.LIVE,
        hit_id=remote.hit_id,
        max_assignments=remote.max_assignments,
        # A HIT that was made with fewer than ten never reaches ten: the fee is the same.
        created_with=remote.max_assignments,
        reward=remote.reward,
        unit_cost=fees.unit_cost(remote.reward, remote.max_assignments),
        assignment_seconds=remote.assignment_seconds,
        expires_at=remote.expires_at,
        due_at=timezone.now(),
        attempted_at=timezone.now(),
    )


def _row_number(remote: RemoteHit) -> int | None:
    """The row that the address of the HIT's page names; None where the marketplace shows the page itself."""
    for element in ElementTree.fromstring(remote.question.encode()).iter() if remote.question else ():
        if element.tag.endswith("}ExternalURL"):
            parts = urlsplit((element.text or "").strip()).path.split("/")
            try:
                return task_links.hit_pk(parts[2]) if len(parts) > 2 else None
            except (BadSignature, ValueError):
                return None
    return None


def _know_types(stage: Stage, hit_types: set[str]) -> None:
    """The list of finished HITs is asked for by type."""
    new = sorted(hit_types - {stage.hit_type_id, *stage.earlier_hit_types, ""})
    if new and not stage.hit_type_id:
        stage.hit_type_id = new.pop()
    stage.earlier_hit_types = [*stage.earlier_hit_types, *new]
    if stage.state == Stage.State.DRAFT:
        stage.state = Stage.State.LIVE
    stage.save(update_fields=["hit_type_id", "earlier_hit_types", "state"])


def _batch(stage: Stage, kind: str, count: int) -> Batch:
    return Batch.objects.create(
        stage=stage,
        kind=kind,
        state=Batch.State.PUBLISHED,
        total=count,
        done=count,
        finished_at=timezone.now(),
        message=FOUND,
    )


# Rows whose HIT is not on the list


def _look_for_unlisted(market: Gateway, listed: Listed, report: Report) -> None:
    rows = Hit.objects.filter(hit_id__isnull=False, deleted_at=None).select_related("stage__project").order_by("pk")
    unlisted = (row for row in rows.iterator(2000) if row.hit_id not in listed.hit_ids)
    for some in _pieces(unlisted, CHUNK):
        for row, outcome in market.run(lambda row: market.hit(row.hit_id or ""), some):
            slug, subject = row.stage.project.slug, f"HIT {row.hit_id}"
            if isinstance(outcome, GoneError):
                report.not_known("not_there", slug, subject, "not there")
            elif isinstance(outcome, MarketplaceError):
                raise outcome
            elif outcome.status == "Disposed":
                # Its answers are still told: it is looked at once more.
                now = timezone.now()
                Hit.objects.filter(pk=row.pk).update(deleted_at=now, due_at=now)
                report.changed("hit_deleted", slug, subject)


def _pieces(rows: Iterable[T], size: int) -> Iterator[list[T]]:
    iterator = iter(rows)
    while chunk := list(islice(iterator, size)):
        yield chunk
