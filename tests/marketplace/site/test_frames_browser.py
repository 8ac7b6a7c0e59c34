"""Questions of every kind in a real browser: shown exactly, nothing executed, nothing reached, answered."""

import json
import os
import re
from collections.abc import Callable, Iterator
from html import escape
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape as escape_xml

import pytest
from django.test import Client
from django.utils import timezone
from lxml import etree
from playwright.sync_api import Frame, Page, Route, expect

from marketplace.models import Assignment, Hit, HitType, Requester, Worker
from marketplace.rules.questions.html import HtmlQuestion, html_question_xml
from marketplace.rules.questions.xml import SCHEMAS
from marketplace.site.frames import preview_frame
from marketplace.verbs import assignments, frames, layouts
from tests.axe import violations
from tests.marketplace.rules.questions.test_forms import REQUIRED, choices, form_xml, question, text_with
from tests.marketplace.site.test_pages_axe import sign_in

DATA = Path(__file__).parents[4] / "shared" / "data"
WORK = re.compile(r"/mturk/work/\d+/$")
ANSWER = SCHEMAS + "2005-10-01/QuestionFormAnswers.xsd"
NASTY = (
    '<script>window.hacked = 1</script><img src=x onerror="window.hacked = 1">&amp;&lt;b&gt; ]]> ${passage} {{ 7*7 }}'
    "\r\n\ttabs  and   spaces\u00a0\u200b\u2028 מִבְחָן \u202eעברית\u202c مرحبا "
    "👩🏽\u200d🚀👨\u200d👩\u200d👧\u200d👦 e\u0301 \\' \\\" ` </textarea></title> <!-- -->"
)
PIECE = 48_000
LONG = ("Zoë said: “it’s 5 o’clock”. 日本語 " * 100 + "<b>&amp;") * 13
PASSAGES = {"nasty": f"\n {NASTY} \n", "60 kB": LONG.encode()[:60_000].decode(errors="ignore")}


def passages() -> Iterator[tuple[str, str]]:
    yield from PASSAGES.items()
    if not DATA.exists():
        if os.environ.get("CI") == "true":
            pytest.fail(f"the data sets are not at {DATA}")
        return
    for file in sorted(DATA.rglob("*")):
        if file.is_file():
            # In pieces that a question may hold, three of a file at most. XML has no place for most control characters.
            text = re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", "", file.read_bytes().decode())
            for start in range(0, min(len(text), 3 * PIECE), PIECE):
                yield f"{file.name}[{start}]", text[start : start + PIECE]


@pytest.fixture
def publish(
    transactional_db: None,
    live_server: Any,
    settings: Any,
    page: Page,
    client: Client,
    hit_type: HitType,
    make_hit: Callable[..., Hit],
) -> Callable[..., Hit]:
    """Make a HIT whose page the browser, signed in as Walter, can open."""
    settings.MARKETPLACE_PUBLIC_URL = live_server.url
    sign_in(page, client, live_server.url)

    def make(xml: str, **values: Any) -> Hit:
        return make_hit(hit_type, question=xml, **values)

    return make


@pytest.fixture
def show(publish: Callable[..., Hit], page: Page, live_server: Any, hit_type: HitType) -> Callable[..., Frame]:
    """Publish, accept, and give the task's frame."""

    def make(xml: str, preview: bool = False, **values: Any) -> Frame:
        publish(xml, **values)
        page.goto(f"{live_server.url}/mturk/preview?groupId={hit_type.hit_group_id}")
        if not preview:
            page.get_by_role("button", name="Accept").click()
            expect(page).to_have_url(WORK)
        handle = page.locator("iframe.task").element_handle()
        frame = handle.content_frame()
        assert frame is not None
        frame.wait_for_load_state()
        return frame

    return make


def html_xml(body: str, head: str = "") -> str:
    page = f"<!DOCTYPE html><html lang='en'><head><title>Task</title>{head}</head><body>{body}</body></html>"
    return html_question_xml(HtmlQuestion(page, 400))


FORM = (
    "<form action='https://www.mturk.com/mturk/externalSubmit'><label>Answer <input name='answer'></label>"
    "<input type='submit' id='submitButton' value='Send'></form>"
)


def answers_of(assignment: Assignment) -> dict[str, list[str]]:
    root = etree.fromstring(assignment.answer.encode())
    return {node[0].text: [child.text or "" for child in node[1:]] for node in root}


def submitted(page: Page) -> Assignment:
    expect(page.get_by_role("heading", name="That was the last one")).to_be_visible()
    return Assignment.objects.get(status=Assignment.Status.SUBMITTED)


@pytest.mark.parametrize(
    "head", ["<script src='https://s3.amazonaws.com/mturk-public/externalHIT_v1.js'></script>", ""]
)
def test_an_old_task_page_is_answered_here_wherever_its_form_points(
    show: Callable[..., Frame], page: Page, head: str
) -> None:
    """Whether or not it names the file of the function that it calls."""
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    frame = show(html_xml(FORM + "<script>turkSetAssignmentID()</script>", head))
    assert frame.evaluate("turkGetParam('assignmentId')") == Assignment.objects.get().assignment_id
    frame.get_by_label("Answer").fill("Zoë & <b>")
    frame.get_by_role("button", name="Send").click()
    assert answers_of(submitted(page)) == {"answer": ["Zoë & <b>"]} and not faults


def test_a_form_that_a_script_makes_is_answered_too(show: Callable[..., Frame], page: Page) -> None:
    frame = show(html_xml("<p>made by a script</p>"))
    frame.evaluate(
        "() => { const f = document.createElement('form'); f.action = 'https://workersandbox.mturk.com/mturk/externalSubmit';"
        "f.innerHTML = '<input name=answer value=x>'; document.body.append(f); f.submit(); }"
    )
    assert answers_of(submitted(page)) == {"answer": ["x"]}


def as_form(requester: Requester, text: str) -> dict[str, str]:
    shown = escape_xml(text, {"\r": "&#13;"})
    return {"question": form_xml(question(text_with(""), content=f"<Text>{shown}</Text>"))}


def as_page(requester: Requester, text: str) -> dict[str, str]:
    shown = escape(text, quote=False).replace("\r", "&#13;")
    return {"question": html_xml(f"<main><p class='text'>{shown}</p></main>{FORM}")}


def as_layout(requester: Requester, text: str) -> dict[str, str]:
    script = "<script>window.told = '${passage}'</script>"
    html = f"<p class='text'>${{passage}}</p><i title='${{passage}}'></i>{script}{FORM}"
    layout = layouts.register(requester, "passages", html, timezone.now())
    return {"question": layouts.question(layout, {"passage": text}), "layout_id": layout.layout_id}


SHOWN = """() => ({ text: document.querySelector(".text").textContent, hacked: window.hacked,
  title: document.querySelector("i[title]")?.title, told: window.told })"""


def test_every_passage_is_shown_exactly_and_nothing_of_it_runs(
    publish: Callable[..., Hit], page: Page, requester: Requester, worker: Worker, live_server: Any
) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: asked.append(f"dialog {dialog.message}"))
    shown = 0
    for place, (name, text) in enumerate(passages()):
        kinds = (as_form, as_page, as_layout)
        for kind in kinds if name in PASSAGES else (kinds[place % 3],):
            values = kind(requester, text)
            hit = publish(values.pop("question"), **values)
            page.goto(preview_frame(hit, worker).url)
            found = page.evaluate(SHOWN)
            assert found["text"] == text, (name, kind)
            assert found.get("hacked") is None, (name, kind)
            if kind is as_layout:
                assert (found["title"], found["told"]) == (text, text), name
            shown += 1
    assert shown >= 3 * len(PASSAGES)
    assert {url.split("/")[2] for url in asked} == {frames.origin().split("/")[2]}


REACHING = """async () => {
  const tried = {};
  const attempt = (name, act) => { try { tried[name] = String(act()); } catch (error) { tried[name] = error.name; } };
  attempt("parent", () => window.parent.document.title);
  attempt("top", () => { window.top.location = "https://elsewhere.example/"; return "set"; });
  attempt("cookie", () => document.cookie);
  attempt("storage", () => window.localStorage.length);
  attempt("origin", () => window.origin);
  const page = fetch(new URL("/worker/", TURK), { credentials: "include" });
  tried.fetched = await page.then(() => "read", (error) => error.name);
  return tried;
}"""


def test_a_page_of_a_requester_reaches_nothing_of_the_site(
    show: Callable[..., Frame], page: Page, live_server: Any
) -> None:
    frame = show(html_xml(FORM))
    assert frames.origin() in frame.url and live_server.url not in frame.url.partition("?")[0]
    around = page.url
    tried = frame.evaluate(REACHING.replace("TURK", json.dumps(live_server.url)))
    # Storage and cookies are memory of the page itself.
    assert (tried["parent"], tried["cookie"], tried["storage"]) == ("SecurityError", "", "0")
    assert (tried["origin"], tried["fetched"]) == ("null", "TypeError")
    assert tried["top"] == "SecurityError" or page.url == around
    page.wait_for_timeout(300)
    assert page.url == around


USING_STORAGE = """() => {
  const said = [];
  for (const store of [localStorage, sessionStorage]) {
    store.setItem("a", 1);
    store.b = { toString: () => "two" };
    store.setItem("c", "3");
    said.push([store.getItem("a"), store.b, store["a"], store.getItem("none"), store.none === undefined, store.length]);
    said.push([store.key(0), store.key(9), Object.keys(store).join(), "b" in store, JSON.stringify(store)]);
    delete store.b;
    store.removeItem("c");
    said.push([store.length, store instanceof Storage]);
    try { store.setItem("big", "x".repeat(6e6)); } catch (error) { said.push([error.name, store.getItem("big")]); }
    store.clear();
    said.push([store.length]);
  }
  document.cookie = "seen=1; path=/; SameSite=None; Secure";
  document.cookie = "other=a=b; max-age=60";
  document.cookie = "seen=2";
  said.push(document.cookie);
  document.cookie = "seen=; expires=Thu, 01 Jan 1970 00:00:00 GMT";
  document.cookie = "other=; max-age=0";
  said.push(document.cookie);
  localStorage.setItem("kept", "here");
  return said;
}"""
STORE = [
    ["1", "two", "1", None, True, 3],
    ["a", None, "a,b,c", True, '{"a":"1","b":"two","c":"3"}'],
    [1, True],
    ["QuotaExceededError", None],
    [0],
]


def test_a_page_may_use_storage_and_cookies_that_last_as_long_as_it_does(
    show: Callable[..., Frame], page: Page
) -> None:
    early = "<script>window.early = localStorage.getItem('kept') + document.cookie</script>"
    frame = show(html_xml(FORM, early))
    assert frame.evaluate(USING_STORAGE) == [*STORE, *STORE, "other=a=b; seen=2", ""]
    page.reload()
    again = page.locator("iframe.task").element_handle().content_frame()
    assert again is not None
    again.wait_for_load_state()
    assert again.evaluate("early") == "null"


def test_a_page_that_claims_an_answer_is_not_believed(show: Callable[..., Frame], page: Page) -> None:
    frame = show(html_xml(FORM))
    around = page.url
    claim = {"kind": "answer", "outcome": "submitted", "assignment": str(Assignment.objects.get().pk)}
    frame.evaluate("claim => window.parent.postMessage(claim, '*')", claim)
    page.wait_for_timeout(500)
    assert page.url == around and Assignment.objects.count() == 1


@pytest.mark.parametrize("script_late_by", [0, 2_000])
def test_from_a_frame_without_an_origin_a_link_still_leads_on(
    show: Callable[..., Frame], page: Page, now: Any, script_late_by: int
) -> None:
    def late(route: Route) -> None:
        page.wait_for_timeout(script_late_by)
        route.continue_()

    page.route("**/submitted.js", late)
    frame = show(html_xml(FORM))
    held = Assignment.objects.get()
    assignments.give_back(held, held.worker, now)
    frame.get_by_role("button", name="Send").click()
    expect(frame.get_by_role("heading", name="This HIT was returned")).to_be_visible()
    frame.get_by_role("link", name="Go on").click()
    expect(page.get_by_role("heading", name="Returned")).to_be_visible()


def test_a_form_cannot_send_answers_elsewhere(show: Callable[..., Frame], page: Page, task_origin: str) -> None:
    frame = show(
        html_xml(f"<form action='{task_origin}/steal' method='post'><input name='x'><button>Steal</button></form>")
    )
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    frame.get_by_role("button", name="Steal").click()
    page.wait_for_timeout(300)
    assert not [url for url in asked if "steal" in url]


@pytest.mark.parametrize("crowd", [False, True])
def test_in_a_preview_nothing_can_be_sent(show: Callable[..., Frame], page: Page, crowd: bool) -> None:
    head = "<script src='https://assets.crowd.aws/crowd-html-elements.js'></script>"
    old = html_xml(FORM + "<script>turkSetAssignmentID(); window.reached = true</script>")
    frame = show(html_xml("<crowd-form><input name='a'></crowd-form>", head) if crowd else old, preview=True)
    assert crowd or frame.evaluate("reached && document.forms[0].assignmentId.value") == "ASSIGNMENT_ID_NOT_AVAILABLE"
    expect(frame.get_by_role("button", name="Accept the HIT to submit")).to_be_disabled()
    frame.evaluate("document.forms[0].submit()")
    expect(frame.get_by_role("status")).to_contain_text("This is a preview: nothing was sent.")
    assert not Assignment.objects.exists()


CROWD = """<crowd-form {format}>
<crowd-instructions link-text="View instructions" link-type="button">
  <detailed-summary><p>All of it.</p></detailed-summary>
  <positive-example><p>Good.</p></positive-example></crowd-instructions>
<crowd-classifier name="sentiment" categories="['Glad', 'Sad']" header="How does it sound?">
  <classification-target>It was fine.</classification-target>
  <short-instructions>Choose one.</short-instructions><full-instructions header="More">All rules.</full-instructions>
</crowd-classifier>
<crowd-input name="word" label="A word" required></crowd-input>
<crowd-text-area name="why" label="Why" rows="4" max-length="500"></crowd-text-area>
<crowd-slider name="far" label="How far?" min="0" max="10" step="2" value="4"></crowd-slider>
<crowd-radio-group label="Sure?"><crowd-radio-button name="sure" value="yes">Yes</crowd-radio-button>
<crowd-radio-button name="sure" value="no">No</crowd-radio-button></crowd-radio-group>
<crowd-checkbox name="tags" value="short">Short</crowd-checkbox>
<crowd-checkbox name="tags" value="old" checked>Old</crowd-checkbox>
<label>Plain <select name="plain"><option>one<option>two</select></label>
<crowd-button form-action="submit" variant="primary">Done</crowd-button></crowd-form>"""
CROWD_HEAD = "<script src='https://assets.crowd.aws/crowd-html-elements.js'></script>"


def work_through(frame: Frame) -> None:
    """With the keyboard, from one control to the next."""
    frame.get_by_label("Glad").focus()
    for key in ("Space", "Tab"):
        frame.page.keyboard.press(key)
    frame.page.keyboard.type("Zoë")
    frame.page.keyboard.press("Tab")
    frame.page.keyboard.type("be\ncause")
    for key in ("Tab", "ArrowRight", "Tab", "Space", "ArrowDown", "Tab", "Space"):
        frame.page.keyboard.press(key)
    expect(frame.locator("crowd-slider output")).to_have_text("6")
    frame.get_by_label("Plain").select_option("two")


def test_a_crowd_form_sends_its_answers_as_one_json_field(show: Callable[..., Frame], page: Page) -> None:
    frame = show(html_xml(CROWD.format(format=""), CROWD_HEAD))
    frame.get_by_role("button", name="Done").click()
    assert Assignment.objects.get().status == Assignment.Status.ACCEPTED
    work_through(frame)
    frame.get_by_role("button", name="Done").click()
    found = answers_of(submitted(page))
    assert list(found) == ["taskAnswers"]
    assert json.loads(found["taskAnswers"][0]) == [
        {
            "sentiment": {"label": "Glad"},
            "word": "Zoë",
            "why": "be\ncause",
            "far": "6",
            "sure": {"yes": False, "no": True},
            "tags": {"short": True, "old": True},
            "plain": "two",
        }
    ]


def test_a_flattened_crowd_form_sends_each_value_under_its_path(show: Callable[..., Frame], page: Page) -> None:
    frame = show(html_xml(CROWD.format(format='answer-format="flatten-objects"'), CROWD_HEAD))
    work_through(frame)
    frame.get_by_role("button", name="Done").click()
    found = {name: values[0].replace("\r\n", "\n") for name, values in answers_of(submitted(page)).items()}
    assert found == {
        "sentiment.label": "Glad",
        "word": "Zoë",
        "why": "be\ncause",
        "far": "6",
        "sure.yes": "false",
        "sure.no": "true",
        "tags.short": "true",
        "tags.old": "true",
        "plain": "two",
    }


# Every element that GROUP and CROWD do not have.
WIDGETS = """<crowd-form><crowd-alert type="error" dismissible>Read slowly.</crowd-alert>
<crowd-toast duration="100000" opened>Saved.</crowd-toast>
<p><span id="text">A text</span><crowd-badge for="text" label="2"></crowd-badge>
<crowd-icon-button icon="search" title="Look it up"></crowd-icon-button>
<crowd-fab icon="add" title="One more"></crowd-fab></p>
<crowd-modal link-text="See examples" link-type="button"><p>An example.</p>
<crowd-input name="hidden" label="Seen?" required></crowd-input></crowd-modal>
<crowd-tabs><crowd-tab header="Text">
<crowd-entity-annotation name="who" header="Who and where?" text="🚀 Anna sails to Linden with Bo."
 labels="[{'label': 'person', 'fullDisplayName': 'Person', 'shortDisplayName': 'per'}, {'label': 'place'}]"
 initial-value="[{label: 'person', startOffset: 28, endOffset: 30}]"><short-instructions>All names.</short-instructions>
 </crowd-entity-annotation></crowd-tab>
<crowd-tab header="Picture"><crowd-card heading="The card"><p>In it.</p></crowd-card>
<crowd-classifier-multi-select name="moods" header="Moods?" categories="['Glad', 'Sad']"
 exclusion-category="{ text: 'None' }">
<classification-target>So so.</classification-target></crowd-classifier-multi-select>
<crowd-image-classifier name="kind" header="What is it?" categories="['Boat', 'House']" src="PICTURE">
</crowd-image-classifier>
<crowd-image-classifier-multi-select name="parts" header="What is on it?" categories="['Mast', 'Sail']" src="PICTURE">
</crowd-image-classifier-multi-select>
<crowd-toggle-button name="blurred">Blurred</crowd-toggle-button></crowd-tab></crowd-tabs></crowd-form>""".replace(
    "PICTURE", "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='300' height='90'/%3E"
)


def test_every_other_element_is_worked_by_keyboard_and_answers_as_the_original(
    show: Callable[..., Frame], page: Page
) -> None:
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    frame = show(html_xml(WIDGETS, CROWD_HEAD))
    text, keyboard = frame.get_by_role("textbox", name="Who and where?"), page.keyboard

    def mark(start: int, length: int, label: str) -> None:
        text.focus()
        keyboard.press("Control+Home")
        for key in ["ArrowRight"] * start + ["Shift+ArrowRight"] * length:
            keyboard.press(key)
        frame.get_by_role("button", name=label, exact=True).press("Enter")

    mark(2, 5, "Person")
    mark(16, 6, "Person")
    mark(16, 6, "place")
    text.press("x")
    expect(text).to_have_text("🚀 Anna sails to Linden with Bo.")
    frame.get_by_role("button", name="Remove person: Bo").press("Enter")
    frame.get_by_role("tab", name="Text").press("ArrowRight")
    expect(frame.get_by_role("tab", name="Picture")).to_be_focused()
    for box in ("Glad", "None", "Mast", "Sail"):
        frame.get_by_role("checkbox", name=box).press("Space")
    expect(frame.get_by_role("checkbox", name="Glad")).not_to_be_checked()
    frame.get_by_role("tab", name="Picture").press("Home")
    frame.get_by_role("button", name="Close").press("Enter")
    expect(frame.get_by_role("alert")).to_have_count(0)
    # What is missing is in a dialog and in a tab that is not open: each is shown.
    submit, dialog = frame.get_by_role("button", name="Submit"), frame.get_by_role("dialog", name="See examples")
    submit.press("Enter")
    dialog.get_by_label("Seen?").fill("yes")
    keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    submit.press("Enter")
    frame.get_by_role("radio", name="Boat").press("Space")
    frame.get_by_role("switch", name="Blurred").press("Space")
    submit.press("Enter")
    assert json.loads(answers_of(submitted(page))["taskAnswers"][0]) == [
        {
            "hidden": "yes",
            "who": {
                "entities": [
                    {"endOffset": 6, "label": "person", "startOffset": 2},
                    {"endOffset": 22, "label": "place", "startOffset": 16},
                ]
            },
            "moods": {"labels": ["None"]},
            "kind": {"label": "Boat"},
            "parts": {"labels": ["Mast", "Sail"]},
            "blurred": {"on": True},
        }
    ]
    assert not faults


def test_an_entity_annotation_without_a_form_sends_itself(show: Callable[..., Frame], page: Page) -> None:
    alone = WIDGETS[WIDGETS.index("<crowd-entity") : WIDGETS.index("</crowd-tab>")]
    frame = show(html_xml(alone, CROWD_HEAD))
    frame.get_by_role("button", name="Submit").click()
    [found] = json.loads(answers_of(submitted(page))["taskAnswers"][0])
    assert found == {"who": {"entities": [{"endOffset": 30, "label": "person", "startOffset": 28}]}}


GROUP = """<{form}><crowd-radio-group required label="Which is greater?">
<crowd-radio-button name="left.0">Left</crowd-radio-button><br>
<crowd-radio-button name="right.0" value="selected">Right</crowd-radio-button><br>
<crowd-radio-button name="equal.0">Neither</crowd-radio-button></crowd-radio-group>
<crowd-radio-group label="Sure?"><crowd-radio-button name="sure" value="yes">Yes</crowd-radio-button>
<crowd-radio-button name="sure" value="no">No</crowd-radio-button></crowd-radio-group>
<crowd-button form-action="submit">Done</crowd-button></{form}>"""


def test_in_a_radio_group_one_choice_clears_the_others_whatever_their_names(
    show: Callable[..., Frame], page: Page
) -> None:
    frame = show(html_xml(GROUP.format(form="crowd-form"), CROWD_HEAD))
    done, left = frame.get_by_role("button", name="Done"), frame.get_by_role("radio", name="Left")
    frame.get_by_role("radio", name="Yes").check()
    done.click()
    assert frame.evaluate("document.forms[0].checkValidity()") is False
    assert Assignment.objects.get().status == Assignment.Status.ACCEPTED
    left.check()
    frame.get_by_role("radio", name="Neither").check()
    expect(left).not_to_be_checked()
    expect(frame.get_by_role("radio", name="Yes")).to_be_checked()
    page.keyboard.press("ArrowUp")
    expect(frame.get_by_role("radio", name="Right")).to_be_checked()
    checked = (
        "[...document.querySelector('crowd-radio-group').querySelectorAll('crowd-radio-button')].map(b => b.checked)"
    )
    assert frame.evaluate(checked) == [False, True, False]
    done.click()
    assert json.loads(answers_of(submitted(page))["taskAnswers"][0]) == [
        {
            "left.0": {"on": False},
            "right.0": {"selected": True},
            "equal.0": {"on": False},
            "sure": {"yes": True, "no": False},
        }
    ]


def test_a_radio_group_in_a_plain_form_sends_the_name_that_was_chosen(show: Callable[..., Frame], page: Page) -> None:
    frame = show(html_xml(GROUP.format(form="form"), CROWD_HEAD))
    frame.get_by_role("radio", name="Right").check()
    frame.get_by_role("button", name="Done").click()
    assert answers_of(submitted(page)) == {"right.0": ["selected"]}


WHOLE_FORM = form_xml(
    "<Overview><Title>About you</Title><Text>Three questions.</Text><List><ListItem>be brief</ListItem></List>"
    "<FormattedContent><![CDATA[<table border='1'><tr><th>a</th><td><b>b</b>&nbsp;</td></tr></table>]]>"
    "</FormattedContent></Overview>",
    question(text_with('<Length minLength="3" maxLength="80"/>'), "name", f"<DisplayName>Name</DisplayName>{REQUIRED}"),
    question("<FreeTextAnswer><NumberOfLinesSuggestion>4</NumberOfLinesSuggestion></FreeTextAnswer>", "story"),
    question(choices("red", "blue", other="<OtherSelection/>"), "colour", REQUIRED),
    question(choices("cat", "dog", "cow", before="<MaxSelectionCount>2</MaxSelectionCount>"), "pets"),
    question(choices("north", "south", before="<StyleSuggestion>dropdown</StyleSuggestion>"), "where", REQUIRED),
    question(
        choices("x", "y", before="<MaxSelectionCount>2</MaxSelectionCount><StyleSuggestion>list</StyleSuggestion>"), "l"
    ),
)


def test_a_question_form_is_corrected_where_it_is_wrong_and_then_taken(show: Callable[..., Frame], page: Page) -> None:
    frame = show(WHOLE_FORM)
    frame.locator("input[name=name]").fill("Zo")
    frame.get_by_label("Your own answer").fill("green")
    for pet in ("CAT", "DOG", "COW"):
        frame.get_by_label(pet).check()
    frame.locator("textarea").fill("\nkept")
    frame.get_by_role("button", name="Submit").click()
    alert = frame.get_by_role("alert")
    expect(alert).to_contain_text("Question 1: Write at least 3 characters; it has 2.")
    expect(alert).to_contain_text("Question 4: Choose at most 2; 3 chosen.")
    expect(alert).to_contain_text("Question 5: Answer this question.")
    expect(frame.locator("input[name=name]")).to_have_attribute("aria-invalid", "true")
    expect(frame.get_by_label("Another answer")).to_be_checked()
    expect(frame.locator("textarea")).to_have_value("\nkept")
    frame.locator("input[name=name]").fill("Zoë <b>")
    frame.get_by_label("COW").uncheck()
    frame.get_by_label("What?").locator("visible=true").last.focus()
    frame.locator("select[name=where]").select_option("south")
    frame.get_by_role("button", name="Submit").click()
    assert answers_of(submitted(page)) == {
        "name": ["Zoë <b>"],
        "story": ["\nkept"],
        "colour": ["green"],
        "pets": ["cat", "dog"],
        "where": ["south"],
        "l": [],
    }


@pytest.mark.parametrize("crowd", ["", CROWD.format(format=""), WIDGETS], ids=["form", "crowd form", "widgets"])
def test_forms_can_be_read_by_everybody(show: Callable[..., Frame], page: Page, crowd: str) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    frame = show(html_xml(f"<main><h1>Task</h1>{crowd}</main>", CROWD_HEAD) if crowd else WHOLE_FORM)
    if not crowd:
        frame.get_by_role("button", name="Submit").click()
        expect(frame.get_by_role("alert")).to_be_visible()
    for width, scheme in ((1280, "light"), (1280, "dark"), (360, "light"), (360, "dark")):
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        assert frame.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        # In the frame itself: run on the page, the rules would stop at its border.
        assert violations(frame) == []


def test_scripts_that_are_named_by_http_or_without_a_scheme_run(show: Callable[..., Frame], page: Page) -> None:
    """As old pages name them; the site itself is on plain http here."""
    asked: list[str] = []

    def answer(route: Route) -> None:
        asked.append(route.request.url)
        route.fulfill(body="window.ran = (window.ran || 0) + 1", content_type="text/javascript")

    page.route(re.compile(r"cdn\.example\.org"), answer)
    head = "<script src='//cdn.example.org/a.js'></script><script src='http://cdn.example.org/b.js'></script>"
    frame = show(html_xml(FORM, head))
    frame.wait_for_function("window.ran === 2")
    assert set(asked) == {"https://cdn.example.org/a.js", "http://cdn.example.org/b.js"}


def test_a_layout_without_a_form_is_answered_and_shows_its_markup(
    show: Callable[..., Frame], page: Page, requester: Requester
) -> None:
    html = "<h1>Read</h1><div id='text'>${text}</div><label>Answer <input name='answer'></label>"
    for raw, shown in ((False, "<b>R&amp;D</b>"), (True, "R&D")):
        layout = layouts.register(requester, f"raw {raw}", html, timezone.now(), raw=raw)
        xml = layouts.question(layout, {"text": "<b>R&amp;D</b>"})
        frame = show(xml, layout_id=layout.layout_id)
        expect(frame.locator("#text")).to_have_text(shown)
        assert frame.locator("#text b").count() == int(raw)
        frame.get_by_label("Answer").fill("yes")
        frame.get_by_role("button", name="Submit").click()
        assert answers_of(submitted(page)) == {"answer": ["yes"]}
        Assignment.objects.update(status=Assignment.Status.APPROVED)
