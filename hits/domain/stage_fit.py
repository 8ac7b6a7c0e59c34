"""What of a stage's values does not fit the other stages of its project, as sentences."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet

from hits.models.projects import Stage


def order_faults(earlier: QuerySet[Stage], keys: Any) -> list[str]:
    """Of `asks_other_workers_than`; `earlier` are the stages before this one. What is no list is told elsewhere."""
    known = set(earlier.filter(crowd=True).values_list("key", flat=True))
    wrong = [key for key in keys if key not in known] if isinstance(keys, list | tuple) else []
    return [f"asks_other_workers_than must name earlier stages, not {key!r:.60}." for key in wrong]


def title_faults(others: QuerySet[Stage], hit_title: Any) -> list[str]:
    """`others` are the project's stages without this one."""
    if isinstance(hit_title, str) and others.filter(hit_title=hit_title).exists():
        return ["hit_title is that of another stage of this project: workers could not tell the two apart."]
    return []
