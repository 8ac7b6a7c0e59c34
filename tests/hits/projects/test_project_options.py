"""Options that a project has stages by: MCScript2.0's annotators."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from hits.models import Project
from hits.projects.verbs import projects
from hits.recipes import OptionError
from hits.workers.verbs import granting
from tests.hits import factories
from tests.hits.doing import refused

pytestmark = pytest.mark.django_db


def annotators(project: Project) -> list[str]:
    return list(project.stages.filter(key__startswith="human-").order_by("position").values_list("key", flat=True))


def made(lead: Any, **options: Any) -> Project:
    return projects.create_project("Stories", "mcscript", Decimal(1), "lab@example.org", lead, options=options)


def test_a_project_has_a_stage_for_each_annotator_that_it_begins_with(lead: Any) -> None:
    project = made(lead, annotators=3)
    assert annotators(project) == ["human-1", "human-2", "human-3"]
    assert [stage.requirements[0]["qualification"] for stage in project.stages.filter(key="human-3")] == ["annotator-3"]
    granting.refuse_unknown(project, "annotator-3")
    with refused("unknown_qualification"):
        granting.refuse_unknown(project, "annotator-4")


def test_more_annotators_get_stages_and_empty_stages_go(lead: Any) -> None:
    project = made(lead)
    projects.change_options(project, {"annotators": 7})
    assert annotators(project) == [f"human-{number}" for number in range(1, 8)]
    assert project.stages.get(key="human-7").summary.items == 0
    factories.items(project.stages.get(key="human-4"), 1)
    projects.change_options(project, {"annotators": 4})
    assert annotators(project) == ["human-1", "human-2", "human-3", "human-4"]


def test_no_annotator_goes_who_has_texts(lead: Any) -> None:
    project = made(lead)
    factories.items(project.stages.get(key="human-5"), 1)
    assert (
        "Human upper bound, annotator 5 has items already"
        in projects.option_faults(project, {"annotators": 2})["annotators"]
    )
    with pytest.raises(OptionError, match="there cannot be fewer"):
        projects.change_options(project, {"annotators": 2, "common_texts": 7})
    project.refresh_from_db()
    assert len(annotators(project)) == 5 and project.options["common_texts"] == 20
    with pytest.raises(OptionError, match="must be 50 or less"):
        projects.change_options(project, {"annotators": 51})


def test_a_project_from_before_the_option_has_the_five_stages_that_it_had(lead: Any) -> None:
    project = made(lead)
    Project.objects.filter(pk=project.pk).update(options={"every": 4})
    project.refresh_from_db()
    projects.change_options(project, {"common_texts": 9})
    assert len(annotators(project)) == 5
    projects.change_options(project, {"annotators": 6})
    assert len(annotators(project)) == 6
