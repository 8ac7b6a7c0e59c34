"""Readers of the three published data sets, written from their public descriptions and not from this project's code.

Each takes the folder that a data set was unpacked into, finds its files by their published names, and touches only what
is described: ReCoRD's and SuperGLUE's JSON, Cosmos QA's CSV with JSON Lines for test, MCScript2.0's XML.
"""

import collections
import csv
import json
import re
import string
import xml.etree.ElementTree


def record(folder, split):
    """(query id, passage, its entities' texts, query, answers' texts, None where the file tells none)."""
    with open(folder / f"{split}.json", encoding="utf-8") as file:
        dataset = json.load(file)
    assert isinstance(dataset["version"], str)
    for article in dataset["data"]:
        text = article["passage"]["text"]
        entities = [text[entity["start"] : entity["end"] + 1] for entity in article["passage"]["entities"]]
        for question in article["qas"]:
            assert question["query"].count("@placeholder") == 1
            answers = None
            if "answers" in question:
                answers = [answer["text"] for answer in question["answers"]]
                for answer in question["answers"]:
                    assert text[answer["start"] : answer["end"] + 1] == answer["text"]
            yield question["id"], text, entities, question["query"], answers


def superglue_record(folder, split):
    """(passage number, query number, passage, sorted entities, query, answers)."""
    with open(folder / f"{split}.jsonl", encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            text = row["passage"]["text"]
            entities = {text[entity["start"] : entity["end"] + 1] for entity in row["passage"]["entities"]}
            for question in row["qas"]:
                answers = {answer["text"] for answer in question.get("answers", [])}
                yield int(row["idx"]), int(question["idx"]), text, sorted(entities), question["query"], sorted(answers)


def cosmos(folder, split):
    """Rows of the published columns; the label of test is -1."""
    if split == "test":
        with open(folder / "test.jsonl", encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
    else:
        with open(folder / {"train": "train.csv", "dev": "valid.csv"}[split], encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    columns = ("id", "context", "question", "answer0", "answer1", "answer2", "answer3")
    return [{**{name: row[name] for name in columns}, "label": int(row.get("label", -1))} for row in rows]


def mcscript(folder, split):
    """(text number, scenario, text, question number, question, type, answers, the correct one's number or None)."""
    for instance in xml.etree.ElementTree.parse(folder / f"{split}-data.xml").getroot().iter("instance"):
        number, scenario, text = int(instance.attrib["id"]), instance.attrib["scenario"], instance.find("text").text
        for question in instance.find("questions").iter("question"):
            answers = sorted(question.iter("answer"), key=lambda answer: int(answer.attrib["id"]))
            right = [at for at, answer in enumerate(answers) if answer.attrib.get("correct") == "True"]
            texts = [answer.attrib["text"] for answer in answers]
            asked = (int(question.attrib["id"]), question.attrib["text"], question.attrib["type"])
            yield (number, scenario, text, *asked, texts, right[0] if right else None)


# Scoring, as the papers describe it


def _plain(text):
    kept = "".join(letter for letter in text.lower() if letter not in string.punctuation)
    return re.sub(r"\b(a|an|the)\b", " ", kept).split()


def _f1(said, wanted):
    shared = sum((collections.Counter(_plain(said)) & collections.Counter(_plain(wanted))).values())
    if not shared:
        return 0.0
    precision, recall = shared / len(_plain(said)), shared / len(_plain(wanted))
    return 2 * precision * recall / (precision + recall)


def record_scores(folder, predictions, key="test-key"):
    """(EM, F1) in percent over the queries of a file with answers; a query without a prediction scores 0."""
    exact = f1 = total = 0.0
    for id, _, _, _, answers in record(folder, key):
        total += 1
        if id in predictions:
            exact += max(_plain(predictions[id]) == _plain(answer) for answer in answers)
            f1 += max(_f1(predictions[id], answer) for answer in answers)
    return 100 * exact / total, 100 * f1 / total
