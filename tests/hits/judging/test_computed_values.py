"""Rules and conditions for enough answers that go by computed values: items wait for them and buy nothing meanwhile."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from hits.answers.verbs import harvesting
from hits.judging.rules import aggregated_values, stage_statistics
from hits.judging.verbs import computing, deciding, scoring
from hits.models import ComputationRun, Hit, Item, Stage, Verdict
from hits.protocols.base import SettingsRefusedError
from hits.publishing.verbs import publishing, sending, topping_up
from hits.stages.verbs import aggregation_rule, stage_settings
from hits.workers.verbs import blocking
from tests.hits import factories as make
from tests.hits.doing import refused
from tests.hits.record_project import fields
from tests.hits.releases.test_imported_results import csv_of, imported, moods, row

pytestmark = pytest.mark.django_db(transaction=True)

UNIT = Decimal("0.05")
SURE = "sure: confidence entity >= 0.9\notherwise: drop"
UNSURE = "confidence entity >= 0.8"


@pytest.fixture(autouse=True)
def without_rest(monkeypatch):
    """One computation may follow another at once."""
    monkeypatch.setattr(stage_statistics, "_rested", lambda run: True)


@pytest.fixture
def say(market):
    """Workers give these answers to an item, one after another: + is Linden, - is Tomas Reyes."""

    def go(item: Item, what: str) -> None:
        for sign in what:
            hit = item.hits.filter(state=Hit.State.LIVE).latest("slot")
            market.answer(
                market.sign_up_worker(), hit.hit_id, **fields(hit, "Linden" if sign == "+" else "Tomas Reyes")
            )
        go_on(item.stage)

    return go


def go_on(stage: Stage) -> None:
    """As far as it goes without a computation."""
    stage.refresh_from_db()
    harvesting.harvest(stage)
    scoring.score(stage)
    deciding.decide(stage)
    if batch := topping_up.top_up(stage):
        sending.send(batch.pk)


def compute(stage: Stage) -> ComputationRun | None:
    """The computation that is due, and what follows from it."""
    run = computing.start_when_due(stage)
    if run:
        computing.run(run.pk)
        assert computing.waiting_for(run.pk) in ([stage.pk], [])
        go_on(stage)
        run.refresh_from_db()
        assert run.state == "done", run.error
    return run


def by_confidence(stage: Stage, text: str = SURE, answers: int = 2) -> Stage:
    stage_settings.change(stage, {"answers": answers}, None)
    aggregation_rule.save(stage, aggregation_rule.written(stage, text), stage.rule_edition, "", None)
    return stage


def growing(stage: Stage, enough: str = UNSURE) -> Stage:
    stage_settings.change(stage, {"answers": 2, "most_answers": 5, "enough": enough}, None)
    aggregation_rule.save(
        stage, aggregation_rule.written(stage, "ok: at least 2 entity.correct = yes\notherwise: drop"), 1, "", None
    )
    return stage


def states(stage: Stage) -> list[tuple[str, bool]]:
    return list(stage.items.order_by("pk").values_list("state", "waits_for_values"))


def test_items_wait_for_the_computation_that_begins_by_itself_and_buy_nothing_meanwhile(bring, stage, publish, say):
    by_confidence(stage)
    bring(3)
    publish(stage)
    agreed, divided, begun = stage.items.order_by("pk")
    say(agreed, "++")
    say(divided, "+-")
    say(begun, "+")
    assert states(stage) == [("open", True), ("open", True), ("open", False)]
    assert computing.awaited_by(stage) == (
        "2 items wait for values of the computation of agreement. It begins by itself."
    )
    assert stage.hits.count() == 3 and computing.held_up(stage) == []
    assert computing.awaited() == [stage.pk]
    run = compute(stage)
    assert states(stage) == [("kept", False), ("dropped", False), ("open", False)]
    verdicts = Verdict.objects.filter(superseded_at=None).order_by("item")
    assert [(row.outcome, row.conclusion, row.computation) for row in verdicts] == [
        ("kept", "sure", run), ("dropped", "", run),
    ]  # fmt: skip
    assert computing.awaited_by(stage) == "" and compute(stage) is None
    account = stage.project.account
    account.refresh_from_db()
    assert account.paid + account.reserved == 6 * UNIT


def test_looking_again_at_the_same_answers_and_values_changes_no_verdict(bring, stage, publish, say):
    by_confidence(stage)
    bring(1)
    publish(stage)
    say(stage.items.get(), "++")
    compute(stage)
    before = list(Verdict.objects.values_list("pk", "superseded_at"))
    aggregation_rule.mark(stage)
    go_on(stage)
    assert list(Verdict.objects.values_list("pk", "superseded_at")) == before
    assert states(stage) == [("kept", False)]


def test_other_answers_after_the_computation_are_waited_for_anew(bring, stage, publish, say):
    """A blocked worker's answer is bought again: values over the old answers say nothing of the new ones."""
    by_confidence(stage)
    bring(1)
    publish(stage)
    item = stage.items.get()
    say(item, "+-")
    first = compute(stage)
    assert states(stage) == [("dropped", False)]
    blocked = stage.assignments.latest("submitted_at").worker.worker_id
    blocking.intend_by_hand(stage, [blocked], "Careless.", None)
    blocking.finish(stage)
    go_on(stage)
    assert states(stage) == [("open", False)]
    say(item, "+")
    assert states(stage) == [("open", True)]
    second = compute(stage)
    assert second and second != first and states(stage) == [("kept", False)]
    assert item.verdicts.get(superseded_at=None).computation == second


def test_answers_that_come_while_it_computes_wait_for_the_next_one(bring, stage, publish, say):
    by_confidence(stage)
    bring(2)
    publish(stage)
    early, late = stage.items.order_by("pk")
    say(early, "++")
    run = computing.start_when_due(stage)
    ComputationRun.objects.filter(pk=run.pk).update(started_at=timezone.now())
    say(late, "++")
    computing.run(run.pk)
    go_on(stage)
    # It has values for both, and nobody knows whether it read all that counts for the second.
    assert run.results.count() == 2
    assert states(stage) == [("kept", False), ("open", True)]
    compute(stage)
    assert states(stage) == [("kept", False), ("kept", False)]


def test_an_item_gets_answers_until_its_value_is_sure_enough_and_never_more_than_quoted(bring, stage, publish, say):
    growing(stage)
    bring(2)
    quote = publishing.quote(stage)
    assert (quote.least, quote.total) == (4 * UNIT, 10 * UNIT) and quote.least < quote.expected < quote.total
    publish(stage)
    agreed, divided = stage.items.order_by("pk")
    say(agreed, "++")
    say(divided, "+-")
    assert states(stage) == [("open", True), ("open", True)]
    assert list(stage.items.order_by("pk").values_list("wanted", flat=True)) == [2, 2]
    compute(stage)
    assert states(stage) == [("kept", False), ("open", False)]
    for sign, wanted in zip("+-+", [4, 5, 5], strict=True):
        say(divided, sign)
        compute(stage)
        divided.refresh_from_db()
        assert divided.wanted == wanted
    assert states(stage) == [("kept", False), ("kept", False)]
    account = stage.project.account
    account.refresh_from_db()
    assert (account.paid, account.reserved) == (7 * UNIT, 0) and stage.hits.count() == 2


def test_the_value_is_that_of_all_answers_that_were_wanted(bring, stage, publish, say):
    """Two of three are sure enough: that says nothing of the first two alone."""
    growing(stage, "confidence entity >= 0.6")
    bring(1)
    publish(stage)
    item = stage.items.get()
    say(item, "+-")
    compute(stage)
    say(item, "+")
    compute(stage)
    item.refresh_from_db()
    assert (item.state, item.wanted) == ("kept", 3)


def test_items_of_which_nobody_knows_when_their_answers_changed_wait_for_one_computation(bring, stage, publish, say):
    bring(1)
    publish(stage)
    say(stage.items.get(), "+")
    compute(stage)
    stage.items.update(ballots_at=None)
    aggregation_rule.save(stage, aggregation_rule.written(stage, SURE), stage.rule_edition, "", None)
    go_on(stage)
    assert states(stage) == [("open", True)]
    compute(stage)
    assert states(stage) == [("kept", False)]


def test_an_item_that_nobody_answered_comparably_has_no_values_and_waits_for_none(stage):
    item = make.items(stage, 1)[0]
    run = computing.start(stage.project, stage_statistics.key_of(stage), {}, None)
    computing.run(run.pk)
    now = timezone.now()
    assert aggregated_values.of_items(stage, {item.pk: now - timedelta(hours=1)}) == (run, {item.pk: {}})
    assert aggregated_values.of_items(stage, {item.pk: now}) == (run, {})


def test_what_the_answers_alone_settle_waits_for_nothing(bring, stage, publish, say):
    growing(stage, f"all agree on entity.correct or {UNSURE}")
    bring(2)
    publish(stage)
    agreed, divided = stage.items.order_by("pk")
    say(agreed, "++")
    say(divided, "+-")
    assert states(stage) == [("kept", False), ("open", True)]


def test_a_computation_that_was_stopped_or_failed_is_not_begun_again_by_itself(bring, stage, publish, say):
    by_confidence(stage)
    bring(1)
    publish(stage)
    say(stage.items.get(), "++")
    run = computing.start_when_due(stage)
    computing.stop(run, None)
    assert computing.start_when_due(stage) is None and computing.awaited_by(stage) == ""
    assert computing.held_up(stage) == [
        "1 item waits for values of the computation of agreement. It was stopped: start it again on the page Agreement."
    ]
    ComputationRun.objects.filter(pk=run.pk).update(state="failed")
    assert "It failed: start it again" in computing.held_up(stage)[0]
    computing.run(computing.start(stage.project, run.key, {}, None).pk)
    go_on(stage)
    assert states(stage) == [("kept", False)]


def test_between_two_that_are_waited_for_some_time_passes(stage, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(stage_statistics, "REST", timedelta(seconds=30))
    stage.items.create(document=make.document(stage.project), key="a", data={}, waits_for_values=True)
    assert stage_statistics.is_due(stage)
    now = timezone.now()
    run = ComputationRun.objects.create(
        project=stage.project, key=stage_statistics.key_of(stage), state="done", seed=1, log=[{"answers": 0}],
        started_at=now - timedelta(seconds=20), finished_at=now - timedelta(seconds=10),
    )  # fmt: skip
    assert not stage_statistics.is_due(stage)
    # One that takes longer is begun the more seldom.
    for started, finished, due in ((41, 40, True), (60, 40, False), (1000, 800, False), (2200, 2000, True)):
        run.started_at, run.finished_at = now - timedelta(seconds=started), now - timedelta(seconds=finished)
        run.save()
        assert stage_statistics.is_due(stage) == due


def test_a_preview_says_what_becomes_of_the_items_and_how_many_wait(bring, stage, publish, say):
    stage_settings.change(stage, {"answers": 2}, None)
    bring(3)
    publish(stage)
    agreed, divided, later = stage.items.order_by("pk")
    say(agreed, "++")
    say(divided, "+-")
    compute(stage)
    wanted = aggregation_rule.written(stage, SURE)
    assert (aggregation_rule.preview(stage, wanted).uncomputed, aggregation_rule.preview(stage, wanted).moved) == (2, 0)
    run = computing.start(stage.project, stage_statistics.key_of(stage), {}, None)
    computing.run(run.pk)
    say(later, "++")
    before = Item.objects.in_bulk()
    found = aggregation_rule.preview(stage, wanted)
    assert found.uncomputed == 1
    told = {str(ending): then for ending, _, then in found.counts}
    assert Item.objects.in_bulk() == before
    aggregation_rule.save(stage, wanted, stage.rule_edition, "", None)
    stage.refresh_from_db()
    deciding.decide(stage)
    assert [state for state, _ in states(stage)] == ["kept", "dropped", "open"]
    assert told["sure"] == 1 and told["dropped"] == 1


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            "aggregate sentiment = x",
            "looks at the computed value of 'sentiment', which the task does not give; it gives",
        ),
        ("aggregate why = x", "looks at the computed value of 'why'"),
        ("confidence sure >= 0.9", "a mean has none: write such as aggregate sure >= 4"),
        ("aggregate mask.correct = yes", "looks at the computed value of 'mask.correct'"),
    ],
)
def test_values_that_nothing_computes_are_refused(text, fault):
    form = {"show": [{"kind": "text", "text": "Read."}], "ask": [
        {"kind": "one", "key": "mask", "question": "Which?", "choices": ["On", "Off"]},
        {"kind": "number", "key": "sure", "question": "How sure?"},
        {"kind": "long_text", "key": "why", "question": "Why?"},
    ]}  # fmt: skip
    stage = make.stage(make.project(), protocol="form", settings={"form": form}, answers=3)
    with refused("rule_refused") as refusal:
        aggregation_rule.written(stage, f"yes: {text}\notherwise: drop")
    assert fault in str(refusal.value)
    stage.rule = {"name": "conditions", "version": 1, "params": {"answers": 3, "text": f"yes: {text}\notherwise: drop"}}
    assert fault in aggregated_values.faults(stage)[0] and "the page of the rule" in aggregated_values.faults(stage)[0]
    assert aggregation_rule.written(stage, "yes: aggregate mask = on and aggregate sure >= 3\notherwise: drop")


def test_a_condition_for_enough_answers_that_nothing_computes_is_refused(stage):
    for text in ("confidence mood >= 0.9", "confidence entity.correct >= 0.9"):
        with pytest.raises(SettingsRefusedError, match="enough"):
            stage_settings.change(stage, {"answers": 2, "most_answers": 5, "enough": text}, None)


def test_imported_answers_are_judged_by_computed_values_too():
    stage = moods()
    stage_settings.change(stage, {"answers": 2}, None)
    imported(stage, csv_of(row(1, "A1", "Glad"), row(2, "A2", "Glad")))
    aggregation_rule.save(
        stage, aggregation_rule.written(stage, "sure: confidence mood >= 0.9\notherwise: drop"), 1, "", None
    )
    stage.refresh_from_db()
    deciding.decide(stage)
    assert states(stage) == [("open", True)]
    computing.run(computing.start_when_due(stage).pk)
    deciding.decide(stage)
    assert states(stage) == [("kept", False)]
