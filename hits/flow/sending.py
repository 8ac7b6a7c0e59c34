"""Sending: the calls of a batch, from its intent rows to the marketplace's answers.

Nothing is sent before its row is committed, every call carries the row's own token, and no call happens inside
a transaction. So a crash at any point loses nothing and sends nothing twice: sending again finds the rows that
have no answer yet and asks with the same token.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime, timedelta
from typing import TypeVar

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from hits.flow.common import gateway
from hits.models import Batch, Extension, Hit, Item, Qualification, Stage
from hits.models.leases import Held, lease
from hits.models.ledger import release
from hits.models.links import task_url
from hits.models.summaries import refresh_summary
from hits.mturk.errors import (
    AlreadyDoneError,
    AlreadyExistsError,
    GoneError,
    MarketplaceError,
    RefusedError,
    UnreachableError,
)
from hits.mturk.gateway import SYSTEM_QUALIFICATIONS, Gateway, HitTypeSpec, RemoteHit
from hits.mturk.question import external_question

T = TypeVar("T")
R = TypeVar("R")
Outcome = RemoteHit | MarketplaceError

CHUNK = 200
# Renewed with every chunk; after a crash another process waits so long at most.
LEASE_SECONDS = 30
WAITING = [Hit.State.PLANNED, Hit.State.SENT]
# A token lives 24 hours at the marketplace; from an hour before its end the HIT is looked for first.
TOKEN_LIFE = timedelta(hours=23)
QUALIFICATIONS = {
    "poor-quality": "Answers in earlier tasks of this project were, on average, much less accurate than other workers'."
}


def send(batch_pk: int) -> int:
    """Make the calls of a batch that have no outcome yet; returns how many it settled.

    Stops early when the batch is paused, and waits (state "waiting") when the marketplace does not answer;
    calling it again goes on. Another process at the same batch makes it return 0.
    """
    with lease(f"batch:{batch_pk}", seconds=LEASE_SECONDS) as held:
        if held is None:
            return 0
        batch = Batch.objects.select_related("stage__project").get(pk=batch_pk)
        if batch.state in (Batch.State.PAUSED, Batch.State.PUBLISHED):
            return 0
        try:
            settled = _send_all(batch, gateway(), held)
        except MarketplaceError as error:
            return _wait(batch, error)
        finally:
            refresh_summary(batch.stage)
        return settled


def _send_all(batch: Batch, market: Gateway, held: Held) -> int:
    if batch.kind in (Batch.Kind.EXPIRE, Batch.Kind.EXTEND):
        works: list[Callable[[Batch, Gateway], int]] = [_send_expirations]
    else:
        ensure_hit_type(batch.stage, market)
        works = [_send_extensions, _send_hits]
    settled = 0
    for work in works:
        while _may_go_on(batch) and (count := work(batch, market)):
            settled += count
            held.renew()
    if _may_go_on(batch):
        Batch.objects.filter(pk=batch.pk).update(
            state=Batch.State.PUBLISHED, finished_at=timezone.now(), message=_refusals(batch)
        )
    return settled


def _may_go_on(batch: Batch) -> bool:
    return (
        Batch.objects.filter(pk=batch.pk)
        .exclude(state__in=[Batch.State.PAUSED, Batch.State.PUBLISHED])
        .update(state=Batch.State.PUBLISHING)
        == 1
    )


def _wait(batch: Batch, error: MarketplaceError) -> int:
    """A pause by the lead stays a pause."""
    waiting = Batch.objects.filter(pk=batch.pk, state=Batch.State.PUBLISHING)
    waiting.update(state=Batch.State.WAITING, message=f"{error} It goes on by itself when the marketplace is back.")
    return 0


def _refusals(batch: Batch) -> str:
    refused = batch.hits.filter(state=Hit.State.REFUSED).exclude(error="").values_list("error", flat=True).first()
    return refused or ""


def _send_hits(batch: Batch, market: Gateway) -> int:
    hits = list(batch.hits.filter(state__in=WAITING).order_by("id")[:CHUNK])
    _adopt_old(hits, market)
    unknown = [hit for hit in hits if hit.hit_id is None]
    # Committed before the call: a crash leaves rows that say "asked, answer unknown".
    Hit.objects.filter(id__in=[hit.pk for hit in unknown], attempted_at=None).update(attempted_at=timezone.now())
    Hit.objects.filter(id__in=[hit.pk for hit in unknown]).update(state=Hit.State.SENT)
    stage = batch.stage
    outcomes = _each(lambda hit: _create(hit, stage, market), unknown)
    _record_hits(batch, outcomes)
    _raise_first(outcomes, UnreachableError)
    return len(hits)


def _create(hit: Hit, stage: Stage, market: Gateway) -> RemoteHit:
    try:
        return market.create_hit(
            stage.hit_type_id,
            question=external_question(task_url(hit.pk)),
            max_assignments=hit.max_assignments,
            lifetime_seconds=stage.lifetime_seconds,
            token=hit.token,
        )
    except AlreadyExistsError as error:
        if error.hit_id is None:
            raise
        found = market.hit(error.hit_id)
        if found.annotation != hit.token:
            raise RefusedError("TokenCollision", f"The token {hit.token} belongs to another HIT.") from error
        return found


def _adopt_old(hits: Sequence[Hit], market: Gateway) -> None:
    """Rows asked longer ago than tokens live are looked for by their annotation before asking again."""
    horizon = timezone.now() - TOKEN_LIFE
    old = {hit.token: hit for hit in hits if hit.attempted_at and hit.attempted_at < horizon}
    if not old:
        return
    found = [(old[remote.annotation], remote) for remote in market.all_hits() if remote.annotation in old]
    _record_hits(hits[0].batch, found)


def _record_hits(batch: Batch, outcomes: Sequence[tuple[Hit, Outcome]]) -> None:
    known = [(hit, outcome) for hit, outcome in outcomes if not isinstance(outcome, UnreachableError)]
    with transaction.atomic():
        # A process whose lease ran out may record the same outcomes: each row is recorded once.
        rows = Hit.objects.select_for_update().filter(id__in=[hit.pk for hit, _ in known])
        waiting = set(rows.filter(state__in=WAITING).values_list("pk", flat=True))
        changed = [_outcome(hit, outcome) for hit, outcome in known if hit.pk in waiting]
        Hit.objects.bulk_update(changed, ["hit_id", "expires_at", "state", "error"], batch_size=500)
        _give_back(batch, [hit for hit in changed if hit.state == Hit.State.REFUSED])
        Batch.objects.filter(pk=batch.pk).update(done=F("done") + len(changed))


def _outcome(hit: Hit, outcome: Outcome) -> Hit:
    if isinstance(outcome, RemoteHit):
        hit.hit_id, hit.expires_at, hit.state = outcome.hit_id, outcome.expires_at, Hit.State.LIVE
    else:
        hit.error, hit.state = str(outcome), Hit.State.REFUSED
    return hit


def _give_back(batch: Batch, refused: Sequence[Hit]) -> None:
    if not refused:
        return
    Item.objects.filter(id__in=[hit.item_id for hit in refused]).update(state=Item.State.NEW)
    batch.stage.project.account.post(release(hit, hit.max_assignments, "refused") for hit in refused)
    Batch.objects.filter(pk=batch.pk).update(refused=F("refused") + len(refused))


def _send_extensions(batch: Batch, market: Gateway) -> int:
    extensions = list(
        batch.extensions.filter(state=Extension.State.PLANNED).select_related("hit__stage__project")[:CHUNK]
    )
    until = timezone.now() + timedelta(seconds=batch.stage.lifetime_seconds)
    outcomes = _each(lambda extension: _extend(extension, until, market), extensions)
    for extension, outcome in outcomes:
        _record_extension(batch, extension, outcome)
    _raise_first(outcomes, UnreachableError)
    return len(extensions)


def _extend(extension: Extension, until: datetime, market: Gateway) -> datetime:
    """Open the HIT first, then add to it: the other way round it could close in between."""
    hit = extension.hit
    expires = hit.expires_at or until
    if expires < until - timedelta(seconds=hit.stage.lifetime_seconds // 2):
        _set_expiration(market, hit, until)
        expires = until
    with suppress(AlreadyDoneError):
        market.add_assignments(hit.hit_id or "", extension.assignments, extension.token)
    return expires


def _record_extension(batch: Batch, extension: Extension, outcome: datetime | MarketplaceError) -> None:
    if isinstance(outcome, UnreachableError):
        return
    done = isinstance(outcome, datetime)
    planned = Extension.objects.filter(pk=extension.pk, state=Extension.State.PLANNED)
    with transaction.atomic():
        if done and planned.update(state=Extension.State.DONE):
            Hit.objects.filter(pk=extension.hit_id).update(
                max_assignments=F("max_assignments") + extension.assignments,
                expires_at=outcome,
                state=Hit.State.LIVE,
            )
            Batch.objects.filter(pk=batch.pk).update(done=F("done") + 1)
        elif not done and planned.update(state=Extension.State.REFUSED, error=str(outcome)):
            # The HIT cannot grow, for instance because it is gone: the item gets a new one instead.
            _replace(extension)


def _replace(extension: Extension) -> None:
    old = extension.hit
    slot = old.slot + 1
    Hit.objects.create(
        item_id=old.item_id,
        stage_id=old.stage_id,
        batch_id=extension.batch_id,
        slot=slot,
        token=Hit.token_for(old.stage.project.namespace, old.item_id, slot),
        max_assignments=extension.assignments,
        created_with=extension.assignments,
        unit_cost=old.unit_cost,
    )


def _send_expirations(batch: Batch, market: Gateway) -> int:
    assert batch.until is not None
    rows = batch.stage.hits.filter(state=Hit.State.LIVE).exclude(expires_at=batch.until).order_by("id")
    hits = list(rows[:CHUNK])
    until = batch.until
    outcomes = _each(lambda hit: _set_expiration(market, hit, until), hits)
    done = [hit.pk for hit, outcome in outcomes if not isinstance(outcome, UnreachableError)]
    Hit.objects.filter(id__in=done).update(expires_at=until)
    Batch.objects.filter(pk=batch.pk).update(done=F("done") + len(done))
    _raise_first(outcomes, UnreachableError)
    return len(hits)


def _set_expiration(market: Gateway, hit: Hit, until: datetime) -> datetime:
    with suppress(AlreadyDoneError, GoneError):
        market.set_expiration(hit.hit_id or "", until)
    return until


def _each(work: Callable[[T], R], rows: Sequence[T]) -> list[tuple[T, R | MarketplaceError]]:
    """Do the network part of each row on the account's connections; no database inside."""

    def attempt(row: T) -> R | MarketplaceError:
        try:
            return work(row)
        except MarketplaceError as error:
            return error

    with ThreadPoolExecutor(settings.MTURK_CONNECTIONS) as pool:
        return list(zip(rows, pool.map(attempt, rows), strict=True))


def _raise_first(outcomes: Sequence[tuple[object, object]], kind: type[MarketplaceError]) -> None:
    for _, outcome in outcomes:
        if isinstance(outcome, kind):
            raise outcome


def ensure_hit_type(stage: Stage, market: Gateway) -> str:
    """One HIT type a stage, made once: any differing byte would split the group that workers see."""
    if not stage.hit_type_id:
        hit_type_id = market.create_hit_type(_spec(stage, market))
        Stage.objects.filter(pk=stage.pk, hit_type_id="").update(hit_type_id=hit_type_id)
        stage.refresh_from_db(fields=["hit_type_id"])
    return stage.hit_type_id


def _spec(stage: Stage, market: Gateway) -> HitTypeSpec:
    return HitTypeSpec(
        title=stage.hit_title,
        description=stage.hit_description,
        keywords=stage.keywords,
        reward=stage.reward,
        assignment_seconds=stage.assignment_seconds,
        auto_approval_seconds=stage.auto_approval_seconds,
        requirements=tuple(_requirement(stage, given, market) for given in stage.requirements),
    )


def _requirement(stage: Stage, given: dict, market: Gateway) -> dict:
    key = given["qualification"]
    found: dict = {
        "QualificationTypeId": SYSTEM_QUALIFICATIONS.get(key) or _own_qualification(stage, key, market),
        "Comparator": given["comparator"],
        "ActionsGuarded": given.get("guards", "PreviewAndAccept"),
    }
    if given.get("integers"):
        found["IntegerValues"] = given["integers"]
    if given.get("locales"):
        found["LocaleValues"] = [{"Country": country} for country in given["locales"]]
    return found


def _own_qualification(stage: Stage, key: str, market: Gateway) -> str:
    existing = Qualification.objects.filter(project=stage.project, key=key).first()
    if existing:
        return existing.qualification_type_id
    name = f"{key.replace('-', ' ').capitalize()}: {stage.project.name} ({stage.project.namespace[:6]})"
    made = market.ensure_qualification_type(
        name, QUALIFICATIONS.get(key, f"Granted by the project {stage.project.name}.")
    )
    row, _ = Qualification.objects.get_or_create(
        project=stage.project, key=key, defaults={"qualification_type_id": made}
    )
    return row.qualification_type_id
