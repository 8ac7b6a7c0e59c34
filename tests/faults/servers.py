"""Servers of the harness's own, to be restarted and filled up without hurting anybody else's."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import boto3
import psutil
from moto.server import ThreadedMotoServer

from ops.surroundings import StackError, free_port

PROGRAMS = Path("/usr/lib/postgresql")


class Cluster:
    """A PostgreSQL server in a temporary folder: `with Cluster() as cluster:` starts it at `cluster.url`.

    PostgreSQL refuses to run as root; then the user postgres owns folder and processes.
    """

    def __init__(self) -> None:
        found = sorted(PROGRAMS.glob("*/bin/pg_ctl"), key=lambda path: int(path.parts[-3]))
        if not found:
            raise StackError(f"No PostgreSQL server under {PROGRAMS}: install postgresql.")
        self._bin = found[-1].parent
        self._folder = Path(tempfile.mkdtemp(prefix="annotate-faults-postgresql-"))
        self._data = self._folder / "data"
        self._port = free_port()
        self.url = f"postgres://postgres@127.0.0.1:{self._port}"

    def __enter__(self) -> Cluster:
        if os.geteuid() == 0:
            shutil.chown(self._folder, "postgres")
        self._run("initdb", "--auth=trust", "--username=postgres", "--encoding=UTF8", "--no-sync")
        self._run("pg_ctl", "start", "--wait", "--log", str(self._folder / "log"), "--options", self._options())
        return self

    def __exit__(self, *error: object) -> None:
        self._run("pg_ctl", "stop", "--mode=immediate")
        shutil.rmtree(self._folder, ignore_errors=True)

    def restart(self) -> None:
        """As after a loss of power: no connection is ended in order, and the log is read again."""
        self._run("pg_ctl", "restart", "--wait", "--mode=immediate", "--log", str(self._folder / "log"))

    def freeze(self) -> None:
        """Its processes keep their connections and answer nothing, until `thaw`."""
        for process in self._processes():
            process.suspend()

    def thaw(self) -> None:
        for process in self._processes():
            process.resume()

    def _processes(self) -> list[psutil.Process]:
        """The first one first: frozen, it begins no other."""
        first = psutil.Process(int((self._data / "postmaster.pid").read_text().split()[0]))
        return [first, *first.children(recursive=True)]

    def _options(self) -> str:
        return f"-p {self._port} -h 127.0.0.1 -k {self._folder} -c shared_buffers=64MB"

    def _run(self, program: str, *arguments: str) -> None:
        command: Sequence[str] = [str(self._bin / program), "--pgdata", str(self._data), *arguments]
        if os.geteuid() == 0:
            command = ["runuser", "-u", "postgres", "--", *command]
        # The server would keep a pipe open for as long as it lives.
        environment = os.environ | {"PGCTLTIMEOUT": "240"}
        with (self._folder / "said").open("w+b") as said:
            done = subprocess.run(command, cwd="/", env=environment, stdout=said, stderr=subprocess.STDOUT, timeout=300)
            said.seek(0)
            if done.returncode:
                raise StackError(f"{program} failed:\n{said.read().decode(errors='replace')}")


@contextmanager
def queue() -> Iterator[dict[str, str]]:
    """A server of queues with one in it; the settings with which events go into it and out of it."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    address = f"http://{host}:{port}"
    try:
        client = boto3.client(
            "sqs", endpoint_url=address, region_name="us-east-1", aws_access_key_id="x", aws_secret_access_key="y"
        )
        yield {
            "MTURK_EVENTS_QUEUE_URL": client.create_queue(QueueName="events")["QueueUrl"],
            "MARKETPLACE_SQS_ENDPOINT_URL": address,
            "MARKETPLACE_AWS_ACCESS_KEY_ID": "marketplace",
            "MARKETPLACE_AWS_SECRET_ACCESS_KEY": "a-secret-for-tests",
        }
    finally:
        server.stop()


@contextmanager
def small_disk(folder: Path, kilobytes: int) -> Iterator[Path]:
    """An empty file system of so many kB, mounted at `folder`. Raises StackError where that is not allowed."""
    folder.mkdir(parents=True)
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(folder)], capture_output=True, text=True
    )
    if done.returncode:
        raise StackError(f"A small disk cannot be mounted ({done.stderr.strip()}): run this scenario as root.")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def enlarge(folder: Path, kilobytes: int) -> None:
    subprocess.run(["mount", "-o", f"remount,size={kilobytes}k", str(folder)], check=True)
