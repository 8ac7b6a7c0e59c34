"""Asking one question about each listed phrase of a story's target sentences.

Source: Ostermann et al. (2019), MCScript2.0, section 3.2. In part "np" the phrase is to be the answer; in part "vp" the
question is one of time and uses the phrase. What is refused stands in `hits/text/questions/question_rules.py`; page and
server say the same.

Document: {"text", "scenario"}. Item: {"part": "np"|"vp", "targets": [{"start", "end", "phrases": [{"id": "p1", "start",
"end"}]}]}; offsets are those of the text, ends exclusive. A form field is named after its phrase: `p1`.

Two workers ask about each text, and neither is shown the other's questions, so an answer cannot be refused for asking
what the other asks. Such questions are dropped where those of a text are gathered, by the recipe.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from hits.protocols import evidence
from hits.protocols.base import AnswerRefusedError, CheckedAnswer, Json, LabelValue
from hits.protocols.choosing import MAX_REMARK, remark
from hits.protocols.given_settings import CLOSING, COMMON, LONGEST_INSTRUCTIONS, Given, paragraphs
from hits.protocols.lines import measured
from hits.protocols.optional import Line, Setting
from hits.protocols.phrase_questions.correcting import Correcting
from hits.text.questions.question_rules import (
    LONGEST,
    NARRATOR_WORDS,
    OPENING_WORDS,
    Rules,
    asked,
    asked_before,
    faults,
    question_words,
)
from hits.text.wording import _, gettext_noop
from hits.text.written import kept

MOST_WORDS = 20
MOST_LISTED = 200
NOTHING_TO_ASK = gettext_noop(
    "There is nothing to ask about in this text. Return the HIT: that does not count against you."
)
DEFAULTS: Json = {
    **COMMON,
    # Which part all items of the stage ask; empty where each item says so.
    "part": "",
    "instructions_np": "",
    "instructions_vp": "",
    "fewest_words": 4,
    "opening_words": list(OPENING_WORDS),
    "narrator_words": list(NARRATOR_WORDS),
}

PARTS = ("np", "vp")

Fault = tuple[str, str]


@dataclass(frozen=True)
class Phrase:
    """text[start:end] of the document; `number` counts all phrases of the item from 1."""

    id: str
    number: int
    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Sentence:
    """text[start:end] of the document, with what is asked about in it."""

    start: int
    end: int
    phrases: tuple[Phrase, ...]


def _own_words(part: str, of: str) -> Setting:
    help = "What a worker has to know who has never seen this. A blank line begins a new paragraph. Empty: ours."
    return Setting(f"instructions_{part}", f"Instructions where the phrases are {of}", "text", help, rows=6)


# A story of our own writing, shown while nothing is imported.
_EXAMPLE_TEXT = (
    "On Saturday it was my turn to wash the dog. Bruno knows the word bath, so I never say it. I filled the old tub in"
    " the yard with warm water. Then I hid a biscuit in my pocket and called him. He came at once and sat down in the"
    " tub. I rubbed the soap into his fur until he looked like a cloud. My sister poured water over his back with the"
    " green jug. He shook himself, and after that all three of us needed a towel."
)
_EXAMPLE_SENTENCES = (
    "Then I hid a biscuit in my pocket and called him.",
    "He shook himself, and after that all three of us needed a towel.",
)
_EXAMPLE_PHRASES = {
    "np": (("a biscuit", "in my pocket"), ("all three of us", "a towel")),
    "vp": (("hid a biscuit in my pocket", "called him"), ("shook himself", "needed a towel")),
}


def _example_target(number: int, sentence: str, asked_about: Sequence[str]) -> Json:
    start = _EXAMPLE_TEXT.index(sentence)
    phrases = []
    for at, phrase in enumerate(asked_about, start=number):
        begin = _EXAMPLE_TEXT.index(phrase, start)
        phrases.append({"id": f"p{at}", "start": begin, "end": begin + len(phrase)})
    return {"start": start, "end": start + len(sentence), "phrases": phrases}


def _example(part: str) -> tuple[Json, Json]:
    phrases = zip(_EXAMPLE_SENTENCES, _EXAMPLE_PHRASES[part], strict=True)
    targets = [_example_target(2 * at + 1, sentence, asked) for at, (sentence, asked) in enumerate(phrases)]
    return {"text": _EXAMPLE_TEXT, "scenario": "washing the dog"}, {"part": part, "targets": targets}


_EXAMPLES = {part: _example(part) for part in PARTS}


class PhraseQuestions(Correcting):
    name = "phrase_questions"
    title = "Ask about the marked phrases of a story"
    fields = (
        _own_words("np", "of people, things and places"),
        _own_words("vp", "of what happens"),
        Setting(
            "fewest_words",
            "Fewest words of a question",
            "number",
            f"1 to {MOST_WORDS}; shorter ones are refused.",
            unit="words",
        ),
        Setting(
            "opening_words",
            "Words that no question begins with, one a line",
            "lines",
            "A question that begins with one is refused: it could be answered by yes or no. Contractions such as"
            " “didn't” count with their word.",
            rows=6,
        ),
        Setting(
            "narrator_words",
            "Words that no question says, one a line",
            "lines",
            "A question with one is refused: the person who tells the story is always “they”. “I'm” counts with “I”.",
            rows=6,
        ),
        *CLOSING,
    )

    example = _EXAMPLES["np"]

    def fields_for(self, settings: Json) -> tuple[Setting, ...]:
        """Without the instructions of the part that the stage does not ask."""
        left_out = {f"instructions_{part}" for part in PARTS if settings.get("part") not in ("", None, part)}
        return tuple(one for one in self.fields if one.name not in left_out)

    def example_for(self, settings: Json) -> tuple[Json, Json]:
        """One of the part that the stage asks."""
        return _EXAMPLES.get(settings.get("part", ""), self.example)

    def settings(self, given: Mapping[str, Any]) -> Json:
        """How long a question is at least, and the words that it neither begins with nor says.

        `instructions` stand where a part has none of its own.
        """
        found = Given(given, DEFAULTS)
        found.one_of("part", ("", *PARTS))
        found.text("instructions_np", LONGEST_INSTRUCTIONS, may_be_blank=True)
        found.text("instructions_vp", LONGEST_INSTRUCTIONS, may_be_blank=True)
        found.whole("fewest_words", 1, MOST_WORDS)
        _list_words(found, "opening_words")
        _list_words(found, "narrator_words")
        return found.done()

    def page(self, document: Json, item: Json, settings: Json, worker: str = "") -> Json:
        """{"part", "scenario", "instructions", "story", "sentences", "count", "rules", ...}.

        `story` is the text in order: [{"sentence", "parts": [{"text", "phrases"}]}], where `sentence` is a target's
        number, 0 for what is none, and `phrases` are the ids of those that the part belongs to, with spaces between.
        """
        sentences = _sentences(document, item)
        own = settings[f"instructions_{_part(item)}"] or settings["instructions"]
        return {
            "part": _part(item),
            "scenario": document.get("scenario", ""),
            "instructions": paragraphs(own),
            "story": _story(document["text"], sentences),
            "sentences": [_shown(document["text"], number, one) for number, one in enumerate(sentences, start=1)],
            "count": sum(len(one.phrases) for one in sentences),
            "nothing": _(NOTHING_TO_ASK),
            "rules": {
                "fewest_words": settings["fewest_words"],
                "openings": " ".join(settings["opening_words"]),
                "narrator": " ".join(settings["narrator_words"]),
                "longest": LONGEST,
            },
            "max_comment": MAX_REMARK,
        }

    def check(
        self, document: Json, item: Json, settings: Json, fields: Mapping[str, str], worker: str = ""
    ) -> CheckedAnswer:
        """Labels: each phrase's id with {"phrase", "question"}, `questions` (their number), and `evidence` as
        {"seconds"}, which by itself refuses nothing.

        A question is kept as it was written, in one line; a question mark is neither asked for nor added. What the
        phrase says is taken from the document, and fields of other names are ignored.
        """
        phrases = [phrase for sentence in _sentences(document, item) for phrase in sentence.phrases]
        if not phrases:
            raise AnswerRefusedError([_(NOTHING_TO_ASK)])
        texts = {phrase: kept(str(fields.get(phrase.id, ""))) for phrase in phrases}
        found = _faults(texts, _rules({**DEFAULTS, **settings}))
        if found:
            raise AnswerRefusedError([sentence for _, sentence in found], [name for name, _ in found])
        labels = [
            LabelValue(phrase.id, {"phrase": phrase.text, "question": text}, None) for phrase, text in texts.items()
        ]
        came = LabelValue("evidence", {"seconds": evidence.seconds(fields)}, None)
        return CheckedAnswer((LabelValue("questions", len(labels), None), *labels, came), remark(fields))

    def longest_answer(self, document: Json, item: Json, settings: Json) -> int:
        phrases = [phrase for sentence in _sentences(document, item) for phrase in sentence.phrases]
        return sum(len(phrase.id) + 2 * LONGEST for phrase in phrases)

    def asks_texts(self, settings: Json) -> bool:
        return True

    def text_fields(self, document: Json, item: Json, settings: Json) -> list[str]:
        return [phrase.id for sentence in _sentences(document, item) for phrase in sentence.phrases]

    def given_text(self, document: Json, item: Json, settings: Json) -> str:
        return str(document["text"])

    def in_lines(self, document: Json, item: Json, settings: Json, said: Mapping[str, Any]) -> list[Line]:
        """Each phrase with the question about it."""
        found: list[Line] = []
        for phrase in (phrase for sentence in _sentences(document, item) for phrase in sentence.phrases):
            value = said.get(phrase.id)
            if isinstance(value, dict):
                found.append(Line(f"About “{value.get('phrase', phrase.text)}”", value["question"], (phrase.id,)))
        return [*found, *measured(said, {})]

    def scores(self, answers: Iterable[tuple[Json, Json, Any]]) -> Json:
        """Empty: what is written has no reference."""
        return {}


# Settings


def _list_words(found: Given, name: str) -> None:
    """The setting as a list of words in the form in which questions are compared with them."""
    given = found.values[name]
    if not isinstance(given, list) or not all(isinstance(line, str) for line in given):
        found.faults.append(f"{name} must be a list of words, not {given!r:.60}.")
        return
    read = [question_words(line) for line in given]
    wrong = [line for line, its in zip(given, read, strict=True) if len(its) != 1]
    found.faults += [f"{name} has the line {line!r:.60}. Write one word a line." for line in wrong]
    if len(given) > MOST_LISTED:
        found.faults.append(f"{name} has {len(given):,} lines; at most {MOST_LISTED} are compared.")
    if not wrong:
        found.values[name] = list(dict.fromkeys(word for its in read for word in its))


def _rules(settings: Json) -> Rules:
    return Rules(
        fewest_words=settings["fewest_words"],
        openings=frozenset(settings["opening_words"]),
        narrator=frozenset(settings["narrator_words"]),
    )


# The item


def _part(item: Json) -> str:
    return "vp" if item.get("part") == "vp" else "np"


def _sentences(document: Json, item: Json) -> list[Sentence]:
    """In the order of the text. A phrase outside of the text, or of nothing but blanks, is left out."""
    text = document["text"]
    number = 0
    found = []
    for target in sorted(item.get("targets", []), key=lambda target: target["start"]):
        phrases = []
        for one in target["phrases"]:
            if 0 <= one["start"] < one["end"] <= len(text) and (said := kept(text[one["start"] : one["end"]])):
                number += 1
                phrases.append(Phrase(one["id"], number, one["start"], one["end"], said))
        if phrases:
            found.append(Sentence(target["start"], target["end"], tuple(phrases)))
    return found


def _shown(text: str, number: int, sentence: Sentence) -> Json:
    phrases = [{"id": one.id, "number": one.number, "text": one.text} for one in sentence.phrases]
    return {"number": number, "text": kept(text[sentence.start : sentence.end]), "phrases": phrases}


def _story(text: str, sentences: Sequence[Sentence]) -> list[Json]:
    story, at = [], 0
    for number, sentence in enumerate(sentences, start=1):
        story.append({"sentence": 0, "parts": [{"text": text[at : sentence.start], "phrases": ""}]})
        story.append({"sentence": number, "parts": _parts(text, sentence)})
        at = sentence.end
    return [*story, {"sentence": 0, "parts": [{"text": text[at:], "phrases": ""}]}]


def _parts(text: str, sentence: Sentence) -> list[Json]:
    """The sentence cut wherever a phrase begins or ends."""
    cuts = {sentence.start, sentence.end}
    cuts |= {at for one in sentence.phrases for at in (one.start, one.end) if sentence.start < at < sentence.end}
    parts = []
    for start, end in pairwise(sorted(cuts)):
        ids = [one.id for one in sentence.phrases if one.start <= start and end <= one.end]
        parts.append({"text": text[start:end], "phrases": " ".join(ids)})
    return parts


# What speaks against an answer: (field, sentence)


def _faults(texts: Mapping[Phrase, str], rules: Rules) -> list[Fault]:
    found = []
    for phrase, text in texts.items():
        place = _("Question %(number)s", number=phrase.number)
        found += [(phrase.id, sentence) for sentence in faults(text, place, rules)]
    return found + _asked_twice(texts)


def _asked_twice(texts: Mapping[Phrase, str]) -> list[Fault]:
    found = []
    known: dict[str, int] = {}
    for phrase, said in ((phrase, asked(text)) for phrase, text in texts.items()):
        first = known.setdefault(said, phrase.number) if said else phrase.number
        if first != phrase.number:
            found.append((phrase.id, asked_before(phrase.number, first)))
    return found


protocol = PhraseQuestions()
