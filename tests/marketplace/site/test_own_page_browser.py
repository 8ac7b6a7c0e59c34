"""A page of a requester's own (an HTML template) on a phone: the site's frame around it in each of its states.

What is in the frame is the requester's markup, of which nothing is asserted: axe stops at its border. That there is
room for it, and that it can be reached and sent, is the frame's doing.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from playwright.sync_api import Frame, Page, expect

from marketplace.models import Assignment, HitType
from tests.axe import violations
from tests.marketplace.site.test_frames_browser import WORK, html_xml, publish, show

__all__ = ["publish", "show"]
PHONES = [(320, 568), (360, 640), (390, 844)]
# As the protocol html_page has it, filled in.
SAMPLE = json.loads((Path(settings.BASE_DIR) / "hits/protocols/html_page/sample.json").read_text(encoding="utf-8"))
TEXT = " ".join(map(str, SAMPLE["document"]["columns"].values()))
OWN = f"""<p style="line-height: 3">{TEXT * 5}</p><form action="https://www.mturk.com/mturk/externalSubmit">
<label><input type="radio" name="answer" value="yes" required> Yes</label><button>Submit</button></form>"""


def faults(page: Page, state: str) -> list[str]:
    """In the dark nothing but the colours is different."""
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    found = violations(page)
    page.emulate_media(color_scheme="dark")
    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    found += [f"{wide} px too wide"] if wide > 0 else []
    return [f"{state}: {fault}" for fault in found + violations(page, runOnly=["color-contrast"])]


@pytest.mark.parametrize("size", PHONES)
def test_the_frame_around_it_has_no_fault_in_any_state(
    show: Callable[..., Frame], page: Page, live_server: Any, hit_type: HitType, size: tuple[int, int]
) -> None:
    width, height = size
    page.set_viewport_size({"width": width, "height": height})
    show(html_xml(OWN), preview=True)
    found = faults(page, "preview")
    page.get_by_role("button", name="Accept").click()
    expect(page).to_have_url(WORK)
    task = page.frame_locator("iframe.task")
    expect(task.get_by_role("button", name="Submit")).to_be_attached()
    found += faults(page, "accepted")
    box = page.locator("iframe.task").bounding_box()
    assert box and box["width"] <= width and box["y"] <= 60, "little stands above it"
    assert box["height"] >= 0.75 * height
    task.get_by_role("button", name="Submit").click()  # refused: nothing is chosen
    expect(page).to_have_url(WORK)
    assert not Assignment.objects.filter(status=Assignment.Status.SUBMITTED).exists()
    found += faults(page, "refused")
    page.context.set_offline(True)
    found += faults(page, "offline")
    page.context.set_offline(False)
    task.get_by_label("Yes").check()
    task.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("heading", name="That was the last one")).to_be_visible()
    found += faults(page, "nothing left")
    page.goto(f"{live_server.url}/mturk/preview?groupId={hit_type.hit_group_id}")
    assert found + faults(page, "over") == []
