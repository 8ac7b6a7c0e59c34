"""How much a route sends, in a project whose lists are full and whose texts are as long as they may be."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from hits.models import Stage
from tests.hits import long_texts
from tests.hits.api.test_guard import GUARDED, address, world
from tests.hits.api_calls import STAGE

__all__ = ["world"]
pytestmark = pytest.mark.django_db
LARGEST = 2_000_000
# What is to be whole, whatever its size.
DOWNLOADS = {
    "annotations", "computation-files", "media-content", "project-results", "recipe-file", "release-file", "results",
    "release-archive", "sample-file",
}  # fmt: skip


def test_no_answer_of_the_api_is_larger_than_it_may_be(
    world: dict[str, Any], river_stage: Stage, api: APIClient, alice: Any, market: Any
) -> None:
    long_texts.fill(river_stage, world["rows"]["item"], alice)
    sizes, strange = {}, {}
    for route in (route for route, method in GUARDED if method == "get" and route.name not in DOWNLOADS):
        reply = api.get(address(route, world))
        sizes[route.name] = len(reply.content)
        if reply.status_code != 200 or "Content-Disposition" in reply.headers:
            strange[route.name] = reply.status_code
    assert strange == {}
    assert {name: size for name, size in sizes.items() if size > LARGEST} == {}
    # Else it would ask about an empty project.
    assert sizes["answers"] > 200_000 and sizes["inbox"] > 200_000
    found: list[int] = []
    following = STAGE + "answers/?limit=500"
    for _ in range(3):
        page = api.get(following).json()
        found += [row["id"] for row in page["results"]]
        assert all(len(row["answer"]["text"]) in (len("Linden"), 250_000) for row in page["results"])
        following = page["next"]
    # Whole, page after page, though none has as many as were asked for.
    assert found == list(river_stage.assignments.order_by("pk").values_list("pk", flat=True)[: len(found)])
    assert 3 <= len(found) < 30
