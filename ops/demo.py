"""`make demo [INPUT=path] [SEED=7]`: the main job from a file to a release, without a person.

Starts a whole stack on free ports and in a temporary folder (with DATABASE_URL and REDIS_URL where they are set),
imports and publishes INPUT, lets a simulated crowd work through the marketplace's site, waits until beat and worker
have harvested, scored, blocked, asked again and led every item to its end, releases twice, and checks the outcome
from the marketplace's own records. Exit status 0 only when every check holds.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from ops import demo_checks, programs
from ops.stack import Stack
from ops.surroundings import ROOT, StackError

SAMPLE = ROOT / "samples" / "record.jsonl"
WORKERS, SPAMMERS = 12, 2
# Above the crowd's default: with a few dozen answers a worker, chance must not make an honest one look like a spammer.
ACCURACY = 0.9
# An honest worker takes one to three seconds for a HIT, a spammer next to none.
TIME_SCALE = 0.05
# The crowd waits until it is told to go.
PATIENCE = 3600
FAILED, STOPPED = 1, 130
RELEASES = ("release-1", "release-2")
DATABASES = ("DATABASE_URL", "MARKETPLACE_DATABASE_URL", "REDIS_URL")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m ops.demo", description=__doc__)
    parser.add_argument("--input", type=Path, default=Path(os.environ.get("INPUT") or SAMPLE))
    parser.add_argument("--seed", type=int, default=int(os.environ.get("SEED") or 7))
    parser.add_argument("--seconds", type=float, default=600, help="give up after so long")
    parser.add_argument("--keep", type=Path, help="keep the release and the logs in this new folder")
    options = parser.parse_args()
    if not options.input.is_file():
        print(f"There is no file {options.input}. Name one, as in: make demo INPUT=my.jsonl", file=sys.stderr)
        return 2
    folder = Path(tempfile.mkdtemp(prefix="annotate-demo-"))
    settings = {name: os.environ[name] for name in DATABASES if os.environ.get(name)}
    status = FAILED
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    began = time.monotonic()
    try:
        with Stack(folder, settings=settings) as stack:
            tell_outcome(demonstrate(stack, options.input.resolve(), options.seed, options.seconds))
        print(f"Done in {time.monotonic() - began:.0f} seconds.", flush=True)
        status = 0
    except (StackError, demo_checks.CheckFailedError) as error:
        print(f"FAILED: {error}", file=sys.stderr)
    except KeyboardInterrupt:
        status = STOPPED
        print("\nStopped.", file=sys.stderr)
    finally:
        _put_away(folder, options.keep, status)
    return status


def demonstrate(stack: Stack, file: Path, seed: int, seconds: float = 600) -> demo_checks.Demonstration:
    """Run the main job on a stack that is up, and say what goes on. Raises StackError."""
    before, _ = demo_checks.balance(stack.settings)
    print(f"Importing and publishing {file.name} (seed {seed}) ...", flush=True)
    crowd = _start_crowd(stack, file, seed)
    try:
        started = json.loads(stack.manage("demo", "start", str(file), "--seed", str(seed)))
        _tell_numbers(started)
        _wait(stack, crowd, started["project"], seconds)
    finally:
        table = _stop_crowd(stack, crowd)
    print(f"\n{table}\n")
    return demo_checks.Demonstration(
        settings=stack.settings,
        input=file,
        project=started["project"],
        namespace=started["namespace"],
        answers=started["answers"],
        need=started["need"],
        spammers=frozenset(re.findall(r"^(\w+) +spammer ", table, re.MULTILINE)),
        before=before,
        releases=[_release(stack, started["project"], name) for name in RELEASES],
    )


def tell_outcome(found: demo_checks.Demonstration) -> None:
    """Make and print the checks. Raises CheckFailedError."""
    print("Checked from outside:", flush=True)
    for name, seen in demo_checks.run(found):
        print(f"  ok  {name}: {seen}", flush=True)
    for note in found.releases[0].report["notes"]:
        print(f"      {note}")


def _start_crowd(stack: Stack, file: Path, seed: int) -> subprocess.Popen[bytes]:
    """A process of its own that knows the worker site's address and the answer key, and nothing else of ours."""
    numbers = {
        "--key": file,
        "--marketplace": stack.marketplace_url,
        "--seed": seed,
        "--workers": WORKERS,
        "--spammers": SPAMMERS,
        "--accuracy": ACCURACY,
        "--time-scale": TIME_SCALE,
        "--until-idle": PATIENCE,
    }
    options = [str(part) for option in numbers.items() for part in option]
    command = programs.tied(stack.data_dir, "crowd", [sys.executable, "manage.py", "crowd", *options])
    with _crowd_log(stack).open("wb") as log:
        return subprocess.Popen(
            command, env=stack.env, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )


def _crowd_log(stack: Stack) -> Path:
    return stack.data_dir / "logs" / "crowd.log"


def _stop_crowd(stack: Stack, crowd: subprocess.Popen[bytes]) -> str:
    """The table that it ends with."""
    if crowd.poll() is None:
        crowd.send_signal(signal.SIGINT)
    try:
        crowd.wait(40)
    except subprocess.TimeoutExpired:
        crowd.kill()
        crowd.wait()
    said = _crowd_log(stack).read_text()
    return said[said.rfind("The crowd ends") :].strip()


def _tell_numbers(started: dict[str, Any]) -> None:
    print(f"{started['items']} items published for ${started['price']}.")
    if started["numbers"]:
        print(f"Small input, so other numbers than the recipe's: {started['numbers']}.")
    print(f"The crowd: {WORKERS} workers, {SPAMMERS} of them spammers; the others {ACCURACY:.0%} right.", flush=True)


def _wait(stack: Stack, crowd: subprocess.Popen[bytes], project: int, seconds: float) -> None:
    """Show the progress until every item has come to its end. Raises StackError."""
    command = [sys.executable, "manage.py", "demo", "wait", str(project), "--seconds", str(seconds)]
    waiting = subprocess.Popen(command, env=stack.env, cwd=ROOT, stdin=subprocess.DEVNULL)
    try:
        while waiting.poll() is None:
            if crowd.poll() is not None:
                raise StackError(f"The crowd has ended too soon. {stack.log_tail('crowd')}")
            time.sleep(0.5)
    finally:
        if waiting.poll() is None:
            waiting.terminate()
            waiting.wait()
    if waiting.returncode:
        raise StackError(f"The items did not come to their end.\n{stack.log_tail('worker')}")


def _release(stack: Stack, project: int, name: str) -> demo_checks.Release:
    """Each in a process of its own, so that nothing that one process remembers makes two releases alike."""
    folder = stack.data_dir / name
    return demo_checks.Release(json.loads(stack.manage("demo", "release", str(project), str(folder))), folder)


def _put_away(folder: Path, keep: Path | None, status: int) -> None:
    if status == FAILED:
        print(f"Logs and databases are kept in {folder}", file=sys.stderr)
        return
    if keep and not status:
        shutil.copytree(folder / RELEASES[0], keep / "release")
        shutil.copytree(folder / "logs", keep / "logs")
        print(f"Release and logs: {keep}")
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
