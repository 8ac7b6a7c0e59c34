"""Sentences for workers: English text that knows what it was made of, so that a page can say it in another language.

To the wire, to rows and to logs a sentence is the English text. The site says it in other words
(marketplace.site.saying); ops.messages finds the texts by the names `Sentence` and `counted`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class Sentence(str):
    """`template` with `values` filled into its %(name)s; a value may be a sentence itself.

    With a `plural` the `number` decides between the two. `capital`: it starts with a capital letter.
    """

    template: str
    plural: str
    number: int
    capital: bool
    values: dict[str, Any]

    def __new__(
        cls, template: str, /, *, plural: str = "", number: int = 1, capital: bool = False, **values: Any
    ) -> Sentence:
        made = super().__new__(cls, filled(plural if plural and number != 1 else template, values, capital))
        made.template, made.plural, made.number, made.capital, made.values = template, plural, number, capital, values
        return made


class Place(str):
    """The English name of a country, or of a part of one; `code` is that of ISO 3166: CA, US-CA."""

    code: str

    def __new__(cls, name: str, code: str = "") -> Place:
        made = super().__new__(cls, name)
        made.code = code
        return made


def filled(template: str, values: dict[str, Any], capital: bool = False) -> str:
    text = template % values if values else template
    return text[:1].upper() + text[1:] if capital else text


def counted(one: str, many: str, count: int, /, **values: Any) -> Sentence:
    """In the singular for a count of 1. Both texts may hold %(count)s."""
    return Sentence(one, plural=many, number=count, count=count, **values)


def either(words: Sequence[str]) -> str:
    """Words in a row: a; a or b; a, b or c."""
    if len(words) == 1:
        return words[0]
    return Sentence("%(first)s or %(last)s", first=_row(words[:-1]), last=words[-1])


def both(words: Sequence[str]) -> str:
    """a and b, for as many as there are."""
    if len(words) == 1:
        return words[0]
    return Sentence("%(first)s and %(last)s", first=both(words[:-1]), last=words[-1])


def _row(words: Sequence[str]) -> str:
    if len(words) == 1:
        return words[0]
    return Sentence("%(first)s, %(last)s", first=_row(words[:-1]), last=words[-1])
