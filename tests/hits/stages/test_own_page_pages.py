"""A lead brings a template: faults stand at its input, a file takes its place, and the preview reaches nothing."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from playwright.sync_api import Browser, expect

from hits.crowd.html import parse, read_form
from hits.models import Stage
from hits.protocols.html_page.protocol import protocol
from tests.axe import violations
from tests.hits import factories as make
from tests.hits.protocols.page_templates import CASES, FOLDER

pytestmark = pytest.mark.django_db(transaction=True)
# What a page that wanted to act for the lead would try.
GREEDY = """<p id="told">${text}</p>
<form action="/mturk/externalSubmit"><input name="a"><button>Send</button></form>
<script>
  const tried = { cookie: document.cookie, origin: self.origin };
  for (const [name, act] of Object.entries({
    parent: () => parent === self ? "none" : parent.document.body.innerHTML,
    kept: () => localStorage.length + sessionStorage.length,
    popup: () => window.open("/"),
  })) {
    try { tried[name] = String(act()); } catch (error) { tried[name] = error.name; }
  }
  fetch("/", {credentials: "include", mode: "no-cors"}).then(() => "fetched", (error) => error.name).then((said) => {
    tried.fetch = said;
    document.body.dataset.tried = JSON.stringify(tried);
  });
</script>"""


@pytest.fixture
def stage(alice: Any) -> Stage:
    columns = {"settings": protocol.settings({}), "hit_title": "Old title", "protocol": "html_page", "key": "ask"}
    return make.stage(make.project(owner=alice), **columns)


def address(stage: Stage, name: str = "task-settings") -> str:
    return reverse(name, args=[stage.project.slug, stage.key])


def sent(client: Client, stage: Stage, name: str = "task-settings", **fields: Any) -> HttpResponse:
    (form,) = parse(client.get(address(stage)).content.decode()).all("form", "data-task-form")
    return client.post(address(stage, name), {**read_form(form).fields, **fields})


def row(stage: Stage, **columns: str) -> None:
    make.item(stage, document=make.document(stage.project, data={"columns": columns}), data={})


def test_a_template_is_saved_as_it_was_written(lead_client: Client, stage: Stage) -> None:
    template = "\n\n<p>${text}</p>\n<input name='a'>\n"
    assert sent(lead_client, stage, template=template.replace("\n", "\r\n")).status_code == 302
    stage.refresh_from_db()
    assert stage.settings["template"] == template
    (area,) = parse(lead_client.get(address(stage)).content.decode()).all("textarea", name="template")
    assert area.text().removeprefix("\n") == template


def test_columns_with_known_answers_are_written_one_a_line(lead_client: Client, stage: Stage) -> None:
    template = "<input name='a'><input type='number' name='b'>"
    assert sent(lead_client, stage, template=template, gold="a = right\nb = sum").status_code == 302
    stage.refresh_from_db()
    assert stage.settings["gold"] == {"a": "right", "b": "sum"}
    refused = sent(lead_client, stage, gold="c = right")
    assert refused.status_code == 400 and "which the page does not have. There are: a, b." in refused.content.decode()
    assert sent(lead_client, stage).status_code == 302
    stage.refresh_from_db()
    assert stage.settings["gold"] == {"a": "right", "b": "sum"}


def test_a_file_takes_the_place_of_what_is_typed(lead_client: Client, stage: Stage) -> None:
    file = SimpleUploadedFile("page.html", b"\xef\xbb\xbf" + CASES[1].html.encode())
    assert sent(lead_client, stage, template="<p>", template_file=file).status_code == 302
    stage.refresh_from_db()
    assert stage.settings["template"] == CASES[1].html


def test_a_corrected_copy_is_offered_with_what_is_different_and_saved_by_one_button(
    lead_client: Client, stage: Stage
) -> None:
    refused = "<div><input name='a'>\n<form>\n<button>Send</button></form>"
    for reply in (sent(lead_client, stage, template=refused), sent(lead_client, stage, "try-task", template=refused)):
        page = reply.content.decode()
        assert "“Template” line 1: &lt;div&gt; is not closed" in page
        assert "The field &#x27;a&#x27; belongs to the form" in page
        (button,) = parse(page).all("button", value="take-corrected:template")
        assert button.attributes["form"] == "task-form"
    stage.refresh_from_db()
    assert stage.settings == protocol.settings({})
    assert sent(lead_client, stage, template=refused, min_seconds="-1", do="take-corrected:template").status_code == 400
    assert sent(lead_client, stage, template="<p>x</p>", do="take-corrected:template").status_code == 400
    assert sent(lead_client, stage, template=refused, do="take-corrected:template").status_code == 302
    stage.refresh_from_db()
    assert '<input form="mturk_form" name="a">' in stage.settings["template"]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ((FOLDER / "unclosed.html").read_bytes(), "“Template” line 5: &lt;div&gt; is not closed: add &lt;/div&gt;."),
        (b"\xff\xfe<p>", "The file is not in UTF-8"),
        (b"x" * (1024 * 1024 + 1), "The file has more than 1,048,576 bytes"),
        (b"x" * 70_000, "“Template” has 70,000 bytes; at most 65,235 fit into a question."),
    ],
    ids=["unclosed", "utf-16", "a megabyte", "too large"],
)
def test_a_file_that_is_no_template_changes_nothing_and_is_told_why(
    lead_client: Client, stage: Stage, content: bytes, told: str
) -> None:
    reply = sent(lead_client, stage, template_file=SimpleUploadedFile("page.html", content))
    assert reply.status_code == 400 and told in reply.content.decode()
    stage.refresh_from_db()
    assert stage.settings == protocol.settings({})


def test_columns_are_listed_and_those_that_are_missing_are_named_before_it_is_saved(
    lead_client: Client, stage: Stage
) -> None:
    row(stage, text="It rains.", by="Bo")
    assert "Columns of an item: ${text}, ${by}." in lead_client.get(address(stage)).content.decode()
    reply = sent(lead_client, stage, "try-task", template="<p>${txt}</p><input name='a'>").content.decode()
    assert "1 waiting item does not fit the task" in reply and "the column &#x27;txt&#x27;, which is missing" in reply
    assert (
        "does not fit"
        not in sent(lead_client, stage, "try-task", template="<p>${by}</p><input name='a'>").content.decode()
    )


def test_the_item_that_is_looked_at_can_be_chosen(opened: Any, stage: Stage) -> None:
    for text in ("It rains.", "It snows."):
        row(stage, text=text)
    Stage.objects.update(settings={"template": "<p>${text}</p><input name='a'>"})
    page = opened(address(stage))
    shown = page.frame_locator("iframe.task-frame").locator("p").first
    expect(shown).to_have_text("It rains.")
    page.get_by_label("Item").select_option(stage.items.last().key)
    expect(shown).to_have_text("It snows.")
    page.get_by_label("Template", exact=True).fill("<p>Look: ${text}</p><input name='a'>")
    expect(shown).to_have_text("Look: It snows.")
    assert violations(page) == []


def test_the_preview_has_no_origin_and_sends_nothing(lead_client: Client, stage: Stage) -> None:
    reply = lead_client.get(address(stage, "preview-task"))
    policy = dict(part.split(" ", 1) for part in reply.headers["Content-Security-Policy"].split("; "))
    assert policy["sandbox"] == "allow-scripts"
    assert (policy["default-src"], policy["form-action"]) == ("'none'", "'none'")
    assert policy["frame-ancestors"] == "http://testserver"
    assert "Is this easy to understand?" in reply.content.decode()
    assert Client().get(address(stage, "preview-task")).status_code == 302


def test_a_page_that_cannot_be_filled_in_is_not_previewed(lead_client: Client, stage: Stage) -> None:
    row(stage, text="It rains.")
    Stage.objects.update(settings={"template": "<p>${txt}</p><input name='a'>"})
    reply = lead_client.get(address(stage, "preview-task")).content.decode()
    assert "the column &#x27;txt&#x27;, which is missing" in reply


def test_scripts_of_the_page_reach_nothing_of_the_dashboard(
    browser: Browser, lead_client: Client, stage: Stage, live_server: Any
) -> None:
    row(stage, text="<b>It rains.</b>")
    Stage.objects.update(settings={"template": GREEDY})
    session = lead_client.cookies["annotate_session"].value
    context = browser.new_context()
    context.add_cookies([{"name": "annotate_session", "value": session, "url": live_server.url}])
    page = context.new_page()
    # In the frame, and in a tab of its own.
    for place, shown in (("task-settings", page.frame_locator("iframe.task-frame")), ("preview-task", page)):
        page.goto(live_server.url + address(stage, place))
        expect(shown.locator("body[data-tried]")).to_be_visible()
        tried = shown.locator("body").evaluate("(body) => JSON.parse(body.dataset.tried)")
        alone = place == "preview-task"
        assert tried.pop("parent") == ("none" if alone else "SecurityError")
        assert tried == {"popup": "null", "kept": "0", "cookie": "", "origin": "null", "fetch": "TypeError"}
        assert shown.locator("#told").inner_text() == "<b>It rains.</b>"
        expect(shown.get_by_role("button", name="Accept the HIT to submit")).to_be_disabled()
    context.close()


def test_crowd_elements_are_drawn_and_the_page_is_accessible(opened: Any, stage: Stage) -> None:
    case = next(case for case in CASES if case.name == "crowd_form")
    row(stage, **case.columns)
    Stage.objects.update(settings={"template": case.html})
    page = opened(address(stage))
    expect(page.frame_locator("iframe.task-frame").get_by_label("A title")).to_be_visible()
    assert violations(page) == []
