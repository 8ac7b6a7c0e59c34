"""The main job on a whole stack, a file at one end and a release at the other, with a simulated crowd in between.

What comes out is checked from outside by `tests.demo.checks_record`; and that those checks see something when it is
wrong is checked by spoiling copies of the two databases.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ops.stack import Stack
from tests.demo.checks import CheckFailedError, Demonstration
from tests.demo.record import checks, demonstrate
from tests.migrated import bring

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[2]
SEED = 7
EXAMPLES = 10
OURS, THEIRS = "annotate.sqlite3", "marketplace.sqlite3"
# Whatever the crowd made of the first item.
OTHER_VERDICT = "UPDATE hits_item SET state = CASE state WHEN 'kept' THEN 'dropped' ELSE 'kept' END WHERE id = 1"


@pytest.fixture(scope="module")
def on_files(
    request: pytest.FixtureRequest, servers: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stack]:
    """A stack whose databases can be copied and spoiled: that of all tests here, unless it is on a server."""
    if "DATABASE_URL" not in servers:
        yield request.getfixturevalue("stack")
        return
    with Stack(bring(tmp_path_factory.mktemp("stack-on-files"))) as own:
        yield own


@pytest.fixture(scope="module")
def demonstration(on_files: Stack, tmp_path_factory: pytest.TempPathFactory) -> Demonstration:
    """Of the first sample texts. The stack stays up: the checks ask the wire."""
    folder = tmp_path_factory.mktemp("main-job")
    file = folder / "input.jsonl"
    lines = (ROOT / "samples" / "record.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    file.write_text("".join(lines[:EXAMPLES]), encoding="utf-8")
    return demonstrate(on_files, file, SEED, seconds=1800)


def test_a_file_becomes_a_release_with_nothing_doubled_lost_or_unpaid(demonstration: Demonstration) -> None:
    checked = dict(checks(demonstration))
    assert len(checked) == 9
    assert len(demonstration.of_kind("spammer")) == 2
    counts = demonstration.releases[0].report["counts"]
    assert counts["train"] and counts["dev"] and counts["test"]


@pytest.mark.parametrize(
    ("file", "statement", "message"),
    [
        (THEIRS, "UPDATE marketplace_hit SET requester_annotation = {token}", "same annotation"),
        (OURS, "UPDATE hits_hit SET hit_id = 'another' WHERE id = 1", "only one side knows"),
        (OURS, "DELETE FROM hits_assignment WHERE id = 1", "answers that only one side has"),
        (OURS, "UPDATE hits_assignment SET answer = '{{}}' WHERE id = 1", "answers that differ"),
        (OURS, "UPDATE hits_block SET state = 'undone' WHERE id = 1", "spammers who are not blocked"),
        (OURS, OTHER_VERDICT, "verdicts that the answers do not give"),
        (OURS, "UPDATE hits_ledgerentry SET paid = paid + 1 WHERE id = 2", "entries and account, paid"),
        (THEIRS, "UPDATE marketplace_moneyentry SET amount = 6 WHERE kind = 'charge'", "paid and charged"),
        (OURS, 'UPDATE hits_stagesummary SET scores = \'{{"em": 1, "f1": 1, "n": 1}}\'', "by the raw answers"),
    ],
)
def test_the_checks_notice_what_is_wrong(
    demonstration: Demonstration, tmp_path: Path, file: str, statement: str, message: str
) -> None:
    settings = dict(demonstration.settings)
    for name in (OURS, THEIRS):
        copy(Path(settings["DATA_DIR"]) / name, tmp_path / name)
    settings["DATA_DIR"] = str(tmp_path)
    with sqlite3.connect(tmp_path / file) as connection:
        connection.execute(statement.format(token=f"'{demonstration.started['namespace']}.1.1'"))
    with pytest.raises(CheckFailedError, match=message):
        list(checks(replace(demonstration, settings=settings)))


def test_a_hit_that_was_dropped_before_it_was_sent_is_no_fault(demonstration: Demonstration, tmp_path: Path) -> None:
    """Its item wanted another answer, and then none."""
    for name in (OURS, THEIRS):
        copy(Path(demonstration.settings["DATA_DIR"]) / name, tmp_path / name)
    with sqlite3.connect(tmp_path / OURS) as connection:
        connection.row_factory = sqlite3.Row
        row = dict(connection.execute("SELECT * FROM hits_hit WHERE id = 1").fetchone())
        row |= {"id": 1_000_000, "slot": 9, "token": f"{row['token']}9", "hit_id": None, "attempted_at": None}
        row |= {"state": "closed", "harvested": 0}
        marks = ", ".join(f":{name}" for name in row)
        connection.execute(f"INSERT INTO hits_hit ({', '.join(row)}) VALUES ({marks})", row)
    settings = {**demonstration.settings, "DATA_DIR": str(tmp_path)}
    assert dict(checks(replace(demonstration, settings=settings)))


def test_the_checks_notice_a_release_that_was_changed(demonstration: Demonstration, tmp_path: Path) -> None:
    first, second = demonstration.releases
    shutil.copytree(second.folder, tmp_path / "spoiled")
    spoiled = tmp_path / "spoiled" / "train.json"
    spoiled.write_bytes(spoiled.read_bytes().replace(b"harbour", b"harvest", 1))
    found = replace(demonstration, releases=[first, replace(second, folder=tmp_path / "spoiled")])
    with pytest.raises(CheckFailedError, match="train.json differs"):
        list(checks(found))


def copy(source: Path, target: Path) -> None:
    """With what still lies in the write-ahead log."""
    with sqlite3.connect(source) as old, sqlite3.connect(target) as new:
        old.backup(new)
