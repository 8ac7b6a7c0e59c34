"""The first HIT of a stage on a phone: a row asks to read the instructions, above the text and the answers."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.axe import violations
from tests.hits.answers.test_languages_browser import hit_of
from tests.hits.protocols.test_phones_browser import NAMES
from tests.hits.protocols.test_small_screens_browser import BAR, PHONES

pytestmark = pytest.mark.django_db(transaction=True)
LOCALES = ["de-DE", "es-ES", "en-US"]
ROW = "Read first:"
# How much of the text is seen between what is above it and the answers, and whether that is all of it.
TEXT = """() => {
  const text = document.querySelector(".reading").getBoundingClientRect();
  const bottom = Math.min(innerHeight, document.querySelector(".answer").getBoundingClientRect().top);
  return {height: bottom - text.top, whole: text.bottom <= bottom + 1, answers: innerHeight - bottom};
}"""


def phone(new_page: Callable[..., Page], width: int, height: int, **options: object) -> Page:
    return new_page(width, height - BAR, is_mobile=True, has_touch=True, **options)


@pytest.mark.parametrize("name", [*NAMES, "form"])
def test_instructions_are_a_row_above_the_text_which_has_two_fifths_of_the_screen(
    new_page: Callable[..., Page], task_address: Callable[..., str], name: str
) -> None:
    address, page = task_address(hit_of(name)), phone(new_page, *PHONES[0])
    for (width, height), locale in zip(PHONES, LOCALES, strict=True):
        page.set_viewport_size({"width": width, "height": height - BAR})
        page.set_extra_http_headers({"Accept-Language": locale})
        page.goto(address)
        expect(page.locator("html")).to_have_attribute("lang", locale[:2])
        expect(page.locator(".read-first")).to_be_in_viewport(ratio=1)
        expect(page.locator(".instructions-text")).to_be_hidden()
        seen = page.evaluate(TEXT)
        assert seen["whole"] or seen["height"] >= 0.4 * height, locale
        assert seen["answers"] >= 100, locale
        assert page.evaluate("document.documentElement.scrollWidth") <= width, locale


@pytest.mark.parametrize("size", PHONES)
def test_the_row_opens_them_and_their_button_leads_back_to_the_text(
    new_page: Callable[..., Page], task_address: Callable[..., str], size: tuple[int, int]
) -> None:
    page = phone(new_page, *size, reduced_motion="reduce")
    page.goto(task_address(hit_of("clickable_entity")))
    before = page.evaluate(TEXT)
    assert violations(page) == []
    page.get_by_text(ROW).tap()
    assert violations(page) == []
    page.get_by_role("button", name="Got it, close this").tap()
    expect(page.locator(".instructions > summary")).to_be_focused()
    expect(page.locator(".instructions > summary")).to_be_in_viewport(ratio=1)
    expect(page.locator(".instructions-text")).to_be_hidden()
    expect(page.get_by_text(ROW)).to_be_hidden()  # they were read
    assert page.evaluate(TEXT)["answers"] >= before["answers"]


def test_on_a_wide_screen_they_are_open_and_nothing_says_that_they_have_to_be_opened(
    new_page: Callable[..., Page], task_address: Callable[..., str]
) -> None:
    page = new_page()
    page.goto(task_address(hit_of("clickable_entity")))
    expect(page.get_by_text("Step by step")).to_be_visible()
    expect(page.get_by_text(ROW)).to_be_hidden()
    close = page.get_by_role("button", name="Got it, close this")
    expect(close).to_be_in_viewport(ratio=1)
    close.click()
    expect(page.locator(".reading")).to_be_in_viewport()
    expect(page.get_by_role("button", name="Submit answer")).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize("options", [{"java_script_enabled": False}, {}], ids=["no scripts", "their script fails"])
def test_without_their_script_they_take_a_third_of_a_phone_at_most(
    new_page: Callable[..., Page], task_address: Callable[..., str], options: dict[str, bool]
) -> None:
    page = phone(new_page, 360, 640, **options)
    page.route("**/task/instructions*.js", lambda route: route.abort())
    page.goto(task_address(hit_of("clickable_entity")))
    expect(page.get_by_text("Step by step")).to_be_attached()
    assert page.locator(".instructions-text").bounding_box()["height"] <= 0.31 * 640
    expect(page.locator(".reading")).to_be_in_viewport()
