"""`make audit`: whether a package of requirements.lock has a vulnerability that the database of osv.dev knows.

Nothing is resolved or installed. Exit status 1 when a package has one, or when pip-audit failed; 0 when none has, and
when the database does not answer, which is said: that a machine has no internet is no fault of a package.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from ops.surroundings import ROOT

# `make` installs it there, from requirements-audit.txt.
PIP_AUDIT = Path(sys.prefix, "audit", "bin", "pip-audit")
# Not PyPI's own list: where a mirror without that list stands in for PyPI, pip-audit leaves every package out and
# reports that it found nothing.
OSV_URL = "https://api.osv.dev/v1/query"
# One answer, and all of them: a question a package.
ANSWER_SECONDS = 10
SECONDS = 180
# How the traceback of pip-audit, or its message, names a database that is not there or gives no answer of its own.
NO_ANSWER = re.compile(
    r"^requests\.exceptions\.(\w+(?:: \d{3})?)|^ERROR:pip_audit\._cli:(Could not connect)", re.MULTILINE
)


def verdict(done: subprocess.CompletedProcess[str], url: str) -> tuple[int, list[str]]:
    """The exit status and what to print, from an ended pip-audit with `--format json`."""
    try:
        packages = json.loads(done.stdout)["dependencies"]
    except ValueError:
        reason = NO_ANSWER.search(done.stderr)
        if reason:
            return 0, [_unanswered(url, reason[1] or reason[2])]
        return 1, [f"pip-audit failed with status {done.returncode}:", done.stderr.rstrip()]
    left_out = [
        f"{each['name']} was not looked up: {each['skip_reason']}" for each in packages if "skip_reason" in each
    ]
    found = [
        f"{each['name']} {each['version']}: {' '.join([known['id'], *sorted(known['aliases'])])}, "
        f"fixed in {', '.join(known['fix_versions']) or 'no version yet'}"
        for each in packages
        for known in each.get("vulns", [])
    ]
    if found or left_out:
        return 1, found + left_out
    return 0, [f"None of {len(packages)} packages has a known vulnerability."]


def _unanswered(url: str, reason: str) -> str:
    return f"The packages were not looked up: no answer from {url} ({reason})."


def audit(url: str) -> tuple[int, list[str]]:
    command = [str(PIP_AUDIT), "--requirement", "requirements.lock", "--require-hashes", "--disable-pip"]
    command += ["--vulnerability-service", "osv", "--osv-url", url, "--timeout", str(ANSWER_SECONDS)]
    command += ["--format", "json", "--progress-spinner", "off"]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return 0, [_unanswered(url, f"not to all questions within {SECONDS} seconds")]
    except FileNotFoundError:
        return 1, [f"{PIP_AUDIT} is not there: `make audit` installs it."]
    return verdict(done, url)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m ops.audit", description="Look for known vulnerabilities.")
    parser.add_argument("--osv-url", default=OSV_URL, help=f"another database that answers as {OSV_URL} does")
    status, lines = audit(parser.parse_args(arguments).osv_url)
    print("\n".join(lines), flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
