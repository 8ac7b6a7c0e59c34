"""What the processes of a stack see, and how PostgreSQL databases come to be."""

from __future__ import annotations

import os
import secrets
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg2
import pytest

from ops import ensure_database, run_tests
from ops.surroundings import Ports, StackError, as_shell, ours, surroundings, whole_environment


def test_the_secrets_are_private_and_outlive_a_restart(tmp_path: Path) -> None:
    first = surroundings(tmp_path, Ports(), {})
    assert first["SECRET_KEY"] != first["MARKETPLACE_SECRET_KEY"]
    assert surroundings(tmp_path, Ports(), {}) == first
    assert stat.S_IMODE((tmp_path / "secrets.env").stat().st_mode) == 0o600


def test_the_two_sides_have_different_hosts(tmp_path: Path) -> None:
    found = surroundings(tmp_path, Ports(web=9000, marketplace=9001), {})
    assert (found["PUBLIC_URL"], found["MARKETPLACE_PUBLIC_URL"]) == ("http://localhost:9000", "http://127.0.0.1:9001")


def test_what_the_caller_sets_wins(tmp_path: Path) -> None:
    found = surroundings(tmp_path, Ports(), {"WEBHOOK_HTTP": "False", "REDIS_URL": "redis://broker/3"})
    assert (found["WEBHOOK_HTTP"], found["REDIS_URL"]) == ("False", "redis://broker/3")


def test_a_key_pair_for_another_service_stays_out_of_the_local_marketplace(tmp_path: Path) -> None:
    shell = {"AWS_ACCESS_KEY_ID": "REAL", "AWS_SECRET_ACCESS_KEY": "real", "AWS_PROFILE": "work"}
    local = surroundings(tmp_path, Ports(), shell)
    assert local["AWS_ACCESS_KEY_ID"] == "LOCALREQUESTER"
    assert "AWS_PROFILE" not in local
    remote = surroundings(tmp_path, Ports(), shell | {"MTURK_ENDPOINT_URL": "https://crowd.example.org"})
    assert (remote["AWS_ACCESS_KEY_ID"], remote["AWS_PROFILE"]) == ("REAL", "work")


def test_settings_of_the_shell_reach_a_stack_only_when_they_are_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgres://elsewhere/x")
    monkeypatch.setenv("MARKETPLACE_SANDBOX", "False")
    assert ours(os.environ)["DATABASE_URL"] == "postgres://elsewhere/x"
    assert not {"DATABASE_URL", "MARKETPLACE_SANDBOX"} & set(whole_environment({}))


def test_a_proxy_is_not_asked_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "intranet.example.org")
    assert whole_environment({})["NO_PROXY"] == "intranet.example.org,localhost,127.0.0.1"


def test_the_marketplace_gets_a_database_beside_the_requesters(tmp_path: Path) -> None:
    found = surroundings(tmp_path, Ports(), {"DATABASE_URL": "postgres://ann:p%40ss@db:5432/news?sslmode=require"})
    assert found["MARKETPLACE_DATABASE_URL"] == "postgres://ann:p%40ss@db:5432/news_marketplace?sslmode=require"


def test_a_server_without_a_database_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StackError, match="names no database"):
        surroundings(tmp_path, Ports(), {"DATABASE_URL": "postgres://ann@db:5432/"})


@pytest.mark.parametrize("value", ["", "0", "65536", "-1", "8000.5", "web", "٨٠٨٠"])
def test_a_port_that_is_none_is_refused(value: str) -> None:
    with pytest.raises(StackError, match="WEB_PORT must be a port number"):
        Ports.chosen({"WEB_PORT": value})


def test_two_programs_on_one_port_are_refused() -> None:
    with pytest.raises(StackError, match="three different ports"):
        Ports.chosen({"WEB_PORT": "8001"})


def test_values_survive_the_shell() -> None:
    told = as_shell({"B": "it's $HOME", "A": "plain"})
    assert told.endswith("\nA=plain\nB='it'\"'\"'s $HOME'\n")


def test_what_a_shell_has_of_another_installation_does_not_stay_beside_its_settings(tmp_path: Path) -> None:
    file = tmp_path / "local.env"
    file.write_text(as_shell({"REDIS_URL": "redis://here"}))
    names = ("DATABASE_URL", "MARKETPLACE_DATABASE_URL", "REDIS_URL")
    command = f"set -a; . {file}; set +a; env"
    said = subprocess.run(["sh", "-ec", command], env=dict.fromkeys(names, "there"), capture_output=True, text=True)
    found = dict(line.split("=", 1) for line in said.stdout.splitlines())
    assert {name: found.get(name) for name in names} == {**dict.fromkeys(names), "REDIS_URL": "redis://here"}


@pytest.fixture
def fresh_url() -> Iterator[str]:
    server = run_tests.postgresql()
    if server is None:
        complain = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        complain("No PostgreSQL on this machine.")
    url = f"{server}ground_{secrets.token_hex(4)}"
    yield url
    ensure_database.drop(url)


def test_a_missing_database_is_created_once(fresh_url: str) -> None:
    assert ensure_database.ensure(fresh_url)
    assert not ensure_database.ensure(fresh_url)
    psycopg2.connect(fresh_url).close()


def test_a_silent_server_is_an_error_and_sqlite_needs_nothing() -> None:
    with pytest.raises(psycopg2.OperationalError):
        ensure_database.ensure("postgres://postgres@127.0.0.1:1/x")
    assert not ensure_database.ensure("sqlite:///somewhere.sqlite3")
