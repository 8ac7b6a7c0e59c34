"""A stage without a crowd: its items are there, counted, and nothing of it is ever priced, published or voted on."""

from decimal import Decimal

import pytest
from django.test import Client
from django.urls import reverse

from hits.answers.rules.hits_to_harvest import live_stages, unconcluded_stages
from hits.items.verbs import importing
from hits.judging.rules.recipe_rows import Rows
from hits.management.commands.demo import unfinished
from hits.models import Item, Upload
from hits.projects.rules.plugins import offered
from hits.projects.verbs import projects
from hits.publishing.verbs import publishing
from hits.recipes import RecipeError
from hits.releases.verbs import releasing
from tests.hits import factories
from tests.hits.doing import refused
from tests.hits.prepared import PROTOCOL, prepared_recipe

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("prepared_recipe")]
__all__ = ["prepared_recipe"]


@pytest.fixture
def owner():
    return factories.user("ada")


@pytest.fixture
def project(prepared_recipe, owner):
    made = projects.create_project("Texts", prepared_recipe, Decimal(10), "lab@example.org", owner)
    upload = importing.create_upload(made, "texts.txt", b"A boat came in.\n\nIt left.\n", "public", owner)
    assert importing.import_upload(upload.pk) == 3
    assert Upload.objects.get().state == Upload.State.DONE
    return made


@pytest.fixture
def stage(project):
    return project.stages.select_related("summary", "project__account").get(key="prepare")


@pytest.fixture
def client(owner):
    signed_in = Client()
    signed_in.force_login(owner)
    return signed_in


def test_it_stands_before_the_first_stage_that_asks_people(project):
    assert [(s.position, s.key, s.crowd, s.numbered) for s in project.stages.all()] == [
        (0, "prepare", False, "Prepared texts"),
        (1, "judge", True, "1 Judge"),
    ]


def test_its_items_are_counted_and_none_waits(stage):
    assert stage.summary.made == {"words": 6}
    assert (stage.summary.items, stage.summary.waiting, stage.summary.open) == (3, 0, 0)
    assert stage.summary.conclusions == [[Item.State.NEW, "empty", 1]]
    assert list(stage.items.order_by("id").values_list("figures__words", "conclusion")) == [
        (4, ""),
        (0, "empty"),
        (2, ""),
    ]


def test_it_is_never_priced_or_published(stage):
    with refused("no_crowd", match="Nobody is asked in “Prepared texts”"):
        publishing.quote(stage)
    with refused("no_crowd"):
        publishing.publish(stage, 3, Decimal(0), "page-1", None)


def test_nothing_of_it_is_due(project):
    assert live_stages() == unconcluded_stages() == publishing.unpublished() == list(unfinished(project)) == []


def test_the_chain_and_the_release_begin_at_the_first_stage_with_a_crowd(project, stage):
    stage.items.update(state=Item.State.KEPT)
    assert list(Rows(project).chain()) == []
    with refused("nothing_to_release", match="no item is here"):
        releasing.refuse_unjudged(project)


def test_a_stage_must_have_a_crowd_exactly_if_its_protocol_asks_one(tmp_path, owner):
    stages = tmp_path / "recipes" / "prepared" / "stages.toml"
    stages.write_text(stages.read_text().replace("clickable_entity", "counting"))
    with pytest.raises(RecipeError, match=r"stages\[1\].protocol counting has no page for workers: set crowd = false"):
        projects.create_project("Texts", "prepared", Decimal(10), "lab@example.org", owner)
    assert any("set crowd = false" in fault for fault in offered().faults)
    (tmp_path / "protocols" / "counting" / "protocol.py").write_text(PROTOCOL)
    stages.write_text(stages.read_text().replace("counting", "clickable_entity"))
    with pytest.raises(RecipeError, match=r"stages\[0\].protocol clickable_entity asks workers"):
        projects.create_project("Texts", "prepared", Decimal(10), "lab@example.org", owner)


PAGES = ("publish", "stage-settings", "task-settings", "answers", "hits", "rule", "draw", "extend", "expire")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_about_a_crowd_says_that_there_is_none(name, stage, client):
    response = client.get(reverse(name, args=[stage.project.slug, stage.key]))
    assert response.status_code in (405, 409)
    if response.status_code == 409:
        assert "Nobody is asked in “Prepared texts”" in response.content.decode()


def test_its_own_page_is_the_list_of_its_items(stage, client):
    response = client.get(reverse("stage", args=[stage.project.slug, stage.key]), follow=True)
    page = response.content.decode()
    assert response.status_code == 200 and "Prepared texts" in page
    assert "To be published" not in page and "HITs" not in page
    item = stage.items.first()
    assert client.get(reverse("item", args=[stage.project.slug, stage.key, item.pk])).status_code == 200


def test_the_project_shows_it_without_a_state_or_a_price(project, client):
    page = client.get(reverse("project", args=[project.slug])).content.decode()
    assert "Without a crowd" in page and "Publish 3" not in page
    assert client.get(reverse("projects")).status_code == 200


def test_the_api_refuses_what_needs_a_crowd(stage, client):
    base = f"/api/projects/{stage.project.slug}/stages/prepare/"
    assert client.get(base).json()["crowd"] is False
    assert len(client.get(base + "items/").json()["results"]) == 3
    for route in ("quote/", "batches/", "workers/", "rule/", "task/"):
        response = client.get(base + route)
        assert (response.status_code, response.json()["error"]["code"]) == (409, "no_crowd")
    changed = client.patch(base, {"reward": "0.10"}, content_type="application/json")
    assert changed.json()["error"]["code"] == "no_crowd"
