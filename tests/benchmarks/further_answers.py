"""What items that get answers until workers agree cost, and how right they are, beside a fixed number of answers.

`python -m tests.benchmarks.further_answers --items 300` has the same simulated crowd answer the same items at a real
marketplace, and prints accuracy and dollars of each plan.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys

from ops.surroundings import ROOT

METHODS = "glad mace dawid_skene"
TEST = "tests/hits/judging/test_further_answers_simulated.py"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=300)
    items = str(parser.parse_args().items)
    command = [sys.executable, "-m", "pytest", "-q", "-s", TEST]
    return subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "FURTHER_ITEMS": items, "FURTHER_METHODS": METHODS, "LOG_LEVEL": "WARNING"},
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
