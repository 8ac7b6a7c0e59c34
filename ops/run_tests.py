"""`make test`: what this machine can run, on SQLite and on PostgreSQL, and what it could not run and why.

TEST_DATABASE_URL or DATABASE_URL names a PostgreSQL server (otherwise the one on this machine is tried); CHROMIUM names
a browser. With DATABASE_URL and REDIS_URL set, the browser tests' whole stack runs on those servers, in databases of
its own that are dropped again. `--fast` runs a part that needs neither a browser nor another database.
`make test-long` (`--long`) runs the tests that are marked `long` and keeps a digest of the sources with which they
passed; `--long-if-changed` runs them only when the sources have changed since. Under CI=true a gap is a failure.
Exit status 0 only when nothing failed.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit
from xml.etree import ElementTree

import psycopg2

from ops.chromium import whole
from ops.ensure_database import drop
from ops.surroundings import ROOT, StackError, whole_environment
from ops.waiting import ServiceNotStartedError

RESULTS = ROOT / "build" / "tests"
LOCAL_SERVER = "postgres://postgres@127.0.0.1:5432/"
NO_DJANGO = ("-p", "no:django")
# SQLite runs everything. What another database could change is run on PostgreSQL too: races and locks, constraints and
# money, sums, order and JSON in its own SQL, and one life from end to end. Such tests are marked `on_postgresql`.
POSTGRESQL_MARK = "on_postgresql"
# Tests of whole lives, upgrades and memory: few, and each takes many seconds or minutes.
LONG_MARK = "long"
NOT_LONG = ("-m", f"not {LONG_MARK}")
# A digest of the sources with which the long tests passed last; to be committed with them.
LONG_PASSED = ROOT / "tests" / "long_passed.txt"
WATCHED = (
    *("annotate", "client", "common", "hits", "marketplace", "ops", "samples", "static", "templates"),
    *("manage.py", "requirements.txt", "constraints.txt", "pyproject.toml"),
)
# The stricter database about odd texts: where it is, it is enough to ask it.
STRICTER_ON_POSTGRESQL = (
    "tests/hits/views/test_fuzz.py",
    "tests/hits/views/test_odd_forms.py",
    "tests/hits/views/test_odd_queries.py",
    "tests/marketplace/acceptance/test_fuzz.py",
    "tests/marketplace/security/test_inputs.py",
    "tests/marketplace/security/test_odd_forms.py",
)
# A process has one core: the longest groups are dealt out to several.
WORKERS_SITE = ("tests/marketplace/site",)
REQUESTER_TESTS = ("tests/hits", "tests/common", "tests/mutants")
REQUESTER_PARTS = 5
# What is run between two edits: on SQLite, without a browser, and without what takes longest.
FAST = {
    "Files, texts and statistics": tuple(f"tests/hits/{name}" for name in ("formats", "stats", "text")),
    "Protocols and rules": (
        "tests/hits/protocols",
        "tests/mutants",
        *sorted(str(file.relative_to(ROOT)) for file in ROOT.glob("tests/hits/*/test_*_rules.py")),
    ),
    "Recipes": ("tests/hits/recipes",),
    "Marketplace, the fast part": ("tests/marketplace/rules", "tests/marketplace/verbs"),
}
NOT_FAST = (
    "tests/hits/formats/test_hostile_files.py",
    # Each fills memory or files until it shows that this does not grow.
    "tests/hits/formats/test_record_reading.py",
    "tests/hits/formats/test_rows.py",
    "tests/hits/recipes/test_mcscript_release.py",
    # Beside other libraries, which take seconds to import.
    "tests/hits/stats/aggregation/test_aggregation.py",
    "tests/hits/stats/agreement/test_agreement.py",
    "tests/hits/recipes/test_loading.py",
    "tests/hits/recipes/test_cosmos_expectation.py",
    "tests/hits/text/test_least_challenging.py",
    "tests/hits/text/test_passage_queries.py",
    "tests/marketplace/rules/questions/test_correcting.py",
)
# Only what hangs comes here: on a busy machine a group takes several times as long as on a quiet one.
GROUP_SECONDS = 3600


@dataclass(frozen=True)
class Group:
    """One pytest process."""

    title: str
    paths: Sequence[str]
    options: Sequence[str] = ()
    settings: dict[str, str] = field(default_factory=dict)
    ignored: Sequence[str] = ()

    @property
    def slug(self) -> str:
        return re.sub(r"\W+", "-", self.title.lower())

    def has(self, file: str) -> bool:
        """Whether all tests of a file belong here; `file` is relative to the repository's root."""

        def under(places: Sequence[str]) -> bool:
            return any(file == place or file.startswith(f"{place}/") for place in places)

        return under(self.paths) and not under(self.ignored)


@dataclass
class Outcome:
    """What one pytest process said; a test is known by its module and name."""

    passed: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    skipped: dict[str, str] = field(default_factory=dict)
    trouble: str = ""
    # A service that a test needs did not start: nothing is known about what was to be tested.
    without_service: bool = False

    def __str__(self) -> str:
        return f"{len(self.passed)} passed, {len(self.failed)} failed, {len(self.skipped)} skipped"


def groups(server: str | None) -> list[Group]:
    """What mostly waits for a browser or a server comes first: beside it others use the processor to the end.

    `server` is a PostgreSQL server's URL.
    """
    stacks = [path for path in ("tests/e2e", "tests/faults") if (ROOT / path).is_dir()]
    stricter = STRICTER_ON_POSTGRESQL if server else ()
    return [
        Group("Whole stack", stacks, (*NO_DJANGO, *NOT_LONG), _given_servers()),
        Group("Launcher", ("tests/ground",), NO_DJANGO, _given_servers()),
        *_requester_parts(stricter),
        Group("Client", ("tests/client",), NO_DJANGO),
        Group("Marketplace on SQLite", ("tests/marketplace",), NOT_LONG, ignored=(*stricter, *WORKERS_SITE)),
        Group("Marketplace's site on SQLite", WORKERS_SITE, NOT_LONG),
        *(_on_postgresql(server) if server else ()),
    ]


def _requester_parts(ignored: Sequence[str]) -> list[Group]:
    """Neighbours go to different parts: files of one folder take a similar time."""
    files = [file for folder in REQUESTER_TESTS for file in sorted((ROOT / folder).rglob("test_*.py"))]
    names = [name for file in files if (name := str(file.relative_to(ROOT))) not in ignored]
    return [
        Group(f"Requester on SQLite, part {part + 1} of {REQUESTER_PARTS}", names[part::REQUESTER_PARTS], NOT_LONG)
        for part in range(REQUESTER_PARTS)
    ]


def long_groups() -> list[Group]:
    chosen, stacks = ("-m", LONG_MARK), marked(("tests/e2e", "tests/faults"), LONG_MARK)
    return [
        *(Group(Path(file).stem, (file,), (*NO_DJANGO, *chosen), _given_servers()) for file in stacks),
        # Alone: where other tests of the requester's side run, the migrations are switched off.
        Group("Upgrades", marked(("tests/upgrades",), LONG_MARK), chosen),
        Group("Requester's long tests", marked(REQUESTER_TESTS, LONG_MARK), chosen),
    ]


def marked(folders: Sequence[str], mark: str = POSTGRESQL_MARK) -> tuple[str, ...]:
    """The files that have a test with this mark: to read them costs less than to have pytest collect all others."""
    files = (file for folder in folders for file in (ROOT / folder).rglob("test_*.py"))
    return tuple(sorted(str(file.relative_to(ROOT)) for file in files if f"pytest.mark.{mark}" in file.read_text()))


def fast_groups() -> list[Group]:
    return [Group(title, folders, ignored=(*NOT_FAST, *in_a_browser(folders))) for title, folders in FAST.items()]


def in_a_browser(folders: Sequence[str]) -> tuple[str, ...]:
    found = (ROOT / folder for folder in folders)
    files = (file for each in found for file in ([each] if each.is_file() else sorted(each.rglob("test_*.py"))))
    return tuple(str(file.relative_to(ROOT)) for file in files if "playwright" in file.read_text())


def _on_postgresql(server: str) -> list[Group]:
    requester = {"DATABASE_URL": f"{server}{_database_name()}"}
    marketplace = {"MARKETPLACE_DATABASE_URL": f"{server}postgres"}
    chosen = ("-m", f"{POSTGRESQL_MARK} and not {LONG_MARK}")
    return [
        Group("Marketplace on PostgreSQL", marked(("tests/marketplace",)), chosen, marketplace),
        Group("Requester on PostgreSQL", marked(REQUESTER_TESTS), chosen, requester),
    ]


def _given_servers() -> dict[str, str]:
    """For the whole stack: the servers of the shell's own DATABASE_URL and REDIS_URL."""
    names = {"E2E_DATABASE_URL": "DATABASE_URL", "E2E_REDIS_URL": "REDIS_URL"}
    given = {name: os.environ[source] for name, source in names.items() if os.environ.get(source)}
    if not given.get("E2E_DATABASE_URL", "postgres").startswith("postgres"):
        del given["E2E_DATABASE_URL"]
    return given


def run(group: Group) -> Outcome:
    """One pytest process; a second one when a service of the first did not start, which is said."""
    outcome = run_once(group)
    if outcome.without_service:
        log = RESULTS / f"{group.slug}.log"
        first = log.replace(log.with_suffix(".first.log"))
        print(f"again: {group.title}: {outcome}: a service did not start, see {first}", flush=True)
        outcome = run_once(group)
    return outcome


def run_once(group: Group) -> Outcome:
    report, log = RESULTS / f"{group.slug}.xml", RESULTS / f"{group.slug}.log"
    command = [sys.executable, str(ROOT / "ops" / "tied.py"), str(RESULTS / f"{group.slug}.pid"), sys.executable]
    command += ["-m", "pytest", *group.paths, *(f"--ignore={path}" for path in group.ignored)]
    command += [*group.options, f"--junitxml={report}", "--durations=10"]
    # The browser plugin empties its output folder, which must be nobody else's.
    command += [f"--output={RESULTS / group.slug}"]
    with tempfile.TemporaryDirectory(prefix="annotate-test-") as data_dir, log.open("w") as output:
        environment = whole_environment({"DATA_DIR": data_dir, **group.settings})
        # Each of the hundreds of processes that tests start would compile every module again.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        try:
            status = subprocess.run(
                command,
                env=environment,
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                timeout=GROUP_SECONDS,
            ).returncode
        except subprocess.TimeoutExpired:
            return Outcome(trouble=f"no end after {GROUP_SECONDS} seconds")
    return read_report(report, status)


def read_report(report: Path, status: int) -> Outcome:
    """A JUnit file as an outcome. `status` is pytest's exit status: 0 fine, 1 failed tests, else trouble."""
    outcome = Outcome()
    if status not in (0, 1):
        outcome.trouble = f"pytest ended with status {status}"
    if not report.exists():
        outcome.trouble = outcome.trouble or "pytest left no report"
        return outcome
    for case in ElementTree.parse(report).iter("testcase"):
        name = f"{case.get('classname')}::{case.get('name')}"
        skip = case.find("skipped")
        faults = [*case.findall("failure"), *case.findall("error")]
        if faults:
            outcome.failed.add(name)
            said = "".join(f"{fault.get('message')}{fault.text}" for fault in faults)
            outcome.without_service |= ServiceNotStartedError.__name__ in said
        elif skip is not None and skip.get("type") != "pytest.xfail":
            outcome.skipped[name] = skip.get("message") or "no reason given"
        else:
            outcome.passed.add(name)
    outcome.passed -= outcome.failed  # a test that passes and then fails to clean up is there twice
    return outcome


def postgresql() -> str | None:
    """The URL of a PostgreSQL server up to its last slash, or None. Raises StackError when the one named is silent."""
    named = os.environ.get("TEST_DATABASE_URL") or _given_servers().get("E2E_DATABASE_URL")
    server = urlsplit(named or LOCAL_SERVER)._replace(path="/", query="").geturl()
    try:
        psycopg2.connect(f"{server}postgres", connect_timeout=60).close()
    except psycopg2.OperationalError as error:
        if named:
            raise StackError(f"TEST_DATABASE_URL does not answer: {error}".rstrip()) from None
        return None
    return server


def missing(server: str | None) -> list[str]:
    """What this machine lacks, and what is not tested for it."""
    found = []
    if server is None:
        found.append(f"No PostgreSQL at {LOCAL_SERVER} and no TEST_DATABASE_URL: tested on SQLite only.")
    try:
        whole()
    except StackError as error:
        found.append(f"{error} No page was tried in a browser.")
    if not shutil.which("docker-compose"):
        found.append("No docker-compose: docker-compose.yml was not checked.")
    if not (ROOT.parent / "shared" / "data").is_dir():
        found.append("No ../shared/data: no import of the published collections' own files.")
    return found


def _database_name() -> str:
    """One a run: several runs on one server keep out of each other's way."""
    return f"annotate_{os.getpid()}"


def room() -> int:
    """How many groups run at once: two more than cores, because they wait for servers and browsers now and then."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return cores + 2


def run_all(wanted: Sequence[Group]) -> dict[str, Outcome]:
    """Says of each group when it began and ended, in seconds from here: which one is left alone at the end."""
    outcomes = {}
    start = time.monotonic()

    def timed(group: Group) -> tuple[Outcome, str]:
        began = time.monotonic() - start
        return run(group), f"{began:.0f} to {time.monotonic() - start:.0f} s"

    with ThreadPoolExecutor(room()) as pool:
        begun = {pool.submit(timed, group): group for group in wanted}
        for done in as_completed(begun):
            group = begun[done]
            outcome, times = done.result()
            outcomes[group.title] = outcome
            fine = not outcome.failed and not outcome.trouble
            said = f"{outcome}, {times} {outcome.trouble}".rstrip()
            print(f"{'fine' if fine else 'FAILED'}: {group.title}: {said}", flush=True)
            if not fine:
                text = (RESULTS / f"{group.slug}.log").read_text(errors="replace")
                print(text[-20_000:], flush=True)
    return outcomes


def run_fast() -> int:
    """`make test-fast`: no checks, no browser, no other database."""
    _empty_results()
    failed = sum(len(each.failed) or bool(each.trouble) for each in run_all(fast_groups()).values())
    return 1 if failed else 0


def watched() -> str:
    """A digest of every file that the long tests depend on: the sources, themselves, and what tests share."""
    others = {*(ROOT / "tests").rglob("test_*.py"), LONG_PASSED} - {
        ROOT / name for name in marked(("tests",), LONG_MARK)
    }
    watched = (file for name in (*WATCHED, "tests") for file in [ROOT / name, *(ROOT / name).rglob("*")])
    files = {file for file in watched if _is_source(file)} - others
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(f"{file.relative_to(ROOT)} {hashlib.sha256(file.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()


def _is_source(file: Path) -> bool:
    """Whether it is kept: made neither by a build, a tool or Python, and no document."""
    parts = file.relative_to(ROOT).parts
    made = {"__pycache__", "build"} & set(parts) or any(
        part.startswith(".") or part.endswith("-info") for part in parts
    )
    return file.is_file() and not made and file.suffix not in (".pyc", ".md")


def run_long(*, only_if_changed: bool = False) -> int:
    """`make test-long`: what it passed with is written down when nothing failed and nothing was left out."""
    now = watched()
    if only_if_changed and LONG_PASSED.exists() and LONG_PASSED.read_text().strip() == now:
        print("The long tests have passed with these sources.")
        return 0
    RESULTS.mkdir(parents=True, exist_ok=True)
    outcomes = run_all(long_groups()).values()
    failed = sum(len(each.failed) or bool(each.trouble) for each in outcomes)
    gaps = [f"{name}: {why}" for each in outcomes for name, why in sorted(each.skipped.items())]
    for gap in gaps:
        print(f"Not run on this machine: {gap}")
    print(f"{sum(len(each.passed) for each in outcomes)} long tests passed, {failed} failed, {len(gaps)} skipped")
    if not failed and not gaps:
        LONG_PASSED.write_text(now + "\n")
    return 1 if failed or (gaps and os.environ.get("CI") == "true") else 0


def _empty_results() -> None:
    shutil.rmtree(RESULTS, ignore_errors=True)
    RESULTS.mkdir(parents=True)


def _beside(module: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-m", module], cwd=ROOT)


def main() -> int:
    if sys.argv[1:] == ["--fast"]:
        return run_fast()
    if sys.argv[1:] in (["--long"], ["--long-if-changed"]):
        return run_long(only_if_changed=sys.argv[1] == "--long-if-changed")
    if sys.argv[1:]:
        print("The options are --fast, --long and --long-if-changed.", file=sys.stderr)
        return 2
    _empty_results()
    try:
        server = postgresql()
    except StackError as error:
        print(error, file=sys.stderr)
        return 1
    # Beside the tests: it leaves a core idle, and they wait for servers and browsers.
    with _beside("ops.check") as checking, _beside("ops.audit") as auditing:
        try:
            outcomes = run_all(groups(server)).values()
        finally:
            if server:
                drop(f"{server}test_{_database_name()}")
    checks, vulnerable = checking.returncode, auditing.returncode

    passed = set().union(*(each.passed for each in outcomes))
    # A test that one database cannot run is no gap when the other one ran it.
    skipped = {name: why for each in outcomes for name, why in each.skipped.items() if name not in passed}
    gaps = missing(server) + [f"{name}: {why}" for name, why in sorted(skipped.items())]
    if gaps:
        print("\nNot run on this machine:")
        print("\n".join(f"  - {gap}" for gap in gaps))
    if checks:
        print("\nThe checks of lint, formatting, templates and types failed.")
    if vulnerable:
        print("\nA package of the image has a known vulnerability, or could not be looked up: see `make audit`.")
    in_ci = os.environ.get("CI") == "true"
    if gaps and in_ci:
        print("\nUnder CI=true a gap is a failure.")
    failed = sum(len(each.failed) or bool(each.trouble) for each in outcomes)
    if failed:
        print("\nFailed:", *sorted(set().union(*(each.failed for each in outcomes))), sep="\n  - ")
    print(f"\n{sum(len(each.passed) for each in outcomes)} passed, {failed} failed, {len(skipped)} skipped")
    return 1 if failed or checks or vulnerable or (gaps and in_ci) else 0


if __name__ == "__main__":
    sys.exit(main())
