"""docker-compose.yml says what a server needs, and Debian's docker-compose understands it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from ops.surroundings import ROOT

FILE = ROOT / "docker-compose.yml"
ONE_SHOT = {"migrate", "marketplace-migrate"}
REQUIRED = {
    "SECRET_KEY": "a-secret-of-the-requester-side-0123456789",
    "MARKETPLACE_SECRET_KEY": "a-secret-of-the-marketplace-0123456789",
    "POSTGRES_PASSWORD": "asecretofthedatabase",
    "PUBLIC_URL": "https://annotate.example.org",
    "MARKETPLACE_PUBLIC_URL": "https://crowd.example.org",
    "MARKETPLACE_ALLOWED_HOSTS": "crowd.example.org,marketplace",
}


def compose_config(tmp_path: Path, variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    if not shutil.which("docker-compose"):
        complain = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        complain("docker-compose is not installed.")
    settings = tmp_path / "settings.env"
    settings.write_text("".join(f"{name}={value}\n" for name, value in variables.items()))
    return subprocess.run(
        ["docker-compose", "--file", str(FILE), "--env-file", str(settings), "config"],
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
    )


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    done = compose_config(tmp_path_factory.mktemp("compose"), REQUIRED)
    assert done.returncode == 0, done.stderr
    return yaml.safe_load(done.stdout)


@pytest.mark.parametrize("name", REQUIRED)
def test_nothing_starts_without(name: str, tmp_path: Path) -> None:
    done = compose_config(tmp_path, {key: value for key, value in REQUIRED.items() if key != name})
    assert done.returncode != 0
    assert f"set {name} in .env" in done.stderr


def test_the_example_lists_every_variable() -> None:
    named = set(re.findall(r"\$\{(\w+)", FILE.read_text()))
    listed = set(re.findall(r"^(\w+)=", (ROOT / ".env.example").read_text(), re.MULTILINE))
    assert named == listed


def test_every_process_is_there(config: dict[str, Any]) -> None:
    processes = {"web", "worker", "beat", "marketplace", "tick", "postgres", "redis"}
    assert set(config["services"]) == processes | ONE_SHOT


def test_what_stays_is_restarted_and_asked_for_its_health(config: dict[str, Any]) -> None:
    for name in set(config["services"]) - ONE_SHOT:
        assert config["services"][name]["restart"] == "unless-stopped", name
        assert config["services"][name]["healthcheck"]["test"], name


def test_migrations_run_once_before_anything_else(config: dict[str, Any]) -> None:
    done = {"condition": "service_completed_successfully"}
    for name in ("web", "worker", "beat"):
        assert config["services"][name]["depends_on"]["migrate"] == done
    for name in ("marketplace", "tick"):
        assert config["services"][name]["depends_on"]["marketplace-migrate"] == done
    assert {config["services"][name]["restart"] for name in ONE_SHOT} == {"no"}


def test_the_two_sides_share_neither_secret_nor_database(config: dict[str, Any]) -> None:
    requester = config["services"]["web"]["environment"]
    marketplace = config["services"]["marketplace"]["environment"]
    assert set(requester) & set(marketplace) == set()
    assert requester["DATABASE_URL"].endswith("/annotate")
    assert marketplace["MARKETPLACE_DATABASE_URL"].endswith("/marketplace")


def test_nothing_is_open_to_other_machines(config: dict[str, Any]) -> None:
    """A proxy in front ends TLS; database and broker stay in the network of the containers."""
    ports = [port for service in config["services"].values() for port in service.get("ports", [])]
    assert sorted(ports) == ["127.0.0.1:8000:8000/tcp", "127.0.0.1:8001:8001/tcp"]


def test_the_sandbox_stays_off(config: dict[str, Any]) -> None:
    for service in config["services"].values():
        switches = {"DEBUG", "MARKETPLACE_DEBUG", "MARKETPLACE_SANDBOX", "MARKETPLACE_ACCEPT_ANY_KEY"}
        assert not switches & set(service.get("environment", {}))


def test_the_image_runs_as_nobody_special_and_holds_no_secret() -> None:
    text = (ROOT / "Dockerfile").read_text()
    assert re.search(r"^USER annotate$", text, re.MULTILINE)
    assert "SECRET" not in text
    ignored = (ROOT / ".dockerignore").read_text().split()
    assert {".env", ".git", "data", ".venv"} <= set(ignored)
