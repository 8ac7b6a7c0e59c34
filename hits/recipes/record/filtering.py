"""Machine filtering of generated queries (Zhang et al. 2018, section 3.3), by a reader in the box or elsewhere.

The item of an article gets one result: {"reader", "version", "queries": {query id: {"fold", "prediction", "score",
"correct"}}}. Folds count from 0, also in the names of the files for a reader elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import BinaryIO

from hits.formats.files.reading import kind, quoted
from hits.formats.inputs import by_id, record
from hits.recipes.record.query_ids import untelling, without_hints
from hits.recipes.source import Collected, Computation, Found, Json, Option, Outside, Progress
from hits.refusals import Refused
from hits.text.figures.squad import normalise
from hits.text.filtering.machine_filtering import (
    ARTICLES_A_SIGN,
    BY,
    MOST_FOLDS,
    Answer,
    Answered,
    FoldDone,
    Sign,
    Triples,
    filter_triples,
    is_correct,
)
from hits.text.language.passages import passage_parts
from hits.text.questions.passage_queries import queries
from hits.text.readers import READERS, Mention, Triple, surface

GENERATE, FILTER = "generate", "filter"
FILE_VERSION = "1.0"


def triples(collected: Collected) -> Iterator[Triple]:
    """Every query of the articles that stand, article by article."""
    for item in collected.judged(GENERATE):
        if item.outcome not in ("dropped", "withdrawn"):
            yield from triples_of(item.key, item.data)


def triples_of(key: str, data: Json) -> Iterator[Triple]:
    """The queries of one article, with the passage and what answers each."""
    text = data["text"]
    marked = tuple(sorted(Mention(one["start"], one["end"], one["entity"], one["type"]) for one in data["mentions"]))
    bullets = next((part.start for part in passage_parts(text) if part.kind == "bullet"), len(text))
    for query in queries(data):
        answers = tuple(dict.fromkeys(text[start:end] for start, end in query.answers))
        yield Triple(f"{key}/{query.id}", key, text, marked, bullets, query.query, answers)


def answered(result: Json | None) -> frozenset[str]:
    """The ids of an article's queries that the reader answered correctly, which go."""
    told: Mapping[str, Json] = result["queries"] if result else {}
    return frozenset(query for query, answer in told.items() if answer["correct"])


def _spooled(collected: Collected, params: Json, seed: int) -> Triples:
    if not 0 < params["least_f1"] <= 1:
        raise Refused(
            "machine_filtering_refused",
            f"least_f1 must lie above 0 and be 1 at most, not {params['least_f1']}",
            status=400,
        )
    return Triples(triples(collected), seed=seed, folds=params["folds"], by=params["fold_by"])


def _filter(collected: Collected, params: Json, seed: int, checkpoint: Json | None) -> Iterator[Progress | Found]:
    name = params["reader"]
    module = READERS.load(name, collected.plugins)
    listed = _spooled(collected, params, seed)
    model = f"{name} {module.VERSION}"
    steps = filter_triples(
        listed, module.make, seed=seed, least_f1=params["least_f1"], model=model, checkpoint=checkpoint
    )
    for said in steps:
        match said:
            case Answered():
                yield _found(said, name, module.VERSION)
            case Sign(done, total, anew):
                yield Progress(done, total, anew=anew)
            case FoldDone(done, total, entry, made):
                yield Progress(done, total, entry, made)


def _found(said: Answered, reader: str, version: str) -> Found:
    prefix = len(said.article) + 1
    told = {id[prefix:]: _told(answer) for id, answer in said.answers.items()}
    return Found(said.article, {"reader": reader, "version": version, "queries": told})


def _told(answer: Answer) -> Json:
    return {
        "fold": answer.fold,
        "prediction": answer.prediction,
        "score": answer.score,
        "correct": answer.correct,
    }


def _table(data: Json, result: Json) -> list[Mapping[str, str | Sequence[str]]]:
    """Each query with what the reader said to it."""
    texts = {query.id: query.query for query in queries(data, with_removed=True)}
    return [
        {
            "Query": texts.get(id, id),
            "Fold": str(one["fold"]),
            "Prediction": one["prediction"],
            "Score": f"{one['score']:.3f}",
            "Correct": "yes: it goes" if one["correct"] else "no",
        }
        for id, one in result["queries"].items()
    ]


# A reader elsewhere


def _files(collected: Collected, params: Json, seed: int) -> Iterator[tuple[str, Iterable[bytes]]]:
    listed = _spooled(collected, params, seed)
    for fold in range(listed.folds):
        learned, asked = (_documents(of, collected.pseudonym_key) for of in (listed.without(fold), listed.of(fold)))
        yield f"fold{fold}-train.json", record.written(learned, FILE_VERSION)
        yield f"fold{fold}-test.json", record.written(asked, FILE_VERSION, answers=False)


def _documents(of: Iterable[Triple], secret: str) -> Iterator[record.Document]:
    for article, group in groupby(of, key=lambda triple: triple.article):
        asked = list(group)
        spans = tuple(record.Span(one.start, one.end - 1) for one in asked[0].mentions)
        told = record.Document(article, "", "public", asked[0].text, spans, tuple(map(_query, asked)))
        yield without_hints(told, secret)


def _query(triple: Triple) -> record.Query:
    named = [(one, surface(triple, one)) for one in triple.mentions]
    answers = [record.Answer(one.start, one.end - 1, text) for one, text in named if text in triple.answers]
    return record.Query(triple.id, triple.query, tuple(answers))


def _predicted(collected: Collected, params: Json, seed: int, stream: BinaryIO) -> Iterator[Progress | Found]:
    """Faults are known when the last query has been looked at; then nothing of what was found counts."""
    given = by_id.read_object(stream)
    listed = _spooled(collected, params, seed)
    right, done, secret = [0] * listed.folds, 0, collected.pseudonym_key
    for number, asked in enumerate(listed.articles()):
        if number % ARTICLES_A_SIGN == 0:
            yield Progress(done, len(listed))
        answers = {
            triple.id: _given(given, triple, untelling(triple.id, secret), listed.fold_of(triple), params)
            for triple in asked
        }
        for answer in answers.values():
            right[answer.fold] += answer.correct
        done += len(asked)
        yield _found(Answered(asked[0].article, answers), params["reader"], params["sha256"][:12])
    given.refuse("is the id of no query here")
    share = round(sum(right) / max(done, 1), 6)
    yield Progress(done, len(listed), {"asked": done, "correct": sum(right), "share": share})


def _given(given: by_id.ById, triple: Triple, id: str, fold: int, params: Json) -> Answer:
    said = given.take(id, "prediction")
    if said is by_id.MISSING:
        return Answer(fold, "", 0.0, False)
    if fault := _fault(said, triple, params["mentions_only"]):
        given.faults.add(None, quoted(id), fault)
        return Answer(fold, "", 0.0, False)
    return Answer(fold, said, 0.0, is_correct(said, triple.answers, params["least_f1"]))


def _fault(said: object, triple: Triple, mentions_only: bool) -> str | None:
    if not isinstance(said, str):
        return f"its prediction must be a text, not {kind(said)}"
    if not said.strip():
        return "its prediction is blank"
    names = {normalise(surface(triple, one)) for one in triple.mentions} if mentions_only else set()
    if mentions_only and normalise(said) not in names:
        return f"its prediction {quoted(said)} is no name that its passage marks"
    return None


FILTERING = Computation(
    key=FILTER,
    title="Machine filtering",
    description=(
        "A reader learns from all folds but one and answers the queries of that one, for each fold. Queries that it "
        "answers correctly ask for no more than paraphrase: they are left out of what goes to the workers."
    ),
    stage=GENERATE,
    params={"reader": "linear", "folds": 5, "fold_by": BY[0], "least_f1": 1.0, "mentions_only": True},
    run=_filter,
    table=_table,
    explained={
        "correct": "Queries of the fold that the reader answered correctly: they go.",
        "share": "The correct ones as a share of the fold.",
        "learned_from": "Queries of all other folds.",
        "asked": "Queries of the fold.",
    },
    options={
        "reader": Option(
            label="Reader",
            unit="model",
            help="What answers the queries. A reader of your own runs elsewhere, by files.",
            paper="SAN (Liu et al. 2018), a neural reader, which answered 68 % (section 3.3)",
        ),
        "folds": Option(
            label="Folds",
            unit="folds",
            help="More folds let the reader learn from more queries and take longer.",
            paper="5 (section 3.3)",
            least=2,
            most=MOST_FOLDS,
        ),
        "fold_by": Option(
            label="Folds of",
            unit="choice",
            help="With whole articles no reader is asked about a passage that it learned from.",
            paper="cross validation on all triples (section 3.3), which does not say which",
            choices={"article": "whole articles", "triple": "single queries"},
        ),
        "least_f1": Option(
            label="Correct from a token F1 of",
            unit="0 to 1",
            help="1 asks for an exact match after SQuAD's normalisation; with less, part of a name is enough.",
            paper="correctly answered (section 3.3), which does not say how that is measured",
            least=0.01,
        ),
        "mentions_only": Option(
            label="Predictions of a file must be names that the passage marks",
            unit="yes or no",
            help="Off, any text may be predicted, as by readers that take any span. It concerns imported files alone.",
            paper="extractive models may predict any span (section 5.5)",
        ),
    },
    models={"reader": READERS},
    outside=Outside(
        parameter="reader",
        sends=(
            "For each fold a file to learn from and one to answer, fold0-train.json and fold0-test.json and so on, in "
            "ReCoRD's layout. The queries of those to answer have no answers."
        ),
        takes=(
            "One JSON object with a prediction for each query of all test files, in the official form "
            '{"query id": "answer text", ...}.'
        ),
        write=_files,
        read=_predicted,
    ),
)
