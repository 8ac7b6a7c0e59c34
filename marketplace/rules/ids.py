"""Identifiers in the form that clients know: 30 characters from `3`, workers from `A`."""

import secrets

_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


def _random(length: int) -> str:
    return "".join(secrets.choice(_ALPHABET) for _ in range(length))


def entity_id() -> str:
    """A new id for a HIT, HIT type, assignment or qualification type (about 150 random bits)."""
    return "3" + _random(29)


def customer_id() -> str:
    """A new id for a worker or requester."""
    return "A" + _random(13)
