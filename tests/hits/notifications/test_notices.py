"""Notices: what is told, how often, and to whom."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from hits import protocols, tasks
from hits.answers.rules.reported_decisions import TAKEN_BACK
from hits.judging.rules.summaries import refresh_summary
from hits.models import (
    Account,
    Assignment,
    Batch,
    Bonus,
    BonusFile,
    Compensation,
    ComputationRun,
    Hit,
    Item,
    Notice,
    Project,
    Stage,
    StageSummary,
    Upload,
    Worker,
)
from hits.notifications.jobs import pending_notices
from hits.notifications.rules import notices
from hits.notifications.verbs import writing_notices
from hits.releases.verbs import releasing
from tests.hits import factories as make
from tests.hits.doing import refused

pytestmark = pytest.mark.django_db
POLICY = {"check_every": 1000, "min_answers": 20, "floor": 0.2, "alpha": 0.01}
Kind = Notice.Kind
FORM = {
    "show": [{"kind": "text", "text": "Read."}],
    "ask": [{"kind": "short_text", "key": "remark", "question": "What do you think?"}],
}


@pytest.fixture
def alice() -> Any:
    return make.user("alice", email="alice@example.org")


@pytest.fixture
def project(alice: Any) -> Project:
    return make.project(owner=alice, name="River", slug="river")


@pytest.fixture
def stage(project: Project) -> Stage:
    """Live, with answers that a lead approves within five days."""
    return make.stage(
        project,
        key="judge",
        title="Judge",
        state=Stage.State.LIVE,
        approval=Stage.Approval.REVIEW,
        auto_approval_seconds=5 * 86_400,
    )


def told(kind: str = "") -> list[str]:
    """The sentences of a new look at all projects."""
    before = set(Notice.objects.values_list("pk", flat=True))
    tasks.tell_members()
    rows = Notice.objects.exclude(pk__in=before).order_by("pk")
    return [row.words for row in (rows.filter(kind=kind) if kind else rows)]


def _summary(stage: Stage, **columns: Any) -> None:
    StageSummary.objects.filter(stage=stage).update(**columns)


def _budget(stage: Stage, low: bool) -> None:
    _summary(stage, items=4, open=4)
    Account.objects.update(budget=Decimal(100), paid=Decimal(95 if low else 10))


def _review(stage: Stage, soon: bool) -> None:
    at = timezone.now() + timedelta(hours=5) if soon else None
    _summary(stage, items=4, to_review=4 if soon else 0, next_auto_approval=at)


def _block(stage: Stage, poor: bool) -> None:
    Stage.objects.filter(pk=stage.pk).update(quality=POLICY)
    if not stage.worker_stats.exists():
        for number in range(20):
            make.worker_stat(stage, make.worker(f"A{number}"), scored=60, correct=50)
        make.worker_stat(stage, make.worker("APOOR"), scored=60, correct=1)
    stage.worker_stats.filter(worker__worker_id="APOOR").update(correct=1 if poor else 50)


def _import(stage: Stage, failed: bool) -> None:
    state = Upload.State.FAILED if failed else Upload.State.DONE
    make.upload(stage.project, name="rows.csv", state=state)


def _computation(stage: Stage, failed: bool) -> None:
    state = ComputationRun.State.FAILED if failed else ComputationRun.State.DONE
    make.computation_run(stage.project, key="filter", state=state)


def _ledger(stage: Stage, differs: bool) -> None:
    make.ledger_check(stage.project, **({} if differs else {"differences": []}))


STATES: dict[str, tuple[str, Callable[[Stage, bool], None], str]] = {
    "budget": (Kind.BUDGET, _budget, "Less than 10 % of the budget is left"),
    "review": (Kind.REVIEW, _review, "4 answers wait for review"),
    "block": (Kind.BLOCK, _block, "APOOR would be blocked"),
    "import": (Kind.STUCK, _import, "rows.csv was not imported"),
    "computation": (Kind.STUCK, _computation, "The computation filter failed"),
    "ledger": (Kind.STUCK, _ledger, "1 difference between ledger and marketplace"),
}


@pytest.mark.parametrize("name", STATES)
def test_a_state_is_told_once_until_it_ends_and_comes_again(stage: Stage, name: str) -> None:
    kind, put, sentence = STATES[name]
    put(stage, True)
    assert told(kind) == [sentence]
    assert told(kind) == []
    assert Notice.objects.get(kind=kind).ended_at is None
    put(stage, False)
    assert told(kind) == []
    assert Notice.objects.get(kind=kind).ended_at is not None
    put(stage, True)
    assert told(kind) == [sentence]
    assert Notice.objects.filter(kind=kind, ended_at=None).count() == 1


@pytest.mark.parametrize("name", STATES)
def test_the_link_leads_to_a_page_that_a_reader_may_see(stage: Stage, name: str, client: Any) -> None:
    kind, put, _ = STATES[name]
    put(stage, True)
    told()
    reader = make.user("rita")
    make.member(stage.project, reader, "reader")
    client.force_login(reader)
    address = Notice.objects.get(kind=kind).address
    assert client.get(address.partition("#")[0]).status_code == 200


@pytest.mark.parametrize(
    ("auto_approval_hours", "hours_left", "is_told"),
    [(120, 23, True), (120, 25, False), (12, 5, True), (12, 7, False), (0.5, 0.4, False)],
)
def test_review_is_due_a_day_before_or_half_of_a_shorter_time(
    stage: Stage, auto_approval_hours: float, hours_left: float, is_told: bool
) -> None:
    Stage.objects.filter(pk=stage.pk).update(auto_approval_seconds=int(auto_approval_hours * 3600))
    _summary(stage, items=2, to_review=2, next_auto_approval=timezone.now() + timedelta(hours=hours_left))
    assert told(Kind.REVIEW) == (["2 answers wait for review"] if is_told else [])


def test_a_batch_is_finished_when_its_hits_have_ended_and_its_items_are_decided(stage: Stage) -> None:
    items = make.items(stage, 3, state=Item.State.OPEN)
    hits = make.hits(items)
    assert told(Kind.FINISHED) == []
    Hit.objects.filter(pk__in=[hit.pk for hit in hits]).update(state=Hit.State.CLOSED)
    assert told(Kind.FINISHED) == []
    stage.items.update(state=Item.State.KEPT)
    assert told(Kind.FINISHED) == ["A batch of 3 HITs is finished"]
    assert told(Kind.FINISHED) == []
    again = make.batch(stage, kind=Batch.Kind.AGAIN)
    make.hit(make.item(stage, state=Item.State.KEPT), batch=again, state=Hit.State.CLOSED)
    assert told(Kind.FINISHED) == []


def test_a_batch_waits_for_the_further_items_of_its_hits(stage: Stage) -> None:
    first, second = make.items(stage, 2, state=Item.State.KEPT)
    Item.objects.filter(pk=second.pk).update(state=Item.State.AGAIN)
    make.hit_about([first, second], state=Hit.State.CLOSED)
    assert told(Kind.FINISHED) == []
    Item.objects.filter(pk=second.pk).update(state=Item.State.DROPPED)
    assert told(Kind.FINISHED) == ["A batch of 1 HIT is finished"]


def test_reports_are_told_together_and_each_once(stage: Stage) -> None:
    make.assignment(make.hit(make.item(stage)), remark="Two names fit.")
    make.assignment(make.hit(make.item(stage)), remark="The text is cut.")
    refresh_summary(stage)
    assert told(Kind.REPORT) == ["2 answers with a new report"]
    assert told(Kind.REPORT) == []
    make.assignment(make.hit(make.item(stage)), remark="A typo.")
    refresh_summary(stage)
    assert told(Kind.REPORT) == ["1 answer with a new report"]


def test_fewer_reports_than_before_tell_nothing_and_later_ones_are_told(stage: Stage) -> None:
    _summary(stage, reported=5)
    assert told(Kind.REPORT) == ["5 answers with a new report"]
    _summary(stage, reported=3)
    assert told(Kind.REPORT) == []
    _summary(stage, reported=5)
    assert told(Kind.REPORT) == ["2 answers with a new report"]


def test_a_rejection_that_the_marketplace_took_back_is_told(stage: Stage) -> None:
    answer = make.assignment(make.hit(make.item(stage)), state=Assignment.State.APPROVED)
    Assignment.objects.filter(pk=answer.pk).update(adopted=TAKEN_BACK)
    make.assignment(make.hit(make.item(stage)), adopted="Approved at the marketplace, not from here.")
    refresh_summary(stage)
    assert told(Kind.REPORT) == ["1 rejection was taken back by the marketplace"]


def test_what_failed_for_good_is_told_with_its_number(stage: Stage) -> None:
    project = stage.project
    make.batch(stage, refused=2, end_told=True)
    answer = make.assignment(make.hit(make.item(stage)))
    make.bonus(answer, state=Bonus.State.REFUSED)
    make.compensation(project, state=Compensation.State.REFUSED, worker_id="AW1")
    file = make.bonus_file(project, b"assignment_id,amount,reason\n")
    BonusFile.objects.filter(pk=file.pk).update(state=BonusFile.State.FAILED, name="march.csv")
    make.grant(project, Worker.objects.first(), state="intended", error="No such worker.", key="part-one")
    assert set(told(Kind.STUCK)) == {
        "2 HITs refused by the marketplace",
        "1 bonus was refused by the marketplace",
        "The compensation of AW1 was refused by the marketplace",
        "The file of bonuses march.csv failed",
        "The qualification “Part one” did not reach 1 worker, or was not withdrawn",
    }
    assert told(Kind.STUCK) == []


def test_what_may_pass_by_itself_is_told_once_it_has_lasted(stage: Stage, alice: Any) -> None:
    batch = make.batch(stage, state=Batch.State.WAITING, message="The marketplace does not answer.")
    tasks.tell_members()
    assert (Notice.objects.count(), notices.new_count(alice)) == (1, 0)
    Batch.objects.filter(pk=batch.pk).update(state=Batch.State.PUBLISHING)
    tasks.tell_members()
    assert not Notice.objects.exists()
    Batch.objects.filter(pk=batch.pk).update(state=Batch.State.WAITING)
    tasks.tell_members()
    Notice.objects.update(told_at=timezone.now())
    tasks.tell_members()
    row = notices.seen_by(alice).get()
    assert notices.in_full(row) == "Publishing waits for the marketplace: The marketplace does not answer."


def test_what_a_stage_says_does_not_go_on_is_told(stage: Stage) -> None:
    hit = make.hit(make.item(stage, state=Item.State.OPEN))
    Hit.objects.filter(pk=hit.pk).update(error="An answer came late and the budget has no room for it.")
    tasks.tell_members()
    row = Notice.objects.get(kind=Kind.STUCK)
    assert "the budget has no room" in row.more
    assert row.told_at > timezone.now()


def test_a_release_that_fails_in_the_background_is_told(stage: Stage) -> None:
    make.items(stage, 2)
    with refused("nothing_to_release"):
        tasks.make_release(stage.project_id, None)
    row = Notice.objects.get()
    assert (row.words, row.kind, row.is_event) == ("A release was not made", "stuck", True)
    assert row.more
    tasks.tell_members()
    assert Notice.objects.get().ended_at is None


def test_an_archived_project_tells_nothing_and_shows_nothing(stage: Stage, alice: Any) -> None:
    _budget(stage, True)
    tasks.tell_members()
    assert notices.new_count(alice) == 1
    Project.objects.update(archived_at=timezone.now())
    _review(stage, True)
    assert told() == []
    assert (notices.new_count(alice), notices.seen_by(alice).count()) == (0, 0)


def test_another_process_that_found_the_same_writes_it_once(stage: Stage) -> None:
    """Both looked before either wrote."""
    _budget(stage, True)
    make.hit(make.item(stage, state=Item.State.KEPT), state=Hit.State.CLOSED)
    _summary(stage, reported=2)
    [projects] = list(writing_notices._in_use())
    first, second = pending_notices.of_projects(projects), pending_notices.of_projects(projects)
    assert {one.kind for one in first} == {Kind.BUDGET, Kind.FINISHED, Kind.REPORT}
    writing_notices.write(projects, first)
    writing_notices.write(projects, second)
    assert Notice.objects.count() == 3


def test_a_line_from_data_stays_one_line(stage: Stage) -> None:
    make.upload(stage.project, name="rows.csv\n\nYou won: http://evil.example\x1b[0m", state=Upload.State.FAILED)
    tasks.tell_members()
    words = Notice.objects.get(kind=Kind.STUCK).words
    assert words == "rows.csv You won: http://evil.example [0m was not imported"


def test_the_number_of_queries_does_not_grow_with_projects_that_are_not_started(alice: Any) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as found:
            tasks.tell_members()
        return len(found)

    for _ in range(2):
        make.stage(make.project(owner=alice))
    queries()
    before = queries()
    for _ in range(20):
        make.stage(make.project(owner=alice))
    assert queries() == before


def test_a_member_sees_as_new_what_came_after_joining_and_after_the_last_look(stage: Stage, alice: Any) -> None:
    _budget(stage, True)
    tasks.tell_members()
    bob = make.user("bob")
    make.member(stage.project, bob, "reader")
    assert [notices.new_count(person) for person in (alice, bob, make.user("eve"))] == [1, 0, 0]
    assert notices.seen_by(bob).count() == 1
    writing_notices.mark_seen(alice, timezone.now())
    assert notices.new_count(alice) == 0
    _review(stage, True)
    tasks.tell_members()
    assert [notices.new_count(person) for person in (alice, bob)] == [1, 1]


def test_marking_as_seen_up_to_a_moment_leaves_what_came_later_and_never_goes_back(stage: Stage, alice: Any) -> None:
    _budget(stage, True)
    tasks.tell_members()
    shown = Notice.objects.get().told_at
    _review(stage, True)
    tasks.tell_members()
    writing_notices.mark_seen(alice, shown)
    assert notices.new_count(alice) == 1
    writing_notices.mark_seen(alice, timezone.now() + timedelta(days=9))
    writing_notices.mark_seen(alice, shown)
    assert notices.new_count(alice) == 0
    _import(stage, True)
    tasks.tell_members()
    assert notices.new_count(alice) == 1


def test_a_kind_that_is_switched_off_is_neither_shown_nor_counted(stage: Stage, alice: Any) -> None:
    _budget(stage, True)
    _review(stage, True)
    tasks.tell_members()
    writing_notices.choose(alice, {"budget": (False, True)})
    assert [row.kind for row in notices.seen_by(alice)] == ["review"]
    assert notices.new_count(alice) == 1
    with refused("unknown_kind", match="no kind weather"):
        writing_notices.choose(alice, {"review": (False, False), "weather": (True, True)})
    assert notices.new_count(alice) == 1


def test_a_task_whose_code_fails_is_told_and_keeps_no_other_project_from_its_notices(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    def failing(*given: object) -> list[str]:
        raise KeyError("column")

    broken = make.stage(
        make.project(owner=make.user("bob"), slug="broken"),
        key="rate",
        protocol="form",
        settings={"form": FORM},
        state=Stage.State.LIVE,
        auto_publish=True,
    )
    [parent] = make.items(stage, 1)
    make.items(broken, 1, parent=parent)
    monkeypatch.setattr(protocols.get("form"), "item_faults", failing)
    _budget(stage, low=True)
    tasks.tell_members()
    assert Notice.objects.filter(project=stage.project, kind=Kind.BUDGET).exists()
    found = Notice.objects.get(project=broken.project, kind=Kind.STUCK)
    assert "KeyError" in found.more and "KeyError" in caplog.text
    # The stage's own page says it too.
    bob = Client()
    bob.force_login(User.objects.get(username="bob"))
    page = bob.get(reverse("stage", args=["broken", "rate"]))
    assert page.status_code == 200 and "The code of the task failed: KeyError" in page.content.decode()


def test_a_project_without_stages_releases_nothing_and_says_so() -> None:
    for act in (releasing.preview, lambda project: releasing.release(project, None)):
        with refused("nothing_to_release", match="the project has no stages"):
            act(make.project())
