"""What a word is: one rule for everything that counts words, on the server and in the browser.

`static/task/words.js` holds the same rule for workers' pages, and a test runs both.
They agree on every character that Unicode 14 knows; later ones may be letters to one side only.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

import regex

_PART = r"[\p{L}\p{N}][\p{L}\p{M}\p{N}]*"
_WORD = regex.compile(rf"{_PART}(?:'{_PART})*")
# Scripts without spaces between words; Common are the long vowel and the repeated sign of Japanese.
_SCRIPTS = "".join(rf"\p{{{name}}}" for name in ("Han", "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar"))
_ALONE = regex.compile(rf"[[{_SCRIPTS}\u30fc\uff70]&&[\p{{L}}\p{{N}}]]", regex.VERSION1)
# What belongs to the character before it: marks, and the few signs of Thai, Lao and Japanese that are letters by name.
_MARKS = r"[\p{M}\u0e33\u0eb3\uff9e\uff9f]"
_SPACED = rf"[[\p{{L}}\p{{N}}]--[{_SCRIPTS}\u30fc\uff70]]"
_SPACED_PART = rf"{_SPACED}(?:{_SPACED}|\p{{M}})*"
_UNIT = regex.compile(
    rf"{_ALONE.pattern}{_MARKS}*|{_SPACED_PART}(?:'{_SPACED_PART})*",
    regex.VERSION1,
)

# Words that hold sentences together and say little about what a text tells. The second line is what tokenisers
# leave of contractions ("did n't", "wo nt").
_LITTLE_WORDS = """
    s t d m re ve ll nt n't ca wo sha ai
    a an the this that these those some any each every either neither no none all both half another such other own
    i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers
    herself it its itself they them their theirs themselves one ones who whom whose which what someone something anyone
    anything everyone everything nobody nothing
    be am is are was were been being have has had having do does did doing done will would shall should can could may
    might must ought cannot
    i'm i'd i'll i've you're you'd you'll you've he'd he'll she'd she'll it'd it'll we're we'd we'll we've they're
    they'd they'll they've isn't aren't wasn't weren't haven't hasn't hadn't don't doesn't didn't won't wouldn't shan't
    shouldn't can't couldn't mayn't mightn't mustn't let's
    and or but nor so yet if then else than as because since while until till though although unless whether when
    whenever where wherever why how
    of at by for with about against between into through during before after above below to from up down in out on off
    over under again further once here there near upon within without toward towards across along around behind beside
    besides beyond except inside onto outside per
    not only just also too very more most much many few little less least same even still already almost always never
    often ever quite rather really well oh yes ok okay
"""
FUNCTION_WORDS = frozenset(_LITTLE_WORDS.split())


# A typographic apostrophe is an apostrophe, and a final sigma a sigma: which of the two stands at a word's end depends
# on tables that differ between versions of Unicode.
_SAME = str.maketrans("\u2019\u03c2", "'\u03c3")


def words(text: str) -> list[str]:
    """The words in order, in lower case and composed form: letters, their marks and digits, joined by apostrophes."""
    found: list[str] = _WORD.findall(_folded(text))
    return found


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).lower().translate(_SAME)


def placed(text: str) -> list[tuple[str, int, int]]:
    """(word, start, end) in the order of the text, ends exclusive, in characters of the text as it is.

    The words are those of `words`, unless a sign outside them changes what it is when it is composed.
    """
    return [(_folded(found[0]), *found.span()) for found in _WORD.finditer(text.translate(_SAME))]


def units(text: str) -> list[tuple[int, int]]:
    """(start, end) of what can be marked as a word, in the order of the text: the words, but each character with its
    marks of scripts that are written without spaces between words.
    """
    return [found.span() for found in _UNIT.finditer(text.translate(_SAME))]


def unit_words(text: str) -> list[str]:
    """What `units` finds, in lower case and composed form: `words`, but for scripts that are written without spaces."""
    return [_folded(text[start:end]) for start, end in units(text)]


def is_without_spaces(text: str) -> bool:
    """Whether a text holds characters of scripts that are written without spaces between words."""
    return _ALONE.search(text) is not None


def content(found: Iterable[str]) -> list[str]:
    """Those of the given words that carry a text, in order, without a possessive ending; no `FUNCTION_WORDS`."""
    bare = (word.removesuffix("'s") for word in found)
    return [word for word in bare if word not in FUNCTION_WORDS]


def content_words(text: str) -> list[str]:
    """The content words of a text, in order."""
    return content(words(text))
