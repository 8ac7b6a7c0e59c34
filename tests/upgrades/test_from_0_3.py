"""What version 0.3 left comes over whole, and a project of it that was half answered is finished by this version, at a
marketplace of this version.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import boto3
import pytest
from django.core.management import call_command
from django.test import Client

from hits import tasks
from hits.answers.rules import task_links
from hits.answers.verbs import reviewing
from hits.models import Assignment, Hit, Item, LedgerCheck, Project
from hits.payments.verbs import checking_ledger
from hits.projects.verbs import projects
from hits.publishing.jobs import reconciling
from hits.publishing.rules import marketplace_account
from hits.releases.verbs import releasing
from ops.surroundings import ROOT
from tests.hits.jobs import jobs_run_here
from tests.hits.market import Marketplace
from tests.migrated import SIDES, manage, migrated
from tests.upgrades.conftest import default_database
from tests.upgrades.left import FROM_0_3, as_left, load

pytestmark = pytest.mark.long

# What 0.3 had fetched of its sample when it was left: all of it waited for a lead.
ANSWERS = 12
# One answer with its fee, $.
COST = Decimal("0.11")
Rows = dict[str, list[dict[str, Any]]]


def rows(file: Path) -> Rows:
    """Of every table."""
    with closing(sqlite3.connect(file)) as database:
        database.row_factory = sqlite3.Row
        tables = database.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        names = [name for (name,) in tables.fetchall()]
        return {name: [dict(row) for row in database.execute(f'SELECT * FROM "{name}"')] for name in names}


def alike(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> tuple[list[str], list[str]]:
    """Both in the columns that both have, so that they can be compared."""
    columns = sorted(before[0].keys() & after[0].keys()) if before and after else []
    first, second = (sorted(repr([row[name] for name in columns]) for row in some) for some in (before, after))
    return first, second


def schema(file: Path) -> set[tuple[str, ...]]:
    """What makes the tables and indexes; the columns of a table in any order."""
    with closing(sqlite3.connect(file)) as database:
        made = database.execute("SELECT type, name, sql FROM sqlite_master WHERE sql <> '' ORDER BY name").fetchall()
    return {
        (name, *sorted(part.strip() for part in sql[sql.index("(") + 1 : sql.rindex(")")].split(",")))
        if kind == "table"
        else (name, sql)
        for kind, name, sql in made
    }


@pytest.fixture(scope="module", params=SIDES)
def left(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path, Rows]:
    """A side, the folder of its database, which was migrated to this version, and the rows that it had before."""
    name, folder = request.param, tmp_path_factory.mktemp("left")
    before = rows(as_left(FROM_0_3, name, folder / f"{name}.sqlite3"))
    migrate = manage(name, folder, "migrate", "--noinput", "--verbosity", "0")
    assert migrate.returncode == 0, migrate.stderr
    return name, folder, before


def test_no_row_of_version_0_3_is_lost_or_changed(left: tuple[str, Path, Rows]) -> None:
    name, folder, before = left
    after = rows(folder / f"{name}.sqlite3")
    assert len(before) > 40 and sum(map(len, before.values())) > 500
    assert before.keys() <= after.keys()
    for table in before.keys() - {"django_migrations"}:
        first, second = alike(before[table], after[table])
        assert first == second, table

    were, are = ({(row["app"], row["name"]) for row in one["django_migrations"]} for one in (before, after))
    app = SIDES[name][0]
    squashed = {(app, path.stem) for path in (ROOT / app / "migrations").glob("0001_squashed_*.py")}
    assert squashed and not squashed & were and were | squashed <= are


def test_a_database_of_version_0_3_becomes_as_a_new_one(left: tuple[str, Path, Rows]) -> None:
    name, folder, _ = left
    assert schema(folder / f"{name}.sqlite3") ^ schema(migrated(name)) == set()


def test_programs_start_with_a_database_of_version_0_3(left: tuple[str, Path, Rows]) -> None:
    name, folder, _ = left
    said = manage(name, folder, "shell", "-v", "0", "-c", "from common.migrations import fault; print([fault()])")
    assert said.stdout.splitlines()[-1] == "['']", said.stderr


@pytest.fixture
def market(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Marketplace]:
    load(FROM_0_3, "marketplace", tmp_path / "marketplace.sqlite3")
    migrate = manage("marketplace", tmp_path, "migrate", "--noinput", "--verbosity", "0")
    assert migrate.returncode == 0, migrate.stderr
    running = Marketplace(tmp_path)
    running.start()
    settings.MTURK_ENDPOINT_URL, settings.MTURK_SUBMIT_ORIGINS = running.url, [running.url]
    settings.MTURK_SETTLE_SECONDS = 0
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "LOCALREQUESTER")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "local-requester-secret")
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    marketplace_account.gateway.cache_clear()  # type: ignore[attr-defined]
    yield running
    running.close()
    marketplace_account.gateway.cache_clear()  # type: ignore[attr-defined]


@pytest.fixture
def project(tmp_path: Path, django_db_blocker: Any) -> Iterator[Project]:
    """The half answered sample of 0.3, in a database that was migrated from there."""
    file = load(FROM_0_3, "annotate", tmp_path / "annotate.sqlite3")
    with default_database(file, django_db_blocker):
        call_command("migrate", verbosity=0, interactive=False)
        yield Project.objects.get(slug="sample-harbour-news")


def answer(market: Marketplace, hit: Hit) -> None:
    """A new worker, who is right."""
    right = hit.item.data["answers"][0]
    chosen = {"answer": f"{right['start']}-{right['end']}", "text": right["text"]}
    market.answer(market.sign_up_worker(), hit.hit_id, **chosen)


def go_on(project: Project) -> None:
    with jobs_run_here():
        tasks.resume_all()
        for stage in project.stages.filter(crowd=True).order_by("position"):
            tasks.harvest_stage(stage.pk)
            waiting = reviewing.undecided(stage).values_list("pk", flat=True)
            reviewing.approve(stage, list(waiting), None)
            tasks.finish_reviews(stage.pk)


def test_a_project_of_version_0_3_is_finished(project: Project, market: Marketplace) -> None:
    its_answers = Assignment.objects.filter(stage__project=project)
    assert (its_answers.count(), project.account.paid) == (ANSWERS, 0)
    assert reconciling.reconcile(dry_run=True).report.holding_up == []

    # A task page whose address 0.3 had given to the marketplace.
    old = Hit.objects.filter(state=Hit.State.LIVE).select_related("item__document")[0]
    page = Client(headers={"host": "localhost"}).get(task_links.task_path(old.pk))
    words = old.item.document.data["text"].split()
    assert page.status_code == 200 and words[0] in page.content.decode()

    projects.want_seconds(project, 0)
    for _ in range(12):
        go_on(project)
        open_hits = list(Hit.objects.filter(state=Hit.State.LIVE, harvested=0).select_related("item"))
        if not open_hits:
            break
        for hit in open_hits:
            answer(market, hit)
    assert Hit.objects.filter(stage__project=project).exclude(state=Hit.State.CLOSED).count() == 0
    states = set(Item.objects.filter(stage__project=project, stage__crowd=True).values_list("state", flat=True))
    assert states <= {Item.State.KEPT, Item.State.DROPPED}

    project.refresh_from_db()
    project.account.refresh_from_db()
    approved = its_answers.filter(state=Assignment.State.APPROVED).count()
    assert approved == its_answers.count() > ANSWERS
    assert (project.account.reserved, project.account.paid) == (Decimal(0), COST * approved)
    found = checking_ledger.check(project, None, deep=True)
    assert (found.state, found.faults) == (LedgerCheck.State.DONE, []), found.message

    release, _ = releasing.release(project, None)
    assert release.number >= 1
    assert release.manifest["counts"] == {"train": 10, "dev": 16, "test": 17}
