"""Every protocol on a phone, in three languages and both directions: what is asked is in sight or a sign says so."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from hits import protocols
from hits.models import Hit
from tests.hits import factories as make
from tests.hits.answers.test_languages_browser import hit_of
from tests.hits.protocols import forms
from tests.hits.protocols.test_small_screens_browser import BAR, painted
from tests.hits.task_page import instructions_read

pytestmark = pytest.mark.django_db(transaction=True)
SIGNS = {
    "en": "(more|questions?) below",
    "de": "weiter unten|weitere unten|unten mehr",
    "es": "más abajo",
}
# The frame of the marketplace on three phones, each in another language; the last is read from right to left.
PHONES = [(320, 568, "de-DE", ""), (360, 640, "es-ES", ""), (390, 844, "en-US", ""), (320, 568, "en-US", "rtl")]
MEDIA_FAILED = """() => [...document.images].every((one) => one.complete)
  && [...document.querySelectorAll("audio, video")]
    .every((one) => one.error || one.networkState === one.NETWORK_NO_SOURCE)"""
# All but `html_page`: its markup is a lead's own, so nothing of ours can promise what lies in sight there. The frame
# around it is drawn by the marketplace: tests/marketplace/site/test_own_page_browser.py looks at it on such phones.
NAMES = [
    "answer_writing",
    "clickable_entity",
    "expert_review",
    "labelling",
    "multiple_choice",
    "phrase_questions",
    "question_writing",
    "reading_test",
    "select_all",
    "spans",
    "staged_choice",
    "story",
]
# Names of what is asked that lies in sight, and of all that is asked; what is taller than the room counts by its top.
LOOK = """() => {
  const panel = document.querySelector(".answer"), closing = panel.querySelector(".closing");
  const sticks = getComputedStyle(closing).position === "sticky", row = closing.getBoundingClientRect();
  const closes = sticks ? row.top : innerHeight;
  const sign = panel.querySelector(".more"), shown = sign && !sign.hidden;
  const line = Math.min(closes, innerHeight, shown ? sign.getBoundingClientRect().bottom : Infinity) + 4;
  const asked = [...panel.querySelectorAll(".choice, textarea, select, .label, .submit, [type=range], [type=number]")]
    .filter((one) => one.offsetParent && !one.closest(".reports") && !(sticks && closing.contains(one)));
  const inSight = asked.filter((one) => {
    const box = one.getBoundingClientRect();
    return box.bottom > 0 && (box.bottom <= line || (box.height > 150 && box.top < line - 60));
  });
  asked.forEach((one, at) => one.dataset.at ??= at);
  return {
    asked: asked.map((one) => one.dataset.at), seen: inSight.map((one) => one.dataset.at),
    sign: shown ? sign.textContent : "", wide: document.documentElement.scrollWidth - innerWidth,
  };
}"""


# By a wheel or a thumb: the driver's own way to an element that sticks to an edge leaps over what is between.
SCROLL_TO_SIGN = """() => {
  const sign = document.querySelector(".answer .more");
  if (!sign.hidden) scrollBy(0, Math.max(0, Math.ceil(sign.getBoundingClientRect().bottom - innerHeight)));
}"""


def read_through(page: Page, language: str, seen: set[str]) -> None:
    """Presses the sign until it is gone: whatever is asked has been in sight by then, all but the button below it."""
    for _ in range(60):
        page.evaluate(SCROLL_TO_SIGN)
        painted(page)
        state = page.evaluate(LOOK)
        assert state["wide"] <= 0
        seen |= set(state["seen"])
        if not state["sign"]:
            break
        assert re.search(SIGNS[language], state["sign"], re.IGNORECASE), state["sign"]
        page.get_by_role("button", name=state["sign"], exact=True).click()
    assert not state["sign"], "the sign leads to the end"
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    seen |= set(page.evaluate(LOOK)["seen"])
    assert seen >= set(state["asked"])


def on_every_phone(new_page: Callable[..., Page], address: str) -> None:
    for width, height, locale, direction in PHONES:
        page = new_page(width, height - BAR, is_mobile=True, has_touch=True, locale=locale)
        page.route(re.compile(r"example\.org"), lambda route: route.fulfill(status=404))
        page.goto(address)
        page.wait_for_function(MEDIA_FAILED)  # a film that does not come takes less room
        instructions_read(page)
        if direction:
            page.evaluate("direction => { document.documentElement.dir = direction }", direction)
        # The click may have led to the first questions, to which the sign does not lead once more.
        painted(page)
        seen = set(page.evaluate(LOOK)["seen"])
        page.evaluate("scrollTo(0, 0)")  # where a worker begins
        read_through(page, locale[:2], seen)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_that_is_asked_can_be_left_unseen_without_a_sign(
    new_page: Callable[..., Page], task_address: Callable[..., str], name: str
) -> None:
    on_every_phone(new_page, task_address(hit_of(name)))


def form_hit(**form: Any) -> Hit:
    stage = make.stage(protocol="form", settings=protocols.get("form").settings({"form": form}))
    document = make.document(stage.project, data={"columns": forms.COLUMNS})
    return make.hit(make.item(stage, document=document, data={}))


@pytest.mark.parametrize("layout", ["beside", "below"])
def test_of_a_form_with_every_kind_of_question_none_can_be_left_unseen_without_a_sign(
    new_page: Callable[..., Page], task_address: Callable[..., str], layout: str
) -> None:
    on_every_phone(new_page, task_address(form_hit(**{**forms.FORM, "layout": layout})))


def test_a_form_says_how_many_questions_are_below(
    new_page: Callable[..., Page], task_address: Callable[..., str]
) -> None:
    page = new_page(360, 640 - BAR, is_mobile=True, has_touch=True)
    page.goto(task_address(hit_of("reading_test")))
    instructions_read(page)
    page.get_by_role("button", name="2 more questions below").press("Enter")
    expect(page.get_by_role("radiogroup").nth(1).get_by_role("radio").first).to_be_focused()
    expect(page.get_by_role("radiogroup").nth(1)).to_be_in_viewport(ratio=1)
    expect(page.get_by_role("button", name="2 more questions below")).to_have_count(0)
