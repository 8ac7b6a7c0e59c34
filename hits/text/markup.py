"""Markup in values that somebody else wrote: whether there is any, and what of it a page may show."""

from __future__ import annotations

from re import IGNORECASE
from re import compile as pattern

import nh3

_TAGS = (nh3.ALLOWED_TAGS - {"area", "map"}) | {"audio", "big", "font", "source", "tfoot", "video"}
# No `id` or `name`: scripts of the page find its own elements by them.
_ATTRIBUTES = {
    **nh3.ALLOWED_ATTRIBUTES,
    "*": {"class", "dir", "lang", "style", "title"},
    "audio": {"src", "controls"},
    "font": {"color", "size", "face"},
    "source": {"src", "type"},
    "table": {"border", "cellpadding", "cellspacing", "width"},
    "video": {"src", "controls", "width", "height"},
}
# Of how a text looks. What loads something, or puts it over other parts of the page, is left out.
_STYLES = {
    *("color", "background-color", "border", "border-collapse", "direction", "display", "float", "line-height"),
    *("font", "font-family", "font-size", "font-style", "font-variant", "font-weight", "list-style-type"),
    *("text-align", "text-decoration", "text-indent", "text-transform", "vertical-align", "white-space"),
    *("padding", "padding-left", "padding-right", "margin-left", "margin-right", "width", "height", "max-width"),
}
_MARKUP = pattern(
    rf"</?({'|'.join(sorted(_TAGS))})\b[^<>]{{0,500}}>|&(#\d{{1,7}}|#x[0-9a-f]{{1,6}}|[a-z]{{2,8}});", IGNORECASE
)


def markup_in(value: str) -> str:
    """The first tag or entity in it; empty where there is none."""
    found = _MARKUP.search(value)
    return found[0] if found else ""


def sanitised(value: str) -> str:
    """The value as HTML: its texts, tables, lists, links, pictures and sounds; nothing that runs, asks or is sent."""
    return nh3.clean(
        value,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        filter_style_properties=_STYLES,
        url_schemes={"http", "https", "mailto"},
        url_relative="deny",
    )
