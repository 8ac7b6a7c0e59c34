"""Queries made of articles: imported, corrected, dropped, annotated from outside, made again, and sent to people."""

import io
import json

import pytest
from django.utils import timezone

from hits.formats.files.faults import FormatErrors
from hits.items.rules.item_changes import fingerprint
from hits.items.verbs import annotating, sampling
from hits.judging.rules.recipe_rows import Rows
from hits.judging.verbs import computing
from hits.models import ChangeSet, ComputationResult, ComputationRun, Document, Item, Upload
from hits.protocols.base import AnswerRefusedError
from hits.recipes.record.steps import told_of_draw
from hits.text.questions.passage_queries import figures, queries
from tests.hits import factories
from tests.hits.doing import refused
from tests.hits.items.record_articles import archive, article_project, bring, generate

pytestmark = pytest.mark.django_db
TWO = ("clock-tower", "harbour-bridge")


@pytest.fixture
def ada():
    return factories.user("ada")


@pytest.fixture
def project(ada):
    return article_project(ada, *TWO)


@pytest.fixture
def stage(project):
    return generate(project)


@pytest.fixture
def item(stage):
    found = stage.items.select_related("document").order_by("id").first()
    found.stage = stage
    return found


def ids(item):
    return [query.id for query in queries(item.data)]


def sums(stage):
    stage.summary.refresh_from_db()
    return stage.summary.made


# Import


def test_each_article_becomes_an_item_and_nothing_waits_to_be_published(project, stage):
    assert list(stage.items.values_list("key", flat=True)) == list(TWO)
    assert (stage.summary.items, stage.summary.waiting) == (2, 0)
    wanted = [figures(item.data) for item in stage.items.all()]
    assert {name: sums(stage)[name] for name in wanted[0]} == {
        name: sum(one[name] for one in wanted) for name in wanted[0]
    }
    assert project.stages.get(key="validate").items.count() == 0


def test_articles_whose_text_came_before_are_named_and_left_out(project, stage):
    upload = bring(project, archive())
    assert (upload.state, upload.items) == (Upload.State.DONE, 3)
    (note,) = upload.notes
    assert "2 texts were left out" in note and "clock-tower (as clock-tower)" in note
    assert stage.items.count() == 5


def test_articles_with_too_little_are_counted_with_the_reason(project):
    upload = bring(project, b"Too short.\nAlso short, in one line.\n", "news.txt")
    assert (upload.state, upload.items) == (Upload.State.DONE, 0)
    assert upload.notes == ["2 texts were left out: the article has too few tokens for a lead."]
    assert not Document.objects.filter(key__startswith="news").exists()


def test_a_file_of_records_own_layout_still_goes_to_validation(project):
    from tests.hits.record_project import example, lines

    upload = bring(project, lines([example(0)]), "examples.jsonl")
    assert (upload.state, upload.items) == (Upload.State.DONE, 1)
    assert project.stages.get(key="validate").items.count() == 1


def test_a_project_that_began_before_there_were_articles_says_so(project, stage):
    stage.delete()
    upload = bring(project, archive("night-train"))
    assert upload.state == Upload.State.REFUSED
    assert "this project has no stage generate" in upload.faults[0]["message"]
    assert computing.of_recipe(project) == []


# One article


def test_a_query_is_taken_out_and_put_back_and_undone(stage, item, ada):
    before, first = ids(item), ids(item)[0]
    assert annotating.drop(item, first, fingerprint(item), ada)
    assert ids(item) == before[1:] and sums(stage)["removed"] == 1
    assert annotating.drop(item, first, fingerprint(item), ada, back=True)
    assert ids(item) == before
    annotating.undo(item, ada)
    assert ids(item) == before[1:]
    annotating.undo(item, ada)
    assert ids(item) == before and sums(stage)["removed"] == 0
    with refused("nothing_to_undo"):
        annotating.undo(item, ada)


def test_a_query_that_is_not_there_cannot_be_taken_out(item, ada):
    with pytest.raises(AnswerRefusedError, match="There is no query s99-e0"):
        annotating.drop(item, "s99-e0", fingerprint(item), ada)


def test_moving_a_mention_to_another_entity_computes_anew_what_is_asked(stage, item, ada):
    protocol = annotating.protocol_for(stage)
    given = protocol.annotations(item.data)
    number = next(n for n, one in enumerate(item.data["sentences"]) if not one["dropped"])
    sentences = [{"mentions": list(one["mentions"])} for one in given["sentences"]]
    sentences[number] = {"mentions": [{**sentences[number]["mentions"][0], "entity": None}]}
    annotating.annotate(item, {**given, "sentences": sentences}, fingerprint(item), ada)
    assert item.data["sentences"][number]["dropped"] == "no_antecedent"
    assert item.figures["no_antecedent"] == 1 == sums(stage)["no_antecedent"]


def test_wrong_annotations_are_all_named_and_change_nothing(item, ada):
    own = annotating.protocol_for(item.stage).annotations(item.data)
    wrong = [
        {"start": 0, "end": 10**6, "type": "GPE", "entity": 0},
        {"start": 0, "end": 3, "type": "DATE", "entity": -1},
        "no mention",
    ]
    with pytest.raises(AnswerRefusedError) as caught:
        annotating.annotate(item, {**own, "mentions": wrong}, fingerprint(item), ada)
    assert {"mentions[0]", "mentions[1].type", "mentions[1].entity", "mentions[2]"} <= set(caught.value.fields)
    item.refresh_from_db()
    assert not item.changes.exists()


def test_mentions_may_neither_overlap_nor_leave_their_line(item, ada):
    own = annotating.protocol_for(item.stage).annotations(item.data)
    first = own["mentions"][0]
    marker = item.data["text"].index("@highlight")
    across = {"start": marker - 4, "end": marker + 3, "type": "GPE", "entity": 0}
    for wrong, why in (([first, first], "Overlaps"), ([across], "of one line")):
        with pytest.raises(AnswerRefusedError, match=why):
            annotating.annotate(item, {**own, "mentions": wrong}, fingerprint(item), ada)


def test_who_looked_at_an_older_text_changes_nothing(item, ada):
    seen, first = fingerprint(item), ids(item)[0]
    annotating.drop(item, first, seen, ada)
    with refused("item_changed"):
        annotating.drop(item, ids(item)[0], seen, ada)


def test_what_was_sent_can_no_longer_change(project, stage, item, ada):
    sampling.draw(project.stages.get(key="validate"), 1)
    sent = annotating.sent(stage.items.all()).get()
    sent.stage = stage
    with refused("article_sent", match="went on to the next stage"):
        annotating.drop(sent, ids(sent)[0], fingerprint(sent), ada)


# Annotations out and in


def exported(stage):
    return [json.loads(line) for line in b"".join(annotating.export(stage)).splitlines()]


def file_of(rows):
    return io.BytesIO("\n".join(json.dumps(row) for row in rows).encode())


def test_what_goes_out_comes_in_again_and_changes_nothing(stage, ada):
    with refused("nothing_to_change", match="It would change nothing"):
        annotating.propose_file(stage, "same.jsonl", file_of(exported(stage)), ada)


def test_a_file_of_annotations_is_shown_confirmed_and_undone_as_a_whole(stage, ada):
    before = sums(stage)
    rows = exported(stage)
    for row in rows:
        row["removed"] = [queries(row)[0].id]
    found = annotating.propose_file(stage, "corrected.jsonl", file_of(rows), ada)
    assert sums(stage) == before
    assert found.effect["items"] == 2
    assert found.effect["before"]["queries"] - found.effect["after"]["queries"] == 2
    assert annotating.confirm(found, ada) == 2 and annotating.confirm(found, ada) == 0
    assert sums(stage)["queries"] == before["queries"] - 2
    assert annotating.undo_together(found, ada) == 2
    assert sums(stage) == before
    assert found.state == ChangeSet.State.UNDONE


def test_nothing_is_confirmed_that_was_not_shown(stage, item, ada):
    rows = exported(stage)
    rows[0]["removed"] = [queries(rows[0])[0].id]
    found = annotating.propose_file(stage, "corrected.jsonl", file_of(rows), ada)
    annotating.drop(item, ids(item)[1], fingerprint(item), ada)
    with refused("nothing_to_change", match="Look at what it would change now"):
        annotating.confirm(found, ada)


def test_a_correction_that_no_figure_shows_is_not_overwritten_either(stage, item, ada):
    """A file that was downloaded before would take it back, and nobody was shown that."""
    rows = exported(stage)
    rows[0]["removed"] = [queries(rows[0])[0].id]
    found = annotating.propose_file(stage, "corrected.jsonl", file_of(rows), ada)
    corrected = exported(stage)[0]
    corrected["mentions"][0]["type"] = "ORG" if corrected["mentions"][0]["type"] != "ORG" else "PERSON"
    assert annotating.annotate(item, corrected, fingerprint(item), ada)
    with refused("nothing_to_change", match="Look at what it would change now"):
        annotating.confirm(found, ada)
    item.refresh_from_db()
    assert item.data["mentions"][0]["type"] == corrected["mentions"][0]["type"]


def test_an_import_is_not_undone_over_later_changes(stage, item, ada):
    rows = exported(stage)
    rows[0]["removed"] = [queries(rows[0])[0].id]
    found = annotating.propose_file(stage, "corrected.jsonl", file_of(rows), ada)
    annotating.confirm(found, ada)
    item.refresh_from_db()
    annotating.drop(item, ids(item)[0], fingerprint(item), ada)
    with refused("nothing_to_undo", match="changed since"):
        annotating.undo_together(found, ada)
    assert found.state == ChangeSet.State.DONE


def test_all_faults_of_a_file_come_at_once(stage, ada):
    first, second = exported(stage)
    first["text"] += " More."
    second["mentions"][0]["type"] = "DATE"
    third = {**second, "id": "nowhere"}
    with pytest.raises(FormatErrors) as caught:
        annotating.propose_file(stage, "wrong.jsonl", file_of([first, second, third, second, 7]), ada)
    told = {(fault.line, fault.place) for fault in caught.value.errors}
    assert {(1, "text"), (2, "mentions[0].type"), (3, "id"), (4, "id"), (5, "")} <= told
    assert not ChangeSet.objects.exists()


# Made again


def again(project):
    run = computing.start(project, annotating.AGAIN, {}, None)
    computing.run(run.pk)
    run.refresh_from_db()
    assert run.state == ComputationRun.State.DONE, run.error
    return run


def test_queries_are_made_again_by_the_present_options_where_nobody_corrected_them(project, stage, item, ada):
    annotating.drop(item, ids(item)[0], fingerprint(item), ada)
    project.options = {**project.options, "sentence_tokens": 25}
    project.save()
    before = sums(stage)
    found = annotating.propose_run(stage, again(project), ada)
    assert sums(stage) == before
    assert (found.effect["items"], found.effect["left_out"]) == (1, {"corrected by hand or by a file": 1})
    assert found.effect["after"]["short"] > found.effect["before"]["short"]
    annotating.confirm(found, ada)
    assert sums(stage)["short"] > before["short"]
    annotating.undo_together(found, ada)
    assert sums(stage) == before


def test_made_again_by_the_same_options_nothing_changes(project, stage, ada):
    with refused("nothing_to_change"):
        annotating.propose_run(stage, again(project), ada)


def test_an_item_whose_document_is_no_article_is_not_made_again_and_stops_nothing(project, stage, item):
    other = stage.items.exclude(pk=item.pk).get()
    other.document.data = {"text": "A passage alone."}
    other.document.save()
    assert list(again(project).results.values_list("item", flat=True)) == [item.pk]


# Sent to people


def filtered(project, stage, correct):
    """A finished run of the filter in which a reader answered these queries."""
    now = timezone.now()
    run = ComputationRun.objects.create(
        project=project, key="filter", seed=1, state=ComputationRun.State.DONE, started_at=now, finished_at=now
    )
    for item in stage.items.all():
        told = {
            query.id: {"fold": n % 2, "prediction": "Hull", "score": 0.5, "correct": query.id in correct}
            for n, query in enumerate(queries(item.data))
        }
        data = {"reader": "most_frequent", "version": "1", "queries": told}
        ComputationResult.objects.create(run=run, item=item, data=data)
    return run


def test_every_query_is_drawn_where_no_reader_filtered_them(project, stage):
    validate = project.stages.get(key="validate")
    told = told_of_draw("validate", Rows(project))
    assert (told["articles"], told["queries"], told["readers"], told["folds"]) == (2, 11, [], [])
    assert sampling.quote(validate).there == 11
    assert sampling.draw(validate, 100) == 11
    drawn = validate.items.select_related("document", "parent").order_by("id").first()
    assert drawn.parent.stage == stage and drawn.key.startswith(f"{drawn.parent.key}/s")
    text = drawn.document.data["text"]
    for answer in drawn.data["answers"]:
        assert text[answer["start"] : answer["end"] + 1] == answer["text"]
    assert drawn.data["query"].count("@placeholder") == 1
    assert (drawn.document.key, drawn.document.purpose) == (
        f"{drawn.parent.key}/passage",
        drawn.parent.document.purpose,
    )
    assert sampling.draw(validate, 100) == 0


def test_what_a_reader_answered_is_left_out(project, stage):
    validate = project.stages.get(key="validate")
    answered = {ids(item)[0] for item in stage.items.all()}
    filtered(project, stage, answered)
    told = told_of_draw("validate", Rows(project))
    count = sum(query.id in answered for item in stage.items.all() for query in queries(item.data))
    assert (told["answered"], told["unfiltered"], told["readers"]) == (count, 0, ["most_frequent 1"])
    assert sum(fold["queries"] for fold in told["folds"]) == 11
    assert sum(fold["answered"] for fold in told["folds"]) == count
    assert any(one["answered"] for one in told["examples"]) and not all(one["answered"] for one in told["examples"])
    assert sampling.draw(validate, 100) == 11 - count


def test_what_a_run_said_of_an_article_that_was_changed_since_no_longer_counts(project, stage, item, ada):
    filtered(project, stage, {one for row in stage.items.all() for one in ids(row)})
    with refused("draw_refused"):
        sampling.quote(project.stages.get(key="validate"))
    annotating.drop(item, ids(item)[0], fingerprint(item), ada)
    told = told_of_draw("validate", Rows(project))
    assert told["unfiltered"] == len(ids(item))
    assert sampling.draw(project.stages.get(key="validate"), 100) == len(ids(item))


def test_drawn_queries_wait_for_a_lead(project):
    validate = project.stages.get(key="validate")
    sampling.draw(validate, 3)
    assert not validate.auto_publish
    assert validate.items.filter(state=Item.State.NEW).count() == 3
