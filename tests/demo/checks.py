"""What any demonstration must have led to, checked from outside: two databases by SQL, and the wire.

Nothing of the product's own rules is imported here, so the sums of money are written a second time, as plainly as can
be. What a recipe must have led to stands in a module of its own.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import boto3
import psycopg2
from botocore.config import Config

Row = dict[str, Any]
CENT = Decimal("0.01")
_ANSWERS = "{http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01/QuestionFormAnswers.xsd}"


class CheckFailedError(Exception):
    """Something is not as it must be; the message says what."""


@dataclass(frozen=True)
class Release:
    """What `manage.py demo release` reported, and the folder that it wrote."""

    report: Row
    folder: Path


@dataclass(frozen=True)
class Demonstration:
    """`started` is what `manage.py demo start` reported, `people` says of which kind the crowd's workers are.

    `before` is the balance before anything was published.
    """

    settings: Mapping[str, str]
    input: Path
    started: Row
    people: Mapping[str, str]
    before: Decimal
    releases: Sequence[Release]

    def of_kind(self, *kinds: str) -> frozenset[str]:
        """Worker ids."""
        return frozenset(worker for worker, kind in self.people.items() if kind in kinds)


Check = tuple[str, Callable[[Any], str]]


def seen(evidence: Evidence, checks: Sequence[Check]) -> Iterator[tuple[str, str]]:
    """(what was checked, what was seen) of each check that holds. Raises CheckFailedError at one that does not."""
    for name, check in checks:
        yield name, check(evidence)


def requester(settings: Mapping[str, str]) -> Any:
    """A client of the wire, as any requester's script makes one."""
    return boto3.client(
        "mturk",
        endpoint_url=settings["MTURK_ENDPOINT_URL"],
        region_name="us-east-1",
        aws_access_key_id=settings["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=settings["AWS_SECRET_ACCESS_KEY"],
        config=Config(proxies={}),
    )


def balance(settings: Mapping[str, str]) -> tuple[Decimal, Decimal]:
    """(available, on hold) in dollars."""
    said = requester(settings).get_account_balance()
    return Decimal(said["AvailableBalance"]), Decimal(said.get("OnHoldBalance", "0"))


def select(url: str, file: Path, sql: str) -> list[Row]:
    """Rows of a query on the database at `url`, or in the SQLite file when there is no URL."""
    if urlsplit(url).scheme in ("postgres", "postgresql"):
        connection: Any = psycopg2.connect(url)
    else:
        # A URL with three slashes or four: two at the beginning of a path would name a machine.
        path = f"/{urlsplit(url).path.lstrip('/')}" if url else str(file)
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=20)
    try:
        cursor = connection.cursor()
        cursor.execute(sql)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    finally:
        connection.close()


class Evidence:
    """Everything that the checks look at, read once."""

    def __init__(self, found: Demonstration) -> None:
        self.found = found
        self.items = {row["id"]: row for row in self.ours(_ITEMS)}
        self.hits = [row for row in self.theirs(_HITS) if row["token"].startswith(f"{found.started['namespace']}.")]
        for hit in self.hits:
            _, item, slot, *_ = hit["token"].split(".")
            hit["item"], hit["slot"] = int(item), int(slot)
        ids = {hit["id"] for hit in self.hits}
        self.answers = [row for row in self.theirs(_ASSIGNMENTS) if row["hit"] in ids]

    def ours(self, sql: str) -> list[Row]:
        settings = self.found.settings
        file = Path(settings["DATA_DIR"]) / "annotate.sqlite3"
        return select(settings.get("DATABASE_URL", ""), file, sql.format(project=self.found.started["project"]))

    def theirs(self, sql: str) -> list[Row]:
        settings = self.found.settings
        file = Path(settings["DATA_DIR"]) / "marketplace.sqlite3"
        return select(settings.get("MARKETPLACE_DATABASE_URL", ""), file, sql)

    def blocked(self) -> set[str]:
        return {row["worker"] for row in self.ours(_BLOCKS)}

    def held(self) -> set[str]:
        """Assignment ids of answers that wait for review because their workers were not eligible or too fast."""
        return {row["assignment_id"] for row in self.ours(_HELD)}

    def of_stage(self, stage: str) -> dict[int, list[Row]]:
        """Item to the answers that count, by time of submission: not held, and of workers who are not blocked."""
        hits = {hit["id"]: hit["item"] for hit in self.hits}
        blocked, held = self.blocked(), self.held()
        found: dict[int, list[Row]] = {pk: [] for pk, item in self.items.items() if item["stage"] == stage}
        for row in sorted(self.answers, key=lambda row: row["submitted"]):
            item = hits[row["hit"]]
            if item in found and row["worker"] not in blocked and row["assignment_id"] not in held:
                found[item].append(row)
        return found


_ITEMS = """
    SELECT i.id, i.key, i.state, i.conclusion, i.data, s.key AS stage, s.crowd, d.key AS document,
           d.data AS document_data
    FROM hits_item i JOIN hits_stage s ON s.id = i.stage_id JOIN hits_document d ON d.id = i.document_id
    WHERE s.project_id = {project}"""
# Without those that were dropped before they were sent: by then their items wanted no further answer.
_OUR_HITS = """
    SELECT h.hit_id, h.token FROM hits_hit h JOIN hits_stage s ON s.id = h.stage_id
    WHERE s.project_id = {project} AND NOT (h.state = 'closed' AND h.attempted_at IS NULL AND h.hit_id IS NULL)"""
_OUR_ANSWERS = """
    SELECT a.assignment_id, w.worker_id AS worker, a.answer
    FROM hits_assignment a JOIN hits_stage s ON s.id = a.stage_id JOIN hits_worker w ON w.id = a.worker_id
    WHERE s.project_id = {project}"""
_BLOCKS = """
    SELECT w.worker_id AS worker, b.state FROM hits_block b JOIN hits_worker w ON w.id = b.worker_id
    WHERE b.project_id = {project} AND b.state <> 'undone'"""
_HELD = """
    SELECT a.assignment_id FROM hits_assignment a JOIN hits_stage s ON s.id = a.stage_id
    WHERE s.project_id = {project} AND a.held <> '' AND a.admitted IS NOT TRUE"""
_LEDGER = """
    SELECT COALESCE(SUM(reserved), 0) AS reserved, COALESCE(SUM(paid), 0) AS paid
    FROM hits_ledgerentry WHERE project_id = {project}"""
_ACCOUNT = "SELECT reserved, paid FROM hits_account WHERE project_id = {project}"
_HITS = """
    SELECT id, hit_id, requester_annotation AS token, max_assignments AS places, completed
    FROM marketplace_hit ORDER BY id"""
_ASSIGNMENTS = """
    SELECT a.id, a.hit_id AS hit, a.assignment_id, a.status, a.answer, a.submitted_at AS submitted,
           w.worker_id AS worker
    FROM marketplace_assignment a JOIN marketplace_worker w ON w.id = a.worker_id
    WHERE a.status IN ('Submitted', 'Approved', 'Rejected')"""
_CHARGES = """
    SELECT m.kind, m.amount, m.hit_id AS hit FROM marketplace_moneyentry m WHERE m.kind IN ('charge', 'hold', 'release')
"""


# The checks


def published_once(evidence: Evidence) -> str:
    tokens = Counter(hit["token"] for hit in evidence.hits)
    doubles = [token for token, count in tokens.items() if count > 1]
    refuse(doubles, "HITs with the same annotation")
    on_the_wire = {
        hit["HITId"]
        for page in requester(evidence.found.settings).get_paginator("list_hits").paginate()
        for hit in page["HITs"]
        if hit.get("RequesterAnnotation", "").startswith(f"{evidence.found.started['namespace']}.")
    }
    refuse(on_the_wire ^ {hit["hit_id"] for hit in evidence.hits}, "HITs that the wire and the table do not share")
    ours = {(row["hit_id"], row["token"]) for row in evidence.ours(_OUR_HITS)}
    refuse(ours ^ {(hit["hit_id"], hit["token"]) for hit in evidence.hits}, "HITs that only one side knows")
    first = Counter(hit["item"] for hit in evidence.hits if hit["slot"] == 1)
    asked = {pk for pk, item in evidence.items.items() if item["crowd"]}
    refuse(set(first) ^ asked, "items without a first HIT, or HITs without an item")
    again = len(evidence.hits) - len(first)
    return f"{len(first)} items, {len(evidence.hits)} HITs" + (f", {again} of them asked again" if again else "")


def all_harvested(evidence: Evidence) -> str:
    theirs = {(row["assignment_id"], row["worker"]): answer_fields(row["answer"]) for row in evidence.answers}
    ours = {(row["assignment_id"], row["worker"]): as_json(row["answer"]) for row in evidence.ours(_OUR_ANSWERS)}
    refuse(set(theirs) ^ set(ours), "answers that only one side has")
    refuse([key for key, answer in theirs.items() if ours[key] != answer], "answers that differ")
    refuse([row["assignment_id"] for row in evidence.answers if row["status"] != "Approved"], "unpaid answers")
    return f"{len(theirs)} answers of {len({worker for _, worker in theirs})} workers"


def money_agrees(evidence: Evidence) -> str:
    (ledger,), (account,) = evidence.ours(_LEDGER), evidence.ours(_ACCOUNT)
    refuse_unequal("entries and account, reserved", ledger["reserved"], account["reserved"])
    refuse_unequal("entries and account, paid", ledger["paid"], account["paid"])
    refuse_unequal("reserved, in cents", account["reserved"], 0)
    moved = cents_moved(evidence)
    charged, released, empty = (sum(each[kind] for each in moved) for kind in ("charge", "release", "empty"))
    refuse_unequal("paid and charged, in cents", ledger["paid"], charged)
    held = sum(each["hold"] for each in moved)
    refuse_unequal("held, and charged, released or held for empty places, in cents", held, charged + released + empty)
    available, on_hold = balance(evidence.found.settings)
    paid, kept = Decimal(int(ledger["paid"])) / 100, Decimal(empty) / 100
    refuse_unequal(
        "balance before less balance now, and paid and on hold", evidence.found.before - available, paid + kept
    )
    refuse_unequal("on hold, and held for empty places", on_hold, kept)
    told = f"${paid:,.2f} paid for {len(evidence.answers)} answers, $0.00 reserved"
    return told + (f", ${kept:,.2f} on hold for places of closed HITs until these are deleted" if kept else "")


def cents_moved(evidence: Evidence) -> list[Counter[str]]:
    """Cents by kind for each HIT: hold, charge, release; `empty` is what stays held for places that nobody took.

    A HIT that is closed because another one brought the answer first has such places; the marketplace holds their
    money until the HIT is deleted.
    """
    moved: dict[int, Counter[str]] = {hit["id"]: Counter() for hit in evidence.hits}
    for row in evidence.theirs(_CHARGES):
        if row["hit"] in moved:
            moved[row["hit"]][row["kind"]] += row["amount"]
    for hit in evidence.hits:
        mine = moved[hit["id"]]
        # All places of a HIT cost the same.
        mine["empty"] = mine["hold"] * (hit["places"] - hit["completed"]) // hit["places"] - mine["release"]
    return list(moved.values())


def _files(folder: Path) -> list[str]:
    """Those in folders within it too."""
    return sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file())


def releases_are_identical(evidence: Evidence) -> str:
    """The last two; the very first one was new."""
    first, second = evidence.found.releases[-2:]
    is_new = [release.report["is_new"] for release in evidence.found.releases]
    if not is_new[0] or is_new[-1] or first.report["digest"] != second.report["digest"]:
        raise CheckFailedError(f"made twice, the release differs: {first.report} and {second.report}")
    names = _files(first.folder)
    refuse_unequal("the files of the two", names, _files(second.folder))
    for name in names:
        if (first.folder / name).read_bytes() != (second.folder / name).read_bytes():
            raise CheckFailedError(f"{name} differs between the two releases")
    for file in json.loads((first.folder / "manifest.json").read_bytes())["files"]:
        if file.get("beside_the_folder"):
            key = [
                (each.folder.with_name(f"{each.folder.name}-{file['name']}")).read_bytes() for each in (first, second)
            ]
            refuse_unequal("the answers of test", *key)
            continue
        digest = hashlib.sha256((first.folder / file["name"]).read_bytes()).hexdigest()
        refuse_unequal(f"the digest of {file['name']}", digest, file["sha256"])
    return f"{len(names)} files, digest {first.report['digest'][:12]}"


def funnel_adds_up(evidence: Evidence, written: int | None) -> str:
    """Every unit of those that were written, as the tables have them, is in one line of the last release's funnel."""
    funnel = json.loads((evidence.found.releases[-1].folder / "manifest.json").read_bytes())["funnel"]
    if written is not None:
        refuse_unequal(f"{funnel['unit']} that were written", funnel["written"], written)
    refuse_unequal("the lines of the funnel together", sum(funnel["lines"].values()), funnel["written"])
    return f"{funnel['written']} {funnel['unit']} in {len(funnel['lines'])} lines"


# Plain second versions


def answer_fields(xml: str) -> dict[str, str]:
    """Field to value of a QuestionFormAnswers document, without the page's id, which is for logs alone."""
    found = {
        answer.findtext(f"{_ANSWERS}QuestionIdentifier") or "": answer.findtext(f"{_ANSWERS}FreeText") or ""
        for answer in ET.fromstring(xml)
    }
    found.pop("X-Request-ID", None)
    return found


def as_json(value: Any) -> Any:
    """PostgreSQL hands out objects, SQLite their text."""
    return json.loads(value) if isinstance(value, str) else value


def refuse(found: Any, what: str) -> None:
    if found:
        some = sorted(map(str, found))[:5]
        raise CheckFailedError(f"{len(found)} {what}, such as {', '.join(some)}")


def refuse_unequal(what: str, left: Any, right: Any) -> None:
    if left != right:
        raise CheckFailedError(f"{what}: {left} and {right}")
