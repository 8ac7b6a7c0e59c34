"""Cloze queries from news articles: passages, sentences that say more about them, and what each sentence leaves out.

Source: S. Zhang et al. (2018), ReCoRD, section 3.2. The lead is the paragraphs from the top until they have 100 tokens
and four different entities; the passage is the lead and the article's bullets. The rest of the article is split into
sentences. One is kept that has at least 10 tokens, is no question, shares no 3-gram with the passage, has an entity,
and whose entities all have an antecedent in the passage. Each of its entities makes one query.

What the paper leaves open, and is decided here:

- A token is what stands between spaces, and n-grams keep case and punctuation: so counted, none of the published
  queries that we looked at shares a 3-gram with its passage, while without case and punctuation every tenth does. The
  stricter way is the option `tokens="words"`. n-grams of the passage do not cross its lines.
- A question is a sentence that ends in a question mark, whatever quotation marks or brackets follow it.
- Different entities are those that the linker keeps apart, over the whole article.
- An entity makes a query only where no name that the passage or the sentence has for it stands anywhere else in the
  sentence: one that is named twice would be shown by its other mention. A sentence of which no entity is left counts as
  dropped.
- An entity of which a name stands in the passage where the tagger found no mention ("Jan Quist" where "Quist" is one)
  is none of the passage: nobody knows whether it means the same.
- An article of one paragraph has no paragraph to end the lead at: its sentences are taken for paragraphs. With
  `lead_by="sentence"` the lead of every article ends with a sentence.

An item's data is `{"text", "mentions": [{"start", "end", "type", "entity"}], "sentences": [{"text", "dropped",
"mentions"}], "removed"}`. Ends are exclusive. An entity is the number of a cluster of the passage's mentions; it is
null in a sentence where no mention of the passage means the same. `dropped` is a code of `CONDITIONS` or empty,
`removed` lists ids of queries that a lead took out. Queries follow from the data and are stored nowhere.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from hits.text.language.entities import (
    DEFAULT_TYPES,
    PERSON,
    Mention,
    check_types,
    consistent,
    mentions,
    word_after,
    word_before,
)
from hits.text.language.known_names import COUNTRIES, FIRST_NAME
from hits.text.language.linking import LINKERS, Linker, Name
from hits.text.language.passages import MARKER, passage_parts
from hits.text.language.sentences import Sentence, sentences
from hits.text.language.words import words

PLACEHOLDER = "@placeholder"
CONDITIONS: Mapping[str, str] = MappingProxyType(
    {
        "short": "It has too few tokens.",
        "question": "It is a question.",
        "overlap": "It shares a run of tokens with the passage.",
        "no_entity": "It names no entity.",
        "no_antecedent": "One of its entities is not in the passage.",
        "shows_answer": "Each of its entities is named in it once more, so that a query would show its answer.",
    }
)
TOO_LITTLE: Mapping[str, str] = MappingProxyType(
    {
        "short_lead": "the article has too few tokens for a lead",
        "few_entities": "the article names too few different entities for a lead",
        "no_rest": "nothing is left after the lead",
    }
)
TOKENS: Mapping[str, str] = MappingProxyType(
    {
        "whitespace": "what stands between spaces, case and punctuation kept",
        "words": "words in lower case, without punctuation",
    }
)
LEAD_BY: Mapping[str, str] = MappingProxyType(
    {"paragraph": "The lead ends with a paragraph.", "sentence": "The lead ends with a sentence."}
)
_ARTICLES_AT_ONCE = 32
# "Quay, formerly known as Lund" and "Formerly known as Lund, Quay".
_KNOWN_AS = (
    r"(?:(?:formerly|previously|also|better|otherwise|originally) (?:known|called)(?: as)?|"
    r"(?:previous|former|original|real) name(?: is| was)?|code-?named?|aka)"
)
_SECOND_NAME = re.compile(rf"[^;]*\b{_KNOWN_AS},? [\"'\u2018\u201c]?(?:[Tt]he )?$")
_FIRST_NAME = re.compile(rf"{_KNOWN_AS} [\"'\u2018\u201c]?(?:the )?$", re.IGNORECASE)
_QUESTION = re.compile(r"\?[\"'\u2019\u201d)\]\s]*$")

Json = dict[str, Any]


class Parts(Protocol):
    """What is needed of an article, such as a `hits.formats.inputs.articles.Article`."""

    @property
    def paragraphs(self) -> Sequence[str]: ...

    @property
    def highlights(self) -> Sequence[str]: ...


@dataclass(frozen=True, slots=True)
class Rule:
    """The paper's numbers, and what it leaves open. `ngram` 0 means that sentences may repeat the passage."""

    least_tokens: int = 100
    least_entities: int = 4
    least_sentence_tokens: int = 10
    ngram: int = 3
    types: tuple[str, ...] = DEFAULT_TYPES
    linker: str = "names"
    tokens: str = "whitespace"
    lead_by: str = "paragraph"

    def __post_init__(self) -> None:
        numbers = (self.least_tokens, self.least_entities, self.least_sentence_tokens, self.ngram)
        if any(type(number) is not int or not 0 <= number <= 10_000 for number in numbers):
            raise ValueError(
                f"least_tokens, least_entities, least_sentence_tokens and ngram must be 0 to 10,000: {self}"
            )
        check_types(self.types)
        for name, value, known in (
            ("linker", self.linker, LINKERS),
            ("tokens", self.tokens, TOKENS),
            ("lead_by", self.lead_by, LEAD_BY),
        ):
            if value not in known:
                raise ValueError(f"{name} must be one of {', '.join(known)}, not {value!r}")


@dataclass(frozen=True, slots=True)
class Generated:
    """The item of an article, or a code of `TOO_LITTLE` where it has none; then `data` is empty."""

    data: Json
    too_little: str = ""


class Query(NamedTuple):
    """`answers` are the spans (start, end), end exclusive, of all the passage's mentions of the entity."""

    id: str
    query: str
    entity: int
    answers: tuple[tuple[int, int], ...]


# From articles to items


def generate(article: Parts, rule: Rule | None = None, linker: Linker | None = None) -> Generated:
    """The item of one article; `generate_all` is much faster for many."""
    (found,) = generate_all([article], rule, linker)
    return found


def generate_all(
    articles: Iterable[Parts],
    rule: Rule | None = None,
    linker: Linker | None = None,
    *,
    progress: Callable[[int], None] | None = None,
) -> Iterator[Generated]:
    """What each article gives, in the order of the articles; 32 are in memory at a time.

    The linker is the rule's unless one is given. `progress` is called with the number of articles done so far.
    """
    rule = rule or Rule()
    linker = linker or LINKERS[rule.linker]
    waiting, done = iter(articles), 0
    while batch := list(islice(waiting, _ARTICLES_AT_ONCE)):
        yield from _batch(batch, rule, linker)
        done += len(batch)
        if progress:
            progress(done)


def _batch(articles: Sequence[Parts], rule: Rule, linker: Linker) -> Iterator[Generated]:
    lines = [_lines(article) for article in articles]
    tagged = mentions((one.text for own in lines for line in own for one in line.sentences), rule.types)
    for own in lines:
        texts = [one.text for line in own for one in line.sentences]
        yield _generated(own, consistent(texts, list(islice(tagged, len(texts)))), rule, linker)


@dataclass(frozen=True, slots=True)
class _Line:
    """A paragraph or a bullet."""

    text: str
    sentences: list[Sentence]
    is_bullet: bool = False


@dataclass(frozen=True, slots=True)
class _Told:
    """A sentence of a line with its mentions, all and the linked ones; offsets into the sentence."""

    sentence: Sentence
    marked: Sequence[Mention]
    mentions: list[tuple[Mention, int]]


def _lines(article: Parts) -> list[_Line]:
    paragraphs = [_Line(text, sentences(text)) for text in article.paragraphs]
    return paragraphs + [_Line(text, sentences(text), is_bullet=True) for text in article.highlights]


def _generated(lines: Sequence[_Line], tagged: Sequence[Sequence[Mention]], rule: Rule, linker: Linker) -> Generated:
    told = _linked(lines, tagged, linker)
    pieces = _pieces([(line, own) for line, own in zip(lines, told, strict=True) if not line.is_bullet], rule)
    at = _end_of_lead(pieces, rule)
    if isinstance(at, str):
        return Generated({}, at)
    lead = pieces[:at]
    bullets = [_Piece(line.text, own, f"\n{MARKER}\n") for line, own in zip(lines, told, strict=True) if line.is_bullet]
    names = {
        one.sentence.text[mention.start : mention.end]: number
        for piece in (*pieces, *bullets)
        for one in piece.told
        for mention, number in one.mentions
    }
    passage = _Passage(_not_marked(names, [one for piece in (*lead, *bullets) for one in piece.told]))
    for piece in (*lead, *bullets):
        passage.add(piece)
    rest = [_sentence(one, passage) for piece in pieces[at:] for one in piece.told]
    data: Json = {"text": passage.text, "mentions": passage.mentions, "sentences": rest, "removed": []}
    return Generated(judged(data, rule))


def _linked(lines: Sequence[_Line], tagged: Sequence[Sequence[Mention]], linker: Linker) -> list[list[_Told]]:
    """The sentences of each line, with a number of its entity for each mention that is a name."""
    texts = [one for line in lines for one in line.sentences]
    names = [name for one, own in zip(texts, tagged, strict=True) for name in _names(one.text, own)]
    numbers = iter(linker(names))
    told = iter(
        _Told(
            one,
            own,
            [(each, number) for each, number in zip(own, islice(numbers, len(own)), strict=True) if number is not None],
        )
        for one, own in zip(texts, tagged, strict=True)
    )
    return [list(islice(told, len(line.sentences))) for line in lines]


def _names(text: str, own: Sequence[Mention]) -> Iterator[Name]:
    starts, ends = {one.start for one in own}, {one.end for one in own}
    for at, one in enumerate(own):
        in_brackets = text.startswith(" (", one.start - 2) and one.start - 2 in ends
        before = "(" if in_brackets else word_before(text, one.start)
        if at and _is_second_name(text, own[at - 1], one):
            before = "="
        after = "" if one.end + 1 in starts else word_after(text, one.end)
        yield Name(text[one.start : one.end], one.type, before, after)


def _is_second_name(text: str, first: Mention, second: Mention) -> bool:
    """Whether the text says that these two mentions in a row are two names of one."""
    between = text[first.end : second.start]
    if between == " (" and text.startswith(")", second.end):
        name = text[second.start : second.end]
        alike = first.type == second.type or name.isupper() and len(name) > 2 and first.type == "ORG"
        return alike and first.type != PERSON and not _is_country(name)
    begins = bool(_FIRST_NAME.fullmatch(text, 0, first.start)) and between.strip("'\"\u2019\u201d") == ", "
    return begins or bool(_SECOND_NAME.fullmatch(between))


def _is_country(name: str) -> bool:
    return name.lower() in COUNTRIES or name.lower() in FIRST_NAME


@dataclass(frozen=True, slots=True)
class _Piece:
    """What the lead may end with: a paragraph, or a sentence. `before` parts it from the piece before."""

    text: str
    told: list[_Told]
    before: str = "\n"


def _pieces(paragraphs: Sequence[tuple[_Line, list[_Told]]], rule: Rule) -> list[_Piece]:
    if rule.lead_by == "paragraph" and len(paragraphs) > 1:
        return [_Piece(line.text, own) for line, own in paragraphs]
    return [
        _Piece(one.sentence.text, [_moved(one)], " " if number else "\n")
        for _, own in paragraphs
        for number, one in enumerate(own)
    ]


def _moved(one: _Told) -> _Told:
    """The sentence as a text of its own."""
    return _Told(Sentence(0, len(one.sentence.text), one.sentence.text), one.marked, one.mentions)


def _end_of_lead(pieces: Sequence[_Piece], rule: Rule) -> int | str:
    """How many pieces the lead has, or a code of `TOO_LITTLE`."""
    tokens, entities = 0, set[int]()
    for at, piece in enumerate(pieces, 1):
        tokens += len(tokens_of(piece.text, rule))
        entities |= {number for one in piece.told for _, number in one.mentions}
        if tokens >= rule.least_tokens and len(entities) >= rule.least_entities:
            return at if at < len(pieces) else "no_rest"
    return "short_lead" if tokens < rule.least_tokens else "few_entities"


def _not_marked(names: Mapping[str, int], told: Sequence[_Told]) -> set[int]:
    """Entities of which a name also stands where no mention is: what that means is not known, so a reference may be
    missing.
    """
    if not names:
        return set()
    any_name = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, sorted(names, key=len, reverse=True)))})(?!\w)")
    found = ((match, one) for one in told for match in any_name.finditer(one.sentence.text))
    return {
        names[match[0]]
        for match, one in found
        if not any(mention.start < match.end() and match.start() < mention.end for mention in one.marked)
    }


class _Passage:
    """A passage that grows; `entities` is the number of each linked entity in it, counted from 0, `without` are those
    that are left out.
    """

    def __init__(self, without: Collection[int]) -> None:
        self.text = ""
        self.without = without
        self.mentions: list[Json] = []
        self.entities: dict[int, int] = {}

    def add(self, piece: _Piece) -> None:
        self.text += piece.before if self.text else ""
        for one in piece.told:
            start = len(self.text) + one.sentence.start
            for mention, linked in one.mentions:
                if linked in self.without:
                    continue
                number = self.entities.setdefault(linked, len(self.entities))
                self.mentions.append(_mention_json(mention, start, number))
        self.text += piece.text


def _mention_json(mention: Mention, start: int, entity: int | None) -> Json:
    return {"start": start + mention.start, "end": start + mention.end, "type": mention.type, "entity": entity}


def _sentence(one: _Told, passage: _Passage) -> Json:
    own = [
        _mention_json(mention, 0, passage.entities.get(number))
        for mention, number in one.mentions
        if number not in passage.without
    ]
    return {"text": one.sentence.text, "dropped": "", "mentions": own}


def tokens_of(text: str, rule: Rule) -> list[str]:
    """What the rule counts."""
    return words(text) if rule.tokens == "words" else text.split()


# From items to queries


def judged(data: Json, rule: Rule) -> Json:
    """The data with what each sentence is dropped for, the first condition of the paper's order, computed anew.

    A sentence's mention whose entity is in the passage no more has none.
    """
    known = _Known(data, rule)
    return {**data, "sentences": [known.judged(one) for one in data["sentences"]]}


class _Known:
    """What the sentences of an item are held against."""

    def __init__(self, data: Json, rule: Rule) -> None:
        self.rule = rule
        self.names = entity_names(data)
        self.ngrams = passage_ngrams(data["text"], rule)

    def judged(self, sentence: Json) -> Json:
        own = [one if one["entity"] in self.names else {**one, "entity": None} for one in sentence["mentions"]]
        return {**sentence, "mentions": own, "dropped": self._dropped(sentence["text"], own)}

    def _dropped(self, text: str, own: Sequence[Json]) -> str:
        tokens = tokens_of(text, self.rule)
        if len(tokens) < self.rule.least_sentence_tokens:
            return "short"
        if _QUESTION.search(text):
            return "question"
        if not self.ngrams.isdisjoint(ngrams(tokens, self.rule.ngram)):
            return "overlap"
        if not own:
            return "no_entity"
        if any(one["entity"] is None for one in own):
            return "no_antecedent"
        return "" if any(not shows(text, one, own, self.names) for one in own) else "shows_answer"


def ngrams(tokens: Sequence[str], size: int) -> Iterator[tuple[str, ...]]:
    """All runs of so many tokens; none for a size of 0."""
    return zip(*(tokens[at:] for at in range(size)), strict=False) if size else iter(())


def passage_ngrams(text: str, rule: Rule) -> set[tuple[str, ...]]:
    """Those of each line by itself."""
    lines = (tokens_of(text[part.start : part.end], rule) for part in passage_parts(text))
    return {gram for line in lines for gram in ngrams(line, rule.ngram)}


def entity_names(data: Json) -> dict[int, frozenset[str]]:
    """Each entity of the passage with the names that the passage has for it, as they are written."""
    names: dict[int, set[str]] = {}
    for one in data["mentions"]:
        names.setdefault(one["entity"], set()).add(data["text"][one["start"] : one["end"]])
    return {entity: frozenset(found) for entity, found in names.items()}


def shows(text: str, one: Json, own: Sequence[Json], names: Mapping[int, frozenset[str]]) -> bool:
    """Whether the sentence without this mention still says what is meant: by another mention, or in any other way."""
    if sum(other["entity"] == one["entity"] for other in own) > 1:
        return True
    known = names[one["entity"]] | {text[one["start"] : one["end"]]}
    rest = f"{text[: one['start']]}\n{text[one['end'] :]}"
    return bool(_any_name(frozenset(known)).search(rest))


@lru_cache(maxsize=4096)
def _any_name(names: frozenset[str]) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(sorted(map(re.escape, names)))})(?!\w)", re.IGNORECASE)


def queries(data: Json, *, with_removed: bool = False) -> list[Query]:
    """The queries in the order of the sentences, without those that a lead took out unless they are asked for."""
    names, removed = entity_names(data), set() if with_removed else set(data["removed"])
    spans: dict[int, list[tuple[int, int]]] = {}
    for one in data["mentions"]:
        spans.setdefault(one["entity"], []).append((one["start"], one["end"]))
    found = (
        _query(number, sentence["text"], one, spans[one["entity"]])
        for number, sentence in enumerate(data["sentences"])
        if not sentence["dropped"]
        for one in sentence["mentions"]
        if not shows(sentence["text"], one, sentence["mentions"], names)
    )
    return [query for query in found if query.id not in removed]


def _query(number: int, text: str, one: Json, spans: Sequence[tuple[int, int]]) -> Query:
    query = f"{text[: one['start']]}{PLACEHOLDER}{text[one['end'] :]}"
    return Query(f"s{number}-e{one['entity']}", query, one["entity"], tuple(sorted(spans)))


def figures(data: Json) -> dict[str, int]:
    """`sentences`, how many each of `CONDITIONS` dropped, `kept`, and of queries `queries` and `removed`."""
    dropped = Counter(sentence["dropped"] for sentence in data["sentences"])
    asked, every = len(queries(data)), len(queries(data, with_removed=True))
    return {
        "sentences": len(data["sentences"]),
        **{code: dropped[code] for code in CONDITIONS},
        "kept": dropped[""],
        "queries": asked,
        "removed": every - asked,
    }
