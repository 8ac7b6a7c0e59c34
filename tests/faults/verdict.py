"""What a run came to, counted from the marketplace's own database against the requester's.

Nothing of the product is imported: two sets of rows are read by SQL and compared. Both sides keep whole cents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol

from tests.demo.checks import Row, answer_fields, as_json

VISIBLE = ("Submitted", "Approved", "Rejected")
REFUSED = ("refused",)


class Evidence(Protocol):
    """What is judged: the project as `begin` told of it, and rows of a SELECT on `ours` or `theirs`."""

    project: dict[str, Any]

    def rows(self, side: str, sql: str) -> list[Row]: ...


@dataclass
class Verdict:
    """Every list holds a sentence for each thing that is wrong; all empty is what is promised.

    `accounted` has the HITs without a row of which a restore tells why they need none.
    """

    duplicates: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    stuck: list[str] = field(default_factory=list)
    money: list[str] = field(default_factory=list)
    items: int = 0
    hits: int = 0
    answers: int = 0
    payments: int = 0
    bonuses: int = 0
    accounted: list[str] = field(default_factory=list)

    @property
    def wrong(self) -> list[str]:
        return [*self.duplicates, *self.missing, *self.lost, *self.stuck, *self.money]


def judge(it: Evidence) -> Verdict:
    """Read both databases and compare. The job must be over: what is under way counts as stuck."""
    there, here = _There(it), _Here(it)
    found = Verdict(
        items=it.project["items"],
        hits=len(there.hits),
        answers=len(there.answers),
        payments=sum(there.charges.values()),
        bonuses=len(there.bonuses),
    )
    for compare in (_hits, _answers, _payments, _bonuses, _compensations):
        compare(there, here, found)
    found.money += list(_money(there, here))
    found.stuck += list(stuck(it))
    return found


class _There:
    """The marketplace's rows of our requester."""

    def __init__(self, it: Evidence) -> None:
        self.hits = it.rows("theirs", _HITS)
        self.answers = it.rows("theirs", _ANSWERS)
        self.charges = Counter(row["assignment"] for row in it.rows("theirs", _CHARGES))
        self.bonuses = it.rows("theirs", _BONUSES)
        (self.requester,) = it.rows("theirs", "SELECT funds, held, charged FROM marketplace_requester")
        self.entries = {row["kind"]: int(row["total"]) for row in it.rows("theirs", _ENTRIES)}


class _Here:
    """The requester's rows of its projects: of the one that the run is about, or of `projects`, which has it too."""

    def __init__(self, it: Evidence) -> None:
        projects = ", ".join(map(str, it.project.get("projects", [it.project["project"]])))

        def rows(sql: str) -> list[Row]:
            return it.rows("ours", sql.format(projects=projects))

        self.hits = rows(_OUR_HITS)
        self.answers = rows(_OUR_ANSWERS)
        self.settled = Counter(row["assignment"] for row in rows(_SETTLED))
        self.bonuses = rows(_OUR_BONUSES)
        self.compensations = rows(_OUR_COMPENSATIONS)
        (self.account,) = rows(_ACCOUNT)
        (self.ledger,) = rows(_LEDGER)
        self.closed = {row["hit_id"] for row in rows(_CLOSED)}
        self.restorations = rows("SELECT backup_at, restored_at FROM hits_restoration")


def _hits(there: _There, here: _Here, found: Verdict) -> None:
    """Each row with a HIT has exactly one there, of the same size, and there is none besides."""
    rows = {hit["token"]: hit for hit in here.hits}
    rows |= {f"{row['namespace']}.c{row['id']}": {**row, "max_assignments": 1} for row in here.compensations}
    remote: dict[str, list[Row]] = {}
    for hit in there.hits:
        remote.setdefault(hit["annotation"], []).append(hit)
    for token, hits in remote.items():
        why = {hit["hit_id"]: _needs_no_row(hit, there, here) for hit in hits if token not in rows}
        found.accounted += [f"HIT {hit_id} has no row: {said}" for hit_id, said in why.items() if said]
        hits = [hit for hit in hits if not why.get(hit["hit_id"])]
        if not hits:
            continue
        if token not in rows:
            found.duplicates += [f"HIT {hit['hit_id']} has an annotation that is no row's: {token}" for hit in hits]
            continue
        found.duplicates += [f"HIT {hit['hit_id']} is a second one of {token}" for hit in hits[1:]]
        more = hits[0]["max_assignments"] - rows[token]["max_assignments"]
        if more > 0:
            found.duplicates.append(f"{token} was extended by {more} more than its row says")
        if more < 0:
            found.missing.append(f"{token} was extended by {-more} less than its row says")
        if rows[token]["hit_id"] != hits[0]["hit_id"]:
            found.missing.append(f"{token} is {hits[0]['hit_id']} there and {rows[token]['hit_id']} here")
    for token, row in rows.items():
        if row["hit_id"] and token not in remote:
            found.missing.append(f"{token} has no HIT at the marketplace")


def _needs_no_row(hit: Row, there: _There, here: _Here) -> str:
    """Why a HIT that is deleted, and that nobody answered, is not known here; empty: it ought to be."""
    if not hit["disposed_at"] or any(answer["hit_id"] == hit["hit_id"] for answer in there.answers):
        return ""
    if hit["hit_id"] in here.closed:
        return "reconciling deleted it, and wrote that down"
    made, gone = _moment(hit["created_at"]), _moment(hit["disposed_at"])
    for lost in here.restorations:
        if _moment(lost["backup_at"]) < made < gone < _moment(lost["restored_at"]):
            return "it was made and deleted between the backup and the restore"
    return ""


def _moment(value: str | datetime) -> datetime:
    """SQLite has moments as texts in UTC."""
    found = datetime.fromisoformat(value) if isinstance(value, str) else value
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _answers(there: _There, here: _Here, found: Verdict) -> None:
    """Every answer that was submitted is here, with the same content and state, and none is made up."""
    compensated = {row["hit_id"] for row in here.compensations}
    remote = {_key(row): row for row in there.answers if row["hit_id"] not in compensated}
    ours = {_key(row): row for row in here.answers}
    for key, row in remote.items():
        mine = ours.get(key)
        if mine is None:
            found.lost.append(f"answer {key} of HIT {row['hit_id']} ({row['status']}) was not fetched")
        elif as_json(mine["answer"]) != answer_fields(row["answer"]):
            found.lost.append(f"answer {key} differs from what the worker sent")
        elif mine["state"] != row["status"]:
            found.lost.append(f"answer {key} is {row['status']} there and {mine['state']} here")
    found.lost += [f"answer {key} is not at the marketplace" for key in ours if key not in remote]


def _key(row: Row) -> tuple[str, str]:
    """Assignment ids are used again after a return."""
    return row["assignment_id"], row["worker"]


def _payments(there: _There, here: _Here, found: Verdict) -> None:
    """An approved answer was charged once there and settled once here; nothing else was."""
    approved = {row["id"]: _key(row) for row in there.answers if row["status"] == "Approved"}
    for number, key in approved.items():
        if there.charges[number] != 1:
            _count(found, there.charges[number] - 1, f"answer {key}: charged {there.charges[number]} times")
    for number in there.charges.keys() - approved.keys():
        found.duplicates.append(f"assignment {number} was charged and is not approved")
    for row in here.answers:
        times = here.settled[row["id"]]
        if times != (row["state"] == "Approved"):
            found.money.append(f"answer {_key(row)} is {row['state']} and settled {times} times in the ledger")


def _bonuses(there: _There, here: _Here, found: Verdict) -> None:
    """Of each assignment, amount and reason: as many payments there as rows that were not refused."""

    def alike(row: Row) -> tuple[str, str, int, str]:
        return row["assignment_id"], row["worker"], row["amount"], row["reason"]

    paid = Counter(map(alike, there.bonuses))
    ordered = Counter(alike(row) for row in here.bonuses if row["state"] not in REFUSED)
    for what in paid | ordered:
        _count(found, paid[what] - ordered[what], f"bonus {what}: ordered {ordered[what]}, paid {paid[what]} times")


def _compensations(there: _There, here: _Here, found: Verdict) -> None:
    approved = Counter(row["hit_id"] for row in there.answers if row["status"] == "Approved")
    for row in here.compensations:
        due = int(row["state"] == "paid")
        times = approved[row["hit_id"]]
        _count(found, times - due, f"compensation {row['id']} is {row['state']} and was paid {times} times")


def _count(found: Verdict, surplus: int, sentence: str) -> None:
    found.duplicates += [sentence] * max(0, surplus)
    found.missing += [sentence] * max(0, -surplus)


def _money(there: _There, here: _Here) -> Iterator[str]:
    """What was paid; what is reserved and held, once every HIT is deleted; the books themselves."""
    charged, held = there.requester["charged"], there.requester["held"]
    sums = there.entries.get("charge", 0) + there.entries.get("bonus", 0)
    paid, reserved = here.account["paid"], here.account["reserved"]
    if not paid == charged == sums:
        yield f"cents: {paid} paid here, {charged} charged there, {sums} the sum of its entries"
    for name in ("paid", "reserved"):
        if int(here.ledger[name]) != here.account[name]:
            yield f"cents {name}: {here.account[name]} in the account, {here.ledger[name]} the sum of its entries"
    # Until it is deleted a closed HIT holds money there for places that nobody took.
    compensated = {row["hit_id"] for row in here.compensations}
    if all(hit["disposed_at"] or hit["hit_id"] in compensated for hit in there.hits) and reserved != held:
        yield f"cents: {reserved} reserved here, {held} held there"


def stuck(it: Evidence) -> Iterator[str]:
    """What has not come to its end, as words."""
    project = it.project["project"]
    for what, sql in _UNFINISHED.items():
        ((count),) = (row["n"] for row in it.rows("ours", sql.format(project=project)))
        if count:
            yield f"{count} {what}"


_HITS = """
    SELECT id, hit_id, requester_annotation AS annotation, max_assignments, created_at, disposed_at
    FROM marketplace_hit"""
_ANSWERS = """
    SELECT a.id, h.hit_id, a.assignment_id, a.status, a.answer, w.worker_id AS worker
    FROM marketplace_assignment a JOIN marketplace_hit h ON h.id = a.hit_id
    JOIN marketplace_worker w ON w.id = a.worker_id WHERE a.status IN ('Submitted', 'Approved', 'Rejected')"""
_CHARGES = "SELECT assignment_id AS assignment FROM marketplace_moneyentry WHERE kind = 'charge'"
_ENTRIES = "SELECT kind, SUM(amount) AS total FROM marketplace_moneyentry GROUP BY kind"
_BONUSES = """
    SELECT b.amount, b.reason, a.assignment_id, w.worker_id AS worker FROM marketplace_bonuspayment b
    JOIN marketplace_assignment a ON a.id = b.assignment_id JOIN marketplace_worker w ON w.id = b.worker_id"""
_OUR_HITS = """
    SELECT h.hit_id, h.token, h.state, h.max_assignments FROM hits_hit h JOIN hits_stage s ON s.id = h.stage_id
    WHERE s.project_id IN ({projects})"""
_OUR_ANSWERS = """
    SELECT a.id, a.assignment_id, a.state, a.answer, w.worker_id AS worker FROM hits_assignment a
    JOIN hits_stage s ON s.id = a.stage_id JOIN hits_worker w ON w.id = a.worker_id
    WHERE s.project_id IN ({projects})"""
_SETTLED = (
    "SELECT assignment_id AS assignment FROM hits_ledgerentry WHERE project_id IN ({projects}) AND kind = 'settle'"
)
_OUR_BONUSES = """
    SELECT b.id, b.amount, b.reason, b.state, a.assignment_id, w.worker_id AS worker FROM hits_bonus b
    JOIN hits_assignment a ON a.id = b.assignment_id JOIN hits_worker w ON w.id = b.worker_id
    WHERE b.project_id IN ({projects})"""
_OUR_COMPENSATIONS = """
    SELECT c.id, c.hit_id, c.state, p.namespace FROM hits_compensation c JOIN hits_project p ON p.id = c.project_id
    WHERE p.id IN ({projects})"""
_ACCOUNT = "SELECT SUM(reserved) AS reserved, SUM(paid) AS paid FROM hits_account WHERE project_id IN ({projects})"
_CLOSED = "SELECT hit_id FROM hits_closedhit WHERE project_id IN ({projects}) AND deleted"
_LEDGER = """
    SELECT COALESCE(SUM(reserved), 0) AS reserved, COALESCE(SUM(paid), 0) AS paid
    FROM hits_ledgerentry WHERE project_id IN ({projects})"""


def _of_stages(table: str, where: str) -> str:
    return f"""
        SELECT COUNT(*) AS n FROM {table} x JOIN hits_stage s ON s.id = x.stage_id
        WHERE s.project_id = {{project}} AND {where}"""


def _of_project(table: str, where: str) -> str:
    return f"SELECT COUNT(*) AS n FROM {table} x WHERE x.project_id = {{project}} AND {where}"


_UNFINISHED = {
    "items to be published": _of_stages("hits_item", "x.state = 'new'"),
    "items at workers": _of_stages("hits_item", "x.state = 'open'"),
    "items to be answered again": _of_stages("hits_item", "x.state = 'again'"),
    "items to be decided": _of_stages("hits_item", "x.stale"),
    "verdicts to be taken up": """
        SELECT COUNT(*) AS n FROM hits_verdict x JOIN hits_item i ON i.id = x.item_id
        JOIN hits_stage s ON s.id = i.stage_id
        WHERE s.project_id = {project} AND x.superseded_at IS NULL AND NOT x.advanced""",
    "HITs not sent": _of_stages("hits_hit", "x.state IN ('planned', 'sent')"),
    "HITs open": _of_stages("hits_hit", "x.state = 'live'"),
    "answers to be fetched": _of_stages("hits_hit", "x.due_at IS NOT NULL"),
    "answers to be scored": _of_stages("hits_assignment", "NOT x.scored"),
    "answers to be decided": _of_stages("hits_assignment", "x.state = 'Submitted'"),
    "qualification tests to be offered or withdrawn": """
        SELECT COUNT(*) AS n FROM hits_qualificationtest x
        WHERE x.project_id = {project} AND x.state IN ('offering', 'withdrawing')""",
    "batches": _of_stages("hits_batch", "x.state <> 'published'"),
    "extensions": """
        SELECT COUNT(*) AS n FROM hits_extension x JOIN hits_hit h ON h.id = x.hit_id
        JOIN hits_stage s ON s.id = h.stage_id WHERE s.project_id = {project} AND x.state = 'planned'""",
    "blocks": _of_project("hits_block", "x.state IN ('intended', 'lifting')"),
    "bonuses": _of_project("hits_bonus", "x.state IN ('planned', 'sent')"),
    "compensations": _of_project("hits_compensation", "x.state IN ('planned', 'offered')"),
}
