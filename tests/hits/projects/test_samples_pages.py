"""A simulated crowd answers sample projects: who may ask it, what pages say of it, and where it is refused."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from kombu.exceptions import OperationalError

from hits import tasks
from hits.core.jobs.leases import lease
from hits.models import Action, Hit, Lease, Project, Stage, StageSummary, WaitingJob
from hits.projects.jobs import sample_crowd
from tests.hits import factories as make
from tests.hits.api_calls import signed_in
from tests.markup import squeezed

pytestmark = pytest.mark.django_db
ASK = "Let a simulated crowd answer"


@pytest.fixture(autouse=True)
def laptop(settings: Any) -> Any:
    settings.DEBUG = True
    settings.PUBLIC_URL, settings.MTURK_SUBMIT_ORIGINS = "http://localhost:8000", ["http://127.0.0.1:8001"]
    return settings


@pytest.fixture
def sample(alice: Any) -> Project:
    """Two HITs of five answers each, of which three are in."""
    project = make.project(owner=alice, name="Sample: fog", slug="fog", is_sample=True)
    stage = make.stage(project, state=Stage.State.LIVE, answers=5)
    hits = make.hits(make.items(stage, 2, state="open"))
    later = timezone.now() + timedelta(days=1)
    Hit.objects.update(state=Hit.State.LIVE, max_assignments=5, harvested=0, expires_at=later)
    Hit.objects.filter(pk=hits[0].pk).update(harvested=3)
    StageSummary.objects.filter(stage=stage).update(items=2, open=2, published=2, answers=3)
    return project


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Keys of the projects whose job was queued: no worker runs in these tests."""
    found: list[int] = []
    monkeypatch.setattr(tasks.let_crowd_answer, "delay", found.append)
    return found


def _page(client: Client, name: str = "project") -> str:
    return squeezed(client.get(reverse(name, args=["fog"])))


def test_a_sample_offers_a_crowd_and_says_how_many_answers_are_wanted(lead_client: Client, sample: Project) -> None:
    page = _page(lead_client)
    assert ASK in page and "7 more answers are wanted" in page
    assert 'href="http://127.0.0.1:8001"' in page and "hx-trigger" not in page


def test_asking_starts_the_job_once_and_says_who_asked(
    lead_client: Client, sample: Project, started: list[int]
) -> None:
    reply = lead_client.post(reverse("simulated-crowd", args=["fog"]), follow=True)
    page = squeezed(reply)
    assert started == [sample.pk]
    assert "On its way" in page and "3 of 10 answers are in" in page and ASK not in page
    assert reverse("simulated-crowd-progress", args=["fog"]) in page
    action = Action.objects.get(project=sample)
    assert (action.verb, action.by) == ("asked a simulated crowd to answer", "by alice")


def test_while_it_works_parts_of_the_page_are_read_again(
    lead_client: Client, sample: Project, started: list[int]
) -> None:
    with lease(f"sample-crowd:{sample.pk}"):
        lead_client.post(reverse("simulated-crowd", args=["fog"]))
        part, card = _page(lead_client, "simulated-crowd-progress"), _page(lead_client, "project-card")
    assert started == []
    assert "Answering" in part and part.count('hx-swap-oob="true"') == 3
    assert "A simulated crowd gives the answers now" in card and reverse("project-card", args=["fog"]) in card
    after = _page(lead_client, "simulated-crowd-progress")
    assert ASK in after and "every 2s" not in after
    assert "let a simulated crowd answer" in _page(lead_client, "project-card")


def test_what_no_worker_took_up_can_be_asked_for_again(
    lead_client: Client, sample: Project, started: list[int]
) -> None:
    lead_client.post(reverse("simulated-crowd", args=["fog"]))
    Lease.objects.update(until=timezone.now() - timedelta(seconds=1))
    assert ASK in _page(lead_client)
    lead_client.post(reverse("simulated-crowd", args=["fog"]))
    assert len(started) == 2


def test_a_job_that_begins_is_not_on_its_way_any_more(sample: Project, alice: Any) -> None:
    assert sample_crowd.ask(sample, alice)
    with sample_crowd.at_work(sample) as crowd:
        found = sample_crowd.progress_of(sample)
        assert crowd and len(crowd.workers) == sample_crowd.PEOPLE["workers"]
        assert found and (found.is_working, found.is_asked) == (True, False)
        with sample_crowd.at_work(sample) as second:
            assert second is None


def test_two_samples_have_other_people(sample: Project, alice: Any) -> None:
    """They may be at work at once, and an account has one task in hand."""
    other = make.project(owner=alice, is_sample=True, seed=sample.seed)
    with sample_crowd.at_work(sample) as here, sample_crowd.at_work(other) as there:
        assert here and there
        names = {worker.person.name for worker in [*here.workers, *there.workers]}
    assert len(names) == len(here.workers) + len(there.workers)


def test_a_finished_sample_leads_to_what_came_of_it(lead_client: Client, sample: Project) -> None:
    Hit.objects.update(harvested=5)
    stage, release = sample.stages.get(), make.release(sample)
    page = _page(lead_client)
    for name in ("answers", "workers", "agreement"):
        assert f'href="{reverse(name, args=["fog", stage.key])}"' in page
    assert page.count(f'href="{reverse("release", args=["fog", release.number])}"') == 2


def test_where_no_answer_is_wanted_nobody_is_started(lead_client: Client, sample: Project, started: list[int]) -> None:
    Hit.objects.update(harvested=5)
    assert "no HIT is open for another one" in _page(lead_client) and ASK not in _page(lead_client)
    page = squeezed(lead_client.post(reverse("simulated-crowd", args=["fog"]), follow=True))
    assert "No HIT of Sample: fog is open for an answer" in page
    assert started == [] and not Action.objects.exists()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DEBUG", False),
        ("PUBLIC_URL", "https://annotate.example.org"),
        ("MTURK_SUBMIT_ORIGINS", ["https://workers.example.org"]),
    ],
)
def test_a_server_neither_shows_nor_takes_it(
    lead_client: Client, sample: Project, started: list[int], laptop: Any, name: str, value: object
) -> None:
    setattr(laptop, name, value)
    _is_refused(lead_client, started)


def test_a_project_that_is_no_sample_neither_shows_nor_takes_it(
    lead_client: Client, sample: Project, started: list[int]
) -> None:
    Project.objects.update(is_sample=False)
    _is_refused(lead_client, started)


def _is_refused(client: Client, started: list[int]) -> None:
    assert "imulated crowd" not in _page(client) + _page(client, "project-card")
    reply = client.post(reverse("simulated-crowd", args=["fog"]))
    assert reply.status_code == 409
    assert "answers the sample projects of `make run` alone" in reply.content.decode().replace("&#x27;", "'")
    answer = signed_in(Project.objects.get(slug="fog").owners.get()).post("/api/projects/fog/simulated-crowd/")
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "no_sample")
    assert started == [] and not Action.objects.exists() and not Lease.objects.exists()


def test_a_reader_sees_it_and_may_not_start_it(sample: Project, started: list[int]) -> None:
    rita, reader = make.user("rita"), Client()
    make.member(sample, rita, "reader")
    reader.force_login(rita)
    page = squeezed(reader.get(reverse("project", args=["fog"])))
    assert "Managers and owners can start them" in page and ASK not in page
    assert reader.post(reverse("simulated-crowd", args=["fog"])).status_code == 403


def test_the_api_starts_it_and_says_where_to_look(
    sample: Project, started: list[int], alice: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = signed_in(alice)
    answer = api.post("/api/projects/fog/simulated-crowd/")
    assert answer.status_code == 202 and answer.json()["see"].endswith("/api/projects/fog/")
    assert started == [sample.pk]

    def no_broker(pk: int) -> None:
        raise OperationalError

    monkeypatch.setattr(tasks.let_crowd_answer, "delay", no_broker)
    assert api.post("/api/projects/fog/simulated-crowd/").status_code == 202
    assert WaitingJob.objects.get().arguments == [sample.pk]
    Hit.objects.update(harvested=5)
    answer = api.post("/api/projects/fog/simulated-crowd/")
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "nothing_to_answer")
