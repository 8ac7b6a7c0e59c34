"""A whole Annotate, running, with leads and a crowd that knows the answers to a small table."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pandas
import pytest

from annotate_client import Client, Project, Stage
from ops import programs
from ops.client_shapes import description
from ops.stack import Stack
from ops.surroundings import ROOT
from ops.waiting import PATIENCE_SECONDS
from tests.client.notebooks import cells
from tests.migrated import bring

NOTEBOOK = ROOT / "docs" / "notebooks" / "collect-from-python.ipynb"
KEY = ROOT / "docs" / "notebooks" / "crowd-key.jsonl"
# The crowd waits between two tests.
UNTIL_IDLE = ("--until-idle", "86400")
Row = dict[str, Any]
# On a busy machine a crowd takes its time.
CROWD_SECONDS = 1500


def rows() -> list[Row]:
    """What the crowd of the notebook knows, under the recipe's names of columns."""
    return [_row(f"r{number}", json.loads(line)) for number, line in enumerate(KEY.read_text("utf-8").splitlines())]


def _row(key: str, known: Row) -> Row:
    (asked,) = known["questions"]
    choices = sorted([*asked["correct"], *asked["incorrect"]])
    text, right = known["opening"], asked["correct"][0]
    return {"id": key, "text": text, "question": asked["question"], "choices": choices, "gold": right}


def frame() -> pandas.DataFrame:
    """The same as a table whose cells are texts, for a file."""
    return pandas.DataFrame(rows()).assign(choices=["|".join(row["choices"]) for row in rows()])


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with Stack(bring(tmp_path_factory.mktemp("client"))) as running:
        yield running


@pytest.fixture(scope="session")
def token_of(stack: Stack) -> Callable[[str], str]:
    """Makes a lead and a token of that lead that may pay."""

    def make(name: str) -> str:
        stack.manage("create_lead", name)
        return stack.manage("api_tokens", name, "--make", "tests", "--scope", "pay").strip()

    return make


@pytest.fixture(scope="session")
def token(token_of: Callable[[str], str]) -> str:
    return token_of("clara")


@pytest.fixture(scope="session")
def document() -> dict[str, Any]:
    """The API's description, of this source tree."""
    return description()


@pytest.fixture(scope="session")
def client(stack: Stack, token: str) -> Iterator[Client]:
    with Client(stack.web_url, token) as made:
        yield made


@pytest.fixture(scope="session")
def environment(stack: Stack, token: str) -> dict[str, str]:
    """Of a program that works as the lead, and knows nothing else of this installation."""
    return {
        "PATH": "/usr/bin:/bin",
        "ANNOTATE_URL": stack.web_url,
        "ANNOTATE_TOKEN": token,
        "PYTHONPATH": str(ROOT / "client"),
        "PYTHONUNBUFFERED": "1",
        "NO_PROXY": "localhost,127.0.0.1",
    }


_numbers = count(1)


@pytest.fixture(scope="session")
def new_project(client: Client) -> Callable[[], Project]:
    def make() -> Project:
        name = f"Client test {next(_numbers)}"
        return client.create_project(name, recipe="choice", budget="20.00", contact_email="lab@example.org")

    return make


@pytest.fixture
def project(new_project: Callable[[], Project]) -> Project:
    """Empty."""
    return new_project()


@pytest.fixture(scope="session")
def crowd(stack: Stack) -> Iterator[None]:
    """Started as the notebook says, and until the tests end."""
    (line,) = [line for text in cells(NOTEBOOK, "markdown") for line in text.splitlines() if " crowd --key " in line]
    options = shlex.split(line.partition("manage.py")[2])
    command = programs.tied(stack.data_dir, "crowd", [sys.executable, "manage.py", *options, *UNTIL_IDLE])
    with (stack.data_dir / "logs" / "crowd.log").open("wb") as log:
        process = subprocess.Popen(
            command, cwd=ROOT, env=stack.env, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
    yield
    assert process.poll() is None, stack.log_tail("crowd")
    process.send_signal(signal.SIGINT)
    process.wait(PATIENCE_SECONDS)


@pytest.fixture(scope="session")
def collected(new_project: Callable[[], Project], crowd: None) -> Stage:
    """Ten items, answered by the crowd and decided."""
    project = new_project()
    project.import_items(rows())
    stage = project.stage("choose")
    quote = stage.quote()
    stage.publish(quote, confirm=quote.total)
    stage.wait(timeout=CROWD_SECONDS)
    return stage


def run_script(command: list[str], environment: dict[str, str], folder: Path, said: str = "") -> str:
    """What a program printed, whose working directory is `folder` and whose input is `said`."""
    done = subprocess.run(
        [sys.executable, *command],
        env=environment,
        cwd=folder,
        input=said,
        capture_output=True,
        text=True,
        timeout=CROWD_SECONDS,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
