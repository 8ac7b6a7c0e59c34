"""The page in a real browser: a worker reads, chooses, is interrupted, and submits."""

import re

import pytest
from playwright.sync_api import Page, expect

from hits.models import Draft
from tests.axe import faults_in_both_looks, violations
from tests.hits import factories as make
from tests.hits.answers import story
from tests.hits.keyboard import press_until
from tests.hits.task_page import ASSIGNMENT, WORKER, instructions_read

pytestmark = pytest.mark.django_db(transaction=True)
PHONE = {"width": 360, "height": 740, "is_mobile": True, "has_touch": True}
DRAFTS = "**/task/draft/"
SAVED = re.compile("^Draft saved$")


def mention(page: Page, name: str, number: int = 0):
    return page.locator(".passage .mention", has_text=re.compile(f"^{re.escape(name)}$")).nth(number)


def blank(page: Page):
    return page.locator("[data-slot]")


def submit(page: Page) -> None:
    page.get_by_role("button", name="Submit answer").click()


def settle(page: Page) -> None:
    expect(page.locator("[data-draft-state]")).to_have_text(SAVED)


def submitted(page: Page, marketplace) -> dict[str, str]:
    page.wait_for_url(re.compile("externalSubmit"))
    assert len(marketplace.posted) == 1
    return marketplace.posted[0]


def wants_time(hit, seconds: int, early: str) -> None:
    hit.stage.settings = {"min_seconds": seconds, "early_submit": early}
    hit.stage.save()


def test_an_answer_by_mouse_reaches_the_marketplace(new_page, task_address, recording_marketplace):
    page = new_page()
    page.goto(task_address())
    mention(page, "Rotterdam").click()
    expect(blank(page)).to_have_text("Rotterdam")
    mention(page, "Annika de Wit", 1).click()
    expect(blank(page)).to_have_text("Annika de Wit")
    page.get_by_label("More than one name fits").check()
    page.get_by_label("Anything else").fill("“Maas” could be meant.")
    submit(page)
    posted = submitted(page, recording_marketplace)
    assert posted.pop("seconds_open").isdigit()
    assert posted == {
        "assignmentId": ASSIGNMENT,
        "workerId": WORKER,
        "answer": story.places("Annika de Wit")[1],
        "text": "Annika de Wit",
        "ambiguous": "yes",
        "comment": "“Maas” could be meant.",
    }


def test_all_mentions_of_the_chosen_entity_light_up_and_of_the_one_under_the_pointer(new_page, task_address):
    page = new_page()
    page.goto(task_address())
    mention(page, "Veere").click()
    assert page.locator(".mention:has(input:checked)").all_inner_texts() == ["Veere"] * 3
    mention(page, "Pieter Maas").hover()
    assert page.locator(".mention.near").all_inner_texts() == ["Pieter Maas"] * 2
    mention(page, "Grote Kerk").click()
    assert page.locator(".mention:has(input:checked)").all_inner_texts() == ["Grote Kerk"]


def focused(page: Page) -> str:
    return page.evaluate("document.activeElement.value")


def test_an_answer_by_keyboard_alone(new_page, task_address, recording_marketplace):
    page = new_page()
    page.goto(task_address())
    stops = []

    def at_the_first_tick_box() -> bool:
        stops.append(focused(page))
        return stops[-1] == "yes"

    press_until(page, "Tab", at_the_first_tick_box)
    names = dict.fromkeys(story.TEXT[start : end + 1] for start, end in story.MENTIONS)
    assert [stop for stop in stops if re.fullmatch(r"\d+-\d+", str(stop))] == [story.places(name)[0] for name in names]
    page.keyboard.press("Shift+Tab")
    assert focused(page) == story.places("Vlissingen")[0]
    page.keyboard.press("ArrowRight")
    assert focused(page) == story.places("Veere")[2]
    page.keyboard.press("Home")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(blank(page)).to_have_text("blank")
    assert page.locator(".mention.near").all_inner_texts() == ["Annika de Wit"] * 2
    page.keyboard.press("Enter")
    expect(blank(page)).to_have_text("Annika de Wit")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    expect(blank(page)).to_have_text("Scheldt Water Board")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Submit answer").focus()
    page.keyboard.press("Enter")
    assert submitted(page, recording_marketplace)["answer"] == story.places("Annika de Wit")[0]


def test_a_screen_reader_hears_the_name_and_the_statement(new_page, task_address):
    page = new_page()
    page.goto(task_address())
    radio = page.get_by_role("radio", name="Grote Kerk")
    radio.press("Enter")
    expect(radio).to_be_checked()
    heard = page.get_by_role("status").inner_text()
    assert heard.startswith("Blank filled with Grote Kerk. ")
    assert "saved us,” Grote Kerk told the council" in heard


def test_an_answer_by_touch_on_a_small_screen(new_page, task_address, recording_marketplace):
    page = new_page(**PHONE)
    page.goto(task_address(workerId="ATOUCH"))
    instructions_read(page)
    panel = page.locator(".answer")
    mention(page, "Annika de Wit").tap()
    expect(blank(page)).to_have_text("Annika de Wit")
    assert panel.bounding_box()["height"] <= 0.62 * 740 + 1
    assert panel.bounding_box()["y"] + panel.bounding_box()["height"] == pytest.approx(740, abs=1)
    page.locator(".reports summary").tap()
    page.get_by_label("I guessed").tap()
    assert panel.bounding_box()["height"] <= 0.62 * 740 + 1
    page.get_by_role("button", name="Submit answer").tap()
    posted = submitted(page, recording_marketplace)
    assert (posted["answer"], posted["guessed"]) == (story.places("Annika de Wit")[0], "yes")


def test_on_a_small_screen_the_last_line_can_be_read_above_the_question(new_page, task_address):
    page = new_page(**PHONE)
    page.goto(task_address())
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    last = page.locator(".passage li").last.bounding_box()
    assert last["y"] + last["height"] <= page.locator(".answer").bounding_box()["y"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_a_focused_mention_is_never_under_the_question(new_page, task_address):
    page = new_page(360, 640)
    page.goto(task_address())
    instructions_read(page)
    page.get_by_role("radio", name="Lowland Post").focus()
    for _ in story.MENTIONS:
        page.keyboard.press("ArrowDown")
        lowest = page.evaluate("document.activeElement.parentElement.getBoundingClientRect().bottom")
        assert lowest <= page.locator(".answer").bounding_box()["y"]


def test_the_question_stays_in_sight_beside_a_long_passage(hit, new_page, task_address):
    hit.item.document.data = {**story.DOCUMENT, "text": story.TEXT + "\nMore of it." * 60}
    hit.item.document.save()
    page = new_page()
    page.goto(task_address())
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    expect(page.locator(".statement")).to_be_in_viewport()
    expect(page.get_by_role("button", name="Submit answer")).to_be_in_viewport()


def test_submitting_nothing_says_what_to_do_and_sends_nothing(new_page, task_address, recording_marketplace):
    page = new_page()
    page.goto(task_address())
    submit(page)
    notice = page.get_by_role("alert")
    expect(notice).to_have_text(re.compile("No name is chosen yet"))
    expect(notice).to_be_focused()
    assert not recording_marketplace.posted


def test_a_refusal_by_the_server_is_shown_in_place(hit, new_page, task_address, recording_marketplace):
    page = new_page()
    page.goto(task_address())
    mention(page, "Maas").click()
    make.block(hit.stage, make.worker(WORKER))
    submit(page)
    expect(page.get_by_role("alert")).to_have_text(re.compile("return this HIT"))
    expect(page.get_by_role("alert")).to_be_focused()
    expect(blank(page)).to_have_text("Maas")
    assert not recording_marketplace.posted


def test_a_draft_comes_back_after_a_reload(new_page, task_address):
    page = new_page()
    page.goto(task_address())
    mention(page, "Hollander Staal").click()
    page.get_by_label("I guessed").check()
    page.get_by_label("Anything else").fill("Not sure.")
    settle(page)
    page.evaluate("localStorage.clear()")
    page.reload()
    expect(blank(page)).to_have_text("Hollander Staal")
    expect(page.get_by_label("I guessed")).to_be_checked()
    expect(page.get_by_label("Anything else")).to_have_value("Not sure.")
    expect(page.locator(".mention:has(input:checked)")).to_have_count(2)


def test_what_is_written_while_a_draft_is_on_its_way_is_not_called_saved(new_page, task_address):
    page = new_page()
    page.goto(task_address())
    on_their_way = []
    page.route(DRAFTS, lambda route: on_their_way.append(route))
    with page.expect_request(DRAFTS):
        mention(page, "Veere").click()
    mention(page, "Grote Kerk").click()
    with page.expect_request(DRAFTS):
        on_their_way.pop(0).continue_()
    assert page.locator("[data-draft-state]").text_content() == "Saving…"
    on_their_way.pop(0).continue_()
    settle(page)


def test_what_was_entered_just_before_a_reload_comes_back_too(new_page, task_address):
    page = new_page()
    page.goto(task_address())
    mention(page, "Hollander Staal").click()
    page.reload()
    expect(blank(page)).to_have_text("Hollander Staal")
    settle(page)
    assert Draft.objects.get().fields["answer"] == story.places("Hollander Staal")[0]


def test_a_lost_connection_loses_nothing(new_page, task_address, recording_marketplace):
    page = new_page()
    page.goto(task_address())
    page.context.set_offline(True)
    mention(page, "Annika de Wit").click()
    state = page.locator("[data-draft-state]")
    expect(state).to_have_text("Not saved: connection lost, trying again")
    submit(page)
    expect(page.get_by_role("alert")).to_have_text(re.compile("You are offline"))
    assert not recording_marketplace.posted
    page.context.set_offline(False)
    settle(page)
    assert Draft.objects.get().fields["text"] == "Annika de Wit"
    submit(page)
    assert submitted(page, recording_marketplace)["text"] == "Annika de Wit"


def test_a_page_in_a_browser_without_memory_still_keeps_drafts(new_page, task_address):
    page = new_page()
    page.add_init_script(
        "Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('no', 'SecurityError'); }})"
    )
    page.goto(task_address())
    mention(page, "Maas").click()
    settle(page)
    page.reload()
    expect(blank(page)).to_have_text("Maas")


def test_when_our_server_does_not_reply_the_answer_goes_out_anyway(new_page, task_address, recording_marketplace):
    page = new_page()
    page.goto(task_address())
    asked = []
    page.route("**/task/check/", lambda route: (asked.append(1), route.fulfill(status=503, body="down")))
    mention(page, "Annika de Wit").click()
    submit(page)
    assert submitted(page, recording_marketplace)["text"] == "Annika de Wit"
    assert len(asked) == 2


def test_an_early_submit_is_asked_about_once(hit, new_page, task_address, recording_marketplace):
    wants_time(hit, 600, "notice")
    page = new_page()
    page.goto(task_address())
    mention(page, "Annika de Wit").click()
    submit(page)
    expect(page.get_by_role("alert")).to_have_text(
        re.compile(r"You have had this open for \d+ s; please take at least 600 s to read\. A person looks at a faster")
    )
    assert not recording_marketplace.posted
    page.get_by_role("button", name="Submit anyway").click()
    assert int(submitted(page, recording_marketplace)["seconds_open"]) < 600


def test_the_time_before_a_reload_counts(hit, new_page, task_address, recording_marketplace):
    wants_time(hit, 3, "notice")
    page = new_page()
    page.goto(task_address())
    page.wait_for_timeout(2600)
    mention(page, "Annika de Wit").click()
    settle(page)
    page.reload()
    submit(page)
    assert submitted(page, recording_marketplace)["text"] == "Annika de Wit"


def test_a_held_button_counts_down_and_then_lets_go(hit, new_page, task_address, recording_marketplace):
    wants_time(hit, 600, "hold")
    page = new_page()
    page.clock.install()
    page.goto(task_address())
    mention(page, "Annika de Wit").click()
    held = page.get_by_role("button", name=re.compile(r"Submit answer \(in \d+ s\)"))
    expect(held).to_have_attribute("aria-disabled", "true")
    held.dispatch_event("click")
    assert not recording_marketplace.posted
    page.clock.fast_forward(600_000)
    page.get_by_role("button", name="Submit answer", exact=True).click()
    assert submitted(page, recording_marketplace)["text"] == "Annika de Wit"


def test_a_second_press_sends_nothing_twice(new_page, task_address, recording_marketplace):
    page = new_page()
    page.goto(task_address())
    mention(page, "Maas").click()
    page.evaluate("const b = document.querySelector('[type=submit]'); b.click(); b.click(); b.click();")
    submitted(page, recording_marketplace)


def test_a_preview_cannot_be_answered(hit, new_page, task_address):
    page = new_page()
    page.goto(task_address(assignmentId="ASSIGNMENT_ID_NOT_AVAILABLE"))
    expect(page.get_by_text("Preview: accept the HIT to answer.")).to_be_visible()
    mention(page, "Maas").click(force=True)
    expect(blank(page)).to_have_text("blank")
    expect(page.locator("form input:enabled, form textarea:enabled")).to_have_count(0)
    expect(page.get_by_role("button")).to_have_text(["Got it, close this"])


def test_it_works_without_scripts(new_page, task_address, recording_marketplace):
    page = new_page(java_script_enabled=False)
    page.goto(task_address())
    mention(page, "Annika de Wit").click()
    page.get_by_label("I guessed").check()
    submit(page)
    posted = submitted(page, recording_marketplace)
    assert (posted["answer"], posted["guessed"]) == (story.places("Annika de Wit")[0], "yes")


def test_it_works_in_the_frame_of_another_origin(new_page, task_address, recording_marketplace):
    recording_marketplace.framed = task_address()
    page = new_page()
    page.goto(recording_marketplace.origin)
    frame = page.frame_locator("iframe")
    frame.locator(".mention", has_text="Grote Kerk").click()
    expect(frame.locator("[data-draft-state]")).to_have_text(SAVED)
    frame.get_by_role("button", name="Submit answer").click()
    expect(frame.get_by_text("Thank you")).to_be_visible()
    assert recording_marketplace.posted[0]["text"] == "Grote Kerk"
    assert page.context.cookies() == []


def test_a_strangers_site_cannot_frame_it(new_page, task_address, recording_marketplace, settings):
    recording_marketplace.framed = task_address()
    settings.MTURK_SUBMIT_ORIGINS = ["https://market.example"]
    page = new_page(strict=False)
    with page.expect_console_message(lambda said: "frame-ancestors" in said.text):
        page.goto(recording_marketplace.origin)
    expect(page.frame_locator("iframe").locator(".mention")).to_have_count(0)


HITS_ITSELF = """() => [...document.querySelectorAll(".passage .mention")].map((mention) => {
  mention.scrollIntoView({ block: "center" });
  return [...mention.getClientRects()].map((box) => {
    const hit = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
    return hit.closest(".mention") === mention;
  });
})"""


@pytest.mark.parametrize("width", [360, 1280])
def test_every_line_of_a_mention_that_breaks_can_be_clicked(hit, new_page, task_address, width):
    name = "Federation of Harbour Masters and River Pilots of the Lower Scheldt"
    text, mentions = "", []
    for number in range(12):
        text += "On day " + "1" * number + " the "
        mentions.append([len(text), len(text) + len(name) - 1])
        text += name + " met. "
    hit.item.document.data = {"text": text, "entities": mentions}
    hit.item.document.save()
    page = new_page(width, 900)
    page.goto(task_address())
    instructions_read(page)
    lines = page.evaluate(HITS_ITSELF)
    assert max(len(mention) for mention in lines) > 1
    assert all(all(mention) for mention in lines)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_it_has_no_accessibility_fault(hit, new_page, task_address, scheme, width):
    wants_time(hit, 600, "notice")
    page = new_page(width, 800, color_scheme=scheme, reduced_motion="reduce")
    page.goto(task_address(assignmentId=f"3{scheme}{width}", workerId=f"A{scheme}{width}"))
    for act in (None, "fill", "refuse"):
        if act == "fill":
            instructions_read(page)
            mention(page, "Maas").click()
            page.locator(".mention", has_text="Veere").first.hover()
        if act == "refuse":
            submit(page)
        assert violations(page) == []


def test_the_pages_that_refuse_have_no_accessibility_fault(new_page, task_address):
    page = new_page()
    for changes in ({"turkSubmitTo": "https://evil.example"}, {"hitId": "3OTHER"}):
        page.goto(task_address(**changes))
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        assert faults_in_both_looks(page) == []


def test_the_instructions_open_once(hit, new_page, task_address):
    page = new_page()
    page.goto(task_address())
    expect(page.get_by_text("Step by step")).to_be_visible()
    mention(page, "Maas").click()
    settle(page)
    later = make.hit(make.item(hit.stage, document=hit.item.document, data=story.ITEM))
    page.goto(task_address(later, assignmentId="3LATER"))
    expect(page.get_by_text("Step by step")).to_be_hidden()
    page.locator(".instructions summary").click()
    expect(page.get_by_text("Step by step")).to_be_visible()
