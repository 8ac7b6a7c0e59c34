import json
import re
import tracemalloc

import html5lib
import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.html_templates import with_form
from marketplace.rules.errors import ParameterValidationError
from marketplace.rules.questions.html import check_html
from marketplace.rules.questions.layouts import check_layout, fill_layout

LAYOUT = (
    "<p id=t>${a}</p><pre>${a}</pre><i title='${a}'></i><b class=${a}></b>"
    "<a href='${link}'>x</a><script>var told = \"${a}\";</script><!-- ${a} -->"
)
SHOWABLE = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"), min_size=1)


def test_the_placeholders_are_found_once_each() -> None:
    assert check_layout(LAYOUT) == ["a", "link"]
    assert check_layout("<p>${ a } ${} $a {a} ${1}</p>") == []


@given(
    SHOWABLE
    | st.sampled_from(["</script><script>x", "' onclick='x", "--><b>", "\\", '\\";alert(1)//', "\n\r\t", "&lt;"])
)
def test_whatever_the_data_is_it_is_shown_and_never_markup(value: str) -> None:
    filled = fill_layout(LAYOUT, {"a": value, "link": "https://a.example/"})
    document = html5lib.parse(filled, namespaceHTMLElements=False)
    nodes = [node for node in document.find("body") if isinstance(node.tag, str)]
    read = {node.tag: node for node in nodes}
    assert [node.tag for node in nodes] == ["p", "pre", "i", "b", "a", "script"]
    assert read["p"].text == read["pre"].text == value
    assert read["i"].attrib == {"title": value}
    assert read["b"].attrib == {"class": value}
    literal = re.fullmatch(r'var told = (".*");', read["script"].text, re.DOTALL)
    assert literal is not None and json.loads(literal[1]) == value


@pytest.mark.parametrize(
    "page",
    [
        "<p style='${a}'></p>",
        "<p onclick='f(${a})'></p>",
        "<iframe srcdoc='${a}'></iframe>",
        "<style>${a}</style>",
        "<p ${a}></p>",
        "<${a}>",
        "<x${a}></x${a}>",
    ],
)
def test_a_placeholder_where_data_could_act_is_refused(page: str) -> None:
    with pytest.raises(ParameterValidationError, match="where data could do harm"):
        check_layout(page)


@pytest.mark.parametrize("address", ["javascript:x()", " JAVA\tscript:x", "data:text/html,x", "vbscript:x"])
def test_data_cannot_become_a_link_that_runs(address: str) -> None:
    with pytest.raises(ParameterValidationError, match="is an address"):
        fill_layout("<a href='${a}'>x</a>", {"a": address})


def test_all_that_is_missing_is_named_at_once_and_what_is_too_much_is_passed_over() -> None:
    with pytest.raises(ParameterValidationError, match="missing: b, c"):
        fill_layout("<p>${a} ${b} ${c} ${b}</p>", {"a": "1"})
    assert fill_layout("<p>${a}</p>", {"a": "1", "z": "\x00"}) == "<p>1</p>"
    with pytest.raises(ParameterValidationError, match="cannot be shown"):
        fill_layout("<p>${a}</p>", {"a": "\x00"})


def test_a_layout_is_checked_like_any_page() -> None:
    with pytest.raises(ParameterValidationError, match="has 1 error, by line and column: .1,14. Unexpected end tag"):
        check_layout("<p><b>${a}</p>")


RAW = "<p title='${a}' ${more}>${a}</p><style>${css}</style><script>var rows = ${json};</script><table>${rows}</table>"


def test_a_raw_layout_takes_its_values_as_they_are_wherever_they_stand() -> None:
    assert check_layout(RAW, raw=True) == ["a", "more", "css", "json", "rows"]
    values = {
        "a": "<b>x</b> &amp; y",
        "more": "class=c",
        "css": "p{}",
        "json": '[{"a": 1}]',
        "rows": "<tr><td>1</table>",
    }
    filled = fill_layout(RAW, values, raw=True)
    for name, value in values.items():
        assert value in filled, name
    assert "${" not in filled
    with pytest.raises(ParameterValidationError, match="missing: rows"):
        fill_layout(RAW, {name: values[name] for name in values if name != "rows"}, raw=True)
    with pytest.raises(ParameterValidationError, match="cannot be shown"):
        fill_layout(RAW, values | {"a": "\x00"}, raw=True)
    with pytest.raises(ParameterValidationError, match="more than 262,140 bytes"):
        fill_layout(RAW, values | {"a": "é" * 90_000}, raw=True)
    with pytest.raises(ParameterValidationError, match="Unexpected end tag"):
        check_layout("<p>${a}</p></b>", raw=True)


OPEN = '<form name="mturk_form" id="mturk_form" method="post">'
CLOSE = '<p><input type="submit" id="submitButton" value="Submit"></p></form>'


@pytest.mark.parametrize(
    ("page", "framed"),
    [
        ("<p>x</p><input name=a>", f"{OPEN}<p>x</p><input name=a>{CLOSE}"),
        ("only text", f"{OPEN}only text{CLOSE}"),
        (
            "<!DOCTYPE html><html><head><title>t</title></head><BODY class='b'><p>x</p></BODY></html>\n",
            f"<!DOCTYPE html><html><head><title>t</title></head><BODY class='b'>{OPEN}<p>x</p>{CLOSE}</BODY></html>\n",
        ),
        ("<html><head></head ><p>x</p></html>", f"<html><head></head >{OPEN}<p>x</p>{CLOSE}</html>"),
        (
            "<!doctype html><title>t</title><script>'<form><p></body>'</script><p>x</p><!-- <form> -->",
            f"<!doctype html><title>t</title><script>'<form><p></body>'</script>{OPEN}<p>x</p><!-- <form> -->{CLOSE}",
        ),
    ],
)
def test_a_page_without_a_form_gets_one_with_a_submit_button(page: str, framed: str) -> None:
    assert with_form(page) == framed
    check_html(framed)


@pytest.mark.parametrize(
    "page", ["<form><p>x</p></form>", "<crowd-form><p>x</p></crowd-form>", "<FORM action=a></FORM>"]
)
def test_a_page_with_a_form_keeps_to_it(page: str) -> None:
    assert with_form(page) == page


@pytest.mark.parametrize("value", ["<" * 200_000, "<" * 1000])
def test_many_places_for_a_long_value_are_refused_before_they_fill_the_memory(value: str) -> None:
    tracemalloc.start()
    with pytest.raises(ParameterValidationError, match="more than 262,140 bytes"):
        fill_layout("<p>" + "${a}" * 15_000 + "</p>", {"a": value})
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 30_000_000
