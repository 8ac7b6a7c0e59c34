"""Drawing: a stage takes a sample of what the project has collected, such as 200 test items for the human score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db import transaction

from hits.items.rules.new_items import make_items
from hits.judging.rules.recipe_rows import Rows
from hits.judging.rules.required_answers import chunks
from hits.judging.rules.summaries import refresh_summary
from hits.models import ComputationRun, Item, Stage
from hits.projects.rules.plugins import recipe_of, usable_recipe
from hits.recipes import inputs
from hits.recipes.source import Computation, DrawSource, NextItem
from hits.refusals import Refused

# More than any collection holds: a draw of so many brings all that there are.
ALL = 10_000_000


@dataclass(frozen=True)
class Quote:
    """`there` items can be drawn from now, `new` of which the stage has not yet; it has `here` items already."""

    there: int
    here: int
    new: int


def quote(stage: Stage) -> Quote:
    """Reads all that the recipe draws from. Raises Refused (draw_refused)."""
    drawn = {item.key for item in _drawn(stage, ALL)}
    here = set(stage.items.values_list("key", flat=True))
    return Quote(len(drawn), len(here), len(drawn - here))


def draw(stage: Stage, count: int) -> int:
    """Make the sample's items; returns how many are new. The same rows, seed and count draw the same items.

    What the stage has already stays as it is and is not drawn twice.

    Raises Refused (draw_refused).
    """
    with transaction.atomic():
        # Nobody corrects an item while it is sent.
        list(Stage.objects.select_for_update().filter(project=stage.project_id, crowd=False))
        drawn = _drawn(stage, count)
        parents = _parents(stage, drawn)
        made = make_items(stage, [(parents[_parent(item)], item) for item in drawn])
        refresh_summary(stage)
    return made


def told(stage: Stage) -> dict[str, Any]:
    """What the recipe says of what would be drawn, in its own shape; nothing where it has nothing to say."""
    say = getattr(recipe_of(stage.project).steps, "told_of_draw", None)
    if not say or not stage.project.stages.filter(crowd=False).exists():
        return {}
    found: dict[str, Any] = say(stage.key, Rows(stage.project))
    return found


@dataclass(frozen=True)
class Missing:
    """What a sample of the stage waits for: results of `stages`, and then a run of `computation`."""

    stages: tuple[Stage, ...] = ()
    computation: Computation | None = None


def missing(stage: Stage) -> Missing | None:
    """None where there may be something to draw from. Reads figures alone: `quote` reads the items."""
    source = _source(stage)
    if not source:
        return None
    stages = stage.project.stages.filter(key__in=source.stages).select_related("summary").order_by("position")
    if stages and not any(has_results(one) for one in stages):
        return Missing(tuple(stages))
    runs = stage.project.computation_runs.filter(key=source.computation, state=ComputationRun.State.DONE)
    if source.computation and not runs.exists():
        offered = getattr(recipe_of(stage.project).steps, "COMPUTATIONS", ())
        return Missing(computation=next((one for one in offered if one.key == source.computation), None))
    return None


def has_results(stage: Stage) -> bool:
    """Whether anything has come through the stage: an answer or a verdict; what a program makes is there at once."""
    summary = stage.summary
    return bool(summary.answers or summary.kept or summary.dropped if stage.crowd else summary.items)


def _source(stage: Stage) -> DrawSource | None:
    if not stage.draws or stage.input.get("each") == inputs.KNOWN:
        return None
    if of := stage.input.get("stage"):
        return DrawSource((of,))
    recipe = usable_recipe(stage.project)
    say = getattr(recipe.steps, "draws_from", None) if recipe else None
    found: DrawSource | None = say(stage.key) if say else None
    return found


def _drawn(stage: Stage, count: int) -> list[NextItem]:
    steps = recipe_of(stage.project).steps
    of = stage.input.get("stage")
    if not stage.draws or stage.input.get("each") == inputs.KNOWN or not (of or hasattr(steps, "draw")):
        raise Refused("draw_refused", "This stage gets its items from the stage before it, not by a sample.")
    if count < 1:
        raise Refused("draw_refused", "Sample at least one item.")
    rows = Rows(stage.project)
    if of:
        drawn = inputs.drawn(stage.key, stage.input["each"], of, rows, count)
    else:
        drawn = list(steps.draw(stage.key, rows, count, seed=stage.project.seed))
    if not drawn:
        raise Refused("draw_refused", "There is nothing to sample yet.")
    return drawn


def _parent(item: NextItem) -> tuple[str, str]:
    if item.parent is None:
        raise ValueError(f"The recipe's draw of {item.key} does not say which item it is from.")
    return item.parent


def _parents(stage: Stage, drawn: list[NextItem]) -> dict[tuple[str, str], Item]:
    """The items that were drawn from, by stage and key."""
    wanted: dict[str, list[str]] = {}
    for of, key in map(_parent, drawn):
        wanted.setdefault(of, []).append(key)
    found: dict[tuple[str, str], Item] = {}
    for of, keys in wanted.items():
        for some in chunks(keys):
            for row in Item.objects.filter(stage__project=stage.project_id, stage__key=of, key__in=some):
                found[of, row.key] = row
    return found
