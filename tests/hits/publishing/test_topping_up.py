"""One answer fewer than wanted is bought again by itself, as the marketplace allows it and as the money lasts."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from hits import tasks
from hits.answers.verbs import harvesting, serving
from hits.judging.verbs import deciding, scoring
from hits.models import Batch, Draft, Extension, Hit, Item, Stage
from hits.mturk.question import external_question
from hits.payments.rules.commitments import BalanceTooLowError, planned_cost
from hits.projects.verbs import projects
from hits.publishing.rules.marketplace_account import gateway
from hits.publishing.verbs import publishing, sending, topping_up
from tests.hits import factories

pytestmark = pytest.mark.django_db(transaction=True)


def _account(stage: Stage):
    account = stage.project.account
    account.refresh_from_db()
    assert (account.reserved, account.paid) == account.sums()
    return account


def _conclude(stage: Stage) -> None:
    harvesting.harvest(stage)
    scoring.score(stage)
    deciding.decide(stage)


def _time_runs_out(stage: Stage) -> None:
    """The HITs end by themselves, at the marketplace and here."""
    for hit in stage.hits.filter(state=Hit.State.LIVE):
        gateway().set_expiration(hit.hit_id, timezone.now() - timedelta(minutes=1))
        Hit.objects.filter(pk=hit.pk).update(expires_at=timezone.now() - timedelta(minutes=1), due_at=timezone.now())
    _conclude(stage)


def _top_up(stage: Stage) -> Batch:
    batch = topping_up.top_up(stage)
    assert batch is not None
    sending.send(batch.pk)
    batch.refresh_from_db()
    assert (batch.state, batch.refused) == (Batch.State.PUBLISHED, 0)
    return batch


def _state(stage: Stage) -> str:
    return stage.items.get().state


def test_a_hit_that_ended_without_an_answer_is_opened_again_by_itself(market, bring, stage, publish, answer):
    bring(1)
    publish(stage)
    _time_runs_out(stage)
    assert (_state(stage), _account(stage).reserved) == ("again", Decimal(0))
    _top_up(stage)
    hit = stage.hits.get()
    assert market.hit(hit.hit_id)["status"] == "Assignable"
    assert (hit.max_assignments, hit.state, hit.short_since) == (1, Hit.State.LIVE, None)
    assert (Extension.objects.get().assignments, Extension.objects.get().places) == (0, 1)
    assert _account(stage).reserved == Decimal("0.05") == gateway().balance().on_hold
    answer(market.sign_up_worker(), hit)
    _conclude(stage)
    assert (_state(stage), _account(stage).paid, _account(stage).reserved) == ("kept", Decimal("0.05"), Decimal(0))


def test_what_is_missing_beyond_the_free_places_is_added_to_them(market, bring, stage, publish):
    projects.want_answers(stage, 3, 1)
    bring(1)
    publish(stage)
    hit = stage.hits.get()
    market.answer(market.sign_up_worker(), hit.hit_id, answer="0-1", text="Re")
    _time_runs_out(stage)
    assert (_state(stage), _account(stage).reserved) == ("again", Decimal(0))
    _top_up(stage)
    hit.refresh_from_db()
    assert (Extension.objects.get().assignments, Extension.objects.get().places, hit.max_assignments) == (1, 3, 4)
    assert _account(stage).reserved == Decimal("0.15") == gateway().balance().on_hold


def test_an_answer_that_another_process_has_not_scored_yet_is_not_bought_again(market, bring, stage, publish, answer):
    projects.want_answers(stage, 2, 1)
    bring(1)
    publish(stage)
    hit = stage.hits.get()
    answer(market.sign_up_worker(), hit)
    answer(market.sign_up_worker(), hit)
    harvesting.harvest(stage)
    # As an answer does that was harvested and scored alone.
    stage.items.update(stale=True)
    deciding.decide(stage)
    assert (_state(stage), topping_up.top_up(stage)) == ("open", None)
    scoring.score(stage)
    deciding.decide(stage)
    assert (_state(stage), _account(stage).paid, _account(stage).reserved) == ("kept", Decimal("0.10"), Decimal(0))


def test_an_unscored_answer_to_an_earlier_hit_is_not_bought_again_either(market, bring, stage, publish, answer):
    projects.want_answers(stage, 2, 1)
    bring(1)
    publish(stage)
    first = stage.hits.get()
    answer(market.sign_up_worker(), first)
    answer(market.sign_up_worker(), first)
    harvesting.harvest(stage)
    factories.hit(first.item, slot=first.slot + 1, state=Hit.State.CLOSED, closed_early=True)
    stage.items.update(stale=True)
    deciding.decide(stage)
    assert _state(stage) == "open"
    scoring.score(stage)
    deciding.decide(stage)
    assert _state(stage) == "kept"


def test_after_three_times_it_waits_for_a_lead_and_says_why(market, bring, stage, publish):
    bring(1)
    publish(stage)
    for _ in range(3):
        _time_runs_out(stage)
        _top_up(stage)
        assert topping_up.held_up(stage) == []
    _time_runs_out(stage)
    assert (_state(stage), topping_up.top_up(stage)) == ("new", None)
    assert "4 times" in stage.hits.get().error
    [sentence] = topping_up.held_up(stage)
    assert sentence.startswith("1 item closed again and again")
    publish(stage, "page-2")
    assert (topping_up.held_up(stage), stage.hits.count()) == ([], 2)


def test_a_hit_that_a_lead_closed_is_not_opened_again_by_itself(market, bring, stage, publish):
    bring(1)
    publish(stage)
    sending.send(publishing.expire(stage, None).pk)
    _conclude(stage)
    assert (_state(stage), topping_up.top_up(stage), topping_up.held_up(stage)) == ("new", None, [])


def test_from_nine_places_a_new_hit_is_made_at_its_own_price(market, bring, stage, publish, answer):
    projects.want_answers(stage, 9, 9)
    bring(1)
    publish(stage)
    hit = stage.hits.get()
    for _ in range(8):
        answer(market.sign_up_worker(), hit)
    market.answer(market.sign_up_worker(), hit.hit_id, answer="0-1", text="Re")
    _conclude(stage)
    assert _state(stage) == "again"
    _top_up(stage)
    first, second = stage.hits.order_by("slot")
    assert market.hit(first.hit_id)["max_assignments"] == 9
    assert (second.max_assignments, second.unit_cost, _account(stage).reserved) == (1, Decimal("0.05"), Decimal("0.05"))
    assert not Extension.objects.exists()


def test_a_hit_made_with_ten_places_keeps_the_dearer_fee_and_a_smaller_one_does_not(market, bring, stage, publish):
    """The marketplace takes 20 % more from ten assignments on: two answers of a later HIT cost what two cost."""
    projects.want_answers(stage, 10, 1)
    stage.refresh_from_db()
    bring(2)
    first, second = stage.items.order_by("id")
    for item in (first, second):
        row = factories.hit(item, state=Hit.State.CLOSED, hit_id=None, max_assignments=10, harvested=8)
        for _ in range(8):
            factories.label(factories.assignment(row))
    quote = publishing.quote(stage)
    assert (quote.answers, quote.unit_cost, quote.total) == (4, Decimal("0.06"), Decimal("0.20"))
    publish(stage)
    assert _account(stage).reserved == Decimal("0.20") == gateway().balance().on_hold


def test_who_answered_the_item_is_kept_from_its_new_hit_as_soon_as_the_answer_is_fetched(market, bring, stage):
    bring(1)
    item = stage.items.get()
    earlier, new = factories.hit(item, slot=1), factories.hit(item, slot=2)
    visit = serving.Visit(new, "3ASG", "AREADER000001")
    Draft.objects.create(hit=earlier, assignment_id="3OTHER", worker_id="AREADER000001", sent_at=timezone.now())
    serving.refuse_ineligible(visit)
    factories.assignment(earlier, factories.worker("AREADER000001"), assignment_id="3OTHER")
    with pytest.raises(serving.NotEligibleError, match="answered this question before"):
        serving.refuse_ineligible(visit)
    serving.refuse_ineligible(serving.Visit(new, "3ASG", "ANOTHER0000001"))


def test_while_the_stage_is_paused_nothing_is_bought(market, bring, stage, publish):
    bring(1)
    publish(stage)
    _time_runs_out(stage)
    publishing.pause(stage)
    assert (topping_up.top_up(stage), topping_up.unfinished()) == (None, [])
    publishing.resume(stage)
    assert topping_up.unfinished() == [stage.pk]


def test_without_budget_it_waits_and_the_page_says_so(market, bring, stage, publish):
    bring(1)
    publish(stage)
    _time_runs_out(stage)
    account = _account(stage)
    account.budget = Decimal("0.04")
    account.save()
    stage.project.account.refresh_from_db()
    assert topping_up.top_up(stage) is None
    assert topping_up.held_up(stage) == [
        "1 item waits for money: $0.05 is needed and $0.04 of the budget is left. "
        "Raise the budget, and they go out by themselves."
    ]
    assert (_state(stage), Batch.objects.filter(kind=Batch.Kind.AGAIN).count()) == ("again", 0)


def test_the_sweep_takes_up_what_a_crash_left_between_two_modules(market, bring, stage, publish, answer, eager):
    bring(2, origin="crawled")
    publish(stage)
    first, second = stage.hits.order_by("id")
    answer(market.sign_up_worker(), first)
    market.answer(market.sign_up_worker(), second.hit_id, answer="0-1", text="Re")
    harvesting.harvest(stage)  # and the process ends here
    tasks.resume_all()
    assert list(stage.items.order_by("id").values_list("state", flat=True)) == ["kept", "open"]
    second.refresh_from_db()
    assert (second.max_assignments, second.state) == (2, Hit.State.LIVE)
    later = stage.project.stages.get(position=2)
    assert list(later.hits.values_list("state", flat=True)) == [Hit.State.LIVE]
    assert tasks.resume_all() == 0


def test_what_arrived_goes_out_by_itself_and_what_a_lead_closed_does_not(market, bring, project, stage):
    bring(1)
    later = project.stages.get(position=2)
    parent = stage.items.get()
    closed = factories.item(later, document=parent.document, parent=parent)
    factories.hit(closed, state=Hit.State.CLOSED, closed_early=True)
    arrived = factories.item(later, document=parent.document, parent=parent)
    assert publishing.unpublished() == [later.pk]
    publishing.publish_arrivals(later)
    assert list(Item.objects.filter(stage=later, state="open")) == [arrived]
    assert (publishing.unpublished(), publishing.publish_arrivals(later)) == ([], None)


# The account's balance


@pytest.fixture
def dear(bring, stage):
    """Two items of $6,000.00 each; the account holds $10,000.00 and the budget allows both."""
    bring(2)
    Stage.objects.filter(pk=stage.pk).update(reward=Decimal("5000.00"))
    stage.project.account.budget = Decimal("20000.00")
    stage.project.account.save()
    stage.refresh_from_db()
    return stage


def test_what_the_account_cannot_pay_is_refused_and_changes_nothing(market, dear):
    assert any("$2,000.00 is missing" in problem for problem in publishing.quote(dear).problems)
    with pytest.raises(BalanceTooLowError, match=r"\$2,000\.00 is missing"):
        publishing.publish(dear, 2, Decimal("12000.00"), "page-1", None)
    assert not Batch.objects.exists() and _account(dear).reserved == 0
    assert set(dear.items.values_list("state", flat=True)) == {"new"}


def test_money_that_is_planned_and_not_yet_held_is_spoken_for(market, dear):
    batch = publishing.publish(dear, 1, Decimal("6000.00"), "page-1", None)
    assert planned_cost() == Decimal("6000.00")
    with pytest.raises(BalanceTooLowError, match=r"of which \$6,000\.00 is planned"):
        publishing.publish(dear, 1, Decimal("6000.00"), "page-2", None)
    sending.send(batch.pk)
    assert planned_cost() == 0  # held there now, and so no longer available
    with pytest.raises(BalanceTooLowError, match=r"holds \$4,000\.00\. \$2,000\.00 is missing"):
        publishing.publish(dear, 1, Decimal("6000.00"), "page-3", None)


def test_a_batch_that_runs_out_of_money_waits_and_goes_on_when_there_is_some(market, dear):
    batch = publishing.publish(dear, 1, Decimal("6000.00"), "page-1", None)
    sending.ensure_hit_type(dear, gateway())
    other = gateway().create_hit(
        dear.hit_type_id,
        question=external_question("http://127.0.0.1/task/x/"),
        max_assignments=1,
        lifetime_seconds=3600,
        token="somebody-else",
    )
    sending.send(batch.pk)
    batch.refresh_from_db()
    assert (batch.state, batch.refused, batch.done) == (Batch.State.WAITING, 0, 0)
    assert "Add money" in batch.message and publishing.unfinished() == [batch.pk]
    hit = dear.hits.get()
    assert (hit.state, hit.attempted_at) == (Hit.State.PLANNED, None)
    gateway().set_expiration(other.hit_id, timezone.now())
    gateway().delete_hit(other.hit_id)
    sending.send(batch.pk)
    batch.refresh_from_db()
    assert (batch.state, batch.done, batch.message) == (Batch.State.PUBLISHED, 1, "")


def test_a_hit_type_that_is_refused_pauses_the_batch_and_says_what_to_do(market, bring, stage):
    bring(1)
    Stage.objects.filter(pk=stage.pk).update(hit_title="x" * 128, assignment_seconds=5)
    batch = publishing.publish(stage, 1, Decimal("0.05"), "page-1", None)
    sending.send(batch.pk)
    batch.refresh_from_db()
    assert batch.state == Batch.State.PAUSED
    assert "refused" in batch.message and "Press Resume" in batch.message
    assert publishing.unfinished() == []


def test_while_the_marketplace_is_silent_publishing_is_planned_all_the_same(market, bring, stage, monkeypatch):
    bring(1)
    monkeypatch.setattr("hits.publishing.rules.marketplace_account.balance", lambda: None)
    assert publishing.publish(stage, 1, Decimal("0.05"), "page-1", None).total == 1


def test_the_answers_of_all_hits_of_an_item_count_for_the_spare_ones(db, stand_in):
    """Otherwise an item that never gets a verdict would be bought new HITs for ever."""
    stage = factories.stage(answers=2)
    item = factories.item(stage, state=Item.State.AGAIN)
    for slot, harvested in ((1, 4), (2, 2)):
        factories.hit(item, slot=slot, state=Hit.State.CLOSED, harvested=harvested, max_assignments=harvested)
    assert topping_up.top_up(stage) is None
    Hit.objects.filter(slot=1).update(harvested=3, max_assignments=3)
    assert topping_up.top_up(stage) is not None
