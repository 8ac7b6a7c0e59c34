"""The bill of materials of the image, and the search for known vulnerabilities of its packages, with the real tools."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from ops import audit
from ops.surroundings import ROOT, free_port

BILL = ROOT / "build" / "sbom.json"


def _make(target: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["make", f"VENV={sys.prefix}", target], cwd=ROOT, capture_output=True, text=True)


@pytest.fixture(scope="module", autouse=True)
def tools() -> None:
    done = _make(f"{sys.prefix}/audit/.installed")
    if done.returncode:
        pytest.skip(f"requirements-audit.txt cannot be installed: {done.stderr.strip().splitlines()[-1]}")


def _locked() -> dict[str, tuple[str, set[str]]]:
    """Of each package its version and the hashes of its files."""
    text = (ROOT / "requirements.lock").read_text()
    return {
        name: (version, set(re.findall(r"sha256:(\w+)", hashes)))
        for name, version, hashes in re.findall(r"^([\w.-]+)==(\S+)((?: \\\n +--hash=\S+)+)$", text, re.MULTILINE)
    }


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.fixture(scope="module")
def bills(tools: None) -> list[bytes]:
    """Made twice, seconds apart."""
    return [_bill(), _bill()]


def _bill() -> bytes:
    BILL.unlink(missing_ok=True)
    done = _make("sbom")
    assert done.returncode == 0, done.stderr
    return BILL.read_bytes()


def test_the_bill_names_every_package_of_the_lock_with_its_version_and_hashes_and_nothing_else(
    bills: list[bytes],
) -> None:
    bill = json.loads(bills[0])
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    billed = {
        part["name"]: (
            part["version"],
            {each["content"] for place in part["externalReferences"] for each in place.get("hashes", [])},
        )
        for part in bill["components"]
    }
    assert len(bill["components"]) == (ROOT / "requirements.lock").read_text().count("==")
    assert billed == _locked()


def test_the_same_lock_gives_the_same_bytes(bills: list[bytes]) -> None:
    assert bills[0] == bills[1]


class Database(ThreadingHTTPServer):
    """Answers as osv.dev does, of the vulnerabilities that a test states."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.known: dict[str, list[dict[str, object]]] = {}
        self.asked: dict[str, str] = {}
        self.status = 200
        self.text = ""
        self.seconds = 0.0
        self.url = f"http://127.0.0.1:{self.server_port}/v1/query"


class Answer(BaseHTTPRequestHandler):
    server: Database

    def do_POST(self) -> None:
        query = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        name = query["package"]["name"]
        assert query["package"]["ecosystem"] == "PyPI"
        self.server.asked[name] = query["version"]
        time.sleep(self.server.seconds)
        known = self.server.known.get(name)
        body = (self.server.text or json.dumps({"vulns": known} if known else {})).encode()
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def database(monkeypatch: pytest.MonkeyPatch) -> Iterator[Database]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with Database() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def _vulnerability(name: str, number: str, aliases: list[str], *fixed: str) -> dict[str, object]:
    """As OSV has it; see https://ossf.github.io/osv-schema/."""
    events = [{"introduced": "0"}, *({"fixed": version} for version in fixed)]
    affected = {"package": {"name": name, "ecosystem": "PyPI"}, "ranges": [{"type": "ECOSYSTEM", "events": events}]}
    return {
        "schema_version": "1.7.0",
        "id": number,
        "aliases": aliases,
        "modified": "2026-11-01T00:00:00Z",
        "published": "2026-11-01T00:00:00Z",
        "summary": "Something\nbad",
        "affected": [affected],
    }


def test_every_package_is_looked_up_and_nothing_found_is_fine(
    database: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    assert audit.main(["--osv-url", database.url]) == 0
    assert database.asked == {_normal(name): version for name, (version, _) in _locked().items()}
    assert capsys.readouterr().out == f"None of {len(_locked())} packages has a known vulnerability.\n"


def test_a_vulnerability_fails_and_is_named_with_package_version_and_what_fixes_it(
    database: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    django, spacy = _locked()["django"][0], _locked()["spacy"][0]
    database.known = {
        "django": [_vulnerability("django", "PYSEC-2026-1", ["CVE-2026-1", "GHSA-a"], "97.0.1", "96.2")],
        "spacy": [_vulnerability("spacy", "GHSA-b", [])],
        "redis": [_vulnerability("redis", "GHSA-c", []) | {"withdrawn": "2026-11-02T00:00:00Z"}],
    }
    assert audit.main(["--osv-url", database.url]) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"django {django}: PYSEC-2026-1 CVE-2026-1 GHSA-a, fixed in 96.2, 97.0.1",
        f"spacy {spacy}: GHSA-b, fixed in no version yet",
    ]


def _one_line(output: str) -> str:
    assert output.count("\n") == 1
    return output


def test_a_database_that_cannot_be_reached_is_said_and_no_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    url = f"http://127.0.0.1:{free_port()}/v1/query"
    assert audit.main(["--osv-url", url]) == 0
    said = _one_line(capsys.readouterr().out)
    assert said == f"The packages were not looked up: no answer from {url} (ConnectionError).\n"


def test_a_name_that_is_not_resolved_is_said_and_no_failure(capsys: pytest.CaptureFixture[str]) -> None:
    assert audit.main(["--osv-url", "https://nowhere.invalid/v1/query"]) == 0
    assert "no answer from https://nowhere.invalid/v1/query" in _one_line(capsys.readouterr().out)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems refuse what Linux leaves waiting")
def test_a_connection_that_is_never_taken_is_said_and_no_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(audit, "ANSWER_SECONDS", 2)
    with socket.socket() as listener, socket.socket() as waiting:
        # As servers do: `free_port` keeps the port until this process ends.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", free_port()))
        listener.listen(0)
        waiting.connect(listener.getsockname())  # the queue is full
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1/query"
        assert audit.main(["--osv-url", url]) == 0
    assert _one_line(capsys.readouterr().out).endswith("(Could not connect).\n")


@pytest.mark.parametrize(
    ("status", "text", "reason"),
    [(503, "{}", "HTTPError: 503"), (200, "<p>Sign in to the network.</p>", "JSONDecodeError")],
)
def test_an_answer_that_is_not_the_databases_is_said_and_no_failure(
    database: Database, capsys: pytest.CaptureFixture[str], status: int, text: str, reason: str
) -> None:
    database.status, database.text = status, text
    assert audit.main(["--osv-url", database.url]) == 0
    assert f"({reason})" in _one_line(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("limit", "reason"), [("ANSWER_SECONDS", "ReadTimeout"), ("SECONDS", "not to all questions within 2 seconds")]
)
def test_a_slow_database_is_not_waited_for(
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    limit: str,
    reason: str,
) -> None:
    monkeypatch.setattr(audit, limit, 2)
    database.seconds = 4
    began = time.monotonic()
    assert audit.main(["--osv-url", database.url]) == 0
    assert time.monotonic() - began < 60
    assert f"({reason})" in _one_line(capsys.readouterr().out)


@pytest.mark.parametrize("line", ["django>=5", "django==5.2.19"])
def test_a_lock_without_versions_or_hashes_is_a_failure(
    database: Database, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, line: str
) -> None:
    (tmp_path / "requirements.lock").write_text(f"{line}\n")
    monkeypatch.setattr(audit, "ROOT", tmp_path)
    assert audit.main(["--osv-url", database.url]) == 1
    assert "requirement django" in capsys.readouterr().out
    assert database.asked == {}


# What pip-audit 2.10.1 writes of a package that its service does not know.
LEFT_OUT = """{"dependencies": [{"name": "amqp", "skip_reason": "Dependency not found on PyPI and could not be \
audited: amqp (5.4.2)"}, {"name": "vine", "version": "5.1.0", "vulns": []}], "fixes": []}"""


def test_a_package_that_was_left_out_is_a_failure() -> None:
    status, lines = audit.verdict(subprocess.CompletedProcess([], 0, LEFT_OUT, ""), audit.OSV_URL)
    assert status == 1
    assert lines == [
        "amqp was not looked up: Dependency not found on PyPI and could not be audited: amqp (5.4.2)",
    ]
