"""`make faults [FAULTS=name,name]`: hurt a running installation in every way, and count what that cost.

Exit status 0 only when nothing was doubled, missing, lost, stuck or a cent off, in any scenario.
"""

from __future__ import annotations

import argparse
import pickle
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from ops.surroundings import ROOT
from tests.faults.scenarios import ITEMS, SCENARIOS, Outcome, run
from tests.faults.table import HEAD, line, write

DOCUMENT = ROOT / "docs" / "reliability.md"


def main() -> int:
    given = _read()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if given.into:
        given.into.write_bytes(pickle.dumps(run(given.names[0], given.items, given.verbose)))
        return 0
    print(HEAD, flush=True)
    outcomes = []
    for outcome in _side_by_side(
        given.names, given.lanes, ["--items", str(given.items), *["--verbose"] * given.verbose]
    ):
        outcomes.append(outcome)
        _tell(outcome)
    if given.write:
        write(outcomes, DOCUMENT)
    return 0 if all(outcome.fine for outcome in outcomes) else 1


def _read() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    add = parser.add_argument
    add("names", nargs="*", metavar="NAME", help=f"of {', '.join(SCENARIOS)}; all by default")
    add("--items", type=int, default=ITEMS)
    add("--lanes", type=int, default=2, help="how many scenarios at a time: half of their time they wait")
    add("--verbose", action="store_true", help="say on stderr how far each scenario is")
    add("--write", action="store_true", help=f"put the lines into the table of {DOCUMENT.relative_to(ROOT)}")
    add("--into", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    given.names = [part for name in given.names for part in name.split(",") if part] or list(SCENARIOS)
    unknown = [name for name in given.names if name not in SCENARIOS]
    if unknown:
        parser.error(f"There is no scenario {', '.join(unknown)}; there are {', '.join(SCENARIOS)}.")
    return given


def _side_by_side(names: Sequence[str], lanes: int, options: Sequence[str]) -> Iterator[Outcome]:
    """Each scenario in a process of its own; what they came to, in the order in which they end."""
    children: list[subprocess.Popen[bytes]] = []
    with tempfile.TemporaryDirectory(prefix="annotate-faults-") as folder, ThreadPoolExecutor(lanes) as pool:
        try:
            begun = [pool.submit(_apart, name, Path(folder) / name, options, children.append) for name in names]
            for done in as_completed(begun):
                yield done.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for child in children:
                child.send_signal(signal.SIGINT)
            raise


def _apart(name: str, file: Path, options: Sequence[str], tell: Callable[[subprocess.Popen[bytes]], None]) -> Outcome:
    child = subprocess.Popen([sys.executable, "-m", "tests.faults", name, *options, "--into", str(file)], cwd=ROOT)
    tell(child)
    status = child.wait()
    if not file.exists():
        return Outcome(name, wrong=[f"the scenario's process ended with status {status}"])
    outcome: Outcome = pickle.loads(file.read_bytes())
    return outcome


def _tell(outcome: Outcome) -> None:
    print(line(outcome), flush=True)
    for note in outcome.notes:
        print(f"    {note}")
    for sentence in [*outcome.wrong, *outcome.verdict.wrong][:40]:
        print(f"    WRONG: {sentence}", flush=True)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        sys.exit(130)
