"""Workers with their accuracy, proposals, blocks and their undoing."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from hits.judging.rules.stage_statistics import key_of
from hits.models import ComputationRun, Label, Stage, Worker, WorkerStat
from hits.publishing.rules.marketplace_account import gateway
from hits.publishing.verbs import sending
from hits.stats.intervals import wilson
from hits.tasks import conclude_stage
from hits.workers.rules import worker_table
from tests.hits import factories
from tests.hits.api.test_errors import refused
from tests.hits.api_calls import HOME, STAGE

pytestmark = pytest.mark.usefixtures("eager")


@pytest.fixture
def crowd(river_stage: Stage, market) -> dict[str, str]:
    """A good worker and a bad one, both known to the marketplace, with 40 scored answers each."""
    river_stage.requirements = [{"qualification": "poor-quality", "comparator": "DoesNotExist"}]
    river_stage.save()
    sending.ensure_hit_type(river_stage, gateway())
    found = {}
    for name, right in (("good", 36), ("bad", 2)):
        found[name] = market.sign_up_worker()
        row = factories.worker(found[name])
        hits = factories.hits(factories.items(river_stage, 40))
        for number, answer in enumerate(factories.assignments(hits, row)):
            factories.label(answer, correct=number < right)
        factories.worker_stat(river_stage, row, answers=40, scored=40, correct=right)
    return found


def test_the_list_gives_accuracy_and_its_interval(api: APIClient, river_stage: Stage) -> None:
    factories.worker_stat(river_stage, answers=40, scored=40, correct=22)
    factories.worker_stat(river_stage, answers=2, scored=0, correct=0, median_seconds=None)
    scored, unscored = api.get(STAGE + "workers/").json()["results"]
    assert (scored["accuracy"], scored["interval"]) == (0.55, list(wilson(22, 40)))
    assert (scored["earned"], scored["blocked"]) == ("1.60", False)
    assert (unscored["accuracy"], unscored["interval"]) == (None, None)


@pytest.mark.on_postgresql
def test_the_list_has_the_orders_of_the_page_and_ends_with_whom_nothing_is_known_of(
    api: APIClient, river_stage: Stage
) -> None:
    for right, of, pay in ((1, 4, "0.10"), (0, 0, "0.30"), (3, 4, "0.20"), (1, 4, "0.20")):
        factories.worker_stat(river_stage, answers=of, scored=of, correct=right, earned=pay)
    names = list(river_stage.worker_stats.order_by("id").values_list("worker__worker_id", flat=True))
    for sort, expected in {
        "known": [0, 3, 2, 1],
        "-known": [2, 3, 0, 1],
        "-earned": [1, 3, 2, 0],
        "-id": [3, 2, 1, 0],
        "worker": sorted(range(4), key=lambda at: names[at]),
    }.items():
        address, seen = f"{STAGE}workers/?sort={sort}&limit=1", []
        while address:
            page = api.get(address).json()
            seen += [names.index(row["worker_id"]) for row in page["results"]]
            address = page["next"]
        assert seen == expected, sort
    for name in worker_table.ORDERS:
        assert len(api.get(f"{STAGE}workers/?sort={name}").json()["results"]) == 4
    refused(api.get(STAGE + "workers/?sort=luck"), 400, "invalid")
    refused(api.get(STAGE + "workers/?sort=worker&after=__import__('os')_1"), 400, "invalid")


def test_proposals_come_with_their_evidence(api: APIClient, river_stage: Stage, crowd: dict[str, str]) -> None:
    (found,) = api.get(STAGE + "block-proposals/").json()["results"]
    assert (found["worker_id"], found["scored"], found["correct"]) == (crowd["bad"], 40, 2)
    assert found["p_value"] < found["alpha"] and found["accuracy"] < found["floor"]
    assert found["answers"] == 40


def test_the_list_says_whom_a_policy_names(api: APIClient, river_stage: Stage, crowd: dict[str, str]) -> None:
    rows = {row["worker_id"]: row for row in api.get(STAGE + "workers/").json()["results"]}
    assert rows[crowd["bad"]]["would_be_blocked"] and not rows[crowd["good"]]["would_be_blocked"]
    assert rows[crowd["bad"]]["why"].startswith(
        f"Would be blocked by the policy of {river_stage.title}: 2 of 40 scored"
    )
    assert rows[crowd["good"]]["why"] == ""


def test_who_is_blocked_is_told_where_that_is_asked_for(
    api: APIClient, river_stage: Stage, crowd: dict[str, str]
) -> None:
    by_hand = {"worker_ids": [crowd["good"]], "cost": "9", "reason": "Asked for it.", "tell": True}
    refused(api.post(STAGE + "block/", by_hand, format="json"), 400, "reason_refused")
    api.post(STAGE + "block/", {**by_hand, "told": "You asked us to."}, format="json")
    api.post(STAGE + "block/", {"worker_ids": [crowd["bad"]], "cost": "2.00", "tell": True}, format="json")
    letters = {row["worker_id"]: row["text"] for row in api.get(HOME + "messages/").json()["results"]}
    assert "Why: You asked us to." in letters[crowd["good"]]
    assert "2 of 40 scored answers were right (5.0 %)" in letters[crowd["bad"]]
    rows = {row["worker_id"]: row for row in api.get(STAGE + "workers/").json()["results"]}
    assert rows[crowd["good"]]["why"] == "Blocked by hand: “Asked for it.”"


def test_the_preview_gives_what_follows_and_blocks_nobody(
    api: APIClient, river_stage: Stage, crowd: dict[str, str]
) -> None:
    preview = api.get(STAGE + "block-proposals/").json()
    assert preview["chosen"] == [crowd["bad"]]
    assert (preview["answers"], preview["replacements"], preview["cost"]) == (40, 40, "2.00")
    assert preview["budget_left"] == "100.00"
    nobody = api.get(STAGE + f"block-proposals/?worker_id={crowd['good']}").json()
    assert (nobody["chosen"], nobody["answers"], nobody["cost"]) == ([], 0, "0.00")
    assert api.get(HOME + "blocks/").json()["results"] == []


def test_a_block_never_costs_more_than_was_confirmed(api: APIClient, river_stage: Stage, crowd: dict[str, str]) -> None:
    body = {"worker_ids": [crowd["bad"]], "cost": "1.95"}
    refused(api.post(STAGE + "block/", body, format="json"), 409, "loss_grown")
    refused(api.post(STAGE + "block/", {"worker_ids": [crowd["bad"]]}, format="json"), 400, "invalid")
    assert _void(crowd["bad"]) == 0


def test_a_block_is_granted_shown_and_undone(api: APIClient, river_stage: Stage, crowd: dict[str, str]) -> None:
    answer = api.post(STAGE + "block/", {"worker_ids": [crowd["bad"]], "cost": "2.00"}, format="json")
    assert answer.status_code == 202
    (row,) = api.get(answer.json()["see"]).json()["results"]
    assert (row["worker_id"], row["state"], row["created_by"]) == (crowd["bad"], "granted", "alice")
    assert _void(crowd["bad"]) == 40
    assert [w["blocked"] for w in api.get(STAGE + "workers/").json()["results"]] == [False, True]
    assert api.post(f"{HOME}blocks/{row['id']}/undo/").status_code == 202
    assert api.get(HOME + "blocks/").json()["results"][0]["state"] == "undone"
    assert _void(crowd["bad"]) == 0


def _void(worker_id: str) -> int:
    return Label.objects.filter(worker=Worker.objects.get(worker_id=worker_id), void=True).count()


def test_a_worker_who_is_not_proposed_cannot_be_blocked(
    api: APIClient, river_stage: Stage, crowd: dict[str, str]
) -> None:
    both = {"worker_ids": [crowd["good"], crowd["bad"]], "cost": "9.00"}
    error = refused(api.post(STAGE + "block/", both, format="json"), 409, "not_blockable")
    assert crowd["good"] in error["message"] and crowd["bad"] not in error["message"]
    assert _void(crowd["bad"]) == 0
    refused(api.post(STAGE + "block/", {"worker_ids": []}, format="json"), 400, "invalid")


def test_the_check_blocks_by_itself_only_where_a_lead_allowed_it(
    api: APIClient, river_stage: Stage, crowd: dict[str, str]
) -> None:
    Stage.objects.update(quality={**river_stage.quality, "check_every": 40})
    api.patch(STAGE, {"auto_block": False}, format="json")
    conclude_stage(river_stage.pk)
    assert api.get(HOME + "blocks/").json()["results"] == []
    # The next check is due.
    Stage.objects.update(quality_checked_at=0)
    api.patch(STAGE, {"auto_block": True}, format="json")
    conclude_stage(river_stage.pk)
    (row,) = api.get(HOME + "blocks/").json()["results"]
    assert (row["worker_id"], row["state"], row["created_by"]) == (crowd["bad"], "granted", None)


def test_a_stage_without_a_policy_says_so(api: APIClient, river_stage: Stage) -> None:
    Stage.objects.update(quality={})
    refused(api.get(STAGE + "block-proposals/"), 409, "no_policy")


def test_the_workers_page_costs_the_same_with_many(
    api: APIClient, river_stage: Stage, django_assert_num_queries: Any
) -> None:
    for _ in range(30):
        factories.worker_stat(river_stage)
    with django_assert_num_queries(10):
        assert len(api.get(STAGE + "workers/").json()["results"]) == 30


def test_the_preview_of_an_undo_says_what_counts_again_and_what_is_closed(
    api: APIClient, river_stage: Stage, crowd: dict[str, str]
) -> None:
    api.post(STAGE + "block/", {"worker_ids": [crowd["bad"]], "cost": "2.00"}, format="json")
    (row,) = api.get(HOME + "blocks/").json()["results"]
    river_stage.hits.update(harvested=1)
    items = river_stage.items.filter(labels__worker__worker_id=crowd["bad"]).distinct()[:3]
    for item in items:
        factories.hit(item, slot=2)
    preview = api.get(f"{HOME}blocks/{row['id']}/undo/").json()
    assert preview == {"answers": 40, "hits": 3, "places": 3, "released": "0.15"}
    assert _void(crowd["bad"]) == 40


def test_workers_have_figures_beside_the_others(api: APIClient, river_stage: Stage) -> None:
    factories.worker_stat(
        river_stage,
        compared=40,
        agreed=30,
        agreed_by_chance=20,
        repeats=13,
        followed=39,
        longest_run=4,
        why="Median of 2.0 s.",
    )
    (told,) = api.get(f"{STAGE}workers/").json()["results"]
    assert told["agreement"] == 0.75 and told["beyond_chance"] == 0.5 and told["repeats"] == 13 / 39
    assert told["agreement_interval"] == pytest.approx(wilson(30, 40))
    assert (told["longest_run"], told["why"]) == (4, "Median of 2.0 s.")
    assert told["competence"] is None and "not been aggregated yet" in told["competence_missing"]
    run = ComputationRun.objects.create(
        project=river_stage.project, key=key_of(river_stage), seed=1, state="done", finished_at=timezone.now(),
        log=[{"report": {"units": [], "competence": {"method": "mace", "title": "MACE"}}}],
    )  # fmt: skip
    WorkerStat.objects.update(competence=0.875, competence_run=run)
    (told,) = api.get(f"{STAGE}workers/").json()["results"]
    assert (told["competence"], told["competence_method"], told["competence_missing"]) == (0.875, "MACE", "")
    assert told["competence_at"] == run.finished_at.isoformat()


def test_a_worker_is_blocked_by_hand_for_a_reason(api: APIClient, river_stage: Stage, crowd: dict[str, str]) -> None:
    river_stage.quality = {}
    river_stage.save()
    good = crowd["good"]
    preview = api.get(f"{STAGE}block/", {"worker_id": good}).json()
    assert preview["answers"] == 40 and preview["workers"][0]["worker_id"] == good
    given = {"worker_ids": [good], "cost": preview["cost"]}
    refused(api.post(f"{STAGE}block/", given, format="json"), 409, "not_blockable")
    assert api.post(f"{STAGE}block/", {**given, "reason": " "}, format="json").status_code == 400
    assert api.post(f"{STAGE}block/", {**given, "reason": "Shares answers."}, format="json").status_code == 202
    (block,) = api.get(f"{HOME}blocks/").json()["results"]
    assert block["state"] == "granted" and block["evidence"]["reason"] == "Shares answers."
    assert not Label.objects.of_counting_answers().filter(worker__worker_id=good).exists()


def test_a_worker_is_paused_and_nothing_stops_counting(
    api: APIClient, river_stage: Stage, crowd: dict[str, str]
) -> None:
    given = {"worker_ids": [crowd["bad"]], "hours": 24}
    assert api.post(f"{STAGE}pause-workers/", {**given, "hours": 721}, format="json").status_code == 400
    assert api.post(f"{STAGE}pause-workers/", given, format="json").status_code == 202
    (block,) = api.get(f"{HOME}blocks/").json()["results"]
    assert block["state"] == "granted" and block["until"]
    assert not Label.objects.filter(worker__worker_id=crowd["bad"], void=True).exists()


def test_a_worker_is_written_to_once(api: APIClient, river_stage: Stage, crowd: dict[str, str]) -> None:
    (draft,) = api.get(f"{STAGE}message-workers/", {"worker_id": crowd["bad"]}).json()
    assert draft["worker_id"] == crowd["bad"] and "which is not right" in draft["text"]
    given = {"subject": "Please look again", "messages": [draft], "confirmation": "nightly-0001"}
    for _ in range(2):
        assert api.post(f"{STAGE}message-workers/", given, format="json").status_code == 202
    (message,) = api.get(f"{HOME}messages/").json()["results"]
    assert message["state"] == "refused" and "no work that you have approved" in message["error"]
    refused(api.post(f"{STAGE}message-workers/", {**given, "messages": [{**draft, "worker_id": "A0"}]}, format="json"),
            400, "message_refused")  # fmt: skip
