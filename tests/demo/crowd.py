"""What every demonstration does with a stack: let a crowd work, wait for the items, release."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ops import programs
from ops.stack import Stack
from ops.surroundings import ROOT, StackError
from tests.demo import checks

# An honest worker takes one to three seconds for a HIT, a spammer next to none.
TIME_SCALE = 0.05
# The crowd waits until it is told to go.
PATIENCE = 86_400
# What a step waits for ends by itself when nothing moves; this one only keeps a step from standing for ever.
LONGEST_STEP = 86_400
STOP_SECONDS = 600


@dataclass(frozen=True)
class Crowd:
    """A process of its own that knows the worker site's address and the answer key, and nothing else of ours."""

    stack: Stack
    process: subprocess.Popen[bytes]

    @classmethod
    def start(cls, stack: Stack, key: Path, numbers: Mapping[str, object]) -> Crowd:
        """`numbers` are options of `manage.py crowd` by their names."""
        given = {
            "key": key,
            "marketplace": stack.marketplace_url,
            "time-scale": TIME_SCALE,
            "until-idle": PATIENCE,
            **numbers,
        }
        options = [part for name, value in given.items() for part in (f"--{name}", str(value))]
        command = programs.tied(stack.data_dir, "crowd", [sys.executable, "manage.py", "crowd", *options])
        with _log(stack).open("wb") as log:
            process = subprocess.Popen(
                command,
                env=stack.env,
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        return cls(stack, process)

    def stop(self) -> str:
        """The table that it ends with."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        said = _log(self.stack).read_text()
        return said[said.rfind("The crowd ends") :].strip()

    def work(self, project: int, seconds: float) -> None:
        """Show the progress until every item has come to its end. Raises StackError."""
        command = [sys.executable, "manage.py", "demo", "wait", str(project), "--seconds", str(seconds)]
        waiting = subprocess.Popen(command, env=self.stack.env, cwd=ROOT, stdin=subprocess.DEVNULL)
        try:
            while waiting.poll() is None:
                if self.process.poll() is not None:
                    raise StackError(f"The crowd has ended too soon. {self.stack.log_tail('crowd')}")
                time.sleep(0.5)
        finally:
            if waiting.poll() is None:
                waiting.terminate()
                waiting.wait()
        if waiting.returncode:
            raise StackError(f"The items did not come to their end.\n{self.stack.log_tail('worker')}")


def people(table: str) -> dict[str, str]:
    """Worker id to kind, from the table that a crowd ends with."""
    return dict(re.findall(r"^(\w+) +(careful|careless|random|spammer) ", table, re.MULTILINE))


def step(stack: Stack, *arguments: object) -> dict[str, Any]:
    """Run `manage.py demo ...`; what it reported. Raises StackError."""
    said: dict[str, Any] = json.loads(stack.manage("demo", *map(str, arguments), seconds=LONGEST_STEP))
    return said


def release(stack: Stack, project: int, name: str) -> checks.Release:
    """Each in a process of its own, so that nothing that one process remembers makes two releases alike."""
    folder = stack.data_dir / name
    return checks.Release(step(stack, "release", project, folder), folder)


def baselines(stack: Stack, project: int) -> None:
    """Print the table of the recipe's simple systems on the newest release."""
    print(stack.manage("demo", "baselines", str(project), seconds=LONGEST_STEP), flush=True)


def _log(stack: Stack) -> Path:
    return stack.data_dir / "logs" / "crowd.log"
