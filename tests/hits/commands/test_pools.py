"""`manage.py pools`."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from hits.domain import pools
from hits.flow.people import pooling
from hits.models import Grant, Pool, PoolLink
from tests.hits import factories as make
from tests.hits.market import Marketplace

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def project():
    return make.project(owner=make.user("alice"), slug="river")


def run(*arguments: object) -> str:
    out = io.StringIO()
    call_command("pools", "river", *map(str, arguments), stdout=out)
    return out.getvalue()


def test_a_pool_from_its_name_to_its_link(project, market: Marketplace, tmp_path: Path) -> None:
    assert "The pool pool-students is made" in run("--make", "Students")
    first, second = (market.sign_up_worker() for _ in range(2))
    file = tmp_path / "ids.csv"
    file.write_text(f"worker_id\n{second}\n")
    said = run("pool-students", "--add", first, "--file", file)
    assert "2 workers are new in pool-students." in said
    row = Pool.objects.get()
    assert set(pools.members(row).values_list("state", flat=True)) == {Grant.State.GRANTED}
    assert first not in run("pool-students", "--remove", first)
    assert "/join/" in run("pool-students", "--link", "--uses", "4", "--note", "Mondays")
    assert "0 are new" in run("pool-students", "--fetch")
    link = PoolLink.objects.get()
    assert "revoked" in run("pool-students", "--revoke-link", link.pk)
    assert "People" in run("pool-students", "--rename", "People") + run()
    run("pool-students", "--archive")
    assert "archived" in run()
    run("pool-students", "--take-up")
    assert "in use" in run()


def test_the_best_are_shown_and_added_when_asked(project, market: Marketplace) -> None:
    stage = make.stage(project, key="validate")
    worker = market.sign_up_worker()
    make.worker_stat(stage, make.worker(worker), scored=40, correct=39, answers=40)
    pool = pooling.create(project, "Best", None)
    assert worker in run("pool-best", "--best", "validate")
    assert not pools.members(pool).exists()
    assert "1 is new in pool-best." in run("pool-best", "--best", "validate", "--add-best")
    assert pools.members(pool).count() == 1


def test_another_project_uses_it(project) -> None:
    pool = pooling.create(project, "Shared", None)
    other = make.project(slug="lake")
    run("pool-shared", "--share", "lake")
    assert pool.uses.get().project == other
    with pytest.raises(CommandError, match="change it there"):
        call_command("pools", "lake", "pool-shared", "--rename", "Mine")
    run("pool-shared", "--stop-sharing", "lake")
    assert not pool.uses.exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["pool-nothing"], "has no pool"),
        (["--archive"], "Name the pool"),
        (["pool-p", "--add", "bob"], "no worker id"),
        (["pool-p", "--file", "/no/such/file"], "cannot be read"),
        (["pool-p", "--remove", "A1"], "not in pool-p"),
        (["pool-p", "--share", "nowhere"], "no project"),
        (["pool-p", "--stop-sharing", "river"], "does not use"),
        (["pool-p", "--revoke-link", "9"], "No link 9"),
        (["pool-p", "--best", "nothing"], "no stage"),
        (["pool-p", "--link", "--uses", "0"], "1 to 1,000 people"),
    ],
)
def test_what_cannot_be_is_refused_with_a_sentence(project, arguments: list[str], said: str) -> None:
    pooling.create(project, "P", None)
    with pytest.raises(CommandError, match=said):
        run(*arguments)
    assert not Grant.objects.exists()


def test_in_an_archived_project_only_links_are_revoked(project) -> None:
    from django.utils import timezone

    pool = make.pool(project, key="pool-p")
    project.archived_at = timezone.now()
    project.save()
    with pytest.raises(CommandError, match="is archived"):
        run("pool-p", "--rename", "Q")
    run("pool-p", "--revoke-link", pool.links.get().pk)
    assert pool.links.get().ending == "revoked"
