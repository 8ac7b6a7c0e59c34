"""The noun phrases and verb phrases of a parsed sentence, as a reader would point at them.

Source: S. Ostermann, M. Roth and M. Pinkal (2019), MCScript2.0, section 3.2, which takes the phrases of Stanford
CoreNLP's constituents. Here they are read off spaCy's dependencies: what the paper says of nested constituents becomes
a walk from the root down that stops at the first phrase it meets.

Noun phrases: those that lie in no other noun phrase, with all that belongs to them ("the top of the cake", "my mom
and her friend", "the food that we had saved"). One that is the object of a preposition is taken with it ("in the
kitchen"). Left out are phrases that mean whoever tells the story: I, we, you (stories told to a child say "you" for
"one"), alone, joined to others ("my mom and I") or as the whole that something is a part of ("all of us"). "My cake"
means a cake and stays; so do he, it, they and the like, as the paper excludes the narrator only. "There" of "there is",
"at first", "a bit" and the like mean nothing in the story and are no noun phrases.

Verb phrases: a verb with its auxiliaries, complements and modifiers, without its subject and without the words before
its first auxiliary that is written out ("I'll | pack a bag"); verbs joined by "and", and a clause behind a comma, stand
for themselves. Of phrases within one another the outermost is taken. Verbs within a noun phrase ("the cake that we
baked") describe it and are no phrases, nor is a lone form of "be" or of another auxiliary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_NOUNS = frozenset({"NOUN", "PROPN", "PRON"})
_STAND_FOR_NOUNS = frozenset({"NUM", "DET", "ADJ"})
_ARGUMENTS = frozenset({"nsubj", "nsubjpass", "dobj", "pobj", "attr", "dative"})
_PARTS = "expl compound poss nmod amod det predet nummod quantmod aux auxpass prt mark advmod intj case"
_NEVER_NOUN_PHRASES = frozenset(_PARTS.split())
_PREPOSITIONS = frozenset({"prep", "dative", "agent"})
_VERBS = frozenset({"VERB", "AUX"})
_CLAUSES = frozenset({"ROOT", "conj", "advcl", "ccomp", "xcomp", "csubj", "csubjpass", "parataxis", "pcomp"})
_SUBJECTS = frozenset({"nsubj", "nsubjpass", "csubj", "csubjpass", "expl"})
_AUXILIARIES = frozenset({"aux", "auxpass", "neg"})
_SUBORDINATE = frozenset({"relcl", "acl", "advcl", "ccomp", "parataxis"})
_NARRATORS = "i me mine myself we us ours ourselves you yours yourself yourselves"
_NARRATOR = frozenset(_NARRATORS.split())
_SHORT_FORMS = frozenset(f"{mark}{rest}" for mark in "'\u2019" for rest in ("m", "s", "re", "ve", "ll", "d"))
# Noun phrases in form only: nothing in the story is meant by them.
_IDIOMS = """
    in case, of course, for example, for instance, in fact, at all, at once, at first, at last, at least, by one
    a bit, a lot, a little
"""
_MEAN_NOTHING = frozenset(" ".join(idiom.split()) for line in _IDIOMS.strip().split("\n") for idiom in line.split(","))
# With "of" these make one preposition, which the parser takes apart.
_BEFORE_OF = frozenset({"out", "inside", "outside", "ahead", "instead", "because"})
_STAND_FOR_VERBS = frozenset({"do", "does", "did"})
_PAIRS = {")": "(", "]": "[", "}": "{", "\u201d": "\u201c", "\u2019": "\u2018", '"': '"', "'": "'"}


@dataclass(frozen=True, slots=True)
class Phrase:
    """Tokens `start` to `end`, end exclusive."""

    start: int
    end: int


def noun_phrases(sentence: Doc) -> list[Phrase]:
    """In order, without overlaps; without the narrator."""
    return _apart([phrase for phrase, head in _all_noun_phrases(sentence) if not _means_narrator(head)])


def count_noun_phrases(sentence: Doc) -> int:
    """How many noun phrases the sentence has, the narrator's among them."""
    return len(_apart([phrase for phrase, _ in _all_noun_phrases(sentence)]))


def verb_phrases(sentence: Doc) -> list[Phrase]:
    """In order, without overlaps."""
    heads = sorted((token for token in sentence if _heads_verb_phrase(token)), key=_depth)
    phrases = [_trimmed(sentence, _verb_start(head), _verb_end(head)) for head in heads]
    return _apart([one for one in phrases if not _says_nothing(sentence, one)])


def _apart(phrases: list[Phrase]) -> list[Phrase]:
    """Sorted; of those that overlap the one that was given first. A parser may cross its own branches."""
    kept: list[Phrase] = []
    for one in phrases:
        if one.start < one.end and all(one.end <= other.start or other.end <= one.start for other in kept):
            kept.append(one)
    return sorted(kept, key=lambda one: one.start)


def _trimmed(sentence: Doc, start: int, end: int) -> Phrase:
    """Without punctuation at its ends, but with both marks of a quotation or bracket that begins within."""
    while (
        start < end
        and sentence[start].is_punct
        and not any(_PAIRS.get(token.text) == sentence[start].text for token in sentence[start + 1 : end])
    ):
        start += 1
    while start < end and sentence[end - 1].is_punct and not _closes(sentence, start, end - 1):
        end -= 1
    # The parser may hang the closing mark on another word.
    return Phrase(start, end + 1 if start < end < len(sentence) and _closes(sentence, start, end) else end)


def _closes(sentence: Doc, start: int, at: int) -> bool:
    """Whether the token ends what a mark from `start` on began and nothing before it ended."""
    mark = sentence[at].text
    before = [token.text for token in sentence[start:at]]
    opening = _PAIRS.get(mark)
    if opening is None:
        return False
    return before.count(mark) % 2 == 1 if opening == mark else before.count(opening) > before.count(mark)


# Noun phrases


def _all_noun_phrases(sentence: Doc) -> Iterator[tuple[Phrase, Token]]:
    """(phrase, the noun at its head) of each, from the top of the tree down."""
    waiting = [token for token in sentence if token.head == token]
    while waiting:
        token = waiting.pop()
        head = _object(token) if token.dep_ in _PREPOSITIONS else None
        if head is None and _is_noun_phrase(token):
            head = token
        if head is None:
            waiting += token.children
            continue
        phrase = _trimmed(sentence, _noun_start(token), _noun_end(head))
        if " ".join(word.lower_ for word in sentence[phrase.start : phrase.end]) not in _MEAN_NOTHING:
            yield phrase, head
        waiting += _cut_off(head)


def _is_noun_phrase(token: Token) -> bool:
    if token.dep_ in _NEVER_NOUN_PHRASES or _asks(token) or not any(one.isalnum() for one in token.text):
        return False
    if token.dep_ == "npadvmod" and token.head.pos_ not in _VERBS:
        return False
    if token.pos_ in _NOUNS:
        return True
    return token.pos_ in _STAND_FOR_NOUNS and token.dep_ in _ARGUMENTS


def _asks(token: Token) -> bool:
    """A word such as who, or a noun that has one, as in "which bus": there is nothing to ask about it."""
    return any(one.tag_.startswith("W") for one in (token, *token.lefts) if one == token or one.dep_ == "det")


def _object(preposition: Token) -> Token | None:
    """The noun that a preposition leads to, perhaps by another one ("out of the oven")."""
    for child in preposition.rights:
        if child.dep_ == "pobj" and _is_noun_phrase(child):
            return child
        if child.dep_ in {"prep", "conj", "pcomp"} and child.pos_ == "ADP" and (found := _object(child)):
            return found
    return None


def _rights(head: Token, ends_at: Callable[[Token], bool]) -> tuple[list[Token], list[Token]]:
    """What follows a head, parted before the first one that no longer belongs to its phrase."""
    rights = list(head.rights)
    cut = next((i for i, child in enumerate(rights) if ends_at(child)), len(rights))
    return rights[:cut], rights[cut:]


def _ends_noun(child: Token) -> bool:
    if child.dep_ == "conj":
        return child.pos_ in _VERBS
    if child.dep_ == "prep" and child.lower_ in {"into", "onto"} and child.head.dep_ == "dobj":
        # Where something is put is no part of it, whatever the parser says.
        return True
    return child.dep_ in {"advcl", "ccomp", "parataxis"} or (child.dep_ in _SUBORDINATE and _follows_comma(child))


def _follows_comma(token: Token) -> bool:
    first = token.left_edge.i
    return first > 0 and bool(token.doc[first - 1].is_punct)


def _noun_start(token: Token) -> int:
    """`token` is the noun or the preposition that leads to it."""
    start = token.left_edge.i
    is_of = token.i == start > 0 and token.lower_ == "of"
    return start - 1 if is_of and token.doc[start - 1].lower_ in _BEFORE_OF else start


def _noun_end(head: Token) -> int:
    kept, _ = _rights(head, _ends_noun)
    ends = [
        _noun_end(child) if child.dep_ == "conj" else child.right_edge.i + 1 for child in kept if child.dep_ != "cc"
    ]
    return max([head.i + 1, *ends])


def _cut_off(head: Token) -> list[Token]:
    """The branches that hang on the phrase, and on what it is joined to, but do not belong to it."""
    kept, rest = _rights(head, _ends_noun)
    return rest + [token for child in kept if child.dep_ == "conj" for token in _cut_off(child)]


def _means_narrator(head: Token) -> bool:
    if head.lower_ in _NARRATOR and head.text != "US":
        return True
    if any(child.dep_ == "conj" and _means_narrator(child) for child in head.children):
        return True
    is_part = head.pos_ in {"PRON", "NUM", "DET", "ADJ"}
    of = [child for child in head.children if child.lower_ == "of"]
    return is_part and any(_means_narrator(found) for found in map(_object, of) if found)


# Verb phrases


def _heads_verb_phrase(token: Token) -> bool:
    if token.pos_ not in _VERBS or token.dep_ not in _CLAUSES:
        return False
    return not any(
        _is_noun_phrase(one) and not any(token == branch or branch.is_ancestor(token) for branch in _cut_off(one))
        for one in token.ancestors
    )


def _depth(token: Token) -> tuple[int, int]:
    return sum(1 for _ in token.ancestors), token.i


def _verb_start(head: Token) -> int:
    """The first auxiliary behind the subject, or the verb."""
    lefts = list(head.lefts)
    subject = max((child.i for child in lefts if child.dep_ in _SUBJECTS), default=-1)
    helpers = (child for child in lefts if child.dep_ in _AUXILIARIES and child.i > subject)
    return min([head.i, *(child.i for child in helpers if child.lower_ not in _SHORT_FORMS)])


def _ends_verb(child: Token) -> bool:
    return child.dep_ == "conj" or (child.dep_ in {"advcl", "ccomp", "parataxis"} and _follows_comma(child))


def _verb_end(head: Token) -> int:
    kept, _ = _rights(head, _ends_verb)
    return max([head.i + 1, *(child.right_edge.i + 1 for child in kept if child.dep_ != "cc")])


def _says_nothing(sentence: Doc, phrase: Phrase) -> bool:
    tokens = sentence[phrase.start : phrase.end]
    return all(token.pos_ in {"AUX", "PART", "PUNCT"} or token.lower_ in _STAND_FOR_VERBS for token in tokens)
