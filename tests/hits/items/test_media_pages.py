"""The page "Media", and media beside a table on the import's form."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from hits.items.rules.media import address_of
from hits.models import Item, Project, Upload
from hits.projects.verbs import archiving, projects
from hits.stages.verbs import task_settings
from tests.hits import factories as make
from tests.hits import samples_of_media as sample
from tests.hits.items.test_media import FORM

pytestmark = pytest.mark.django_db
CAT = sample.png(40, 30)


@pytest.fixture
def project(alice: Any, eager: None) -> Project:
    made = projects.create_project("Quay", "form", Decimal("5.00"), "lab@example.org", alice)
    task_settings.change_task(made.stages.get(), {"settings": {"form": FORM}}, alice)
    return made


def added(client: Client, project: Project, *files: tuple[str, bytes]) -> str:
    form = {"file": [SimpleUploadedFile(name, content) for name, content in files]}
    return client.post(reverse("add-media", args=[project.slug]), form, follow=True).content.decode()


def page(client: Client, project: Project) -> str:
    return client.get(reverse("media", args=[project.slug])).content.decode()


def test_a_project_without_media_says_what_they_are_for(lead_client: Client, project: Project) -> None:
    assert "None yet." in page(lead_client, project)


def test_a_zip_is_added_and_listed_with_types_and_sizes(lead_client: Client, project: Project) -> None:
    text = added(lead_client, project, ("m.zip", sample.zipped({"images/cat.png": CAT, "bell.wav": sample.wav(3)})))
    assert "2 new" in text
    text = page(lead_client, project)
    assert f'href="{address_of(project.media.get(base="cat.png"))}"' in text
    assert "40 × 30 px" in text and "24.0 kB" in text and "audio/wav" in text


def test_single_files_are_added_without_a_zip(lead_client: Client, project: Project) -> None:
    added(lead_client, project, ("cat.png", CAT), ("bell.wav", sample.wav()))
    assert [file.name for file in project.media.all()] == ["bell.wav", "cat.png"]


def test_a_wrong_file_is_named_with_the_reason_and_nothing_is_stored(lead_client: Client, project: Project) -> None:
    text = added(lead_client, project, ("m.zip", sample.zipped({"cat.png": CAT, "<b>.png": b"<html>"})))
    assert "1 fault. Nothing was imported." in text
    assert "&lt;b&gt;.png" in text and "is none of the files that are taken" in text and "<b>.png" not in text
    assert not project.media.exists()


def test_only_a_project_whose_tasks_show_media_offers_them(lead_client: Client, project: Project, alice: Any) -> None:
    texts = make.stage(make.project(owner=alice)).project
    pages = [lead_client.get(reverse("project", args=[one.slug])).content.decode() for one in (project, texts)]
    assert ["media_files" in text for text in pages] == [True, False]
    assert [reverse("media", args=[one.slug]) in text for one, text in zip((project, texts), pages, strict=True)] == [
        True,
        False,
    ]


def test_no_file_is_told_at_its_field(lead_client: Client, project: Project) -> None:
    reply = lead_client.post(reverse("add-media", args=[project.slug]), {})
    assert reply.status_code == 400
    assert not Upload.objects.exists()


def imported(client: Client, project: Project, table: bytes, **media: bytes) -> Upload:
    form: dict[str, Any] = {"file": SimpleUploadedFile("rows.csv", table), "origin": "public"}
    if media:
        form["media_files"] = SimpleUploadedFile("m.zip", sample.zipped({"cat.png": media["cat"]}))
    client.post(reverse("import", args=[project.slug]), form, follow=True)
    upload = project.uploads.get(kind="items")
    client.post(
        reverse("upload-columns", args=[project.slug, upload.pk]), {"column-id": "id", "column-picture": "picture"}
    )
    upload.refresh_from_db()
    return upload


def test_a_table_comes_with_the_media_that_its_rows_name(lead_client: Client, project: Project) -> None:
    upload = imported(lead_client, project, b"id,picture\nr1,cat.png\n", cat=CAT)
    assert (upload.state, upload.items, upload.media.items) == ("done", 1, 1)


def test_a_table_whose_media_are_refused_is_not_imported_and_says_why(lead_client: Client, project: Project) -> None:
    upload = imported(lead_client, project, b"id,picture\nr1,cat.png\n", cat=b"no picture")
    assert (upload.state, upload.media.state) == ("failed", "refused")
    page = lead_client.get(reverse("upload", args=[project.slug, upload.pk])).content.decode()
    assert "m.zip, were not taken" in page
    assert "is none of the files that are taken" in page
    assert reverse("upload", args=[project.slug, upload.media.pk]) in page
    assert not Item.objects.exists()


def test_an_address_on_a_private_network_is_refused_by_the_import(lead_client: Client, project: Project) -> None:
    hosts = ["192.168.1.4", "[::1]", "2130706433", "localhost", "printer.lan", "metadata.google.internal"]
    table = "id,picture\n" + "".join(f"r{n},https://{host}/cat.png\n" for n, host in enumerate(hosts))
    upload = imported(lead_client, project, table.encode())
    assert (upload.state, upload.fault_count) == ("refused", len(hosts))
    text = lead_client.get(reverse("upload", args=[project.slug, upload.pk])).content.decode()
    assert text.count("is not on a public host that has a name") == len(hosts)


def test_a_file_is_deleted_unless_a_published_item_shows_it(lead_client: Client, project: Project) -> None:
    added(lead_client, project, ("cat.png", CAT), ("dog.png", sample.png()))
    imported(lead_client, project, b"id,picture\nr1,cat.png\n")
    make.hit(Item.objects.get())
    for name, said in (("cat.png", "Published items show cat.png."), ("dog.png", "dog.png is deleted.")):
        address = reverse("delete-media", args=[project.slug, project.media.get(name=name).pk])
        assert lead_client.get(address).status_code == 405
        assert said in lead_client.post(address, follow=True).content.decode()
    assert [file.name for file in project.media.all()] == ["cat.png"]


def test_a_file_of_another_project_is_not_deleted(lead_client: Client, project: Project) -> None:
    other = make.media_file()
    assert lead_client.post(reverse("delete-media", args=[project.slug, other.pk])).status_code == 404
    assert other.project.media.exists()


def test_a_reader_sees_the_list_alone_and_an_archived_project_takes_and_deletes_none(
    lead_client: Client, project: Project, bob: Any
) -> None:
    added(lead_client, project, ("cat.png", CAT))
    make.member(project, bob, "reader")
    reader = Client()
    reader.force_login(bob)
    assert "cat.png" in page(reader, project)
    assert "Delete…" not in page(reader, project) and 'type="file"' not in page(reader, project)
    assert reader.post(reverse("add-media", args=[project.slug])).status_code == 403
    archiving.archive(project, None)
    assert lead_client.post(reverse("add-media", args=[project.slug])).status_code == 409
    assert "cat.png" in page(lead_client, project) and "Delete…" not in page(lead_client, project)
