"""The names by which HITs are found again at the marketplace: tokens and annotations.

A token is NAMESPACE.ITEM.SLOT.MARK. The mark is made from the keys of stage and item, so that a HIT is known by what it
asks even where the item's number is lost, as after the database was restored from a backup that is older than the item.
The annotation is the token and, where the HIT asks about several items, the marks of the others behind it.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

MARK = 8
# The greatest numbers that the columns of items and slots hold: greater ones were not made here.
MOST_ITEM, MOST_SLOT = 2**63 - 1, 2**15 - 1
# Those of before there were marks end with the slot. `r` and a number stand behind it after a restore.
_TOKEN = re.compile(
    rf"(?P<namespace>[^.]+)\.(?P<item>\d{{1,19}})\.(?P<slot>\d{{1,5}})(r\d{{1,19}})?(\.(?P<mark>[\w-]{{{MARK}}}))?",
    re.ASCII,
)


@dataclass(frozen=True)
class Named:
    """What an annotation says. `mark` is empty in old ones; `further` are the marks of the HIT's other items."""

    token: str
    item: int
    slot: int
    mark: str
    further: tuple[str, ...]


def mark(stage_key: str, item_key: str) -> str:
    """Eight characters for an item of a stage; two items of a million have the same once in five hundred projects."""
    digest = hashlib.sha256(f"{stage_key}\n{item_key}".encode()).digest()
    return base64.urlsafe_b64encode(digest[: MARK * 6 // 8]).decode()


def token(namespace: str, item_pk: int, slot: int, of_item: str, era: str = "") -> str:
    """`era` is empty until the database was restored: see `hits.publishing.rules.restorations.era`."""
    return f"{namespace}.{item_pk}.{slot}{era}.{of_item}"


def annotation(token: str, further: Sequence[str] = ()) -> str:
    """At most 255 characters."""
    return f"{token} {''.join(further)}" if further else token


def read(annotation: str, namespace: str) -> Named | None:
    """None for an annotation that is not one of a HIT of this project."""
    token, _, rest = annotation.partition(" ")
    found = _TOKEN.fullmatch(token)
    if found is None or found["namespace"] != namespace:
        return None
    item, slot = int(found["item"]), int(found["slot"])
    if item > MOST_ITEM or slot > MOST_SLOT:
        return None
    further = tuple(rest[at : at + MARK] for at in range(0, len(rest), MARK))
    return Named(token, item, slot, found["mark"] or "", further)
