"""No test and no launcher gives up on a busy machine: what waits for another process waits long."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from ops.surroundings import ROOT

LEAST_SECONDS = 30
# Playwright counts in milliseconds.
LEAST_MILLISECONDS = 1000 * LEAST_SECONDS
OF_PLAYWRIGHT = ("to_", "not_to_", "wait_for", "expect_", "set_default", "click", "fill", "goto")
# Methods whose first argument is how long they wait at most.
WAITING = {"wait", "join", "result", "settimeout", "set_default_timeout", "set_default_navigation_timeout"}
# What may be short, and why.
SHORT = {
    "tests/demo/checks.py: sqlite3.connect(f'file:{path}?mode=ro', uri=True, timeout=20)": "SQLite's lock",
    "ops/surroundings.py: held.bind(('127.0.0.1', 0))": "the one place that gives out ports",
    "ops/stack.py: client.settimeout(1)": "asks whether somebody listens, and a silent port is no one's",
    "tests/ground/test_make.py: gate.wait(0.05)": "lets other threads begin; nothing depends on it",
}


def impatient(file: str, source: str) -> Iterator[str]:
    """Each place of a Python source that ends early on a busy machine, as it is written."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            given = [each.value for each in node.keywords if each.arg == "timeout"]
            given += node.args[:1] if name in WAITING else []
            least = LEAST_MILLISECONDS if name.startswith(OF_PLAYWRIGHT) else LEAST_SECONDS
            if any(_is_short(each, least) for each in given) or (name == "bind" and "0)" in ast.unparse(node)):
                yield f"{file}: {ast.unparse(node)}"
        elif isinstance(node, ast.Compare) and _is_elapsed(node):
            yield f"{file}: {ast.unparse(node)}"


def _is_short(given: ast.expr, least: float) -> bool:
    return isinstance(given, ast.Constant) and isinstance(given.value, int | float) and given.value < least


def _is_elapsed(compared: ast.Compare) -> bool:
    """`time.monotonic() - start < 5`: a machine with other work makes it false."""
    sides = [compared.left, *compared.comparators]
    for smaller, sign, larger in zip(sides, compared.ops, compared.comparators, strict=False):
        if isinstance(smaller, ast.BinOp) and isinstance(sign, ast.Lt | ast.LtE) and _is_short(larger, LEAST_SECONDS):
            return any(clock in ast.unparse(smaller) for clock in ("monotonic()", "perf_counter()", "time.time()"))
    return False


def found() -> list[str]:
    files = [*(ROOT / "tests").rglob("*.py"), *(ROOT / "ops").glob("*.py")]
    return [each for file in sorted(files) for each in impatient(str(file.relative_to(ROOT)), file.read_text())]


def test_nothing_gives_up_early() -> None:
    assert [each for each in found() if each not in SHORT] == []


def test_what_may_be_short_is_still_there() -> None:
    assert set(SHORT) <= set(found())


@pytest.mark.parametrize(
    "source",
    [
        "requests.get(url, timeout=5)",
        "process.wait(20)",
        "page.set_default_timeout(8000)",
        "expect(page).to_have_url(url, timeout=8_000)",
        "assert 0.3 < time.monotonic() - start < 4",
        "probe.bind(('127.0.0.1', 0))",
    ],
)
def test_an_early_end_is_noticed(source: str) -> None:
    assert list(impatient("a.py", source))


@pytest.mark.parametrize(
    "source", ["process.wait(PATIENCE_SECONDS)", "requests.get(url, timeout=60)", "server.bind(('127.0.0.1', port))"]
)
def test_a_generous_end_is_let_through(source: str) -> None:
    assert not list(impatient("a.py", source))
