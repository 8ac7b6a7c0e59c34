"""The Makefile and the runner behind `make test`."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from ops import run_tests
from ops.surroundings import ROOT

TARGETS = ["run", "test", "check", "demo", "bench", "fuzz", "faults", "screenshots", "clean"]


def _make(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["make", *arguments], cwd=ROOT, capture_output=True, text=True)


@pytest.mark.parametrize("target", TARGETS)
def test_make_knows_what_it_would_do(target: str) -> None:
    done = _make("--dry-run", target)
    assert done.returncode == 0, done.stderr


def test_make_alone_explains_itself() -> None:
    listed = re.findall(r"^  make (\S+)", _make().stdout, re.MULTILINE)
    assert listed == ["help", *TARGETS]


@pytest.mark.parametrize("target", ["run", "demo", "test", "check", "bench", "screenshots"])
def test_what_make_starts_is_there(target: str) -> None:
    module = re.search(r"-m ((?:ops|tests)\.\w+)", _make("--dry-run", target).stdout)
    assert module is not None
    place = ROOT / module[1].replace(".", "/")
    assert place.with_suffix(".py").exists() or (place / "__main__.py").exists()


def test_every_test_belongs_to_a_group_on_sqlite() -> None:
    """A folder that nobody names would never run, and nobody would notice."""
    groups = run_tests.groups(None)
    files = [str(file.relative_to(ROOT)) for file in sorted((ROOT / "tests").rglob("test_*.py"))]
    assert [file for file in files if not any(group.has(file) for group in groups)] == []


def test_every_test_belongs_to_a_group_with_a_server() -> None:
    groups = run_tests.groups("postgres://postgres@127.0.0.1:5432/")
    files = [str(file.relative_to(ROOT)) for file in sorted((ROOT / "tests").rglob("test_*.py"))]
    assert [file for file in files if not any(group.has(file) for group in groups)] == []


ON_POSTGRESQL = (*run_tests.REQUESTER_ON_POSTGRESQL, *run_tests.MARKETPLACE_ON_POSTGRESQL)


@pytest.mark.parametrize("place", ON_POSTGRESQL)
def test_what_is_named_for_postgresql_is_there(place: str) -> None:
    """One that was renamed would end the whole group."""
    path, _, test = place.partition("::")
    assert (ROOT / path).exists()
    assert not test or f"def {test}(" in (ROOT / path).read_text()


def test_a_server_adds_both_projects_on_postgresql() -> None:
    titles = {group.title for group in run_tests.groups("postgres://postgres@127.0.0.1:5432/")}
    assert {"Requester on PostgreSQL", "Marketplace on PostgreSQL"} <= titles


REPORT = """<testsuites><testsuite>
<testcase classname="a" name="fine"/>
<testcase classname="a" name="wrong"><failure message="no"/></testcase>
<testcase classname="a" name="broken"><error message="no"/></testcase>
<testcase classname="a" name="untidy"/><testcase classname="a" name="untidy"><error message="left over"/></testcase>
<testcase classname="a" name="absent"><skipped type="pytest.skip" message="no browser"/></testcase>
<testcase classname="a" name="expected"><skipped type="pytest.xfail" message="known"/></testcase>
</testsuite></testsuites>"""


def test_a_report_is_read_as_passed_failed_and_skipped(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text(REPORT)
    outcome = run_tests.read_report(report, 1)
    assert outcome.passed == {"a::fine", "a::expected"}
    assert outcome.failed == {"a::wrong", "a::broken", "a::untidy"}
    assert outcome.skipped == {"a::absent": "no browser"}
    assert not outcome.trouble


@pytest.mark.parametrize("status", [2, 3, 4, 5, -9])
def test_a_run_that_ran_no_test_or_died_is_trouble(status: int, tmp_path: Path) -> None:
    assert run_tests.read_report(tmp_path / "nothing.xml", status).trouble
