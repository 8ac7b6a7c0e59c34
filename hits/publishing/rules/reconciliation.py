"""What bringing this side to what the marketplace says came to: what was changed, and what nobody can know."""

from __future__ import annotations

from dataclasses import dataclass, field

# What rows that are made then say of themselves.
FOUND = "Found at the marketplace after the database was restored."


@dataclass(frozen=True)
class Kind:
    """`key` is a stable word for programs. `holds_up`: until somebody does something the two sides do not agree."""

    key: str
    title: str
    remedy: str = ""
    holds_up: bool = False


@dataclass(frozen=True)
class Line:
    """One row that was changed, or one thing that is not known here."""

    kind: str
    project: str
    subject: str
    said: str = ""


CHANGES = (
    Kind("hit_adopted", "A HIT that is there and had no row here has one."),
    Kind("hit_found", "A HIT whose outcome was unknown is there."),
    Kind("hit_grown", "A HIT has more places there, or was opened again."),
    Kind("hit_times", "A HIT closes at another time."),
    Kind("hit_deleted", "A HIT was deleted there."),
    Kind("answers", "Answers were fetched."),
    Kind("decisions", "Answers are decided as the marketplace says."),
    Kind("made", "Items follow from the answers, as they did before."),
    Kind("bonus_found", "A bonus whose outcome was unknown was paid."),
    Kind("bonus_adopted", "A bonus that was paid there had no row here and has one."),
    Kind("compensation_found", "A compensation whose outcome was unknown is offered."),
    Kind("compensation_adopted", "A compensation that is offered there had no row here and has one."),
    Kind("pause_adopted", "A worker is kept out there and was not here: a pause, until a lead decides.",
         "Block the worker, or end the pause, on the worker's page."),
    Kind("block_ended", "A worker is kept out here and was let in again there."),
    Kind("block_found", "A block whose outcome was unknown stands."),
    Kind("grant_adopted", "A worker holds a qualification there that was not known here."),
    Kind("grant_ended", "A worker does not hold a qualification there any more."),
    Kind("grant_value", "A worker's qualification has another value there."),
    Kind("test_offered", "A qualification test is on offer there and was a draft here.",
         "It may have been edited between the backup and the offer: compare it with what workers see."),
    Kind("unknown_closed", "A HIT about an item that is not here was closed."),
)  # fmt: skip
UNKNOWN = (
    Kind("unknown_item", "A HIT asks about an item that is not here.",
         "Import its file again, of which the items get the same keys, and reconcile again. Where nobody has the file: "
         "--close-unknown closes these HITs, --leave-unknown lets them be. What was answered there is paid there.",
         holds_up=True),
    Kind("over_budget", "What is there costs more than the budget.",
         "Raise the project's budget by that much and reconcile again.", holds_up=True),
    Kind("unusable", "The code of a stage or its settings cannot be used.",
         "Mend that and reconcile again.", holds_up=True),
    Kind("not_there", "A HIT or an answer of this side is not known there, or has fewer places.",
         "The marketplace's database is of an earlier moment than this one: restore a backup of this side that is "
         "older than the marketplace's, and reconcile that.", holds_up=True),
    Kind("block_pending", "A block was about to be made, and the worker is not kept out there.",
         "It is made when calls are made again. If a lead had undone it, undo it again."),
    Kind("message", "A message to a worker may have gone out.", "Nobody can ask. It is not sent again."),
)  # fmt: skip
KINDS = {kind.key: kind for kind in (*CHANGES, *UNKNOWN)}


@dataclass
class Report:
    """`changes` is empty where the two sides agree already."""

    changes: list[Line] = field(default_factory=list)
    unknown: list[Line] = field(default_factory=list)

    def changed(self, kind: str, project: str, subject: str, said: str = "") -> None:
        self.changes.append(Line(kind, project, subject, said))

    def not_known(self, kind: str, project: str, subject: str, said: str = "") -> None:
        line = Line(kind, project, subject, said)
        if line not in self.unknown:
            self.unknown.append(line)

    @property
    def holding_up(self) -> list[Line]:
        """What keeps the two sides from agreeing."""
        return [line for line in self.unknown if KINDS[line.kind].holds_up]
