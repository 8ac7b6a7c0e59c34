"""`python -m ops.pictures [PROTOCOL ...]`: the pictures of the cards among which leads choose what a new stage asks.

Each is the page that workers see, with the card's own example, in light and dark, in the protocol's folder `static/`.
Needs a browser (CHROMIUM names another one), and neither a server nor a database. PLUGIN_DIRS is looked through too.
"""

from __future__ import annotations

import base64
import mimetypes
import os
import secrets
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import Page, Route, sync_playwright

from ops.chromium import ARGUMENTS, quick
from ops.surroundings import StackError

if TYPE_CHECKING:
    from hits.protocols.base import TaskProtocol
    from hits.protocols.optional import Card

HERE = "http://pictures.invalid"
SHOWN, SHOWN_OWN = (600, 375), (320, 200)
WIDTH, HEIGHT, QUALITY = 480, 300, 0.75
MOST_BYTES = 30_000
# Stands for pictures that an example has at an address elsewhere.
DRAWING = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 360" width="640" height="360">
<rect width="640" height="360" fill="#bcd9ea"/><rect y="230" width="640" height="130" fill="#3c7298"/>
<circle cx="520" cy="80" r="36" fill="#ffd76a"/><path d="M120 230h300l-40 60H160z" fill="#8b3a2f"/>
<path d="M230 230v-70h90v70z" fill="#fff"/><path d="M268 160v-60h14v60z" fill="#444"/></svg>"""
SHRINK = """async ([png, width, height, quality]) => {
  const picture = new Image();
  picture.src = "data:image/png;base64," + png;
  await picture.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width, height });
  const context = canvas.getContext("2d");
  context.imageSmoothingQuality = "high";
  context.drawImage(picture, 0, 0, width, height);
  return canvas.toDataURL("image/webp", quality).split(",")[1];
}"""


def main(names: list[str]) -> int:
    try:
        chromium = quick()
    except StackError as error:
        print(error, file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as data_dir:
        _set_up(data_dir)
        cards = _cards(names)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
            for protocol, card, folder in cards:
                photograph(browser.new_page(), size_of(protocol), html_of(protocol, card), card, folder)
            browser.close()
    return 0


def _set_up(data_dir: str) -> None:
    """Templates and static files of the requester's side, without its services."""
    defaults = {
        "DJANGO_SETTINGS_MODULE": "annotate.settings",
        "SECRET_KEY": secrets.token_urlsafe(50),
        "DATA_DIR": data_dir,
    }
    for name, value in defaults.items():
        os.environ.setdefault(name, value)
    import django

    django.setup()


def _cards(names: list[str]) -> list[tuple[TaskProtocol, Card, Path]]:
    """Those that name a picture, each with the folder of its protocol."""
    from django.conf import settings

    from hits.projects.rules.plugins import usable_protocols
    from hits.protocols.optional import cards_of

    return [
        (protocol, card, folder)
        for protocol in usable_protocols()
        for card in cards_of(protocol)
        for folder in (root / "protocols" / protocol.name for root in settings.PLUGIN_ROOTS)
        if card.picture and folder.is_dir() and (not names or protocol.name in names)
    ]


def html_of(protocol: TaskProtocol, card: Card) -> str:
    """The page as a worker opens it who knows the task already."""
    from django.template.loader import render_to_string

    from common.html_pages import Surroundings, fit_into_frame
    from hits.answers.verbs.serving import PREVIEW
    from hits.answers.verbs.serving import Page as TaskPage
    from hits.models import Hit, Project, Stage
    from hits.protocols.optional import OwnPageProtocol

    settings = protocol.settings(card.settings)
    if isinstance(protocol, OwnPageProtocol):
        own = protocol.own_page(*card.example, settings)
        return fit_into_frame(own.html, Surroundings(HERE, PREVIEW, f"{HERE}/static/frames/"))
    stage = Stage(hit_title=card.title, protocol=protocol.name, project=Project(contact_email="lab@example.org"))
    task = protocol.page(*card.example, settings, "A")
    template = f"{protocol.name}/task.html"
    page = TaskPage(Hit(stage=stage), template, task, settings, "3A", "A", HERE, token="t", first_visit=False)
    return render_to_string(template, {"page": page, "project": stage.project})


def size_of(protocol: TaskProtocol) -> tuple[int, int]:
    """What a picture shows; a page of somebody's own may have little style."""
    from hits.protocols.optional import OwnPageProtocol

    return SHOWN_OWN if isinstance(protocol, OwnPageProtocol) else SHOWN


def photograph(page: Page, size: tuple[int, int], html: str, card: Card, folder: Path) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.route("**/*", lambda route: _serve(route, html))
    for theme, name in (("light", card.picture), ("dark", card.dark)):
        if not name:
            continue
        page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
        page.goto(f"{HERE}/", wait_until="networkidle")
        page.evaluate("document.querySelector('.task')?.scrollIntoView()")  # below the instructions
        png = base64.b64encode(page.screenshot()).decode()
        picture = base64.b64decode(page.evaluate(SHRINK, [png, WIDTH, HEIGHT, QUALITY]))
        file = folder / "static" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(picture)
        print(f"{file}: {len(picture):,} bytes{', which is too much' if len(picture) > MOST_BYTES else ''}")
    page.close()


def _serve(route: Route, html: str) -> None:
    """The page itself, static files of ours, and a drawing for every picture elsewhere. Nothing goes out."""
    from django.contrib.staticfiles import finders

    address = route.request.url
    if address == f"{HERE}/":
        return route.fulfill(body=html, content_type="text/html; charset=utf-8")
    if route.request.resource_type == "image" and not address.startswith(HERE):
        return route.fulfill(body=DRAWING, content_type="image/svg+xml")
    name = address.removeprefix(f"{HERE}/static/").split("?")[0]
    found = finders.find(name) if address.startswith(f"{HERE}/static/") else None
    if not isinstance(found, str):
        return route.fulfill(status=404)
    return route.fulfill(path=found, content_type=mimetypes.guess_type(name)[0] or "text/plain")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
