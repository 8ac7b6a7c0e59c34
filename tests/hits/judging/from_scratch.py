"""What the tables have to say, worked out in plain Python from the rows: no function and no queryset of `hits` is used.

Written from what is promised (docs/design.md), not from the code that keeps it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

from hits.models import (
    Assignment,
    Block,
    Bonus,
    Compensation,
    Extension,
    Hit,
    HitItem,
    Item,
    Label,
    LedgerEntry,
    Project,
    Stage,
    Verdict,
)

Row = dict[str, Any]
# The one written rule of these tests, for three answers.
TWO_OF_THREE = "keep: at least 2 entity.correct = yes\notherwise: drop\n"
# The one condition of these tests for enough answers.
SURE = "confidence entity >= 0.7"
TWO_AGREE = "at least 2 agree on entity.correct"


def _rows(model: Any, **where: Any) -> list[Row]:
    return list(model.objects.filter(**where).order_by("pk").values())


class Tables:
    """The rows of one project at one moment."""

    def __init__(self, project: Project) -> None:
        self.stages = {row["id"]: row for row in _rows(Stage, project=project)}
        of_stages = {"stage__project": project}
        self.items = {row["id"]: row for row in _rows(Item, **of_stages)}
        self.hits = {row["id"]: row for row in _rows(Hit, **of_stages)}
        further = _rows(HitItem, hit__stage__project=project)
        self.asked = {
            pk: {hit["item_id"], *(row["item_id"] for row in further if row["hit_id"] == pk)}
            for pk, hit in self.hits.items()
        }
        self.answers = {row["id"]: row for row in _rows(Assignment, **of_stages)}
        self.labels = {row["id"]: row for row in _rows(Label, **of_stages)}
        standing = _rows(Verdict, item__stage__project=project, superseded_at=None)
        self.verdicts = {row["item_id"]: row for row in standing}
        self.blocks = _rows(Block, project=project)
        self.extensions = _rows(Extension, hit__stage__project=project)
        self.entries = _rows(LedgerEntry, project=project)
        self.payments = [*_rows(Bonus, project=project), *_rows(Compensation, project=project)]

    # Money

    def entered(self) -> tuple[Decimal, Decimal]:
        """(reserved, paid) by the entries of the ledger."""
        return _sum(row["reserved"] for row in self.entries), _sum(row["paid"] for row in self.entries)

    def owed(self) -> tuple[Decimal, Decimal]:
        """(reserved, paid) by the HITs, answers, bonuses and compensations."""
        reserved = _sum(hit["unit_cost"] * self._places_to_pay(hit) for hit in self.hits.values())
        paid = _sum(
            self.hits[answer["hit_id"]]["unit_cost"]
            for answer in self.answers.values()
            if answer["state"] == "Approved"
        )
        reserved += _sum(item["further"] * item["further_cost"] for item in self.items.values())
        for row in self.payments:
            cost = row["amount"] + row["fee"]
            reserved += cost if row["state"] in ("planned", "sent", "offered") else 0
            paid += cost if row["state"] == "paid" else 0
        return reserved, paid

    def _places_to_pay(self, hit: Row) -> int:
        answers = [row for row in self.answers.values() if row["hit_id"] == hit["id"]]
        states = Counter(row["state"] for row in answers)
        coming = sum(
            row["places"] for row in self.extensions if row["hit_id"] == hit["id"] and row["state"] == "planned"
        )
        coming += sum((row["state"], row["decision"]) == ("Rejected", "Approved") for row in answers)
        if hit["state"] in ("planned", "sent", "live"):
            return hit["max_assignments"] - states["Approved"] - states["Rejected"] + coming
        return coming + (states["Submitted"] if hit["state"] == "closed" else 0)

    def paid_answers(self) -> Counter[int]:
        """Answer to how many entries pay it."""
        return Counter(row["assignment_id"] for row in self.entries if row["kind"] == "settle")

    def approved_answers(self) -> Counter[int]:
        return Counter(pk for pk, row in self.answers.items() if row["state"] == "Approved")

    # What counts

    def blocked_since(self) -> dict[int, Any]:
        """Worker to the moment since which a block is in force."""
        return {row["worker_id"]: row["created_at"] for row in self.blocks if row["state"] in ("intended", "granted")}

    def counts(self, label: Row) -> bool:
        answer = self.answers[label["assignment_id"]]
        fine = answer["state"] != "Rejected" and not answer["problem"]
        admitted = not answer["held"] or answer["admitted"] is True
        return fine and admitted and label["worker_id"] not in self.blocked_since()

    def causes(self, answer: Row) -> list[str]:
        """Why an answer is held until a lead approves it."""
        mine = _when(answer)
        found = []
        since = self.blocked_since().get(answer["worker_id"])
        if since and (since, "") < mine:
            found.append("blocked")
        elif any(_when(other) < mine for other in self._seen_before(answer)):
            found.append("answered")
        least = self.stages[answer["stage_id"]]["settings"].get("min_seconds", 0)
        if answer["seconds"] < least * len(self.asked[answer["hit_id"]]) - 1:
            found.append("untimely")
        return found

    def _seen_before(self, answer: Row) -> list[Row]:
        """The worker's answers to the same items, and to those that they were made from where the stage excludes
        them."""
        excluded = self.stages[answer["stage_id"]]["not_workers_of"]
        closed = set(self.asked[answer["hit_id"]])
        for pk in self.asked[answer["hit_id"]]:
            sources = list(self._chain(self.items[pk]))[1:]
            closed |= {item["id"] for item in sources if self.stages[item["stage_id"]]["key"] in excluded}
        theirs = [row for row in self.answers.values() if row["worker_id"] == answer["worker_id"] and row != answer]
        return [row for row in theirs if self.asked[row["hit_id"]] & closed]

    # What follows

    def withdrawn(self, item: Row) -> bool:
        """Made from an answer that does not count, or from an item that was."""
        if item["source_id"] and not any(
            self.counts(label) for label in self.labels.values() if label["assignment_id"] == item["source_id"]
        ):
            return True
        return bool(item["parent_id"]) and self.withdrawn(self.items[item["parent_id"]])

    def votes(self, item: Row) -> list[bool]:
        """Of the first answers that count, one a worker, at most as many as are wanted: whether each is right."""
        return self._all_votes(item)[: self.wanted(item)]

    def wanted(self, item: Row) -> int:
        """How many answers the item wants: where that grows, one after another until two say the same."""
        stage = self.stages[item["stage_id"]]
        if not stage["most_answers"]:
            return int(stage["rule"]["params"]["answers"])
        if stage["enough"] == SURE:
            # Only the computation knows when it is enough.
            return int(item["wanted"] or stage["answers"])
        assert stage["enough"] == TWO_AGREE
        votes, number = self._all_votes(item), int(stage["answers"])
        while number < stage["most_answers"] and number <= len(votes):
            if max(votes[:number].count(True), votes[:number].count(False)) >= 2:
                break
            number += 1
        return number

    def _all_votes(self, item: Row) -> list[bool]:
        rows = [row for row in self.labels.values() if row["item_id"] == item["id"] and self.counts(row)]
        rows.sort(key=lambda row: (self.answers[row["assignment_id"]]["submitted_at"], row["id"]))
        first: dict[int, bool] = {}
        for row in rows:
            first.setdefault(row["worker_id"], row["correct"])
        return list(first.values())

    def outcome(self, item: Row) -> str:
        if self.withdrawn(item) or item["waits_for_values"]:
            return "open"
        votes, rule = self.votes(item), self.stages[item["stage_id"]]["rule"]
        wanted = self.wanted(item)
        if self.stages[item["stage_id"]]["most_answers"] and len(votes) < wanted:
            return "open"
        if rule["name"] == "measured":
            return "open" if len(votes) < wanted else "kept"
        if rule["name"] == "matches_reference":
            need = rule["params"]["need"]
            return "kept" if votes.count(True) >= need else "dropped" if wanted - votes.count(False) < need else "open"
        assert rule["params"]["text"] == TWO_OF_THREE
        return "open" if len(votes) < wanted else "kept" if votes.count(True) >= 2 else "dropped"

    def judged(self) -> Iterable[Row]:
        """The items of which nothing happened that no verdict has seen, neither to them nor to what they came from."""
        for item in self.items.values():
            chain: Sequence[Row] = list(self._chain(item))
            if not any(one["stale"] for one in chain):
                yield item

    def _chain(self, item: Row) -> Iterable[Row]:
        yield item
        if item["parent_id"]:
            yield from self._chain(self.items[item["parent_id"]])


def _when(answer: Row) -> tuple[Any, str]:
    return answer["submitted_at"], answer["assignment_id"]


def _sum(amounts: Iterable[Decimal]) -> Decimal:
    return sum(amounts, Decimal(0))
