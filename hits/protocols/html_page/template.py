"""Templates of Mechanical Turk and Turkle: what one asks, which columns it names, and what is wrong with it.

Faults are sentences that begin with `template` and the line. A page without a form gets one, as there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from re import IGNORECASE, Pattern
from re import compile as pattern
from typing import Any

from common.html_pages import ANNOTATION, OWN_FORMS, VOID, Fault, is_submit, position
from common.html_tags import SCRIPT, Page, Tag
from common.html_templates import PLACEHOLDER, filled, placeholder_names, size_of, template_faults, with_form
from hits.protocols.html_page.controls import Field, controls, fields, ranges
from hits.text.markup import sanitised

# A question has 65,535 bytes at most; the XML around the page is a part of it.
MOST_BYTES = 65_535 - 300
# How many bytes one end of CDATA in the page becomes more.
_SPLIT = len("]]]]><![CDATA[>") - len("]]>")
CROWD_SCRIPT = "crowd-html-elements.js"
CROWD_FORM = "crowd-form"
MOST_FIELDS = 200
MOST_OF = {"form": 20, CROWD_FORM: 20, "crowd-radio-group": 500, "select": 500, "script": 200}
SHOWN = 50
_OUR_SCRIPTS = (CROWD_SCRIPT, "externalHIT_v1.js")
# What begins as a placeholder and is none.
_ODD = pattern(r"\$\{[^}<\n]{0,80}\}?")
# Elements that an end tag of another, or the end of the page, closes.
_CLOSED_BY_OTHERS = frozenset(
    ["p", "li", "dt", "dd", "tr", "td", "th", "thead", "tbody", "tfoot", "colgroup", "option", "optgroup", "rp", "rt"]
    + ["html", "head", "body"]
)
# What the parser says of elements that are not closed, or closed twice; the stack below says which.
_OF_ENDS = pattern(r"end tag|closing|closed|end of file|Unexpected start tag \(form\)", IGNORECASE)
_SOLIDUS = "Trailing solidus not allowed on element "
_SLASH = "is not closed by its slash"
_SUBMITS = pattern(r"submit", IGNORECASE)
_MAKES = pattern(r"createElement|innerHTML|insertAdjacent|document\.write|append|\.html\(|<(input|textarea|select)\b")


@dataclass(frozen=True)
class Template:
    """A page whose placeholders are the columns of a row; `html` has its form.

    `scripted` says that scripts of its own may change the page, `crowd` that its answer comes as that of a crowd-form.
    `buttons` are the names of what says the same in every answer; `makes_fields` says that a script may make others.
    `markup` are the columns whose values are HTML.
    """

    html: str
    columns: tuple[str, ...]
    fields: Mapping[str, Field]
    scripted: bool
    crowd: bool
    buttons: frozenset[str] = frozenset()
    makes_fields: bool = False
    markup: frozenset[str] = frozenset()

    @property
    def is_strict(self) -> bool:
        """Whether what a browser would have checked can be checked again: no script changes what is asked."""
        return not self.scripted

    def filled(self, columns: Mapping[str, Any]) -> str:
        """The page of a row. Raises NotFilledError."""
        values = {name: str(columns[name]) for name in self.columns if name in columns}
        markup = {name: sanitised(value) for name, value in values.items() if name in self.markup}
        return filled(self.html, values, MOST_BYTES, markup=markup)

    def posted(self, columns: Mapping[str, Any]) -> dict[str, Field]:
        """The fields by the names that they have in the page of this row."""
        return {_named(name, columns): field for name, field in self.fields.items()}

    def options(self, field: Field, columns: Mapping[str, Any]) -> list[str]:
        """The values that the field can send in the page of this row; empty where that is not known."""
        return [_named(value, columns) for value in field.options]


def _named(text: str, columns: Mapping[str, Any]) -> str:
    return PLACEHOLDER.sub(lambda found: str(columns.get(found[1], "")), text)


@lru_cache(maxsize=32)
def read_template(text: str) -> tuple[Template | None, tuple[str, ...]]:
    """The template, or None and every fault."""
    if size := _too_large(text):
        return None, (f"template has {size:,} bytes; at most {MOST_BYTES:,} fit into a question.",)
    page = Page(text)
    if too_many := _too_many(page):
        return None, too_many
    faults = _markup_faults(text, page)
    # Where elements are not closed, nobody can say what is in a form.
    in_forms = [] if faults else _form_faults(text, page)
    faults = [*faults, *_placeholder_faults(text, page), *_control_faults(text, page), *in_forms]
    if faults:
        told = sorted(faults, key=lambda fault: (fault.line, fault.column))
        more = [f"template has {len(told) - SHOWN:,} more faults."] if len(told) > SHOWN else []
        return None, (*dict.fromkeys(f"template line {fault.line}: {fault.text}" for fault in told[:SHOWN]), *more)
    crowd = any(tag.name in (CROWD_FORM, ANNOTATION) for tag in page.tags)
    names, asked = tuple(placeholder_names(text)), fields(page)
    buttons = frozenset(one.name for one in controls(page)) - asked.keys()
    # Whether anything of the page's own runs: a script, or an attribute such as onclick.
    scripted = any(tag.name == SCRIPT and not _is_ours(tag) for tag in page.tags)
    scripted = scripted or any(one.name.startswith("on") for tag in page.tags for one in tag.attributes)
    makes_fields = _script_may(page, text, _MAKES)
    return Template(with_form(text), names, asked, scripted, crowd, buttons, makes_fields), ()


def with_more(template: Template, names: Sequence[str]) -> Template:
    """With fields of these names, which scripts of the page add."""
    if not names:
        return template
    more = {name: Field(name, "line") for name in names}
    return replace(template, fields={**template.fields, **more}, scripted=True)


def _too_large(text: str) -> int:
    """The page's size in a question, where that is too much; else 0."""
    size = size_of(with_form(text)) + _SPLIT * text.count("]]>") if len(text) <= MOST_BYTES else len(text)
    return size if size > MOST_BYTES else 0


def _too_many(page: Page) -> tuple[str, ...]:
    """What would take long to be looked at. Nobody writes such pages by hand."""
    found = Counter(tag.name for tag in page.tags)
    return tuple(
        f"template has {found[name]:,} elements <{name}>; at most {most:,} are taken."
        for name, most in MOST_OF.items()
        if found[name] > most
    )


# Markup


def _markup_faults(text: str, page: Page) -> list[Fault]:
    found = [_in_words(fault) for fault in template_faults(text)]
    open_or_stray = [] if page.unfinished else list(_badly_nested(text, page))
    if not open_or_stray and not any(_SLASH in fault.text for fault in found):
        return found
    # What follows from these is not told again.
    return [fault for fault in found if _SLASH in fault.text or not _OF_ENDS.search(fault.text)] + open_or_stray


def _in_words(fault: Fault) -> Fault:
    name = fault.text.removeprefix(_SOLIDUS)
    return fault if name == fault.text else replace(fault, text=f"<{name}/> {_SLASH}: write <{name}></{name}>.")


def _badly_nested(text: str, page: Page) -> Iterator[Fault]:
    """Elements that are not closed, and end tags that close nothing, each at its own line."""
    steps: list[tuple[int, str, bool]] = [
        (tag.start, tag.name, True) for tag in page.tags if text[tag.end - 2 : tag.end] != "/>"
    ]
    steps += [(place, name, False) for name, place in page.ends]
    stack: list[tuple[str, int]] = []
    count: Counter[str] = Counter()
    for place, name, begins in sorted(steps):
        if name in VOID or name in _CLOSED_BY_OTHERS:
            continue
        if begins:
            stack.append((name, place))
            count[name] += 1
        elif count[name]:
            while stack[-1][0] != name:
                count[stack[-1][0]] -= 1
                yield _not_closed(text, *stack.pop())
            count[name] -= 1
            stack.pop()
        else:
            yield Fault(*position(text, place), f"</{name}> closes nothing: take it out, or add <{name}> before it.")
    for name, place in stack:
        yield _not_closed(text, name, place)


def _not_closed(text: str, name: str, place: int) -> Fault:
    return Fault(*position(text, place), f"<{name}> is not closed: add </{name}>.")


# Placeholders


def _placeholder_faults(text: str, page: Page) -> Iterator[Fault]:
    """In a script `${...}` may be a part of the script; anywhere else workers would read it."""
    for found in _ODD.finditer(text):
        in_script = any(region.name == SCRIPT and region.start <= found.start() < region.end for region in page.regions)
        if not in_script and not PLACEHOLDER.fullmatch(found[0]):
            yield Fault(
                *position(text, found.start()),
                f"{found[0]!r:.60} names no column: a name has letters, digits, and _ . or -, and begins with a letter."
                " Rename the column in the file, and here.",
            )


# Controls


def _control_faults(text: str, page: Page) -> Iterator[Fault]:
    found = controls(page)
    for one in found:
        if one.shape == "file":
            fault = f"the field {one.name!r:.60} asks for a file, and the marketplace takes none: take it out."
            yield Fault(*position(text, one.tag.start), fault)
    asked = fields(page)
    for one in found:
        field = asked.get(one.name)
        if field and field.parted and any("|" in value for value in one.options):
            yield Fault(
                *position(text, one.tag.start),
                f"the field {one.name!r:.60} can have several values, which come parted by bars: write its values "
                "without a bar.",
            )
    if len(asked) > MOST_FIELDS:
        yield Fault(1, 0, f"there are {len(asked):,} fields; at most {MOST_FIELDS} are taken.")


# Forms


def _form_faults(text: str, page: Page) -> Iterator[Fault]:
    forms = ranges(page, OWN_FORMS)
    if any(tag.name.startswith("crowd-") for tag in page.tags) and not has_script(page, CROWD_SCRIPT):
        first = next(tag for tag in page.tags if tag.name.startswith("crowd-"))
        yield Fault(
            *position(text, first.start),
            f'crowd elements need their script: add <script src="https://assets.crowd.aws/{CROWD_SCRIPT}"></script>.',
        )
    for form, end in forms:
        yield from (Fault(*position(text, form.start), fault) for fault in _form_faults_of(text, page, form, end))
    if forms:
        yield from _outside(text, page, forms)


def _form_faults_of(text: str, page: Page, form: Tag, end: int) -> Iterator[str]:
    if not is_submit(form.value("action")):
        yield (
            f"the form is sent to {form.value('action')!r:.80} and not to the marketplace: take its action out, or "
            "write https://www.mturk.com/mturk/externalSubmit."
        )
    if form.name == "form" and not sends(page, form, end) and not may_submit(page, text):
        yield "the form has no button that sends it: add <button>Submit</button> before </form>."


def sends(page: Page, form: Tag, end: int) -> bool:
    ident = form.value("id")
    for tag in page.tags:
        inside = form.end <= tag.start < end or (ident and tag.value("form") == ident)
        if inside and is_sender(tag):
            return True
    return False


def is_sender(tag: Tag) -> bool:
    """Whether it is a button that sends its form."""
    return (
        (tag.name == "button" and tag.value("type").lower() not in ("button", "reset"))
        or (tag.name == "input" and tag.value("type").lower() in ("submit", "image"))
        or (tag.name == "crowd-button" and tag.value("form-action") == "submit")
    )


def _outside(text: str, page: Page, forms: Sequence[tuple[Tag, int]]) -> Iterator[Fault]:
    """Controls beside the form send nothing."""
    idents = {form.value("id") for form, _ in forms} - {""}
    for one in controls(page):
        inside = any(form.start <= one.tag.start < end for form, end in forms)
        if not inside and one.tag.value("form") not in idents:
            yield Fault(
                *position(text, one.tag.start),
                f"the field {one.name!r:.60} stands outside the form, so nothing of it is sent: move it into the form.",
            )


# Scripts


def _script_may(page: Page, text: str, what: Pattern[str]) -> bool:
    """Whether a script may do so: one from elsewhere, or one in whose words it stands."""
    if any(tag.name == SCRIPT and tag.value("src") and not _is_ours(tag) for tag in page.tags):
        return True
    inline = any(region.name == SCRIPT and what.search(text, region.start, region.end) for region in page.regions)
    return inline or any(
        one.name.startswith("on") and what.search(one.value) for tag in page.tags for one in tag.attributes
    )


def may_submit(page: Page, text: str) -> bool:
    """Whether a script may send a form."""
    return _script_may(page, text, _SUBMITS)


def has_script(page: Page, file: str) -> bool:
    return any(tag.name == SCRIPT and file in tag.value("src") for tag in page.tags)


def _is_ours(tag: Tag) -> bool:
    """One of the files that the marketplace has itself; they change nothing that is asked."""
    return any(file in tag.value("src") for file in _OUR_SCRIPTS)
