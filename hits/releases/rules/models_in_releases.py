"""What a release says of the items that models decided, without an answer of people."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, BinaryIO

from hits.answers.models import Verdict
from hits.formats.outputs.tables import write_jsonl
from hits.model_assist.models import ModelAnnotator, RoutedItem
from hits.model_assist.rules import model_agreement
from hits.projects.models import Project
from hits.recipes.source import Json
from hits.releases.rules.release_values import Told
from hits.stages.models import Stage
from hits.stats.audit import Estimate, Share

FILE = "decided-by-models.jsonl"
COLUMNS = ("stage", "item", "model", "confidence")
# Items that are read at once.
CHUNK = 500


def files_of(project: Project, told: Told) -> dict[str, BinaryIO]:
    """{FILE: a line for each item of which a release may tell labels and which models decided}; empty without any."""
    # Whoever stores the release reads it; it is gone with the last reference.
    file: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115
    return {FILE: file} if write_jsonl(_rows(project, told), COLUMNS, file) else {}


def _rows(project: Project, told: Told) -> Iterator[Json]:
    for stage in project.stages.filter(key__in=told).order_by("position"):
        if not Verdict.objects.by_models(stage).exists():
            continue
        items = told[stage.key]()
        while part := list(islice(items, CHUNK)):
            yield from _part(stage, [item.key for item in part])


def _part(stage: Stage, keys: Sequence[str]) -> Iterator[Json]:
    decided = Verdict.objects.by_models(stage).filter(item__key__in=keys).values("item")
    rows = RoutedItem.objects.deciding().filter(item__in=decided)
    columns = ("item__key", "answer__annotator__name", "answer__annotator__version", "confidence")
    found = {key: (f"{name} {version}", sure) for key, name, version, sure in rows.values_list(*columns)}
    for key in keys:
        if key in found:
            yield {"stage": stage.key, "item": key, "model": found[key][0], "confidence": found[key][1]}


def described(stage: Stage) -> Json | None:
    """{"items", "kept", "models", "audited": {"differ", "of"}, "people_wrong", "error"}, None where models decided
    nothing.

    `audited` and `people_wrong` are counts; `error` is the models' estimated error with its interval, null without
    known answers.
    """
    items = stage.summary.decided_by_models
    if not items:
        return None
    routings = model_agreement.standing(stage)
    found = model_agreement.audit(stage, routings)
    models = ModelAnnotator.objects.filter(routings__in=routings).distinct().order_by("pk")
    error = found.estimate
    return {
        "items": items,
        "kept": stage.summary.kept_by_models,
        "models": [str(row) for row in models],
        "audited": {"differ": found.differ.count, "of": found.differ.of},
        "people_wrong": {"count": found.people_wrong.count, "of": found.people_wrong.of},
        "error": {name: round(value, 4) for name, value in vars(error).items()} if error else None,
    }


def facts(found: Mapping[str, Any] | None) -> dict[str, str]:
    """What the card of a release says of it; empty without any."""
    if not found:
        return {}
    differ = Share(found["audited"]["differ"], found["audited"]["of"])
    told = {
        "Items decided by models, without an answer of people": (
            f"{found['items']:,}, of which {found['kept']:,} {'is' if found['kept'] == 1 else 'are'} kept "
            f"({', '.join(found['models'])})"
        ),
        "Audited items on which people say another value than these models": _said(differ),
    }
    if found["error"] and (error := Estimate(**found["error"])).tells:
        told["Estimated error of these models"] = f"{error.value:.1%} ({error.low:.1%} to {error.high:.1%})"
    return told


def _said(share: Share) -> str:
    return f"{share.count:,} of {share.of:,} ({share.low:.1%} to {share.high:.1%})" if share.of else "none audited yet"
