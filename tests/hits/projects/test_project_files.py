"""A project as a TOML file: what goes out comes in again, a clone has the same settings, and faults are all named."""

from __future__ import annotations

import tomllib
from decimal import Decimal
from typing import Any

import pytest
import tomli_w

from hits.models import Item, Project, Stage
from hits.projects.verbs import project_files, projects
from hits.recipes import available
from hits.stages.rules.stage_tables import table_of
from hits.stages.verbs import stage_settings
from tests.hits import factories as make
from tests.hits.doing import refused

pytestmark = pytest.mark.django_db


def settings_of(project: Project) -> list[dict[str, Any]]:
    return [table_of(stage) if stage.crowd else {"key": stage.key, "settings": stage.settings}
            for stage in project.stages.order_by("position")]  # fmt: skip


def offered_tests(project: Project) -> list[dict[str, Any]]:
    columns = ("key", "title", "description", "questions", "pass_mark", "minutes", "retry_days")
    return list(project.qualification_tests.order_by("id").values(*columns))


@pytest.mark.parametrize("recipe", available())
def test_what_a_project_of_any_recipe_writes_makes_the_same_project(recipe: str) -> None:
    lead = make.user()
    project = projects.create_project("River", recipe, Decimal("20.00"), "lab@example.org", lead)
    file = project_files.read(project_files.written(project).encode())
    made = project_files.create_from(file, "Again", Decimal("5.00"), "lab@example.org", lead)
    assert settings_of(made) == settings_of(project)
    assert (made.options, made.recipe, offered_tests(made)) == (project.options, project.recipe, offered_tests(project))
    assert project_files.written(made) == project_files.written(project)
    assert made.namespace != project.namespace and made.account.budget == Decimal("5.00")


def changed_project() -> Project:
    project = projects.create_project("River", "record", Decimal("20.00"), "lab@example.org", make.user(), seed=3)
    projects.change_options(project, {"dev_share": 0.25})
    stage = project.stages.get(key="validate")
    stage_settings.change(stage, {"reward": "0.09", "answers": 3, "title": "First “look”"}, None)
    Stage.objects.filter(pk=stage.pk).update(auto_block=False, advance_approved=False)
    return project


def test_a_clone_has_what_was_changed_and_none_of_the_people_and_the_money() -> None:
    project = changed_project()
    make.user("other")
    other = make.user()
    made = project_files.clone(project, "Second", Decimal("7.00"), other)
    assert settings_of(made) == settings_of(project) and made.options["dev_share"] == 0.25
    assert [owner.pk for owner in made.owners.all()] == [other.pk]
    assert (made.account.budget, made.account.reserved, made.account.paid) == (Decimal("7.00"), 0, 0)
    assert not Item.objects.filter(stage__project=made).exists()
    assert made.actions.get().detail == {"project": project.slug, "items": False, "splits": False}


def test_a_clone_with_items_has_what_was_imported_to_be_published_again() -> None:
    project = changed_project()
    first, second = project.stages.get(key="validate"), project.stages.get(key="revalidate")
    kept = make.item(first, state=Item.State.KEPT, conclusion="valid", data={"query": "A boat lands."})
    waiting = make.item(first, document=kept.document)
    make.item(second, document=kept.document, parent=kept)
    made = project_files.clone(project, "Second", Decimal("7.00"), make.user(), items=True)
    rows = Item.objects.filter(stage__project=made).order_by("id")
    assert [(row.key, row.stage.key, row.state, row.data, row.conclusion) for row in rows] == [
        (kept.key, "validate", "new", {"query": "A boat lands."}, ""),
        (waiting.key, "validate", "new", waiting.data, ""),
    ]
    assert made.documents.get().data == kept.document.data
    assert made.stages.get(key="validate").summary.waiting == 2


def test_a_clone_costs_the_same_queries_however_many_items(django_assert_max_num_queries: Any) -> None:
    project = changed_project()
    document = make.item(project.stages.get(key="validate")).document
    make.items(project.stages.get(key="validate"), 300, document=document)
    with django_assert_max_num_queries(140):
        project_files.clone(project, "Second", Decimal("7.00"), make.user(), items=True)


def test_every_fault_is_named_with_its_place_and_nothing_is_made() -> None:
    project = changed_project()
    table = tomllib.loads(project_files.written(project))
    table |= {"colour": "red", "annotate": 2, "options": {"dev_share": 7, "evil": 1}}
    table["stages"][1] |= {"answers": 0, "reward": 0.05, "speed": 1}
    table["tests"] = [{"key": "x", "title": "", "questions": [{"question": "Q?", "choices": ["a"]}]}]
    with refused("project_file_refused") as refusal:
        project_files.read(tomli_w.dumps(table).encode())
    said = "\n".join(refusal.value.details()["faults"])
    for place in ("colour is unknown", "annotate must be 1", "option dev_share must lie", "no option 'evil'",
                  "stages[1].answers must", "stages[1].reward must", "stages[1].speed is unknown",
                  "tests[0].key", "tests[0].title", "tests[0].question 1 is wrong: There must be"):  # fmt: skip
        assert said.count(place) == 1, place


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xff\xfe", "is not TOML"),
        (b"annotate = [", "is not TOML"),
        (b"x = " + b"[" * 5000, "is not TOML"),
        (b"#" * (project_files.MOST_BYTES + 1), "at most 1,048,576"),
        (b'annotate = 1\nrecipe = "nope"', "no recipe of this name"),
        (b'annotate = 1\nrecipe = "../etc"', "cannot be used"),
        (b'annotate = 1\nrecipe = "choice"\nstages = 3', "stages must be a list of tables"),
        (b"annotate = 1", "recipe must be the name"),
    ],
)
def test_what_is_no_file_of_a_project_says_so(content: bytes, said: str) -> None:
    with refused("project_file_refused", match=said):
        project_files.read(content)
    assert not Project.objects.exists()


def test_a_file_whose_stages_are_not_those_of_its_recipe_is_refused() -> None:
    table = tomllib.loads(project_files.written(changed_project()))
    table["stages"] = table["stages"][:2]
    with refused("project_file_refused", match="stages must be those of the recipe record"):
        project_files.read(tomli_w.dumps(table).encode())
