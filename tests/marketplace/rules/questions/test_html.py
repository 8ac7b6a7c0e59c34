import json
import re
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from common.html_pages import CROWD_ELEMENTS, Surroundings, fit_into_frame
from common.html_tags import Page
from marketplace.rules.errors import ParameterValidationError
from marketplace.rules.question import EXTERNAL_QUESTION
from marketplace.rules.questions.html import (
    NAMESPACE,
    HtmlQuestion,
    check_html,
    html_question_xml,
    read_html_question,
)
from marketplace.rules.questions.kinds import check_question, frames_origin
from marketplace.rules.questions.xml import parse_stored

ROOT = Path(__file__).parents[4]
AROUND = Surroundings("https://crowd.example/mturk/externalSubmit", "3ABC", "https://frames.example/static/frames/")
OLD_PAGE = """<!DOCTYPE html>
<html><head><meta charset="utf-8">
<script type='text/javascript' src='https://s3.amazonaws.com/mturk-public/externalHIT_v1.js' integrity="sha"></script>
</head><body><form name='mturk_form' method='get' action='https://www.mturk.com/mturk/externalSubmit'>
<input type='hidden' value='' name='assignmentId' id='assignmentId'/><p>Is 1 < 2 &amp; 3?<p>a & b
<textarea name='comment' cols='80' rows='3'></textarea><input type='submit' value='Send'></form>
<script>if (1 < 2) turkSetAssignmentID('</form>');</script></body></html>"""


@pytest.mark.parametrize(
    "html",
    [
        OLD_PAGE,
        "<script src='https://assets.crowd.aws/crowd-html-elements.js'></script>"
        "<crowd-form answer-format='flatten-objects'><p>Where?</p><crowd-input name='a'></crowd-input></crowd-form>",
        "<ul><li>a<li>b</ul><table><tr><td>c<td>d</table><br/><input disabled><svg><path d='M0'/></svg>",
        "<form><input name='a'></input>A spare end</p></form>",
        "<div><p>x</div></p>",
        "<a href='?a=1&b=2'>x</a> 1 < 2 <center><font>old</font></center>",
    ],
)
def test_pages_as_requesters_write_them_pass(html: str) -> None:
    check_html(html)


@pytest.mark.parametrize(
    ("html", "why"),
    [
        ("<!DOCTYPE html>\n<form><div>x</form>", r"\[2,19\] "),
        ("<p>x", None),
        ("<b><i>x</b></i>", "adoption agency"),
        ("<div/>", "Trailing solidus"),
        ("x</span>", "Unexpected end tag"),
        ("<p><b>x</p>", r"\[1,11\] Unexpected end tag"),
        ("<table><div>x</div></table>", "table context"),
        ("<!-- x", "end of file in comment"),
        ("<p>x</p><a href='", "end of file in a tag"),
        ("<div>" * 400 + "</div>" * 400, "more than 300 deep"),
        (
            "<crowd-form><crowd-polygon></crowd-polygon><crowd-else></crowd-else></crowd-form>",
            r"\[1,12\] <crowd-polygon> is not offered, because nothing can be drawn on pictures here; what asks "
            r"about whole pictures is <crowd-image-classifier>, .*\. \[1,43\] <crowd-else> is not offered; "
            "taken are <crowd-alert>, ",
        ),
        ("  ", "empty"),
    ],
)
def test_what_a_browser_would_have_to_correct_is_refused_with_its_place(html: str, why: str | None) -> None:
    if why is None:
        check_html(html)
        return
    with pytest.raises(ParameterValidationError, match=why):
        check_html(html)


@pytest.mark.parametrize(
    "html", ["<a " * 20000, "<div>" * 13000, "<b><p>" * 9000, "<a x " + "y " * 30000 + ">", "<" * 65000, "<!--" * 16000]
)
def test_no_page_keeps_the_checker_busy(html: str) -> None:
    """The time of this thread, which a busy machine does not lengthen."""
    started = time.thread_time()
    with suppress(ParameterValidationError):
        check_html(html)
    assert time.thread_time() - started < 6


def test_addresses_and_scripts_of_an_old_page_become_ours_and_all_else_stays() -> None:
    page = fit_into_frame(OLD_PAGE, AROUND)
    assert 'action="https://crowd.example/mturk/externalSubmit"' in page and 'method="post"' in page
    assert 'src="https://frames.example/static/frames/externalHIT_v1.js" ></script>' in page
    assert """<input type='hidden' value="3ABC" name='assignmentId'""" in page
    assert page.index("task.js") < page.index("<meta")
    assert "amazonaws" not in page and "integrity" not in page
    assert page.endswith(OLD_PAGE[OLD_PAGE.index("<p>Is 1") :])


@pytest.mark.parametrize(
    "action", ["", " action=''", " action=/mturk/externalSubmit", " action='//x.example/mturk/externalsubmit/'"]
)
def test_a_form_of_any_marketplace_gets_our_address_and_its_assignment(action: str) -> None:
    page = fit_into_frame(f"<form{action}><input name=a></form>", AROUND)
    assert page.count(AROUND.submit_url) == 2
    assert '<input type="hidden" name="assignmentId" value="3ABC"><input name=a>' in page


def test_a_page_in_hand_says_whose_it_is() -> None:
    around = replace(AROUND, worker_id="AWALTER")
    page = fit_into_frame("<form><input name=a></form>", around)
    assert '<input type="hidden" name="workerId" value="AWALTER"><input name=a>' in page
    assert 'data-worker-id="AWALTER"' in page
    own = fit_into_frame("<form><input name=workerId></form>", around)
    assert own.count('value="AWALTER"') == 1


def test_addresses_without_a_scheme_get_https() -> None:
    page = fit_into_frame(
        "<script src='//ajax.example.org/jquery.js?a&amp;b'></script><link rel=stylesheet href=//cdn.example.org/x.css>"
        "<img src=' //img.example.org/x.png'><a href='/help'>x</a><script src='//localhost:9/x.js'></script>"
        "<script>s.src = '//later.example.org/x.js'</script>",
        AROUND,
    )
    assert 'src="https://ajax.example.org/jquery.js?a&amp;b"' in page
    assert 'href="https://cdn.example.org/x.css"' in page and 'src="https://img.example.org/x.png"' in page
    assert "href='/help'" in page and "src='//localhost:9/x.js'" in page and "= '//later.example.org/x.js'" in page


def test_scripts_and_style_sheets_from_elsewhere_are_waited_for_a_limited_time() -> None:
    page = fit_into_frame(
        "<html><base href='https://own.example/a/'><link rel='stylesheet' href='//cdn.example/x.css?a&amp;b'>"
        "<link rel=icon href=https://cdn.example/i.png><script src=j.js></script><script>1</script>"
        "<script src='https://s3.amazonaws.com/mturk-public/externalHIT_v1.js'></script><script src='https://['></script>"
        "<style>@import url('https://fonts.example/f.css'); @import 'x.css';</style>",
        AROUND,
    )
    first = Page(page).tags[1]
    assert first.value("src").endswith("outside.js")
    assert json.loads(first.value("data-addresses")) == [
        {"address": address, "kind": kind, "written": written, "instead": instead}
        for address, kind, written, instead in [
            ("https://cdn.example/x.css?a&b", "style", 'href="https://cdn.example/x.css?a&amp;b"', 'href="//:"'),
            ("https://own.example/a/j.js", "script", "src=j.js", 'src="//:"'),
            ("https://fonts.example/f.css", "style", "https://fonts.example/f.css", "//:"),
        ]
    ]
    assert all(one["written"] in page for one in json.loads(first.value("data-addresses")))
    assert "outside.js" not in fit_into_frame(
        "<img src='https://a.example/x.png'><script src='/x.js'></script>", AROUND
    )


def test_a_form_that_goes_elsewhere_is_left_alone() -> None:
    form = "<form action='https://own.example/save'><input name=a></form>"
    assert fit_into_frame(form, AROUND).endswith(form)


@given(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\ufffe\uffff", min_codepoint=32), min_size=1)
)
def test_a_page_survives_its_xml(html: str) -> None:
    xml = html_question_xml(HtmlQuestion(html, 450))
    assert read_html_question(parse_stored(xml)) == HtmlQuestion(html, 450)
    assert etree.fromstring(xml.encode()).findtext(f"{{{NAMESPACE}}}HTMLContent") == html


def test_the_crowd_elements_that_are_taken_are_those_that_are_drawn_and_documented() -> None:
    script = (ROOT / "static/frames/crowd-html-elements.js").read_text(encoding="utf-8")
    assert set(re.findall(r'"(crowd-[a-z-]+)": (?:Crowd|class )', script)) == CROWD_ELEMENTS
    documented = (ROOT / "docs/marketplace.md").read_text(encoding="utf-8")
    [row] = re.findall(r"^\| crowd elements \|.*$", documented, re.M)
    assert {f"crowd-{name}" for name in re.findall(r"`(?:crowd)?-([a-z-]+)`", row)} == CROWD_ELEMENTS


PIECES = [
    "<",
    ">",
    "<!",
    "<![",
    "<!--",
    "-->",
    "<?",
    "</",
    "<form ",
    "action=",
    "'",
    '"',
    "<script>",
    "</script>",
    "\n",
    "&",
    "]]>",
]


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=20).map("".join))
def test_no_text_breaks_the_exchange(html: str) -> None:
    page = fit_into_frame(html, AROUND)
    assert "task.js" in page


def test_each_kind_is_known_and_needs_frames_where_we_show_it() -> None:
    page = html_question_xml(HtmlQuestion(OLD_PAGE, 0))
    external = (
        f'<ExternalQuestion xmlns="{EXTERNAL_QUESTION}"><ExternalURL>https://a.example/</ExternalURL>'
        "<FrameHeight>0</FrameHeight></ExternalQuestion>"
    )
    assert check_question(page, [], "https://f.example") == "html"
    assert check_question(external, [], "") == "external"
    with pytest.raises(ParameterValidationError, match="MARKETPLACE_FRAMES_URL"):
        check_question(page, [], "")


@pytest.mark.parametrize(
    ("why", "xml"),
    [
        ("no <FrameHeight>", f'<HTMLQuestion xmlns="{NAMESPACE}"><HTMLContent>x</HTMLContent></HTMLQuestion>'),
        ("whole number of pixels", html_question_xml(HtmlQuestion("x", 1)).replace(">1<", ">-1<")),
        ("expected 'http", html_question_xml(HtmlQuestion("x", 1)).replace("2011-11-11", "2012-12-12")),
        ("expected <ExternalQuestion>", "<Else/>"),
        ("document type", '<!DOCTYPE a SYSTEM "file:///etc/passwd">' + html_question_xml(HtmlQuestion("x", 1))),
        ("document type", '<!DOCTYPE a [<!ENTITY b "c">]>' + html_question_xml(HtmlQuestion("x", 1))),
        ("at most 65535", html_question_xml(HtmlQuestion("é" * 33_000, 1))),
    ],
)
def test_a_question_that_cannot_be_read_is_refused(why: str, xml: str) -> None:
    with pytest.raises(ParameterValidationError, match=why):
        check_question(xml, [], "https://f.example")


@pytest.mark.parametrize(
    ("configured", "public", "frames"),
    [
        ("https://f.example", "https://c.example", "https://f.example"),
        ("", "http://127.0.0.1:8001", "http://localhost:8001"),
        ("", "http://localhost:9", "http://127.0.0.1:9"),
        ("", "https://c.example", ""),
    ],
)
def test_frames_have_a_host_of_their_own_or_none(configured: str, public: str, frames: str) -> None:
    assert frames_origin(configured, public) == frames


def test_fields_in_the_address_of_a_form_stay_there() -> None:
    page = fit_into_frame("<form action='https://www.mturk.com/mturk/externalSubmit?group=1&amp;v=2'></form>", AROUND)
    assert f'action="{AROUND.submit_url}?group=1&amp;v=2"' in page
