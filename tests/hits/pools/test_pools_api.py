"""Pools through the API."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from hits.models import Grant, Pool, PoolLink, Stage
from tests.hits import factories
from tests.hits.api_calls import signed_in
from tests.hits.market import Marketplace

pytestmark = pytest.mark.django_db


@pytest.fixture
def stage(alice: Any) -> Stage:
    return factories.stage(factories.project(owner=alice, slug="river"), key="validate")


BASE = "/api/projects/river/pools/"


@pytest.fixture
def pool(stage: Stage) -> Pool:
    return factories.pool(stage.project, factories.worker("AINSIDE"), key="pool-students", name="Students")


def test_workers_are_added_listed_and_taken_out(api: APIClient, pool: Pool, eager: None, market: Marketplace) -> None:
    there = f"{BASE}{pool.key}/"
    worker = market.sign_up_worker()
    added = api.post(f"{there}workers/", {"worker_ids": [worker, "AINSIDE"]}, format="json")
    assert (added.status_code, added.json()["message"][:2]) == (202, "1 ")
    rows = {row["worker_id"]: row for row in api.get(f"{there}workers/").json()["results"]}
    assert (rows[worker]["state"], rows[worker]["link"], rows[worker]["created_by"]) == ("granted", None, "alice")
    gone = api.post(f"{there}workers/{rows[worker]['id']}/remove/")
    assert (gone.status_code, gone.json()["state"]) == (202, "withdrawing")
    assert pool.members.get(pk=rows[worker]["id"]).state == "withdrawn"
    wrong = api.post(f"{there}workers/", {"worker_ids": ["bob"]}, format="json")
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (400, "workers_refused")


def test_a_grant_of_a_pool_is_not_withdrawn_past_the_pool(api: APIClient, pool: Pool) -> None:
    row = pool.members.get()
    assert api.post(f"/api/projects/river/grants/{row.pk}/withdraw/").status_code == 404
    row.refresh_from_db()
    assert row.state == Grant.State.GRANTED


def test_the_best_of_a_stage_are_looked_at_and_added(api: APIClient, pool: Pool, stage: Stage) -> None:
    for name, correct in (("AGOOD", 38), ("ABEST", 40)):
        factories.worker_stat(stage, factories.worker(name), scored=40, correct=correct, answers=40)
    query = {"stage": stage.key, "by": "known", "least": 30, "top": 5}
    found = api.get(f"{BASE}{pool.key}/best/", query).json()["results"]
    assert [row["worker_id"] for row in found] == ["ABEST", "AGOOD"]
    added = api.post(f"{BASE}{pool.key}/best/", {**query, "worker_ids": ["AGOOD"]}, format="json")
    assert added.status_code == 202
    assert set(pool.members.values_list("worker__worker_id", flat=True)) == {"AINSIDE", "AGOOD"}
    wrong = api.post(f"{BASE}{pool.key}/best/", {**query, "worker_ids": ["AINSIDE"]}, format="json")
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (409, "best_refused")
    assert api.get(f"{BASE}{pool.key}/best/", {**query, "stage": "nothing"}).status_code == 404


def test_a_link_is_told_once(api: APIClient, pool: Pool, market: Marketplace) -> None:
    there = f"{BASE}{pool.key}/"
    made = api.post(f"{there}links/", {"uses": 40, "note": "Mondays"}, format="json")
    assert made.status_code == 201
    assert "/join/" in made.json()["link"]
    shown = api.get(there).json()
    assert "/join/" not in str(shown)
    [link] = [one for one in shown["links"] if one["note"] == "Mondays"]
    assert (link["uses"], link["joined"], link["ending"], link["created_by"]) == (40, 0, "", "alice")
    assert api.post(f"{there}links/{link['id']}/revoke/").status_code == 204
    assert api.post(f"{there}links/{link['id']}/revoke/").status_code == 204
    assert api.post(f"{there}links/", {"uses": 0}, format="json").status_code == 400
    assert PoolLink.objects.count() == 2


def test_another_project_reads_by_role_and_ends_its_use(api: APIClient, pool: Pool, alice: Any) -> None:
    carl = factories.user("carl")
    other = factories.project(owner=alice, slug="lake")
    membership = factories.member(other, carl, "reader")
    theirs = signed_in(carl)
    there = f"/api/projects/lake/pools/{pool.key}/"
    assert theirs.get(there).status_code == 404
    assert api.post(f"{BASE}{pool.key}/share/", {"project": "lake"}, format="json").status_code == 204
    assert api.post(f"{BASE}{pool.key}/share/", {"project": "nowhere"}, format="json").status_code == 409
    shown = theirs.get(there).json()
    assert (shown["project"], shown["links"], shown["used_by"]) == ("river", [], ["lake"])
    refused = theirs.get(f"{there}workers/")
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "role")
    membership.role = "manager"
    membership.save()
    assert theirs.get(f"{there}workers/").json()["results"][0]["worker_id"] == "AINSIDE"
    assert theirs.post(f"{there}workers/", {"worker_ids": ["A1"]}, format="json").status_code == 404
    assert theirs.post(f"{there}share/", {"project": "lake"}, format="json").status_code == 404
    assert theirs.post(f"{there}stop-sharing/", {}, format="json").status_code == 204
    assert theirs.get(there).status_code == 404


def test_only_who_manages_both_projects_shares(pool: Pool, stage: Stage) -> None:
    carl = factories.user("carl")
    factories.member(stage.project, carl, "manager")
    factories.project(owner=factories.user("dora"), slug="lake")
    factories.project(owner=carl, slug="pond")
    client = signed_in(carl)
    assert client.post(f"{BASE}{pool.key}/share/", {"project": "lake"}, format="json").status_code == 409
    assert client.post(f"{BASE}{pool.key}/share/", {"project": "pond"}, format="json").status_code == 204
    assert [use.project.slug for use in pool.uses.all()] == ["pond"]
