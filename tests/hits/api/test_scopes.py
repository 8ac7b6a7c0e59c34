"""What a token may do, over the whole table of addresses: a new route has to say whether it spends money."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import URLPattern

from tests.hits.api.test_guard import GUARDED, asked, world
from tests.hits.api_calls import signed_in

# Every verb that changes something without spending money. What is not here has to stand in its view's `pays`.
WITHOUT_MONEY = {
    *(("notices-seen", "post"), ("notices-choices", "patch"), ("notices-address", "post")),
    ("archive", "post"),
    ("undo-decision", "post"),
    ("tags", "put"),
    ("suggestions", "post"),
    ("items", "patch"),
    ("release-card", "patch"),
    ("terms", "delete"),
    ("terms", "put"),
    ("stages", "post"),
    ("stage", "delete"),
    ("annotations", "post"),
    ("article", "put"),
    ("delete-hits", "post"),
    ("evaluate-release", "post"),
    ("keep-system", "post"),
    ("run-baselines", "post"),
    ("expire", "post"),
    ("extend", "post"),
    ("harvest", "post"),
    ("ledger-checks", "post"),
    ("one-token", "delete"),
    ("options", "patch"),
    ("pause", "post"),
    ("computation-answers", "post"),
    ("computation-runs", "post"),
    ("resume-computation-run", "post"),
    ("confirm-change-set", "post"),
    ("drop-query", "post"),
    ("generate-again", "post"),
    ("redo-change", "post"),
    ("releases", "post"),
    ("required-test", "delete"),
    ("required-test", "put"),
    ("rule-preview", "post"),
    ("routing-preview", "post"),
    ("stop-computation-run", "post"),
    ("stop-upload", "post"),
    ("target", "put"),
    ("task", "patch"),
    ("token", "delete"),
    ("undo-article", "post"),
    ("undo-change", "post"),
    ("undo-change-set", "post"),
    ("undo-target", "post"),
    ("media", "post"),
    ("message-workers", "post"),
    ("message-stage", "post"),
    ("mark-answered", "post"),
    ("open-again", "post"),
    ("reply-to-worker", "post"),
    ("pause-workers", "post"),
    ("one-session", "delete"),
    ("sessions", "delete"),
    ("results", "post"),
    ("results-columns", "post"),
    ("results-form", "post"),
    ("result-file", "delete"),
    ("media-file", "delete"),
    ("uploads", "post"),
    ("upload-columns", "post"),
}
__all__ = ["world"]  # a fixture
UNSAFE = [(route, method) for route, method in GUARDED if method != "get"]


def pays(route: URLPattern, method: str) -> bool:
    return method.upper() in route.callback.view_class.pays


def test_every_route_says_whether_it_spends_money() -> None:
    free = {(route.name, method) for route, method in UNSAFE if not pays(route, method)}
    assert free - WITHOUT_MONEY == set()
    assert WITHOUT_MONEY - free == set()


# Any token may revoke itself; of the other verbs, `read` opens none and `write` none that spends money.
REFUSED = {
    "read": [(route, method) for route, method in UNSAFE if route.name != "token"],
    "write": [(route, method) for route, method in UNSAFE if pays(route, method)],
}


@pytest.mark.parametrize("scope", REFUSED)
def test_a_token_of_too_small_a_scope_is_told_which_it_takes(scope: str, world: dict[str, Any], alice: Any) -> None:
    wanted = {f"{method} {route.name}": "pay" if pays(route, method) else "write" for route, method in REFUSED[scope]}
    wrong = {}
    for name, answer in asked(signed_in(alice, scope), REFUSED[scope], world):
        message = answer.json()["error"]["message"] if answer.status_code == 403 else ""
        if f"this takes “{wanted[name]}”" not in message:
            wrong[name] = (answer.status_code, message)
    assert wrong == {}


@pytest.mark.parametrize("scope", ["read", "write", "pay"])
def test_every_token_reads(scope: str, river_stage: Any, alice: Any) -> None:
    assert signed_in(alice, scope).get("/api/projects/river/").status_code == 200


def test_a_token_that_writes_pauses_and_one_that_pays_sets_the_budget(river_stage: Any, alice: Any) -> None:
    assert signed_in(alice, "write").post("/api/projects/river/stages/validate/pause/").status_code == 200
    answer = signed_in(alice, "pay").put("/api/projects/river/budget/", {"budget": "120.00"}, format="json")
    assert answer.status_code == 200
