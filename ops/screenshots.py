"""`make screenshots`: every page of both sites, in three widths and both themes, into build/screenshots.

Starts a stack of its own with both sample projects, some simulated answers, and an empty project of each other recipe.
CHROMIUM names another browser.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from playwright.sync_api import Error as PageError
from playwright.sync_api import Page, sync_playwright

from ops.chromium import ARGUMENTS, quick
from ops.stack import Stack
from ops.surroundings import ROOT, StackError

FOLDER = ROOT / "build" / "screenshots"
WIDTHS = (1280, 768, 360)
THEMES = ("light", "dark")
# Fewer than the sample has, so that the worker finds something to do.
ANSWERS = 25
EMPTY = ("cosmos", "mcscript", "form", "html_page", "spans")
MOST_PAGES = 300
# For a frame to be drawn after it came into sight.
FRAME_MILLISECONDS = 300
NO_PAGE = re.compile(r"\.(csv|jsonl?|txt)$|/files/|/schema/|^/static/")


def main() -> int:
    try:
        chromium = quick()
    except StackError as error:
        print(error, file=sys.stderr)
        return 1
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as data_dir, Stack(Path(data_dir)) as stack, sync_playwright() as playwright:
        stack.manage("load_sample", "--finished", "--least-seconds", "0")
        for recipe in EMPTY:
            new = ("--recipe", recipe, "--budget", "50", "--contact-email", "lead@annotate.invalid")
            stack.annotate("projects", "create", "--name", f"Empty {recipe}", *new)
        stack.manage("crowd", "--key", "samples/record.jsonl", "--max-answers", str(ANSWERS), "--time-scale", "0.2")
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        count = 0
        for side, url, name, password in (
            ("lead", stack.web_url, "lead", "lead-sample-password"),
            ("worker", stack.marketplace_url, "worker1", "worker"),
            ("operator", f"{stack.marketplace_url}/operator/", "operator", "operator"),
        ):
            page = browser.new_context().new_page()
            count += _photograph(page, url, f"{side}-signing-in")
            _sign_in(page, url, name, password)
            if side == "worker":
                page.get_by_role("button", name=re.compile("^Start")).first.click()
                page.wait_for_url(re.compile("/mturk/work/"))
                count += _photograph(page, page.url, "worker-working")
            for address in _addresses(page, url):
                count += _photograph(page, address, f"{side}{_words(address)}")
        browser.close()
    print(f"{count} pictures in {FOLDER}")
    return 0


def _sign_in(page: Page, url: str, name: str, password: str) -> None:
    page.goto(url)
    if not page.locator("input[type=password]").count():
        page.get_by_role("link", name=re.compile("(log|sign) in", re.IGNORECASE)).first.click()
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name=re.compile("(log|sign) in", re.IGNORECASE)).click()
    page.wait_for_load_state()


def _addresses(page: Page, start: str) -> Iterator[str]:
    """Pages that links lead to, one of each kind: two items differ by their number only. At most MOST_PAGES."""
    waiting, seen = [start], {_kind(start)}
    for _ in range(MOST_PAGES):
        if not waiting:
            return
        address = waiting.pop(0)
        try:
            page.goto(address)
        except PageError as error:
            if "Download is starting" not in error.message:
                raise
            continue
        yield address
        for href in page.locator("a[href]").evaluate_all("links => links.map(link => link.getAttribute('href'))"):
            found = urljoin(page.url, href).split("#")[0]
            same_site = urlsplit(found).netloc == urlsplit(start).netloc
            if same_site and _kind(found) not in seen and not NO_PAGE.search(urlsplit(found).path):
                seen.add(_kind(found))
                waiting.append(found)


def _kind(address: str) -> str:
    """An address without numbers, identifiers and filters.

    Pages below a project are of one kind in the projects that only differ by their recipe, but for what a stage asks.
    """
    path = re.sub(r"\d+|\b[A-Z0-9]{8,}\b", "*", urlsplit(address).path)
    path = re.sub(r"^/help/.+", "/help/*/", path)
    if not re.search(r"^/projects/[^/]+/(stages/[^/]+/(task/.*)?)?$", path):
        path = re.sub(r"/stages/[^/]+/", "/stages/*/", re.sub(r"/projects/empty-[^/]+/", "/projects/empty/", path))
    return path


def _words(address: str) -> str:
    return re.sub(r"[^\w*]+", "-", f"/{urlsplit(address).path.strip('/')}").rstrip("-")


def _photograph(page: Page, address: str, name: str) -> int:
    """A picture for each width and theme, each of the page as it loads there; how many."""
    for width in WIDTHS:
        for theme in THEMES:
            page.set_viewport_size({"width": width, "height": 800})
            page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
            page.goto(address)
            # The browser leaves a sandboxed frame empty in the picture that was not in sight.
            for frame in page.locator("iframe:visible").all():
                frame.scroll_into_view_if_needed()
                page.wait_for_timeout(FRAME_MILLISECONDS)
            page.screenshot(path=FOLDER / f"{name}-{width}-{theme}.png", full_page=True)
    return len(WIDTHS) * len(THEMES)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except StackError as error:
        print(error, file=sys.stderr)
        sys.exit(1)
