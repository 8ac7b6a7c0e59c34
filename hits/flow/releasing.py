"""Releasing: an immutable set of files with a manifest. The same verdicts give the same bytes."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping
from typing import Any, BinaryIO

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max

from hits.flow.collecting import Rows
from hits.flow.common import recipe_of, snapshot
from hits.models import Blob, Project, Release, ReleaseFile
from hits.recipes.source import ReleaseContent

MANIFEST = "manifest.json"
PART_BYTES = 1 << 18


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
    files = {name: io.BytesIO(file) if isinstance(file, bytes) else file for name, file in content.files.items()}
    manifest = _manifest(project, content, files)
    files[MANIFEST] = io.BytesIO(to_bytes(manifest))
    digest = _sum(files[MANIFEST])
    latest = project.releases.order_by("-number").first()
    if latest and latest.digest == digest:
        return latest, False
    return _store(project, manifest, digest, files, user), True


def to_bytes(data: Any) -> bytes:
    """JSON with one spelling: sorted keys, two spaces, a line end."""
    return (json.dumps(data, ensure_ascii=False, indent=2, sort_keys=True) + "\n").encode()


def _build(project: Project) -> ReleaseContent:
    # Recipes read the items more than once, and verdicts may come meanwhile.
    with snapshot():
        return recipe_of(project).steps.build_release(Rows(project))


def _scores(project: Project) -> dict[str, Any]:
    return {
        stage.key: stage.summary.scores for stage in project.stages.select_related("summary") if stage.summary.scores
    }


def _manifest(project: Project, content: ReleaseContent, files: Mapping[str, BinaryIO]) -> dict[str, Any]:
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
            {"name": name, "bytes": file.seek(0, io.SEEK_END), "sha256": _sum(file)}
            for name, file in sorted(files.items())
        ],
    }


def _sum(file: BinaryIO) -> str:
    file.seek(0)
    digest = hashlib.sha256()
    while part := file.read(PART_BYTES):
        digest.update(part)
    return digest.hexdigest()


@transaction.atomic
def _store(
    project: Project, manifest: dict[str, Any], digest: str, files: Mapping[str, BinaryIO], user: User | None
) -> Release:
    last = project.releases.aggregate(last=Max("number"))["last"] or 0
    made = Release.objects.create(project=project, number=last + 1, digest=digest, manifest=manifest, created_by=user)
    for name, file in sorted(files.items()):
        file.seek(0)
        ReleaseFile.objects.create(release=made, name=name, blob=Blob.store_stream(file))
    return made
