"""What a worker's browser must see at each step of a HIT's life; the task page is of another origin."""

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client
from playwright.sync_api import Page, expect

from marketplace.models import Assignment, Hit, HitType, Worker
from marketplace.rules.qualifications import LOCALE
from marketplace.verbs import assignments
from tests.marketplace.site.conftest import requirement
from tests.marketplace.site.test_pages_axe import make_question, sign_in

WORK = re.compile(r"/mturk/work/\d+/$")


@pytest.fixture
def url(
    transactional_db: None,
    live_server: Any,
    settings: Any,
    page: Page,
    client: Client,
    hit_type: HitType,
    make_hit: Callable[..., Hit],
    task_origin: str,
) -> str:
    settings.MARKETPLACE_PUBLIC_URL = live_server.url
    make_hit(hit_type, question=make_question(task_origin))
    sign_in(page, client, live_server.url)
    return live_server.url


def frame_fields(page: Page) -> dict[str, str]:
    """What the address of the task's frame says."""
    address = page.locator("iframe.task").get_attribute("src") or ""
    return {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}


def test_from_preview_to_another_worker(
    page: Page, url: str, hit_type: HitType, other_worker: Worker, worker: Worker, now: Any
) -> None:
    page.goto(f"{url}/mturk/preview?groupId={hit_type.hit_group_id}")
    assert frame_fields(page)["assignmentId"] == "ASSIGNMENT_ID_NOT_AVAILABLE"
    early = page.request.post(
        f"{url}/mturk/externalSubmit", form={"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "answer": "too early"}
    )
    assert early.status == 400 and "This was a preview" in early.text()
    assert not Assignment.objects.exists()

    page.get_by_role("button", name="Accept").click()
    expect(page).to_have_url(WORK)
    held = Assignment.objects.get()
    fields = frame_fields(page)
    assert (fields["assignmentId"], fields["workerId"]) == (held.assignment_id, worker.worker_id)
    assert fields["turkSubmitTo"] == url
    assert urlsplit(page.locator("iframe.task").get_attribute("src") or "").netloc != urlsplit(url).netloc
    page.reload()
    assert frame_fields(page)["assignmentId"] == held.assignment_id
    assert Assignment.objects.count() == 1

    page.get_by_role("button", name="Return").click()
    expect(page.get_by_text("It does not count against you")).to_be_visible()
    again = assignments.accept(hit_type, other_worker, now)
    assert (again.assignment_id, again.worker_id) == (held.assignment_id, other_worker.pk)
    answer = {"assignmentId": again.assignment_id, "workerId": other_worker.worker_id, "answer": "yes"}
    sent = [page.request.post(f"{url}/mturk/externalSubmit", form=answer) for _ in range(2)]
    assert [response.status for response in sent] == [200, 409]
    assert "Already submitted" in sent[1].text()


@pytest.mark.parametrize(
    ("guarded", "listed", "previewed"),
    [("Accept", True, True), ("PreviewAndAccept", True, False), ("DiscoverPreviewAndAccept", False, False)],
)
def test_whoever_does_not_qualify_sees_as_much_as_the_requester_allows(
    page: Page,
    url: str,
    make_hit_type: Callable[..., HitType],
    make_hit: Callable[..., Hit],
    task_origin: str,
    guarded: str,
    listed: bool,
    previewed: bool,
) -> None:
    in_canada = requirement("EqualTo", guarded, LOCALE, LocaleValues=[{"Country": "CA"}])
    kind = make_hit_type(title="For people in Canada", requirements=[in_canada])
    make_hit(kind, question=make_question(task_origin))
    page.goto(f"{url}/?filtered=1")
    expect(page.get_by_text("For people in Canada")).to_have_count(int(listed))
    page.goto(f"{url}/mturk/preview?groupId={kind.hit_group_id}")
    expect(page.locator("iframe.task")).to_have_count(int(previewed))
    expect(page.get_by_role("button", name=re.compile("^(Accept|Start)"))).to_have_count(0)
