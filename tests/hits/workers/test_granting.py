"""Qualifications that a lead or an answer gives; the real marketplace says who is let in."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from hits import tasks
from hits.models import Assignment, Grant, Stage
from hits.mturk.errors import UnreachableError
from hits.publishing.rules import hit_types
from hits.publishing.rules.marketplace_account import gateway
from hits.workers.verbs import granting
from tests.hits import factories as make
from tests.hits.crashes import MOMENTS, crash, interrupted
from tests.hits.doing import refused
from tests.hits.market import VerbRefusedError

pytestmark = pytest.mark.django_db(transaction=True)
State = Grant.State


@pytest.fixture
def parts(project) -> tuple[Stage, Stage]:
    """Two stages of one project; whoever answers in the first may not answer in the second."""
    first, second = project.stages.filter(crowd=True).order_by("position")[:2]
    other = {"qualification": "part-one", "comparator": "DoesNotExist", "guards": "PreviewAndAccept"}
    Stage.objects.filter(pk=first.pk).update(grants="part-one", requirements=[])
    Stage.objects.filter(pk=second.pk).update(requirements=[other])
    first.refresh_from_db()
    second.refresh_from_db()
    return first, second


@pytest.fixture
def published(parts, market, publish) -> tuple[Stage, Stage]:
    first, second = parts
    for stage in parts:
        make.items(stage, 2)
    publish(first, "page-1")
    publish(second, "page-2")
    return first, second


def states(**columns) -> dict[str, str]:
    return dict(Grant.objects.filter(**columns).order_by("id").values_list("worker__worker_id", "state"))


def is_let_in(market, stage: Stage, worker_id: str) -> bool:
    try:
        market.give_back(market.accept(worker_id, hit_type_id=stage.hit_type_id))
    except VerbRefusedError as error:
        assert "DoesNotMeetRequirements" in str(error)
        return False
    return True


def test_whoever_has_answered_one_part_is_kept_from_the_other_at_the_marketplace(market, published, answer, eager):
    first, second = published
    busy, idle = (market.sign_up_worker() for _ in range(2))
    assert is_let_in(market, second, busy)
    hit = first.hits.first()
    answer(busy, hit)
    tasks.harvest_stage(first.pk)
    assert states() == {busy: State.GRANTED}
    row = Grant.objects.get()
    assert (row.key, row.stage, row.created_by) == ("part-one", first, None)
    assert [is_let_in(market, second, worker) for worker in (busy, idle)] == [False, True]
    assert is_let_in(market, first, busy)
    tasks.conclude_stage(first.pk)
    assert Grant.objects.count() == 1


def test_what_workers_read_of_a_qualification_is_how_it_is_given(market, published, project):
    """At the marketplace, of one that an answer gives; of the other kinds as they would be made."""
    first, second = published
    made = project.qualifications.get(key="part-one")
    kind = gateway()._call("get_qualification_type", QualificationTypeId=made.qualification_type_id)
    told = kind["QualificationType"]["Description"]
    assert (
        told == f"Given to workers who have answered “{first.hit_title}”, or whom the project “{project.name}” names."
    )
    poor = hit_types.described(project, "poor-quality")
    assert poor.startswith(f"Given to workers who are blocked or paused in the project “{project.name}”.")
    assert "to workers whom it names" in hit_types.described(project, "invited-workers")
    Stage.objects.filter(pk=second.pk).update(grants="exam-result", screening_share=0.8)
    of_test = f"Your percentage of right answers in “{second.hit_title}” of the project “{project.name}”."
    assert hit_types.described(project, "exam-result") == of_test


def test_a_lead_gives_takes_back_and_gives_again(market, published, project, lead):
    _, second = published
    worker = market.sign_up_worker()
    assert granting.grant(project, "part-one", [worker, f" {worker} ", ""], lead) == 1
    assert granting.grant(project, "part-one", [worker], lead) == 0
    row = Grant.objects.get()
    assert (row.state, row.created_by, row.stage) == (State.GRANTED, lead, None)
    assert not is_let_in(market, second, worker)
    granting.withdraw(row)
    row.refresh_from_db()
    assert (row.state, row.withdrawn_at is None) == (State.WITHDRAWN, False)
    assert is_let_in(market, second, worker)
    assert not granting.intend_withdrawal(row)
    assert granting.grant(project, "part-one", [worker], lead) == 1
    assert not is_let_in(market, second, worker)
    assert Grant.objects.count() == 2


@pytest.mark.parametrize("moment", MOMENTS[:2])
def test_a_crash_at_granting_or_withdrawing_loses_nothing(market, published, project, lead, moment):
    _, second = published
    workers = [market.sign_up_worker() for _ in range(2)]
    interrupted("grant", moment, lambda: granting.grant(project, "part-one", workers, lead))
    assert granting.unfinished() == [project.pk]
    granting.finish(project)
    assert [is_let_in(market, second, worker) for worker in workers] == [False, False]
    row = Grant.objects.get(worker__worker_id=workers[0])
    interrupted("revoke", moment, lambda: granting.withdraw(row))
    assert granting.unfinished() == [project.pk]
    granting.finish(project)
    assert [is_let_in(market, second, worker) for worker in workers] == [True, False]
    assert (states(), granting.unfinished()) == ({workers[0]: State.WITHDRAWN, workers[1]: State.GRANTED}, [])


def test_withdrawing_while_it_is_granted_and_granting_while_it_is_withdrawn_end_as_was_said_last(
    market, published, project, lead
):
    _, second = published
    worker = market.sign_up_worker()
    with crash("grant", "reply lost"), pytest.raises(UnreachableError):
        granting.grant(project, "part-one", [worker], lead)
    granting.withdraw(Grant.objects.get())
    assert (states(), is_let_in(market, second, worker)) == ({worker: State.WITHDRAWN}, True)
    granting.grant(project, "part-one", [worker], lead)
    with crash("revoke", "reply lost"), pytest.raises(UnreachableError):
        granting.withdraw(Grant.objects.get(state=State.GRANTED))
    assert granting.grant(project, "part-one", [worker], lead) == 1
    assert not is_let_in(market, second, worker)
    assert list(Grant.objects.order_by("id").values_list("state", flat=True)) == [State.WITHDRAWN, State.GRANTED]


def test_a_silent_marketplace_leaves_the_intent_and_the_beat_comes_back_to_it(
    marketplace, market, published, project, lead, eager
):
    worker = market.sign_up_worker()
    with crash("grant", "reply lost"):
        granting.intend(project, "part-one", [worker], lead)
        assert tasks.finish_grants(project.pk) == 0
    assert states() == {worker: State.INTENDED}
    tasks.resume_all()
    assert states() == {worker: State.GRANTED}


def test_a_worker_whom_the_marketplace_does_not_know_holds_up_nobody_and_can_be_taken_off(
    market, published, project, lead, stranger_refused
):
    known = market.sign_up_worker()
    assert granting.grant(project, "part-one", ["A000NOTTHERE", known], lead) == 2
    assert states() == {"A000NOTTHERE": State.INTENDED, known: State.GRANTED}
    refused = Grant.objects.get(state=State.INTENDED)
    assert "refused" in refused.error and refused.error.endswith(".")
    assert granting.unfinished() == []
    granting.intend(project, "part-one", ["A000NOTTHERE"], lead)
    assert granting.unfinished() == [project.pk]
    granting.withdraw(refused)
    assert states(key="part-one")["A000NOTTHERE"] == State.WITHDRAWN


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["A1", "worker", "a2", "<b>"], "“worker” is no worker id.*“a2” is no.*“<b>” is no"),
        (["", "  "], "at least one"),
        ([f"A{n}" for n in range(1001)], "at most 1,000"),
        (["?"] * 1 + [f"x{n}" for n in range(6)], "And 2 more"),
    ],
)
def test_what_is_no_list_of_workers_is_refused_whole(project, parts, lead, given, said):
    with refused("workers_refused", match=said):
        granting.intend(project, "part-one", given, lead)
    assert not Grant.objects.exists()


@pytest.mark.parametrize("key", ["poor-quality", "part-two", "reading-test", ""])
def test_only_what_stages_give_or_ask_for_can_be_given(project, parts, lead, key):
    make.qualification_test(project, key="reading-test")
    mine = {"qualification": "reading-test", "comparator": "Exists"}
    Stage.objects.filter(pk=parts[0].pk).update(requirements=[mine])
    with refused("unknown_qualification", match="There are: part-one"):
        granting.intend(project, key, ["A1"], lead)


def test_an_answer_gives_it_once_and_again_only_after_a_withdrawal(project, parts):
    first, _ = parts
    hits = make.hits(make.items(first, 3))
    worker, rejected = make.worker(), make.worker()
    make.assignments(hits, worker, submitted_at=timezone.now())
    make.assignment(hits[0], rejected, state=Assignment.State.REJECTED)
    assert granting.grant_for_answers(first) == 2
    assert granting.grant_for_answers(first) == 0
    Grant.objects.update(state=State.WITHDRAWN, withdrawn_at=timezone.now())
    assert granting.grant_for_answers(first) == 0
    make.assignment(make.hit(make.item(first)), worker, submitted_at=timezone.now())
    assert granting.grant_for_answers(first) == 1
    assert Grant.objects.get(state=State.INTENDED).worker == worker


def test_granting_for_answers_costs_the_same_however_many_answered(parts):
    first, second = parts
    counts = []
    for n in (1, 30):
        hit = make.hit(make.item(first))
        for _ in range(n):
            make.assignment(hit)
        with CaptureQueriesContext(connection) as queries:
            assert granting.grant_for_answers(first) == n
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 5
    with CaptureQueriesContext(connection) as queries:
        assert granting.grant_for_answers(second) == 0
    assert not queries.captured_queries


def test_a_stage_for_chosen_workers_is_published_once_somebody_is_chosen(market, project, stage, lead, publish):
    Stage.objects.filter(pk=stage.pk).update(requirements=[{"qualification": "chosen-few", "comparator": "Exists"}])
    stage.refresh_from_db()
    make.items(stage, 1)
    with refused("test_not_offered", match="give it to workers under “Qualifications held”"):
        publish(stage)
    chosen, other = (market.sign_up_worker() for _ in range(2))
    granting.grant(project, "chosen-few", [chosen], lead)
    publish(stage)
    assert [is_let_in(market, stage, worker) for worker in (chosen, other)] == [True, False]


def test_workers_read_of_a_qualification_in_the_language_of_the_pages_that_it_is_about(published, project):
    first, second = published
    Stage.objects.filter(pk=first.pk).update(page_language="de")
    told = hit_types.described(project, "part-one")
    assert told == f"Bekommt, wer „{first.hit_title}“ beantwortet hat oder wen das Projekt „{project.name}“ nennt."
    assert hit_types.described(project, "poor-quality").startswith("Given to workers")
    project.stages.update(page_language="es")
    assert hit_types.described(project, "poor-quality").startswith("La reciben las personas bloqueadas")
