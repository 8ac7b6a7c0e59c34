"""Sending: the calls of a batch, from its intent rows to the marketplace's answers.

Nothing is sent before its row is committed, every call that creates or grows something carries the row's own token,
and no call happens inside a transaction. So a crash at any point loses nothing and sends nothing twice: sending again
finds the rows that have no answer yet and asks with the same token. What repeats without a token (closing times,
deletions) is harmless to repeat.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import chain, repeat

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from hits.answers.rules.hits_to_harvest import mark_due
from hits.core.jobs.leases import Held, LeaseLostError, lease
from hits.core.jobs.outbox import CHUNK, LEASE_SECONDS, PASSING, carry_out, mark_sent, standing, why_it_waits
from hits.judging.rules.summaries import refresh_summary
from hits.models import Batch, Extension, Hit, Item, LedgerEntry, Stage
from hits.mturk.errors import (
    AlreadyDoneError,
    AlreadyExistsError,
    GoneError,
    InsufficientFundsError,
    MarketplaceError,
    NotYetError,
    RefusedError,
    WrongStateError,
)
from hits.mturk.gateway import Gateway, RemoteHit
from hits.payments.rules import answer_reserves
from hits.payments.rules.ledger import release
from hits.projects.rules.plugins import UNUSABLE
from hits.publishing.rules import hit_tokens
from hits.publishing.rules.hit_items import all_item_pks, further_keys
from hits.publishing.rules.hit_plans import clearable
from hits.publishing.rules.hit_questions import asked_by, has_own_page
from hits.publishing.rules.hit_types import ensure_hit_type
from hits.publishing.rules.marketplace_account import end_at, gateway, sentence

Outcome = RemoteHit | MarketplaceError

WAITING = [Hit.State.PLANNED, Hit.State.SENT]
# What these make has intent rows of its own; the others work through the stage's HITs.
PLANNED_KINDS = (Batch.Kind.FIRST, Batch.Kind.AGAIN)
NOT_WANTED = "no longer wanted"
CLOSING = (Batch.Kind.EXPIRE, Batch.Kind.EXTEND)


def send(batch_pk: int) -> int:
    """Make the calls of a batch that have no outcome yet; returns how many it settled.

    Stops early when the batch is paused, and waits (state "waiting") when the marketplace does not answer or its
    account lacks the money; calling it again goes on. Another process at the same batch makes it return 0.
    """
    with lease(f"batch:{batch_pk}", seconds=LEASE_SECONDS) as held:
        if held is None:
            return 0
        batch = Batch.objects.select_related("stage__project__account").get(pk=batch_pk)
        if batch.state in (Batch.State.PAUSED, Batch.State.PUBLISHED):
            return 0
        try:
            return _send_all(batch, gateway(), held)
        except PASSING as error:
            return _stop(batch, Batch.State.WAITING, why_it_waits(error))
        except GoneError as error:
            return _stop(batch, Batch.State.WAITING, f"{sentence(error)} It is asked for again by itself.")
        except RefusedError as error:
            # Of the whole batch, for instance its HIT type: asking again would give the same.
            return _stop(batch, Batch.State.PAUSED, f"{sentence(error)} Press Resume to try again.")
        except UNUSABLE as error:
            return _stop(batch, Batch.State.WAITING, str(error))
        except LeaseLostError:
            return 0
        finally:
            if Batch.objects.filter(pk=batch.pk).exclude(done=batch.done).exists():
                refresh_summary(batch.stage)


def _send_all(batch: Batch, market: Gateway, held: Held) -> int:
    works: list[Callable[[Batch, Gateway, Held, Iterator[int]], Iterator[int]]]
    if batch.kind in CLOSING:
        works = [_send_expirations]
    elif batch.kind == Batch.Kind.DELETE:
        works = [_send_deletions]
    else:
        ensure_hit_type(batch.stage, market)
        works = [_send_extensions, _send_hits]
    # After a wait one call tells whether the marketplace takes the rest.
    sizes = chain([1] if batch.state == Batch.State.WAITING else [], repeat(CHUNK))
    settled = sum(count for work in works for count in work(batch, market, held, sizes))
    planned = batch.extensions.filter(state=Extension.State.PLANNED)
    waiting = batch.hits.filter(state__in=WAITING)
    # A pause that came with the last call has nothing left to stop.
    if _may_go_on(batch) or (batch.kind in PLANNED_KINDS and not planned.exists() and not waiting.exists()):
        with transaction.atomic():
            # Whoever waits for the end of the batch reads the figures next.
            refresh_summary(batch.stage)
            Batch.objects.filter(pk=batch.pk, finished_at=None).update(
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


def _stop(batch: Batch, state: Batch.State, message: str) -> int:
    """A pause by the lead stays a pause."""
    going = Batch.objects.filter(pk=batch.pk, state__in=[Batch.State.PUBLISHING, Batch.State.WAITING])
    going.update(state=state, message=message)
    return 0


def _refusals(batch: Batch) -> str:
    """What the marketplace said to the first row that it refused; empty when it refused none."""
    refused: Iterable[str | None] = (
        batch.hits.filter(state=Hit.State.REFUSED).exclude(error="").values_list("error", flat=True).first(),
        batch.extensions.filter(state=Extension.State.REFUSED).values_list("error", flat=True).first(),
    )
    return next((text for text in refused if text), "")


# New HITs


def _send_hits(batch: Batch, market: Gateway, held: Held, sizes: Iterator[int]) -> Iterator[int]:
    stage = batch.stage
    ask = asked_by(stage)
    annotations: dict[int, str] = {}

    def rows() -> list[Hit]:
        hits = _next_hits(batch, market, sizes)
        # By its annotation a HIT is found again with all its items.
        annotations.clear()
        further = further_keys([hit.pk for hit in hits if hit.item_count > 1])
        for hit in hits:
            marks = [hit_tokens.mark(stage.key, key) for key in further.get(hit.pk, ())]
            annotations[hit.pk] = hit_tokens.annotation(hit.token, marks)
        return hits

    return carry_out(
        market,
        held,
        rows=rows,
        call=lambda hit: _create(hit, stage, market, ask, annotations[hit.pk]),
        record=lambda outcomes: _record_hits(batch, outcomes),
        stop_at=PASSING,
    )


def _next_hits(batch: Batch, market: Gateway, sizes: Iterator[int]) -> list[Hit]:
    """The next HITs to be made, marked as sent; those that are there already or that nobody wants are passed over."""
    waiting = batch.hits.filter(state__in=WAITING).order_by("id")
    if has_own_page(batch.stage):
        waiting = waiting.select_related("item__document")
    while _may_go_on(batch):
        planned = list(waiting[: next(sizes)])
        dropped = _drop_unwanted_hits(batch, planned)
        hits = [hit for hit in planned if hit.pk not in dropped]
        _adopt_old(batch, hits, market)
        unknown = [hit for hit in hits if hit.hit_id is None]
        mark_sent(Hit.objects.filter(id__in=[hit.pk for hit in unknown]), state=Hit.State.SENT)
        if unknown or not planned:
            return unknown
    return []


def _drop_unwanted_hits(batch: Batch, hits: Sequence[Hit]) -> set[int]:
    """Those that were never asked for and that nobody wants any more are not made; their money is released."""
    dropped = {hit.pk: hit for hit in hits if hit.unwanted and hit.attempted_at is None}
    if dropped:
        with transaction.atomic():
            Hit.objects.filter(pk__in=dropped, state=Hit.State.PLANNED).update(state=Hit.State.CLOSED)
            entries = [release(hit, hit.max_assignments, NOT_WANTED) for hit in dropped.values()]
            batch.stage.project.account.post(entries)
            Item.objects.filter(pk__in=all_item_pks(dropped.values())).update(stale=True)
            Batch.objects.filter(pk=batch.pk).update(done=F("done") + len(dropped))
    return set(dropped)


def _create(hit: Hit, stage: Stage, market: Gateway, ask: Callable[[Hit], str], annotation: str) -> RemoteHit:
    try:
        return market.create_hit(
            stage.hit_type_id,
            question=ask(hit),
            max_assignments=hit.max_assignments,
            lifetime_seconds=stage.lifetime_seconds,
            token=hit.token,
            annotation=annotation,
        )
    except AlreadyExistsError as error:
        if error.hit_id is None:
            raise
        return _adopted(hit, error.hit_id, market)


def _adopted(hit: Hit, hit_id: str, market: Gateway) -> RemoteHit:
    try:
        found = market.hit(hit_id)
    except GoneError as error:
        # Its own creation said that it is there: reads lag behind.
        raise NotYetError(str(error)) from error
    if found.annotation != hit.token:
        raise RefusedError("TokenCollision", f"The token {hit.token} belongs to another HIT.")
    return found


def _adopt_old(batch: Batch, hits: Sequence[Hit], market: Gateway) -> None:
    """Rows asked longer ago than tokens live are looked for by their annotation before asking again."""
    old = {hit.token: hit for hit in hits if hit.outlives_its_token}
    if old:
        found = [(old[remote.annotation], remote) for remote in market.all_hits() if remote.annotation in old]
        _record_hits(batch, found)


def _record_hits(batch: Batch, outcomes: Sequence[tuple[Hit, Outcome]]) -> int:
    known = [(hit, outcome) for hit, outcome in outcomes if not isinstance(outcome, PASSING)]
    unpaid = [hit.pk for hit, outcome in outcomes if isinstance(outcome, InsufficientFundsError)]
    with transaction.atomic():
        # A definite no to a living token: nothing was made, and nothing has to be looked for later.
        Hit.objects.filter(id__in=unpaid, state=Hit.State.SENT).update(state=Hit.State.PLANNED, attempted_at=None)
        waiting = standing(Hit.objects.filter(state__in=WAITING), [hit.pk for hit, _ in known])
        changed = [_outcome(hit, outcome) for hit, outcome in known if hit.pk in waiting]
        Hit.objects.bulk_update(changed, ["hit_id", "expires_at", "state", "error"], batch_size=500)
        _give_back(batch, [hit for hit in changed if hit.state == Hit.State.REFUSED])
        Batch.objects.filter(pk=batch.pk).update(done=F("done") + len(changed))
    return len(changed)


def _outcome(hit: Hit, outcome: Outcome) -> Hit:
    if isinstance(outcome, RemoteHit):
        hit.hit_id, hit.expires_at, hit.state = outcome.hit_id, outcome.expires_at, Hit.State.LIVE
    else:
        hit.error, hit.state = str(outcome), Hit.State.REFUSED
    return hit


def _give_back(batch: Batch, refused: Sequence[Hit]) -> None:
    if not refused:
        return
    asked = all_item_pks(refused)
    Item.objects.filter(id__in=asked).exclude(state=Item.State.CHECK).update(state=Item.State.NEW)
    answer_reserves.release(batch.stage, asked)
    batch.stage.project.account.post(release(hit, hit.max_assignments, "refused") for hit in refused)
    Batch.objects.filter(pk=batch.pk).update(refused=F("refused") + len(refused))


# More places on HITs that are there


def _send_extensions(batch: Batch, market: Gateway, held: Held, sizes: Iterator[int]) -> Iterator[int]:
    lifetime = timedelta(seconds=batch.stage.lifetime_seconds)
    return carry_out(
        market,
        held,
        rows=lambda: _next_extensions(batch, sizes),
        call=lambda row: _extend(row, lifetime, market),
        record=lambda outcomes: sum(_record_extension(batch, row, outcome) for row, outcome in outcomes),
        stop_at=PASSING,
    )


def _next_extensions(batch: Batch, sizes: Iterator[int]) -> list[Extension]:
    """The next ones, marked as sent; those that nobody wants are passed over."""
    while _may_go_on(batch):
        planned = batch.extensions.filter(state=Extension.State.PLANNED).select_related("hit")
        some = list(planned.order_by("id")[: next(sizes)])
        dropped = {row.pk for row in some if row.hit.unwanted and row.attempted_at is None}
        for row in some:
            if row.pk in dropped:
                _drop_unwanted_extension(batch, row)
        wanted = [row for row in some if row.pk not in dropped]
        mark_sent(Extension.objects.filter(id__in=[row.pk for row in wanted]))
        if wanted or not some:
            return wanted
    return []


def _drop_unwanted_extension(batch: Batch, extension: Extension) -> None:
    planned = Extension.objects.filter(pk=extension.pk, state=Extension.State.PLANNED)
    with transaction.atomic():
        if planned.update(state=Extension.State.DROPPED):
            _release_places(batch, extension, NOT_WANTED)
            Batch.objects.filter(pk=batch.pk).update(done=F("done") + 1)


def _extend(extension: Extension, lifetime: timedelta, market: Gateway) -> datetime:
    """Open the HIT first, then add to it: the other way round it could close in between. Returns its closing time."""
    hit = extension.hit
    expires = hit.expires_at
    until = (timezone.now() + lifetime).replace(microsecond=0)
    if expires is None or expires < until - lifetime / 2:
        with suppress(AlreadyDoneError):
            market.set_expiration(hit.hit_id or "", until)
        expires = until
    if extension.assignments and not (extension.outlives_its_token and _has_grown(extension, market)):
        with suppress(AlreadyDoneError):
            market.add_assignments(hit.hit_id or "", extension.assignments, extension.token)
    return expires


def _has_grown(extension: Extension, market: Gateway) -> bool:
    """Asked longer ago than tokens live: the number of its places tells whether it was carried out.

    A HIT has one planned extension at most, so that nothing else can have made it grow.
    """
    there = market.hit(extension.hit.hit_id or "").max_assignments
    return there >= extension.hit.max_assignments + extension.assignments


def _record_extension(batch: Batch, extension: Extension, outcome: datetime | MarketplaceError) -> int:
    if isinstance(outcome, PASSING):
        return 0
    planned = Extension.objects.filter(pk=extension.pk, state=Extension.State.PLANNED)
    with transaction.atomic():
        if isinstance(outcome, datetime):
            settled = planned.update(state=Extension.State.DONE)
            if settled:
                _reopen(extension, outcome)
                Batch.objects.filter(pk=batch.pk).update(done=F("done") + 1)
        else:
            settled = planned.update(state=Extension.State.REFUSED, error=str(outcome))
            if settled:
                # For instance because the HIT is gone: its item is looked at again and gets a new one.
                _release_places(batch, extension, "the HIT could not be opened again")
                Batch.objects.filter(pk=batch.pk).update(done=F("done") + 1, refused=F("refused") + 1)
    return settled


def _reopen(extension: Extension, expires: datetime) -> None:
    Hit.objects.filter(pk=extension.hit_id).update(
        max_assignments=F("max_assignments") + extension.assignments,
        expires_at=expires,
        state=Hit.State.LIVE,
        closed_early=False,
        short_since=None,
        error="",
    )


def _release_places(batch: Batch, extension: Extension, note: str) -> None:
    hit = extension.hit
    unused = LedgerEntry(
        stage_id=hit.stage_id,
        kind=LedgerEntry.Kind.RELEASE,
        reserved=-hit.unit_cost * extension.places,
        batch=batch,
        note=note,
    )
    batch.stage.project.account.post([unused])
    Item.objects.filter(pk__in=all_item_pks([hit])).update(stale=True)


# Closing times and deletions


def _send_expirations(batch: Batch, market: Gateway, held: Held, sizes: Iterator[int]) -> Iterator[int]:
    assert batch.until is not None
    until, early = batch.until, batch.kind == Batch.Kind.EXPIRE
    # A HIT that was published meanwhile may close later than that: extending the others does not shorten it.
    there = Q(expires_at=until) if early else Q(expires_at__gte=until) | Q(unwanted=True)
    others = batch.stage.hits.filter(state=Hit.State.LIVE).exclude(there).order_by("id")

    def record(outcomes: Sequence[tuple[Hit, datetime | MarketplaceError]]) -> int:
        done = [hit.pk for hit, outcome in outcomes if not isinstance(outcome, PASSING)]
        # Counted once, also where a process whose lease ran out records the same. What was seen of the HIT's end before
        # says nothing about the new one.
        moved = Hit.objects.filter(id__in=done).exclude(there)
        new = moved.update(expires_at=until, closed_early=early, short_since=None)
        Batch.objects.filter(pk=batch.pk).update(done=F("done") + new)
        return new

    return carry_out(
        market,
        held,
        rows=lambda: list(others[: next(sizes)]) if _may_go_on(batch) else [],
        call=lambda hit: end_at(market, hit, until),
        record=record,
        stop_at=PASSING,
    )


def _send_deletions(batch: Batch, market: Gateway, held: Held, sizes: Iterator[int]) -> Iterator[int]:
    deletable = clearable(batch.stage).order_by("id")
    return carry_out(
        market,
        held,
        rows=lambda: list(deletable[: next(sizes)]) if _may_go_on(batch) else [],
        call=lambda hit: _delete(market, hit),
        record=lambda outcomes: _record_deletions(batch, outcomes),
        stop_at=PASSING,
    )


def _record_deletions(batch: Batch, outcomes: Sequence[tuple[Hit, bool | MarketplaceError]]) -> int:
    deleted = [hit.pk for hit, outcome in outcomes if outcome is True]
    kept = [hit.pk for hit, outcome in outcomes if isinstance(outcome, RefusedError)]
    # Counted once, also where a process whose lease ran out records the same.
    gone = Hit.objects.filter(id__in=deleted, deleted_at=None).update(deleted_at=timezone.now())
    # Something waits there that is not known here: it is fetched, and a later deletion takes the HIT.
    refused = mark_due(Hit.objects.filter(id__in=kept, due_at=None))
    Batch.objects.filter(pk=batch.pk).update(done=F("done") + gone + refused, refused=F("refused") + refused)
    return gone + refused


def _delete(market: Gateway, hit: Hit) -> bool:
    """True once it is gone. Raises RefusedError while an answer waits there."""
    try:
        market.delete_hit(hit.hit_id or "")
    except GoneError:
        return True
    except WrongStateError as error:
        if "'Disposed'" not in error.message:
            raise
    return True
