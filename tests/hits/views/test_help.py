"""Help: the documents can be read in the product, and their links lead on."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from hits.views import guides
from ops.surroundings import ROOT

NAMES = [name for section in guides.contents() for name, _ in section.entries]
HREF = re.compile(r'href="([^"]+)"')
ID = re.compile(r' id="([^"]+)"')


def html(name: str) -> str:
    found = guides.guide(name, lambda other: f"{other}/")
    assert found
    return found.html


def test_the_list_has_every_document_that_is_shown_once() -> None:
    assert len(NAMES) == len(set(NAMES))
    assert set(NAMES) == guides.FURTHER | {file.stem for file in (ROOT / "docs" / "how-to").glob("*.md")}


@pytest.mark.parametrize("name", NAMES)
def test_links_lead_to_documents_and_headings_that_are_shown(name: str) -> None:
    inside = [link for link in HREF.findall(html(name)) if "://" not in link]
    for link in inside:
        other, _, heading = link.partition("#")
        shown = html(other.rstrip("/") or name)
        assert not heading or heading in ID.findall(shown), link


def test_a_link_to_a_document_that_is_not_shown_is_words_alone() -> None:
    assert "settings.md lists the rest" in html("own-people")


def test_pictures_and_their_signs_are_left_out() -> None:
    assert "![" in (guides.FOLDER / "tutorial.md").read_text()
    assert "!The " not in html("tutorial") and "<p></p>" not in html("tutorial")


def test_the_image_has_the_documents() -> None:
    left_out = {line for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("docs")}
    assert left_out == {"docs/images"}


def test_a_page_of_help_shows_the_document_and_an_unknown_one_is_not_there(lead_client: Client) -> None:
    page = lead_client.get(reverse("help-page", args=["review"])).content.decode()
    assert '<h1 id="review-answers">Review answers</h1>' in page and "<td>approves and pays" in page
    assert lead_client.get(reverse("help-page", args=["operating"])).status_code == 404


def test_pages_lead_to_help_that_is_there() -> None:
    led = re.compile(r'core/parts/_how.html" with page="([\w-]+)"(?: at="([\w-]+)")?')
    texts = [file.read_text(encoding="utf-8") for file in (ROOT / "templates").rglob("*.html")]
    named = {found for text in texts for found in led.findall(text)}
    assert len({name for name, _ in named}) > 15 and {name for name, _ in named} <= set(NAMES)
    assert [(name, at) for name, at in named if at and at not in ID.findall(html(name))] == []


def test_the_header_and_the_page_of_what_it_is_about_link_to_it(lead_client: Client, world: Any) -> None:
    page = lead_client.get(world.url("review")).content.decode()
    assert f'href="{reverse("help")}"' in page and f'href="{reverse("help-page", args=["review"])}"' in page
