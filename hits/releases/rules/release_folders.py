"""A release as a folder to be loaded. The answers of test lie beside it, so that nobody learns from them unawares."""

from __future__ import annotations

import zipfile
from tempfile import TemporaryFile
from typing import BinaryIO

from hits.models import Blob, Project, Release
from hits.projects.rules.plugins import usable_recipe
from hits.releases.rules import evaluated_systems


def key_of(project: Project) -> str:
    """The name of the file with the answers of test; empty where the recipe has none, or cannot be used."""
    recipe = usable_recipe(project)
    return str(getattr(recipe.steps, "KEY_FILE", "")) if recipe else ""


def paths(release: Release, folder: str, *, keys: bool = True) -> dict[str, Blob]:
    """Each file by its path: `folder` and its name, and with `keys` FOLDER-test-key.csv or the like beside it."""
    key = key_of(release.project)
    files = {file.name: file.blob for file in release.files.select_related("blob")}
    beside = {f"{folder}-{key}": files[key]} if keys and key in files else {}
    return {**{f"{folder}/{name}": blob for name, blob in files.items() if name != key}, **beside}


def zipped(release: Release, *, keys: bool) -> BinaryIO:
    """The folder as a zip archive, to be read from its beginning, with the systems that were evaluated so far."""
    made = TemporaryFile()  # noqa: SIM115
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, blob in paths(release, name_of(release), keys=keys).items():
            with archive.open(path, "w", force_zip64=True) as target:
                target.writelines(blob.read_chunks())
        if told := evaluated_systems.markdown(release):
            archive.writestr(f"{name_of(release)}/{evaluated_systems.FILE}", told)
    made.seek(0)
    return made


def name_of(release: Release) -> str:
    return f"{release.project.slug}-{release.number}"
