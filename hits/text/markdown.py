"""HTML of a text in Markdown that somebody else wrote: no HTML of its own, no pictures, no scripts."""

from __future__ import annotations

from functools import cache

import nh3
from markdown_it import MarkdownIt

_TAGS = {
    *("p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "strong", "em", "s", "code", "pre", "blockquote"),
    *("ul", "ol", "li", "table", "thead", "tbody", "tr", "th", "td", "a"),
}
_ATTRIBUTES = {"a": {"href"}, "ol": {"start"}}


def rendered(text: str) -> str:
    """HTML in the text is shown as it is written; pictures are left out, and links lead out of the frame."""
    page: str = _reader().render(text)
    return nh3.clean(
        page,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        url_schemes={"https", "mailto"},
        link_rel="noopener noreferrer",
        set_tag_attribute_values={"a": {"target": "_blank"}},
    )


@cache
def _reader() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("image")
