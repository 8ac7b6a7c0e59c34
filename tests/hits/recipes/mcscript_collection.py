"""A small MCScript2.0 collection in memory, with the words that each test needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hits.recipes import GivenLabel, JudgedItem, load
from hits.recipes.source import ReleasedItem
from hits.stats.vote_rules.conditions import conclude
from hits.stats.vote_rules.known_rules import MCSCRIPT_LABELS
from hits.stats.vote_rules.rule_text import parse

OPTIONS = load("mcscript").options
RULE = parse(MCSCRIPT_LABELS.text, MCSCRIPT_LABELS.answers)
Json = dict[str, Any]


class Collection:
    """`Collected` over a list of items; `computed` is what the computation found, by item."""

    plugins, pseudonym_key = (), "secret"

    def __init__(self, *items: JudgedItem, computed: Mapping[str, Json] | None = None, seed: int = 3, **options: Any):
        self.items, self.seed, self.options = list(items), seed, {**OPTIONS, **options}
        self.computed = dict(computed or {})

    def judged(self, stage: str, *, labels: bool = False, computation: str = "") -> Iterator[JudgedItem]:
        here = sorted((item for item in self.items if item.stage == stage), key=lambda one: (one.document_key, one.key))
        for item in here:
            found = self.computed.get(item.key) if computation else None
            yield replace(item, labels=item.labels if labels else (), computed=found)

    def found(self, computation: str) -> Iterator[tuple[str, Json]]:
        yield from sorted(self.computed.items())

    def released(self) -> Iterator[ReleasedItem]:
        return iter(())


def story_text(number: int) -> str:
    """Four sentences; the last one is hidden where questions are answered."""
    return f"It was day {number}. We took the bus. The bus was red. Mum paid the driver for the ticket."


def hidden(text: str) -> list[list[int]]:
    return [[text.index("Mum paid"), len(text)]]


def item(stage: str, key: str, data: Json, *, document: str = "", scenario: str = "taking a bus", **more: Any):
    """About a text of its own, unless told otherwise."""
    name = document or key
    text = more.pop("text", story_text(len(name)))
    about = {"text": text, "scenario": scenario, **more.pop("about", {})}
    labels = tuple(more.pop("labels", ()))
    return JudgedItem(
        stage, key, data, name, about, "public", "train", more.pop("outcome", "kept"), labels=labels, **more
    )


def label(unit: str, value: Any, worker: str = "W1") -> GivenLabel:
    return GivenLabel(worker, f"A{worker}", unit, value, None)


def asked(document: str, part: str, *questions: str, workers: int = 1, **more: Any):
    """An item of a question stage with its answers; each worker asks the same questions, one a phrase."""
    text = story_text(len(document))
    (start, end) = hidden(text)[0]
    phrases = [{"id": f"p{n}", "start": start, "end": start + n} for n in range(1, len(questions) + 1)]
    labels = [
        label(f"p{n}", {"phrase": "Mum", "question": question}, f"{part}{worker}")
        for worker in range(workers)
        for n, question in enumerate(questions, 1)
    ]
    labels += [label("questions", len(questions)), label("evidence", {"seconds": 60})]
    data = {"part": part, "targets": [{"start": start, "end": end, "phrases": phrases}]}
    return item(f"{part}-short", f"{document}/{part}", data, document=document, labels=labels, **more)


def answered(key: str, *questions: Sequence[tuple[str, str, str]], **more: Any):
    """A text whose questions were answered; each is five (label, correct or alternative, incorrect)."""
    text = more.get("text", story_text(len(key)))
    data = {
        "hidden": hidden(text),
        "questions": [
            {"id": f"q{n}", "text": f"What did {key} do, {n}?", "type": "np" if n % 2 else "vp"}
            for n in range(1, len(questions) + 1)
        ],
    }
    labels = [one for n, five in enumerate(questions, 1) for one in _of_question(f"q{n}", five)]
    said = [
        {one.unit: one.value for one in labels if one.worker == worker and isinstance(one.value, str)}
        for worker in {one.worker for one in labels}
    ]
    judged = conclude(RULE, said)
    more.setdefault("outcome", judged.outcome)
    return item("answers", key, data, labels=labels, parts=dict(judged.parts), **more)


def _of_question(question: str, five: Sequence[tuple[str, str, str]]) -> Iterator[GivenLabel]:
    for number, (kind, first, second) in enumerate(five):
        worker = f"W{number}"
        yield label(f"{question}/label", kind, worker)
        if kind in ("text", "script"):
            yield label(f"{question}/correct", {"text": first}, worker)
            yield label(f"{question}/incorrect", {"text": second}, worker)
        else:
            yield label(f"{question}/alternative", {"text": first}, worker)


def five(kind: str = "text", correct: str = "the driver", incorrect: str = "the dog") -> list[tuple[str, str, str]]:
    """All five workers agree on everything but the incorrect answer."""
    return [(kind, correct, f"{incorrect} {n}") for n in "abcde"]


def reviewed(of: JudgedItem, shown: Json, changes: Mapping[str, Json], **more: Any):
    """An expert's review of a text; `shown` is the data that the review was drawn with."""
    labels = [label(unit, value, "EXPERT") for unit, value in changes.items()]
    about = {"text": of.document["text"], "scenario": of.document["scenario"]}
    return item("review", of.key, shown, document=of.document_key, labels=labels, about=about, **more)
