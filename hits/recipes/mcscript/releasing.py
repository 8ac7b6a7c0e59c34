"""The data set that comes of it: experts' changes made, texts split, files written (sections 4, 5 and 5.2).

A text is released without its hidden sentences. Nothing stored is changed: each release makes the experts' changes
anew, to the questions and answers as the experts saw them, whatever was computed since. No text is in memory longer
than it takes to write it.
"""

from __future__ import annotations

import io
import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import chain
from tempfile import TemporaryFile
from typing import Any, BinaryIO

from hits.formats.inputs import mcscript
from hits.formats.outputs.tables import Format, Type, write_all, write_csv
from hits.recipes.artefacts import of_tables
from hits.recipes.dealing import Earlier, digest_of
from hits.recipes.mcscript.asking import ANSWERS, STORY, is_withdrawn, standing_stories, written_questions
from hits.recipes.mcscript.charting import labels_chart, types_chart
from hits.recipes.mcscript.scoring import KEY_COLUMNS, KEY_FILE
from hits.recipes.mcscript.selecting import REVIEW, SELECT, answerable, selected
from hits.recipes.mcscript.splitting import SPLITS, Split, ToldText, split
from hits.recipes.source import (
    Collected,
    GivenLabel,
    Json,
    JudgedItem,
    NextItem,
    ReleaseContent,
    ReleasedItem,
    ToldItem,
)
from hits.stats.human_bound import human_bound, plan
from hits.text.figures.question_statistics import AskedQuestion, QuestionTally, together
from hits.text.figures.statistics import OVERALL
from hits.text.questions.hiding import visible
from hits.text.written import alike

COLUMNS: dict[str, Type] = {
    "id": "string",
    "scenario": "string",
    "text": "string",
    "question_id": "string",
    "question": "string",
    "type": "string",
    "answer0": "string",
    "answer1": "string",
    "label": "int64",
}
_TABLES: tuple[Format, ...] = ("jsonl", "parquet")
IDS_FILE = "ids.csv"
HIDDEN = -1
# The note of a text of a scenario that test has alone.
APART = "apart"
_WORDS = {"": "without a label", "no-majority": "no clear majority"}
_CHANGED = {
    "text": "questions_reworded_by_experts",
    "correct": "correct_answers_exchanged_by_experts",
    "incorrect": "incorrect_answers_exchanged_by_experts",
}


@dataclass(frozen=True)
class ReleasedQuestion:
    """`number` is its id without the letter, `type` its label; `answers[right]` is the correct one."""

    number: str
    text: str
    type: str
    answers: tuple[str, str]
    right: int


@dataclass(frozen=True)
class ReleasedText:
    key: str
    scenario: str
    text: str
    questions: tuple[ReleasedQuestion, ...]


@dataclass(frozen=True)
class _Released:
    """A text with the item that it comes from; `digest` is the same for texts that were the same before hiding."""

    item: JudgedItem
    digest: str
    text: ReleasedText


@dataclass(frozen=True)
class Passed:
    """What one pass over all texts counts: what is not released, by reason, and what experts changed in the rest."""

    left_out: Counter[str] = field(default_factory=Counter)
    changed: Counter[str] = field(default_factory=Counter)


# From items to released texts


def released(collected: Collected, passed: Passed) -> Iterator[_Released]:
    """Every text with a question left, in the order of the stage."""
    standing = standing_stories(collected)
    left_out = passed.left_out
    for item, review, reviewed in _with_reviews(collected):
        if is_withdrawn(item, standing):
            left_out["texts whose story was rejected"] += 1
            left_out["questions of texts whose story was rejected"] += len(item.data["questions"])
            continue
        questions = _reviewed(item, review, passed) if reviewed else _selected(item, left_out)
        if questions is None:
            continue
        text = _text(item, questions, collected.pseudonym_key)
        if not questions:
            left_out["texts without a question left"] += 1
        elif not _can_be_written(text):
            left_out["texts with characters that XML cannot hold"] += 1
            left_out["questions of texts with characters that XML cannot hold"] += len(questions)
        else:
            yield _Released(item, digest_of(item.document["text"]), text)


def _count_earlier(collected: Collected, left_out: Counter[str]) -> int:
    """How many different questions were written; counts those that nobody was asked to answer, and the texts that came
    no further than stories or questions.
    """
    told = standing_stories(collected)
    # Stories lead on together, when a scenario has all of them.
    waiting = {item.key for item in collected.judged(STORY) if item.outcome != "kept"}
    questions, rejected = written_questions(collected, told)
    standing, answered, written = questions.keys() - rejected, set[str](), 0
    most = collected.options["most_questions"]
    for item in collected.judged(ANSWERS):
        answered.add(item.document_key)
        asked = {alike(question["text"]) for question in item.data["questions"]}
        others = len(questions.get(item.document_key, set()) - asked)
        written += len(item.data["questions"]) + others
        is_full = len(asked) >= most
        why = (
            f"beyond the {most} that a text has answered"
            if is_full
            else "written after their text was drawn for answers"
        )
        _count(left_out, f"questions {why}", others)
    for key in questions.keys() - answered:
        why = "whose story was rejected" if key in rejected else "that were not drawn for answers"
        _count(left_out, f"questions of texts {why}", len(questions[key]))
        written += len(questions[key])
    without = [key for key in told - standing - answered if key.rpartition("/")[0] not in waiting]
    _count(left_out, "stories without a target sentence", len(without))
    _count(left_out, "texts whose questions were not drawn for answers", len(standing - answered))
    return written


def _with_reviews(collected: Collected) -> Iterator[tuple[JudgedItem, JudgedItem | None, bool]]:
    """(text, its review, whether any text is reviewed); both stages come in the same order."""
    reviews = collected.judged(REVIEW, labels=True)
    upcoming = next(reviews, None)
    reviewed = upcoming is not None
    for item in collected.judged(ANSWERS, computation=SELECT):
        review = None
        if upcoming is not None and upcoming.key == item.key:
            review, upcoming = upcoming, next(reviews, None)
        yield item, review, reviewed
    if upcoming is not None:
        raise RuntimeError(f"The review of {upcoming.key} is about no text that was answered.")


def _selected(item: JudgedItem, left_out: Counter[str]) -> list[Json] | None:
    """What was answerable and got its answers; None for a text that has to wait for them."""
    if item.outcome == "open":
        left_out["questions not answered yet"] += len(item.data["questions"])
        return None
    labels = answerable(item)
    for question in item.data["questions"]:
        if question["id"] not in labels:
            word = item.parts.get(question["id"], "")
            left_out[f"questions: {_WORDS.get(word, word)}"] += 1
    if labels and item.computed is None:
        left_out["questions whose answers were not selected yet"] += len(labels)
        return None
    questions = selected(item)
    _count(left_out, "questions without an incorrect answer", len(labels) - len(questions))
    return questions


def _reviewed(item: JudgedItem, review: JudgedItem | None, passed: Passed) -> list[Json] | None:
    """What the experts left, as they left it; None for a text that waits for them, or that they deleted."""
    questions = _selected(item, passed.left_out)
    if not questions:
        return questions
    if review is None or review.outcome != "kept":
        passed.left_out["questions not reviewed yet"] += len(questions)
        return None
    changes = _changes(review.labels)
    of_text = changes.get("text") or {"action": "keep"}
    if of_text["action"] == "delete":
        passed.left_out[f"texts that experts deleted: {of_text['reason']}"] += 1
        passed.left_out["questions of texts that experts deleted"] += len(questions)
        return None
    seen = _as_seen(review, questions)
    _count(passed.left_out, "questions not reviewed yet", len(questions) - len(seen))
    return [changed for one in seen if (changed := _changed(one, changes.get(one["id"]), passed)) is not None]


def _count(counts: Counter[str], name: str, times: int) -> None:
    """Nothing is named of which there is none."""
    if times:
        counts[name] += times


def _as_seen(review: JudgedItem, questions: Iterable[Json]) -> list[Json]:
    """Those that the expert saw, worded and answered as they were then, with the labels of today."""
    shown = {one["id"]: one for one in review.data["questions"]}
    return [{**shown[one["id"]], "label": one["label"]} for one in questions if one["id"] in shown]


def _changes(labels: Iterable[GivenLabel]) -> dict[str, Json]:
    """By unit, of the expert who was first; changes that a lead took back are not among the labels."""
    found = list(labels)
    return {label.unit: label.value for label in found if label.assignment == found[0].assignment}


def _changed(question: Json, change: Json | None, passed: Passed) -> Json | None:
    if change is None:
        return question
    if change["action"] == "delete":
        passed.left_out[f"questions that experts deleted: {change['reason']}"] += 1
        return None
    changed = {**question, **change["after"]}
    for part, name in _CHANGED.items():
        passed.changed[name] += changed[part] != question[part]
    return changed


def _text(item: JudgedItem, questions: Iterable[Json], secret: str) -> ReleasedText:
    text = visible(item.document["text"], item.data["hidden"])
    asked = tuple(_question(item.key, question, secret) for question in questions)
    return ReleasedText(item.document_key, item.document["scenario"], text, asked)


def _question(item: str, question: Json, secret: str) -> ReleasedQuestion:
    """Whether the correct answer stands first, a secret of the project decides: seed and keys are published."""
    answers = (question["correct"], question["incorrect"])
    right = random.Random(f"order {secret} {item} {question['id']}").randrange(2)
    placed = answers if right == 0 else answers[::-1]
    return ReleasedQuestion(question["id"].removeprefix("q"), question["text"], question["label"], placed, right)


def _can_be_written(text: ReleasedText) -> bool:
    try:
        mcscript.write([_instance(text)], io.BytesIO())
    except ValueError:
        return False
    return True


# Splitting and drawing


def split_of(collected: Collected, passed: Passed) -> Split:
    options, earlier = collected.options, Earlier(collected.released())

    def told(one: _Released) -> ToldText:
        stood = earlier.of_item(one.item.key) | earlier.of_group(one.digest)
        return ToldText(one.digest, one.text.scenario, stood, earlier.note(one.item.key) == APART)

    return split(
        map(told, released(collected, passed)),
        scenarios=options["test_scenarios"],
        test_share=options["test_share"],
        dev_share=options["dev_share"],
        seed=collected.seed,
    )


def humans(collected: Collected) -> list[str]:
    """The stages of the annotators, by their keys."""
    return [f"human-{number}" for number in range(1, collected.options["annotators"] + 1)]


def draw_human(stage: str, collected: Collected, count: int, *, seed: int) -> list[NextItem]:
    """The texts of test that this annotator reads, as they are released: as many as an option says, at most `count`.

    Options, count, seed and the texts of test decide who reads what: draw with the same count for each annotator.
    """
    found = split_of(collected, Passed())
    test = [one for one in released(collected, Passed()) if found.part(one.digest) == "test"]
    annotators, each = humans(collected), min(count, collected.options["annotator_texts"])
    common = min(collected.options["common_texts"], each)
    plans = plan([one.item.key for one in test], annotators=len(annotators), each=each, common=common, seed=seed)
    mine = set(plans[annotators.index(stage)])
    return [
        NextItem(stage, one.item.key, _to_read(one), parent=(ANSWERS, one.item.key))
        for one in test
        if one.item.key in mine
    ]


def _to_read(one: _Released) -> Json:
    questions = [
        {
            "id": f"q{question.number}",
            "text": question.text,
            "answers": [{"id": f"a{place}", "text": text} for place, text in enumerate(question.answers)],
            "intended": f"a{question.right}",
        }
        for question in one.text.questions
    ]
    return {"hidden": one.item.data["hidden"], "questions": questions}


def _human_figures(collected: Collected) -> Json:
    """M10, flat; nothing without an answer. Annotators are told apart by their stages."""
    said: dict[str, dict[str, str]] = {}
    intended: dict[str, str] = {}
    texts: set[str] = set()
    for stage in humans(collected):
        for item in collected.judged(stage, labels=True):
            own = _changes(item.labels)
            for question in item.data["questions"]:
                if (choice := own.get(f"{question['id']}/choice")) is not None:
                    unit = f"{item.key} {question['id']}"
                    intended[unit] = question["intended"]
                    said.setdefault(stage, {})[unit] = str(choice)
                    texts.add(item.key)
    if not said:
        return {}
    bound = human_bound(said, intended)
    return {
        "human_annotators": len(said),
        "human_texts": len(texts),
        "human_accuracy": bound.accuracy,
        "human_pairwise_agreement": bound.agreement,
        "human_krippendorff_alpha": bound.alpha,
    }


# Files


def build_release(collected: Collected) -> ReleaseContent:
    """Each split as XML, JSON Lines and Parquet, figures of its questions, and two charts.

    Names, layout and numbers are those of the published files. Test has no labels; those are in a file of their own,
    and its table in Parquet has the label -1, so that the splits have the same columns.
    """
    passed = Passed()
    found = split_of(collected, passed)
    written = _count_earlier(collected, passed.left_out)
    tallies = {name: QuestionTally() for name in SPLITS}
    with ExitStack() as stack:
        spools: dict[str, BinaryIO] = {name: stack.enter_context(TemporaryFile()) for name in SPLITS}
        # Counted by the first pass.
        for one in released(collected, Passed()):
            name = found.part(one.digest)
            if name not in SPLITS:
                passed.left_out[f"questions {name}"] += len(one.text.questions)
                continue
            spools[name].write(json.dumps(asdict(one.text), ensure_ascii=False).encode() + b"\n")
            tallies[name].add(one.text.text, map(_asked, one.text.questions))
        ids = collected.options["ids"]
        files = dict(chain.from_iterable(_files(name, spools[name], ids).items() for name in SPLITS))
        if ids == "numbers":
            files[IDS_FILE] = _ids_file(spools)
    overall = together(tallies.values())
    statistics = {name: tally.figures() for name, tally in {**tallies, OVERALL: overall}.items()}
    statistics[OVERALL] |= {name: passed.changed[name] for name in _CHANGED.values() if passed.changed}
    statistics["test"] |= _human_figures(collected)
    charts = {"question-types.svg": types_chart(overall), "question-labels.svg": labels_chart(overall)}
    counts = {name: int(statistics[name]["questions"] or 0) for name in SPLITS}
    lines = {why: count for why, count in passed.left_out.items() if why.startswith("questions")}
    return ReleaseContent(
        files={**files, **{name: io.BytesIO(chart.encode()) for name, chart in charts.items()}},
        counts=counts,
        left_out=dict(passed.left_out),
        written=("different questions", written),
        funnel={**lines, **{f"released in {name}": count for name, count in counts.items()}},
        statistics=statistics,
        notes=(*found.notes, *_notes(collected, found, passed.left_out)),
        check=partial(_artefacts, files),
        tables={"questions": {name: f"{name}.parquet" for name in SPLITS if statistics[name]["questions"]}},
        told={ANSWERS: partial(_told, collected, found)},
        splits=partial(_splits, collected, found),
    )


def _splits(collected: Collected, found: Split) -> Iterator[ReleasedItem]:
    for one in released(collected, Passed()):
        if (name := found.part(one.digest)) in SPLITS:
            yield ReleasedItem(one.item.key, one.digest, name, APART if one.text.scenario in found.apart else "")


def _told(collected: Collected, found: Split) -> Iterator[ToldItem]:
    """The texts of train and dev with those of their questions that are released; the labels of test are hidden."""
    for one in released(collected, Passed()):
        if (name := found.part(one.digest)) in ("train", "dev"):
            yield ToldItem(one.item.key, name, frozenset(f"q{question.number}" for question in one.text.questions))


def _artefacts(files: Mapping[str, BinaryIO]) -> Json:
    tables = {name: f"{name}.jsonl" for name in SPLITS}
    return of_tables(files, tables, KEY_FILE, text="text", answers=("answer0", "answer1"))


def _asked(question: ReleasedQuestion) -> AskedQuestion:
    correct, incorrect = question.answers[question.right], question.answers[1 - question.right]
    return AskedQuestion(question.text, question.type, correct, incorrect)


def _files(name: str, spool: BinaryIO, ids: str) -> dict[str, BinaryIO]:
    """The split in each format, from its spooled texts; of test without labels, and its key."""
    texts = partial(_texts, spool, ids)
    # Whoever stores the release reads them, so they outlive this function.
    xml: BinaryIO = TemporaryFile()  # noqa: SIM115
    tables: dict[Format, BinaryIO] = {form: TemporaryFile() for form in _TABLES}  # noqa: SIM115
    files = {f"{name}-data.xml": xml, **{f"{name}.{form}": stream for form, stream in tables.items()}}
    mcscript.write(map(_instance, texts()), xml, told=name != "test")
    if name != "test":
        write_all(_all_rows(texts()), list(COLUMNS), COLUMNS, tables)
        return files
    shown = {column: kind for column, kind in COLUMNS.items() if column != "label"}
    write_all(_cut(_all_rows(texts()), list(shown)), list(shown), shown, {"jsonl": tables["jsonl"]})
    hidden = ({**row, "label": HIDDEN} for row in _all_rows(texts()))
    write_all(hidden, list(COLUMNS), COLUMNS, {"parquet": tables["parquet"]})
    key = files[KEY_FILE] = TemporaryFile()  # noqa: SIM115
    write_csv(_cut(_all_rows(texts()), KEY_COLUMNS), KEY_COLUMNS, key)
    return files


def _cut(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    return ({column: row[column] for column in columns} for row in rows)


def _texts(spool: BinaryIO, ids: str) -> Iterator[ReleasedText]:
    """With the numbers that published files have, from 0 in each of them, or with the keys of the project."""
    for at, text in enumerate(_spooled(spool)):
        yield text if ids == "keys" else _numbered(text, at)


def _numbered(text: ReleasedText, at: int) -> ReleasedText:
    questions = tuple(replace(one, number=str(number)) for number, one in enumerate(text.questions))
    return replace(text, key=str(at), questions=questions)


def _spooled(spool: BinaryIO) -> Iterator[ReleasedText]:
    spool.seek(0)
    for line in spool:
        found = json.loads(line)
        questions = [ReleasedQuestion(**{**one, "answers": tuple(one["answers"])}) for one in found["questions"]]
        yield ReleasedText(found["key"], found["scenario"], found["text"], tuple(questions))


def _ids_file(spools: Mapping[str, BinaryIO]) -> BinaryIO:
    """Which text and question of the project each number stands for."""
    stream: BinaryIO = TemporaryFile()  # noqa: SIM115
    rows = (
        {"split": name, "id": str(at), "question_id": str(number), "text": text.key, "question": one.number}
        for name, spool in spools.items()
        for at, text in enumerate(_spooled(spool))
        for number, one in enumerate(text.questions)
    )
    write_csv(rows, ("split", "id", "question_id", "text", "question"), stream)
    return stream


def _all_rows(texts: Iterable[ReleasedText]) -> Iterator[Mapping[str, Any]]:
    return chain.from_iterable(map(_rows, texts))


def _instance(text: ReleasedText) -> mcscript.Instance:
    return mcscript.Instance(text.key, text.scenario, text.text, tuple(map(_xml_question, text.questions)))


def _xml_question(one: ReleasedQuestion) -> mcscript.Question:
    answers = (mcscript.Answer(str(at), text, at == one.right) for at, text in enumerate(one.answers))
    return mcscript.Question(one.number, one.text, one.type, tuple(answers))


def _rows(text: ReleasedText) -> Iterator[Mapping[str, Any]]:
    for one in text.questions:
        answers = {f"answer{at}": answer for at, answer in enumerate(one.answers)}
        asked = {"question_id": one.number, "question": one.text, "type": one.type, **answers, "label": one.right}
        yield {"id": text.key, "scenario": text.scenario, "text": text.text, **asked}


def _notes(collected: Collected, found: Split, left_out: Mapping[str, int]) -> Iterator[str]:
    if found.apart:
        yield f"In test alone: {', '.join(found.apart)}."
    if not any(True for _ in collected.judged(REVIEW)):
        yield "No expert has looked through the questions: draw the review, and release again when it is done."
    if left_out["questions whose answers were not selected yet"]:
        yield "Some questions have no answers yet: run the computation “Answers”, then release again."
