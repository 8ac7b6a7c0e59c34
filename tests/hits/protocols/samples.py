"""A good answer for each protocol of the package: what the contract suite cannot make up by itself.

A protocol outside this table takes part with its own `sample.json` beside `protocol.py`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.hits.protocols import answers, articles, phrases, reviewed, telling, writing
from tests.hits.serving import question_set, story

SAMPLES: dict[str, dict[str, Any]] = {
    "answer_writing": {
        "document": answers.DOCUMENT,
        "item": answers.ITEM,
        "other_references": {
            **answers.ITEM,
            "questions": [{**question, "type": "-"} for question in answers.ITEM["questions"]],
        },
        "fields": {**answers.FIELDS, "comment": "Clear."},
    },
    "clickable_entity": {
        "document": story.DOCUMENT,
        "item": story.ITEM,
        "other_references": {"query": story.QUERY, "answers": story.answers("Rotterdam")},
        "fields": {"answer": story.places("Annika de Wit")[0], "text": "Annika de Wit", "comment": "Clear."},
    },
    "expert_review": {
        "document": reviewed.DOCUMENT,
        "item": reviewed.ITEM,
        "other_references": {**reviewed.ITEM, "author": "ANOTHER"},
        "fields": reviewed.fields(q1_correct="a hand whisk", comment="Clear."),
    },
    "reading_test": {
        "document": reviewed.DOCUMENT,
        "item": reviewed.TEST,
        "other_references": {
            **reviewed.TEST,
            "questions": [{**one, "intended": "a1"} for one in reviewed.TEST["questions"]],
        },
        "fields": reviewed.choices("a0", "a0", "a1", comment="Clear."),
    },
    # Without a crowd: two items of different kinds.
    "passage_queries": {"item": articles.ITEM, "other": {**articles.ITEM, "removed": ["s0-e1"]}},
    "multiple_choice": {
        "document": {"text": story.TEXT},
        "item": {"question": "Who rang the harbour master?", "choices": story.PEOPLE, "gold": ["annika"]},
        "other_references": {"question": "Who rang the harbour master?", "choices": story.PEOPLE, "gold": ["pieter"]},
        "fields": {"choice": "annika", "comment": "Clear."},
    },
    "select_all": {
        "document": {"text": story.TEXT},
        "item": {"question": "What kept the water out?", "candidates": story.CANDIDATES},
        "other_references": {"question": "What kept the water out?", "candidates": story.CANDIDATES, "intended": "c1"},
        "fields": {"selected-c0": "yes", "selected-c1": "yes", "comment": "Clear."},
    },
    "labelling": {
        "document": {"text": story.TEXT},
        "item": {"query": story.QUERY, "answers": story.answers("Annika de Wit"), "gold": ["clear"]},
        "other_references": {"query": story.QUERY, "answers": story.answers("Annika de Wit"), "gold": ["unclear"]},
        "fields": {"label": "clear", "comment": "Clear."},
    },
    "question_writing": {
        "document": writing.DOCUMENT,
        "item": {},
        "other_references": {"intended": "c1"},
        "fields": writing.FIELDS,
    },
    "phrase_questions": {
        "document": phrases.DOCUMENT,
        "item": phrases.NP,
        "other_references": {**phrases.NP, "author": "ANOTHER", "intended": "p1"},
        "fields": {**phrases.FIELDS, "comment": "Clear."},
    },
    "story": {
        "document": telling.DOCUMENT,
        "item": {},
        "other_references": {"intended": "c1"},
        "fields": telling.FIELDS,
    },
    "staged_choice": {
        "document": question_set.DOCUMENT,
        "item": question_set.SET,
        "other_references": {**question_set.SET, "intended": "c3", "author": "ANOTHER"},
        "fields": question_set.fields("", comment="Clear."),
    },
}


def sample_of(name: str, folder: Path) -> dict[str, Any]:
    """{"document", "item", "other_references" (the item with other answers), "fields" (a good answer)}."""
    beside = folder / "sample.json"
    return json.loads(beside.read_text()) if beside.exists() else SAMPLES[name]
