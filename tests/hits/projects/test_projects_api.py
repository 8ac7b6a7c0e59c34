"""Projects, recipes, owners, budget, stages and the ledger."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from rest_framework.test import APIClient

from hits.models import Project, Stage
from hits.projects.verbs.projects import budget_changes
from hits.recipes import load
from tests.hits import factories
from tests.hits.api.test_errors import refused
from tests.hits.api_calls import HOME, STAGE, signed_in

NEW = {"name": "Harbour", "recipe": "record", "budget": "120.50", "contact_email": "lab@example.org"}


def test_the_recipes_say_what_they_cost(api: APIClient) -> None:
    record = next(recipe for recipe in api.get("/api/recipes/").json() if recipe["name"] == "record")
    assert record["stages"][1] == {
        "key": "validate",
        "title": "Validation",
        "protocol": "clickable_entity",
        "crowd": True,
        "reward": "0.04",
        "answers": 1,
    }
    assert record["options"] == {**load("record").options, "eval_share": 0.18}


def test_a_project_starts_with_the_stages_of_its_recipe(api: APIClient, alice: Any) -> None:
    body = {**NEW, "seed": 11, "options": {"eval_share": 0.5}}
    answer = api.post("/api/projects/", body, format="json")
    assert answer.status_code == 201
    made = answer.json()
    assert made["account"] == {"budget": "120.50", "reserved": "0.00", "paid": "0.00", "left": "120.50"}
    assert (made["owners"], made["seed"], made["options"]) == (
        ["alice"],
        11,
        {**load("record").options, "eval_share": 0.5},
    )
    assert [stage["key"] for stage in made["stages"]] == ["generate", "validate", "revalidate", "human", "reasoning"]
    assert made["stages"][0]["figures"]["items"] == 0
    assert api.get(f"/api/projects/{made['slug']}/").json() == made


def test_an_unknown_recipe_or_option_makes_no_project(api: APIClient) -> None:
    refused(api.post("/api/projects/", {**NEW, "recipe": "nope"}, format="json"), 400, "recipe_refused")
    wrong = {**NEW, "options": {"evil_share": 1}}
    refused(api.post("/api/projects/", wrong, format="json"), 400, "option_refused")
    refused(api.post("/api/projects/", {**NEW, "budget": "-1"}, format="json"), 400, "invalid")
    refused(api.post("/api/projects/", {**NEW, "budget": "1.005"}, format="json"), 400, "invalid")
    assert not Project.objects.exists()


def test_the_list_holds_one_s_own_projects_page_by_page(api: APIClient, alice: Any, bob: Any) -> None:
    for number in range(3):
        factories.project(owner=alice, slug=f"own-{number}", namespace=f"own-{number}")
    factories.project(owner=bob, slug="bobs", namespace="bobs")
    first = api.get("/api/projects/?limit=2").json()
    assert [row["slug"] for row in first["results"]] == ["own-0", "own-1"]
    second = api.get(first["next"]).json()
    assert ([row["slug"] for row in second["results"]], second["next"]) == (["own-2"], None)


def test_a_page_that_cannot_be_is_refused(api: APIClient) -> None:
    for query in ("limit=0", "limit=501", "after=-1", "after=x", f"after={2**63}"):
        refused(api.get(f"/api/projects/?{query}"), 400, "invalid")


def test_the_budget_changes_and_never_below_what_is_reserved(api: APIClient, river_stage: Stage) -> None:
    factories.ledger_entry(river_stage, reserved=Decimal("30.00"))
    assert api.put(HOME + "budget/", {"budget": "30.00"}, format="json").json()["left"] == "0.00"
    refused(api.put(HOME + "budget/", {"budget": "29.99"}, format="json"), 409, "budget_exceeded")
    river_stage.project.account.refresh_from_db()
    assert river_stage.project.account.budget == Decimal("30.00")


def test_a_large_change_of_the_budget_is_confirmed_with_its_amount(api: APIClient, river_stage: Stage) -> None:
    error = refused(api.put(HOME + "budget/", {"budget": "100000"}, format="json"), 409, "budget_not_confirmed")
    assert error["details"] == {"before": "100.00", "budget": "100000.00", "confirm": "100000.00"}
    wrong = {"budget": "100000.00", "confirm": "10000.00"}
    refused(api.put(HOME + "budget/", wrong, format="json"), 409, "budget_not_confirmed")
    river_stage.project.account.refresh_from_db()
    assert river_stage.project.account.budget == Decimal("100.00")
    right = {"budget": "100000.00", "confirm": "100000.00"}
    assert api.put(HOME + "budget/", right, format="json").json()["budget"] == "100000.00"
    assert [one.action.by for one in budget_changes(river_stage.project)] == ["by alice through the API"]


def test_an_owner_lets_another_one_in_and_leaves(api: APIClient, river_stage: Stage, bob: Any) -> None:
    answer = api.post(HOME + "members/", {"username": "bob", "role": "reader"}, format="json")
    assert [(row["username"], row["role"]) for row in answer.json()] == [("alice", "owner"), ("bob", "reader")]
    assert signed_in(bob).get(HOME).json()["role"] == "reader"
    refused(api.patch(HOME + "members/alice/", {"role": "manager"}, format="json"), 409, "last_owner")
    assert api.patch(HOME + "members/bob/", {"role": "owner"}, format="json").json()["role"] == "owner"
    assert api.delete(HOME + "members/alice/").status_code == 204
    assert api.get(HOME).status_code == 404
    refused(signed_in(bob).delete(HOME + "members/bob/"), 409, "last_owner")
    refused(signed_in(bob).delete(HOME + "members/alice/"), 404, "not_found")


def test_somebody_with_another_role_is_not_added_again(api: APIClient, river_stage: Stage, bob: Any) -> None:
    api.post(HOME + "members/", {"username": "bob", "role": "reader"}, format="json")
    error = refused(api.post(HOME + "members/", {"username": "bob", "role": "owner"}, format="json"), 409, "is_member")
    assert "bob is a reader of River news already" in error["message"]


def test_nobody_becomes_a_member_by_a_wrong_name(api: APIClient, river_stage: Stage) -> None:
    given = {"username": "bab", "role": "reader"}
    error = refused(api.post(HOME + "members/", given, format="json"), 400, "invalid")
    assert "exact spelling" in error["details"]["username"][0]


def test_settings_change_and_what_workers_have_seen_is_refused(api: APIClient, river_stage: Stage) -> None:
    changed = api.patch(STAGE, {"reward": "0.06", "auto_block": False}, format="json").json()
    assert (changed["reward"], changed["auto_block"], changed["auto_publish"]) == ("0.06", False, True)
    assert api.patch(STAGE, {"advance_approved": False}, format="json").json()["advance_approved"] is False
    assert api.patch(STAGE, {"advance_approved": True}, format="json").json()["advance_approved"] is True
    refused(api.patch(STAGE, {"rewrad": "0.07", "auto_publish": False}, format="json"), 400, "invalid")
    refused(api.patch(STAGE, {"answers": 0}, format="json"), 400, "settings_refused")
    Stage.objects.update(hit_type_id="3TYPE")
    given = {"answers": 5, "reward": "0.07", "auto_publish": False}
    error = refused(api.patch(STAGE, given, format="json"), 409, "settings_fixed")
    assert error["details"]["settings"] == ["answers"]
    now = api.get(STAGE).json()
    assert (now["reward"], now["auto_publish"], now["published"]) == ("0.06", True, True)
    assert api.patch(STAGE, {"reward": "0.07"}, format="json").json()["hit_type_id"] == ""
    settings = {one["name"]: one for one in api.get(STAGE + "settings/").json()}
    assert (settings["reward"]["value"], settings["reward"]["when"]) == ("0.07", "next HITs")
    assert settings["answers"]["when"] == "fixed" and "aggregation rule counts them" in settings["answers"]["why"]
    assert api.patch(STAGE, {"auto_publish": False}, format="json").json()["auto_publish"] is False


def test_a_setting_gets_the_recipes_own_value_again(api: APIClient, db: None) -> None:
    body = {"name": "Own", "recipe": "choice", "budget": "5.00", "contact_email": "lab@example.org"}
    slug = api.post("/api/projects/", body, format="json").json()["slug"]
    home = f"/api/projects/{slug}/stages/choose/"
    assert api.patch(home, {"reward": "0.45", "answers": 7}, format="json").json()["answers"] == 7
    changed = api.patch(home, {"recipe_values": ["reward"], "expected_seconds": None}, format="json").json()
    assert (changed["reward"], changed["answers"]) == ("0.05", 7)
    refused(api.patch(home, {"recipe_values": ["shape"]}, format="json"), 400, "settings_refused")


def test_nothing_that_waits_goes_out_unseen(api: APIClient, river_stage: Stage) -> None:
    Stage.objects.update(auto_publish=False)
    came = factories.item(river_stage, parent=factories.item())
    refused(api.patch(STAGE, {"auto_publish": True, "reward": "0.09"}, format="json"), 409, "arrivals_wait")
    assert api.get(STAGE).json()["reward"] == "0.04"
    came.delete()
    assert api.patch(STAGE, {"auto_publish": True}, format="json").json()["auto_publish"] is True


def test_a_stage_shows_its_figures(api: APIClient, river_stage: Stage) -> None:
    factories.figures(river_stage, items=12, kept=7, median_seconds=38.5)
    figures = api.get(HOME + "stages/").json()["results"][0]["figures"]
    assert (figures["items"], figures["kept"], figures["median_seconds"]) == (12, 7, 38.5)


def test_the_ledger_adds_up_to_the_account(api: APIClient, river_stage: Stage) -> None:
    for cents in (5, 10, 15):
        factories.ledger_entry(river_stage, reserved=Decimal(cents) / 100)
    first = api.get(HOME + "ledger/?limit=2").json()
    rest = api.get(first["next"]).json()
    rows = first["results"] + rest["results"]
    assert [(row["kind"], row["stage"], row["reserved"], row["paid"]) for row in rows] == [
        ("reserve", "validate", "0.05", "0.00"),
        ("reserve", "validate", "0.10", "0.00"),
        ("reserve", "validate", "0.15", "0.00"),
    ]
    assert api.get(HOME).json()["account"]["reserved"] == "0.30"


def test_a_project_s_page_costs_the_same_with_many_items(
    api: APIClient, river_stage: Stage, django_assert_num_queries: Any
) -> None:
    factories.items(river_stage, 300)
    with django_assert_num_queries(4):
        api.get(HOME)


def test_a_project_starts_from_the_file_of_another_and_as_its_clone(api: APIClient, bob: Any, db: None) -> None:
    body = {"name": "Own", "recipe": "choice", "budget": "5.00", "contact_email": "lab@example.org"}
    slug = api.post("/api/projects/", body, format="json").json()["slug"]
    api.patch(f"/api/projects/{slug}/stages/choose/", {"reward": "0.11"}, format="json")
    file = api.get(f"/api/projects/{slug}/recipe-file/")
    assert file.headers["Content-Disposition"] == 'attachment; filename="own.toml"'
    text = file.content.decode().replace("answers = 3", "answers = 4")
    del body["recipe"]
    made = api.post("/api/projects/", {**body, "name": "By file", "recipe_file": text}, format="json").json()
    assert [(one["reward"], one["answers"]) for one in made["stages"]] == [("0.11", 4)]
    copy = api.post(f"/api/projects/{slug}/clone/", {"name": "Copy", "budget": "1.00"}, format="json").json()
    assert (copy["slug"], copy["account"]["budget"], copy["stages"][0]["reward"]) == ("copy", "1.00", "0.11")
    refused(signed_in(bob).post(f"/api/projects/{slug}/clone/", {"name": "C", "budget": "1"}, format="json"), 404,
            "not_found")  # fmt: skip
    both = {**body, "recipe": "choice", "recipe_file": text}
    assert "recipe" in refused(api.post("/api/projects/", both, format="json"), 400, "invalid")["details"]
    broken = {**body, "recipe_file": "speed = 3\n" + text}
    error = refused(api.post("/api/projects/", broken, format="json"), 400, "project_file_refused")
    assert error["details"]["faults"] == ["speed is unknown: remove it."]


def test_a_large_raise_of_the_reward_is_confirmed_by_name(api: APIClient, river_stage: Stage) -> None:
    error = refused(api.patch(STAGE, {"reward": "0.90"}, format="json"), 409, "change_not_confirmed")
    assert error["details"]["before"] == {"reward": "0.04"} and error["details"]["confirm"] == {"reward": "0.90"}
    wrong = {"reward": "0.90", "confirm": {"reward": "0.09"}}
    refused(api.patch(STAGE, wrong, format="json"), 409, "change_not_confirmed")
    assert api.get(STAGE).json()["reward"] == "0.04"
    # As JSON writes numbers too.
    assert api.patch(STAGE, {"reward": "0.90", "confirm": {"reward": 0.9}}, format="json").json()["reward"] == "0.90"
