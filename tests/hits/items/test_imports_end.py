"""An import comes to an end: by itself, by a lead, by its time, or after its third attempt."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from celery.exceptions import SoftTimeLimitExceeded

from hits import tasks
from hits.core.jobs.leases import Held
from hits.formats.files import reading
from hits.items.verbs import importing
from hits.models import Document, Item, Project, Upload
from tests.hits.record_project import example, lines

pytestmark = pytest.mark.django_db


@pytest.fixture
def upload(project: Project) -> Upload:
    return importing.create_upload(project, "river.jsonl", lines([example(n) for n in range(20)]), "public", None)


@pytest.fixture
def told_of_each_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "PROGRESS_EVERY", 1)
    monkeypatch.setattr(reading, "_PROGRESS_EVERY", 1)


def ended(upload: Upload) -> tuple[str, str]:
    upload.refresh_from_db()
    assert upload.finished_at is not None
    assert not Document.objects.exists() and not Item.objects.exists()
    return upload.state, upload.error


def raise_it(error: BaseException) -> Callable[..., Any]:
    def go(*args: object, **more: object) -> None:
        raise error

    return go


def test_after_three_attempts_that_a_crash_ended_the_upload_is_failed(
    upload: Upload, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As good as a process that dies: nothing below the command line catches it.
    monkeypatch.setattr(importing, "_refuse_known", raise_it(KeyboardInterrupt()))
    for _ in range(importing.MOST_ATTEMPTS):
        assert importing.unfinished() == [upload.pk]
        with pytest.raises(KeyboardInterrupt):
            importing.import_upload(upload.pk)
    assert importing.import_upload(upload.pk) == 0
    state, error = ended(upload)
    assert (state, upload.attempts) == (Upload.State.FAILED, 3)
    assert "began 3 times" in error and "Split the file" in error
    assert importing.unfinished() == []


def test_after_three_errors_the_upload_is_failed_at_once(upload: Upload, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "_refuse_known", raise_it(RuntimeError("broken")))
    for _ in range(importing.MOST_ATTEMPTS):
        with pytest.raises(RuntimeError):
            importing.import_upload(upload.pk)
    assert ended(upload)[0] == Upload.State.FAILED


def test_an_import_that_took_two_attempts_is_imported(upload: Upload, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(importing, "_refuse_known", raise_it(RuntimeError("broken")))
        with pytest.raises(RuntimeError):
            importing.import_upload(upload.pk)
    assert importing.import_upload(upload.pk) == 20
    upload.refresh_from_db()
    assert (upload.state, upload.attempts) == (Upload.State.DONE, 2)


@pytest.mark.usefixtures("told_of_each_text")
def test_an_import_can_be_stopped_while_it_reads(upload: Upload, monkeypatch: pytest.MonkeyPatch) -> None:
    renewals = []

    def renew(held: Held) -> None:
        renewals.append(held)
        if len(renewals) == 5:
            assert importing.stop(upload)

    monkeypatch.setattr(Held, "renew", renew)
    assert importing.import_upload(upload.pk) == 0
    assert ended(upload) == (Upload.State.STOPPED, "")
    assert (len(renewals), upload.done) == (5, 4)


def test_an_import_can_be_stopped_while_it_stores(upload: Upload, monkeypatch: pytest.MonkeyPatch) -> None:
    store = importing._store

    def stopped_meanwhile(*args: Any) -> Any:
        found = store(*args)
        assert importing.stop(upload)
        return found

    monkeypatch.setattr(importing, "_store", stopped_meanwhile)
    assert importing.import_upload(upload.pk) == 0
    assert not Document.objects.exists()


def test_a_stopped_import_does_not_begin_and_one_that_ended_is_not_stopped(upload: Upload) -> None:
    assert importing.stop(upload)
    assert importing.import_upload(upload.pk) == 0
    assert ended(upload) == (Upload.State.STOPPED, "")
    assert not importing.stop(upload)


def test_an_import_whose_time_is_up_is_failed_with_a_sentence(
    upload: Upload, monkeypatch: pytest.MonkeyPatch, eager: None
) -> None:
    assert tasks.import_upload.soft_time_limit == tasks.IMPORT_SECONDS < tasks.import_upload.time_limit
    monkeypatch.setattr(importing, "_refuse_known", raise_it(SoftTimeLimitExceeded()))
    tasks.import_upload.delay(upload.pk)
    state, error = ended(upload)
    assert (state, upload.attempts) == (Upload.State.FAILED, 1)
    assert "more than 30 minutes, the most that an import may take" in error


@pytest.mark.long
def test_reading_and_storing_a_file_takes_six_bytes_of_memory_a_byte(project: Project) -> None:
    words = "The ferry was late again, and Mara read the paper on the quay. " * 16
    rows = []
    for n in range(3000):
        row = {**example(n), "passage": {"text": words, "entities": [{"start": 30, "end": 33}]}}
        row["qas"] = [{"id": f"q-{n}", "query": "@placeholder", "answers": [{"start": 30, "end": 33, "text": "Mara"}]}]
        rows.append(json.dumps(row))
    content = "\n".join(rows).encode()
    upload = importing.create_upload(project, "river.jsonl", content, "public", None)
    tracemalloc.start()
    try:
        assert importing.import_upload(upload.pk) == 3000
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 6 * len(content)
