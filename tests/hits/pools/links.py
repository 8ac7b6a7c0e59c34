"""Links by which workers join a pool, as a lead makes them."""

from __future__ import annotations

from typing import Any

from hits.models import Pool, PoolLink
from tests.hits.doing import do


def make_link(pool: Pool, uses: int, days: int, user: Any, note: str = "") -> tuple[PoolLink, str]:
    """The link, and the part of its address that is a secret."""
    made = do("pools.make_link", pool, user, uses=uses, days=days, note=note)
    return made, made.link.rpartition("/join/")[2].rstrip("/")
