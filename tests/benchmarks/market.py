"""The marketplace with 100,000 open HITs in 300 groups and 1,000 workers, on PostgreSQL.

Part of `make bench`; alone: `python -m tests.benchmarks.market`. Each page and operation is compared with its own time
at 100 HITs in the same run; then workers, and clients of the API, do as much as they can. MARKET_HITS makes it smaller,
TEST_DATABASE_URL names the PostgreSQL server.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
import threading
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from statistics import median
from typing import Any

from tests.benchmarks.databases import own_database

HITS = int(os.environ.get("MARKET_HITS", "100000"))
SMALL = {"open_hits": 100, "groups": 30, "workers": 10, "answers": 500}
LARGE = {"open_hits": HITS, "groups": 300, "workers": 1000, "answers": HITS}
ROUNDS = 25
CLIENTS = 8
SECONDS = 10
SLOWER_MS = 20
Figures = dict[str, tuple[int, float]]


def main() -> int:
    with own_database("bench_market", marketplace=True) as url:
        return run(url)


def run(url: str) -> int:
    from tests.benchmarks.market_fill import fill
    from tests.marketplace.process import serve

    fill(**SMALL)
    before = figures(page=1)
    start = time.perf_counter()
    fill(**LARGE)
    print(f"\n{HITS:,} open HITs in 300 groups, 1,000 workers, {HITS:,} answers to review,", end=" ")
    print(f"on PostgreSQL with {os.cpu_count()} cores")
    print(f"(filled in {time.perf_counter() - start:.0f} s)")
    after = figures(page=max(1, HITS // 100))
    print(f"\n{'':38} {'queries':>15} {'median ms':>21}   (100 HITs, {HITS:,} HITs)")
    fine = True
    for name, (queries, milliseconds) in after.items():
        (few, quick) = before[name]
        text = f"{name:38} {few:7} {queries:7}   {quick:9.1f} {milliseconds:9.1f}   {milliseconds - quick:+6.1f}"
        # Accepting looks a second time when there is nothing behind the last answer, in either size.
        well = queries <= few and milliseconds - quick <= SLOWER_MS
        fine &= well
        print(f"{text}   {'ok' if well else 'MISSED'}", flush=True)
    with serve(url) as address:
        done, seconds, slow = rush(address)
        made, most = created(address)
    print(f"\naccept and submit over HTTP, {CLIENTS} workers at once: {done / seconds:,.0f} pairs a second", end="")
    print(f" ({done:,} in {seconds:.0f} s, 95 % within {slow:.0f} ms)")
    print(f"CreateHITWithHITType over HTTP, signed, {CLIENTS} clients of boto3 at once on the same cores:", end=" ")
    print(f"{made / SECONDS:,.0f} a second ({made:,} in {SECONDS} s, 95 % within {most:.0f} ms; target 500)")
    return 0 if fine else 1


def figures(page: int) -> Figures:
    """Queries and median milliseconds of each page and operation; `page` is the last one of ListHITs at 100 a page."""
    from django.test import Client

    from marketplace.models import Hit, HitType, Worker

    worker = Worker.objects.order_by("-submitted_count", "pk")[0]
    site = Client(headers={"host": "127.0.0.1"})
    site.force_login(worker.user)
    one_of_five = Hit.objects.filter(state="Reviewable", max_assignments=5).latest("pk").hit_id
    kind = HitType.objects.order_by("pk")[1]
    found = {
        "group list": measure(lambda: site.get("/")),
        "group list, searched and sorted": measure(lambda: site.get("/", {"q": "passage", "sort": "reward"})),
        "preview": measure(lambda: site.get("/mturk/preview", {"groupId": kind.hit_group_id})),
        "my work": measure(lambda: site.get("/worker/")),
        "earnings": measure(lambda: site.get("/worker/earnings/")),
    }
    found |= work(site)
    last = {"MaxResults": 100, "NextToken": token_before(page)} if page > 1 else {"MaxResults": 100}
    return found | {
        "ListHITs, page 1": measure(lambda: call("ListHITs", {"MaxResults": 100})),
        "ListHITs, page 1,000": measure(lambda: call("ListHITs", last)),
        "ListReviewableHITs": measure(lambda: call("ListReviewableHITs", {"MaxResults": 100})),
        "ListReviewableHITs of a type": measure(
            lambda: call("ListReviewableHITs", {"MaxResults": 100, "HITTypeId": kind.hit_type_id})
        ),
        "ListAssignmentsForHIT": measure(lambda: call("ListAssignmentsForHIT", {"HITId": one_of_five})),
    }


def measure(ask: Callable[[], Any]) -> tuple[int, float]:
    ask()
    queries = counted(ask)
    return queries, median(timed(ask) for _ in range(ROUNDS))


def counted(ask: Callable[[], Any]) -> int:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as captured:
        answer = ask()
    if answer.status_code not in (200, 302):
        raise SystemExit(f"{answer.status_code}: {answer.content[:500]!r}")
    return len(captured)


def timed(ask: Callable[[], Any]) -> float:
    start = time.perf_counter()
    ask()
    return (time.perf_counter() - start) * 1000


def work(site: Any) -> Figures:
    """Accepting and submitting one HIT in each of several groups."""
    from marketplace.models import Assignment, HitType

    groups = list(HitType.objects.order_by("pk").values_list("hit_group_id", flat=True)[: ROUNDS + 2])
    accepted: list[tuple[int, float]] = []
    submitted: list[tuple[int, float]] = []
    for group in groups:
        accepted.append(both(lambda group=group: site.post("/mturk/accept", {"groupId": group})))
        fields = {"assignmentId": Assignment.objects.filter(status="Accepted").latest("pk").assignment_id, "a": "yes"}
        submitted.append(both(lambda fields=fields: site.post("/mturk/externalSubmit", fields)))
    rows = {"accept": accepted, "submit": submitted}
    return {name: (max(q for q, _ in row[2:]), median(ms for _, ms in row[2:])) for name, row in rows.items()}


def both(ask: Callable[[], Any]) -> tuple[int, float]:
    """Queries and milliseconds of one call that cannot be made twice."""
    start = time.perf_counter()
    queries = counted(ask)
    return queries, (time.perf_counter() - start) * 1000


def call(name: str, parameters: dict[str, Any]) -> Any:
    from django.test import Client

    authorization = (
        "AWS4-HMAC-SHA256 Credential=bench/20261121/us-east-1/mturk-requester/aws4_request, "
        f"SignedHeaders=content-type;host;x-amz-date;x-amz-target, Signature={'0' * 64}"
    )
    headers = {"X-Amz-Target": f"MTurkRequesterServiceV20170117.{name}", "Authorization": authorization}
    return Client(headers={"host": "127.0.0.1"}).post(
        "/", json.dumps(parameters), content_type="application/x-amz-json-1.1", headers=headers
    )


def token_before(page: int) -> str:
    """The NextToken that leads to this page of 100, as if one had walked there."""
    from marketplace.models import Hit, Requester
    from marketplace.operations import Call
    from marketplace.operations.paging import _seal
    from marketplace.verbs import clock

    requester = Requester.objects.get(name="Bench")
    rows = Hit.objects.filter(requester=requester, disposed_at=None).order_by("-pk").values_list("pk", flat=True)
    last = rows[(page - 1) * 100 - 1]
    return _seal(last, Call("ListHITs", requester, clock.now()), {})


def rush(address: str) -> tuple[int, float, float]:
    """Workers who accept and submit as fast as they can: pairs done, seconds, and the 95th percentile of a request."""
    from marketplace.models import HitType, Worker
    from tests.marketplace.process import signed_in, stranger

    groups = list(HitType.objects.order_by("-pk").values_list("hit_group_id", flat=True)[:CLIENTS])
    browsers = [signed_in(address, worker) for worker in Worker.objects.order_by("-pk")[:CLIENTS]]
    end = time.monotonic() + SECONDS
    times: list[float] = []

    def labour(number: int) -> None:
        frame = stranger(address)
        while time.monotonic() < end:
            start = time.perf_counter()
            taken = browsers[number].post(f"{address}/mturk/accept", {"groupId": groups[number]}, allow_redirects=False)
            accepted = time.perf_counter()
            page = browsers[number].get(address + taken.headers["Location"]).text
            name = page.split("assignmentId=")[1].split("&")[0]
            opened = time.perf_counter()
            answer = frame.post(f"{address}/mturk/externalSubmit", {"assignmentId": name, "answer": "yes"})
            answer.raise_for_status()
            times.extend((accepted - start, time.perf_counter() - opened))

    threads = [threading.Thread(target=labour, args=(number,)) for number in range(CLIENTS)]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.monotonic() - began
    return len(times) // 2, seconds, sorted(times)[int(len(times) * 0.95)] * 1000


def created(address: str) -> tuple[int, float]:
    """Clients in own processes, each creating HITs one after another: how many, and the 95th percentile in ms."""
    from marketplace.models import HitType
    from tests.benchmarks.market_fill import QUESTION

    hit = {"HITTypeId": HitType.objects.earliest("pk").hit_type_id, "Question": QUESTION, "LifetimeInSeconds": 3600}
    with ProcessPoolExecutor(CLIENTS, mp_context=multiprocessing.get_context("spawn")) as processes:
        # A first round, for each process loads boto3 at its beginning.
        for seconds in (1, SECONDS):
            rounds = processes.map(create_hits, [address] * CLIENTS, [hit] * CLIENTS, [seconds] * CLIENTS)
            times = [each for some in rounds for each in some]
    return len(times), sorted(times)[int(len(times) * 0.95)]


def create_hits(address: str, hit: dict[str, Any], seconds: float) -> list[float]:
    """How long each call took, ms."""
    import boto3

    client = boto3.client(
        "mturk",
        endpoint_url=address,
        region_name="us-east-1",
        aws_access_key_id="bench",
        aws_secret_access_key="secret-of-bench",  # noqa: S106
    )
    end, times = time.monotonic() + seconds, []
    while (start := time.monotonic()) < end:
        client.create_hit_with_hit_type(**hit, UniqueRequestToken=uuid.uuid4().hex)
        times.append((time.monotonic() - start) * 1000)
    return times


if __name__ == "__main__":
    sys.exit(main())
