"""Old templates with the usual faults: all of them are told, and the corrected copy is the same page without them."""

import re
import time
from pathlib import Path

import html5lib
import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.html_correcting import look_at
from common.html_pages import html_faults
from common.html_templates import template_faults
from marketplace.rules import limits
from marketplace.rules.questions.layouts import check_layout

TEMPLATES = {file.name: file for file in (Path(__file__).parent / "old_templates").glob("*.html")}
# The lines that have to be looked at, each as often as something is wrong there.
LINES = {
    "crowd_empty.html": [5, 6, 8, 9, 10],
    "duplicate_attributes.html": [4, 5],
    "entities.html": [1],
    "form_in_table.html": [4, 11],
    "frames_and_fonts.html": [3, 3, 6, 8, 8, 9],
    "half_closed.html": [12, 13],
    "headings.html": [5, 6, 12],
    "image_labels.html": [2, 2, 10],
    "links.html": [1, 2, 2, 4, 5, 5, 6],
    "nested_forms.html": [5, 11],
    "script_old.html": [17],
    "stray_divs.html": [5, 8, 10],
    "survey_link.html": [19, 21],
    "table_text.html": [5, 5, 7],
    "xhtml.html": [5, 9, 10, 13, 14, 20],
}


def text_of(name: str) -> str:
    return TEMPLATES[name].read_text(encoding="utf-8")


def test_the_templates_are_all_there() -> None:
    assert TEMPLATES.keys() == LINES.keys()


@pytest.mark.parametrize("name", LINES)
def test_every_fault_is_told_with_its_line(name: str) -> None:
    report = look_at(text_of(name))
    assert [fault.line for fault in report.faults] == LINES[name]
    assert not report.passes and not report.too_large


@pytest.mark.parametrize("name", LINES)
def test_the_corrected_copy_passes_and_has_the_same_placeholders(name: str) -> None:
    html = text_of(name)
    corrected = look_at(html).corrected
    assert corrected and check_layout(corrected) == check_layout_names(html)
    assert look_at(corrected).passes and not look_at(corrected).corrected


def check_layout_names(html: str) -> list[str]:
    return list(dict.fromkeys(re.findall(r"\$\{(\w+)\}", html)))


def test_a_field_stays_in_the_form_that_begins_inside_its_table() -> None:
    document = html5lib.parse(look_at(text_of("form_in_table.html")).corrected, namespaceHTMLElements=False)
    (form,) = document.iter("form")
    assert (form.get("id"), form.get("action")) == ("form0", "https://www.mturk.com/mturk/externalSubmit")
    assert {field.get("form") for field in document.iter() if field.tag in ("input", "select")} == {"form0"}


def test_an_element_that_is_closed_in_itself_does_not_swallow_the_rest() -> None:
    page = look_at("<textarea name=a/>x<div/><svg><path d='M0'/></svg><p/>y<span/>z</span>").corrected
    assert page.endswith(
        '<textarea name="a/"></textarea>x<div></div><svg><path d="M0"></path></svg><p></p>y<span>z</span></body></html>'
    )


def test_what_cannot_be_corrected_is_told() -> None:
    cut = look_at("<p>x</p>\n<a href='y>z</a>")
    assert (cut.corrected, cut.faults[0].line) == ("", 2)
    assert cut.left == ["[2,0] Unexpected end of file in a tag: it is not closed, or a quote in it."]
    unknown = look_at("<crowd-form>\n<crowd-line></crowd-form>")
    assert not unknown.corrected and "<crowd-line> is not offered" in unknown.left[0]
    style = look_at("<style>\n${color}</style></b>")
    assert [fault.line for fault in style.faults] == [2, 2] and not style.corrected
    assert look_at("").faults[0].text == "The page is empty." and look_at("a\n\x01</b>").corrected


def test_a_page_that_is_right_needs_no_copy() -> None:
    report = look_at("<form><p>${x}</p></form>")
    assert report.passes and (report.faults, report.corrected, report.shares) == ([], "", ())


def test_placeholders_of_a_raw_layout_stay_where_they_are() -> None:
    html = "<table>${rows}</table><!-- ${a} --><textarea>${b}</textarea><script><!-- x --> f(${c})</script>"
    html += "<p ${d}>${e}</b>"
    report = look_at(html, raw=True)
    assert (
        "<table>${rows}</table><!-- ${a} --><textarea>${b}</textarea><script><!-- x --> f(${c})</script>"
        in report.corrected
    )
    assert not template_faults(report.corrected, raw=True) and "raw:" not in report.corrected
    assert not look_at("<table><${row} ${Name}></${row}></table></b>", raw=True).corrected


def test_the_size_is_told_with_what_takes_it() -> None:
    picture = f"<img alt='' src='data:image/png;base64,{'A' * 60_000}'>"
    html = f"<form>{picture}<style>{'p{}' * 1000}</style><!-- {'x' * 991} -->\n{' ' * 4000}<p>é</p></form>"
    report = look_at(html)
    assert report.too_large and report.size == len(html.encode()) and report.faults == []
    assert [(share.what.split()[0], share.size, share.places) for share in report.shares] == [
        ("pictures", 60_022, 1),
        ("white", 4_000, 1),
        ("style", 3_000, 1),
        ("comments", 1_000, 1),
        ("texts", report.size - 68_022, 1),
    ]
    assert sum(share.size for share in report.shares) == report.size
    assert report.squeezed and len(report.corrected) <= limits.QUESTION_BYTES and "<!--" not in report.corrected
    larger = look_at(html.replace("</form>", f"{picture}</form>"))
    assert not larger.corrected and f"at most {limits.QUESTION_BYTES:,} are allowed" in larger.left[-1]


def test_squeezing_keeps_texts_whose_white_space_is_seen() -> None:
    kept = "<pre>a   b\n\n c</pre><textarea>\n  x\n\n  y</textarea><script>f('  ')</script>"
    html = f"<form>{kept}<p>one   two\n\n   three</p>{'<!--     -->' * 6000}</form>"
    report = look_at(html)
    assert report.squeezed and "<p>one two\nthree</p>" in report.corrected
    assert "<pre>a   b\n\n c</pre>" in report.corrected and "<script>f('  ')</script>" in report.corrected
    # The line feed behind the tag is none of the text.
    assert "<textarea>  x\n\n  y</textarea>" in report.corrected


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 100_000,
        "<b><p>" * 20_000,
        "<!--" * 40_000,
        "<svg>" * 20_000,
        "x/>" * 40_000,
        "</i><b>" * 9_000,
        "<" * 130_000,
    ],
)
def test_no_page_keeps_it_busy(html: str) -> None:
    """The time of this thread, which a busy machine does not lengthen."""
    started = time.thread_time()
    report = look_at(html)
    assert report.size == len(html) and time.thread_time() - started < 30


PIECES = [
    "<p>",
    "</p>",
    "<b>",
    "</b>",
    "<a href=x>",
    "</a>",
    "<table>",
    "<tr>",
    "<td>",
    "</table>",
    "<form>",
    "</form>",
]
PIECES += [
    "<input name=a>",
    "<textarea>",
    "</textarea>",
    "<select>",
    "<option>",
    "</div>",
    "<div/>",
    "<script/>",
    "<svg>",
]
PIECES += ["<!--", "-->", "${x}", "x & y", "\n", "<pre>", "<crowd-form>", "<crowd-input />", "</crowd-form>", "<body>"]


@pytest.mark.parametrize(
    "html", ["</p>${x}", "<script/>${x}", "<p></b>a</p></body>${x} b ${x}", "<!--a-->${x}</p><p>b"]
)
def test_placeholders_around_the_body_are_put_into_it_in_a_copy(html: str) -> None:
    copy = look_at(html, raw=True).corrected
    assert copy.count("${x}") == html.count("${x}") and copy.index("<body>") < copy.index("${x}")
    assert copy.rindex("${x}") < copy.index("</body>") and not html_faults(copy.replace("${x}", "x"))


@given(st.lists(st.sampled_from(PIECES), max_size=15).map("".join), st.booleans())
def test_a_copy_that_is_offered_passes_whatever_was_wrong(html: str, raw: bool) -> None:
    report = look_at(html, raw)
    assert report.passes == (not template_faults(html, raw))
    if report.corrected:
        assert not template_faults(report.corrected, raw) and not html_faults(report.corrected.replace("${x}", "x"))
        assert ("${x}" in report.corrected) == ("${x}" in html)
    else:
        assert report.passes or report.left
