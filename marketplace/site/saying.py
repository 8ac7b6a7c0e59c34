"""Sentences of the rules in the language of the page."""

from django.utils.translation import get_language, gettext, ngettext

from marketplace.rules.sentences import Place, Sentence, filled
from marketplace.site import places


def said(text: str) -> str:
    """A sentence in the active language. Any other text, such as a requester's own words, stays as it is."""
    if isinstance(text, Place):
        return places.name(text.code, get_language() or "")
    if not isinstance(text, Sentence):
        return text
    values = {name: said(value) if isinstance(value, str) else value for name, value in text.values.items()}
    if text.plural:
        return filled(ngettext(text.template, text.plural, text.number), values, text.capital)
    return filled(gettext(text.template), values, text.capital)
