"""A stage of stories with people who type, dictate, quote, and one who pastes and copies."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from hits.answers.rules import text_evidence
from hits.judging.rules.summaries import refresh_summary, refresh_worker_stats
from hits.models import Assignment, Item, Stage, TextEvidence, Worker
from hits.text.originality.typing_counts import NAME
from tests.hits import factories as make
from tests.hits.protocols.telling import DOCUMENT
from tests.hits.text.test_fingerprints import WORDS

SECONDS = 400.0


def stage_of_stories(project: Any = None, **columns: Any) -> Stage:
    columns = {"key": "story", "title": "Stories", "protocol": "story", "answers": 20, "text_evidence": True, **columns}
    return make.stage(project, **columns)


def scenario(stage: Stage) -> Item:
    return make.item(stage, document=make.document(stage.project, data=DOCUMENT), data={}, state=Item.State.OPEN)


def story(draw: random.Random, sentences: int = 8) -> str:
    """Sentences of different lengths, in words that nobody else puts together."""
    return " ".join(f"{' '.join(draw.choices(WORDS, k=draw.randint(5, 18))).capitalize()}." for _ in range(sentences))


def told(item: Item, worker: Worker, text: str, counts: Sequence[int] | str | None, **columns: Any) -> Assignment:
    """An answer as harvesting records it; `counts` are of the story, None is a page without scripts."""
    hit = item.hits.first() or make.hit(item, max_assignments=100)
    fields = {"story": text, "comment": ""}
    if counts is not None:
        fields[NAME] = counts if isinstance(counts, str) else json.dumps({"story": list(counts)})
    at = make.NOON + timedelta(minutes=item.stage.assignments.count())
    given = {"submitted_at": at, "accepted_at": at - timedelta(seconds=SECONDS), "seconds": SECONDS, **columns}
    row = make.assignment(hit, worker, answer=fields, **given)
    rows = text_evidence.take_counts(item.stage, row, 1)
    row.save(update_fields=["answer"])
    TextEvidence.objects.bulk_create(rows)
    make.label(row, unit="story", value={"text": text, "words": len(text.split())}, correct=None)
    return row


def typed(text: str, speed: float = 4.0) -> list[int]:
    """So many characters a second, with some deleted on the way."""
    extra = len(text) // 12
    return [len(text) + extra, 0, 0, extra, 9, int(len(text) / speed)]


def finish(stage: Stage) -> None:
    """As scoring leaves the figures of workers and of the stage."""
    refresh_worker_stats(stage, set(stage.assignments.values_list("worker", flat=True)))
    refresh_summary(stage)


def crowd(stage: Stage, seed: int = 6) -> dict[str, Worker]:
    """Ten people who type, one of them fast; one who dictates; one who pastes and copies. All answer six items."""
    draw = random.Random(seed)
    people = {f"AHONEST{at}": make.worker(f"AHONEST{at}") for at in range(9)}
    people |= {name: make.worker(name) for name in ("AFAST", "ADICTATES", "APASTES")}
    for item in [scenario(stage) for _ in range(6)]:
        stories = {}
        for name, worker in people.items():
            text = stories[name] = story(draw)
            if name == "APASTES":
                text = machine_like(draw) if draw.random() < 0.5 else stories["AHONEST3"]
                told(item, worker, text, [0, len(text), 1, 0, 0, 0])
            elif name == "ADICTATES":
                told(item, worker, text, [8, 0, 0, 2, 6, 3])
            else:
                told(item, worker, text, typed(text, 10.0 if name == "AFAST" else draw.uniform(2.5, 6.0)))
    finish(stage)
    return people


def machine_like(draw: random.Random) -> str:
    """Sentences of one length, each with a stock phrase."""
    opened = ["Furthermore", "Overall", "Moreover", "In conclusion", "It is important to", "Additionally"]
    return " ".join(f"{draw.choice(opened)} {' '.join(draw.choices(WORDS, k=12))}." for _ in range(8))
