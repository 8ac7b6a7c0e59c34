"""Invitations, signing up, addresses and attempts, one person at a time and many at once."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from common.patience import SIGN_IN, Patience
from common.tries import Tried
from marketplace.models import Invitation, Letter, Qualification, Requester, Worker
from marketplace.rules.errors import (
    AlreadyDone,
    EmailTaken,
    MarketplaceError,
    ParameterValidationError,
    RequestError,
    TooManyAttempts,
)
from marketplace.verbs import access, attempts, qualifications
from tests.marketplace.verbs.test_concurrency import at_once

pytestmark = pytest.mark.on_postgresql


def join(name: str, now: datetime, invitation: Invitation | None = None, email: str = "") -> Worker:
    return access.sign_up(name, "long-enough-7", email=email, country="CA", now=now, invitation=invitation)


@pytest.mark.django_db
def test_an_invitation_serves_as_often_as_it_says(now: datetime) -> None:
    invitation = access.invite(now=now, uses=2)
    join("nina", now, invitation)
    join("nora", now, access.open_invitation(invitation.token, now))
    with pytest.raises(RequestError, match="used already"):
        access.open_invitation(invitation.token, now)
    with pytest.raises(RequestError, match="used already"):
        join("nell", now, invitation)
    assert Worker.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_of_many_at_once_only_as_many_join_as_are_invited(now: datetime) -> None:
    invitation = access.invite(now=now, uses=3)
    done = at_once([lambda n=n: join(f"nina{n}", now, invitation) for n in range(8)])  # type: ignore[misc]
    assert sum(isinstance(each, Worker) for each in done) == Worker.objects.count() == 3
    assert Invitation.objects.get().used == 3


@pytest.mark.django_db
def test_an_invitation_that_is_over_says_why(now: datetime) -> None:
    over = access.invite(now=now, expires_at=now + timedelta(days=1))
    with pytest.raises(RequestError, match="run out"):
        access.open_invitation(over.token, now + timedelta(days=1))
    access.revoke_invitation(over, now)
    with pytest.raises(RequestError, match="withdrawn"):
        access.open_invitation(over.token, now)
    with pytest.raises(AlreadyDone):
        access.revoke_invitation(over, now)
    for token in ("no-such-token", "a\x00b"):
        with pytest.raises(RequestError, match="no invitation"):
            access.open_invitation(token, now)


@pytest.mark.django_db
def test_an_invitation_for_one_address_takes_no_other(now: datetime) -> None:
    invitation = access.invite(now=now, email="nina@example.org")
    for email in ("", "olga@example.org"):
        with pytest.raises(RequestError, match="another e-mail address"):
            join("olga", now, invitation, email)
    assert join("nina", now, invitation, "Nina@Example.org").email_key == "nina@example.org"


@pytest.mark.django_db
@pytest.mark.parametrize(
    "wrong",
    [{"email": "nobody"}, {"uses": 0}, {"email": "a@example.org", "uses": 2}, {"note": "x" * 201}],
)
def test_an_invitation_that_cannot_be_meant_is_refused(now: datetime, wrong: dict[str, Any]) -> None:
    with pytest.raises(ParameterValidationError):
        access.invite(now=now, **wrong)
    with pytest.raises(ParameterValidationError):
        access.invite(now=now, expires_at=now)
    assert not Invitation.objects.exists()


def test_joining_grants_what_the_invitation_promises(requester: Requester, now: datetime) -> None:
    kind = qualifications.create_type(requester, name="Trained", description="x", status="Active", now=now)
    worker = join("nina", now, access.invite(now=now, qualification_type=kind, value=80))
    assert Qualification.objects.get(worker=worker, type=kind).integer_value == 80


def test_a_qualification_that_was_deleted_since_keeps_nobody_from_joining(
    requester: Requester, make_hit_type: Any, make_hit: Any, now: datetime
) -> None:
    kind = qualifications.create_type(requester, name="Trained", description="x", status="Active", now=now)
    invitation = access.invite(now=now, qualification_type=kind)
    needs = [{"QualificationTypeId": kind.qualification_type_id, "Comparator": "Exists", "ActionsGuarded": "Accept"}]
    make_hit(make_hit_type(requirements=needs))
    # While a HIT requires it, its row stays.
    qualifications.delete_type(requester, kind.qualification_type_id, now)
    assert join("nina", now, Invitation.objects.get(pk=invitation.pk)).qualifications.count() == 0


@pytest.mark.django_db(transaction=True)
def test_one_address_has_one_account_however_many_try_at_once(now: datetime) -> None:
    emails = ["nina@example.org", "NINA@example.org", "nina+2@example.org", "Nina@Example.Org"]
    done = at_once([lambda n=n, e=e: join(f"nina{n}", now, email=e) for n, e in enumerate(emails)])  # type: ignore[misc]
    assert sorted(type(each).__name__ for each in done) == ["EmailTaken"] * 3 + ["Worker"]
    assert Worker.objects.count() == 1


@pytest.mark.django_db
def test_a_new_address_counts_once_its_link_was_opened(settings: Any, now: datetime) -> None:
    settings.MARKETPLACE_MAIL = True
    worker = join("nina", now, email="old@example.org")
    old_link = access.confirmation_link(worker, "old@example.org", now).rsplit("/", 2)[1]
    access.confirm(old_link, now)
    assert not access.change_email(worker, "new@example.org", now)
    worker.user.refresh_from_db()
    assert worker.user.email == "old@example.org"
    new_link = access.confirmation_link(worker, "new@example.org", now).rsplit("/", 2)[1]
    assert access.confirm(new_link, now).user.email == "new@example.org"
    assert access.confirm(new_link, now).email_key == "new@example.org"
    with pytest.raises(MarketplaceError, match="run out"):
        access.confirm(new_link, now + timedelta(days=3))
    with pytest.raises(MarketplaceError, match="changed since"):
        access.confirm(old_link, now)


@pytest.mark.django_db
def test_an_address_that_another_got_first_is_not_given_twice(settings: Any, now: datetime) -> None:
    settings.MARKETPLACE_MAIL = True
    nina = join("nina", now, email="nina@example.org")
    link = access.confirmation_link(nina, "shared@example.org", now).rsplit("/", 2)[1]
    join("olga", now, email="shared@example.org")
    with pytest.raises(EmailTaken):
        access.confirm(link, now)
    with pytest.raises(EmailTaken):
        access.change_email(nina, "Shared@example.org", now)
    assert Worker.objects.get(pk=nina.pk).email_key == "nina@example.org"


@pytest.mark.django_db
def test_a_letter_for_a_lost_password_goes_to_the_address_of_the_account_only(now: datetime) -> None:
    join("nina", now, email="nina@example.org")
    for asked in ("nobody@example.org", "NINA+x@example.org"):
        access.send_reset_link(asked, now)
    assert Letter.objects.get().address == "nina@example.org"


@pytest.mark.django_db
def test_tries_are_free_then_slower_and_forgotten_after_a_day(now: datetime) -> None:
    tries = {Tried("test", "nina"): Patience(free=2, first=10, longest=30)}
    attempts.count(tries, now)
    attempts.count(tries, now)
    with pytest.raises(TooManyAttempts) as refusal:
        attempts.count(tries, now + timedelta(seconds=9))
    assert refusal.value.until == now + timedelta(seconds=10)
    attempts.count(tries, now + timedelta(seconds=10))
    with pytest.raises(TooManyAttempts):
        attempts.count(tries, now + timedelta(seconds=29))
    attempts.count(tries, now + timedelta(days=2))
    attempts.count(tries, now + timedelta(days=2))
    assert attempts.forget(now + timedelta(days=2)) == 0
    assert attempts.forget(now + timedelta(days=3, seconds=1)) == 1


@pytest.mark.django_db
def test_a_free_try_whose_clock_was_read_before_that_of_another_is_free(now: datetime) -> None:
    """As in an office where many sign in at once: they share an address."""
    tries = {Tried("test", "192.0.2.7"): Patience(free=3, first=10, longest=30)}
    attempts.count(tries, now)
    attempts.count(tries, now - timedelta(milliseconds=5))


@pytest.mark.django_db(transaction=True)
def test_guesses_at_the_same_moment_are_all_counted(now: datetime) -> None:
    tries = {Tried("sign in", "nina"): SIGN_IN, Tried("sign in from", "192.0.2.7"): SIGN_IN}
    done = at_once([lambda: attempts.count(tries, now)] * 12)
    assert sum(each is None for each in done) == SIGN_IN.free
