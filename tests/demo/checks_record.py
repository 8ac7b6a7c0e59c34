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
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path

from scipy.stats import binomtest

from hits.formats.inputs import record
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
    requester,
    seen,
    select,
)


def run(found: Demonstration) -> Iterator[tuple[str, str]]:
    """(what was checked, what was seen) of each check that holds. Raises CheckFailedError at one that does not."""
    made: list[Check] = [
        ("Passages and dropped sentences recomputed", _sentences_agree),
        ("Exactly the queries that no reader answered are sent", _filtered_agree),
    ]
    checks: list[Check] = [
        *(made if "articles" in found.started else []),
        ("Every item published exactly once", published_once),
        ("Every submitted answer harvested", all_harvested),
        ("Exactly the planted spammers blocked", _spammers_blocked),
        ("Their items answered by others", _answered_by_others),
        ("Ledger equals the marketplace's money", money_agrees),
        ("Every written unit in one line of the funnel", _funnel_adds_up),
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
_POLICY = "SELECT quality FROM hits_stage WHERE project_id = {project} AND key = 'validate'"
_SCORES = """
    SELECT m.scores FROM hits_stagesummary m JOIN hits_stage s ON s.id = m.stage_id
    WHERE s.project_id = {project} AND s.key = 'human'"""


# The checks


def _spammers_blocked(evidence: _Evidence) -> str:
    blocked, planted = evidence.blocked(), evidence.found.of_kind("spammer")
    lucky = {worker for worker in planted - blocked if not _is_too_low(evidence, worker)}
    refuse(planted - blocked - lucky, "spammers who are not blocked")
    refuse(blocked - planted, "honest workers who are blocked")
    granted = set()
    for row in evidence.ours(_QUALIFICATION):
        pages = requester(evidence.found.settings).get_paginator("list_workers_with_qualification_type")
        for page in pages.paginate(QualificationTypeId=row["id"], Status="Granted"):
            granted |= {holder["WorkerId"] for holder in page["Qualifications"]}
    refuse(granted ^ blocked, "workers whose block and qualification disagree")
    others = f"; by their answers not to be told from others: {', '.join(sorted(lucky))}" if lucky else ""
    return (", ".join(sorted(blocked)) or "nobody") + others


def _is_too_low(evidence: _Evidence, worker: str) -> bool:
    """Whether the worker's first validations, however many, are right less often than the floor, and so seldom that an
    average worker would have as few with a probability below alpha.
    """
    (stage,) = evidence.ours(_POLICY)
    policy = as_json(stage["quality"])
    items = {hit["id"]: hit["item"] for hit in evidence.hits if evidence.items[hit["item"]]["stage"] == "validate"}
    answers = sorted((one for one in evidence.answers if one["hit"] in items), key=lambda one: one["submitted"])
    right = [(one["worker"], evidence.is_right(items[one["hit"]], one)) for one in answers]
    average = sum(is_right for _, is_right in right) / len(right)
    counts = enumerate(accumulate(is_right for who, is_right in right if who == worker), start=1)
    return any(
        count / n < policy["floor"] and binomtest(count, n, average, alternative="less").pvalue < policy["alpha"]
        for n, count in counts
        if n >= policy["min_answers"]
    )


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


def _funnel_adds_up(evidence: _Evidence) -> str:
    """Of articles, those that were not sent are recomputed above."""
    is_made = "articles" in evidence.found.started
    return funnel_adds_up(
        evidence, None if is_made else sum(item["stage"] == "validate" for item in evidence.items.values())
    )


def _release_reads_back(evidence: _Evidence) -> str:
    release = evidence.found.releases[0]
    counts = {}
    key_file = release.folder.with_name(f"{release.folder.name}-test-key.json")
    files = {"train": release.folder / "train.json", "dev": release.folder / "dev.json", "test": key_file}
    for split, file in files.items():
        documents = record.read(io.BytesIO(file.read_bytes()))
        counts[split] = sum(len(document.queries) for document in documents)
        for document in documents:
            _refuse_changed(document, evidence.texts[document.key], is_hidden=split == "test")
    shown, key = (json.loads(file.read_bytes()) for file in (release.folder / "test.json", key_file))
    for document in key["data"]:
        for qa in document["qas"]:
            del qa["answers"]
    refuse_unequal("test, and its key without answers", shown, key)
    refuse_unequal("queries in the files and in the manifest", counts, release.report["counts"])
    return ", ".join(f"{name} {count}" for name, count in counts.items())


def _refuse_changed(document: record.Document, source: Row, *, is_hidden: bool) -> None:
    spans = [{"start": span.start, "end": span.end} for span in document.entities]
    passage = {"text": document.text, "entities": spans}
    refuse_unequal(f"the passage of {document.key}", passage, source["passage"])
    refuse_unequal(f"the source of {document.key}", document.source, source["source"])
    for query in document.queries:
        (wanted,) = [qa for qa in source["qas"] if qa["query"] == query.query]
        answers = [answer._asdict() for answer in query.answers]
        refuse_unequal(f"the answers of query {query.key}", answers, wanted["answers"])
        # In test the id of a generated query is another one, for its own names the entity that answers it.
        if not (is_hidden and re.search(r"/s\d+-e\d+$", wanted["id"])):
            refuse_unequal(f"the id of “{query.query}”", query.key, wanted["id"])


# From articles to queries

_MADE = """
    SELECT m.made FROM hits_stagesummary m JOIN hits_stage s ON s.id = m.stage_id
    WHERE s.project_id = {project} AND s.key = 'generate'"""
_PREDICTED = """
    SELECT i.key, r.data FROM hits_computationresult r JOIN hits_item i ON i.id = r.item_id
    JOIN hits_computationrun n ON n.id = r.run_id WHERE n.project_id = {project} AND n.key = 'filter'"""
_SENT = """
    SELECT i.key, i.data, d.data AS passage, d.key AS document FROM hits_item i
    JOIN hits_stage s ON s.id = i.stage_id JOIN hits_document d ON d.id = i.document_id
    WHERE s.project_id = {project} AND s.key = 'validate' ORDER BY i.id"""


def files_of(folder: Path) -> list[Path]:
    """The articles that lie in a folder."""
    return sorted(folder.glob("*.story"))


def examples_of(settings: Mapping[str, str], project: int) -> list[Row]:
    """What was sent to people, as lines of a ReCoRD file, from the rows themselves."""
    url, file = settings.get("DATABASE_URL", ""), Path(settings["DATA_DIR"]) / "annotate.sqlite3"
    found: dict[str, Row] = {}
    for row in select(url, file, _SENT.format(project=project)):
        passage, data = as_json(row["passage"]), as_json(row["data"])
        entities = [{"start": start, "end": end} for start, end in passage["entities"]]
        example = {
            "id": row["document"],
            "source": passage["source"],
            "passage": {"text": passage["text"], "entities": entities},
            "qas": [],
        }
        query = {"id": row["key"], "query": data["query"], "answers": data["answers"]}
        found.setdefault(row["document"], example)["qas"].append(query)
    return list(found.values())


def _sentences_agree(evidence: _Evidence) -> str:
    """Each passage is what stands in the files, and each condition drops what a second version of it drops."""
    told: Counter[str] = Counter()
    texts = list(_article_texts(Path(evidence.found.started["articles"])))
    for row in _made_items(evidence):
        data = as_json(row["data"])
        lead, *bullets = data["text"].split("\n@highlight\n")
        if len(lead.split()) < 100 or len({one["entity"] for one in data["mentions"]}) < 4:
            raise CheckFailedError(f"the lead of {row['key']} has too few tokens or entities")
        lines = [*lead.split("\n"), *bullets, *(one["text"] for one in data["sentences"])]
        if not any(all(_squeezed(line) in text for line in lines) for text in texts):
            raise CheckFailedError(f"the passage and sentences of {row['key']} stand in no article")
        known = {one["entity"] for one in data["mentions"]}
        grams = {gram for line in [*lead.split("\n"), *bullets] for gram in _grams(line)}
        for sentence in data["sentences"]:
            code = _dropped(sentence, grams, known)
            # Whether an entity is shown elsewhere in the sentence, only the product says.
            if code != sentence["dropped"] and (code or sentence["dropped"] != "shows_answer"):
                raise CheckFailedError(f"{row['key']}: “{sentence['text']}” is {sentence['dropped']!r}, not {code!r}")
            told[sentence["dropped"] or "kept"] += 1
    ((row),) = evidence.ours(_MADE)
    said = {name: number for name, number in as_json(row["made"]).items() if number}
    refuse_unequal("sentences by what dropped them", dict(told), {name: said[name] for name in told})
    refuse_unequal("sentences", told.total(), said["sentences"])
    return ", ".join(f"{name} {number}" for name, number in told.most_common())


def _made_items(evidence: _Evidence) -> list[Row]:
    return [row for row in evidence.items.values() if row["stage"] == "generate"]


def _article_texts(given: Path) -> Iterator[str]:
    """The words of each article, however they are parted."""
    for file in files_of(given) if given.is_dir() else []:
        yield _squeezed(file.read_text(encoding="utf-8"))
    if given.suffix == ".txt":
        yield from map(_squeezed, given.read_text(encoding="utf-8").splitlines())
    if given.suffix == ".jsonl":
        for line in given.read_text(encoding="utf-8").splitlines():
            article = json.loads(line)
            yield _squeezed(" ".join([*article["paragraphs"], *article.get("highlights", [])]))


def _squeezed(text: str) -> str:
    """Without spaces: sentences that stand together without one have one in a passage."""
    return "".join(text.split())


def _grams(line: str) -> set[tuple[str, ...]]:
    tokens = line.split()
    return {tuple(tokens[at : at + 3]) for at in range(len(tokens) - 2)}


def _dropped(sentence: Row, grams: set[tuple[str, ...]], known: set[int]) -> str:
    text, entities = sentence["text"], [one["entity"] for one in sentence["mentions"]]
    if len(text.split()) < 10:
        return "short"
    if text.rstrip("\"'\u2019\u201d)] ").endswith("?"):
        return "question"
    if _grams(text) & grams:
        return "overlap"
    if not entities:
        return "no_entity"
    return "" if all(entity in known for entity in entities) else "no_antecedent"


def _filtered_agree(evidence: _Evidence) -> str:
    """A prediction is right if it is, normalised, one of the passage's mentions of the entity that was blanked."""
    predicted = {row["key"]: as_json(row["data"])["queries"] for row in evidence.ours(_PREDICTED)}
    wanted, right, asked = set(), 0, 0
    for row in _made_items(evidence):
        data = as_json(row["data"])
        for query, told in predicted.get(row["key"], {}).items():
            number, entity = re.fullmatch(r"s(\d+)-e(\d+)", query).groups()  # type: ignore[union-attr]
            if data["sentences"][int(number)]["dropped"]:
                raise CheckFailedError(f"{row['key']}/{query} is of a sentence that was dropped")
            names = [data["text"][o["start"] : o["end"]] for o in data["mentions"] if o["entity"] == int(entity)]
            is_right = squad(told["prediction"]) in [squad(name) for name in names]
            refuse_unequal(f"the reader's answer to {row['key']}/{query}", is_right, told["correct"])
            asked, right = asked + 1, right + is_right
            wanted |= set() if is_right else {f"{row['key']}/{query}"}
    there = {row["key"] for row in evidence.items.values() if row["stage"] == "validate"}
    refuse(wanted ^ there, "queries that were sent although a reader answered them, or the other way round")
    return f"{asked} queries, {right} answered by the reader, {len(there)} sent to people"


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
