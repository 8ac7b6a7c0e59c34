"""`python -m tests.mutants`: plants the faults of mutants.toml one at a time and sees which of them the tests notice.

Each fault is tried on the tests named beside it, and where these let it through on a wider set. Exit status 0 only when
every fault could be planted and at most three were let through.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from ops.surroundings import ROOT
from tests.mutants.listed import Mutant, listed
from tests.mutants.running import Outcome, Runs

RESULTS = ROOT / "tests" / "mutants" / "results.txt"
COMMAND = "python -m tests.mutants --write"
MOST_SURVIVORS = 3


def main() -> int:
    given = _read()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    mutants = [mutant for mutant in listed() if not given.only or mutant.name in given.only]
    began, outcomes = time.monotonic(), list[Outcome]()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        runs = Runs(Path(folder), given.processes)
        for outcome in runs.try_all(mutants, wide=not given.named, copies=given.processes):
            outcomes.append(outcome)
            print(f"{outcome.mutant.name}: {outcome}", flush=True)
    outcomes.sort(key=lambda outcome: mutants.index(outcome.mutant))
    print(f"{_summary(outcomes)}, {(time.monotonic() - began) / 60:.0f} minutes")
    if given.write:
        RESULTS.write_text(_document(outcomes) + kept_below(RESULTS.read_text()))
    errors, survivors = _errors(outcomes), _survivors(outcomes)
    return 1 if errors or len(survivors) > MOST_SURVIVORS else 0


def _read() -> argparse.Namespace:
    names = [mutant.name for mutant in listed()]
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    add = parser.add_argument
    add("--only", nargs="+", metavar="NAME", choices=names, help="these faults alone")
    add("--named", action="store_true", help="run the named tests alone, not the wider set")
    add("--processes", type=int, default=2, help="how many faults are tried at a time")
    add("--write", action="store_true", help=f"write {RESULTS.relative_to(ROOT)}; for all faults only")
    given = parser.parse_args()
    if given.write and (given.only or given.named):
        parser.error("--write is for all faults and all tests.")
    return given


def _errors(outcomes: Sequence[Outcome]) -> list[Mutant]:
    return [outcome.mutant for outcome in outcomes if outcome.error]


def _survivors(outcomes: Sequence[Outcome]) -> list[Mutant]:
    return [outcome.mutant for outcome in outcomes if not outcome.error and not outcome.killed_by]


def _summary(outcomes: Sequence[Outcome]) -> str:
    killed = sum(bool(outcome.killed_by) for outcome in outcomes)
    rest = f"{len(_survivors(outcomes))} survived, {len(_errors(outcomes))} errors"
    return f"{len(outcomes)} mutants: {killed} killed, {rest}"


def _document(outcomes: Sequence[Outcome]) -> str:
    rows = "".join(
        f"| {one.mutant.name} | `{one.mutant.file}` | {one.mutant.wrong} | {_noticed(one)} |\n" for one in outcomes
    )
    return (
        "# Faults that the tests notice\n\n"
        f"Written by `{COMMAND}`. It plants one fault of `tests/mutants/mutants.toml` at a time in a copy of the\n"
        "source tree and runs the tests until one fails: those that the list names, then a wider set.\n\n"
        f"{_summary(outcomes)}.\n\n"
        "| fault | file | what would go wrong | noticed first by |\n| --- | --- | --- | --- |\n"
        f"{rows}"
    )


def kept_below(document: str) -> str:
    """What is written by hand, from the first heading of the second order on: the sampled changes."""
    _, heading, rest = document.partition("\n## ")
    return heading + rest


def _noticed(outcome: Outcome) -> str:
    return f"`{outcome.killed_by}`" if outcome.killed_by else str(outcome)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        sys.exit(130)
