"""Which items models decide, what becomes of them, what the audit says, and how it is taken back."""

from __future__ import annotations

import json
import threading
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection

from hits.judging.verbs import advancing, deciding
from hits.model_assist.rules import model_agreement
from hits.model_assist.verbs import routing
from hits.model_assist.verbs.routing import Condition
from hits.models import Item, Label, ModelAnnotator, RoutedItem, Routing, Stage, StageSummary, Verdict
from hits.publishing.verbs import publishing
from hits.refusals import Refused
from hits.releases.verbs import releasing
from hits.stages.verbs import custom_stages
from tests.hits import factories as make
from tests.hits import models_that_answer as asked
from tests.hits.doing import refused

pytestmark = pytest.mark.django_db


@pytest.fixture
def stage() -> Stage:
    return asked.stage(make.project(recipe="choice", seed=3), key="choose")


@pytest.fixture
def model(stage: Stage) -> ModelAnnotator:
    return asked.model(stage.project)


def sure_of(model: ModelAnnotator, rows: list[Item], choice: str = "yes", confidence: float | None = 0.95) -> None:
    for row in rows:
        asked.says(model, row, choice, confidence)


def routed(stage: Stage, *models: ModelAnnotator, **more: Any) -> Routing:
    condition = Condition(tuple(one.pk for one in models), **{"least": len(models), **more})
    found = routing.preview(stage, condition)
    row = routing.route(stage, condition, found.decided, found.saved, None)
    deciding.decide(stage)
    return row


def states(stage: Stage) -> dict[str, int]:
    found: dict[str, int] = {}
    for state in stage.items.values_list("state", flat=True):
        found[state] = found.get(state, 0) + 1
    return found


# What is decided


def test_sure_items_are_decided_a_share_is_audited_and_the_rest_waits_for_people(
    stage: Stage, model: ModelAnnotator
) -> None:
    rows = asked.items(stage, 30)
    sure_of(model, rows[:20])
    sure_of(model, rows[20:25], confidence=0.85)
    found = routing.preview(stage, Condition((model.pk,), 1))
    assert (found.waiting, found.answered, found.decided, found.audited, found.to_people) == (30, 25, 18, 2, 12)
    # Three answers for $0.04 with a fee of a fifth, a cent at least.
    assert found.saved == Decimal("2.70") and found.expected_error == pytest.approx(0.05)
    assert states(stage) == {"new": 30} and not Routing.objects.exists()
    row = routed(stage, model)
    assert (row.decided, row.audited, row.saved) == (18, 2, found.saved)
    assert states(stage) == {"kept": 18, "new": 12}
    assert publishing.quote(stage).items == 12
    (action,) = stage.project.actions.filter(verb="let models decide")
    assert action.detail == {"routing": row.pk, "items": 18, "audited": 2, "saved": "2.70"}


def test_the_verdict_is_that_of_the_stage_s_own_rule_and_says_that_models_made_it(model: ModelAnnotator) -> None:
    text = "good: most choice = yes\notherwise: drop bad\n"
    rule = {"name": "conditions", "version": 1, "params": {"answers": 3, "text": text}}
    stage = asked.stage(model.project, key="judged", rule=rule)
    good, bad, *_ = rows = asked.items(stage, 6)
    sure_of(model, rows)
    Item.objects.filter(pk=bad.pk).update(key="bad")
    row = routed(stage, model)
    verdicts = Verdict.objects.filter(item__stage=stage)
    assert {(one.outcome, one.conclusion, one.routing_id, one.rule) for one in verdicts} == {
        ("kept", "good", row.pk, "conditions")
    }
    assert {json.dumps(one.detail) for one in verdicts} == {"{}"} and not Label.objects.exists()
    assert set(stage.items.filter(state="kept").values_list("disagreement", flat=True)) == {None}


def test_what_models_say_is_judged_again_with_another_rule(stage: Stage, model: ModelAnnotator) -> None:
    sure_of(model, asked.items(stage, 4), "no")
    row = routed(stage, model)
    text = "good: most choice = yes\notherwise: drop bad\n"
    stage.rule = {"name": "conditions", "version": 1, "params": {"answers": 3, "text": text}}
    stage.save(update_fields=["rule"])
    stage.items.update(stale=True)
    deciding.decide(stage)
    assert states(stage) == {"dropped": 3, "new": 1}
    assert set(Verdict.objects.filter(superseded_at=None).values_list("routing", "conclusion")) == {(row.pk, "bad")}


def test_deciding_again_changes_nothing(stage: Stage, model: ModelAnnotator) -> None:
    sure_of(model, asked.items(stage, 4))
    routed(stage, model)
    before = list(Verdict.objects.values())
    stage.items.update(stale=True)
    deciding.decide(stage)
    assert list(Verdict.objects.values()) == before


def test_enough_models_have_to_say_the_same_each_sure_enough(stage: Stage) -> None:
    models = [asked.model(stage.project, f"m{number}") for number in range(3)]
    rows = asked.items(stage, 24)
    for number, one in enumerate(models):
        sure_of(one, rows[:6])
        sure_of(one, rows[6:12], "yes" if number else "no")
        sure_of(one, rows[12:18], confidence=0.95 if number else 0.5)
        sure_of(one, rows[18:], confidence=0.99 if number == 2 else None)
    chosen = tuple(one.pk for one in models)
    assert routing.preview(stage, Condition(chosen, 3)).decided == 5
    assert routing.preview(stage, Condition(chosen, 2)).decided == 16
    routed(stage, *models, least=2)
    said = {row.item.key: row.answer.labels[0]["value"] for row in RoutedItem.objects.select_related("item", "answer")}
    assert set(said) == {row.key for row in rows[:18]} and set(said.values()) == {"yes"}


def test_the_same_seed_audits_the_same_items(model: ModelAnnotator) -> None:
    drawn = []
    for _ in range(2):
        stage = asked.stage(make.project(recipe="choice", seed=11), key="choose")
        one = asked.model(stage.project)
        sure_of(one, asked.items(stage, 40))
        routed(stage, one)
        drawn.append(sorted(RoutedItem.objects.filter(routing__stage=stage, is_audited=True).values_list("item__key")))
    assert len(drawn[0]) == 4 and drawn[0] == drawn[1]


def test_items_that_people_or_an_earlier_audit_have_are_left_to_people(stage: Stage, model: ModelAnnotator) -> None:
    rows = asked.items(stage, 14)
    sure_of(model, rows)
    asked.people_say(rows[0], "no")
    make.hit(rows[1], state="closed")
    Item.objects.filter(pk__in=[rows[0].pk, rows[1].pk]).update(state=Item.State.NEW, stale=False)
    Item.objects.filter(pk=rows[2].pk).update(state=Item.State.CHECK)
    row = routed(stage, model)
    assert (row.decided, row.audited) == (10, 1)
    assert not RoutedItem.objects.filter(item__in=rows[:3]).exists()
    with refused("nothing_to_route"):
        routing.route(stage, Condition((model.pk,), 1), 1, Decimal("0.15"), None)


# What is refused


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"models": ()}, "Choose at least one model."),
        ({"models": (999_999,)}, "This project has no model with the id 999999."),
        ({"least": 0}, "Of 1 model, 1 has to agree"),
        ({"least": 2}, "Of 1 model, 1 has to agree"),
        ({"confidence": 1.5}, "The confidence is a number from 0 to 1."),
        ({"confidence": float("nan")}, "The confidence is a number from 0 to 1."),
        ({"audit_share": 0.0}, "The share of the audit is a number from 0.01 to 0.9"),
        ({"audit_share": 1.0}, "The share of the audit is a number from 0.01 to 0.9"),
    ],
)
def test_a_condition_that_does_not_fit_is_refused(
    stage: Stage, model: ModelAnnotator, given: dict[str, Any], sentence: str
) -> None:
    sure_of(model, asked.items(stage, 4))
    condition = Condition(**{"models": (model.pk,), "least": 1, **given})
    for call in (
        lambda: routing.preview(stage, condition),
        lambda: routing.route(stage, condition, 3, Decimal("0.45"), None),
    ):
        with refused("routing_refused") as caught:
            call()
        assert any(fault.startswith(sentence) for fault in caught.value.details()["faults"])
    assert not Routing.objects.exists()


def test_a_model_of_another_project_decides_nothing_here(stage: Stage) -> None:
    theirs = asked.model(make.project())
    with refused("routing_refused", match="no model with the id"):
        routing.preview(stage, Condition((theirs.pk,), 1))


def test_two_of_five_models_are_too_few_to_agree(stage: Stage) -> None:
    models = tuple(asked.model(stage.project, f"m{number}").pk for number in range(5))
    with refused("routing_refused", match="Of 5 models, 3 to 5 have to agree"):
        routing.preview(stage, Condition(models, 2))


def test_stages_whose_answers_cannot_be_compared_and_tests_of_workers_are_not_routed(stage: Stage) -> None:
    model = asked.model(stage.project)
    written = make.stage(stage.project, key="write", protocol="question_writing")
    testing = asked.stage(stage.project, key="test", screening_share=0.5, grants="passed")
    text = "good: aggregate choice = yes\notherwise: drop\n"
    rule = {"name": "conditions", "version": 1, "params": {"answers": 3, "text": text}}
    computed = asked.stage(stage.project, key="computed", rule=rule)
    for one, word in ((written, "texts"), (testing, "tests workers"), (computed, "computed over people’s")):
        with refused("routing_refused", match=word.replace("’", "'")):
            routing.preview(one, Condition((model.pk,), 1))


def test_a_rule_that_compares_with_a_reference_concludes_nothing_without_one(model: ModelAnnotator) -> None:
    rule = {"name": "matches_reference", "version": 1, "params": {"need": 1, "answers": 3}}
    stage = asked.stage(model.project, key="compared", rule=rule)
    with_gold = [asked.item(stage, gold="yes") for _ in range(3)]
    without = asked.items(stage, 3)
    sure_of(model, [*with_gold, *without])
    found = routing.preview(stage, Condition((model.pk,), 1))
    assert (found.answered, found.decided, found.audited) == (6, 2, 1)


@pytest.mark.parametrize("change", ["items", "price"])
def test_what_changed_since_the_preview_is_confirmed_anew(stage: Stage, model: ModelAnnotator, change: str) -> None:
    sure_of(model, asked.items(stage, 6))
    condition = Condition((model.pk,), 1)
    found = routing.preview(stage, condition)
    if change == "items":
        sure_of(model, [asked.item(stage), asked.item(stage)])
    else:
        Stage.objects.filter(pk=stage.pk).update(reward=Decimal("0.10"))
    with refused("routing_changed", match="Please confirm again"):
        routing.route(stage, condition, found.decided, found.saved, None)
    assert not Routing.objects.exists() and states(stage).keys() == {"new"}


# People win


def test_an_answer_of_people_takes_the_place_of_the_models_verdict(stage: Stage, model: ModelAnnotator) -> None:
    rows = asked.items(stage, 3)
    sure_of(model, rows)
    routed(stage, model)
    decided = stage.items.filter(state="kept").first()
    assert decided
    asked.people_say(decided, "no")
    deciding.decide(stage)
    decided.refresh_from_db()
    assert decided.state != Item.State.KEPT
    assert not decided.verdicts.filter(superseded_at=None).exists()
    Label.objects.filter(item=decided).delete()
    asked.people_say(decided, "no", "no", "yes")
    deciding.decide(stage)
    (verdict,) = decided.verdicts.filter(superseded_at=None)
    assert (verdict.outcome, verdict.routing) == ("kept", None)
    assert model_agreement.people_said(stage, [decided.pk])[decided.pk].values == {("choice", ""): "no"}


# The audit


def test_the_audit_counts_where_people_say_another_value(stage: Stage, model: ModelAnnotator) -> None:
    sure_of(model, asked.items(stage, 40))
    row = routed(stage, model, audit_share=0.5)
    audited = [one.item for one in row.items.filter(is_audited=True).select_related("item").order_by("item")]
    for number, one in enumerate(audited[:18]):
        if number < 3:
            asked.people_say(one, "no", "no", "yes")
        elif number == 3:
            asked.people_say(one, "yes", "no")
        else:
            asked.people_say(one, "yes", "yes", "no")
    deciding.decide(stage)
    Item.objects.filter(pk=audited[3].pk).update(state=Item.State.KEPT)
    found = model_agreement.audit(stage, [row])
    assert (found.differ.count, found.differ.of, found.tied, found.waiting) == (3, 17, 1, 2)
    assert (found.estimate, found.people_wrong.of, found.expected) == (None, 0, pytest.approx(0.05))


def test_known_answers_show_people_s_mistakes_and_those_of_the_models(stage: Stage, model: ModelAnnotator) -> None:
    known = [asked.item(stage, gold="yes") for _ in range(10)]
    sure_of(model, [asked.item(stage, gold="yes" if number else "no") for number in range(10)])
    for number, one in enumerate(known):
        asked.people_say(one, *(("no", "no", "yes") if number < 2 else ("yes", "yes", "no")), gold="yes")
    few = asked.item(stage, gold="yes", state=Item.State.CHECK)
    asked.people_say(few, "no", gold="yes")
    Item.objects.filter(pk=few.pk).update(state=Item.State.CHECK)
    deciding.decide(stage)
    row = routed(stage, model)
    found = model_agreement.audit(stage, [row])
    assert (found.people_wrong.count, found.people_wrong.of) == (2, 10)
    assert (found.gold.count, found.gold.of) == (1, 10)


def test_people_and_models_stand_side_by_side(stage: Stage, model: ModelAnnotator) -> None:
    rows = [asked.item(stage, gold="yes") for _ in range(4)]
    sure_of(model, rows[:3])
    asked.says(model, rows[3], "no", None)
    for one in rows:
        asked.people_say(one, "yes", "yes", "no", gold="yes")
    deciding.decide(stage)
    people, bert = model_agreement.compared(stage).lines
    assert (people.name, people.model, bert.name, bert.answers) == ("People", None, "small-bert 1", 4)
    assert (bert.gold.count, bert.gold.of, bert.agreement.count, bert.agreement.of) == (3, 4, 3, 4)
    # Of each item, the two who say yes see one of each among the others: only the third can be compared.
    assert (people.agreement.count, people.agreement.of) == (0, 4)
    assert bert.confidence == pytest.approx(0.95)


# Afterwards


def test_later_stages_are_made_of_what_models_say(stage: Stage, model: ModelAnnotator) -> None:
    table = {
        "title": "Check", "protocol": "form", "ready": "", "answers": 1, "hit_title": "Check",
        "hit_description": "Check.", "reward": "0.10", "draws": 0, "input": {"stage": "choose", "each": "item"},
    }  # fmt: skip
    later = custom_stages.add_stage(stage.project, table, None)
    sure_of(model, asked.items(stage, 3))
    routed(stage, model)
    assert advancing.advance(stage) == 2
    assert set(later.items.values_list("parent__state", flat=True)) == {"kept"}
    assert "yes" in str(later.items.first().data)


def test_a_release_marks_what_models_decided(stage: Stage, model: ModelAnnotator) -> None:
    rows = asked.items(stage, 4)
    sure_of(model, rows[:3])
    asked.people_say(rows[3], "no", "no", "yes")
    deciding.decide(stage)
    routed(stage, model)
    made, _ = releasing.release(stage.project, None)
    files = {file.name: file.blob.read() for file in made.files.all()}
    told = {line["id"]: line for line in map(json.loads, files["items.jsonl"].splitlines())}
    by_model = [line for line in told.values() if line["decided_by"] != "people"]
    assert {(line["decided_by"], line["answers"], line["share"]) for line in by_model} == {("small-bert 1", 0, None)}
    assert [line["majority"] for line in by_model] == [["Yes"], ["Yes"]]
    assert (told["r3"]["decided_by"], told["r3"]["answers"], told["r3"]["majority"]) == ("people", 3, ["No"])
    assert "decided_by" in files["items.csv"].decode().splitlines()[0]
    (funnel,) = made.manifest["collection"]
    assert funnel["decided_by_models"] == {
        "items": 2, "kept": 2, "models": ["small-bert 1"], "audited": {"differ": 0, "of": 0},
        "people_wrong": {"count": 0, "of": 0}, "error": None,
    }  # fmt: skip
    listed = [json.loads(line) for line in files["decided-by-models.jsonl"].splitlines()]
    assert {(one["stage"], one["model"], one["confidence"]) for one in listed} == {("choose", "small-bert 1", 0.95)}
    card = files["README.md"].decode()
    assert "| Items decided by models, without an answer of people | 2, of which 2 are kept (small-bert 1) |" in card
    assert "or the model that decided the item without an answer of people" in card


def test_without_models_a_release_says_nothing_of_them(stage: Stage) -> None:
    asked.people_say(*[(row := asked.item(stage))], "no", "no", "yes")
    deciding.decide(stage)
    made, _ = releasing.release(stage.project, None)
    assert "decided_by" not in str(made.manifest) and "decided-by-models.jsonl" not in str(made.manifest)
    assert row.verdicts.get().routing is None


def test_what_models_decide_is_neither_published_nor_answered(stage: Stage, model: ModelAnnotator) -> None:
    rows = asked.items(stage, 30)
    for row in rows[:6]:
        asked.people_say(row, "yes", "yes", "no")
    deciding.decide(stage)
    sure_of(model, rows[6:16])
    found = routing.preview(stage, Condition((model.pk,), 1))
    routing.route(stage, Condition((model.pk,), 1), found.decided, found.saved, None)
    # Their verdicts are not written yet.
    summary = StageSummary.objects.get(stage=stage)
    assert (summary.published, summary.kept, summary.decided_by_models) == (6, 6, 0)
    assert model_agreement.is_deciding(stage) and found.decided == 9
    deciding.decide(stage)
    summary.refresh_from_db()
    assert (summary.items, summary.published, summary.answered, summary.kept) == (30, 6, 6, 15)
    assert (summary.decided_by_models, summary.kept_by_models, summary.kept_by_people) == (9, 9, 6)
    assert not model_agreement.is_deciding(stage)
    made, _ = releasing.release(stage.project, None)
    (funnel,) = made.manifest["collection"]
    told = {name: funnel[name] for name in ("all_items", "asked", "answered", "kept", "open")}
    assert told == {"all_items": 30, "asked": 6, "answered": 6, "kept": 15, "open": 15}
    card = made.files.get(name="README.md").blob.read().decode()
    assert "| Items asked about | 6 |" in card and "| Items kept | 15 of 30 |" in card
    assert "without an answer of people | 9, of which 9 are kept (small-bert 1) |" in card


def test_a_stage_that_models_decided_alone_stands_in_the_card(stage: Stage, model: ModelAnnotator) -> None:
    sure_of(model, asked.items(stage, 4))
    routed(stage, model)
    made, _ = releasing.release(stage.project, None)
    card = made.files.get(name="README.md").blob.read().decode()
    assert "## Stage: Ask" in card and "| Items asked about | 0 |" in card


def test_items_that_models_decide_took_no_answers(model: ModelAnnotator) -> None:
    stage = asked.stage(model.project, key="growing", answers=2, most_answers=4, enough="at least 2 agree on choice")
    rows = asked.items(stage, 5)
    asked.people_say(rows[0], "yes", "yes")
    deciding.decide(stage)
    sure_of(model, rows[1:])
    routed(stage, model)
    assert StageSummary.objects.get(stage=stage).answers_taken == [[2, 1]]


def test_an_unpublished_check_question_takes_nothing_from_what_is_published(
    stage: Stage, model: ModelAnnotator
) -> None:
    rows = asked.items(stage, 6)
    asked.people_say(rows[0], "yes", "yes", "no")
    asked.item(stage, gold="yes", state=Item.State.CHECK)
    deciding.decide(stage)
    sure_of(model, rows[1:])
    routed(stage, model)
    assert StageSummary.objects.get(stage=stage).published == 1


# Taking it back


def test_undone_items_wait_for_people_and_can_be_routed_again(stage: Stage, model: ModelAnnotator) -> None:
    sure_of(model, asked.items(stage, 12))
    row = routed(stage, model)
    found = routing.undo(row, None)
    deciding.decide(stage)
    assert (found.returned, found.used, states(stage)) == (11, 0, {"new": 12})
    assert not Verdict.objects.filter(superseded_at=None).exists() and row.undone_at
    with refused("routing_used", match="sent to people already"):
        routing.undo(row, None)
    again = routed(stage, model)
    # The audited item of the first time stays with people.
    assert (again.decided, again.audited) == (10, 1)


def test_items_of_which_later_ones_were_made_stay_decided(stage: Stage, model: ModelAnnotator) -> None:
    sure_of(model, asked.items(stage, 4))
    row = routed(stage, model)
    later = asked.stage(stage.project, key="later")
    kept = list(stage.items.filter(state="kept"))
    asked.item(later, parent=kept[0])
    found = routing.undo(row, None)
    deciding.decide(stage)
    assert (found.returned, found.used, states(stage)) == (2, 1, {"kept": 1, "new": 3})
    with refused("routing_used", match="Later items were made of everything"):
        routing.undo(row, None)


def test_a_rule_by_computed_values_sends_them_to_people(stage: Stage, model: ModelAnnotator) -> None:
    sure_of(model, asked.items(stage, 3))
    routed(stage, model)
    text = "good: aggregate choice = yes\notherwise: drop\n"
    stage.rule = {"name": "conditions", "version": 1, "params": {"answers": 3, "text": text}}
    stage.save(update_fields=["rule"])
    stage.items.update(stale=True)
    deciding.decide(stage)
    assert states(stage) == {"new": 3}


@pytest.mark.on_postgresql
@pytest.mark.django_db(transaction=True)
def test_of_two_who_publish_and_route_at_once_one_gets_each_item() -> None:
    stage = asked.stage(make.project(recipe="choice", budget="100.00"), key="choose")
    model = asked.model(stage.project)
    sure_of(model, asked.items(stage, 12))
    condition, quote = Condition((model.pk,), 1), publishing.quote(stage)
    found, refused, start = routing.preview(stage, condition), list[str](), threading.Barrier(2)

    def attempt(call: Any, *errors: type[Exception]) -> None:
        start.wait(timeout=60)
        try:
            call()
        except errors as error:
            refused.append(type(error).__name__)
        finally:
            connection.close()

    calls = [
        (lambda: routing.route(stage, condition, found.decided, found.saved, None), Refused),
        (
            lambda: publishing.publish(stage, quote.items, quote.total, "page", None),
            Refused,
        ),
    ]
    threads = [threading.Thread(target=attempt, args=call) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert len(refused) == 1
    assert bool(stage.hits.count()) is not bool(RoutedItem.objects.count())
