"""What a demonstration of MCScript2.0 must have led to, checked from outside.

Nothing of the product's own rules is imported here. Which questions are answered, the vote on their labels, how answers
are merged, what experts changed, and how far annotators agree are worked out a second time, from the raw answers at the
marketplace.
"""

from __future__ import annotations

import csv
import json
import re
import xml.etree.ElementTree as ET
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
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

SPLITS = ("train", "dev", "test")
PARTS = {"np": ("np-long", "np-short"), "vp": ("vp-long", "vp-short")}
HUMANS = tuple(f"human-{number}" for number in range(1, 6))
LABELS = ("text", "script", "unfitting", "unknown")
KEPT = ("text", "script", "text-or-script")
WORKERS, LONG, MOST_TOKENS = 5, 4, 19
_NUMBERS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_VERDICTS = """
    SELECT v.item_id AS item, v.parts FROM hits_verdict v JOIN hits_item i ON i.id = v.item_id
    JOIN hits_stage s ON s.id = i.stage_id WHERE s.project_id = {project} AND v.superseded_at IS NULL"""
_COMPUTED = """
    SELECT i.key, r.data FROM hits_computationresult r JOIN hits_computationrun c ON c.id = r.run_id
    JOIN hits_item i ON i.id = r.item_id WHERE c.project_id = {project} AND c.state = 'done' AND c.key = 'select'"""
_LABELS = """
    SELECT l.item_id AS item, l.unit, l.value, w.worker_id AS worker, a.assignment_id AS assignment
    FROM hits_label l JOIN hits_stage s ON s.id = l.stage_id JOIN hits_worker w ON w.id = l.worker_id
    JOIN hits_assignment a ON a.id = l.assignment_id WHERE s.project_id = {project} AND s.key = 'review'"""
_QUESTIONS = """
    SELECT l.item_id AS item, l.value FROM hits_label l JOIN hits_stage s ON s.id = l.stage_id
    WHERE s.project_id = {project} AND s.key IN ('np-long', 'np-short', 'vp-long', 'vp-short') AND NOT l.void"""
_GRANTS = """
    SELECT g.key, w.worker_id AS worker FROM hits_grant g JOIN hits_worker w ON w.id = g.worker_id
    WHERE g.project_id = {project} AND g.state = 'granted'"""
_OPTIONS = "SELECT options FROM hits_project WHERE id = {project}"


def run(found: Demonstration) -> Iterator[tuple[str, str]]:
    """(what was checked, what was seen) of each check that holds. Raises CheckFailedError at one that does not."""
    checks: list[Check] = [
        ("Every item published exactly once", published_once),
        ("Every submitted answer harvested", all_harvested),
        ("Texts are the stories that were told", _texts_are_stories),
        ("Target sentences and phrases where they should be", _targets_fit),
        ("Nobody did both parts", _one_part_each),
        ("Questions gathered, none twice, targets hidden", _questions_are_gathered),
        ("Votes on the labels recomputed", _votes_agree),
        ("Correct answers recomputed, incorrect ones are candidates", _selections_agree),
        ("Experts' changes recorded with before and after", _changes_are_recorded),
        ("Every written unit in one line of the funnel", _funnel_adds_up),
        ("No text in two splits", _splits_are_apart),
        ("Human upper bound recomputed", _bound_agrees),
        ("Figures recounted", _figures_agree),
        ("Ledger equals the marketplace's money", money_agrees),
        ("Release read back without a difference", _release_reads_back),
        ("Second release has the same bytes", releases_are_identical),
    ]
    yield from seen(_Evidence(found), checks)


class _Evidence(Evidence):
    def __init__(self, found: Demonstration) -> None:
        super().__init__(found)
        for item in self.items.values():
            item["data"], item["document_data"] = as_json(item["data"]), as_json(item["document_data"])
        self.options = as_json(self.ours(_OPTIONS)[0]["options"])
        self.parts = {row["item"]: as_json(row["parts"]) for row in self.ours(_VERDICTS)}
        self.computed = {row["key"]: as_json(row["data"])["questions"] for row in self.ours(_COMPUTED)}
        self.splits = {name: _with_own_keys(found.releases[-1].folder, name) for name in SPLITS}
        self.manifest = json.loads((found.releases[-1].folder / "manifest.json").read_bytes())

    def stage(self, *stages: str) -> list[Row]:
        return [item for item in self.items.values() if item["stage"] in stages]

    def said(self, *stages: str) -> dict[int, list[tuple[Row, dict[str, str]]]]:
        """Item to (answer, its fields)."""
        return {
            pk: [(row, answer_fields(row["answer"])) for row in rows]
            for stage in stages
            for pk, rows in self.of_stage(stage).items()
        }

    def changes(self) -> dict[str, dict[str, Row]]:
        """Text to the labels of its review, by unit."""
        found: dict[str, dict[str, Row]] = defaultdict(dict)
        for row in self.ours(_LABELS):
            found[self.items[row["item"]]["key"]][row["unit"]] = {**row, "value": as_json(row["value"])}
        return dict(found)


# The checks


def _texts_are_stories(evidence: _Evidence) -> str:
    told = {
        f"{evidence.items[pk]['key']}/{row['assignment_id']}": " ".join(fields["story"].split())
        for pk, answers in evidence.said("story").items()
        for row, fields in answers
    }
    asked = {item["document"]: item["document_data"]["text"] for item in evidence.stage(*PARTS["np"], *PARTS["vp"])}
    if not told:
        return f"{len(asked)} texts came from a file, nobody told any"
    refuse(set(asked) - set(told), "texts that nobody told")
    refuse([key for key in asked if " ".join(asked[key].split()) != told[key]], "texts that differ from what was told")
    return f"{len(told)} stories, {len(asked)} of them with a target sentence, {len(set(told.values()))} different ones"


def _targets_fit(evidence: _Evidence) -> str:
    counts: Counter[str] = Counter()
    for item in evidence.stage(*PARTS["np"], *PARTS["vp"]):
        text, targets = item["document_data"]["text"], item["data"]["targets"]
        part, size = item["stage"].split("-")
        refuse_unequal(f"the size of {item['key']}", size, "long" if len(targets) >= LONG else "short")
        refuse_unequal(f"the part of {item['key']}", part, item["data"]["part"])
        for target in targets:
            sentence = text[target["start"] : target["end"]]
            if not sentence.strip() or len(sentence.split()) > MOST_TOKENS:
                raise CheckFailedError(f"{item['key']}: no target sentence: {sentence!r}")
            outside = [p for p in target["phrases"] if not target["start"] <= p["start"] < p["end"] <= target["end"]]
            refuse(outside, f"phrases outside their sentence in {item['key']}")
        ids = [phrase["id"] for target in targets for phrase in target["phrases"]]
        refuse_unequal(f"the phrases of {item['key']}", ids, [f"p{number}" for number in range(1, len(ids) + 1)])
        counts[f"{part} phrases"] += len(ids)
    texts = {item["document"]: len(item["data"]["targets"]) for item in evidence.stage(*PARTS["np"], *PARTS["vp"])}
    mean = sum(texts.values()) / len(texts)
    listed = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    return f"{sum(texts.values())} target sentences in {len(texts)} texts ({mean:.2f} a text), {listed}"


def _one_part_each(evidence: _Evidence) -> str:
    did = {
        part: {row["worker"] for answers in evidence.said(*stages).values() for row, _ in answers}
        for part, stages in PARTS.items()
    }
    refuse(did["np"] & did["vp"], "workers who did both parts")
    held: dict[str, set[str]] = defaultdict(set)
    for row in evidence.ours(_GRANTS):
        held[row["key"]].add(row["worker"])
    for part, workers in did.items():
        refuse(workers - held[f"part-{part}"], f"workers of the part {part} without its qualification")
    late = len(evidence.held())
    return f"{len(did['np'])} workers asked about things, {len(did['vp'])} others about time; {late} answers held"


def _questions_are_gathered(evidence: _Evidence) -> str:
    asked: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    spans: dict[str, set[tuple[int, int]]] = defaultdict(set)
    for pk, answers in evidence.said(*PARTS["np"], *PARTS["vp"]).items():
        item = evidence.items[pk]
        spans[item["document"]] |= {(target["start"], target["end"]) for target in item["data"]["targets"]}
        for _, fields in answers:
            for name, value in fields.items():
                if re.fullmatch(r"p\d+", name):
                    asked[item["document"]][_folded(value)].add(item["data"]["part"])
    here = {item["document"]: item for item in evidence.stage("answers")}
    refuse(set(asked) ^ set(here), "texts that were asked about and not answered, or the reverse")
    for document, item in here.items():
        questions = {_folded(one["text"]): one["type"] for one in item["data"]["questions"]}
        wanted = min(evidence.options["most_questions"], len(asked[document]))
        refuse_unequal(f"the questions of {document}", len(questions), wanted)
        refuse_unequal(f"the questions of {document}, twice", len(item["data"]["questions"]), wanted)
        strange = [text for text, part in questions.items() if part not in asked[document][text]]
        refuse(strange, f"questions about {document} that nobody asked")
        refuse_unequal(f"what is hidden of {document}", set(map(tuple, item["data"]["hidden"])), spans[document])
    written = sum(map(len, asked.values()))
    return f"{written} different questions written, {sum(len(i['data']['questions']) for i in here.values())} answered"


def _votes_agree(evidence: _Evidence) -> str:
    counts: Counter[str] = Counter()
    for pk, answers in evidence.said("answers").items():
        item = evidence.items[pk]
        expected = {
            one["id"]: _verdict([fields.get(f"{one['id']}_label", "") for _, fields in answers])
            for one in item["data"]["questions"]
        }
        refuse_unequal(f"the verdicts on {item['key']}", evidence.parts[pk], expected)
        counts.update(expected.values())
    answered = sum(len(answers) for answers in evidence.said("answers").values())
    share = sum(counts[label] for label in KEPT) / counts.total()
    words = ", ".join(f"{count} {word}" for word, count in counts.most_common())
    return f"{answered} answers; {words}; {share:.0%} answerable"


def _selections_agree(evidence: _Evidence) -> str:
    ties = selected = answerable = 0
    for pk, answers in evidence.said("answers").items():
        item = evidence.items[pk]
        computed = evidence.computed.get(item["key"], {})
        words = {question: word for question, word in evidence.parts[pk].items() if word in KEPT}
        refuse(set(computed) - set(words), f"answers to questions of {item['key']} that nobody can answer")
        for question, word in words.items():
            own = [fields for _, fields in answers if fields.get(f"{question}_label") in ("text", "script")]
            correct, incorrect = (
                [_one_line(fields[f"{question}_{kind}"]) for fields in own] for kind in ("correct", "incorrect")
            )
            where, found = f"{item['key']} {question}", computed.get(question)
            if found:
                _refuse_wrong(where, found, correct, incorrect)
                refuse_unequal(f"the label of {where}", found["label"], word)
            elif all(_left(incorrect, group) for group in _largest(correct)):
                raise CheckFailedError(f"{where} has no answers, though there are some to choose from")
            ties, selected = ties + bool(found and found["tie"]), selected + bool(found)
        answerable += len(words)
    return f"{selected} of {answerable} answerable questions, {ties} drawn among equals"


def _refuse_wrong(where: str, found: Row, correct: Sequence[str], incorrect: Sequence[str]) -> None:
    largest = _largest(correct)
    winners = [group for group in largest if found["correct"] in group]
    refuse_unequal(f"groups that hold the correct answer of {where}", len(winners), 1)
    refuse_unequal(f"the tie of {where}", found["tie"], len(largest) > 1)
    left = _left(incorrect, winners[0])
    refuse_unequal(f"the candidates of {where}", sorted(found["candidates"]["incorrect"]), sorted(left))
    refuse({found["incorrect"]} - set(left), f"incorrect answers of {where} that are no candidates")


def _changes_are_recorded(evidence: _Evidence) -> str:
    counts: Counter[str] = Counter()
    reviews = {item["key"]: item for item in evidence.stage("review")}
    changes = evidence.changes()
    refuse(set(reviews) ^ set(changes), "texts without a review, or reviews without a text")
    for key, labels in changes.items():
        held = {one["id"]: one for one in reviews[key]["data"]["questions"]}
        counts[f"texts {labels['text']['value']['action']}"] += 1
        for unit, row in labels.items():
            value = row["value"]
            if unit not in held:
                continue
            before = {name: held[unit][name] for name in ("text", "correct", "incorrect")}
            refuse_unequal(f"{key} {unit} before", value["before"], before)
            if value["action"] == "edit" and (value["after"] == before or set(value["after"]) != set(before)):
                raise CheckFailedError(f"{key} {unit} was edited into {value['after']}")
            if value["action"] == "delete" and (value["after"] is not None or not value["reason"]):
                raise CheckFailedError(f"{key} {unit} was deleted without a reason, or not")
            counts[f"questions {value['action']}"] += 1
    experts = {row["worker"] for labels in changes.values() for row in labels.values()}
    return f"{len(experts)} experts; " + ", ".join(f"{count} {what}" for what, count in sorted(counts.items()))


def _funnel_adds_up(evidence: _Evidence) -> str:
    """Questions that differ in case and punctuation alone are one."""
    values = [(evidence.items[row["item"]]["document"], as_json(row["value"])) for row in evidence.ours(_QUESTIONS)]
    asked = {
        (document, " ".join(re.findall(r"\w+", value["question"].casefold())))
        for document, value in values
        if isinstance(value, dict) and "question" in value
    }
    return funnel_adds_up(evidence, len(asked))


def _splits_are_apart(evidence: _Evidence) -> str:
    homes: dict[str, set[str]] = defaultdict(set)
    scenarios: dict[str, set[str]] = defaultdict(set)
    for name, rows in evidence.splits.items():
        for row in rows:
            homes[row["text"]].add(name)
            scenarios[row["scenario"]].add(name)
    refuse([text for text, names in homes.items() if len(names) > 1], "texts in two splits")
    told = [note for note in evidence.manifest["notes"] if note.startswith("In test alone: ")]
    apart = told[0].removeprefix("In test alone: ").rstrip(".").split(", ") if told else []
    refuse([name for name in apart if scenarios[name] - {"test"}], "scenarios of test that another split has")
    return f"{_sizes(evidence)}; in test alone: {', '.join(apart) or 'no scenario'}"


def _bound_agrees(evidence: _Evidence) -> str:
    said: dict[str, dict[tuple[str, str], str]] = defaultdict(dict)
    right: list[float] = []
    for stage in HUMANS:
        correct = []
        for pk, answers in evidence.said(stage).items():
            item = evidence.items[pk]
            for question in item["data"]["questions"]:
                ((_, fields),) = answers
                choice = fields[f"{question['id']}_choice"]
                said[stage][item["key"], question["id"]] = choice
                correct.append(choice == question["intended"])
        if correct:
            right.append(sum(correct) / len(correct))
    if not right:
        return "nobody was asked: test is empty"
    shares = [
        sum(said[a][unit] == said[b][unit] for unit in both) / len(both)
        for a, b in combinations(said, 2)
        if (both := said[a].keys() & said[b].keys())
    ]
    figures = evidence.manifest["statistics"]["test"]
    accuracy, agreement = sum(right) / len(right), sum(shares) / len(shares)
    if abs(figures["human_accuracy"] - accuracy) > 1e-9:
        raise CheckFailedError(f"the accuracy of people: {figures['human_accuracy']} and {accuracy}")
    if abs(figures["human_pairwise_agreement"] - agreement) > 1e-9:
        raise CheckFailedError(f"their agreement: {figures['human_pairwise_agreement']} and {agreement}")
    return f"{len(right)} annotators, accuracy {accuracy:.1%}, pairwise agreement {agreement:.1%}"


def _figures_agree(evidence: _Evidence) -> str:
    rows = [row for name in SPLITS for row in evidence.splits[name]]
    labels = Counter(row["type"] for row in rows)
    kinds = Counter(_first_word(row) for row in rows)
    figures = evidence.manifest["statistics"]["overall"]
    refuse_unequal("questions", figures["questions"], len(rows))
    refuse_unequal("texts", figures["texts"], len({row["id"] for row in rows}))
    for label in KEPT:
        name = f"questions_labelled_{label.replace('-', '_')}"
        refuse_unequal(name, figures[name], labels[label])
    for kind in ("what", "when", "where", "who", "how"):
        refuse_unequal(f"questions with {kind}", figures[f"questions_with_{kind}"], kinds[kind])
        script = sum(row["type"] == "script" for row in rows if _first_word(row) == kind)
        share = figures.get(f"script_share_of_{kind}", 0.0)
        refuse_unequal(f"script questions with {kind}", round(share * kinds[kind], 6), script)
    said = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common(4))
    return f"{len(rows) / figures['texts']:.1f} questions a text, {labels['script'] / len(rows):.0%} script; {said}"


def _first_word(row: Row) -> str:
    return next(iter(re.findall(r"[^\W_]+", row["question"].lower())), "")


def _release_reads_back(evidence: _Evidence) -> str:
    expected = _expected_rows(evidence)
    folder = evidence.found.releases[-1].folder
    for name, rows in evidence.splits.items():
        shown = [{"label": -1, **row} for row in _jsonl(folder / f"{name}.jsonl")]
        refuse_unequal(f"{name}.parquet", pyarrow.parquet.read_table(folder / f"{name}.parquet").to_pylist(), shown)
        refuse_unequal(f"{name}-data.xml", _from_xml(folder / f"{name}-data.xml"), shown)
        for row in rows:
            refuse_unequal(f"{row['id']}, question {row['question_id']}", _plain(row), expected.pop(_key(row), None))
        same = [(release.folder / f"{name}-data.xml").read_bytes() for release in evidence.found.releases]
        refuse_unequal(f"{name}-data.xml before and after the human upper bound", same[0], same[-1])
    refuse(expected, "questions that the release does not have")
    counts = evidence.found.releases[-1].report["counts"]
    refuse_unequal("counts", counts, {name: len(rows) for name, rows in evidence.splits.items()})
    return f"{_sizes(evidence)}, each as XML, JSON Lines and Parquet"


def _expected_rows(evidence: _Evidence) -> dict[tuple[str, str], Row]:
    """What must be released, from verdicts, selected answers and experts' changes."""
    changes = evidence.changes()
    found = {}
    for item in evidence.stage("answers"):
        of = {unit: row["value"] for unit, row in changes.get(item["key"], {}).items()}
        if of.get("text", {"action": "delete"})["action"] == "delete":
            continue
        for question in item["data"]["questions"]:
            data = evidence.computed[item["key"]].get(question["id"]) if item["key"] in evidence.computed else None
            change = of.get(question["id"])
            if data and not (change and change["action"] == "delete"):
                texts = {"text": question["text"], "correct": data["correct"], "incorrect": data["incorrect"]}
                row = {**texts, **(change["after"] if change else {}), "type": data["label"]}
                row["story"] = _without(item["document_data"]["text"], item["data"]["hidden"])
                found[item["document"], question["id"].removeprefix("q")] = row
    return found


# Plain second versions


def _verdict(labels: Sequence[str]) -> str:
    counts = Counter(labels[:WORKERS])
    for label in LABELS:
        if counts[label] >= 3:
            return label
    return "text-or-script" if counts["text"] + counts["script"] >= 3 else "no-majority"


def _normal(answer: str) -> tuple[str, ...]:
    words = re.findall(r"[^\W_]+(?:['\u2019][^\W_]+)*", answer.lower())
    digits = [str(_NUMBERS.index(word)) if word in _NUMBERS else word for word in words]
    return tuple(word for word in digits if word not in ("and", "or", "to", "the", "a")) or tuple(digits)


def _largest(answers: Sequence[str]) -> list[list[str]]:
    groups = _groups(answers)
    return [group for group in groups if len(group) == max(map(len, groups))]


def _left(incorrect: Sequence[str], right: Sequence[str]) -> list[str]:
    """Without what says the same as the right group."""
    forms = {_normal(answer) for answer in right}
    return [answer for answer in incorrect if _normal(answer) not in forms]


def _groups(answers: Sequence[str]) -> list[list[str]]:
    groups: list[list[str]] = []
    for answer in answers:
        near = [group for group in groups if any(_same(answer, other) for other in group)]
        groups = [group for group in groups if group not in near] + [
            [answer, *(one for group in near for one in group)]
        ]
    return groups


def _same(one: str, other: str) -> bool:
    a, b = sorted((_normal(one), _normal(other)), key=len)
    within = any(b[at : at + len(a)] == a for at in range(len(b) - len(a) + 1))
    return within or _edits(" ".join(a), " ".join(b)) < 3


def _edits(one: str, other: str) -> int:
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one, 1):
        before, row[0] = row[0], at
        for place, own in enumerate(other, 1):
            before, row[place] = row[place], min(row[place] + 1, row[place - 1] + 1, before + (letter != own))
    return row[-1]


def _folded(question: str) -> str:
    return " ".join(re.findall(r"\w+", question.casefold()))


def _one_line(text: str) -> str:
    return " ".join(text.splitlines()).strip()


def _without(text: str, hidden: Sequence[Sequence[int]]) -> str:
    kept = "".join(letter for at, letter in enumerate(text) if not any(a <= at < b for a, b in hidden))
    return " ".join(kept.split())


def _plain(row: Row) -> Row:
    """A released row as `_expected_rows` has it."""
    answers = (row["answer0"], row["answer1"])
    texts = {"text": row["question"], "correct": answers[row["label"]], "incorrect": answers[1 - row["label"]]}
    return {**texts, "type": row["type"], "story": " ".join(row["text"].split())}


def _key(row: Row) -> tuple[str, str]:
    return row["id"], row["question_id"]


def _from_xml(file: Path) -> list[Row]:
    rows = []
    for instance in ET.parse(file).getroot():
        head = {"id": instance.get("id"), "scenario": instance.get("scenario", ""), "text": instance.findtext("text")}
        for question in instance.iter("question"):
            answers = question.findall("answer")
            right = [at for at, answer in enumerate(answers) if answer.get("correct") == "True"]
            (label,) = right if "correct" in answers[0].attrib else [-1]
            asked = {"question_id": question.get("id"), "question": question.get("text"), "type": question.get("type")}
            rows.append(
                {**head, **asked, **{f"answer{at}": a.get("text") for at, a in enumerate(answers)}, "label": label}
            )
    return rows


def _sizes(evidence: _Evidence) -> str:
    texts: Mapping[str, int] = {name: len({row["id"] for row in rows}) for name, rows in evidence.splits.items()}
    return ", ".join(f"{name} {len(rows)} on {texts[name]} texts" for name, rows in evidence.splits.items())


def _with_own_keys(folder: Path, name: str) -> list[Row]:
    """The rows of a split with the project's keys in place of numbers, and the labels that lie in the key."""
    keys = {(row["split"], row["id"], row["question_id"]): row for row in _csv(folder / "ids.csv")}
    labels = {
        (row["id"], row["question_id"]): int(row["label"])
        for row in _csv(folder.with_name(f"{folder.name}-test-key.csv"))
    }
    found = []
    for row in _jsonl(folder / f"{name}.jsonl"):
        own = keys[name, row["id"], row["question_id"]]
        label = row["label"] if "label" in row else labels[row["id"], row["question_id"]]
        found.append({**row, "label": label, "id": own["text"], "question_id": own["question"]})
    return found


def _csv(file: Path) -> list[Row]:
    with file.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def _jsonl(file: Path) -> list[Any]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
