"""The list of projects: the state of each, how far it is, what needs a decision, and its money."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from hits.models import (
    Account,
    Batch,
    ComputationRun,
    LedgerCheck,
    Project,
    QualificationTest,
    Stage,
    StageSummary,
    Upload,
)
from hits.notifications.jobs import needs
from tests.hits import factories as make
from tests.hits.world import World
from tests.markup import squeezed

pytestmark = pytest.mark.django_db
POLICY = {"check_every": 1000, "min_answers": 20, "floor": 0.2, "alpha": 0.01}


def _home(client: Client, **query: str) -> str:
    return squeezed(client.get(reverse("projects"), query))


def _state(project: Project) -> str:
    return Project.objects.with_state().get(pk=project.pk).state


def test_a_project_has_the_state_that_its_stages_make() -> None:
    project = make.project()
    first = make.stage(project, state=Stage.State.DRAFT, summary={"items": 4, "waiting": 4})
    assert _state(project) == "draft"
    Stage.objects.filter(pk=first.pk).update(state=Stage.State.LIVE)
    StageSummary.objects.filter(stage=first).update(waiting=0, open=4)
    assert _state(project) == "live"
    Stage.objects.filter(pk=first.pk).update(state=Stage.State.PAUSED)
    assert _state(project) == "paused"
    StageSummary.objects.filter(stage=first).update(open=0, kept=4)
    assert _state(project) == "finished"
    Project.objects.filter(pk=project.pk).update(archived_at=timezone.now())
    assert _state(project) == "archived"


def test_a_stage_without_its_sample_keeps_a_project_going_until_a_release_is_made() -> None:
    project = make.project()
    make.stage(project, state=Stage.State.LIVE, summary={"items": 4, "kept": 4})
    make.stage(project, draws=10)
    assert _state(project) == "live"
    make.release(project)
    assert _state(project) == "finished"


def test_results_that_were_imported_make_a_project_that_is_finished() -> None:
    project = make.project()
    make.stage(project, state=Stage.State.DRAFT, summary={"items": 4, "kept": 4, "imported": 12})
    assert _state(project) == "finished"


def test_projects_that_run_stand_before_empty_ones_which_offer_an_import(lead_client: Client, alice: Any) -> None:
    running = make.project(owner=alice, name="Running", slug="running")
    make.stage(running, summary={"items": 4, "kept": 4})
    empty = make.project(owner=alice, name="Empty", slug="empty")
    make.stage(empty)
    reader = make.project(owner=make.user("dora"), name="Looked at", slug="looked-at")
    make.member(reader, alice, "reader")
    page = _home(lead_client)
    assert page.index(">Running</a>") < page.index(">Empty</a>") < len(page)
    assert f"{reverse('project', args=['empty'])}#import" in page
    assert f"{reverse('project', args=['looked-at'])}#import" not in page
    assert "Nothing.</p>" not in page


def test_a_card_says_state_progress_and_money(world: World, lead_client: Client) -> None:
    StageSummary.objects.filter(stage=world.stage).update(items=1200, kept=800, dropped=150, open=250, waiting=0)
    Account.objects.update(budget=Decimal(1000), paid=Decimal("12.50"), reserved=Decimal(30))
    page = _home(lead_client)
    assert '<span class="chip inline-chip good">Running</span>' in page
    assert "800 kept</strong> of 1,200 items, 150 dropped, 250 open" in page and "Kept 67 %" in page
    make.stage(world.project, key="later", summary={"items": 3, "kept": 3})
    assert "803 kept</strong> of 1,203 items in 2 stages" in _home(lead_client)
    assert '$12.50 paid · $30.00 reserved · <strong class="ink">$957.50 left</strong> of $1,000.00' in page


def test_each_decision_leads_to_its_rows(world: World, lead_client: Client) -> None:
    """The world has one of nearly everything that waits."""
    LedgerCheck.objects.all().delete()
    Batch.objects.update(refused=2)
    make.computation_run(world.project, key="filter", state=ComputationRun.State.FAILED)
    QualificationTest.objects.update(state=QualificationTest.State.DRAFT, title="Reading")
    make.upload(world.project, name="late.csv", state=Upload.State.FAILED)
    found = {need.words: need.address for need in _needs(world.project)}
    where = f"/projects/{world.project.slug}"
    stage = f"{where}/stages/validate"
    assert found["1 answer waits for review in Validate"] == f"{stage}/review/"
    assert found["3 items wait to be published in Validate"] == f"{stage}/publish/"
    assert found["2 HITs refused by the marketplace in Validate"] == f"{stage}/hits/?state=refused"
    assert found["The test “Reading” is a draft"] == world.url("qualification-test")
    assert found["late.csv was not imported"].startswith(f"{where}/uploads/")
    assert any(words.startswith("The computation filter failed") for words in found)
    assert all(lead_client.get(address.partition("#")[0]).status_code == 200 for address in found.values() if address)


def _needs(project: Project, role: str = "owner") -> list[needs.Need]:
    found = Project.objects.with_state().select_related("account").prefetch_related("stages__summary")
    row = found.get(pk=project.pk)
    row.role = role
    return needs.of_projects([row])[project.pk]


def test_the_stage_page_and_the_list_say_the_same_of_workers_to_block(lead_client: Client, alice: Any) -> None:
    project = make.project(owner=alice)
    stage = make.stage(project, quality=POLICY, state=Stage.State.LIVE)
    for number in range(20):
        make.worker_stat(stage, make.worker(f"A{number}"), scored=60, correct=50)
    make.worker_stat(stage, make.worker("APOOR"), scored=60, correct=1)
    said = "1 worker would be blocked"
    assert said in _home(lead_client)
    assert said in squeezed(lead_client.get(reverse("stage", args=[project.slug, stage.key])))


def test_a_budget_that_is_nearly_used_up_is_said(lead_client: Client, alice: Any) -> None:
    project = make.project(owner=alice, budget="100.00")
    make.stage(project, state=Stage.State.LIVE, summary={"items": 9, "open": 9})
    Account.objects.update(paid=Decimal("90.00"))
    assert "of the budget is left" not in _home(lead_client)
    Account.objects.update(paid=Decimal("90.01"))
    assert 'Less than 10 % of the budget is left</a><span class="small">· $9.99</span>' in _home(lead_client)


def test_what_was_done_again_needs_nobody(world: World) -> None:
    make.upload(world.project, name="late.csv", state=Upload.State.FAILED)
    make.upload(world.project, name="later.csv", state=Upload.State.DONE)
    assert not any("late.csv" in need.words for need in _needs(world.project))


def test_a_reader_is_not_sent_to_pages_that_only_managers_have(world: World) -> None:
    found = {need.words: need.address for need in _needs(world.project, "reader")}
    assert found["3 items wait to be published in Validate"].endswith("/items/?state=new")


def test_an_archived_project_needs_nothing(world: World, lead_client: Client) -> None:
    Project.objects.filter(pk=world.project.pk).update(archived_at=timezone.now())
    assert "wait" not in _home(lead_client, state="archived").partition("</form>")[2]


def test_three_hundred_projects_take_the_queries_of_three_and_come_in_pages(lead_client: Client, alice: Any) -> None:
    def more(number: int) -> None:
        for _ in range(number):
            project = make.project(owner=alice)
            stage = make.stage(project, quality=POLICY, summary={"items": 5, "to_review": 2, "open": 2})
            make.worker_stat(stage, make.worker(f"W{project.pk}"), scored=60, correct=1)

    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert lead_client.get(reverse("projects")).status_code == 200
        return len(captured)

    more(3)
    lead_client.get(reverse("projects"))
    few = queries()
    more(60)
    assert queries() == few
    page = _home(lead_client)
    assert page.count('aria-labelledby="project-') == 50 and 'rel="next"' in page


def test_an_empty_list_says_what_this_is_what_to_do_and_where_workers_are(lead_client: Client, settings: Any) -> None:
    settings.MTURK_SUBMIT_ORIGINS = ["https://workers.example.org"]
    page = _home(lead_client)
    assert "No project yet" in page and "import its sample file" in page
    assert page.count(reverse("new-project")) == 2 and 'href="https://workers.example.org"' in page
