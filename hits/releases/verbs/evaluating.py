"""Scoring what models answered against the right answers of a release, and the release's baselines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from functools import partial
from tempfile import TemporaryFile
from typing import Any, BinaryIO

import numpy as np
from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction

from hits.core.action_log import record
from hits.formats.files.faults import FormatErrors
from hits.judging.rules.recipe_rows import Rows
from hits.models import EvaluatedSystem, Project, Release, ReleaseFile
from hits.projects.rules.plugins import recipe_of
from hits.projects.rules.project_rows import check_visible
from hits.recipes.scoring import Scoring
from hits.refusals import Refused
from hits.stats.scores import Compared, Score, difference, scores
from hits.text.systems import System, blank

LONGEST_NAME = 80
# Each new one is compared with all of them while somebody waits.
MOST_SYSTEMS = 40
REASONING = "kind of reasoning"


def scoring_of(project: Project) -> Scoring | None:
    """None: releases of its recipe have nothing that models are compared with."""
    found: Scoring | None = getattr(recipe_of(project).steps, "SCORING", None)
    return found


def evaluate(
    release: Release,
    predictions: BinaryIO,
    name: str,
    file: str = "",
    *,
    keep_as: str = "",
    user: User | None = None,
) -> dict[str, Any]:
    """{"release", "file", "n", "scores": [Score as a dictionary], "differences"}; `file` is the key of test, if none is
    named, and `name` tells the layout of the predictions.

    For programs of before there are also "exact_match" and "f1" in percent, or "accuracy" with "low" and "high", over
    all items. "differences" has the paired test of the first measure with each system that is kept, by their names:
    {"name", "difference", "p"}. With `keep_as` the scores are kept with the release under that name, in place of
    earlier ones. Raises Refused (nothing_to_compare), and FormatErrors with every fault of the predictions.
    """
    scoring = _scoring(release)
    wanted = file or next(iter(scoring.splits))
    if keep_as:
        _refuse_name(keep_as)
        if release.systems.filter(file=wanted).exclude(name=keep_as).count() >= MOST_SYSTEMS:
            raise Refused("nothing_to_compare", f"At most {MOST_SYSTEMS} systems are kept for a file. Use a kept name.")
    read = _rows(release, scoring, wanted)
    rows, answers = scoring.scored(read, scoring.predictions(predictions, name, read, settings.MAX_IMPORT_BYTES))
    compared = _compared(release, scoring, rows, answers)
    found = scores(compared, release.project.seed)
    told = {"release": release.number, "file": wanted, "n": len(rows), **_flat(found)}
    told |= {"scores": [asdict(one) for one in found], "differences": _differences(release, wanted, compared, keep_as)}
    if keep_as:
        with transaction.atomic():
            _keep(release, scoring, wanted, keep_as, compared, found, EvaluatedSystem.Kind.PREDICTIONS, user)
            detail = {"release": release.number, "name": keep_as, "file": wanted}
            record(release.project, user, "scored a system", detail=detail)
    return told


def _refuse_name(name: str) -> None:
    if name != name.strip() or len(name) > LONGEST_NAME:
        raise Refused(
            "nothing_to_compare", f"A system's name has at most {LONGEST_NAME} characters, and no space about it."
        )
    try:
        check_visible(name)
    except ValidationError as error:
        raise Refused("nothing_to_compare", " ".join(error.messages)) from error


def baselines(release: Release, user: User | None, seed: int | None = None) -> list[EvaluatedSystem]:
    """Score the recipe's simple systems, and keep the scores in place of earlier ones of these systems.

    Each learns from train and is asked about dev and test; a release that has train alone is divided into parts, each
    of which is asked after the others were learned. Raises Refused (nothing_to_compare).
    """
    scoring = _scoring(release)
    seed = release.project.seed if seed is None else seed
    asked, parts = _asked(release, scoring)
    # All of it is computed before anything is written: some systems take minutes.
    made = []
    for system in scoring.systems() if asked else ():
        answers = _answers(system, parts, seed)
        for file, rows in asked:
            made.append((system, file, _compared(release, scoring, rows, [answers[row.id] for row in rows])))
    if not made:
        raise Refused(
            "nothing_to_compare", f"Release {release.number} has too few items for baselines. Nothing was scored."
        )
    with transaction.atomic():
        kind = EvaluatedSystem.Kind.BASELINE
        release.systems.filter(kind=kind).delete()
        kept = [
            _keep(release, scoring, file, system.title, compared, scores(compared, seed), kind, user, system, seed)
            for system, file, compared in made
        ]
        record(release.project, user, "ran the baselines", detail={"release": release.number, "seed": seed})
    return kept


Parts = Sequence[tuple[Sequence[Any], Sequence[Any]]]


def _asked(release: Release, scoring: Scoring) -> tuple[list[tuple[str, list[Any]]], Parts]:
    """([(file, its rows in their order)], [(rows to learn from, rows that are asked)])."""
    empty = {split for split, count in release.manifest.get("counts", {}).items() if not count}
    read = {file: split for file, split in scoring.splits.items() if split not in empty}
    train = _rows(release, scoring, scoring.file_of("train")) if "train" in read.values() else []
    train = list(filter(scoring.has_answer, train))
    if scoring.folds:
        asked = [(scoring.file_of("train"), train)] if len(train) >= scoring.folds else []
        return asked, _folds(train, scoring.folds)
    asked = [(file, _rows(release, scoring, file)) for file, split in read.items() if split != "train"]
    return asked, [(train, [row for _, rows in asked for row in rows])]


def _folds(rows: Sequence[Any], folds: int) -> Parts:
    """Rows of one group are asked together."""
    groups = {group: at for at, group in enumerate(dict.fromkeys(row.group for row in rows))}
    of = [[row for row in rows if groups[row.group] % folds == fold] for fold in range(folds)]
    return [([row for other in of if other is not part for row in other], part) for part in of if part]


def _answers(system: System[Any], parts: Parts, seed: int) -> dict[str, Any]:
    """By the ids of the rows: parts are asked in another order than that of the file."""
    found: dict[str, Any] = {}
    for learned, asked in parts:
        answers = system.predict(learned, [blank(row) for row in asked], seed)
        found |= zip((row.id for row in asked), answers, strict=True)
    return found


def _keep(
    release: Release,
    scoring: Scoring,
    file: str,
    name: str,
    compared: Compared,
    found: Sequence[Score],
    kind: EvaluatedSystem.Kind,
    user: User | None,
    system: System[Any] | None = None,
    seed: int | None = None,
) -> EvaluatedSystem:
    about = {
        "split": scoring.splits[file],
        "kind": kind,
        "method": system.source if system else "",
        "seed": seed,
        "scores": [asdict(one) for one in found],
        "sums": np.stack(_first(compared)).astype("<f4").tobytes(),
        "created_by": user,
    }
    return EvaluatedSystem.objects.update_or_create(release=release, file=file, name=name, defaults=about)[0]


def _first(compared: Compared) -> tuple[np.ndarray, np.ndarray]:
    return next(iter(compared.measures.values()))


def _differences(release: Release, file: str, compared: Compared, name: str) -> list[dict[str, Any]]:
    """With the systems that were measured alike: BLEU is not compared with accuracy."""
    found = []
    measure = next(iter(compared.measures))
    for other in release.systems.filter(file=file, scores__0__measure=measure).exclude(name=name):
        above, below = np.frombuffer(other.sums, "<f4").reshape(2, -1).astype(float)
        by, p = difference(_first(compared), (above, below), release.project.seed)
        found.append({"name": other.name, "difference": by, "p": p})
    return found


def _flat(found: Sequence[Score]) -> dict[str, float]:
    overall = {one.measure: one for one in found if not one.division}
    if "accuracy" in overall:
        one = overall["accuracy"]
        return {"accuracy": one.value, "low": one.low, "high": one.high}
    return {name: 100 * overall[name].value for name in ("exact_match", "f1") if name in overall}


def refuse_without_key(release: Release) -> None:
    """Raises Refused (nothing_to_compare) where releases of the recipe have nothing that models are compared with."""
    _scoring(release)


def _scoring(release: Release) -> Scoring:
    found = scoring_of(release.project)
    if found is None:
        raise Refused(
            "nothing_to_compare", f"Releases of the recipe {release.project.recipe} have no key to compare with."
        )
    return found


def _rows(release: Release, scoring: Scoring, file: str) -> list[Any]:
    """The rows of the file with their right answers."""
    if file not in scoring.splits:
        raise Refused(
            "nothing_to_compare", f"Nothing is compared with {file}. Name one of {', '.join(scoring.splits)}."
        )
    with ExitStack() as stack:
        try:
            return scoring.read(partial(_open, release, stack), file, settings.MAX_IMPORT_BYTES)
        except FormatErrors as error:
            raise Refused("nothing_to_compare", f"Nothing can be compared with {file}: {error}") from error


def _open(release: Release, stack: ExitStack, name: str) -> BinaryIO:
    row = ReleaseFile.objects.select_related("blob").filter(release=release, name=name).first()
    if row is None:
        there = ", ".join(sorted(release.files.values_list("name", flat=True)))
        message = f"Release {release.number} has no file {name}. It has {there}. Name one with labels."
        raise Refused("nothing_to_compare", message)
    stream: BinaryIO = stack.enter_context(TemporaryFile())  # noqa: SIM115
    stream.writelines(row.blob.read_chunks())
    stream.seek(0)
    return stream


def _compared(release: Release, scoring: Scoring, rows: Sequence[Any], answers: Sequence[Any]) -> Compared:
    """With the kinds of reasoning, where a stage of the project labelled some of the rows."""
    found = scoring.compare(rows, answers)
    kinds = _reasoning(release.project, scoring.reasoning) if scoring.reasoning else {}
    told = [kinds.get(row.id, "") for row in rows]
    return replace(found, parts={**found.parts, REASONING: told}) if any(told) else found


def _reasoning(project: Project, stage: str) -> Mapping[str, str]:
    """The label that most workers gave to each item; an item with a tie has none."""
    if not project.stages.filter(key=stage).exists():
        return {}
    collected = Rows(project)
    names = {label["id"]: label["text"] for label in collected.settings(stage).get("labels", [])}
    kinds = {}
    for item in collected.judged(stage, labels=True):
        said = Counter(label.value for label in item.labels if label.unit == "label").most_common(2)
        if said and (len(said) == 1 or said[0][1] > said[1][1]):
            kinds[item.key] = names.get(said[0][0], str(said[0][0]))
    return kinds
