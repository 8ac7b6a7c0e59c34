"""What somebody may send at once goes by the role, and is refused before it is read."""

from __future__ import annotations

import pytest
from django.test import Client

from hits.models import Project
from tests.hits import factories as make
from tests.hits.api_calls import signed_in

pytestmark = pytest.mark.django_db
MB = 1024 * 1024
FORM = "multipart/form-data; boundary=x"
LIMITS = [("reader", 9, "8.0 MB"), ("reviewer", 17, "16.0 MB"), ("manager", 65, "64.0 MB")]


@pytest.fixture
def project() -> Project:
    return make.project(name="River", slug="river")


def _too_large(client: Client, address: str, megabytes: int) -> str:
    """What is said of a body of which all but a byte is missing: whoever reads it fails."""
    answer = client.generic("POST", address, b"x", FORM, CONTENT_LENGTH=str(megabytes * MB))
    assert answer.status_code == 413
    return str(answer.content.decode())


@pytest.mark.parametrize(("role", "megabytes", "most"), LIMITS)
def test_each_role_has_its_limit_on_pages_and_in_the_api(
    project: Project, role: str, megabytes: int, most: str
) -> None:
    user = make.user("lena")
    make.member(project, user, role)
    client = Client(enforce_csrf_checks=True)
    client.force_login(user)
    said = f"This has {megabytes}.0 MB; a {role} of River may send {most} at once."
    assert said in _too_large(client, "/projects/river/releases/1/evaluate/", megabytes)
    # What is not of one limit of all is refused with its own words.
    if role != "manager":
        assert said in _too_large(signed_in(user), "/api/projects/river/releases/1/evaluate/", megabytes)


def test_strangers_and_people_outside_of_a_project_have_the_least(project: Project) -> None:
    client = Client(enforce_csrf_checks=True)
    for address in ("/sign-in/", "/projects/river/import/"):
        assert "a visitor or a worker may send 2.6 MB" in _too_large(client, address, 3)
    client.force_login(make.user("otto"))
    assert "somebody outside of a project may send 8.0 MB" in _too_large(client, "/new-project/", 9)
    assert "a visitor or a worker may send 2.6 MB" in _too_large(client, "/projects/river/import/", 9)
