"""`python -m tests.upgrades.make COMMIT FOLDER`: both databases of an earlier version, half-way through its sample.

The code of the commit is laid out in a temporary folder and started as `make run` started it then, on SQLite. Its own
simulated crowd answers some of its own sample, and all of a second one, in which a lead then fills further tables. Both
databases are written as SQL, compressed, without sessions, and `made.json` says when, and where its pages were.
from_0_3 was made of the commit that added “[0.3.0] - 2026-11-28” to CHANGELOG.md.
"""

from __future__ import annotations

import json
import lzma
import os
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
from contextlib import closing
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

from ops.surroundings import ROOT

# Those of tests: addresses of task pages are signed with it.
SECRET_KEY = "a-key-for-tests-only-0123456789abcdef"
ANSWERS = 12
# Runs in the earlier version's folder, with its own modules.
RUN = """
import json, sys, time, urllib.request, uuid
from pathlib import Path
from ops.stack import Stack
folder, secret, answers = sys.argv[1:]
settings = {"SECRET_KEY": secret, "HARVEST_SECONDS": "2"}
letters = "projects/sample-letters-to-a-ferry-line/"
with Stack(Path(folder), settings=settings) as stack:
    (Path(folder) / "address").write_text(stack.web_url)
    stack.manage("load_sample")
    stack.manage("crowd", "--key", "samples/record.jsonl", "--workers", "8", "--spammers", "1",
                 "--max-answers", answers, "--time-scale", "0.005", "--until-idle", "20", "--threads", "1")
    for stage in ("validate", "revalidate"):
        stack.annotate("harvest", "sample-harbour-news", stage)
    stack.manage("load_sample", "--finished")
    token = json.loads((Path(folder) / "command-line.json").read_text())["token"]

    def call(path, **given):
        request = urllib.request.Request(
            f"{stack.web_url}/api/{path}", json.dumps(given).encode() if given else None,
            {"Authorization": f"Token {token}", "Content-Type": "application/json"})
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def pay(verb, **given):
        price = call(f"{letters}{verb}/quote/", **given)
        call(f"{letters}{verb}/", **given, total=price["total"], confirmation=uuid.uuid4().hex)

    while not call(letters + "releases/")["results"]:
        time.sleep(1)
    stage = call(letters + "stages/")["results"][0]["key"]
    answers = call(f"{letters}stages/{stage}/answers/")["results"]
    answer = next(one for one in answers if one["state"] == "Approved")
    pay("bonuses", bonuses=[{"assignment_id": answer["assignment_id"], "worker_id": answer["worker_id"],
                             "amount": "0.20", "reason": "Careful work."}])
    pay("compensations", worker_id=answer["worker_id"], amount="0.10", reason="The page did not load.")
    call(letters + "pools/", name="Good readers")
    call(letters + "pools/pool-good-readers/workers/", worker_ids=[answer["worker_id"]])
    call(letters + "invitations/", role="reader")
    call(letters + "message-templates/", name="Thanks", subject="Thank you", text="Your answers were careful.")
    call(letters + "models/", name="small-reader", version="1")
    call(letters + "qualification-tests/", key="reading-test", title="Reading", description="Ten questions.")
    call(letters + "ledger/checks/", deep=False)
    time.sleep(10)
"""


def main(commit: str, target: Path) -> None:
    archive = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True, check=True).stdout
    with tempfile.TemporaryDirectory() as folder:
        code, data = Path(folder) / "code", Path(folder) / "data"
        with tarfile.open(fileobj=BytesIO(archive)) as packed:
            packed.extractall(code, filter="data")
        plain = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
        subprocess.run(
            [sys.executable, "-c", RUN, str(data), SECRET_KEY, str(ANSWERS)], cwd=code, env=plain, check=True
        )
        address = (data / "address").read_text()
        target.mkdir(parents=True, exist_ok=True)
        for name in ("annotate", "marketplace"):
            _dump(data / f"{name}.sqlite3", target / f"{name}.sql.xz")
    made = {"at": datetime.now(UTC).isoformat(timespec="seconds"), "address": address}
    (target / "made.json").write_text(json.dumps(made) + "\n")


def _dump(file: Path, target: Path) -> None:
    with closing(sqlite3.connect(file)) as database:
        database.execute("DELETE FROM django_session")
        database.commit()
        text = "\n".join(database.iterdump())
    target.write_bytes(lzma.compress(f"{text}\n".encode(), preset=9 | lzma.PRESET_EXTREME))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
