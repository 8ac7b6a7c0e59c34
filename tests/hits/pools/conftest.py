"""Pools are tested with a project of the recipe `record`, as flows are; pages and API with one made by factories."""

from __future__ import annotations

from typing import Any

from hits.models import Pool, PoolLink
from tests.hits.api.conftest import api
from tests.hits.doing import do
from tests.hits.flow.conftest import answer, lead, project, publish, stage
from tests.hits.views.conftest import alice, client

__all__ = ["alice", "answer", "api", "client", "lead", "project", "publish", "stage"]


def make_link(pool: Pool, uses: int, days: int, user: Any, note: str = "") -> tuple[PoolLink, str]:
    """The link, and the part of its address that is a secret."""
    made = do("pools.make_link", pool, user, uses=uses, days=days, note=note)
    return made, made.link.rpartition("/join/")[2].rstrip("/")
