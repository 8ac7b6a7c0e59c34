"""Alice owns the project, Bob is an outsider with a project of his own; both sign in by token."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.authtoken.models import Token
from rest_framework.test import APIClient

from hits.models import Project, Stage
from tests.hits import factories


def signed_in(user: Any) -> APIClient:
    """A client that sends the user's token, as a script does."""
    token, _ = Token.objects.get_or_create(user=user)
    return APIClient(headers={"Authorization": f"Token {token.key}"})


@pytest.fixture
def alice(db: None) -> Any:
    return factories.user("alice")


@pytest.fixture
def bob(db: None) -> Any:
    return factories.user("bob")


@pytest.fixture
def api(alice: Any) -> APIClient:
    return signed_in(alice)


@pytest.fixture
def project(alice: Any) -> Project:
    return factories.project(
        owner=alice, name="River news", slug="river", namespace="river", options={"eval_share": 0.0}
    )


@pytest.fixture
def stage(project: Project) -> Stage:
    rule = {"name": "matches_reference", "version": 1, "params": {"need": 1, "answers": 1}}
    return factories.stage(project, key="validate", rule=rule, quality=dict(min_answers=20, check_every=1000))


HOME = "/api/projects/river/"
STAGE = HOME + "stages/validate/"
