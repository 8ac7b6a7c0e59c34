"""An archived project: everything can be looked at, nothing changes, and an owner restores it. And its tags."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.utils import timezone

from hits.core.roles import READER, page_verb
from hits.models import Project
from tests.hits import factories as make
from tests.hits.api.test_guard import _everything
from tests.hits.market import Marketplace
from tests.hits.views.test_roles import FORMS
from tests.hits.world import PAGES, VERBS, World

pytestmark = pytest.mark.django_db
CALLS = [(name, method) for name in [*PAGES, *VERBS] for method in FORMS[name] if method != "HEAD"]


@pytest.fixture
def archived(world: World) -> World:
    for project in (world.project, world.table.project):
        Project.objects.filter(pk=project.pk).update(archived_at=timezone.now())
    return world


def answers(world: World, client: Client, calls: Iterable[tuple[str, str]]) -> dict[tuple[str, str], int]:
    """The status of each page with a method; what a call writes is taken back."""
    found = {}
    for name, method in calls:
        with transaction.atomic():
            found[name, method] = client.generic(method, world.url(name)).status_code
            transaction.set_rollback(True)
    return found


def test_what_changes_something_is_refused_and_the_rest_answers_as_before(
    world: World, lead_client: Client, market: Marketplace
) -> None:
    changing = {call for call in CALLS if not (verb := page_verb(*call)) or not verb.while_archived}
    others = [call for call in CALLS if call not in changing]
    before = answers(world, lead_client, others)
    for project in (world.project, world.table.project):
        Project.objects.filter(pk=project.pk).update(archived_at=timezone.now())
    assert answers(world, lead_client, CALLS) == {**dict.fromkeys(changing, 409), **before}
    assert len(changing) > 60


def test_what_is_refused_changes_nothing_and_says_who_restores_it(
    archived: World, lead_client: Client, market: Marketplace
) -> None:
    before = _everything()
    for name in ("publish", "change-tags", "approve", "block", "import"):
        page = lead_client.post(archived.url(name)).content.decode()
        assert "is archived" in page and "An owner can restore it" in page, name
    after = _everything()
    assert {name for name, rows in after.items() if rows != before[name]} <= {"Session", "User"}


def test_each_page_of_the_project_says_it_and_an_owner_restores_it_there(archived: World, lead_client: Client) -> None:
    for name in ("project", "stage", "items", "members", "releases"):
        page = lead_client.get(archived.url(name)).content.decode()
        assert "everything can be looked at, and nothing changes" in page
        assert archived.url("restore-project") in page
        for verb in ("change-budget", "import", "publish", "archive-project"):
            assert f'action="{archived.url(verb)}"' not in page
    assert lead_client.post(archived.url("restore-project")).status_code == 302
    page = lead_client.get(archived.url("project"), follow=True).content.decode()
    assert "is in use again" in page and archived.url("change-budget") in page
    assert [row.verb for row in archived.project.actions.all()][-1] == "restored the project"


def test_a_reader_sees_that_it_is_archived_and_no_way_to_restore_it(archived: World) -> None:
    carl, client = make.user("carl"), Client()
    make.member(archived.project, carl, READER)
    client.force_login(carl)
    page = client.get(archived.url("project")).content.decode()
    assert "nothing changes" in page and archived.url("restore-project") not in page


def test_an_archived_project_leaves_the_list_which_tells_how_many_there_are(lead_client: Client, alice: Any) -> None:
    project = make.project(slug="old", name="Old news", owner=alice)
    make.stage(project)
    assert lead_client.post("/projects/old/archive/", follow=True).status_code == 200
    page = lead_client.get("/").content.decode()
    assert "Old news" not in page and "1 archived" in " ".join(page.split())
    assert "Old news" in lead_client.get("/", {"state": "archived"}).content.decode()


def test_what_is_not_finished_is_not_archived_and_the_page_says_why(world: World, lead_client: Client) -> None:
    reply = lead_client.post(world.url("archive-project"))
    page = " ".join(reply.content.decode().split())
    assert reply.status_code == 409 and "was not archived" in page and "at workers. Close early, and wait." in page
    world.project.refresh_from_db()
    assert not world.project.is_archived


def test_tags_are_links_to_the_projects_that_have_them(lead_client: Client, alice: Any) -> None:
    for slug in ("one", "two", "three"):
        make.project(slug=slug, name=f"Project {slug}", owner=alice)
    assert lead_client.post("/projects/one/tags/", {"tags": "Thesis, pilot  pilot"}).status_code == 302
    assert lead_client.post("/projects/two/tags/", {"tags": "pilot"}).status_code == 302
    page = lead_client.get("/projects/one/").content.decode()
    assert '<a class="chip" href="/?find=pilot">pilot</a>' in page and 'value="pilot thesis"' in page
    found = lead_client.get("/", {"find": "pilot"}).content.decode()
    assert "Project one" in found and "Project two" in found and "Project three" not in found


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("x" * 31, "longer than 30 letters"),
        (" ".join(f"tag{n}" for n in range(11)), "at most 10 tags; these are 11"),
        ("a\x00b", "Null characters"),
        ("dael\u202e", "cannot be seen (U+202E)"),
        ("\u3164", "cannot be seen (U+3164)"),
    ],
)
def test_tags_that_may_not_be_are_refused_on_the_page(lead_client: Client, alice: Any, given: str, said: str) -> None:
    project = make.project(slug="one", owner=alice, tags="pilot")
    reply = lead_client.post("/projects/one/tags/", {"tags": given})
    assert reply.status_code == 400 and said in reply.content.decode()
    project.refresh_from_db()
    assert project.tags == "pilot"


def test_a_tag_is_text_on_every_page(lead_client: Client, alice: Any) -> None:
    make.project(slug="one", owner=alice)
    lead_client.post("/projects/one/tags/", {"tags": "<b>x</b> a&find=b"})
    for address in ("/", "/projects/one/"):
        page = lead_client.get(address).content.decode()
        assert "<b>x</b>" not in page and "&lt;b&gt;x&lt;/b&gt;" in page and "find=a%26find%3Db" in page
