"""People whom a requester lets in by a link of its own: they sign up or in, and join one of its qualification types.

Security: the requester's key pair signs each address (`marketplace.rules.pool_links`), so that a requester lets people
into its own types alone. Who joins is the worker that is signed in, never one whom the address names. A link lets in as
many as it says, each of them once, also when several press the button at the same moment; whom the requester took out
again does not come back by the same link. A new account is made together with joining or not at all: a link makes no
more accounts than it lets in.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db import transaction

from marketplace.models import (
    AccessKey,
    PoolJoin,
    PoolLink,
    Qualification,
    QualificationType,
    Requester,
    Worker,
    WorkerBlock,
)
from marketplace.rules import pool_links as rules
from marketplace.rules.errors import AlreadyDone, DoesNotExist, RequestError
from marketplace.rules.sentences import Sentence
from marketplace.verbs import qualifications, workers


@dataclass(frozen=True)
class Offer:
    """What a link offers: `requester` lets up to `uses` people into `type`, with this value, until `ends_at`."""

    requester: Requester
    type: QualificationType
    link_id: str
    uses: int
    value: int
    ends_at: datetime


def read(query: str, hosts: Sequence[str], now: datetime, wall: datetime) -> Offer:
    """What the query string of an address offers; `wall` is the time on the machine's own clock.

    Raises RequestError when it is not whole, not signed by a requester of this marketplace for one of these hosts, too
    old or over, or when the type is not that requester's, and where the operator lets nobody in by links.
    """
    if not settings.MARKETPLACE_POOL_LINKS:
        raise RequestError(Sentence("Nobody joins by such links here. Ask whoever gave you the link."))
    try:
        link = rules.read(query)
    except ValueError as error:
        raise _not_whole() from error
    key = AccessKey.objects.filter(access_key_id=link.access_key_id, active=True).select_related("requester").first()
    if key is None:
        raise _not_whole()
    # As on the wire: where any key is welcome, nobody has told its secret.
    if not settings.MARKETPLACE_ACCEPT_ANY_KEY and not any(link.is_signed_with(key.secret, host) for host in hosts):
        raise _not_whole()
    if not link.is_fresh(wall):
        raise RequestError(Sentence("This page was open for too long. Open the link that you were given once more."))
    if link.ends_at <= now:
        raise RequestError(Sentence("This invitation has run out. Ask for a new one."))
    kind = _type(key.requester, link.type_id)
    return Offer(key.requester, kind, link.link_id, link.uses, link.value, link.ends_at)


def _not_whole() -> RequestError:
    return RequestError(Sentence("This link is no invitation. Look whether it was copied whole."))


def _type(requester: Requester, type_id: str, lock: bool = False) -> QualificationType:
    try:
        kind = qualifications.owned_type(requester, type_id, lock)
    except DoesNotExist as error:
        raise _not_whole() from error
    if kind.status != QualificationType.Status.ACTIVE:
        raise RequestError(Sentence("This invitation is not open any more."))
    return kind


def has_joined(offer: Offer, worker: Worker) -> bool:
    """Whether the worker holds the qualification of the link."""
    held = Qualification.objects.filter(type=offer.type, worker=worker, status=Qualification.Status.GRANTED)
    return held.exists()


def refuse_used_up(offer: Offer) -> None:
    """Raises RequestError when the link lets nobody in any more."""
    if PoolLink.objects.filter(requester=offer.requester, link_id=offer.link_id, used__gte=offer.uses).exists():
        raise _used_up()


def _used_up() -> RequestError:
    return RequestError(
        Sentence("This invitation was used already. If that was you, sign in; if not, ask for a new one.")
    )


def join(offer: Offer, worker: Worker, now: datetime) -> None:
    """Give the worker the qualification and count one use of the link, both or nothing.

    Raises AlreadyDone for somebody who holds it, RequestError when the link is used up, or let the worker in before, or
    the requester has blocked the worker, and RequestError.
    """
    with transaction.atomic():
        kind = _type(offer.requester, offer.type.qualification_type_id, lock=True)
        locked = workers.lock(worker.pk)
        if has_joined(offer, locked):
            raise AlreadyDone("The worker holds this qualification already.")
        if WorkerBlock.objects.filter(requester=offer.requester, worker=locked).exists():
            # A worker is not told of a block.
            raise RequestError(Sentence("This invitation is not open any more."))
        link = _locked(offer, kind, now)
        if link.joins.filter(worker=locked).exists():
            raise RequestError(
                Sentence("%(requester)s does not take you in by this link. Ask them.", requester=offer.requester.name)
            )
        if link.used >= offer.uses:
            raise _used_up()
        PoolJoin.objects.create(link=link, worker=locked, joined_at=now)
        link.uses, link.used = offer.uses, link.used + 1
        link.save(update_fields=["uses", "used"])
        qualifications.give(kind, locked, offer.value, now)


def _locked(offer: Offer, kind: QualificationType, now: datetime) -> PoolLink:
    """The row that counts the uses, under lock. A link belongs to the type with which it was first used."""
    mine = {"requester": offer.requester, "link_id": offer.link_id}
    PoolLink.objects.get_or_create(**mine, defaults={"type": kind, "uses": offer.uses, "created_at": now})
    link = PoolLink.objects.select_for_update(no_key=True).get(**mine)
    if link.type_id != kind.pk:
        raise _not_whole()
    return link
