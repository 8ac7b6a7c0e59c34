"""Pages say when figures of answers were computed, how many answers came since, and offer to compute them again."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from hits.models import Membership, Stage, Worker
from tests.hits import factories as make
from tests.hits.said import computed, say

pytestmark = pytest.mark.django_db


@pytest.fixture
def stage(alice: Any) -> Stage:
    """Computed over three answers by Dawid and Skene's model; two more came since."""
    stage = make.stage(make.project(owner=alice), key="judge", title="Judge", protocol="multiple_choice")
    say(stage, [{"ann": "yes", "ben": "yes", "cleo": "no"}])
    answers(stage, 3)
    computed(stage, method="dawid_skene")
    answers(stage, 5)
    make.worker_stat(stage, Worker.objects.get(worker_id="AANN"))
    return stage


def answers(stage: Stage, number: int) -> None:
    stage.summary.answers = number
    stage.summary.save()


def page(client: Client, name: str, stage: Stage, *more: str) -> str:
    return " ".join(client.get(reverse(name, args=[stage.project.slug, *more])).content.decode().split())


def test_the_list_of_items_says_when_confidence_was_computed_and_computes_it_again(
    lead_client: Client, stage: Stage
) -> None:
    said = page(lead_client, "items", stage, stage.key)
    assert "over 3 answers · 2 answers came since" in said
    form = said.partition('action="' + reverse("start-computation", args=[stage.project.slug, "judge-agreement"]))[2]
    fields = dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', form.partition("</form>")[0]))
    fields.pop("csrfmiddlewaretoken")
    lead_client.post(reverse("start-computation", args=[stage.project.slug, "judge-agreement"]), fields)
    run = stage.project.computation_runs.order_by("-pk")[0]
    assert run.params == {"method": "dawid_skene"}
    assert "being computed again" in page(lead_client, "items", stage, stage.key)


def test_nothing_is_offered_where_no_answer_came_since(lead_client: Client, stage: Stage) -> None:
    answers(stage, 3)
    said = page(lead_client, "items", stage, stage.key)
    assert "no answer came since" in said and "Compute again" not in said


def test_a_reader_sees_the_age_and_no_button(stage: Stage, charlie: Any) -> None:
    make.member(stage.project, charlie, Membership.Role.READER)
    reader = Client()
    reader.force_login(charlie)
    said = page(reader, "items", stage, stage.key)
    assert "2 answers came since" in said and "Compute again" not in said


def test_agreement_worker_route_and_file_say_it(lead_client: Client, stage: Stage) -> None:
    assert "2 answers came since: the figures are out of date" in page(lead_client, "agreement", stage, stage.key)
    assert "2 answers came since" in page(lead_client, "worker", stage, "AANN")
    found = lead_client.get(reverse("api:agreement", args=[stage.project.slug, stage.key])).json()
    assert (found["answers"], found["since"]) == (3, 2)
    answer = lead_client.get(reverse("items-csv", args=[stage.project.slug, stage.key]))
    (row,) = csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode()))  # type: ignore[attr-defined]
    run = stage.project.computation_runs.get()
    assert run.finished_at and row["confidence_computed_at"] == run.finished_at.isoformat()
