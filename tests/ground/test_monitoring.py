"""The files of ops/monitoring: Prometheus's own checker takes them, and each rule wakes somebody when it should."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from ops.surroundings import ROOT

FOLDER = ROOT / "ops" / "monitoring"


def _promtool(*arguments: str, folder: Path = FOLDER) -> subprocess.CompletedProcess[str]:
    if not shutil.which("promtool"):
        complain = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        complain("promtool is not installed: Debian's package prometheus brings it.")
    return subprocess.run(["promtool", *arguments], cwd=folder, capture_output=True, text=True)


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FOLDER, tmp_path / "monitoring"))


def test_prometheus_takes_the_configuration_and_the_rules(copied: Path) -> None:
    for name in ("metrics-token", "marketplace-metrics-token"):
        (copied / name).write_text("a token")
    done = _promtool("check", "config", "prometheus.yml", folder=copied)
    assert done.returncode == 0, done.stdout + done.stderr


def test_each_rule_wakes_somebody_when_it_should_and_none_on_a_good_day() -> None:
    done = _promtool("test", "rules", "rules_test.yml")
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_rule_is_without_a_test() -> None:
    rules = yaml.safe_load((FOLDER / "rules.yml").read_text())["groups"][0]["rules"]
    tests = yaml.safe_load((FOLDER / "rules_test.yml").read_text())["tests"]
    fired = {case["alertname"] for test in tests for case in test["alert_rule_test"] if case.get("exp_alerts")}
    quiet = {case["alertname"] for test in tests for case in test["alert_rule_test"] if not case.get("exp_alerts")}
    assert {rule["alert"] for rule in rules} == fired == quiet


@pytest.mark.parametrize(
    ("before", "after"),
    [("> 900\n        for: 5m", "> 90000\n        for: 5m"), ("== 0\n", "== 2\n"), ("< 0.1", "< 0.01")],
)
def test_a_rule_that_sleeps_is_noticed(copied: Path, before: str, after: str) -> None:
    file = copied / "rules.yml"
    assert before in file.read_text()
    file.write_text(file.read_text().replace(before, after))
    assert _promtool("test", "rules", "rules_test.yml", folder=copied).returncode != 0


def test_the_guide_says_of_each_rule_what_to_do() -> None:
    rules = yaml.safe_load((FOLDER / "rules.yml").read_text())["groups"][0]["rules"]
    guide = (ROOT / "docs" / "operating.md").read_text()
    told = set(re.findall(r"^\| `(\w+)` \|", guide, re.MULTILINE))
    assert {rule["alert"] for rule in rules} <= told


def test_the_dashboard_asks_the_prometheus_that_is_chosen() -> None:
    dashboard = json.loads((FOLDER / "dashboard.json").read_text())
    assert {panel["datasource"]["uid"] for panel in dashboard["panels"]} == {"${source}"}
    assert len({panel["id"] for panel in dashboard["panels"]}) == len(dashboard["panels"])
