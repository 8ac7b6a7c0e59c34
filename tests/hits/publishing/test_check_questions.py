"""Rows with a gold answer that are mixed in as check questions, at the real marketplace."""

from __future__ import annotations

from decimal import Decimal

import pytest

from hits.answers.verbs import harvesting, reviewing
from hits.items.verbs import importing
from hits.judging.verbs import deciding, scoring
from hits.models import Extension, Hit, Item, Stage, WorkerStat
from hits.payments.verbs import checking_ledger
from hits.projects.verbs import projects
from hits.protocols.base import SettingsRefusedError
from hits.publishing.rules import check_questions
from hits.publishing.verbs import publishing, sending, topping_up
from hits.releases.verbs import releasing
from hits.stages.verbs import custom_stages, stage_settings, task_settings
from hits.workers.verbs import blocking, qualification_tests
from tests.hits import factories as make
from tests.hits.doing import do, refused

pytestmark = pytest.mark.django_db(transaction=True)
TASK = {"hit_title": "Was it wet?", "settings": {"question": "Was it wet?", "choices": ["Yes", "No"]}}


def rows(data: int, checks: int) -> bytes:
    lines = [f"d{number},Rain fell on day {number}.," for number in range(data)]
    lines += [f"g{number},The sun shone on day {number}.,No" for number in range(checks)]
    return ("id,text,gold\n" + "\n".join(lines) + "\n").encode()


def imported(stage: Stage, content: bytes) -> None:
    upload = importing.create_upload(stage.project, "rows.csv", content, "public", None)
    importing.import_upload(upload.pk)
    upload.refresh_from_db()
    assert upload.state == "done", upload.faults


@pytest.fixture
def stage(lead) -> Stage:
    project = projects.create_project("Weather", "choice", Decimal("50.00"), "lab@example.org", lead, seed=3)
    found = project.stages.get()
    task_settings.change_task(found, TASK, None)
    Stage.objects.filter(pk=found.pk).update(requirements=[])
    found.refresh_from_db()
    return found


def share(stage: Stage, value: float) -> None:
    stage_settings.change(stage, {"gold_share": value}, None)


def published(stage: Stage, items: int | None = None) -> list[Hit]:
    quote = publishing.quote(stage, items)
    assert quote.problems == []
    batch = publishing.publish(stage, quote.items, quote.total, f"page-{stage.hits.count()}", None)
    sending.send(batch.pk)
    return list(Hit.objects.filter(batch=batch).select_related("item").order_by("pk"))


def test_without_a_share_rows_with_a_known_answer_are_data(stage, market) -> None:
    imported(stage, rows(4, 2))
    assert publishing.quote(stage).items == 6 and publishing.quote(stage).check_questions == 0


def test_with_a_share_they_are_check_questions_whether_it_was_set_before_or_after_the_import(stage, market) -> None:
    imported(stage, rows(4, 2))
    share(stage, 0.2)
    imported(stage, rows(4, 4).replace(b"d", b"D").replace(b"g", b"G"))
    assert stage.items.filter(state=Item.State.CHECK).count() == 6
    stage.summary.refresh_from_db()
    assert (stage.summary.items, stage.summary.waiting, stage.summary.check_questions) == (8, 8, 6)
    share(stage, 0)
    assert not stage.items.filter(state=Item.State.CHECK).exists()


def test_the_quote_says_how_many_and_what_they_cost(stage, market) -> None:
    share(stage, 0.25)
    imported(stage, rows(20, 12))
    quote = publishing.quote(stage)
    assert (quote.items, quote.check_questions, quote.check_answers) == (20, 7, 21)
    assert quote.answers == 81 and quote.hits == 27
    assert quote.check_cost == quote.unit_cost * 21 and quote.total == quote.unit_cost * 81
    assert quote.warnings == []


def test_few_check_questions_get_more_answers_and_nine_at_most(stage, market) -> None:
    share(stage, 0.25)
    imported(stage, rows(20, 4))
    quote = publishing.quote(stage)
    assert (quote.check_questions, quote.check_answers, quote.warnings) == (4, 20, [])
    quote = publishing.quote(stage, 10)
    assert (quote.check_questions, quote.check_answers) == (4, 12)


def test_too_few_are_told(stage, market) -> None:
    share(stage, 0.25)
    imported(stage, rows(20, 2))
    quote = publishing.quote(stage)
    assert (quote.check_questions, quote.check_answers) == (2, 18)
    (warning,) = quote.warnings
    assert "20 answers to them are wanted" in warning and "take 18" in warning
    stage.items.filter(state=Item.State.CHECK).delete()
    assert "take 0" in publishing.quote(stage).warnings[0]


def test_they_are_published_among_the_others_and_look_like_them(stage, market) -> None:
    share(stage, 0.25)
    imported(stage, rows(20, 12))
    hits = published(stage)
    checks = [hit.item.state == Item.State.CHECK for hit in hits]
    assert sum(checks) == 7 and not all(checks[-7:])
    assert [hit.item.key for hit in hits if hit.item.state != Item.State.CHECK] == [f"d{n}" for n in range(20)]
    told = [market.hit(hit.hit_id) for hit in hits]
    assert len({str(one["requirements"]) for one in told}) == 1
    assert {one["max_assignments"] for one in told} == {3}
    parts = {tuple(type(part) for part in one["annotation"].split(".")) for one in told}
    assert len(parts) == 1 and len({len(hit.token.split(".")) for hit in hits}) == 1


def test_those_with_more_answers_stand_among_the_others_too(stage, market) -> None:
    share(stage, 0.25)
    imported(stage, rows(20, 4))
    hits = published(stage)
    assert [hit.max_assignments for hit in hits].count(5) == 4
    assert {hit.max_assignments for hit in hits[-4:]} != {5}


def test_the_same_ones_go_out_whenever_the_page_is_opened_and_never_twice(stage, market) -> None:
    share(stage, 0.25)
    imported(stage, rows(20, 12))
    needs = dict.fromkeys(stage.items.filter(state=Item.State.NEW).values_list("pk", flat=True), 3)
    first = check_questions.plan(stage, needs)
    assert check_questions.plan(stage, needs) == first
    chosen = {hit.item_id for hit in published(stage, 10) if hit.item.state == Item.State.CHECK}
    later = {hit.item_id for hit in published(stage) if hit.item.state == Item.State.CHECK}
    assert chosen and later and not chosen & later


def test_several_items_a_hit_hold_check_questions_at_any_place(stage, market) -> None:
    stage_settings.change(stage, {"gold_share": 0.25, "items_per_hit": 4}, None)
    imported(stage, rows(24, 12))
    hits = published(stage)
    assert [hit.item_count for hit in hits] == [4] * 8
    assert {hit.max_assignments for hit in hits} == {3}
    asked = [pk for hit in hits for pk in [hit.item_id, *hit.further.values_list("item", flat=True)]]
    checks = set(stage.items.filter(state=Item.State.CHECK).values_list("pk", flat=True))
    assert len(asked) == len(set(asked)) == 32 and len(checks & set(asked)) == 8


def test_their_answers_show_how_good_workers_are_and_are_no_data(stage, market, lead) -> None:
    share(stage, 0.25)
    imported(stage, rows(4, 2))
    hits = published(stage)
    workers = [market.sign_up_worker() for _ in range(3)]
    for hit in hits:
        for number, worker in enumerate(workers):
            market.answer(worker, hit.hit_id, choice="yes" if number == 2 else "no")
    stage.refresh_from_db()
    harvesting.harvest(stage)
    scoring.score(stage)
    reviewing.finish(stage)
    deciding.decide(stage)
    stage.summary.refresh_from_db()
    summary = stage.summary
    assert (summary.items, summary.kept, summary.published, summary.answered) == (4, 4, 4, 4)
    assert (summary.answers, summary.scored, summary.correct) == (18, 6, 4)
    stats = {row.worker.worker_id: (row.scored, row.correct) for row in WorkerStat.objects.select_related("worker")}
    assert [stats[worker] for worker in workers] == [(2, 2), (2, 2), (2, 0)]
    assert stage.assignments.filter(state="Approved").count() == 18
    for check in stage.items.filter(state=Item.State.CHECK):
        assert not check.verdicts.exists() and not check.stale
    content = releasing.preview(stage.project)
    assert content["counts"] == {"items": 4}
    assert content["left_out"] == {"check questions, which are no data": 2}
    assert summary.scores == {}


def test_a_block_asks_the_items_again_and_no_check_question(stage, market) -> None:
    share(stage, 0.25)
    imported(stage, rows(4, 2))
    hits = published(stage)
    workers = [market.sign_up_worker() for _ in range(3)]
    for hit in hits:
        for worker in workers:
            market.answer(worker, hit.hit_id, choice="no")
    stage.refresh_from_db()
    harvesting.harvest(stage)
    scoring.score(stage)
    reviewing.finish(stage)
    deciding.decide(stage)
    lost = blocking.preview_chosen(stage, workers[:1]).loss
    assert (lost.answers, lost.replacements) == (6, 4)
    blocking.intend_by_hand(stage, workers[:1], "Never reads.", None)
    deciding.decide(stage)
    batch = topping_up.top_up(stage)
    assert batch and batch.total == 4
    assert stage.items.filter(state=Item.State.CHECK, stale=True).count() == 0


def test_known_answers_that_nobody_can_give_are_refused_at_the_quote_and_when_it_is_confirmed(stage, market) -> None:
    share(stage, 0.25)
    imported(stage, rows(4, 2))
    quote = publishing.quote(stage)
    Stage.objects.filter(pk=stage.pk).update(settings={**stage.settings, "choices": make_choices("Wet", "Dry")})
    stage.refresh_from_db()
    (problem,) = publishing.quote(stage).problems
    assert problem.startswith("Nobody can give the gold answer of 2 check questions, such as g0: 'No' is none")
    with refused("check_questions_refused"):
        publishing.publish(stage, quote.items, quote.total, "page-1", None)
    assert not stage.hits.exists()


def make_choices(*texts: str) -> list[dict[str, str]]:
    return [{"id": text.lower(), "text": text} for text in texts]


def test_a_stage_whose_task_knows_no_answers_has_none() -> None:
    stage = make.stage(make.project(), protocol="clickable_entity")
    with pytest.raises(SettingsRefusedError, match="gold_share must be 0"):
        share(stage, 0.1)


@pytest.mark.parametrize("value", [-0.1, 0.51, "0.1", True, float("nan")])
def test_a_share_that_is_none_is_refused(stage, value) -> None:
    with pytest.raises(SettingsRefusedError, match="gold_share must be a number from 0 to 0.5"):
        share(stage, value)


def test_the_share_is_fixed_once_something_is_published(stage, market) -> None:
    imported(stage, rows(4, 2))
    published(stage)
    with refused("settings_fixed", match="gold_share is fixed"):
        share(stage, 0.1)


def go_on(stage: Stage) -> None:
    stage.refresh_from_db()
    harvesting.harvest(stage)
    scoring.score(stage)
    reviewing.finish(stage)
    deciding.decide(stage)
    if batch := topping_up.top_up(stage):
        sending.send(batch.pk)


def test_beside_items_that_get_further_answers_no_check_question_is_extended_and_all_its_answers_count(
    stage, market, lead
) -> None:
    stage_settings.change(
        stage, {"gold_share": 0.25, "answers": 2, "most_answers": 4, "enough": "at least 2 agree on choice"}, None
    )
    imported(stage, rows(6, 2))
    quote = publishing.quote(stage)
    # Two check questions with two answers each: nothing is set aside for more of them.
    assert (quote.items, quote.check_questions, quote.check_answers) == (6, 2, 4)
    assert quote.total == quote.unit_cost * (6 * 4 + 4) and quote.least == quote.unit_cost * (6 * 2 + 4)
    hits = published(stage)
    checks = [hit for hit in hits if hit.item.state == Item.State.CHECK]
    assert {item.further for item in stage.items.filter(state=Item.State.CHECK)} == {0}
    disagreeing = hits if hits[0].item.state == Item.State.CHECK else hits[::-1]
    one, other = market.sign_up_worker(), market.sign_up_worker()
    for hit in disagreeing:
        market.answer(one, hit.hit_id, choice="yes")
        market.answer(other, hit.hit_id, choice="no")
    go_on(stage)
    assert {row.hit.item.state for row in Extension.objects.select_related("hit__item")} == {Item.State.OPEN}
    assert Extension.objects.count() == 6
    third = market.sign_up_worker()
    for hit in (hit for hit in hits if hit not in checks):
        market.answer(third, hit.hit_id, choice="no")
    go_on(stage)
    assert {item.state for item in stage.items.exclude(state=Item.State.CHECK)} == {Item.State.KEPT}
    check = Item.objects.get(pk=checks[0].item_id)
    assert (check.wanted, check.further, check.hits.get().max_assignments) == (None, 0, 2)
    stats = {row.worker.worker_id: (row.scored, row.correct) for row in WorkerStat.objects.select_related("worker")}
    assert stats[one] == (2, 0) and stats[other] == (2, 2) and stats[third] == (0, 0)
    account = stage.project.account
    account.refresh_from_db()
    assert (account.paid, account.reserved) == (quote.unit_cost * 22, Decimal(0))
    assert checking_ledger.check(stage.project, None, deep=True).faults == []


def test_one_whose_hit_the_marketplace_refused_is_asked_later(stage, market) -> None:
    share(stage, 0.25)
    imported(stage, rows(4, 2))
    hits = published(stage, 2)
    check = next(hit for hit in hits if hit.item.state == Item.State.CHECK)
    other = stage.items.filter(state=Item.State.CHECK).exclude(pk=check.item_id).get()
    Hit.objects.filter(pk=check.pk).update(state=Hit.State.REFUSED, hit_id=None)
    assert publishing.quote(stage).check_questions == 1
    assert set(check_questions.unused(stage.items.all()).filter(state=Item.State.CHECK)) == {check.item, other}
    other.delete()
    later = published(stage)
    again = next(hit for hit in later if hit.item.state == Item.State.CHECK)
    assert again.item_id == check.item_id and again.token != check.token and again.state == Hit.State.LIVE
    assert not check_questions.unused(stage.items.filter(state=Item.State.CHECK)).exists()


def test_a_qualification_test_and_check_questions_never_ask_the_same(stage, market) -> None:
    share(stage, 0.25)
    imported(stage, rows(8, 6))
    test = make.qualification_test(stage.project, key="reading-test", questions=[])
    assert len(do("qualification_tests.draw", test, count=3).questions) == 3
    drawn = set(test.drawn.values_list("pk", flat=True))
    assert len(drawn) == 3
    hits = published(stage)
    asked = {hit.item_id for hit in hits if hit.item.state == Item.State.CHECK}
    assert len(asked) == 3 and not asked & drawn
    second = make.qualification_test(stage.project, key="other-test", questions=[])
    with refused("nothing_known", match="is not asked as a check question"):
        do("qualification_tests.draw", second, count=3)
    # What a removed draft had drawn is free again.
    do("qualification_tests.remove", test)
    assert set(check_questions.unused(stage.items.filter(state=Item.State.CHECK)).values_list("pk", flat=True)) == drawn
    assert len(do("qualification_tests.draw", second, count=3).questions) == 3
    assert len(do("qualification_tests.draw", second, count=2).questions) == 2


def test_a_file_of_questions_sets_the_drawn_items_free(stage, market) -> None:
    share(stage, 0.25)
    imported(stage, rows(8, 6))
    test = make.qualification_test(stage.project, key="reading-test", questions=[])
    do("qualification_tests.draw", test, count=6)
    assert publishing.quote(stage).check_questions == 0
    qualification_tests.replace_by_file(test, b'[{"question": "Wet?", "choices": ["Yes", "No"], "right": 0}]', None)
    assert not test.drawn.exists() and publishing.quote(stage).check_questions == 3


FORM = {
    "show": [{"kind": "text", "text": "{text}"}],
    "ask": [{"kind": "one", "key": "wet", "question": "Wet?", "choices": ["Yes", "No"], "gold": "gold"}],
}
UNKNOWN = [{**FORM["ask"][0], "gold": ""}]
ADDED = {"title": "Tone", "protocol": "form", "answers": 1, "requirements": [], "settings": {"form": FORM}}


@pytest.fixture
def form_stage(lead) -> Stage:
    project = projects.create_project("Weather", "form", Decimal("50.00"), "lab@example.org", lead, seed=3)
    found = project.stages.get()
    task_settings.change_task(found, {"settings": {"form": FORM}}, None)
    return found


def test_a_stage_added_later_asks_about_data_alone_and_has_check_questions_of_its_own(form_stage, lead) -> None:
    share(form_stage, 0.2)
    imported(form_stage, rows(4, 2))
    without = custom_stages.add_stage(form_stage.project, ADDED, lead)
    within = custom_stages.add_stage(form_stage.project, {**ADDED, "title": "Again", "gold_share": 0.2}, lead)
    plain = custom_stages.add_stage(
        form_stage.project, {**ADDED, "title": "More", "settings": {"form": {**FORM, "ask": UNKNOWN}}}, lead
    )
    imported(form_stage, rows(1, 1).replace(b"d", b"D").replace(b"g0", b"G0"))
    for stage in (without, plain):
        assert set(stage.items.values_list("key", "state")) == {(key, "new") for key in ("d0", "d1", "d2", "d3", "D0")}
    checks = within.items.filter(state=Item.State.CHECK).values_list("key", flat=True)
    assert set(checks) == {"g0", "g1", "G0"} and within.items.count() == 8


def test_no_release_of_an_added_stage_tells_known_answers_of_check_questions(form_stage, market, lead) -> None:
    imported(form_stage, rows(1, 2))
    added = custom_stages.add_stage(form_stage.project, ADDED, lead)
    share(form_stage, 0.5)
    published(added)
    added.refresh_from_db()
    worker = market.sign_up_worker()
    for hit in added.hits.all():
        market.answer(worker, hit.hit_id, wet="yes")
    harvesting.harvest(added)
    scoring.score(added)
    reviewing.finish(added)
    deciding.decide(added)
    told = releasing.preview(form_stage.project)
    assert told["counts"]["tone items"] == 1
    assert told["left_out"]["tone: about check questions"] == 2
