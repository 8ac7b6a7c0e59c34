"""One answer in four logs: that of nginx, of both sites and of the worker, by the id of the page's request."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.faults.installation import Installation

RECORDED, TAKEN, CHECKED = "An answer is recorded.", "An answer is taken.", "An answer is checked."


def follow(it: Installation, proxy_log: Path) -> dict[str, str]:
    """Each recorded answer with the first log that does not have its id; empty: all have it."""
    proxy = [json.loads(line) for line in proxy_log.read_text().splitlines()]
    lines = {"nginx": _by_id(proxy)} | {name: _by_id(it.lines(name)) for name in ("web", "marketplace")}
    recorded = [line for line in it.lines("worker") if line.get("message") == RECORDED]
    return {f"{line['assignment_id']} of {line['hit_id']}": _missed(line, lines) for line in recorded}


def _by_id(lines: Iterable[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    found = defaultdict(list)
    for line in lines:
        found[line.get("request_id", "")].append(line)
    return found


def _missed(recorded: dict[str, Any], logs: dict[str, dict[str, list[dict[str, Any]]]]) -> str:
    one, answer = recorded["request_id"], recorded["assignment_id"]
    wanted = {
        "nginx, the page": ("nginx", lambda line: line["path"].startswith("/task/") and line["status"] == 200),
        "web, the page": ("web", lambda line: line.get("view") == "task" and line.get("status") == 200),
        "web, the check": ("web", lambda line: line.get("message") == CHECKED and line["assignment_id"] == answer),
        "marketplace, the submission": (
            "marketplace",
            lambda line: line.get("message") == TAKEN and line["assignment_id"] == answer,
        ),
    }
    return next((what for what, (log, fits) in wanted.items() if not any(map(fits, logs[log].get(one, [])))), "")
