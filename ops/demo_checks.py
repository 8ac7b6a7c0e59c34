"""What a demonstration must have led to, checked from outside: two databases by SQL, the wire, the input file.

Nothing of the product's own rules is imported here, except its reader for the files that it releases. So the vote
rule, the comparison of names, EM and F1, and the sums of money are written a second time, as plainly as can be.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import sqlite3
import string
import xml.etree.ElementTree as ET
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import boto3
import psycopg2
from botocore.config import Config

from hits.formats import record

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
    """`spammers` are the worker ids of the planted ones; `before` is the balance before anything was published."""

    settings: Mapping[str, str]
    input: Path
    project: int
    namespace: str
    answers: int
    need: int
    spammers: frozenset[str]
    before: Decimal
    releases: Sequence[Release]


def run(found: Demonstration) -> Iterator[tuple[str, str]]:
    """(what was checked, what was seen) of each check that holds. Raises CheckFailedError at one that does not."""
    evidence = _Evidence(found)
    checks: list[tuple[str, Callable[[_Evidence], str]]] = [
        ("Every item published exactly once", _published_once),
        ("Every submitted answer harvested", _all_harvested),
        ("Exactly the planted spammers blocked", _spammers_blocked),
        ("Their items answered by others", _answered_by_others),
        ("Ledger equals the marketplace's money", _money_agrees),
        ("Score of people recomputed", _score_agrees),
        ("Release read back without a difference", _release_reads_back),
        ("Second release has the same bytes", _releases_are_identical),
    ]
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
        path = urlsplit(url).path if url else str(file)
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=20)
    try:
        cursor = connection.cursor()
        cursor.execute(sql)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    finally:
        connection.close()


class _Evidence:
    """Everything that the checks look at, read once."""

    def __init__(self, found: Demonstration) -> None:
        self.found = found
        self.texts = {example["id"]: example for example in _examples(found.input)}
        self.items = {row["id"]: row for row in self._ours(_ITEMS)}
        self.hits = [row for row in self._theirs(_HITS) if row["token"].startswith(f"{found.namespace}.")]
        for hit in self.hits:
            _, item, slot = hit["token"].split(".")
            hit["item"], hit["slot"] = int(item), int(slot)
        ids = {hit["id"] for hit in self.hits}
        self.answers = [row for row in self._theirs(_ASSIGNMENTS) if row["hit"] in ids]

    def _ours(self, sql: str) -> list[Row]:
        settings = self.found.settings
        file = Path(settings["DATA_DIR"]) / "annotate.sqlite3"
        return select(settings.get("DATABASE_URL", ""), file, sql.format(project=self.found.project))

    def _theirs(self, sql: str) -> list[Row]:
        settings = self.found.settings
        file = Path(settings["MARKETPLACE_DATA_DIR"]) / "marketplace.sqlite3"
        return select(settings.get("MARKETPLACE_DATABASE_URL", ""), file, sql)

    ours, theirs = _ours, _theirs

    def blocked(self) -> set[str]:
        return {row["worker"] for row in self.ours(_BLOCKS)}

    def of_stage(self, stage: str) -> dict[int, list[Row]]:
        """Item to the answers that count, by time of submission: those of workers who are not blocked."""
        hits = {hit["id"]: hit["item"] for hit in self.hits}
        blocked = self.blocked()
        found: dict[int, list[Row]] = {pk: [] for pk, item in self.items.items() if item["stage"] == stage}
        for row in sorted(self.answers, key=lambda row: row["submitted"]):
            item = hits[row["hit"]]
            if item in found and row["worker"] not in blocked:
                found[item].append(row)
        return found

    def is_right(self, item: int, answer: Row) -> bool:
        said = name_of(self.surface(item, answer))
        return said in {name_of(text) for text in self.references(item)}

    def surface(self, item: int, answer: Row) -> str:
        start, end = map(int, answer_fields(answer["answer"])["answer"].split("-"))
        text: str = self.texts[self.items[item]["document"]]["passage"]["text"]
        return text[start : end + 1]

    def references(self, item: int) -> list[str]:
        row = self.items[item]
        asked = as_json(row["data"])["query"]
        (query,) = [qa for qa in self.texts[row["document"]]["qas"] if qa["query"] == asked]
        return [answer["text"] for answer in query["answers"]]


_ITEMS = """
    SELECT i.id, i.key, i.state, i.data, s.key AS stage, d.key AS document
    FROM hits_item i JOIN hits_stage s ON s.id = i.stage_id JOIN hits_document d ON d.id = i.document_id
    WHERE s.project_id = {project}"""
_OUR_HITS = """
    SELECT h.hit_id, h.token FROM hits_hit h JOIN hits_stage s ON s.id = h.stage_id WHERE s.project_id = {project}"""
_OUR_ANSWERS = """
    SELECT a.assignment_id, w.worker_id AS worker, a.answer
    FROM hits_assignment a JOIN hits_stage s ON s.id = a.stage_id JOIN hits_worker w ON w.id = a.worker_id
    WHERE s.project_id = {project}"""
_BLOCKS = """
    SELECT w.worker_id AS worker, b.state FROM hits_block b JOIN hits_worker w ON w.id = b.worker_id
    WHERE b.project_id = {project} AND b.state <> 'undone'"""
_QUALIFICATION = "SELECT qualification_type_id AS id FROM hits_qualification WHERE project_id = {project}"
_LEDGER = """
    SELECT COALESCE(SUM(reserved), 0) AS reserved, COALESCE(SUM(paid), 0) AS paid
    FROM hits_ledgerentry WHERE project_id = {project}"""
_ACCOUNT = "SELECT reserved, paid FROM hits_account WHERE project_id = {project}"
_SCORES = """
    SELECT m.scores FROM hits_stagesummary m JOIN hits_stage s ON s.id = m.stage_id
    WHERE s.project_id = {project} AND s.key = 'human'"""
_HITS = """
    SELECT id, hit_id, requester_annotation AS token FROM marketplace_hit ORDER BY id"""
_ASSIGNMENTS = """
    SELECT a.id, a.hit_id AS hit, a.assignment_id, a.status, a.answer, a.submitted_at AS submitted,
           w.worker_id AS worker
    FROM marketplace_assignment a JOIN marketplace_worker w ON w.id = a.worker_id
    WHERE a.status IN ('Submitted', 'Approved', 'Rejected')"""
_CHARGES = """
    SELECT m.kind, m.amount, m.hit_id AS hit FROM marketplace_moneyentry m WHERE m.kind IN ('charge', 'hold', 'release')
"""


# The checks


def _published_once(evidence: _Evidence) -> str:
    tokens = Counter(hit["token"] for hit in evidence.hits)
    doubles = [token for token, count in tokens.items() if count > 1]
    _refuse(doubles, "HITs with the same annotation")
    on_the_wire = {
        hit["HITId"]
        for page in requester(evidence.found.settings).get_paginator("list_hits").paginate()
        for hit in page["HITs"]
        if hit.get("RequesterAnnotation", "").startswith(f"{evidence.found.namespace}.")
    }
    _refuse(on_the_wire ^ {hit["hit_id"] for hit in evidence.hits}, "HITs that the wire and the table do not share")
    ours = {(row["hit_id"], row["token"]) for row in evidence.ours(_OUR_HITS)}
    _refuse(ours ^ {(hit["hit_id"], hit["token"]) for hit in evidence.hits}, "HITs that only one side knows")
    first = Counter(hit["item"] for hit in evidence.hits if hit["slot"] == 1)
    _refuse(set(first) ^ set(evidence.items), "items without a first HIT, or HITs without an item")
    again = len(evidence.hits) - len(first)
    return f"{len(first)} items, {len(evidence.hits)} HITs" + (f", {again} of them asked again" if again else "")


def _all_harvested(evidence: _Evidence) -> str:
    theirs = {(row["assignment_id"], row["worker"]): answer_fields(row["answer"]) for row in evidence.answers}
    ours = {(row["assignment_id"], row["worker"]): as_json(row["answer"]) for row in evidence.ours(_OUR_ANSWERS)}
    _refuse(set(theirs) ^ set(ours), "answers that only one side has")
    _refuse([key for key, answer in theirs.items() if ours[key] != answer], "answers that differ")
    _refuse([row["assignment_id"] for row in evidence.answers if row["status"] != "Approved"], "unpaid answers")
    return f"{len(theirs)} answers of {len({worker for _, worker in theirs})} workers"


def _spammers_blocked(evidence: _Evidence) -> str:
    blocked, planted = evidence.blocked(), evidence.found.spammers
    _refuse(planted - blocked, "spammers who are not blocked")
    _refuse(blocked - planted, "honest workers who are blocked")
    granted = set()
    for row in evidence.ours(_QUALIFICATION):
        pages = requester(evidence.found.settings).get_paginator("list_workers_with_qualification_type")
        for page in pages.paginate(QualificationTypeId=row["id"], Status="Granted"):
            granted |= {holder["WorkerId"] for holder in page["Qualifications"]}
    _refuse(granted ^ blocked, "workers whose block and qualification disagree")
    return ", ".join(sorted(blocked)) or "nobody"


def _answered_by_others(evidence: _Evidence) -> str:
    """Every verdict follows from the answers of workers who are not blocked."""
    rules = {"validate": (evidence.found.answers, evidence.found.need), "revalidate": (1, 1), "human": (1, 0)}
    wrong = []
    for stage, (wanted, need) in rules.items():
        for item, answers in evidence.of_stage(stage).items():
            state = _concluded([evidence.is_right(item, answer) for answer in answers[:wanted]], wanted, need)
            if state != evidence.items[item]["state"]:
                wrong.append(f"{evidence.items[item]['key']}: {state}, not {evidence.items[item]['state']}")
    _refuse(wrong, "verdicts that the answers do not give")
    hits = {hit["id"]: hit["item"] for hit in evidence.hits}
    theirs = {hits[row["hit"]] for row in evidence.answers if row["worker"] in evidence.blocked()}
    states = Counter(item["state"] for item in evidence.items.values() if item["stage"] == "validate")
    return (
        f"{len(theirs)} items concluded without them; first stage: {states['kept']} kept, {states['dropped']} dropped"
    )


def _concluded(right: Sequence[bool], wanted: int, need: int) -> str:
    """Kept with `need` right answers, dropped once they cannot be had any more; with a need of 0 all must be there."""
    if need == 0:
        return "kept" if len(right) == wanted else "open"
    if sum(right) >= need:
        return "kept"
    return "dropped" if wanted - right.count(False) < need else "open"


def _money_agrees(evidence: _Evidence) -> str:
    (ledger,), (account,) = evidence.ours(_LEDGER), evidence.ours(_ACCOUNT)
    _refuse_unequal("entries and account, reserved", ledger["reserved"], account["reserved"])
    _refuse_unequal("entries and account, paid", ledger["paid"], account["paid"])
    _refuse_unequal("reserved, in cents", account["reserved"], 0)
    ids = {hit["id"] for hit in evidence.hits}
    moved: dict[str, int] = defaultdict(int)
    for row in evidence.theirs(_CHARGES):
        if row["hit"] in ids:
            moved[row["kind"]] += row["amount"]
    _refuse_unequal("paid and charged, in cents", ledger["paid"], moved["charge"])
    _refuse_unequal("held, and charged or released, in cents", moved["hold"], moved["charge"] + moved["release"])
    available, on_hold = balance(evidence.found.settings)
    paid = Decimal(int(ledger["paid"])) / 100
    _refuse_unequal("balance before less balance now, and paid", evidence.found.before - available, paid)
    _refuse_unequal("on hold", on_hold, Decimal(0))
    return f"${paid:,.2f} paid for {len(evidence.answers)} answers, $0.00 reserved"


def _score_agrees(evidence: _Evidence) -> str:
    pairs = [
        (evidence.surface(item, answers[0]), evidence.references(item))
        for item, answers in evidence.of_stage("human").items()
        if evidence.items[item]["state"] == "kept"
    ]
    (row,) = evidence.ours(_SCORES)
    said = as_json(row["scores"])
    if not pairs:
        _refuse(said, "scores although nobody answered")
        return "nobody was asked: no item came so far"
    em = 100 * sum(max(squad(said) == squad(ref) for ref in refs) for said, refs in pairs) / len(pairs)
    f1 = 100 * sum(max(overlap(said, ref) for ref in refs) for said, refs in pairs) / len(pairs)
    for name, value in (("em", em), ("f1", f1), ("n", len(pairs))):
        if abs(said[name] - value) > 1e-9:
            raise CheckFailedError(f"{name} is {value} by the raw answers, the product says {said[name]}")
    return f"EM {em:.2f}, F1 {f1:.2f} over {len(pairs)} queries"


def _release_reads_back(evidence: _Evidence) -> str:
    release = evidence.found.releases[0]
    counts = {}
    for split in ("train", "dev", "test"):
        documents = record.read(io.BytesIO((release.folder / f"{split}.json").read_bytes()))
        counts[split] = sum(len(document.queries) for document in documents)
        for document in documents:
            _refuse_changed(document, evidence.texts[document.key])
    _refuse_unequal("queries in the files and in the manifest", counts, release.report["counts"])
    return ", ".join(f"{name} {count}" for name, count in counts.items())


def _refuse_changed(document: record.Document, source: Row) -> None:
    spans = [{"start": span.start, "end": span.end} for span in document.entities]
    queries = {
        query.key: {"id": query.key, "query": query.query, "answers": [answer._asdict() for answer in query.answers]}
        for query in document.queries
    }
    wanted = {qa["id"]: {name: qa[name] for name in ("id", "query", "answers")} for qa in source["qas"]}
    passage = {"text": document.text, "entities": spans}
    _refuse_unequal(f"the passage of {document.key}", passage, source["passage"])
    _refuse_unequal(f"the source of {document.key}", document.source, source["source"])
    for key, query in queries.items():
        _refuse_unequal(f"query {key}", query, wanted[key])


def _releases_are_identical(evidence: _Evidence) -> str:
    first, second = evidence.found.releases
    if not first.report["is_new"] or second.report["is_new"] or first.report["digest"] != second.report["digest"]:
        raise CheckFailedError(f"made twice, the release differs: {first.report} and {second.report}")
    names = sorted(file.name for file in first.folder.iterdir())
    _refuse_unequal("the files of the two", names, sorted(file.name for file in second.folder.iterdir()))
    for name in names:
        if (first.folder / name).read_bytes() != (second.folder / name).read_bytes():
            raise CheckFailedError(f"{name} differs between the two releases")
    for file in json.loads((first.folder / "manifest.json").read_bytes())["files"]:
        digest = hashlib.sha256((first.folder / file["name"]).read_bytes()).hexdigest()
        _refuse_unequal(f"the digest of {file['name']}", digest, file["sha256"])
    return f"{len(names)} files, digest {first.report['digest'][:12]}"


# Plain second versions


def _examples(file: Path) -> Iterator[Row]:
    """Examples of a ReCoRD file with text keys, whichever of the two layouts and kinds of key it has."""
    text = file.read_text(encoding="utf-8-sig")
    try:
        found = json.loads(text)["data"]
    except (json.JSONDecodeError, KeyError):
        found = [json.loads(line) for line in text.splitlines() if line.strip()]
    for example in found:
        example["id"] = str(example.get("id", example.get("idx")))
        for qa in example["qas"]:
            qa["id"] = str(qa.get("id", qa.get("idx")))
        yield example


def answer_fields(xml: str) -> dict[str, str]:
    """Field to value of a QuestionFormAnswers document."""
    return {
        answer.findtext(f"{_ANSWERS}QuestionIdentifier") or "": answer.findtext(f"{_ANSWERS}FreeText") or ""
        for answer in ET.fromstring(xml)
    }


def as_json(value: Any) -> Any:
    """PostgreSQL hands out objects, SQLite their text."""
    return json.loads(value) if isinstance(value, str) else value


def squad(text: str) -> list[str]:
    """Lower case, no punctuation, no articles, as words."""
    plain = "".join(character for character in text.lower() if character not in string.punctuation)
    return [word for word in plain.split() if word not in ("a", "an", "the")]


def name_of(text: str) -> tuple[str, ...]:
    """What two mentions of one entity share: the words without a possessive ending."""
    return tuple(squad(re.sub(r"['\u2019]s?$", "", text.strip())))


def overlap(said: str, reference: str) -> float:
    a, b = Counter(squad(said)), Counter(squad(reference))
    same = sum((a & b).values())
    return 2 * same / (sum(a.values()) + sum(b.values())) if same else 0.0


def _refuse(found: Any, what: str) -> None:
    if found:
        some = sorted(map(str, found))[:5]
        raise CheckFailedError(f"{len(found)} {what}, such as {', '.join(some)}")


def _refuse_unequal(what: str, left: Any, right: Any) -> None:
    if left != right:
        raise CheckFailedError(f"{what}: {left} and {right}")
