from decimal import Decimal

import pytest

from hits.items.verbs import importing
from hits.judging.verbs import advancing
from hits.models import Document, Item, Upload
from hits.projects.verbs import projects
from tests.hits import factories
from tests.hits.doing import refused
from tests.hits.record_project import example, lines

pytestmark = pytest.mark.django_db


def _nothing_stored() -> bool:
    return not Document.objects.exists() and not Item.objects.exists()


@pytest.mark.on_postgresql
def test_every_query_of_a_file_becomes_an_item_of_the_first_stage(bring, stage):
    upload = bring(5)
    assert (upload.state, upload.items) == (Upload.State.DONE, 5)
    assert stage.items.count() == 5
    stage.summary.refresh_from_db()
    assert (stage.summary.items, stage.summary.waiting) == (5, 5)


def test_three_broken_lines_among_a_thousand_are_all_named_and_nothing_is_imported(bring):
    rows = lines([example(n) for n in range(1000)]).split(b"\n")
    rows[99] = b"{not json"
    rows[499] = lines([example(499, qas=[{"id": "x", "query": "No blank.", "answers": []}])])
    rows[998] = lines([example(1)])
    upload = bring(b"\n".join(rows))
    assert upload.state == Upload.State.REFUSED
    assert sorted({fault["line"] for fault in upload.faults}) == [100, 500, 999]
    assert _nothing_stored()


def test_an_offset_past_the_end_is_named_with_its_place(bring):
    broken = example(0)
    broken["passage"]["entities"][0]["end"] = 9999
    upload = bring(lines([broken]))
    assert "passage.entities[0]" in upload.faults[0]["place"]
    assert _nothing_stored()


def test_a_file_that_is_not_utf8_is_refused_with_the_place_of_the_byte(bring):
    upload = bring(lines([example(0)]) + b"\n\xff\xfe")
    assert upload.state == Upload.State.REFUSED
    assert "UTF-8" in upload.faults[0]["message"]
    assert _nothing_stored()


def test_a_file_past_the_limit_is_refused_before_it_is_kept(bring, settings):
    settings.MAX_IMPORT_BYTES = 1000
    with refused("upload_refused", match="at most 0.0 MB"):
        bring(b"x" * 1001)
    assert not Upload.objects.exists()


def test_an_empty_file_is_refused(bring):
    with refused("upload_refused", match="empty"):
        bring(b"")


@pytest.mark.on_postgresql
def test_an_id_that_came_before_is_a_fault_and_the_rest_of_the_file_stays_out_too(bring):
    bring(2)
    upload = bring(lines([example(1), example(7)]))
    assert upload.state == Upload.State.REFUSED
    assert "doc-1" in upload.faults[0]["message"]
    assert Item.objects.count() == 2


def test_a_question_id_that_came_before_with_another_passage_is_a_fault(bring):
    bring(2)
    twin = example(9)
    twin["qas"][0]["id"] = "q-1"
    upload = bring(lines([twin]))
    assert upload.state == Upload.State.REFUSED
    assert "q-1" in upload.faults[0]["message"]


@pytest.mark.on_postgresql
def test_importing_an_upload_again_changes_nothing(bring):
    upload = bring(3)
    assert importing.import_upload(upload.pk) == 0
    assert Item.objects.count() == 3


def test_machines_answers_come_in_under_the_ids_of_their_questions(lead):
    project = projects.create_project("Sets", "cosmos", Decimal("10"), "lab@example.org", lead, seed=3)
    row = {"id": "a", "context": "The ferry was late.", "question": "What was late?", "label": 0}
    row |= {f"answer{number}": text for number, text in enumerate(["A boat.", "A bus.", "A train.", "A plane."])}
    unlabelled = {name: value for name, value in row.items() if name != "label"}
    for content, stage, state in (
        (row, "validate", Upload.State.DONE),
        (unlabelled, "generative", Upload.State.DONE),
        (unlabelled, "generative", Upload.State.REFUSED),
    ):
        upload = importing.create_upload(project, "sets.jsonl", lines([content]), "public", None)
        importing.import_upload(upload.pk)
        upload.refresh_from_db()
        assert upload.state == state
        assert [item.key for item in project.stages.get(key=stage).items.all()] == ["a"]


def test_more_items_than_one_import_takes_are_refused_whole(bring, monkeypatch):
    """A small file may unfold to millions of them."""
    monkeypatch.setattr(importing, "MOST_ROWS", 2)
    upload = bring(3)
    assert (upload.state, Item.objects.count()) == (Upload.State.REFUSED, 0)
    assert "rows" in upload.faults[0]["message"]
    assert bring(2).state == Upload.State.DONE


def test_of_100_000_rows_one_short_one_is_named_and_nothing_is_imported(lead):
    project = projects.create_project("Rain", "choice", Decimal("10"), "lab@example.org", lead, seed=3)
    rows = ["id,text,source", *(f"r{n},Rain fell on quay {n}.,Gazette" for n in range(100_000))]
    rows[77_777] = "r77776,Rain fell"
    upload = importing.create_upload(project, "rain.csv", "\n".join(rows).encode(), "public", None)
    assert importing.import_upload(upload.pk) == 0
    upload.refresh_from_db()
    assert [(fault["line"], fault["message"][:38]) for fault in upload.faults] == [
        (77_778, "2 cells where the first line has 3: qu")
    ]
    assert (upload.state, upload.fault_count) == (Upload.State.REFUSED, 1)
    assert _nothing_stored()


def test_what_is_not_read_of_a_table_is_in_the_remarks_of_its_import(lead):
    project = projects.create_project("Rain", "choice", Decimal("10"), "lab@example.org", lead, seed=3)
    upload = importing.create_upload(project, "rain.csv", b"id,text,\na,Rain fell.,\n", "public", None)
    assert importing.import_upload(upload.pk) == 1
    upload.refresh_from_db()
    assert upload.notes == ["The last column is not read: there is no name in the first line."]


def test_a_later_file_changes_the_marks_of_the_project_and_what_was_validated_goes_on(bring, stage):
    """Of 100 public and 100 crawled texts in two files 43 public ones go to the second validation, as of one file."""
    project, later = stage.project, stage.project.stages.get(key="revalidate")
    for_eval = project.documents.filter(origin="public", purpose="eval")
    bring(lines([example(number) for number in range(100)]))
    assert for_eval.count() == 18
    for item in stage.items.select_related("document"):
        item.state = Item.State.KEPT
        item.save()
        factories.verdict(item)
    advancing.advance(stage)
    first = set(later.items.values_list("document__key", flat=True))
    assert first == set(for_eval.values_list("key", flat=True))
    bring(lines([example(number) for number in range(100, 200)]), "crawled")
    assert for_eval.count() == 43 and first < set(for_eval.values_list("key", flat=True))
    advancing.advance(stage)
    assert set(later.items.values_list("document__key", flat=True)) == set(for_eval.values_list("key", flat=True))
    bring(lines([example(number) for number in range(200, 300)]))
    assert for_eval.count() == 43


def test_the_passage_of_an_article_is_marked_with_it_and_counts_once(bring, stage):
    project, generate = stage.project, stage.project.stages.get(key="generate")
    articles = [
        factories.document(project, key=f"a{number}", purpose="eval" if number < 4 else "train") for number in range(20)
    ]
    for article in articles:
        item = factories.item(generate, document=article, key=article.key)
        passage = factories.document(project, key=f"{article.key}/passage", purpose=article.purpose)
        factories.item(stage, document=passage, key=f"{article.key}/s0", parent=item)
    factories.item(project.stages.get(key="revalidate"), document=passage, key="a19/s0", parent=passage.items.get())
    bring(lines([example(number) for number in range(21)]), "crawled")
    marked = {one.key: one.purpose for one in project.documents.filter(origin="public")}
    assert all(marked[f"a{number}/passage"] == marked[f"a{number}"] for number in range(20))
    assert sum(marked[f"a{number}"] == "eval" for number in range(20)) == 9 and marked["a19"] == "train"
