"""A lab's morning, all in browsers: a table with names of its own, a form, three people who were invited, results."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from playwright.sync_api import FrameLocator, Locator, Page, expect

from ops.stack import Stack
from tests.e2e.browsing import accessible, people, tab_to, third_party_cookie

pytestmark = pytest.mark.long

__all__ = ["people"]

PASSWORD = "reading by the river"
ROWS = 30
# One of the table's; which HIT comes first is the marketplace's affair, and it is the same for all.
TEXT = re.compile(r"The ferry was (\d+) minutes late, and nobody minded\.")
INSTRUCTIONS = """Read the sentence and say how its writer feels.

* **Good:** “The ferry was late, and I did not mind” is *calm*.
* **Bad:** do not say how you would feel yourself.
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Texts under the lab's own names of columns."""
    file = tmp_path / "diary.csv"
    with file.open("w", encoding="utf-8", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(["nr", "utterance", "speaker"])
        rows.writerows(
            [f"u{n}", f"The ferry was {n + 1} minutes late, and nobody minded.", f"P{n % 7}"] for n in range(ROWS)
        )
    return file


def set_password(lead: Page, link: str) -> None:
    """By the link that the command printed."""
    lead.goto(link)
    lead.get_by_label("New password", exact=True).fill(PASSWORD)
    lead.get_by_label("New password once more").fill(PASSWORD)
    lead.get_by_role("button", name="Set the password").click()
    lead.get_by_text("Your password is set").wait_for()


def test_a_lab_takes_its_table_to_results_in_a_morning(stack: Stack, people: Callable[..., Page], table: Path) -> None:
    lead = people("ida")
    set_password(lead, stack.manage("create_lead", "ida").strip())
    sign_in(lead, stack.web_url, "ida", PASSWORD)
    start_project(lead)
    write_the_form(lead)
    set_up_the_stage(lead)
    bring_in_the_table(lead, table)
    phone = people("phone", viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    desktop = people("desktop")
    other = people("other")
    ids = [sign_up(page, stack.marketplace_url, f"reader{n}") for n, page in enumerate([phone, desktop, other])]
    invite(lead, ids)
    publish(lead)
    answer_by_touch(phone)
    answer_by_keyboard(desktop)
    answer_by_mouse(other)
    see_the_results(lead)


def sign_in(page: Page, address: str, name: str, password: str) -> None:
    page.goto(address)
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()


def start_project(page: Page) -> None:
    page.get_by_role("link", name="New project").first.click()
    page.get_by_label("Name").fill("Ferry moods")
    page.get_by_label("Budget").fill("150")
    page.get_by_label("Contact e-mail").fill("lab@example.org")
    page.get_by_label("Your own questionnaire", exact=True).check()
    page.get_by_role("button", name="Start the project").click()
    expect(page.get_by_role("heading", name="Ferry moods")).to_be_visible()


def open_the_stage(page: Page) -> None:
    page.goto(page.url[: page.url.index("/", page.url.index("/projects/") + len("/projects/")) + 1])
    page.get_by_role("link", name="1 Ask").first.click()


def write_the_form(page: Page) -> None:
    """One answer of four, a scale, and a text that is asked for “other” alone; the worker's page stands beside it."""
    open_the_stage(page)
    page.get_by_role("link", name="Task", exact=True).click()
    page.get_by_label("Instructions").fill(INSTRUCTIONS)
    first = page.get_by_role("group", name="Question 1")
    first.get_by_label("Key", exact=True).fill("mood")
    first.get_by_label("Question", exact=True).fill("How does the writer feel?")
    first.get_by_label("Answers, one a line").fill("Calm\nWorried\nAngry\nOther")
    display = added(page, "display", "Text", "Display 1")
    display.get_by_label("Text", exact=True).fill("{text}")
    scale = added(page, "question", "Scale (Likert)", "Question 2")
    scale.get_by_label("Key", exact=True).fill("sure")
    scale.get_by_label("Question", exact=True).fill("How sure are you?")
    scale.get_by_label("Words of the points, one a line").fill("Not at all\nCompletely")
    text = added(page, "question", "Short text", "Question 3")
    text.get_by_label("Key", exact=True).fill("which")
    text.get_by_label("Question", exact=True).fill("Which feeling is it?")
    text.get_by_text("More about question 3").click()
    text.get_by_label("Asked only if").fill("mood = other")
    preview = page.frame_locator("#task-preview iframe")
    expect(preview.get_by_text("Which feeling is it?")).to_be_attached()
    accessible(page)
    page.get_by_role("button", name="Save the task").last.click()
    expect(page.get_by_text("The task is saved")).to_be_visible()


def added(page: Page, one: str, kind: str, group: str) -> Locator:
    page.get_by_label(f"Another {one}").select_option(label=kind)
    page.get_by_role("button", name=f"Add the {one}").click()
    found = page.get_by_role("group", name=group)
    expect(found).to_be_visible()
    return found


def set_up_the_stage(page: Page) -> None:
    """Three answers, eight cents, and invited workers alone."""
    page.get_by_role("link", name="Settings", exact=True).click()
    expect(page.get_by_label("Answers an item", exact=True)).to_have_value("3")
    page.get_by_label("Reward for an answer ($)").fill("0.08")
    one = page.get_by_role("group", name="Requirement 1")
    one.get_by_label("Qualification").select_option(label="Invited workers")
    one.get_by_label("Comparison").select_option(label="held")
    one.get_by_label("Values").fill("")
    accessible(page)
    page.get_by_role("button", name="Save the settings").last.click()
    expect(page.get_by_text("Saved: Reward for an answer")).to_be_visible()


def bring_in_the_table(page: Page, table: Path) -> None:
    page.get_by_role("link", name="Ferry moods").first.click()
    page.get_by_label("File").set_input_files(table)
    page.get_by_role("button", name="Import").click()
    expect(page.get_by_text("The ferry was 5 minutes late")).to_be_visible()
    page.get_by_label("text (needed)").select_option(label="utterance")
    page.get_by_text("1 more field").click()
    page.get_by_label("id", exact=True).select_option(label="nr")
    accessible(page)
    page.get_by_role("button", name=f"Import {ROWS} rows").click()
    expect(page.get_by_text(f"{ROWS} items from {ROWS} texts")).to_be_visible()


def publish(page: Page) -> None:
    open_the_stage(page)
    page.get_by_role("link", name=re.compile(f"^Publish {ROWS}")).first.click()
    accessible(page)
    page.get_by_role("button", name=re.compile(rf"Publish {ROWS} items for \$9\.00")).click()
    expect(page.get_by_text(f"Last batch: {ROWS} of {ROWS} HITs published")).to_be_visible()


def invite(page: Page, workers: Sequence[str]) -> None:
    """Nothing can be published before somebody may answer: the page of the price leads to the list."""
    page.get_by_role("link", name="Review cost and publish").click()
    expect(page.get_by_text("nobody has it")).to_be_visible()
    page.get_by_role("link", name="Choose the workers").click()
    page.get_by_role("textbox", name="Workers").fill("\n".join(workers))
    page.get_by_role("button", name=re.compile("Give")).click()
    expect(page.get_by_text(f"{len(workers)} workers are being given the qualification.")).to_be_visible()
    accessible(page)
    expect(page.get_by_text("The marketplace knows of every change")).to_be_visible()


def sign_up(page: Page, address: str, name: str) -> str:
    """The worker's id."""
    page.goto(address)
    page.get_by_role("link", name="Sign up").first.click()
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill("another long password")
    page.get_by_label("Country you live in").select_option("CA")
    page.get_by_role("button", name="Sign up").click()
    page.get_by_role("link", name="Profile").click()
    return page.locator("dt:has-text('Worker ID') + dd").inner_text()


def started(page: Page) -> FrameLocator:
    """The task of the HIT that the list offers first."""
    page.get_by_role("link", name="HITs", exact=True).click()
    page.get_by_role("button", name="Start: Answer a few questions").first.click()
    task = page.frame_locator("iframe.task")
    expect(task.get_by_text(TEXT)).to_be_attached()
    return task


def answer_by_touch(page: Page) -> None:
    """“Other” has the text asked for; nothing is wider than the phone."""
    task = started(page)
    expect(task.get_by_text("Which feeling is it?")).to_be_hidden()
    task.get_by_text("Other", exact=True).tap()
    task.get_by_label("Which feeling is it?").fill("patient")
    task.get_by_role("radio", name="5").tap()
    frame = next(frame for frame in page.frames if "/task/" in frame.url)
    assert frame.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert third_party_cookie(frame) == ""
    accessible(page)
    before = page.url
    task.get_by_role("button", name="Submit answer").tap()
    page.wait_for_url(lambda url: url != before)


def answer_by_keyboard(page: Page) -> None:
    """Tab into the task, then a digit chooses, and Enter goes on and submits."""
    task = started(page)
    before = page.url
    tab_to(page, "Calm")
    page.keyboard.press("1")
    expect(task.get_by_role("radio", name="Calm")).to_be_checked()
    page.keyboard.press("Enter")
    page.keyboard.press("4")
    expect(task.get_by_role("radio", name="4")).to_be_checked()
    tab_to(page, "Submit answer")
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: url != before)


def answer_by_mouse(page: Page) -> None:
    task = started(page)
    before = page.url
    task.get_by_text("Calm", exact=True).click()
    task.get_by_role("radio", name="3").check()
    task.get_by_role("button", name="Submit answer").click()
    page.wait_for_url(lambda url: url != before)


def see_the_results(page: Page) -> None:
    """Two of three said calm: on the stage's page, and in the table of the release under the lab's own columns."""
    open_the_stage(page)
    kept = page.locator("dd a[href$='?state=kept']")
    for _ in range(180):
        if kept.inner_text() == "1":
            break
        page.wait_for_timeout(1000)
        page.reload()
    expect(kept).to_have_text("1")
    accessible(page)
    page.get_by_role("link", name=re.compile("Release")).first.click()
    accessible(page)
    page.get_by_role("button", name="Make release").click()
    with page.expect_download() as waiting:
        page.get_by_role("link", name="items.csv", exact=True).click()
    with waiting.value.path().open(encoding="utf-8-sig", newline="") as stream:
        (row,) = csv.DictReader(stream)
    number = int(TEXT.fullmatch(row["Input.text"])[1]) - 1
    assert (row["id"], row["Input.speaker"]) == (f"u{number}", f"P{number % 7}")
    assert (row["answers"], row["majority.mood"], row["votes.mood"]) == ("3", "calm", "calm: 2 | other: 1")
