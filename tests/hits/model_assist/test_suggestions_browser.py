"""What a model suggests on a worker's page, in a browser."""

from __future__ import annotations

from typing import Any

import pytest

from hits.models import Hit
from tests.axe import violations
from tests.hits.model_assist.test_suggestions_task_pages import hit, workers

__all__ = ["hit"]
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("width", [360, 1280])
def test_it_fits_the_screen_is_accessible_and_answers_go_as_without(
    hit: Hit, task_address: Any, new_page: Any, recording_marketplace: Any, width: int
) -> None:
    sees, _ = workers(hit.stage)
    page = new_page(width, 800)
    page.goto(task_address(hit, workerId=sees))
    page.locator(".instructions > summary").click()
    if width == 360:
        page.locator(".instructions > summary").click() if page.locator(".instructions[open]").count() else None
    box = page.locator("#suggestion-mood").bounding_box()
    assert box and box["x"] >= 0 and box["x"] + box["width"] <= width
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert violations(page) == []
    assert page.locator("input:checked").count() == 0
    # By keyboard alone, against the suggestion.
    page.locator("input[name=mood]").first.focus()
    page.keyboard.press("Space")
    page.locator("input[name=people]").fill("4")
    page.get_by_role("button", name="Submit answer").click()
    page.wait_for_url("**/externalSubmit")
    (posted,) = recording_marketplace.posted
    assert (posted["mood"], posted["people"]) == ("glad", "4")
    assert not [name for name in posted if "suggest" in name]
