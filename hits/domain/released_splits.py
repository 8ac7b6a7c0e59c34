"""In which split releases had each item: it stays there, or is in no later release (`hits.recipes.dealing`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice

from hits.models import Project, ReleasedItem
from hits.recipes import source
from hits.refusals import Refusal

AT_ONCE = 2000


def earlier(project: Project) -> Iterator[source.ReleasedItem]:
    """What all releases had, also those that were withdrawn."""
    rows = project.released_items.order_by("pk").values_list("key", "group", "split", "note")
    return (source.ReleasedItem(*row) for row in rows.iterator(chunk_size=AT_ONCE))


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
        f"{count:,} items that earlier releases had in {name} are not in this one."
        for name, count in sorted(gone.items())
    ]
