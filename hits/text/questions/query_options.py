"""The options by which queries are made of articles, as a project has them, and the rule that they give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hits.text.questions.passage_queries import Rule

_DEFAULT = Rule()
# By the names that leads read; the paper's values (Zhang et al. 2018, section 3.2) where it states one.
OPTIONS: dict[str, Any] = {
    "lead_tokens": _DEFAULT.least_tokens,
    "lead_entities": _DEFAULT.least_entities,
    "sentence_tokens": _DEFAULT.least_sentence_tokens,
    "ngram": _DEFAULT.ngram,
    "entity_types": ", ".join(_DEFAULT.types),
    "linker": _DEFAULT.linker,
    "tokens": _DEFAULT.tokens,
    "lead_by": _DEFAULT.lead_by,
}


def rule_of(options: Mapping[str, Any]) -> Rule:
    """The rule that these options give; what they leave out is as by default. Raises ValueError."""
    found = {**OPTIONS, **{name: options[name] for name in OPTIONS if name in options}}
    return Rule(
        least_tokens=found["lead_tokens"],
        least_entities=found["lead_entities"],
        least_sentence_tokens=found["sentence_tokens"],
        ngram=found["ngram"],
        types=_types(found["entity_types"]),
        linker=found["linker"],
        tokens=found["tokens"],
        lead_by=found["lead_by"],
    )


def _types(given: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(given.replace(",", " ").split()))
