"""Reading pages: forms as a browser would send them, and the task page that the product really renders."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client

from hits.answers.rules.task_links import task_url
from hits.crowd.html import parse, read_form
from hits.crowd.key import AnswerKey
from hits.crowd.task_page import NotATaskError, Screen, read_screen
from hits.models import Hit
from hits.protocols.clickable_entity.simulated import Cloze, read
from tests.hits import factories

FORM = """
<p>Before <b>it</b><br><script>var x = "<form>";</script></p>
<form method="POST" action="/send"><input type="hidden" name="token" value="a&amp;b">
<label><input type="radio" name="pick" value="1"> one</label><input type="radio" name="pick" value="2" checked>
<input type="checkbox" name="more"><input type="checkbox" name="agreed" checked>
<select name="country"><option value="">choose<option value="US" selected>United States</select>
<select name="first"><option>Ada</option><option>Bo</option></select>
<textarea name="said">hello
you</textarea><button name="go" value="1">Go</button><input type="submit" name="send" value="Send"></form>
"""


def test_a_form_is_sent_as_a_browser_would_send_it_untouched() -> None:
    form = read_form(parse(FORM).all("form")[0])
    assert (form.action, form.method) == ("/send", "post")
    assert form.fields == {
        "token": "a&b",
        "pick": "2",
        "agreed": "on",
        "country": "US",
        "first": "Ada",
        "said": "hello\nyou",
    }


def test_text_leaves_scripts_out() -> None:
    paragraph = parse(FORM).first("p")
    assert paragraph is not None
    assert paragraph.text() == "Before it"


def test_nodes_are_found_by_tag_attribute_and_value() -> None:
    page = parse('<div data-page="1"></div><div data-page="2" id="x"></div><div></div>')
    assert len(page.all("div", "data-page")) == 2
    assert page.all("div", data_page="2")[0].attributes["id"] == "x"
    assert page.first("span") is None


@pytest.fixture
def hit(db: None) -> Hit:
    return factories.hit()


def frame(hit: Hit, origin: str, **changes: str) -> str:
    address = task_url(hit.pk)
    values = {"assignmentId": "3ASSIGNMENT", "hitId": hit.hit_id, "workerId": "AWORKER", "turkSubmitTo": origin}
    query = "&".join(f"{name}={value}" for name, value in (values | changes).items())
    return f"{address[address.index('/task/') :]}?{query}"


@pytest.fixture
def screen(hit: Hit, client: Client, settings: object) -> Screen:
    url = frame(hit, settings.MTURK_SUBMIT_ORIGINS[0])  # type: ignore[attr-defined]
    return read_screen(parse(client.get(url).content.decode()), f"http://ours.example{url}")


@pytest.fixture
def task(screen: Screen) -> Cloze:
    return read(screen)


def test_the_task_page_is_read_as_a_worker_sees_it(task: Cloze) -> None:
    assert "".join(task.passage.split()) == "".join(factories.PASSAGE.replace("@highlight", "").split())
    assert task.statement == "People in @placeholder can cross the river by boat once more."
    assert [(choice.value, choice.text) for choice in task.choices] == [
        ("0-10", "Mara Okafor"),
        ("46-51", "Linden"),
        ("75-85", "Tomas Reyes"),
        ("122-127", "Linden"),
    ]
    groups = [choice.group for choice in task.choices]
    assert groups[1] == groups[3] and len(set(groups)) == 3


def test_the_form_goes_to_the_marketplace_with_whose_answer_it_is(screen: Screen, settings: object) -> None:
    assert screen.form.fields["assignmentId"] == "3ASSIGNMENT"
    assert screen.form.fields["workerId"] == "AWORKER"
    assert screen.submit_url == f"{settings.MTURK_SUBMIT_ORIGINS[0]}/mturk/externalSubmit"  # type: ignore[attr-defined]
    assert screen.check_url == "http://ours.example/task/check/"
    assert screen.onward is None


def test_the_page_that_was_read_passes_the_check_that_its_script_makes(screen: Screen, client: Client) -> None:
    said = {"answer": "46-51", "text": "Linden", "seconds_open": "31", "page": screen.page_token}
    reply = client.post("/task/check/", {**screen.form.fields, **said})
    assert reply.json() == {"ok": True}


def test_a_preview_is_no_task_to_answer(hit: Hit, client: Client) -> None:
    page = parse(client.get(frame(hit, "", assignmentId="ASSIGNMENT_ID_NOT_AVAILABLE")).content.decode())
    with pytest.raises(NotATaskError, match="no form"):
        read_screen(page, "http://ours.example/")


def test_the_key_finds_a_question_by_what_the_page_shows(tmp_path: Path) -> None:
    file = tmp_path / "key.jsonl"
    file.write_text(
        '{"id": "d", "source": "s", "passage": {"text": "Linden is here.\\n@highlight\\nLinden!", '
        '"entities": [{"start": 0, "end": 5}, {"start": 27, "end": 32}]}, "qas": [{"id": "q", '
        '"query": "In @placeholder it rains.", "answers": [{"start": 0, "end": 5, "text": "Linden"}]}]}\n'
    )
    key = AnswerKey.read(file)
    truth = key.find(" Linden  is here.\n<- no tag here", "In @placeholder it rains.")
    assert truth is None
    found = key.find("\n Linden is here. \n Linden! ", "In @placeholder  it rains.")
    assert found is not None
    assert (found.item, found.spans, found.texts) == ("q", {"0-5"}, {"Linden"})
