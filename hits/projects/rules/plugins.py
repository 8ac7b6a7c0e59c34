"""The recipe of a project and the protocol of a stage, and what to say where one of them cannot be used."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.conf import settings

from hits import protocols, recipes
from hits.models import Project, Stage
from hits.protocols.base import CrowdlessProtocol, Json, SettingsRefusedError, TaskProtocol
from hits.protocols.pages import Page
from hits.refusals import Refused

log = logging.getLogger(__name__)
Say = Callable[[Exception], str]
# What keeps a stage or project from going on: the code of its task or recipe is gone, broken, or refuses its settings.
UNUSABLE = (
    recipes.RecipeError,
    protocols.UnknownProtocolError,
    protocols.BrokenProtocolError,
    SettingsRefusedError,
)


def in_full(error: Exception) -> str:
    """What the error says to whoever runs the installation: with whole paths, which are none of the leads' business."""
    return getattr(error, "in_full", "") or str(error)


@lru_cache(maxsize=1000)
def _log_once(said: str) -> None:
    """Once a process: pages ask again and again."""
    log.warning("A folder of plug-ins cannot be used. %s", said)


@contextmanager
def _logging_faults() -> Iterator[None]:
    try:
        yield
    except (recipes.RecipeError, protocols.BrokenProtocolError) as error:
        _log_once(in_full(error))
        raise


def protocol_named(name: str) -> TaskProtocol:
    with _logging_faults():
        return protocols.get(name, settings.PLUGIN_ROOTS)


def usable_protocols() -> list[TaskProtocol]:
    """All that can be imported, in alphabetical order of their names: a broken folder harms no other."""
    found = []
    for name in protocols.available(settings.PLUGIN_ROOTS):
        with suppress(protocols.BrokenProtocolError):
            found.append(protocol_named(name))
    return found


def protocol_of(stage: Stage) -> TaskProtocol:
    return protocol_named(stage.protocol)


def settings_of(stage: Stage) -> Json:
    """The stage's settings as its protocol reads them: what an older version did not store has its default.

    Raises SettingsRefusedError where the protocol does not take what is stored.
    """
    return protocol_of(stage).settings(stage.settings)


def pages_of(stage: Stage) -> tuple[Page, ...]:
    """The pages of the dashboard that the stage's protocol brings."""
    with _logging_faults():
        return protocols.pages(stage.protocol, settings.PLUGIN_ROOTS)


def refuse_without_crowd(stage: Stage) -> None:
    """Raises Refused (no_crowd)."""
    if not stage.crowd:
        raise Refused(
            "no_crowd",
            f"Nobody is asked in “{stage.title}”: a program makes what is there. So it has no price, HITs, answers, "
            "rule or workers.",
        )


def making_protocol_of(stage: Stage) -> CrowdlessProtocol:
    """Of a stage without a crowd."""
    found: object = protocol_of(stage)
    if not isinstance(found, CrowdlessProtocol):
        raise recipes.RecipeError(
            stage.project.recipe, [f"its protocol {stage.protocol} needs a crowd, and “{stage.title}” has none"]
        )
    return found


def check_crowds(recipe: recipes.Recipe) -> None:
    """Raises RecipeError where a stage has a crowd and its protocol no page for one, or the other way round."""
    faults = []
    for i, spec in enumerate(recipe.stages):
        found: object = protocol_named(spec.protocol)
        if isinstance(found, CrowdlessProtocol) == spec.crowd:
            said = (
                "has no page for workers: set crowd = false" if spec.crowd else "asks workers: take crowd = false out"
            )
            faults.append(f"stages[{i}].protocol {spec.protocol} {said}")
    if faults:
        raise recipes.RecipeError(recipe.name, faults)


def load_recipe(name: str) -> recipes.Recipe:
    with _logging_faults():
        return recipes.load(name, _recipe_folders())


def _recipe_folders() -> list[Path]:
    return [root / "recipes" for root in settings.PLUGIN_DIRS]


def recipe_of(project: Project) -> recipes.Recipe:
    return load_recipe(project.recipe)


@dataclass(frozen=True)
class Offered:
    """The recipes that a project can start from, and a sentence for each folder that cannot be used."""

    recipes: list[recipes.Recipe]
    faults: list[str]


def offered() -> Offered:
    """Never raises: a broken folder harms no other."""
    folders = _recipe_folders()
    good: list[recipes.Recipe] = []
    faults = [*_missing_plugins(), *_broken_plugins(folders)]
    for name in recipes.available(folders):
        try:
            recipe = load_recipe(name)
        except recipes.RecipeError:
            # Among the faults already.
            continue
        try:
            check_crowds(recipe)
            for spec in recipe.stages:
                protocol_named(spec.protocol).settings(spec.settings)
        except UNUSABLE as error:
            faults.append(f"The recipe {name} cannot be used. {error}")
        else:
            good.append(recipe)
    return Offered(good, faults)


def _missing_plugins() -> Iterator[str]:
    for root in map(Path, settings.PLUGIN_DIRS):
        if not root.is_dir():
            said = "PLUGIN_DIRS names this folder, and it is not there."
            _log_once(f"{root}: {said}")
            yield f"{root.name}: {said}"


def _broken_plugins(folders: Sequence[Path]) -> Iterator[str]:
    of_recipes, of_protocols = recipes.faults(folders), protocols.faults(settings.PLUGIN_ROOTS)
    for error in (*of_recipes, *of_protocols):
        _log_once(in_full(error))
    yield from (f"{error.where}: {fault}." for error in of_recipes for fault in error.faults)
    yield from map(str, of_protocols)


def project_fault(project: Project, say: Say = str) -> str:
    """Why the project's recipe cannot be used, as a sentence; empty when it can."""
    try:
        recipe_of(project)
    except UNUSABLE as error:
        return f"The recipe {project.recipe} cannot be used, so nothing is imported, advanced or released. {say(error)}"
    return ""


def stage_fault(stage: Stage, say: Say = str) -> str:
    """Why the stage's kind of task cannot be used, as a sentence; empty when it can."""
    try:
        settings_of(stage)
    except UNUSABLE as error:
        return f"The task {stage.protocol} of “{stage.title}” cannot be used: its answers wait unread. {say(error)}"
    return ""


def faults_of(project: Project, stages: Sequence[Stage], say: Say = str) -> list[str]:
    """Why the project's recipe, and the tasks of these stages of it, cannot be used; empty when all can.

    `say` makes an error's text: `in_full` on the command line, else without the server's folders.
    """
    return [fault for fault in (project_fault(project, say), *(stage_fault(stage, say) for stage in stages)) if fault]


def usable_protocol(stage: Stage) -> TaskProtocol | None:
    """None where it cannot be used; the stage's page says why."""
    return None if stage_fault(stage) else protocol_of(stage)


def usable_recipe(project: Project) -> recipes.Recipe | None:
    """None where it cannot be used; the project's page says why."""
    return None if project_fault(project) else recipe_of(project)


def options_of(project: Project) -> dict[str, Any]:
    """The recipe's options as the project has them; one that is younger than the project with the recipe's value."""
    recipe = usable_recipe(project)
    own = recipe.options if recipe else project.options
    return {name: project.options.get(name, value) for name, value in own.items()}
