"""What is done to an installation while it works, one function a scenario, found by its decorator."""

from __future__ import annotations

import os
import re
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from botocore import xform_name
from botocore.loaders import Loader

from hits.mturk.repeats import REPEATS
from ops import programs as programs_of
from ops.ensure_database import drop
from ops.programs import Program
from ops.surroundings import ROOT, StackError, free_port, second_database
from ops.waiting import until
from tests.faults import upgraded
from tests.faults.ids import follow
from tests.faults.installation import LONGEST_PAGE_SECONDS, WATCHED, Installation, WorkerPages, ended, frozen
from tests.faults.job import STUCK_SECONDS, Job
from tests.faults.lead import Lead, LeadError
from tests.faults.local_names import know_local_names
from tests.faults.proxy import Cut, Moment, Plan
from tests.faults.servers import Cluster, enlarge, queue, small_disk
from tests.faults.slow_clients import SlowClients
from tests.faults.tally import Tally
from tests.faults.verdict import Verdict, judge
from tests.faults.visitors import ReturningVisitors
from tests.faults.visits import Visit, Visitors
from tests.nginx import NoNginxError, Proxy, nginx
from tests.receiver import receiver

ITEMS = 300
SERVER = os.environ.get("TEST_DATABASE_URL", "postgres://postgres@127.0.0.1:5432/").rsplit("/", 1)[0]
# Calls that carry a token, which dies after a day.
WITH_TOKEN = {"CreateHITWithHITType", "CreateAdditionalAssignmentsForHIT", "SendBonus"}
# Calls that come by the hundred: their cuts fall into the middle of the work.
FREQUENT = {"CreateHITWithHITType": 20, "ListAssignmentsForHIT": 30, "ApproveAssignment": 20, "DeleteHIT": 15}
REST_SECONDS = 3.0


@dataclass
class Outcome:
    """One line of the table; `wrong` are sentences about whatever is not as promised.

    No page that a worker asks for may take longer than `longest` seconds; with `always_answers` each is answered.
    """

    name: str
    verbose: bool = False
    verdict: Verdict = field(default_factory=Verdict)
    kills: int = 0
    calls: int = 0
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    longest: float = LONGEST_PAGE_SECONDS
    always_answers: bool = False

    def judge_pages(self, pages: WorkerPages) -> None:
        """Hold how the sites answered the crowd against what is promised."""
        self.notes.append(
            f"{pages.count:,} pages of workers, the slowest after {pages.slowest:.2f} s ({pages.path}) of "
            f"{self.longest:.0f} s that it may take; {pages.silent} not answered or with an error"
        )
        if not pages.count:
            self.wrong.append("no page of a worker was timed")
        if pages.slowest > self.longest:
            self.wrong.append(f"a worker waited {pages.slowest:.1f} s for {pages.path}")
        if pages.silent and self.always_answers:
            self.wrong.append(f"{pages.silent} pages of workers were not answered, or with an error of the server")

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
def installed(
    outcome: Outcome,
    settings: Mapping[str, Any] | None = None,
    further: Sequence[Program] = (),
    kind: type[Installation] = Installation,
) -> Iterator[Installation]:
    """An installation in a folder of its own; its logs stay when something went wrong."""
    folder = Path(tempfile.mkdtemp(prefix=f"annotate-faults-{outcome.name}-"))
    fine = False
    try:
        with kind(folder, settings, further) as it:
            try:
                yield it
            finally:
                it.stop_crowd()
                outcome.judge_pages(it.pages)
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


def _killed(outcome: Outcome, items: int, settings: Mapping[str, Any]) -> None:
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
        growing = ("--answers", "1", "--most-answers", "4", "--enough", "at least 2 agree on entity.correct")
        it.stack.annotate("stages", "change", it.project["slug"], "validate", *growing, token=it.project["token"])
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


def _with_controls(outcome: Outcome, items: int, settings: Mapping[str, Any] | None = None, **wanted: Any) -> None:
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
            outcome, items, {**settings, "HARVEST_SWEEP_SECONDS": 120}, event_copies=3, event_delay_seconds=4
        )


@scenario("stale")
def stale(outcome: Outcome, items: int) -> None:
    """Reads show what was so ten seconds ago. A short listing is believed only after more than that."""
    _with_controls(outcome, items, {"MTURK_SETTLE_SECONDS": 12}, stale_seconds=10)


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
        turns = ["broker", "worker", "long-worker", "beat", "web", "marketplace", "tick"] * 2
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


FROZEN_SECONDS = 30.0


@scenario("postgresql-frozen")
def postgresql_frozen(outcome: Outcome, items: int) -> None:
    """The processes of the database server are stopped for half a minute, while workers answer and people look in.

    Pages wait until it goes on, or say when to come again; none fails.
    """
    outcome.always_answers = True
    outcome.longest = FROZEN_SECONDS + LONGEST_PAGE_SECONDS
    with Cluster() as cluster, installed(outcome, {"DATABASE_URL": f"{cluster.url}/annotate"}) as it:
        it.crowd_options["--patience"] = outcome.longest + LONGEST_PAGE_SECONDS
        job = Job(it, items, verbose=outcome.verbose)
        job.begin()
        visitors = Visitors(it)
        job.drive_until(lambda: job.answered() >= items // 4)
        visits: list[Visit] = []
        freezing = [threading.Thread(target=_freeze, args=(cluster,))]
        looking = [threading.Thread(target=lambda: visits.extend(visitors.walk())) for _ in range(VISITORS)]
        for thread in [*freezing, *looking]:
            thread.start()
        for thread in [*freezing, *looking]:
            thread.join()
        job.drive()
        outcome.wrong += [said for visit in visits if (said := visit.wrong_beyond(outcome.longest))]
        held = [visit for visit in visits if visit.seconds > 1]
        outcome.notes.append(
            f"the database server was frozen for {FROZEN_SECONDS:.0f} s: {len(visits)} pages of visitors, "
            f"{len(held)} of them waited, the slowest for {max(visit.seconds for visit in visits):.1f} s; "
            f"{sum(visit.status == 503 for visit in visits)} said when to come again"
        )
        if not held:
            outcome.wrong.append("no page met the frozen database")
        outcome.verdict = judge(it)


VISITORS = 3


def _freeze(cluster: Cluster) -> None:
    cluster.freeze()
    try:
        time.sleep(FROZEN_SECONDS)
    finally:
        cluster.thaw()


# Programs that are exchanged one after the other

RESTARTS = 8
# Long enough for new processes to have started before the next ones are asked for.
RESTART_SECONDS = 20


@scenario("rolling-restart")
def rolling_restart(outcome: Outcome, items: int) -> None:
    """Both sites get new processes again and again while people work, on connections that are used again."""
    outcome.always_answers = True
    with installed(outcome) as it:
        job = Job(it, items, verbose=outcome.verbose)
        job.begin()
        sites = {"web": it.stack.web_url, "marketplace": it.stack.marketplace_url}
        turns = ["web", "marketplace"] * (RESTARTS // 2)
        masters = {name: it.stack.pid(name) for name in sites}
        with ReturningVisitors(list(sites.values())) as visitors:
            job.drive(every(RESTART_SECONDS, turns, lambda name: it.stack.kill(name, signal.SIGHUP)))
        if masters != {name: it.stack.pid(name) for name in sites}:
            outcome.wrong.append("a site went away as a whole")
        outcome.wrong += visitors.lost[:10]
        outcome.notes.append(
            f"{RESTARTS} restarts; {visitors.visits:,} further requests on {visitors.threads} connections that were "
            f"used again, {len(visitors.lost)} without an answer, the slowest took {visitors.slowest:.2f} s"
        )
        outcome.verdict = judge(it)


# A receiver of webhooks that comes and goes


@scenario("webhooks")
def webhooks(outcome: Outcome, items: int) -> None:
    """The program that listens for decided items is away for a minute and then dies every few seconds, and so do those
    that send. Nothing may be lost, and what comes twice says so.
    """
    allowed = {"WEBHOOK_HTTP": "True", "WEBHOOK_NETWORKS": "127.0.0.0/8", "WEBHOOK_RETRY_SECONDS": 1}
    with installed(outcome, allowed) as it, receiver(it.stack.data_dir) as listener:
        job = Job(it, items, review=True, verbose=outcome.verbose)
        job.begin()
        hook = job.lead.post("webhooks/", {"address": listener.address, "events": ["item.decided"]})
        job.drive_until(lambda: job.answered() >= items // 4)
        job.wait(AWAY_SECONDS)
        listener.begin(seconds=ANSWER_SECONDS)

        def begin_or_kill(name: str) -> None:
            if name == "receiver":
                listener.begin(seconds=ANSWER_SECONDS)
            else:
                it.kill(name)

        turns = ["receiver", "worker", "receiver", "long-worker", "receiver", "beat", "receiver", "worker"]
        job.drive(every(5, turns, begin_or_kill))
        until(lambda: not it.rows("ours", _NOT_DELIVERED), "every message has arrived", seconds=STUCK_SECONDS)
        tally = Tally.of(listener.got, hook["secret"])
        outcome.notes.append(
            f"the receiver was away for {AWAY_SECONDS:.0f} s and died {turns.count('receiver')} times: {tally}"
        )
        outcome.wrong += tally.wrong(it.rows("ours", _STANDING))
        outcome.verdict = judge(it)


AWAY_SECONDS = 60.0
# So long that what dies often dies while a message is being answered.
ANSWER_SECONDS = 0.3
_NOT_DELIVERED = "SELECT 1 FROM hits_webhookdelivery WHERE state <> 'delivered' LIMIT 1"
# What the receiver must know in the end, read from the rows of the decisions and not from those of the messages.
_STANDING = """
SELECT v.item_id AS item, v.conclusion AS conclusion FROM hits_verdict v JOIN hits_item i ON i.id = v.item_id
JOIN hits_stage s ON s.id = i.stage_id WHERE v.superseded_at IS NULL AND s.crowd
"""


# From an earlier version


@scenario("upgrade")
def upgrade(outcome: Outcome, items: int) -> None:
    """What version 0.3 left half-way through its sample is migrated, and a crowd finishes it: also the HITs, and by the
    addresses of pages, that 0.3 had published. The number of items is that of the sample.
    """
    outcome.always_answers = True
    with installed(outcome, upgraded.SETTINGS, kind=upgraded.Upgraded) as it:
        before = upgraded.take_over(it)
        job = Job(it, it.project["items"], parts=1, verbose=outcome.verbose)
        job.lead = Lead(it)
        # Others than those who answered 0.3.
        it.start_crowd(CROWD_AFTER_0_3)
        job.drive()
        outcome.notes.append(f"0.3 had recorded {before} answers; in the end there are {job.answered()}")
        if not 0 < before < job.answered():
            outcome.wrong.append("nothing was left to finish, or nothing was finished")
        outcome.verdict = judge(it)


CROWD_AFTER_0_3 = 77

# Behind a proxy

WEB_NAME, MARKET_NAME = "annotate.localhost", "crowd.localhost"


@contextmanager
def behind_nginx(
    outcome: Outcome,
    settings: Mapping[str, Any] | None = None,
    further: Sequence[Program] = (),
    beside: Mapping[str, Sequence[int]] | None = None,
) -> Iterator[tuple[Installation, Proxy]]:
    """An installation whose people come by TLS through nginx, with the configuration that we ship.

    `beside` are the ports of `further` programs that serve the same site as the option's first one.
    """
    know_local_names()
    ports = free_port(), free_port()
    web, market = f"https://{WEB_NAME}:{ports[1]}", f"https://{MARKET_NAME}:{ports[1]}"
    addresses = {"PUBLIC_URL": web, "MARKETPLACE_PUBLIC_URL": market}
    behind = {
        **addresses,
        "MTURK_SUBMIT_ORIGINS": market,
        # Calls of the API do not come by the proxy.
        "MARKETPLACE_ALLOWED_HOSTS": "127.0.0.1",
        # All workers are on this machine.
        "MARKETPLACE_HTTP_QUESTION_HOSTS": [WEB_NAME],
        **WATCHED,
    }
    with installed(outcome, behind | dict(settings or {}), further) as it:
        folder = it.stack.data_dir / "nginx"
        folder.mkdir()
        first = {"web": it.stack.ports.web, "marketplace": it.stack.ports.marketplace}
        servers = {name: [port, *(beside or {}).get(name, ())] for name, port in first.items()}
        sites = {name: ",".join(f"127.0.0.1:{port}" for port in each) for name, each in servers.items()}
        try:
            # The whole crowd comes from one address.
            with nginx(folder, ports, addresses, {**sites, "requests_a_second": 1000}) as proxy:
                it.trusted = it.stack.env["SSL_CERT_FILE"] = str(proxy.certificate)
                it.crowd_program = ("-m", "tests.faults.crowd_program")
                yield it, proxy
                # Its workers put down what they hold while the sites can still be reached.
                it.stop_crowd()
        except NoNginxError as error:
            raise StackError(str(error)) from error


SLOW = 64


@scenario("slow-clients")
def slow_clients(outcome: Outcome, items: int) -> None:
    """64 clients that never come to the end of their headers and 64 with forms that do not end, all the time."""
    outcome.always_answers = True
    with behind_nginx(outcome) as (it, proxy):
        job = Job(it, items, verbose=outcome.verbose)
        with SlowClients(proxy, (WEB_NAME, MARKET_NAME), SLOW) as slow:
            job.begin()
            until(lambda: slow.held == 2 * SLOW, "all slow clients are connected")
            job.drive()
        outcome.notes.append(slow.sentence())
        if slow.least < SLOW:
            outcome.wrong.append(f"at one moment only {slow.least} slow clients were connected")
        outcome.verdict = judge(it)
        _follow(outcome, it, proxy)


def _follow(outcome: Outcome, it: Installation, proxy: Proxy) -> None:
    """Every answer has one id in the logs of nginx, both sites and the worker."""
    found = follow(it, proxy.log)
    outcome.notes.append(
        f"{len(found)} answers were recorded; {sum(not missed for missed in found.values())} of them have one id "
        "in the logs of nginx, web, marketplace and worker"
    )
    outcome.wrong += [f"answer {answer}: no line of {missed}" for answer, missed in found.items() if missed][:10]
    if not found:
        outcome.wrong.append("no answer was recorded in the log")


@scenario("reused-connections")
def reused_connections(outcome: Outcome, items: int) -> None:
    """Workers send forms on connections that are used again, while the processes of both sites are exchanged."""
    outcome.always_answers = True
    recycled = {"GUNICORN_CMD_ARGS": f"--max-requests {REQUESTS_OF_A_PROCESS} --max-requests-jitter 10"}
    with behind_nginx(outcome, recycled) as (it, proxy):
        it.stack.env["CROWD_KEEPS_CONNECTIONS"] = "True"
        job = Job(it, items, verbose=outcome.verbose)
        job.begin()
        turns = ["web", "marketplace"] * (RESTARTS // 2)
        job.drive(every(RESTART_SECONDS, turns, lambda name: it.stack.kill(name, signal.SIGHUP)))
        it.stop_crowd()
        started = sum(_log(it, name).count("Booting worker") for name in ("web", "marketplace"))
        outcome.notes.append(f"{started} processes of the two sites began, {RESTARTS} times all of a site's at once")
        said = re.search(r"(\d+) forms, (\d+) on connections that were used before, (\d+) reset.*", _log(it, "crowd"))
        if said is None or not int(said[2]):
            outcome.wrong.append("no form was sent on a connection that was used before")
        else:
            outcome.notes.append(said[0])
            if int(said[3]):
                outcome.wrong.append(f"{said[3]} forms met a connection that was closed under them")
        outcome.verdict = judge(it)
        _follow(outcome, it, proxy)


REQUESTS_OF_A_PROCESS = 150


def _log(it: Installation, program: str) -> str:
    return (it.stack.data_dir / "logs" / f"{program}.log").read_text(errors="replace")


# Many machines

KILL_SECONDS = 60
KILLED = (
    *("web-2", "worker-2", "marketplace-2", "worker", "web"),
    *("worker-3", "marketplace", "tick", "long-worker", "beat"),
)


@scenario("many-machines")
def many_machines(outcome: Outcome, items: int) -> None:
    """Two webs, three workers and two marketplaces with one PostgreSQL and one Redis behind one nginx; each minute one
    of the programs is killed, for ten minutes.
    """
    web, market = free_port(), free_port()
    further = [
        programs_of.web("web-2", web),
        programs_of.marketplace("marketplace-2", market),
        programs_of.worker("worker-2", "second"),
        programs_of.worker("worker-3", "third"),
    ]
    beside = {"web": [web], "marketplace": [market]}
    with postgresql() as settings, behind_nginx(outcome, settings, further, beside) as (it, _):
        job = Job(it, ITEMS_OF_MANY * items, answers=2, parts=10, verbose=outcome.verbose)
        job.begin()
        job.drive(every(KILL_SECONDS, KILLED, it.kill))
        it.stop_crowd()
        worked = {program.name: len(it.lines(program.name)) for program in further}
        outcome.notes.append(f"killed one by one: {', '.join(KILLED)}; lines of log: {worked}")
        outcome.wrong += [f"{name} took no part" for name, lines in worked.items() if not lines]
        outcome.verdict = judge(it)


# A crowd of 16 is at work for as long as programs are killed.
ITEMS_OF_MANY = 2


# A database that is lost

OURS = ("web", "worker", "long-worker", "beat")
LOST_ANSWERS = 200
AGREED = "The two sides agree. Nothing had to be changed."


@scenario("restore")
def restore(outcome: Outcome, items: int) -> None:
    """The requester's database is lost 200 answers after its backup, restored, and reconciled with the marketplace."""
    with installed(outcome) as it:
        _lose_and_restore(outcome, it, items)


@scenario("restore-postgresql")
def restore_postgresql(outcome: Outcome, items: int) -> None:
    with postgresql() as settings, installed(outcome, settings) as it:
        _lose_and_restore(outcome, it, items)


def _lose_and_restore(outcome: Outcome, it: Installation, items: int) -> None:
    job = Job(it, items, answers=2, parts=4, review=True, script=True, verbose=outcome.verbose)
    job.begin()
    job.drive_until(lambda: job.answered() >= items // 3)
    outcome.notes += back_up_and_lose(it, job, min(LOST_ANSWERS, items))
    job.drive()
    # What --close-unknown closed was adopted by itself when its items were here again.
    late = it.stack.manage("reconcile")
    if AGREED not in late:
        outcome.wrong.append(f"there is something to reconcile again: {late}")
    outcome.verdict = judge(it)
    outcome.notes += outcome.verdict.accounted
    adopted = it.rows("ours", "SELECT COUNT(*) AS n FROM hits_closedhit WHERE adopted_at IS NOT NULL")
    bought = it.rows("ours", _BOUGHT_MEANWHILE)
    outcome.notes.append(
        f"{adopted[0]['n']} closed HITs were adopted when their items were here again; "
        f"{len(bought)} HITs were made for these items before that"
    )
    outcome.wrong += [f"item {row['item']} was asked anew before its closed HIT was adopted" for row in bought]


_BOUGHT_MEANWHILE = """
SELECT h.item_id AS item FROM hits_closedhit c JOIN hits_hit o ON o.hit_id = c.hit_id
JOIN hits_hit h ON h.item_id = o.item_id AND h.id <> o.id JOIN hits_batch b ON b.id = h.batch_id
WHERE c.adopted_at IS NOT NULL AND b.created_at > c.closed_at AND b.created_at < c.adopted_at
"""


def back_up_and_lose(it: Installation, job: Job, answers: int) -> list[str]:
    """A backup, so many answers more, no database, the backup again: what each command said last."""
    folder = it.stack.data_dir / "backups"
    made = it.stack.manage("backup", str(folder)).strip()
    there = job.answered()
    job.drive_until(lambda: job.answered() >= there + answers)
    for program in OURS:
        it.stack.stop_program(program)
    lost = job.answered() - there
    it.lose("ours")
    (file,) = folder.glob("*.backup")
    it.stack.manage("restore", str(file))

    with suppress(StackError):
        it.stack.manage("reconcile", "--dry-run")
    try:
        found = it.stack.manage("reconcile")
    except StackError as error:
        # What an answer led to, before a lead rejected it or its worker was blocked, is not made again.
        found = f"{error}\n{it.stack.manage('reconcile', '--close-unknown')}"
    for program in OURS:
        it.stack.start_program(program)
    return [
        f"{lost} answers were lost with the database; {made.rsplit('/', 1)[-1]}",
        f"reconciled: {found.splitlines()[-1]}",
        *(line for line in found.splitlines() if " x " in line),
    ]


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


# Redis away


@scenario("redis-away")
def redis_away(outcome: Outcome, items: int) -> None:
    """Redis is ended for a minute and frozen for another, while workers answer and people sign in and look."""
    outcome.always_answers = True
    with installed(outcome) as it:
        job = Job(it, items, review=True, verbose=outcome.verbose)
        it.begin(items, answers=1, review=True)
        job.lead = Lead(it)
        visitors = Visitors(it)
        for seed, (how, away) in enumerate({"ended": ended, "frozen": frozen}.items()):
            job.lead.publish("validate", items // 2)
            until(lambda: _open(it) >= items // 4, "HITs wait for workers")
            with away(it, "broker"):
                it.start_crowd(seed, workers=job.workers)
                visits, answered = _look_in(it, visitors)
            it.stop_crowd()
            outcome.wrong += [visit.wrong for visit in visits if visit.wrong]
            longest = max(visit.seconds for visit in visits)
            outcome.notes.append(
                f"{how}: {len(visits)} pages, the slowest after {longest:.1f} s; {answered} answers submitted meanwhile"
            )
            if answered < items // 4:
                outcome.wrong.append(f"only {answered} answers were submitted while Redis was {how}")
        it.start_crowd(len(visits), workers=job.workers)
        job.drive()
        outcome.verdict = judge(it)
        if left := it.rows("ours", "SELECT task FROM hits_waitingjob"):
            outcome.wrong.append(f"{len(left)} jobs still wait for a queue")


def _look_in(it: Installation, visitors: Visitors) -> tuple[list[Visit], int]:
    """What people saw in a minute, and how many answers workers submitted in it."""
    before, visits = _submitted(it), []
    end = time.monotonic() + 60
    while time.monotonic() < end:
        visits += visitors.walk()
        it.check_crowd()
    return visits, _submitted(it) - before


def _open(it: Installation) -> int:
    (row,) = it.rows("theirs", "SELECT COUNT(*) AS n FROM marketplace_hit WHERE state = 'Assignable'")
    return int(row["n"])


def _submitted(it: Installation) -> int:
    (row,) = it.rows("theirs", "SELECT COUNT(*) AS n FROM marketplace_assignment WHERE submitted_at IS NOT NULL")
    return int(row["n"])


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
    slug, token = it.project["slug"], it.project["token"]
    target, elsewhere = folder / "release.zip", it.stack.data_dir / "release.zip"
    it.stack.annotate("releases", "create", slug, token=token)
    try:
        it.stack.annotate("releases", "archive", slug, "1", "--output", str(target), token=token)
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
    for file in (target, elsewhere):
        it.stack.annotate("releases", "archive", slug, "1", "--output", str(file), token=token)
    if target.read_bytes() != elsewhere.read_bytes():
        yield "the release that was written later has other bytes"
