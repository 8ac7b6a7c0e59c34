"""Every page in a real browser: no accessibility violation, no sideways scrolling, light and dark."""

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.test import Client
from playwright.sync_api import Page, expect

from marketplace.models import Hit, HitType, Requester, Worker
from marketplace.rules.qualifications import LOCALE
from marketplace.verbs import assignments, bonuses, messages, qualification_requests, qualifications
from tests.axe import faults_in_both_looks, violations
from tests.marketplace.rules.test_answer_key import form
from tests.marketplace.site.conftest import requirement

SIGNED_IN = [
    "/",
    "/?filtered=1",
    "/?q=nothing-like-it",
    "/mturk/preview?groupId={group}",
    "/mturk/preview?groupId={guarded}",
    "/mturk/work/{held}/",
    "/mturk/work/{waiting}/after/",
    "/mturk/work/{returned}/after/",
    "/mturk/finished?groupId={over}",
    "/mturk/report?hitId={hit}",
    "/worker/",
    "/worker/?state=rejected",
    "/worker/return-all/",
    "/worker/dispute/{rejected}/",
    "/worker/earnings/",
    "/worker/earnings/?view=bonuses",
    "/worker/earnings/?view=payments",
    "/worker/qualifications/",
    "/worker/qualifications/offered/",
    "/worker/qualifications/offered/?q=nothing-like-it",
    "/worker/qualifications/asked/",
    "/worker/qualifications/{trained}/",
    "/worker/qualifications/{tested}/",
    "/worker/qualifications/{asked}/",
    "/worker/qualifications/test/{attempt}/",
    "/worker/messages/",
    "/worker/messages/{message}/",
    "/worker/profile/",
    "/worker/profile/email/",
    "/worker/profile/password/",
    "/worker/privacy/",
    "/worker/privacy/delete/",
    "/mturk/preview?groupId=none",
    "/mturk/externalSubmit",
]
SIGNED_OUT = ["/accounts/login/", "/accounts/signup/", "/worker/"]
CLOCKS = {"de": r"^noch \d", "en": r"\d left$"}


@pytest.fixture
def world(
    transactional_db: None,
    live_server: Any,
    requester: Requester,
    worker: Worker,
    make_hit_type: Callable[..., HitType],
    make_hit: Callable[..., Hit],
    answer_hits: Callable[..., Any],
    task_origin: str,
    settings: Any,
    now: datetime,
) -> dict[str, Any]:
    """A marketplace with something to show on every page."""
    settings.MARKETPLACE_PUBLIC_URL = live_server.url
    question = make_question(task_origin)
    group = make_hit_type(title="Find the name that fits a news statement, and say how sure you are")
    in_canada = requirement("EqualTo", "PreviewAndAccept", LOCALE, LocaleValues=[{"Country": "CA"}])
    guarded = make_hit_type(title="Write two questions about a short story", requirements=[in_canada])
    over = make_hit_type(title="Tell a story about an everyday situation")
    for kind in (group,) * 8 + (guarded,):
        make_hit(kind, question=question)
    approved, rejected, waiting = answer_hits(group, worker, 3, took=timedelta(seconds=39))
    assignments.approve(requester, approved.assignment_id, now, "Thank you")
    assignments.reject(requester, rejected.assignment_id, now, "The statement is about somebody else in the text")
    bonuses.pay(requester, worker.worker_id, approved.assignment_id, Decimal("0.25"), "Careful work", now)
    held = assignments.accept(group, worker, now)
    returned = assignments.give_back(assignments.accept(group, worker, now), worker, now)
    trained = qualifications.create_type(requester, name="Trained", description="Passed", status="Active", now=now)
    qualifications.grant(requester, trained.qualification_type_id, worker.worker_id, now, value=90)
    test = qualifications.NewTest(form(move="CD", fruit="AB", why=""), 1800)
    tested = qualifications.create_type(
        requester, name="Chess", description="Knows the moves", status="Active", now=now, test=test
    )
    attempt = qualification_requests.ask(worker, tested.qualification_type_id, now)
    # As long as they may be, and without a place to break.
    asked = qualifications.create_type(requester, name="C" * 200, description="x" * 2000, status="Active", now=now)
    request = qualification_requests.ask(worker, asked.qualification_type_id, now)
    qualification_requests.reject(requester, request.request_id, now, "Ask again when you have done ten HITs")
    Worker.objects.filter(pk=worker.pk).update(email_confirmed_at=now)
    for subject in ("More work next week", "A bonus of $2.00 from Alice"):
        message = messages.send(worker, sender=requester, subject=subject, text="Dear worker,\n\nthank you!", now=now)
    messages.mark_read(worker, message.pk - 1, now)
    return {
        "message": message.pk,
        "trained": trained.qualification_type_id,
        "tested": tested.qualification_type_id,
        "asked": asked.qualification_type_id,
        "attempt": attempt.request_id,
        "url": live_server.url,
        "group": group.hit_group_id,
        "guarded": guarded.hit_group_id,
        "over": over.hit_group_id,
        "held": held.pk,
        "hit": held.hit.hit_id,
        "rejected": rejected.pk,
        "waiting": waiting.pk,
        "returned": returned.pk,
    }


def make_question(origin: str) -> str:
    return (
        '<ExternalQuestion xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/'
        f'ExternalQuestion.xsd"><ExternalURL>{origin}/task?item=1</ExternalURL><FrameHeight>0</FrameHeight>'
        "</ExternalQuestion>"
    )


def sign_in(page: Page, client: Client, url: str) -> None:
    session = client.cookies[django_settings.SESSION_COOKIE_NAME].value
    page.context.add_cookies([{"name": django_settings.SESSION_COOKIE_NAME, "value": session, "url": url}])


def check(page: Page, address: str) -> list[str]:
    """Problems of one page on a wide light screen, on a dark phone and on a tablet, as lines to read."""
    page.goto(address)
    problems = faults_in_both_looks(page, iframes=False)
    page.set_viewport_size({"width": 768, "height": 900})
    problems += [f"the table {name} does not fit on a tablet" for name in too_wide(page)]
    return [f"{address}: {line}" for line in problems]


def test_every_page_is_accessible(page: Page, client: Client, world: dict[str, Any]) -> None:
    refused: list[str] = []
    page.on("console", lambda line: refused.append(line.text) if "violates" in line.text else None)
    problems = [line for path in SIGNED_OUT for line in check(page, world["url"] + path)]
    sign_in(page, client, world["url"])
    for path in SIGNED_IN:
        problems += check(page, world["url"] + path.format(**world))
    assert problems == []
    assert refused == []


def too_wide(page: Page) -> list[str]:
    """The tables that are no tables any more, or do not fit into their box."""
    return page.evaluate(
        """() => [...document.querySelectorAll(".scroll")].filter((box) => box.scrollWidth > box.clientWidth
          || getComputedStyle(box.querySelector("tbody tr")).display !== "table-row")
          .map((box) => box.getAttribute("aria-labelledby"))"""
    )


SIDEWAYS = "document.documentElement.scrollWidth > document.documentElement.clientWidth"


@pytest.mark.parametrize(("language", "direction"), [("en", "rtl"), ("de", "ltr"), ("es", "ltr")])
def test_tables_fit_on_a_tablet_and_long_words_and_the_other_direction_on_a_phone(
    page: Page, client: Client, world: dict[str, Any], language: str, direction: str
) -> None:
    page.set_extra_http_headers({"Accept-Language": language})
    sign_in(page, client, world["url"])
    wide, sideways = {}, []
    for path in SIGNED_IN:
        page.set_viewport_size({"width": 768, "height": 900})
        page.goto(world["url"] + path.format(**world))
        assert page.locator("html").get_attribute("lang") == language
        wide[path] = too_wide(page)
        page.set_viewport_size({"width": 360, "height": 700})
        page.evaluate("direction => { document.documentElement.dir = direction }", direction)
        # In the other direction what is too wide sticks out on the other side.
        if page.evaluate(SIDEWAYS):
            sideways.append(path)
        if path == "/mturk/work/{held}/" and language in CLOCKS:
            # What a script writes has its words from the catalogue, and is English without one.
            expect(page.locator("#clock")).to_have_text(re.compile(CLOCKS[language]))
    assert {path: names for path, names in wide.items() if names} == {}
    assert sideways == []


def test_on_a_phone_what_is_in_hand_has_its_buttons_beside_one_another(
    page: Page, client: Client, world: dict[str, Any]
) -> None:
    page.set_viewport_size({"width": 360, "height": 700})
    sign_in(page, client, world["url"])
    page.goto(world["url"] + "/worker/")
    give_back, go_on = (page.locator(f".held .actions {kind}").first.bounding_box() for kind in ("button", "a"))
    assert give_back and go_on
    assert give_back["y"] == go_on["y"] and give_back["height"] == go_on["height"] < 50
    assert min(give_back["width"], go_on["width"]) > 100


def test_forms_with_errors_are_accessible(page: Page, client: Client, world: dict[str, Any]) -> None:
    page.goto(world["url"] + "/accounts/signup/")
    page.locator("main form").evaluate("form => form.noValidate = true")
    page.get_by_role("button", name="Sign up").click()
    expect(page.get_by_text("This field is required.")).to_have_count(3)
    assert violations(page) == []
