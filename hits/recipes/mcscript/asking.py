"""From scenarios and texts to what is asked about a text: target sentences, questions, and those that are answered.

Source: Ostermann et al. (2019), MCScript2.0, sections 3.1 to 3.3. Where the paper leaves a choice:
- A question that somebody else has asked about the same text, but for case, spacing and punctuation, is dropped.
- Where a text has more questions than are answered, each has the same chance, whatever its part; their order is random
  as well, so that questions about one phrase do not stand together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from hits.formats.files.faults import Fault, FormatErrors
from hits.formats.inputs import mcscript, scenarios
from hits.recipes.sampling import sample
from hits.recipes.source import (
    Collected,
    Json,
    JudgedItem,
    NewDocument,
    NextItem,
    SourceDocument,
    SourceItem,
)
from hits.text.language.targets import Rule, Span, Target, targets_of
from hits.text.written import alike

STORY, ANSWERS = "story", "answers"
PARTS = ("np", "vp")
QUESTION_STAGES = ("np-long", "np-short", "vp-long", "vp-short")
# Of scenarios that were imported before these were options: from so many target sentences on, a text is paid as a long
# one, and counting started at the fourth sentence.
_LONG, _EARLIER_FIRST = 4, 4
NO_TARGET = "no sentence is a target with a phrase to ask about."
OWN_QUESTIONS = "the questions that the file has. Workers ask new ones."


# What a file brings


def read_documents(
    stream: BinaryIO,
    *,
    name: str,
    max_bytes: int,
    default_origin: str,
    progress: Callable[[int], None] | None = None,
    seed: int = 0,
    options: Mapping[str, Any],
) -> list[SourceDocument]:
    """Scenarios to tell stories about, or an MCScript file whose texts are asked about at once, told by the content.

    The file's own questions are not used, and a note says so. Raises FormatErrors with every fault.
    """
    rule = _rule(options)
    if not mcscript.is_xml(stream):
        found = scenarios.read(stream, max_bytes=max_bytes, progress=progress)
        return [_of_scenario(one, default_origin, rule, options["long_from"]) for one in found]
    texts = mcscript.read(stream, max_bytes=max_bytes, progress=progress)
    return list(_of_texts(texts, default_origin, rule, options["long_from"]))


def _rule(options: Mapping[str, Any]) -> Json:
    """The numbers of `hits.text.language.targets.Rule`."""
    numbers = {name: options[name] for name in ("first", "every", "least_noun_phrases")}
    numbers["longest"] = options["longest_tokens"]
    try:
        Rule(**numbers)
    except ValueError as error:
        raise FormatErrors([Fault(None, "options", f"{error}: change the options")]) from error
    return numbers


def _of_scenario(one: scenarios.Scenario, origin: str, rule: Json, long_from: int) -> SourceDocument:
    """The numbers go with the scenario: whoever takes up the stories knows no options."""
    data = {"scenario": one.scenario, "hint": one.hint, "targets": rule, "long_from": long_from}
    return SourceDocument(one.key, origin, data, (SourceItem(one.key, {}, STORY),), one.line, one.place)


def _of_texts(texts: Sequence[mcscript.Instance], origin: str, rule: Json, long_from: int) -> Iterator[SourceDocument]:
    for one, found in zip(texts, targets_of((one.text for one in texts), **rule), strict=True):
        items = tuple(SourceItem(f"{one.id}/{part}", data, stage) for stage, part, data in _asked(found, long_from))
        data = {"text": one.text, "scenario": one.scenario} if items else {}
        note = (OWN_QUESTIONS if one.questions else "") if items else NO_TARGET
        yield SourceDocument(one.id, origin, data, items, one.line, one.place, note=note)


def import_notes(documents: Sequence[SourceDocument]) -> list[str]:
    """How many target sentences the texts of a file have, which is to be looked at before anybody is asked."""
    # Each part shows all of them.
    counts = [(len(one.items[0].data["targets"]) if one.items else 0) for one in documents if "hint" not in one.data]
    if not counts:
        return []
    return [
        f"Target sentences a text: {sum(counts) / len(counts):.2f} ({sum(counts):,} in {len(counts):,} texts, of which "
        f"{counts.count(0):,} have none)."
    ]


# What a story leads to


def next_items(item: JudgedItem) -> list[NextItem]:
    """Each told story becomes a text of its own, with the phrases of its target sentences to ask about."""
    if item.stage != STORY or item.outcome != "kept":
        return []
    told = [label for label in item.labels if label.unit == STORY]
    rule = {"first": _EARLIER_FIRST, **item.document["targets"]}
    found = targets_of((label.value["text"] for label in told), **rule)
    made = []
    for label, its_targets in zip(told, found, strict=True):
        key = f"{item.key}/{label.assignment}"
        data = {"text": label.value["text"], "scenario": item.document["scenario"], "story": label.assignment}
        document = NewDocument(key, data)
        made += [
            NextItem(stage, f"{key}/{part}", asked, document=document, source=label.assignment)
            for stage, part, asked in _asked(its_targets, item.document.get("long_from", _LONG))
        ]
    return made


def _asked(found: Sequence[Target], long_from: int) -> Iterator[tuple[str, str, Json]]:
    """(stage, part, item data) of each part for which the targets have a phrase; both parts show all targets."""
    size = "long" if len(found) >= long_from else "short"
    for part in PARTS:
        phrases = [one.noun_phrases if part == "np" else one.verb_phrases for one in found]
        if any(phrases):
            yield f"{part}-{size}", part, {"part": part, "targets": list(_targets(found, phrases))}


def _targets(found: Iterable[Target], phrases: Iterable[Sequence[Span]]) -> Iterator[Json]:
    number = 0
    for target, spans in zip(found, phrases, strict=True):
        listed = [{"id": f"p{number + n}", "start": span.start, "end": span.end} for n, span in enumerate(spans, 1)]
        number += len(spans)
        yield {"start": target.start, "end": target.end, "phrases": listed}


# Which questions are answered


@dataclass
class _Asked:
    """What was asked about one text. `parent` is (stage, key) of an item, `questions` has (tag, part, question)."""

    parent: tuple[str, str]
    ready: bool = True
    hidden: set[tuple[int, int]] = field(default_factory=set)
    questions: list[tuple[str, str, str]] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)

    def add(self, item: JudgedItem) -> None:
        self.ready &= item.outcome == "kept"
        self.hidden |= {(target["start"], target["end"]) for target in item.data["targets"]}
        for label in item.labels:
            if isinstance(label.value, dict) and "question" in label.value:
                self._ask(f"{item.key} {label.unit} {label.assignment}", item.data["part"], label.value["question"])

    def _ask(self, tag: str, part: str, question: str) -> None:
        if alike(question) not in self.seen:
            self.seen.add(alike(question))
            self.questions.append((tag, part, question))


def draw_answers(collected: Collected, count: int, *, seed: int) -> list[NextItem]:
    """The texts about which all questions were asked, each with at most so many questions as an option says."""
    asked = {key: one for key, one in _gathered(collected).items() if one.ready and one.questions}
    drawn = set(sample(asked, count, f"draw {ANSWERS} {seed}"))
    most = collected.options["most_questions"]
    return [
        NextItem(ANSWERS, key, _to_answer(key, one, most, seed), parent=one.parent)
        for key, one in asked.items()
        if key in drawn
    ]


def _gathered(collected: Collected) -> dict[str, _Asked]:
    """By text."""
    standing = standing_stories(collected)
    found: dict[str, _Asked] = {}
    for stage in QUESTION_STAGES:
        items = collected.judged(stage, labels=True)
        for item in (item for item in items if not is_withdrawn(item, standing)):
            found.setdefault(item.document_key, _Asked((stage, item.key))).add(item)
    return found


def written_questions(collected: Collected, standing: Set[str]) -> tuple[dict[str, set[str]], set[str]]:
    """(the different questions by text, the texts whose story was rejected); a text without a question has none."""
    found: dict[str, set[str]] = {}
    rejected = set()
    for stage in QUESTION_STAGES:
        for item in collected.judged(stage, labels=True):
            here = found.setdefault(item.document_key, set())
            values = [label.value for label in item.labels if isinstance(label.value, dict)]
            here |= {alike(value["question"]) for value in values if "question" in value}
            if is_withdrawn(item, standing):
                rejected.add(item.document_key)
    return found, rejected


def _to_answer(key: str, one: _Asked, most: int, seed: int) -> Json:
    questions = {tag: (part, question) for tag, part, question in one.questions}
    drawn = [questions[tag] for tag in sample(questions, most, f"questions {seed} {key}")]
    return {
        "hidden": [list(span) for span in sorted(one.hidden)],
        "questions": [{"id": f"q{n}", "text": text, "type": part} for n, (part, text) in enumerate(drawn, 1)],
    }


def standing_stories(collected: Collected) -> set[str]:
    """The keys of the texts that were told here and whose story counts."""
    return {
        f"{item.key}/{label.assignment}"
        for item in collected.judged(STORY, labels=True)
        for label in item.labels
        if label.unit == STORY
    }


def is_withdrawn(item: JudgedItem, standing: Set[str]) -> bool:
    """Whether the item is about a story that was rejected after it had gone on; texts of files have no story."""
    return "story" in item.document and item.document_key not in standing
