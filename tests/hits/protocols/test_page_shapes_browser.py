"""Shapes that templates of Mechanical Turk have had since 2010: each opens in a browser and posts all of its fields.

A template that is refused as it stands is taken as its corrected copy. No address but ours ever answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import Browser, Page, Route

from common.html_pages import Surroundings, fit_into_frame
from hits.protocols.html_page.controls import unit_of
from hits.protocols.html_page.correcting import corrected
from hits.protocols.html_page.protocol import protocol
from ops.surroundings import ROOT
from ops.waiting import PAGE_MILLISECONDS

HERE = "http://task.localhost"
SUBMIT = f"{HERE}/mturk/externalSubmit"
EXTERNAL = "https://www.mturk.com/mturk/externalSubmit"
FORM = f'<form name="mturk_form" method="post" id="mturk_form" action="{EXTERNAL}">'
FORM += '<input type="hidden" value="" name="assignmentId" id="assignmentId"/>'
SEND = '<p><input type="submit" id="submitButton" value="Submit"/></p>'
CDN = """<link href="//netdna.example/bootstrap/3.1.0/css/bootstrap.min.css" rel="stylesheet">
<script src="https://code.example/jquery-1.11.1.min.js"></script>"""
LONG = "Statement 1: the ferry between the two towns sails on Sundays too [choose one of the answers]"
ROW = {"text": 'It\'s "so" & <b>so</b>', "url": "https://pictures.example/a.png?b=1&c=2", "id": "7", "width": "40"}


def submit(page: Page) -> None:
    page.locator("[type=submit], button:not([type=button])").last.click()


def ticked(page: Page) -> None:
    for box in page.locator("[type=radio][value=yes], [type=checkbox]").all():
        box.check()
    submit(page)


def written(page: Page) -> None:
    for line in page.locator("input[type=text], textarea").all():
        line.fill("w")
    ticked(page)


def pressed(page: Page) -> None:
    for box in page.locator("[type=radio][value=yes]").all():
        box.check()
    page.get_by_text("Go", exact=True).click()


def crowd_ticked(page: Page) -> None:
    page.get_by_label("x").check()
    page.get_by_role("button").last.click()


@dataclass(frozen=True)
class Shape:
    """`labels` by unit; of a long name, `~` stands for the unit."""

    name: str
    html: str
    labels: dict[str, Any]
    work: Callable[[Page], None] = ticked


def radios(name: str, more: str = "") -> str:
    return "".join(f"<input type=radio name='{name}' value='{value}' {more}>{value}" for value in ("yes", "no"))


def form(inside: str) -> str:
    return f"{FORM}{inside}{SEND}</form>"


A, B = radios("a"), radios("b")
YES, BOTH = {"a": "yes"}, {"a": "yes", "b": "yes"}
CROWD = '<script src="https://assets.crowd.aws/crowd-html-elements.js"></script>'
IN_CROWD = "<crowd-checkbox name=a value=yes>x</crowd-checkbox><br/><crowd-input name=b />"
MAKES = "for (var i = 0; i < 2; i++) here.innerHTML += '<input type=text name=\"word[' + i + ']\">';"
LOADED = "window.onload = function () { here.innerHTML = '<textarea name=\"said\"></textarea>'; };"
SENDS = "document.getElementById('go').onclick = function () { document.getElementById('mturk_form').submit(); };"
CLICK = "document.getElementById('h').value = '${text}'; document.forms[0].submit(); return false"
IN_ATTRIBUTES = "<img src=${url} width=${width}><a href='${url}'>x</a><input type=hidden name=shown value='${text}'>"
SOUNDS = "<iframe src='${url}'></iframe><audio controls src='${url}'></audio><video src='${url}'></video>"
SLIDER = "<input type=range name=range value=50 onchange='out.value=value'><output id=out></output>"
SHAPES = [
    Shape("unclosed tags", form(f"<div><p>${{text}}<b>Is it?</p>{A}<h4>x</h2>"), YES),
    Shape("inputs that are closed", form("<input type='radio' name='a' value='yes'>Y</input>"), {"a": ["yes"]}),
    Shape("no form", f"<h3>${{text}}</h3>{A}<input type=text name=b>", {"a": "yes", "b": "w"}, written),
    Shape("a form in a table", f"<table>{FORM}<tr><td>{A}</td></tr><tr><td>{SEND}</td></tr></form></table>", YES),
    Shape("radios in rows", f"<table><tr><td>{A}<tr><td>{A}</table>", YES),
    Shape("nested forms", form(f"<form name='inner'>{A}</form>{B}"), BOTH),
    Shape("fields outside", f"{A}{form('')}<textarea name=b></textarea>", {"a": "yes", "b": "w"}, written),
    Shape("a form named edit", f"<form name=edit action=edit>{A}</form>{form(B)}", BOTH),
    Shape("a form of another site", f"<form action='https://lab.example/save' method=get>{A}{SEND}</form>", YES),
    Shape("no button", f"{FORM}{A}</form>", YES),
    Shape(
        "fields of scripts",
        f"{form('<div id=here></div>')}<script>{MAKES}</script>",
        {"word[0]": "w", "word[1]": "w"},
        written,
    ),
    Shape(
        "all fields made when everything is loaded",
        f"{form('<div id=here></div>')}<img src='${{url}}'><script>{LOADED}</script>",
        {"said": "w"},
        written,
    ),
    Shape("document.write", form("<script>document.write('<input type=text name=d>');</script>"), {"d": "w"}, written),
    Shape("jquery that does not come", f"{CDN}{form(A)}<script>$(function () {{}})</script>", YES),
    Shape("a style sheet that does not come", f"<style>@import url(https://f.example/f.css);</style>{form(A)}", YES),
    Shape("a script at the end", f"{form(A)}<script src='https://cdn.example/x.js'></script>", YES),
    Shape("a base", f"<base href='https://lab.example/t/'><script src=lib.js></script>{form(A)}", YES),
    Shape("frames and sounds", form(f"{SOUNDS}{A}"), YES),
    Shape(
        "columns in attributes and scripts",
        f'{form(IN_ATTRIBUTES + "<input type=hidden name=h id=h>")}<script>h.value = "${{text}}";</script>',
        {"shown": ROW["text"], "h": ROW["text"]},
    ),
    Shape(
        "a column in onclick",
        f'{FORM}<input type=hidden name=h id=h><a href="#" onclick="{CLICK}">Go</a></form>',
        {"h": ROW["text"]},
        pressed,
    ),
    Shape("a column in style", form(f"<p style='width: ${{width}}px'>x</p>{A}"), YES),
    Shape("a column in a name", form(radios("q_${id}")), {"q_${id}": "yes"}),
    Shape(
        "long names with brackets and spaces",
        form(f"{radios(LONG)}<input type=text name='b [x y]'>"),
        {"~": "yes", "b [x y]": "w"},
        written,
    ),
    Shape("crowd elements", f"{CROWD}<crowd-form>{A}<crowd-input name=b></crowd-input></crowd-form>", YES),
    Shape("crowd elements without their script", f"<crowd-form>{A}</crowd-form>", YES),
    Shape(
        "crowd elements that close themselves",
        f"{CROWD}<crowd-form>{IN_CROWD}</crowd-form>",
        {"a": ["yes"]},
        crowd_ticked,
    ),
    Shape("the function at the end", f"{form(A)}<script>turkSetAssignmentID();</script>", YES),
    Shape("doubled ids", form(f"{radios('a', 'id=x')}<p id=x>{radios('b', 'id=x')}"), BOTH),
    Shape("hidden inputs", form("<input type=hidden name=k value='${id}'>"), {"k": "7"}),
    Shape("a file", form(f"{A}<input type=file name=scan>"), YES),
    Shape(
        "a button of its own",
        f"{FORM}{A}<button type=button id=go>Go</button></form><script>{SENDS}</script>",
        YES,
        pressed,
    ),
    Shape("a handler that shows a value", form(SLIDER), {"range": 50}),
    Shape("a long page", f"<!-- {'note ' * 9000} -->{'<p>x   y</p>     ' * 900}{form(A)}", YES),
    Shape("forty questions", form("".join(radios(f"q{n}") for n in range(40))), {f"q{n}": "yes" for n in range(40)}),
    Shape(
        "old elements",
        f"<center>{form('<font>${text}</font><select name=s><option>x<option selected>y</select>')}",
        {"s": "y"},
    ),
]


@pytest.fixture(scope="module")
def tab(browser: Browser) -> Iterator[Page]:
    context = browser.new_context()
    context.set_default_timeout(PAGE_MILLISECONDS)
    found = context.new_page()
    found.clock.install()
    yield found
    context.close()


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_it_opens_and_posts_all_of_its_fields(shape: Shape, tab: Page) -> None:
    copy = corrected(shape.html)
    settings = protocol.settings({"template": copy.text if copy else shape.html})
    columns = {"columns": ROW}
    around = Surroundings(SUBMIT, "3ASSIGNMENT", f"{HERE}/static/frames/", "AWORKER")
    html = fit_into_frame(protocol.own_page(columns, {}, settings).html, around)
    posted: dict[str, str] = {}
    waiting: list[Route] = []

    def serve(route: Route) -> None:
        address = urlsplit(route.request.url)
        if address.hostname != "task.localhost":
            waiting.append(route)
        elif address.path == "/mturk/externalSubmit":
            for name, value in parse_qsl(route.request.post_data or "", keep_blank_values=True):
                posted[name] = f"{posted[name]}|{value}" if name in posted else value
            route.fulfill(body="<p id=sent>Sent</p>", content_type="text/html")
        elif address.path == "/":
            policy = {"Content-Security-Policy": "sandbox allow-scripts allow-forms allow-modals"}
            route.fulfill(body=html, content_type="text/html; charset=utf-8", headers=policy)
        else:
            file = ROOT / address.path.lstrip("/")
            route.fulfill(path=file) if file.is_file() else route.abort()

    tab.route("**/*", serve)
    try:
        tab.goto(HERE, wait_until="commit")
        tab.wait_for_function("document.readyState !== 'loading'")
        tab.clock.fast_forward(5_000)
        tab.locator("form, crowd-form").first.wait_for(state="attached")
        tab.wait_for_function("document.readyState !== 'loading'")
        tab.clock.fast_forward(10_000)
        shape.work(tab)
        tab.locator("#sent").wait_for()
    finally:
        for route in waiting:
            route.abort()
        tab.unroute("**/*", serve)
    assert (posted.pop("assignmentId"), posted.pop("workerId")) == ("3ASSIGNMENT", "AWORKER")
    labels = {one.unit: one.value for one in protocol.check(columns, {}, settings, posted).labels}
    expected = {unit_of(LONG) if name == "~" else name: value for name, value in shape.labels.items()}
    assert labels == expected | {unit: [] for unit in labels if labels[unit] == []}
