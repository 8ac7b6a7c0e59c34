from datetime import timedelta
from decimal import Decimal

import pytest
from django.conf import settings
from django.utils import timezone

from hits.answers.rules.task_links import task_url
from hits.answers.verbs import harvesting
from hits.core.models.intents import TOKEN_LIFE
from hits.models import Batch, BudgetExceededError, Hit, Item, Lease, LedgerEntry
from hits.mturk.errors import RefusedError
from hits.mturk.gateway import Gateway
from hits.mturk.question import external_question
from hits.publishing.rules.marketplace_account import gateway
from hits.publishing.verbs import publishing, sending
from marketplace.rules import limits
from tests.hits.doing import refused

pytestmark = pytest.mark.django_db(transaction=True)


def _hits_at_the_marketplace() -> list[str]:
    return [hit.annotation for hit in gateway().all_hits()]


def test_a_quote_says_items_price_and_what_is_left(market, bring, stage):
    bring(4)
    quote = publishing.quote(stage)
    assert (quote.items, quote.unit_cost, quote.total) == (4, Decimal("0.05"), Decimal("0.20"))
    assert (quote.budget_left, quote.balance) == (Decimal("20.00"), Decimal("10000.00"))
    assert quote.problems == []
    assert publishing.quote(stage, 3).total == Decimal("0.15")


@pytest.mark.on_postgresql
def test_every_item_gets_one_hit_and_its_price_is_reserved(market, bring, stage, publish):
    bring(5)
    batch = publish(stage)
    assert (batch.state, batch.done, batch.refused) == (Batch.State.PUBLISHED, 5, 0)
    tokens = list(stage.hits.values_list("token", flat=True))
    assert sorted(_hits_at_the_marketplace()) == sorted(tokens)
    account = stage.project.account
    account.refresh_from_db()
    assert account.reserved == Decimal("0.25") == gateway().balance().on_hold


def test_the_hit_asks_what_the_recipe_requires_and_not_to_be_of_poor_quality(market, bring, stage, publish):
    bring(1)
    publish(stage)
    requirements = market.hit(stage.hits.get().hit_id)["requirements"]
    by_id = {found["QualificationTypeId"]: found for found in requirements}
    own = stage.project.qualifications.get(key="poor-quality").qualification_type_id
    assert by_id["000000000000000000L0"]["IntegerValues"] == [95]
    assert by_id["00000000000000000040"]["IntegerValues"] == [50]
    assert {found["Country"] for found in by_id["00000000000000000071"]["LocaleValues"]} == {"US", "CA", "GB"}
    assert by_id[own]["Comparator"] == "DoesNotExist"


@pytest.mark.on_postgresql
def test_confirming_one_page_twice_publishes_once(market, bring, stage, publish):
    bring(3)
    first = publish(stage, "page-1")
    again = publishing.publish(stage, 3, Decimal("0.15"), "page-1", None)
    assert again.pk == first.pk
    assert stage.hits.count() == 3
    assert LedgerEntry.objects.filter(kind="reserve").count() == 1


def test_sending_a_batch_again_makes_no_second_hit(market, bring, stage, publish):
    bring(3)
    batch = publish(stage)
    Batch.objects.update(state=Batch.State.PUBLISHING)
    assert sending.send(batch.pk) == 0
    assert len(_hits_at_the_marketplace()) == 3


def test_a_quote_that_changed_meanwhile_has_to_be_confirmed_again(market, bring, stage):
    bring(3)
    with refused("quote_changed", match="3 items for"):
        publishing.publish(stage, 2 + 5, Decimal("0.35"), "page-1", None)
    assert not Batch.objects.exists()
    assert set(Item.objects.values_list("state", flat=True)) == {Item.State.NEW}


@pytest.mark.on_postgresql
def test_publishing_beyond_the_budget_changes_nothing(market, bring, stage):
    bring(3)
    stage.project.account.budget = Decimal("0.14")
    stage.project.account.save()
    quote = publishing.quote(stage)
    assert any("Raise the budget" in problem for problem in quote.problems)
    with pytest.raises(BudgetExceededError, match=r"\$0\.14"):
        publishing.publish(stage, 3, Decimal("0.15"), "page-1", None)
    assert not Batch.objects.exists() and not Hit.objects.exists() and not LedgerEntry.objects.exists()
    assert set(Item.objects.values_list("state", flat=True)) == {Item.State.NEW}


def test_while_the_marketplace_is_down_the_batch_waits_and_then_goes_on(market, bring, stage):
    bring(3)
    batch = publishing.publish(stage, 3, Decimal("0.15"), "page-1", None)
    market.stop()
    try:
        assert sending.send(batch.pk) == 0
        batch.refresh_from_db()
        assert batch.state == Batch.State.WAITING
        assert "goes on by itself" in batch.message
    finally:
        market.start()
    assert publishing.unfinished() == [batch.pk]
    sending.send(batch.pk)
    assert sorted(_hits_at_the_marketplace()) == sorted(stage.hits.values_list("token", flat=True))


@pytest.mark.on_postgresql
def test_a_hit_whose_reply_was_lost_is_adopted(market, bring, stage):
    bring(2)
    batch = publishing.publish(stage, 2, Decimal("0.10"), "page-1", None)
    sending.ensure_hit_type(stage, gateway())
    lost = stage.hits.order_by("id")[0]
    made = gateway().create_hit(
        stage.hit_type_id,
        question=external_question(task_url(lost.pk)),
        max_assignments=1,
        lifetime_seconds=stage.lifetime_seconds,
        token=lost.token,
    )
    sending.send(batch.pk)
    lost.refresh_from_db()
    assert (lost.state, lost.hit_id) == (Hit.State.LIVE, made.hit_id)
    assert len(_hits_at_the_marketplace()) == 2


def test_a_hit_whose_token_has_died_is_found_by_its_annotation(market, bring, stage, publish):
    bring(2)
    batch = publish(stage)
    forgotten = stage.hits.order_by("id")[0]
    known = forgotten.hit_id
    Hit.objects.filter(pk=forgotten.pk).update(
        hit_id=None, state=Hit.State.SENT, attempted_at=timezone.now() - timedelta(hours=30)
    )
    Batch.objects.update(state=Batch.State.PUBLISHING)
    sending.send(batch.pk)
    forgotten.refresh_from_db()
    assert (forgotten.hit_id, forgotten.state) == (known, Hit.State.LIVE)
    assert len(_hits_at_the_marketplace()) == 2


@pytest.mark.parametrize(("hours", "asked_by_token"), [(22.5, True), (23.5, False), (24.5, False)])
def test_a_hit_is_asked_for_by_its_token_only_while_the_token_surely_lives(
    market, bring, stage, publish, monkeypatch, hours, asked_by_token
):
    """The marketplace forgets tokens after 24 hours: a call with a forgotten one would make a second HIT."""
    bring(1)
    batch = publish(stage)
    Hit.objects.update(hit_id=None, state=Hit.State.SENT, attempted_at=timezone.now() - timedelta(hours=hours))
    Batch.objects.update(state=Batch.State.PUBLISHING)
    asked = []
    create = Gateway.create_hit
    monkeypatch.setattr(Gateway, "create_hit", lambda *given, **named: asked.append(1) or create(*given, **named))
    sending.send(batch.pk)
    assert (len(asked), len(_hits_at_the_marketplace())) == (int(asked_by_token), 1)
    assert stage.hits.get().state == Hit.State.LIVE
    longest_call = timedelta(seconds=settings.MTURK_DEADLINE_SECONDS)
    assert TOKEN_LIFE + longest_call < limits.REQUEST_TOKEN_LIFE


@pytest.fixture
def a_second_process(monkeypatch):
    """Once the calls of a batch are made and not recorded, its lease ends and another process does it all."""
    run, others = Gateway.run, []

    def overtaken(self, work, rows, **named):
        outcomes = run(self, work, rows, **named)
        if rows and not others:
            others.append(batch := Batch.objects.latest("pk"))
            Lease.objects.update(until=timezone.now())
            sending.send(batch.pk)
        return outcomes

    monkeypatch.setattr(Gateway, "run", overtaken)
    return others


def test_what_two_processes_sent_is_recorded_once(market, bring, stage, publish, a_second_process):
    """Counted twice, a batch would have more done than it has calls."""
    bring(2)
    batch = publish(stage)
    assert a_second_process == [batch]
    assert (batch.done, batch.total, batch.refused, len(_hits_at_the_marketplace())) == (2, 2, 0, 2)


@pytest.mark.parametrize("verb", ["expire", "delete"])
def test_what_two_processes_closed_or_deleted_is_counted_once(market, bring, stage, publish, answer, request, verb):
    bring(2)
    publish(stage)
    if verb == "expire":
        batch = publishing.expire(stage, None)
    else:
        worker = market.sign_up_worker()
        for hit in stage.hits.all():
            answer(worker, hit)
        harvesting.harvest(stage)
        batch = publishing.delete_hits(stage, None)
    request.getfixturevalue("a_second_process")
    sending.send(batch.pk)
    batch.refresh_from_db()
    assert (batch.state, batch.total, batch.done, batch.refused) == ("published", 2, 2, 0)


def test_money_of_what_was_refused_to_two_processes_is_released_once(
    market, bring, stage, publish, monkeypatch, a_second_process
):
    """Released twice, the budget would have room for HITs that nobody reserved for."""
    bring(2)

    def refused(*given, **named):
        raise RefusedError("InvalidParameter", "The question is too long.")

    monkeypatch.setattr(Gateway, "create_hit", refused)
    batch = publish(stage)
    account = stage.project.account
    account.refresh_from_db()
    assert a_second_process == [batch]
    assert (account.reserved, batch.done, batch.refused) == (0, 2, 2)
    assert (account.reserved, account.paid) == account.sums()


def test_a_paused_batch_sends_nothing_until_it_is_resumed(market, bring, stage):
    bring(2)
    batch = publishing.publish(stage, 2, Decimal("0.10"), "page-1", None)
    publishing.pause(stage)
    assert sending.send(batch.pk) == 0
    assert publishing.unfinished() == []
    assert publishing.resume(stage) == [batch.pk]
    sending.send(batch.pk)
    assert len(_hits_at_the_marketplace()) == 2


@pytest.mark.on_postgresql
def test_what_the_marketplace_refuses_gives_its_money_back_and_waits_again(market, bring, stage):
    bring(2)
    stage.lifetime_seconds = 5  # the marketplace takes 30 and more
    stage.save()
    batch = publishing.publish(stage, 2, Decimal("0.10"), "page-1", None)
    sending.send(batch.pk)
    batch.refresh_from_db()
    assert (batch.state, batch.refused) == (Batch.State.PUBLISHED, 2)
    assert "refused" in batch.message
    assert set(stage.items.values_list("state", flat=True)) == {Item.State.NEW}
    stage.project.account.refresh_from_db()
    assert stage.project.account.reserved == 0


def test_expiring_early_closes_every_hit_and_extending_keeps_them_open(market, bring, stage, publish):
    bring(2)
    publish(stage)
    longer = publishing.extend(stage, 30 * 86_400, None)
    sending.send(longer.pk)
    assert {market.hit(hit.hit_id)["status"] for hit in stage.hits.all()} == {"Assignable"}
    assert min(stage.hits.values_list("expires_at", flat=True)) > timezone.now() + timedelta(days=29)
    sending.send(publishing.expire(stage, None).pk)
    assert {market.hit(hit.hit_id)["status"] for hit in stage.hits.all()} == {"Reviewable"}


def test_extending_adds_to_the_latest_end_and_never_shortens(market, bring, stage, publish):
    bring(2)
    publish(stage)
    first, second = stage.hits.order_by("id")
    sending.send(publishing.extend_until(stage, publishing.latest_end(stage) + timedelta(hours=5), None).pk)
    # A HIT that came later closes later.
    much_later = (timezone.now() + timedelta(days=40)).replace(microsecond=0)
    gateway().set_expiration(second.hit_id, much_later)
    Hit.objects.filter(pk=second.pk).update(expires_at=much_later)
    batch = publishing.extend(stage, 3600, None)
    sending.send(batch.pk)
    assert batch.until == much_later + timedelta(hours=1)
    assert {gateway().hit(hit.hit_id).expires_at for hit in (first, second)} == {batch.until}


def test_an_earlier_end_is_refused_and_named_close_early(market, bring, stage, publish):
    bring(1)
    publish(stage)
    before = stage.hits.get().expires_at
    with refused("closing_time", match="Close early"):
        publishing.extend_until(stage, before - timedelta(minutes=1), None)
    with refused("closing_time", match="a year"):
        publishing.extend_until(stage, timezone.now() + timedelta(days=366), None)
    assert not stage.batches.filter(kind=Batch.Kind.EXTEND).exists()


def test_a_hit_that_came_later_keeps_its_later_end_while_others_are_extended(market, bring, stage, publish):
    bring(2)
    publish(stage)
    first, second = stage.hits.order_by("id")
    batch = publishing.extend(stage, 3600, None)
    later = batch.until + timedelta(days=2)
    gateway().set_expiration(second.hit_id, later)
    Hit.objects.filter(pk=second.pk).update(expires_at=later)
    sending.send(batch.pk)
    batch.refresh_from_db()
    assert batch.state == Batch.State.PUBLISHED
    assert [gateway().hit(hit.hit_id).expires_at for hit in (first, second)] == [batch.until, later]


def test_a_second_extension_adds_to_one_that_is_under_way(market, bring, stage, publish):
    bring(1)
    publish(stage)
    first = publishing.extend(stage, 3600, None)
    second = publishing.extend(stage, 3600, None)
    assert second.until == first.until + timedelta(hours=1)


def test_hits_whose_time_is_over_are_extended_from_now(market, bring, stage, publish):
    bring(1)
    publish(stage)
    Hit.objects.update(expires_at=timezone.now() - timedelta(days=2))
    batch = publishing.extend(stage, 3600, None)
    sending.send(batch.pk)
    assert batch.until > timezone.now() + timedelta(minutes=50)
    assert gateway().hit(stage.hits.get().hit_id).expires_at == batch.until


def test_pausing_a_batch_whose_calls_are_all_made_leaves_it_published(market, bring, stage, publish):
    bring(2)
    batch = publish(stage)
    Batch.objects.update(state=Batch.State.PUBLISHING, finished_at=None)
    publishing.pause(stage)
    batch.refresh_from_db()
    assert (batch.state, batch.finished_at is not None) == (Batch.State.PUBLISHED, True)
    # The pause comes while the last calls are made.
    Batch.objects.update(state=Batch.State.PUBLISHING, finished_at=None)
    stage.hits.update(state=Hit.State.SENT, hit_id=None)
    made = sending._record_hits

    def paused_meanwhile(*arguments):
        count = made(*arguments)
        Batch.objects.update(state=Batch.State.PAUSED)
        return count

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sending, "_record_hits", paused_meanwhile)
        sending.send(batch.pk)
    batch.refresh_from_db()
    assert (batch.state, stage.hits.filter(state=Hit.State.LIVE).count()) == (Batch.State.PUBLISHED, 2)
