"""Asking about phrases in a real browser: by keyboard, by mouse, on a phone, without scripts; and page as server."""

import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from playwright.sync_api import Page, expect

from hits.models import Draft
from hits.protocols.phrase_questions.protocol import NOTHING_TO_ASK, protocol
from hits.text.questions.question_rules import NARRATOR_WORDS, OPENING_WORDS, Rules, asked, faults, question_words
from tests.axe import violations
from tests.hits import factories as make
from tests.hits.mouse import press_and_release, stop_clock
from tests.hits.protocols.phrases import DOCUMENT, FIELDS, NP, VP, VP_FIELDS, item
from tests.hits.task_page import ASSIGNMENT, WORKER, instructions_read

pytestmark = pytest.mark.django_db(transaction=True)
PHONE = {"width": 360, "height": 740, "is_mobile": True, "has_touch": True}
STATIC = Path(__file__).resolve().parents[3] / "static" / "task"
YES_OR_NO = "begins with “did”, so yes or no would answer it. Begin with what, who, where, when or how."


def hit_of(data, document=DOCUMENT):
    stage = make.stage(protocol="phrase_questions", hit_title="Ask about a short story")
    return make.hit(make.item(stage, document=make.document(stage.project, data=document), data=data))


@pytest.fixture
def hit(db):
    return hit_of(NP)


def field(page: Page, name: str):
    return page.locator(f"#{name}")


def advice(page: Page, name: str):
    return page.locator(f"#{name}-advice p")


def marked(page: Page) -> list[str]:
    return page.locator("[data-story] .on").evaluate_all("parts => parts.map(part => part.dataset.phrases)")


def submit(page: Page) -> None:
    page.get_by_role("button", name="Submit answer").click()


def submitted(page: Page, marketplace) -> dict[str, str]:
    page.wait_for_url(re.compile("externalSubmit"))
    (posted,) = marketplace.posted
    return posted


def test_by_keyboard_alone_with_each_phrase_shown_in_its_place(new_page, task_address, recording_marketplace):
    page = new_page()
    page.goto(task_address())
    expect(page.locator("[data-story]")).to_have_text(DOCUMENT["text"], use_inner_text=False)
    page.locator(".paper").focus()
    page.keyboard.press("Tab")
    assert (marked(page), page.locator(".on").inner_text()) == (["p1"], "the flour")
    page.keyboard.type("Did")
    page.wait_for_timeout(600)
    expect(advice(page, "p1")).to_have_count(0)  # it may become a diddly something
    page.keyboard.type(" they")
    expect(advice(page, "p1")).to_have_text(f"Question 1 {YES_OR_NO}")  # that it is short as yet is not told
    expect(field(page, "p1")).to_have_accessible_description(f"Question 1 {YES_OR_NO}")
    expect(field(page, "p1")).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_role("status")).to_have_text(f"1. the flour: Question 1 {YES_OR_NO}")
    page.keyboard.press("Control+a")
    for name in ("p1", "p2", "p3", "p4", "p5", "p6"):
        assert page.evaluate("document.activeElement.name") == name
        assert marked(page) == [name]
        page.keyboard.type(FIELDS[name])
        page.keyboard.press("Enter" if name != "p3" else "Tab")
    expect(page.locator("[aria-invalid]")).to_have_count(0)
    expect(page.get_by_role("heading", name="Your questions")).to_have_text("Your questions – 6 of 6 written")
    assert page.evaluate("document.activeElement.textContent") == "Submit answer"  # Enter has sent nothing yet
    assert not recording_marketplace.posted
    page.keyboard.press("Enter")
    posted = submitted(page, recording_marketplace)
    assert posted.items() >= {**FIELDS, "workerId": WORKER, "assignmentId": ASSIGNMENT}.items()
    labels = protocol.check(DOCUMENT, NP, {}, posted).labels
    assert labels[2].value == {"phrase": "a bowl", "question": FIELDS["p2"]}


def test_on_a_dark_phone_what_is_wrong_is_told_on_leaving_and_once_after_submitting(new_page, task_address):
    page = new_page(**PHONE, color_scheme="dark", reduced_motion="reduce")
    page.goto(task_address())
    instructions_read(page)
    wrong = {
        "p1": "What did they measure out",
        "p2": "What is it",
        "p3": "what DID they, measure out?",
        "p4": "Didn’t I see a bowl?",
    }
    for name, text in wrong.items():
        field(page, name).fill(text)
    field(page, "p5").focus()
    told = {
        "p1": ["A question mark is missing at the end."],
        "p2": ["Question 2 has 3 words. Ask in at least 4 words."],
        "p3": ["Question 3 asks the same as question 1. Ask something else."],
        "p4": faults(wrong["p4"], "Question 4"),
        "p5": [],
    }
    for name, sentences in told.items():
        expect(advice(page, name)).to_have_text(sentences)
    expect(page.get_by_role("heading", name="Your questions")).to_have_text("Your questions – 1 of 6 written")
    assert violations(page) == []
    submit(page)
    expect(field(page, "p2")).to_be_focused()
    missing = [f"Question {number} is not written yet. Ask in at least 4 words." for number in (5, 6)]
    every = [*told["p2"], *told["p4"], *missing, *told["p3"]]
    expect(page.get_by_role("alert").locator("p")).to_have_text(every)
    expect(page.locator(".advice .bad")).to_have_count(0)  # told by the server at the field, and not a second time
    expect(page.locator("#fault-p4")).to_have_text(" ".join(told["p4"]))
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    expect(page.locator(".on")).to_be_in_viewport()
    field(page, "p6").focus()  # its phrase lies farther down in the text
    expect(page.locator(".on")).to_be_in_viewport(ratio=1)
    field(page, "p4").fill("What was it that I saw?")
    expect(advice(page, "p4")).to_have_text(faults("What was it that I saw?", "Question 4"))
    expect(page.locator("[data-draft-state]")).to_have_text("Draft saved")
    page.evaluate("localStorage.clear()")  # what the server keeps
    page.reload()
    expect(field(page, "p2")).to_have_value(wrong["p2"])
    expect(advice(page, "p2")).to_have_text(told["p2"])
    assert Draft.objects.get().fields["p4"] == "What was it that I saw?"


def test_a_click_that_leaves_a_field_reaches_what_it_was_aimed_at(new_page, task_address):
    page = new_page()
    page.clock.install()
    page.goto(task_address())
    stop_clock(page)
    field(page, "p1").fill("What is it")
    press_and_release(page, field(page, "p2"))
    expect(field(page, "p2")).to_be_focused()
    expect(advice(page, "p1")).to_have_count(0)
    page.clock.run_for(500)
    expect(advice(page, "p1")).to_have_text("Question 1 has 3 words. Ask in at least 4 words.")


def test_whatever_stands_in_a_story_is_text_and_a_click_on_a_phrase_leads_to_its_field(new_page, task_address, db):
    text = 'They ate <b>bold</b> &amp; "quoted" <img src=x onerror=alert(1)> soup. Then they slept.'
    odd = {"text": text, "scenario": "<i>cooking</i>"}
    data = item("vp", [(text[:-17], ['<b>bold</b> &amp; "quoted"', "<img src=x onerror=alert(1)> soup"])], text)
    page = new_page(color_scheme="light", reduced_motion="reduce")
    page.goto(task_address(hit_of(data, odd)))
    expect(page.locator(".paper :is(b, img, i), .question :is(b, img, i)")).to_have_count(0)
    expect(page.locator("[data-story]")).to_have_text(text)
    expect(page.locator("label[for=p2]")).to_have_text("2. <img src=x onerror=alert(1)> soup")
    expect(page.get_by_text("A story about: <i>cooking</i>")).to_be_visible()
    expect(page.locator(".hint")).to_contain_text("Ask about time")
    page.locator("[data-phrases=p2]").click()
    expect(field(page, "p2")).to_be_focused()
    assert violations(page) == []
    page.goto(task_address(hit_of({"part": "np", "targets": []})))
    expect(page.locator(".question")).to_contain_text(NOTHING_TO_ASK)
    submit(page)
    expect(page.get_by_role("alert")).to_have_text(NOTHING_TO_ASK)
    page.goto(task_address(hit_of(VP), assignmentId="ASSIGNMENT_ID_NOT_AVAILABLE"))
    expect(page.get_by_text("accept the HIT to answer")).to_be_visible()
    expect(page.locator("form :is(input, textarea, button):enabled")).to_have_count(0)


def test_it_works_without_scripts(new_page, task_address, recording_marketplace, db):
    page = new_page(java_script_enabled=False)
    page.goto(task_address(hit_of(VP)))
    submit(page)
    assert not recording_marketplace.posted  # the browser itself asks for what is required
    for name, text in VP_FIELDS.items():
        page.get_by_label(re.compile(f"^{name[1:]}\\.")).fill(text)
    submit(page)
    posted = submitted(page, recording_marketplace)
    assert [label.unit for label in protocol.check(DOCUMENT, VP, {}, posted).labels] == [
        "questions",
        "p1",
        "p2",
        "evidence",
    ]


# Later characters may be letters to one side only.
KNOWN = some.characters(exclude_categories=("Cs", "Cn")).filter(lambda letter: unicodedata.category(letter) != "Cn")
ODD = [
    "\u200fDid",
    "D\u200bid",
    "“Was",
    "didnt",
    "WON’T",
    "haven`t",
    "Ｃan",
    "1.",
    "Iʼm",
    "I´d",
    "i‘d",
    "(my)",
    "the US",
    "US",
    "THE Us",
    "İ",
    "ΟΔΟΣ",
]
pieces = some.sampled_from([*ODD, *OPENING_WORDS, *NARRATOR_WORDS, "what", "they", "y" * 301]) | some.text(
    KNOWN, max_size=6
)
questions = some.lists(pieces, max_size=7).map(" ".join)
own_rules = some.builds(
    Rules,
    some.sampled_from([1, 4, 9]),
    some.sampled_from([frozenset(), frozenset(OPENING_WORDS), frozenset({"what", "1"})]),
    some.sampled_from([frozenset(), frozenset(NARRATOR_WORDS), frozenset({"they"})]),
)


def some_cases():
    cases = []

    @settings(max_examples=150, database=None, derandomize=True)
    @given(some.tuples(questions, own_rules))
    def collect(case):
        cases.append(case)

    collect()
    return cases


def test_the_page_refuses_what_the_server_refuses_with_the_same_sentences(new_page):
    page = new_page()
    for name in ("language.js", "words.js", "question_rules.js"):
        page.evaluate((STATIC / name).read_text(encoding="utf-8"))
    cases = some_cases()
    sent = [
        [text, {"fewest_words": own.fewest_words, "longest": own.longest}, list(own.openings), list(own.narrator)]
        for text, own in cases
    ]
    computed = page.evaluate(
        """cases => cases.map(([text, numbers, openings, narrator]) => {
            const rules = { ...numbers, openings: new Set(openings), narrator: new Set(narrator) };
            const { questionWords, asked, faults } = questionRules;
            return [questionWords(text), asked(text), faults(text, "It", rules)];
        })""",
        sent,
    )
    for (text, own), found in zip(cases, computed, strict=True):
        assert found == [question_words(text), asked(text), faults(text, "It", own)]
    told = " ".join(sentence for found in computed for sentence in found[2])
    assert all(kind in told for kind in ("begins with", "says", "words. Ask", "characters", "not written"))
