"""What a demonstration of ReCoRD must have led to, checked from outside.

Nothing of the product's own rules is imported here, except its reader for the files that it releases. So the vote
rule, the comparison of names, EM and F1 are written a second time.
"""

from __future__ import annotations

import io
import json
import re
import string
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from hits.formats import record
from ops.demo_checks import (
    Check,
    CheckFailedError,
    Demonstration,
    Evidence,
    Row,
    all_harvested,
    answer_fields,
    as_json,
    money_agrees,
    published_once,
    refuse,
    refuse_unequal,
    releases_are_identical,
    requester,
    seen,
)


def run(found: Demonstration) -> Iterator[tuple[str, str]]:
    """(what was checked, what was seen) of each check that holds. Raises CheckFailedError at one that does not."""
    checks: list[Check] = [
        ("Every item published exactly once", published_once),
        ("Every submitted answer harvested", all_harvested),
        ("Exactly the planted spammers blocked", _spammers_blocked),
        ("Their items answered by others", _answered_by_others),
        ("Ledger equals the marketplace's money", money_agrees),
        ("Score of people recomputed", _score_agrees),
        ("Release read back without a difference", _release_reads_back),
        ("Second release has the same bytes", releases_are_identical),
    ]
    yield from seen(_Evidence(found), checks)


class _Evidence(Evidence):
    def __init__(self, found: Demonstration) -> None:
        super().__init__(found)
        self.texts = {example["id"]: example for example in _examples(found.input)}

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


_QUALIFICATION = "SELECT qualification_type_id AS id FROM hits_qualification WHERE project_id = {project}"
_SCORES = """
    SELECT m.scores FROM hits_stagesummary m JOIN hits_stage s ON s.id = m.stage_id
    WHERE s.project_id = {project} AND s.key = 'human'"""


# The checks


def _spammers_blocked(evidence: _Evidence) -> str:
    blocked, planted = evidence.blocked(), evidence.found.of_kind("spammer")
    refuse(planted - blocked, "spammers who are not blocked")
    refuse(blocked - planted, "honest workers who are blocked")
    granted = set()
    for row in evidence.ours(_QUALIFICATION):
        pages = requester(evidence.found.settings).get_paginator("list_workers_with_qualification_type")
        for page in pages.paginate(QualificationTypeId=row["id"], Status="Granted"):
            granted |= {holder["WorkerId"] for holder in page["Qualifications"]}
    refuse(granted ^ blocked, "workers whose block and qualification disagree")
    return ", ".join(sorted(blocked)) or "nobody"


def _answered_by_others(evidence: _Evidence) -> str:
    """Every verdict follows from the answers of workers who are not blocked."""
    started = evidence.found.started
    rules = {"validate": (started["answers"], started["need"]), "revalidate": (1, 1), "human": (1, 0)}
    wrong = []
    for stage, (wanted, need) in rules.items():
        for item, answers in evidence.of_stage(stage).items():
            state = _concluded([evidence.is_right(item, answer) for answer in answers[:wanted]], wanted, need)
            if state != evidence.items[item]["state"]:
                wrong.append(f"{evidence.items[item]['key']}: {state}, not {evidence.items[item]['state']}")
    refuse(wrong, "verdicts that the answers do not give")
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


def _score_agrees(evidence: _Evidence) -> str:
    pairs = [
        (evidence.surface(item, answers[0]), evidence.references(item))
        for item, answers in evidence.of_stage("human").items()
        if evidence.items[item]["state"] == "kept"
    ]
    (row,) = evidence.ours(_SCORES)
    said = as_json(row["scores"])
    if not pairs:
        refuse(said, "scores although nobody answered")
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
    refuse_unequal("queries in the files and in the manifest", counts, release.report["counts"])
    return ", ".join(f"{name} {count}" for name, count in counts.items())


def _refuse_changed(document: record.Document, source: Row) -> None:
    spans = [{"start": span.start, "end": span.end} for span in document.entities]
    queries = {
        query.key: {"id": query.key, "query": query.query, "answers": [answer._asdict() for answer in query.answers]}
        for query in document.queries
    }
    wanted = {qa["id"]: {name: qa[name] for name in ("id", "query", "answers")} for qa in source["qas"]}
    passage = {"text": document.text, "entities": spans}
    refuse_unequal(f"the passage of {document.key}", passage, source["passage"])
    refuse_unequal(f"the source of {document.key}", document.source, source["source"])
    for key, query in queries.items():
        refuse_unequal(f"query {key}", query, wanted[key])


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
