"""Cosmos QA's steps between its stages (Huang et al. 2019, sections 2.1 to 2.5 and appendix A).

Stories become paragraphs to write about, or finished question sets come in for validation alone; files without labels
are machine-written answers. A question with two right answers becomes two sets (C3). A valid set may get "None of the
above" for its least challenging wrong answer (C6); an unanswerable one gets it for its right answer (C5).
"""

from __future__ import annotations

import io
import json
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from hashlib import blake2b
from tempfile import TemporaryFile
from typing import Any, BinaryIO

from hits.formats import cosmos, stories
from hits.formats.faults import Fault, FormatErrors
from hits.formats.tables import COSMOS_TYPES, FORMATS, Format, write_all
from hits.recipes.cosmos import splitting
from hits.recipes.sampling import sample
from hits.recipes.source import (
    Collected,
    Computation,
    Found,
    GivenLabel,
    Json,
    JudgedItem,
    NextItem,
    Progress,
    ReleaseContent,
    SourceDocument,
    SourceItem,
)
from hits.text.least_challenging import least_challenging
from hits.text.paragraphs import NoParagraphError, paragraph_of
from hits.text.set_statistics import Tally, prefix_chart
from hits.text.statistics import OVERALL

WRITE, VALIDATE, HUMAN, GENERATIVE, REASONING = "write", "validate", "human", "generative", "reasoning"
VALID, UNANSWERABLE = "valid", "unanswerable"
NONE_OF_THE_ABOVE = "None of the above"
LEAST_CHALLENGING = "least-challenging"
SPLITS = ("train", "dev", "test")
_LEFT_OUT = {
    "dropped": "not validated",
    "open": "not judged yet",
    "withdrawn": "written in an answer that does not count",
}
_NONE = NONE_OF_THE_ABOVE.casefold()


# Import


def read_documents(
    stream: BinaryIO,
    *,
    name: str,
    max_bytes: int,
    default_origin: str,
    progress: Callable[[int], None] | None = None,
    seed: int = 0,
    options: Mapping[str, Any],
) -> list[SourceDocument]:
    """Stories to write about, question sets to validate, or machine-written answers to judge, told by the content.

    Raises FormatErrors with every fault.
    """
    columns = cosmos.columns_of(stream)
    if "question" not in columns:
        _refuse_options(options)
        found = stories.read(stream, name, max_bytes=max_bytes, progress=progress)
        return [_of_story(story, default_origin, seed, options) for story in found]
    sets = cosmos.read(stream, max_bytes=max_bytes, progress=progress, labelled="label" in columns)
    return [_of_sets(group, default_origin) for group in _by_context(sets).values()]


def _refuse_options(options: Mapping[str, Any]) -> None:
    low, high = options["shortest_paragraph"], options["longest_paragraph"]
    if not 0 < 2 * low <= high:
        what = f"longest_paragraph must be at least twice shortest_paragraph, not {high} and {low}: change the options"
        raise FormatErrors([Fault(None, "options", what)])


def _of_story(story: stories.Story, origin: str, seed: int, options: Mapping[str, Any]) -> SourceDocument:
    low, high = options["shortest_paragraph"], options["longest_paragraph"]
    try:
        found = paragraph_of(story, seed=seed, low=low, high=high)
    except NoParagraphError:
        note = f"no run of whole sentences has {low} to {high} words."
        return SourceDocument(story.key, origin, {}, (), story.line, note=note)
    data = {"text": found.text, "source": story.key, "title": story.title}
    return SourceDocument(story.key, origin, data, (SourceItem(story.key, {}),), story.line)


def _by_context(sets: Iterable[cosmos.QuestionSet]) -> dict[str, list[cosmos.QuestionSet]]:
    groups: dict[str, list[cosmos.QuestionSet]] = defaultdict(list)
    for one in sets:
        groups[one.context].append(one)
    return groups


def _of_sets(sets: Sequence[cosmos.QuestionSet], origin: str) -> SourceDocument:
    first = sets[0]
    items = tuple(_imported(one) for one in sets)
    # Machines answer questions that are here already, under the same ids.
    key = f"{first.key}/{'machine' if first.label is None else 'context'}"
    return SourceDocument(key, origin, {"text": first.context, "source": ""}, items, first.line)


def _imported(one: cosmos.QuestionSet) -> SourceItem:
    """In the order of the file, whose answers are shuffled already. Without a label the answers are a machine's."""
    candidates = [{"id": f"c{number}", "text": text} for number, text in enumerate(one.answers)]
    data: Json = {"question": one.question, "candidates": candidates, "set": one.key}
    if one.label is None:
        return SourceItem(one.key, data, GENERATIVE)
    return SourceItem(one.key, {**data, "intended": f"c{one.label}", "author": _author(one.key)}, VALIDATE)


def _author(key: str) -> str:
    """The worker whom the ids of the published files name: HIT##assignment##worker##story##question and answer##HIT."""
    parts = key.split("##")
    return parts[2] if len(parts) == 6 else ""


def mark(documents_meta: Iterable[tuple[str, str]], *, seed: int, options: Mapping[str, Any]) -> dict[str, str]:
    """Nothing is set apart before the writers are known."""
    return {key: "train" for key, _ in documents_meta}


# Moving on


def next_items(item: JudgedItem) -> list[NextItem]:
    """What was written goes to validation, a question set for each correct answer (C3)."""
    if item.stage != WRITE or item.outcome != "kept":
        return []
    written = [label for label in item.labels if label.unit.startswith("question") and isinstance(label.value, dict)]
    return [made for label in written for made in _sets(item.key, label)]


def _sets(key: str, label: GivenLabel) -> Iterator[NextItem]:
    question = label.value
    for number, correct in enumerate(question["correct"], start=1):
        set_key = f"{key}/{label.assignment}/q{label.unit.removeprefix('question')}a{number}"
        data = question_set(set_key, question["question"], correct, question["incorrect"], label.worker)
        yield NextItem(VALIDATE, set_key, {**data, "category": question.get("category", "")}, source=label.assignment)


def question_set(key: str, question: str, correct: str, incorrect: Sequence[str], author: str) -> Json:
    """The candidates in an order that only the key decides, so that neither place nor id tells which is correct."""
    texts = [correct, *incorrect]
    order = random.Random(f"candidates {key}").sample(range(len(texts)), len(texts))
    return {
        "question": question,
        "candidates": [{"id": f"c{place}", "text": texts[number]} for place, number in enumerate(order)],
        "intended": f"c{order.index(0)}",
        "author": author,
        "set": key,
    }


# None of the above


def _choose_least_challenging(
    collected: Collected, params: Json, seed: int, checkpoint: Json | None
) -> Iterator[Progress | Found]:
    """C6: of a share of the valid sets, the wrong answer that three scorers find easiest to tell.

    Sets that offer "None of the above" as they were imported are a part of that share already.
    """
    valid = [_labelled(item) for item in collected.judged(VALIDATE) if item.conclusion == VALID]
    # Every set teaches the scorers, also those that stay as they are.
    sets = [one for one in valid if not offers_none(one.answers)]
    wanted = round(len(valid) * collected.options["none_share"]) - (len(valid) - len(sets))
    chosen = set(sample((one.key for one in sets), wanted, f"none of the above {seed}"))
    said: list[Progress] = []
    choices = least_challenging(
        sets,
        seed=seed,
        folds=params["folds"],
        progress=lambda done, total: said.append(Progress(done, total)),
    )
    for choice in choices:
        yield from said
        said.clear()
        if choice.key in chosen:
            scores = {f"c{at}": [round(score, 6) for score in of] for at, of in choice.scores.items()}
            yield Found(choice.key, {"candidate": f"c{choice.index}", "scores": scores})
    yield from said


@dataclass(frozen=True)
class LabelledSet:
    """A question set as a Cosmos QA file has it: `answers[label]` is the correct one."""

    key: str
    context: str
    question: str
    answers: tuple[str, ...]
    label: int


def _labelled(item: JudgedItem, data: Json | None = None) -> LabelledSet:
    """The ids of candidates are their places."""
    data = data or item.data
    texts = tuple(each["text"] for each in data["candidates"])
    label = [each["id"] for each in data["candidates"]].index(data["intended"])
    return LabelledSet(item.key, item.document["text"], data["question"], texts, label)


COMPUTATIONS = (
    Computation(
        key=LEAST_CHALLENGING,
        title="None of the above",
        description="Finds the least challenging wrong answer of a share of the valid sets. A release replaces it.",
        stage=VALIDATE,
        params={"folds": 5},
        run=_choose_least_challenging,
    ),
)


def offers_none(answers: Iterable[str]) -> bool:
    """Whether "None of the above" is among them already, as in published files."""
    return any(answer.casefold().startswith(_NONE) for answer in answers)


def as_released(item: JudgedItem) -> Json:
    """The set's data with "None of the above" in the place of the right answer (C5) or of the computed one (C6)."""
    least = item.computed["candidate"] if item.computed else None
    replaced = {UNANSWERABLE: item.data["intended"], VALID: least}.get(item.conclusion)
    if replaced is None or offers_none(each["text"] for each in item.data["candidates"]):
        return item.data
    candidates = [
        {**each, "text": NONE_OF_THE_ABOVE} if each["id"] == replaced else each for each in item.data["candidates"]
    ]
    return {**item.data, "candidates": candidates}


# Splitting


def written_sets(collected: Collected) -> Iterator[splitting.WrittenSet]:
    for item in collected.judged(VALIDATE):
        yield splitting.WrittenSet(_digest(item), item.data["author"], item.outcome == "kept")


def _digest(item: JudgedItem) -> bytes:
    """Names the paragraph by its text: two files may bring the same one."""
    return blake2b(item.document["text"].encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _best(writers: Iterable[splitting.Writer], options: Mapping[str, Any]) -> frozenset[str]:
    return splitting.best(writers, least_written=options["best_written"], least_share=options["best_kept_share"])


def split_of(collected: Collected, seed: int) -> splitting.Split:
    best = _best(splitting.writers(written_sets(collected)), collected.options)
    return _split(collected, best, collected.options, seed)


def _split(collected: Collected, best: frozenset[str], options: Mapping[str, Any], seed: int) -> splitting.Split:
    wanted = {"test": options["test_sets"], "dev": options["dev_sets"]}
    return splitting.split(written_sets(collected), best, **wanted, seed=seed)


def draw(stage_key: str, collected: Collected, count: int, *, seed: int) -> list[NextItem]:
    """C8: test sets as released; C10: answerable dev sets. The same rows and seed draw the same sample."""
    part = {HUMAN: "test", REASONING: "dev"}[stage_key]
    split = split_of(collected, seed)
    fit = [item.key for item in _drawable(collected, stage_key) if split.part(_digest(item)) == part]
    drawn = set(sample(fit, count, f"draw {stage_key} {seed}"))
    return [
        NextItem(stage_key, item.key, as_released(item), parent=(VALIDATE, item.key))
        for item in collected.judged(VALIDATE, computation=LEAST_CHALLENGING)
        if item.key in drawn
    ]


def _drawable(collected: Collected, stage_key: str) -> Iterator[JudgedItem]:
    for item in collected.judged(VALIDATE):
        if item.outcome == "kept" and (stage_key != REASONING or item.conclusion == VALID):
            yield item


def split_preview(collected: Collected, options: Mapping[str, Any]) -> Json:
    """{"writers": [{"worker", "written", "kept", "share", "best"}], "counts": {split: sets}, "notes": [sentence]}."""
    found = splitting.writers(written_sets(collected))
    best = _best(found, options)
    split = _split(collected, best, options, collected.seed)
    counts = Counter(split.part(one.paragraph) for one in written_sets(collected) if one.kept)
    rows = [{**vars(writer), "share": writer.share, "best": writer.worker in best} for writer in found]
    return {"writers": rows, "counts": {name: counts[name] for name in SPLITS}, "notes": list(split.notes)}


# Release


def build_release(collected: Collected) -> ReleaseContent:
    """Each split as CSV, JSON Lines and Parquet, with its statistics and a chart of how questions begin.

    Three passes over the sets. What stays in memory is a number for each writer and each paragraph, no set.
    """
    found = split_of(collected, collected.seed)
    tallies = {name: Tally() for name in SPLITS}
    counts: Counter[str] = Counter()
    replaced: Counter[str] = Counter()
    computed = False
    with ExitStack() as stack:
        spools = {name: stack.enter_context(TemporaryFile()) for name in SPLITS}
        for item in collected.judged(VALIDATE, computation=LEAST_CHALLENGING):
            name = found.part(_digest(item)) if item.outcome == "kept" else item.outcome
            counts[name] += 1
            if name not in spools:
                continue
            computed = computed or item.computed is not None
            data = as_released(item)
            replaced[item.conclusion] += data is not item.data
            released = _labelled(item, data)
            spools[name].write(json.dumps(_row(released), ensure_ascii=False).encode() + b"\n")
            tallies[name].add(released)
        files = {file: stream for name in SPLITS for file, stream in _files(name, spools[name]).items()}
    tallies[OVERALL] = _overall(tallies.values())
    files["question-starts.svg"] = io.BytesIO(prefix_chart(tallies[OVERALL].prefix_tree()).encode())
    return ReleaseContent(
        files=files,
        counts={name: counts[name] for name in SPLITS},
        left_out={reason: counts[name] for name, reason in _LEFT_OUT.items() if counts[name]},
        statistics={name: _figures(tally) for name, tally in tallies.items()},
        notes=(*found.notes, *_notes(replaced, counts, computed)),
    )


def _overall(tallies: Iterable[Tally]) -> Tally:
    """No paragraph is in two splits, so their tallies add up."""
    found = Tally()
    for tally in tallies:
        found.absorb(tally)
    return found


def _figures(tally: Tally) -> Json:
    """C11, flat: a mean and a maximum of tokens for each kind of text."""
    found = tally.statistics()
    kinds = {
        "paragraph": found.paragraph,
        "question": found.question,
        "correct_answer": found.correct_answer,
        "incorrect_answer": found.incorrect_answer,
    }
    means = {f"mean_tokens_{kind}": tokens.mean for kind, tokens in kinds.items()}
    most = {f"most_tokens_{kind}": tokens.most for kind, tokens in kinds.items()}
    head = {"questions": found.questions, "paragraphs": found.paragraphs}
    return {**head, **means, **most, "unanswerable_share": found.unanswerable}


def _row(one: LabelledSet) -> Json:
    answers = dict(zip(cosmos.ANSWERS, one.answers, strict=True))
    return {"id": one.key, "context": one.context, "question": one.question, **answers, "label": one.label}


def _files(name: str, spool: BinaryIO) -> dict[str, BinaryIO]:
    """The split in each format, written in one pass over its spooled rows."""
    spool.seek(0)
    # Whoever stores the release reads them, so they outlive this function.
    files: dict[Format, BinaryIO] = {form: TemporaryFile() for form in FORMATS}  # noqa: SIM115
    write_all(map(json.loads, spool), cosmos.COLUMNS, COSMOS_TYPES, files)
    return {f"{name}.{form}": stream for form, stream in files.items()}


def _notes(replaced: Mapping[str, int], counts: Mapping[str, int], computed: bool) -> Iterator[str]:
    if replaced[UNANSWERABLE]:
        yield f'{replaced[UNANSWERABLE]:,} unanswerable sets have "{NONE_OF_THE_ABOVE}" as their right answer.'
    if computed:
        yield f'{replaced[VALID]:,} valid sets have "{NONE_OF_THE_ABOVE}" in place of their least challenging answer.'
    elif any(counts[name] for name in SPLITS):
        yield f'No wrong answer became "{NONE_OF_THE_ABOVE}": run that computation before the release.'
