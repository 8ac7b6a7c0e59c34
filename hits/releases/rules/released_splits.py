"""In which split releases had each item: it stays there, or is in no later release (`hits.recipes.dealing`)."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, islice

from hits.models import Project, Release, ReleasedItem
from hits.recipes import source
from hits.refusals import Refusal

AT_ONCE = 2000
TABLES = {"train.parquet": "train", "dev.parquet": "dev", "valid.parquet": "dev", "test.parquet": "test"}


def earlier(project: Project) -> Iterator[source.ReleasedItem]:
    """What all releases had, also those that were withdrawn."""
    rows = project.released_items.order_by("pk").values_list("key", "group", "split", "note")
    if rows.exists():
        return (source.ReleasedItem(*row) for row in rows.iterator(chunk_size=AT_ONCE))
    return chain.from_iterable(map(_of_files, project.releases.order_by("number")))


def _of_files(release: Release) -> Iterator[source.ReleasedItem]:
    """Of a release from before splits were stored: the ids in its tables. Its texts' digests are not known."""
    # Here, because it costs a web server 40 MB and two threads, and only releases of an older version need it.
    from pyarrow import parquet

    files = {file.name: file.blob for file in release.files.select_related("blob")}
    # The numbers of MCScript's texts begin anew in each release.
    named = csv.DictReader(io.StringIO(files["ids.csv"].read().decode())) if "ids.csv" in files else ()
    keys = {(row["split"], row["id"]): row["text"] for row in named}
    for file, split in TABLES.items():
        if file in files:
            ids = parquet.read_table(io.BytesIO(files[file].read()), columns=["id"])["id"].to_pylist()
            yield from (source.ReleasedItem(keys.get((split, id), id), "", split) for id in dict.fromkeys(ids))


def store(project: Project, items: Iterable[source.ReleasedItem]) -> None:
    rows = (ReleasedItem(project=project, **vars(item)) for item in items)
    while part := list(islice(rows, AT_ONCE)):
        ReleasedItem.objects.bulk_create(
            part,
            update_conflicts=True,
            unique_fields=["project", "key", "group", "split"],
            update_fields=["note"],
        )


def copy(source_project: Project, target: Project) -> None:
    """A clone keeps the splits of what was released from its source so far."""
    store(target, earlier(source_project))


def checked(project: Project, items: Iterable[source.ReleasedItem]) -> list[str]:
    """Sentences on what was released before and is in this release no more. Raises Refusal where an item of another
    split would move, which a recipe that deals by `hits.recipes.dealing` never asks for.
    """
    stood: dict[str, set[str]] = {}
    for row in earlier(project):
        stood.setdefault(row.key, set()).add(row.split)
    for item in items:
        if stood.pop(item.key, {item.split}) != {item.split}:
            raise Refusal(
                f"{item.key} was released in another split than {item.split}. The recipe has to deal its items by "
                "hits.recipes.dealing. Nothing was released."
            )
    gone = Counter(min(splits) if len(splits) == 1 else "two splits" for splits in stood.values())
    return [
        f"Of what earlier releases had in {name}, this one has {count:,} no more."
        for name, count in sorted(gone.items())
    ]
