"""A stage of 1,000,000 items and 3,000,000 answers: does each of the requester's pages cost what it costs at 1,000?

`python -m tests.benchmarks.million` makes both on PostgreSQL, by copies that the database makes itself, and asks every
page that shows a project or a stage, as the owner. It finds the pages in `hits.core.roles`. Prints the queries, the
milliseconds of the processor, here and in PostgreSQL's process, and those that pass; then the same of one decision
after one answer more. At last each project is released, with one of RELEASED items beside them, which fills the parts
that a release reads and writes at a time: in a process of its own each, once for the time and once for what it holds at
its most. Exit status 0 when no page asks more queries of the large stage or takes MOST_MORE milliseconds more, and the
release of all holds at most TIMES_MEMORY times what that of RELEASED items holds.
MILLION_ITEMS makes it smaller, TEST_DATABASE_URL names the PostgreSQL server.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from ops.surroundings import ROOT
from tests.benchmarks.databases import own_database
from tests.benchmarks.reviewing import Figures, compared, measured

if TYPE_CHECKING:
    from django.test import Client

    from hits.models import Stage

ITEMS = (1000, int(os.environ.get("MILLION_ITEMS", "1000000")))
WORKERS = (60, 1000)
EACH, ROUNDS, DECISIONS = 3, 5, 10
# Items of a third project, for a release alone.
RELEASED = 20_000
TIMES_MEMORY = 1.5
# It reads every kept item, and a large project shows it only when somebody asks for it.
WHOLE = ("release-preview",)
# Milliseconds of the processor that a page of a large stage may take, and those more than of a small one.
MOST, MOST_MORE = 50, 15


# Rows


def filled(number: int, owner: Any, items: int, workers: int) -> Stage:
    """A stage of so many items, EACH answers to each of them. Of 100 items 70 are decided; of 100 answers 90 are
    approved and paid, the others wait for review.
    """
    from django.db.models import F

    from hits.core.action_log import record
    from hits.judging.rules.summaries import refresh_summary, refresh_worker_stats
    from hits.models import Account, Assignment, LedgerEntry, Worker
    from hits.payments.rules.ledger import settle
    from tests.benchmarks.rows import NUMBER, copies
    from tests.hits import factories as make

    rule = {"name": "matches_reference", "version": 1, "params": {"answers": EACH, "need": 2}}
    project = make.project(owner=owner, slug=slug_of(items), budget="1000000")
    # By its key the recipe knows the stage whose items are released.
    stage = make.stage(project, key="validate", answers=EACH, rule=rule)
    people = Worker.objects.bulk_create(Worker(worker_id=f"AMILL{number}{at:05d}") for at in range(workers))
    told = '[{"entity.correct": true}]'
    item = make.item(stage, state="kept", conclusion="valid", key=f"item-{number}-0", ballots=told)
    hit = make.hit(item)
    answer = make.assignment(hit, people[0], state="Approved")
    label, verdict = make.label(answer), make.verdict(item, conclusion="valid")
    account = stage.project.account
    account.post([LedgerEntry(stage=stage, kind="reserve", reserved=hit.unit_cost * items * EACH)])
    account.post([settle(answer)])
    record(stage.project, owner, "approved", [answer])

    decided = f"{NUMBER} % 100 < 70"
    # Texts and queries of their own, of few words.
    text = copies(
        item.document, max(1, items // 10), key=f"'text-{number}-' || {NUMBER}",
        data=_with("text", f"' Part ' || {NUMBER} / 300 || ', page ' || {NUMBER} % 300"),
    )  # fmt: skip
    before_items = copies(
        item, items - 1, key=f"'item-{number}-' || {NUMBER}", document_id=f"{text} + 1 + {NUMBER} / 10",
        state=f"CASE WHEN {decided} THEN 'kept' ELSE 'open' END",
        conclusion=f"CASE WHEN {decided} THEN 'valid' ELSE '' END",
        data=_with("key", f"'-' || {NUMBER}"),
    )  # fmt: skip
    copies(verdict, items - 1, item_id=f"{before_items} + {NUMBER}")
    before_hits = copies(
        hit, items - 1, item_id=f"{before_items} + {NUMBER}", token=f"'m{number}-' || {NUMBER}",
        hit_id=f"'3M{number}' || {NUMBER}",
    )  # fmt: skip
    # Answer n is one to item n / EACH; the first item has only one.
    answers = (items - 1) * EACH
    of_item = f"1 + ({NUMBER} - 1) / {EACH}"
    worker = f"{people[0].pk} + {NUMBER} % {workers}"
    due = (answer.submitted_at + timedelta(days=30)).isoformat()
    waits = f"{NUMBER} % 10 = 0"
    before = copies(
        answer, answers, hit_id=f"{before_hits} + {of_item}", worker_id=worker,
        assignment_id=f"'3A{number}' || {NUMBER}", seconds=f"10.0 + {NUMBER} % 97",
        state=f"CASE WHEN {waits} THEN 'Submitted' ELSE 'Approved' END",
        auto_approval_at=f"CASE WHEN {waits} THEN TIMESTAMPTZ '{due}' END",
    )  # fmt: skip
    given = f"{before} + {NUMBER}"
    copies(
        label, answers, assignment_id=given, item_id=f"{before_items} + {of_item}", worker_id=worker,
        correct=f"{NUMBER} % 7 <> 0",
    )  # fmt: skip
    # Each tenth answer is not paid.
    paid = f"({NUMBER} + ({NUMBER} - 1) / 9)"
    copies(
        stage.project.ledger.get(kind="settle"), answers * 9 // 10, assignment_id=f"{before} + {paid}",
        hit_id=f"{before_hits} + 1 + ({paid} - 1) / {EACH}",
    )  # fmt: skip
    spent = hit.unit_cost * (answers * 9 // 10)
    Account.objects.filter(pk=account.pk).update(reserved=F("reserved") - spent, paid=F("paid") + spent)
    copies(stage.project.actions.get(verb="approved"), answers // 10, assignment_id=given)
    refresh_summary(stage)
    refresh_worker_stats(stage, [person.pk for person in people])
    assert Assignment.objects.filter(stage=stage).count() == answers + 1
    return stage


def _with(name: str, ending: str) -> str:
    """SQL: the data of the copied row, with a text in it that ends otherwise."""
    return f"""jsonb_set("row".data, '{{{name}}}', to_jsonb(("row".data ->> '{name}') || {ending}))"""


def slug_of(items: int) -> str:
    return f"million-{items}"


# Pages


def pages(stage: Stage) -> dict[str, str]:
    """The pages that show this project or this stage, by name: address. Those about one item, answer or worker show the
    one in the middle; those about what is not there, such as a release, are left out.
    """
    from django.urls import NoReverseMatch, reverse

    from hits.core.roles import LOOK

    middle = stage.assignments.order_by("pk")[stage.assignments.count() // 2]
    known = {
        "slug": stage.project.slug,
        "key": stage.key,
        "worker_id": middle.worker.worker_id,
        "pk": middle.hit.item_id,
    }
    found = {}
    for name in sorted(LOOK.pages.difference(WHOLE)):
        wanted = _parameters(name)
        if wanted is None or (name not in ("item",) and "pk" in wanted):
            continue
        try:
            found[name] = reverse(name, kwargs={parameter: known[parameter] for parameter in wanted})
        except (KeyError, NoReverseMatch):
            continue
    return found


def _parameters(name: str) -> list[str] | None:
    from django.urls import get_resolver

    possible = get_resolver().reverse_dict.getlist(name)
    return possible[0][0][0][1] if possible else None


def _is_there(client: Client, address: str) -> bool:
    """Whether a project of this kind has the page."""
    return bool(client.get(address, follow=True).status_code not in (404, 409))


def page(client: Client, address: str) -> Figures:
    def asks() -> Iterator[Callable[[], Any]]:
        while True:
            yield lambda: client.get(address, follow=True)

    return measured(asks(), ROUNDS)


def decisions(stage: Stage) -> Figures:
    """The rule of the stage about one item, and the figures of the stage, as after an answer to it."""
    from hits.judging.verbs.deciding import decide

    open_ones = stage.items.filter(state="open").order_by("pk").values_list("pk", flat=True)[: DECISIONS + 2]

    def asks() -> Iterator[Callable[[], Any]]:
        for pk in list(open_ones):
            stage.items.filter(pk=pk).update(stale=True)
            yield lambda: decide(stage)

    return measured(asks(), DECISIONS)


# Releases


def releases() -> bool:
    """Whether the largest holds about as much as one whose items fill the parts that are held at a time."""
    print(
        f"{'Release of':>14} {'seconds':>9} {'of the processor':>17} {'MB of files':>12} {'MiB held at its most':>21}"
    )
    held = {}
    for items in sorted({*ITEMS, RELEASED}):
        took, memory = (_apart(what, slug_of(items)) for what in ("release", "memory"))
        held[items] = memory["held"]
        figures = f"{took['wall']:9.1f} {took['cpu']:17.1f} {took['bytes'] / 1e6:12,.1f} {held[items]:21.1f}"
        print(f"{items:8,} items {figures}", flush=True)
    times = held[ITEMS[1]] / held[RELEASED]
    fine = times <= TIMES_MEMORY
    print(f"Of {ITEMS[1]:,} items {times:.2f} times what one of {RELEASED:,} holds", end=", ")
    print(f"target {TIMES_MEMORY}   {'ok' if fine else 'MISSED'}")
    return fine


def _apart(what: str, slug: str) -> dict[str, float]:
    command = [sys.executable, "-m", "tests.benchmarks.million", what, slug]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def _warm(slug: str) -> tuple[Any, Any]:
    """The project and the verb; loading the libraries is no part of what a release needs."""
    import django

    django.setup()
    from hits.models import Project
    from hits.releases.verbs import releasing

    releasing.preview(Project.objects.get(slug=slug_of(ITEMS[0])))
    return Project.objects.get(slug=slug), releasing


def memory(slug: str) -> dict[str, float]:
    """What a release holds at its most, in MiB, as the allocators count it: objects, texts, arrays. Parquet is written
    by a process of its own. Counting slows it down; the release is not kept, as the other one is to be made anew.
    """
    from django.db import transaction

    project, releasing = _warm(slug)
    tracemalloc.start()
    with transaction.atomic():
        releasing.release(project, None)
        held = tracemalloc.get_traced_memory()[1]
        transaction.set_rollback(True)
    return {"held": held / 2**20}


def release(slug: str) -> dict[str, float]:
    project, releasing = _warm(slug)
    wall, cpu = time.perf_counter(), time.process_time()
    made, _ = releasing.release(project, None)
    took = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    return {**took, "bytes": sum(file.blob.size for file in made.files.select_related("blob"))}


# Run


def main() -> int:
    with own_database("bench_million"):
        return run()


def run() -> int:
    from django.conf import settings
    from django.test import Client

    from tests.benchmarks.rows import vacuumed
    from tests.hits import factories as make

    owner = make.user("bench")
    client = Client(headers={"host": settings.ALLOWED_HOSTS[0]})
    client.force_login(owner)
    began = time.perf_counter()
    small, large = (filled(number, owner, ITEMS[number], WORKERS[number]) for number in (0, 1))
    if RELEASED not in ITEMS:
        filled(2, owner, RELEASED, WORKERS[0])
    vacuumed()
    print(f"\n{ITEMS[1]:,} items and {ITEMS[1] * EACH:,} answers after {time.perf_counter() - began:.0f} s", end=", ")
    print(f"PostgreSQL, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    print(f"Of {ITEMS[0]:,} and of {ITEMS[1]:,} items: queries, ms of the processor, ms that pass")
    fine, over = [], []
    addresses = pages(large)
    shown = {name: address for name, address in pages(small).items() if _is_there(client, address)}
    for name, address in shown.items():
        before, after = page(client, address), page(client, addresses[name])
        fine.append(compared(name, before, after, after.processor - before.processor <= MOST_MORE))
        over += [name] if after.processor > MOST else []
    before, after = decisions(small), decisions(large)
    fine.append(compared("a decision", before, after, after.processor - before.processor <= MOST_MORE))
    print(f"Over {MOST} ms with {ITEMS[1]:,} items: {', '.join(over) or 'none'}")
    fine.append(releases())
    return 0 if all(fine) else 1


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps({"release": release, "memory": memory}[sys.argv[1]](sys.argv[2])))
    else:
        sys.exit(main())
