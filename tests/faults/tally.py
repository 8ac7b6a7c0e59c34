"""What a receiver of webhooks got, held against the decisions that stand."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.receiver import is_signed

# A message may have come when the run began.
FRESH_SECONDS = 4 * 3600


@dataclass
class Tally:
    """`told` has of each item (revision, conclusion) of its newest message."""

    messages: int = 0
    repeated: int = 0
    told: dict[int, tuple[int, str]] = field(default_factory=dict)
    untold: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, got: Iterable[Mapping[str, Any]], secret: str) -> Tally:
        """`got` are requests as `tests.receiver` writes them down, in their order."""
        found, seen = cls(), set[str]()
        for one in got:
            name, attempt = one["headers"]["webhook-id"], int(one["headers"]["webhook-attempt"])
            if not is_signed(dict(one), secret, FRESH_SECONDS):
                found.untold.append(f"message {name} has no right signature")
            if name in seen and attempt == 1:
                found.untold.append(f"message {name} came again and said that it came for the first time")
            found.repeated += name in seen
            found.messages += name not in seen
            seen.add(name)
            found._take(json.loads(one["body"])["data"])
        return found

    def _take(self, data: Mapping[str, Any]) -> None:
        said = data["revision"], "" if data["outcome"] == "open" else data["conclusion"]
        self.told[data["id"]] = max(said, self.told.get(data["id"], (0, "")))

    def wrong(self, standing: Sequence[Mapping[str, Any]]) -> list[str]:
        """`standing` are the decisions as the database has them: {"item", "conclusion"} each."""
        there = {row["item"]: row["conclusion"] for row in standing}
        here = {item: conclusion for item, (_, conclusion) in self.told.items()}
        lost = [
            f"item {item} is decided “{word}”, the receiver knows {here.get(item, 'nothing')!r}"
            for item, word in there.items()
            if here.get(item) != word
        ]
        more = [
            f"the receiver was told of item {item}, of which no decision stands"
            for item, word in here.items()
            if word and item not in there
        ]
        if not there:
            lost.append("no item was decided")
        return [*self.untold, *lost, *more][:10]

    def __str__(self) -> str:
        again = f"{self.repeated} came again, which they said" if self.repeated else "none came again"
        return f"{self.messages} messages about {len(self.told)} items; {again}"
