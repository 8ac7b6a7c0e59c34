"""Media from the archive to the page of a worker: kept, named by rows, served by ranges, copied and deleted."""

from __future__ import annotations

import io
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection, connections, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from hits import tasks
from hits.core.models.blobs import BlobChunk
from hits.items.rules import media
from hits.items.verbs import importing, media_files
from hits.models import Blob, Hit, Item, MediaFile, Project, Stage, Upload
from hits.projects.rules.archived import ArchivedError
from hits.projects.verbs import archiving, project_files, projects
from hits.releases.verbs import releasing
from hits.stages.verbs import task_settings
from tests.hits import factories as make
from tests.hits import samples_of_media as sample
from tests.hits.doing import refused
from tests.hits.jobs import jobs_run_here

pytestmark = pytest.mark.django_db
FORM = {
    "show": [{"kind": "image", "column": "picture", "description": "A picture"}],
    "ask": [{"kind": "one", "key": "wet", "question": "Is it wet?", "choices": ["Yes", "No"]}],
}
CAT, DOG = sample.png(40, 30), sample.png(30, 40)


@pytest.fixture
def stage(lead: Any) -> Stage:
    project = projects.create_project("Quay", "form", Decimal("5.00"), "lab@example.org", lead, seed=3)
    found = project.stages.get()
    task_settings.change_task(found, {"settings": {"form": FORM}}, None)
    return found


def bring(project: Project, files: dict[str, bytes]) -> Upload:
    upload = importing.create_media_upload(project, [("media.zip", io.BytesIO(sample.zipped(files)))], None)
    importing.import_upload(upload.pk)
    upload.refresh_from_db()
    return upload


def rows(stage: Stage, *values: str) -> Upload:
    table = "id,picture\n" + "".join(f'r{n},"{value}"\n' for n, value in enumerate(values))
    upload = importing.create_upload(stage.project, "rows.csv", table.encode(), "public", None)
    importing.import_upload(upload.pk)
    upload.refresh_from_db()
    return upload


def messages(upload: Upload) -> list[str]:
    return [fault["message"] for fault in upload.faults]


@pytest.mark.on_postgresql
def test_files_are_kept_and_the_archive_goes(stage: Stage) -> None:
    upload = bring(stage.project, {"images/cat.png": CAT, "bell.wav": sample.wav()})
    assert (upload.state, upload.items, upload.done) == ("done", 2, 2)
    cat = stage.project.media.get(name="images/cat.png")
    assert (cat.base, cat.content_type, cat.width, cat.height) == ("cat.png", "image/png", 40, 30)
    assert cat.blob.read() == CAT
    assert not upload.blob.chunks.exists()
    assert upload.blob.size > 0


def test_only_what_gets_smaller_by_it_is_compressed(stage: Stage) -> None:
    """Compressing a long video would hold up other writers for nothing."""
    bring(stage.project, {"cat.png": CAT + bytes(100_000), "bell.wav": sample.wav() + bytes(100_000)})
    kept = {file.name: len(file.blob.chunks.get().content) for file in stage.project.media.all()}
    assert kept["cat.png"] > 100_000 > 10 * kept["bell.wav"]
    assert stage.project.media.get(name="cat.png").blob.read() == CAT + bytes(100_000)


def test_with_one_fault_nothing_is_stored_and_nothing_of_the_archive_stays(stage: Stage) -> None:
    upload = bring(
        stage.project, {"cat.png": CAT, "notes.txt": b"text", "sly.svg": sample.SVG.replace(b"rect", b"script")}
    )
    assert upload.state == "refused"
    assert [fault["place"] for fault in upload.faults] == ["notes.txt", "sly.svg"]
    assert not MediaFile.objects.exists()
    assert not BlobChunk.objects.exists()


def test_the_same_archive_again_changes_nothing_and_says_so(stage: Stage) -> None:
    bring(stage.project, {"cat.png": CAT})
    again = bring(stage.project, {"cat.png": CAT, "dog.png": DOG})
    assert (again.state, again.items) == ("done", 1)
    assert again.notes == ["1 of the files were there already, with the same content."]
    assert stage.project.media.count() == 2


def test_another_file_of_a_name_or_of_what_rows_call_one_is_refused(stage: Stage) -> None:
    bring(stage.project, {"images/cat.png": CAT})
    assert "other content" in messages(bring(stage.project, {"images/cat.png": DOG}))[0]
    assert "what rows may call images/cat.png" in messages(bring(stage.project, {"cat.png": DOG}))[0]
    assert bring(stage.project, {"more/cat.png": DOG}).state == "done"


def test_what_could_not_stand_in_one_folder_with_what_is_there_is_refused(stage: Stage) -> None:
    bring(stage.project, {"a/cat.png": CAT, "b/x/dog.png": CAT, "b/x/cow.png": CAT})
    upload = bring(stage.project, {"A/Cat.png": CAT, "B": CAT, "b2/dog.png": CAT})
    assert [(fault["place"], fault["message"]) for fault in upload.faults] == [
        ("A/Cat.png", "differs from a/cat.png, which is there, in capital letters alone: rename it"),
        ("B", "has the name of a folder that is there: rename it"),
    ]
    (message,) = messages(bring(stage.project, {"a/CAT.png/owl.png": CAT}))
    assert message == "stands in a folder of the name of a/cat.png, which is a file: rename the folder"
    assert stage.project.media.count() == 3


def test_an_svg_in_an_unknown_encoding_is_refused_at_the_first_attempt(stage: Stage) -> None:
    upload = bring(stage.project, {"a.svg": b'<?xml version="1.0" encoding="foo"?>' + sample.SVG})
    assert (upload.state, upload.attempts) == ("refused", 1)


def test_a_project_that_is_archived_while_its_media_are_kept_takes_none(stage: Stage, archived_meanwhile: None) -> None:
    with pytest.raises(ArchivedError):
        importing.create_media_upload(stage.project, [("cat.png", io.BytesIO(CAT))], None)
    with pytest.raises(ArchivedError):
        importing.create_upload(stage.project, "rows.csv", b"id,picture\nr1,cat.png\n", "public", None)
    assert not Upload.objects.exists()
    assert not BlobChunk.objects.exists()


@pytest.fixture
def archived_meanwhile(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """The project, once the bytes of a file are kept."""
    store = Blob.store_stream.__func__  # type: ignore[attr-defined]

    def archiving_too(cls: type[Blob], stream: Any, **options: Any) -> Blob:
        kept: Blob = store(cls, stream, **options)
        archiving.archive(stage.project, None)
        return kept

    monkeypatch.setattr(Blob, "store_stream", classmethod(archiving_too))


def test_an_upload_of_an_archived_project_fails_and_leaves_nothing(stage: Stage) -> None:
    upload = importing.create_media_upload(stage.project, [("cat.png", io.BytesIO(CAT))], None)
    Project.objects.update(archived_at=make.NOON)
    assert importing.import_upload(upload.pk) == 0
    upload.refresh_from_db()
    assert (upload.state, upload.error) == ("failed", importing.ARCHIVED)
    assert not BlobChunk.objects.exists()


def test_a_table_whose_columns_are_confirmed_after_archiving_is_not_imported(stage: Stage) -> None:
    upload = importing.create_upload(stage.project, "rows.csv", b"id,picture\nr1,a\n", "public", None, ask=True)
    assert upload.state == "mapping"
    archiving.archive(stage.project, None)
    with pytest.raises(ArchivedError):
        importing.confirm_mapping(upload, [("id", "id")])
    upload.refresh_from_db()
    assert upload.state == "mapping"


@pytest.mark.on_postgresql
@pytest.mark.django_db(transaction=True)
def test_bytes_that_two_projects_delete_at_once_go(stage: Stage) -> None:
    bring(stage.project, {"cat.png": CAT})
    other = make.project()
    with transaction.atomic():
        media.copy(stage.project, other)
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            media_files.delete_media(stage.project, ["cat.png"], None)
            second = pool.submit(media_files.delete_media, other, ["cat.png"], None)
            wait([second], 0.5)
        assert second.result(60) == ["cat.png"]
        pool.submit(connections.close_all).result(60)
    assert not MediaFile.objects.exists()
    assert not BlobChunk.objects.exists()


def test_rows_name_files_by_the_whole_name_or_its_end(stage: Stage) -> None:
    bring(stage.project, {"all/images/cat.png": CAT, "caf\u00e9.png": DOG})
    upload = rows(stage, "all/images/cat.png", "images/cat.png", "cat.png", "./cat.png", "cafe\u0301.png")
    assert (upload.state, upload.items) == ("done", 5)


def test_rows_that_name_what_is_not_there_are_refused_with_the_reason(stage: Stage) -> None:
    bring(stage.project, {"a/cat.png": CAT, "b/cat.png": DOG, "bell.wav": sample.wav()})
    upload = rows(
        stage, "fish.png", "cat.png", "bell.wav", "https://10.0.0.8/cat.png", "https://nas.local/cat.png", "at.png"
    )
    assert upload.state == "refused"
    assert not Item.objects.exists()
    assert [message.removeprefix("The column 'picture' ") for message in messages(upload)] == [
        "holds no address of this kind: 'fish.png' does not begin with https://, and no uploaded file has this name.",
        "names 'cat.png', which can mean a/cat.png or b/cat.png: write the folder too.",
        "names 'bell.wav', which is a sound: show it as such.",
        "holds no address of this kind: 'https://10.0.0.8/cat.png' is not on a public host that has a name.",
        "holds no address of this kind: 'https://nas.local/cat.png' is not on a public host that has a name.",
        "holds no address of this kind: 'at.png' does not begin with https://, and no uploaded file has this name.",
    ]


def test_files_of_another_project_are_not_there(stage: Stage) -> None:
    bring(make.project(), {"cat.png": CAT})
    assert rows(stage, "cat.png").state == "refused"


def test_the_names_of_many_rows_take_a_few_queries(stage: Stage, lead: Any) -> None:
    bring(stage.project, {f"{n}.png": CAT for n in range(300)})
    elsewhere = projects.create_project("Pier", "form", Decimal("5.00"), "lab@example.org", lead, seed=3).stages.get()
    task_settings.change_task(elsewhere, {"settings": {"form": FORM}}, None)
    with CaptureQueriesContext(connection) as of_addresses:
        assert rows(elsewhere, *(f"https://pictures.example.org/{n}.png" for n in range(3000))).items == 3000
    with CaptureQueriesContext(connection) as of_names:
        assert rows(stage, *(f"{n % 300}.png" for n in range(3000))).items == 3000
    assert len(of_names) <= len(of_addresses) + 5, "A few for each thousand rows, beside those that store the rows."


def page_of(stage: Stage, client: Client) -> str:
    hit = make.hit(stage.items.order_by("pk").first())
    from tests.hits.task_page import address

    response = client.get(address(hit))
    assert response.status_code == 200
    return response.content.decode()


def test_the_page_of_a_worker_shows_the_file_with_its_size(stage: Stage, client: Client) -> None:
    bring(stage.project, {"images/cat.png": CAT})
    rows(stage, "cat.png")
    page = page_of(stage, client)
    address = media.address_of(stage.project.media.get())
    assert f'src="{address}"' in page
    assert 'width="40" height="30" decoding="async"' in page
    assert b"".join(client.get(address)) == CAT


def test_the_address_of_a_file_cannot_be_guessed_or_changed(stage: Stage, client: Client) -> None:
    bring(stage.project, {"cat.png": CAT, "dog.png": DOG})
    cat, dog = stage.project.media.order_by("name")
    address = media.address_of(cat)
    other = address.replace(f"/{cat.pk}:", f"/{dog.pk}:").replace("cat.png", "dog.png")
    wrong = [other, address.replace("cat.png", "dog.png"), f"/media/{cat.pk}/cat.png", address[:-9] + "x/cat.png"]
    assert [client.get(one).status_code for one in wrong] == [404] * 4
    assert client.post(address).status_code == 405


def test_a_form_with_a_video_of_elsewhere_and_an_uploaded_sound_may_load_both(stage: Stage, client: Client) -> None:
    show = [
        {"kind": "audio", "column": "picture", "description": "A bell"},
        {"kind": "video", "column": "film", "description": "A film"},
    ]
    task_settings.change_task(stage, {"settings": {"form": {**FORM, "show": show}}}, None)
    bring(stage.project, {"bell.wav": sample.wav()})
    table = b"id,picture,film\nr1,bell.wav,https://films.example.org/a.webm\n"
    upload = importing.create_upload(stage.project, "rows.csv", table, "public", None)
    importing.import_upload(upload.pk)
    from tests.hits.task_page import address

    policy = client.get(address(make.hit(stage.items.get()))).headers["Content-Security-Policy"]
    (sources,) = [part for part in policy.split("; ") if part.startswith("media-src")]
    assert set(sources.split()[1:]) == {"'self'", "https://films.example.org"}


def test_what_a_published_item_shows_stays_the_same_when_another_file_of_the_name_comes(stage: Stage) -> None:
    bring(stage.project, {"a/cat.png": CAT})
    rows(stage, "cat.png")
    bring(stage.project, {"b/cat.png": DOG})
    item = stage.items.get()
    (found,) = media.with_media(*_asked(stage, item))
    assert found["media"]["cat.png"]["address"] == media.address_of(stage.project.media.get(name="a/cat.png"))


def _asked(stage: Stage, item: Item) -> tuple[Any, int, list[Any], Any]:
    from hits.projects.rules.plugins import protocol_of, settings_of

    return protocol_of(stage), stage.project_id, [(item.document.data, item.data)], settings_of(stage)


@pytest.mark.on_postgresql
def test_files_that_published_items_show_stay_and_others_go_with_their_bytes(stage: Stage) -> None:
    bring(stage.project, {"a/cat.png": CAT, "dog.png": DOG, "c.png": sample.png(3, 3)})
    rows(stage, "cat.png", "dog.png")
    make.hit(stage.items.get(key="r0"))
    with refused("media_in_use", match=r"show a/cat\.png\. What"):
        media_files.delete_media(stage.project, ["a/cat.png", "c.png"], None)
    assert stage.project.media.count() == 3
    media_files.delete_media(stage.project, ["dog.png", "c.png"], None)
    assert [file.name for file in stage.project.media.all()] == ["a/cat.png"]
    assert not Blob.objects.filter(size=len(DOG)).exists()
    assert stage.project.actions.get(verb="deleted media").detail == {"names": ["c.png", "dog.png"], "files": 2}


def test_what_a_hit_that_was_closed_early_has_shown_stays(stage: Stage) -> None:
    """Its items are to be published again, and answers to it count."""
    bring(stage.project, {"cat.png": CAT, "dog.png": DOG})
    rows(stage, "cat.png", "dog.png")
    make.hit_about(list(stage.items.order_by("pk")), state=Hit.State.CLOSED)
    assert not stage.items.exclude(state=Item.State.NEW).exists()
    for name in ("cat.png", "dog.png"):
        with refused("media_in_use"):
            media_files.delete_media(stage.project, [name], None)
    assert [file["name"] for file in releasing.media_of(stage.project)] == ["cat.png", "dog.png"]


def test_a_waiting_item_whose_file_is_gone_is_not_published(stage: Stage) -> None:
    from hits.publishing.verbs import publishing

    bring(stage.project, {"cat.png": CAT})
    rows(stage, "cat.png")
    assert publishing.quote(stage).problems == []
    media_files.delete_media(stage.project, ["cat.png"], None)
    (problem,) = publishing.quote(stage).problems
    assert "no uploaded file has this name" in problem


def test_a_file_that_is_not_there_is_not_deleted_and_an_archived_project_deletes_none(stage: Stage) -> None:
    bring(stage.project, {"cat.png": CAT})
    with refused("no_such_media", match=r"fish\.png"):
        media_files.delete_media(stage.project, ["cat.png", "fish.png"], None)
    archiving.archive(stage.project, None)
    with pytest.raises(ArchivedError):
        media_files.delete_media(stage.project, ["cat.png"], None)
    assert stage.project.media.count() == 1


@pytest.mark.on_postgresql
def test_a_clone_with_items_shares_the_bytes_which_go_with_the_last_of_them(stage: Stage, lead: Any) -> None:
    bring(stage.project, {"images/cat.png": CAT})
    rows(stage, "cat.png")
    made = project_files.clone(stage.project, "Quay again", Decimal("5.00"), lead, items=True)
    (copy,) = made.media.ready()
    assert (copy.name, copy.width, copy.blob) == ("images/cat.png", 40, stage.project.media.get().blob)
    media_files.delete_media(stage.project, ["images/cat.png"], None)
    assert copy.blob.read() == CAT
    media_files.delete_media(made, ["images/cat.png"], None)
    assert not Blob.objects.filter(pk=copy.blob_id).exists()
    assert not project_files.clone(made, "Quay alone", Decimal("5.00"), lead).media.exists()


def test_a_stopped_import_leaves_nothing(stage: Stage) -> None:
    files = {f"{n}.png": sample.png(n + 1, 3) for n in range(5)}
    upload = importing.create_media_upload(stage.project, [("m.zip", io.BytesIO(sample.zipped(files)))], None)
    assert importing.stop(upload)
    assert not BlobChunk.objects.exists()
    assert importing.import_upload(upload.pk) == 0
    assert not MediaFile.objects.exists()


class _Crash(Exception):
    pass


@pytest.fixture
def crashing(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The third file of an archive is not stored: the process is gone."""
    store, calls = Blob.store_stream.__func__, []  # type: ignore[attr-defined]

    def failing(cls: type[Blob], stream: Any, **options: Any) -> Blob:
        calls.append(stream)
        if len(calls) == 3:
            raise _Crash
        return store(cls, stream, **options)

    monkeypatch.setattr(Blob, "store_stream", classmethod(failing))
    yield


def test_after_a_crash_nothing_is_seen_until_the_import_went_through_once(stage: Stage, request: Any) -> None:
    files = {f"{n}.png": sample.png(n + 1, 3) for n in range(5)}
    upload = importing.create_media_upload(stage.project, [("m.zip", io.BytesIO(sample.zipped(files)))], None)
    request.getfixturevalue("crashing")
    with pytest.raises(_Crash):
        importing.import_upload(upload.pk)
    assert MediaFile.objects.count() == 2
    assert not MediaFile.objects.ready().exists()
    assert upload.pk in importing.unfinished()
    importing.import_upload(upload.pk)
    assert MediaFile.objects.ready().count() == 5
    assert BlobChunk.objects.count() == 5


def together(stage: Stage, files: dict[str, bytes], value: str) -> Upload:
    table = f"id,picture\nr1,{value}\n".encode()
    given = [("m.zip", io.BytesIO(sample.zipped(files)))]
    return importing.create_upload(stage.project, "rows.csv", table, "public", None, media_files=given)


def test_rows_that_come_with_media_wait_for_them(stage: Stage) -> None:
    upload = together(stage, {"cat.png": CAT}, "cat.png")
    assert importing.import_upload(upload.pk) == 0
    upload.refresh_from_db()
    assert upload.state == "queued"
    with jobs_run_here():
        tasks.import_upload(upload.media_id)
    upload.refresh_from_db()
    assert (upload.state, upload.items) == ("done", 1)


def test_rows_that_came_with_refused_media_fail_with_the_reason(stage: Stage) -> None:
    upload = together(stage, {"cat.png": b"no picture"}, "cat.png")
    with jobs_run_here():
        tasks.import_upload(upload.media_id)
    upload.refresh_from_db()
    assert upload.state == "failed"
    assert upload.error == "The media that came with it, m.zip, were not taken. Send both again."


def test_more_media_than_are_taken_at_once_are_not_kept(stage: Stage, settings: Any) -> None:
    settings.MAX_MEDIA_BYTES = 100
    with refused("upload_refused", match="MB are taken at once"):
        importing.create_media_upload(stage.project, [("m.zip", io.BytesIO(b"x" * 101))], None)
    with refused("upload_refused", match="empty"):
        importing.create_media_upload(stage.project, [], None)
    assert not Upload.objects.exists()


def test_the_manifest_of_a_release_names_the_media_of_published_items(stage: Stage) -> None:
    bring(stage.project, {"images/cat.png": CAT, "dog.png": DOG})
    rows(stage, "cat.png")
    assert releasing.media_of(stage.project) == []
    make.hit(stage.items.get())
    (told,) = releasing.media_of(stage.project)
    assert (told["name"], told["bytes"], told["type"]) == ("images/cat.png", len(CAT), "image/png")
