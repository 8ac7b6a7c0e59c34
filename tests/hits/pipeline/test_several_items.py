"""Several items in one HIT: one reward, and labels, gold, rules and answers wanted an item."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from hits.answers.rules import eligibility
from hits.answers.verbs import harvesting, reviewing, serving
from hits.items.verbs import importing
from hits.judging.verbs import advancing, deciding, scoring
from hits.models import Account, Assignment, Batch, Hit, Item, Label, Stage
from hits.mturk import fees
from hits.mturk.errors import RefusedError
from hits.mturk.gateway import Gateway
from hits.payments.verbs import checking_ledger
from hits.projects.verbs import projects
from hits.protocols.base import AnswerRefusedError, SettingsRefusedError
from hits.publishing.rules import hit_items, hit_plans
from hits.publishing.verbs import closing, publishing, sending, topping_up
from hits.stages.verbs import custom_stages, stage_settings, task_settings
from hits.workers.verbs import blocking
from tests.hits import factories as make
from tests.hits.pipeline.stage_machine import anybody

pytestmark = pytest.mark.django_db(transaction=True)
TABLE = "id,text,right\n" + "\n".join(
    f"n{number},Text {number}.,{'wet' if number % 2 else 'dry'}" for number in range(1, 6)
)
WEATHER = {
    "show": [{"kind": "text", "text": "{text}"}],
    "ask": [
        {"kind": "one", "key": "weather", "question": "Was it wet?", "choices": ["Wet", "Dry"], "gold": "right"},
        {"kind": "short_text", "key": "why", "question": "Why?", "required": False},
    ],
}
MAJORITY = {"name": "majority", "version": 1}


@pytest.fixture
def stage(lead: Any, market: Any) -> Stage:
    """Five rows, two in a HIT, one answer an item."""
    project = projects.create_project("Weather", "form", Decimal("20.00"), "lab@example.org", lead, seed=3)
    stage = project.stages.get()
    # As a lead may choose: the marketplace pays at once.
    project.stages.update(auto_approval_seconds=0)
    stage.refresh_from_db()
    given = {"answers": 1, "items_per_hit": 2, "requirements": [], "reward": "0.30"}
    stage_settings.change(stage, given, lead)
    task_settings.change_task(stage, {"settings": {"form": WEATHER}}, None)
    upload = importing.create_upload(project, "w.csv", TABLE.encode(), "public", None)
    importing.import_upload(upload.pk)
    upload.refresh_from_db()
    assert upload.state == "done", upload.faults
    return stage


def published(stage: Stage) -> list[Hit]:
    stage.refresh_from_db()
    quote = publishing.quote(stage)
    assert quote.problems == []
    sending.send(publishing.publish(stage, quote.items, quote.total, f"page {quote.items}", None).pk)
    stage.refresh_from_db()
    return list(stage.hits.order_by("id"))


def gathered(stage: Stage) -> None:
    harvesting.harvest(stage)
    scoring.score(stage)
    deciding.decide(stage)
    stage.refresh_from_db()


def weather(*words: str, **more: str) -> dict[str, str]:
    """An answer as the last screen of a HIT posts it: its own fields, and those of the items before it."""
    fields = {f"item{number}:weather": word for number, word in enumerate(words[:-1], 1)}
    return {**fields, "weather": words[-1], "item_number": str(len(words)), **more}


def said(stage: Stage) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for key, value in stage.labels.counting().order_by("id").filter(unit="weather").values_list("item__key", "value"):
        found.setdefault(key, []).append(value)
    return found


def states(stage: Stage) -> dict[str, str]:
    return dict(stage.items.order_by("id").values_list("key", "state"))


def books_agree(stage: Stage) -> None:
    check = checking_ledger.check(stage.project, None, deep=True)
    assert (check.state, check.faults) == ("done", [])


def test_five_items_are_asked_about_in_three_hits_for_three_rewards(stage):
    quote = publishing.quote(stage)
    price = 3 * fees.unit_cost(Decimal("0.30"), 1)
    assert (quote.items, quote.hits, quote.answers, quote.total) == (5, 3, 3, price)
    hits = published(stage)
    assert [hit.item_count for hit in hits] == [2, 2, 1]
    assert [[item.key for item in (hit.item, *(row.item for row in hit.further.all()))] for hit in hits] == [
        ["n1", "n2"],
        ["n3", "n4"],
        ["n5"],
    ]
    assert Account.objects.get().reserved == price
    assert Batch.objects.get().done == 3
    assert set(states(stage).values()) == {"open"}


def test_an_answer_gives_labels_verdicts_and_gold_to_each_item_and_is_paid_once(stage, market):
    hits = published(stage)
    worker = market.sign_up_worker()
    market.answer(worker, hits[0].hit_id, **weather("wet", "wet", **{"item1:why": "Rain"}))
    gathered(stage)
    assert said(stage) == {"n1": ["wet"], "n2": ["wet"]}
    assert dict(Label.objects.filter(unit="weather").values_list("item__key", "correct")) == {"n1": True, "n2": False}
    assert list(Label.objects.filter(unit="why").values_list("item__key", "value")) == [("n1", {"text": "Rain"})]
    assert states(stage) == {"n1": "kept", "n2": "kept", "n3": "open", "n4": "open", "n5": "open"}
    assert Account.objects.get().paid == fees.unit_cost(Decimal("0.30"), 1)
    assert stage.worker_stats.get().answers == 1
    books_agree(stage)


def test_the_remarks_and_the_faults_of_many_items_together_are_bounded(stage):
    items = make.items(stage, 20, data=stage.items.earliest("pk").data, document=stage.items.earliest("pk").document)
    said = {f"item{number}:comment": str(number % 10) * 2000 for number in range(1, 21)}
    chosen = {f"item{number}:weather": "wet" for number in range(1, 21)}
    wrong = {f"item{number}:weather": "x" * 2000 for number in range(1, 21)}
    hits = make.hit_about(items), make.hit_about(items, slot=2)
    for hit, fields in zip(hits, (chosen, wrong), strict=True):
        make.assignment(hit, answer={**fields, **said}, scored=False)
    scoring.score(stage)
    counts, refused = Assignment.objects.order_by("pk")
    assert (counts.problem, len(counts.remark) <= 10_000, counts.remark[:4000]) == (
        "",
        True,
        "1" * 2000 + "\n" + "2" * 1999,
    )
    assert counts.remark.endswith(" more characters were cut off]")
    assert refused.problem and len(refused.problem) <= 10_000


def test_an_answer_that_lacks_one_item_is_invalid_as_a_whole_and_all_its_items_are_asked_again(stage, market):
    hits = published(stage)
    market.answer(market.sign_up_worker(), hits[0].hit_id, **weather("", "wet"))
    gathered(stage)
    answer = Assignment.objects.get()
    assert answer.problem.startswith("Item 1: ")
    assert said(stage) == {}
    assert [states(stage)[key] for key in ("n1", "n2")] == ["again", "again"]
    sending.send(topping_up.top_up(stage).pk)
    # The HIT is opened again for both of its items.
    assert stage.hits.count() == 3
    market.answer(market.sign_up_worker(), hits[0].hit_id, **weather("wet", "dry"))
    gathered(stage)
    assert said(stage) == {"n1": ["wet"], "n2": ["dry"]}
    books_agree(stage)


def test_items_that_want_another_answer_are_put_together_without_those_that_do_not(stage, market, lead):
    stage_settings.change(stage, {"answers": 2, "items_per_hit": 3}, lead)
    hits = published(stage)
    assert [hit.item_count for hit in hits] == [3, 2]
    first, second, third = (market.sign_up_worker() for _ in range(3))
    market.answer(first, hits[0].hit_id, **weather("wet", "wet", "wet"))
    market.answer(second, hits[0].hit_id, **weather("wet", "wet", "wet"))
    gathered(stage)
    # A label of one item is lost to a rule of its own: here its verdict wants three answers.
    Item.objects.filter(key__in=["n1", "n3"]).update(state=Item.State.AGAIN)
    batch = topping_up.top_up(stage)
    assert batch.total == 1
    sending.send(batch.pk)
    again = stage.hits.order_by("-id").first()
    assert [again.item.key, again.further.get().item.key, again.slot] == ["n1", "n3", 2]
    with pytest.raises(serving.NotEligibleError):
        serving.refuse_ineligible(serving.Visit(again, "3A", first))
    market.answer(third, again.hit_id, **weather("dry", "dry"))
    gathered(stage)
    assert said(stage)["n3"] == ["wet", "wet", "dry"]
    books_agree(stage)


def test_who_has_answered_one_of_its_items_may_not_answer_a_hit_and_a_recorded_answer_waits(stage, market, lead):
    published(stage)
    worker, other = market.sign_up_worker(), market.sign_up_worker()
    first = stage.hits.order_by("id").first()
    market.answer(worker, first.hit_id, **weather("wet", "dry"))
    gathered(stage)
    Item.objects.filter(key="n2").update(state=Item.State.AGAIN)
    sending.send(topping_up.top_up(stage).pk)
    again = stage.hits.order_by("-id").first()
    assert again.item.key == "n2"
    claims = [eligibility.Claim(again, name, "3A") for name in (worker, other)]
    assert [bool(found) for found in eligibility.judge(stage, claims)] == [True, False]
    market.answer(worker, again.hit_id, weather="wet")
    gathered(stage)
    assert Assignment.objects.get(hit=again).held_for == "answered"
    assert said(stage)["n2"] == ["dry"]


def test_a_hit_stays_open_while_one_of_its_items_wants_an_answer(stage, market, lead, monkeypatch):
    """A block takes the answers to two items; one more answer to both is bought; the block is undone."""
    published(stage)
    worker = market.sign_up_worker()
    hit = stage.hits.order_by("id").first()
    market.answer(worker, hit.hit_id, **weather("wet", "dry"))
    gathered(stage)
    monkeypatch.setattr(blocking, "proposals", anybody)
    blocking.block(stage, [worker], lead)
    deciding.decide(stage)
    sending.send(topping_up.top_up(stage).pk)
    assert [states(stage)[key] for key in ("n1", "n2")] == ["open", "open"]
    Item.objects.filter(key="n2").update(stale=True)
    deciding.decide(stage)
    assert not Hit.objects.filter(unwanted=True).exists()
    back = blocking.undo_preview(stage.project.blocks.get())
    assert (back.answers, back.hits, back.places) == (2, 1, 1)
    blocking.undo(stage.project.blocks.get(), lead)
    deciding.decide(stage)
    assert Hit.objects.get(unwanted=True) == hit
    closing.close_unwanted(stage)
    assert said(stage) == {"n1": ["wet"], "n2": ["dry"]}


def test_the_page_asks_about_one_item_after_the_other_and_keeps_what_was_said(stage, market):
    hit = published(stage)[0]
    visit = serving.Visit(hit, "3ASSIGNMENT", market.sign_up_worker())
    token = serving.page_token(visit)
    origin = {"turkSubmitTo": market.url}
    query = {"assignmentId": visit.assignment_id, "workerId": visit.worker_id, "hitId": hit.hit_id, **origin}
    page = serving.open_page(hit, query)
    assert (page.number, page.item_count, page.leads_on) == (1, 2, True)
    assert page.task["show"][0]["text"] == "Text 1."
    with pytest.raises(AnswerRefusedError):
        serving.check(token, {"item_number": "1", "weather": ""})
    assert serving.check(token, {"item_number": "1", "weather": "wet"}) is None
    refused = serving.take_step(token, {"item_number": "1", "weather": ""}, origin)
    assert (refused.number, len(refused.reasons)) == (1, 1)
    page = serving.take_step(token, {"item_number": "1", "weather": "wet"}, origin)
    assert (page.number, page.leads_on, page.kept, page.draft) == (2, False, {"item1:weather": "wet"}, {})
    assert page.task["show"][0]["text"] == "Text 2."
    back = serving.take_step(token, {"item_number": "2", "weather": "dry", **page.kept}, {**origin, "go": "back"})
    assert (back.number, back.draft, back.kept) == (1, {"weather": "wet"}, {"item2:weather": "dry"})
    again = serving.open_page(hit, query)
    assert (again.number, again.draft, again.kept) == (1, {"weather": "wet"}, {"item2:weather": "dry"})


def test_the_last_screen_is_refused_while_another_item_is_not_answered(stage, market):
    hit = published(stage)[0]
    token = serving.page_token(serving.Visit(hit, "3ASSIGNMENT", market.sign_up_worker()))
    with pytest.raises(AnswerRefusedError, match="^Item 1: "):
        serving.check(token, {"item_number": "2", "weather": "wet"})
    serving.check(token, weather("wet", "dry"))


def test_each_answer_to_an_item_of_such_a_hit_is_an_item_of_a_later_stage(stage, market, lead):
    asked = {"title": "Judge", "protocol": "form", "input": {"stage": stage.key, "each": "answer"}}
    later = custom_stages.add_stage(stage.project, asked, lead)
    hit = published(stage)[0]
    market.answer(market.sign_up_worker(), hit.hit_id, **weather("wet", "dry"))
    gathered(stage)
    advancing.advance(stage)
    made = dict(later.items.values_list("data__columns__text", "data__columns__" + f"{stage.key}.weather"))
    assert made == {"Text 1.": "wet", "Text 2.": "dry"}
    assert set(later.items.values_list("source", flat=True)) == {Assignment.objects.get().pk}
    answer = Assignment.objects.get()
    Assignment.objects.filter(pk=answer.pk).update(held="Too fast.", held_for="untimely")
    reviewing.reject(stage, [answer.pk], "No.", lead)
    deciding.decide(stage)
    deciding.decide(later)
    assert set(states(later).values()) == {Item.State.WITHDRAWN}


def test_the_least_time_counts_for_each_item(stage, market, lead):
    task_settings.change_task(stage, {"settings": {"form": WEATHER, "min_seconds": 40}}, None)
    hit = published(stage)[0]
    market.answer(market.sign_up_worker(), hit.hit_id, **weather("wet", "dry"))
    harvesting.harvest(stage)
    row = Assignment.objects.select_related("hit", "stage", "worker", "hit__item").get()
    row.submitted_at = row.accepted_at + (row.submitted_at - row.submitted_at)
    assert "asks for 80 s" in eligibility.held([row])[row.pk].held


def test_a_task_of_several_steps_asks_about_one_item(stage, lead):
    with pytest.raises(SettingsRefusedError, match="items_per_hit"):
        custom_stages.add_stage(
            stage.project, {"title": "Own", "protocol": "html_page", "items_per_hit": 2, "hit_title": "Own page"}, lead
        )


@pytest.mark.parametrize("number", ["0", "21", "x", ""])
def test_a_number_of_items_beyond_the_limits_is_refused(stage, lead, number):
    with pytest.raises(SettingsRefusedError, match="items_per_hit"):
        stage_settings.change(stage, {"items_per_hit": int(number) if number.isdigit() else number}, lead)


def test_another_number_is_for_the_next_hits(stage, lead, market):
    hits = published(stage)
    stage_settings.change(stage, {"items_per_hit": 5}, lead)
    assert (
        stage_settings.shown(stage)[[one.name for one in stage_settings.shown(stage)].index("items_per_hit")].when
        == "next HITs"
    )
    market.answer(market.sign_up_worker(), hits[0].hit_id, **weather("wet", "dry"))
    gathered(stage)
    assert said(stage) == {"n1": ["wet"], "n2": ["dry"]}
    assert stage.hit_type_id


def test_a_hit_is_not_closed_while_one_of_its_items_wants_an_answer(stage, market, lead, monkeypatch):
    """Two items that lost their answers share a new HIT; then one of them gets its answer back."""
    stage_settings.change(stage, {"items_per_hit": 1}, lead)
    first, second, *_ = published(stage)
    blocked = market.sign_up_worker()
    market.answer(blocked, first.hit_id, weather="wet")
    market.answer(market.sign_up_worker(), second.hit_id, weather="")
    gathered(stage)
    monkeypatch.setattr(blocking, "proposals", anybody)
    blocking.block(stage, [blocked], lead)
    deciding.decide(stage)
    stage_settings.change(stage, {"items_per_hit": 2}, lead)
    # Deleted HITs cannot be opened again.
    Hit.objects.filter(pk__in=[first.pk, second.pk]).update(deleted_at=timezone.now())
    sending.send(topping_up.top_up(stage).pk)
    shared = stage.hits.get(item_count=2)
    back = blocking.undo_preview(stage.project.blocks.get())
    assert (back.answers, back.hits, back.released) == (1, 0, 0)
    blocking.undo(stage.project.blocks.get(), lead)
    deciding.decide(stage)
    assert (states(stage)["n1"], states(stage)["n2"]) == ("kept", "open")
    assert not Hit.objects.filter(unwanted=True).exists()
    market.answer(market.sign_up_worker(), shared.hit_id, **weather("wet", "dry"))
    gathered(stage)
    assert said(stage) == {"n1": ["wet", "wet"], "n2": ["dry"]}


@pytest.fixture
def two_items(db: Any) -> list[Item]:
    return make.items(make.stage(answers=2, items_per_hit=2), 2, state=Item.State.AGAIN)


def test_a_hit_is_opened_again_for_as_many_answers_as_the_neediest_of_its_items_wants(two_items):
    first, second = two_items
    hit = make.hit_about(two_items, max_assignments=1, created_with=1, harvested=1, state=Hit.State.CLOSED)
    (growth,) = topping_up._growths({first.pk: 1, second.pk: 2})
    assert (growth.hit, growth.items, growth.assignments) == (hit, (first.pk, second.pk), 2)
    (other,) = topping_up._growths({second.pk: 2, first.pk: 1})
    assert other == growth
    assert topping_up._growths({second.pk: 2}) == []


def test_the_newest_hit_of_every_item_has_the_highest_slot(two_items):
    first, second = two_items
    stage = first.stage
    needs = [{first.pk: 1, second.pk: 1}, {second.pk: 1}, {first.pk: 1, second.pk: 1}, {first.pk: 1}]
    for wanted in needs:
        hit_plans.plan_hits(stage, make.batch(stage), wanted)
    slots = [(hit.slot, hit_items.item_pks([hit])[hit.pk]) for hit in Hit.objects.order_by("id")]
    assert slots == [(1, [first.pk, second.pk]), (2, [second.pk]), (3, [first.pk, second.pk]), (4, [first.pk])]


def test_an_answer_that_is_fetched_late_has_a_later_one_about_its_item_judged_again(two_items):
    worker = make.worker()
    after = make.NOON + timedelta(minutes=2)
    later = make.assignment(
        make.hit_about(two_items), worker, accepted_at=after, submitted_at=after + timedelta(seconds=90)
    )
    early = make.assignment(make.hit(two_items[1], slot=2), worker)
    assert eligibility.recheck([early.pk]) == 1
    later.refresh_from_db()
    assert later.held_for == "answered"


def test_all_items_of_a_hit_that_closed_without_an_answer_are_to_be_published_again(stage, settings):
    settings.MTURK_SETTLE_SECONDS = 0
    published(stage)
    sending.send(publishing.expire(stage, None).pk)
    for _ in range(2):
        stage.hits.update(due_at=timezone.now())
        gathered(stage)
    assert set(states(stage).values()) == {"new"}
    assert publishing.quote(stage).hits == 3
    assert Account.objects.get().reserved == 0


def test_all_items_of_a_hit_that_the_marketplace_refuses_are_to_be_published_again(stage, market, monkeypatch):
    def refused(*args: Any, **given: Any) -> None:
        raise RefusedError("ParameterValidationError", "No.")

    monkeypatch.setattr(Gateway, "create_hit", refused)
    published(stage)
    assert set(states(stage).values()) == {"new"}
    assert Account.objects.get().reserved == 0


def test_every_item_of_a_hit_had_one(two_items):
    make.hit_about(two_items)
    other = make.item(two_items[0].stage)
    assert list(hit_items.without_hit(Item.objects.all())) == [other]
    assert set(hit_items.with_hit(Item.objects.all())) == set(Item.objects.all()) - {other}
