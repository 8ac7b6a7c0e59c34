"""Sentences that workers read: English, and in another language while a page is made in it.

Pure: who makes the page brings the translations, by `spoken_by`. Without it every sentence is English, and so is
whatever is stored, told to leads or released. `make messages` finds the sentences by the names of these functions.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol


class Translations(Protocol):
    def gettext(self, text: str) -> str: ...

    def ngettext(self, one: str, many: str, count: int) -> str: ...

    def number(self, value: int) -> str:
        """With the signs that part its thousands."""


class _English:
    def gettext(self, text: str) -> str:
        return text

    def ngettext(self, one: str, many: str, count: int) -> str:
        return one if count == 1 else many

    def number(self, value: int) -> str:
        return f"{value:,}"


_ENGLISH = _English()
_spoken: ContextVar[Translations | None] = ContextVar("spoken", default=None)


@contextmanager
def spoken_by(translations: Translations | None) -> Iterator[None]:
    """Sentences are said with these translations; in English with None."""
    before = _spoken.set(translations)
    try:
        yield
    finally:
        _spoken.reset(before)


def speak(translations: Translations | None) -> None:
    """The same from here on, until the innermost `spoken_by` ends."""
    _spoken.set(translations)


def _translations() -> Translations:
    return _spoken.get() or _ENGLISH


def _(text: str, **values: Any) -> str:
    """The text in the language of the page, `%(name)s` in it replaced by the value of that name.

    Without values it is taken as it is: a percent sign stands for itself.
    """
    said = _translations().gettext(text)
    return said % values if values else said


def ngettext(one: str, many: str, count: int, **values: Any) -> str:
    """One of two texts, by the number; `%(count)s` in it is the number."""
    return _translations().ngettext(one, many, count) % {"count": number(count), **values}


def gettext_noop(text: str) -> str:
    """Marks a text that is said later: `_` says it in the language of the page."""
    return text


def number(value: int) -> str:
    return _translations().number(value)


def capital(text: str) -> str:
    """With a capital letter at its beginning; the others stay, such as those of German nouns."""
    return text[:1].upper() + text[1:]
