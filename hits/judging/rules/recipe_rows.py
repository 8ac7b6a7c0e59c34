"""A project's rows as the recipe's steps read them. Reads only; several verbs hand them on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models import Exists, F, OuterRef, Q
from django.db.models.functions import Collate

from hits.model_assist.rules import model_votes
from hits.models import ComputationResult, ComputationRun, Item, ItemChange, Label, Project, Stage, Verdict
from hits.projects.rules.plugins import options_of, settings_of
from hits.recipes.source import ChainItem, GivenLabel, JudgedItem, ReleasedItem
from hits.releases.rules import released_splits

# With their texts: two parts are in memory at a time.
CHUNK = 500
Labels = tuple[GivenLabel, ...]
_OUTCOMES = {Item.State.KEPT: "kept", Item.State.DROPPED: "dropped", Item.State.WITHDRAWN: "withdrawn"}
_COLUMNS = (
    "pk",
    "key",
    "data",
    "document__key",
    "document__data",
    "document__origin",
    "document__purpose",
    "state",
    "conclusion",
)


def judged(stage: Stage, item: Item, verdict: Verdict, labels: Sequence[GivenLabel]) -> JudgedItem:
    document = item.document
    return JudgedItem(
        stage=stage.key,
        key=item.key,
        data=item.data,
        document_key=document.key,
        document=document.data,
        origin=document.origin,
        purpose=document.purpose,
        outcome=verdict.outcome,
        conclusion=verdict.conclusion,
        parts=verdict.parts,
        labels=tuple(labels),
        by_models=verdict.routing_id is not None,
    )


def labels_of(items: Sequence[int]) -> dict[int, Labels]:
    """The labels that count, by item, in the order of submission; of items that models decided, those of a model."""
    found: dict[int, list[GivenLabel]] = defaultdict(list)
    rows = Label.objects.counting().filter(item__in=items).order_by("assignment__submitted_at", "id")
    columns = ("item", "worker__worker_id", "assignment__assignment_id", "unit", "value", "correct")
    for item, *label in rows.values_list(*columns):
        found[item].append(GivenLabel(*label))
    of_models = model_votes.labels_of([item for item in items if item not in found])
    return {**{item: tuple(labels) for item, labels in found.items()}, **of_models}


class Rows:
    """`Collected` over a project's tables."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self.seed, self.pseudonym_key = project.seed, project.pseudonym_key
        self.options = options_of(project)
        self.plugins: Sequence[Path] = settings.PLUGIN_DIRS

    def settings(self, stage: str) -> dict[str, Any]:
        return settings_of(self._project.stages.get(key=stage))

    def chain(self) -> Iterator[ChainItem]:
        first, *later = self._project.stages.filter(crowd=True).order_by("position")
        rows = first.items.filter(state=Item.State.KEPT).select_related("document")
        rows = rows.order_by(by_code_point("document__key"), by_code_point("key"))
        items = rows.iterator(chunk_size=CHUNK)
        while chunk := list(islice(items, CHUNK)):
            kept = [_kept(stage, chunk) for stage in later]
            for item in chunk:
                reached = [first.key]
                for stage, of_stage in zip(later, kept, strict=True):
                    if item.key not in of_stage:
                        break
                    reached.append(stage.key)
                document = item.document
                yield ChainItem(
                    document.key, item.key, document.origin, document.purpose, document.data, item.data, tuple(reached)
                )

    def judged(self, stage: str, *, labels: bool = False, computation: str = "") -> Iterator[JudgedItem]:
        run = newest_run(self._project, computation) if computation else None
        of = self._project.stages.filter(key=stage).first()
        if of is None:
            # The project began before its recipe had this stage.
            return
        items = of.items.exclude(state=Item.State.CHECK)
        rows = items.order_by("document__key", "key").values_list(*_COLUMNS).iterator(chunk_size=CHUNK)
        while chunk := list(islice(rows, CHUNK)):
            pks = [row[0] for row in chunk]
            given = labels_of(pks) if labels else {}
            parts = _parts(pks)
            found = _results(run, pks) if run else {}
            by_models = model_votes.by_models(pks)
            for row in chunk:
                pk = row[0]
                judged_row = _judged_row(of, row, parts.get(pk, {}), given.get(pk, ()), found.get(pk))
                yield replace(judged_row, by_models=True) if pk in by_models else judged_row

    def outcomes(self, stage: str) -> Iterator[tuple[str, str]]:
        items = Item.objects.filter(stage__project=self._project, stage__key=stage).exclude(state=Item.State.CHECK)
        for key, state in items.order_by().values_list("key", "state").iterator(chunk_size=CHUNK):
            yield key, _OUTCOMES.get(Item.State(state), "open")

    def released(self) -> Iterator[ReleasedItem]:
        return released_splits.earlier(self._project)

    def found(self, computation: str) -> Iterator[tuple[str, dict[str, Any]]]:
        run = newest_run(self._project, computation)
        if run:
            results = ComputationResult.objects.filter(run=run).order_by("item__key")
            yield from results.values_list("item__key", "data").iterator(chunk_size=CHUNK)


def newest_run(project: Project, computation: str) -> ComputationRun | None:
    """The newest finished run."""
    done = project.computation_runs.filter(key=computation, state=ComputationRun.State.DONE)
    return done.order_by("-id").first()


def by_code_point(column: str) -> Collate | F:
    """The order of Python's texts, whatever the database's own: files have the same order on every server."""
    return Collate(F(column), "C") if connection.vendor == "postgresql" else F(column)


def _kept(stage: Stage, items: Sequence[Item]) -> set[str]:
    """Those of the items' keys that the stage keeps, too."""
    kept = stage.items.filter(state=Item.State.KEPT, key__in=[item.key for item in items])
    return set(kept.values_list("key", flat=True))


def _parts(items: Sequence[int]) -> dict[int, dict[str, str]]:
    """Only of verdicts that have any."""
    standing = Verdict.objects.filter(item__in=items, superseded_at=None).exclude(parts={})
    return dict(standing.values_list("item", "parts"))


def _results(run: ComputationRun, items: Sequence[int]) -> dict[int, dict[str, Any]]:
    """Without those of items that were changed since the run began: it concluded about something else."""
    began = run.started_at or run.created_at
    since = Q(changed_at__gt=began) | Q(undone_at__gt=began)
    changed = ItemChange.objects.filter(since, item=OuterRef("item"))
    results = ComputationResult.objects.filter(~Exists(changed), run=run, item__in=items)
    return dict(results.values_list("item", "data"))


def _judged_row(
    stage: Stage, row: Sequence[Any], parts: dict[str, str], labels: Labels, computed: dict[str, Any] | None
) -> JudgedItem:
    _, key, data, document_key, document, origin, purpose, state, conclusion = row
    outcome = _OUTCOMES.get(state, "open")
    return JudgedItem(
        stage.key, key, data, document_key, document, origin, purpose, outcome, conclusion, parts, labels, computed
    )
