import json
import re
import tracemalloc

import html5lib
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marketplace.rules.errors import ParameterValidationError
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
    with pytest.raises(ParameterValidationError, match="HTML5"):
        check_layout("<p><b>${a}</p>")


@pytest.mark.parametrize("value", ["<" * 200_000, "<" * 1000])
def test_many_places_for_a_long_value_are_refused_before_they_fill_the_memory(value: str) -> None:
    tracemalloc.start()
    with pytest.raises(ParameterValidationError, match="more than 262,140 bytes"):
        fill_layout("<p>" + "${a}" * 15_000 + "</p>", {"a": value})
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 30_000_000
