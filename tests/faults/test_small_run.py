"""A few items under faults, on every run of the tests; `make faults` does it with hundreds, and in every way."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.demo.checks import Row, select
from tests.faults.conftest import CUTS, ITEMS
from tests.faults.installation import Installation
from tests.faults.scenarios import Outcome
from tests.faults.table import HEAD, figures, line, write
from tests.faults.verdict import judge

pytestmark = pytest.mark.long


def test_deaths_of_the_worker_and_the_broker_and_lost_replies_cost_nothing(finished: Installation) -> None:
    # HITs are published by the process for what may take minutes.
    assert [cut.program for cut in CUTS] == ["long-worker", "worker", "worker"]
    assert finished.kills == {"long-worker": 1, "worker": 2, "broker": 1}
    assert [fault["remaining"] for fault in finished.controls.state()["faults"]] == [0, 0]
    verdict = judge(finished)
    assert verdict.wrong == []
    assert (verdict.items, verdict.answers) == (ITEMS, verdict.payments)


class Copies:
    """The two databases as they were, to be spoiled."""

    def __init__(self, it: Installation, folder: Path) -> None:
        self.project, self._folder = it.project, folder
        for side in ("ours", "theirs"):
            _, file = it.database(side)
            with closing(sqlite3.connect(file)) as old, closing(sqlite3.connect(folder / side)) as new:
                old.backup(new)

    def rows(self, side: str, sql: str) -> list[Row]:
        return select("", self._folder / side, sql)

    def change(self, side: str, sql: str) -> None:
        with closing(sqlite3.connect(self._folder / side)) as connection:
            connection.execute(sql)
            connection.commit()


@pytest.mark.parametrize(
    ("side", "statement", "column"),
    [
        ("theirs", "UPDATE marketplace_hit SET requester_annotation = 'nobody' WHERE id = 1", "duplicates"),
        ("theirs", "UPDATE marketplace_hit SET max_assignments = 9 WHERE id = 1", "duplicates"),
        ("theirs", "UPDATE marketplace_moneyentry SET kind = 'hold' WHERE kind = 'charge' AND id % 2 = 0", "missing"),
        ("ours", "UPDATE hits_hit SET hit_id = 'another' WHERE id = 1", "missing"),
        ("ours", "UPDATE hits_assignment SET assignment_id = 'another' WHERE id = 1", "lost"),
        ("ours", "UPDATE hits_assignment SET answer = '{}' WHERE id = 1", "lost"),
        ("ours", "UPDATE hits_item SET state = 'open' WHERE id = 1", "stuck"),
        ("ours", "UPDATE hits_batch SET state = 'waiting' WHERE id = 1", "stuck"),
        ("ours", "UPDATE hits_account SET paid = paid + 1", "money"),
        ("ours", "DELETE FROM hits_ledgerentry WHERE kind = 'settle'", "money"),
    ],
)
def test_the_verdict_sees_what_is_wrong(
    finished: Installation, tmp_path: Path, side: str, statement: str, column: str
) -> None:
    copies = Copies(finished, tmp_path)
    assert judge(copies).wrong == []
    copies.change(side, statement)
    assert getattr(judge(copies), column)


def test_a_line_of_the_table_stands_under_its_head(finished: Installation) -> None:
    outcome = Outcome("small", verdict=judge(finished), kills=4, calls=60, seconds=31.4)
    assert figures(outcome) == [ITEMS, 4, 60, 0, 0, 0, 0, 0, 31]
    assert line(outcome).startswith("small") and line(outcome).endswith("ok")
    assert len(line(outcome).removesuffix("   ok")) == len(HEAD)


def test_new_lines_go_into_the_table_of_the_document_and_leave_the_others(tmp_path: Path) -> None:
    document = tmp_path / "reliability.md"
    document.write_text("before\n<!-- figures -->\n<!-- end of figures -->\nafter\n")
    write([Outcome("drops", kills=1), Outcome("kills", kills=4, calls=1234)], document)
    write([Outcome("drops", kills=2)], document)
    assert document.read_text().splitlines() == [
        "before",
        "<!-- figures -->",
        "| scenario | items | kills | calls | duplicates | missing | lost | stuck | money | seconds |",
        "| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: |",
        "| kills | 0 | 4 | 1,234 | 0 | 0 | 0 | 0 | 0 | 0 |",
        "| drops | 0 | 2 | 0 | 0 | 0 | 0 | 0 | 0 | 0 |",
        "<!-- end of figures -->",
        "after",
    ]
    document.write_text("no marks")
    with pytest.raises(ValueError, match="no place for the figures"):
        write([], document)
