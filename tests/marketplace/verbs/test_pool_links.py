"""Joining by a requester's link: whom it lets in, how many, and what nobody gets by it."""

from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from marketplace.models import PoolJoin, PoolLink, Qualification, QualificationType, Requester, Worker
from marketplace.rules.errors import AlreadyDone, RequestError
from marketplace.verbs import accounts, blocks, pool_links, privacy, qualifications
from tests.marketplace.pool_addresses import HOST, signed
from tests.marketplace.verbs.test_concurrency import at_once

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def strict(settings: Any) -> None:
    """Signatures are checked, as on a server."""
    settings.MARKETPLACE_ACCEPT_ANY_KEY = False


def make_type(requester: Requester, now: datetime, name: str = "Pool students") -> QualificationType:
    return qualifications.create_type(requester, name=name, description="For our people", status="Active", now=now)


@pytest.fixture
def kind(requester: Requester, now: datetime) -> QualificationType:
    return make_type(requester, now)


@pytest.fixture
def offer(kind: QualificationType, now: datetime) -> pool_links.Offer:
    """Of a link for two people."""
    return read(signed(kind.qualification_type_id), now)


def read(query: str, now: datetime) -> pool_links.Offer:
    return pool_links.read(query, [HOST], now, now)


def held(worker: Worker, kind: QualificationType) -> tuple[int, str] | None:
    row = Qualification.objects.filter(worker=worker, type=kind).first()
    return (row.integer_value, row.status) if row else None


def test_who_joins_holds_the_qualification_with_the_value_of_the_link(
    offer: pool_links.Offer, kind: QualificationType, worker: Worker, now: datetime
) -> None:
    assert not pool_links.has_joined(offer, worker)
    pool_links.join(offer, worker, now)
    assert held(worker, kind) == (3, "Granted")
    assert pool_links.has_joined(offer, worker)
    assert list(PoolLink.objects.values_list("link_id", "uses", "used")) == [("link-of-alice", 2, 1)]


def test_a_link_lets_in_as_many_as_it_says(
    offer: pool_links.Offer, make_worker: Callable[..., Worker], now: datetime
) -> None:
    for name in ("ann", "ben"):
        pool_links.refuse_used_up(offer)
        pool_links.join(offer, make_worker(name), now)
    with pytest.raises(RequestError, match="used already"):
        pool_links.refuse_used_up(offer)
    late = make_worker("cleo")
    with pytest.raises(RequestError, match="used already"):
        pool_links.join(offer, late, now)
    assert not Qualification.objects.filter(worker=late).exists()


def test_a_second_press_uses_nothing_up(offer: pool_links.Offer, worker: Worker, now: datetime) -> None:
    pool_links.join(offer, worker, now)
    with pytest.raises(AlreadyDone):
        pool_links.join(offer, worker, now)
    assert PoolLink.objects.get().used == 1


def test_whom_the_requester_took_out_does_not_come_back_by_the_same_link(
    offer: pool_links.Offer, kind: QualificationType, requester: Requester, worker: Worker, now: datetime
) -> None:
    pool_links.join(offer, worker, now)
    qualifications.revoke(requester, kind.qualification_type_id, worker.worker_id, now)
    with pytest.raises(RequestError, match="does not take you in by this link"):
        pool_links.join(offer, worker, now)
    assert held(worker, kind) == (3, "Revoked")
    pool_links.join(read(signed(kind.qualification_type_id, LinkId="another-link", Value="4"), now), worker, now)
    assert held(worker, kind) == (4, "Granted")


def test_nobody_is_let_into_the_type_of_another_requester(kind: QualificationType, now: datetime) -> None:
    accounts.create_requester("Bob", Decimal("1.00"), now, "bob", "secret-of-bob")
    with pytest.raises(RequestError, match="no invitation"):
        read(signed(kind.qualification_type_id, key="bob", secret="secret-of-bob"), now)
    # With Alice's name and Bob's secret.
    with pytest.raises(RequestError, match="no invitation"):
        read(signed(kind.qualification_type_id, secret="secret-of-bob"), now)


def test_a_type_that_nobody_made_and_one_of_the_system_are_no_offer(requester: Requester, now: datetime) -> None:
    for type_id in ("3NOSUCHTYPE", "000000000000000000L0"):
        with pytest.raises(RequestError, match="no invitation"):
            read(signed(type_id), now)


def test_a_link_stays_with_the_type_with_which_it_was_first_used(
    offer: pool_links.Offer, requester: Requester, worker: Worker, make_worker: Callable[..., Worker], now: datetime
) -> None:
    pool_links.join(offer, worker, now)
    other = make_type(requester, now, "Another pool")
    with pytest.raises(RequestError, match="no invitation"):
        pool_links.join(read(signed(other.qualification_type_id), now), make_worker("ann"), now)
    assert not Qualification.objects.filter(type=other).exists()


def test_two_requesters_may_name_their_links_alike(offer: pool_links.Offer, worker: Worker, now: datetime) -> None:
    bob = accounts.create_requester("Bob", Decimal("1.00"), now, "bob", "secret-of-bob").requester
    kind = make_type(bob, now)
    pool_links.join(offer, worker, now)
    pool_links.join(read(signed(kind.qualification_type_id, key="bob", secret="secret-of-bob"), now), worker, now)
    assert list(PoolLink.objects.order_by("pk").values_list("used", flat=True)) == [1, 1]


def test_too_old_too_early_and_over(kind: QualificationType, now: datetime) -> None:
    type_id = kind.qualification_type_id
    with pytest.raises(RequestError, match="open for too long"):
        read(signed(type_id, at=now - timedelta(hours=1)), now)
    with pytest.raises(RequestError, match="open for too long"):
        read(signed(type_id, at=now + timedelta(minutes=20)), now)
    with pytest.raises(RequestError, match="has run out"):
        read(signed(type_id, EndsAt=f"{now - timedelta(seconds=2):%Y-%m-%dT%H:%M:%SZ}"), now)


def test_a_revoked_key_and_one_that_nobody_has_let_nobody_in(
    kind: QualificationType, requester: Requester, now: datetime
) -> None:
    query = signed(kind.qualification_type_id)
    accounts.revoke_key(requester.access_keys.get(), now)
    for one in (query, signed(kind.qualification_type_id, key="nobody", secret="x")):
        with pytest.raises(RequestError, match="no invitation"):
            read(one, now)


def test_where_the_operator_has_switched_it_off_nobody_joins(
    kind: QualificationType, settings: Any, now: datetime
) -> None:
    settings.MARKETPLACE_POOL_LINKS = False
    with pytest.raises(RequestError, match="Nobody joins by such links"):
        read(signed(kind.qualification_type_id), now)


def test_where_any_key_is_welcome_signatures_are_not_looked_at(
    kind: QualificationType, settings: Any, now: datetime
) -> None:
    settings.MARKETPLACE_ACCEPT_ANY_KEY = True
    assert read(signed(kind.qualification_type_id, secret="guessed"), now).type == kind
    with pytest.raises(RequestError, match="no invitation"):
        read(signed(kind.qualification_type_id, key="stranger"), now)


def test_a_type_that_is_out_of_use_or_deleted_takes_nobody(
    offer: pool_links.Offer, kind: QualificationType, requester: Requester, worker: Worker, now: datetime
) -> None:
    qualifications.update_type(requester, kind.qualification_type_id, now, status="Inactive")
    with pytest.raises(RequestError, match="not open any more"):
        pool_links.join(offer, worker, now)
    qualifications.delete_type(requester, kind.qualification_type_id, now)
    with pytest.raises(RequestError, match="no invitation"):
        pool_links.join(offer, worker, now)
    assert not PoolJoin.objects.exists()


def test_a_blocked_worker_is_refused_and_not_told_of_the_block(
    offer: pool_links.Offer, requester: Requester, worker: Worker, now: datetime
) -> None:
    blocks.block(requester, worker.worker_id, "Spam", now)
    with pytest.raises(RequestError) as refusal:
        pool_links.join(offer, worker, now)
    assert "block" not in refusal.value.message.lower()
    assert not Qualification.objects.filter(worker=worker).exists()


def test_a_deleted_account_joins_nothing_and_keeps_nothing_of_its_joining(
    offer: pool_links.Offer, worker: Worker, now: datetime
) -> None:
    pool_links.join(offer, worker, now)
    assert [row["name"] for row in privacy.export(worker)["joined_by_link"]] == ["Pool students"]
    privacy.erase(worker, now)
    assert not PoolJoin.objects.exists()
    with pytest.raises(RequestError, match="was deleted"):
        pool_links.join(read(signed(offer.type.qualification_type_id, LinkId="another-link"), now), worker, now)


@pytest.mark.django_db(transaction=True)
@pytest.mark.on_postgresql
def test_the_last_use_is_given_once_when_many_press_at_the_same_moment(
    offer: pool_links.Offer, make_worker: Callable[..., Worker], now: datetime
) -> None:
    people = [make_worker(f"person-{n}") for n in range(8)]
    results = at_once([lambda one=one: pool_links.join(offer, one, now) for one in people])  # type: ignore[misc]
    assert Counter(type(result) for result in results) == {type(None): 2, RequestError: 6}
    assert Qualification.objects.filter(type=offer.type, status="Granted").count() == 2
    assert list(PoolLink.objects.values_list("uses", "used")) == [(2, 2)]


@pytest.mark.django_db(transaction=True)
@pytest.mark.on_postgresql
def test_one_person_in_many_windows_uses_up_one(offer: pool_links.Offer, worker: Worker, now: datetime) -> None:
    results = at_once([lambda: pool_links.join(offer, worker, now) for _ in range(8)])
    assert Counter(type(result) for result in results) == {type(None): 1, AlreadyDone: 7}
    assert PoolLink.objects.get().used == 1
