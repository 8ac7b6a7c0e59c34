"""Pages of what a recipe computes, draws and goes by."""

from __future__ import annotations

import io
import json
import zipfile
from decimal import Decimal
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from hits.models import ComputationRun, Item, Project, Stage, StageSummary
from hits.projects.verbs import projects
from tests.hits import factories as make
from tests.hits.small_recipe import small_project, small_recipe
from tests.markup import squeezed as said

pytestmark = pytest.mark.django_db
State = ComputationRun.State
__all__ = ["small_recipe"]


@pytest.fixture
def project(small_recipe: str, alice: Any) -> Project:
    return small_project(alice)


def url(name: str, *more: Any) -> str:
    return reverse(name, args=["small", *more])


def given(**values: Any) -> dict[str, str]:
    """The form of the computation, filled."""
    return {f"words-{name}": str(value) for name, value in params(**values).items()}


def params(**values: Any) -> dict[str, Any]:
    return {"times": 1, "crash_at": -1, "fail_at": -1, "stop_at": -1, "model": "plain", **values}


def test_what_the_recipe_computes_can_be_started_with_other_parameters(
    lead_client: Client, project: Project, eager: None
) -> None:
    page = said(lead_client.get(url("computations")))
    assert "Counts the words of each query." in page and "Count each word (times)" in page
    reply = lead_client.post(url("start-computation", "words"), given(times=2), follow=True)
    text = said(reply)
    assert "3 items with a result" in text and "times: 2" in text
    # What just counts tells how the steps are called, and is no line of its own.
    assert "Loss over 3 reads: first 1, last 0.333." in text and "<span>read 3</span>" in text
    assert "Read over" not in text and "Share of words that were wrong." in text
    # What is no number has no line, and stands in the log.
    assert (
        "Said over" not in text
        and '<td class="num" data-label="Loss">0.3333</td>' in text
        and Item.objects.first().key in text
    )
    run = ComputationRun.objects.get()
    page = said(lead_client.get(url("computation-results", run.pk)))
    assert '<th scope="col">Words</th>' in page and "<div>10</div>" in page and "<div>10 as text</div>" in page
    assert "Done" in said(lead_client.get(url("computations")))


def test_a_wrong_parameter_stands_at_its_field_and_starts_nothing(lead_client: Client, project: Project) -> None:
    reply = lead_client.post(url("start-computation", "words"), given(times="often"))
    assert reply.status_code == 400
    assert "Enter a whole number" in said(reply)
    assert not ComputationRun.objects.exists()
    assert lead_client.post(url("start-computation", "nothing")).status_code == 404


def test_a_run_under_way_shows_how_far_it_is_and_stops(lead_client: Client, project: Project) -> None:
    run = make.computation_run(project, state=State.RUNNING, done=1, total=4)
    text = said(lead_client.get(url("computation-progress", run.pk)))
    assert "1 of 4 done" in text and "every 2s" in text
    assert "A run is under way" in said(lead_client.get(url("computations")))
    refused = said(lead_client.post(url("start-computation", "words"), given(), follow=True))
    assert "It is running already" in refused
    assert "Somebody stopped it" in said(lead_client.post(url("stop-computation", run.pk), follow=True))
    run.refresh_from_db()
    assert run.state == State.STOPPED


def test_a_failed_run_says_why(lead_client: Client, project: Project) -> None:
    run = make.computation_run(project, state=State.FAILED, error="the <i>text</i> is empty")
    assert "It failed: the &lt;i&gt;text&lt;/i&gt; is empty" in said(lead_client.get(url("computation", run.pk)))


def test_a_run_of_another_project_is_not_found(lead_client: Client, project: Project, alice: Any) -> None:
    other = make.computation_run(make.project(owner=alice))
    for name in ("computation", "computation-progress", "computation-results"):
        assert lead_client.get(url(name, other.pk)).status_code == 404
    assert lead_client.post(url("stop-computation", other.pk)).status_code == 404


def test_the_project_s_page_offers_what_its_recipe_has(lead_client: Client, project: Project, alice: Any) -> None:
    assert url("computations") in said(lead_client.get(url("project")))
    record = make.project(owner=alice)
    page = said(lead_client.get(reverse("project", args=[record.slug])))
    assert reverse("computations", args=[record.slug]) not in page
    assert reverse("options", args=[record.slug]) in page


def test_a_draw_says_how_many_there_are_and_makes_them(lead_client: Client, project: Project) -> None:
    address = url("draw", "sample")
    text = said(lead_client.get(address))
    assert "<dt>Items to sample from</dt><dd>2</dd>" in text and 'value="2"' in text
    sample = project.stages.get(key="sample")
    Stage.objects.filter(pk=sample.pk).update(draws=1_000_000)
    assert 'value="2"' in said(lead_client.get(address))
    assert not sample.items.exists()
    assert "2 new items sampled" in said(lead_client.post(address, {"items": "500"}, follow=True))
    assert sample.items.count() == 2
    assert "<dt>Of them not in this stage yet</dt><dd>0</dd>" in said(lead_client.get(address))
    assert "These items are here already" in said(lead_client.post(address, {"items": "2"}, follow=True))
    assert lead_client.post(address, {"items": "0"}).status_code == 400


def test_a_draw_of_nothing_says_which_stages_or_which_computation_it_waits_for(lead_client: Client, alice: Any) -> None:
    made = projects.create_project("Stories", "mcscript", Decimal("5.00"), "lab@example.org", alice)

    def page(name: str, *more: Any) -> str:
        return said(lead_client.get(reverse(name, args=[made.slug, *more])))

    computations, draw = reverse("computations", args=[made.slug]), reverse("draw", args=[made.slug, "answers"])
    for shown in (page("draw", "answers"), page("stage", "answers")):
        assert "Nothing has come through" in shown and "“Questions about things, long texts”</a>" in shown
        assert computations not in shown.partition("<main")[2]
    assert f'<a class="button primary" href="{draw}"' not in page("stage", "answers")
    start = reverse("start-computation", args=[made.slug, "select"])
    assert start not in page("computations") and "Nothing has come through" in page("computations")

    StageSummary.objects.filter(stage__project=made, stage__key__in=("np-long", "answers")).update(answers=1)
    assert f'<a class="button primary" href="{draw}"' in page("stage", "answers")
    assert "Nothing has come through" not in page("draw", "answers")
    assert start in page("computations")
    for shown in (page("draw", "review"), page("stage", "human-1")):
        assert f'The computation <a href="{computations}">“Answers”</a> has to be run first.' in shown


def test_a_draw_of_a_recipe_that_does_not_say_what_it_needs_finds_nothing(
    lead_client: Client, project: Project
) -> None:
    Item.objects.update(state="dropped")
    assert "There is nothing to sample yet." in said(lead_client.get(url("draw", "sample")))


def test_a_stage_that_draws_says_so_among_its_pages(lead_client: Client, project: Project) -> None:
    assert url("draw", "sample") in said(lead_client.get(url("stage", "sample")))
    assert url("draw", "judge") not in said(lead_client.get(url("stage", "judge")))
    assert "not by a sample" in said(lead_client.get(url("draw", "judge")))


def test_options_are_tried_by_looking_and_saved_by_the_button(lead_client: Client, project: Project) -> None:
    own = said(lead_client.get(url("options-split")))
    page = said(lead_client.get(url("options")))
    assert "Least written (sentences)" in page and "so many sentences or more is among the best. Paper: 20 (s" in page
    assert "1 of 1" in own and '<span class="chip good">best</span>' in own and "20.8 to 93.9 %" in own
    other = {"best_written": "4", "best_kept_share": "0.5"}
    typed = said(lead_client.get(url("options-split"), other))
    assert "lower the thresholds" in typed and "best</span>" not in typed
    assert "lower the thresholds" in said(lead_client.get(url("options"), other))
    project.refresh_from_db()
    assert project.options["best_written"] == 3
    assert "Saved. The first release" in said(lead_client.post(url("options"), other, follow=True))
    project.refresh_from_db()
    assert project.options == {"best_written": 4, "best_kept_share": 0.5}


def test_every_wrong_option_stands_at_its_field_and_nothing_is_saved(lead_client: Client, project: Project) -> None:
    make.release(project, number=1)
    reply = lead_client.post(url("options"), {"best_written": "many", "best_kept_share": "1.5"})
    assert reply.status_code == 400
    assert "Enter a whole number" in said(reply) and "must lie between 0 and 1" in said(reply)
    assert "Release 1 stays as it is" in said(reply)
    assert lead_client.get(url("options"), {"best_written": "x"}).status_code == 400
    assert "Best kept share" in said(
        lead_client.get(url("options-split"), {"best_kept_share": "7", "best_written": "1"})
    )
    project.refresh_from_db()
    assert project.options == {"best_written": 3, "best_kept_share": 0.5}


def test_a_stopped_run_goes_on_by_a_button(lead_client: Client, project: Project, eager: None) -> None:
    run = make.computation_run(project, state=State.STOPPED, checkpoint={"step": 1}, params=params(), log=[])
    text = said(lead_client.get(url("computation", run.pk)))
    assert "Go on where it was" in text and url("resume-computation", run.pk) in text
    text = said(lead_client.post(url("resume-computation", run.pk), follow=True))
    assert "2 items with a result" in text and "Go on" not in text
    assert "goes on, once it was stopped or failed" in said(
        lead_client.post(url("resume-computation", run.pk), follow=True)
    )
    failed = make.computation_run(project, state=State.FAILED, error="no room", params=params())
    assert "Try it again" in said(lead_client.get(url("computation", failed.pk)))


def test_a_run_that_is_not_done_shows_no_results(lead_client: Client, project: Project) -> None:
    run = make.computation_run(project, state=State.STOPPED)
    run.results.create(item=Item.objects.first(), data={"words": 4, "by": {}})
    assert "No result here" in said(lead_client.get(url("computation-results", run.pk)))


def test_a_model_is_chosen_from_a_list_and_another_one_is_refused(lead_client: Client, project: Project) -> None:
    page = said(lead_client.get(url("computations")))
    assert '<select name="words-model"' in page and '<option value="stems">words without endings</option>' in page
    reply = lead_client.post(url("start-computation", "words"), given(model="imported"))
    assert reply.status_code == 400 and not ComputationRun.objects.exists()


def outside(prefix: str, **values: Any) -> dict[str, Any]:
    params = {"times": 1, "crash_at": -1, "fail_at": -1, "stop_at": -1, **values}
    return {f"{prefix}-{name}": str(value) for name, value in params.items()}


def test_files_for_a_model_elsewhere_are_downloaded_and_its_answers_are_sent_in(
    lead_client: Client, project: Project, eager: None
) -> None:
    assert url("computation-outside", "words") in said(lead_client.get(url("computations")))
    page = said(lead_client.get(url("computation-outside", "words")))
    assert "A file for each item." in page and "A number for each item, by its key." in page
    assert "files-times" in page and "files-model" not in page
    reply = lead_client.get(url("computation-files", "words"), outside("files", times=2))
    packed = b"".join(reply.streaming_content)
    archive = zipfile.ZipFile(io.BytesIO(packed))
    assert reply["Content-Disposition"] == 'attachment; filename="small-words.zip"'
    assert archive.namelist() == ["0.json", "1.json", "2.json"]
    keys = project.stages.get(key="judge").items.values_list("key", flat=True)
    file = SimpleUploadedFile("out.json", json.dumps(dict.fromkeys(keys, 8)).encode())
    text = said(lead_client.post(url("import-computation", "words"), {**outside("answers"), "file": file}, follow=True))
    assert "3 items with a result" in text and "model: imported" in text and "file: out.json" in text


def test_a_file_with_faults_is_refused_on_its_run_s_page(lead_client: Client, project: Project, eager: None) -> None:
    file = SimpleUploadedFile("out.json", b'{"<x>": 1}')
    text = said(lead_client.post(url("import-computation", "words"), {**outside("answers"), "file": file}, follow=True))
    assert "nothing was imported" in text and "&lt;x&gt;: is no item here" in text and text.count("has no answer") == 3
    assert "Go on" not in text and "Try it again" not in text
    assert f'<a href="{url("computation-outside", "words")}">Send in another file</a>' in text


def test_wrong_values_for_a_model_elsewhere_stand_at_their_fields(lead_client: Client, project: Project) -> None:
    reply = lead_client.get(url("computation-files", "words"), outside("files", times="often"))
    assert reply.status_code == 400 and "Enter a whole number" in said(reply)
    refused = lead_client.get(url("computation-files", "words"), outside("files", times=0))
    assert refused.status_code == 409 and "times must be 1 or more" in said(refused)
    sent = lead_client.post(url("import-computation", "words"), outside("answers"))
    assert sent.status_code == 400 and "This field is required" in said(sent)
    empty = {**outside("answers", times=0), "file": SimpleUploadedFile("out.json", b"{}")}
    assert lead_client.post(url("import-computation", "words"), empty).status_code == 409
    assert lead_client.get(url("computation-outside", "nothing")).status_code == 404
    assert not ComputationRun.objects.exists()
