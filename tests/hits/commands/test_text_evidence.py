"""The command that says how the texts of a stage came about."""

from __future__ import annotations

import pytest
from django.core.management.base import CommandError

from hits.models import Stage
from tests.hits import factories as make
from tests.hits.commands.conftest import Run
from tests.hits.flow.written_answers import crowd, stage_of_stories

pytestmark = pytest.mark.django_db


def test_answers_with_most_signs_come_first_and_a_worker_is_summed_up(run: Run) -> None:
    stage = stage_of_stories(make.project(slug="river-news"))
    crowd(stage)
    first, *rest = run("text_evidence", "river-news", "story").split("\n3ASG")
    assert "of APASTES" in first and "\n  * Shares about 100 % of its wording with an earlier answer" in first
    assert all("  * " not in one for one in rest[6:])
    told = run("text_evidence", "river-news", "story", "--worker", "APASTES")
    assert told.startswith("6 of 6 answers have signs.\n* In 6 of 6 answers with counts, most of the text was pasted.")
    with pytest.raises(CommandError, match="Nothing is collected of texts of ANOBODY"):
        run("text_evidence", "river-news", "story", "--worker", "ANOBODY")


def test_of_a_stage_that_collects_nothing_it_says_so(run: Run) -> None:
    stage: Stage = make.stage(make.project(slug="river-news"), key="story", protocol="story")
    assert run("text_evidence", "river-news", stage.key) == "Nothing is collected here.\n"
