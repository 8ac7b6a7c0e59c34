"""What a demonstration of Cosmos QA must have led to, checked from outside.

Nothing of the product's own rules is imported here. The expansion of what was written into question sets, the verdict
on a set, who the best writers are, and where "None of the above" stands are worked out a second time, from the raw
answers at the marketplace.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet

from tests.demo.checks import (
    Check,
    CheckFailedError,
    Demonstration,
    Evidence,
    Row,
    all_harvested,
    answer_fields,
    as_json,
    funnel_adds_up,
    money_agrees,
    published_once,
    refuse,
    refuse_unequal,
    releases_are_identical,
    seen,
)

# Each by the name of its files; the labels of test lie in a key.
SPLITS = {"train": "train", "dev": "valid", "test": "test"}
NONE_OF_THE_ABOVE = "None of the above choices ."
VALIDATORS = 3
# Of the sets that careless people wrote, those that may get through.
MOST_RUBBISH = 0.2
# What each step of a validation asks, and the answer that ends it.
_STEPS = {"paragraph": "bad", "question": "bad", "picked": "none", "needs_common_sense": "", "needs_context": ""}
_COMPUTED = """
    SELECT i.key, r.data FROM hits_computationresult r JOIN hits_computationrun c ON c.id = r.run_id
    JOIN hits_item i ON i.id = r.item_id
    WHERE c.project_id = {project} AND c.state = 'done' AND c.key = 'least-challenging'"""
_OPTIONS = "SELECT options FROM hits_project WHERE id = {project}"


def run(found: Demonstration) -> Iterator[tuple[str, str]]:
    """(what was checked, what was seen) of each check that holds. Raises CheckFailedError at one that does not."""
    checks: list[Check] = [
        ("Every item published exactly once", published_once),
        ("Every submitted answer harvested", all_harvested),
        ("A question set for each correct answer", _expanded),
        ("Verdicts on the sets recomputed", _verdicts_agree),
        ("Rubbish mostly gone", _rubbish_is_gone),
        ('"None of the above" recorded and in place', _replacements_are_recorded),
        ("Dev and test by the best writers, no paragraph in two splits", _splits_are_apart),
        ("Every written unit in one line of the funnel", _funnel_adds_up),
        ("Score of people recomputed", _score_agrees),
        ("Ledger equals the marketplace's money", money_agrees),
        ("Release read back without a difference", _release_reads_back),
        ("Second release has the same bytes", releases_are_identical),
    ]
    yield from seen(_Evidence(found), checks)


class _Evidence(Evidence):
    def __init__(self, found: Demonstration) -> None:
        super().__init__(found)
        for item in self.items.values():
            item["data"] = as_json(item["data"])
        self.options = as_json(self.ours(_OPTIONS)[0]["options"])
        computed = {row["key"]: as_json(row["data"]) for row in self.ours(_COMPUTED)}
        self.computed = {key: data for key, data in computed.items() if data["drawn"]}
        self.sets = {item["key"]: item for item in self.items.values() if item["stage"] == "validate"}
        # As the files have them, and with the answers of test where they stood when people were asked.
        self.released = {name: _labelled(found.releases[-1].folder, file) for name, file in SPLITS.items()}
        self.splits = {**self.released, "test": [_as_asked(self, row) for row in self.released["test"]]}

    def kept(self) -> dict[str, Row]:
        return {key: item for key, item in self.sets.items() if item["state"] == "kept"}

    def valid(self) -> set[str]:
        return {key for key, item in self.kept().items() if item["conclusion"] == "valid"}

    def paragraph(self, item: Row) -> str:
        return str(as_json(item["document_data"])["text"])


# The checks


def _expanded(evidence: _Evidence) -> str:
    expected: dict[str, Any] = {}
    questions = 0
    for pk, answers in evidence.of_stage("write").items():
        for row in answers:
            written = _questions(answer_fields(row["answer"]))
            questions += len(written)
            for number, (question, correct, incorrect) in written.items():
                for place, text in enumerate(correct, start=1):
                    key = f"{evidence.items[pk]['key']}/{row['assignment_id']}/q{number}a{place}"
                    expected[key] = (question, text, sorted(incorrect), row["worker"])
    there = {key: _as_written(item["data"]) for key, item in evidence.sets.items()}
    refuse(set(expected) ^ set(there), "sets that are missing or that nobody wrote")
    refuse([key for key in expected if expected[key] != there[key]], "sets that differ from what was written")
    return f"{questions} questions, {len(expected)} sets"


def _verdicts_agree(evidence: _Evidence) -> str:
    wrong, counts = [], Counter[str]()
    for pk, answers in evidence.of_stage("validate").items():
        item = evidence.items[pk]
        said = [_reached(answer_fields(row["answer"])) for row in answers]
        verdict = _verdict(said, item["data"]["intended"])
        counts[verdict] += 1
        there = item["conclusion"] if item["state"] == "kept" else item["state"]
        if there != verdict:
            wrong.append(f"{item['key']}: {verdict}, not {there}")
    refuse(wrong, "verdicts that the answers do not give")
    return ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))


def _rubbish_is_gone(evidence: _Evidence) -> str:
    written, kept = (
        Counter(item["data"]["author"] for item in some.values()) for some in (evidence.sets, evidence.kept())
    )
    careless = evidence.found.of_kind("careless", "spammer")
    refuse(set(written) - set(evidence.found.people), "authors who are not of the crowd")
    rubbish, left = sum(written[worker] for worker in careless), sum(kept[worker] for worker in careless)
    good, others = sum(written.values()) - rubbish, sum(kept.values()) - left
    if not rubbish:
        return "no careless worker wrote anything"
    if left > MOST_RUBBISH * rubbish or left * good >= others * rubbish:
        raise CheckFailedError(f"{left} of {rubbish} sets of careless writers were kept, {others} of {good} others")
    return f"{left / rubbish:.0%} of {rubbish} sets of careless writers kept, {others / good:.0%} of {good} others"


def _replacements_are_recorded(evidence: _Evidence) -> str:
    valid, computed = evidence.valid(), evidence.computed
    refuse(set(computed) - valid, "replacements in sets that are not valid")
    refuse_unequal("replacements", len(computed), round(evidence.options["none_share"] * len(valid)))
    refuse([key for key, data in computed.items() if not _is_least(data, evidence.sets[key]["data"])], "wrong choices")
    released = {row["id"]: row for rows in evidence.splits.values() for row in rows}
    wrong = [key for key, row in released.items() if _nones(row) != _expected_none(evidence, key)]
    refuse(wrong, 'sets with "None of the above" where it must not be, or without it')
    return f"{len(computed)} of {len(valid)} valid sets, all {len(released) - len(valid)} unanswerable ones"


def _funnel_adds_up(evidence: _Evidence) -> str:
    return funnel_adds_up(evidence, sum(item["stage"] == "validate" for item in evidence.items.values()))


def _splits_are_apart(evidence: _Evidence) -> str:
    homes: dict[str, set[str]] = {}
    for name, rows in evidence.splits.items():
        for row in rows:
            homes.setdefault(row["context"], set()).add(name)
    refuse([text for text, names in homes.items() if len(names) > 1], "paragraphs in two splits")
    best = _best_writers(evidence)
    outside = [
        row["id"] for name in ("dev", "test") for row in evidence.splits[name] if _author(evidence, row) not in best
    ]
    refuse(outside, "sets of dev or test whose writer is not among the best")
    if not all(evidence.splits.values()):
        raise CheckFailedError(f"a split is empty: {_sizes(evidence)}")
    return f"{len(best)} best writers; {_sizes(evidence)}"


def _score_agrees(evidence: _Evidence) -> str:
    drawn = {pk: item for pk, item in evidence.items.items() if item["stage"] == "human"}
    test = {row["id"]: row for row in evidence.splits["test"]}
    refuse(
        {item["key"] for item in drawn.values()} ^ set(test), "sets of the test split that were not asked, or others"
    )
    right = 0
    for pk, answers in evidence.of_stage("human").items():
        data = evidence.items[pk]["data"]
        refuse_unequal("what was asked", [one["text"] for one in data["candidates"]], _texts(test[data["set"]]))
        said = [answer_fields(row["answer"])["choice"] for row in answers]
        is_right = said.count(data["intended"]) * 2 > len(said) == VALIDATORS
        refuse_unequal(f"majority of {data['set']}", evidence.items[pk]["conclusion"], "right" if is_right else "wrong")
        right += is_right
    return f"majority of three right in {right} of {len(drawn)} sets, {right / len(drawn):.1%}"


def _release_reads_back(evidence: _Evidence) -> str:
    expected = {key: _expected_row(evidence, key) for key in evidence.kept()}
    folder = evidence.found.releases[-1].folder
    for name, rows in evidence.released.items():
        file = SPLITS[name]
        told = [{**row, "label": -1} for row in rows] if name == "test" else rows
        refuse_unequal(f"{file}.csv", _csv(folder / f"{file}.csv"), told)
        refuse_unequal(f"{file}.parquet", pyarrow.parquet.read_table(folder / f"{file}.parquet").to_pylist(), told)
        for row in evidence.splits[name]:
            refuse_unequal(f"set {row['id']}", row, expected.pop(row["id"], None))
        same = [(release.folder / f"{file}.csv").read_bytes() for release in evidence.found.releases]
        refuse_unequal(f"{file}.csv before and after the human score", same[0], same[-1])
    refuse(expected, "kept sets that the release does not have")
    refuse_unequal(
        "counts", evidence.found.releases[-1].report["counts"], {n: len(r) for n, r in evidence.splits.items()}
    )
    return f"{_sizes(evidence)}, each as CSV, JSON Lines and Parquet"


# Plain second versions


def _questions(fields: Mapping[str, str]) -> dict[int, tuple[str, list[str], list[str]]]:
    """Number to (question, correct answers, incorrect ones) of what was written at all."""
    found = {}
    for number in (1, 2):
        texts = {
            name.removeprefix(f"q{number}_"): value.strip()
            for name, value in fields.items()
            if name[:2] == f"q{number}"
        }
        if texts.get("question"):
            correct, incorrect = (
                [texts[name] for name in sorted(texts) if name.startswith(kind) and texts[name]]
                for kind in ("correct", "incorrect")
            )
            found[number] = (texts["question"], correct, incorrect)
    return found


def _as_written(data: Row) -> tuple[str, str, list[str], str]:
    texts = {one["id"]: one["text"] for one in data["candidates"]}
    correct = texts.pop(data["intended"])
    return data["question"], correct, sorted(texts.values()), data["author"]


def _reached(fields: Mapping[str, str]) -> dict[str, str]:
    """What was said up to the step that ended it."""
    said: dict[str, str] = {}
    for step, end in _STEPS.items():
        said[step] = fields.get(step, "")
        if said[step] == end:
            break
    return said


def _verdict(said: Sequence[Mapping[str, str]], intended: str) -> str:
    if len(said) < VALIDATORS:
        return "open"
    if any("bad" in (answer["paragraph"], answer.get("question")) for answer in said):
        return "dropped"
    agree = sum(answer.get("picked") == intended for answer in said) >= 2
    easy = any("no" in (answer.get("needs_context"), answer.get("needs_common_sense")) for answer in said)
    if agree and easy:
        return "unanswerable"
    told = all(answer.get("picked") not in (None, "none") for answer in said)
    return "valid" if agree and told else "dropped"


def _is_least(found: Row, data: Row) -> bool:
    """Whether the candidate is a wrong one with the lowest sum of its three scores, which are rounded to 6 digits."""
    totals = {ident: sum(scores) for ident, scores in found["scores"].items()}
    wrong = {one["id"] for one in data["candidates"]} - {data["intended"]}
    return set(totals) == wrong and totals[found["candidate"]] <= min(totals.values()) + 1e-5


def _expected_none(evidence: _Evidence, key: str) -> list[str]:
    """The places where "None of the above" must stand."""
    item = evidence.sets[key]
    if item["conclusion"] == "unanswerable":
        return [item["data"]["intended"]]
    return [evidence.computed[key]["candidate"]] if key in evidence.computed else []


def _expected_row(evidence: _Evidence, key: str) -> Row:
    item = evidence.sets[key]
    nones = _expected_none(evidence, key)
    texts = {one["id"]: NONE_OF_THE_ABOVE if one["id"] in nones else one["text"] for one in item["data"]["candidates"]}
    answers = {f"answer{place}": texts[f"c{place}"] for place in range(4)}
    head = {"id": key, "context": evidence.paragraph(item), "question": item["data"]["question"]}
    return {**head, **answers, "label": int(item["data"]["intended"].removeprefix("c"))}


def _as_asked(evidence: _Evidence, row: Row) -> Row:
    """A set of test is released in a secret order. Unchanged where its answers are not those that were asked."""
    if row["id"] not in evidence.kept():
        return row
    asked = _expected_row(evidence, row["id"])
    left = list(range(4))
    for place, text in enumerate(_texts(asked)):
        same = [at for at in left if (_texts(row)[at], at == row["label"]) == (text, place == asked["label"])]
        if not same:
            return row
        left.remove(same[0])
    return {**row, **{name: asked[name] for name in ("answer0", "answer1", "answer2", "answer3", "label")}}


def _best_writers(evidence: _Evidence) -> set[str]:
    written, kept = (
        Counter(item["data"]["author"] for item in some.values()) for some in (evidence.sets, evidence.kept())
    )
    least, share = evidence.options["best_written"], evidence.options["best_kept_share"]
    return {worker for worker in written if written[worker] >= least and kept[worker] >= share * written[worker]}


def _author(evidence: _Evidence, row: Row) -> str:
    return str(evidence.sets[row["id"]]["data"]["author"])


def _texts(row: Row) -> list[str]:
    return [row[f"answer{place}"] for place in range(4)]


def _nones(row: Row) -> list[str]:
    return [f"c{place}" for place, text in enumerate(_texts(row)) if text == NONE_OF_THE_ABOVE]


def _sizes(evidence: _Evidence) -> str:
    return ", ".join(f"{name} {len(rows)}" for name, rows in evidence.splits.items())


def _labelled(folder: Path, name: str) -> list[Row]:
    """The rows of a part, with the labels of its key where it has none."""
    with (folder.with_name(f"{folder.name}-test-key.csv")).open(encoding="utf-8", newline="") as stream:
        key = {row["id"]: int(row["label"]) for row in csv.DictReader(stream)}
    rows = [json.loads(line) for line in (folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
    return [row if "label" in row else {**row, "label": key[row["id"]]} for row in rows]


def _csv(file: Path) -> list[Row]:
    """Without a label, the one of a table in Parquet that tells none."""
    with file.open(encoding="utf-8", newline="") as stream:
        return [{**row, "label": int(row.get("label", -1))} for row in csv.DictReader(stream)]
