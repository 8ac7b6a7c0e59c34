"""Releasing: an immutable set of files with a manifest. The same verdicts give the same bytes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max

from hits.flow.common import recipe_of
from hits.models import Blob, Item, Project, Release, ReleaseFile
from hits.recipes.source import ChainItem, ReleaseContent

MANIFEST = "manifest.json"


class NothingToReleaseError(Exception):
    """No item has come through the stages yet."""


def preview(project: Project) -> dict[str, Any]:
    """What a release made now would hold: counts per split, what is left out and why, statistics, scores."""
    content = _build(project)
    return {
        "counts": content.counts,
        "left_out": content.left_out,
        "statistics": content.statistics,
        "notes": list(content.notes),
        "scores": _scores(project),
    }


def release(project: Project, user: User | None) -> tuple[Release, bool]:
    """The release of the verdicts as they stand, and whether it is new.

    When nothing changed since the last release, that one is returned. Raises NothingToReleaseError.
    """
    content = _build(project)
    if not any(content.counts.values()):
        raise NothingToReleaseError("No item has come through the stages yet, so there is nothing to release.")
    manifest = _manifest(project, content)
    files = {**content.files, MANIFEST: to_bytes(manifest)}
    digest = hashlib.sha256(files[MANIFEST]).hexdigest()
    latest = project.releases.order_by("-number").first()
    if latest and latest.digest == digest:
        return latest, False
    return _store(project, manifest, digest, files, user), True


def to_bytes(data: Any) -> bytes:
    """JSON with one spelling: sorted keys, two spaces, a line end."""
    return (json.dumps(data, ensure_ascii=False, indent=2, sort_keys=True) + "\n").encode()


def _build(project: Project) -> ReleaseContent:
    return recipe_of(project).steps.build_release(list(_chains(project)), seed=project.seed)


def _chains(project: Project) -> Iterator[ChainItem]:
    stages = list(project.stages.order_by("position"))
    kept = [set(stage.items.filter(state=Item.State.KEPT).values_list("key", flat=True).iterator()) for stage in stages]
    rows = stages[0].items.filter(state=Item.State.KEPT).select_related("document").order_by("document__key", "key")
    for item in rows.iterator(chunk_size=2000):
        reached = _unbroken([stage.key for stage in stages], [item.key in keys for keys in kept])
        document = item.document
        yield ChainItem(
            document.key, item.key, document.origin, document.purpose, document.data, item.data, tuple(reached)
        )


def _unbroken(keys: Sequence[str], kept: Sequence[bool]) -> Iterator[str]:
    for key, stands in zip(keys, kept, strict=True):
        if not stands:
            return
        yield key


def _scores(project: Project) -> dict[str, Any]:
    return {
        stage.key: stage.summary.scores for stage in project.stages.select_related("summary") if stage.summary.scores
    }


def _manifest(project: Project, content: ReleaseContent) -> dict[str, Any]:
    recipe = recipe_of(project)
    return {
        "project": project.name,
        "recipe": {"name": recipe.name, "version": recipe.version},
        "code_version": settings.CODE_VERSION,
        "seed": project.seed,
        "options": project.options,
        "rules": {stage.key: stage.rule for stage in project.stages.all()},
        "counts": content.counts,
        "left_out": content.left_out,
        "notes": list(content.notes),
        "statistics": content.statistics,
        "scores": _scores(project),
        "files": [
            {"name": name, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            for name, data in sorted(content.files.items())
        ],
    }


@transaction.atomic
def _store(
    project: Project, manifest: dict[str, Any], digest: str, files: dict[str, bytes], user: User | None
) -> Release:
    last = project.releases.aggregate(last=Max("number"))["last"] or 0
    made = Release.objects.create(project=project, number=last + 1, digest=digest, manifest=manifest, created_by=user)
    for name, data in sorted(files.items()):
        ReleaseFile.objects.create(release=made, name=name, blob=Blob.store(data))
    return made
