"""Pools: who is in one, which projects use it, and who is let in because of it at the real marketplace."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.management import call_command
from django.utils import timezone
from rest_framework.serializers import ValidationError

from hits import tasks
from hits.models import Action, Assignment, Grant, Pool, PoolLink, PoolUse, Stage, Worker
from hits.pools import jobs, rules
from hits.pools.api import best, links_of
from hits.projects.verbs import project_files
from hits.protocols.base import SettingsRefusedError
from hits.publishing.rules.marketplace_account import gateway
from hits.refusals import Refused
from hits.stages.verbs import custom_stages, stage_settings
from hits.workers.rules import grant_rows
from hits.workers.verbs import granting, personal_data
from tests.hits import factories as make
from tests.hits.doing import do, refused
from tests.hits.market import VerbRefusedError
from tests.hits.pools.links import make_link

pytestmark = pytest.mark.django_db(transaction=True)
State = Grant.State


def ask(stage: Stage, key: str, comparator: str = "Exists") -> Stage:
    """Let the stage ask for the pool, through the settings."""
    given = [{"qualification": key, "comparator": comparator}]
    stage_settings.change(stage, {"requirements": given}, None)
    stage.refresh_from_db()
    return stage


@pytest.fixture
def pool(project, lead) -> Pool:
    return do("pools.create", project, lead, name="Students 2026")


def states(pool: Pool) -> dict[str, str]:
    return dict(pool.members.order_by("id").values_list("worker__worker_id", "state"))


def is_let_in(market, stage: Stage, worker_id: str) -> bool:
    try:
        market.give_back(market.accept(worker_id, hit_type_id=stage.hit_type_id))
    except VerbRefusedError as error:
        assert "DoesNotMeetRequirements" in str(error)
        return False
    return True


# The pool itself


def test_a_pool_has_a_name_and_a_key_that_nobody_else_has(project, lead, pool):
    assert (pool.key, pool.name, pool.project) == ("pool-students-2026", "Students 2026", project)
    other = make.project(owner=lead)
    again = do("pools.create", other, lead, name=" Students   2026 ")
    assert again.name == "Students 2026"
    assert again.key.startswith("pool-students-2026-")
    assert do("pools.create", other, lead, name="学生").key.startswith("pool-workers")
    with pytest.raises(Refused, match="has a pool “Students 2026” already"):
        do("pools.create", project, lead, name="Students 2026")
    assert Pool.objects.count() == 3


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("", "may not be blank"),
        ("   ", "may not be blank"),
        ("x" * 81, "no more than 80 characters"),
        ("a\x00b", "Null characters are not allowed"),
        ("a\u202eb", r"a character that cannot be seen \(U\+202E\)"),
        ("\u3164", r"a character that cannot be seen \(U\+3164\)"),
    ],
)
def test_a_name_that_is_none_is_refused(project, name, fault):
    with pytest.raises(ValidationError, match=fault):
        do("pools.create", project, None, name=name)
    assert not Pool.objects.exists()


def test_a_key_that_the_project_uses_for_something_else_is_left_to_it(project):
    stage = project.stages.filter(crowd=True).first()
    Stage.objects.filter(pk=stage.pk).update(grants="pool-old")
    assert do("pools.create", project, None, name="Old").key != "pool-old"


def test_renaming_keeps_the_key(pool, lead):
    do("pools.rename", pool, lead, name="Students 2027")
    pool.refresh_from_db()
    assert (pool.name, pool.key) == ("Students 2027", "pool-students-2026")
    assert Action.objects.filter(verb="renamed a pool").get().about == "Students 2027"


def test_a_pool_that_a_stage_asks_for_is_not_archived(stage, pool, lead):
    ask(stage, pool.key)
    with pytest.raises(Refused, match=stage.title):
        do("pools.archive", pool, lead)
    stage_settings.change(stage, {"requirements": []}, None)
    link = make.pool_link(pool)
    do("pools.archive", pool, lead)
    link.refresh_from_db()
    assert link.revoked_at
    with pytest.raises(SettingsRefusedError, match="is archived"):
        ask(stage, pool.key)
    with pytest.raises(Refused):
        do("pools.add", pool, lead, worker_ids=["A1"])
    do("pools.take_up", pool, lead)
    ask(stage, pool.key)
    done = [action.verb for action in Action.objects.filter(detail__key=pool.key).order_by("pk")]
    assert done == ["made a pool", "archived a pool", "took up an archived pool"]


# Who is in it


def test_only_workers_of_the_pool_are_let_in_at_the_marketplace(market, stage, pool, publish, eager):
    inside, outside = (market.sign_up_worker() for _ in range(2))
    do("pools.add", pool, None, worker_ids=[inside, inside])
    granting.finish(pool.project)
    assert states(pool) == {inside: State.GRANTED}
    make.items(ask(stage, pool.key), 2)
    publish(stage)
    assert [is_let_in(market, stage, worker) for worker in (inside, outside)] == [True, False]
    row = pool.members.get()
    assert do("pools.remove", row, None)
    assert do("pools.remove", row, None).pk == row.pk
    granting.finish(pool.project)
    assert states(pool) == {inside: State.WITHDRAWN}
    assert not is_let_in(market, stage, inside)
    assert do("pools.add", pool, None, worker_ids=[inside]) == 1
    granting.finish(pool.project)
    assert is_let_in(market, stage, inside)


def test_a_pool_can_keep_its_workers_out(market, stage, pool, publish, eager):
    inside, outside = (market.sign_up_worker() for _ in range(2))
    do("pools.add", pool, None, worker_ids=[inside])
    granting.finish(pool.project)
    make.items(ask(stage, pool.key, "DoesNotExist"), 2)
    publish(stage)
    assert [is_let_in(market, stage, worker) for worker in (inside, outside)] == [False, True]


@pytest.mark.parametrize(
    ("ids", "said"),
    [([], "at least one"), (["bob"], "no worker id"), ([f"A{n}" for n in range(10_001)], "no more than 10000")],
)
def test_what_is_no_list_of_workers_changes_nothing(pool, ids, said):
    with pytest.raises((Refused, ValidationError), match=said):
        do("pools.add", pool, None, worker_ids=ids)
    assert not Grant.objects.exists()
    assert not Worker.objects.exists()


def test_many_workers_cost_few_queries(pool, django_assert_max_num_queries):
    with django_assert_max_num_queries(120):
        assert do("pools.add", pool, None, worker_ids=[f"A{n}" for n in range(3000)]) == 3000
    assert do("pools.add", pool, None, worker_ids=[f"A{n}" for n in range(3001)]) == 1


def test_the_best_of_a_stage_are_found_by_their_figures(stage, pool, lead):
    def worker(name: str, **columns):
        return make.worker_stat(stage, make.worker(name), **columns)

    worker("AGOOD", scored=40, correct=39, answers=40, compared=40, agreed=10)
    worker("ABEST", scored=60, correct=60, answers=60, compared=60, agreed=30)
    worker("AFEW", scored=3, correct=3, answers=3, compared=3, agreed=3)
    worker("AWEAK", scored=50, correct=20, answers=50, compared=50, agreed=45)
    poor = worker("APOOR", scored=90, correct=90, answers=90)
    make.block(stage, poor.worker)
    file = Worker.objects.create(worker_id="imported-1:X", imported_into=stage.project)
    make.worker_stat(stage, file, scored=99, correct=99, answers=99)

    def named(**options):
        return [row.stat.worker.worker_id for row in best(pool, stage.key, **options)]

    assert named(by="known", least=20, top=2) == ["ABEST", "AGOOD"]
    assert named(by="agreement", least=20, top=1) == ["AWEAK"]
    assert named(by="known", least=1000, top=5) == []
    asked = {"stage": stage.key, "by": "known", "least": 20, "top": 2}
    with pytest.raises(Refused, match="not among the best any more"):
        do("pools.add_best", pool, lead, **asked, worker_ids=["ABEST", "AWEAK"])
    assert not pool.members.exists()
    with refused("workers_refused"):
        do("pools.add_best", pool, lead, **asked, worker_ids=[])
    assert do("pools.add_best", pool, lead, **asked, worker_ids=["ABEST"]) == 1
    assert do("pools.add_best", pool, lead, **asked) == 1
    assert set(states(pool)) == {"ABEST", "AGOOD"}
    for wrong in ({"by": "luck"}, {"least": 0}, {"top": 501}):
        with pytest.raises(ValidationError):
            do("pools.add_best", pool, lead, **{**asked, **wrong})
    with pytest.raises(Refused, match="No worker"):
        do("pools.add_best", pool, lead, **{**asked, "least": 1000})


def test_where_an_answer_is_recorded_the_pool_is_asked_for_again(market, stage, pool, publish, eager, answer):
    """The marketplace lets somebody in whom the lead takes out before the answer comes: that grant is withdrawn."""
    inside = market.sign_up_worker()
    do("pools.add", pool, None, worker_ids=[inside])
    granting.finish(pool.project)
    make.items(ask(stage, pool.key), 2)
    publish(stage)
    hits = list(stage.hits.order_by("pk"))
    answer(inside, hits[0])
    tasks.harvest_stage(stage.pk)
    assert Assignment.objects.get().held == ""
    # As if the worker had posted past the page without ever having been in the pool.
    pool.members.delete()
    answer(inside, hits[1])
    tasks.harvest_stage(stage.pk)
    assert Assignment.objects.get(hit=hits[1]).held_for == "lacking"
    assert pool.key in Assignment.objects.get(hit=hits[1]).held


# Settings, recipes, other projects


def test_a_stage_asks_only_for_pools_that_its_project_may_use(stage, lead):
    strange = do("pools.create", make.project(owner=lead), lead, name="Elsewhere")
    for key in (strange.key, "pool-nothing"):
        with pytest.raises(SettingsRefusedError, match="may not use"):
            ask(stage, key)
    mine = do("pools.create", stage.project, lead, name="Mine")
    with pytest.raises(SettingsRefusedError, match="takes Exists or DoesNotExist"):
        wrong = {"qualification": mine.key, "comparator": "EqualTo", "integers": [2]}
        stage_settings.change(stage, {"requirements": [wrong]}, None)
    stage.refresh_from_db()
    assert mine.key not in rules.keys_in(stage.requirements)


def test_a_stage_of_a_lead_s_own_may_ask_for_a_pool(lead):
    project = make.stage(make.project(owner=lead, recipe="choice")).project
    mine = do("pools.create", project, lead, name="Mine")
    form = {"show": [], "ask": [{"kind": "one", "key": "mood", "question": "How?", "choices": ["Glad", "Sad"]}]}
    table = {
        "title": "Moods",
        "protocol": "form",
        "input": {"stage": "", "each": "item"},
        "settings": {"form": form},
    }
    asked = [{"qualification": "pool-nothing", "comparator": "Exists"}]
    with pytest.raises(SettingsRefusedError, match="may not use"):
        custom_stages.add_stage(project, {**table, "requirements": asked}, lead)
    made = custom_stages.add_stage(project, {**table, "requirements": [{**asked[0], "qualification": mine.key}]}, lead)
    assert rules.asking(mine) == [made]


def test_a_stage_whose_pool_is_empty_is_not_published(market, stage, pool, publish):
    make.items(ask(stage, pool.key), 1)
    with refused("test_not_offered", match="nobody is in it: add workers, or make an invitation link"):
        publish(stage)
    do("pools.add", pool, None, worker_ids=[market.sign_up_worker()])
    granting.finish(pool.project)
    publish(stage)


def test_another_project_uses_a_pool_and_cannot_change_it(market, stage, lead, publish, eager):
    home = make.project(owner=lead, name="Home")
    pool = do("pools.create", home, lead, name="Shared")
    inside, outside = (market.sign_up_worker() for _ in range(2))
    do("pools.add", pool, lead, worker_ids=[inside])
    granting.finish(home)
    do("pools.share", pool, lead, project=stage.project.slug)
    do("pools.share", pool, lead, project=stage.project.slug)
    assert pool.uses.count() == 1
    make.items(ask(stage, pool.key), 2)
    publish(stage)
    assert [is_let_in(market, stage, worker) for worker in (inside, outside)] == [True, False]
    # One qualification of the account, and it is the home's.
    assert list(home.qualifications.values_list("key", flat=True)) == [pool.key]
    assert pool.key not in stage.project.qualifications.values_list("key", flat=True)
    with pytest.raises(Refused):
        do("pools.stop_sharing", pool, lead, project=stage.project.slug)
    with pytest.raises(Refused):
        do("pools.archive", pool, lead)
    assert pool.key not in [held.key for held in granting.held_in(stage.project)]
    with refused("unknown_qualification"):
        granting.intend(stage.project, pool.key, [outside], lead)


def test_only_a_manager_of_both_lets_a_project_use_a_pool(project, pool, lead):
    ann = make.user("ann")
    other = make.project(owner=ann)
    for person in (lead, ann):
        with pytest.raises(Refused, match="both projects"):
            do("pools.share", pool, person, project=other.slug)
    make.member(project, ann, "reviewer")
    with pytest.raises(Refused):
        do("pools.share", pool, ann, project=other.slug)
    project.memberships.filter(user=ann).update(role="manager")
    assert do("pools.share", pool, ann, project=other.slug)
    other.archived_at = timezone.now()
    other.save()
    PoolUse.objects.all().delete()
    with pytest.raises(Refused):
        do("pools.share", pool, ann, project=other.slug)
    with pytest.raises(Refused, match="belongs to"):
        do("pools.share", pool, lead, project=project.slug)


def test_the_use_ends_from_either_side(project, pool, lead):
    other = make.project(owner=lead)
    do("pools.share", pool, lead, project=other.slug)
    assert do("pools.stop_sharing", pool, lead, project=other.slug)
    with pytest.raises(Refused, match="uses this pool"):
        do("pools.stop_sharing", pool, lead, project=other.slug)
    assert [Action.objects.filter(project=one, verb="ended the use of a pool").count() for one in (project, other)] == [
        1,
        1,
    ]


def test_who_clones_a_project_must_manage_the_pools_that_its_stages_ask_for(stage, lead):
    home = make.project(owner=lead)
    pool = do("pools.create", home, lead, name="Shared")
    do("pools.share", pool, lead, project=stage.project.slug)
    ask(stage, pool.key)
    made = project_files.clone(stage.project, "A clone", 10, lead)
    assert Pool.objects.usable_in(made).get() == pool
    ann = make.user("ann")
    make.member(stage.project, ann, "manager")
    with refused("pool_refused", match="no manager of the project"):
        project_files.clone(stage.project, "Another", 10, ann)
    assert not stage.project.__class__.objects.filter(name="Another").exists()


# Who joined by a link


@pytest.fixture
def linked(market, stage, pool, publish) -> Stage:
    """A published stage whose pool has a link, and nobody in it."""
    make_link(pool, 5, 1, None)
    make.items(ask(stage, pool.key), 3)
    publish(stage)
    return stage


def joins(pool: Pool, worker_id: str, value: int = 2) -> None:
    """What the marketplace does when somebody presses the button there: the grant, without a word to this side."""
    gateway().grant(pool.project.qualifications.get(key=pool.key).qualification_type_id, worker_id, value)


def test_a_link_needs_the_page_of_our_own_marketplace(market, pool, settings, lead):
    made, token = make_link(pool, 5, 7, lead, "  Course on   Mondays ")
    assert (made.number, made.uses, made.note) == (2, 5, "Course on Mondays")
    assert made.expires_at - made.created_at == timedelta(days=7)
    assert token not in str(PoolLink.objects.values().get())
    assert make_link(pool, 1, 1, lead)[0].number == 3
    for wrong in ({"uses": 0}, {"uses": 1001}, {"days": 0}, {"days": 366}, {"note": "x" * 81}, {"note": "a\x07"}):
        with pytest.raises(ValidationError):
            make_link(pool, **{"uses": 1, "days": 1, "user": lead, **wrong})
    assert PoolLink.objects.count() == 2


def test_who_joined_is_learnt_from_the_marketplace_and_told_by_link(market, linked, pool):
    first, second = (market.sign_up_worker() for _ in range(2))
    joins(pool, first)
    joins(pool, second, 7)
    assert jobs.fetch(pool) == 2
    assert jobs.fetch(pool) == 0
    assert states(pool) == {first: State.GRANTED, second: State.GRANTED}
    make.pool_link(pool, number=7)
    assert {link.number: link.joined for link in links_of(pool)} == {2: 1, 7: 1}
    pool.refresh_from_db()
    assert pool.fetched_at


def test_an_older_list_does_not_bring_back_whom_a_lead_took_out(market, linked, pool, monkeypatch):
    worker = market.sign_up_worker()
    joins(pool, worker)
    stale = [list(page) for page in gateway().holder_pages(pool.project.qualifications.get().qualification_type_id)]
    jobs.fetch(pool)
    do("pools.remove", pool.members.get(), None)
    granting.finish(pool.project)
    monkeypatch.setattr(type(gateway()), "holder_pages", lambda self, kind: iter(stale))
    assert jobs.fetch(pool) == 0
    assert states(pool) == {worker: State.WITHDRAWN}


def test_while_a_withdrawal_is_carried_out_nobody_reads_who_is_in(market, linked, pool):
    from hits.core.jobs.leases import lease

    with lease(grant_rows.lease_name(pool.project_id)) as held:
        assert held
        assert jobs.fetch(pool) is None


def test_who_joined_just_now_answers_without_waiting_and_it_counts(market, linked, pool, answer, eager):
    worker = market.sign_up_worker()
    joins(pool, worker)
    answer(worker, linked.hits.order_by("pk").first())
    assert not pool.members.exists()
    tasks.harvest_stage(linked.pk)
    row = Assignment.objects.get()
    assert (row.held, row.scored) == ("", True)
    assert states(pool) == {worker: State.GRANTED}


def test_an_answer_that_was_held_counts_once_it_is_known_that_its_worker_joined(market, linked, pool, answer, eager):
    worker = market.sign_up_worker()
    joins(pool, worker)
    answer(worker, linked.hits.order_by("pk").first())
    PoolLink.objects.update(expires_at=timezone.now() - timedelta(days=1))
    tasks.harvest_stage(linked.pk)
    assert Assignment.objects.get().held_for == "lacking"
    assert jobs.fetch(pool) == 1
    row = Assignment.objects.get()
    assert (row.held, row.held_for) == ("", "")
    assert row.labels.exists()


def test_while_the_marketplace_is_away_such_answers_wait(market, linked, pool, answer, eager, monkeypatch):
    worker = market.sign_up_worker()
    joins(pool, worker)
    answer(worker, linked.hits.order_by("pk").first())

    from hits.mturk.errors import UnreachableError

    def silent(self, kind):
        raise UnreachableError("Nobody answers.")

    with monkeypatch.context() as patch:
        patch.setattr(type(gateway()), "holder_pages", silent)
        tasks.harvest_stage(linked.pk)
        assert not Assignment.objects.get().scored
    tasks.conclude_stage(linked.pk)
    assert (Assignment.objects.get().scored, Assignment.objects.get().held) == (True, "")


def test_pools_with_open_links_are_asked_about_by_themselves(market, linked, pool):
    now = timezone.now()
    assert jobs.due() == [pool.pk]
    jobs.fetch_pool(pool.pk)
    assert jobs.due() == []
    Pool.objects.update(fetched_at=now - timedelta(seconds=61))
    assert jobs.due() == [pool.pk]
    PoolLink.objects.update(created_at=now - timedelta(days=2))
    assert jobs.due() == []
    Pool.objects.update(fetched_at=now - timedelta(minutes=11))
    assert jobs.due() == [pool.pk]
    PoolLink.objects.update(expires_at=now - timedelta(hours=3))
    assert jobs.due() == []


# Personal data


def test_whoever_is_erased_leaves_all_pools(market, pool, capsys):
    worker = market.sign_up_worker()
    do("pools.add", pool, None, worker_ids=[worker])
    granting.finish(pool.project)
    row = personal_data.find(worker)
    assert [one["pool"] for one in personal_data.export(row)["pools"]] == ["Students 2026"]
    assert personal_data.erasable(row).pools == 1
    call_command("erase_worker", worker, "--yes")
    assert "places in pools 1" in capsys.readouterr().out
    assert states(pool) == {worker: State.WITHDRAWING}
    assert granting.unfinished() == [pool.project_id]
    granting.finish(pool.project)
    assert states(pool) == {worker: State.WITHDRAWN}
