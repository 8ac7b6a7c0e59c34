"""The log of the web server, as it is configured for servers, while answers arrive in addresses."""

import sqlite3
from contextlib import closing
from pathlib import Path

import requests
from django.urls import reverse

from ops.surroundings import ROOT
from tests.marketplace.process import serve


def test_the_log_of_requests_holds_no_field_of_an_answer(tmp_path: Path) -> None:
    log = tmp_path / "log"
    # Tables of which nobody wrote down how they were made, none of them ours.
    with closing(sqlite3.connect(tmp_path / "empty.sqlite3")) as database:
        database.execute("CREATE TABLE other (id INTEGER)")
    options = f"--config {ROOT / 'ops' / 'gunicorn.py'} --access-logfile - --log-level debug"
    with serve(f"sqlite:///{tmp_path / 'empty.sqlite3'}", log, GUNICORN_CMD_ARGS=options) as url:
        address = f"{url}{reverse('site:external_submit')}"
        longest = "s3cret" * 1200
        asked = requests.get(address, {"assignmentId": "3S3CRET", "answer": longest}, timeout=60)
        requests.post(address, headers={"Referer": f"{address}?answer=s3cret"}, timeout=60)
    written = log.read_text()
    assert asked.status_code == 500  # nothing was migrated: the trace of an error is in the log, too
    assert '"GET /mturk/externalSubmit HTTP/1.1" 500' in written and '"POST /mturk/externalSubmit HTTP/1.1"' in written
    assert "s3cret" not in written.lower()
