"""Scoring what a model answered against the key of a release."""

from __future__ import annotations

from collections.abc import Callable
from tempfile import TemporaryFile
from typing import Any, BinaryIO

from django.conf import settings

from hits.domain.plugins import recipe_of
from hits.models import Project, Release, ReleaseFile
from hits.recipes.keys import KeyRefusedError
from hits.refusals import Refusal


class EvaluationRefusedError(Refusal):
    """There is nothing to compare with; the message says why, and what to do."""

    error_code = "nothing_to_compare"


def release_numbered(project: Project, number: int | None) -> Release:
    """The release, the newest one without a number. Raises EvaluationRefusedError where there is none."""
    rows = project.releases.order_by("-number")
    found = rows.first() if number is None else rows.filter(number=number).first()
    if found is None:
        wanted = "no release yet. Make one" if number is None else f"no release {number}. Name one that is there"
        raise EvaluationRefusedError(f"{project.name} has {wanted}.")
    return found


def evaluate(release: Release, predictions: BinaryIO, name: str, file: str = "") -> dict[str, Any]:
    """Measures by name, with the `file` that they were compared with: the key of test, if none is named.

    ReCoRD gives "exact_match" and "f1" in percent, the others "accuracy" as a share with its 95 % interval; "n" counts
    what was asked. `name` tells the layout of the predictions. Raises EvaluationRefusedError, and FormatErrors with
    every fault of the predictions.
    """
    steps = recipe_of(release.project).steps
    score: Callable[..., dict[str, Any]] | None = getattr(steps, "evaluate", None)
    if score is None:
        raise EvaluationRefusedError(f"Releases of the recipe {release.project.recipe} have no key to compare with.")
    wanted = file or steps.KEY_FILE
    with TemporaryFile() as key:
        _read(release, wanted, key)
        try:
            found = score(key, predictions, key_name=wanted, name=name, max_bytes=settings.MAX_IMPORT_BYTES)
        except KeyRefusedError as error:
            raise EvaluationRefusedError(str(error)) from error
    return {"release": release.number, "file": wanted, **found}


def _read(release: Release, name: str, into: BinaryIO) -> None:
    row = ReleaseFile.objects.select_related("blob").filter(release=release, name=name).first()
    if row is None:
        there = ", ".join(sorted(release.files.values_list("name", flat=True)))
        message = f"Release {release.number} has no file {name}. It has {there}. Name one with labels."
        raise EvaluationRefusedError(message)
    into.writelines(row.blob.read_chunks())
    into.seek(0)
