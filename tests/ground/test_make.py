"""The Makefile and the runner behind `make test`."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import threading
from pathlib import Path

import pytest

from ops import run_tests
from ops.surroundings import ROOT

TARGETS = [
    "run",
    "test",
    "test-fast",
    "test-long",
    "check",
    "demo",
    "bench",
    "fuzz",
    "faults",
    "messages",
    "screenshots",
    "lock",
    "sbom",
    "audit",
    "clean",
]


def _make(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["make", *arguments], cwd=ROOT, capture_output=True, text=True)


@pytest.mark.parametrize("target", TARGETS)
def test_make_knows_what_it_would_do(target: str) -> None:
    done = _make("--dry-run", target)
    assert done.returncode == 0, done.stderr


def test_make_alone_explains_itself() -> None:
    listed = re.findall(r"^  make (\S+)", _make().stdout, re.MULTILINE)
    assert listed == ["help", *TARGETS]


@pytest.mark.parametrize("target", ["run", "demo", "test", "check", "bench", "messages", "screenshots", "audit"])
def test_what_make_starts_is_there(target: str) -> None:
    module = re.search(r"-m ((?:ops|tests)\.\w+)", _make("--dry-run", target).stdout)
    assert module is not None
    place = ROOT / module[1].replace(".", "/")
    assert place.with_suffix(".py").exists() or (place / "__main__.py").exists()


@pytest.mark.parametrize("server", [None, "postgres://postgres@127.0.0.1:5432/"])
def test_every_test_belongs_to_a_group(server: str | None) -> None:
    """A folder that nobody names would never run, and nobody would notice."""
    groups = [*run_tests.groups(server), *run_tests.long_groups()]
    files = [str(file.relative_to(ROOT)) for file in sorted((ROOT / "tests").rglob("test_*.py"))]
    assert [file for file in files if not any(group.has(file) for group in groups)] == []


def test_every_long_test_is_in_the_long_run_and_the_others_are_not() -> None:
    files = run_tests.marked(("tests",), run_tests.LONG_MARK)
    taken = [group for file in files for group in run_tests.long_groups() if group.has(file)]
    assert len(taken) == len(files) > 10
    assert all(run_tests.LONG_MARK in group.options for group in taken)


@pytest.mark.parametrize(
    ("changed", "runs"),
    [
        ("hits/pipeline.py", True),
        ("tests/e2e/test_demo.py", True),
        ("tests/migrated.py", True),
        ("tests/hits/test_short.py", False),
        ("docs/verbs.md", False),
        ("hits/.cache/x.py", False),
    ],
)
def test_the_long_tests_run_again_when_a_source_or_one_of_them_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: str, runs: bool
) -> None:
    names = ("hits/pipeline.py", "hits/.cache/x.py", "tests/e2e/test_demo.py", "tests/migrated.py", "docs/verbs.md")
    for name in (*names, "tests/hits/test_short.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"# pytest.mark.{run_tests.LONG_MARK}" if "e2e" in name else "")
    monkeypatch.setattr(run_tests, "ROOT", tmp_path)
    monkeypatch.setattr(run_tests, "RESULTS", tmp_path / "build")
    monkeypatch.setattr(run_tests, "LONG_PASSED", tmp_path / "tests" / "long_passed.txt")
    outcomes = {"fine": run_tests.Outcome(passed={"a"})}
    monkeypatch.setattr(run_tests, "run_all", lambda wanted: began.append(wanted) or outcomes)
    began: list[object] = []
    assert [run_tests.run_long(only_if_changed=True) for _ in range(2)] == [0, 0] and len(began) == 1
    (tmp_path / changed).write_text(f"# pytest.mark.{run_tests.LONG_MARK} " if "e2e" in changed else "changed")
    assert run_tests.run_long(only_if_changed=True) == 0 and len(began) == 1 + runs
    outcomes["fine"].failed.add("b")
    (tmp_path / "hits" / "pipeline.py").write_text("another")
    assert [run_tests.run_long(only_if_changed=True) for _ in range(2)] == [1, 1] and len(began) == 3 + runs


@pytest.mark.parametrize("folder", ["tests/hits", "tests/marketplace"])
def test_files_marked_for_postgresql_are_found_and_others_are_not(folder: str) -> None:
    files = run_tests.marked((folder,))
    assert f"{folder}/payments/test_ledger_rules.py" in files or f"{folder}/verbs/test_concurrency.py" in files
    there = sorted(str(file.relative_to(ROOT)) for file in (ROOT / folder).rglob("test_*.py"))
    assert [file for file in there if _is_marked(ROOT / file)] == list(files)
    assert 5 < len(files) < len(there)


def _is_marked(file: Path) -> bool:
    """As its syntax says, wherever the mark stands."""
    names = (node.attr for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Attribute))
    return run_tests.POSTGRESQL_MARK in names


def test_the_fast_part_has_no_test_that_opens_a_browser() -> None:
    groups = run_tests.fast_groups()
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    taken = [file for file in files if any(group.has(str(file.relative_to(ROOT))) for group in groups)]
    assert len(taken) > 100
    assert [file for file in taken if "playwright" in file.read_text()] == []


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


def _group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, title: str, test: str) -> run_tests.Group:
    """Of one file, which says `test`; results go to a folder of its own."""
    results = tmp_path / "results"
    results.mkdir(exist_ok=True)
    monkeypatch.setattr(run_tests, "RESULTS", results)
    file = tmp_path / f"test_{title}.py"
    file.write_text(test)
    return run_tests.Group(
        title, [str(file)], [*run_tests.NO_DJANGO, "-p", "no:cacheprovider", f"--rootdir={tmp_path}"]
    )


UNSTARTED = """
from pathlib import Path
import pytest
from ops.waiting import ServiceNotStartedError
@pytest.fixture
def service():
    tries = Path(__file__).with_suffix(".tries")
    tries.write_text((tries.read_text() if tries.exists() else "") + "x")
    if len(tries.read_text()) <= {failing}:
        raise ServiceNotStartedError("The marketplace did not answer within 180 seconds.")
def test_it(service):
    assert {holds}
"""


@pytest.mark.parametrize(
    ("failing", "holds", "tries", "failed"), [(0, True, 1, 0), (1, True, 2, 0), (2, True, 2, 1), (0, False, 1, 1)]
)
def test_a_group_whose_service_did_not_start_tries_once_more_and_says_so(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    failing: int,
    holds: bool,
    tries: int,
    failed: int,
) -> None:
    group = _group(tmp_path, monkeypatch, "shop", UNSTARTED.format(failing=failing, holds=holds))
    outcome = run_tests.run(group)
    assert (len(outcome.failed), outcome.trouble) == (failed, "")
    assert len((tmp_path / "test_shop.tries").read_text()) == tries
    said = "again: shop: 0 passed, 1 failed, 0 skipped: a service did not start"
    assert (said in capfd.readouterr().out) == (tries > 1)
    assert (
        "ServiceNotStartedError" in "".join(log.read_text() for log in run_tests.RESULTS.glob("*.log")) or not failing
    )


def test_no_more_groups_run_at_once_than_the_machine_has_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    running, most = set(), []

    def run(group: run_tests.Group) -> run_tests.Outcome:
        running.add(group.title)
        most.append(len(running))
        gate.wait(0.05)
        running.discard(group.title)
        return run_tests.Outcome()

    gate = threading.Event()
    monkeypatch.setattr(run_tests, "run", run)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1}, raising=False)
    groups = [run_tests.Group(str(number), (), ()) for number in range(9)]
    assert len(run_tests.run_all(groups)) == 9
    assert max(most) == 4


@pytest.mark.parametrize("status", [2, 3, 4, 5, -9])
def test_a_run_that_ran_no_test_or_died_is_trouble(status: int, tmp_path: Path) -> None:
    assert run_tests.read_report(tmp_path / "nothing.xml", status).trouble
