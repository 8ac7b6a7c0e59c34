"""`make bench`: import, publication and pages with 20,000 items, on PostgreSQL with the whole stack running.

Times on one machine wobble; so the pages are compared with their own time in a small project in the same run: with so
many items that the lists of both are full. BENCH_ITEMS makes it smaller, TEST_DATABASE_URL names the PostgreSQL
server. Then the calls of a job, counted by the marketplace: tests.benchmarks.calls; the marketplace alone, with many
more HITs: tests.benchmarks.market; 500 people who answer at once: tests.benchmarks.load; rules and releases of as
many question sets as Cosmos QA has: tests.benchmarks.cosmos; choosing incorrect answers for as many questions as
MCScript2.0 has: tests.benchmarks.filtering; readers of cloze queries: tests.benchmarks.machine_filtering; methods of
aggregation beside another library: tests.benchmarks.aggregation; which of them is recommended:
tests.benchmarks.recommending; results as files: tests.benchmarks.results; who of a crowd is blocked:
tests.benchmarks.judged_crowd; who follows suggestions: tests.benchmarks.anchoring; how long a phone waits for a task:
tests.benchmarks.task_page; review and lists of a large stage: tests.benchmarks.reviewing; and the answers of 10,000
HITs that are due at once: tests.benchmarks.harvesting.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ops.ensure_database import drop
from ops.stack import Stack
from ops.surroundings import ROOT, Ports
from tests.benchmarks.databases import SERVER

ITEMS = int(os.environ.get("BENCH_ITEMS", "20000"))
# Each of the 60 workers has a page of answers (tests.benchmarks.fill).
FEW = 3100


def main() -> int:
    databases = [f"{SERVER}/annotate_bench", f"{SERVER}/annotate_bench_marketplace"]
    for url in databases:
        drop(url)
    status = _whole_stack(databases)
    for alone in (
        "calls",
        "market",
        "load",
        "cosmos",
        "filtering",
        "machine_filtering",
        "aggregation",
        "recommending",
        "results",
        "judged_crowd",
        "anchoring",
        "task_page",
        "reviewing",
        "harvesting",
    ):
        command = [sys.executable, "-m", f"tests.benchmarks.{alone}"]
        status = max(status, subprocess.run(command, cwd=ROOT).returncode)
    return status


def _whole_stack(databases: list[str]) -> int:
    with tempfile.TemporaryDirectory() as folder:
        settings = {"DATABASE_URL": databases[0], "ANNOTATE_TEST_SETTINGS": '{"HARVEST_SECONDS": 3600}'}
        try:
            with Stack(Path(folder), Ports.free(), settings) as stack:
                return run(stack)
        finally:
            for url in databases:
                drop(url)


def run(stack: Stack) -> int:
    prepare = _python(stack, "tests.benchmarks.fill", "prepare")
    small = _python(stack, "tests.benchmarks.fill", "project", str(FEW))
    before = _pages(stack, small)
    large = _python(stack, "tests.benchmarks.fill", "project", str(ITEMS))
    after = _pages(stack, large)
    rates = [
        ("import, items a second", large["import_rate"], 5000),
        ("publish, HITs a second", large["publish_rate"], 100),
    ]
    print(f"\n{ITEMS:,} items on PostgreSQL, {prepare['cpus']} cores")
    fine = True
    for name, figure, target in rates:
        fine &= _line(f"{name:42} {figure:10,.0f}   target {target:,}", figure >= target)
    print(f"\n{'page':24} {'queries':>18} {'median ms':>22}   ({FEW:,} items, {ITEMS:,} items)")
    for name in before:
        (q0, ms0), (q1, ms1) = before[name], after[name]
        text = f"{name:24} {q0:8} {q1:8}   {ms0:10.1f} {ms1:10.1f}   {ms1 - ms0:+6.1f}"
        fine &= _line(text, q0 == q1 and ms1 - ms0 <= 15)
    return 0 if fine else 1


def _line(text: str, fine: bool) -> bool:
    print(f"{text}   {'ok' if fine else 'MISSED'}", flush=True)
    return fine


def _pages(stack: Stack, project: dict) -> dict[str, list[float]]:
    found = {
        f"{side}: {name}": figures
        for side, argument in (("requester", project["slug"]), ("marketplace", project["hit_type_id"]))
        for name, figures in _python(stack, "tests.benchmarks.pages", side, argument).items()
    }
    time.sleep(1)
    return found


def _python(stack: Stack, module: str, *arguments: str) -> dict:
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, env=stack.env, cwd=ROOT, capture_output=True, text=True, timeout=3000)
    if done.returncode:
        raise SystemExit(f"{' '.join(command[2:])} failed:\n{done.stdout}{done.stderr}")
    found: dict = json.loads(done.stdout.splitlines()[-1])
    return found


if __name__ == "__main__":
    sys.exit(main())
