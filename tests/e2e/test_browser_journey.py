"""A lead and a worker do the main job by hand, in two browsers, over two origins."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from ops.stack import Stack
from tests.e2e.browsing import accessible, people, tab_to, third_party_cookie

__all__ = ["people"]

ITEMS = 120
LEAD = ("ann", "a long enough password")
NAMES = ("Mara Okafor", "Linden", "Tomas Reyes")


def _example(number: int) -> str:
    text = (
        f"{number}. Mara Okafor opened the old ferry station in Linden on Monday, although Tomas Reyes had warned her."
        "\n@highlight\nLinden has a ferry again"
    )
    spans = sorted((found.start(), found.end() - 1) for name in NAMES for found in re.finditer(name, text))
    answers = [{"start": s, "end": e, "text": "Linden"} for s, e in spans if text[s : e + 1] == "Linden"]
    return json.dumps(
        {
            "id": f"ferry-{number}",
            "source": "Our own",
            "passage": {"text": text, "entities": [{"start": s, "end": e} for s, e in spans]},
            "qas": [{"id": f"ferry-{number}-q", "query": "From @placeholder one crosses by boat.", "answers": answers}],
        }
    )


@pytest.fixture
def examples(tmp_path: Path) -> Path:
    file = tmp_path / "ferry.jsonl"
    file.write_text("\n".join(_example(number) for number in range(ITEMS)))
    return file


def test_a_lead_and_a_worker_take_a_file_to_a_release(
    stack: Stack, people: Callable[[str], Page], examples: Path
) -> None:
    lead, worker = people("ann"), people("wim")
    _make_lead(stack)
    _sign_in(lead, stack)
    _start_project(lead)
    _ask_for_ten_minutes(stack)
    _import(lead, examples)
    _publish_and_watch_the_bar(lead)
    worker_id = _sign_up(worker, stack)
    _preview(worker)
    _answer_by_mouse(worker)
    _answer_by_keyboard(worker)
    _return(worker)
    stage = lead.url
    _find_the_worker(lead, worker_id, "$0.00")
    _approve_what_came_early(lead)
    lead.goto(stage)
    _find_the_worker(lead, worker_id, "$0.08")
    _release(lead)


def _make_lead(stack: Stack) -> None:
    name, password = LEAD
    create = "from django.contrib.auth import get_user_model as g; g().objects.create_user"
    stack.manage("shell", "-c", f"{create}({name!r}, password={password!r})")


def _sign_in(page: Page, stack: Stack) -> None:
    page.goto(stack.web_url)
    page.get_by_label("Username").fill(LEAD[0])
    page.get_by_label("Password").fill(LEAD[1])
    page.get_by_role("button", name="Sign in").click()


def _start_project(page: Page) -> None:
    page.get_by_role("link", name="New project").first.click()
    page.get_by_label("Name").fill("Ferry news")
    page.get_by_label("Budget").fill("50")
    page.get_by_label("Contact e-mail").fill("lab@example.org")
    page.get_by_label("ReCoRD", exact=True).check()
    page.get_by_role("button", name="Start the project").click()
    expect(page.get_by_role("heading", name="Ferry news")).to_be_visible()
    page.get_by_role("link", name="Options").click()
    page.get_by_label("Public documents held back for dev and test").fill("0")
    page.get_by_role("button", name="Save options").click()
    page.get_by_role("link", name="Ferry news").first.click()


def _ask_for_ten_minutes(stack: Stack) -> None:
    """However slow this machine is, each answer comes before the time that the stage asks for."""
    of = "Project.objects.get(slug='ferry-news')"
    want = (
        f"from hits.projects.verbs import projects; from hits.models import Project; projects.want_seconds({of}, 600)"
    )
    stack.manage("shell", "-c", want)


def _import(page: Page, file: Path) -> None:
    page.get_by_label("File").set_input_files(file)
    page.get_by_role("button", name="Import").click()
    expect(page.get_by_text("Imported", exact=True).first).to_be_visible()


def _publish_and_watch_the_bar(page: Page) -> None:
    page.get_by_role("link", name="Ferry news").first.click()
    page.get_by_role("link", name=re.compile(f"^Publish {ITEMS} items")).first.click()
    page.get_by_role("button", name=f"Publish {ITEMS} items for $6.00").click()
    bar = page.locator("#progress")
    expect(bar).to_contain_text(re.compile(rf"\d+ of {ITEMS}"))
    page.evaluate("window.neverReloaded = true")
    # How many steps are seen depends on how fast the machine publishes; the page must follow to the end by itself.
    expect(bar).to_contain_text(f"Last batch: {ITEMS} of {ITEMS} HITs published", timeout=180_000)
    assert page.evaluate("window.neverReloaded"), "the page was loaded anew instead of being updated"


def _sign_up(page: Page, stack: Stack) -> str:
    page.goto(stack.marketplace_url)
    page.get_by_role("link", name="Sign up").first.click()
    page.get_by_label("Username").fill("wim")
    page.get_by_label("Password").fill("another long password")
    page.get_by_label("Country you live in").select_option("CA")
    page.get_by_role("button", name="Sign up").click()
    page.get_by_role("link", name="Profile").click()
    page.get_by_label("Percent of answers approved").fill("98")
    page.get_by_label("Number of answers approved").fill("120")
    page.get_by_role("button", name="Save").click()
    return page.locator("dt:has-text('Worker ID') + dd").inner_text()


def _preview(page: Page) -> None:
    page.get_by_role("link", name="HITs", exact=True).click()
    accessible(page)
    page.get_by_role("link", name=re.compile("^Preview")).click()
    task = page.frame_locator("iframe.task")
    expect(task.get_by_text("accept the HIT to answer")).to_be_visible()
    expect(task.get_by_role("button", name="Submit answer")).to_have_count(0)
    accessible(page)
    page.get_by_role("button", name="Accept").click()


def _answer_by_mouse(page: Page) -> None:
    task = page.frame_locator("iframe.task")
    task.get_by_text("Linden", exact=True).first.click()
    expect(task.locator("[data-slot]")).to_have_text("Linden")
    expect(task.get_by_text("Draft saved")).to_be_visible()
    frame = next(frame for frame in page.frames if "/task/" in frame.url)
    assert frame.url.split("/")[2] != page.url.split("/")[2]
    assert third_party_cookie(frame) == ""
    page.reload()
    expect(task.locator("[data-slot]")).to_have_text("Linden")
    accessible(page)
    first = page.url
    task.get_by_role("button", name="Submit answer").click()
    task.get_by_role("button", name="Submit anyway").click()
    page.wait_for_url(lambda url: "/mturk/work/" in url and url != first)


def _answer_by_keyboard(page: Page) -> None:
    task = page.frame_locator("iframe.task")
    expect(task.locator("[data-slot]")).to_be_visible()
    second = page.url
    tab_to(page, "Linden")
    page.keyboard.press("Enter")
    expect(task.locator("[data-slot]")).to_have_text("Linden")
    for name in ("Submit answer", "Submit anyway"):
        expect(task.get_by_role("button", name=name)).to_be_visible()
        tab_to(page, name)
        page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "/mturk/work/" in url and url != second)


def _return(page: Page) -> None:
    page.get_by_role("button", name="Return").click()
    expect(page.get_by_text("does not count against you").first).to_be_visible()
    page.get_by_role("link", name=re.compile("^My work")).click()
    expect(page.get_by_text("$0.08").first).to_be_visible()
    page.get_by_role("link", name="Earnings").click()
    page.get_by_role("link", name="Qualifications").click()


def _find_the_worker(page: Page, worker_id: str, earned: str) -> None:
    row = page.get_by_role("row").filter(has=page.locator(f"a[href*='{worker_id}']"))
    for _ in range(180):
        page.reload()
        if row.count() and earned in row.inner_text():
            break
        page.wait_for_timeout(1000)
    expect(row).to_contain_text(earned)
    row.get_by_role("link").first.click()
    page.go_back()


def _approve_what_came_early(page: Page) -> None:
    """Both answers came before the time that the stage asks for: they count and are paid when a lead approves them."""
    both = page.get_by_role("link", name="Held until approved: 2")
    for _ in range(180):
        page.reload()
        if both.is_visible():
            break
        page.wait_for_timeout(1000)
    both.click()
    page.get_by_label("Tick all").check()
    page.get_by_role("button", name="Approve the ticked ones").click()
    expect(page.get_by_text("No answer waits to count")).to_be_visible()


def _release(page: Page) -> None:
    page.get_by_role("link", name=re.compile("Release")).first.click()
    button = page.get_by_role("button", name="Make release")
    empty = page.get_by_text("There is nothing to release")
    for _ in range(180):
        # What a release would hold arrives after the page: one that is loaded again before never says it.
        expect(button.or_(empty).first).to_be_visible()
        if button.count():
            break
        page.wait_for_timeout(1000)
        page.reload()
    button.click()
    expect(page.get_by_text("train.json").first).to_be_visible()
    with page.expect_download() as waiting:
        page.get_by_role("link", name="train.json", exact=True).click()
    released = json.loads(waiting.value.path().read_text())
    assert sum(len(document["qas"]) for document in released["data"]) == 2
