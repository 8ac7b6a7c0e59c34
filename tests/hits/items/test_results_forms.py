"""A questionnaire made from a file of results: what is proposed, what a lead changes, and the answers in it."""

from __future__ import annotations

import csv
import io
import json
from decimal import Decimal
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from rest_framework.test import APIClient

from hits import tasks
from hits.formats.files.faults import FormatErrors
from hits.items import jobs as form_jobs
from hits.items.rules import results_forms
from hits.items.rules.results_forms import Proposal, propose, with_kinds
from hits.models import Label, Project, Stage, Upload
from hits.projects.verbs import projects
from tests.hits import factories as make
from tests.hits.doing import refused

pytestmark = pytest.mark.django_db
MOODS, TAGS = ("glad", "sad", "Über {froh}"), ("red", "blue|red", "green|blue", "green")


def batch(rows: int = 24, **more: Any) -> bytes:
    """A file as Mechanical Turk's: eight texts, three workers each."""
    out = io.StringIO()
    columns = ["HITId", "AssignmentId", "WorkerId", "SubmitTime", "WorkTimeInSeconds", "Input.text", "Input.gold_mood",
               "Answer.Mood", "Answer.stars", "Answer.tags", "Answer.why", "Answer.age", *more]  # fmt: skip
    writer = csv.DictWriter(out, columns)
    writer.writeheader()
    for n in range(rows):
        item = n % 8
        writer.writerow(
            {
                "HITId": f"3HIT{item}", "AssignmentId": f"3ASG{n}", "WorkerId": f"AW{n // 8}",
                "SubmitTime": "Sat Apr 24 17:19:43 PDT 2021", "WorkTimeInSeconds": "12", "Input.text": f"Text {item}.",
                "Input.gold_mood": MOODS[item % 3], "Answer.Mood": MOODS[(item + n // 8) % 3],
                "Answer.stars": str(1 + n % 5),
                "Answer.tags": TAGS[n % 4], "Answer.why": "" if n == 3 else f"Because of {n} things.",
                "Answer.age": str(20 + 3 * n), **{name: value(n) for name, value in more.items()},
            }
        )  # fmt: skip
    return out.getvalue().encode()


def proposed(content: bytes, kinds: dict[str, str] | None = None) -> dict[str, Any]:
    return {one.column: one for one in propose(io.BytesIO(content), "batch.csv", kinds).fields}


def test_columns_with_names_alike_have_keys_of_their_own() -> None:
    content = b"WorkerId,AssignmentId,Input.x,Answer.x-3,Answer.x,Answer.x!\nw,a,x,1,2,3\nw,b,y,2,3,1\n"
    assert [one.key for one in proposed(content).values()] == ["x-3", "x", "x-4"]


@pytest.fixture
def stage() -> Stage:
    lead = make.user("lena")
    project = projects.create_project("Moods", "form", Decimal("5"), "lab@example.org", lead)
    return project.stages.get()


def labels(project: Project) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for unit, value in Label.objects.filter(stage__project=project).order_by("pk").values_list("unit", "value"):
        found.setdefault(unit, []).append(value)
    return found


def test_the_kind_follows_from_the_values() -> None:
    found = proposed(batch())
    assert {column: one.kind for column, one in found.items()} == {
        "Answer.Mood": "one", "Answer.stars": "scale", "Answer.tags": "any", "Answer.why": "short_text",
        "Answer.age": "number",
    }  # fmt: skip
    assert found["Answer.stars"].setting | {"points": 5, "first": 1} == found["Answer.stars"].setting
    assert [one["text"] for one in found["Answer.tags"].setting["choices"]] == ["blue", "green", "red"]
    assert found["Answer.why"].blank == 1 and found["Answer.why"].setting["required"] is False
    assert dict(found["Answer.Mood"].values) == dict.fromkeys(MOODS, 8)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (lambda n: ["yes", "no"][n % 2], "one"),
        (lambda n: str(n % 2), "one"),  # two numbers are two answers
        (lambda n: str(n % 11), "scale"),
        (lambda n: str(n % 12), "number"),
        (lambda n: f"{n}.5", "number"),
        (lambda n: "-1" if n else "3", "short_text"),
        (lambda n: f"c{n % 12}", "one"),
        (lambda n: f"c{n % 13}", "short_text"),
        (lambda n: "once" if n == 0 else "often" if n % 2 else "more", "short_text"),  # one value stands there once
        (lambda n: "x\ny", "long_text"),
        (lambda n: "x" * 300, "long_text"),
        (lambda n: "", ""),
    ],
)
def test_a_column_is_what_its_values_say(values: Any, kind: str) -> None:
    found = proposed(batch(48, **{"Answer.new": values}))["Answer.new"]
    wanted = "number" if kind == "short_text" and found.kind == "number" else kind
    assert found.kind == wanted and not found.why


def with_five(proposal: Proposal, content: bytes) -> list[str]:
    """The faults where the five columns that `batch` always has are asked too."""
    kinds = {one.column: one.kind or "short_text" for one in proposal.fields}
    return propose(io.BytesIO(content), "batch.csv", kinds, []).faults


def test_what_tells_the_right_answer_is_not_shown_and_bounds_hold() -> None:
    more = {f"Answer.f{n}": lambda row: "same" for n in range(50)} | {f"Input.i{n}": lambda row: "s" for n in range(30)}
    proposal = propose(io.BytesIO(batch(**more)), "batch.csv")
    assert dict(proposal.shown)["Input.text"] and not dict(proposal.shown)["Input.gold_mood"]
    assert len(proposal.form["ask"]) == 40 and len(proposal.form["show"]) == 20 and proposal.faults == []
    asked = {name: "short_text" for name in more if name.startswith("Answer.")}
    everything = propose(io.BytesIO(batch(**more)), "batch.csv", asked, [])
    assert [fault.split(" a questionnaire")[0] for fault in with_five(everything, batch(**more))] == [
        "55 columns are asked;", "32 columns are shown;"]  # fmt: skip


@pytest.mark.parametrize(
    ("kinds", "fault"),
    [
        ({"Answer.why": "scale"}, "Answer.why: a scale has whole numbers"),
        ({"Answer.why": "number"}, "not all of its values are numbers"),
        ({"Answer.Mood": "matrix"}, "there is no kind 'matrix'"),
        ({"Answer.nothing": "one"}, "There is no column 'Answer.nothing'"),
        (dict.fromkeys((f"Answer.{name}" for name in ("Mood", "stars", "tags", "why", "age")), ""), "Nothing is asked"),
    ],
)  # fmt: skip
def test_a_kind_that_does_not_fit_is_refused_and_nothing_is_made(stage: Stage, kinds: Any, fault: str) -> None:
    before = stage.settings
    with refused("no_form_from_file", match=fault):
        form_jobs.send_in_with_form(stage, "b.csv", batch(), with_kinds(batch(), "b.csv", kinds, None), "", None)
    stage.refresh_from_db()
    assert stage.settings == before and not Upload.objects.exists()


def test_files_that_do_not_say_what_was_asked_are_refused() -> None:
    with refused("no_form_from_file", match="Only files with Input"):
        propose(io.BytesIO(b"item,unit,worker,value\na,mood,W,x\n"), "long.csv")
    with pytest.raises(FormatErrors):
        propose(io.BytesIO(b"a,b\n1,2\n"), "b.csv")


def test_the_form_is_made_in_a_stage_that_nobody_used_and_every_answer_is_in_it(stage: Stage) -> None:
    upload = form_jobs.send_in_with_form(stage, "b.csv", batch(), propose(io.BytesIO(batch()), "b.csv"), "", None)
    tasks.import_upload(upload.pk)
    upload.refresh_from_db()
    assert (upload.state, upload.items, upload.stage) == (Upload.State.DONE, 24, stage), upload.faults
    assert stage.project.stages.count() == 1 and stage.items.count() == 8
    found = labels(stage.project)
    assert len(found["mood"]) == 24 and set(found["stars"]) == {1, 2, 3, 4, 5} and len(found["why"]) == 23
    assert set(map(tuple, found["tags"])) == {("red",), ("blue", "red"), ("blue", "green"), ("green",)}
    assert found["age"][0] == 20
    item = stage.items.select_related("document").order_by("pk").first()
    assert item is not None and item.document.data["columns"]["gold_mood"] in MOODS


def test_where_the_stage_is_in_use_another_one_asks_it_about_the_same_rows(stage: Stage) -> None:
    tasks.import_upload(
        form_jobs.send_in_with_form(stage, "b.csv", batch(), propose(io.BytesIO(batch()), "b.csv"), "", None).pk
    )
    more = batch(**{"Answer.new": lambda n: ["x", "y"][n % 2]}).replace(b"3ASG", b"3BSG")
    assert not results_forms.can_be_rewritten(stage)
    upload = form_jobs.send_in_with_form(stage, "c.csv", more, propose(io.BytesIO(more), "c.csv"), "Once more", None)
    tasks.import_upload(upload.pk)
    upload.refresh_from_db()
    assert upload.state == Upload.State.DONE, upload.faults
    assert upload.stage is not None and upload.stage.title == "Once more" and upload.stage != stage
    assert upload.stage.items.count() == 8 and upload.stage.assignments.count() == 24
    assert stage.assignments.count() == 24


def test_without_rows_no_stage_is_added() -> None:
    project = projects.create_project("Own", "html_page", Decimal("5"), "lab@example.org", make.user())
    stage = project.stages.get()
    with refused("no_form_from_file", match="has none: import their file first"):
        form_jobs.send_in_with_form(stage, "b.csv", batch(), propose(io.BytesIO(batch()), "b.csv"), "", None)
    assert project.stages.count() == 1 and not Upload.objects.exists()


def test_the_page_shows_the_proposal_takes_other_kinds_and_imports(
    stage: Stage, django_capture_on_commit_callbacks: Any
) -> None:
    client = Client()
    client.force_login(stage.project.owners.get())
    home = f"/projects/{stage.project.slug}/stages/{stage.key}/results/"
    file = SimpleUploadedFile("b.csv", batch(**{"Answer.note": lambda n: "<b>x</b>"}))
    columns = client.post(f"{home}import/", {"file": file}).headers["Location"]
    assert "Make the questionnaire" in client.get(columns).content.decode()
    address = columns.replace("/columns/", "/form/")
    page = client.get(address).content.decode()
    assert (
        "<b>x</b>" not in page and "&lt;b&gt;x&lt;/b&gt; (24)" in page and "The task of this stage becomes it" in page
    )
    asked = [one.column for one in propose(io.BytesIO(batch(**{"Answer.note": lambda n: "x"})), "b.csv").fields]
    sent = {f"ask-{n}": column for n, column in enumerate(asked, 1)}
    sent |= {f"kind-{n}": "short_text" if column != "Answer.note" else "" for n, column in enumerate(asked, 1)}
    sent |= {"input-1": "Input.text", "show-1": "on", "input-2": "Input.gold_mood"}
    again = client.post(address, sent)
    assert again.status_code == 200 and Upload.objects.get().state == Upload.State.MAPPING
    wrong = client.post(address, {**sent, "kind-1": "number", "make": "yes"})
    assert wrong.status_code == 400 and "Nothing was made" in wrong.content.decode()
    stage.refresh_from_db()
    assert "stars" not in json.dumps(stage.settings)
    with django_capture_on_commit_callbacks(execute=True):
        assert client.post(address, {**sent, "make": "yes"}).status_code == 302
    upload = Upload.objects.get()
    if upload.state == Upload.State.QUEUED:
        tasks.import_upload(upload.pk)
        upload.refresh_from_db()
    assert (upload.state, upload.items) == (Upload.State.DONE, 24), upload.faults
    stage.refresh_from_db()
    assert [one["kind"] for one in stage.settings["form"]["ask"]] == ["short_text"] * 5
    assert [one["text"] for one in stage.settings["form"]["show"]] == ["{text}"]
    assert client.get(address).status_code == 302


def test_the_api_proposes_and_makes(stage: Stage) -> None:
    api = APIClient()
    api.force_authenticate(stage.project.owners.get())
    address = f"/api/projects/{stage.project.slug}/stages/{stage.key}/results/form/"
    found = api.post(address, {"file": SimpleUploadedFile("b.csv", batch())}).json()
    assert {one["column"]: one["kind"] for one in found["fields"]}["Answer.stars"] == "scale"
    assert not Upload.objects.exists() and found["faults"] == []
    kinds = json.dumps({"Answer.stars": "number", "Answer.why": ""})
    sent = {"file": SimpleUploadedFile("b.csv", batch()), "kinds": kinds, "make": "true"}
    made = api.post(address, sent)
    assert made.status_code == 202
    if Upload.objects.get().state == Upload.State.QUEUED:
        tasks.import_upload(Upload.objects.get().pk)
    stage.refresh_from_db()
    assert {one["key"]: one["kind"] for one in stage.settings["form"]["ask"]} == {
        "mood": "one", "stars": "number", "tags": "any", "age": "number"}  # fmt: skip
    assert stage.assignments.count() == 24
    refused = api.post(address, {"file": SimpleUploadedFile("b.csv", batch()), "kinds": '{"Answer.no": "one"}'})
    assert refused.status_code == 400 and refused.json()["error"]["code"] == "no_form_from_file"
