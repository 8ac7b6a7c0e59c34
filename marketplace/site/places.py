"""Countries and their parts in the language of the page. The names in other languages come with pycountry."""

import gettext
import unicodedata
from functools import cache
from typing import Any

import pycountry
from django.utils.translation import get_language, to_locale

from marketplace.rules.countries import COUNTRIES


def countries() -> dict[str, str]:
    """Code to name, in the order of the names."""
    return _countries(get_language() or "")


def country(code: str) -> str:
    """Its name; the code where nobody knows it, and nothing for none."""
    return name(code, get_language() or "") if code else ""


@cache
def _countries(language: str) -> dict[str, str]:
    return dict(sorted(((code, name(code, language)) for code in COUNTRIES), key=lambda item: _order(item[1])))


def name(code: str, language: str) -> str:
    """What has a code of ISO 3166, such as CA or US-CA, in a language, or else in English."""
    found: Any
    if "-" in code:
        found = pycountry.subdivisions.get(code=code)
        return _translated("iso3166-2", language, found.name) if found else code
    found = pycountry.countries.get(alpha_2=code)
    if found is None or language == "en":
        return COUNTRIES.get(code, code)
    return _translated("iso3166-1", language, getattr(found, "common_name", found.name))


def _translated(domain: str, language: str, english: str) -> str:
    return _catalogue(domain, language).gettext(english)


@cache
def _catalogue(domain: str, language: str) -> gettext.NullTranslations:
    return gettext.translation(domain, pycountry.LOCALES_DIR, [to_locale(language)], fallback=True)


def _order(text: str) -> str:
    """As in a dictionary: a letter with an accent stands beside the one without."""
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c)).casefold()


def subdivisions(country: str) -> dict[str, str]:
    """Code to name, in the order of the names; empty for a country without codes of two characters.

    From ISO 3166-2: those whose code has two characters, as the API takes them.
    """
    return _subdivisions(country, get_language() or "")


@cache
def _subdivisions(country: str, language: str) -> dict[str, str]:
    parts: Any = pycountry.subdivisions
    of_country = (parts.get(country_code=country) if country else None) or []
    found = {part.code.partition("-")[2]: name(part.code, language) for part in of_country}
    return {code: text for code, text in sorted(found.items(), key=lambda item: _order(item[1])) if len(code) == 2}
