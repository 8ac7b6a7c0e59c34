"""Whether the words of a template can be translated.

It is read as it is written: every word that somebody could see or hear must stand within `{% translate %}` or
`{% blocktranslate %}`, or within an element with `translate="no"`. `ops.messages` looks after the catalogues.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser

from django.template.base import Lexer, Token, TokenType

# Attributes whose value readers see or hear.
SPOKEN = {"alt", "aria-description", "aria-label", "aria-roledescription", "label", "placeholder", "title"}
# What these filters are given is no text for readers.
FORMATS = {"add", "cut", "date", "floatformat", "join", "slice", "stringformat", "time", "truncatechars"}
# Names, which are the same in every language.
NAMES = {"annotate", "commons", "csv", "hit", "hits", "html", "id", "json", "tsv", "utc", "xml"}
VOID = {"br", "hr", "img", "input", "link", "meta", "source", "wbr"}
_WORD = re.compile(r"[^\W\d_]{2,}")
_LITERAL = re.compile(r"""(?P<before>_\()?(?P<quote>["'])(?P<text>.*?)(?P=quote)""")
_FILTER = re.compile(r"""\|\s*(?P<name>\w+)\s*:\s*(?P<given>_?\(?"[^"]*"|_?\(?'[^']*')""")
_SEEN_BY_NOBODY = {"script", "style"}


def untranslated(source: str) -> list[str]:
    """The texts of a template that no translation reaches, each once, in their order."""
    reader = _Reader()
    reader.feed("".join(_texts(source)))
    reader.close()
    return list(dict.fromkeys([*reader.found, *_constants(source)]))


# Texts of a template


def _texts(source: str) -> Iterator[str]:
    """What stands outside of tags and of blocks for translation; tags leave a sign that is no word."""
    within = ""
    for token in Lexer(source).tokenize():
        name = token.contents.split(maxsplit=1)[0] if token.token_type == TokenType.BLOCK else ""
        if within:
            within = "" if name == within else within
        elif name in ("blocktranslate", "blocktrans", "comment", "verbatim"):
            within = f"end{name}"
        elif token.token_type == TokenType.TEXT:
            yield token.contents
        elif token.token_type == TokenType.VAR or name in ("translate", "trans", "url", "static"):
            yield "0"


def _constants(source: str) -> Iterator[str]:
    """Texts that a template gives to filters and to the templates it includes."""
    for token in Lexer(source).tokenize():
        if token.token_type == TokenType.VAR:
            yield from _of_filters(token.contents)
        elif token.token_type == TokenType.BLOCK:
            yield from _of_block(token)


def _of_filters(expression: str) -> Iterator[str]:
    if re.search(r"\|\s*pluralize\b", expression):
        yield f"{{{{ {expression} }}}}: write {{% blocktranslate count %}}"
    for found in _FILTER.finditer(expression):
        if found["name"] not in FORMATS:
            yield from (one["text"] for one in _LITERAL.finditer(found["given"]) if _is_words(one))


def _of_block(token: Token) -> Iterator[str]:
    name, _, rest = token.contents.partition(" ")
    if name in ("include", "with", "firstof"):
        given = rest.partition(" with ")[2] if name == "include" else rest
        yield from (one["text"] for one in _LITERAL.finditer(given) if _is_words(one))


def _is_words(literal: re.Match[str]) -> bool:
    """A key such as "own-row" is none."""
    text = literal["text"]
    return literal["before"] is None and (" " in text or text[:1].isupper()) and _has_words(text)


def _has_words(text: str) -> bool:
    return any(word.lower() not in NAMES for word in _WORD.findall(text))


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self._open: list[tuple[str, bool]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        kept_out = tag in _SEEN_BY_NOBODY or ("translate", "no") in attrs
        if not (kept_out or self._is_kept_out()):
            for name, value in attrs:
                if name in SPOKEN or (name.startswith("data-") and " " in (value or "")):
                    self._take(value or "")
        if tag not in VOID:
            self._open.append((tag, kept_out))

    def handle_endtag(self, tag: str) -> None:
        names = [name for name, _ in self._open]
        if tag in names:
            del self._open[len(names) - 1 - names[::-1].index(tag) :]

    def handle_data(self, data: str) -> None:
        if not self._is_kept_out():
            self._take(data)

    def _is_kept_out(self) -> bool:
        return any(kept_out for _, kept_out in self._open)

    def _take(self, text: str) -> None:
        if _has_words(text):
            self.found.append(" ".join(text.split()))
