"""What several rooms need from below: the account's gateway, a stage's protocol, a project's recipe."""

from __future__ import annotations

from functools import cache

from django.conf import settings

from hits import protocols, recipes
from hits.models import Project, Stage
from hits.mturk.gateway import Gateway, Limits
from hits.protocols.base import TaskProtocol


@cache
def gateway() -> Gateway:
    return Gateway(
        settings.MTURK_ENDPOINT_URL,
        region=settings.MTURK_REGION,
        redis_url=settings.REDIS_URL,
        limits=Limits(
            connections=settings.MTURK_CONNECTIONS,
            timeout_seconds=settings.MTURK_TIMEOUT_SECONDS,
            deadline_seconds=settings.MTURK_DEADLINE_SECONDS,
            calls_a_second=settings.MTURK_CALLS_A_SECOND,
            most_calls_a_second=settings.MTURK_MOST_CALLS_A_SECOND,
        ),
    )


def protocol_named(name: str) -> TaskProtocol:
    return protocols.get(name, settings.PLUGIN_ROOTS)


def protocol_of(stage: Stage) -> TaskProtocol:
    return protocol_named(stage.protocol)


def load_recipe(name: str) -> recipes.Recipe:
    return recipes.load(name, [root / "recipes" for root in settings.PLUGIN_DIRS])


def recipe_of(project: Project) -> recipes.Recipe:
    return load_recipe(project.recipe)
