"""What a written question must be, so that a reader has to know something to answer it.

Source: Ostermann et al. (2019), MCScript2.0, section 3.2: a question that begins with an auxiliary or modal verb can be
answered by yes or no and is refused, as is one of fewer than four words, and one that mentions the person who tells the
story in any other way than as "they". The paper lists no verbs and only some of the words; the lists here are ours.

- A contraction counts with its word: "didn't", "Didnt", "I'm", "narrator's" are refused as "did", "I", "narrator".
- Letters are compared without case, width and unseen characters; any kind of apostrophe is one. The first word is the
  first that holds a letter, whatever quotation mark, number or blank stands before it.
- Words inside quotation marks count as well: who reads the question alone cannot tell whose words they are.
- "US" means the country, and is taken, after "the" ("in the us") and in a text that also has small letters.

`static/task/question_rules.js` says the same while a worker types; a test holds them together.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

import regex

from hits.text.language.words import words
from hits.text.wording import _, ngettext, number

LONGEST = 300
# Of the words that a sentence quotes, and of the characters of each.
_SHOWN, _SHOWN_LONGEST = 3, 20

_OPENING = """
    is are was were am be been do does did have has had can could will would shall should may might must ought need dare
    ain't aint can't cant cannot won't wont shan't shant d'you
"""
_NARRATOR = """
    i me my mine myself you your yours yourself yourselves we us our ours ourselves im ive y'all
    narrator narrators storyteller storytellers author authors
"""
OPENING_WORDS = tuple(_OPENING.split())
NARRATOR_WORDS = tuple(_NARRATOR.split())

_APOSTROPHES = str.maketrans(dict.fromkeys("`\u00b4\u02bb\u02bc\u2018\u201b\u2032\uff07", "'"))
_UNSEEN = regex.compile(r"\p{Cf}")
_LETTER = regex.compile(r"\p{L}")
_THE_COUNTRY = regex.compile(r"(?<![\p{L}\p{M}\p{N}])the +us(?![\p{L}\p{M}\p{N}])", regex.IGNORECASE)
_COUNTRY = regex.compile(r"(?<![\p{L}\p{M}\p{N}])US(?![\p{L}\p{M}\p{N}])")


@dataclass(frozen=True)
class Rules:
    """`openings` and `narrator` are words as `question_words` gives them."""

    fewest_words: int = 4
    openings: frozenset[str] = frozenset(OPENING_WORDS)
    narrator: frozenset[str] = frozenset(NARRATOR_WORDS)
    longest: int = LONGEST


def question_words(text: str) -> list[str]:
    """The words in order, in lower case, one kind of apostrophe and ordinary width."""
    return words(_plain(text))


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", _UNSEEN.sub("", text).translate(_APOSTROPHES))


def _without_country(text: str) -> str:
    """The text without "the US"; where not all of it is in capitals, without any "US"."""
    plain: str = _THE_COUNTRY.sub(" ", _plain(text))
    return plain if plain == plain.upper() else str(_COUNTRY.sub(" ", plain))


def asked(text: str) -> str:
    """What two questions share that differ in case, spacing and punctuation alone; empty without a word."""
    return " ".join(question_words(text))


def faults(text: str, place: str = "The question", rules: Rules | None = None) -> list[str]:
    """Sentences that say what to change, each beginning with `place`; empty for a question that is taken.

    A text without a word is told one thing. The text is meant without outer space; its length is in characters.
    """
    rules = rules or Rules()
    found = question_words(text)
    least = _words(rules.fewest_words)
    if not found:
        return [_("%(place)s is not written yet. Ask in at least %(least)s.", place=place, least=least)]
    told = [
        _opening_fault(place, found, rules.openings),
        _("%(place)s has %(words)s. Ask in at least %(least)s.", place=place, words=_words(len(found)), least=least)
        if len(found) < rules.fewest_words
        else "",
        _narrator_fault(place, question_words(_without_country(text)), rules.narrator),
        too_long(place, len(text), rules.longest) if len(text) > rules.longest else "",
    ]
    return [fault for fault in told if fault]


def too_long(place: str, length: int, most: int) -> str:
    """The sentence about a text of more characters than are taken."""
    return _(
        "%(place)s has %(length)s characters. Shorten it to %(most)s or fewer.",
        place=place,
        length=number(length),
        most=most,
    )


def asked_before(number: int, first: int) -> str:
    """The sentence about a question that asks what another one of the same answer does."""
    return _("Question %(number)s asks the same as question %(first)s. Ask something else.", number=number, first=first)


def _opening_fault(place: str, found: list[str], openings: frozenset[str]) -> str:
    first = next((word for word in found if _LETTER.search(word)), "")
    if not first or openings.isdisjoint(_opening_forms(first)):
        return ""
    return _(
        "%(place)s begins with %(word)s, so yes or no would answer it. Begin with what, who, where, when or how.",
        place=place,
        word=_quoted(first),
    )


def _narrator_fault(place: str, found: list[str], narrator: frozenset[str]) -> str:
    said = list(dict.fromkeys(word for word in found if not narrator.isdisjoint({word, word.partition("'")[0]})))
    if not said:
        return ""
    shown = ", ".join(map(_quoted, said[:_SHOWN]))
    return _(
        "%(place)s says %(words)s. Call whoever tells the story “they”, as in they, them, their.",
        place=place,
        words=shown,
    )


def _opening_forms(word: str) -> Iterable[str]:
    """didn't -> didn't, did, didn't without its end; didnt -> did."""
    return {word, word.partition("'")[0], word.removesuffix("n't"), word.removesuffix("nt")}


def _quoted(word: str) -> str:
    """“I” is a capital letter, and some are longer than a sentence can hold."""
    shown = f"I{word[1:]}" if word.partition("'")[0] == "i" else word
    return f"“{shown}”" if len(shown) <= _SHOWN_LONGEST else f"“{shown[:_SHOWN_LONGEST]}…”"


def _words(count: int) -> str:
    return ngettext("%(count)s word", "%(count)s words", count)
