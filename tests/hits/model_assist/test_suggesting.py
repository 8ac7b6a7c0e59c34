"""Suggestions of a model: how they come in, what is refused, who sees them, and what is kept of that."""

from __future__ import annotations

import io
from collections import Counter
from decimal import Decimal
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from hits.answers.rules.task_pages import page_of
from hits.answers.verbs import harvesting
from hits.formats.files.faults import FormatErrors
from hits.formats.inputs.item_values import MOST_ROWS, Place, SuggestionRow, read_suggestions
from hits.items.verbs import importing
from hits.judging.verbs import scoring
from hits.model_assist.rules import suggestions
from hits.model_assist.rules.anchoring import report
from hits.model_assist.verbs import suggesting
from hits.models import Action, Assignment, Item, Project, Stage, SuggestedAnswer, Suggestion, Upload
from hits.projects.rules.archived import ArchivedError
from hits.projects.verbs import project_files, projects
from hits.protocols.base import SettingsRefusedError
from hits.publishing.verbs import publishing, sending
from hits.stages.verbs import stage_settings, task_settings
from tests.hits import factories as make
from tests.hits.doing import refused
from tests.hits.stand_in import StandIn

pytestmark = pytest.mark.django_db(transaction=True)
CHOICES = ["Glad", "Sad", "Neither"]
FORM = {
    "show": [{"kind": "text", "text": "{text}"}],
    "ask": [
        {"kind": "one", "key": "mood", "question": "How?", "choices": CHOICES, "gold": "truth"},
        {"kind": "any", "key": "topics", "question": "What of?", "choices": ["Rain", "Boats"]},
        {"kind": "number", "key": "people", "question": "How many?", "low": 0, "high": 9},
        {"kind": "scale", "key": "clear", "question": "Clear?"},
        {"kind": "short_text", "key": "name", "question": "Who?", "required": False},
        {"kind": "matrix", "key": "rows", "question": "Rows?", "rows": ["A", "B"], "required": False},
    ],
}


def imported(project: Project, text: str) -> Upload:
    upload = importing.create_upload(project, "rows.csv", text.encode(), "public", None)
    importing.import_upload(upload.pk)
    upload.refresh_from_db()
    return upload


def faults_of(upload: Upload) -> list[tuple[int | None, str, str]]:
    return [(fault["line"], fault["place"], fault["message"]) for fault in upload.faults]


def row(item: str, value: str, field: str = "choice", score: str = "", model: str = "", line: int = 2) -> SuggestionRow:
    return SuggestionRow(item, field, value, score, model, Place(line))


@pytest.fixture
def choosing(lead: Any) -> Stage:
    """A stage with three items to be published, none with a suggestion."""
    project = projects.create_project("Wind", "choice", Decimal(50), "lab@example.org", lead, seed=3)
    stage = project.stages.get()
    settings = {"question": "Which way?", "choices": ["north", "east", "south"]}
    task_settings.change_task(stage, {"hit_title": "Which way?", "settings": settings}, None)
    stage_settings.change(stage, {"requirements": [], "answers": 2, "quality": {}}, None)
    assert imported(project, "id,text\na,The flag moves.\nb,It is calm.\nc,A gull flies.\n").state == "done"
    stage.refresh_from_db()
    return stage


@pytest.fixture
def asking(lead: Any) -> Stage:
    """A questionnaire without items."""
    project = projects.create_project("Moods", "form", Decimal(50), "lab@example.org", lead, seed=3)
    stage = project.stages.get()
    task_settings.change_task(stage, {"settings": {"form": FORM}}, None)
    stage.refresh_from_db()
    return stage


# With the file of the items


def test_columns_of_the_file_become_suggestions_and_are_no_part_of_the_row(asking: Stage) -> None:
    text = (
        "id,text,truth,suggestion:mood,suggestion_score:mood,suggestion:topics,suggestion:people,suggestion:clear,"
        "suggestion:name,suggestion_model\n"
        "a,It rains.,Sad,sad,0.9,Rain | Boats,3,4,Ilse,moods-1\n"
        "b,Sun.,Glad,,,,,,,moods-1\n"
    )
    assert imported(asking.project, text).state == "done"
    first, second = asking.items.order_by("pk")
    found = {one.field: (one.value, one.score, one.model) for one in first.suggestions.all()}
    assert found == {
        "mood": ("sad", 0.9, "moods-1"),
        "topics": (["rain", "boats"], None, "moods-1"),
        "people": (3, None, "moods-1"),
        "clear": (4, None, "moods-1"),
        "name": ({"text": "Ilse"}, None, "moods-1"),
    }
    assert not second.suggestions.exists()
    assert first.document.data == {"columns": {"id": "a", "text": "It rains.", "truth": "Sad"}}


def test_a_file_of_choices_may_bring_them_and_keeps_its_other_columns(choosing: Stage) -> None:
    text = "id,text,suggestion:choice,source\nd,Snow.,north,web\ne,Hail.,east,\n"
    assert imported(choosing.project, text).state == "done"
    assert list(Suggestion.objects.order_by("pk").values_list("item__key", "field", "value")) == [
        ("d", "choice", "north"),
        ("e", "choice", "east"),
    ]
    assert [item.document.data.get("columns") for item in choosing.items.filter(key__in="de").order_by("key")] == [
        {"source": "web"},
        None,
    ]


def test_every_fault_of_the_columns_is_named_and_nothing_is_imported(asking: Stage) -> None:
    text = (
        "id,text,truth,suggestion:mood,suggestion_score:mood,suggestion:people,suggestion:taste,suggestion:rows,"
        "suggestion_score:clear,priority\n"
        "a,It rains.,Sad,wet,0.9,12,,,,1\n"
        "b,Sun.,Glad,glad,1.5,3,sweet,,,soon\n"
        "c,Fog.,Sad,sad,nan,3,,1,0.4,2\n"
    )
    upload = imported(asking.project, text)
    assert upload.state == "refused" and not Item.objects.exists() and not Suggestion.objects.exists()
    told = faults_of(upload)
    assert [(line, place) for line, place, _ in told] == [
        (2, "suggestion:mood"),
        (2, "suggestion:people"),
        (3, "priority"),
        (3, "suggestion_score:mood"),
        (3, "suggestion:taste"),
        (4, "suggestion_score:clear"),
        (4, "suggestion_score:mood"),
        (4, "suggestion:rows"),
    ]
    assert "is none of the answers of 'mood'" in told[0][2]
    assert "from 0 to 9" in told[1][2]
    assert "Rename the column" in told[2][2] and "'soon'" in told[2][2]
    assert "from 0 to 1" in told[3][2] and "'1.5'" in told[3][2]
    assert "there are: mood, topics, people, clear, name" in told[4][2]
    assert "suggestion:clear" in told[5][2]


def test_a_task_that_takes_none_says_so(lead: Any) -> None:
    project = projects.create_project("Page", "html_page", Decimal(50), "lab@example.org", lead, seed=3)
    upload = imported(project, "id,text,suggestion:choice\na,Rain.,north\n")
    assert upload.state == "refused"
    assert any("takes no suggestions" in message for _, _, message in faults_of(upload))


# For items that are there


def test_items_that_wait_get_suggestions_and_later_ones_take_the_place(choosing: Stage, lead: Any) -> None:
    assert suggesting.suggest(choosing, [row("a", "north", score="0.5"), row("b", "east")], lead) == (
        suggesting.Suggested(2, 0)
    )
    assert suggesting.suggest(choosing, [row("a", "south", score="0.25", model="m2"), row("c", "east")], lead) == (
        suggesting.Suggested(1, 1)
    )
    found = Suggestion.objects.order_by("item__key").values_list("item__key", "value", "score", "model")
    assert list(found) == [("a", "south", 0.25, "m2"), ("b", "east", None, ""), ("c", "east", None, "")]
    told = Action.objects.filter(verb=suggesting.SUGGESTED).order_by("pk").values_list("user", "stage", "detail")
    assert list(told) == [
        (lead.pk, choosing.pk, {"new": 2, "replaced": 0}),
        (lead.pk, choosing.pk, {"new": 1, "replaced": 1}),
    ]


def test_all_that_is_wrong_is_named_at_once_and_nothing_is_changed(choosing: Stage, stand_in: StandIn) -> None:
    published(choosing, 1)
    rows = [
        row("a", "north", line=2),
        row("b", "north", line=3),
        row("b", "east", line=4),
        row("z", "north", line=5),
        row("c", "up", line=6),
        row("c", "north", field="taste", score="2", model="m" * 121, line=7),
        row("b", "", field="choice", line=8),
    ]
    with pytest.raises(FormatErrors) as refused:
        suggesting.suggest(choosing, rows, None)
    told = [(fault.line, fault.place, fault.message) for fault in refused.value.errors]
    assert [(line, place) for line, place, _ in told] == [
        (2, "item"), (4, "field"), (5, "item"), (6, "value"), (7, "score"), (7, "model"), (7, "field"), (8, "field"),
    ]  # fmt: skip
    assert "published already" in told[0][2]
    assert "stands in line 3 already" in told[1][2]
    assert "is no item of this stage" in told[2][2]
    assert "'up' is none of the answers to choose from: 'north', 'east', 'south'" in told[3][2]
    assert "there are: choice" in told[6][2]
    assert not Suggestion.objects.exists()
    assert not Action.objects.filter(verb=suggesting.SUGGESTED).exists()


def test_too_many_rows_an_archived_project_and_another_task_are_refused(choosing: Stage) -> None:
    with pytest.raises(FormatErrors, match="the limit is 20,000"):
        suggesting.suggest(choosing, [row("a", "north")] * (MOST_ROWS + 1), None)
    other = make.stage(choosing.project)
    with refused("no_suggestions", match="takes no suggestions"):
        suggesting.suggest(other, [row("a", "north")], None)
    Project.objects.update(archived_at=timezone.now())
    with pytest.raises(ArchivedError):
        suggesting.suggest(choosing, [row("a", "north")], None)


def test_the_file_may_be_any_table_and_a_column_that_it_does_not_have_is_a_fault() -> None:
    (one,) = read_suggestions(io.BytesIO(b"item\tfield\tvalue\tscore\na\tchoice\tnorth\t0.5\n"), "s.tsv")
    assert (one.item, one.field, one.value, one.score, one.model, one.place) == (
        "a", "choice", "north", "0.5", "", Place(2),
    )  # fmt: skip
    (one,) = read_suggestions(io.BytesIO(b'{"item": "a", "field": "spans", "value": [[0, 5, "x"]]}\n'), "s.jsonl")
    assert one.value == '[[0, 5, "x"]]'
    with pytest.raises(FormatErrors, match="No column is value"):
        read_suggestions(io.BytesIO(b"item,field\na,choice\n"), "s.csv")
    with pytest.raises(FormatErrors, match="is a column that is not read; there are: item, field"):
        read_suggestions(io.BytesIO(b"item,field,value,scor\na,choice,north,0.5\n"), "s.csv")


@pytest.mark.on_postgresql
def test_the_database_keeps_one_for_a_field_with_a_score_that_is_a_share(choosing: Stage) -> None:
    item = choosing.items.first()
    Suggestion.objects.create(item=item, field="choice", value="north", score=1)
    for wrong in ({"field": "choice"}, {"field": "other", "score": 1.01}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Suggestion.objects.create(item=item, value="east", **wrong)


# Who sees them


def test_the_setting_is_judged_and_fixed_once_published(choosing: Stage, stand_in: StandIn) -> None:
    with pytest.raises(SettingsRefusedError, match='must be "hidden", "shown" or "half"'):
        stage_settings.change(choosing, {"suggestions": "perhaps"}, None)
    other = make.stage(choosing.project, hit_title="Another")
    with pytest.raises(SettingsRefusedError, match="takes none"):
        stage_settings.change(other, {"suggestions": "shown"}, None)
    assert stage_settings.change(choosing, {"suggestions": "half"}, None) == ["suggestions"]
    assert 'suggestions = "half"' in project_files.written(choosing.project)
    published(choosing, 1)
    with refused("settings_fixed", match="compared by that"):
        stage_settings.change(choosing, {"suggestions": "shown"}, None)


def test_a_test_of_workers_shows_none(choosing: Stage) -> None:
    with pytest.raises(SettingsRefusedError, match="a test is of the workers"):
        stage_settings.change(choosing, {"suggestions": "shown", "screening_share": 0.5, "grants": "able"}, None)


def test_half_is_drawn_by_worker_and_item_and_stays(choosing: Stage) -> None:
    choosing.suggestions = "half"
    seen = {
        (worker, item): suggestions.is_shown(choosing, f"i{item}", f"A{worker}")
        for worker in range(60)
        for item in range(60)
    }
    assert 0.47 < sum(seen.values()) / len(seen) < 0.53
    # Every worker and every item stands in both arms.
    assert all(10 < sum(seen[worker, item] for item in range(60)) < 50 for worker in range(60))
    assert all(10 < sum(seen[worker, item] for worker in range(60)) < 50 for item in range(60))
    assert all(suggestions.is_shown(choosing, f"i{item}", f"A{worker}") == arm for (worker, item), arm in seen.items())
    choosing.project.seed += 1
    again = [suggestions.is_shown(choosing, f"i{item}", f"A{worker}") for worker, item in seen]
    assert 0.45 < sum(a == b for a, b in zip(again, seen.values(), strict=True)) / len(seen) < 0.55
    assert not suggestions.is_shown(choosing, "i1", "")
    choosing.suggestions = "shown"
    assert suggestions.is_shown(choosing, "i1", "") and suggestions.is_shown(choosing, "i1", "A1")
    choosing.suggestions = "hidden"
    assert not suggestions.is_shown(choosing, "i1", "A1")


# What is kept


def published(stage: Stage, count: int | None = None) -> None:
    quote = publishing.quote(stage, count)
    assert quote.problems == []
    batch = publishing.publish(stage, quote.items, quote.total, f"page-{stage.hits.count()}", None)
    sending.send(batch.pk)
    stage.refresh_from_db()


def fetched(stage: Stage) -> None:
    stage.hits.update(due_at=timezone.now())
    harvesting.harvest(stage)
    scoring.score(stage)


def test_the_arm_is_written_by_the_harvest_and_not_taken_from_the_form(choosing: Stage, stand_in: StandIn) -> None:
    suggesting.suggest(choosing, [row("a", "north"), row("b", "east")], None)
    stage_settings.change(choosing, {"suggestions": "half", "answers": 9}, None, confirmed={"answers": 9})
    choosing.refresh_from_db()
    published(choosing)
    arms = Counter[tuple[str, bool]]()
    for hit in choosing.hits.select_related("item__document", "stage__project"):
        for worker in [f"AWORKER{number}" for number in range(9)]:
            shown = page_of(hit, hit.item, worker_id=worker).suggestions
            assert shown in ({}, {"choice": {"a": "north", "b": "east"}.get(hit.item.key)})
            arms[hit.item.key, bool(shown)] += 1
            # Whatever a worker claims of the page is not asked.
            stand_in.answer(worker, hit.hit_id, choice="north", shown="yes", suggestion="north")
    fetched(choosing)
    rows = SuggestedAnswer.objects.values_list("suggestion__item__key", "shown", "agrees")
    assert Counter((key, shown) for key, shown, _ in rows) == Counter(
        {pair: count for pair, count in arms.items() if pair[0] != "c"}
    )
    assert {key: {agrees for k, _, agrees in rows if k == key} for key in "ab"} == {"a": {True}, "b": {False}}
    assert {arm for key, arm in arms if key == "c"} == {False}


def test_agreement_is_that_of_the_labels_and_right_that_of_the_gold(asking: Stage, stand_in: StandIn) -> None:
    stage_settings.change(asking, {"requirements": [], "answers": 3, "suggestions": "shown", "quality": {}}, None)
    asking.refresh_from_db()
    text = (
        "id,text,truth,suggestion:mood,suggestion:topics,suggestion:people,suggestion:name\n"
        "a,It rains.,Sad,sad,Boats | Rain,3,Ilse\n"
    )
    assert imported(asking.project, text).state == "done"
    published(asking)
    hit = asking.hits.get()
    common = {"clear": "3"}
    stand_in.answer("A1", hit.hit_id, mood="sad", **{"topics.rain": "yes", "topics.boats": "yes"}, people="3", **common)
    stand_in.answer("A2", hit.hit_id, mood="glad", **{"topics.rain": "yes"}, people="4", name="Ilse", **common)
    # An answer that the task refuses says nothing.
    stand_in.answer("A3", hit.hit_id, mood="wet")
    fetched(asking)
    rows = SuggestedAnswer.objects.values_list("assignment__worker__worker_id", "suggestion__field", "agrees", "right")
    found = {(worker, field): (agrees, right) for worker, field, agrees, right in rows}
    assert found == {
        ("A1", "mood"): (True, True),
        ("A1", "topics"): (True, None),
        ("A1", "people"): (True, None),
        ("A1", "name"): (None, None),
        ("A2", "mood"): (False, True),
        ("A2", "topics"): (False, None),
        ("A2", "people"): (False, None),
        ("A2", "name"): (True, None),
        ("A3", "mood"): (None, True),
        ("A3", "topics"): (None, None),
        ("A3", "people"): (None, None),
        ("A3", "name"): (None, None),
    }
    told = report(asking)
    assert (told.suggestions, told.items, told.answers, told.counted) == (4, 1, 12, 7)
    mood = next(one for one in told.fields if one.field == "mood")
    assert [line.kind for line in mood.lines] == ["all", "right"]
    assert (mood.lines[0].found.shown.same, mood.lines[0].found.shown.of) == (1, 2)
    assert mood.lines[0].found.difference is None
    assert mood.lines[0].why.startswith("Everybody saw the suggestions")


def test_rejected_answers_leave_the_report_and_hidden_ones_say_why(choosing: Stage, stand_in: StandIn) -> None:
    suggesting.suggest(choosing, [row("a", "north")], None)
    assert report(choosing).fields[0].lines[0].why == "No answer that counts is in yet."
    published(choosing)
    hit = choosing.hits.get(item__key="a")
    stand_in.answer("A1", hit.hit_id, choice="north")
    stand_in.answer("A2", hit.hit_id, choice="east")
    fetched(choosing)
    line = report(choosing).fields[0].lines[0]
    assert (line.found.hidden.same, line.found.hidden.of) == (1, 2)
    assert line.why.startswith("Nobody saw the suggestions")
    from hits.judging.rules.counting import recount

    Assignment.objects.filter(worker__worker_id="A2").update(state=Assignment.State.REJECTED)
    recount(choosing.assignments.all())
    assert report(choosing).fields[0].lines[0].found.hidden.of == 1
    assert report(choosing).answers == 2


def test_each_item_of_a_hit_about_several_has_its_own_arm(choosing: Stage, stand_in: StandIn) -> None:
    suggesting.suggest(choosing, [row(key, "north") for key in "abc"], None)
    stage_settings.change(choosing, {"suggestions": "half", "items_per_hit": 3}, None)
    choosing.refresh_from_db()
    published(choosing)
    hit = choosing.hits.get()
    said = {"item1:choice": "north", "item2:choice": "east", "item3:choice": "north"}
    for worker in ("A1", "A2"):
        stand_in.answer(worker, hit.hit_id, **said)
    fetched(choosing)
    found = SuggestedAnswer.objects.values_list("assignment__worker__worker_id", "suggestion__item__key", "shown")
    assert {(worker, key): shown for worker, key, shown in found} == {
        (worker, key): suggestions.is_shown(choosing, key, worker) for worker in ("A1", "A2") for key in "abc"
    }
    agrees = SuggestedAnswer.objects.order_by("suggestion__item__key").values_list("suggestion__item__key", "agrees")
    assert set(agrees) == {("a", True), ("b", False), ("c", True)}


# When the task changes


def test_a_suggestion_that_the_task_does_not_take_any_more_stops_publishing(choosing: Stage, stand_in: StandIn) -> None:
    suggesting.suggest(choosing, [row("a", "north"), row("b", "east")], None)
    stage_settings.change(choosing, {"suggestions": "shown"}, None)
    task_settings.change_task(choosing, {"settings": {"choices": ["north", "west"]}}, None)
    choosing.refresh_from_db()
    quote = publishing.quote(choosing)
    (problem,) = quote.problems
    assert problem.startswith("1 suggestion is nothing that the task takes now, such as b: choice 'east'")
    with refused("suggestions_do_not_fit"):
        publishing.publish(choosing, quote.items, quote.total, "page-1", None)
    suggesting.suggest(choosing, [row("b", "west")], None)
    published(choosing)


def test_a_cloned_project_has_them_too(choosing: Stage, lead: Any) -> None:
    suggesting.suggest(choosing, [row("a", "north", score="0.5", model="m1")], None)
    choosing.items.filter(key="b").update(priority=2.5)
    made = project_files.clone(choosing.project, "Again", Decimal(10), lead, items=True)
    copied = made.stages.get().items.order_by("pk")
    assert [(item.key, item.priority) for item in copied] == [("a", None), ("b", 2.5), ("c", None)]
    assert list(copied[0].suggestions.values_list("field", "value", "score", "model")) == [
        ("choice", "north", 0.5, "m1")
    ]
