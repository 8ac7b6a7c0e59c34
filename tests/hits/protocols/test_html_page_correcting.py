"""Corrected copies of templates that are refused: each passes, asks the same, and says what is different in it."""

from __future__ import annotations

import pytest

from hits.protocols.html_page.correcting import corrected
from hits.protocols.html_page.template import MOST_BYTES, read_template
from tests.hits.protocols.page_templates import CASES, FOLDER

SEND = "<button>Send</button>"
EXTERNAL = "https://www.mturk.com/mturk/externalSubmit"
FIELDS = "<input name='a'><input type='radio' name='b' value='1'><input type='radio' name='b' value='2'>"


@pytest.mark.parametrize(
    ("template", "fields", "columns", "told"),
    [
        (f"<form><div><b>${{x}}<p>{FIELDS}{SEND}</form></i>", "ab", "x", ["It is written as browsers read it"]),
        (f"<form>{FIELDS}{SEND}<!-- {'x' * MOST_BYTES} --></form>", "ab", "", ["Comments and needless white space"]),
        (f"<form id=f>{SEND}</form>{FIELDS}", "ab", "", ["The field 'a' belongs", "The field 'b' belongs"]),
        (f"<form>{SEND}</form><table><tr><td>{FIELDS}</td></tr></table>", "ab", "", ["The field 'a'", "The field 'b'"]),
        (f"<form name='edit' action='edit'>{FIELDS}{SEND}</form>", "ab", "", ["The form 'edit' is sent to the market"]),
        (f"<form name='edit'>{FIELDS}</form>", "ab", "", ["The form 'edit' gets a Submit button."]),
        (
            f"<form name='edit'>{FIELDS}</form><form action='{EXTERNAL}'><textarea name='c'></textarea>{SEND}</form>",
            "abc",
            "",
            ["The form 'edit', which nothing sends", "The field 'a' belongs", "The field 'b' belongs"],
        ),
        (f"<form action='{EXTERNAL}'><form>{FIELDS}{SEND}</form></form>", "ab", "", ["It is written"]),
        (
            f"<form>{FIELDS}<input type=file name=scan>{SEND}</form>",
            "ab",
            "",
            ["The field 'scan', which asks for a file"],
        ),
        (
            f"<form>{FIELDS}{SEND}</form>\n<a onclick=\"show('${{x}}', ${{y}}, '${{x}}')\">x</a>",
            "ab",
            "xy",
            ["line 2: <a> has the values of its onclick in data-value1, data-value2"],
        ),
        (f"{FIELDS}<p style='width: ${{w}}px'>x</p>", "ab", "w", ["line 1: <p> has its style in data-style"]),
        (
            "<crowd-form><crowd-input name='a'></crowd-input></crowd-form>",
            "a",
            "",
            ["The script of the crowd elements"],
        ),
        (
            f"<form><div>{FIELDS}<p style='${{s}}'>",
            "ab",
            "s",
            ["line 1: <p>", "It is written", "The form gets a Submit"],
        ),
    ],
)
def test_a_copy_passes_and_asks_the_same(template: str, fields: str, columns: str, told: list[str]) -> None:
    assert read_template(template)[0] is None
    copy = corrected(template)
    assert copy is not None and len(copy.changes) == len(told), copy
    assert all(change.startswith(start) for change, start in zip(copy.changes, told, strict=True)), copy.changes
    read, faults = read_template(copy.text)
    assert read is not None, faults
    assert ("".join(sorted(read.fields)), "".join(read.columns)) == (fields, columns)
    assert corrected(copy.text) is None


def test_values_of_a_row_stay_values_in_a_handler() -> None:
    copy = corrected("<a onclick='f(\"it\\\"s ${x}!\", `${y}`, ${y})'>x</a><input name='a'>")
    assert copy is not None
    filled = read_template(copy.text)[0].filled({"x": "');evil('", "y": '"'})  # type: ignore[union-attr]
    assert (
        'onclick="f(&quot;it\\&quot;s &quot; + this.dataset.value1 + &quot;!&quot;, `` + this.dataset.value2' in filled
    )
    assert "&#x27;);evil(&#x27;" in filled and "evil('" not in filled


@pytest.mark.parametrize(
    "template", ["", "<p>x</b>", "<input name='a'><style>${c}</style>", "<input ${c}>", "<a " * 9_000]
)
def test_no_copy_is_offered_that_would_be_refused(template: str) -> None:
    assert read_template(template)[0] is None and corrected(template) is None


def test_a_template_that_passes_has_no_copy() -> None:
    assert [case.name for case in CASES if corrected(case.html)] == []
    copy = corrected((FOLDER / "unclosed.html").read_text(encoding="utf-8"))
    assert copy is not None and copy.changes == (
        "It is written as browsers read it: every element is closed, and tags that open or close nothing are gone.",
    )
