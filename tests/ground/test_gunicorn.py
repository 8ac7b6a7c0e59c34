"""One file says how gunicorn serves, wherever it is started."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
import yaml

from ops.programs import GUNICORN, programs
from ops.surroundings import ROOT, Ports

SETTING = "ops/gunicorn.py"


def test_a_connection_at_rest_outlives_that_of_a_proxy_in_front() -> None:
    assert runpy.run_path(str(GUNICORN))["keepalive"] > 60


def test_every_way_to_start_it_reads_the_one_file(tmp_path: Path) -> None:
    here = [list(each.command) for each in programs(tmp_path, Ports(), with_broker=False)]
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"].values()
    found = [command for command in [*here, *(each.get("command", []) for each in services)] if "gunicorn" in command]
    assert len(found) == 4
    for command in found:
        assert (ROOT / command[command.index("--config") + 1]) == GUNICORN
        assert not {"--keep-alive", "--threads", "--worker-class", "--graceful-timeout"} & set(command)


@pytest.mark.parametrize(
    "file", ["Dockerfile", "tests/hits/market.py", "tests/marketplace/process.py", "ops/programs.py"]
)
def test_what_starts_it_says_no_keep_alive_of_its_own(file: str) -> None:
    text = (ROOT / file).read_text()
    assert "--keep-alive" not in text
    assert SETTING in text or "str(GUNICORN)" in text
