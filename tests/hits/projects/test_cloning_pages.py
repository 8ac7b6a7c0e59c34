"""Pages: a project cloned, written as a file, and started from one."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from hits.models import Membership, Project
from hits.projects.verbs import project_files, projects
from hits.stages.verbs import stage_settings
from tests.hits import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def project(alice: Any) -> Project:
    made = projects.create_project("River", "choice", Decimal("20.00"), "lab@example.org", alice, seed=3)
    stage_settings.change(made.stages.get(), {"reward": "0.11"}, alice)
    return made


def test_a_clone_is_named_priced_and_opened(lead_client: Client, project: Project) -> None:
    make.item(project.stages.get())
    page = lead_client.get("/projects/river/clone/").content.decode()
    assert 'value="River (copy)"' in page and 'value="20.00"' in page
    assert lead_client.post("/projects/river/clone/", {"name": "", "budget": "x"}).status_code == 400
    reply = lead_client.post("/projects/river/clone/", {"name": "Second", "budget": "3.00", "items": "on"}, follow=True)
    assert reply.redirect_chain[-1][0] == "/projects/second/"
    made = Project.objects.get(slug="second")
    assert (made.stages.get().reward, made.stages.get().items.count()) == (Decimal("0.11"), 1)


def test_a_project_whose_owner_left_is_cloned_by_a_manager_who_owns_the_clone(project: Project, alice: Any) -> None:
    make.item(project.stages.get())
    manager = make.user("manager")
    Membership.objects.create(project=project, user=manager, role="manager")
    alice.delete()
    client = Client()
    client.force_login(manager)
    assert client.get("/projects/river/clone/").status_code == 200
    client.post("/projects/river/clone/", {"name": "Second", "budget": "3.00", "items": "on"})
    made = Project.objects.get(slug="second")
    assert [(one.user.username, one.role) for one in made.memberships.all()] == [("manager", "owner")]
    assert (made.stages.get().reward, made.stages.get().items.count()) == (Decimal("0.11"), 1)
    assert Project.objects.get(slug="river").stages.get().items.count() == 1


def test_a_project_older_than_a_stage_of_its_recipe_is_not_cloned_and_says_why(lead_client: Client, alice: Any) -> None:
    old = make.stage(make.project(owner=alice, recipe="record", slug="old")).project
    reply = lead_client.post("/projects/old/clone/", {"name": "Second", "budget": "3.00"})
    assert reply.status_code == 400 and "stages must be those of the recipe record" in reply.content.decode()
    assert list(Project.objects.all()) == [old]


def test_an_address_without_its_last_slash_leads_on_under_the_same_policy(lead_client: Client) -> None:
    reply = lead_client.get("/projects/river")
    assert (reply.status_code, reply["Location"]) == (301, "/projects/river/")
    assert "default-src" in reply["Content-Security-Policy"]


def test_a_file_goes_out_and_starts_a_project_or_says_what_is_wrong(lead_client: Client, project: Project) -> None:
    content = lead_client.get("/projects/river/recipe.toml").content
    assert content.decode() == project_files.written(project)
    typed = {"name": "By file", "budget": "3.00", "contact_email": "lab@example.org"}
    lead_client.post(reverse("new-project"), {**typed, "file": SimpleUploadedFile("river.toml", content)})
    assert Project.objects.get(slug="by-file").stages.get().reward == Decimal("0.11")
    wrong = SimpleUploadedFile("river.toml", b"speed = 3\n" + content)
    reply = lead_client.post(reverse("new-project"), {**typed, "name": "Wrong", "file": wrong})
    assert reply.status_code == 400 and "speed is unknown: remove it." in reply.content.decode()
    reply = lead_client.post(reverse("new-project"), {**typed, "name": "Wrong"})
    assert "Choose a recipe, or the file of a project." in reply.content.decode()
    assert not Project.objects.filter(name="Wrong").exists()
