"""A project: what comes in, its stages, its releases."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import cast

from annotate_client.api import Api, path
from annotate_client.errors import ImportRefusedError, WaitTimeoutError
from annotate_client.progress import Progress, Report, watch
from annotate_client.releases import Release
from annotate_client.shapes import ProjectDetailShape, ProjectShape, ReleaseDetailShape, StageShape, UploadDetailShape
from annotate_client.stages import Stage
from annotate_client.tables import Table, as_file

# Of an import that has ended.
DONE = "done"
ENDED = frozenset({DONE, "refused", "stopped", "failed", "removed"})


class Project:
    """`row` is what the API said last; `refresh` asks again."""

    def __init__(self, api: Api, row: ProjectShape | ProjectDetailShape) -> None:
        self.api = api
        self.row = row

    def __repr__(self) -> str:
        return f"Project({self.slug!r})"

    @property
    def slug(self) -> str:
        """Names it in addresses."""
        return self.row["slug"]

    @property
    def name(self) -> str:
        return self.row["name"]

    def refresh(self) -> Project:
        self.row = cast(ProjectDetailShape, self.api.get(self._path()))
        return self

    def stages(self) -> list[Stage]:
        """In their order, with their figures."""
        rows: Iterator[StageShape] = self.api.pages(self._path("stages"))
        return [Stage(self.api, self.slug, row) for row in sorted(rows, key=lambda row: row["position"])]

    def stage(self, key: str) -> Stage:
        """Raises NotFoundError."""
        return Stage(self.api, self.slug, cast(StageShape, self.api.get(self._path("stages", key))))

    def import_items(
        self,
        table: Table,
        *,
        columns: Mapping[str, str] | None = None,
        origin: str = "public",
        encoding: str = "",
        name: str | None = None,
        progress: Report | None = None,
        timeout: float = 3600.0,
    ) -> UploadDetailShape:
        """Import a DataFrame, rows (mappings of column names to values) or a file, and wait until its items are there.

        `columns` has the column by field, such as {"text": "passage"}; other fields are read as last time or by the
        names of the columns. The index of a DataFrame is left out. `encoding` is that of a file that is not UTF-8.
        `name` is how the import is called in lists.

        Nothing comes in unless everything does. Raises TableError before anything is sent; InvalidError for columns
        that are not there; ImportRefusedError with every fault and its line; WaitTimeoutError after so many seconds:
        then the import goes on.
        """
        fields = {"origin": origin, "encoding": encoding}
        if columns is not None:
            fields["mapping"] = json.dumps(dict(columns))
        with as_file(table, name) as (called, file):
            sent = cast(UploadDetailShape, self.api.send_file(self._path("uploads"), called, file, fields))
        upload, is_over = watch(
            lambda: cast(UploadDetailShape, self.api.get(self._path("uploads", sent["id"]))),
            _of_import,
            lambda row: row["state"] in ENDED,
            progress,
            timeout,
        )
        if not is_over:
            raise WaitTimeoutError(timeout, _of_import(upload), f"It is import {upload['id']}.")
        if upload["state"] != DONE:
            raise ImportRefusedError(upload)
        return upload

    def releases(self) -> Iterator[Release]:
        """Oldest first. Each asks for its files when they are wanted."""
        return (Release(self.api, self.slug, row) for row in self.api.pages(self._path("releases")))

    def release(self, number: int) -> Release:
        """Raises NotFoundError."""
        return Release(self.api, self.slug, cast(ReleaseDetailShape, self.api.get(self._path("releases", number))))

    def make_release(self, *, progress: Report | None = None, timeout: float = 3600.0) -> Release:
        """A fixed set of files of all that is decided now; the newest release where nothing changed since.

        Raises ConflictError where there is nothing to release. A large one is made in the background: where none came
        after `timeout` seconds, WaitTimeoutError is raised, also because nothing changed.
        """
        before = max((found.number for found in self.releases()), default=0)
        status, made = self.api.call("POST", self._path("releases"), body={})
        if status in (200, 201):
            return Release(self.api, self.slug, cast(ReleaseDetailShape, made))
        newest, is_over = watch(
            lambda: max((found.number for found in self.releases()), default=0),
            lambda number: Progress("Making the release", int(number > before), 1),
            lambda number: number > before,
            progress,
            timeout,
        )
        if not is_over:
            why = f"Nothing may have changed since release {before}." if before else ""
            raise WaitTimeoutError(timeout, Progress("Making the release", 0, 1), why)
        return self.release(newest)

    def _path(self, *parts: object) -> str:
        return path("projects", self.slug, *parts)


def _of_import(row: UploadDetailShape) -> Progress:
    return Progress(f"Importing {row['name']} ({row['state']})", row["done"], row["total"])
