"""When two spellings are one user name, and which new names are refused."""

from __future__ import annotations

import re
import unicodedata

# Django's limit of a user name. A longer text is no name, and normalising it would cost time for nothing.
LONGEST_NAME = 150
# Signs that show nothing although Unicode calls them letters, marks or symbols: ignorable ones (its property
# Default_Ignorable_Code_Point) and the blank Braille pattern.
_BLANK = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0]")
# Scripts that are written together, as in Japanese and Korean names. Any other mixture imitates another name.
_TOGETHER = frozenset({"LATIN", "CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO", "FULLWIDTH", "HALFWIDTH"})
# Small letters of Cyrillic and Greek that look like Latin ones: a name of these alone imitates a Latin name.
_LIKE_LATIN = frozenset("аеорсухіјѕһԁԛԝӏοανιρυκχτ")


def plain_name(name: str) -> str:
    """The name in Unicode's compatibility form (NFKC), as user names are stored, without spaces around it."""
    return unicodedata.normalize("NFKC", name[:LONGEST_NAME]).strip()


def name_key(name: str) -> str:
    """Equal for all spellings of one name: full width, ligatures and capital letters make no difference."""
    return unicodedata.normalize("NFKC", plain_name(name).casefold())


def hidden_sign(text: str) -> str:
    """The code point, such as U+202E, of the first sign that cannot be seen; empty where all can be seen."""
    hidden = (sign for sign in text if unicodedata.category(sign) in ("Cc", "Cf", "Co", "Cn", "Cs", "Zl", "Zp"))
    found = _BLANK.search(text)
    sign = next(hidden, found[0] if found else "")
    return f"U+{ord(sign):04X}" if sign else ""


def name_fault(name: str) -> str:
    """Why nobody may have this as a new user name; empty where it may be had. `name` is a plain name.

    The spelling must be visible, of one script, and more than dots: dots alone have a meaning in addresses of pages.
    """
    if code := hidden_sign(name):
        return f"This name holds a sign that cannot be seen ({code}). Leave it out."
    if name and not name.strip("."):
        return "A name of dots alone cannot be used. Choose letters or digits."
    letters = [sign for sign in name.casefold() if sign.isalpha()]
    scripts = {unicodedata.name(sign, "").split(" ")[0].split("-")[0] for sign in letters}
    if len(scripts) > 1 and not scripts <= _TOGETHER:
        return "This name mixes letters of several scripts. Use those of one."
    if letters and _LIKE_LATIN.issuperset(letters):
        return "The letters of this name look like Latin ones. Write it in Latin letters."
    return ""
