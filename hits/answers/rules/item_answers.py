"""What one answer says about each item of its HIT.

A HIT about several items shows one of them at a time. In its form, `item2:choice` is the field `choice` of the second
item (no key of a form holds a colon); a field without such a beginning is of the item on screen, which `item_number`
names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from hits.items.models import Item
from hits.protocols.base import AnswerRefusedError, CheckedAnswer, Json, TaskProtocol
from hits.text.wording import _

ON_SCREEN = "item_number"
_NAMED = re.compile(r"item([1-9][0-9]?):(.+)", re.DOTALL)


def number_on_screen(fields: Mapping[str, str], count: int) -> int:
    """The item that the fields without a number belong to, from 1; the last where they name none."""
    said = fields.get(ON_SCREEN, "")
    number = int(said) if said.isascii() and said.isdigit() and len(said) <= 2 else 0
    return number if 1 <= number <= count else count


def fields_by_item(fields: Mapping[str, str], count: int) -> list[dict[str, str]]:
    """The fields of each of `count` items, by the names that its protocol gave them."""
    if count == 1:
        return [dict(fields)]
    found: list[dict[str, str]] = [{} for _ in range(count)]
    shown = {}
    for name, value in fields.items():
        named = _NAMED.fullmatch(name)
        if named and int(named[1]) <= count:
            found[int(named[1]) - 1][named[2]] = value
        elif not named and name != ON_SCREEN:
            shown[name] = value
    found[number_on_screen(fields, count) - 1] |= shown
    return found


def kept_fields(by_item: Sequence[Mapping[str, str]], number: int) -> dict[str, str]:
    """Those of the items that are not on screen, as the form carries them along."""
    return {
        f"item{of}:{name}": value
        for of, fields in enumerate(by_item, 1)
        for name, value in fields.items()
        if of != number
    }


def without(fields: Mapping[str, str], name: str) -> dict[str, str]:
    """The fields of an answer without those of this name, whichever item they are of."""
    left = {}
    for key, value in fields.items():
        named = _NAMED.fullmatch(key)
        if name not in (key, named and named[2]):
            left[key] = value
    return left


def all_numbered(fields: Mapping[str, str], count: int) -> dict[str, str]:
    """The fields with the number of their item before each name, that of the item on screen too."""
    return kept_fields(fields_by_item(fields, count), 0)


def check(
    protocol: TaskProtocol, settings: Json, items: Sequence[Item], fields: Mapping[str, str], worker: str
) -> list[CheckedAnswer]:
    """What the answer says about each of the items. Raises AnswerRefusedError, whose reasons name the item."""
    if len(items) == 1:
        return [check_item(protocol, settings, items[0], fields, worker)]
    checked, faults = [], []
    for number, (item, own) in enumerate(zip(items, fields_by_item(fields, len(items)), strict=True), 1):
        try:
            checked.append(check_item(protocol, settings, item, own, worker))
        except AnswerRefusedError as refusal:
            faults += [_("Item %(number)s: %(reason)s", number=number, reason=reason) for reason in refusal.reasons]
    if faults:
        raise AnswerRefusedError(faults)
    return checked


def check_item(
    protocol: TaskProtocol, settings: Json, item: Item, fields: Mapping[str, str], worker: str
) -> CheckedAnswer:
    """Raises AnswerRefusedError."""
    return protocol.check(item.document.data, item.data, settings, fields, worker)
