"""Who may call what, over the whole table of addresses: a new route is tested by being there.

One test asks all routes about one project: to make it takes many times as long as an answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, reverse
from rest_framework.test import APIClient

from hits.accounts.verbs.api_tokens import make_token
from hits.api.base import ProjectView
from hits.api.urls import urlpatterns
from hits.core.api import DeclaredView
from hits.model_assist.api.models import ModelView
from hits.models import Blob, ChangeSet, LeadSession, Project, Stage
from tests.hits import factories
from tests.hits.api_calls import signed_in
from tests.hits.protocols import articles, phrases
from tests.hits.text.triples import article

OPEN_TO_ALL = {("token", "post"), ("schema", "get"), ("docs", "get")}
METHODS = ("get", "post", "put", "patch", "delete")


def routes() -> Iterator[tuple[URLPattern, str]]:
    """Every address with every method that it answers; what is declared has tests/hits/core/test_contract.py."""
    for route in urlpatterns:
        view = route.callback.view_class
        if issubclass(view, DeclaredView):
            continue
        for method in METHODS:
            if route.name != "nowhere" and hasattr(view, method):
                yield route, method


# A model's token alone opens these; see test_models_that_answer.py.
MODEL_ROUTES = [(route, method) for route, method in routes() if issubclass(route.callback.view_class, ModelView)]
GUARDED = [
    (route, method)
    for route, method in routes()
    if (route.name, method) not in OPEN_TO_ALL and (route, method) not in MODEL_ROUTES
]
OWNED = [(route, method) for route, method in GUARDED if issubclass(route.callback.view_class, ProjectView)]


Pairs = Sequence[tuple[URLPattern, str]]
# Status, and the code of the error where there is one.
Said = tuple[int, str]


def open_session(user: Any) -> LeadSession:
    """The row of a browser in which this person is signed in."""
    Client().force_login(user)
    return LeadSession.objects.get(user=user)


ARTICLES = (
    *("articles", "article", "drop-query", "undo-article", "annotations", "generate-again"),
    *("change-sets", "change-set", "confirm-change-set", "undo-change-set"),
)


@pytest.fixture
def world(river_stage: Stage) -> dict[str, Any]:
    """One of everything that an address can name; the values of the addresses' parts."""
    item = factories.item(river_stage)
    named = factories.worker_stat(river_stage).worker.worker_id
    release = factories.release(river_stage.project, files={"train.json": b"{}"})
    rows = {
        "batch": factories.batch(river_stage),
        **dict.fromkeys(["upload", "stop-upload"], factories.upload(river_stage.project)),
        "media-file": factories.media_file(river_stage.project),
        "result-file": factories.upload(river_stage.project, stage=river_stage, kind="results"),
        "undo-block": factories.block(river_stage),
        "item": item,
        **dict.fromkeys(["undo-change", "redo-change"], item),
        "reply-to-worker": factories.reply(factories.message(river_stage)),
        **dict.fromkeys(
            ["computation-run", "stop-computation-run", "resume-computation-run", "computation-run-results"],
            factories.computation_run(river_stage.project),
        ),
        **dict.fromkeys(
            ["approve-request", "decline-request", "withdraw-request"], factories.budget_request(river_stage.project)
        ),
        "ledger-check": factories.ledger_check(river_stage.project),
        "one-token": make_token(river_stage.project.owners.get(), "program", "read")[0],
        "one-session": open_session(river_stage.project.owners.get()),
        "undo-routing": factories.routing(river_stage),
    }
    asking = factories.stage(river_stage.project, key="ask", protocol="phrase_questions")
    text = factories.item(
        asking, document=factories.document(river_stage.project, data=phrases.DOCUMENT), data=phrases.NP
    )
    rows |= dict.fromkeys(["target", "undo-target"], text)
    making = factories.stage(
        river_stage.project, key="generate", position=0, protocol="passage_queries", crowd=False, rule={}
    )
    for number in range(2):
        factories.item(making, document=factories.document(river_stage.project), data=article(number), figures={})
    annotated = factories.item(
        making, document=factories.document(river_stage.project, data=articles.DOCUMENT), data=articles.ITEM, figures={}
    )
    rows |= dict.fromkeys(["article", "drop-query", "undo-article"], annotated)
    rows |= dict.fromkeys(
        ["change-set", "confirm-change-set", "undo-change-set"],
        ChangeSet.objects.create(
            stage=making, blob=Blob.store(b"{}"), effect={"items": 0, "before": {}, "after": {}, "left_out": {}}
        ),
    )
    testing = factories.stage(river_stage.project, key="test", screening_share=0.5, grants="passed")
    return {
        "stages": {
            "screening": testing.key,
            **dict.fromkeys(["targets", "target", "undo-target"], asking.key),
            **dict.fromkeys(ARTICLES, making.key),
        },
        "queries": {
            **dict.fromkeys(["worker-confusion", "worker-texts"], {"worker_id": named}),
        },
        "slug": river_stage.project.slug,
        "key": river_stage.key,
        "number": release.number,
        "name": "train.json",
        "rows": rows,
        "test": factories.qualification_test(river_stage.project).key,
        "computation": "filter",
    }


def address(route: URLPattern, world: dict[str, Any], method: str = "get") -> str:
    parts = {**world, "username": "alice", "key": world["stages"].get(route.name, world["key"])}
    if route.name in world["rows"]:
        parts["pk"] = world["rows"][route.name].pk
    found = reverse(f"api:{route.name}", kwargs={name: parts[name] for name in route.pattern.converters})
    query = world["queries"].get(route.name, {}) if method == "get" else {}
    return f"{found}?{urlencode(query)}"


def test_the_table_holds_the_product_s_verbs() -> None:
    names = {route.name for route, _ in OWNED}
    assert {"publish", "harvest", "block", "undo-block", "approve", "reject", "releases", "ledger", "budget"} <= names


def asked(client: APIClient, pairs: Pairs, world: dict[str, Any], *body: Any) -> Iterator[tuple[str, Any]]:
    """Each route by its name with its answer; what a call changed is taken back before the next one."""
    assert pairs
    for route, method in pairs:
        with transaction.atomic():
            how = {"format": "json"} if body and method != "get" else {}
            answer = getattr(client, method)(address(route, world, method), *body, **how)
            transaction.set_rollback(True)
        yield f"{method} {route.name}", answer


def said(answer: Any) -> Said:
    return answer.status_code, answer.json()["error"]["code"] if answer.status_code >= 400 else ""


def test_an_anonymous_call_is_401(world: dict[str, Any]) -> None:
    found = {name: said(answer) for name, answer in asked(APIClient(), GUARDED, world)}
    assert found == dict.fromkeys(found, (401, "not_authenticated"))


def test_an_outsider_finds_nothing(world: dict[str, Any], bob: Any) -> None:
    found = {name: said(answer) for name, answer in asked(signed_in(bob), OWNED, world)}
    assert found == dict.fromkeys(found, (404, "not_found"))


def test_the_owner_finds_it(world: dict[str, Any], api: APIClient, market) -> None:
    reads = [pair for pair in OWNED if pair[1] == "get"]
    found = {
        name: (answer.status_code, "no-store" in answer.get("Cache-Control", ""))
        for name, answer in asked(api, reads, world)
    }
    assert found == dict.fromkeys(found, (200, True))


@pytest.mark.parametrize("name", ["upload", "batch", "item", "undo-block"])
def test_rows_of_another_project_are_not_reached_through_one_s_own(name: str, world: dict[str, Any], bob: Any) -> None:
    mine: Project = factories.project(owner=bob, slug="own", namespace="own")
    factories.stage(mine, key="validate")
    route = next(route for route, _ in OWNED if route.name == name)
    client = signed_in(bob)
    verb = client.post if name == "undo-block" else client.get
    assert verb(address(route, {**world, "slug": "own"})).status_code == 404


def test_a_superuser_owns_only_what_is_theirs(world: dict[str, Any]) -> None:
    boss = factories.user("boss", is_superuser=True, is_staff=True)
    assert signed_in(boss).get("/api/projects/river/").status_code == 404


def test_a_session_needs_the_csrf_token_for_a_verb(river_stage: Stage, alice: Any) -> None:
    client = APIClient(enforce_csrf_checks=True)
    client.force_login(alice)
    assert client.get("/api/projects/river/").status_code == 200
    refused = client.post("/api/projects/river/stages/validate/pause/")
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "permission_denied")


def test_reading_changes_nothing(world: dict[str, Any], api: APIClient, market) -> None:
    before = _everything()
    for route, method in OWNED:
        if method == "get":
            getattr(api, method)(address(route, world))
    assert _everything() == before


def _everything() -> dict[str, list[Any]]:
    from django.apps import apps

    return {model.__name__: list(model._base_manager.order_by("pk").values()) for model in apps.get_models()}
