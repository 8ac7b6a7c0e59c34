"""What trusted workers changed, taken back and taken up again on the command line."""

from __future__ import annotations

import pytest
from django.core.management.base import CommandError

from hits.models import Label, Stage
from tests.hits import factories as make
from tests.hits.commands.conftest import Run, logged
from tests.hits.reviews import review

pytestmark = pytest.mark.django_db


@pytest.fixture
def stage() -> Stage:
    return make.stage(make.project(slug="stories"), key="review", protocol="expert_review")


@pytest.fixture
def changed(stage: Stage) -> list[Label]:
    """A correction, a deletion, and a label that changes nothing."""
    answer = review(
        stage, make.worker("AEXPERT000001"), key="story-1", q1_correct="a hand whisk", q2_delete="nonsensical"
    )
    return [answer.labels.get(unit=unit) for unit in ("q1", "q2", "text")]


def standing(stage: Stage) -> set[str]:
    return set(stage.labels.filter(undone_at=None).values_list("unit", flat=True))


def test_changes_are_listed_newest_first_with_what_they_change(run: Run, stage: Stage, changed: list[Label]) -> None:
    make.stage(stage.project, key="validate")
    first, second, _ = changed
    for said in (run("changes", "stories"), run("changes", "stories", "review")):
        assert said.index(f"{second.pk}  review, story-1, Question 2: ") < said.index(f"{first.pk}  review, story-1, ")
        assert "a whisk -> a hand whisk\n" in said and "by AEXPERT000001." in said
    said = run("changes", "stories", "--before", str(second.pk))
    assert f"{first.pk}  review" in said and "Question 2" not in said
    assert run("changes", "stories", "validate") == ""


def test_changes_are_taken_back_and_count_again(run: Run, stage: Stage, changed: list[Label]) -> None:
    first, second, _ = changed
    both = (str(first.pk), str(second.pk))
    assert "2 changes taken back." in run("changes", "stories", "--undo", *both)
    assert standing(stage) == {"text"}
    assert run("changes", "stories").count("Taken back.") == 2
    assert "0 changes taken back." in run("changes", "stories", "review", "--undo", both[0])
    assert "1 changes count again." in run("changes", "stories", "review", "--redo", both[0])
    assert standing(stage) == {"q1", "text"}
    assert logged(stage.project) == ["taken back", "taken back", "taken up again"]


def test_a_number_that_is_no_change_of_the_project_changes_nothing(
    run: Run, stage: Stage, changed: list[Label]
) -> None:
    first, _, plain = changed
    other = make.stage(make.project(slug="lake"), key="review", protocol="expert_review")
    foreign = review(other, q1_correct="a fork").labels.get(unit="q1")
    make.stage(stage.project, key="validate")
    for number, where in ((plain.pk, []), (foreign.pk, []), (first.pk, ["validate"])):
        with pytest.raises(CommandError, match=f"no such changes here: (.*, )?{number}. Nothing was changed"):
            run("changes", "stories", *where, "--undo", str(first.pk), str(number))
    assert standing(stage) == {"q1", "q2", "text"} and standing(other) >= {"q1"}
    assert (logged(stage.project), logged(other.project)) == ([], [])
