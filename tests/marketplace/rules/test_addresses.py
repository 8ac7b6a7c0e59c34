import pytest

from marketplace.rules.addresses import email_key


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
