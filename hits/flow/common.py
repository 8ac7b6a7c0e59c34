"""What flow modules share: the account's gateway and balance, a stage's HIT type, protocol and recipe."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection, transaction

from hits import protocols, recipes
from hits.models import Assignment, Document, Item, Project, Qualification, Stage
from hits.models.commitments import BalanceTooLowError, planned_cost
from hits.models.needs import chunks
from hits.mturk.errors import MarketplaceError
from hits.mturk.gateway import SYSTEM_QUALIFICATIONS, Gateway, HitTypeSpec, Limits
from hits.protocols.base import CrowdlessProtocol, Json, SettingsRefusedError, TaskProtocol
from hits.recipes.source import NextItem
from hits.refusals import Refusal

log = logging.getLogger(__name__)
Say = Callable[[Exception], str]
# A token lives 24 hours at the marketplace; from an hour before its end the call's effect is looked for first.
TOKEN_LIFE = timedelta(hours=23)
# So long may the marketplace's reads lack what it has told before, such as an answer that it has listed.
READS_LAG = timedelta(minutes=15)
QUALIFICATIONS = {
    "poor-quality": "Answers in earlier tasks of this project were, on average, much less accurate than other workers'."
}


@cache
def gateway() -> Gateway:
    return Gateway(
        settings.MTURK_ENDPOINT_URL,
        region=settings.MTURK_REGION,
        redis_url=settings.REDIS_URL,
        limits=Limits(
            connections=settings.MTURK_CONNECTIONS,
            timeout_seconds=settings.MTURK_TIMEOUT_SECONDS,
            deadline_seconds=settings.MTURK_DEADLINE_SECONDS,
            calls_a_second=settings.MTURK_CALLS_A_SECOND,
            most_calls_a_second=settings.MTURK_MOST_CALLS_A_SECOND,
        ),
    )


def balance() -> Decimal | None:
    """Dollars that the marketplace account has available; None when the marketplace does not answer."""
    try:
        return gateway().balance().available
    except MarketplaceError:
        return None


def refuse_beyond_balance(needed: Decimal) -> None:
    """Raises BalanceTooLowError. A marketplace that is silent stops nothing: the calls wait for it anyway."""
    available = balance() if needed else None
    planned = planned_cost()
    if available is not None and needed > available - planned:
        raise BalanceTooLowError(needed, available, planned)


@contextmanager
def snapshot() -> Iterator[None]:
    """Within, all queries see one moment, whatever is written meanwhile."""
    outermost = not connection.in_atomic_block
    with transaction.atomic():
        if outermost and connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield


def sentence(error: MarketplaceError) -> str:
    """What the marketplace said, with its full stop: another sentence follows."""
    text = str(error).rstrip()
    return text if text.endswith((".", "!", "?")) else f"{text}."


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


def protocol_of(stage: Stage) -> TaskProtocol:
    return protocol_named(stage.protocol)


def settings_of(stage: Stage) -> Json:
    """The stage's settings as its protocol reads them: what an older version did not store has its default.

    Raises SettingsRefusedError where the protocol does not take what is stored.
    """
    return protocol_of(stage).settings(stage.settings)


class NoCrowdError(Refusal):
    """Nobody is asked in this stage, so it has no price, HITs, answers, rule or workers. Nothing was changed."""

    error_code = "no_crowd"

    def __init__(self, stage: Stage) -> None:
        super().__init__(
            f"Nobody is asked in “{stage.title}”: a program makes what is there. So it has no price, HITs, answers, "
            "rule or workers."
        )


def refuse_without_crowd(stage: Stage) -> None:
    """Raises NoCrowdError."""
    if not stage.crowd:
        raise NoCrowdError(stage)


def making_protocol_of(stage: Stage) -> CrowdlessProtocol:
    """Of a stage without a crowd."""
    found: object = protocol_of(stage)
    if not isinstance(found, CrowdlessProtocol):
        raise recipes.RecipeError(
            stage.project.recipe, [f"its protocol {stage.protocol} needs a crowd, and “{stage.title}” has none"]
        )
    return found


def count(item: Item) -> None:
    """Write down the figures and the word of an item that a program made, of its data as they are; it is not saved."""
    protocol = making_protocol_of(item.stage)
    item.figures, item.conclusion = protocol.figures(item.data), protocol.word(item.data)


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


def make_items(stage: Stage, items: Sequence[tuple[Item, NextItem]]) -> int:
    """Make the items that the stage lacks by their keys, each with the item it came from; returns how many."""
    known: set[str] = set()
    for some in chunks([made.key for _, made in items]):
        known.update(stage.items.filter(key__in=some).values_list("key", flat=True))
    new = [(parent, made) for parent, made in items if made.key not in known]
    documents = _make_documents(stage.project, new)
    sources = _sources(new)
    rows = [
        Item(
            stage=stage,
            document_id=documents[made.document.key] if made.document else parent.document_id,
            parent=parent,
            source_id=sources.get((parent.pk, made.source)),
            # The answer may have stopped counting since it was read: `deciding` looks.
            stale=bool(made.source),
            key=made.key,
            data=made.data,
        )
        for parent, made in new
    ]
    Item.objects.bulk_create(rows, batch_size=1000)
    return len(rows)


def _sources(items: Sequence[tuple[Item, NextItem]]) -> dict[tuple[int, str], int]:
    """(row of an item, assignment id) to the answer that new items are made from."""
    found: dict[tuple[int, str], int] = {}
    for some in chunks(sorted({parent.pk for parent, made in items if made.source})):
        rows = Assignment.objects.filter(hit__item__in=some).values_list("hit__item", "assignment_id", "pk")
        found |= {(item, name): pk for item, name, pk in rows}
    return found


def _make_documents(project: Project, items: Sequence[tuple[Item, NextItem]]) -> dict[str, int]:
    """Make the documents that the project lacks, each of the origin and purpose of the one it was written for.

    Returns their rows by key; several items may be about one.
    """
    wanted = {made.document.key: (parent.document, made.document) for parent, made in items if made.document}
    rows = [
        Document(project=project, key=key, origin=old.origin, purpose=old.purpose, data=new.data)
        for key, (old, new) in wanted.items()
    ]
    Document.objects.bulk_create(rows, batch_size=1000, ignore_conflicts=True)
    found: dict[str, int] = {}
    for some in chunks(list(wanted)):
        found.update(project.documents.filter(key__in=some).values_list("key", "pk"))
    return found


def ensure_hit_type(stage: Stage, market: Gateway) -> str:
    """One HIT type a stage, made once: any differing byte would split the group that workers see."""
    if not stage.hit_type_id:
        hit_type_id = market.create_hit_type(_spec(stage, market))
        Stage.objects.filter(pk=stage.pk, hit_type_id="").update(hit_type_id=hit_type_id)
        stage.refresh_from_db(fields=["hit_type_id"])
    return stage.hit_type_id


def _spec(stage: Stage, market: Gateway) -> HitTypeSpec:
    return HitTypeSpec(
        title=stage.hit_title,
        description=stage.hit_description,
        keywords=stage.keywords,
        reward=stage.reward,
        assignment_seconds=stage.assignment_seconds,
        auto_approval_seconds=stage.auto_approval_seconds,
        requirements=tuple(_requirement(stage, given, market) for given in stage.requirements),
    )


def _requirement(stage: Stage, given: dict, market: Gateway) -> dict:
    key = given["qualification"]
    found: dict = {
        "QualificationTypeId": SYSTEM_QUALIFICATIONS.get(key) or own_qualification(stage.project, key, market),
        "Comparator": given["comparator"],
        "ActionsGuarded": given.get("guards", "PreviewAndAccept"),
    }
    if given.get("integers"):
        found["IntegerValues"] = given["integers"]
    if given.get("locales"):
        found["LocaleValues"] = [{"Country": country} for country in given["locales"]]
    return found


def own_qualification(project: Project, key: str, market: Gateway) -> str:
    """The id of the project's qualification of that name: a test's, or one made when it is wanted first."""
    test = project.qualification_tests.filter(key=key).first()
    if test:
        return test.qualification_type_id
    existing = Qualification.objects.filter(project=project, key=key).first()
    if existing:
        return existing.qualification_type_id
    name = f"{key.replace('-', ' ').capitalize()}: {project.name} ({project.namespace[:6]})"
    made = market.ensure_qualification_type(name, QUALIFICATIONS.get(key, f"Granted by the project {project.name}."))
    row, _ = Qualification.objects.get_or_create(project=project, key=key, defaults={"qualification_type_id": made})
    return row.qualification_type_id
