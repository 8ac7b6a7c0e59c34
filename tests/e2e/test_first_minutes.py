"""The first minutes of a new lead: what `make run` starts, looked at in a browser while a simulated crowd answers."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from ops.stack import Stack
from tests.e2e.browsing import accessible, people

pytestmark = pytest.mark.long

__all__ = ["people"]

# Twenty-two people read; on a busy machine that takes them long.
CROWD_MILLISECONDS = 1_500_000
MOST_CLICKS = 4
LIVE, FINISHED = "Sample: harbour news", "Sample: letters to a ferry line"
# As `make run` prints it.
LEAD, PASSWORD = "lead", "lead-sample-password"
LETTERS = 48


@pytest.fixture
def lead(stack: Stack, people: Callable[..., Page]) -> Page:
    """Signed in as `make run` says, at home; a crowd has just begun with the second sample."""
    assert "A simulated crowd answers them now" in stack.manage("load_sample", "--finished")
    page = people("lead")
    page.goto(stack.web_url)
    page.get_by_label("Username").fill(LEAD)
    page.get_by_label("Password").fill(stack.env.get("SAMPLE_LEAD_PASSWORD") or PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    return page


def test_a_new_lead_finds_a_live_project_paid_fairly_and_a_finished_one_with_its_figures(lead: Page) -> None:
    """The live one is looked at while the crowd works on the other; the page at home says by itself when it is done."""
    expect(_card(lead, FINISHED)).to_contain_text("A simulated crowd gives the answers now")
    accessible(lead)
    _is_paid_fairly(lead)
    _waits_for_the_crowd(lead)
    _agreement_is_at_most_four_clicks_away(lead)
    _charts_have_their_numbers(lead)
    _a_block_has_its_evidence(lead)
    _a_release_is_there(lead)
    _a_crowd_can_be_asked(lead)


def _card(page: Page, name: str) -> Locator:
    return page.get_by_role("region", name=name)


def _home(page: Page) -> None:
    page.get_by_role("link", name="Annotate").first.click()
    expect(page.get_by_role("heading", name="Projects")).to_be_visible()


def _is_paid_fairly(page: Page) -> None:
    """What its stage pays is said an hour, and nowhere that this is too little."""
    page.get_by_role("link", name=LIVE).click()
    accessible(page)
    page.get_by_role("link", name="1 Validation").click()
    for tab in ("Overview", "Settings"):
        page.get_by_role("link", name=tab, exact=True).click()
        page.wait_for_load_state()
        said = page.locator("main").inner_text()
        assert re.search(r"\$\d+\.\d\d an hour", said), page.url
        assert "your floor" not in said, page.url
        accessible(page)
    _home(page)


def _waits_for_the_crowd(page: Page) -> None:
    card = _card(page, FINISHED)
    expect(card).to_contain_text("Finished", timeout=CROWD_MILLISECONDS)
    expect(card).not_to_contain_text("A simulated crowd gives", timeout=CROWD_MILLISECONDS)
    expect(card).to_contain_text(f"{LETTERS} kept of {LETTERS} items")
    expect(card).not_to_contain_text("Needs a decision")
    accessible(page)


def _agreement_is_at_most_four_clicks_away(page: Page) -> None:
    clicks = [FINISHED, "1 Choice", "Agreement"]
    assert len(clicks) <= MOST_CLICKS
    for name in clicks:
        page.get_by_role("link", name=name, exact=True).first.click()
        accessible(page)
    expect(page.get_by_role("heading", name="Agreement")).to_be_visible()
    expect(page.get_by_text("no answer came since")).to_be_visible()
    cells = page.get_by_role("row", name="Krippendorff").get_by_role("cell").all_inner_texts()
    alpha, (low, high) = float(cells[-2]), [float(end) for end in cells[-1].split(" to ")]
    # Of people who err: neither chance nor certainty.
    assert 0 < low < alpha < high < 1


def _charts_have_their_numbers(page: Page) -> None:
    for tab in ("Agreement", "Workers"):
        page.get_by_role("link", name=tab, exact=True).first.click()
        charts, numbers = (
            page.locator("main svg[role=img]:not(.interval)"),
            page.get_by_text(re.compile("^The numbers")),
        )
        expect(numbers.first).to_be_visible()
        assert charts.count() == numbers.count(), page.url
        for found in numbers.all():
            found.click()
            table = found.locator("xpath=ancestor::details").get_by_role("table")
            assert table.get_by_role("row").count() > 1
        accessible(page)


def _a_block_has_its_evidence(page: Page) -> None:
    page.get_by_role("row", name="blocked").first.get_by_role("link").first.click()
    page.wait_for_load_state()
    said = page.get_by_role("region", name="Blocks and pauses")
    expect(said).to_contain_text("Blocked automatically")
    expect(said).to_contain_text(re.compile(r"\d+ of \d+ scored answers were right: \d"))
    expect(said).to_contain_text("the chance that an average worker does so badly is")
    accessible(page)


def _a_release_is_there(page: Page) -> None:
    page.get_by_role("link", name="Releases", exact=True).first.click()
    page.get_by_role("link", name="Release 1", exact=True).click()
    accessible(page)
    with page.expect_download() as found:
        page.get_by_role("link", name="items.csv").click()
    with found.value.path().open(encoding="utf-8", newline="") as stream:
        assert len(list(csv.DictReader(stream))) == LETTERS


def _a_crowd_can_be_asked(page: Page) -> None:
    """On the live one too: answers come in while one looks, without reloading."""
    _home(page)
    page.get_by_role("link", name="let a simulated crowd answer").click()
    page.get_by_role("button", name="Let a simulated crowd answer").click()
    crowd = page.get_by_role("region", name="Simulated crowd")
    expect(crowd).to_contain_text(re.compile("Answering|On its way"))
    accessible(page)
    expect(crowd).to_contain_text(re.compile(r"[1-9]\d* of \d+ answers are in"), timeout=CROWD_MILLISECONDS)
