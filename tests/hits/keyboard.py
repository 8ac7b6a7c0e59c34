"""Keys, as somebody without a mouse presses them."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page

MOST = 100


def press_until(page: Page, key: str, arrived: Callable[[], bool]) -> None:
    """Press a key until it has led somewhere; a page that leads nowhere fails the test instead of holding it up."""
    for _ in range(MOST):
        if arrived():
            return
        page.keyboard.press(key)
    raise AssertionError(f"{key}, pressed {MOST} times, led nowhere")
