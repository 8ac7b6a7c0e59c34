"""The page of a table's columns: the best guess, the first rows, and nothing imported before a lead says so."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from hits.items.verbs.importing import create_upload, import_upload
from hits.models import Blob, Item, Project, Upload
from hits.projects.rules.plugins import settings_of
from hits.projects.verbs.projects import create_project
from tests.hits.record_project import example, lines

pytestmark = pytest.mark.django_db
ROWS = b"ID,Pass age,source\n" + b"".join(b"r%d,Rain fell on quay %d.,web\n" % (n, n) for n in range(7))


@pytest.fixture
def project(alice: Any, eager: None) -> Project:
    return create_project("Rain", "choice", Decimal(5), "lab@example.org", alice)


def sent(client: Client, project: Project, content: bytes = ROWS, name: str = "rain.csv") -> HttpResponse:
    """The page that a file leads to."""
    form = {"file": SimpleUploadedFile(name, content), "origin": "public"}
    return client.post(reverse("import", args=[project.slug]), form, follow=True)


def chosen(client: Client, project: Project, **columns: str) -> HttpResponse:
    """The page that the chosen columns of the newest file lead to."""
    address = reverse("upload-columns", args=[project.slug, project.uploads.first().pk])
    return client.post(address, {f"column-{field}": column for field, column in columns.items()}, follow=True)


def test_columns_of_the_same_name_are_guessed_and_five_rows_are_shown(lead_client: Client, project: Project) -> None:
    text = sent(lead_client, project).content.decode()
    assert '<option value="ID" selected>' in text and "Import 7 rows" in text
    assert "Rain fell on quay 4." in text and "Rain fell on quay 5." not in text
    assert not Item.objects.exists()


def test_what_is_chosen_is_imported_and_remembered_for_the_project(lead_client: Client, project: Project) -> None:
    sent(lead_client, project)
    assert "7 items from 7 texts" in chosen(lead_client, project, id="ID", text="Pass age").content.decode()
    project.refresh_from_db()
    assert project.mapping == {"id": "ID", "text": "Pass age"}
    assert Item.objects.first().document.data == {"text": "Rain fell on quay 0.", "columns": {"source": "web"}}
    again = sent(lead_client, project, ROWS.replace(b"r", b"s")).content.decode()
    assert '<option value="Pass age" selected>' in again


def test_a_field_that_was_left_out_stays_out_though_a_column_has_its_name(
    lead_client: Client, project: Project
) -> None:
    content = b"id,text,gold\nr1,Rain.,Often\n"
    assert "Often" in sent(lead_client, project, content).content.decode()
    chosen(lead_client, project, id="id", text="text")
    assert project.uploads.first().state == Upload.State.DONE
    assert '<option value="gold" selected>' not in sent(lead_client, project, content).content.decode()


def test_a_needed_field_without_a_column_is_refused_and_nothing_changes(lead_client: Client, project: Project) -> None:
    sent(lead_client, project)
    reply = chosen(lead_client, project, id="ID")
    assert reply.status_code == 400
    assert "No column is text, which every row needs: choose one of ID, Pass age, source." in reply.content.decode()
    project.refresh_from_db()
    assert (project.uploads.get().state, project.mapping, Item.objects.count()) == (Upload.State.MAPPING, {}, 0)


def test_columns_can_be_chosen_once(lead_client: Client, project: Project) -> None:
    sent(lead_client, project)
    chosen(lead_client, project, id="ID", text="Pass age")
    assert "7 items from 7 texts" in chosen(lead_client, project, id="ID", text="source").content.decode()


def test_a_file_that_waits_can_be_given_up(lead_client: Client, project: Project) -> None:
    sent(lead_client, project)
    lead_client.post(reverse("stop-import", args=[project.slug, project.uploads.get().pk]))
    assert project.uploads.get().state == Upload.State.STOPPED


@pytest.mark.parametrize(
    ("content", "said"), [(b"id,text,id\na,b,c\n", "more than once"), (b"id,text\n,\n", "the file holds no row")]
)
def test_what_is_no_table_is_refused_with_its_fault_and_without_asking(
    lead_client: Client, project: Project, content: bytes, said: str
) -> None:
    text = sent(lead_client, project, content).content.decode()
    assert "1 fault. Nothing was imported." in text and said in text


def test_a_text_that_is_not_utf_8_asks_once_for_its_encoding_and_then_for_its_columns(
    lead_client: Client, project: Project
) -> None:
    text = "Café “Noël”, 5 €"
    page = sent(lead_client, project, f'ID,Pass age\nr1,"{text}"\n'.encode("cp1252")).content.decode()
    assert re.search(r'value="cp1252"\s+checked>', page) and text in page
    upload = project.uploads.get()
    address = reverse("upload-columns", args=[project.slug, upload.pk])
    wrong = lead_client.post(address, {"encoding": "utf-16"})
    assert wrong.status_code == 400 and "The file is not UTF-16" in wrong.content.decode()
    assert lead_client.post(address, {"column-id": "ID"}).status_code == 400
    for _ in range(2):
        page = lead_client.post(address, {"encoding": "cp1252"}, follow=True).content.decode()
        assert '<option value="ID" selected>' in page and text in page and not Item.objects.exists()
    assert "1 item from 1 text" in chosen(lead_client, project, id="ID", text="Pass age").content.decode()
    assert Item.objects.get().document.data["text"] == text
    assert list(Blob.objects.all()) == [project.uploads.get().blob]


def test_a_file_without_columns_is_imported_when_its_encoding_is_chosen(
    lead_client: Client, alice: Any, eager: None
) -> None:
    project = create_project("River", "record", Decimal(5), "lab@example.org", alice)
    content = lines([example(number) for number in range(2)]).decode().encode("utf-16")
    page = sent(lead_client, project, content, "river.jsonl").content.decode()
    assert "UTF-16" in page and "doc-0" in page
    address = reverse("upload-columns", args=[project.slug, project.uploads.get().pk])
    assert "2 items from 2 texts" in lead_client.post(address, {"encoding": "utf-16"}, follow=True).content.decode()


def test_a_file_that_cannot_be_shown_any_more_says_so(lead_client: Client, project: Project, settings: Any) -> None:
    sent(lead_client, project)
    settings.MAX_IMPORT_BYTES = 10
    address = reverse("upload-columns", args=[project.slug, project.uploads.get().pk])
    for reply in (lead_client.get(address, follow=True), lead_client.post(address, {}, follow=True)):
        assert "rain.csv cannot be imported any more: the file has" in reply.content.decode()
    assert project.uploads.get().state == Upload.State.MAPPING


def test_faults_name_the_columns_of_the_file(lead_client: Client, project: Project) -> None:
    sent(lead_client, project, ROWS.replace(b"Rain fell on quay 3.", b"").replace(b"Rain fell on quay 5.", b""))
    chosen(lead_client, project, id="ID", text="Pass age")
    faults = [(fault["line"], fault["place"]) for fault in project.uploads.get().faults]
    assert faults == [(5, "Pass age"), (7, "Pass age")]


def test_names_and_cells_of_a_file_are_no_markup(lead_client: Client, project: Project) -> None:
    text = sent(lead_client, project, b'id,text,<b>bold</b>\n1,<script>x</script>,"""><i>"\n').content.decode()
    assert "<b>bold" not in text and "<script>x" not in text and '"><i>' not in text


def test_items_are_found_by_their_key_and_their_columns(lead_client: Client, project: Project) -> None:
    sent(lead_client, project, b"id,text,source\nr1,Rain.,Wexmoor Gazette\nr2,Sun.,letters 100%\n")
    chosen(lead_client, project, id="id", text="text")
    items = reverse("items", args=[project.slug, "choose"])
    for words, found in (("wexmoor GAZ", ["r1"]), ("0%", ["r2"]), ("r2", ["r2"]), ("rain.", ["r1"]), ("%", ["r2"])):
        page = lead_client.get(items, {"find": words}).context["page"]
        assert [item.key for item in page.rows] == found, words
    item = Item.objects.get(key="r1")
    assert (
        "Wexmoor Gazette" in lead_client.get(reverse("item", args=[project.slug, "choose", item.pk])).content.decode()
    )


def test_the_sample_of_the_recipe_is_downloaded(lead_client: Client, project: Project) -> None:
    address = reverse("sample-file", args=[project.slug])
    assert address in lead_client.get(reverse("project", args=[project.slug])).content.decode()
    reply = lead_client.get(address)
    assert reply.headers["Content-Disposition"] == 'attachment; filename="choice-sample.csv"'
    sent(lead_client, project, reply.content, "choice-sample.csv")
    assert "3 items" in chosen(
        lead_client, project, id="id", text="text", question="question", choice1="choice1", choice2="choice2",
        choice3="choice3", gold="gold",
    ).content.decode()  # fmt: skip


def test_an_id_that_came_before_is_told_once_for_its_row(project: Project) -> None:
    for _ in range(2):
        upload = create_upload(project, "rain.csv", b"id,text\nr1,Rain.\n", "public", None)
        import_upload(upload.pk)
    upload.refresh_from_db()
    assert (upload.state, upload.fault_count, len(upload.faults)) == (Upload.State.REFUSED, 1, 1)


FORM = {
    "show": [{"kind": "text", "text": "{text}"}],
    "ask": [{"kind": "one", "key": "mood", "question": "How is it?", "choices": ["Good", "Bad"], "gold": "right"}],
}


@pytest.fixture
def asking(alice: Any, eager: None) -> Project:
    """A questionnaire of a lead's own, whose form names two columns."""
    made = create_project("Moods", "form", Decimal(5), "lab@example.org", alice)
    stage = made.stages.get()
    stage.settings = settings_of(stage) | {"form": FORM}
    stage.save()
    return made


def test_a_questionnaire_asks_for_the_columns_that_its_form_names(lead_client: Client, asking: Project) -> None:
    page = sent(lead_client, asking, b"nr,sentence,right\n1,Rain fell.,Good\n2,Sun rose.,Bad\n").content.decode()
    assert 'name="column-text"' in page and "The task names it." in page and "Rain fell." in page
    assert '<option value="right" selected>' in page and "Import 2 rows" in page
    assert (
        "2 items from 2 texts" in chosen(lead_client, asking, id="nr", text="sentence", right="right").content.decode()
    )
    item = Item.objects.order_by("id").first()
    assert item.key == "1"
    assert item.document.data == {"columns": {"id": "1", "text": "Rain fell.", "right": "Good"}}
    asking.refresh_from_db()
    assert asking.mapping == {"id": "nr", "text": "sentence", "right": "right"}


def test_a_column_is_chosen_for_one_field_of_the_task_and_may_name_the_rows_besides(
    lead_client: Client, asking: Project
) -> None:
    sent(lead_client, asking, b"sentence,right\nRain fell.,Good\n")
    reply = chosen(lead_client, asking, id="sentence", text="right", right="right")
    assert reply.status_code == 400
    assert "“right” is chosen for text and right: choose another column for one of them." in reply.content.decode()
    assert not Item.objects.exists()
    chosen(lead_client, asking, id="sentence", text="sentence", right="right")
    assert Item.objects.get().key == "Rain fell."


def test_a_column_that_another_one_would_replace_is_refused(lead_client: Client, asking: Project) -> None:
    sent(lead_client, asking, b"text,sentence,right\nx,Rain fell.,Good\n")
    reply = chosen(lead_client, asking, id="", text="sentence", right="right")
    assert reply.status_code == 400
    assert "has a column “text” too, which would be lost" in reply.content.decode()
    assert not Item.objects.exists()


def test_without_a_choice_columns_are_read_by_their_names_in_any_case(lead_client: Client, asking: Project) -> None:
    upload = create_upload(asking, "moods.csv", b"Text,TEXT 2,text,right\na,b,c,Good\n", "public", None)
    import_upload(upload.pk)
    assert Item.objects.get().document.data == {"columns": {"Text": "a", "TEXT 2": "b", "text": "c", "right": "Good"}}
    upload = create_upload(asking, "more.csv", b"TEXT,other,Right\nd,e,\n", "public", None)
    import_upload(upload.pk)
    assert Item.objects.order_by("-id")[0].document.data == {"columns": {"text": "d", "other": "e", "right": ""}}


def test_the_priority_is_a_column_of_any_name(lead_client: Client, project: Project) -> None:
    content = b"id,text,urgency,suggestion:choice\nr1,Rain.,0.5,\nr2,Snow.,9,\n"
    page = sent(lead_client, project, content).content.decode()
    assert 'name="column-priority"' in page and "Read as" in page
    assert ">urgency<" in page.partition("data-unused")[2].partition("</p>")[0]
    chosen(lead_client, project, id="id", text="text", priority="urgency")
    assert dict(Item.objects.values_list("key", "priority")) == {"r1": 0.5, "r2": 9}
    assert Item.objects.first().document.data == {"text": "Rain."}
    project.refresh_from_db()
    assert project.mapping["priority"] == "urgency"


def test_a_column_named_priority_counts_and_is_not_said_to_be_kept(lead_client: Client, project: Project) -> None:
    content = b"id,text,priority,source\nr1,Rain.,3,web\n"
    page = sent(lead_client, project, content).content.decode()
    assert '<option value="priority" selected>' in page
    assert re.search(r"data-unused>source<", page)
    chosen(lead_client, project, id="id", text="text", priority="priority")
    assert Item.objects.get().priority == 3


def test_a_column_named_priority_that_is_not_chosen_is_kept(lead_client: Client, project: Project) -> None:
    sent(lead_client, project, b"id,text,priority\nr1,Rain.,high\n")
    chosen(lead_client, project, id="id", text="text")
    assert Item.objects.get().priority is None
    assert Item.objects.get().document.data == {"text": "Rain.", "columns": {"priority": "high"}}


def test_the_column_of_the_priority_is_no_other_field_s(lead_client: Client, project: Project) -> None:
    sent(lead_client, project, b"id,text,urgency\nr1,Rain.,3\n")
    reply = chosen(lead_client, project, id="id", text="text", question="urgency", priority="urgency")
    assert reply.status_code == 400
    assert "“urgency” is chosen for question and priority: choose another column" in reply.content.decode()


def test_the_task_of_an_own_form_may_have_another_column_as_priority(
    lead_client: Client, alice: Any, eager: None
) -> None:
    project = create_project("Tickets", "form", Decimal(5), "lab@example.org", alice)
    form = {
        "show": [{"kind": "text", "text": "{text}"}],
        "ask": [{"kind": "one", "key": "fits", "question": "Fits?", "choices": ["Yes", "No"]}],
    }
    project.stages.update(settings={"form": form})
    sent(lead_client, project, b"id,text,urgency,priority\na,A fire.,7,high\n")
    chosen(lead_client, project, id="id", text="text", priority="urgency")
    item = Item.objects.get()
    assert item.priority == 7
    assert item.document.data["columns"] == {"id": "a", "text": "A fire.", "priority": "high"}
