"""From the quote to HITs at a real marketplace, and steering them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from rest_framework.test import APIClient

from hits.models import Batch, Hit, Item, Stage, StageSummary
from hits.publishing.rules.marketplace_account import gateway
from tests.hits import factories
from tests.hits.api.test_errors import refused
from tests.hits.api_calls import STAGE, signed_in
from tests.hits.record_project import fields

pytestmark = pytest.mark.usefixtures("market", "eager")


def confirm(api: APIClient, **changes: Any) -> Any:
    quote = api.get(STAGE + "quote/").json()
    body = {name: quote[name] for name in ("items", "total", "confirmation")} | changes
    return api.post(STAGE + "publish/", body, format="json")


def test_the_quote_is_exact_and_changes_nothing(api: APIClient, river_stage: Stage) -> None:
    factories.items(river_stage, 4)
    quote = api.get(STAGE + "quote/?items=3").json()
    assert (quote["items"], quote["answers"], quote["unit_cost"], quote["total"]) == (3, 3, "0.05", "0.15")
    assert (quote["budget_left"], quote["balance"], quote["problems"]) == ("100.00", "10000.00", [])
    assert not Batch.objects.exists()


def test_a_confirmed_quote_puts_its_items_up(api: APIClient, river_stage: Stage) -> None:
    factories.items(river_stage, 3)
    answer = confirm(api)
    assert answer.status_code == 202
    batch = api.get(f"{STAGE}batches/{answer.json()['id']}/").json()
    assert (batch["state"], batch["done"], batch["total"], batch["created_by"]) == ("published", 3, 3, "alice")
    assert sorted(hit.annotation for hit in gateway().all_hits()) == sorted(
        river_stage.hits.values_list("token", flat=True)
    )


def test_the_same_confirmation_is_the_same_batch(api: APIClient, river_stage: Stage) -> None:
    factories.items(river_stage, 2)
    answers = [confirm(api, items=2, total="0.10", confirmation="page-one") for _ in range(2)]
    assert [answer.status_code for answer in answers] == [202, 202]
    assert answers[0].json()["id"] == answers[1].json()["id"]
    assert (Batch.objects.count(), Hit.objects.count()) == (1, 2)


def test_another_project_s_confirmation_is_free_to_use(api: APIClient, river_stage: Stage, bob: Any) -> None:
    factories.items(river_stage, 1)
    mine = confirm(api, confirmation="page-one").json()
    own = factories.project(owner=bob, slug="own", namespace="own")
    other = factories.stage(own, key="validate", rule=river_stage.rule)
    factories.items(other, 1)
    body = {"items": 1, "total": "0.05", "confirmation": "page-one"}
    theirs = signed_in(bob).post("/api/projects/own/stages/validate/publish/", body, format="json").json()
    assert theirs["id"] != mine["id"]
    assert Batch.objects.get(pk=theirs["id"]).stage == other


def test_a_quote_that_changed_publishes_nothing(api: APIClient, river_stage: Stage) -> None:
    factories.items(river_stage, 2)
    refused(confirm(api, total="0.09"), 409, "quote_changed")
    refused(confirm(api, items=3), 409, "quote_changed")
    refused(confirm(api, confirmation="x"), 400, "invalid")
    assert not Hit.objects.exists()
    Item.objects.update(state=Item.State.KEPT)
    refused(confirm(api, items=2, total="0.10"), 409, "nothing_to_publish")


def test_a_stage_pauses_and_goes_on(api: APIClient, river_stage: Stage) -> None:
    factories.items(river_stage, 2)
    confirm(api)
    # As after a crash: the last reply is not recorded.
    Batch.objects.update(state=Batch.State.PUBLISHING, finished_at=None)
    Hit.objects.filter(pk=river_stage.hits.first().pk).update(state=Hit.State.SENT, hit_id=None)
    assert api.post(STAGE + "pause/").json()["state"] == "paused"
    assert api.get(STAGE + "batches/").json()["results"][0]["state"] == "paused"
    answer = api.post(STAGE + "resume/")
    assert (answer.status_code, answer.json()["state"]) == (202, "live")
    assert api.get(STAGE + "batches/").json()["results"][0]["state"] == "published"


def test_open_hits_are_extended_and_closed(api: APIClient, river_stage: Stage, market) -> None:
    factories.items(river_stage, 2)
    confirm(api)
    hit_id = river_stage.hits.first().hit_id
    # The second one may have been made in the next second.
    before = max(gateway().hit(hit.hit_id or "").expires_at for hit in river_stage.hits.all())
    assert api.post(STAGE + "extend/", {"seconds": 3600}, format="json").json()["state"] == "published"
    later = (before + timedelta(hours=1)).replace(microsecond=0)
    assert gateway().hit(hit_id).expires_at == later
    refused(api.post(STAGE + "extend/", {"seconds": 5}, format="json"), 400, "invalid")
    refused(api.post(STAGE + "extend/", {}, format="json"), 400, "invalid")
    both = {"seconds": 60, "until": later.isoformat()}
    refused(api.post(STAGE + "extend/", both, format="json"), 400, "invalid")
    error = refused(api.post(STAGE + "extend/", {"until": before.isoformat()}, format="json"), 409, "closing_time")
    assert "expire" in error["message"] or "Close early" in error["message"]
    until = later + timedelta(days=3)
    for _ in range(2):
        assert api.post(STAGE + "extend/", {"until": until.isoformat()}, format="json").status_code == 202
        assert gateway().hit(hit_id).expires_at == until
    closed = api.post(STAGE + "expire/").json()
    assert (closed["kind"], closed["done"]) == ("expire", 2)
    assert market.hit(hit_id)["status"] == "Reviewable"


def test_harvesting_brings_answers_to_their_verdicts(api: APIClient, river_stage: Stage, market) -> None:
    factories.items(river_stage, 1)
    confirm(api)
    hit = river_stage.hits.get()
    market.answer(market.sign_up_worker(), hit.hit_id, **fields(hit, "Linden"))
    answer = api.post(STAGE + "harvest/")
    assert answer.status_code == 202
    figures = api.get(answer.json()["see"]).json()["figures"]
    assert (figures["answers"], figures["kept"]) == (1, 1)


def test_a_quote_tells_a_wage_that_is_assumed_from_one_that_is_measured(
    api: APIClient, river_stage: Stage, market
) -> None:
    assert api.get(STAGE + "quote/").json()["hourly_wage"] is None
    assert api.patch(STAGE, {"expected_seconds": 18}, format="json").json()["expected_seconds"] == 18
    quote = api.get(STAGE + "quote/").json()
    assert (quote["hourly_wage"], quote["wage_assumed"]) == ("8.00", True)
    StageSummary.objects.filter(stage=river_stage).update(answers=30, median_seconds=36)
    quote = api.get(STAGE + "quote/").json()
    assert (quote["hourly_wage"], quote["wage_assumed"]) == ("4.00", False)
