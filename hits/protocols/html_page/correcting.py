"""A corrected copy of a template that is refused, and what is different in it. It passes, or there is none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from common.html_correcting import look_at
from common.html_pages import OWN_FORMS, is_submit, position
from common.html_tags import SCRIPT, Changes, Page, Tag
from common.html_templates import PLACEHOLDER
from hits.protocols.html_page.controls import controls, ranges
from hits.protocols.html_page.template import (
    CROWD_SCRIPT,
    MOST_BYTES,
    has_script,
    is_sender,
    may_submit,
    read_template,
    sends,
)
from hits.protocols.optional import Corrected

# What a form around the page, and ends of CDATA in it, may add to its size.
_SPARE = 300
_STYLES = (
    '<script>document.querySelectorAll("[data-style]").forEach((one) => { one.style.cssText = one.dataset.style; });'
    "</script>"
)


@lru_cache(maxsize=32)
def corrected(text: str) -> Corrected | None:
    """None for a template that passes, and for one of which no copy would."""
    if read_template(text)[0] is not None:
        return None
    changes: list[str] = []
    for step in (_attributes, _markup, _forms, _fields):
        text = step(text, changes.append)
    template, _ = read_template(text)
    asks = template is not None and (template.fields or template.makes_fields)
    return Corrected(text, tuple(dict.fromkeys(changes))) if asks else None


# Placeholders where a value would become a program


def _attributes(html: str, tell: Callable[[str], None]) -> str:
    """Those in attributes such as onclick and style are read from attributes beside it, where values stay values."""
    page, made = Page(html), Changes(html)
    styled = False
    for tag in page.tags:
        for one in tag.attributes:
            if not PLACEHOLDER.search(one.value) or one.start is None:
                continue
            place = f"line {position(html, tag.start)[0]}: <{tag.name}> has"
            if one.name.startswith("on"):
                code, values = _as_data(one.value, "document.body" if tag.name == "body" else "this")
                made.set(tag, one.name, code)
                for name, value in values.items():
                    made.set(tag, name, value)
                tell(f"{place} the values of its {one.name} in {', '.join(values)}; they are texts there.")
            elif one.name == "style":
                made.drop(tag, one.name)
                made.set(tag, "data-style", one.value)
                styled = True
                tell(f"{place} its style in data-style, and a script at the end of the page sets it.")
    if styled:
        end = next((place for name, place in reversed(page.ends) if name in ("body", "html")), len(html))
        made.replace(end, end, _STYLES)
    return made.made()


def _as_data(code: str, element: str) -> tuple[str, dict[str, str]]:
    """The code that reads its values from attributes of the element, and these."""
    written, values, quote, place = [], dict[str, str](), "", 0
    while place < len(code):
        if found := PLACEHOLDER.match(code, place):
            name = next((name for name, value in values.items() if value == found[0]), f"data-value{len(values) + 1}")
            values[name] = found[0]
            value = f"{element}.dataset.{name.removeprefix('data-')}"
            written.append(f"{quote} + {value} + {quote}" if quote else value)
            place = found.end()
            continue
        step = 2 if quote and code[place] == "\\" else 1
        if code[place] in "'\"`":
            quote = {"": code[place], code[place]: ""}.get(quote, quote)
        written.append(code[place : place + step])
        place += step
    return "".join(written), values


# Markup and size


def _markup(html: str, tell: Callable[[str], None]) -> str:
    report = look_at(html, most=MOST_BYTES - _SPARE)
    if report.corrected and report.faults:
        tell(
            "It is written as browsers read it: every element is closed, and tags that open or close nothing are gone."
        )
    if report.squeezed:
        tell(f"Comments and needless white space are left out: {report.size:,} bytes were too many.")
    return report.corrected or html


# Forms and fields


def _forms(html: str, tell: Callable[[str], None]) -> str:
    """One form that sends everything to the marketplace."""
    page, made = Page(html), Changes(html)
    forms = ranges(page, OWN_FORMS)
    plain = [(form, end) for form, end in forms if form.name == "form"]
    sending = [(form, end) for form, end in plain if sends(page, form, end)]
    # A button outside belongs to it; see `_fields`.
    has_button = any(is_sender(tag) and _is_outside(tag, forms) for tag in page.tags)
    if plain and not sending and not has_button and len(forms) == len(plain) and not may_submit(page, html):
        form, end = plain[-1]
        made.replace(end, end, '<p><input type="submit" value="Submit"></p>')
        tell(f"{_form(form)} gets a Submit button.")
        sending = [plain[-1]]
    for form, end in plain:
        if sending and (form, end) not in sending and not may_submit(page, html):
            made.replace(form.start, form.end, "<div>")
            made.replace(end, html.index(">", end) + 1, "</div>")
            tell(f"{_form(form)}, which nothing sends, is no form any more: its fields belong to another one.")
        elif not is_submit(form.value("action")):
            made.drop(form, "action")
            tell(f"{_form(form)} is sent to the marketplace, not to {form.value('action')!r:.80}.")
    return made.made()


def _form(form: Tag) -> str:
    name = form.value("name") or form.value("id")
    return f"The form {name!r:.60}" if name else "The form"


def _fields(html: str, tell: Callable[[str], None]) -> str:
    """What stands outside the forms belongs to the first one that is sent."""
    page, made = Page(html), Changes(html)
    forms = ranges(page, OWN_FORMS)
    plain = [(form, end) for form, end in forms if form.name == "form"]
    chosen = next((form for form, end in plain if sends(page, form, end)), plain[0][0] if plain else None)
    idents = {form.value("id") for form, _ in forms} - {""}
    fields = {one.tag: one for one in controls(page)}
    named = False
    for tag in page.tags:
        one = fields.get(tag)
        if one and one.shape == "file":
            made.replace(tag.start, tag.end, "")
            tell(f"The field {one.name!r:.60}, which asks for a file, is left out: the marketplace takes no files.")
        elif chosen and (one or is_sender(tag)) and _is_outside(tag, forms) and tag.value("form") not in idents:
            made.set(tag, "form", chosen.value("id") or "mturk_form")
            named = True
            what = f"The field {one.name!r:.60}" if one else "A button"
            tell(f"{what} belongs to the form, outside of which it stands.")
    if named and chosen and not chosen.value("id"):
        made.set(chosen, "id", "mturk_form")
    if any(tag.name.startswith("crowd-") for tag in page.tags) and not has_script(page, CROWD_SCRIPT):
        made.replace(page.top, page.top, f'<{SCRIPT} src="https://assets.crowd.aws/{CROWD_SCRIPT}"></{SCRIPT}>')
        tell("The script of the crowd elements is added.")
    return made.made()


def _is_outside(tag: Tag, forms: Sequence[tuple[Tag, int]]) -> bool:
    return not any(form.start <= tag.start < end for form, end in forms)
