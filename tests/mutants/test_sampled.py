"""Which small changes of a module are tried, and that the list of modules fits the code."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest

from ops.surroundings import ROOT
from tests.mutants.changes import changes
from tests.mutants.sampled import MODULES

CODE = '''
LIMIT = 3

def pay(rows: list[int], most: int = 5) -> int:
    """At most 7 of them."""
    total = 0
    for row in rows:
        if row < most and not row == 2:
            book(row)
            total += row
    return total
'''


def _changed(number: int) -> str:
    tree = ast.parse(CODE)
    changes(tree)[number].apply()
    return ast.unparse(ast.fix_missing_locations(tree))


def test_each_change_is_another_module_and_can_be_compiled() -> None:
    changed = [_changed(number) for number in range(len(changes(ast.parse(CODE))))]
    assert len({*changed, ast.unparse(ast.parse(CODE))}) == len(changed) + 1
    for code in changed:
        compile(code, "changed", "exec")


@pytest.mark.parametrize(
    "after",
    [
        "LIMIT = 4",
        "most: int=6",
        "row <= most and",
        "row >= most and",
        "row < most or not row == 2",
        "not row != 2",
        "not row == 3",
        "if not (row < most and (not row == 2))",
        "pass\n            total += row",
        "book(row)\n            pass",
        "return None",
        "total = 1",
    ],
)
def test_operators_numbers_conditions_and_statements_change(after: str) -> None:
    assert [number for number in range(len(changes(ast.parse(CODE)))) if after in _changed(number)]


def test_words_for_people_and_types_stay() -> None:
    assert all("At most 7" in code and "list[int]" in code for code in map(_changed, range(12)))


def test_a_change_knows_its_function_and_the_lines_that_run_it() -> None:
    found = {str(change): change for change in changes(ast.parse(CODE))}
    outside, condition = found["2: 3 → 4"], found["8: row < most → row <= most"]
    assert outside.function is None and list(outside.lines) == [2]
    assert condition.function.name == "pay" and list(condition.lines) == [8]


@pytest.mark.parametrize("module", MODULES)
def test_the_listed_modules_and_their_tests_are_there(module: str) -> None:
    assert changes(ast.parse((ROOT / module).read_text())) and MODULES[module]
    assert [path for path in MODULES[module] if not (ROOT / path).exists()] == []


def test_a_run_tells_what_the_tests_notice_and_what_they_let_through() -> None:
    """Whether the two or the three most common values are looked at makes no difference to the first two."""
    command = [sys.executable, "-m", "tests.mutants.sampled", "hits/stats/majority.py", "--only", "0", "1"]
    done = subprocess.run(command, cwd=ROOT, text=True, capture_output=True)
    assert "killed #0 " in done.stdout and "SURVIVED #1 " in done.stdout, done.stdout + done.stderr
