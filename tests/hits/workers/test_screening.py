"""Tests of workers from items with a gold answer, at the real marketplace: who passes gets in, who fails is told."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from hits import tasks
from hits.answers.rules import feedback
from hits.answers.rules.hits_to_harvest import mark_due
from hits.answers.verbs import harvesting, reviewing
from hits.items.verbs import importing
from hits.judging.verbs import deciding, scoring
from hits.models import Assignment, Grant, Hit, Item, Stage, WorkerMessage
from hits.payments.rules.wages import answer_time
from hits.payments.verbs import checking_ledger
from hits.people.verbs import messaging
from hits.projects.verbs import project_files, projects
from hits.protocols.base import SettingsRefusedError
from hits.publishing.rules import check_questions
from hits.publishing.verbs import publishing, sending, topping_up
from hits.releases.verbs import releasing
from hits.stages.verbs import custom_stages, stage_settings, task_settings
from hits.workers.rules import screening as domain
from hits.workers.rules.screening_results import results, standing
from hits.workers.verbs import granting, screening
from tests.hits import factories as make
from tests.hits.doing import refused

pytestmark = pytest.mark.django_db(transaction=True)
TASK = {"hit_title": "Was it wet?", "settings": {"question": "Was it wet?", "choices": ["Yes", "No"]}}


def rows(data: int, known: int, start: int = 0) -> bytes:
    lines = [f"d{number},Rain fell on day {number}.," for number in range(start, start + data)]
    lines += [f"g{number},The sun shone on day {number}.,No" for number in range(start, start + known)]
    return ("id,text,gold\n" + "\n".join(lines) + "\n").encode()


def imported(stage: Stage, content: bytes) -> None:
    upload = importing.create_upload(stage.project, "rows.csv", content, "public", None)
    importing.import_upload(upload.pk)
    upload.refresh_from_db()
    assert upload.state == "done", upload.faults


@pytest.fixture
def stage(lead: Any) -> Stage:
    project = projects.create_project("Weather", "choice", Decimal("90.00"), "lab@example.org", lead, seed=3)
    found = project.stages.get()
    task_settings.change_task(found, TASK, None)
    Stage.objects.filter(pk=found.pk).update(requirements=[])
    found.refresh_from_db()
    return found


def with_test(stage: Stage, **given: Any) -> Stage:
    """A test of its workers: four questions a HIT, three of them to be right."""
    table = {"input": {"stage": stage.key, "each": "known"}, "items_per_hit": 4, "answers": 3, "reward": "0.20"}
    made = custom_stages.add_stage(stage.project, {**table, **given}, None)
    stage.refresh_from_db()
    return made


def published(stage: Stage, items: int | None = None) -> list[Hit]:
    quote = publishing.quote(stage, items)
    assert quote.problems == []
    batch = publishing.publish(stage, quote.items, quote.total, f"page-{stage.key}-{stage.hits.count()}", None)
    sending.send(batch.pk)
    stage.refresh_from_db()
    return list(Hit.objects.filter(batch=batch).order_by("pk"))


def go_on(stage: Stage) -> None:
    stage.refresh_from_db()
    # As the page does that announces an answer on which other HITs depend.
    mark_due(stage.hits.all())
    harvesting.harvest(stage)
    scoring.score(stage)
    reviewing.finish(stage)
    screening.grade(stage)
    granting.finish(stage.project)
    deciding.decide(stage)
    assert topping_up.top_up(stage) is None


def answer(market: Any, worker: str, hit: Hit, right: int) -> None:
    said = ["no"] * right + ["yes"] * (hit.item_count - right)
    fields = {f"item{n}:choice": value for n, value in enumerate(said, 1)}
    market.answer(worker, hit.hit_id, **fields, item_number=str(hit.item_count))


def values(stage: Stage) -> dict[str, int]:
    rows = Grant.objects.filter(key=stage.grants).exclude(state="withdrawn").select_related("worker")
    return {row.worker.worker_id: row.value for row in rows}


def can_accept(market: Any, worker: str, hit: Hit) -> bool:
    try:
        market.give_back(market.accept(worker, hit_id=hit.hit_id))
    except AssertionError:
        raise
    except Exception:
        return False
    return True


def test_who_passes_gets_in_and_who_fails_is_told_and_does_not(stage, market, lead) -> None:
    imported(stage, rows(3, 8))
    test = with_test(stage)
    assert (test.title, test.protocol, test.settings) == (f"Test for {stage.title}", stage.protocol, stage.settings)
    assert stage.items.count() == 3 and test.items.filter(state=Item.State.CHECK).count() == 8
    assert stage.requirements[-1]["integers"] == [75] and stage.requirements[-1]["qualification"] == test.grants
    assert test.requirements[-1] == {
        "qualification": test.grants, "comparator": "DoesNotExist", "guards": "PreviewAndAccept"
    }  # fmt: skip
    quote = publishing.quote(test)
    assert (quote.items, quote.hits, quote.answers, quote.total) == (8, 2, 6, quote.unit_cost * 6)
    first, second = published(test)
    (hit, *_) = published(stage)
    good, bad, idle = (market.sign_up_worker() for _ in range(3))
    assert not can_accept(market, good, hit)
    answer(market, good, first, 3)
    answer(market, bad, first, 2)
    go_on(test)
    assert values(test) == {good: 75, bad: 50}
    assert can_accept(market, good, hit) and not can_accept(market, bad, hit) and not can_accept(market, idle, hit)
    assert not can_accept(market, bad, second) and not can_accept(market, good, second)
    assert messaging.send(stage.project) == 2
    told = {row.worker.worker_id: (row.subject, row.text) for row in WorkerMessage.objects.select_related("worker")}
    assert told[good][0].startswith("Passed: ") and "“Was it wet?”" in told[good][1]
    assert told[bad][0].startswith("Not passed: ") and "You had 2 of 4 right; 3 were needed." in told[bad][1]
    assert "cannot be taken again" in told[bad][1] and "You are paid for the test" in told[bad][1]
    assert test.assignments.filter(state="Approved").count() == 2
    go_on(test)
    assert messaging.send(stage.project) == 0 and WorkerMessage.objects.count() == 2
    found = standing(test)
    assert (found.began, found.passed, found.failed, found.median) == (2, 1, 1, 62.5)
    wrong = [(one.item.pk, one.answers, one.wrong) for one in found.items]
    last = list(first.further.order_by("number").values_list("item", flat=True))
    assert wrong == [(last[-1], 2, 2), (last[-2], 2, 1)]
    # No data, no verdict, and nothing bought again.
    assert releasing.preview(stage.project)["counts"].get("items", 0) == 0
    assert not any(item.verdicts.exists() for item in test.items.all())
    assert checking_ledger.check(stage.project, None, deep=True).faults == []


def test_a_test_is_expected_to_take_as_long_as_its_items_do_in_the_tested_stage(stage) -> None:
    Stage.objects.filter(pk=stage.pk).update(expected_seconds=20)
    stage.refresh_from_db()
    made = with_test(stage, practice_items=2)
    assert made.expected_seconds == 120 and made.hit_description.endswith("2 minutes.")
    assert answer_time(made).hourly(made.reward) == Decimal("6.00")


@pytest.mark.parametrize(("first_says", "second_says", "value"), [("yes", "no", 0), ("no", "yes", 100)])
def test_a_second_answer_of_one_worker_gives_nothing(stage, market, first_says, second_says, value) -> None:
    """Two HITs accepted before the first result is known at the marketplace."""
    imported(stage, rows(1, 8))
    test = with_test(stage)
    first, second = published(test)
    worker = market.sign_up_worker()
    held = [market.accept(worker, hit_id=hit.hit_id) for hit in (first, second)]
    for row, said in zip(held, (first_says, second_says), strict=True):
        market.submit(row, **{f"item{n}:choice": said for n in range(1, 5)}, item_number="4")
    go_on(test)
    assert values(test) == {worker: value}
    later = test.assignments.get(hit=second)
    assert "gives “" in later.held and later.held_for == "other-part"
    go_on(test)
    assert values(test) == {worker: value}


def test_what_an_answer_says_of_other_items_or_of_itself_counts_for_nothing(stage, market) -> None:
    imported(stage, rows(1, 8))
    test = with_test(stage)
    first, _ = published(test)
    worker, other = market.sign_up_worker(), market.sign_up_worker()
    lies = {"item9:choice": "no", "correct": "4", "score": "100", "item1:choice": "no", "passed": "true"}
    market.answer(worker, first.hit_id, **lies, item_number="4")
    keys = {key: "no" for key in test.items.values_list("key", flat=True)}
    market.answer(other, first.hit_id, **keys, **{f"item{n}:choice": "yes" for n in range(1, 5)}, item_number="4")
    go_on(test)
    assert values(test) == {worker: 0, other: 0}
    assert test.assignments.exclude(problem="").count() == 1


def test_a_known_answer_that_is_left_out_is_not_right_and_one_that_is_rightly_not_asked_is(market, lead) -> None:
    def one(key: str, **given: Any) -> dict[str, Any]:
        choices = [{"id": "yes", "text": "Yes"}, {"id": "no", "text": "No"}]
        return {
            "kind": "one",
            "key": key,
            "question": f"Is it {key}?",
            "choices": choices,
            "gold": f"{key} known",
            **given,
        }

    ask = [one("easy"), one("hard", required=False), one("more", shown_if={"field": "easy", "values": ["no"]})]
    form = {"form": {"show": [{"kind": "text", "text": "{text}"}], "ask": ask}}
    project = projects.create_project("Forms", "form", Decimal("90.00"), "lab@example.org", lead, seed=3)
    stage = project.stages.get()
    task_settings.change_task(stage, {"hit_title": "A form", "settings": form}, None)
    Stage.objects.filter(pk=stage.pk).update(requirements=[])
    stage.refresh_from_db()
    lines = [f"g{number},Text {number},yes,no,yes" for number in range(5)]
    imported(stage, ("id,text,easy known,hard known,more known\nd0,Text,,,\n" + "\n".join(lines) + "\n").encode())
    test = with_test(stage)
    (hit,) = published(test)
    lazy, good = market.sign_up_worker(), market.sign_up_worker()
    said = {f"item{n}:easy": "yes" for n in range(1, 5)}
    market.answer(lazy, hit.hit_id, **said, item_number="4")
    market.answer(good, hit.hit_id, **said, **{f"item{n}:hard": "no" for n in range(1, 5)}, item_number="4")
    go_on(test)
    assert values(test) == {lazy: 0, good: 100}
    item = test.items.first()
    units = [
        (unit.unit, unit.said, unit.right, unit.is_right)
        for unit in feedback.told(test, item, {"easy": "yes"}, "A1").units
    ]
    assert units == [("Is it easy?", "Yes", "", True), ("Is it hard?", "nothing", "No", False)]


def test_an_answer_that_a_person_has_to_look_at_is_worth_nothing_until_then(stage, market, lead) -> None:
    imported(stage, rows(1, 4))
    test = with_test(stage)
    settings = {**test.settings, "min_seconds": 600}
    Stage.objects.filter(pk=test.pk).update(settings=settings)
    test.refresh_from_db()
    (hit,) = published(test)
    worker = market.sign_up_worker()
    answer(market, worker, hit, 4)
    go_on(test)
    assert values(test) == {worker: 0} and not WorkerMessage.objects.exists()
    reviewing.approve(test, list(test.assignments.values_list("pk", flat=True)), lead)
    go_on(test)
    assert values(test) == {worker: 100}
    assert "You had 4 of 4 right" in WorkerMessage.objects.get().text
    assert can_accept(market, worker, hit) is False


def test_who_failed_tries_again_when_the_time_has_come_and_as_often_as_was_said(stage, market) -> None:
    imported(stage, rows(1, 12))
    test = with_test(stage, screening_retries=1, screening_hours=2)
    first, second, third = published(test)
    (hit,) = published(stage)
    worker = market.sign_up_worker()
    answer(market, worker, first, 1)
    go_on(test)
    assert "You may try again from " in WorkerMessage.objects.get().text
    assert screening.let_try_again() == []
    later = timezone.now() + timedelta(hours=2, minutes=1)
    assert screening.let_try_again(later) == [stage.project_id]
    granting.finish(stage.project)
    Grant.objects.filter(state="withdrawn").update(withdrawn_at=timezone.now())
    go_on(test)
    assert values(test) == {} and standing(test).again == 1
    answer(market, worker, second, 2)
    go_on(test)
    assert values(test) == {worker: 50}
    assert "cannot be taken again" in WorkerMessage.objects.latest("pk").text
    assert screening.let_try_again(later + timedelta(days=9)) == []
    assert not can_accept(market, worker, third) and not can_accept(market, worker, hit)


def test_who_passed_is_never_asked_again(stage, market) -> None:
    imported(stage, rows(1, 4))
    test = with_test(stage, screening_retries=3)
    (hit,) = published(test)
    worker = market.sign_up_worker()
    answer(market, worker, hit, 3)
    go_on(test)
    assert screening.let_try_again(timezone.now() + timedelta(days=99)) == [] and values(test) == {worker: 75}


def test_places_are_published_again_with_other_groups_and_nobody_meets_an_item_twice(stage, market) -> None:
    imported(stage, rows(1, 12))
    test = with_test(stage, answers=1)
    one = published(test)
    assert publishing.quote(test).items == 0
    workers = [market.sign_up_worker() for _ in one]
    for worker, hit in zip(workers, one, strict=True):
        answer(market, worker, hit, 4)
    go_on(test)
    assert publishing.quote(test).items == 12
    two = published(test)

    def groups(hits: list[Hit]) -> set[frozenset[int]]:
        return {frozenset([hit.item_id, *hit.further.values_list("item", flat=True)]) for hit in hits}

    assert groups(one) != groups(two) and len({hit.token for hit in one + two}) == 6
    quote = publishing.quote(test)
    assert quote.items == 0 and test.summary.waiting == 0


def test_what_does_not_make_whole_hits_is_not_published(stage, market) -> None:
    imported(stage, rows(1, 7))
    test = with_test(stage)
    assert publishing.quote(test).items == 4
    quote = publishing.quote(test, 3)
    assert any("3 do not make whole HITs" in problem for problem in quote.problems)
    with refused("screening_refused"):
        publishing.publish(test, 3, quote.total, "page-1", None)
    assert not test.hits.exists() and test.project.account.reserved == 0


def test_practice_items_are_kept_apart_for_good(stage, market) -> None:
    imported(stage, rows(1, 12))
    test = with_test(stage, practice_items=2)
    assert publishing.quote(test).items == 8 and not test.items.filter(for_practice=True).exists()
    kept = domain.practice(test)
    hits = published(test)
    assert set(test.items.filter(for_practice=True).values_list("pk", flat=True)) == set(kept) and len(kept) == 3
    asked = {pk for hit in hits for pk in [hit.item_id, *hit.further.values_list("item", flat=True)]}
    assert len(asked) == 8 and not asked & set(kept)
    drawn = {tuple(item.pk for item in domain.drawn_for(test, f"A{n}")) for n in range(20)}
    assert len(drawn) > 1 and all(len(one) == 2 and set(one) <= set(kept) for one in drawn)
    assert domain.drawn_for(test, "A1") == domain.drawn_for(test, "A1")
    imported(stage, rows(1, 4, start=50))
    assert set(test.items.filter(for_practice=True).values_list("pk", flat=True)) == set(kept)


def test_no_row_of_the_file_is_practised_on_in_one_stage_and_a_check_question_of_another(stage, market) -> None:
    imported(stage, rows(1, 12))
    test = with_test(stage, practice_items=2)
    other = make.stage(stage.project, key="other", protocol="multiple_choice", gold_share=0.5)
    of_other = {
        item.document_id: make.item(other, document=item.document, state=Item.State.CHECK, data=item.data)
        for item in test.items.select_related("document")
    }
    before = domain.practice(test)
    asked = of_other[test.items.get(pk=before[0]).document_id]
    make.hit(asked)
    kept = domain.practice(test)
    assert before[0] not in kept and len(kept) == 2
    published(test)
    told = {of_other[item.document_id].pk for item in test.items.filter(for_practice=True)}
    planned = check_questions.plan(other, dict.fromkeys(range(100), 1))
    assert len(told) == 2
    assert set(planned.needs) == {item.pk for item in of_other.values()} - told - {asked.pk}


def test_too_few_items_are_told_at_the_setting_and_at_the_quote(stage, market) -> None:
    imported(stage, rows(5, 6))
    with pytest.raises(
        SettingsRefusedError, match="needs 7 items with a gold answer, 4 for a HIT and 3 to practise on"
    ):
        with_test(stage, practice_items=3)
    assert stage.project.stages.count() == 1 and stage.items.count() == 11
    test = with_test(stage, practice_items=2)
    with pytest.raises(SettingsRefusedError, match="screening_share must be 0: the test needs 8 items"):
        stage_settings.change(test, {"items_per_hit": 6}, None)
    test.items.first().delete()
    assert any("needs 6 items" in problem for problem in publishing.quote(test).problems)


def test_a_stage_whose_task_knows_no_answers_is_no_test() -> None:
    stage = make.stage(make.project(), protocol="clickable_entity")
    with pytest.raises(SettingsRefusedError, match="screening_share must be 0: the items of"):
        stage_settings.change(stage, {"screening_share": 0.5, "grants": "some-test"}, None)


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({"screening_share": 1.1}, "screening_share must be a number from 0 to 1"),
        ({"screening_share": 0.333}, "whole percent"),
        ({"screening_share": 0.5, "grants": ""}, "screening_share goes with grants"),
        ({"screening_share": 0.5, "grants": "a-test", "gold_share": 0.1}, "goes without gold_share"),
        ({"screening_share": 0.5, "grants": "a-test", "approval": "review", "auto_approval_seconds": 9}, "automatic"),
        ({"practice_items": 2}, "practice_items goes with screening_share"),
        ({"screening_hours": 0}, "screening_hours"),
        ({"screening_retries": -1}, "screening_retries"),
    ],
)
def test_settings_that_make_no_test_are_refused(stage, given, fault) -> None:
    with pytest.raises(SettingsRefusedError, match=fault):
        stage_settings.change(stage, given, None)


def test_another_mark_moves_with_the_stage_that_asks_for_it_and_is_fixed_once_published(stage, market) -> None:
    imported(stage, rows(1, 8))
    test = with_test(stage)
    stage_settings.change(test, {"screening_share": 0.5}, None)
    stage.refresh_from_db()
    assert stage.requirements[-1]["integers"] == [50]
    published(test)
    with pytest.raises(stage_settings.SettingsFixedError, match="Workers were told when they pass"):
        stage_settings.change(test, {"screening_share": 0.75}, None)


def test_removing_the_test_gives_its_items_and_the_stage_back(stage, market) -> None:
    imported(stage, rows(2, 8))
    stage_settings.change(stage, {"gold_share": 0.2}, None)
    test = with_test(stage, draws=5)
    assert (test.items.count(), stage.items.filter(state=Item.State.CHECK).count()) == (5, 3)
    custom_stages.remove_stage(test, None)
    stage.refresh_from_db()
    assert stage.items.filter(state=Item.State.CHECK).count() == 8 and stage.items.count() == 10
    assert all(one["qualification"] != test.grants for one in stage.requirements)
    test = with_test(stage)
    published(test)
    with pytest.raises(custom_stages.StageNotRemovableError):
        custom_stages.remove_stage(test, None)


def test_a_published_stage_gets_no_test(stage, market) -> None:
    imported(stage, rows(2, 8))
    published(stage)
    with pytest.raises(SettingsRefusedError, match="is published"):
        with_test(stage)


def test_a_file_of_the_project_brings_the_test_which_takes_its_items_from_the_rows(stage, market, lead) -> None:
    imported(stage, rows(2, 8))
    test = with_test(stage, practice_items=1, draws=6)
    content = project_files.written(stage.project)
    made = project_files.create_from(project_files.read(content.encode()), "Copy", Decimal(9), "lab@example.org", lead)
    first, second = made.stages.order_by("position")
    assert (second.screening_share, second.practice_items, second.grants) == (0.75, 1, test.grants)
    assert first.requirements[-1]["integers"] == [75]
    imported(first, rows(2, 8, start=100))
    assert (first.items.count(), second.items.count()) == (4, 6)
    first.summary.refresh_from_db()
    assert first.summary.items == 4


def test_a_lead_gives_the_result_by_hand_and_it_stays(stage, market, lead) -> None:
    imported(stage, rows(1, 4))
    test = with_test(stage)
    (hit,) = published(test)
    worker = market.sign_up_worker()
    granting.grant(stage.project, test.grants, [worker], lead)
    assert values(test) == {worker: 100}
    (data,) = published(stage)
    assert can_accept(market, worker, data) and not can_accept(market, worker, hit)


def test_the_beat_lets_workers_try_again_and_the_jobs_grade(stage, market, eager) -> None:
    imported(stage, rows(1, 8))
    test = with_test(stage, screening_retries=1, screening_hours=1)
    first, _ = published(test)
    worker = market.sign_up_worker()
    answer(market, worker, first, 0)
    mark_due(test.hits.all())
    tasks.harvest_stage(test.pk)
    assert values(test) == {worker: 0} and WorkerMessage.objects.get().state == "sent"
    Assignment.objects.filter(stage=test).update(submitted_at=timezone.now() - timedelta(hours=3))
    tasks.resume_all()
    assert Grant.objects.get().state == "withdrawn" and [one.worker for one in results(test)] == []
