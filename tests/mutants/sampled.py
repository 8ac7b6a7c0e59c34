"""`python -m tests.mutants.sampled MODULE...`: changes a module a little in many ways and sees what the tests notice.

The tests of a module are those of `sampled.toml`. They run once to see which of them reach which line. Then a process
forked from that one has one change and runs the tests that reach it, the quickest first, until one fails. What stands
outside all functions has been used by then: such a change has a process of its own that imports it.
"""

from __future__ import annotations

import argparse
import ast
import functools
import gc
import importlib.machinery
import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from common.prepared import Prepared
from ops.surroundings import ROOT
from tests.mutants.changes import Change, changes

MODULES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())
MOST = 40
KILLED, SURVIVED, TIMED_OUT, UNREACHED, BROKEN = "killed", "SURVIVED", "TIMED OUT", "NOT REACHED", "BROKEN"
ENDLESS = "endless"
# Of the processor, beside what the tests took of it without a change: a loop has no end, however busy the machine is.
LEAST_SECONDS, TIMES = 5, 4
IMPORT_SECONDS = 20
# By the clock; that may be the machine's fault, and is listed by itself.
PATIENCE = 400


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants.sampled", description=__doc__)
    parser.add_argument("modules", nargs="+", choices=MODULES, metavar="MODULE", help="as in sampled.toml")
    parser.add_argument("--most", type=int, default=MOST, help="how many changes of a module are tried")
    parser.add_argument("--only", type=int, nargs="*", help="the changes of these numbers alone")
    parser.add_argument("--alone", nargs="*", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.alone:
        return _run_alone(given.modules[0], given.only[0], given.alone)
    if len(given.modules) > 1:
        # The tests of the requester's side and of the marketplace, and what is loaded, are of one process each.
        command = [sys.executable, "-m", "tests.mutants.sampled", "--most", str(given.most)]
        return max(subprocess.run([*command, module], cwd=ROOT).returncode for module in given.modules)
    trial = Trial(given.modules[0], given.most, given.only)
    return int(pytest.main(["-p", "no:cacheprovider", "--no-header", *MODULES[trial.module]], plugins=[trial]))


def _run_alone(module: str, number: int, tests: Sequence[str]) -> int:
    """The tests in this process, which imports the changed module."""
    original, changed = importlib.machinery.SourceFileLoader.get_code, _changed(module, number)

    def get_code(self: Any, name: str) -> Any:
        return changed if self.path == str(ROOT / module) else original(self, name)

    importlib.machinery.SourceFileLoader.get_code = get_code  # type: ignore[method-assign]
    return int(pytest.main(["-x", "-p", "no:cacheprovider", "--tb=no", *tests]))


def _changed(module: str, number: int | None) -> CodeType:
    tree = ast.parse((ROOT / module).read_text())
    if number is not None:
        changes(tree)[number].apply()
    return compile(ast.fix_missing_locations(tree), str(ROOT / module), "exec", dont_inherit=True)


class Trial:
    """Takes the place of pytest's loop over the tests."""

    def __init__(self, module: str, most: int, only: Sequence[int] | None) -> None:
        self.module, self._path = module, str(ROOT / module)
        self._all = changes(ast.parse((ROOT / module).read_text()))
        numbers = range(len(self._all))
        sample = random.Random(module).sample(numbers, min(most, len(numbers)))
        self._numbers = sorted(only if only else sample)
        self._reached: dict[Any, set[int]] = {}
        self._alone: dict[Any, set[int]] = {}
        self._seconds: dict[Any, float] = {}

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        # What was loaded before is looked for too.
        gc.unfreeze()
        self._run_unchanged(session.items)
        self._control()
        found: dict[str, int] = {}
        for number in self._numbers:
            began, outcome = time.monotonic(), self._try(number)
            found[outcome] = found.get(outcome, 0) + 1
            if outcome in (TIMED_OUT, ENDLESS):
                self._clean(session)
            print(f"\n{outcome} #{number} {self.module}:{self._all[number]} ({time.monotonic() - began:.1f} s)", end="")
            sys.stdout.flush()
        counts = ", ".join(f"{count} {outcome}" for outcome, count in sorted(found.items()))
        print(f"\n{self.module}: {len(self._numbers)} of {len(self._all)} changes: {counts}", flush=True)
        return True

    def _run_unchanged(self, items: Sequence[Any]) -> None:
        cached = [one for one in _of_type(functools._lru_cache_wrapper) if _file_of(one) == self._path]
        prepared = _of_type(Prepared)
        for number, item in enumerate(items):
            lines: set[int] = set()
            # Each test that uses what is remembered reaches the lines that make it.
            _forget(cached, prepared)
            began = time.process_time()
            with _traced(self._path, lines):
                reports = runtestprotocol(item, nextitem=items[(number + 1) % len(items)], log=False)
            if any(report.failed for report in reports):
                print(f"\nleft out, as it fails without a change: {item.nodeid}")
                continue
            self._seconds[item] = time.process_time() - began
            if lines:
                self._reached[item] = lines
        seconds = sum(self._seconds[item] for item in self._reached)
        print(f"\n{len(self._reached)} tests reach {self.module}, {seconds:.0f} s", flush=True)

    def _control(self) -> None:
        """Tests that fail in a fork without a change, such as those of a live server, get a process of their own."""
        while failed := self._in_fork(self._sorted(self._reached), None):
            if not (gone := [item for item in self._reached if item.nodeid in failed.splitlines()]):
                raise pytest.UsageError(f"The tests without a change did not come to an end: {failed}")
            for item in gone:
                print(f"\nfails in a forked process: {item.nodeid}", flush=True)
                self._alone[item] = self._reached.pop(item)

    def _try(self, number: int) -> str:
        change = self._all[number]
        if change.function is None:
            # Also the tests that only read what stands there, such as a table.
            return self._in_process(number, list(self._seconds))
        tests = _reaching(change, self._reached)
        failed = self._in_fork(self._sorted(tests), number) if tests else ""
        if failed in (TIMED_OUT, ENDLESS):
            return failed
        if failed.startswith(BROKEN):
            # Such as another number of variables of an outer function, which a function in use does not take.
            return self._in_process(number, tests)
        others = _reaching(change, self._alone)
        if failed or not others:
            return KILLED if failed else SURVIVED if tests else UNREACHED
        return self._in_process(number, others)

    def _sorted(self, tests: Any) -> list[Any]:
        return sorted(tests, key=lambda item: self._seconds[item])

    def _in_process(self, number: int, tests: Sequence[Any]) -> str:
        names = [item.nodeid for item in self._sorted(tests)]
        command = [sys.executable, "-m", "tests.mutants.sampled", self.module, "--only", str(number), "--alone", *names]
        limit = functools.partial(_limit, IMPORT_SECONDS + self._most_seconds(tests))
        try:
            done = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=PATIENCE, preexec_fn=limit)
        except subprocess.TimeoutExpired:
            return TIMED_OUT
        return SURVIVED if done.returncode == 0 else KILLED if done.returncode > 0 else ENDLESS

    def _in_fork(self, tests: Sequence[Any], number: int | None) -> str:
        """The test that fails first, empty when none does. Without a change all that fail, one a line."""
        from django.db import connections

        connections.close_all()
        functions = _functions(self._path)
        reading, writing = os.pipe()
        if not (child := os.fork()):
            try:
                _plant(functions, _changed(self.module, number), self._all[number] if number is not None else None)
                failing = self._failing(tests)
                found = [next(failing, "")] if number is not None else list(failing)
                os.write(writing, "\n".join(found).encode())
            except BaseException as error:  # noqa: BLE001 - this process ends here in any case
                os.write(writing, f"{BROKEN}: {error!r}".encode())
            finally:
                os._exit(0)
        os.close(writing)
        deadline = time.monotonic() + PATIENCE
        while not (ended := os.waitpid(child, os.WNOHANG))[0]:
            if time.monotonic() > deadline:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                return TIMED_OUT
            time.sleep(0.02)
        if os.WIFSIGNALED(ended[1]):
            return ENDLESS
        with os.fdopen(reading) as pipe:
            return pipe.read()

    def _clean(self, session: pytest.Session) -> None:
        """A process that was ended in a test leaves its rows, and half a conversation with the simulated workers."""
        from django.core.management import call_command
        from pytest_django.plugin import blocking_manager_key

        with session.config.stash[blocking_manager_key].unblock():
            call_command("flush", verbosity=0, interactive=False)
        market = sys.modules.get("tests.hits.market")
        for one in gc.get_objects():
            if market and type(one) is market.Marketplace and one._workers:
                one._workers.kill()
                one._workers = None
                one.sign_up_worker()

    def _most_seconds(self, tests: Any) -> int:
        return LEAST_SECONDS + int(TIMES * sum(self._seconds[item] for item in tests))

    def _failing(self, tests: Sequence[Any]) -> Iterator[str]:
        for number, item in enumerate(tests):
            following = tests[(number + 1) % len(tests)]
            _limit(self._most_seconds([item]))
            if any(report.failed for report in runtestprotocol(item, nextitem=following, log=False)):
                yield str(item.nodeid)


def _reaching(change: Change, reached: Mapping[Any, set[int]]) -> list[Any]:
    return [item for item, lines in reached.items() if lines.intersection(change.lines)]


def _limit(seconds: int) -> None:
    """The system ends this process when it has used the processor for so long from now on."""
    until = int(time.process_time()) + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (until, resource.RLIM_INFINITY))


class _traced:
    """Within, the lines of a file that run are added to `lines`."""

    def __init__(self, path: str, lines: set[int]) -> None:
        self._path, self._lines = path, lines

    def __enter__(self) -> None:
        threading.settrace(self._called)
        sys.settrace(self._called)

    def __exit__(self, *raised: object) -> None:
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type]

    def _called(self, frame: FrameType, event: str, value: Any) -> Any:
        return self._ran if frame.f_code.co_filename == self._path else None

    def _ran(self, frame: FrameType, event: str, value: Any) -> Any:
        self._lines.add(frame.f_lineno)
        return self._ran


def _of_type(wanted: type) -> list[Any]:
    """By the type alone: the class of a lazy object is asked of what it stands for."""
    return [one for one in gc.get_objects() if type(one) is wanted]


def _file_of(cached: Any) -> str:
    return str(getattr(getattr(cached.__wrapped__, "__code__", None), "co_filename", ""))


def _forget(cached: Sequence[Any], prepared: Sequence[Any]) -> None:
    for one in cached:
        one.cache_clear()
    for query in prepared:
        query._queryset = None


def _functions(path: str) -> list[FunctionType]:
    return [one for one in _of_type(FunctionType) if one.__code__.co_filename == path]


def _plant(functions: Sequence[FunctionType], code: CodeType, change: Change | None) -> None:
    """Gives every function that is in use its changed code, whoever holds it, and forgets what was remembered."""
    codes = {(one.co_qualname, one.co_firstlineno): one for one in _codes(code)}
    planted = 0
    for function in functions:
        if new := codes.get((function.__code__.co_qualname, function.__code__.co_firstlineno)):
            planted += change is not None and new.co_name == change.function.name  # type: ignore[union-attr]
            function.__code__ = new
    _forget(_of_type(functools._lru_cache_wrapper), _of_type(Prepared))
    if change is not None and not planted:
        raise RuntimeError(f"no function has the change {change}")


def _codes(code: CodeType) -> Iterator[CodeType]:
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield one
            yield from _codes(one)


if __name__ == "__main__":
    sys.exit(main())
