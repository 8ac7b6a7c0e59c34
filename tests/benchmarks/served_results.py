"""Downloads of results from the server as `make run` starts it: pages meanwhile, many at once, and readers who hang up.

Part of tests.benchmarks.results, which fills a database on PostgreSQL; tests/hits/releases runs it with few answers in
a file: `python -m tests.benchmarks.served_results ANSWERS` prints what was found as JSON.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import requests

from ops.healthy import answers
from ops.programs import programs
from ops.surroundings import ROOT, Ports, StackError
from ops.waiting import until, wait_started
from tests.migrated import migrated

FORMATS = ("mturk", "csv", "jsonl", "parquet")
CLIENTS = 8
# Of a process of the server: its first one and the four that answer.
OWN_THREADS = 5
STAGE = "/projects/{slug}/stages/ask/"


@dataclass
class Times:
    """Of a page, in milliseconds."""

    taken: list[float] = field(default_factory=list)
    failed: int = 0

    def told(self) -> dict[str, float]:
        return {
            "pages": len(self.taken),
            "median": statistics.median(self.taken),
            "worst": max(self.taken),
            "failed": self.failed,
        }


class Server:
    """The web server, with the two processes of four threads that it has on one machine."""

    def __init__(self, process: subprocess.Popen[bytes], url: str, cookie: tuple[str, str]) -> None:
        self.url, self._cookie = url, cookie
        self._process = psutil.Process(process.pid)

    def browser(self) -> requests.Session:
        """In which a lead of the project is signed in."""
        session = requests.Session()
        session.trust_env = False
        session.cookies.set(*self._cookie, domain=urlsplit(self.url).hostname)
        return session

    def left(self) -> dict[str, object]:
        """What requests can leave: processes, threads beyond the server's own, connections and open files.

        Each thread keeps one connection to a database server.
        """
        workers = self._process.children()
        port = urlsplit(self.url).port
        return {
            "processes": sum(len(one.children(recursive=True)) for one in workers),
            "threads": sum(max(0, one.num_threads() - _own_threads(one)) for one in workers),
            "connections": sum(_connections(one, port) for one in workers),
            "files": sorted(name for one in workers for name in beyond_kept(_open_files(one))),
        }


def _open_files(process: psutil.Process) -> list[str]:
    found = []
    for file in Path(f"/proc/{process.pid}/fd").iterdir():
        # One that was listed may be closed by now.
        with suppress(FileNotFoundError):
            found.append(str(file.readlink()))
    return found


def beyond_kept(names: Iterable[str]) -> list[str]:
    """Of the open files of one process those that it does not keep. Sockets are counted as connections.

    Each thread keeps one connection to the database: the file, its -wal and its -shm. The process keeps one set of
    files of its counts, of which those that are mapped into memory are open twice.
    """
    room: dict[str, int] = {}
    found = []
    for name in names:
        if name.startswith(("socket:", "pipe:", "anon_inode:")):
            continue
        kind, allowed = _kept(name)
        room[kind] = room.get(kind, allowed) - 1
        if room[kind] < 0:
            found.append(name)
    return found


def _kept(name: str) -> tuple[str, int]:
    """What kind of file this is, and how many of the kind a process keeps open."""
    if ".sqlite3" in name:
        return "database" + name.rpartition(".sqlite3")[2], OWN_THREADS
    if "/annotate-metrics-" in name:
        # counter_0.db and slot0.lock: another number is another set.
        kind = re.sub(r"\d+", "", Path(name).name)
        return f"counts {kind}", 2 if kind.endswith(".db") else 1
    return name, 0


def _own_threads(process: psutil.Process) -> int:
    """Its own, and those of the library of arrays where a page has loaded it."""
    loaded = "openblas" in Path(f"/proc/{process.pid}/maps").read_text()
    return OWN_THREADS + ((os.cpu_count() or 1) - 1 if loaded else 0)


def _connections(process: psutil.Process, port: int | None) -> int:
    """Open ones of its clients, and those to other servers beyond one a thread."""
    established = [one for one in process.net_connections() if one.status == psutil.CONN_ESTABLISHED]
    clients = sum(one.laddr.port == port for one in established)
    return clients + max(0, len(established) - clients - OWN_THREADS)


@contextmanager
def serving(database_url: str, slug: str) -> Iterator[Server]:
    """Django is set up here with the same database, which has a project of that name."""
    with tempfile.TemporaryDirectory(prefix="annotate-") as folder:
        ports = Ports.free()
        web = next(each for each in programs(Path(folder), ports, with_broker=False) if each.name == "web")
        url = f"http://127.0.0.1:{ports.web}"
        log = Path(folder) / "log"
        environment = os.environ | {
            "DJANGO_SETTINGS_MODULE": "tests.settings.annotate",
            "DATABASE_URL": database_url,
            "DATA_DIR": folder,
            "PUBLIC_URL": url,
        }
        with log.open("wb") as said:
            process = subprocess.Popen(web.command, cwd=ROOT, env=environment, stdout=said, stderr=said)
        try:
            wait_started("The web server", lambda: answers(ports.web), process, lambda: log.read_text()[-4000:])
            yield Server(process, url, _signed_in(slug))
        finally:
            process.terminate()
            process.wait(60)


def _signed_in(slug: str) -> tuple[str, str]:
    """The cookie of a lead who owns the project."""
    from django.conf import settings
    from django.contrib.auth import get_user_model
    from django.test import Client

    from hits.models import Project
    from hits.projects.models import Membership

    user, _ = get_user_model().objects.get_or_create(username="lead")
    project = Project.objects.get(slug=slug)
    Membership.objects.get_or_create(project=project, user=user, role=Membership.Role.OWNER)
    client = Client()
    client.force_login(user)
    return settings.SESSION_COOKIE_NAME, client.cookies[settings.SESSION_COOKIE_NAME].value


def measured(server: Server, slug: str, pages: int, downloads: int) -> dict[str, object]:
    """Times of the stage's page, asked so often alone, and beside so many downloads of each format; then many downloads
    at once, and readers who hang up.
    """
    page = server.url + STAGE.format(slug=slug)
    found: dict[str, object] = {"alone": _asked(server, page, lambda times: len(times.taken) < pages).told()}
    for name in FORMATS:
        found[name] = _beside(server, page, _address(server, slug, name), downloads)
    before = server.left()
    found["at_once"] = _at_once(server, slug)
    found["left"] = _left_by_those_who_hang_up(server, slug, before)
    return found


def _address(server: Server, slug: str, name: str) -> str:
    return f"{server.url}{STAGE.format(slug=slug)}results/file/?file={name}"


def _asked(server: Server, page: str, more: object) -> Times:
    times = Times()
    with server.browser() as browser:
        browser.get(page).raise_for_status()
        while more(times):  # type: ignore[operator]
            began = time.perf_counter()
            times.failed += browser.get(page).status_code != 200
            times.taken.append(1000 * (time.perf_counter() - began))
    return times


def _beside(server: Server, page: str, address: str, enough: int) -> dict[str, float]:
    """One client downloads in a loop, another one asks for the page."""
    seconds: list[float] = []
    over = threading.Event()

    def download() -> None:
        with server.browser() as browser:
            while not over.is_set():
                began = time.perf_counter()
                _whole(browser, address)
                seconds.append(time.perf_counter() - began)

    with ThreadPoolExecutor(1) as pool:
        downloads = pool.submit(download)
        wanted = lambda times: not times.taken or len(seconds) < enough  # noqa: E731
        times = _asked(server, page, lambda times: wanted(times) and not downloads.done())
        over.set()
        downloads.result()
    return {**times.told(), "downloads": len(seconds), "download_seconds": statistics.median(seconds)}


def _whole(browser: requests.Session, address: str) -> int:
    """The size of the file; raises for one that ends too early."""
    with browser.get(address, stream=True, timeout=300) as response:
        response.raise_for_status()
        return sum(len(piece) for piece in response.iter_content(65536))


def _at_once(server: Server, slug: str) -> dict[str, float]:
    """Clients that download at one time, two of each format; each file has to be as large as it is alone."""
    addresses = [_address(server, slug, FORMATS[number % len(FORMATS)]) for number in range(CLIENTS)]
    with server.browser() as browser:
        alone = [_whole(browser, address) for address in addresses]
    began = time.perf_counter()
    with ThreadPoolExecutor(CLIENTS) as pool:
        sizes = list(pool.map(lambda address: _whole(server.browser(), address), addresses))
    return {"clients": CLIENTS, "seconds": time.perf_counter() - began, "failed": sum(map(int.__ne__, sizes, alone))}


def _left_by_those_who_hang_up(server: Server, slug: str, before: dict[str, object]) -> dict[str, object]:
    """They take the first bytes. What is there afterwards that was not there before; empty where nothing is."""

    def hang_up(number: int) -> None:
        with server.browser() as browser:
            response = browser.get(_address(server, slug, FORMATS[number % len(FORMATS)]), stream=True, timeout=300)
            assert response.raw.read(10)
            response.close()

    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(hang_up, range(CLIENTS)))

    def beyond() -> dict[str, object]:
        """A file that was open before, as of the download that just ended, may be closed by now."""
        now = server.left()
        files = Counter(now["files"]) - Counter(before["files"])  # type: ignore[call-overload]
        return {name: told for name, told in {**now, "files": sorted(files.elements())}.items() if told}

    try:
        until(lambda: not beyond(), "nothing is left", 30)
    except StackError:
        return beyond()
    return {}


def tell(found: dict[str, object]) -> bool:
    """Prints it as lines of the benchmark; whether nothing failed and nothing is left."""
    print("\nThe stage's page, asked of the web server by one client:")
    rows = {name: found[name] for name in ("alone", *FORMATS)}
    for name, row in rows.items():
        assert isinstance(row, dict)
        beside = f"while {name} is downloaded" if name != "alone" else "while nobody downloads"
        took = f", {row['download_seconds']:.2f} s a file" if name != "alone" else ""
        times = f"median {row['median']:6.1f} ms, worst {row['worst']:7.1f} ms"
        print(f"  {beside:28} {times}, {row['failed']} of {row['pages']} failed{took}")
    together, left = found["at_once"], found["left"]
    assert isinstance(together, dict)
    print(f"  {CLIENTS} downloads at once: {together['seconds']:.1f} s, {together['failed']} failed")
    print(f"  after {CLIENTS} clients that hung up: {left or 'nothing is left'}")
    failed = sum(row["failed"] for row in rows.values() if isinstance(row, dict)) + together["failed"]
    return not failed and not left


def main(count: int) -> None:
    """With a database in a file."""
    with tempfile.TemporaryDirectory(prefix="annotate-") as folder:
        database = Path(shutil.copy(migrated("annotate"), Path(folder) / "annotate.sqlite3"))
        url = f"sqlite:///{database}"
        os.environ |= {"DJANGO_SETTINGS_MODULE": "tests.settings.annotate", "DATABASE_URL": url}
        import django

        django.setup()
        from tests.benchmarks.results import fill

        slug = fill("few", count)
        with serving(url, slug) as server:
            print(json.dumps(measured(server, slug, 5, 2)))


if __name__ == "__main__":
    main(int(sys.argv[1]))
