"""Which correct and which incorrect answer a question gets, and what experts are shown of it.

Source: Ostermann et al. (2019), MCScript2.0, section 3.4: the correct answer that most workers gave
(`hits.text.questions.answer_merging`), and of the incorrect ones that which a shallow classifier takes for correct most
easily (`hits.text.filtering.adversarial_filtering`). Incorrect answers that say what the correct one says are no
candidates.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from hits.formats.inputs import by_id
from hits.recipes.mcscript.asking import ANSWERS, is_withdrawn, standing_stories
from hits.recipes.sampling import sample
from hits.recipes.source import (
    Collected,
    Computation,
    Found,
    GivenLabel,
    Json,
    JudgedItem,
    NextItem,
    Option,
    Outside,
    Progress,
)
from hits.text.classifiers import CLASSIFIERS
from hits.text.figures.question_statistics import LABELS
from hits.text.filtering.adversarial_filtering import (
    Batch,
    Iteration,
    Result,
    answers_by_batch,
    assigned_by_scores,
    filter_answers,
    started,
)
from hits.text.filtering.filtered_question import FilteredQuestion
from hits.text.questions.answer_merging import Merging, Selection, select, still_incorrect
from hits.text.questions.hiding import visible

REVIEW, SELECT = "review", "select"


@dataclass(frozen=True)
class _Candidates:
    """Of one question: where it belongs, its label, all answers that workers wrote and what was taken of them."""

    item: str
    question: str
    label: str
    correct: tuple[str, ...]
    selection: Selection

    def found(self, incorrect: Sequence[str], at: int) -> Json:
        return {
            "label": self.label,
            "correct": self.selection.text,
            "incorrect": incorrect[at],
            "tie": self.selection.tie,
            "candidates": {"correct": list(self.correct), "incorrect": list(incorrect)},
        }


def answerable(item: JudgedItem) -> dict[str, str]:
    """Question to label, of those whose verdict is one of `LABELS`, in the order of the item."""
    words = {question["id"]: item.parts.get(question["id"], "") for question in item.data["questions"]}
    return {question: label for question, label in words.items() if label in LABELS}


def _select_answers(
    collected: Collected, params: Json, seed: int, checkpoint: Json | None
) -> Iterator[Progress | Found]:
    """M6 and M7 over all texts; a question without an incorrect answer gets no result."""
    candidates, questions = _all(collected, seed)
    numbers = {name: value for name, value in params.items() if name != "classifier"}
    make = CLASSIFIERS.load(params["classifier"], collected.plugins).make
    batch = Batch(0, 0, 0, 0, 0, 1)
    for said in filter_answers(questions, seed=seed, checkpoint=checkpoint, classifier=make, **numbers):
        match said:
            case Batch():
                batch = said
                yield Progress(said.done, said.total)
            case Iteration(entry, made):
                yield Progress(batch.done, batch.total, entry, made)
            case Result(assigned):
                yield Progress(batch.total, batch.total)
                yield from _found(candidates, questions, assigned)


def _all(collected: Collected, seed: int) -> tuple[dict[str, _Candidates], list[FilteredQuestion]]:
    """(what is known of each question by key, the questions)."""
    candidates: dict[str, _Candidates] = {}
    questions: list[FilteredQuestion] = []
    options = collected.options
    by = Merging(options["merged_edits"], frozenset(options["dropped_words"].lower().split()))
    for item in collected.judged(ANSWERS, labels=True):
        for one, question in _candidates(item, seed, by):
            candidates[question.key] = one
            questions.append(question)
    return candidates, questions


def _files(collected: Collected, params: Json, seed: int) -> Iterator[tuple[str, Iterable[bytes]]]:
    """For each batch the answers that a classifier elsewhere learns from and those that it scores."""
    _, questions = _all(collected, seed)
    assigned = started(questions, _taken(collected), seed)
    batches = answers_by_batch(questions, assigned, seed=seed, batch=params["batch"])
    for number, (learned, asked) in enumerate(batches):
        yield f"batch{number}-train.jsonl", by_id.lines(vars(each) for each in learned)
        yield f"batch{number}-test.jsonl", by_id.lines({**vars(each), "correct": None} for each in asked)


def _taken(collected: Collected) -> dict[str, str]:
    """The incorrect answer of each question in the newest finished run."""
    return {
        f"{key} {question}": one["incorrect"]
        for key, data in collected.found(SELECT)
        for question, one in data["questions"].items()
    }


def _select_by_scores(collected: Collected, params: Json, seed: int, stream: BinaryIO) -> Iterator[Progress | Found]:
    """An iteration with the scores of a classifier elsewhere."""
    candidates, questions = _all(collected, seed)
    given = by_id.read_lines(stream, "score", by_id.check_number)
    yield Progress(0, len(questions))
    assigned, entry = assigned_by_scores(questions, started(questions, _taken(collected), seed), given.score)
    given.refuse("is the id of no answer here")
    yield Progress(len(questions), len(questions), entry)
    yield from _found(candidates, questions, assigned)


def _candidates(item: JudgedItem, seed: int, by: Merging) -> Iterator[tuple[_Candidates, FilteredQuestion]]:
    text = visible(item.document["text"], item.data["hidden"])
    written = _written(item.labels)
    asked = {question["id"]: question["text"] for question in item.data["questions"]}
    for question, label in answerable(item).items():
        correct = written[f"{question}/correct"]
        # An own rule may keep what nobody answered.
        if correct:
            key = f"{item.key} {question}"
            selection = select(correct, seed=f"{seed} {key}", by=by)
            incorrect = tuple(still_incorrect(written[f"{question}/incorrect"], selection, by))
            one = _Candidates(item.key, question, label, tuple(correct), selection)
            yield one, FilteredQuestion(key, item.key, text, asked[question], selection.text, incorrect)


def _written(labels: Sequence[GivenLabel]) -> dict[str, list[str]]:
    """The answers by unit, in the order of submission."""
    found: dict[str, list[str]] = defaultdict(list)
    for label in labels:
        if label.unit.endswith(("/correct", "/incorrect")):
            found[label.unit].append(label.value["text"])
    return found


def _found(
    candidates: Mapping[str, _Candidates], questions: Sequence[FilteredQuestion], assigned: Mapping[str, int]
) -> Iterator[Found]:
    """One for each item; its questions stand in the order of the item."""
    items: dict[str, Json] = {}
    for one in questions:
        of = candidates[one.key]
        here = items.setdefault(of.item, {"questions": {}})
        if one.key in assigned:
            here["questions"][of.question] = of.found(one.incorrect, assigned[one.key])
    yield from (Found(key, data) for key, data in items.items())


def _told(item: Json, found: Json) -> list[Mapping[str, str | Sequence[str]]]:
    """Each question with what was taken, beside all that workers wrote."""
    asked = {question["id"]: question["text"] for question in item["questions"]}
    return [
        {
            "Question": asked[question],
            "Label": one["label"],
            "Correct": one["correct"] + (" (drawn: others were as frequent)" if one["tie"] else ""),
            "Written as correct": _counted(one["candidates"]["correct"]),
            "Incorrect": one["incorrect"],
            "Candidates for incorrect": _counted(one["candidates"]["incorrect"]),
        }
        for question, one in found["questions"].items()
    ]


def _counted(written: Sequence[str]) -> list[str]:
    return [text if times == 1 else f"{text} ({times} times)" for text, times in Counter(written).most_common()]


COMPUTATIONS = (
    Computation(
        key=SELECT,
        title="Answers",
        description=(
            "Takes the correct answer that most workers gave to each question, and the incorrect one that is hardest "
            "to tell from it for a simple classifier. Review, release and human upper bound need it."
        ),
        stage=ANSWERS,
        params={"classifier": "logistic", "batch": 250, "stop_at": 50, "most_iterations": 30},
        run=_select_answers,
        table=_told,
        explained={
            "changed": "Questions that got another incorrect answer; in iteration 0 all get one at random.",
            "accuracy": (
                "How often the classifier found the correct answer likelier than the incorrect one, before the change; "
                "0.5 is guessing."
            ),
            "accuracy_after": "The same after the change: the lower, the harder the incorrect answers are to tell.",
        },
        options={
            "classifier": Option(
                label="Classifier",
                unit="model",
                help="What incorrect answers are to mislead. One of your own runs elsewhere, by files.",
                paper="logistic regression on lengths, overlap and word patterns (section 5.1)",
            ),
            "batch": Option(
                label="Texts in a batch",
                unit="texts",
                help="So many texts at a time get incorrect answers, by a classifier that learned from all others.",
                paper="250; 50, 100 and 500 were tried as well (supplement)",
                least=1,
            ),
            "stop_at": Option(
                label="Changes at which it ends",
                unit="questions",
                help="It ends when an iteration changes so many answers or fewer, or no fewer than the one before.",
                paper="50 (supplement)",
            ),
            "most_iterations": Option(
                label="Most iterations",
                unit="iterations",
                help="It ends after so many, however many answers still change.",
                paper="states no such limit",
            ),
        },
        models={"classifier": CLASSIFIERS},
        outside=Outside(
            parameter="classifier",
            sends=(
                "For each batch of texts, batch0-train.jsonl and so on to learn from, the correct and the assigned "
                "incorrect answers of all other texts, and batch0-test.jsonl to score, with all answers of its texts. "
                "A line is "
                '{"id", "text", "question", "answer", "correct"}; in test, "correct" is null.'
            ),
            takes=(
                'JSON Lines, {"id": ..., "score": a number} for each line of all test files; higher is likelier to be '
                "correct. Each time is one iteration: take the files again while many answers change."
            ),
            write=_files,
            read=_select_by_scores,
        ),
    ),
)


def draw_review(collected: Collected, count: int, *, seed: int) -> list[NextItem]:
    """The texts for which answers were selected, with all their questions and the crowd's candidates.

    A text whose story was rejected since takes no expert's time.
    """
    standing = standing_stories(collected)
    shown = {}
    for item in collected.judged(ANSWERS, computation=SELECT):
        if not is_withdrawn(item, standing) and (questions := selected(item)):
            shown[item.key] = {"hidden": item.data["hidden"], "questions": questions}
    return [
        NextItem(REVIEW, key, shown[key], parent=(ANSWERS, key))
        for key in sorted(sample(shown, count, f"draw {REVIEW} {seed}"))
    ]


def selected(item: JudgedItem) -> list[Json]:
    """The answerable questions with the answers that were computed for them, those without left out.

    Each is {"id", "text", "type", "label", "correct", "incorrect", "candidates"}, in the order of the item.
    """
    labels = answerable(item)
    computed = (item.computed or {"questions": {}})["questions"]
    return [
        {
            **{name: question[name] for name in ("id", "text", "type")},
            "label": labels[question["id"]],
            **{name: computed[question["id"]][name] for name in ("correct", "incorrect", "candidates")},
        }
        for question in item.data["questions"]
        if question["id"] in labels and question["id"] in computed
    ]
