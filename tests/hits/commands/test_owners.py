"""Owners of a project on the command line."""

from __future__ import annotations

import pytest
from django.core.management.base import CommandError

from hits.models import Project
from tests.hits import factories as make
from tests.hits.commands.conftest import Run, logged

pytestmark = pytest.mark.django_db


@pytest.fixture
def river() -> Project:
    make.user("omar")
    make.user("gone", is_active=False)
    return make.project(slug="river", owner=make.user("lena"))


def names(project: Project) -> list[str]:
    return sorted(project.owners.values_list("username", flat=True))


def test_owners_are_listed_added_and_removed(run: Run, river: Project) -> None:
    assert run("owners", "river") == "lena\n"
    for _ in range(2):
        assert run("owners", "river", "--add", "omar") == "lena\nomar\n"
    assert run("owners", "river", "--remove", "lena", "--yes") == "omar\n"
    assert logged(river) == ["added an owner", "removed an owner"]
    assert [row.detail for row in river.actions.order_by("id")] == [{"owner": "omar"}, {"owner": "lena"}]


def test_a_project_is_handed_over_at_once(run: Run, river: Project) -> None:
    assert run("owners", "river", "--add", "omar", "--remove", "lena", "--yes") == "omar\n"
    assert names(river) == ["omar"]


def test_a_project_is_not_taken_from_anybody_unasked(run: Run, river: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("builtins.input", lambda question: "n")
    with pytest.raises(CommandError, match="Nothing was changed"):
        run("owners", "river", "--add", "omar", "--remove", "lena")
    assert (names(river), logged(river)) == (["lena"], [])
    monkeypatch.setattr("builtins.input", lambda question: "y")
    assert run("owners", "river", "--add", "omar", "--remove", "lena") == "omar\n"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--add", "omar", "--add", "nobody"), "There is no user 'nobody'"),
        (("--add", "gone"), "There is no user 'gone'"),
        (("--add", "omar", "--remove", "omar"), "omar does not own river. Its owners: lena"),
        (("--remove", "lena"), "needs an owner"),
    ],
)
def test_a_refusal_changes_no_owner(run: Run, river: Project, arguments: tuple[str, ...], reason: str) -> None:
    with pytest.raises(CommandError, match=reason):
        run("owners", "river", *arguments, "--yes")
    assert (names(river), logged(river)) == (["lena"], [])


def test_where_one_removal_is_refused_the_others_are_not_made_either(run: Run, river: Project) -> None:
    river.owners.add(make.user("nora"))
    with pytest.raises(CommandError, match="needs an owner"):
        run("owners", "river", "--remove", "nora", "--remove", "lena", "--yes")
    assert (names(river), logged(river)) == (["lena", "nora"], [])
