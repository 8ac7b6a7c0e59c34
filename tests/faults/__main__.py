"""`make faults [FAULTS=name,name]`: hurt a running installation in every way, and count what that cost.

Exit status 0 only when nothing was doubled, missing, lost, stuck or a cent off, in any scenario.
"""

from __future__ import annotations

import argparse
import signal
import sys

from ops.surroundings import ROOT
from tests.faults.scenarios import ITEMS, SCENARIOS, run
from tests.faults.table import HEAD, line, write

DOCUMENT = ROOT / "docs" / "reliability.md"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(SCENARIOS)}; all by default")
    parser.add_argument("--items", type=int, default=ITEMS)
    parser.add_argument("--verbose", action="store_true", help="say on stderr how far each scenario is")
    parser.add_argument("--write", action="store_true", help=f"put the table into {DOCUMENT.relative_to(ROOT)}")
    given = parser.parse_args()
    names = [part for name in given.names for part in name.split(",") if part] or list(SCENARIOS)
    unknown = [name for name in names if name not in SCENARIOS]
    if unknown:
        parser.error(f"There is no scenario {', '.join(unknown)}; there are {', '.join(SCENARIOS)}.")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    print(HEAD, flush=True)
    outcomes = []
    for name in names:
        outcomes.append(run(name, given.items, given.verbose))
        print(line(outcomes[-1]), flush=True)
        for note in outcomes[-1].notes:
            print(f"    {note}")
        for sentence in [*outcomes[-1].wrong, *outcomes[-1].verdict.wrong][:40]:
            print(f"    WRONG: {sentence}", flush=True)
    if given.write:
        write(outcomes, DOCUMENT)
    return 0 if all(outcome.fine for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
