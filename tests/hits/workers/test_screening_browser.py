"""A worker practises, takes the test and gets in, or is told that it was not passed: in a real browser, from the
marketplace's list to the stage's HIT.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import pytest
from playwright.sync_api import Browser, FrameLocator, Page, expect

from hits import tasks
from hits.answers.rules.hits_to_harvest import mark_due
from hits.items.verbs import importing
from hits.models import Assignment, Draft, Grant, Stage
from hits.projects.verbs import projects
from hits.publishing.verbs import publishing, sending
from hits.stages.verbs import custom_stages, task_settings
from ops.waiting import PAGE_MILLISECONDS
from tests.hits.market import Marketplace

pytestmark = pytest.mark.django_db(transaction=True)
TASK = {"hit_title": "Was it wet?", "settings": {"question": "Was it wet?", "choices": ["Yes", "No"]}}
ROWS = "id,text,gold,explanation\nd1,Rain fell.,,\n" + "".join(
    f"g{n},The sun shone on day {n}.,No,Sun on day {n} means <b>dry</b>.\n" for n in range(8)
)


@pytest.fixture
def worker(browser: Browser, market: Marketplace) -> Iterator[Callable[..., Page]]:
    """New people, each signed in at the marketplace with a browser of their own."""
    contexts = []

    def sign_in(width: int = 1280, **options: Any) -> Page:
        name = f"worker-{secrets.token_hex(6)}"
        market.do("sign_up", username=name, attributes={"country": "US", "adult": True})
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        context.set_default_timeout(PAGE_MILLISECONDS)
        page = context.new_page()
        page.goto(f"{market.url}/accounts/login/")
        page.get_by_label("Username").fill(name)
        page.get_by_label("Password").fill("worker")
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("link", name="Profile")).to_be_visible()
        return page

    yield sign_in
    for context in contexts:
        context.close()


def published(stage: Stage) -> None:
    quote = publishing.quote(stage)
    assert quote.problems == []
    sending.send(publishing.publish(stage, quote.items, quote.total, f"page-{stage.key}", None).pk)
    stage.refresh_from_db()


@pytest.fixture
def stages(lead: Any, market: Marketplace, live_server: Any, settings: Any, eager: None) -> tuple[Stage, Stage]:
    """A published stage and its published test: two items of practice, four of the test, three to be right."""
    settings.PUBLIC_URL = live_server.url
    settings.MTURK_SUBMIT_ORIGINS = [market.url]
    project = projects.create_project("Weather", "choice", Decimal("50.00"), "lab@example.org", lead, seed=3)
    stage = project.stages.get()
    task_settings.change_task(stage, TASK, None)
    Stage.objects.filter(pk=stage.pk).update(requirements=[])
    upload = importing.create_upload(project, "rows.csv", ROWS.encode(), "public", None)
    importing.import_upload(upload.pk)
    table = {"input": {"stage": stage.key, "each": "known"}, "items_per_hit": 4, "practice_items": 2, "reward": "0.30"}
    test = custom_stages.add_stage(project, table, lead)
    stage.refresh_from_db()
    published(test)
    published(stage)
    return stage, test


def accept(page: Page, market: Marketplace, stage: Stage) -> FrameLocator:
    page.goto(f"{market.url}/mturk/preview?groupId={stage.hit_type_id}")
    page.get_by_role("button", name="Accept").click()
    page.wait_for_url("**/mturk/work/*/")
    return page.frame_locator("iframe.task")


def practise(frame: FrameLocator, choice: str, number: int) -> None:
    expect(frame.get_by_text(f"Practice {number} of 2:")).to_be_visible()
    frame.get_by_role("radio", name=choice).check()
    frame.get_by_role("button", name="See what is right").click()
    expect(frame.get_by_text("That is right." if choice == "No" else "That is not right.")).to_be_visible()
    expect(frame.get_by_text(re.compile(r"Sun on day \d means <b>dry</b>\."))).to_be_visible()


def take(page: Page, market: Marketplace, test: Stage, right: int, scripts: bool = True) -> None:
    frame = accept(page, market, test)
    practise(frame, "Yes", 1)
    expect(frame.get_by_text("You answered “Yes”.")).to_be_visible()
    expect(frame.get_by_text("Right is “No”.")).to_be_visible()
    frame.get_by_role("link", name="Next item to practise on").click()
    practise(frame, "No", 2)
    frame.get_by_role("link", name="Begin the test").click()
    for number in range(1, 5):
        expect(frame.get_by_text(f"item {number} of 4")).to_be_visible()
        expect(frame.get_by_text("means dry")).to_have_count(0)
        frame.get_by_role("radio", name="No" if number <= right else "Yes").check()
        frame.get_by_role("button", name="Submit all 4 answers" if number == 4 else "Next item").click()
    # Without a script the frame says it, and the bar around it stays.
    over = page.get_by_role("heading", name="That was the last one") if scripts else frame.get_by_role("heading")
    expect(over.first).to_be_visible()


def sees(page: Page, market: Marketplace, stage: Stage) -> bool:
    page.goto(f"{market.url}/mturk/preview?groupId={stage.hit_type_id}")
    return page.get_by_role("button", name="Accept").count() > 0


@pytest.mark.parametrize("scripts", [True, False])
def test_who_practises_and_passes_sees_the_hits_and_who_fails_is_told(
    stages: tuple[Stage, Stage], worker: Callable[..., Page], market: Marketplace, scripts: bool
) -> None:
    stage, test = stages
    good, bad = worker(java_script_enabled=scripts), worker(width=360)
    assert not sees(good, market, stage)
    take(good, market, test, right=3, scripts=scripts)
    take(bad, market, test, right=2)
    tasks.harvest_stage(test.pk)
    mark_due(test.hits.all())
    tasks.harvest_stage(test.pk)
    assert sorted(Grant.objects.values_list("value", flat=True)) == [50, 75]
    assert Assignment.objects.filter(state="Approved").count() == 2
    assert sees(good, market, stage) and not sees(bad, market, stage)
    bad.goto(f"{market.url}/worker/messages/")
    bad.get_by_role("link", name="Not passed: “Test: Was it wet?”").click()
    expect(bad.get_by_text("You had 2 of 4 right; 3 were needed.")).to_be_visible()


def test_a_reload_within_the_test_stays_in_it_and_practice_keeps_nothing(
    stages: tuple[Stage, Stage], worker: Callable[..., Page], market: Marketplace
) -> None:
    _, test = stages
    page = worker()
    frame = accept(page, market, test)
    practise(frame, "Yes", 1)
    assert not Draft.objects.exists()
    frame.get_by_role("link", name="Next item to practise on").click()
    expect(frame.get_by_text("Practice 2 of 2:")).to_be_visible()
    frame.get_by_role("button", name="See what is right").click()
    assert not Assignment.objects.exists()
    frame.get_by_role("radio", name="No").check()
    frame.get_by_role("button", name="See what is right").click()
    frame.get_by_role("link", name="Begin the test").click()
    expect(frame.get_by_text("item 1 of 4")).to_be_visible()
    frame.get_by_role("radio", name="No").check()
    frame.get_by_role("button", name="Next item").click()
    expect(frame.get_by_text("item 2 of 4")).to_be_visible()
    page.reload()
    expect(frame.get_by_text("item 2 of 4")).to_be_visible()
