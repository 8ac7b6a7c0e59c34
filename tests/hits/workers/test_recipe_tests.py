"""A recipe's own qualification test: on offer from a project's beginning, and taken by simulated people at the site."""

from __future__ import annotations

import secrets
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from hits.crowd.browser import Allowance
from hits.crowd.key import AnswerKey
from hits.crowd.people import gather
from hits.crowd.worker import Worker
from hits.items.verbs import importing
from hits.models import Project, QualificationTest
from hits.projects.verbs import projects
from hits.protocols import simulated
from hits.publishing.verbs import publishing, sending
from hits.workers.rules.project_qualifications import requiring
from hits.workers.verbs import qualification_tests
from tests.hits.doing import refused
from tests.hits.market import Marketplace, VerbRefusedError
from tests.hits.pipeline.test_cosmos_job import STORIES

pytestmark = pytest.mark.django_db(transaction=True)
ROOT = Path(__file__).resolve().parents[3]
KEY, QUESTIONS = ROOT / "samples" / "cosmos-key.jsonl", ROOT / "hits" / "recipes" / "cosmos" / "qualification.json"
State = QualificationTest.State


@pytest.fixture
def project(lead: Any) -> Project:
    made = projects.create_project("Stories", "cosmos", Decimal(90), "lab@example.org", lead, seed=7)
    upload = importing.create_upload(made, "stories.txt", STORIES.encode(), "public", lead)
    assert importing.import_upload(upload.pk) == 4
    return made


def test_the_recipes_test_is_written_down_with_the_project_and_three_stages_ask_for_it(project: Project) -> None:
    test = project.qualification_tests.get()
    assert (test.key, test.state, test.pass_mark) == ("reading-between-lines", State.OFFERING, 80)
    asking = {stage.key for stage in requiring(test)}
    assert asking == {"write", "validate", "human"}
    for stage in project.stages.filter(key__in=asking):
        wanted = [(one["qualification"], one["comparator"], one.get("integers")) for one in stage.requirements]
        assert ("reading-between-lines", "GreaterThanOrEqualTo", [80]) in wanted
        assert wanted[:2] == [
            ("percent_approved", "GreaterThanOrEqualTo", [99]), ("number_approved", "GreaterThan", [5000])
        ]  # fmt: skip
    with refused("test_not_offered", match="just being offered"):
        publishing.publish(project.stages.get(key="write"), 4, Decimal("3.36"), "page", None)
    assert qualification_tests.unfinished() == [project.pk]


def test_a_project_that_a_lead_starts_on_the_page_offers_its_test_at_once(
    market: Marketplace, client: Client, lead: Any, eager: None
) -> None:
    client.force_login(lead)
    given = {"name": "Harbour", "recipe": "cosmos", "budget": "90", "contact_email": "lab@example.org"}
    page = client.post(reverse("new-project"), given, follow=True).content.decode()
    assert "Its qualification test is being offered to workers." in page
    assert QualificationTest.objects.get().state == State.OFFERED


def test_a_simulated_worker_passes_it_on_the_sites_own_pages_and_then_finds_the_work(
    market: Marketplace, project: Project
) -> None:
    assert qualification_tests.finish(project) == 1
    write = project.stages.get(key="write")
    quote = publishing.quote(write)
    sending.send(publishing.publish(write, quote.items, quote.total, "page", None).pk)
    wanted = write.hits.first()
    assert wanted is not None
    people = gather(secrets.randbelow(10**9), 2, 0, 1.0, 0.0)
    ready, without = (replace(person, accuracy=1.0) for person in people)
    for person, tests, handed_in in ((without, None, 0), (ready, QUESTIONS, 1)):
        key = AnswerKey.read(KEY, tests)
        worker = Worker(person, market.url, key, Allowance(50), "simulated crowd of a sandbox", simulated())
        worker.step()
        # A step more would first take whatever work other tests have left at the marketplace.
        worker._take_a_test()
        assert worker.tally.tests == handed_in
        if not handed_in:
            with pytest.raises(VerbRefusedError, match="qualification"):
                market.accept(worker.worker_id, hit_id=wanted.hit_id)
    assert market.accept(worker.worker_id, hit_id=wanted.hit_id).worker_id == worker.worker_id
    test = project.qualification_tests.get()
    assert qualification_tests.fetch_scores(test.pk) == 1
    assert dict(test.scores.values_list("value", "value")) == {100: 100}
