"""The pictures of the cards among which leads choose, made of the tasks' own pages."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from hits import protocols
from hits.protocols.optional import cards_of
from ops import pictures


@pytest.mark.parametrize("name", ["form", "html_page"])
def test_a_card_is_photographed_with_its_own_example(browser: Browser, tmp_path: Path, name: str) -> None:
    protocol = protocols.get(name)
    card = cards_of(protocol)[0]
    html = pictures.html_of(protocol, card)
    assert "Is this easy to understand?" in html
    pictures.photograph(browser.new_page(), pictures.size_of(protocol), html, card, tmp_path)
    for file in card.files:
        made = (tmp_path / "static" / file).read_bytes()
        assert (made[:4], made[8:12]) == (b"RIFF", b"WEBP") and 1000 < len(made) <= pictures.MOST_BYTES
