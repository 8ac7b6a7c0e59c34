"""What somebody wrote into a field: how it is kept, in one line or in several, and when two texts say the same."""

from __future__ import annotations

import re
import unicodedata

from common.names import hidden_sign

_LINE_END = re.compile("\r\n|[\t\n\v\f\r\x85\u2028\u2029]")
_LINES = re.compile("\r\n|[\n\v\f\r\x85\u2028\u2029]")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_GAP = re.compile("\n{3,}")
_UNSEEN = {"Cc", "Cf", "Cs", "Zs", "Zl", "Zp"}
# Letters and a symbol that are drawn as nothing.
_DRAWN_BLANK = set("\u115f\u1160\u2800\u3164\uffa0")


def kept(text: str) -> str:
    """The text in one line, without control characters and outer space; empty where nothing of it can be seen."""
    line = _CONTROL.sub("", _LINE_END.sub(" ", text)).strip()
    seen = any(unicodedata.category(sign) not in _UNSEEN and sign not in _DRAWN_BLANK for sign in line)
    return line if seen else ""


def kept_lines(text: str) -> str:
    """The text line by line as `kept` has it; of several blank lines one stays, and none at the ends."""
    lines = "\n".join(kept(line) for line in _LINES.split(text))
    return _GAP.sub("\n\n", lines).strip("\n")


def line_fault(text: str, longest: int) -> str:
    """What is wrong with a name or another short line, as the end of a sentence; empty where nothing is."""
    if not text:
        return "is empty"
    if len(text) > longest:
        return f"has {len(text):,} characters, the limit is {longest:,}"
    code = hidden_sign(text)
    return f"holds a character that cannot be seen ({code}): leave it out" if code else ""


def alike(text: str) -> str:
    """What two texts share that differ in case, spacing, punctuation or unseen characters alone.

    A text of nothing but punctuation stands for itself.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    bare = "".join(" " if unicodedata.category(sign).startswith("P") else sign for sign in folded)
    seen = "".join(sign for sign in bare if unicodedata.category(sign) != "Cf")
    return " ".join(seen.split()) or " ".join(folded.split())
