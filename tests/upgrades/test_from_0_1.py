"""A project that version 0.1 left half answered is finished by this version, at a marketplace of this version."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import boto3
import pytest
from django.core.management import call_command
from django.test import Client

from hits import reconciling, tasks
from hits.domain import marketplace_account, task_links
from hits.flow.data import releasing
from hits.flow.payments import auditing
from hits.flow.setup import projects
from hits.management.commands._base import jobs_run_here
from hits.models import Assignment, Hit, Item, LedgerCheck, Project
from ops.surroundings import ROOT
from tests.hits.market import Marketplace, _environment
from tests.upgrades.conftest import default_database
from tests.upgrades.left import FROM_0_1, load

# What 0.1 had fetched, paid and published of its sample when it was left.
ANSWERS, PAID, HITS = 12, Decimal("0.60"), 34


@pytest.fixture
def market(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Marketplace]:
    file = load(FROM_0_1, "marketplace", tmp_path / "marketplace.sqlite3")
    migrating = [sys.executable, "-m", "marketplace", "migrate", "--verbosity", "0"]
    subprocess.run(migrating, cwd=ROOT, env=_environment(file, "http://127.0.0.1"), check=True, timeout=600)
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
    """The sample of 0.1, in a database that was migrated from there."""
    file = load(FROM_0_1, "annotate", tmp_path / "annotate.sqlite3")
    with default_database(file, django_db_blocker):
        call_command("migrate", verbosity=0, interactive=False)
        yield Project.objects.get()


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


def test_a_project_of_version_0_1_is_finished(project: Project, market: Marketplace) -> None:
    assert project.slug == "sample-harbour-news"
    assert (Assignment.objects.count(), project.account.paid) == (ANSWERS, PAID)
    assert reconciling.reconcile(dry_run=True).report.holding_up == []

    # A task page whose address 0.1 had given to the marketplace.
    old = Hit.objects.filter(state=Hit.State.LIVE).select_related("item__document")[0]
    assert old.token.count(".") == 2, "tokens of 0.1 have no mark"
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
    assert Hit.objects.exclude(state=Hit.State.CLOSED).count() == 0
    states = set(Item.objects.filter(stage__crowd=True).values_list("state", flat=True))
    assert states <= {Item.State.KEPT, Item.State.DROPPED}

    project.refresh_from_db()
    project.account.refresh_from_db()
    approved = Assignment.objects.filter(state=Assignment.State.APPROVED).count()
    assert approved == Assignment.objects.count() > ANSWERS
    assert (project.account.reserved, project.account.paid) == (Decimal(0), Decimal("0.05") * approved)
    found = auditing.check(project, None, deep=True)
    assert (found.state, found.faults) == (LedgerCheck.State.DONE, []), found.message

    release, _ = releasing.release(project, None)
    assert release.number >= 1
    assert release.manifest["counts"] == {"train": 10, "dev": 15, "test": 15}
