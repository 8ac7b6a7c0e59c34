"""The files of a Cosmos QA release, how well people do on its test part (C8).

File names and columns are those of the published data: train.csv, valid.csv and test.jsonl, whose rows have no label.
Each part comes in the other formats, too. The labels of test lie in test-key.csv; its table in Parquet has the label
-1, as data-set libraries have it, so that the three parts have the same columns.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from tempfile import TemporaryFile
from typing import Any, BinaryIO

from hits.formats.inputs import cosmos
from hits.formats.outputs.tables import COSMOS_TYPES, FORMATS, Format, write_all, write_csv
from hits.recipes.artefacts import of_tables
from hits.recipes.cosmos.scoring import KEY_FILE, PUBLISHED
from hits.recipes.source import Json, JudgedItem
from hits.stats.majority import majority_of

HIDDEN = -1


def files_of(name: str, spool: BinaryIO) -> dict[str, BinaryIO]:
    """One part in each format, from its spooled rows; of test without labels, and its key."""
    # Whoever stores the release reads them, so they outlive this function.
    streams: dict[Format, BinaryIO] = {form: TemporaryFile() for form in FORMATS}  # noqa: SIM115
    files = {f"{PUBLISHED[name]}.{form}": stream for form, stream in streams.items()}
    if name != "test":
        write_all(_rows(spool), cosmos.COLUMNS, COSMOS_TYPES, streams)
        return files
    parquet: dict[Format, BinaryIO] = {"parquet": streams.pop("parquet")}
    write_all(({**row, "label": HIDDEN} for row in _rows(spool)), cosmos.COLUMNS, COSMOS_TYPES, parquet)
    shown = [column for column in cosmos.COLUMNS if column != "label"]
    types = {column: COSMOS_TYPES[column] for column in shown}
    write_all(({column: row[column] for column in shown} for row in _rows(spool)), shown, types, streams)
    key = files[KEY_FILE] = TemporaryFile()  # noqa: SIM115
    write_csv(({"id": row["id"], "label": row["label"]} for row in _rows(spool)), ("id", "label"), key)
    return files


def _rows(spool: BinaryIO) -> Iterator[dict[str, Any]]:
    spool.seek(0)
    return map(json.loads, spool)


def artefacts(files: Mapping[str, BinaryIO]) -> Json:
    """As Table 4 of the paper (section 5.1), by a small model; see `hits.text.filtering.artefacts`."""
    tables = {split: f"{name}.jsonl" for split, name in PUBLISHED.items()}
    return of_tables(files, tables, KEY_FILE, text="context", answers=cosmos.ANSWERS)


# People


class Majorities:
    """C8: of the released sets that people answered, how many have a majority that is right (section 4.1).

    A set that is no longer as people saw it, because it was drawn before an answer was replaced, does not count, nor
    does one that waits for answers.
    """

    def __init__(self, asked: Iterable[JudgedItem]) -> None:
        self._asked = {item.key: item for item in asked if item.outcome in ("kept", "dropped")}
        self._right: list[bool] = []

    def add(self, key: str, released: Json) -> None:
        """A set of test, as it is released."""
        item = self._asked.get(key)
        if item is not None and _texts(item.data) == _texts(released):
            choices = [str(label.value) for label in item.labels if label.unit == "choice"]
            self._right.append(majority_of(choices) == released["intended"])

    def figures(self) -> Json:
        """Flat; nothing where nobody was asked. A tie is not right."""
        n = len(self._right)
        return {"human_sets": n, "human_majority": sum(self._right) / n} if n else {}


def _texts(data: Json) -> list[tuple[str, str]]:
    return [(each["id"], each["text"]) for each in data["candidates"]]
