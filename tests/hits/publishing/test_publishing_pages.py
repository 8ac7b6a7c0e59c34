"""From the quote to the batch, through a real marketplace."""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from hits.models import Batch, Hit, Item, Stage
from hits.stages.verbs import stage_settings
from tests.hits import factories as make
from tests.hits.market import Marketplace
from tests.markup import squeezed

pytestmark = pytest.mark.django_db


@pytest.fixture
def stage(alice: Any) -> Stage:
    text = "Click a name. About 40 seconds."
    project = make.project(owner=alice, budget="3.00")
    found = make.stage(project, key="validate", reward=Decimal("0.04"), hit_description=text)
    make.items(found, 30)
    found.summary.items = found.summary.waiting = 30
    found.summary.save()
    return found


def _address(stage: Stage, name: str = "publish") -> str:
    return reverse(name, args=[stage.project.slug, stage.key])


def _hidden(reply: Any) -> dict[str, str]:
    return dict(re.findall(r'type="hidden" name="(items|total|confirmation)" value="([^"]*)"', reply.content.decode()))


def test_the_quote_of_a_growing_number_of_answers_has_three_sums(
    stage: Stage, lead_client: Client, market: Marketplace
) -> None:
    Stage.objects.filter(pk=stage.pk).update(answers=1, most_answers=3, enough="at least 2 agree on entity.correct")
    text = squeezed(lead_client.get(_address(stage), {"items": 10}))
    for said in (
        "Answers at first",
        "$0.50",
        "all items have enough with 1 answer.",
        "Expected: 4 of 5 answers are right.",
    ):
        assert said in text
    assert 'At most, and reserved</dt><dd class="total">$1.50' in text
    assert "Publish 10 items for at most $1.50</button>" in text


def test_the_quote_says_everything_before_the_button_says_it_again(
    stage: Stage, lead_client: Client, market: Marketplace
) -> None:
    text = squeezed(lead_client.get(_address(stage), {"items": 20}))
    for said in (
        "20 of 30",
        "$0.04",
        "$0.01",
        "$0.05",
        "$1.00",
        "$3.00",
        "$10,000.00",
        "$3.60 an hour (assumed)",
        "Assumed: 40 s an answer, as the description says",
        'Aggregation rule</dt><dd><span class="own-words mono small">keep: at least',
    ):
        assert said in text
    assert "Publish 20 items for $1.00</button>" in text


def test_a_confirmed_quote_reaches_the_marketplace(
    stage: Stage, lead_client: Client, market: Marketplace, eager: None
) -> None:
    confirmed = _hidden(lead_client.get(_address(stage), {"items": 20}))
    reply = lead_client.post(_address(stage), confirmed)
    assert reply.headers["Location"] == _address(stage, "stage")
    assert Hit.objects.filter(stage=stage, state=Hit.State.LIVE).exclude(hit_id=None).count() == 20
    stage.project.account.refresh_from_db()
    assert stage.project.account.reserved == Decimal("1.00")


def test_a_double_click_publishes_once(stage: Stage, lead_client: Client, market: Marketplace, eager: None) -> None:
    confirmed = _hidden(lead_client.get(_address(stage), {"items": 20}))
    for _ in range(2):
        assert lead_client.post(_address(stage), confirmed).status_code == 302
    assert Batch.objects.filter(stage=stage).count() == 1
    assert Hit.objects.filter(stage=stage).count() == 20
    stage.project.account.refresh_from_db()
    assert stage.project.account.reserved == Decimal("1.00")


def test_two_opened_pages_have_two_confirmations(stage: Stage, lead_client: Client, market: Marketplace) -> None:
    keys = {_hidden(lead_client.get(_address(stage)))["confirmation"] for _ in range(2)}
    assert len(keys) == 2


def test_a_price_that_changed_meanwhile_is_shown_and_nothing_is_published(
    stage: Stage, lead_client: Client, market: Marketplace
) -> None:
    confirmed = _hidden(lead_client.get(_address(stage), {"items": 20}))
    Stage.objects.filter(pk=stage.pk).update(reward=Decimal("0.05"))
    reply = lead_client.post(_address(stage), confirmed)
    assert reply.status_code == 409
    assert "Nothing was published" in reply.content.decode()
    assert not Batch.objects.exists()


def test_a_quote_past_the_budget_has_no_button_and_offers_what_the_money_covers(
    stage: Stage, lead_client: Client, market: Marketplace
) -> None:
    make.items(stage, 170)
    text = lead_client.get(_address(stage)).content.decode()
    assert "for $10.00</button>" not in text
    assert 'href="?items=60"' in text


def test_a_forged_total_publishes_nothing(stage: Stage, lead_client: Client, market: Marketplace) -> None:
    confirmed = _hidden(lead_client.get(_address(stage), {"items": 20}))
    assert lead_client.post(_address(stage), {**confirmed, "total": "0.01"}).status_code == 409
    assert lead_client.post(_address(stage), {"items": "20"}).status_code == 400
    assert Item.objects.filter(stage=stage, state=Item.State.NEW).count() == 30


def test_a_wrong_number_of_items_is_said_beside_its_field(
    stage: Stage, lead_client: Client, market: Marketplace
) -> None:
    assert "whole number from 1 up" in lead_client.get(_address(stage), {"items": "-4"}).content.decode()


def test_the_quote_is_there_while_the_marketplace_is_not(
    stage: Stage, lead_client: Client, market: Marketplace
) -> None:
    market.stop()
    try:
        text = lead_client.get(_address(stage), {"items": 5}).content.decode()
    finally:
        market.start()
    assert "it does not answer" in text
    assert "Publish 5 items for $0.25</button>" in text


def test_progress_asks_again_while_it_runs_and_stops_when_it_is_done(stage: Stage, lead_client: Client) -> None:
    batch = make.batch(stage, total=30, done=12, state=Batch.State.PUBLISHING)
    running = lead_client.get(_address(stage, "stage-progress")).content.decode()
    assert 'hx-trigger="every 2s"' in running
    assert "12 of 30" in running
    Batch.objects.filter(pk=batch.pk).update(done=30, state=Batch.State.PUBLISHED)
    done = lead_client.get(_address(stage, "stage-progress")).content.decode()
    assert "hx-trigger" not in done
    assert "30 of 30" in done


def test_pausing_stops_a_batch_and_resuming_sends_the_rest(
    stage: Stage, lead_client: Client, market: Marketplace, eager: None
) -> None:
    batch = make.batch(stage, total=3, done=0, state=Batch.State.PUBLISHING)
    make.hits(list(stage.items.all()[:3]), batch=batch, state=Hit.State.PLANNED, hit_id=None)
    Stage.objects.filter(pk=stage.pk).update(state=Stage.State.LIVE)
    lead_client.post(_address(stage, "pause"))
    stage.refresh_from_db()
    batch.refresh_from_db()
    assert (stage.state, batch.state) == (Stage.State.PAUSED, Batch.State.PAUSED)
    lead_client.post(_address(stage, "resume"))
    batch.refresh_from_db()
    assert (batch.state, batch.done) == (Batch.State.PUBLISHED, 3)


def test_extending_and_closing_early_reach_the_marketplace(
    stage: Stage, lead_client: Client, market: Marketplace, eager: None
) -> None:
    lead_client.post(_address(stage), _hidden(lead_client.get(_address(stage), {"items": 2})))
    hit = Hit.objects.filter(stage=stage).first()
    assert hit is not None and hit.expires_at is not None
    lead_client.post(_address(stage, "extend"), {"hours": "900"})
    hit.refresh_from_db()
    later = hit.expires_at
    lead_client.post(_address(stage, "expire"))
    hit.refresh_from_db()
    assert hit.expires_at is not None and later is not None and hit.expires_at < later


def test_extending_by_the_default_lengthens_the_time_and_a_double_click_does_it_once(
    stage: Stage, lead_client: Client, market: Marketplace, eager: None
) -> None:
    lead_client.post(_address(stage), _hidden(lead_client.get(_address(stage), {"items": 2})))
    # All HITs stay open as long as the one that ends last, which may have been made a second after the first.
    hit = Hit.objects.filter(stage=stage).latest("expires_at")
    assert hit.expires_at is not None
    before = hit.expires_at
    page = lead_client.get(_address(stage, "extend"))
    form = page.context["form"]
    sent = {"hours": form["hours"].value(), "ends": form["ends"].value()}
    assert f'name="ends" value="{sent["ends"]}"' in page.content.decode()
    for _ in range(2):
        assert lead_client.post(_address(stage, "extend"), sent).status_code == 302
        hit.refresh_from_db()
        assert hit.expires_at == (before + timedelta(hours=72)).replace(microsecond=0)
    # Somebody extended it by more since this page was opened.
    lead_client.post(_address(stage, "extend"), {"hours": "900"})
    late = lead_client.post(_address(stage, "extend"), sent)
    assert late.status_code == 400 and "Close early" in late.content.decode()


@pytest.mark.parametrize("name", ["extend", "expire"])
def test_where_no_hit_is_open_the_page_says_only_that_and_has_no_button(
    stage: Stage, lead_client: Client, name: str
) -> None:
    item = stage.items.first()
    hit = make.hit(item, state=Hit.State.CLOSED)
    page = squeezed(lead_client.get(_address(stage, name))).partition("<main")[2]
    assert "No HIT of this stage is open." in page and "<form" not in page
    Hit.objects.filter(pk=hit.pk).update(state=Hit.State.LIVE)
    page = squeezed(lead_client.get(_address(stage, name))).partition("<main")[2]
    assert "No HIT of this stage is open." not in page and '<form method="post"' in page


def test_extending_wants_a_number_of_hours(stage: Stage, lead_client: Client) -> None:
    reply = lead_client.post(_address(stage, "extend"), {"hours": "0"})
    assert reply.status_code == 400
    assert not Batch.objects.exists()


def test_work_is_kept_when_the_job_queue_does_not_answer(
    stage: Stage, lead_client: Client, market: Marketplace, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kombu.exceptions import OperationalError

    from hits import tasks

    def refuse(*arguments: Any) -> None:
        raise OperationalError("no broker")

    monkeypatch.setattr(tasks.publish_batch, "delay", refuse)
    confirmed = _hidden(lead_client.get(_address(stage), {"items": 2}))
    reply = lead_client.post(_address(stage), confirmed, follow=True)
    assert "This is kept, and begins when it is back" in reply.content.decode()
    assert Batch.objects.get().state == Batch.State.PUBLISHING


def test_a_lead_holds_what_arrives_and_lets_it_go_out_by_itself_again(alice: Any, lead_client: Client) -> None:
    first = make.stage(make.project(owner=alice), key="first")
    later = make.stage(first.project, key="later")
    assert "Hold it" not in lead_client.get(_address(first, "stage")).content.decode()
    assert "is published automatically" in lead_client.get(_address(later, "stage")).content.decode()
    for by_itself, said in (("no", "waits until you publish it"), ("yes", "is published automatically")):
        reply = lead_client.post(_address(later, "arrivals"), {"by_itself": by_itself}, follow=True)
        assert said in reply.content.decode()
    lead_client.post(_address(later, "arrivals"), {"by_itself": "no"})
    make.item(later, parent=make.item(first))
    reply = lead_client.post(_address(later, "arrivals"), {"by_itself": "yes"}, follow=True)
    assert "Publish the items that wait first" in reply.content.decode()
    later.refresh_from_db()
    assert not later.auto_publish


def test_a_wage_that_nobody_can_reckon_is_not_shown_until_a_lead_states_the_time(
    stage: Stage, lead_client: Client, market: Marketplace
) -> None:
    Stage.objects.filter(pk=stage.pk).update(hit_description="Click a name.")
    for name in ("stage", "publish", "stage-settings"):
        text = squeezed(lead_client.get(_address(stage, name)))
        assert "How long an answer takes is not known" in text and "below your" not in text
        assert not re.search(r"\$[0-9.]+ an hour", text)
    stage_settings.change(stage, {"expected_seconds": 18}, None)
    text = squeezed(lead_client.get(_address(stage, "stage")))
    assert "$8.00 an hour" in text and "Assumed: 18 s an answer, as you expect" in text
    stage.refresh_from_db()
    assert (stage.expected_seconds, stage.reward) == (18, Decimal("0.04"))


def test_the_reward_that_reaches_the_floor_is_named(stage: Stage, lead_client: Client) -> None:
    text = lead_client.get(_address(stage, "stage")).content.decode()
    assert "What other rewards would cost: $0.09 reaches your floor" in text
