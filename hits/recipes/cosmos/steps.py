"""Cosmos QA's steps between its stages (Huang et al. 2019, sections 2.1 to 2.5 and appendix A).

Stories become paragraphs to write about, or finished question sets come in for validation alone; files without labels
are machine-written answers (C9, section 5.4 and appendix E). A question with two right answers becomes two sets (C3). A
valid set may get "None of the above" for its least challenging wrong answer (C6); an unanswerable one gets it for its
right answer (C5).
"""

from __future__ import annotations

import io
import json
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from tempfile import TemporaryFile
from typing import Any, BinaryIO, TypeVar

from hits.formats.files.faults import Fault, FormatErrors
from hits.formats.inputs import by_id, cosmos, generated, stories
from hits.recipes.cosmos import splitting
from hits.recipes.cosmos.charting import prefix_chart
from hits.recipes.cosmos.releasing import Majorities, artefacts, files_of
from hits.recipes.cosmos.scoring import KEY_FILE as KEY_FILE
from hits.recipes.cosmos.scoring import NONE, PUBLISHED
from hits.recipes.cosmos.scoring import SCORING as SCORING
from hits.recipes.dealing import Earlier, digest_of
from hits.recipes.sampling import sample
from hits.recipes.source import (
    AUTHOR,
    Collected,
    Computation,
    DrawSource,
    Found,
    GivenLabel,
    Json,
    JudgedItem,
    NextItem,
    Option,
    Outside,
    Progress,
    ReleaseContent,
    ReleasedItem,
    SourceDocument,
    SourceItem,
    ToldItem,
)
from hits.text.figures.set_statistics import Tally
from hits.text.figures.statistics import OVERALL
from hits.text.language.paragraphs import COHERENCE, paragraph_of
from hits.text.questions.least_challenging import Choice, chosen_by_scores, least_challenging, pairs_by_fold
from hits.text.scorers import SCORERS

WRITE, VALIDATE, HUMAN, GENERATIVE, REASONING = "write", "validate", "human", "generative", "reasoning"
VALID, UNANSWERABLE = "valid", "unanswerable"
LEAST_CHALLENGING = "least-challenging"
# The note of a valid set that a release has with "None of the above".
REPLACED = "none of the above"
PROGRESS_EVERY = 1000
POOLED = "all"
RIGHT_IS_NONE = "answers to questions whose right answer is “None of the above”."
NOT_DRAWN = "answers to questions that were not drawn; some may have “None of the above” as their right answer."
Asked = TypeVar("Asked", cosmos.QuestionSet, generated.Generated)
SPLITS = ("train", "dev", "test")
_LEFT_OUT = {
    "dropped": "not validated",
    "open": "not judged yet",
    "withdrawn": "written in an answer that does not count",
}
# Sets that did not get as far as validation, by what became of the paragraph that they were written about.
_NOT_PASSED_ON = {
    "kept": "written, not passed on to validation yet",
    "open": "written about a paragraph that is not decided yet",
    "dropped": "written about a paragraph that was dropped",
    "withdrawn": "written about a paragraph that was withdrawn",
}


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
    if "label" not in columns:
        rows = generated.read(stream, max_bytes=max_bytes, progress=progress)
        return [_of_generated(group, default_origin, seed, options) for group in _by_context(rows).values()]
    sets = cosmos.read(stream, max_bytes=max_bytes, progress=progress)
    return [_of_sets(group, default_origin) for group in _by_context(sets).values()]


def _refuse_options(options: Mapping[str, Any]) -> None:
    low, high = options["shortest_paragraph"], options["longest_paragraph"]
    if not 0 < 2 * low <= high:
        what = f"longest_paragraph must be at least twice shortest_paragraph, not {high} and {low}: change the options"
        raise FormatErrors([Fault(None, "options", what)])


def _of_story(story: stories.Story, origin: str, seed: int, options: Mapping[str, Any]) -> SourceDocument:
    low, high = options["shortest_paragraph"], options["longest_paragraph"]
    paragraph = paragraph_of(story, seed=seed, scorer=COHERENCE[options["coherence"]], low=low, high=high)
    if paragraph is None:
        note = f"no run of whole sentences has {low} to {high} words."
        return SourceDocument(story.key, origin, {}, (), story.line, note=note)
    data = {"text": paragraph.text, "source": story.key, "title": story.title}
    return SourceDocument(story.key, origin, data, (SourceItem(story.key, {}),), story.line)


def _by_context(rows: Iterable[Asked]) -> dict[str, list[Asked]]:
    groups: dict[str, list[Asked]] = defaultdict(list)
    for one in rows:
        groups[one.context].append(one)
    return groups


def _of_sets(sets: Sequence[cosmos.QuestionSet], origin: str) -> SourceDocument:
    first = sets[0]
    items = tuple(_imported(one) for one in sets)
    return SourceDocument(f"{first.key}/context", origin, {"text": first.context, "source": ""}, items, first.line)


def _imported(one: cosmos.QuestionSet) -> SourceItem:
    """In the order of the file, whose answers are shuffled already."""
    candidates = [{"id": f"c{number}", "text": text} for number, text in enumerate(one.answers)]
    data: Json = {"question": one.question, "candidates": candidates, "set": one.key}
    return SourceItem(one.key, {**data, "intended": f"c{one.label}", AUTHOR: _author(one.key)}, VALIDATE)


def _author(key: str) -> str:
    """The worker whom the ids of the published files name: HIT##assignment##worker##story##question and answer##HIT."""
    parts = key.split("##")
    return parts[2] if len(parts) == 6 else ""


# Machine-written answers (C9)


def _of_generated(
    rows: Sequence[generated.Generated], origin: str, seed: int, options: Mapping[str, Any]
) -> SourceDocument:
    """The answers of machines to questions about one paragraph, which may be here already under the same ids."""
    pooled = options["generated_from"] == POOLED
    groups: dict[str, list[generated.Generated]] = defaultdict(list)
    for row in rows:
        groups[row.key if pooled or not row.system else f"{row.key}/{row.system}"].append(row)
    count = options["generated_answers"]
    items = tuple(SourceItem(key, _drawn_answers(key, of, count, seed), GENERATIVE) for key, of in groups.items())
    first = rows[0]
    key = "/".join(filter(None, (first.key, "machine", first.system)))
    return SourceDocument(key, origin, {"text": first.context, "source": ""}, items, first.line)


def _drawn_answers(key: str, rows: Sequence[generated.Generated], count: int, seed: int) -> Json:
    """At most so many of the answers, of which equal ones are one; each says which systems wrote it."""
    texts: dict[str, str] = {}
    systems: dict[str, dict[str, None]] = defaultdict(dict)
    for row in rows:
        for answer in row.answers:
            said = " ".join(answer.casefold().split())
            texts.setdefault(said, answer)
            systems[said][row.system] = None
    drawn = sample(texts, count, f"generated {seed} {key}")
    candidates = [
        {"id": f"c{number}", "text": texts[said], "systems": list(systems[said])} for number, said in enumerate(drawn)
    ]
    return {"question": rows[0].question, "candidates": candidates, "set": rows[0].key}


def admit(documents: list[SourceDocument], collected: Collected) -> list[SourceDocument]:
    """Of machine-written answers those to a sample of questions, none of which has "None of the above" as its answer.

    Everything else is let in as it is.
    """
    answered = {item.data["set"] for one in documents for item in one.items if item.stage == GENERATIVE}
    if not answered:
        return documents
    # Whether "None of the above" is the right answer: put there by the verdict, or imported so.
    none = {
        item.key
        for item in collected.judged(VALIDATE)
        if item.key in answered and (item.conclusion == UNANSWERABLE or offers_none(_right_texts(item)))
    }
    count = collected.options["generated_questions"]
    drawn = set(sample(answered - none, count, f"generated questions {collected.seed}"))
    return [_admitted(one, none, drawn) for one in documents]


def _admitted(document: SourceDocument, none: Set[str], drawn: Set[str]) -> SourceDocument:
    items = tuple(item for item in document.items if item.data["set"] in drawn)
    if len(items) == len(document.items):
        return document
    left_out = {item.data["set"] for item in document.items} - drawn
    note = RIGHT_IS_NONE if left_out <= none else NOT_DRAWN
    return replace(document, items=items, note=note)


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
    """The candidates in an order that the key decides; a release gives those of test another one."""
    texts = [correct, *incorrect]
    order = random.Random(f"candidates {key}").sample(range(len(texts)), len(texts))
    return {
        "question": question,
        "candidates": [{"id": f"c{place}", "text": texts[number]} for place, number in enumerate(order)],
        "intended": f"c{order.index(0)}",
        AUTHOR: author,
        "set": key,
    }


# None of the above


def _choose_least_challenging(
    collected: Collected, params: Json, seed: int, checkpoint: Json | None
) -> Iterator[Progress | Found]:
    """C6: of each valid set the wrong answer that three scorers find easiest to tell, and whether the set is among the
    share that gets "None of the above" for it.

    Sets that offer "None of the above" as they were imported are a part of that share already. Of the others it is
    found for all: after a change of the rule, others of them may be needed for the share.
    """
    sets, drawn = _replaceable(collected, seed)
    said: list[Progress] = []
    choices = least_challenging(
        sets,
        seed=seed,
        folds=params["folds"],
        scorer=SCORERS.load(params["scorer"], collected.plugins).make,
        progress=lambda done, total: said.append(Progress(done, total)),
    )
    for choice in choices:
        yield from said
        said.clear()
        yield _found(choice, drawn)
    yield from said


def _replaceable(collected: Collected, seed: int) -> tuple[list[LabelledSet], set[str]]:
    """(the valid sets that do not offer it yet, the keys of those that are to): those that had it before come first."""
    valid = [_labelled(item) for item in collected.judged(VALIDATE) if _is_valid(item)]
    # Every set teaches the scorers, also those that stay as they are.
    sets = [one for one in valid if not offers_none(one.answers)]
    wanted = round(len(valid) * collected.options["none_share"]) - (len(valid) - len(sets))
    before = {key for key, data in collected.found(LEAST_CHALLENGING) if _was_drawn(data)}
    return sets, _drawn(collected, (one.key for one in sets), wanted, before)


def _is_valid(item: JudgedItem) -> bool:
    return item.outcome == "kept" and item.conclusion == VALID


def _was_drawn(data: Json) -> bool:
    """Earlier runs found only the answers of sets that were drawn."""
    return bool(data.get("drawn", True))


def _drawn(collected: Collected, keys: Iterable[str], wanted: int, before: Set[str]) -> set[str]:
    """So many of the sets: first those that a release had with it, then those `before`, each in the seed's order."""
    order = list(keys)
    released = {item.key for item in collected.released() if item.note == REPLACED}
    order = sample(order, len(order), f"none of the above {collected.seed}")
    order.sort(key=lambda key: 0 if key in released else 1 if key in before else 2)
    return set(order[: max(0, wanted)])


def replaced_sets(collected: Collected) -> tuple[set[str], str]:
    """(the valid sets that get "None of the above" for the computed answer now, why their share is not as wanted).

    The share is that of the sets that are valid now, within one set.
    """
    valid = offering = 0
    computed: dict[str, bool] = {}
    for item in collected.judged(VALIDATE, computation=LEAST_CHALLENGING):
        if _is_valid(item):
            valid += 1
            if offers_none(each["text"] for each in item.data["candidates"]):
                offering += 1
            elif item.computed:
                computed[item.key] = _was_drawn(item.computed)
    share = collected.options["none_share"]
    wanted = round(valid * share) - offering
    drawn = _drawn(collected, computed, wanted, {key for key, was in computed.items() if was})
    if not computed or len(drawn) == wanted:
        return drawn, ""
    has = f"{len(drawn) + offering:,} of {valid:,} valid sets offer it, though {100 * share:.4g} % should"
    if wanted < 0:
        return drawn, f"{has}: that many were imported with it."
    return (
        drawn,
        f"{has}: the others became valid after the computation “None of the above”. Run it, and release again.",
    )


def _found(choice: Choice, drawn: Set[str]) -> Found:
    scores = {f"c{at}": [round(score, 6) for score in of] for at, of in choice.scores.items()}
    return Found(choice.key, {"candidate": f"c{choice.index}", "scores": scores, "drawn": choice.key in drawn})


def _files_to_score(collected: Collected, params: Json, seed: int) -> Iterator[tuple[str, Iterable[bytes]]]:
    """For each fold the pairs that a scorer elsewhere learns from and those that it scores."""
    sets, _ = _replaceable(collected, seed)
    for fold, (learned, asked) in enumerate(pairs_by_fold(sets, seed=seed, folds=params["folds"])):
        yield f"fold{fold}-train.jsonl", by_id.lines(vars(pair) for pair in learned)
        yield f"fold{fold}-test.jsonl", by_id.lines({**vars(pair), "follows": None} for pair in asked)


def _choose_by_scores(collected: Collected, params: Json, seed: int, stream: BinaryIO) -> Iterator[Progress | Found]:
    sets, drawn = _replaceable(collected, seed)
    given = by_id.read_lines(stream, "score", by_id.check_number)
    for done, one in enumerate(sets, start=1):
        choice = chosen_by_scores(one, given.score, seed)
        yield _found(choice, drawn)
        if done % PROGRESS_EVERY == 0 or done == len(sets):
            yield Progress(done, len(sets))
    given.refuse("is the id of no pair here")


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


def _in_secret_order(one: LabelledSet, secret: str) -> LabelledSet:
    """As a set of test is published. Its key, which is its id there, tells anybody the order that it had."""
    order = random.Random(f"test {secret} {one.key}").sample(range(len(one.answers)), len(one.answers))
    return replace(one, answers=tuple(one.answers[at] for at in order), label=order.index(one.label))


COMPUTATIONS = (
    Computation(
        key=LEAST_CHALLENGING,
        title="None of the above",
        description="Finds the least challenging wrong answer of a share of the valid sets. A release replaces it.",
        stage=VALIDATE,
        params={"scorer": "lexical", "folds": 5},
        run=_choose_least_challenging,
        options={
            "scorer": Option(
                label="Scorer",
                unit="model",
                help="What says how well an answer continues its context. One of your own runs elsewhere, by files.",
                paper="BERT, fine-tuned to tell next sentences (section 2.4)",
            ),
            "folds": Option(
                label="Folds",
                unit="folds",
                help="The scorers that judge a set have learned from the sets of all other folds alone.",
                paper="states none: its scorers are fine-tuned on all sets (section 2.4)",
                least=2,
            ),
        },
        models={"scorer": SCORERS},
        outside=Outside(
            parameter="scorer",
            sends=(
                "For each fold a file to learn from and one to score, fold0-train.jsonl and fold0-test.jsonl and so "
                "on: an answer in one of three views of its context a line, "
                '{"id", "context", "answer", "follows"}. In train, "follows" says '
                "whether the answer is the correct one; in test it is null."
            ),
            takes='JSON Lines, {"id": ..., "score": a number} for each line of all test files; higher is likelier.',
            write=_files_to_score,
            read=_choose_by_scores,
        ),
    ),
)


def offers_none(answers: Iterable[str]) -> bool:
    """Whether "None of the above" is among them already, as in published files."""
    return any(answer.casefold().startswith(NONE) for answer in answers)


def as_released(item: JudgedItem, none_text: str, drawn: Set[str]) -> Json:
    """The set's data with `none_text` in the place of the right answer (C5), or of the computed one (C6) where it is
    among the `drawn`.
    """
    least = item.computed["candidate"] if item.computed and item.key in drawn else None
    replaced = {UNANSWERABLE: item.data["intended"], VALID: least}.get(item.conclusion)
    if replaced is None or offers_none(each["text"] for each in item.data["candidates"]):
        return item.data
    candidates = [{**each, "text": none_text} if each["id"] == replaced else each for each in item.data["candidates"]]
    return {**item.data, "candidates": candidates}


# Splitting


def written_sets(collected: Collected, earlier: Earlier) -> Iterator[splitting.WrittenSet]:
    return (_written_set(item, earlier) for item in collected.judged(VALIDATE))


def _written_set(item: JudgedItem, earlier: Earlier) -> splitting.WrittenSet:
    paragraph = digest_of(item.document["text"])
    stood, about = earlier.of_item(item.key), earlier.of_group(paragraph)
    return splitting.WrittenSet(paragraph, item.data[AUTHOR], item.outcome == "kept", stood, about)


def _best(writers: Iterable[splitting.Writer], options: Mapping[str, Any]) -> frozenset[str]:
    return splitting.best(writers, least_written=options["best_written"], least_share=options["best_kept_share"])


@dataclass(frozen=True)
class _Split:
    """The split of items as they stand now."""

    of: splitting.Split
    earlier: Earlier

    def part(self, item: JudgedItem) -> str:
        """Of a kept item."""
        return self.of.part(_written_set(item, self.earlier))


def split_of(collected: Collected, seed: int) -> _Split:
    earlier = Earlier(collected.released())
    best = _best(splitting.writers(written_sets(collected, earlier)), collected.options)
    return _Split(_split(collected, earlier, best, collected.options, seed), earlier)


def _split(
    collected: Collected, earlier: Earlier, best: frozenset[str], options: Mapping[str, Any], seed: int
) -> splitting.Split:
    return splitting.split(
        written_sets(collected, earlier),
        best,
        test=options["test_sets"],
        dev=options["dev_sets"],
        held_out_share=options["held_out_share"],
        seed=seed,
    )


def draw(stage_key: str, collected: Collected, count: int, *, seed: int) -> list[NextItem]:
    """C8: test sets as released; C10: answerable sets, of the split that an option names or of all. The same rows and
    seed draw the same sample.
    """
    part = {HUMAN: "test", REASONING: collected.options["reasoning_from"]}[stage_key]
    split = split_of(collected, seed) if part in SPLITS else None
    fit = [item.key for item in _drawable(collected, stage_key) if not split or split.part(item) == part]
    drawn = set(sample(fit, count, f"draw {stage_key} {seed}"))
    none_text, (replaced, _) = collected.options["none_text"], replaced_sets(collected)
    return [
        NextItem(stage_key, item.key, as_released(item, none_text, replaced), parent=(VALIDATE, item.key))
        for item in collected.judged(VALIDATE, computation=LEAST_CHALLENGING)
        if item.key in drawn
    ]


def draws_from(stage_key: str) -> DrawSource:
    """Question sets that were validated."""
    return DrawSource((VALIDATE,))


def _drawable(collected: Collected, stage_key: str) -> Iterator[JudgedItem]:
    for item in collected.judged(VALIDATE):
        # Whether the set is valid and its right answer is not "None of the above", as it may be in an imported one.
        if item.outcome == "kept" and (
            stage_key != REASONING or (item.conclusion == VALID and not offers_none(_right_texts(item)))
        ):
            yield item


def _right_texts(item: JudgedItem) -> list[str]:
    return [each["text"] for each in item.data["candidates"] if each["id"] == item.data["intended"]]


def split_preview(collected: Collected, options: Mapping[str, Any]) -> Json:
    """{"writers": [{"worker", "written", "kept", "share", "best"}], "counts": {split: sets}, "notes": [sentence]}."""
    earlier = Earlier(collected.released())
    found = splitting.writers(written_sets(collected, earlier))
    best = _best(found, options)
    split = _split(collected, earlier, best, options, collected.seed)
    counts = Counter(split.part(one) for one in written_sets(collected, earlier) if one.kept)
    rows = [
        {
            **{name: getattr(writer, name) for name in ("worker", "written", "kept", "share")},
            "best": writer.worker in best,
        }
        for writer in found
    ]
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
    none_text, (least_replaced, why_not) = collected.options["none_text"], replaced_sets(collected)
    people = Majorities(collected.judged(HUMAN, labels=True))
    with ExitStack() as stack:
        spools = {name: stack.enter_context(TemporaryFile()) for name in SPLITS}
        for item in collected.judged(VALIDATE, computation=LEAST_CHALLENGING):
            name = found.part(item) if item.outcome == "kept" else _LEFT_OUT[item.outcome]
            counts[name] += 1
            if name not in spools:
                continue
            computed = computed or item.computed is not None
            data = as_released(item, none_text, least_replaced)
            replaced[item.conclusion] += data is not item.data
            released = _labelled(item, data)
            if name == "test":
                released = _in_secret_order(released, collected.pseudonym_key)
            spools[name].write(json.dumps(_row(released), ensure_ascii=False).encode() + b"\n")
            tallies[name].add(released)
            if name == "test":
                people.add(item.key, data)
        files = {file: stream for name in SPLITS for file, stream in files_of(name, spools[name]).items()}
    tallies[OVERALL] = _overall(tallies.values())
    files["question-starts.svg"] = io.BytesIO(prefix_chart(tallies[OVERALL].prefix_tree()).encode())
    statistics = {name: _figures(tally) for name, tally in tallies.items()}
    statistics["test"] |= people.figures()
    return ReleaseContent(
        files=files,
        counts={name: counts[name] for name in SPLITS},
        left_out=(
            left_out := {name: n for name, n in (counts + _not_passed_on(collected)).items() if name not in SPLITS}
        ),
        written=("question sets", sum(left_out.values()) + sum(counts[name] for name in SPLITS)),
        funnel={**left_out, **{f"released in {name}": counts[name] for name in SPLITS}},
        statistics=statistics,
        notes=(*found.of.notes, *_notes(replaced, counts, computed, none_text), *([why_not] if why_not else [])),
        check=partial(artefacts, files),
        tables={"questions": {name: f"{PUBLISHED[name]}.parquet" for name in SPLITS if counts[name]}},
        told={VALIDATE: partial(_told, collected, found)},
        splits=partial(_splits, collected, found, least_replaced),
    )


def _not_passed_on(collected: Collected) -> Counter[str]:
    passed_on = {item.key for item in collected.judged(VALIDATE)}
    return Counter(
        _NOT_PASSED_ON[item.outcome]
        for item in collected.judged(WRITE, labels=True)
        for label in item.labels
        if label.unit.startswith("question") and isinstance(label.value, dict)
        for made in _sets(item.key, label)
        if made.key not in passed_on
    )


def _splits(collected: Collected, found: _Split, replaced: Set[str] = frozenset()) -> Iterator[ReleasedItem]:
    for item in collected.judged(VALIDATE):
        if item.outcome == "kept" and (name := found.part(item)) in SPLITS:
            note = REPLACED if item.key in replaced else ""
            yield ReleasedItem(item.key, digest_of(item.document["text"]), name, note)


def _told(collected: Collected, found: _Split) -> Iterator[ToldItem]:
    """The released sets of train and dev; the labels of test are hidden."""
    return (ToldItem(item.key, item.split) for item in _splits(collected, found) if item.split != "test")


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


def _notes(replaced: Mapping[str, int], counts: Mapping[str, int], computed: bool, none_text: str) -> Iterator[str]:
    if replaced[UNANSWERABLE]:
        yield f'{replaced[UNANSWERABLE]:,} unanswerable sets have "{none_text}" as their right answer.'
    if computed:
        yield f'{replaced[VALID]:,} valid sets have "{none_text}" in place of their least challenging answer.'
    elif any(counts[name] for name in SPLITS):
        yield f'No wrong answer became "{none_text}": run that computation before the release.'
