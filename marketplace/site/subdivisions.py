"""States and other parts of countries, from ISO 3166-2: those whose code has two characters, as the API takes them."""

from functools import cache
from typing import Any

import pycountry


@cache
def subdivisions(country: str) -> dict[str, str]:
    """Code to name, in the order of the names; empty for a country without codes of two characters."""
    parts: Any = pycountry.subdivisions
    of_country = (parts.get(country_code=country) if country else None) or []
    found = {part.code.partition("-")[2]: part.name for part in of_country}
    return {code: name for code, name in sorted(found.items(), key=lambda item: item[1]) if len(code) == 2}
