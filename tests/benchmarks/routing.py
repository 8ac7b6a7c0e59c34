"""What it saves to let a model decide what it is sure of, and how wrong that is, beside asking people about everything.

`python -m tests.benchmarks.routing --items 1000` has the same simulated crowd answer at a real marketplace, all items
and then only those that a calibrated model of 90 % accuracy leaves, and prints errors, dollars and what the audit says.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys

from ops.surroundings import ROOT

TEST = "tests/hits/model_assist/test_routing_simulated.py"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=1000)
    items = str(parser.parse_args().items)
    command = [sys.executable, "-m", "pytest", "-q", "-s", TEST]
    return subprocess.run(
        command, cwd=ROOT, env={**os.environ, "ROUTING_ITEMS": items, "LOG_LEVEL": "WARNING"}
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
