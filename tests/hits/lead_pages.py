"""The browser of the tests, and a lead's pages in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client
from playwright.sync_api import Browser, BrowserType, Page

from ops.waiting import PAGE_MILLISECONDS
from tests.browser import launch_options

# The selects that show less than all of the option that is chosen: each as wide as it would like to be, and as it is.
_CUT = """() => [...document.querySelectorAll("main select")].filter(select => select.offsetWidth).map(select => {
  const copy = select.cloneNode(true);
  [...copy.options].filter(option => option.value !== select.value).forEach(option => option.remove());
  Object.assign(copy.style, {width: "max-content", maxWidth: "none", position: "absolute"});
  select.parentNode.append(copy);
  const wanted = copy.offsetWidth;
  copy.remove();
  return [select.id, wanted, select.offsetWidth];
}).filter(([name, wanted, width]) => wanted > width)"""


def cut_selects(page: Page) -> list[list[Any]]:
    return page.evaluate(_CUT)


@pytest.fixture(scope="session")
def browser(browser_type: BrowserType) -> Iterator[Browser]:
    """One for all tests of a process: in the place of the plugin's own, which would look for a browser elsewhere."""
    started = browser_type.launch(**launch_options())
    yield started
    started.close()


Opener = Callable[..., Page]


@pytest.fixture
def opened(browser: Browser, live_server: Any, alice: Any) -> Iterator[Opener]:
    """Opens an address in Alice's browser; complaints of the page itself fail the test."""
    signed_in = Client()
    signed_in.force_login(alice)
    cookie = {"name": "annotate_session", "value": signed_in.cookies["annotate_session"].value, "url": live_server.url}
    contexts = []
    complaints: list[str] = []

    def open_page(address: str, width: int = 1280, scheme: Any = "light", **options: Any) -> Page:
        context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme, **options)
        contexts.append(context)
        context.set_default_timeout(PAGE_MILLISECONDS)
        context.add_cookies([cookie])  # type: ignore[list-item]
        page = context.new_page()
        page.on("console", lambda said: complaints.append(said.text) if "Content Security" in said.text else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(live_server.url + address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []
