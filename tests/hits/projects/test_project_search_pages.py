"""Projects are found by words of their name, recipe, tags and owners, and by the state of their stages."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from hits.models import Project, Stage
from tests.hits import factories as make
from tests.hits.api_calls import signed_in

pytestmark = pytest.mark.django_db
SEARCHES = [
    ("", "", {"a", "b", "c"}),
    ("river", "", {"a", "c"}),
    ("RIVER second", "", {"c"}),
    ("mara", "", {"b", "c"}),
    ("cosmos mara", "", {"b"}),
    ("", "live", {"a"}),
    ("", "paused", {"b"}),
    ("", "draft", {"c"}),
    ("river", "paused", set()),
    ("%", "", set()),
    ("PILOT", "", {"b"}),
    ("pilot", "archived", {"e"}),
    ("", "archived", {"e"}),
]


@pytest.fixture
def lead(db: None) -> Any:
    """With three projects and an archived one; of another lead's she sees nothing."""
    lead, mara = make.user("lena"), make.user("mara")
    rows = [
        ("a", "River one", "record", [lead], [Stage.State.LIVE, Stage.State.DRAFT]),
        ("b", "Stories", "cosmos", [lead, mara], [Stage.State.PAUSED, Stage.State.DRAFT]),
        ("c", "River, the second", "record", [lead, mara], [Stage.State.DRAFT]),
        ("d", "River of somebody", "record", [make.user("bob")], [Stage.State.LIVE]),
    ]
    for slug, name, recipe, owners, states in rows:
        project = make.project(slug=slug, name=name, recipe=recipe, owner=owners)
        for state in states:
            make.stage(project, state=state)
    Project.objects.filter(slug="b").update(tags="pilot thesis")
    make.project(slug="e", name="River of old", owner=lead, tags="pilot", archived_at=timezone.now())
    return lead


@pytest.mark.parametrize(("text", "state", "found"), SEARCHES)
def test_words_and_states_find_on_the_page_and_by_the_api(lead: Any, text: str, state: str, found: set[str]) -> None:
    rows = Project.objects.visible_to(lead).matching(text, state)
    assert {project.slug for project in rows} == found and rows.count() == len(found)
    client = Client()
    client.force_login(lead)
    page = client.get("/", {"find": text, "state": state}).content.decode()
    assert {slug for slug in "abcde" if f'id="project-{slug}"' in page} == found
    assert ("No project of yours is like that" in page) == (not found)
    query = {"find": text, "state": state} if state else {"find": text}
    answer = signed_in(lead).get("/api/projects/", query).json()
    assert {project["slug"] for project in answer["results"]} == found


def test_a_search_that_is_too_long_or_odd_finds_all(lead: Any) -> None:
    client = Client()
    client.force_login(lead)
    page = client.get("/", {"find": "x" * 500, "state": "nowhere"}).content.decode()
    assert 'id="project-a"' in page
