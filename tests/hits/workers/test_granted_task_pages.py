"""The page asks again what the marketplace asked: between an answer and the qualification it gives lies a while."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from hits.answers.verbs import serving
from hits.models import Draft, Grant, Hit
from tests.hits import factories as make
from tests.hits.answers import story
from tests.hits.task_page import ASSIGNMENT, WORKER, frame_query

pytestmark = pytest.mark.django_db
EXISTS = {"qualification": "chosen-reader", "comparator": "Exists"}
OTHER_PART = {"qualification": "part-one", "comparator": "DoesNotExist"}
POOR = {"qualification": "poor-quality", "comparator": "DoesNotExist"}


@pytest.fixture
def first_part(hit: Hit) -> Hit:
    """A HIT of the other part, whose workers `hit` refuses."""
    stage = make.stage(hit.stage.project, grants="part-one")
    hit.stage.requirements = [POOR, OTHER_PART]
    hit.stage.save()
    return make.hit(make.item(stage))


def given(hit: Hit, key: str, **columns) -> Grant:
    project = hit.stage.project
    return Grant.objects.create(project=project, key=key, worker=make.worker(WORKER), **columns)


def said(response) -> str:
    assert response.status_code == 403
    return response.content.decode()


def test_whoever_has_done_neither_part_gets_the_page(hit, first_part, open_task, django_assert_max_num_queries):
    make.assignment(first_part)
    Draft.objects.create(hit=first_part, assignment_id="3MINE", worker_id=WORKER)
    with django_assert_max_num_queries(7):
        assert open_task(hit).status_code == 200


def test_an_answer_to_the_other_part_closes_the_page_before_any_qualification_is_granted(hit, first_part, open_task):
    make.assignment(first_part, make.worker(WORKER))
    assert "done the other part of this task already" in said(open_task(hit))
    assert open_task(hit, workerId="AANOTHER").status_code == 200


def test_so_does_one_that_was_recorded_while_the_page_was_open(hit, first_part, open_task, recording_marketplace):
    page = serving.open_page(hit, frame_query(hit, recording_marketplace.origin))
    Draft.objects.create(hit=first_part, assignment_id="3MINE", worker_id=WORKER, sent_at=timezone.now())
    assert open_task(hit).status_code == 200, "an announced answer may have been invented"
    make.assignment(first_part, make.worker(WORKER), assignment_id="3MINE")
    assert "done the other part" in said(open_task(hit))
    with pytest.raises(serving.NotEligibleError, match="the other part"):
        serving.check(page.token, {"answer": "-".join(map(str, story.MENTIONS[0]))})


@pytest.mark.parametrize("state", [Grant.State.INTENDED, Grant.State.GRANTED])
def test_a_qualification_that_stands_closes_the_page(hit, first_part, open_task, state):
    grant = given(hit, "part-one", state=state)
    assert "keeps this task for other workers" in said(open_task(hit))
    Grant.objects.update(stage=first_part.stage)
    assert "done the other part" in said(open_task(hit))
    grant.project = make.project()
    grant.save()
    assert open_task(hit).status_code == 200


@pytest.mark.parametrize("state", [Grant.State.WITHDRAWING, Grant.State.WITHDRAWN])
def test_after_a_withdrawal_only_a_later_answer_closes_it(hit, first_part, open_task, state):
    now = timezone.now()
    grant = given(hit, "part-one", state=state, withdrawn_at=now)
    make.assignment(first_part, grant.worker, submitted_at=now - timedelta(hours=1))
    assert open_task(hit).status_code == 200
    make.assignment(first_part, grant.worker, submitted_at=now + timedelta(seconds=1))
    assert "done the other part" in said(open_task(hit))


def test_a_stage_that_gives_what_it_refuses_takes_one_answer_a_worker(hit, open_task, recording_marketplace):
    hit.stage.requirements, hit.stage.grants = [OTHER_PART], "part-one"
    hit.stage.save()
    page = serving.open_page(hit, frame_query(hit, recording_marketplace.origin))
    fields = {"answer": "-".join(map(str, story.MENTIONS[0]))}
    for _ in range(2):
        # Pressing the button twice is sending once.
        serving.check(page.token, fields)
    make.assignment(hit, make.worker(WORKER), assignment_id=ASSIGNMENT)
    assert open_task(hit).status_code == 200
    second = make.hit(make.item(hit.stage))
    assert "done the other part" in said(open_task(second, assignmentId=f"{ASSIGNMENT}B"))


def test_a_task_for_chosen_workers_is_closed_to_all_others(hit, open_task):
    hit.stage.requirements = [EXISTS]
    hit.stage.save()
    assert "you are not among them" in said(open_task(hit))
    grant = given(hit, "chosen-reader", state=Grant.State.GRANTED)
    assert open_task(hit).status_code == 200
    Grant.objects.update(state=Grant.State.WITHDRAWN)
    assert "you are not among them" in said(open_task(hit))
    Grant.objects.filter(pk=grant.pk).delete()
    make.qualification_test(hit.stage.project, key="chosen-reader")
    assert open_task(hit).status_code == 200, "who passed a test, the marketplace alone knows"


@pytest.mark.parametrize("requirement", [POOR, {"qualification": "locale", "comparator": "In", "locales": ["US"]}])
def test_other_requirements_are_the_marketplaces_alone(hit, open_task, requirement, django_assert_max_num_queries):
    hit.stage.requirements = [requirement]
    hit.stage.save()
    with django_assert_max_num_queries(6):
        assert open_task(hit).status_code == 200
