"""What the protocols share whose answers are choices: material, order, and the fields of a form."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from itertools import groupby

from common.cutting import cut
from hits.protocols.base import AnswerRefusedError, Json
from hits.protocols.given_settings import printed
from hits.text.cells import as_text
from hits.text.language.passages import passage_parts
from hits.text.spellings import meant
from hits.text.wording import _

MAX_REMARK = 2000
# The field in which a worker writes what they want to say besides the answer.
COMMENT = "comment"
MAX_TEXT = 2000
YES = "yes"
# What of an item may hold choices of its own.
OWN_CHOICES = ("choices", "candidates")
# Of the choices in a message.
SHOWN_CHOICES, SHOWN_TEXT = 5, 60


def blocks(text: str) -> list[Json]:
    """A text as [{"bullets": bool, "lines": [text, ...]}, ...]."""
    return [
        {"bullets": kind == "bullet", "lines": [text[part.start : part.end].strip() for part in parts]}
        for kind, parts in groupby(passage_parts(text), key=lambda part: part.kind)
    ]


def choices_of(item: Json, settings: Json) -> list[Json]:
    """The choices of the item itself, be it a question set, or those for all: [{"id", "text", "help"?}, ...]."""
    own = next((item[name] for name in OWN_CHOICES if item.get(name)), None)
    return list(own or settings.get("choices") or [])


def gold_of(item: Json, choices: Sequence[Json]) -> frozenset[str]:
    """The ids of the right choices, which may be given by their texts; empty where nothing is known to be right."""
    given = item.get("gold") or ([item["intended"]] if item.get("intended") else [])
    wanted = {str(one) for one in given}
    return frozenset(choice["id"] for choice in choices if wanted & {choice["id"], choice["text"]})


def known_answer_faults(item: Json, choices: Sequence[Json]) -> list[str]:
    """A sentence for each known answer that is neither the id nor the text of a choice."""
    there = {choice[name] for choice in choices for name in ("id", "text")}
    listed = ", ".join(repr(choice["text"])[:SHOWN_TEXT] for choice in choices[:SHOWN_CHOICES])
    more = f" and {len(choices) - SHOWN_CHOICES} more" if len(choices) > SHOWN_CHOICES else ""
    return [
        f"{str(one)!r:.60} is none of the answers to choose from: {listed}{more}. Correct the file or the task."
        for one in item.get("gold") or []
        if str(one) not in there
    ]


def known_values(
    choices: Sequence[Json], gold: frozenset[str], unit: str, part: str, *, several: bool
) -> dict[str, str | list[str]]:
    """The right values by unit: of `unit` the id, or the ids where each of several is right; where several are ticked,
    yes or no of each `<id>/<part>`. Empty where nothing is known to be right."""
    if several:
        return {f"{choice['id']}/{part}": yes_no(choice["id"] in gold) for choice in choices} if gold else {}
    right = [choice["id"] for choice in choices if choice["id"] in gold]
    return {unit: right[0] if len(right) == 1 else right} if right else {}


def choice_named(choices: Sequence[Json], text: str) -> str:
    """The id of the choice that a text, an id or a number, counted from 1, means. Raises AnswerRefusedError."""
    spelled = ((str(choice["id"]), choice["text"], str(number)) for number, choice in enumerate(choices, 1))
    if (ident := meant(text, spelled)) is not None:
        return ident
    listed = ", ".join(repr(choice["text"])[:SHOWN_TEXT] for choice in choices[:SHOWN_CHOICES])
    more = f" and {len(choices) - SHOWN_CHOICES} more" if len(choices) > SHOWN_CHOICES else ""
    raise AnswerRefusedError([f"{text!r:.60} is none of the answers to choose from: {listed}{more}"])


def choices_named(choices: Sequence[Json], text: str) -> list[str]:
    """The ids of those that a list means, in the order of the choices. Raises AnswerRefusedError with every fault."""
    meant: set[str] = set()
    faults: list[str] = []
    for part in listed(text):
        try:
            meant.add(choice_named(choices, part))
        except AnswerRefusedError as refusal:
            faults += refusal.reasons
    if faults:
        raise AnswerRefusedError(faults)
    return [choice["id"] for choice in choices if choice["id"] in meant]


def listed(text: str) -> list[str]:
    """The parts of a list that is written in JSON, or with bars between them."""
    if text.lstrip().startswith("["):
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            # It begins with a bracket and is a text.
            pass
        else:
            return [as_text(one) for one in found] if isinstance(found, list) else []
    return [part.strip() for part in text.split("|") if part.strip()]


def shuffled(choices: Sequence[Json], worker: str, *seeds: str) -> list[Json]:
    """The same order for the same worker and seeds, whatever order the choices come in."""

    def place(choice: Json) -> bytes:
        return hashlib.sha256("\0".join([worker, *seeds, choice["id"]]).encode()).digest()

    return sorted(choices, key=place)


def order_of(choices: Sequence[Json]) -> str:
    """The order as a form posts it: ids with spaces between them."""
    return " ".join(choice["id"] for choice in choices)


def order_faults(fields: Mapping[str, str], shown: Sequence[Json]) -> list[str]:
    """The posted order, where there is one, must be the one that this worker was shown."""
    posted = fields.get("order", "")
    if not posted or posted == order_of(shown):
        return []
    return [_("The answers were not sent in the order in which they were shown. Reload the page and choose again.")]


def ticked(fields: Mapping[str, str], prefix: str, choices: Sequence[Json], faults: list[str]) -> list[str]:
    """Ids of the choices whose box, named `<prefix>-<id>`, is ticked. Adds to `faults` what no box can say."""
    said = {choice["id"]: fields.get(f"{prefix}-{choice['id']}", "") for choice in choices}
    if any(value not in ("", YES) for value in said.values()):
        faults.append(_("A box says neither yes nor no. Reload the page and tick again."))
    return [ident for ident, value in said.items() if value == YES]


def boxes(choices: Sequence[Json], prefix: str) -> list[Json]:
    """The choices as a page shows them, each with the name of its box."""
    return [{**_shown(choice), "field": f"{prefix}-{choice['id']}"} for choice in choices]


def _shown(choice: Json) -> Json:
    """Whatever else an item's choice holds stays here: it could tell where it comes from."""
    return {"id": choice["id"], "text": choice["text"], "help": choice.get("help", "")}


def remark(fields: Mapping[str, str]) -> str:
    return cut(printed(str(fields.get(COMMENT, ""))), MAX_REMARK)


def percent(part: int, whole: int) -> float:
    return 100 * part / whole


def yes_no(value: bool) -> str:
    return YES if value else "no"
