"""Asking about the marked phrases of a story: in sentences made from the story's own, or in any few words.

No key is needed: what is asked about stands on the page.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass

from hits.crowd.answering import Answer
from hits.crowd.html import Node
from hits.crowd.key import AnswerKey
from hits.crowd.people import Person, draw
from hits.crowd.task_page import NotATaskError, Screen
from hits.text.questions.question_rules import Rules, asked, faults

# How those who tell a story speak of themselves, and how a question does; contractions come before their words.
_THEY = {
    "i'm": "they are",
    "i've": "they have",
    "i'd": "they had",
    "i'll": "they will",
    "we're": "they are",
    "we've": "they have",
    "we'd": "they had",
    "we'll": "they will",
    "you're": "they are",
    "myself": "themselves",
    "ourselves": "themselves",
    "yourself": "themselves",
    "mine": "theirs",
    "ours": "theirs",
    "yours": "theirs",
    "our": "their",
    "your": "their",
    "my": "their",
    "me": "them",
    "us": "them",
    "we": "they",
    "you": "they",
    "i": "they",
}
_SELF = re.compile(rf"\b({'|'.join(_THEY)})\b", re.IGNORECASE)
_AGREES = {"am": "are", "is": "are", "was": "were"}
_VERB = re.compile(rf"\bthey ({'|'.join(_AGREES)})\b")
_PLACE = re.compile(r"(in|on|at|to|into|onto|under|over|behind|near|beside|from|inside|outside|next)\b", re.IGNORECASE)
_TIME = re.compile(
    r"(after|before|during|until|for|every|at|on|in) .*(hour|minute|day|week|morning|evening|night)", re.IGNORECASE
)
_PERSON = re.compile(
    r"\b(mother|mom|mum|father|dad|sister|brother|friend|neighbou?r|boss|doctor|man|woman|people)s?\b", re.IGNORECASE
)
_WHEN = (
    "When was it that they {phrase}?",
    "What happened right after they {phrase}?",
    "How long did it take until they {phrase}?",
    "What did they do before they {phrase}?",
)
_CLEFTS = ("{word} was it that {rest}?", "{word} was it, then, that {rest}?")
_LAST = "What is told at place number {number}?"
_YES_OR_NO = "Did they do this?"
_CARELESS = ("what is it now", "some thing or other", "how long it takes", "why do they that")
_ANYTHING = "blah blah blah {number}"


@dataclass(frozen=True)
class Asked:
    """A phrase of the page with what stands before and after it in its sentence, and its field."""

    field: str
    phrase: str
    before: str
    after: str


def answer(person: Person, screen: Screen, key: AnswerKey) -> Answer | None:
    """Two people ask differently about one phrase. Raises NotATaskError."""
    form = screen.node("div", "data-rules", "data-part").attributes
    rules = Rules(
        fewest_words=int(form["data-fewest-words"]),
        openings=frozenset(form["data-openings"].split()),
        narrator=frozenset(form["data-narrator"].split()),
    )
    item = f"ask {form['data-part']} {screen.node('p', 'data-story').text()}"
    said: dict[str, str] = {}
    for number, one in enumerate(_phrases(screen), start=1):
        turn = draw(person.seed, person.name, item, one.field)
        ideas: Iterable[str] = _careful(one, form["data-part"], number, turn)
        if person.writes_junk:
            # A question of yes or no, which is refused, then any few words.
            ideas = [_YES_OR_NO, _CARELESS[int(turn * len(_CARELESS))], _ANYTHING.format(number=number)]
        said[one.field] = _first_taken(ideas, {asked(text) for text in said.values()}, rules)
    return Answer(item, said)


def _first_taken(ideas: Iterable[str], known: Container[str], rules: Rules) -> str:
    """The page refuses while one writes, so whoever is refused tries the next thing; of the last one at the latest
    it is known that it is taken.
    """
    tried = list(ideas)
    return next((text for text in tried if not faults(text, rules=rules) and asked(text) not in known), tried[-1])


def _phrases(screen: Screen) -> list[Asked]:
    """In the order of the form. Raises NotATaskError where nothing is asked about."""
    sentences = screen.node("p", "data-story").all("mark", "data-sentence")
    names = [area.attributes["name"] for area in screen.page.all("textarea", "data-number")]
    found = {one.field: one for sentence in sentences for one in _marked(sentence, names)}
    if not names or set(found) != set(names):
        raise NotATaskError("The page has no phrase to ask about.")
    return [found[name] for name in names]


def _marked(sentence: Node, names: list[str]) -> Iterator[Asked]:
    """A phrase may be cut into several parts, where another one begins or ends within it."""
    parts = [(_ids(child), child if isinstance(child, str) else child.text()) for child in sentence.children]
    for name in names:
        here = [at for at, (ids, _) in enumerate(parts) if name in ids]
        if here:
            texts = [text for _, text in parts]
            first, last = here[0], here[-1] + 1
            yield Asked(name, "".join(texts[first:last]), "".join(texts[:first]), "".join(texts[last:]))


def _ids(child: Node | str) -> list[str]:
    return [] if isinstance(child, str) else child.attributes.get("data-phrases", "").split()


def _careful(one: Asked, part: str, number: int, turn: float) -> Iterator[str]:
    forms = _WHEN if part == "vp" else _CLEFTS
    start = int(turn * len(forms))
    rest = _plain(_of_them(f"{one.before} {one.after}")).rstrip(" .!?")
    words = {"phrase": _of_them(one.phrase), "word": _question_word(one.phrase), "rest": (rest[:1].lower() + rest[1:])}
    yield from (_agreeing(_plain(form.format(**words))) for form in (*forms[start:], *forms[:start]))
    yield _LAST.format(number=number)


def _question_word(phrase: str) -> str:
    if _TIME.match(phrase):
        return "When"
    if _PLACE.match(phrase):
        return "Where"
    return "Who" if _PERSON.search(phrase) else "What"


def _of_them(text: str) -> str:
    """The text as somebody else would tell it."""
    plain = text.replace("\u2019", "'")
    return _SELF.sub(lambda word: _THEY[word[0].lower()], plain)


def _agreeing(text: str) -> str:
    return _VERB.sub(lambda found: f"they {_AGREES[found[1]]}", text)


def _plain(text: str) -> str:
    """With single spaces, and none where a phrase was taken out before a comma."""
    return re.sub(r"\s+([,.!?;])", r"\1", " ".join(text.split())).lstrip(",; ")
