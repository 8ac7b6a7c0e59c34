"""A draw makes items of what the project has collected, once, and the same ones each time."""

from __future__ import annotations

import pytest

from hits.items.verbs import sampling
from hits.models import Item, Project, Stage, StageSummary
from tests.hits import factories
from tests.hits.doing import refused
from tests.hits.small_recipe import small_project, small_recipe

pytestmark = pytest.mark.django_db
__all__ = ["small_recipe"]


@pytest.fixture
def project(small_recipe: str) -> Project:
    return small_project(factories.user("lena"))


@pytest.fixture
def sample(project: Project) -> Stage:
    return project.stages.get(key="sample")


def test_the_quote_says_how_many_there_are_and_makes_nothing(sample: Stage) -> None:
    assert sampling.quote(sample) == sampling.Quote(there=2, here=0, new=2)
    assert not sample.items.exists()


def test_drawn_items_know_where_they_come_from(sample: Stage, project: Project) -> None:
    assert sampling.draw(sample, 2) == 2
    kept = project.stages.get(key="judge").items.filter(state=Item.State.KEPT)
    assert {(item.parent_id, item.key, item.document_id) for item in sample.items.all()} == {
        (item.pk, item.key, item.document_id) for item in kept
    }
    assert StageSummary.objects.get(stage=sample).waiting == 2
    assert sampling.quote(sample) == sampling.Quote(there=2, here=2, new=0)


def test_drawing_again_draws_nothing_twice(sample: Stage) -> None:
    assert sampling.draw(sample, 1) == 1
    first = sample.items.get()
    assert sampling.draw(sample, 1) == 0
    assert sampling.draw(sample, 500) == 1
    assert sample.items.count() == 2
    sample.items.all().delete()
    sampling.draw(sample, 1)
    assert sample.items.get().key == first.key


def test_a_stage_that_takes_no_sample_refuses(project: Project) -> None:
    with refused("draw_refused", match="from the stage before it"):
        sampling.draw(project.stages.get(key="judge"), 1)


def test_there_must_be_something_to_draw_from(sample: Stage) -> None:
    Item.objects.update(state=Item.State.DROPPED)
    with refused("draw_refused", match="nothing to sample yet"):
        sampling.quote(sample)
    with refused("draw_refused", match="at least one"):
        sampling.draw(sample, 0)
