"""The mouse, in a hand that presses before the page has had time to say anything."""

from __future__ import annotations

from playwright.sync_api import Locator, Page


def stop_clock(page: Page) -> None:
    """Let no timer of the page fire any more, but those within what `page.clock.run_for` lets pass."""
    page.clock.pause_at(page.evaluate("Date.now()") + 1000)


def press_and_release(page: Page, aim: Locator) -> None:
    """Click somewhere, with a look at whether it moves away under the button that is held down."""
    aim.scroll_into_view_if_needed()
    before = aim.bounding_box()
    assert before
    page.mouse.move(before["x"] + before["width"] / 2, before["y"] + before["height"] / 2)
    page.mouse.down()
    assert aim.bounding_box() == before
    page.mouse.up()
