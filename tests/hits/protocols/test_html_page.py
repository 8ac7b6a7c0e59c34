"""Templates of Mechanical Turk: what is wrong with one, what it asks, and what is taken from what workers post."""

from __future__ import annotations

import json
from html import escape
from typing import Any

import html5lib
import pytest
from hypothesis import given
from hypothesis import strategies as some

from common.html_templates import NotFilledError
from hits.mturk.question import html_question
from hits.protocols.base import AnswerRefusedError, SettingsRefusedError
from hits.protocols.html_page.protocol import protocol
from hits.protocols.html_page.template import MOST_BYTES
from hits.recipes import table_rows
from ops.surroundings import ROOT
from tests.hits.protocols.page_templates import CASES, FOLDER, NASTY

CROWD = '<script src="https://assets.crowd.aws/crowd-html-elements.js"></script>'
SCRIPT = "<script>document.forms[0].submit()</script>"


def faults(template: Any, **more: Any) -> list[str]:
    with pytest.raises(SettingsRefusedError) as refused:
        protocol.settings({"template": template, **more})
    return list(refused.value.reasons)


def checked(
    template: str, posted: dict[str, str], columns: dict[str, str] | None = None, **more: Any
) -> dict[str, Any]:
    settings = protocol.settings({"template": template, **more})
    found = protocol.check({"columns": columns or {}}, {}, settings, posted)
    return {label.unit: label.value for label in found.labels}


def refusal(template: str, posted: dict[str, str], **more: Any) -> str:
    with pytest.raises(AnswerRefusedError) as refused:
        checked(template, posted, **more)
    return str(refused.value)


# What is wrong with a template


def test_an_unclosed_tag_is_named_with_its_line() -> None:
    template = (FOLDER / "unclosed.html").read_text(encoding="utf-8")
    assert faults(template) == ["template line 5: <div> is not closed: add </div>."]
    # Line ends of other systems and blank lines before it move nothing.
    assert faults("\n\n" + template.replace("\n", "\r\n")) == ["template line 7: <div> is not closed: add </div>."]


FIELD = "<input name='a'>"
SEND = "<button>x</button>"
OTHER_HOST = "<form action='https://lab.example/collect'>"


@pytest.mark.parametrize(
    ("template", "told"),
    [
        ("", ["1: The page is empty."]),
        (7, ["template must be a text, not 7."]),
        ("<p>Hello</p>", ["1: the page asks nothing: "]),
        ("<p>Hello</p><script>go()</script>", ["1: the page asks nothing: "]),
        ("<p onclick='this.textContent = 1'>Hello</p>", ["1: the page asks nothing: "]),
        ("<form><button name='a' value='1'>A</button></form>", ["1: the page asks nothing: "]),
        (f"<p>x</p>\n<form>\n{FIELD}\n</form>", ["2: the form has no button that sends it: "]),
        (f"<form>{FIELD}<button type='button'>x</button></form>", ["1: the form has no button"]),
        (f"<form>\n</b>{FIELD}{SEND}</form>", ["2: </b> closes nothing: "]),
        (f"<form><b><i>x</b></i>{FIELD}{SEND}</form>", ["1: <i> is not closed", "1: </i> closes nothing"]),
        (
            f"<form>{FIELD}{SEND}</form>\n<input name='b'>\n<textarea name='c'></textarea>",
            ["2: the field 'b' stands outside the form", "3: the field 'c' stands outside the form"],
        ),
        (f"{OTHER_HOST}{FIELD}{SEND}</form>", ["1: the form is sent to 'https://lab.example/collect' and not to the"]),
        ("<input type='file' name='scan'>", ["1: the field 'scan' asks for a file"]),
        (
            "<input type='checkbox' name='a' value='x|y'><input type='checkbox' name='a' value='z'>",
            ["1: the field 'a' can have several values, which come parted by bars"],
        ),
        (f"<p>${{the text}}</p>\n<p>${{9}}</p>{FIELD}", ["1: '${the text}' names no column", "2: '${9}' names no"]),
        (f"<p>${{text</p>{FIELD}", ["1: '${text' names no column"]),
        (f"<p style='color: ${{c}}'>x</p>{FIELD}", ["1: The placeholder c stands in the attribute style"]),
        (f"<p onclick='${{c}}'>x</p>{FIELD}", ["1: The placeholder c stands in the attribute onclick"]),
        (f"<style>${{c}}</style>{FIELD}", ["1: The placeholder c stands in a style sheet"]),
        ("<crowd-input name='a'></crowd-input>", ["1: crowd elements need their script"]),
        (f"{CROWD}\n<crowd-form><crowd-input name='a' /></crowd-form>", ["2: <crowd-input/> is not closed by its"]),
        (f"{CROWD}<crowd-form><crowd-line></crowd-line>{FIELD}</crowd-form>", ["1: <crowd-line> is not offered"]),
        ("x" * (MOST_BYTES + 1), ["template has "]),
        ("é" * (MOST_BYTES // 2 + 1), ["template has "]),
        ("<p>" + "]]>" * 21_000 + "</p>", ["template has "]),
        ("".join(f"<input name='f{n}'>" for n in range(201)), ["1: there are 201 fields; at most 200"]),
        ("<input name='a' \x00>", None),
        ("<div " * 5_000, None),
        ("<div>" * 10_000, None),
    ],
)
def test_what_is_wrong_with_a_template_is_told_with_its_line(template: Any, told: list[str] | None) -> None:
    found = faults(template)
    assert all(len(one) < 400 and one.endswith(".") for one in found)
    if told is not None:
        assert len(found) == len(told), found
        for one, start in zip(found, told, strict=True):
            assert one.removeprefix("template line ").startswith(start)


def test_several_faults_are_told_at_once_each_once() -> None:
    template = "<div>\n<p>${a b}</p>\n<input type='file' name='f'>\n<input name='x'${y}>"
    found = faults(template, frame_height=-1, min_seconds="x", extra=1)
    starts = [
        "There is no setting 'extra'",
        "min_seconds",
        "frame_height",
        *(f"template line {n}:" for n in range(1, 5)),
    ]
    assert len(found) == len(starts) and all(one.startswith(start) for one, start in zip(found, starts, strict=True))


@pytest.mark.parametrize("names", ["x", [1], [""], [" a"], ["a", "a"], ["x" * 61], ["workerId"], ["answer"], ["\0"]])
def test_names_of_further_fields_that_cannot_be_are_refused(names: Any) -> None:
    assert faults("<input name='answer'>", more_fields=names)


@pytest.mark.parametrize(
    "form", ["<form>{}<button>x</button></form>", "<form id='f'><input type='image'></form>{}", "{}"]
)
def test_a_page_without_a_form_gets_one_and_a_script_may_send_one_without_a_button(form: str) -> None:
    attribute = " form='f'" if "id='f'" in form else ""
    assert checked(form.format(f"<input name='a'{attribute}>"), {"a": "x"}) == {"a": "x"}
    assert checked(f"<form><input name='a'></form>{SCRIPT}", {"a": "x"}) == {"a": "x"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_templates_of_laboratories_are_taken_and_fit_into_a_question(case: Any) -> None:
    settings = protocol.settings({"template": case.html, **case.settings})
    assert protocol.settings(settings) == settings
    page = protocol.own_page({"columns": case.columns}, {}, settings)
    assert len(html_question(page.html, page.frame_height).encode()) <= 65_535
    assert set(case.labels) <= {*protocol.levels(settings), "marked"}


# Rows


def test_the_sample_template_fits_the_sample_table_of_the_recipe() -> None:
    settings = protocol.settings({"template": (ROOT / "samples" / "page.html").read_text(encoding="utf-8")})
    with (ROOT / "hits" / "recipes" / "html_page" / "sample.csv").open("rb") as file:
        documents = table_rows.read_documents(file, name="sample.csv", max_bytes=10_000, default_origin="public")
    assert [protocol.item_faults(one.data, {}, settings) for one in documents] == [[], [], []]
    assert list(protocol.levels(settings)) == ["kind", "unclear", "sure", "remark"]


def test_missing_columns_are_named_and_others_are_passed_over() -> None:
    settings = protocol.settings({"template": "<p>${text} ${text} ${by}</p><input name='a'>"})
    assert protocol.item_faults({"columns": {"Text": "x", "by": "y"}}, {}, settings) == [
        "The template names the column 'text', which is missing: add it, or correct the template."
    ]
    assert protocol.item_faults({"columns": {"text": "x", "by": "y", "more": "z"}}, {}, settings) == []


@pytest.mark.parametrize(
    ("template", "value", "told"),
    [
        ("<a href='${v}'>x</a><input name='a'>", "javascript:alert(1)", "an address that starts with javascript:"),
        ("<p>${v}</p><input name='a'>", "bell \x07", "a character that cannot be shown"),
        ("<p>${v}</p><input name='a'>", "x" * MOST_BYTES, "has more than 65,235 bytes: shorten its values"),
        ("<p>${v}</p><input name='a'>", "<" * 20_000, "has more than 65,235 bytes: shorten its values"),
        (
            "<input type='checkbox' name='a' value='${v}'><input type='checkbox' name='a' value='w'>",
            "x|y",
            "a choice of this row holds a bar",
        ),
    ],
)
def test_a_row_that_cannot_be_shown_is_named(template: str, value: str, told: str) -> None:
    settings = protocol.settings({"template": template})
    (fault,) = protocol.item_faults({"columns": {"v": value}}, {}, settings)
    assert told in fault and fault.endswith(".")
    if "bar" not in told:
        with pytest.raises(NotFilledError):
            protocol.own_page({"columns": {"v": value}}, {}, settings)


ROW = "<p id='p'>${v}</p><input name='a' value=\"${v}\"><input name='b' value=${v}><script>'${v}'</script>"


@given(some.text(alphabet="<>&\"'/= {}$abc\n]!-", max_size=60))
def test_no_value_of_a_row_becomes_markup(value: str) -> None:
    settings = protocol.settings({"template": ROW})
    made, empty = (
        html5lib.parse(protocol.own_page({"columns": {"v": one}}, {}, settings).html, namespaceHTMLElements=False)
        for one in (value, "x")
    )
    assert [(node.tag, set(node.attrib)) for node in made.iter()] == [(n.tag, set(n.attrib)) for n in empty.iter()]
    assert "".join(made.find(".//p[@id='p']").itertext()) == value
    assert [made.find(f".//input[@name='{name}']").get("value") for name in "ab"] == [value, value]


MARKUP = (
    "<b>x</b> &amp; <p style='color: red; position: fixed' onclick='f()' class=h id=i>y<script>f()</script></p>"
    "<form><input name='a'></form><img src='https://a.example/x.png' onerror=f()>"
    "<a href='javascript:f()'>z</a></textarea>"
)
SHOWN = (
    '<b>x</b> &amp; <p style="color:red" class="h">y</p><img src="https://a.example/x.png">'
    '<a rel="noopener noreferrer">z</a>'
)


def test_a_column_with_markup_is_shown_as_html_where_elements_may_stand_and_without_what_runs() -> None:
    page = "<p>${v}</p><p>${w}</p><i title='${v}'></i><textarea name='b'>a ${v}</textarea><script>'${v}'</script>"
    row = {"columns": {"v": MARKUP, "w": "<b>"}}
    made = protocol.own_page(row, {}, protocol.settings({"template": page, "markup": ["v"]})).html
    plain = protocol.own_page(row, {}, protocol.settings({"template": page})).html
    assert made.replace(f"<p>{SHOWN}</p>", "", 1) == plain.replace(f"<p>{escape(MARKUP, quote=False)}</p>", "", 1)
    assert "<p>&lt;b&gt;</p>" in made


PIECES = [
    "<",
    ">",
    "</",
    "div>",
    "form>",
    "<b ",
    "<script>",
    "<svg ",
    "<input ",
    "name=a",
    "onclick=f()",
    "id='a'",
    '"',
]
PIECES += ["<!--", "-->", "<style>", "<iframe src=", "<a href=", "javascript:f()", "</textarea>", "&lt;", "x", " ", "'"]


@given(some.lists(some.sampled_from(PIECES), max_size=20).map("".join))
def test_nothing_that_a_column_with_markup_holds_runs_asks_or_closes_what_is_around_it(value: str) -> None:
    page = "<form><div>${v}</div><input name='a'><button>x</button></form>"
    settings = protocol.settings({"template": page, "markup": ["v"]})
    tree = html5lib.parse(protocol.own_page({"columns": {"v": value}}, {}, settings).html, namespaceHTMLElements=False)
    assert [node.get("name") for node in tree.findall(".//form/input")] == ["a"]
    names = {name for node in tree.find(".//form/div").iter() for name in node.attrib}
    assert not any(name.startswith("on") or name in ("id", "name", "action") for name in names)
    assert not {node.tag for node in tree.find(".//form/div").iter()} & {"script", "form", "input", "iframe", "style"}


@pytest.mark.parametrize("markup", [7, "v", [1], ["w"]])
def test_columns_with_markup_that_cannot_be_are_refused(markup: Any) -> None:
    assert len(faults("<p>${v}</p><input name='a'>", markup=markup)) == 1


def test_an_import_names_columns_with_markup_that_are_shown_as_they_are_written() -> None:
    settings = protocol.settings({"template": "<p>${v} ${w}</p><input name='a'>", "markup": ["w"]})
    rows = [{"v": "a <br/>b", "w": "<b>"}, {"v": "&#39;", "w": "", "x": "1 < 2 > 0 <name> A&B"}, {"v": "c"}]
    (note,) = protocol.import_notes([({"columns": row}, {}) for row in rows], settings)
    assert note.startswith("The column 'v' has markup in 2 rows, such as <br/>. Workers see it as it is")


# Answers


def test_a_label_says_what_kind_of_field_it_is_of() -> None:
    template = (
        "<input type='radio' name='one' value='x'><input type='radio' name='one' value='y'>"
        "<input type='checkbox' name='box' value='on'><input type='number' name='n'><input name='line'>"
        "<select name='list' multiple><option>u<option value='w'>v</select><input name='twice'><input name='twice'>"
        "<input type='radio' name='alone' value='z'><textarea name='text'></textarea>"
    )
    posted = {"one": "x", "box": "on", "n": "2.50", "line": " a ", "list": "u|w", "twice": "p|", "text": "a|b\r\nc\0"}
    assert checked(template, posted) == {
        **{"one": "x", "box": ["on"], "n": 2.5, "line": "a", "list": ["u", "w"]},
        **{"twice": ["p"], "alone": [], "text": "a|b\nc"},
    }
    assert protocol.levels(protocol.settings({"template": template})) == {
        **{"one": "nominal", "box": "set", "n": "interval", "line": "nominal", "list": "set"},
        **{"twice": "set", "alone": "set", "text": "text"},
    }


FORM = (
    "<crowd-classifier name='tone' categories=\"['Glad', 'Sad']\"></crowd-classifier>"
    "<crowd-checkbox name='t' value='a'>A</crowd-checkbox><crowd-checkbox name='t' value='b.c'>B</crowd-checkbox>"
    "<crowd-radio-group required><crowd-radio-button name='r' value='yes'>Y</crowd-radio-button>"
    "<crowd-radio-button name='r' value='no'>N</crowd-radio-button></crowd-radio-group>"
    "<crowd-slider name='x.y'></crowd-slider><crowd-input name='x'></crowd-input>"
    "<crowd-image-classifier-multi-select name='of' categories=\"['Sea', 'Hut']\" "
    "exclusion-category=\"{ text: 'None' }\"></crowd-image-classifier-multi-select>"
    "<crowd-toggle-button name='blurred'></crowd-toggle-button>"
    "<crowd-entity-annotation name='who' labels=\"[{'label': 'person'}, {'label': 'a place'}]\" text='Anna in Linden'>"
    "</crowd-entity-annotation>"
)
MARKED = [
    {"endOffset": 4, "label": "person", "startOffset": 0},
    {"endOffset": 14, "label": "a place", "startOffset": 8},
]
NESTED = [
    {
        "tone": {"label": "Sad"},
        "t": {"a": False, "b.c": True},
        "r": {"yes": True, "no": False},
        "x.y": "4",
        "x": "word",
        "of": {"labels": ["Hut", "Sea"]},
        "blurred": {"on": True},
        "who": {"entities": MARKED},
        "else": "?",
    }
]
FLAT = {
    **{"tone.label": "Sad", "t.a": "false", "t.b.c": "true", "r.yes": "true", "r.no": "false"},
    **{"x.y": "4", "x": "word", "z.a": "?"},
    **{"of.labels": "Hut|Sea", "blurred.on": "true", "who.entities": json.dumps(MARKED)},
}


def test_a_crowd_form_gives_the_same_labels_as_one_object_and_flattened() -> None:
    expected = {
        **{"tone": "Sad", "t": ["b.c"], "r": "yes", "x.y": 4, "x": "word", "of": ["Hut", "Sea"], "blurred": ["on"]},
        "who": ["0-4 person", "8-14 a place"],
    }
    page = f"{CROWD}<crowd-form>{FORM}</crowd-form>"
    assert checked(page, {"taskAnswers": json.dumps(NESTED)}) == expected
    assert checked(page.replace("<crowd-form>", "<crowd-form answer-format='flatten-objects'>"), FLAT) == expected


@pytest.mark.parametrize(
    "posted",
    [
        "", "7", "[]", "[1]", "[{}, {}]", "{}", "[" * 50_000, '[{"n": 1' + "0" * 5_000 + "}]", '[{"x": NaN}]',
        '[{"x": {"label": "a"}}]', '[{"r": {"yes": true, "no": true}}]', '[{"tone": {"label": 7}}]',
        '[{"t": {"a": "perhaps"}}]', '[{"t": [["a"]]}]', '[{"x.y": "far"}]', '[{"x.y": 1e999}]', '[{"x.y": true}]',
        '[{"tone": {"label": "Angry"}}]', '[{"of": {"labels": ["Sky"]}}]',
        '[{"x": ""}]', json.dumps([{"x": "x" * 20_001}]),
        json.dumps([{"t": {str(n): True for n in range(201)}}]), json.dumps([{"t": ["a"] * 201}]),
    ],
)  # fmt: skip
def test_what_no_crowd_form_sends_is_refused_with_sentences(posted: str) -> None:
    told = refusal(f"{CROWD}<crowd-form>{FORM}</crowd-form>", {"taskAnswers": posted})
    assert told[0].isupper() and told.endswith(".")


def test_values_that_the_page_does_not_offer_are_refused_where_no_script_could_have_made_them() -> None:
    radios = "<input type='radio' name='a' value='${x}' required><input type='radio' name='a' value='n'>"
    assert checked(radios, {"a": "y & z"}, {"x": "y & z"}) == {"a": "y & z"}
    assert "has the value 'q', which is none of its choices" in refusal(radios, {"a": "q"})
    assert checked(f"{radios}<script>1</script>", {"a": "q"}) == {"a": "q"}
    more = f"{radios}<input name='b'>"
    assert refusal(more, {"b": "x"}) == "The field 'a' is not answered yet."
    assert checked(f"{more}<p onclick='go()'>x</p>", {"b": "x"}) == {"b": "x"}


MAKES = "<script>document.body.append(field)</script>"


def test_what_scripts_made_is_kept_and_becomes_a_part_of_the_task() -> None:
    """Also of pages whose scripts make all; not what says the same in every answer or is the marketplace's own."""
    page = f"<input name='a'>{MAKES}<p><button name='send' value='1'>x</button></p>"
    posted = {"a": "1", "b[0] c": "2", "send": "1", "assignmentId": "3X", "workerId": "W", "blank": " "}
    assert checked(page, posted) == {"a": "1", "b[0] c": "2"}
    assert checked(MAKES, {"b": "2"}) == checked(MAKES, {"b": "2"}, more_fields=["b"]) == {"b": "2"}
    assert refusal(MAKES, {"workerId": "W"}) == "Nothing is answered yet. Answer a question."
    crowd = f"{CROWD}<crowd-form><crowd-input name='a'></crowd-input></crowd-form>{MAKES}"
    assert checked(crowd, {"taskAnswers": '[{"a": "1", "made": {"x": [1]}}]'}) == {"a": "1", "made": '{"x": [1]}'}
    assert "more than 1,000 fields" in refusal(crowd, {"taskAnswers": json.dumps([{f"f{n}": 1 for n in range(1001)}])})
    settings = protocol.settings({"template": page})
    grown = protocol.settings(protocol.grown(settings, ["a", "b[0] c"]))
    assert protocol.levels(grown) == {"a": "nominal", "b[0] c": "nominal"} and protocol.grown(grown, ["a"]) == grown
    assert len(protocol.grown(settings, [f"f{n}" for n in range(300)])["more_fields"]) == 200


def test_a_field_with_a_long_name_or_a_column_in_its_name_is_one_unit() -> None:
    long = "Which of these statements about the text is true? [choose one]\n(1)"
    page = f"<input name='{long}'>" + "".join(f"<input type='radio' name='q_${{id}}' value='{one}'>" for one in "xy")
    settings = protocol.settings({"template": page, "gold": {"q_${id}": "right"}})
    (unit, other) = protocol.levels(settings)
    assert (len(unit), other) == (60, "q_${id}") and unit.startswith(f"{long[:51]}~")
    row = {"columns": {"id": "7", "right": "y"}}
    found = protocol.check(row, {}, settings, {long: "a", "q_7": "x"}).labels
    assert [(one.unit, one.value, one.correct) for one in found] == [(unit, "a", None), ("q_${id}", "x", False)]
    assert protocol.known_values(row, {}, settings) == {"q_${id}": "y"}
    assert checked(page, {long.replace("\n", "\r\n"): "a"}) == {unit: "a"}, "as browsers send names of two lines"
    for told in ({long: "a", "q_7": "x"}, {unit: "a", "q_${id}": "x"}):
        assert protocol.posted(row, {}, settings, told, "W") == {long: "a", "q_7": "x"}
    assert checked(MAKES, {long: "a"}) == {unit: "a"}
    assert {line.units for line in protocol.in_lines(row, {}, settings, {unit: "a"})} == {(unit,)}


def test_without_scripts_fields_that_the_page_does_not_have_are_passed_over() -> None:
    page = "<input name='a'>"
    assert checked(page, {"a": "1", "b": "2", "assignmentId": "3X"}) == {"a": "1"}
    assert checked(page, {"a": "1", "b": "2"}, more_fields=["b"]) == {"a": "1", "b": "2"}
    assert (
        refusal(page, {"b": "2"})
        == "None of the page's fields is answered. What was sent, such as 'b', is no field of the page."
    )
    assert refusal(page, {"a": " "}) == "Nothing is answered yet. Answer a question."


def test_what_is_posted_is_bounded_and_can_be_kept() -> None:
    page = "<input name='a'><input type='range' name='n'>"
    assert "more than 20,000 characters" in refusal(page, {"a": "x" * 20_001})
    assert "longer than 200,000 characters" in refusal(page, {"a": "x", "b": "y" * 200_001})
    assert "longer than" in refusal(page, {"a": "x", **{f"f{n}": "" for n in range(1001)}})
    for number in ("nan", "inf", "-inf", "1e400", "x", "1e16"):
        assert "must be a number" in refusal(page, {"n": number})
    found = checked(page, {"a": f"\ud800\0{NASTY}", "n": "1e3"})
    assert found["n"] == 1000 and "\0" not in found["a"]
    json.dumps(found).encode()
    found["a"].encode()


# Gold answers

PAGE = (
    "<p>${text}</p><input type='radio' name='good' value='yes'><input type='radio' name='good' value='no'>"
    "<input type='checkbox' name='topic' value='rain'><input type='checkbox' name='topic' value='soup'>"
    "<input type='number' name='year'><input name='town'><textarea name='why'></textarea>"
)
GOLD = {"good": "right", "topic": "topics", "year": "right year", "town": "place"}
KNOWN = {"text": "x", "right": "yes", "topics": "soup | rain", "right year": "2026", "place": "Port  Linden"}
RIGHT = {"good": "yes", "topic": "rain|soup", "year": "2026.0", "town": "Port Linden", "why": "So."}


def judged(posted: dict[str, str], row: dict[str, Any], template: str = PAGE, **more: Any) -> dict[str, bool | None]:
    settings = protocol.settings({"template": template, "gold": GOLD, **more})
    return {label.unit: label.correct for label in protocol.check({"columns": row}, {}, settings, posted).labels}


def test_an_answer_is_compared_with_the_known_one_of_its_field_where_the_row_has_one() -> None:
    assert judged(RIGHT, KNOWN) == {"good": True, "topic": True, "year": True, "town": True, "why": None}
    wrong = {"good": "no", "topic": "rain", "year": "1", "town": "port linden", "why": "So."}
    assert judged(wrong, KNOWN) == {"good": False, "topic": False, "year": False, "town": False, "why": None}
    unknown = {**KNOWN, "right": "", "topics": " ", "right year": None, "place": "\n"}
    assert set(judged(RIGHT, unknown).values()) == {None}
    assert judged(RIGHT, {**KNOWN, "topics": ["rain", "soup"], "right year": 2026}) == judged(RIGHT, KNOWN)


def test_known_answers_of_a_crowd_form_are_compared_too() -> None:
    page = f"{CROWD}<crowd-form>{FORM}</crowd-form>"
    row = {"a": "Sad", "b": "b.c", "c": "4", "d": "8-14 a place|0-4 person"}
    found = judged({"taskAnswers": json.dumps(NESTED)}, row, page, gold={"tone": "a", "t": "b", "x.y": "c", "who": "d"})
    assert {name for name, right in found.items() if right} == {"tone", "t", "x.y", "who"}
    assert {name for name, right in found.items() if right is None} == {"r", "x", "of", "blurred"}


@pytest.mark.parametrize(
    ("entities", "why"),
    [
        (MARKED[:1], ""),
        (
            [{"startOffset": 0, "endOffset": 3, "label": "boat"}],
            "has the value 'boat', which is none of its choices",
        ),
        ([{"startOffset": 3, "endOffset": 3, "label": "person"}], "has a marked part that cannot be read"),
        ([{"startOffset": True, "endOffset": 3, "label": "person"}], "has a marked part that cannot be read"),
        ({"startOffset": 0}, "has no list of at most 200 marked parts"),
        (MARKED[:1] * 201, "has no list of at most 200 marked parts"),
    ],
)
def test_marked_parts_of_a_text_are_checked_again(entities: Any, why: str) -> None:
    """Of a page that has no form: the element sends itself."""
    page = f"{CROWD}{FORM[FORM.index('<crowd-entity') :]}"
    posted = {"taskAnswers": json.dumps([{"who": {"entities": entities}}])}
    if why:
        assert f"The field 'who' {why}" in refusal(page, posted)
    else:
        assert checked(page, posted) == {"who": ["0-4 person"]}


def test_columns_of_known_answers_are_written_as_lines_or_as_an_object() -> None:
    lines = ["good = right", "year=right year"]
    kept = protocol.settings({"template": PAGE, "gold": lines})
    assert kept["gold"] == {"good": "right", "year": "right year"} and protocol.settings(kept) == kept
    (shown,) = (setting for setting in protocol.fields if setting.name == "gold")
    assert shown.lines(kept["gold"]) == ["good = right", "year = right year"]
    assert protocol.named_columns(kept) == ["text", "right", "right year"]


@pytest.mark.parametrize(
    ("gold", "told"),
    [
        ({"god": "right"}, ["names the field 'god', which the page does not have. There are: good, topic, year, town"]),
        ({"why": "right"}, ["names the field 'why', a written text"]),
        ({"good": "text"}, ["must not take gold answers from the column 'text', which workers see."]),
        ({"good": ""}, ["must name a column of 1 to 200 characters for the field 'good'."]),
        (["good = a", "good = b"], ["names the field 'good' more than once"]),
        (["good"], ["must be an object, or lines such as answer = right answer"]),
        (7, ["must be an object, or lines"]),
        ({"good": 7}, ["must have the names of a field and of a column"]),
        ({"god": "text", "why": ""}, ["'god'", "from the column 'text'", "'why', a written", "a column of 1 to 200"]),
    ],
)
def test_known_answers_that_do_not_fit_the_page_are_refused_when_it_is_set_up(gold: Any, told: list[str]) -> None:
    found = faults(PAGE, gold=gold)
    assert len(found) == len(told) and all(why in fault for why, fault in zip(told, found, strict=True))
    assert all(fault.startswith("gold ") for fault in found)


def test_known_answers_that_nobody_can_give_and_columns_that_lack_are_named() -> None:
    settings = protocol.settings({"template": PAGE, "gold": GOLD})
    wrong = {**KNOWN, "right": "Yes", "topics": "rain|hail", "right year": "last"}
    assert [fault.partition(":")[0] for fault in protocol.item_faults({"columns": wrong}, {}, settings)] == [
        "The gold answer 'Yes' of the column 'right' is none",
        "The gold answer 'rain|hail' of the column 'topics' is none",
        "The gold answer 'last' of the column 'right year' is none",
    ]
    assert protocol.item_faults({"columns": KNOWN}, {}, settings) == []
    lacking = protocol.item_faults({"columns": {"right": "yes", "topics": "", "right year": ""}}, {}, settings)
    assert [fault.split("'")[1] for fault in lacking] == ["text", "place"]
    scripted = protocol.settings({"template": f"{PAGE}<script>1</script>", "gold": GOLD})
    assert len(protocol.item_faults({"columns": wrong}, {}, scripted)) == 1, "a script may make other choices"
