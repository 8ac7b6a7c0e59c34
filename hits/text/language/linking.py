"""Which mentions of an article mean the same: linkers that can be exchanged.

The default, "names", goes by names alone, and rather leaves two mentions apart than links what may differ: a reference
answer that is wrong costs a right worker, one that is missing only sometimes. What it links:

- names that are equal without case, spacing, points, possessive endings, "the" and titles, and without Inc., Ltd. and
  the like at the end of a company's name;
- of a PERSON a last or first name alone, or a name without its middle ("Bush", "Laura", "George Bush"), where it fits
  one full name and no other; one that stands before it comes first, and whoever bears a title before a full name
  stands there is somebody else ("President Bush" and then "Laura Bush");
- an acronym and the name whose initials it has, also without a nation before them, where it fits one name and no other
  ("IMF"), and what stands in brackets behind a name that has its letters in this order;
- "the" and the last word of an organisation's or place's name, or the first word before "of" and the like, where it
  fits one name that stands before it and no other ("the Commission" after "European Commission");
- the last word of a club's name, where it fits one name and no other ("United" in an article about Manchester United);
- a name without capitals before it, where it fits one ("Radio 1" and "BBC Radio 1");
- the beginning of an organisation's name, where it begins one name and no other, that name stands before it or adds one
  word such as Group or Airlines, and what it adds names no part, product or prize ("Sun" after "Sun Microsystems", but
  not "BBC" after "BBC Radio"); no nationality, and nothing that is tagged as a place or person;
- a plural and its singular, of no people and places ("Baftas", "Golden Globes");
- a last name that differs by one letter from that of the one person who is named before in full;
- a few countries, unions, parties, firms and teams that have several names (`known_names`), and what the text says
  to be a second name ("formerly known as", "Mumbai (Bombay)").

No name is a nationality before a common noun or behind "the" ("Swedish firms", "the Australian won").

Linked with nothing, not even with themselves, because they may mean one or another: a PERSON's short name that fits two
full names, or that bears the titles of a man and of a woman; a family ("the Quist family"); the last word of a longer
name of the same type that stands in any other way than said ("Treasury" in an article about the US Treasury), its first
word before "and", and an organisation's that begins another one ("Yugansk" of "Yuganskneftegas"), and a name of which
the article also names a numbered version, and that version ("Opera" and "Opera 8.0"). A place is never linked with a
longer name that holds it ("America" and "North American").
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from hits.text.language.entities import CLUBS, COMPANY_KINDS, PARTS, PERSON, TITLES
from hits.text.language.known_names import COUNTRY_OF, FIRST_NAME, NATIONALITIES
from hits.text.language.passages import entity_name
from hits.text.language.words import FUNCTION_WORDS


class Name(NamedTuple):
    """A mention as a linker sees it, with what stands before and after it, or empty texts.

    `before` is a title or "the" in lower case, "(" where the mention stands in brackets right behind the one before it,
    or "=" where the text says that it is a second name of that one. `after` is the next word, unless another mention
    begins with it.
    """

    surface: str
    type: str
    before: str = ""
    after: str = ""


Linker = Callable[[Sequence[Name]], list[int | None]]
"""A number for each mention of an article in order; mentions with one number mean the same, and None is no name."""

_MEN = frozenset({"mr", "sir"})
_WOMEN = frozenset({"mrs", "ms", "miss", "madam", "mme", "mlle", "lady", "dame", "queen", "princess"})
_COMPANY = frozenset({"inc", "corp", "ltd", "plc", "co", "llc", "ag", "sa", "nv", "gmbh", "fc", "afc"})
_SMALL = frozenset({"of", "and", "for", "the", "in", "on", "to", "de", "la", "du", "&"})
_GENERATION = frozenset({"jr", "sr", "ii", "iii"})
_FAMILY = frozenset({"brothers", "families", "family", "sisters"})
_NO_NOUNS = FUNCTION_WORDS | {""}
_NATIONALITY = re.compile(r"['\u2019]s?$")
_SITE = re.compile(r"\.com$|\.")
_POINTS = re.compile(r"[.,\"\u201c\u201d]")
_ACRONYM = re.compile(r"(?=.*[A-Z&].*[A-Z])[A-Za-z&]{2,8}|[A-Z][a-z]{2,6}")
_CAPITALS = re.compile(r"[A-Z][^\s\d,'\u2019]*(?: [A-Z][^\s\d,'\u2019]+)+")
_NATIONS_BEFORE = ("UK ", "US ", "EU ")
_JOINING = frozenset({"of", "for", "to", "and", "&"})
ORG = "ORG"
_PLACES = frozenset({"GPE", "NORP", "LOC"})
_WITH_PLURALS = frozenset({ORG, "NORP", "PRODUCT", "EVENT"})
# Names of one word that may be cut short: "Yugansk" of "Yuganskneftegas".
_LEAST_CUT = 5
# "The House" is none of the names that end so.
_NO_HEADS = frozenset({"house"})

Key = tuple[str, ...]


def names(mentions: Sequence[Name]) -> list[int | None]:
    """The default linker; see the module."""
    named = [at for at, one in enumerate(mentions) if not _describes(one)]
    article = _Article([mentions[at] for at in named])
    numbers: dict[object, int] = {}
    found: list[int | None] = [None] * len(mentions)
    for number, at in enumerate(named):
        meant = article.meant(number, mentions[at])
        found[at] = numbers.setdefault(("alone", at) if meant is None else meant, len(numbers))
    return found


def _describes(one: Name) -> bool:
    """A nationality before a noun, or behind "the"; and a family."""
    if one.type == PERSON and one.after.lower() in _FAMILY:
        return True
    is_nationality = one.type != PERSON and one.surface.lower().replace("-", " ").split(" ")[-1] in NATIONALITIES
    return is_nationality and (one.before == "the" or one.after.lower() not in _NO_NOUNS)


def names_and_nationalities(mentions: Sequence[Name]) -> list[int | None]:
    """As `names`, and the adjective of a country means the country, as in ReCoRD's references ("Iraqi" and "Iraq").

    Whoever is called by it ("the Australian won") then counts as the country too, which is why this is not the default.
    """
    countries = (COUNTRY_OF.get(_NATIONALITY.sub("", one.surface).lower()) for one in mentions)
    return names(
        [
            Name(country, "GPE") if country and one.type == "NORP" else one._replace(before="", after="")
            for one, country in zip(mentions, countries, strict=True)
        ]
    )


LINKERS: dict[str, Linker] = {"names": names, "names_and_nationalities": names_and_nationalities}


class _Article:
    """The names of one article."""

    def __init__(self, mentions: Sequence[Name]) -> None:
        self.keys = [_key(one) for one in mentions]
        self.first: dict[Key, int] = {}
        self.people: dict[Key, set[str]] = defaultdict(set)
        self.others: dict[Key, list[Name]] = defaultdict(list)
        self.titled_first = set[Key]()
        for at, (one, key) in enumerate(zip(mentions, self.keys, strict=True)):
            if key not in self.first and (one.before in TITLES or len(key) < len(one.surface.split())):
                self.titled_first.add(key)
            self.first.setdefault(key, at)
            if one.type == PERSON:
                self.people[key] |= _gender(one)
            else:
                self.others[key].append(one)
        self.full_names: dict[Key, Key | None] = {}
        for key in sorted(self.people, key=len, reverse=True):
            self.full_names[key] = self._full_name(key)
        plurals = self._plurals()
        self.whole_names: dict[Key, Key | None] = {
            **self._misspelt(),
            **plurals,
            **self._beginnings(),
            **self._heads(),
            **self._without_capitals(),
            **_acronyms(mentions, self.keys, {key: own for key, own in self.others.items() if key not in plurals}),
            **self._in_brackets(mentions),
        }
        self.second_names = self._second_names(mentions)
        self.whole_names |= self.second_names

    def meant(self, at: int, one: Name) -> object:
        """What makes the mention equal to others; None where that cannot be told."""
        key = self.keys[at]
        if key in self.whole_names and self.full_names.get(key, key) == key:
            return self.whole_names[key]
        if key not in self.people:
            return key
        if len(self.people[key]) == 2:
            # Husband and wife, say: only a title tells which of them is meant.
            gender = _gender(one)
            return (key, *gender) if gender else None
        whole = self.full_names[key]
        return self.second_names.get(whole, whole) if whole else None

    def _full_name(self, key: Key) -> Key | None:
        """The name itself where it is short for none; None where it may be short for several people."""
        longer = [
            name
            for name in self.full_names
            if len(name) > len(key) and _is_short_for(key, name) and len(self.people[key] | self.people[name]) < 2
        ]
        before = {self.full_names[name] for name in longer if self.first[name] < self.first[key]}
        after = {self.full_names[name] for name in longer}
        # Whoever is named in short with a title before a full name stands there is somebody else.
        whole = before or (set() if key in self.titled_first else after)
        if not whole:
            return key
        return whole.pop() if len(whole) == 1 else None

    def _plurals(self) -> dict[Key, Key]:
        """Names of one word by their singular, and of those of several that differ by an "s" the first."""
        may_be = {key[0]: own[0].type for key, own in self.others.items() if len(key) == 1}
        # A tagger takes many a name for a place, but the plural seldom.
        single = (one for one, kind in may_be.items() if kind in {*_WITH_PLURALS, "GPE"} and one not in FIRST_NAME)
        alike: dict[Key, list[Key]] = defaultdict(list)
        for key, own in self.others.items():
            if len(key) > 1 and own[0].type not in _PLACES:
                alike[tuple(word.removesuffix("s") for word in key)].append(key)
        return {key: keys[0] for keys in alike.values() for key in keys[1:]} | {
            (one + ending,): (one,)
            for one in single
            for ending in ("s", "es")
            if may_be.get(one + ending) in _WITH_PLURALS
        }

    def _misspelt(self) -> dict[Key, Key]:
        """Last names without a first one that differ by one letter from that of one person who is named before."""
        full = {name for name, whole in self.full_names.items() if len(name) > 1 and whole == name}
        ends = {name[-1] for name in (*self.full_names, *self.others) if len(name) > 1}
        found: dict[Key, Key] = {}
        for key in (key for key in self.first if len(key) == 1 and key[0] not in ends):
            meant = [name for name in full if _is_misspelt(key[0], name[-1]) and self.first[name] < self.first[key]]
            if len(meant) == 1 and self.full_names.get(key, key) == key:
                found[key] = meant[0]
        return found

    def _beginnings(self) -> dict[Key, Key]:
        """What the beginning of an organisation's name means."""
        companies = {
            key: own[0].surface
            for key, own in self.others.items()
            if own[0].type == ORG and key not in self.people and " ".join(key) not in FIRST_NAME.values()
        }
        longer: dict[str, list[Key]] = defaultdict(list)
        for name, surface in companies.items():
            if _CAPITALS.fullmatch(surface):
                longer[name[0]].append(name)
        found: dict[Key, Key] = {}
        for key in (key for key in companies if key and key[0] not in NATIONALITIES):
            names = [name for name in longer[key[0]] if _begins(key, name)]
            longest = max(names, key=len, default=key)
            if all(name == longest or _begins(name, longest) for name in names):
                fitting = [name for name in names if self._is_short_for(key, name)]
                found |= {key: max(fitting, key=len)} if fitting else {}
        return found

    def _is_short_for(self, key: Key, name: Key) -> bool:
        added = name[len(key) :]
        if not added:
            return False
        if self.first[key] < self.first[name]:
            return len(added) == 1 and added[0] in COMPANY_KINDS
        return PARTS.isdisjoint(added)

    def _in_brackets(self, mentions: Sequence[Name]) -> dict[Key, Key]:
        """What stands in brackets behind a name that has its letters in their order means that name."""
        found: dict[Key, Key] = {}
        for at, one in enumerate(mentions):
            short, whole = self.keys[at], self.keys[at - 1]
            if at and one.before == "(" and len(short) == 1 and short != whole and whole not in self.people:
                letters = iter(mentions[at - 1].surface.lower())
                if short[0][0] == whole[0][0] and all(letter in letters for letter in short[0]):
                    found[short] = whole
        return found

    def _second_names(self, mentions: Sequence[Name]) -> dict[Key, Key | None]:
        """What the text says to be another name of the mention before it means that; no places."""
        found: dict[Key, Key | None] = {}
        for at, one in enumerate(mentions):
            before = mentions[at - 1].type
            if at and one.before == "=" and (one.type == before or not {one.type, before} & _PLACES):
                first = self.keys[at - 1]
                whole = self.whole_names.get(first, self.full_names.get(first, first))
                if whole != self.keys[at] and self.keys[at] not in found.values():
                    found[self.keys[at]] = whole
        return found

    def _heads(self) -> dict[Key, Key | None]:
        """What the last word of a longer name of the same type means; None where that cannot be told."""
        longer: dict[tuple[str, str], set[Key]] = defaultdict(set)
        for name, own in self.others.items():
            if len(name) > 1:
                longer[name[-1], own[0].type if name[-1] not in CLUBS else ""].add(name)
            if len(name) > 2 and name[1] in _JOINING:
                longer[name[0], own[0].type].add(name)
        single = {
            key: own[0].type if key[0] not in CLUBS else ""
            for key, own in self.others.items()
            if len(key) == 1 and key not in self.people
        }
        cut: dict[Key, Key | None] = {
            one: None
            for one, other in pairwise(sorted(single))
            if len(one[0]) >= _LEAST_CUT and other[0].startswith(one[0]) and single[other] == ORG
            if other[0][len(one[0]) :] not in ("s", "es")
        }
        numbered: dict[Key, Key | None] = {
            key: None
            for name, own in self.others.items()
            if len(name) > 1 and name[-1].isdigit() and (name[:-1] in self.others or name[:-1] in self.people)
            if len(name) == 2 or not own[0].surface.split()[0].isupper()
            for key in (name, name[:-1])
        }
        return (
            cut
            | numbered
            | {key: self._whole(key, longer[key[0], kind]) for key, kind in single.items() if (key[0], kind) in longer}
        )

    def _without_capitals(self) -> dict[Key, Key]:
        """What a name without the capitals before it means ("Radio 1" of "BBC Radio 1")."""
        longer: dict[Key, set[Key]] = defaultdict(set)
        for name, own in self.others.items():
            if len(name) > 2 and own[0].type == ORG and own[0].surface.split()[0].isupper():
                longer[name[1:]].add(name)
        return {key: next(iter(found)) for key, found in longer.items() if len(found) == 1 and key in self.others}

    def _whole(self, head: Key, longer: Collection[Key]) -> Key | None:
        if head[0] in CLUBS and len(longer) == 1:
            return next(iter(longer))
        if len(longer) > 1 or head[0] in _NO_HEADS or any(one.before != "the" for one in self.others[head]):
            return None
        (whole,) = longer
        return whole if self.first[whole] < self.first[head] else None


def _key(one: Name) -> Key:
    """The words that make two names equal."""
    words = _POINTS.sub("", entity_name(one.surface)).replace("\u2019", "'").replace("-", " ").split()
    if one.type == PERSON and " ".join(words) not in FIRST_NAME:
        while len(words) > 1 and words[0] in TITLES:
            words = words[1:]
        return tuple(words[:-1] if len(words) > 2 and words[-1] in _GENERATION else words)
    words = words[1:] if len(words) > 1 and words[0] == "the" else words
    words = words[:-1] if len(words) > 1 and words[-1] in _COMPANY else words
    words = [_SITE.sub("", entity_name(one.surface))] if len(words) == 1 and "." in one.surface else words
    return tuple(FIRST_NAME.get(" ".join(words), " ".join(words)).split())


def _begins(key: Key, name: Key) -> bool:
    return len(key) < len(name) and name[: len(key)] == key


def _gender(one: Name) -> set[str]:
    titles = {one.before, *(word.rstrip(".") for word in one.surface.lower().split()[:-1])}
    return {name for name, known in (("man", _MEN), ("woman", _WOMEN)) if titles & known}


def _is_short_for(key: Key, name: Key) -> bool:
    """Its end, its beginning, or both without something between."""
    if key in (name[-len(key) :], name[: len(key)]):
        return True
    return len(key) > 1 and (key[0], key[-1]) == (name[0], name[-1]) and set(key) < set(name)


def _is_misspelt(one: str, other: str) -> bool:
    """Whether one has a letter more, but not an "s" at the end."""
    short, long = sorted((one, other), key=len)
    if len(short) < _LEAST_CUT or len(long) != len(short) + 1 or long == f"{short}s":
        return False
    return any(long[:at] + long[at + 1 :] == short for at in range(len(long)))


def _acronyms(
    mentions: Sequence[Name], keys: Sequence[Key], others: Mapping[Key, Sequence[Name]]
) -> dict[Key, Key | None]:
    """Acronym to the one name that it stands for."""
    wholes: dict[str, set[Key]] = defaultdict(set)
    for key, own in others.items():
        if len(key) > 1:
            for initials in _initials(key, own[0].surface):
                if initials not in key:
                    wholes[initials].add(key)
    return {
        key: next(iter(wholes[key[0]]))
        for one, key in zip(mentions, keys, strict=True)
        if len(key) == 1 and len(wholes.get(key[0], ())) == 1 and _ACRONYM.fullmatch(_POINTS.sub("", one.surface))
    }


def _initials(key: Key, surface: str) -> set[str]:
    """With and without small words and the nation before them ("US Quay Office"); a word in capitals may give all its
    letters ("UKIP").
    """
    capitals = {word.lower() for word in surface.split() if len(word) > 1 and word.isupper()}
    large = [word for word in key if word not in _SMALL]
    whole = "".join(word if word in capitals else word[0] for word in large)
    found = {"".join(word[0] for word in key), "".join(word[0] for word in large), whole}
    if len(large) > 2 and surface.startswith(_NATIONS_BEFORE):
        found |= _initials(key[1:], surface.partition(" ")[2])
    return found
