"""Workers are compared with one another when enough answers came, or a while after which answers count has changed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from hits.judging.rules.summaries import refresh_summary, refresh_worker_stats
from hits.models import Assignment, Block, Item, Label, Stage, StageSummary, Worker, WorkerStat
from hits.recipes.spec import stage_spec
from hits.stats.blocking import MEASURES, Evidence, PolicyError
from hits.templatetags.figures import scored_in_words
from hits.views import words
from hits.workers.rules import worker_table
from hits.workers.verbs import blocking, comparing
from tests.hits import factories as make
from tests.hits.doing import refused
from tests.hits.said import computed

pytestmark = pytest.mark.django_db
VALUES = ["yes", "no", "unclear"]


def answered(stage: Stage, rows: Sequence[tuple[Worker, Item, Any, bool | None]], unit: str = "choice") -> None:
    """Each row is an answer that says one thing, in this order."""
    hits = {hit.item_id: hit for hit in make.hits(list({item.pk: item for _, item, _, _ in rows}.values()))}
    made = Assignment.objects.bulk_create(
        Assignment(
            hit=hits[item.pk],
            stage=stage,
            worker=worker,
            assignment_id=f"3A{number:08d}",
            state=Assignment.State.APPROVED,
            accepted_at=make.NOON,
            submitted_at=make.NOON + timedelta(seconds=number),
            seconds=40,
            answer={},
            scored=True,
        )
        for number, (worker, item, _, _) in enumerate(rows)
    )
    Label.objects.bulk_create(
        Label(assignment=row, item=item, stage=stage, worker=worker, unit=unit, value=value, correct=correct)
        for row, (worker, item, value, correct) in zip(made, rows, strict=True)
    )
    refresh_worker_stats(stage, [worker.pk for worker, _, _, _ in rows])
    refresh_summary(stage)


@pytest.fixture
def stage() -> Stage:
    choices = [{"id": value, "text": value} for value in VALUES]
    settings = {"question": "Wet?", "choices": choices, "free_text": "optional"}
    return make.stage(make.project(budget="500.00"), answers=3, protocol="multiple_choice", settings=settings)


@pytest.fixture
def crowd(stage: Stage) -> list[Worker]:
    """Six workers of whom the last one chooses by chance; each answers sixty items, of which every third is known."""
    draw = random.Random(3)
    workers, items = [make.worker() for _ in range(6)], make.items(stage, 60)
    rows = []
    for number, item in enumerate(items):
        truth = draw.choice(VALUES)
        for worker in workers:
            errs = worker == workers[-1] or draw.random() < 0.1
            value = draw.choice(VALUES) if errs else truth
            rows.append((worker, item, value, value == truth if number % 3 == 0 else None))
    answered(stage, rows)
    return workers


def row_of(stage: Stage, worker: Worker) -> worker_table.WorkerRow:
    return worker_table.WorkerRow(WorkerStat.objects.get(stage=stage, worker=worker))


@pytest.mark.on_postgresql
def test_the_figures_of_all_workers_are_written_at_once(stage: Stage, crowd: list[Worker]) -> None:
    assert comparing.compare_when_due(stage) == 6
    good, spammer = row_of(stage, crowd[0]), row_of(stage, crowd[-1])
    assert good.stat.compared == spammer.stat.compared == 60
    assert good.agreement and good.agreement > 0.65 and good.stat.why == ""
    assert spammer.agreement and spammer.agreement < 0.45
    assert spammer.beyond_chance is not None and abs(spammer.beyond_chance) < 0.15
    assert "no better than chance" in spammer.stat.why and spammer.stat.notices == 2
    low, high = spammer.agreement_interval
    assert low < spammer.agreement < high


def test_they_are_compared_again_when_one_answer_in_twenty_is_new(stage: Stage, crowd: list[Worker]) -> None:
    comparing.compare_when_due(stage)
    assert not comparing.is_due(stage)
    StageSummary.objects.filter(stage=stage).update(answers=360 + 18)
    assert not comparing.is_due(stage)
    StageSummary.objects.filter(stage=stage).update(answers=360 + 19)
    assert comparing.is_due(stage) and comparing.due_stages() == [stage.pk]


def test_they_are_compared_again_a_minute_after_something_has_changed(stage: Stage, crowd: list[Worker]) -> None:
    comparing.compare_when_due(stage)
    refresh_summary(stage)
    assert not comparing.is_due(stage)
    StageSummary.objects.filter(stage=stage).update(compared_at=timezone.now() - timedelta(seconds=61))
    assert comparing.is_due(stage)


def test_a_blocked_worker_is_nobody_s_measure_and_stays_compared(stage: Stage, crowd: list[Worker]) -> None:
    comparing.compare_workers(stage)
    before, spammer = row_of(stage, crowd[0]), row_of(stage, crowd[-1])
    blocking.intend_by_hand(stage, [crowd[-1].worker_id], "Chooses by chance.", None)
    comparing.compare_workers(stage)
    after = row_of(stage, crowd[0])
    assert after.agreement and before.agreement and after.agreement > before.agreement + 0.05
    assert row_of(stage, crowd[-1]).agreement == spammer.agreement


def test_what_waits_for_a_lead_is_no_evidence_yet(stage: Stage, crowd: list[Worker]) -> None:
    mine = Assignment.objects.filter(worker=crowd[0]).order_by("pk")[:10]
    Assignment.objects.filter(pk__in=mine.values_list("pk", flat=True)).update(held="Too fast.", held_for="untimely")
    comparing.compare_workers(stage)
    assert row_of(stage, crowd[0]).stat.compared == 50


def test_what_is_written_freely_is_not_compared(stage: Stage) -> None:
    item, writers = make.items(stage, 1)[0], [make.worker(), make.worker()]
    answered(stage, [(writer, item, "A boat", None) for writer in writers], unit="text")
    comparing.compare_workers(stage)
    assert row_of(stage, writers[0]).stat.compared == 0


def test_names_in_a_text_agree_wherever_they_were_clicked(stage: Stage) -> None:
    stage = make.stage(stage.project, protocol="clickable_entity")
    item, readers = make.items(stage, 1)[0], [make.worker(), make.worker()]
    clicked = [{"start": 0, "end": 6, "text": "Linden"}, {"start": 7, "end": 13, "text": "LINDEN"}]
    answered(stage, [(reader, item, name, None) for reader, name in zip(readers, clicked, strict=True)], unit="entity")
    comparing.compare_workers(stage)
    assert row_of(stage, readers[0]).agreement == 1


@pytest.mark.on_postgresql
@pytest.mark.parametrize("order", [name for column in worker_table.ORDERS for name in (column, f"-{column}")])
def test_the_table_sorts_by_each_column_and_knows_nothing_of_the_unknown_last(
    stage: Stage, crowd: list[Worker], order: str
) -> None:
    new = make.worker_stat(stage, answers=1, scored=0, correct=0, median_seconds=None)
    comparing.compare_workers(stage)
    rows = list(worker_table.ordered(stage, order))
    assert len(rows) == 7
    places = [row.place for row in rows if row.place is not None]
    assert places == sorted(places, reverse=order.startswith("-"))
    if order.removeprefix("-") in ("known", "agreement", "chance", "seconds", "repeats"):
        assert rows[-1] == new and rows[-1].place is None


# Policies


def policy(stage: Stage, **values: object) -> None:
    Stage.objects.filter(pk=stage.pk).update(quality={"check_every": 100, "min_answers": 20, "alpha": 0.01, **values})
    stage.refresh_from_db()


def test_a_policy_names_by_agreement_with_a_floor_between_chance_and_the_crowd(
    stage: Stage, crowd: list[Worker]
) -> None:
    comparing.compare_workers(stage)
    policy(stage, measure="agreement", relative=True, floor=0.5)
    (evidence,) = blocking.proposals(stage)
    assert evidence.worker == crowd[-1].worker_id and evidence.measure == "agreement" and evidence.share == 0.5
    assert evidence.chance is not None and evidence.chance < evidence.floor < evidence.average
    assert evidence.floor == pytest.approx((evidence.chance + evidence.average) / 2)
    assert evidence.p_value < 0.01 and evidence.scored == 60
    policy(stage, measure="agreement", floor=0.2)
    assert blocking.proposals(stage) == []


def test_known_answers_with_a_relative_floor_name_the_same_one(stage: Stage, crowd: list[Worker]) -> None:
    comparing.compare_workers(stage)
    policy(stage, relative=True, floor=0.5)
    (evidence,) = blocking.proposals(stage)
    assert evidence.worker == crowd[-1].worker_id and evidence.measure == "known_answers" and evidence.scored == 20


def test_a_policy_names_who_is_hurried_beside_the_crowd(stage: Stage, crowd: list[Worker]) -> None:
    hasty, slow = crowd[0], crowd[1]
    of_stage = Assignment.objects.filter(stage=stage)
    of_stage.filter(worker=hasty).update(seconds=13)
    of_stage.filter(worker=slow).update(seconds=14)
    refresh_summary(stage)
    policy(stage, measure="speed", floor=0.5)
    assert blocking.proposals(stage) == []
    comparing.compare_workers(stage)
    (evidence,) = blocking.proposals(stage)
    assert (evidence.worker, evidence.scored, evidence.correct) == (hasty.worker_id, 60, 0)
    assert evidence.average == pytest.approx(5 / 6)
    own = list(of_stage.filter(worker=hasty).values_list("pk", flat=True))
    of_stage.filter(pk__in=own[:40]).update(held="It took too little time.")
    comparing.compare_workers(stage)
    assert row_of(stage, hasty).stat.timed == 20 and len(blocking.proposals(stage)) == 1
    of_stage.filter(pk__in=own[40:41]).update(held="It took too little time.")
    comparing.compare_workers(stage)
    assert blocking.proposals(stage) == []


def test_a_policy_names_who_says_the_same_again_and_again(stage: Stage, crowd: list[Worker]) -> None:
    Label.objects.filter(worker=crowd[2]).update(value="no")
    comparing.compare_workers(stage)
    policy(stage, measure="repeats", relative=True, floor=0.5)
    (evidence,) = blocking.proposals(stage)
    assert (evidence.worker, evidence.scored, evidence.correct, evidence.chance) == (crowd[2].worker_id, 59, 0, 0)
    assert evidence.floor == pytest.approx(evidence.average / 2)


def test_a_policy_names_by_the_competence_of_the_newest_computation(stage: Stage, crowd: list[Worker]) -> None:
    comparing.compare_workers(stage)
    policy(stage, measure="competence", relative=True, floor=0.5)
    assert blocking.proposals(stage) == [] and not blocking.is_due(stage)
    computed(stage)
    (evidence,) = blocking.proposals(stage)
    row = row_of(stage, crowd[-1]).stat
    assert row.competence is not None and evidence.worker == crowd[-1].worker_id
    assert evidence.accuracy == pytest.approx(row.competence) and evidence.scored == 60
    WorkerStat.objects.filter(pk=row.pk).update(competence_run=None)
    assert blocking.proposals(stage) == []


def test_answers_to_several_items_of_a_hit_follow_one_another(stage: Stage) -> None:
    worker, items = make.worker(), make.items(stage, 4)
    answer = make.assignment(make.hit(items[0]), worker)
    for item, value in zip(items, ["yes", "yes", "yes", "no"], strict=True):
        make.label(answer, item=item, unit="choice", value=value)
    refresh_worker_stats(stage, [worker.pk])
    refresh_summary(stage)
    comparing.compare_workers(stage)
    assert row_of(stage, worker).repeats == pytest.approx(2 / 3)
    assert [row.place for row in worker_table.ordered(stage, "repeats")] == [pytest.approx(2 / 3)]


@pytest.mark.parametrize("measure", list(MEASURES))
def test_evidence_by_each_measure_reads_as_a_sentence(measure: str) -> None:
    found = Evidence("AX", 40, 2.25, 0.05, 0.5, 1e-9, 0.2, 0.01, (0.01, 0.2), measure)
    of = MEASURES[measure]
    number = "2.25" if of.in_shares else "2"
    for given in (found, found.to_dict()):
        assert scored_in_words(given) == f"{number} of 40 {of.scored} {of.are_good}"
    assert f"after every 1,000 {of.scored}" in words.policy({"measure": measure})


def test_stages_with_another_measure_are_no_references(stage: Stage, crowd: list[Worker]) -> None:
    other = make.stage(stage.project, quality={"measure": "known_answers", "floor": 0.9, "min_answers": 20})
    make.worker_stat(other, crowd[0], scored=100, correct=0, answers=100)
    comparing.compare_workers(stage)
    policy(stage, measure="agreement", relative=True, floor=0.5)
    assert [found.worker for found in blocking.proposals(stage)] == [crowd[-1].worker_id]


def test_a_check_by_agreement_is_due_by_the_compared_answers(stage: Stage, crowd: list[Worker]) -> None:
    policy(stage, measure="agreement", relative=True, floor=0.5)
    assert not blocking.is_due(stage)
    comparing.compare_workers(stage)
    assert blocking.is_due(stage)
    blocking.mark_checked(stage)
    stage.refresh_from_db()
    assert stage.quality_checked_at == 360 and not blocking.is_due(stage)


def test_a_check_counts_for_the_stages_that_block_in_the_same_way(stage: Stage, crowd: list[Worker]) -> None:
    policy(stage, measure="agreement", relative=True, floor=0.5)
    alike, by_itself = (make.stage(stage.project, quality=stage.quality, auto_block=auto) for auto in (False, True))
    comparing.compare_workers(stage)
    blocking.mark_checked(stage)
    checked = Stage.objects.in_bulk([stage.pk, alike.pk, by_itself.pk])
    assert [checked[each.pk].quality_checked_at for each in (stage, alike)] == [360, 360]
    assert checked[by_itself.pk].quality_checked_at != 360


def test_every_fault_of_a_policy_is_named_at_once() -> None:
    faults: list[str] = []
    stage_spec({"quality": {"measure": "luck", "relative": "yes", "floor": 2, "alpha": 0.01}}, "", faults)
    told = " ".join(faults)
    for name in ("measure", "relative", "floor"):
        assert f"{name} must be" in told
    with pytest.raises(PolicyError):
        raise PolicyError(["x"])


# By hand


@pytest.mark.on_postgresql
def test_a_block_by_hand_keeps_the_reason_and_the_figures(stage: Stage, crowd: list[Worker]) -> None:
    comparing.compare_workers(stage)
    chosen = blocking.preview_chosen(stage, [crowd[-1].worker_id])
    assert chosen.answers[crowd[-1].worker_id] == 60 and chosen.loss.answers == 60
    lead = make.user()
    assert blocking.intend_by_hand(stage, [crowd[-1].worker_id], " Chooses by chance. ", lead, chosen.loss.cost) == 1
    block = Block.objects.get()
    assert block.evidence["by_hand"] and block.evidence["reason"] == "Chooses by chance."
    assert block.evidence["figures"]["compared"] == 60 and "no better than chance" in block.evidence["figures"]["why"]
    assert not Label.objects.of_counting_answers().filter(worker=crowd[-1]).exists()
    assert block.created_by == lead
    assert blocking.intend_by_hand(stage, [crowd[-1].worker_id], "Again.", lead) == 0


@pytest.mark.parametrize("reason", ["", "   ", "x" * 1001])
def test_without_a_reason_nobody_is_blocked(stage: Stage, crowd: list[Worker], reason: str) -> None:
    with refused("reason_refused"):
        blocking.intend_by_hand(stage, [crowd[0].worker_id], reason, None)
    assert not Block.objects.exists()


def test_nobody_of_another_stage_is_blocked_and_none_for_more_than_was_confirmed(
    stage: Stage, crowd: list[Worker]
) -> None:
    with refused("not_blockable"):
        blocking.intend_by_hand(stage, [crowd[0].worker_id, make.worker().worker_id], "Why not.", None)
    Stage.objects.filter(pk=stage.pk).update(answers=6)
    stage.refresh_from_db()
    with refused("loss_grown"):
        blocking.intend_by_hand(stage, [crowd[0].worker_id], "Why not.", None, Decimal("0.01"))
    assert not Block.objects.exists()


@pytest.mark.on_postgresql
def test_it_costs_as_many_queries_for_many_answers_as_for_few(stage: Stage, crowd: list[Worker]) -> None:
    comparing.compare_workers(stage)
    with CaptureQueriesContext(connection) as few:
        comparing.compare_workers(stage)
    draw, items = random.Random(1), make.items(stage, 300)
    Label.objects.all().delete()
    Assignment.objects.all().delete()
    answered(stage, [(worker, item, draw.choice(VALUES), None) for item in items for worker in crowd])
    with CaptureQueriesContext(connection) as many:
        comparing.compare_workers(stage)
    assert len(many) == len(few)
    assert row_of(stage, crowd[0]).stat.compared == 300
