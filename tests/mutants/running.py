"""Runs tests on copies of the source tree, each of which has one fault at a time."""

from __future__ import annotations

import compileall
import os
import py_compile
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

from ops.surroundings import ROOT
from tests.mutants.listed import Mutant, NotApplicableError

# Where a fault is looked for that the tests named beside it let through.
WIDE = tuple(f"tests/hits/{name}" for name in ("answers", "api", "judging", "payments", "publishing", "workers"))
LEFT_OUT = (".git", ".venv", ".hypothesis", ".mypy_cache", ".ruff_cache", ".pytest_cache", "build", "__pycache__")
# A fault can make a loop endless; on a busy machine the wide set alone takes half an hour.
LONGEST_SECONDS = 3600
PASSED, FAILED = 0, 1
# The values of a parameter, which may hold anything, are left out.
_FAILED = re.compile(r"^(?:FAILED|ERROR) ([^\s\[]+)", re.MULTILINE)


class BrokenRunError(Exception):
    """pytest itself did not run, for instance because a path does not exist."""


@dataclass(frozen=True)
class Outcome:
    """`killed_by` is the first test that failed; `error` says why nothing is known."""

    mutant: Mutant
    killed_by: str = ""
    error: str = ""

    def __str__(self) -> str:
        if self.error:
            return f"ERROR: {self.error}"
        return f"killed by {self.killed_by}" if self.killed_by else "SURVIVED"


class Runs:
    """Runs of pytest in copies of the tree, which can be ended all at once."""

    def __init__(self, folder: Path, copies: int) -> None:
        self._free: SimpleQueue[Path] = SimpleQueue()
        for number in range(copies):
            self._free.put(_copy(folder / f"copy-{number}"))
        self._children: set[subprocess.Popen[str]] = set()
        self._sound: dict[str, bool] = {}
        self._lock = threading.Lock()

    def try_all(self, mutants: Sequence[Mutant], *, wide: bool, copies: int) -> Iterator[Outcome]:
        """Outcomes in the order in which they come."""
        with ThreadPoolExecutor(copies) as pool:
            try:
                for done in as_completed([pool.submit(self._try, mutant, wide) for mutant in mutants]):
                    yield done.result()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                self._end()
                raise

    def _try(self, mutant: Mutant, wide: bool) -> Outcome:
        root = self._free.get()
        try:
            return self._outcome(mutant, root, [mutant.tests, WIDE] if wide else [mutant.tests])
        except (NotApplicableError, BrokenRunError) as error:
            return Outcome(mutant, error=str(error))
        finally:
            self._free.put(root)

    def _outcome(self, mutant: Mutant, root: Path, sets: Sequence[Sequence[str]]) -> Outcome:
        for paths in sets:
            with mutant.planted(root):
                failed = self._first_failure(root, paths)
            if failed and self._is_sound(failed, root):
                return Outcome(mutant, killed_by=failed)
            if failed:
                return Outcome(mutant, error=f"{failed} fails without the fault too")
        return Outcome(mutant)

    def _is_sound(self, test: str, root: Path) -> bool:
        """Whether the test passes without a fault; otherwise it has noticed nothing."""
        with self._lock:
            known = self._sound.get(test)
        if known is None:
            known = not self._first_failure(root, [test])
            with self._lock:
                self._sound[test] = known
        return known

    def _first_failure(self, root: Path, paths: Sequence[str]) -> str:
        """The first test that fails; empty when all pass. Raises BrokenRunError."""
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--tb=no", "-rfE", *paths]
        environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "500"}
        with subprocess.Popen(
            command,
            cwd=root,
            env=environment,
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            # The tests start servers: all of it ends together.
            start_new_session=True,
        ) as child:
            with self._lock:
                self._children.add(child)
            try:
                said, _ = child.communicate(timeout=LONGEST_SECONDS)
            except subprocess.TimeoutExpired:
                return f"the time limit of {LONGEST_SECONDS // 60} minutes"
            finally:
                _kill(child)
                with self._lock:
                    self._children.discard(child)
        if child.returncode == PASSED:
            return ""
        found = _FAILED.search(said)
        if child.returncode != FAILED or not found:
            raise BrokenRunError(f"pytest ended with status {child.returncode}: {said[-2000:]}")
        return found[1]

    def _end(self) -> None:
        with self._lock:
            for child in self._children:
                _kill(child)


def _kill(child: subprocess.Popen[str]) -> None:
    """With all that it started, also what outlived it."""
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)


def _copy(folder: Path) -> Path:
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*LEFT_OUT))
    # By content: a fault can come and go within the second to which the time of a file is kept.
    compileall.compile_dir(folder, quiet=2, invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH)
    return folder
