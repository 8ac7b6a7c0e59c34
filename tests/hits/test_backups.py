"""Backups of the requester's database: made, tried, restored; and what is refused, with nothing changed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import tracemalloc
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from io import BytesIO, StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection, connections
from django.db.migrations.recorder import MigrationRecorder

from common import backups
from common.backups import BackupError
from hits.management.backed import REQUESTER
from hits.models import Account, Blob, Item, Project
from tests.hits import factories as make

pytestmark = [pytest.mark.on_postgresql, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def migrations_are_written_down(db: None) -> None:
    """The tables of tests are made from the models; a server has migrated to them."""
    MigrationRecorder(connection).ensure_schema()


@pytest.fixture
def stage(db: None) -> object:
    stage = make.stage()
    for number in range(3):
        make.item(stage, key=f"item-{number}")
    Account.objects.filter(project=stage.project).update(budget=Decimal("12.34"))
    Blob.store(b"a picture")
    return stage


def test_a_backup_is_whole_counted_and_restored(stage: object, tmp_path: Path) -> None:
    made = backups.make(REQUESTER, tmp_path)
    assert made.verified and made.file.stat().st_mode & 0o077 == 0
    said = backups.read_manifest(made.file)
    assert said.tables["hits_item"] == {"rows": 3, "further_cost": 0}
    assert said.tables["hits_account"]["budget"] == 1234
    assert (said.project, said.version, said.engine) == ("annotate", REQUESTER.version, connection.vendor)
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith(".")] == []

    Item.objects.all().delete()
    Account.objects.update(budget=Decimal("99.00"))
    connections.close_all()
    backups.restore(REQUESTER, made.file, replace=True)
    assert Item.objects.count() == 3
    assert Account.objects.get().budget == Decimal("12.34")
    # What the database gives out next is what it would have given out then.
    assert Project.objects.create(name="new", slug="new", recipe="r", namespace="n", seed=1).pk


@pytest.mark.long
def test_restoring_keeps_little_of_the_database_in_memory(stage: object, tmp_path: Path) -> None:
    for _ in range(24):
        Blob.store(os.urandom(1_000_000))
    made = backups.make(REQUESTER, tmp_path, verify=False)
    connections.close_all()
    tracemalloc.start()
    try:
        backups.restore(REQUESTER, made.file, replace=True)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 16_000_000
    assert Blob.objects.count() == 25


def test_a_database_that_is_not_empty_is_replaced_only_when_that_is_said(stage: object, tmp_path: Path) -> None:
    made = backups.make(REQUESTER, tmp_path, verify=False)
    with pytest.raises(CommandError, match="not empty"):
        call_command("restore", str(made.file))
    assert Item.objects.count() == 3


def _changed(file: Path, target: Path, **manifest: object) -> Path:
    """A copy whose manifest says something else."""
    with tarfile.open(file) as old, tarfile.open(target, "w") as new:
        for member in old:
            content = old.extractfile(member).read()  # type: ignore[union-attr]
            if member.name == "manifest.json":
                content = json.dumps({**json.loads(content), **manifest}).encode()
                member.size = len(content)
            new.addfile(member, BytesIO(content))
    return target


def test_what_cannot_be_restored_is_refused_and_changes_nothing(stage: object, tmp_path: Path) -> None:
    made = backups.make(REQUESTER, tmp_path, verify=False)
    whole, bad = made.file.read_bytes(), tmp_path / "bad.backup"
    Item.objects.filter(key="item-0").delete()

    def refused(file: Path, sentence: str) -> None:
        connections.close_all()
        with pytest.raises(BackupError, match=sentence):
            backups.restore(REQUESTER, file, replace=True)
        assert Item.objects.count() == 2

    refused(tmp_path / "none.backup", "There is no file")
    bad.write_bytes(whole[: len(whole) // 2])
    refused(bad, "is broken")
    with tarfile.open(made.file) as tar:
        dump = next(member for member in tar if member.name != "manifest.json")
    for at, sentence in ((dump.offset, "is broken"), (dump.offset_data + dump.size // 2, "another checksum")):
        bad.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        refused(bad, sentence)
    newer = [*made.manifest.migrations, "hits.9999_of_tomorrow"]
    refused(_changed(made.file, bad, migrations=newer, version="9.0"), "newer version, 9.0.*9999_of_tomorrow")
    refused(_changed(made.file, bad, project="marketplace"), "backup of marketplace")
    refused(_changed(made.file, bad, engine="mysql"), "of mysql")
    refused(_changed(made.file, bad, dump=f"{tmp_path}/elsewhere"), "is broken: it names .*elsewhere as its dump")
    assert not (tmp_path / "elsewhere").exists()
    fewer = {**made.manifest.tables, "hits_item": {"rows": 4, "further_cost": 0}}
    refused(_changed(made.file, bad, tables=fewer), "not what was backed up.*hits_item")
    with pytest.raises(BackupError, match="hits_item"):
        backups.verify(REQUESTER, bad)


def test_a_database_that_another_program_uses_is_not_restored(stage: object, tmp_path: Path) -> None:
    made = backups.make(REQUESTER, tmp_path, verify=False)
    values = connection.settings_dict
    if connection.vendor == "postgresql":
        address = f"host={values['HOST']} port={values['PORT']} user={values['USER']} dbname={values['NAME']}"
        opened = f"import psycopg2; c = psycopg2.connect({address!r})"
    else:
        opened = f"import sqlite3; c = sqlite3.connect({str(values['NAME'])!r}); c.execute('SELECT * FROM hits_item')"
    other = subprocess.Popen(
        [sys.executable, "-c", f"{opened}; print('open', flush=True); input()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PGPASSWORD": values["PASSWORD"]},
    )
    try:
        assert other.stdout and other.stdout.readline() == b"open\n"
        with pytest.raises(BackupError, match="Other programs use the database"):
            backups.restore(REQUESTER, made.file, replace=True)
    finally:
        other.communicate(b"\n")


def test_old_backups_go_and_the_last_good_one_is_told(stage: object, tmp_path: Path) -> None:
    assert backups.is_too_old("annotate", tmp_path, 24)
    with pytest.raises(CommandError, match="There is none"):
        call_command("backup", str(tmp_path), "--older-than", "24")
    files = [backups.make(REQUESTER, tmp_path, keep=2, verify=False).file for _ in range(3)]
    assert backups.backups("annotate", tmp_path) == files[1:]
    assert not backups.is_too_old("annotate", tmp_path, 24)
    call_command("backup", str(tmp_path), "--older-than", "24", stdout=StringIO())
    last = tmp_path / "annotate-last.json"
    old = (datetime.now(UTC) - timedelta(hours=25)).isoformat()
    last.write_text(json.dumps({**json.loads(last.read_text()), "at": old}))
    with pytest.raises(CommandError, match="last 24 hours"):
        call_command("backup", str(tmp_path), "--older-than", "24")


def test_a_failed_backup_leaves_nothing_and_the_last_good_one_stays(
    stage: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = backups.make(REQUESTER, tmp_path, verify=False)
    # What is restored on trial lacks a row.
    seen: list[int] = []
    count = backups.figures

    def one_less(*given: object) -> backups.Figures:
        seen.append(1)
        found = count(*given)  # type: ignore[arg-type]
        return found if len(seen) == 1 else {**found, "hits_item": {"rows": 2, "further_cost": 0}}

    monkeypatch.setattr(backups, "figures", one_less)
    with pytest.raises(CommandError, match="hits_item"):
        call_command("backup", str(tmp_path))
    assert backups.backups("annotate", tmp_path) == [good.file]
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted([good.file.name, "annotate-last.json"])


def test_client_programs_of_another_major_version_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite needs none.")
    old = tmp_path / "pg_dump"
    old.write_text("#!/bin/sh\necho 'pg_dump (PostgreSQL) 9.6.1'\n")
    old.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BackupError, match="pg_dump is of version 9, the server of 1"):
        backups.make(REQUESTER, tmp_path / "to")
    old.unlink()
    with pytest.raises(BackupError, match="pg_dump is not installed"):
        backups.make(REQUESTER, tmp_path / "to")
