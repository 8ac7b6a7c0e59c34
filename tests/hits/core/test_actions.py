"""Who decided, when and from where: kept with every decision, shown beside what it was about."""

from __future__ import annotations

import getpass
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from hits import tasks
from hits.answers.verbs import reviewing
from hits.core.action_log import acting_from, record
from hits.models import Action, Assignment, Block, Stage
from hits.projects.verbs import projects
from hits.publishing.verbs import publishing
from hits.stages.verbs import stage_settings
from hits.workers.verbs import blocking
from tests.hits import factories as make
from tests.hits.api_calls import signed_in
from tests.hits.doing import do
from tests.hits.pipeline.stage_machine import anybody
from tests.hits.stand_in import StandIn, live_hit

pytestmark = pytest.mark.django_db


@pytest.fixture
def market(stand_in: StandIn, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    """Jobs run at once, those that lead further do not."""
    monkeypatch.setattr(blocking, "proposals", anybody)
    for task in (tasks.conclude_stage, tasks.conclude_project):
        monkeypatch.setattr(task, "delay", lambda *_: None)
        monkeypatch.setattr(task, "run", lambda *_: None)
    return stand_in


@pytest.fixture
def lead() -> Any:
    return make.user("anna")


@pytest.fixture
def stage(lead: Any) -> Stage:
    project = make.project(owner=lead, slug="river")
    return make.stage(project, key="validate", approval=Stage.Approval.REVIEW, answers=1, quality=POLICY)


POLICY = {"check_every": 1, "min_answers": 1, "floor": 0.2, "alpha": 0.01}


@pytest.fixture
def answer(stage: Stage, market: StandIn) -> Assignment:
    """Waits for review; its money is reserved."""
    hit, worker = live_hit(market, stage, 1), make.worker()
    held = market.answer(worker.worker_id, hit.hit_id, answer="46-51")
    make.worker_stat(stage, worker)
    return make.assignment(
        hit, worker, assignment_id=held.assignment_id, state="Submitted", submitted_at=timezone.now()
    )


@pytest.fixture
def by_page(lead: Any, stage: Stage, answer: Assignment) -> Callable[[str], None]:
    client = Client()
    client.force_login(lead)

    def go(verb: str) -> None:
        own = {"take-back": [answer.pk], "undo-block": [Block.objects.first().pk] if Block.objects.exists() else []}
        of_project = verb == "undo-block"
        start = [stage.project.slug] if of_project else [stage.project.slug, stage.key]
        body = {"answers": [answer.pk], "feedback": "Too hasty.", "workers": [answer.worker.worker_id]}
        body["cost"] = "0.00"
        reply = client.post(reverse(verb, args=[*start, *own.get(verb, [])]), body)
        assert reply.status_code == 302, reply.content.decode()

    return go


@pytest.fixture
def by_api(lead: Any, stage: Stage, answer: Assignment) -> Callable[[str], None]:
    api = signed_in(lead)

    def go(verb: str) -> None:
        home = "/api/projects/river/"
        of_stage = home + "stages/validate/"
        chosen = {"answers": [answer.pk]}
        calls: dict[str, tuple[str, dict[str, Any]]] = {
            "approve": (of_stage + "answers/approve/", chosen),
            "reject": (of_stage + "answers/reject/", chosen | {"feedback": "Too hasty."}),
            "take-back": (of_stage + "answers/take-back/", chosen),
            "block": (of_stage + "block/", {"worker_ids": [answer.worker.worker_id], "cost": "0.00"}),
            "undo-block": (f"{home}blocks/{Block.objects.values_list('pk', flat=True).first()}/undo/", {}),
        }
        address, body = calls[verb]
        reply = api.post(address, body, format="json")
        assert reply.status_code == 202, reply.content.decode()

    return go


ORIGINS = ("page", "api")
WAYS = [
    (["approve"], [("approved", "assignment")]),
    (["reject", "take-back"], [("rejected", "assignment"), ("rejection taken back", "assignment")]),
    (["block", "undo-block"], [("blocked", "block"), ("block undone", "block")]),
]


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("origin", ORIGINS)
@pytest.mark.parametrize(("verbs", "kept"), WAYS, ids=lambda value: str(value[0]))
def test_who_decided_is_kept_whichever_way_it_was_asked_for(request, stage, answer, lead, origin, verbs, kept) -> None:
    do: Callable[[str], None] = request.getfixturevalue(f"by_{origin}")
    for verb in verbs:
        do(verb)
    rows = list(Action.objects.all())
    assert [(row.verb, "block" if row.block_id else "assignment") for row in rows] == kept
    told = {(row.origin, row.name, row.user, row.project_id) for row in rows}
    assert told == {(origin, "anna", lead, stage.project_id)}


@pytest.mark.usefixtures("eager")
def test_what_the_stage_does_by_itself_names_nobody(stage: Stage, answer: Assignment) -> None:
    stage.auto_block = True
    assert blocking.check_when_due(stage) == 1
    row = Action.objects.get()
    assert (row.verb, row.user, row.name, row.origin, str(row)) == (
        "blocked",
        None,
        "",
        "itself",
        "blocked automatically",
    )


def test_a_decision_that_changed_nothing_leaves_no_row(stage: Stage, answer: Assignment, lead: Any) -> None:
    assert [reviewing.approve(stage, [answer.pk], lead) for _ in range(2)] == [1, 0]
    assert Action.objects.count() == 1


def test_a_lead_who_left_is_named_all_the_same(stage: Stage, answer: Assignment, lead: Any) -> None:
    reviewing.approve(stage, [answer.pk], lead)
    lead.delete()
    row = Action.objects.get()
    assert (row.user, row.name) == (None, "anna")


@pytest.mark.usefixtures("eager")
def test_pages_show_beside_the_answer_and_the_block_who_decided(stage, answer, lead, by_page, by_api) -> None:
    client = Client()
    client.force_login(lead)
    by_page("reject")
    by_api("take-back")
    by_page("block")
    by_api("undo-block")
    pages = {
        "answers": [stage.project.slug, stage.key],
        "item": [stage.project.slug, stage.key, answer.hit.item_id],
        "worker": [stage.project.slug, answer.worker.worker_id],
    }
    texts = {name: client.get(reverse(name, args=given)).content.decode() for name, given in pages.items()}
    for name, text in texts.items():
        assert "Rejected by anna, " in text and "Rejection taken back by anna through the API, " in text, name
    assert "Blocked by anna, " in texts["worker"] and "Block undone by anna through the API, " in texts["worker"]


@pytest.mark.usefixtures("eager")
def test_the_api_names_who_decided(stage: Stage, answer: Assignment, lead: Any, by_page) -> None:
    by_page("approve")
    by_page("block")
    with acting_from(Action.Origin.COMMAND):
        blocking.undo(stage.project.blocks.get(), None)
    api = signed_in(lead)
    [found] = api.get("/api/projects/river/stages/validate/answers/").json()["results"]
    assert [(row["verb"], row["by"], row["origin"]) for row in found["actions"]] == [("approved", "anna", "page")]
    [found] = api.get("/api/projects/river/blocks/").json()["results"]
    kept = [("blocked", "anna", "page"), ("block undone", getpass.getuser(), "command")]
    assert Action.objects.latest("id").by == f"on the command line by {getpass.getuser()}"
    assert [(row["verb"], row["by"], row["origin"]) for row in found["actions"]] == kept


def test_the_page_of_a_stage_shows_the_latest_of_what_was_done_and_leads_to_all(lead: Any, client: Client) -> None:
    stage = make.stage(make.project(owner=lead), auto_block=False, quality={"check_every": 5})
    for number in range(21):
        stage.refresh_from_db()
        blocking.block_by_itself(stage, number % 2 == 0, lead)
    client.force_login(lead)
    page = client.get(reverse("stage", args=[stage.project.slug, stage.key])).content.decode()
    listed = page.partition("What was done")[2]
    assert listed.count("Switched automatic blocks") == 20 and "by anna" in listed and "<time" in listed
    every = client.get(reverse("stage-done", args=[stage.project.slug, stage.key])).content.decode()
    assert every.count("Switched automatic blocks") == 21
    rows = signed_in(lead).get(f"/api/projects/{stage.project.slug}/stages/{stage.key}/actions/").json()["results"]
    assert len(rows) == 21
    assert {(row["verb"], row["by"], row["origin"]) for row in rows} == {
        ("switched automatic blocks on", "anna", "itself"), ("switched automatic blocks off", "anna", "itself"),
    }  # fmt: skip


def test_what_was_done_names_options_as_their_fields_do_and_tells_batches_decisions_and_releases(
    stage: Stage, lead: Any, client: Client
) -> None:
    Stage.objects.filter(pk=stage.pk).update(approval="automatic", auto_approval_seconds=0)
    stage_settings.change(stage, {"approval": "review"}, lead)
    make.items(stage, 2)
    quote = publishing.quote(stage)
    publishing.publish(stage, quote.items, quote.total, "page-1", lead)
    hits = list(stage.hits.all())[:2]
    rows = [make.assignment(hit, state=Assignment.State.SUBMITTED) for hit in hits]
    reviewing.approve(stage, [row.pk for row in rows], lead)
    client.force_login(lead)
    for address in (
        reverse("stage-done", args=[stage.project.slug, stage.key]),
        reverse("stage", args=[stage.project.slug, stage.key]),
        reverse("project-done", args=[stage.project.slug]),
    ):
        page = " ".join(client.get(address).content.decode().split())
        assert "Approved automatically after: at once → 3 d<" in page and "auto_approval_seconds" not in page
        assert f"Published <strong>2 items for ${quote.total}</strong>, by anna" in page
        assert "Approved answers <strong>2</strong>, by anna" in page


def test_members_and_the_task_are_kept_in_the_log_whichever_way_they_were_changed(stage: Stage, lead: Any) -> None:
    slug = stage.project.slug
    make.user("omar")
    client = Client()
    client.force_login(lead)
    client.post(reverse("members.add", args=[slug]), {"username": "omar", "role": "owner"})
    api = signed_in(lead)
    api.delete(f"/api/projects/{slug}/members/omar/")
    api.patch(f"/api/projects/{slug}/stages/{stage.key}/task/", {"hit_title": "Another title"}, format="json")
    rows = [(row.verb, row.origin, row.user, row.detail) for row in stage.project.actions.order_by("id")]
    assert rows == [
        ("added a member", "page", lead, {"member": "omar", "role": "owner"}),
        ("removed a member", "api", lead, {"member": "omar", "role": "owner"}),
        ("changed the task", "api", lead, {"changed": ["hit_title", "settings"]}),
    ]


def test_the_page_of_a_project_shows_what_was_done_to_it_and_no_single_answer(
    stage: Stage, answer: Assignment, lead: Any, client: Client
) -> None:
    make.user("grace")
    do("members.add", stage.project, lead, username="grace", role="reader")
    projects.change_budget(stage.project, Decimal("120"), lead)
    blocking.block_by_itself(stage, not stage.auto_block, lead)
    record(stage.project, None, "blocked", [make.block(stage, make.worker("A1B2C3"))])
    reviewing.approve(stage, [answer.pk], lead)
    client.force_login(lead)
    for name in ("project", "project-done"):
        page = " ".join(client.get(reverse(name, args=["river"])).content.decode().split())
        listed = page.partition(">What was done<")[2]
        assert "Added a member <strong>grace, reader</strong>, by anna" in listed
        assert "<strong>from $100.00 to $120.00</strong>, by anna" in listed
        assert "Blocked <strong>A1B2C3</strong>" in listed and "Approved" not in listed
    rows = signed_in(lead).get("/api/projects/river/actions/").json()["results"]
    assert [(row["about"], row["stage"]) for row in rows] == [
        ("grace, reader", None), ("from $100.00 to $120.00", None), ("", "validate"), ("A1B2C3", "validate"),
    ]  # fmt: skip
