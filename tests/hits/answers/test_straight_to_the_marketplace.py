"""Answers posted straight to the marketplace, past the page: scoring counts none whom the page refuses."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from hits import tasks
from hits.answers.rules import eligibility
from hits.answers.verbs import harvesting, reviewing, serving
from hits.judging.rules.counting import recount
from hits.judging.verbs import advancing, deciding, scoring
from hits.models import Assignment, Batch, Block, Grant, Hit, Item, Label, Stage, Verdict, WorkerStat
from hits.projects.verbs import projects
from hits.publishing.rules import hit_plans
from hits.publishing.verbs import sending
from hits.workers.rules import block_losses
from hits.workers.verbs import blocking, granting
from tests.hits import factories as make
from tests.hits.record_project import fields

pytestmark = pytest.mark.django_db(transaction=True)
EXCLUDED = [{"qualification": "part-one", "comparator": "DoesNotExist"}]


def conclude(stage: Stage) -> None:
    harvesting.harvest(stage)
    scoring.score(stage)
    deciding.decide(stage)


def states(stage: Stage) -> list[str]:
    return list(stage.items.order_by("id").values_list("state", flat=True))


def held() -> dict[str, str]:
    return dict(Assignment.objects.exclude(held="").values_list("assignment_id", "held"))


def counting() -> list[str]:
    return sorted(Label.objects.counting().values_list("assignment__assignment_id", flat=True).distinct())


@pytest.fixture
def second_pass(market, bring, stage, publish, answer, project):
    """One item that a worker has validated, and the HIT of its second validation: (stage, HIT, worker)."""
    bring(1, origin="crawled")
    publish(stage)
    worker = market.sign_up_worker()
    answer(worker, stage.hits.get())
    conclude(stage)
    advancing.advance(stage)
    second = project.stages.get(position=2)
    assert states(second) == ["new"]
    publish(second, "page-2")
    return second, second.hits.get(), worker


# Another worker


def test_who_validated_an_item_does_not_count_as_its_second_reader(market, second_pass, answer, stage):
    second, hit, worker = second_pass
    with pytest.raises(serving.NotEligibleError):
        serving.refuse_ineligible(serving.Visit(hit, "3ANY", worker))
    sent = market.answer(worker, hit.hit_id, **fields(hit, "Linden"))
    conclude(second)
    row = second.assignments.get()
    assert "had answered this item, or what it was made from, before" in row.held
    assert stage.assignments.get().assignment_id in row.held
    assert (row.problem, row.admitted, row.decision) == ("", None, "")
    assert not second.labels.counting().exists()
    assert states(second) == ["again"]
    assert market.status(sent)["status"] == "Approved", "the marketplace paid it by itself: this stage is automatic"
    batch = tasks.topping_up.top_up(second)
    sending.send(batch.pk)
    answer(market.sign_up_worker(), hit)
    conclude(second)
    assert states(second) == ["kept"]
    assert set(held()) == {sent.assignment_id}


def test_a_lead_who_approves_it_makes_it_count(market, second_pass):
    second, hit, worker = second_pass
    market.answer(worker, hit.hit_id, **fields(hit, "Linden"))
    conclude(second)
    second.summary.refresh_from_db()
    assert second.summary.held == 1
    pks = list(second.assignments.values_list("pk", flat=True))
    assert reviewing.approve(second, pks, None) == 1
    assert reviewing.approve(second, pks, None) == 0
    deciding.decide(second)
    second.summary.refresh_from_db()
    assert (states(second), second.summary.held) == (["kept"], 0)
    assert reviewing.reject(second, pks, "It was the same person.", None) == 1
    deciding.decide(second)
    assert states(second) == ["again"]
    assert Assignment.objects.get(pk=pks[0]).state == Assignment.State.APPROVED


def test_the_figures_of_its_worker_follow_a_decision_about_what_the_marketplace_has_paid(market, second_pass):
    second, hit, worker = second_pass
    market.answer(worker, hit.hit_id, **fields(hit, "Linden"))
    conclude(second)
    pks = list(second.assignments.values_list("pk", flat=True))

    def scored() -> int:
        return WorkerStat.objects.get(stage=second, worker__worker_id=worker).scored

    assert scored() == 0
    reviewing.approve(second, pks, None)
    assert scored() == 1
    reviewing.reject(second, pks, "It was the same person.", None)
    assert scored() == 0


def test_an_answer_that_waits_is_neither_approved_nor_rejected_by_itself(market, second_pass):
    second, hit, worker = second_pass
    market.answer(worker, hit.hit_id, **fields(hit, "Linden"))
    harvesting.harvest(second)
    # As in a stage whose answers are held until a lead decides.
    Assignment.objects.filter(stage=second).update(state=Assignment.State.SUBMITTED)
    scoring.score(second)
    reviewing.finish(second)
    row = second.assignments.get()
    assert (row.state, row.decision, row.admitted) == (Assignment.State.SUBMITTED, "", None)
    assert list(second.assignments.held()) == list(second.assignments.to_review()) == [row]
    reviewing.approve(second, [row.pk], None)
    row.refresh_from_db()
    assert (row.decision, row.admitted) == (Assignment.State.APPROVED, True)
    assert row.assignment_id in counting()


def test_a_second_tab_that_was_open_before_the_first_answer_does_not_count_either(market, bring, stage, publish):
    """Two HITs of one item are open at once; the page refuses the second one only after the first is recorded."""
    projects.want_answers(stage, 1, 1)
    bring(1)
    publish(stage)
    first = stage.hits.get()
    batch = make.batch(stage, state=Batch.State.PUBLISHING, total=1, done=0)
    second = make.hit(first.item, slot=2, hit_id=None, state=Hit.State.PLANNED, batch=batch)
    hit_plans.reserve(stage, batch, Decimal("0.05"))
    sending.send(batch.pk)
    second.refresh_from_db()
    worker = market.sign_up_worker()
    tabs = [market.accept(worker, hit_id=hit.hit_id) for hit in (first, second)]
    # What a worker returns and takes again is another assignment.
    market.give_back(tabs[1])
    tabs[1] = market.accept(worker, hit_id=second.hit_id)
    for tab in tabs:
        market.submit(tab, **fields(first, "Linden"))
    conclude(stage)
    in_order = list(stage.assignments.order_by("submitted_at", "assignment_id").values_list("assignment_id", flat=True))
    assert set(held()) == {in_order[1]}
    assert counting() == [in_order[0]]


def test_an_answer_given_while_a_block_stands_is_held_until_it_is_undone(market, bring, stage, publish):
    bring(2)
    publish(stage)
    worker = market.sign_up_worker()
    first, second = stage.hits.order_by("id")
    market.answer(worker, first.hit_id, **fields(first, "Linden"))
    conclude(stage)
    taken = market.accept(worker, hit_id=second.hit_id)
    row = Assignment.objects.get().worker
    # Its grant is on its way to the marketplace, so the worker keeps what was accepted.
    block = Block.objects.create(project=stage.project, stage=stage, worker=row, evidence={})
    Block.objects.update(created_at=timezone.now() - timedelta(seconds=2))
    Assignment.objects.update(submitted_at=timezone.now() - timedelta(minutes=1))
    recount(Assignment.objects.all())
    market.submit(taken, **fields(second, "Linden"))
    conclude(stage)
    assert held() == {taken.assignment_id: "The worker was blocked when it was submitted."}
    assert counting() == []
    assert block_losses.restored(stage.project, row).answers == 2
    blocking.undo(block, None)
    deciding.decide(stage)
    assert (held(), states(stage)) == ({}, ["kept", "kept"])


# What was submitted first


@pytest.fixture
def pair(db):
    """An item of a stage and the one made of it in a stage that asks for other workers, each with a HIT."""
    first = make.stage()
    second = make.stage(first.project, not_workers_of=[first.key])
    item = make.item(first)
    return make.hit(item), make.hit(make.item(second, parent=item, document=item.document))


def recorded(hit: Hit, worker, at: int, **columns) -> Assignment:
    """An answer submitted so many seconds after noon, fetched and not scored."""
    moment = make.NOON + timedelta(seconds=at)
    times = {"accepted_at": moment - timedelta(seconds=40), "submitted_at": moment, "seconds": 40.0}
    return make.assignment(hit, worker, scored=False, **{**times, **columns})


def one_stage_excludes_itself() -> tuple[Hit, Hit]:
    """Who gets a qualification for an answer, and the stage refuses who has it: one answer a worker."""
    stage = make.stage(grants="part-one", requirements=EXCLUDED)
    return make.hit(make.item(stage)), make.hit(make.item(stage))


def two_parts() -> tuple[Hit, Hit]:
    first = make.stage(grants="part-one")
    second = make.stage(first.project, requirements=EXCLUDED)
    return make.hit(make.item(first)), make.hit(make.item(second))


def two_hits_of_an_item() -> tuple[Hit, Hit]:
    hit = make.hit()
    return hit, make.hit(hit.item, slot=2)


def two_stages_about_a_document() -> tuple[Hit, Hit]:
    """The item names its parent in one stage and was made of another one's answers, too."""
    first = make.stage()
    beside, document = make.stage(first.project), make.document(first.project)
    joined = make.stage(first.project, not_workers_of=[first.key, beside.key])
    parent = make.item(first, document=document)
    earlier = make.hit(make.item(beside, document=document))
    return earlier, make.hit(make.item(joined, parent=parent, document=document))


CASES = [one_stage_excludes_itself, two_parts, two_hits_of_an_item, two_stages_about_a_document]


@pytest.mark.parametrize("late", [0, 1, None], ids=["first fetched late", "second fetched late", "fetched together"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_the_answer_submitted_first_counts_whichever_is_fetched_first(db, case, late):
    hits, worker = case(), make.worker()
    order = [0, 1] if late is None else [1 - late, late]
    rows = {}
    for number in order:
        rows[number] = recorded(hits[number], worker, at=60 * number)
        if late is not None:
            scoring.score(hits[number].stage)
            granting.grant_for_answers(hits[number].stage)
    for hit in hits:
        scoring.score(hit.stage)
    assert set(held()) == {rows[1].assignment_id}
    assert counting() == [rows[0].assignment_id]
    before = held()
    Assignment.objects.update(scored=False)
    for hit in hits:
        scoring.score(hit.stage)
    assert held() == before


def test_two_answers_of_one_second_go_by_their_ids(db):
    hits, worker = two_hits_of_an_item(), make.worker()
    ids = ["3ZZZ", "3AAA"]
    for hit, assignment_id in zip(hits, ids, strict=True):
        recorded(hit, worker, 60, assignment_id=assignment_id)
        scoring.score(hit.stage)
    assert set(held()) == {"3ZZZ"}


def test_who_reads_an_item_before_writing_what_it_was_made_from_counts_in_both(pair):
    source, derived = pair
    worker = make.worker()
    recorded(derived, worker, 0)
    recorded(source, worker, 60)
    for hit in pair:
        scoring.score(hit.stage)
    assert held() == {}


def test_an_earlier_answer_that_is_fetched_late_takes_back_what_was_concluded(pair):
    source, derived = pair
    worker = make.worker()
    recorded(derived, worker, 60)
    scoring.score(derived.stage)
    deciding.decide(derived.stage)
    assert states(derived.stage) == ["kept"]
    recorded(source, worker, 0)
    scoring.score(source.stage)
    deciding.decide(derived.stage)
    assert states(derived.stage) != ["kept"]
    assert not Verdict.objects.filter(item=derived.item, superseded_at=None).exists()


@pytest.fixture
def both_parts(db):
    """Two stages, each of which refuses who has answered in the other one."""
    first = make.stage(grants="part-one", requirements=[{**EXCLUDED[0], "qualification": "part-two"}])
    return first, make.stage(first.project, grants="part-two", requirements=EXCLUDED)


@pytest.fixture
def chain(both_parts):
    """Of one worker: an answer to part one, an ineligible one to part two, another one to part one; not scored."""
    first, second = both_parts
    worker = make.worker()
    return [recorded(make.hit(make.item(stage)), worker, at) for stage, at in ((first, 0), (second, 60), (first, 120))]


@pytest.mark.parametrize("order", [(0, 1), (1, 0), (1, 0, 1)], ids=str)
def test_an_answer_held_for_the_other_part_leaves_its_worker_in_their_own(both_parts, chain, order):
    for number in order:
        scoring.score(both_parts[number])
    assert set(held()) == {chain[1].assignment_id}
    assert counting() == sorted([chain[0].assignment_id, chain[2].assignment_id])
    before = held()
    Assignment.objects.update(scored=False)
    for number in order:
        scoring.score(both_parts[number])
    assert held() == before
    assert eligibility.recheck([row.pk for row in chain]) == 0


def test_neither_the_page_nor_a_qualification_takes_a_held_answer_for_the_other_part(both_parts, chain):
    first, second = both_parts
    for stage in both_parts:
        scoring.score(stage)
        granting.grant_for_answers(stage)
    assert list(Grant.objects.values_list("key", flat=True)) == ["part-one"]
    worker_id = chain[0].worker.worker_id
    serving.refuse_ineligible(serving.Visit(make.hit(make.item(first)), "3NEW", worker_id))
    with pytest.raises(serving.NotEligibleError, match="the other part"):
        serving.refuse_ineligible(serving.Visit(make.hit(make.item(second)), "3NEW", worker_id))


def test_no_qualification_is_given_for_an_answer_before_it_is_judged(both_parts, chain):
    assert granting.grant_for_answers(both_parts[1]) == 0


def test_when_a_lead_lets_it_count_the_later_answer_to_the_first_part_is_held_and_not_any_more_without_it(
    both_parts, chain
):
    for stage in both_parts:
        scoring.score(stage)
        deciding.decide(stage)
    reviewing.approve(both_parts[1], [chain[1].pk], None)
    assert set(held()) == {chain[1].assignment_id, chain[2].assignment_id}
    assert counting() == sorted([chain[0].assignment_id, chain[1].assignment_id])
    assert both_parts[0].pk in deciding.unfinished()
    assert granting.grant_for_answers(both_parts[1]) == 1
    Assignment.objects.filter(pk=chain[1].pk).update(state=Assignment.State.APPROVED, decision="")
    reviewing.reject(both_parts[1], [chain[1].pk], "It was the other part.", None)
    assert set(held()) == {chain[1].assignment_id}
    assert counting() == sorted([chain[0].assignment_id, chain[2].assignment_id])


def test_a_long_chain_of_parts_is_judged_in_its_order_when_its_first_answer_comes_last(both_parts):
    first, second = both_parts
    worker = make.worker()
    rows = [recorded(make.hit(make.item(second if n % 2 else first)), worker, 60 * n) for n in range(1, 8)]
    for stage in both_parts:
        scoring.score(stage)
    assert set(held()) == {row.assignment_id for row in rows if row.stage == first}
    recorded(make.hit(make.item(first)), worker, 0)
    with CaptureQueriesContext(connection) as long:
        scoring.score(first)
    assert set(held()) == {row.assignment_id for row in rows if row.stage == second}
    other = make.worker()
    for at in (60, 120):
        recorded(make.hit(make.item(second if at == 60 else first)), other, at)
    for stage in both_parts:
        scoring.score(stage)
    recorded(make.hit(make.item(first)), other, 0)
    with CaptureQueriesContext(connection) as short:
        scoring.score(first)
    assert len(long) == len(short)


def test_who_was_only_too_fast_has_done_the_part(both_parts):
    first, second = both_parts
    Stage.objects.filter(pk=first.pk).update(settings={"min_seconds": 60})
    worker = make.worker()
    fast = recorded(make.hit(make.item(first)), worker, 0)
    other = recorded(make.hit(make.item(second)), worker, 60)
    for stage in Stage.objects.order_by("pk"):
        scoring.score(stage)
    causes = dict(Assignment.objects.values_list("assignment_id", "held_for"))
    assert causes == {fast.assignment_id: "untimely", other.assignment_id: "other-part"}


def test_after_a_withdrawal_only_a_later_answer_excludes(db):
    first, second = two_parts()
    worker = make.worker()
    recorded(first, worker, 0)
    Grant.objects.create(
        project=first.stage.project,
        key="part-one",
        worker=worker,
        stage=first.stage,
        state=Grant.State.WITHDRAWN,
        withdrawn_at=make.NOON + timedelta(seconds=30),
    )
    between = make.hit(make.item(second.stage))
    recorded(between, worker, 20)
    recorded(second, worker, 60)
    for stage in (first.stage, second.stage):
        scoring.score(stage)
    assert set(held()) == {between.assignments.get().assignment_id}


def test_a_stage_for_chosen_workers_holds_the_answers_of_others(db):
    stage = make.stage(requirements=[{"qualification": "chosen-reader", "comparator": "Exists"}])
    chosen, other = make.worker(), make.worker()
    Grant.objects.create(project=stage.project, key="chosen-reader", worker=chosen, state=Grant.State.GRANTED)
    for worker in (chosen, other):
        recorded(make.hit(make.item(stage)), worker, 60)
    scoring.score(stage)
    assert list(Assignment.objects.exclude(held="").values_list("worker", flat=True)) == [other.pk]


def test_what_a_worker_accepted_after_the_end_or_sent_after_the_time_is_held(db):
    stage = make.stage(assignment_seconds=600)
    hit = make.hit(make.item(stage), expires_at=make.NOON - timedelta(hours=1))
    over = recorded(hit, make.worker(), 0)
    closed = make.hit(make.item(stage), expires_at=make.NOON - timedelta(hours=1), closed_early=True)
    recorded(closed, make.worker(), 0)
    long = recorded(make.hit(make.item(stage)), make.worker(), 0, accepted_at=make.NOON - timedelta(hours=1))
    scoring.score(stage)
    assert held() == {
        over.assignment_id: "It was accepted after its HIT had expired.",
        long.assignment_id: "It was submitted after the time for the assignment was over.",
    }


# Too fast


def test_an_answer_faster_than_asked_is_held_and_the_item_asked_again(market, bring, stage, publish, answer):
    projects.want_seconds(stage.project, 30)
    stage.refresh_from_db()
    bring(1)
    publish(stage)
    hit = stage.hits.get()
    market.answer(market.sign_up_worker(), hit.hit_id, **fields(hit, "Linden"), seconds_open="99")
    conclude(stage)
    row = Assignment.objects.get()
    assert "after it was accepted; this stage asks for 30 s at least" in row.held
    assert (states(stage), counting(), row.decision) == (["again"], [], "")
    reviewing.approve(stage, [row.pk], None)
    deciding.decide(stage)
    assert states(stage) == ["kept"]


@pytest.mark.parametrize(("seconds", "is_held"), [(0, True), (28.9, True), (29, False), (30, False), (4000, False)])
def test_the_marketplaces_times_decide_to_the_second(db, seconds, is_held):
    stage = make.stage(settings={"min_seconds": 30}, assignment_seconds=3600)
    accepted = make.NOON - timedelta(seconds=seconds)
    recorded(make.hit(make.item(stage)), make.worker(), 0, accepted_at=accepted, seconds=1000)
    scoring.score(stage)
    assert bool(held()) == is_held


@pytest.mark.parametrize(
    ("columns", "least"),
    [
        ({"settings": {}}, 30),
        ({"settings": {"min_seconds": "soon"}}, 0),
        ({"settings": {"colour": "red", "min_seconds": 5}}, 5),
        ({"settings": {"min_seconds": 7}, "protocol": "of_a_plugin_that_is_gone"}, 7),
    ],
)
def test_the_least_time_of_a_stage_is_known_whatever_became_of_its_protocol(db, columns, least):
    """Answers of one stage are judged again when those of another one are scored."""
    assert eligibility.least_seconds(make.stage(**columns)) == least


# Cost, races and figures


def test_judging_many_answers_costs_the_queries_of_few(db):
    first = make.stage(grants="part-one")
    second = make.stage(first.project, not_workers_of=[first.key], requirements=EXCLUDED)
    workers = [make.worker() for _ in range(20)]
    costs = []
    for count in (10, 500):
        Assignment.objects.all().delete()
        items = make.items(first, count)
        derived = Item.objects.bulk_create(
            Item(stage=second, document=item.document, parent=item, key=f"{count}-{item.key}", data=item.data)
            for item in items
        )
        for number, (source, hit) in enumerate(zip(make.hits(items), make.hits(derived), strict=True)):
            make.assignments([source], workers[number % 20])
            make.assignments([hit], workers[(number + number // 20) % 20], submitted_at=make.NOON + timedelta(hours=1))
        fetched = second.assignments.select_related("stage", "hit__item", "worker").order_by("pk")
        rows = list(fetched[:count])
        with CaptureQueriesContext(connection) as seen:
            found = eligibility.held(rows)
        assert all(hold.held for hold in found.values()) and len(found) == len(rows) == count
        costs.append(len(seen))
    assert costs[0] == costs[1] <= 6


# Longer than any page lets a worker write


def test_a_remark_of_millions_of_characters_is_cut_and_says_so_and_the_answer_counts(market, bring, stage, publish):
    bring(1)
    publish(stage)
    hit = stage.hits.get()
    stage.settings = {**stage.settings, "min_seconds": 0}
    stage.save(update_fields=["settings"])
    market.answer(market.sign_up_worker(), hit.hit_id, **fields(hit, "Linden"), comment="x" * 2_500_000)
    conclude(stage)
    answer = stage.assignments.get()
    assert len(answer.answer["comment"]) < 250_000
    assert answer.answer["comment"].endswith(" more characters were cut off]")
    assert len(answer.remark) <= 2000 and answer.remark.endswith(" more characters were cut off]")
    assert (answer.problem, answer.held, counting()) == ("", "", [answer.assignment_id])
