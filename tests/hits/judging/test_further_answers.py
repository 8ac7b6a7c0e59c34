"""Items that get one answer after another until enough workers agree: what is bought, and what it costs."""

from decimal import Decimal

import pytest

from hits.answers.verbs import harvesting, reviewing
from hits.items.verbs import importing
from hits.judging.rules import required_answers
from hits.judging.verbs import deciding, scoring
from hits.models import Extension, Hit, Item, LedgerEntry, Stage, StageSummary
from hits.payments.rules.commitments import planned_cost
from hits.payments.verbs import checking_ledger
from hits.projects.rules.plugins import protocol_of, recipe_of, settings_of
from hits.projects.verbs import projects
from hits.protocols.base import SettingsRefusedError
from hits.publishing.rules import marketplace_account
from hits.publishing.rules.marketplace_account import gateway
from hits.publishing.verbs import publishing, sending, topping_up
from hits.stages.verbs import aggregation_rule, stage_settings
from hits.stats.vote_rules.votes import Rule
from hits.workers.rules import block_losses
from hits.workers.verbs import blocking
from tests.hits.doing import refused
from tests.hits.record_project import fields

pytestmark = pytest.mark.django_db(transaction=True)

TWO_AGREE = "at least 2 agree on entity.correct"
UNIT = Decimal("0.05")


@pytest.fixture
def stage(stage: Stage) -> Stage:
    """2 to 5 answers an item, kept with 2 right ones."""
    stage_settings.change(stage, {"answers": 2, "most_answers": 5, "enough": TWO_AGREE}, None)
    rule = Rule("conditions", 1, {"answers": 5, "text": "ok: at least 2 entity.correct = yes\notherwise: drop\n"})
    aggregation_rule.save(stage, rule, stage.rule_edition, "", None)
    return stage


@pytest.fixture
def say(market):
    """New workers give these answers to an item, one after another: + is right, - is wrong."""

    def go(stage: Stage, item: Item, what: str) -> None:
        for sign in what:
            hit = item.hits.filter(state=Hit.State.LIVE).latest("slot")
            name = "Linden" if sign == "+" else "Tomas Reyes"
            market.answer(market.sign_up_worker(), hit.hit_id, **fields(hit, name))
        go_on(stage)

    return go


def go_on(stage: Stage) -> None:
    harvesting.harvest(stage)
    scoring.score(stage)
    deciding.decide(stage)
    if batch := topping_up.top_up(stage):
        sending.send(batch.pk)


def account(stage: Stage):
    found = stage.project.account
    found.refresh_from_db()
    assert (found.reserved, found.paid) == found.sums()
    return found


def items(stage: Stage) -> list[Item]:
    return list(stage.items.order_by("pk"))


def test_each_item_gets_answers_until_two_agree_and_never_more_than_quoted(bring, stage, publish, say):
    bring(3)
    quote = publishing.quote(stage)
    assert (quote.answers, quote.least, quote.total) == (6, 6 * UNIT, 15 * UNIT)
    # Answers that are right four times of five: 2.32 in the mean of 2 to 3.
    assert 6 * UNIT < quote.expected < 9 * UNIT
    publish(stage)
    assert account(stage).reserved == quote.total
    agreed, once, twice = items(stage)
    say(stage, agreed, "++")
    say(stage, once, "+-")
    say(stage, twice, "-+")
    assert [item.state for item in items(stage)] == ["kept", "open", "open"]
    assert [item.wanted for item in items(stage)] == [2, 3, 3]
    say(stage, once, "-")
    say(stage, twice, "+")
    assert [item.state for item in items(stage)] == ["kept", "dropped", "kept"]
    assert [(hit.created_with, hit.max_assignments) for hit in stage.hits.order_by("pk")] == [(2, 2), (2, 3), (2, 3)]
    assert (account(stage).paid, account(stage).reserved) == (8 * UNIT, Decimal(0))
    stage.refresh_from_db()
    assert stage.summary.answers_taken == [[2, 1], [3, 2]]
    assert checking_ledger.check(stage.project, None, deep=True).faults == []


def test_the_budget_that_holds_the_quoted_most_is_enough_for_every_item(bring, stage, publish, say):
    """No two of five can agree where every worker says something of their own."""
    stage.enough = "at least 4 agree on entity.correct"
    stage.save()
    bring(2)
    quote = publishing.quote(stage)
    type(stage.project.account).objects.update(budget=quote.total)
    stage.project.account.refresh_from_db()
    publish(stage)
    assert account(stage).left == 0
    for item in items(stage):
        say(stage, item, "+-")
        for sign in "+-+":
            say(stage, item, sign)
            assert account(stage).reserved + account(stage).paid <= quote.total
    assert [(item.state, item.wanted, item.further) for item in items(stage)] == [("kept", 5, 0)] * 2
    assert (account(stage).paid, account(stage).left) == (quote.total, 0)


def test_an_answer_in_place_of_a_rejected_one_is_paid_from_the_budget_and_not_from_what_is_set_aside(
    bring, stage, publish, say
):
    Stage.objects.filter(pk=stage.pk).update(approval="review", auto_approval_seconds=86_400)
    stage.refresh_from_db()
    bring(1)
    quote = publishing.quote(stage)
    publish(stage)
    (item,) = items(stage)
    say(stage, item, "+-")
    item.refresh_from_db()
    assert (item.state, item.wanted, item.further) == ("open", 3, 2)
    assert account(stage).reserved == quote.total
    rejected = stage.assignments.latest("submitted_at")
    reviewing.reject(stage, [rejected.pk], "Not a place.", None)
    reviewing.finish(stage)
    go_on(stage)
    item.refresh_from_db()
    # One right answer counts: it wants two again, of which the place that is open already is one.
    assert (item.state, item.wanted, item.further) == ("open", 2, 2)
    assert account(stage).reserved == quote.total - UNIT
    say(stage, item, "-")
    item.refresh_from_db()
    assert (item.wanted, item.further) == (3, 2)
    # What the rejected answer cost was given back, and the answer in its place is reserved for anew.
    assert account(stage).reserved == quote.total


def test_a_block_may_cost_as_many_answers_as_the_item_still_can_get(bring, stage, publish, say):
    stage.enough = "at least 4 agree on entity.correct"
    stage.save()
    bring(1)
    publish(stage)
    (item,) = items(stage)
    say(stage, item, "++")
    for sign in "++":
        say(stage, item, sign)
    assert items(stage)[0].state == "kept"
    blocked = stage.assignments.earliest("submitted_at").worker.worker_id
    lost = block_losses.loss(stage.project, [blocked])
    assert (lost.answers, lost.replacements, lost.cost) == (1, 2, 2 * UNIT)
    blocking.intend_by_hand(stage, [blocked], "Careless.", None)
    blocking.finish(stage)
    go_on(stage)
    for sign in "--":
        say(stage, item, sign)
    assert stage.assignments.count() == 4 + lost.replacements
    assert items(stage)[0].wanted == 5


def test_what_is_set_aside_is_given_back_when_so_many_answers_were_rejected_that_none_is_bought_by_itself(
    bring, stage, publish, say
):
    Stage.objects.filter(pk=stage.pk).update(approval="review", auto_approval_seconds=86_400)
    stage.refresh_from_db()
    bring(1)
    publish(stage)
    (item,) = items(stage)
    say(stage, item, "+-")
    while item.hits.filter(state=Hit.State.LIVE).exists():
        submitted = stage.assignments.filter(state="Submitted")
        reviewing.reject(stage, list(submitted.values_list("pk", flat=True)), "Not a place.", None)
        reviewing.finish(stage)
        go_on(stage)
        if item.hits.filter(state=Hit.State.LIVE).exists():
            say(stage, item, "-")
    item.refresh_from_db()
    assert (item.state, item.further) == ("again", 0)
    assert account(stage).reserved == submitted.count() * UNIT
    assert checking_ledger.check(stage.project, None, deep=True).faults == []


def test_what_is_set_aside_is_given_back_when_a_lead_closes_early(bring, stage, publish, say):
    bring(1)
    publish(stage)
    say(stage, items(stage)[0], "+")
    sending.send(publishing.expire(stage, None).pk)
    go_on(stage)
    assert [(item.state, item.further) for item in items(stage)] == [("new", 0)]
    assert account(stage).reserved == 0
    # What it still wants, and what it may want beyond that.
    quote = publishing.quote(stage)
    assert (quote.least, quote.total) == (UNIT, 4 * UNIT)
    publish(stage, "page-2")
    assert account(stage).reserved == quote.total
    say(stage, items(stage)[0], "+")
    assert [(item.state, item.further) for item in items(stage)] == [("kept", 0)]
    assert (account(stage).paid, account(stage).reserved) == (2 * UNIT, Decimal(0))


def test_a_hit_of_few_assignments_grows_to_nine_and_then_a_new_one_is_made(bring, stage, publish, say):
    stage.answers, stage.most_answers, stage.enough = 8, 11, "at least 11 agree on entity.correct"
    stage.rule = Rule("measured", 1, {"answers": 11}).to_dict()
    stage.save()
    bring(1)
    quote = publishing.quote(stage)
    publish(stage)
    (item,) = items(stage)
    say(stage, item, "+" * 8)
    for _ in range(3):
        say(stage, item, "+")
    item.refresh_from_db()
    assert (item.state, item.wanted) == ("kept", 11)
    assert [(hit.created_with, hit.max_assignments) for hit in item.hits.order_by("slot")] == [(8, 9), (1, 2)]
    assert Extension.objects.filter(state=Extension.State.REFUSED).count() == 0
    assert account(stage).paid == quote.total


def test_what_is_set_aside_counts_as_planned_until_it_is_bought(bring, stage, publish, say):
    bring(1)
    publish(stage)
    assert planned_cost() == 3 * UNIT
    before = gateway().balance().available
    say(stage, items(stage)[0], "+-")
    assert (planned_cost(), before - gateway().balance().available) == (2 * UNIT, UNIT)


def test_a_crash_between_deciding_and_buying_buys_each_further_answer_once(bring, stage, publish, say, monkeypatch):
    """The extension is planned and its money moved together: a second process finds nothing to plan."""
    bring(1)
    publish(stage)
    (item,) = items(stage)
    hit = item.hits.get()
    say_to = sending.send
    monkeypatch.setattr(sending, "send", lambda pk: None)
    say(stage, item, "+-")
    assert topping_up.top_up(stage) is None
    assert (account(stage).reserved + account(stage).paid, Extension.objects.count()) == (5 * UNIT, 1)
    monkeypatch.setattr(sending, "send", say_to)
    for pk in publishing.unfinished() * 2:
        sending.send(pk)
    hit.refresh_from_db()
    assert (hit.max_assignments, Extension.objects.count()) == (3, 1)
    assert checking_ledger.check(stage.project, None, deep=True).faults == []


def test_another_rule_is_tried_with_the_answers_that_each_item_wanted(bring, stage, publish, say):
    bring(2)
    publish(stage)
    agreed, split = items(stage)
    say(stage, agreed, "++")
    say(stage, split, "+-")
    say(stage, split, "+")
    more_than_half = aggregation_rule.written(stage, "good: more than half entity.correct = yes\notherwise: drop")
    (count,) = [row for row in aggregation_rule.preview(stage, more_than_half).counts if row[2]]
    assert (count[0].word, count[2]) == ("good", 2)
    aggregation_rule.save(stage, more_than_half, stage.rule_edition, "", None)
    deciding.decide(stage)
    assert {item.conclusion for item in items(stage)} == {"good"}


def test_the_books_name_a_stage_whose_money_set_aside_does_not_fit_its_items(bring, stage, publish):
    bring(1)
    publish(stage)
    stage.items.update(further=1)
    kinds = {one["kind"] for one in checking_ledger.check(stage.project, None, deep=False).faults}
    assert "set_aside" in kinds
    assert LedgerEntry.objects.filter(kind="set-aside", stage=stage).count() == 1


@pytest.mark.parametrize(
    "given, fault",
    [
        ({"most_answers": 2, "enough": TWO_AGREE}, "most_answers must be more than answers, which is 2"),
        ({"most_answers": 101, "enough": TWO_AGREE}, "most_answers must be a whole number from 0 to 100"),
        ({"most_answers": 5, "enough": ""}, "enough must say when an item has enough answers"),
        ({"most_answers": 0, "enough": TWO_AGREE}, "enough goes with most_answers"),
        ({"most_answers": 5, "enough": "six agree"}, "enough is wrong: line 1, column 1"),
        ({"most_answers": 5, "enough": "at least 6 agree on entity"}, "at least 6 of 5 wanted answers"),
        ({"items_per_hit": 2}, "items_per_hit must be 1 where most_answers is set"),
        ({"answers": 5}, "most_answers must be more than answers, which is 5"),
    ],
)
def test_numbers_and_conditions_that_do_not_fit_are_refused(stage, given, fault):
    before = Stage.objects.values().get(pk=stage.pk)
    with pytest.raises(SettingsRefusedError) as refused:
        stage_settings.change(stage, given, None)
    assert [reason for reason in refused.value.reasons if fault in reason], refused.value.reasons
    assert Stage.objects.values().get(pk=stage.pk) == before


def test_a_fixed_number_again_takes_the_condition_away_and_the_rule_with_it(stage):
    stage_settings.change(stage, {"answers": 3, "most_answers": 0, "enough": ""}, None)
    stage.refresh_from_db()
    assert (stage.most_answers, stage.enough, stage.rule["params"]["answers"]) == (None, "", 3)


def test_after_publishing_the_numbers_and_the_condition_stay(bring, stage, publish):
    bring(1)
    publish(stage)
    for given in ({"most_answers": 6}, {"enough": "at least 3 agree on entity.correct"}):
        with refused("settings_fixed"):
            stage_settings.change(stage, given, None)


def test_a_stage_says_what_the_growing_number_saved(bring, stage, publish, say):
    assert required_answers.saving(stage) is None
    bring(2)
    publish(stage)
    for item, what in zip(items(stage), ("++", "--"), strict=True):
        say(stage, item, what)
    stage = Stage.objects.get(pk=stage.pk)
    saving = required_answers.saving(stage)
    assert saving is not None
    assert (saving.rows, saving.items, saving.mean, saving.fewer) == (((2, 2),), 2, 2.0, 6)


def test_an_account_that_holds_exactly_the_quoted_most_buys_the_further_answers(
    bring, stage, publish, say, monkeypatch
):
    bring(1)
    quote = publishing.quote(stage)
    publish(stage)
    # What is there after the first HIT is what is set aside.
    monkeypatch.setattr(marketplace_account, "balance", lambda: quote.total - quote.least)
    say(stage, items(stage)[0], "+-")
    assert [(item.state, item.wanted) for item in items(stage)] == [("open", 3)]


def test_an_item_that_waits_for_its_further_answer_is_not_held_up_while_money_is_set_aside(
    bring, stage, publish, market
):
    bring(1)
    quote = publishing.quote(stage)
    type(stage.project.account).objects.update(budget=quote.total)
    publish(stage)
    hit = stage.hits.get()
    for name in ("Linden", "Tomas Reyes"):
        market.answer(market.sign_up_worker(), hit.hit_id, **fields(hit, name))
    harvesting.harvest(stage)
    scoring.score(stage)
    deciding.decide(stage)
    stage = Stage.objects.select_related("project__account").get(pk=stage.pk)
    assert [item.state for item in items(stage)] == ["again"]
    assert topping_up.held_up(stage) == []


def test_answers_beyond_the_first_ones_are_wanted_and_not_spare(bring, stage, publish, say):
    stage.answers, stage.most_answers, stage.enough = 1, 8, "at least 8 agree on entity.correct"
    stage.rule = Rule("measured", 1, {"answers": 8}).to_dict()
    stage.save()
    bring(1)
    publish(stage)
    for _ in range(8):
        say(stage, items(stage)[0], "+")
    assert [(item.state, item.wanted) for item in items(stage)] == [("kept", 8)]


def test_another_most_number_is_that_of_the_rule(stage):
    stage_settings.change(stage, {"most_answers": 6}, None)
    stage.refresh_from_db()
    assert (stage.most_answers, stage.rule["params"]["answers"]) == (6, 6)


def test_a_condition_about_something_that_the_task_does_not_ask_stops_publishing(lead, market):
    project = projects.create_project("Notes", "form", Decimal("5.00"), "lab@example.org", lead, seed=3)
    upload = importing.create_upload(project, "notes.csv", project_sample(project), "public", None)
    importing.import_upload(upload.pk)
    stage = project.stages.get()
    given = {"answers": 2, "most_answers": 5, "enough": "at least 2 agree on mood"}
    with pytest.raises(SettingsRefusedError, match="enough names 'mood', which the task does not ask; it asks: "):
        stage_settings.change(stage, given, None)
    # The task may change after its settings.
    Stage.objects.filter(pk=stage.pk).update(**given)
    stage.refresh_from_db()
    quote = publishing.quote(stage)
    (problem,) = [said for said in quote.problems if "mood" in said]
    assert problem.startswith("The condition for enough answers names 'mood', which the task does not ask. It asks: ")
    with refused("unknown_unit"):
        publishing.publish(stage, quote.items, quote.total, "page", None)
    assert not stage.hits.exists()
    unit = next(iter(protocol_of(stage).levels(settings_of(stage))))
    stage_settings.change(stage, {"enough": f"at least 2 agree on {unit}"}, None)
    assert publishing.quote(stage).problems == []


def project_sample(project):
    return recipe_of(project).sample.content


@pytest.mark.parametrize(("decided", "measured"), [(19, False), (20, True)])
def test_from_20_decided_items_on_the_expectation_is_their_mean(stage: Stage, decided: int, measured: bool) -> None:
    taken = [[2, 4], [5, decided - 4]]
    StageSummary.objects.update_or_create(stage=stage, defaults={"answers_taken": taken})
    mean = (2 * 4 + 5 * (decided - 4)) / decided
    found = Stage.objects.get(pk=stage.pk)
    assert required_answers.is_measured(found) is measured
    assert (required_answers.expected(found) == pytest.approx(mean)) is measured
