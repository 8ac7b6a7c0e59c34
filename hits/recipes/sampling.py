"""Samples that depend on a seed and on nothing else: neither on the order of the keys nor on the other ones."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b


def sample(keys: Iterable[str], count: int, seed: str) -> list[str]:
    """At most `count` of the keys, in an order of their own.

    A larger sample holds the smaller one, and a key that comes later moves at most one other out.
    """

    def place(key: str) -> bytes:
        return blake2b(f"{seed} {key}".encode("utf-8", "surrogatepass"), digest_size=16).digest()

    return sorted(keys, key=place)[: max(0, count)]
