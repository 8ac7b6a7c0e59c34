"""Every page of the operator in a real browser: accessible, no sideways scrolling, nothing refused by the policy."""

from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import Page, expect

from common import second_factor
from marketplace.models import Assignment, Hit, HitType, Notification, Panel, PanelEntry, Requester, Worker
from marketplace.verbs import (
    access,
    accounts,
    assignments,
    blocks,
    concerns,
    events,
    hits,
    layouts,
    operators,
    payouts,
    qualifications,
)
from tests.axe import violations
from tests.marketplace.conftest import QUESTION
from tests.marketplace.site.test_pages_axe import check, sign_in

LAYOUT = "<!DOCTYPE html><html lang='en'><head><title>t</title></head><body><main><p>${text}</p></main></body></html>"
PAGES = [
    "/operator/",
    "/operator/log/",
    "/operator/requesters/",
    "/operator/requesters/?q=nobody",
    "/operator/requesters/{requester}/",
    "/operator/requesters/{requester}/money/",
    "/operator/layouts/{layout}/",
    "/operator/workers/",
    "/operator/workers/{worker}/",
    "/operator/owed/",
    "/operator/owed/?minimum=1000",
    "/operator/payouts/",
    "/operator/payouts/{draft}/",
    "/operator/payouts/{paid}/",
    "/operator/payouts/{undone}/",
    "/operator/concerns/",
    "/operator/concerns/?kind=report&state=resolved",
    "/operator/concerns/{dispute}/",
    "/operator/invitations/",
    "/operator/invitations/{invitation}/",
    "/operator/panels/",
    "/operator/panels/spring/",
    "/operator/notifications/",
    "/operator/notifications/?state=waiting",
    "/operator/account/",
    "/operator/nothing-here/",
]
FORMS = [
    "/operator/second-factor/",
    "/operator/password/",
    "/operator/requesters/{requester}/deposit/?amount=12.50",
    "/operator/requesters/{requester}/deposit/?amount=-1",
    "/operator/requesters/{requester}/layouts/new/",
    "/operator/keys/{key}/revoke/",
    "/operator/workers/{worker}/suspend/",
    "/operator/workers/{worker}/erase/",
    "/operator/payouts/{paid}/undo/",
    "/operator/panels/new/",
]


@pytest.fixture
def world(
    transactional_db: None,
    live_server: Any,
    operator: User,
    requester: Requester,
    make_worker: Callable[..., Worker],
    hit_type: HitType,
    settings: Any,
    now: datetime,
) -> dict[str, Any]:
    """Something to show on every page."""
    settings.MARKETPLACE_PUBLIC_URL = live_server.url
    crowd = [make_worker(name) for name in ("walter", "wilma-with-a-rather-long-name-to-sign-in-with", "will")]
    walter = crowd[0]
    User.objects.filter(pk=walter.user.pk).update(email="walter.with.a.long.address@mail.example.org")
    rejected = _work(requester, hit_type, crowd, now)
    dispute = concerns.dispute(walter, rejected, "The third line says it.\nPlease look again.", now)
    concerns.report(crowd[1], rejected.hit, "broken", "Nothing loads", now)
    blocks.block(requester, walter.worker_id, "Answers at random", now)
    kind = qualifications.create_type(requester, name="Trained", description="x", status="Active", now=now)
    qualifications.grant(requester, kind.qualification_type_id, walter.worker_id, now, value=90)
    paid = payouts.pay(operator, payouts.draft(operator, payouts.owing(), "owed at least $0.01", now).pk, now)
    line = paid.lines.order_by("pk")[0]
    undone = payouts.undo(operator, paid.pk, "The transfer bounced", now, line_id=line.pk)
    draft = payouts.draft(operator, payouts.owing(), "owed at least $0.01", now)
    events.set_webhook(requester, "https://requester.example.org/events/of/hits", now)
    _failed_notification(requester, now)
    panel = Panel.objects.create(
        slug="spring", name="The panel", terms="Be kind.", completion_url="https://example.org/", created_at=now
    )
    PanelEntry.objects.create(panel=panel, worker=walter, outside_id="5f3a9", consented_at=now, last_seen_at=now)
    second_factor.begin(operator)
    with operators.act(operator, "Deposited $12.50", now, requester=requester):
        accounts.add_key(requester, "publishing script")
    return {
        "url": live_server.url,
        "requester": requester.customer_id,
        "key": requester.access_keys.get(label="").pk,
        "layout": layouts.register(requester, "Moods", LAYOUT, now).pk,
        "worker": walter.worker_id,
        "draft": draft.pk,
        "paid": paid.pk,
        "undone": undone.pk,
        "dispute": dispute.pk,
        "invitation": access.invite(now=now, by=operator, note="Students of the spring course", uses=30).pk,
    }


def _work(requester: Requester, hit_type: HitType, crowd: list[Worker], now: datetime) -> Assignment:
    """A day of submissions, some approved; returns a rejected one of the first worker."""
    for number in range(24):
        hour = now - timedelta(hours=number)
        hit = Hit.objects.create(
            requester=requester,
            hit_type=hit_type,
            question=QUESTION,
            max_assignments=9,
            created_at=hour,
            expires_at=now + timedelta(days=1),
            fee=Decimal("0.10"),
        )
        hits.money.hold(requester.pk, hit.cost * 9, hour, hit)
        for worker in crowd[: 1 + number % 3]:
            held = assignments.accept(hit_type, worker, hour, hit)
            assignments.submit(held.assignment_id, {"mood": ["calm"], "why": ["It says\nso."]}, hour)
            if number % 4:
                assignments.approve(requester, held.assignment_id, hour)
    waiting = Assignment.objects.filter(worker=crowd[0], status=Assignment.Status.SUBMITTED).order_by("-pk")[0]
    return assignments.reject(requester, waiting.assignment_id, now, "Not what the text says")


def _failed_notification(requester: Requester, now: datetime) -> None:
    Notification.objects.create(
        requester=requester,
        transport="SQS",
        destination="https://sqs.example.org/123456789012/events-of-our-hits",
        document_id="f" * 40,
        body="{}",
        created_at=now,
        due_at=now,
        attempts=8,
        done_at=now,
        reason="The queue does not exist.",
    )


def test_every_page_is_accessible(page: Page, desk: Client, world: dict[str, Any]) -> None:
    refused: list[str] = []
    page.on("console", lambda line: refused.append(line.text) if "violates" in line.text else None)
    sign_in(page, desk, world["url"])
    problems = []
    for path in PAGES + FORMS:
        problems += check(page, world["url"] + path.format(**world))
    assert problems == []
    assert refused == []


@pytest.mark.parametrize("width", [768, 360])
def test_the_links_are_one_row_and_that_of_the_page_is_in_sight(
    page: Page, desk: Client, world: dict[str, Any], width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 700})
    sign_in(page, desk, world["url"])
    for path in ("", "log/"):
        page.goto(f"{world['url']}/operator/{path}")
        header, here = page.locator("header.top").bounding_box(), page.locator("nav a[aria-current]").bounding_box()
        assert header and here
        assert header["height"] < 100
        assert here["x"] >= 0 and here["x"] + here["width"] <= width


def test_money_is_marked_as_paid_by_hand(page: Page, desk: Client, world: dict[str, Any]) -> None:
    sign_in(page, desk, world["url"])
    page.goto(f"{world['url']}/operator/owed/")
    page.get_by_role("link", name="1 worker,").click()
    button = page.get_by_role("button", name="Mark 1 worker as paid")
    button.dblclick()
    expect(page.get_by_role("status")).to_contain_text("Marked as paid: 1 worker")
    page.goto(f"{world['url']}/operator/owed/")
    expect(page.get_by_role("heading", name="Nobody is owed anything")).to_be_visible()


def test_the_overview_refreshes_itself(page: Page, desk: Client, world: dict[str, Any]) -> None:
    page.clock.install()
    sign_in(page, desk, world["url"])
    page.goto(f"{world['url']}/operator/")
    counted = page.locator("#live dl.tiles dd").first
    before = int(counted.inner_text())
    Hit.objects.update(expires_at=datetime.fromisoformat("2020-01-01T00:00:00+00:00"))
    page.clock.fast_forward(10_500)
    expect(counted).to_have_text("0")
    assert before > 0


@pytest.mark.parametrize("width", [1280, 360])
def test_what_is_wrong_with_a_layout_is_accessible_and_corrected_by_hand(
    page: Page, desk: Client, world: dict[str, Any], requester: Requester, width: int
) -> None:
    sign_in(page, desk, world["url"])
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{world['url']}/operator/requesters/{requester.customer_id}/layouts/new/")
    page.get_by_label("Name").fill("Old")
    html = "<h1>Read</h2>\n<p>${text}\n<div><input name='a'></p>\n</span>" + "    \n" * 15_000
    page.get_by_label("HTML").evaluate("(field, text) => { field.value = text }", html)
    page.get_by_role("button", name="Add and look at it").click()
    expect(page.get_by_role("alert")).to_contain_text("It has 75,0")
    assert violations(page, iframes=False) == []
    assert not page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
    page.get_by_role("button", name="Put the corrected copy into the field").click()
    expect(page.get_by_role("status")).to_contain_text("The corrected copy")
    assert violations(page, iframes=False) == []
    page.get_by_role("button", name="Add and look at it").click()
    expect(page.get_by_text("added around the page, with a Submit button")).to_be_visible()
    assert requester.layouts.get(name="Old").html.startswith("<html><head></head><body><h1>Read</h1>")
