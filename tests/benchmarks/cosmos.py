"""The recipe `cosmos` with as many question sets as were published, on PostgreSQL.

Part of `make bench`; alone: `python -m tests.benchmarks.cosmos`. Three validators judged each of 35,588 sets. Times:
what another vote rule would conclude, judging all again, a release. A release must not hold the sets in memory, so one
is made of 5,000 sets and one of all, each in a process of its own; below 5,000 that tells little. COSMOS_SETS makes it
smaller, TEST_DATABASE_URL names the PostgreSQL server.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from ops.surroundings import ROOT
from tests.benchmarks.databases import own_database

SETS = int(os.environ.get("COSMOS_SETS", "35588"))
FEW, TINY_SETS = min(5000, SETS // 2), 50
TINY = f"question-sets-{TINY_SETS}"
PREVIEW_SECONDS, RELEASE_SECONDS = 2, 20
# Seven times as many sets; what may grow is a number for each writer and each paragraph.
TIMES_MEMORY = 1.5
# Whoever picked another answer tells nothing, and two who did it well are enough.
ANOTHER_RULE = """\
answers missing: wait
value missing: counts as nothing
unanswerable: at least 2 picked.correct = yes and at least 1 needs_context = no
valid: at least 2 picked.correct = yes and at least 2 question = good
otherwise: drop
"""
T = TypeVar("T")


@dataclass(frozen=True)
class Took:
    """Seconds by the clock and of this process's own work."""

    wall: float
    cpu: float

    def __str__(self) -> str:
        return f"{self.wall:6.2f} s ({self.cpu:.2f} of the processor)"


def main() -> int:
    with own_database("bench_cosmos"):
        return run()


def run() -> int:
    from hits.recipes.cosmos.steps import VALIDATE
    from tests.benchmarks.cosmos_fill import fill

    for sets in (TINY_SETS, FEW):
        fill(sets)
    many, took = timed(lambda: fill(SETS))
    print(f"\n{SETS:,} question sets, three answers each, on PostgreSQL with {os.cpu_count()} cores,", end=" ")
    print(f"load {os.getloadavg()[0]:.1f} (filled in {took.wall:.0f} s)")
    stage = many.stages.get(key=VALIDATE)
    fine = [_rule(stage), _release(f"question-sets-{FEW}", many.slug)]
    return 0 if all(fine) else 1


def _rule(stage: Any) -> bool:
    """Preview another rule, take it, judge all again, and compare what became of it with the preview."""
    from hits.judging.verbs import deciding
    from hits.stages.verbs import aggregation_rule

    rule = aggregation_rule.written(stage, ANOTHER_RULE)
    found, took = timed(lambda: aggregation_rule.preview(stage, rule))
    told = (
        f"{took}, {counted(lambda: aggregation_rule.preview(stage, rule))} queries, {found.kinds:,} different ballots"
    )
    fine = _line("preview of another rule", told, f"{PREVIEW_SECONDS} s", took.wall <= PREVIEW_SECONDS)
    _, marked = timed(lambda: aggregation_rule.save(stage, rule, stage.rule_edition, "", None))
    judged, took = timed(lambda: deciding.decide(stage))
    rate = f"{judged / took.wall:,.0f} sets a second after {marked.wall:.1f} s to mark them"
    print(f"{'judging all again':26} {took}, {rate}")
    foretold = {(ending.outcome, ending.word): then for ending, _, then in found.counts if then}
    told = f"{found.moved:,} sets moved, {sum(foretold.values()):,} counted"
    return _line("  what the preview said", told, "the same", _counts(stage) == foretold) and fine


def _counts(stage: Any) -> dict[tuple[str, str], int]:
    from django.db.models import Count

    rows = stage.items.values_list("state", "conclusion").order_by().annotate(n=Count("pk"))
    return {(state, word): n for state, word, n in rows}


def _release(few: str, many: str) -> bool:
    large = _in_its_own_process("release", many)
    took = Took(large["wall"], large["cpu"])
    told = f"{took}, {large['bytes'] / 1e6:,.0f} MB in {large['files']} files"
    fine = _line("release", told, f"{RELEASE_SECONDS} s", took.wall <= RELEASE_SECONDS)
    held = [_in_its_own_process("memory", slug) for slug in (few, many)]
    times = held[1]["held"] / held[0]["held"]
    told = f"{held[0]['held']:.1f} MiB with {FEW:,} sets, {held[1]['held']:.1f} MiB with all: {times:.2f} times as much"
    fine &= _line("  memory at its most", told, f"{TIMES_MEMORY}", times <= TIMES_MEMORY)
    print(f"{'  of the process':26} grew by {large['peak']:.0f} MiB with all, with what the allocator kept in reserve")
    preview = Took(large["preview_wall"], large["preview_cpu"])
    print(f"{'preview of a release':26} {preview}")
    return fine


def _in_its_own_process(what: str, slug: str) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.cosmos", what, slug],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=900,
    )
    if done.returncode:
        raise SystemExit(f"the {what} of {slug} failed:\n{done.stdout}{done.stderr}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def memory(slug: str) -> dict[str, float]:
    """`held` is what a release holds at its most, in MiB: objects and texts. Parquet is written by a process of its
    own, which `tests.benchmarks.results` measures.

    Counted by the allocators, as a process keeps what it was given once, used or not. Counting slows it down.
    """
    project, releasing = _warm(slug)
    tracemalloc.start()
    releasing.release(project, None)
    held = tracemalloc.get_traced_memory()[1]
    return {"held": held / 2**20}


def _warm(slug: str) -> tuple[Any, Any]:
    """The project and the verb; loading the libraries is no part of what a release needs."""
    import django

    django.setup()
    from hits.models import Project
    from hits.releases.verbs import releasing

    releasing.preview(Project.objects.get(slug=TINY))
    return Project.objects.get(slug=slug), releasing


def release(slug: str) -> dict[str, float]:
    """Make the project's release; `peak` is what it added to the memory of the process at its most, in MiB."""
    project, releasing = _warm(slug)
    before = _peak()
    (made, _), took = timed(lambda: releasing.release(project, None))
    peak = _peak() - before
    files = list(made.files.select_related("blob"))
    _, preview = timed(lambda: releasing.preview(project))
    found = {"wall": took.wall, "cpu": took.cpu, "preview_wall": preview.wall, "preview_cpu": preview.cpu}
    return {**found, "peak": peak, "files": len(files), "bytes": sum(file.blob.size for file in files)}


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def timed(do: Callable[[], T]) -> tuple[T, Took]:
    wall, cpu = time.perf_counter(), time.process_time()
    found = do()
    return found, Took(time.perf_counter() - wall, time.process_time() - cpu)


def counted(do: Callable[[], Any]) -> int:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as captured:
        do()
    return len(captured)


def _line(name: str, told: str, target: str, fine: bool) -> bool:
    print(f"{name:26} {told}   target {target}   {'ok' if fine else 'MISSED'}", flush=True)
    return fine


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps({"release": release, "memory": memory}[sys.argv[1]](sys.argv[2])))
    else:
        sys.exit(main())
