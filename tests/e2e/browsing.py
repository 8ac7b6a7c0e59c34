"""Chromium as a cautious person runs it: third-party cookies blocked, one profile a person."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Frame, Page, Playwright, sync_playwright

from ops.chromium import whole
from ops.waiting import PAGE_MILLISECONDS
from tests.axe import violations
from tests.browser import launch_options

BLOCKING = {"profile": {"cookie_controls_mode": 1, "block_third_party_cookies": True}}


@contextmanager
def person(playwright: Playwright, folder: Path, **options: Any) -> Iterator[Page]:
    """A page in a profile of its own; `options` are those of a browser context, such as the size of a phone."""
    preferences = folder / "Default" / "Preferences"
    preferences.parent.mkdir(parents=True)
    preferences.write_text(json.dumps(BLOCKING))
    context: BrowserContext = playwright.chromium.launch_persistent_context(
        str(folder),
        headless=True,
        **launch_options(whole) | {"viewport": {"width": 1280, "height": 800}} | options,
    )
    context.set_default_timeout(PAGE_MILLISECONDS)
    page = context.pages[0]
    try:
        yield page
    finally:
        context.close()


@pytest.fixture
def people(tmp_path: Path) -> Iterator[Callable[..., Page]]:
    """`people("ann")` is a new browser; see `person`."""
    with sync_playwright() as playwright, ExitStack() as open_browsers:
        yield lambda name, **options: open_browsers.enter_context(person(playwright, tmp_path / name, **options))


def third_party_cookie(frame: Frame) -> str:
    """What is left of a cookie that the frame tries to set for itself."""
    return str(frame.evaluate("document.cookie = 'seen=1; SameSite=None; Secure; path=/'; document.cookie"))


def tab_to(page: Page, name: str) -> None:
    """Press Tab until what has that name is focused inside the frame."""
    focused = page.frame_locator("iframe.task").locator(":focus")
    for _ in range(60):
        if focused.count() and name in focused.evaluate("e => e.closest('label, button')?.textContent ?? ''"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab never reached {name}")


def accessible(page: Page) -> None:
    """Fails with the address when axe finds a violation on the page."""
    page.wait_for_load_state()
    assert violations(page) == [], page.url
