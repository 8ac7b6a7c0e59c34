"""Settings of a stage: each reaches the marketplace, what is published keeps its own, and wrong ones change nothing."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from hits.answers.verbs import harvesting
from hits.judging.verbs import deciding, scoring
from hits.models import Batch, Hit, LedgerEntry, Stage, WorkerStat
from hits.payments.rules.large_changes import LargeChangeError
from hits.payments.verbs import checking_ledger
from hits.protocols.base import SettingsRefusedError
from hits.publishing.rules.marketplace_account import gateway
from hits.publishing.verbs import sending
from hits.stages.verbs import stage_settings
from tests.hits import factories as make
from tests.hits.doing import refused
from tests.hits.record_project import example, fields, lines

pytestmark = pytest.mark.django_db(transaction=True)
PERCENT = {"qualification": "percent_approved", "comparator": "GreaterThan", "integers": [80], "guards": "Accept"}
# The marketplace's own qualification of the share of approved answers.
PERCENT_ID = "000000000000000000L0"
# Written out, this reward has more digits than any memory holds.
HUGE = {"reward": "1e999999999999999"}
# Setting, value, field of the HIT at the marketplace, what it holds.
SENT: list[tuple[str, Any, str, Any]] = [
    ("answers", 3, "MaxAssignments", 3),
    ("reward", "0.11", "Reward", "0.11"),
    ("assignment_seconds", 1234, "AssignmentDurationInSeconds", 1234),
    ("auto_approval_seconds", 7200, "AutoApprovalDelayInSeconds", 2_592_000),
    ("hit_title", "Read the river news", "Title", "Read the river news"),
    ("hit_description", "One text, one click.", "Description", "One text, one click."),
    ("keywords", "river, ferry", "Keywords", "river, ferry"),
]


def told(hit_id: str | None) -> dict[str, Any]:
    """The HIT as the marketplace tells it."""
    found: dict[str, Any] = gateway()._call("get_hit", HITId=hit_id)["HIT"]
    return found


@pytest.mark.parametrize(("name", "value", "field", "sent"), SENT)
def test_a_changed_setting_is_what_the_marketplace_receives(
    market, bring, stage, publish, name: str, value: Any, field: str, sent: Any
) -> None:
    assert stage_settings.change(stage, {name: value}, None) == [name]
    bring(1)
    publish(stage)
    assert told(stage.hits.get().hit_id)[field] == sent


def test_the_lifetime_and_the_requirements_reach_the_marketplace_too(market, bring, stage, publish) -> None:
    stage_settings.change(stage, {"lifetime_seconds": 7200, "requirements": [PERCENT]}, None)
    bring(1)
    publish(stage)
    hit = told(stage.hits.get().hit_id)
    assert round((hit["Expiration"] - hit["CreationTime"]).total_seconds(), -1) == 7200
    [asked] = hit["QualificationRequirements"]
    assert (asked["QualificationTypeId"], asked["IntegerValues"], asked["ActionsGuarded"]) == (
        PERCENT_ID,
        [80],
        "Accept",
    )


def test_settings_that_stay_here_change_what_happens_here(market, bring, stage, publish, answer) -> None:
    changes = {
        "title": "First look",
        "approval": "review",
        "auto_approval_seconds": 86_400,
        "grants": "read-it",
        "draws": 7,
        "expected_seconds": 55,
        "quality": {"check_every": 10, "min_answers": 5, "floor": 0.5, "alpha": 0.05},
    }
    assert set(stage_settings.change(stage, changes, None)) == set(changes)
    assert (stage.title, stage.draws, stage.expected_seconds, stage.grants) == ("First look", 7, 55, "read-it")
    bring(1)
    publish(stage)
    answer(market.sign_up_worker(), stage.hits.get())
    harvesting.harvest(stage)
    assert stage.assignments.get().state == "Submitted", "a lead approves it now"
    assert stage.quality == changes["quality"]


def test_other_workers_are_asked_than_in_the_stages_that_are_named(market, bring, project, stage) -> None:
    second = project.stages.get(position=2)
    stage_settings.change(second, {"asks_other_workers_than": []}, None)
    assert second.not_workers_of == []
    with pytest.raises(SettingsRefusedError, match="must name earlier stages, not 'human'"):
        stage_settings.change(second, {"asks_other_workers_than": ["validate", "human"]}, None)


def test_the_next_hits_pay_more_and_earlier_ones_what_their_workers_saw(market, bring, stage, publish, answer) -> None:
    bring(1)
    publish(stage)
    first_type = stage.hit_type_id
    stage_settings.change(stage, {"reward": "0.09", "assignment_seconds": 3600}, None)
    bring(lines([example(7)]))
    publish(stage, "page-2")
    assert stage.hit_types == [first_type, stage.hit_type_id] and first_type != stage.hit_type_id
    first, second = stage.hits.order_by("id")
    assert [told(hit.hit_id)["Reward"] for hit in (first, second)] == ["0.04", "0.09"]
    assert [hit.assignment_seconds for hit in (first, second)] == [900, 3600]
    worker = market.sign_up_worker()
    for hit in (first, second):
        answer(worker, hit)
    # Both lists of finished HITs are read.
    Hit.objects.update(due_at=None)
    harvesting.harvest(stage)
    scoring.score(stage)
    deciding.decide(stage)
    paid = {row.hit: (row.paid, row.fee) for row in LedgerEntry.objects.filter(kind="settle")}
    assert paid == {first: (Decimal("0.05"), Decimal("0.01")), second: (Decimal("0.11"), Decimal("0.02"))}
    stat = WorkerStat.objects.get()
    assert (stat.earned, stat.fees) == (Decimal("0.13"), Decimal("0.03"))
    found = checking_ledger.check(stage.project, None)
    assert (found.state, found.differences) == ("done", []), "the marketplace charged the same"


def test_a_value_set_back_is_the_first_group_of_hits_again(market, bring, stage, publish) -> None:
    bring(1)
    publish(stage)
    first = stage.hit_type_id
    for reward in ("0.09", "0.04"):
        stage_settings.change(stage, {"reward": reward}, None)
    bring(lines([example(7)]))
    publish(stage, "page-2")
    assert (stage.hit_type_id, stage.hit_types) == (first, [first])


def test_what_workers_have_seen_is_fixed_and_says_why(market, bring, stage, publish) -> None:
    bring(1)
    publish(stage)
    own = [*stage.requirements, {"qualification": "part-one", "comparator": "Exists", "guards": "Accept"}]
    before = Stage.objects.values().get(pk=stage.pk)
    given = {"answers": 5, "hit_title": "Another", "requirements": own, "reward": "0.30", "title": "New"}
    with refused("settings_fixed") as refusal:
        stage_settings.change(stage, given, None)
    assert refusal.value.details()["settings"] == ["answers", "hit_title", "requirements"]
    assert Stage.objects.values().get(pk=stage.pk) == before
    looser = [one for one in stage.requirements if one["qualification"] != "number_approved"]
    assert stage_settings.change(stage, {"requirements": looser}, None) == ["requirements"]


def test_nothing_of_hits_that_are_on_their_way_changes(market, bring, stage) -> None:
    bring(1)
    batch = make.batch(stage, state=Batch.State.PUBLISHING, total=1, done=0)
    planned = make.hit(stage.items.get(), state=Hit.State.PLANNED, hit_id=None, batch=batch)
    with refused("still_sending"):
        stage_settings.change(stage, {"reward": "0.30"}, None)
    assert stage_settings.change(stage, {"title": "New"}, None) == ["title"]
    planned.delete()
    sending.send(batch.pk)
    stage_settings.change(stage, {"reward": "0.30"}, None)


def test_every_fault_is_named_once_and_nothing_changes(stage: Stage) -> None:
    before = Stage.objects.values().get(pk=stage.pk)
    wrong: dict[str, Any] = {
        "answers": 0,
        "reward": "0.005",
        "assignment_seconds": 5,
        "lifetime_seconds": "a week",
        "approval": "later",
        "hit_title": "x" * 129,
        "quality": {"floor": 2},
        "requirements": [{**PERCENT, "integers": []}],
        "asks_other_workers_than": ["human"],
        "settings": {},
        "rewrad": "0.05",
    }
    with pytest.raises(SettingsRefusedError) as refusal:
        stage_settings.change(stage, wrong, None)
    begun = [reason.split()[0].split("[")[0] for reason in refusal.value.reasons]
    assert sorted(begun) == sorted(wrong)
    assert Stage.objects.values().get(pk=stage.pk) == before


def test_leads_who_approve_get_three_days_unless_another_time_is_named(stage: Stage) -> None:
    Stage.objects.filter(pk=stage.pk).update(approval="automatic", auto_approval_seconds=0)
    with pytest.raises(SettingsRefusedError, match=r"^auto_approval_seconds must be more than 0 s"):
        stage_settings.change(stage, {"approval": "review", "auto_approval_seconds": 0}, None)
    assert stage_settings.change(stage, {"approval": "review"}, None) == ["approval", "auto_approval_seconds"]
    stage.refresh_from_db()
    assert (stage.approval, stage.auto_approval_seconds) == ("review", 259_200)


def test_the_recipes_value_stands_beside_each_and_can_be_set_again(stage: Stage) -> None:
    stage_settings.change(stage, {"auto_approval_seconds": 259_200}, None)
    assert not [setting.name for setting in stage_settings.shown(stage) if setting.differs]
    stage_settings.change(stage, {"reward": "0.30", "answers": 2}, None)
    differing = {one.name: (one.value, one.recipe) for one in stage_settings.shown(stage) if one.differs}
    assert differing == {"answers": (2, 1), "reward": ("0.30", "0.04")}
    assert stage.rule["params"]["answers"] == 2
    for name in differing:
        stage_settings.change(stage, {name: stage_settings.recipe_value(stage, name)}, None)
    assert not [setting.name for setting in stage_settings.shown(stage) if setting.differs]


def test_who_changed_what_is_in_the_log(stage: Stage, lead: Any) -> None:
    stage_settings.change(stage, {"reward": "0.30", "title": stage.title}, lead)
    row = stage.actions.get(verb=stage_settings.CHANGED)
    assert (row.user, row.detail) == (lead, {"settings": "reward", "values": {"reward": ["0.04", "0.30"]}})


def test_an_answer_is_late_by_the_time_of_its_own_hit(market, bring, stage, publish) -> None:
    bring(1)
    publish(stage)
    hit = stage.hits.get()
    stage_settings.change(stage, {"assignment_seconds": 30}, None)
    market.answer(market.sign_up_worker(), hit.hit_id, **fields(hit, "Linden"))
    harvesting.harvest(stage)
    row = stage.assignments.get()
    stage.assignments.update(accepted_at=row.submitted_at - timedelta(seconds=800))
    scoring.score(stage)
    row.refresh_from_db()
    assert row.held == ""


@pytest.mark.parametrize(
    ("waiting", "given", "asked"),
    [
        (0, {"reward": "0.39"}, False),
        (0, {"reward": "0.40"}, True),
        (0, {"answers": 9}, False),
        (0, {"answers": 10}, True),
        (0, {"most_answers": 10, "enough": "at least 2 agree on entity"}, True),
        # 10,000 items that wait cost $500 now; $1,500 are not more than $1,000 beyond that.
        (10_000, {"answers": 3}, False),
        (10_001, {"answers": 3, "reward": "0.05"}, True),
        (1_000_000, {"reward": "0.01"}, False),
        (1_000_000, {"title": "Large"}, False),
    ],
)
def test_a_large_raise_of_what_a_stage_pays_is_confirmed_with_its_values(
    stage: Stage, waiting: int, given: dict[str, Any], asked: bool
) -> None:
    stage.summary.waiting = waiting
    stage.summary.save()
    before = Stage.objects.filter(pk=stage.pk).values().get()
    if not asked:
        assert set(stage_settings.change(stage, given, None)) == set(given)
        return
    for confirmed in (None, {}, {"reward": "0.41", "answers": 11, "most_answers": 11}, {"reward": "all"}, HUGE):
        with pytest.raises(LargeChangeError, match="has to be confirmed") as refused:
            stage_settings.change(stage, given, None, confirmed=confirmed)
    assert Stage.objects.filter(pk=stage.pk).values().get() == before
    assert set(stage_settings.change(stage, given, None, confirmed=refused.value.details()["confirm"])) == set(given)
