from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marketplace.rules import attempts
from marketplace.rules.addresses import client_address, email_key, network
from marketplace.rules.attempts import Patience

KINDS = [kind for kind in vars(attempts).values() if isinstance(kind, Patience)]


@given(st.sampled_from(KINDS), st.integers(1, 5000))
def test_pauses_only_grow_and_stay_under_their_limit(kind: Patience, count: int) -> None:
    assert timedelta() <= kind.pause(count) <= kind.pause(count + 1) <= timedelta(seconds=kind.longest)
    assert (kind.pause(count) == timedelta()) == (count < kind.free)


def test_a_thousand_guesses_take_ten_days_from_one_place_and_most_of_a_day_from_many() -> None:
    def waiting(kind: Patience) -> timedelta:
        return sum((kind.pause(count) for count in range(1, 1000)), timedelta())

    assert waiting(attempts.SIGN_IN) > timedelta(days=10)
    assert waiting(attempts.SIGN_IN_AS_NAME) > timedelta(hours=16)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Nina@Example.org", " nina@example.ORG", True),
        ("nina+work@example.org", "nina@example.org", True),
        ("nina@example.org", "nina@example.com", False),
        ("+@example.org", "x@example.org", False),
    ],
)
def test_addresses_of_one_mailbox_are_one(one: str, other: str, same: bool) -> None:
    assert (email_key(one) == email_key(other)) is same


def test_a_household_is_one_network() -> None:
    assert network("2001:db8:1:2::5") == network("2001:db8:1:2:ffff::1") != network("2001:db8:1:3::5")
    assert network("::ffff:192.0.2.7") == network("192.0.2.7") != network("192.0.2.8")
    assert network("unknown") == "unknown"


@pytest.mark.parametrize(
    ("forwarded", "proxies", "address"),
    [
        (["6.6.6.6", "192.0.2.7"], 0, "10.0.0.1"),
        (["6.6.6.6", "192.0.2.7"], 1, "192.0.2.7"),
        (["192.0.2.7", "10.0.0.2"], 2, "192.0.2.7"),
        ([], 1, "10.0.0.1"),
        (["192.0.2.7"], 9, "192.0.2.7"),
    ],
)
def test_what_a_visitor_writes_itself_counts_for_nothing(forwarded: list[str], proxies: int, address: str) -> None:
    assert client_address("10.0.0.1", forwarded, proxies) == address
