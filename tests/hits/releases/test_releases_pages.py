"""Previewing, making and downloading releases."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from decimal import Decimal
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from hits import tasks
from hits.judging.rules import summaries
from hits.models import Item, Project, Release
from hits.projects.verbs.projects import create_project
from hits.recipes.source import ReleaseContent
from hits.releases.pages import releases
from hits.releases.verbs import releasing
from tests.hits import factories as make
from tests.hits.world import World
from tests.markup import squeezed

pytestmark = pytest.mark.django_db


@pytest.fixture
def project(alice: Any) -> Project:
    made = create_project("Ferry", "record", Decimal("10"), "lab@example.org", alice, seed=1)
    for _ in range(4):
        make.item(made.stages.get(position=1), state=Item.State.KEPT)
    return made


def _address(name: str, project: Project, *more: Any) -> str:
    return reverse(name, args=[project.slug, *more])


def test_the_preview_counts_splits_and_shows_the_statistics(project: Project, lead_client: Client) -> None:
    text = lead_client.get(_address("release-preview", project)).content.decode()
    for said in ("train", "dev", "test", "Unique passages", "Tokens a query"):
        assert said in text
    assert not Release.objects.exists()


def test_the_preview_shows_what_another_recipe_measures(lead_client: Client, alice: Any, monkeypatch: Any) -> None:
    measured = {"overall": {"unanswerable_share": 0.25, "own_measure": 7}}
    content = ReleaseContent({}, {"train": 3}, statistics=measured)
    monkeypatch.setattr(releasing, "_build", lambda project: content)
    made = create_project("Sets", "cosmos", Decimal("10"), "lab@example.org", alice, seed=1)
    text = squeezed(lead_client.get(_address("release-preview", made)))
    for row in (
        'Share that is unanswerable</th><td class="n">0.25',
        'Own measure</th><td class="n">7',
    ):
        assert row in text
    assert "Queries" not in text


def test_the_accuracy_on_gold_items_names_its_stage_by_its_title(project: Project, lead_client: Client) -> None:
    scores = {"n": 4, "accuracy": 75.0, "answers": 8, "majority": 75.0, "ties": 0}
    stage = project.stages.get(position=1)
    make.figures(stage, scores=scores)
    text = lead_client.get(_address("release-preview", project)).content.decode()
    assert f"Accuracy on gold items: {stage.title}<" in text and stage.title != stage.key


def test_htmx_gets_the_preview_as_a_part(project: Project, lead_client: Client) -> None:
    part = lead_client.get(_address("release-preview", project), headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in part
    assert "Statistics" in part


def test_making_a_release_shows_its_files_and_sums(project: Project, lead_client: Client) -> None:
    reply = lead_client.post(_address("make-release", project), follow=True)
    text = reply.content.decode()
    assert "Release 1" in text
    for file in Release.objects.get().files.select_related("blob"):
        assert file.name in text
        assert file.blob.sha256 in text


def test_releasing_again_says_that_nothing_changed(project: Project, lead_client: Client) -> None:
    lead_client.post(_address("make-release", project))
    reply = lead_client.post(_address("make-release", project), follow=True)
    assert "Nothing changed since release 1" in reply.content.decode()
    assert Release.objects.count() == 1


@pytest.mark.parametrize(
    ("figures", "why"),
    [
        ({}, "no item is here. Import a file"),
        ({"items": 9, "waiting": 4, "published": 5}, "4 of 9 items of “Validation” are not published. Publish them."),
        ({"items": 9, "published": 9, "open": 9, "to_review": 2}, "2 answers in “Validation” wait for review. Approve"),
        ({"items": 9, "published": 9, "open": 9}, "9 items of “Validation” wait for answers."),
        ({"items": 9, "published": 9, "dropped": 9}, "the rule of “Validation” dropped all 9 items. Look at its rule."),
    ],
)
def test_where_nothing_is_kept_there_is_no_button_and_page_and_verb_say_why(
    lead_client: Client, project: Project, figures: dict[str, int], why: str
) -> None:
    Item.objects.update(state=Item.State.NEW)
    make.figures(project.stages.get(position=1), **{"items": 0, **figures})
    text = lead_client.get(_address("release-preview", project)).content.decode()
    assert f"There is nothing to release: {why}" in text and "Make release" not in text
    assert "#import" in text if not figures else "To the stages" in text
    assert "Statistics" not in text and 'class="note' not in text and "How it was collected" not in text
    reply = lead_client.post(_address("make-release", project), follow=True)
    assert f"There is nothing to release: {why}" in reply.content.decode()
    assert not Release.objects.exists()


def test_a_large_project_without_a_verdict_is_refused_at_once(
    project: Project, lead_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks.make_release, "delay", lambda *arguments: pytest.fail("was asked for"))
    make.figures(project.stages.get(position=2), items=releases.SMALL + 1, waiting=releases.SMALL + 1)
    reply = lead_client.post(_address("make-release", project), follow=True)
    assert "20,001 of 20,001 items of “Second validation” are not published" in reply.content.decode()


def test_a_large_release_is_made_in_the_background(
    project: Project, lead_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[Any, ...]] = []
    monkeypatch.setattr(tasks.make_release, "delay", lambda *arguments: asked.append(arguments))
    make.figures(project.stages.get(position=2), items=releases.SMALL + 1, kept=1)
    lead_client.post(_address("make-release", project))
    assert [pk for pk, _ in asked] == [project.pk]
    assert not Release.objects.exists()


def test_only_what_is_small_is_counted_whenever_somebody_looks(project: Project, lead_client: Client) -> None:
    address = _address("release-preview", project)
    assert f'hx-get="{address}"' in lead_client.get(_address("releases", project)).content.decode()
    make.figures(project.stages.get(position=2), items=releases.SMALL + 1)
    text = lead_client.get(_address("releases", project)).content.decode()
    assert "hx-get" not in text
    assert f'href="{address}"' in text


def test_making_a_release_builds_its_content_once(
    project: Project, lead_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[Project] = []
    real = releasing._build
    monkeypatch.setattr(releasing, "_build", lambda of: built.append(of) or real(of))
    lead_client.post(_address("make-release", project), follow=True)
    assert built == [project]


def test_a_downloaded_file_has_the_bytes_of_its_sum(project: Project, lead_client: Client) -> None:
    lead_client.post(_address("make-release", project))
    file = Release.objects.get().files.get(name="train.json")
    reply = lead_client.get(_address("release-file", project, 1, "train.json"))
    content = b"".join(reply.streaming_content)
    assert hashlib.sha256(content).hexdigest() == file.blob.sha256
    assert reply.headers["Content-Length"] == str(len(content))
    assert reply.headers["Content-Disposition"] == 'attachment; filename="train.json"'


def test_a_chart_is_seen_on_the_page_of_its_release_and_nothing_in_it_may_run(
    project: Project, lead_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    chart = b'<svg xmlns="http://www.w3.org/2000/svg"/>'
    content = ReleaseContent({"train.json": b"[]", "question-types.svg": chart}, {"train": 1})
    monkeypatch.setattr(releasing, "_build", lambda of: content)
    text = lead_client.post(_address("make-release", project), follow=True).content.decode()
    address = _address("release-file", project, 1, "question-types.svg")
    assert f'<img src="{address}?show"' in text and "Question types</figcaption>" in text
    shown = lead_client.get(f"{address}?show")
    assert b"".join(shown.streaming_content) == chart and shown.headers["Content-Type"] == "image/svg+xml"
    assert shown.headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert "Content-Disposition" in lead_client.get(address).headers
    kept = lead_client.get(_address("release-file", project, 1, "train.json") + "?show")
    assert kept.headers["Content-Type"] == "application/octet-stream" and "Content-Disposition" in kept.headers


def test_a_file_that_is_not_of_the_release_is_not_found(world: World, lead_client: Client) -> None:
    assert lead_client.get(_address("release-file", world.project, 1, "secret.json")).status_code == 404
    assert lead_client.get(_address("release-file", world.project, 2, "train.json")).status_code == 404


def test_the_page_of_a_release_scores_predictions_and_names_their_faults(lead_client: Client, alice: Any) -> None:
    project = make.project(owner=alice)
    text = {"text": "Ada met Bo.", "entities": [{"start": 0, "end": 2}]}
    asked = {"id": "q1", "query": "@placeholder left.", "answers": [{"start": 0, "end": 2, "text": "Ada"}]}
    key = {"version": "1.0", "data": [{"id": "d1", "source": "Ours", "passage": text, "qas": [asked]}]}
    make.release(project, files={"test-key.json": json.dumps(key).encode()})
    lead_client.force_login(alice)
    address = reverse("evaluate-release", args=[project.slug, 1])
    assert "Score predictions" in lead_client.get(reverse("release", args=[project.slug, 1])).content.decode()

    def scored(content: bytes) -> tuple[int, str]:
        reply = lead_client.post(address, {"predictions": SimpleUploadedFile("said.json", content)})
        return reply.status_code, reply.content.decode()

    status, page = scored(b'{"q1": "ada"}')
    assert status == 200 and "100.0 %" in page and "Nothing of it is kept" in page
    status, page = scored(b'{"q2": "ada"}')
    assert status == 400 and "is the id of no query of this file" in page and "has no answer" in page
    assert lead_client.post(address).status_code == 400
    keep = reverse("keep-system", args=[project.slug, 1])
    given = {"predictions": SimpleUploadedFile("said.json", b'{"q1": "Bo"}'), "file": "test-key.json"}
    assert lead_client.post(keep, given).status_code == 400
    given["predictions"].seek(0)
    assert "Kept as Always Bo" in lead_client.post(keep, given | {"name": "Always Bo"}).content.decode()
    page = scored(b'{"q1": "Ada"}')[1]
    assert '<td data-label="System">Always Bo</td>' in page and "+100.0 points compared with Always Bo" in page


def test_the_manifest_and_its_page_say_how_it_was_collected(lead_client: Client, alice: Any) -> None:
    project = create_project("Pier", "record", Decimal("10"), "lab@example.org", alice, seed=1)
    stage = project.stages.get(key="validate")
    states = [Item.State.KEPT] * 3 + [Item.State.DROPPED] * 2
    items = [make.item(stage, state=state) for state in states]
    make.item(stage, state=Item.State.DROPPED, conclusion="other name")
    people = [make.worker(), make.worker()]
    for number, item in enumerate(items[:4]):
        make.assignment(make.hit(item), worker=people[number % 2], seconds=[30, 36, 36, 90][number])
    make.block(stage, people[0])
    summaries.refresh_worker_stats(stage, [person.pk for person in people])
    summaries.refresh_summary(stage)
    made, _ = releasing.release(project, None)
    row = made.manifest["collection"][0]
    assert row == {
        "stage": "validate", "all_items": 6, "asked": 6, "answered": 0, "kept": 3, "dropped": 3,
        "dropped_by_reason": {"other name": 1, "by the rule": 2}, "withdrawn": 0, "open": 0, "answers": 4,
        "rejected_answers": 0, "workers": 2, "blocked_workers": 1, "median_seconds": 36.0, "reward": "0.04",
        "wage_an_hour": "3.60",
        "wage_note": "The median of 4 answers so far, 36 s, says little. "
        "The wage is that of 40 s an answer, as expected.",
    }  # fmt: skip
    lead_client.force_login(alice)
    page = lead_client.get(_address("release", project, 1)).content.decode()
    assert "How it was collected" in page and "other name 1, by the rule 2" in page and "$3.60" in page
    table, _, below = page[page.index("How it was collected</caption>") :].partition("</table>")
    assert "The median of 4 answers so far" not in table and "The median of 4 answers so far" in below


def test_a_withdrawn_release_says_so_on_its_page_and_in_the_list(project: Project, lead_client: Client) -> None:
    for _ in range(2):
        make.release(project)
    address = _address("releases.withdraw", project, 1)
    assert lead_client.post(address, {"reason": "", "successor": 2}).status_code == 400
    assert (
        "cannot be the successor" in lead_client.post(address, {"reason": "It leaked", "successor": 1}).content.decode()
    )
    page = lead_client.post(address, {"reason": "It leaked", "successor": 2}, follow=True).content.decode()
    assert "It leaked" in page and "State it anew" in page
    assert f'href="{_address("release", project, 2)}"' in page
    assert lead_client.get(_address("releases", project)).content.decode().count("(withdrawn)") == 1


def test_what_is_downloaded_to_publish_has_no_answers_of_test(project: Project, lead_client: Client) -> None:
    page = lead_client.post(_address("make-release", project), follow=True).content.decode()
    address = _address("release-archive", project, 1)
    assert f'href="{address}?without_keys"' in page and "The answers of test are apart from them" in page
    for query, keys in (("", 1), ("?without_keys", 0)):
        content = b"".join(lead_client.get(address + query).streaming_content)
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            assert sum("test-key" in name for name in archive.namelist()) == keys
