"""A release: a fixed set of files, downloaded with their sums checked."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path, PurePosixPath
from typing import Any, cast

from annotate_client.api import Api, path
from annotate_client.errors import ChecksumError
from annotate_client.progress import Progress, Report
from annotate_client.shapes import ReleaseDetailShape, ReleaseFileShape, ReleaseShape

MANIFEST = "manifest.json"
PART = ".part"


class Release:
    """`row` is what the API said of it; a release never changes."""

    def __init__(self, api: Api, slug: str, row: ReleaseShape | ReleaseDetailShape) -> None:
        self.api = api
        self.slug = slug
        self.row = row

    def __repr__(self) -> str:
        return f"Release({self.slug!r}, {self.number})"

    @property
    def number(self) -> int:
        return self.row["number"]

    @property
    def manifest(self) -> dict[str, Any]:
        """What is in it, how it was collected, and the sums of its files."""
        return self._detail()["manifest"]

    @property
    def files(self) -> list[ReleaseFileShape]:
        return self._detail()["files"]

    def download(
        self, folder: str | os.PathLike[str], *, keys: bool = True, progress: Report | None = None
    ) -> list[Path]:
        """Write all files into a folder, which is made where it is not there; their paths.

        The file with the answers of test goes beside it, as FOLDER-test-key.csv or the like; without `keys` nowhere.

        Each is compared with the sum that the API names and with the manifest, and has its name only when it is whole.
        What is there already and right is left as it is, so a download that broke off goes on. Raises ChecksumError,
        and FileExistsError for another file of the same name, before anything is written.
        """
        root, files = Path(folder).resolve(), [file for file in self.files if keys or not file["is_key"]]
        targets = {file["name"]: _target(root, file) for file in files}
        there = {name for name, target in targets.items() if target.exists()}
        for file in files:
            if file["name"] in there and _sum_of(targets[file["name"]]) != file["sha256"]:
                raise FileExistsError(f"{targets[file['name']]} is another file. Choose an empty folder.")
        for number, file in enumerate(files):
            if progress:
                progress(Progress(f"Downloading release {self.number}", number, len(files)))
            if file["name"] not in there:
                self._fetch(file, targets[file["name"]])
        if progress:
            progress(Progress(f"Downloading release {self.number}", len(files), len(files)))
        _compare_with_manifest(targets, {file["name"]: file["sha256"] for file in files})
        return list(targets.values())

    def _fetch(self, file: ReleaseFileShape, target: Path) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(f"{target.name}{PART}")
        digest, left = hashlib.sha256(), file["bytes"]
        address = path("projects", self.slug, "releases", self.number, "files", *file["name"].split("/"))
        try:
            with self.api.stream(address) as pieces, part.open("wb") as written:
                for piece in pieces:
                    digest.update(piece)
                    left -= len(piece)
                    if left < 0:
                        break
                    written.write(piece)
            if left or digest.hexdigest() != file["sha256"]:
                raise ChecksumError(f"{file['name']} came with other bytes than the release names. Download it again.")
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)

    def _detail(self) -> ReleaseDetailShape:
        if "files" not in self.row:
            self.row = cast(ReleaseDetailShape, self.api.get(path("projects", self.slug, "releases", self.number)))
        return cast(ReleaseDetailShape, self.row)


def _target(root: Path, file: ReleaseFileShape) -> Path:
    return _inside(root.parent, f"{root.name}-{file['name']}") if file["is_key"] else _inside(root, file["name"])


def _inside(root: Path, name: str) -> Path:
    """Raises ChecksumError for a name that would lead out of the folder."""
    parts = PurePosixPath(name).parts
    is_odd = "\\" in name or ":" in name or "\0" in name
    if not parts or name.startswith("/") or ".." in parts or is_odd:
        raise ChecksumError(f"{name!r} is no name of a file of a release. Nothing was written.")
    return root.joinpath(*parts)


def _sum_of(file: Path) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while part := stream.read(1 << 20):
            digest.update(part)
    return digest.hexdigest()


def _compare_with_manifest(targets: dict[str, Path], sums: dict[str, str]) -> None:
    """The manifest names every file but itself, with its sum unless that is secret."""
    if MANIFEST not in targets:
        raise ChecksumError(f"The release has no {MANIFEST}.")
    listed = {file["name"]: file for file in json.loads(targets[MANIFEST].read_text(encoding="utf-8"))["files"]}
    # The answers of test may have stayed where they are.
    beside = {name for name, file in listed.items() if file.get("beside_the_folder") and name not in targets}
    if odd := (listed.keys() - beside) ^ (targets.keys() - {MANIFEST}):
        raise ChecksumError(f"The manifest and the release name different files: {', '.join(sorted(odd))}.")
    wrong = [name for name, file in listed.items() if name in sums and file.get("sha256", sums[name]) != sums[name]]
    if wrong:
        raise ChecksumError(f"The manifest names other sums of {', '.join(wrong)}.")
