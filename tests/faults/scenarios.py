"""What is done to an installation while it works, one function a scenario, found by its decorator."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from botocore import xform_name
from botocore.loaders import Loader

from hits.mturk.repeats import REPEATS
from ops.ensure_database import drop
from ops.surroundings import ROOT, StackError, second_database
from tests.faults.installation import Installation
from tests.faults.job import Job
from tests.faults.lead import LeadError
from tests.faults.proxy import Cut, Moment, Plan
from tests.faults.servers import Cluster, enlarge, queue, small_disk
from tests.faults.verdict import Verdict, judge

ITEMS = 300
SERVER = os.environ.get("TEST_DATABASE_URL", "postgres://postgres@127.0.0.1:5432/").rsplit("/", 1)[0]
# Calls that carry a token, which dies after a day.
WITH_TOKEN = {"CreateHITWithHITType", "CreateAdditionalAssignmentsForHIT", "SendBonus"}
# Calls that come by the hundred: their cuts fall into the middle of the work.
FREQUENT = {"CreateHITWithHITType": 20, "ListAssignmentsForHIT": 30, "ApproveAssignment": 20, "DeleteHIT": 15}
REST_SECONDS = 3.0


@dataclass
class Outcome:
    """One line of the table; `wrong` are sentences about whatever is not as promised."""

    name: str
    verbose: bool = False
    verdict: Verdict = field(default_factory=Verdict)
    kills: int = 0
    calls: int = 0
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    @property
    def fine(self) -> bool:
        return not self.wrong and not self.verdict.wrong


Scenario = Callable[[Outcome, int], None]
SCENARIOS: dict[str, Scenario] = {}


def scenario(name: str) -> Callable[[Scenario], Scenario]:
    def add(found: Scenario) -> Scenario:
        SCENARIOS[name] = found
        return found

    return add


def run(name: str, items: int = ITEMS, verbose: bool = False) -> Outcome:
    """Carry a scenario out; whatever stops it is among what is wrong. `verbose` tells on stderr how far it is."""
    outcome = Outcome(name, verbose)
    began = time.monotonic()
    try:
        SCENARIOS[name](outcome, items)
    except (StackError, LeadError) as error:
        outcome.wrong.append(str(error))
    outcome.seconds = time.monotonic() - began
    return outcome


@contextmanager
def installed(outcome: Outcome, settings: Mapping[str, str] | None = None) -> Iterator[Installation]:
    """An installation in a folder of its own; its logs stay when something went wrong."""
    folder = Path(tempfile.mkdtemp(prefix=f"annotate-faults-{outcome.name}-"))
    fine = False
    try:
        with Installation(folder, settings) as it:
            try:
                yield it
            finally:
                outcome.kills = sum(it.kills.values())
                outcome.calls = sum(it.proxy.calls.values())
        fine = outcome.fine
    finally:
        if fine:
            shutil.rmtree(folder, ignore_errors=True)
        else:
            outcome.notes.append(f"Logs and databases are kept in {folder}")


@contextmanager
def postgresql() -> Iterator[dict[str, str]]:
    """Settings for two databases of this run's own, which are dropped at the end."""
    own = f"{SERVER}/annotate_faults_{os.getpid()}"
    try:
        yield {"DATABASE_URL": own}
    finally:
        for url in (own, *second_database(own).values()):
            drop(url)


# Killed at every call


def operations() -> list[str]:
    """Every operation that the product calls: what its gateway names."""
    source = (ROOT / "hits" / "mturk" / "gateway.py").read_text()
    names = {xform_name(name): name for name in Loader().load_service_model("mturk", "service-2")["operations"]}
    return sorted(names[name] for name in REPEATS if f'"{name}"' in source)


def every_cut(names: list[str], items: int) -> list[Cut]:
    """Before, after and late for each operation; and a day late for those whose token dies."""
    found = []
    for name in names:
        often = name in FREQUENT
        skip, rest = (FREQUENT[name] * items // ITEMS, REST_SECONDS) if often else (0, 0.0)
        found += [Cut(name, each, skip, rest) for each in Moment if each is not Moment.DAY or name in WITH_TOKEN]
    return found


def _killed(outcome: Outcome, items: int, settings: Mapping[str, str]) -> None:
    # With a queue for events the product makes one more kind of call.
    with queue() as events, installed(outcome, {**events, **settings}) as it:
        job = Job(it, items, answers=2, parts=10, review=True, script=True, verbose=outcome.verbose)
        job.begin()
        it.proxy.plan = Plan(every_cut(operations(), items))
        try:
            job.drive()
            job.provoke(300)
        finally:
            _tell_cuts(outcome, it.proxy.plan)
        outcome.verdict = judge(it)


def _tell_cuts(outcome: Outcome, plan: Plan) -> None:
    by_operation: dict[str, list[str]] = {}
    for cut in plan.cuts:
        by_operation.setdefault(cut.operation, []).append(f"{cut.moment} ({cut.program})" if cut.done else "-")
    for name, cuts in by_operation.items():
        outcome.notes.append(f"{name:42} {', '.join(cuts)}")
    outcome.wrong += [f"{cut.operation} was never cut {cut.moment} it" for cut in plan.left]


@scenario("kills")
def kills(outcome: Outcome, items: int) -> None:
    _killed(outcome, items, {})


@scenario("kills-postgresql")
def kills_postgresql(outcome: Outcome, items: int) -> None:
    with postgresql() as settings:
        _killed(outcome, items, settings)


@scenario("further-answers")
def further_answers(outcome: Outcome, items: int) -> None:
    """Items get one answer more until two agree; whoever buys one is killed before, at, and after that, and a day late.

    No item may get an answer more than it wants.
    """
    name = "CreateAdditionalAssignmentsForHIT"
    with installed(outcome) as it:
        job = Job(it, items, verbose=outcome.verbose)
        job.begin()
        growing = {"answers": "1", "most_answers": "4", "enough": '"at least 2 agree on entity.correct"'}
        options = [part for given in growing.items() for part in ("--set", "=".join(given))]
        it.stack.manage("stage", it.project["slug"], "validate", *options)
        cuts = [Cut(name, moment, number * items // ITEMS, REST_SECONDS) for number in (3, 12) for moment in Moment]
        it.proxy.plan = Plan(cuts)
        try:
            job.drive()
        finally:
            _tell_cuts(outcome, it.proxy.plan)
        outcome.verdict = judge(it)
        outcome.wrong += _bought_beyond(it)


# More answers that count than the item wants, or money that is still set aside for it.
_BEYOND = """
SELECT i.id AS item, i.wanted AS wanted, COUNT(DISTINCT l.assignment_id) AS given, i.further AS further
FROM hits_item i JOIN hits_label l ON l.item_id = i.id
WHERE i.wanted IS NOT NULL AND NOT l.void
GROUP BY i.id, i.wanted, i.further HAVING COUNT(DISTINCT l.assignment_id) > i.wanted OR i.further > 0
"""


def _bought_beyond(it: Installation) -> list[str]:
    if not it.rows("ours", "SELECT id FROM hits_item WHERE wanted > 1 LIMIT 1"):
        return ["no item wanted a further answer"]
    return [
        f"item {row['item']} wanted {row['wanted']} answers and got {row['given']}, {row['further']} are set aside"
        for row in it.rows("ours", _BEYOND)
    ]


# A marketplace in trouble


def _with_controls(outcome: Outcome, items: int, settings: Mapping[str, str] | None = None, **wanted: Any) -> None:
    with installed(outcome, settings) as it:
        it.controls.turn(**wanted)
        job = Job(it, items, verbose=outcome.verbose)
        job.begin()
        job.drive()
        outcome.verdict = judge(it)


def _one_in_twenty(kind: str) -> dict[str, Any]:
    return {"faults": [{"kind": kind, "probability": 0.05, "seed": 11}]}


@scenario("errors")
def errors(outcome: Outcome, items: int) -> None:
    """One call in twenty is carried out and answered with status 500."""
    _with_controls(outcome, items, **_one_in_twenty("error_after"))


@scenario("drops")
def drops(outcome: Outcome, items: int) -> None:
    """One reply in twenty is lost after the call was carried out."""
    _with_controls(outcome, items, **_one_in_twenty("drop_after"))


@scenario("throttle")
def throttle(outcome: Outcome, items: int) -> None:
    """Five calls a second, twenty at once."""
    _with_controls(outcome, items, throttle="20,5/s")


@scenario("events")
def events(outcome: Outcome, items: int) -> None:
    """Every event comes three times and four seconds late; the list of finished HITs is hardly ever read."""
    with queue() as settings:
        _with_controls(
            outcome, items, {**settings, "HARVEST_SWEEP_SECONDS": "120"}, event_copies=3, event_delay_seconds=4
        )


@scenario("stale")
def stale(outcome: Outcome, items: int) -> None:
    """Reads show what was so ten seconds ago. A short listing is believed only after more than that."""
    _with_controls(outcome, items, {"MTURK_SETTLE_SECONDS": "12"}, stale_seconds=10)


@scenario("marketplace-away")
def marketplace_away(outcome: Outcome, items: int) -> None:
    """Nobody listens at the marketplace's address for a minute."""
    with installed(outcome) as it:
        job = Job(it, items, verbose=outcome.verbose)
        job.begin()
        job.drive_until(lambda: job.answered() >= items // 4)
        it.stack.stop_program("marketplace")
        job.wait(60)
        it.stack.start_program("marketplace")
        job.drive()
        outcome.verdict = judge(it)


# Programs and servers that die


@scenario("programs")
def programs(outcome: Outcome, items: int) -> None:
    """Every program of the stack is killed in turn, twice."""
    with installed(outcome) as it:
        job = Job(it, items, verbose=outcome.verbose)
        job.begin()
        turns = ["broker", "worker", "beat", "web", "marketplace", "tick"] * 2
        job.drive(every(6, turns, it.kill))
        outcome.verdict = judge(it)


@scenario("broker")
def broker(outcome: Outcome, items: int) -> None:
    """The broker is killed while the worker holds tasks for later; what then happens to the worker is told."""
    with installed(outcome) as it:
        job = Job(it, items, verbose=outcome.verbose)
        job.begin()
        exits = _exits(it, "worker")

        def kill(_: object) -> None:
            it.stack.manage("shell", "-v", "0", "-c", HOLD)
            it.kill("broker")

        job.drive(every(15, range(4), kill))
        outcome.notes.append(
            f"the broker was killed {it.kills['broker']} times; the worker ended by itself "
            f"{_exits(it, 'worker') - exits} times and was started again each time"
        )
        outcome.verdict = judge(it)


# What the worker keeps in memory until its time has come.
HOLD = """
from hits import tasks
for seconds in (20, 40, 600):
    tasks.resume_all.apply_async(countdown=seconds)
"""


def _exits(it: Installation, program: str) -> int:
    log = (it.stack.data_dir / "logs" / "supervisord.log").read_text()
    return len(re.findall(rf"exited: {program} ", log))


@scenario("database")
def database(outcome: Outcome, items: int) -> None:
    """The database server ends as after a loss of power and comes back, three times."""
    with Cluster() as cluster, installed(outcome, {"DATABASE_URL": f"{cluster.url}/annotate"}) as it:
        job = Job(it, items, verbose=outcome.verbose)
        job.begin()
        job.drive(every(10, range(3), lambda _: cluster.restart()))
        outcome.notes.append("the database server was restarted 3 times with the mode “immediate”")
        outcome.verdict = judge(it)


def every(seconds: float, turns: Iterable[Any], do: Callable[[Any], object]) -> Callable[[], bool]:
    """For `Job.drive`: `do` one of `turns` every so many seconds; True when all had their turn."""
    left = list(turns)
    due = time.monotonic() + seconds

    def meanwhile() -> bool:
        nonlocal due
        if left and time.monotonic() > due:
            do(left.pop(0))
            due = time.monotonic() + seconds
        return not left

    return meanwhile


# A full disk


@scenario("disk")
def disk(outcome: Outcome, items: int) -> None:
    """The disk that a release is written to is full, and later has room again."""
    with installed(outcome) as it:
        job = Job(it, items, verbose=outcome.verbose)
        job.begin()
        job.drive()
        outcome.verdict = judge(it)
        folder = it.stack.data_dir / "disk"
        with small_disk(folder, 16) as full:
            outcome.wrong += _export_to(it, full, outcome.notes)
    outcome.notes.append("the export was refused while the disk was full, and complete when there was room")


def _export_to(it: Installation, folder: Path, notes: list[str]) -> Iterator[str]:
    slug = it.project["slug"]
    target, elsewhere = folder / "release", it.stack.data_dir / "release"
    try:
        it.stack.manage("release", slug, "--to", str(target))
        yield "a release was written to a disk without room for it"
    except StackError as error:
        said = str(error).splitlines()[-1]
        notes.append(f"on a full disk: {said}")
        if "No space left on device" not in said or "Traceback" in str(error):
            yield f"the release says nothing useful about a full disk: {error}"
    left = [file.name for file in folder.rglob("*") if file.is_file()]
    if left:
        yield f"a release that failed left {', '.join(left)}"
    enlarge(folder, 65_536)
    it.stack.manage("release", slug, "--to", str(target))
    it.stack.manage("release", slug, "--to", str(elsewhere))
    if _contents(target) != _contents(elsewhere):
        yield "the release that was written later has other bytes"


def _contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}
