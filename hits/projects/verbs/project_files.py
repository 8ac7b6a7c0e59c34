"""A project's recipe as one TOML file: written from a project, read as a new one, and a project cloned by both.

The file names the recipe whose steps the project uses, and states options, stages and qualification tests in full, as
`stages.toml` does, in `card` the licence and citation of its releases, and in `terms` the text that workers agree to.
It holds no items, no people and no money.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import tomli_w
from django.contrib.auth.models import User
from django.db import transaction

from hits.core.action_log import record
from hits.formats.files.faults import Faults
from hits.formats.inputs.qualification_test import Details, check_details, read_questions
from hits.models import Project, QualificationTest, Stage
from hits.people.rules.terms import checked
from hits.projects.rules.plugins import load_recipe, options_of
from hits.projects.rules.project_rows import copy_items, create
from hits.recipes import OptionError, Recipe, RecipeError, StageSettings, TestSpec
from hits.recipes.spec import check_order, stage_spec
from hits.refusals import Refused
from hits.releases.rules import release_cards, released_splits
from hits.stages.rules.stage_tables import table_of

FORMAT = 1
# A file that is written by a project is far smaller.
MOST_BYTES = 1024 * 1024
MOST_FAULTS = 50
CLONED = "cloned the project"
_KEYS = frozenset({"annotate", "recipe", "version", "options", "card", "terms", "stages", "tests"})
_HEAD = "# A project of Annotate, to start others from: its recipe with all settings, and no items.\n"


@dataclass(frozen=True)
class ProjectFile:
    """What a file says, checked: everything that a new project needs beside name, budget, e-mail and owner."""

    recipe: Recipe
    options: dict[str, Any]
    stages: tuple[StageSettings, ...]
    tests: tuple[TestSpec, ...]
    card: dict[str, str] = field(default_factory=dict)
    terms: str = ""


# Out


def written(project: Project) -> str:
    """The file. Raises recipes.RecipeError where the project's recipe cannot be used."""
    terms = project.terms.standing().first()
    found: dict[str, Any] = {
        "annotate": FORMAT,
        "recipe": project.recipe,
        "version": load_recipe(project.recipe).version,
        "options": options_of(project),
        **({"card": project.card} if project.card else {}),
        **({"terms": terms.text} if terms else {}),
        "stages": [_table(stage) for stage in project.stages.order_by("position")],
        "tests": [_test_table(test) for test in project.qualification_tests.order_by("id")],
    }
    return _HEAD + tomli_w.dumps({name: value for name, value in found.items() if value != []})


def _table(stage: Stage) -> dict[str, Any]:
    if stage.crowd:
        return table_of(stage)
    head = {"key": stage.key, "title": stage.title, "protocol": stage.protocol, "crowd": False}
    return head | {"settings": stage.settings}


def _test_table(test: QualificationTest) -> dict[str, Any]:
    """Without `retry_days` there is one attempt only."""
    names = ("key", "title", "description", "pass_mark", "minutes", "retry_days")
    values = {name: getattr(test, name) for name in names}
    return {name: value for name, value in values.items() if value is not None} | {"questions": test.questions}


# In


def read(content: bytes) -> ProjectFile:
    """Raises Refused (project_file_refused) with every fault of the file."""
    given = _parsed(content)
    faults = [f"{name} is unknown: remove it." for name in sorted(given.keys() - _KEYS)]
    if given.get("annotate") != FORMAT:
        faults.append(f"annotate must be {FORMAT}: this is no file that a project has written.")
    recipe = _recipe(given, faults)
    options = _options(recipe, given.get("options", {}), faults) if recipe else {}
    stages = _stages(given.get("stages"), faults)
    if recipe and not faults:
        _check_fit(recipe, options, stages, faults)
    tests = _tests(given.get("tests", []), faults)
    card = _card(given.get("card", {}), faults)
    terms = _terms(given, faults)
    if recipe is None or faults:
        raise _refused(faults)
    return ProjectFile(recipe, options, stages, tests, card, terms)


def _refused(faults: list[str]) -> Refused:
    shown, more = faults[:MOST_FAULTS], len(faults) - MOST_FAULTS
    sentences = "\n".join([*shown, *([f"and {more:,} more"] if more > 0 else [])])
    return Refused("project_file_refused", sentences, field="file", status=400, faults=shown)


def _parsed(content: bytes) -> dict[str, Any]:
    if len(content) > MOST_BYTES:
        raise _refused([f"The file has {len(content):,} bytes; at most {MOST_BYTES:,} are taken."])
    try:
        return tomllib.loads(content.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise _refused([f"The file is not TOML: {error}"]) from error


def _recipe(given: Mapping[str, Any], faults: list[str]) -> Recipe | None:
    name = given.get("recipe")
    if not isinstance(name, str):
        faults.append("recipe must be the name of a recipe.")
        return None
    try:
        return load_recipe(name)
    except RecipeError as error:
        faults.append(f"recipe {name!r:.80} cannot be used: {error}")
        return None


def _options(recipe: Recipe, given: object, faults: list[str]) -> dict[str, Any]:
    if not isinstance(given, dict):
        faults.append("options must be a table.")
        return {}
    for name, value in given.items():
        try:
            recipe.options_with({name: value})
        except OptionError as error:
            faults.append(f"{error}.")
    return given


def _stages(given: object, faults: list[str]) -> tuple[StageSettings, ...]:
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        faults.append("stages must be a list of tables.")
        return ()
    found: list[str] = []
    read_ones = [stage_spec(table, f"stages[{i}]", found) for i, table in enumerate(given)]
    stages = tuple(stage for stage in read_ones if stage)
    if not found:
        check_order(stages, found)
    faults += [f"{fault}." for fault in found]
    return stages


def _check_fit(recipe: Recipe, options: dict[str, Any], stages: tuple[StageSettings, ...], faults: list[str]) -> None:
    """The recipe's steps know its own stages: a project has all of them, each with its own task, and then those that a
    lead added.
    """
    own = {stage.key: stage.protocol for stage in recipe.stages_with(options)}
    given = {stage.key: stage.protocol for stage in stages if stage.input is None or stage.key in own}
    if own != given:
        wanted, there = (", ".join(f"{key} ({task})" for key, task in one.items()) for one in (own, given))
        faults.append(f"stages must be those of the recipe {recipe.name}: {wanted}; the file has {there}.")


def _tests(given: object, faults: list[str]) -> tuple[TestSpec, ...]:
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        faults.append("tests must be a list of tables.")
        return ()
    tests = tuple(_test(table, f"tests[{i}]", faults) for i, table in enumerate(given))
    if len({test.details.key for test in tests}) < len(tests):
        faults.append("tests must have different keys.")
    return tests


def _test(table: Mapping[str, Any], place: str, faults: list[str]) -> TestSpec:
    names = ("key", "title", "description", "pass_mark", "minutes", "retry_days")
    faults += [f"{place}.{name} is unknown: remove it." for name in sorted(table.keys() - {*names, "questions"})]
    found = Faults()
    values: dict[str, Any] = {name: table.get(name) for name in names}
    details = Details(**values | {"key": str(values["key"])})
    details = check_details(details, found)
    questions = read_questions(table.get("questions"), found)
    faults += [f"{place}.{fault.place or 'questions'} is wrong: {fault.message}" for fault in found.listed]
    return TestSpec(details, tuple(questions))


def _card(given: object, faults: list[str]) -> dict[str, str]:
    if not isinstance(given, dict):
        faults.append("card must be a table.")
        return {}
    try:
        return release_cards.checked({}, given)
    except Refused as refusal:
        faults += [f"card.{fault}" for fault in refusal.details()["faults"]]
        return {}


def _terms(given: Mapping[str, Any], faults: list[str]) -> str:
    """Empty where the file states none."""
    if "terms" not in given:
        return ""
    if not isinstance(given["terms"], str):
        faults.append("terms must be a text.")
        return ""
    try:
        return checked(given["terms"])
    except Refused as refusal:
        faults += [f"terms: {fault}" for fault in refusal.details()["faults"]]
        return ""


# New projects


def create_from(
    file: ProjectFile,
    name: str,
    budget: Decimal,
    contact_email: str,
    owner: User,
    seed: int | None = None,
) -> Project:
    """A project as the file says; nothing is published. Raises as `hits.projects.rules.project_rows.create`."""
    return create(
        file.recipe,
        name=name,
        budget=budget,
        contact_email=contact_email,
        owner=owner,
        options=file.options,
        stages=file.stages,
        tests=file.tests,
        seed=seed,
        card=file.card,
        terms=file.terms,
    )


def clone(
    project: Project,
    name: str,
    budget: Decimal,
    owner: User,
    *,
    items: bool = False,
    splits: bool = False,
    contact_email: str = "",
) -> Project:
    """A new project with the recipe, settings, tasks, rules, pay and tests of this one, which `owner` alone owns.

    With `items`, what was imported comes with it; answers, people and money never do. With `splits`, what this project
    released so far keeps its split there. Without a `contact_email` it has the one of this project.
    """
    email = contact_email or project.contact_email
    with transaction.atomic():
        made = create_from(read(written(project).encode()), name, budget, email, owner)
        if items:
            copy_items(project, made)
        if splits:
            released_splits.copy(project, made)
        record(made, owner, CLONED, detail={"project": project.slug, "items": items, "splits": splits})
    return made
