"""The requester's part of `make demo`: it ends at once where nothing can come, and never while something moves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from hits.management.commands import demo
from hits.models import Hit, Project, StageSummary, Upload
from tests.hits import factories as make
from tests.hits.record_project import example, lines
from tests.hits.releases.test_evaluating import of_labels

pytestmark = pytest.mark.django_db


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Its one entry is what the clock shows; sleeping moves it."""
    shown = [0.0]
    monkeypatch.setattr(demo.time, "monotonic", lambda: shown[0])

    def sleep(seconds: float) -> None:
        shown[0] += 100 * seconds

    monkeypatch.setattr(demo.time, "sleep", sleep)
    return shown


def test_what_moves_is_waited_for_however_long_it_takes(clock: list[float]) -> None:
    patience = demo.Patience(600)
    for step in range(100):
        clock[0] += 599
        assert not patience.is_over(step)
    clock[0] += 599
    assert not patience.is_over(step)
    clock[0] += 2
    assert patience.is_over(step)


def test_a_slow_import_is_waited_for_and_one_that_stands_is_not(clock: list[float], monkeypatch: Any) -> None:
    upload = make.upload(state=Upload.State.READING, done=0)
    look = Upload.refresh_from_db

    def goes_on(row: Upload) -> None:
        look(row)
        Upload.objects.filter(pk=row.pk).update(done=row.done + 1)
        if row.done == 300:
            Upload.objects.filter(pk=row.pk).update(state=Upload.State.DONE, items=7)

    monkeypatch.setattr(Upload, "refresh_from_db", goes_on)
    assert demo._imported(upload) == 7
    assert clock[0] > 2000
    monkeypatch.setattr(Upload, "refresh_from_db", look)
    Upload.objects.update(state=Upload.State.READING)
    with pytest.raises(CommandError, match="did not move for 600 seconds"):
        demo._imported(upload)


def test_an_import_without_an_item_ends_the_demonstration_with_a_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    empty = {"state": Upload.State.DONE, "items": 0}
    monkeypatch.setattr(demo.import_upload, "delay", lambda pk: Upload.objects.filter(pk=pk).update(**empty))
    file = tmp_path / "empty.jsonl"
    file.write_bytes(b"{}")
    with pytest.raises(CommandError, match="Nothing was published: the import of empty.jsonl"):
        call_command("demo", "start", str(file))


def test_it_publishes_what_was_imported_whatever_the_figures_say_yet(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, market: Any, eager: None, capsys: Any
) -> None:
    """Figures are for pages. A program that acts on rows looks at the rows."""
    file = tmp_path / "river.jsonl"
    file.write_bytes(lines([example(n) for n in range(3)]))
    real = demo._imported

    def figures_from_before(upload: Upload) -> int:
        StageSummary.objects.update(items=0)
        return real(upload)

    monkeypatch.setattr(demo, "_imported", figures_from_before)
    call_command("demo", "start", str(file))
    assert Hit.objects.count() == 3
    assert '"items": 3' in capsys.readouterr().out


def test_waiting_ends_at_once_where_the_marketplace_refused_everything(clock: list[float]) -> None:
    stage = make.stage()
    make.hits(make.items(stage, 2), hit_id=None, state=Hit.State.REFUSED, error="The question is too long.")
    with pytest.raises(CommandError, match=r"Nothing was published. The question is too long."):
        call_command("demo", "wait", str(stage.project_id))
    assert clock[0] == 0


def test_waiting_names_what_is_left_when_nothing_moves(clock: list[float], capsys: Any) -> None:
    stage = make.stage()
    make.hit(make.item(stage, state="open"))
    with pytest.raises(CommandError, match="Nothing moved for 600 seconds: Validate: 1 items at workers"):
        call_command("demo", "wait", str(stage.project_id))
    assert Project.objects.count() == 1


def test_the_systems_of_the_newest_release_are_printed_as_a_table(capsys: Any) -> None:
    release = of_labels(20)
    call_command("demo", "baselines", str(release.project_id))
    said = capsys.readouterr().out
    assert said.startswith(f"# Systems on release {release.number}\n") and "Most common label" in said
