"""How pages look in a real browser: boxes beside their words, fields in rows, tables and rows of links."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from hits.models import Stage
from hits.projects.verbs.projects import create_project
from hits.templatetags.navigation import numbered_in
from tests.hits.lead_pages import Opener
from tests.hits.market import Marketplace
from tests.hits.views.test_browser import world
from tests.hits.world import World

__all__ = ["world"]
pytestmark = pytest.mark.django_db(transaction=True)

# Of each box with words beside it: how far their first line is above or below it, and whether help begins left of them.
APART = r"""() => [...document.querySelectorAll("main label:has(> :is([type=checkbox], [type=radio]))")]
  .filter(label => label.checkVisibility() && label.innerText.trim() && !label.querySelector(".hidden"))
  .flatMap(label => {
    const box = label.querySelector("input").getBoundingClientRect(), words = document.createRange();
    const texts = document.createNodeIterator(label, NodeFilter.SHOW_TEXT, node => node.data.trim() ? 1 : 2);
    words.selectNodeContents(texts.nextNode());
    const line = [...words.getClientRects()].find(one => one.width > 0);
    const off = (line.top + line.bottom) / 2 - (box.top + box.bottom) / 2, indent = line.left - box.left;
    const help = label.nextElementSibling;
    const said = help && help.matches("p.small") ? parseFloat(getComputedStyle(help).paddingLeft) : indent;
    return Math.abs(off) > 2 || Math.abs(said - indent) > 4 ? [`${label.innerText}: ${off}, ${said}`] : [];
  })"""


@pytest.mark.parametrize("width", [1280, 360])
def test_boxes_stand_beside_the_first_line_of_their_words(
    world: World, opened: Opener, market: Marketplace, live_server: Any, width: int
) -> None:
    page = opened(reverse("new-project"), width)
    seen, faults = 0, []
    names = ("results", "project-results", "stage-settings", "task-settings", "ledger-checks", "add-stage")
    for address in [reverse("new-project"), *map(world.url, names)]:
        page.goto(live_server.url + address)
        seen += page.locator("main label:has(> input:is([type=checkbox], [type=radio]))").count()
        faults += [f"{address}: {fault}" for fault in page.evaluate(APART)]
    assert seen > 20 and faults == [], "\n".join(faults)


UNEVEN = """() => [...document.querySelectorAll("main .inline")].flatMap(row => {
  const other = ["hidden", "file", "checkbox", "radio"].map(type => `[type=${type}]`).join();
  const all = [...row.querySelectorAll(`input:not(${other}), select, button`)];
  const heights = all.filter(one => one.checkVisibility()).map(one => Math.round(one.getBoundingClientRect().height));
  return new Set(heights).size > 1 ? [heights.join(" ")] : [];
})"""


def test_fields_and_buttons_of_a_row_are_of_one_height(
    world: World, opened: Opener, market: Marketplace, live_server: Any
) -> None:
    page = opened(reverse("projects"))
    for name in ("members", "items", "answers", "project"):
        page.goto(live_server.url + world.url(name))
        assert page.locator("main .inline").count(), name
        assert page.evaluate(UNEVEN) == [], name


def test_a_button_beside_a_field_with_help_stands_beside_the_field(world: World, opened: Opener) -> None:
    page = opened(world.url("project"))
    field = page.get_by_role("textbox", name="Tags").bounding_box()
    button = page.get_by_role("button", name="Change the tags").bounding_box()
    assert field and button and abs(field["y"] - button["y"]) <= 2


@pytest.mark.parametrize(("width", "shown"), [(1280, "table"), (768, "table"), (360, "block")])
def test_rows_are_cards_on_a_phone_only(world: World, opened: Opener, width: int, shown: str) -> None:
    page = opened(world.url("answers"), width)
    assert page.locator("table.cards").evaluate("one => getComputedStyle(one).display") == shown


def test_a_card_of_a_row_shows_the_state_first_and_leaves_out_what_is_not_known(world: World, opened: Opener) -> None:
    page = opened(world.url("items"), 360)
    row = page.locator("table.cards tbody tr").first
    places = row.locator("td").evaluate_all(
        "cells => cells.filter(cell => cell.checkVisibility()).sort((a, b) => a.getBoundingClientRect().top - "
        "b.getBoundingClientRect().top).map(cell => cell.dataset.label || 'Text')"
    )
    assert places[:2] == ["Text", "State"] and places[2] == "Answers"
    assert "–" not in [text.strip() for text in row.locator("td:visible").all_inner_texts()]


@pytest.mark.parametrize("name", ["workers", "members"])
def test_the_link_of_this_page_is_in_sight_also_after_a_phone_is_turned(
    world: World, opened: Opener, name: str
) -> None:
    page = opened(world.url(name))
    page.set_viewport_size({"width": 360, "height": 800})
    for here in page.locator(".scrolls [aria-current]").all():
        expect(here).to_be_in_viewport(ratio=0.99)


def test_the_row_of_stages_is_one_line_and_has_no_place_for_a_single_stage(
    world: World, opened: Opener, alice: Any, live_server: Any
) -> None:
    project = create_project("Rain", "mcscript", world.project.account.budget, "lab@example.org", alice)
    page = opened(reverse("stage", args=[project.slug, "human-2"]))
    cells = (
        page.get_by_role("navigation", name="Stages")
        .locator("a:visible, summary")
        .evaluate_all("all => new Set(all.map(one => Math.round(one.getBoundingClientRect().top))).size")
    )
    assert cells == 1
    alone = create_project("Snow", "form", world.project.account.budget, "lab@example.org", alice)
    page.goto(live_server.url + reverse("stage", args=[alone.slug, alone.stages.get().key]))
    expect(page.get_by_role("navigation", name="Stages")).to_have_count(0)


def test_a_stage_in_a_group_is_named_without_the_name_of_the_group(alice: Any) -> None:
    stage = Stage(title="Human upper bound, annotator 2", position=9)
    assert numbered_in(stage, "Human upper bound") == "9 annotator 2"
    assert numbered_in(stage, "") == "9 Human upper bound, annotator 2"


# Links and boxes that a finger misses: less than 32 px high where somebody presses.
SMALL = """() => [...document.querySelectorAll("main p > a, main li > a, main label:has(> input)")]
  .filter(one => one.checkVisibility() && !one.closest(".stages, .menu"))
  .filter(one => [...one.getClientRects()].some(box => box.height < 30))
  .map(one => one.innerText)"""


def test_links_and_boxes_are_high_enough_for_a_finger_on_a_phone(
    world: World, opened: Opener, market: Marketplace, live_server: Any
) -> None:
    page = opened(reverse("projects"), 360)
    for name in ("stage", "project", "results", "notices", "answers"):
        page.goto(live_server.url + world.url(name))
        assert page.evaluate(SMALL) == [], name


@pytest.mark.parametrize("width", [1280, 360])
def test_the_bar_that_saves_settings_covers_a_whole_row_and_no_field_at_the_end(
    world: World, opened: Opener, width: int
) -> None:
    page = opened(world.url("stage-settings"), width)
    bar, form = page.locator(".save-bar"), page.locator("form.stage-settings")
    found, whole = bar.bounding_box(), form.bounding_box()
    assert found and whole and (found["x"], found["width"]) == (whole["x"], whole["width"])
    assert abs(found["y"] + found["height"] - 800) <= 1, "in sight before anything is scrolled"
    looks = bar.evaluate("one => { const is = getComputedStyle(one); return [is.backgroundColor, is.borderTopWidth] }")
    assert looks == ["rgb(255, 255, 255)", "1px"]
    page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
    last, found = form.locator("> :nth-last-child(2)").bounding_box(), bar.bounding_box()
    assert last and found and last["y"] + last["height"] <= found["y"]


@pytest.mark.parametrize("width", [1280, 360])
def test_a_field_that_the_keyboard_leads_to_is_not_under_the_bar(world: World, opened: Opener, width: int) -> None:
    page = opened(world.url("stage-settings"), width)
    fields = page.locator("form.stage-settings :is(input, select, textarea):visible").all()
    page.locator("form.stage-settings input:visible").first.focus()
    for _ in fields[:25]:
        page.keyboard.press("Tab")
        under = page.evaluate(
            "() => document.activeElement.getBoundingClientRect().bottom > "
            "document.querySelector('.save-bar').getBoundingClientRect().top"
        )
        assert not under or page.evaluate("() => !!document.activeElement.closest('.save-bar')")


def test_what_a_live_stage_is_stands_on_one_line_above_its_buttons(
    world: World, opened: Opener, market: Marketplace
) -> None:
    page = opened(world.url("stage"), 1280)
    said, buttons = page.locator("#stage-head p"), page.locator("#stage-head > .actions")
    above, below = said.bounding_box(), buttons.bounding_box()
    assert buttons.locator("> *").count() >= 5
    assert above and below and above["height"] < 25 and above["y"] + above["height"] <= below["y"]
