"""A client that calls the API with a token of Alice, and a project of hers that was made without a recipe's verbs."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from hits.accounts.verbs.api_tokens import make_token
from hits.models import ApiToken, Project, Stage
from tests.hits import factories


def signed_in(user: Any, scope: str = "pay") -> APIClient:
    """A client that sends a token of the user, as a script does."""
    row, token = make_token(user, "tests", scope)
    # Its use is noted at the first call, and tests count the queries of calls.
    ApiToken.objects.filter(pk=row.pk).update(last_used_at=timezone.now())
    return APIClient(headers={"Authorization": f"Token {token}"})


def logged(project: Project) -> list[str]:
    """The verbs of its action log, in the order in which they were done."""
    return list(project.actions.order_by("id").values_list("verb", flat=True))


@pytest.fixture
def api(alice: Any) -> APIClient:
    return signed_in(alice)


@pytest.fixture
def river(alice: Any) -> Project:
    return factories.project(
        owner=alice, name="River news", slug="river", namespace="river", options={"eval_share": 0.0}
    )


@pytest.fixture
def river_stage(river: Project) -> Stage:
    rule = {"name": "matches_reference", "version": 1, "params": {"need": 1, "answers": 1}}
    return factories.stage(
        river,
        key="validate",
        rule=rule,
        quality=dict(min_answers=20, check_every=1000),
        # Workers of these tests answer at once.
        settings={"min_seconds": 0},
    )


HOME = "/api/projects/river/"
STAGE = HOME + "stages/validate/"
