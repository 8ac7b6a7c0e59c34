"""The pages of qualifications that the project grants."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from playwright.sync_api import expect

from hits.models import Grant, Project, Stage
from hits.workers.verbs import granting
from tests.axe import violations
from tests.hits import factories as make
from tests.hits.lead_pages import Opener
from tests.hits.market import Marketplace
from tests.markup import squeezed

pytestmark = pytest.mark.django_db(transaction=True)
State = Grant.State


@pytest.fixture
def parts(alice: Any) -> tuple[Stage, Stage, Stage]:
    """Who answers in the first cannot answer in the second; the third is for chosen workers."""
    project = make.project(owner=alice, name="River <b>stories</b>", slug="river")
    other = {"qualification": "part-one", "comparator": "DoesNotExist"}
    chosen = {"qualification": "trusted-reader", "comparator": "Exists"}
    return (
        make.stage(project, key="first", title="First part", grants="part-one"),
        make.stage(project, key="second", title="Second part", requirements=[other]),
        make.stage(project, key="review", title="Review", requirements=[chosen]),
    )


@pytest.fixture
def project(parts: tuple[Stage, Stage, Stage]) -> Project:
    return parts[0].project


def url(name: str, *arguments: Any) -> str:
    return reverse(name, args=["river", *arguments])


def text(reply: Any) -> str:
    assert reply.status_code == 200
    return squeezed(reply)


def give(client: Client, key: str, workers: str) -> Any:
    typed = {"form_fields": "worker_ids", "form_page": url("grants-of", key), "key": key, "worker_ids": workers}
    return client.post(url("grants.give"), typed, follow=True)


def test_the_list_says_what_each_does_and_where_something_is_to_be_done(lead_client: Client, project: Project) -> None:
    for state, error in ((State.GRANTED, ""), (State.INTENDED, ""), (State.INTENDED, "No."), (State.WITHDRAWN, "")):
        make.grant(project, state=state, error=error)
    page = text(lead_client.get(url("grants")))
    assert [held.key for held, _ in lead_client.get(url("grants")).context["listed"]] == ["part-one", "trusted-reader"]
    assert "Everybody gets it who answers in <a" in page and "Who has it cannot answer in <a" in page
    assert "1 under way" in page and "1 not done" in page and '<td class="n" data-label="Workers">3</td>' in page
    assert "Nobody can answer there before you" in page
    assert "Qualifications held</a>" in text(lead_client.get(reverse("project", args=["river"])))


def test_a_project_without_any_says_so(lead_client: Client, alice: Any) -> None:
    make.stage(make.project(owner=alice, slug="plain"))
    assert "No stage of this project gives" in text(lead_client.get(reverse("grants", args=["plain"])))
    assert "Qualifications held</a>" not in text(lead_client.get(reverse("project", args=["plain"])))
    assert lead_client.get(reverse("grants-of", args=["plain", "part-one"])).status_code == 404


def test_the_pages_of_stages_and_workers_name_them(lead_client: Client, parts: tuple[Stage, Stage, Stage]) -> None:
    first, second, review = parts
    answered = make.worker_stat(first).worker
    make.grant(first.project, answered, stage=first)
    stage = [text(lead_client.get(reverse("stage", args=["river", one.key]))) for one in parts]
    assert "Everybody who answers here gets" in stage[0] and url("grants-of", "part-one") in stage[0]
    assert "cannot answer here" in stage[1] and "choose the workers" in stage[2]
    refused = lead_client.get(reverse("publish", args=["river", "review"])).content.decode()
    assert f'<a href="{url("grants-of", "trusted-reader")}">Choose the workers' in refused
    assert url("grants-of", "part-one") in text(lead_client.get(url("worker", answered.worker_id)))
    held = text(lead_client.get(url("grants-of", "part-one")))
    assert url("worker", answered.worker_id) in held and "for answering in <a" in held


def test_workers_are_given_it_and_lose_it_and_get_it_again(
    lead_client: Client, project: Project, market: Marketplace, eager: None, stranger_refused: None
) -> None:
    worker = market.sign_up_worker()
    page = text(give(lead_client, "trusted-reader", f"{worker},\n{worker}\n A000NOTTHERE "))
    assert "2 workers are being given" in page and "by alice" in page
    assert "Granted</span>" in page and "The marketplace refused: Worker A000NOTTHERE does not exist." in page
    assert "Everybody on this list has it" in text(give(lead_client, "trusted-reader", worker))
    row = Grant.objects.get(worker__worker_id=worker)
    here = {"form_page": url("grants-of", "trusted-reader")}
    page = text(lead_client.post(url("grants.withdraw", row.pk), here, follow=True))
    assert f"taken back from {worker}" in page
    assert "does not have it any more" in text(lead_client.post(url("grants.withdraw", row.pk), here, follow=True))
    row.refresh_from_db()
    assert (row.state, row.created_by.username) == (State.WITHDRAWN, "alice")
    withdrawn = url("grants-of", "trusted-reader") + "?show=withdrawn"
    assert f'Give again <span class="hidden">: {worker}' in text(lead_client.get(withdrawn))
    give(lead_client, "trusted-reader", worker)
    assert Grant.objects.filter(worker__worker_id=worker, state=State.GRANTED).count() == 1
    assert "given again" in text(lead_client.get(withdrawn))


def test_what_is_no_list_of_workers_comes_back_with_the_reason(lead_client: Client, project: Project) -> None:
    reply = give(lead_client, "part-one", "A1\n<i>me</i>")
    page = reply.content.decode()
    assert reply.status_code == 400 and not Grant.objects.exists()
    assert "is no worker id" in page and "&lt;i&gt;me&lt;/i&gt;</textarea>" in page
    assert give(lead_client, "poor-quality", "A1").status_code == 409


def test_rows_of_other_projects_and_of_pools_are_not_withdrawn_here(lead_client: Client, project: Project) -> None:
    for row in (make.grant(), make.pool(project, make.worker()).members.get()):
        assert lead_client.post(url("grants.withdraw", row.pk)).status_code == 404
        row.refresh_from_db()
        assert row.state == State.GRANTED


def test_it_is_used_by_keyboard_and_the_page_follows_the_marketplace(
    opened: Opener, project: Project, eager: None, market: Marketplace
) -> None:
    worker = market.sign_up_worker()
    granting.intend(project, "part-one", [worker], None)
    for _ in range(3):
        make.grant(project, make.worker(f"A{'B' * 40}{make.worker().pk}"), state=State.INTENDED, error="Refused. " * 8)
    page = opened(url("grants-of", "part-one"), 360, "dark")
    expect(page.locator("#progress")).to_contain_text("told about 1 worker")
    assert violations(page) == [] and page.evaluate("document.documentElement.scrollWidth") <= 360
    granting.finish(project)
    expect(page.locator("#progress")).to_contain_text("knows of every change")
    page.set_viewport_size({"width": 1280, "height": 800})
    page.get_by_role("textbox", name="Workers").focus()
    page.keyboard.type("nobody")
    # Past the field of a file.
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".errorlist")).to_contain_text("is no worker id")
    assert violations(page) == []
