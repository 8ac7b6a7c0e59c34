"""docker-compose.yml says what a server needs, and Debian's docker-compose understands it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from hits.environment import Requester
from marketplace.environment import Marketplace
from ops.programs import programs
from ops.surroundings import ROOT, Ports

FILE = ROOT / "docker-compose.yml"
ONE_SHOT = {"databases", "migrate", "marketplace-migrate", "proxy-configuration"}
REQUIRED = {
    "POSTGRES_PASSWORD": "asecretofthedatabase",
    "DATABASE_PASSWORD": "asecretofonerole",
    "MARKETPLACE_DATABASE_PASSWORD": "asecretoftheother",
    "REDIS_PASSWORD": "asecretofthebroker",
    "PUBLIC_URL": "https://annotate.example.org",
    "MARKETPLACE_PUBLIC_URL": "https://crowd.example.org",
}
# What the programs of each side read from a file of their own.
FILES = {
    "requester.env": {"SECRET_KEY": "a-secret-of-the-requester-side-0123456789", "EMAIL_FROM": "leads@example.org"},
    "marketplace.env": {"MARKETPLACE_SECRET_KEY": "a-secret-of-the-marketplace-0123456789", "EMAIL_FROM": ""},
}


def compose_config(tmp_path: Path, variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    if not shutil.which("docker-compose"):
        complain = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        complain("docker-compose is not installed.")
    shutil.copy(FILE, tmp_path)
    for file, values in {".env": variables, **FILES}.items():
        (tmp_path / file).write_text("".join(f"{name}={value}\n" for name, value in values.items()))
    return subprocess.run(
        ["docker-compose", "--profile", "proxy", "config"],
        cwd=tmp_path,
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
    processes = {"web", "worker", "long-worker", "beat", "marketplace", "tick", "postgres", "redis", "proxy"}
    processes |= {"backup", "marketplace-backup"}
    assert set(config["services"]) == processes | ONE_SHOT


def test_what_stays_is_restarted_and_asked_for_its_health(config: dict[str, Any]) -> None:
    for name in set(config["services"]) - ONE_SHOT:
        assert config["services"][name]["restart"] == "unless-stopped", name
        assert config["services"][name]["healthcheck"]["test"], name


def test_the_two_workers_take_what_they_take_on_one_machine(config: dict[str, Any]) -> None:
    def queues(command: Sequence[str]) -> str:
        return command[list(command).index("--queues") + 1]

    here = {one.name: one.command for one in programs(Path(), Ports.free(), with_broker=False)}
    for name in ("worker", "long-worker"):
        assert queues(config["services"][name]["command"]) == queues(here[name])


def test_migrations_run_once_before_anything_else(config: dict[str, Any]) -> None:
    done = {"condition": "service_completed_successfully"}
    for name in ("web", "worker", "long-worker", "beat", "backup"):
        assert config["services"][name]["depends_on"]["migrate"] == done
    for name in ("marketplace", "tick", "marketplace-backup"):
        assert config["services"][name]["depends_on"]["marketplace-migrate"] == done
    assert {config["services"][name]["restart"] for name in ONE_SHOT} == {"no"}


def test_no_container_changes_its_image_has_a_right_of_root_or_takes_what_it_likes(config: dict[str, Any]) -> None:
    for name, service in config["services"].items():
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert service["mem_limit"], name
        assert service["pids_limit"] > 0, name
        assert service["logging"]["options"].keys() == {"max-size", "max-file"}, name
    # These begin as root and go on as somebody else.
    assert {name for name, service in config["services"].items() if "cap_add" in service} == {"postgres", "proxy"}


def test_the_broker_asks_for_a_password_that_no_list_of_processes_shows(config: dict[str, Any]) -> None:
    secret = REQUIRED["REDIS_PASSWORD"]
    assert config["services"]["web"]["environment"]["REDIS_URL"] == f"redis://:{secret}@redis:6379/0"
    assert secret not in str(config["services"]["redis"]["command"])


def test_each_side_has_a_role_of_its_own_at_the_database_and_neither_is_the_administrator(
    config: dict[str, Any],
) -> None:
    made = config["services"]["databases"]["environment"]
    used = {
        "DATABASE_URL": config["services"]["web"]["environment"]["DATABASE_URL"],
        "MARKETPLACE_DATABASE_URL": config["services"]["marketplace"]["environment"]["MARKETPLACE_DATABASE_URL"],
    }
    assert made.items() >= used.items()
    assert len({urlsplit(url).username for url in made.values()}) == 3


def test_backups_have_the_client_programs_of_the_server(config: dict[str, Any]) -> None:
    major = config["services"]["postgres"]["image"].split(":")[1].split("-")[0].split("@")[0]
    assert f"postgresql-client-{major.split('.')[0]} " in (ROOT / "Dockerfile").read_text()


def test_the_two_sides_share_neither_secret_nor_database(config: dict[str, Any]) -> None:
    requester = config["services"]["web"]["environment"]
    marketplace = config["services"]["marketplace"]["environment"]
    assert set(requester) & set(marketplace) == {"EMAIL_FROM"}
    assert (requester["EMAIL_FROM"], marketplace["EMAIL_FROM"]) == ("leads@example.org", "")
    assert FILES["requester.env"].items() <= requester.items()
    assert FILES["marketplace.env"].items() <= marketplace.items()
    for secret in (FILES["marketplace.env"]["MARKETPLACE_SECRET_KEY"], REQUIRED["MARKETPLACE_DATABASE_PASSWORD"]):
        assert secret not in str(requester)
    for secret in (FILES["requester.env"]["SECRET_KEY"], REQUIRED["DATABASE_PASSWORD"], REQUIRED["REDIS_PASSWORD"]):
        assert secret not in str(marketplace)
    assert requester["DATABASE_URL"].endswith("/annotate")
    assert marketplace["MARKETPLACE_DATABASE_URL"].endswith("/marketplace")


def test_nothing_but_the_proxy_is_open_to_other_machines(config: dict[str, Any]) -> None:
    """It ends TLS; database and broker stay in the network of the containers."""
    ports = {name: service["ports"] for name, service in config["services"].items() if "ports" in service}
    assert {each["published"] for each in ports.pop("proxy")} == {80, 443}
    assert ports == {"web": ["127.0.0.1:8000:8000/tcp"], "marketplace": ["127.0.0.1:8001:8001/tcp"]}


def test_the_proxy_reads_the_addresses_of_both_sites_and_no_secret(config: dict[str, Any]) -> None:
    service = config["services"]["proxy-configuration"]
    assert set(service["environment"]) == {"PUBLIC_URL", "MARKETPLACE_PUBLIC_URL", "MARKETPLACE_FRAMES_URL"}
    assert {"--web=web:8000", "--marketplace=marketplace:8001"} <= set(service["command"])


def test_what_compose_sets_for_a_side_is_a_variable_of_that_side(config: dict[str, Any]) -> None:
    for service, side in (("web", Requester), ("marketplace", Marketplace)):
        assert set(config["services"][service]["environment"]) <= set(side.model_fields)


def test_the_sandbox_stays_off(config: dict[str, Any]) -> None:
    for service in config["services"].values():
        switches = {"DEBUG", "MARKETPLACE_SANDBOX", "MARKETPLACE_ACCEPT_ANY_KEY"}
        assert not switches & set(service.get("environment", {}))


def test_the_image_runs_as_nobody_special_and_holds_no_secret() -> None:
    text = (ROOT / "Dockerfile").read_text()
    assert re.search(r"^USER annotate$", text, re.MULTILINE)
    assert "SECRET" not in text
    ignored = (ROOT / ".dockerignore").read_text().split()
    assert {".env", *FILES, ".git", "data", ".venv"} <= set(ignored)
