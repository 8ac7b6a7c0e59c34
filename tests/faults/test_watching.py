"""What an operator sees of a running installation, with its broker and without: a real one is ended, and frozen."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
import requests
import yaml

from ops.healthy import answers, ask, not_ready
from ops.surroundings import ROOT, free_port
from ops.waiting import until, wait_started
from tests.faults.installation import WATCHED, Installation, ended, frozen
from tests.faults.visits import Visitors

MONITORING = ROOT / "ops" / "monitoring"
NAME = re.compile(r"\b(?:annotate|marketplace|http|service|disk|metrics)_[a-z_]+\b")
# Parts of an expression that look like names of series.
NO_SERIES = {"http_requests", "metrics_part"}


def _programs_ready(it: Installation) -> bool:
    return not not_ready(it.stack.ports.web) and not not_ready(it.stack.ports.marketplace)


# One answer in the logs


def _first(lines: list[dict[str, Any]], **fields: Any) -> dict[str, Any]:
    found = [line for line in lines if all(line.get(name) == value for name, value in fields.items())]
    assert found, f"no line with {fields}"
    return found[0]


def test_one_answer_is_followed_by_one_id_through_page_marketplace_and_worker(finished: Installation) -> None:
    web, marketplace, worker = map(finished.lines, ("web", "marketplace", "worker"))
    recorded = _first(worker, message="An answer is recorded.")
    about = {name: recorded[name] for name in ("request_id", "assignment_id", "hit_id")}
    _first(web, view="task", method="GET", status=200, request_id=about["request_id"])
    # Its row may not have known yet which HIT it became, for replies were lost.
    at_check = {name: about[name] for name in ("request_id", "assignment_id")}
    _first(web, message="An answer is checked.", **at_check)
    _first(web, view="task-check", request_id=about["request_id"])
    _first(marketplace, message="An answer is taken.", **about)
    _first(marketplace, view="site:external_submit", request_id=about["request_id"])


def test_a_job_and_its_calls_to_the_marketplace_bear_one_id(finished: Installation) -> None:
    given = "a-request-of-the-proxy.1"
    address = f"{finished.stack.web_url}/api/projects/{finished.project['slug']}/stages/validate/harvest/"
    headers = {"Authorization": f"Token {finished.project['token']}", "X-Request-ID": given}
    reply = requests.post(address, json={}, headers=headers, timeout=120)
    assert (reply.status_code, reply.headers["X-Request-ID"]) == (202, given)

    def called() -> bool:
        lines = finished.lines("marketplace")
        return any(line.get("request_id") == given and line.get("view", "").startswith("wire:") for line in lines)

    until(called, "the job's call is in the marketplace's log")
    ended = "the job has ended, and says so under the id"
    until(lambda: any(line.get("request_id") == given for line in finished.lines("worker")), ended)


@pytest.mark.parametrize("given", ["short", "x" * 65, "with space in it", 'with"quotes"in', "ünïcödé-id"])
def test_what_cannot_be_an_id_gets_a_new_one(finished: Installation, given: str) -> None:
    reply = requests.get(f"{finished.stack.web_url}/health/", headers={"X-Request-ID": given.encode()}, timeout=120)
    assert re.fullmatch("[0-9a-f]{32}", reply.headers["X-Request-ID"])


def test_no_log_holds_a_secret_or_an_answer(finished: Installation) -> None:
    secrets = [value for name, value in finished.stack.env.items() if "SECRET" in name or "TOKEN" in name]
    secrets += [finished.project["token"], finished.stack.env["REDIS_URL"].split("@")[0]]
    answers = {row["answer"] for row in finished.rows("ours", "SELECT answer FROM hits_assignment")}
    tokens = {row["token"] for row in finished.rows("theirs", "SELECT question AS token FROM marketplace_hit LIMIT 3")}
    tokens = {found[1] for text in tokens if (found := re.search(r"/task/([^/<]+)/", text))}
    assert answers and tokens
    for program in ("web", "marketplace", "worker", "long-worker", "beat", "tick"):
        text = (finished.stack.data_dir / "logs" / f"{program}.log").read_text(errors="replace")
        for hidden in [*secrets, *answers, *tokens]:
            assert hidden not in text, f"{program}: {hidden}"


# What Prometheus reads


@pytest.fixture(scope="module")
def prometheus(finished: Installation, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a real Prometheus with the configuration of ops/monitoring."""
    if not shutil.which("prometheus"):
        complain = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        complain("prometheus is not installed.")
    folder = tmp_path_factory.mktemp("prometheus")
    config = yaml.safe_load((MONITORING / "prometheus.yml").read_text())
    # A busy machine may take as long as Prometheus usually lets it.
    config["global"] = {"scrape_interval": "10s", "scrape_timeout": "10s", "evaluation_interval": "10s"}
    places = {"annotate": finished.stack.ports.web, "marketplace": finished.stack.ports.marketplace}
    for job in config["scrape_configs"]:
        job["static_configs"] = [{"targets": [f"127.0.0.1:{places[job['job_name']]}"]}]
    (folder / "prometheus.yml").write_text(yaml.safe_dump(config))
    shutil.copy(MONITORING / "rules.yml", folder)
    (folder / "metrics-token").write_text(WATCHED["METRICS_TOKEN"])
    (folder / "marketplace-metrics-token").write_text(WATCHED["METRICS_TOKEN"])
    port = free_port()
    command = ["prometheus", "--config.file=prometheus.yml", f"--web.listen-address=127.0.0.1:{port}"]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen([*command, "--storage.tsdb.path=data"], cwd=folder, stdout=log, stderr=log)
    try:
        said = (folder / "log").read_text
        wait_started("Prometheus", lambda: ask(port, "/-/ready")[0] == 200, process, lambda: said()[-2000:])
        yield f"http://127.0.0.1:{port}/api/v1/"
    finally:
        process.terminate()
        process.wait()


def _asked(prometheus: str, query: str) -> list[dict[str, Any]]:
    reply = requests.get(f"{prometheus}query", params={"query": query}, timeout=120).json()
    assert reply["status"] == "success", reply
    return list(reply["data"]["result"])


def _names(text: str) -> set[str]:
    return set(NAME.findall(text)) - NO_SERIES


def test_prometheus_reads_both_sites_and_finds_every_series_that_rules_and_dashboard_name(
    finished: Installation, prometheus: str
) -> None:
    until(lambda: len(_asked(prometheus, "up == 1")) == 2, "Prometheus reads both sites")
    rules = yaml.safe_load((MONITORING / "rules.yml").read_text())["groups"][0]["rules"]
    panels = json.loads((MONITORING / "dashboard.json").read_text())["panels"]
    wanted = {name for rule in rules for name in _names(rule["expr"])}
    wanted |= {name for panel in panels for target in panel["targets"] for name in _names(target["expr"])}
    assert len(wanted) > 25

    def missing() -> set[str]:
        return wanted - set(requests.get(f"{prometheus}label/__name__/values", timeout=120).json()["data"])

    # A busy machine may leave a part out of one reading, and the next one has it.
    until(lambda: not missing(), "each series that is named was read")
    until(lambda: not _asked(prometheus, "metrics_part_readable == 0"), "every part is readable")


def test_what_is_counted_is_what_happened(finished: Installation, prometheus: str) -> None:
    until(lambda: len(_asked(prometheus, "up == 1")) == 2, "Prometheus reads both sites")
    ((paid,),) = [tuple(row.values()) for row in finished.rows("ours", "SELECT SUM(paid) FROM hits_account")]
    assert float(_asked(prometheus, "annotate_money_paid_dollars")[0]["value"][1]) == pytest.approx(paid / 100)
    ((answers,),) = [
        tuple(row.values())
        for row in finished.rows("theirs", "SELECT COUNT(*) FROM marketplace_assignment WHERE submitted_at IS NOT NULL")
    ]
    taken = _asked(prometheus, 'sum(marketplace_submissions_total{outcome="submitted"})')
    assert float(taken[0]["value"][1]) == answers
    for series in ("annotate_tasks_total", 'annotate_marketplace_calls_total{outcome="done"}', "http_requests_total"):
        assert _asked(prometheus, f"{series} > 0"), series


def test_metrics_are_closed_without_the_token_and_to_what_a_proxy_hands_on(it: Installation) -> None:
    for address, token in (
        (it.stack.web_url, WATCHED["METRICS_TOKEN"]),
        (it.stack.marketplace_url, WATCHED["METRICS_TOKEN"]),
    ):
        own = {"Authorization": f"Bearer {token}"}
        refused = [
            {},
            {"Authorization": "Bearer wrong"},
            {"Authorization": token},
            {**own, "X-Forwarded-For": "1.2.3.4"},
        ]
        for headers in refused:
            reply = requests.get(f"{address}/metrics", headers=headers, timeout=120)
            assert (reply.status_code, reply.content) == (404, b""), headers
        reply = requests.get(f"{address}/metrics", headers={**own, "Host": "10.1.2.3:9"}, timeout=120)
        assert reply.status_code == 200 and "Set-Cookie" not in reply.headers


def test_health_is_asked_under_any_name_and_readiness_names_what_is_off(it: Installation) -> None:
    for port in (it.stack.ports.web, it.stack.ports.marketplace):
        for path in ("health", "ready"):
            reply = requests.get(f"http://127.0.0.1:{port}/{path}/", headers={"Host": "10.9.8.7"}, timeout=120)
            assert reply.status_code in (200, 503) and "Set-Cookie" not in reply.headers
    until(lambda: _programs_ready(it), "all is ready")


# Jobs by urgency


def test_a_harvest_does_not_wait_for_jobs_that_take_long(finished: Installation) -> None:
    """The books of a project are compared by the process for what may take minutes, which is stopped here."""
    project = f"{finished.stack.web_url}/api/projects/{finished.project['slug']}"
    headers = {"Authorization": f"Token {finished.project['token']}", "X-Request-ID": "while-another-job-waits.1"}

    def unfinished() -> int:
        return len(finished.rows("ours", "SELECT id FROM hits_ledgercheck WHERE finished_at IS NULL"))

    def is_harvested() -> bool:
        return any(line.get("request_id") == headers["X-Request-ID"] for line in finished.lines("worker"))

    with frozen(finished, "long-worker"):
        assert requests.post(f"{project}/ledger/checks/", json={}, headers=headers, timeout=120).ok
        assert requests.post(f"{project}/stages/validate/harvest/", json={}, headers=headers, timeout=120).ok
        until(is_harvested, "the harvest has ended")
        assert unfinished() == 1
    until(lambda: not unfinished(), "the books are compared")


# Without Redis


def test_without_redis_people_sign_in_and_work_and_what_they_start_begins_when_it_is_back(
    finished: Installation,
) -> None:
    visitors = Visitors(finished)
    for away in (ended, frozen):
        with away(finished, "broker"):
            assert [visit.wrong for visit in visitors.walk() if visit.wrong] == []
            assert set(not_ready(finished.stack.ports.web)) == {"redis", "beat"}
            assert not_ready(finished.stack.ports.marketplace) == {}
            kept = finished.rows("ours", "SELECT task FROM hits_waitingjob")
            assert [row["task"] for row in kept] == ["hits.tasks.harvest_stage"]
        until(lambda: not finished.rows("ours", "SELECT id FROM hits_waitingjob"), "the job is handed on")
        until(lambda: _programs_ready(finished), "all is ready again")


def test_a_program_stays_away_between_stop_and_start(it: Installation) -> None:
    """Last of all: the counts of the marketplace begin anew with it."""
    there = it.stack.ports.marketplace
    it.stack.stop_program("marketplace")
    assert not answers(there)
    it.stack.start_program("marketplace")
    until(lambda: answers(there), "the marketplace answers again")
