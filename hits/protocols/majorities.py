"""How often single answers are right, and how often the majority of all answers to an item is."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hits.protocols.base import Json
from hits.protocols.choosing import percent
from hits.stats.majority import majority_of

Said = Mapping[str, Any]
_Compared = dict[str, tuple[Any, bool]]


def right_shares(items: Iterable[Sequence[Said]]) -> Json:
    """{"accuracy" of single answers, "majority" of the items' majorities, "answers", "ties", "n" items}, both shares
    in percent, over the items whose answers were compared with a reference; empty without any.

    `items` holds, item by item, what each answer says, as `ItemwiseProtocol.item_scores` gets it. An answer of several
    units is right if every unit is. The majority is what was said most often of each unit; a tie is not right.
    """
    single, majorities = Counter[bool](), Counter[bool | None]()
    for given in items:
        answers = [_compared(said) for said in given]
        if answers and all(answers):
            single.update(all(right for _, right in answer.values()) for answer in answers)
            majorities[_majority(answers)] += 1
    if not majorities:
        return {}
    return {
        "accuracy": percent(single[True], single.total()),
        "majority": percent(majorities[True], majorities.total()),
        "ties": majorities[None],
        "answers": single.total(),
        "n": majorities.total(),
    }


def _comparable(value: Any) -> Any:
    """A value that can be counted: lists and objects as their JSON."""
    return json.dumps(value, sort_keys=True) if isinstance(value, list | dict) else value


def _compared(said: Said) -> _Compared:
    """(value, whether it is right) by unit, of the units that were compared with a reference."""
    judged = [unit for unit in said if f"{unit}.correct" in said]
    return {unit: (_comparable(said[unit]), said[f"{unit}.correct"]) for unit in judged}


def _majority(answers: Sequence[_Compared]) -> bool | None:
    """Whether the majority of every unit is right; None where one has no majority."""
    majorities = [_most([answer[unit] for answer in answers if unit in answer]) for unit in answers[0]]
    return None if None in majorities else all(majorities)


def _most(said: Sequence[tuple[Any, bool]]) -> bool | None:
    """Whether the value that was said most often is right; None for a tie."""
    most = majority_of(value for value, _ in said)
    return None if most is None else dict(said)[most]
