"""What the address of a pool's link says, and whether it is signed. botocore signs here."""

from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl, urlencode

import pytest

from marketplace.rules import pool_links as rules
from tests.marketplace.pool_addresses import HOST, signed

SECRET = "secret-of-alice"
TYPE = "3ABCDEFGHIJK"
AT = datetime(2026, 11, 26, 12, 0, 0, tzinfo=UTC)


def test_what_a_requester_signed_is_read_and_believed() -> None:
    link = rules.read(signed(TYPE, at=AT, Uses="40", LinkId="0123abcd", EndsAt="2026-12-01T08:00:00Z"))
    assert (link.access_key_id, link.type_id, link.link_id, link.uses, link.value) == ("alice", TYPE, "0123abcd", 40, 3)
    assert (link.ends_at, link.signed_at) == (datetime(2026, 12, 1, 8, tzinfo=UTC), AT)
    assert link.is_signed_with(SECRET, HOST)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("QualificationTypeId", "3OTHER"),
        ("LinkId", "another-link"),
        ("Uses", "999"),
        ("Value", "100"),
        ("EndsAt", "2036-12-01T08:00:00Z"),
        ("X-Amz-Date", "20261126T120100Z"),
        ("X-Amz-Expires", "86400"),
        ("X-Amz-Credential", "bob/20261126/us-east-1/mturk-requester/aws4_request"),
        ("WorkerId", "A1SOMEBODYELSE"),
    ],
)
def test_a_change_of_anything_breaks_the_signature(name: str, value: str) -> None:
    changed = urlencode(dict(parse_qsl(signed(TYPE, at=AT))) | {name: value})
    assert not rules.read(changed).is_signed_with(SECRET, HOST)


def test_another_secret_another_host_and_another_signature_are_not_believed() -> None:
    link = rules.read(signed(TYPE))
    assert not link.is_signed_with("secret-of-bob", HOST)
    assert not link.is_signed_with(SECRET, "crowd.example.org")
    assert rules.read(signed(TYPE, host="crowd.example.org:8443")).is_signed_with(SECRET, "crowd.example.org:8443")


@pytest.mark.parametrize(
    "query",
    [
        "",
        "Uses=1",
        "%zz",
        signed(TYPE) + "&Uses=9",
        signed(TYPE) + "&" + "a" * 5000 + "=1",
        "&".join(f"p{n}=1" for n in range(50)),
        signed(TYPE, Uses="0"),
        signed(TYPE, Uses="99999"),
        signed(TYPE, Uses="-1"),
        signed(TYPE, Uses="١"),
        signed(TYPE, Value="0"),
        signed(TYPE, LinkId="x"),
        signed(TYPE, LinkId="a" * 65),
        signed("../../x"),
        signed(TYPE, EndsAt="2026-13-41T08:00:00Z"),
        signed(TYPE, EndsAt="soon"),
        signed(TYPE, region="eu-west-1"),
        signed(TYPE).replace("X-Amz-Algorithm=AWS4-HMAC-SHA256", "X-Amz-Algorithm=none"),
        signed(TYPE).partition("&X-Amz-Signature")[0],
    ],
)
def test_what_is_no_such_address_is_not_read(query: str) -> None:
    with pytest.raises(ValueError):
        rules.read(query)


def test_an_address_is_good_for_as_long_as_it_says_and_an_hour_at_most() -> None:
    short = rules.read(signed(TYPE, at=AT, expires=60))
    long = rules.read(signed(TYPE, at=AT, expires=100_000))
    assert [short.is_fresh(AT + timedelta(seconds=s)) for s in (0, 59, 60)] == [True, True, False]
    assert [long.is_fresh(AT + timedelta(minutes=m)) for m in (59, 60)] == [True, False]
    assert [long.is_fresh(AT - timedelta(minutes=m)) for m in (15, 16)] == [True, False]
