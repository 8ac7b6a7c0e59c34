"""Everybody can read a chart of a file."""

from __future__ import annotations

from playwright.sync_api import Page

from hits.charts import Branch, icicle
from ops.surroundings import ROOT
from tests.axe import violations
from tests.hits.text.test_browser import page

__all__ = ["page"]


def test_an_icicle_chart_can_be_read_on_a_small_dark_screen_and_heard(page: Page) -> None:
    branches = (Branch("why", 60, (Branch("did", 40, (Branch("she", 40),)),)), Branch("hypothetically", 40))
    svg = icicle(branches, 3, "How questions begin", "Of 100 questions.")
    style = "".join((ROOT / "static" / sheet).read_text() for sheet in ("shell/tokens.css", "dashboard/dashboard.css"))
    body = f"<style>{style}</style><main><h1>Questions</h1>{svg}</main>"
    page.set_content(f'<!doctype html><html lang="en"><title>Questions</title>{body}</html>')
    assert page.get_by_role("img", name="How questions begin").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.evaluate(
        """[...document.querySelectorAll("text")].every(text => {
            const label = text.getBoundingClientRect(), block = text.parentElement.getBoundingClientRect();
            return label.height > 8 && label.right <= block.right && label.bottom <= block.bottom + 1; })"""
    )
    assert violations(page) == []
