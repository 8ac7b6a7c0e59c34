"""ReCoRD's main job with a simulated crowd: publish, score, block, ask again, release."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ops import demo_checks
from ops.demo_checks_record import run as checks
from ops.demo_crowd import Crowd, people, release, step
from ops.stack import Stack
from ops.surroundings import ROOT

__all__ = ["SAMPLE", "checks", "demonstrate"]

SAMPLE = ROOT / "samples" / "record.jsonl"
WORKERS, SPAMMERS = 12, 2
# Above the crowd's default: with a few dozen answers a worker, chance must not make an honest one look like a spammer.
ACCURACY = 0.9


def demonstrate(stack: Stack, file: Path, seed: int, seconds: float = 600) -> demo_checks.Demonstration:
    """Run the main job on a stack that is up, and say what goes on. Raises StackError."""
    before, _ = demo_checks.balance(stack.settings)
    print(f"Importing and publishing {file.name} (seed {seed}) ...", flush=True)
    numbers = {"seed": seed, "workers": WORKERS, "spammers": SPAMMERS, "accuracy": ACCURACY}
    crowd = Crowd.start(stack, file, numbers)
    try:
        started = step(stack, "start", file, "--seed", seed)
        _tell_numbers(started)
        crowd.work(started["project"], seconds)
    finally:
        table = crowd.stop()
    print(f"\n{table}\n")
    return demo_checks.Demonstration(
        settings=stack.settings,
        input=file,
        started=started,
        people=people(table),
        before=before,
        releases=[release(stack, started["project"], name) for name in ("release-1", "release-2")],
    )


def _tell_numbers(started: dict[str, Any]) -> None:
    print(f"{started['items']} items published for ${started['price']}.")
    if started["numbers"]:
        print(f"Small input, so other numbers than the recipe's: {started['numbers']}.")
    print(f"The crowd: {WORKERS} workers, {SPAMMERS} of them spammers; the others {ACCURACY:.0%} right.", flush=True)
