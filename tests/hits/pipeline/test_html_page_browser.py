"""Templates as laboratories have them: published through a stage to a real marketplace, answered in a real browser."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Frame, Page, Route, expect

from hits.models import Assignment, Stage
from ops.waiting import PAGE_MILLISECONDS
from tests.hits.market import Marketplace
from tests.hits.pipeline.test_html_page_job import labels, published, taken_up
from tests.hits.protocols.page_templates import CASES, Case

pytestmark = pytest.mark.django_db(transaction=True)


def is_elsewhere(address: str) -> bool:
    return urlsplit(address).hostname not in ("127.0.0.1", "localhost")


@pytest.fixture
def worker(browser: Browser, market: Marketplace) -> Iterator[Page]:
    """Signed in at the marketplace; nothing beyond this machine answers."""
    name = f"worker-{secrets.token_hex(6)}"
    market.do("sign_up", username=name, attributes={"country": "US", "subdivision": "CA"})
    context = browser.new_context()
    context.set_default_timeout(PAGE_MILLISECONDS)
    waiting: list[Route] = []
    context.route(is_elsewhere, lambda route: waiting.append(route))
    context.clock.install()
    page = context.new_page()
    page.goto(f"{market.url}/accounts/login/")
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill("worker")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("link", name="Profile")).to_be_visible()
    yield page
    for route in waiting:
        route.abort()
    context.close()


def opened(page: Page, market: Marketplace, stage: Stage) -> Frame:
    page.goto(f"{market.url}/mturk/preview?groupId={stage.hit_type_id}", wait_until="commit")
    page.get_by_role("button", name="Accept").click()
    page.wait_for_url("**/mturk/work/*/", wait_until="commit")
    frame = page.locator("iframe.task").element_handle().content_frame()
    assert frame is not None
    frame.wait_for_load_state("domcontentloaded")
    # As long as a page waits for what it loads from elsewhere, without the waiting.
    page.clock.fast_forward(10_000)
    frame.locator("form, crowd-form, crowd-entity-annotation").first.wait_for(state="attached")
    return frame


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_field_that_a_worker_posts_is_a_label(case: Case, worker: Page, market: Marketplace) -> None:
    stage = published(case)
    case.work(opened(worker, market, stage))
    expect(worker.get_by_role("heading", name="That was the last one")).to_be_visible()
    taken_up(stage)
    answer = Assignment.objects.get()
    assert (answer.problem, labels(stage)) == ("", case.labels)
