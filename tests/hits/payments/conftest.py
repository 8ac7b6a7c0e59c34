"""Payments are tested with projects made by factories, by API and on pages."""

from __future__ import annotations

from tests.hits.api.conftest import api, project
from tests.hits.views.conftest import alice, bob, client, world

__all__ = ["alice", "api", "bob", "client", "project", "world"]
