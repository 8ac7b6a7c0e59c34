"""Drawing: a stage takes a sample of what the project has collected, such as 200 test items for the human score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db import transaction

from hits.domain.new_items import make_items
from hits.domain.plugins import recipe_of
from hits.domain.recipe_rows import Rows
from hits.domain.summaries import refresh_summary
from hits.domain.wanted_answers import chunks
from hits.models import Item, Stage
from hits.recipes import inputs
from hits.recipes.source import NextItem
from hits.refusals import Refusal


class DrawRefusedError(Refusal):
    """The stage takes no sample, or there is nothing to draw from."""

    error_code = "draw_refused"


# More than any collection holds: a draw of so many brings all that there are.
ALL = 10_000_000


@dataclass(frozen=True)
class Quote:
    """`there` items can be drawn from now, `new` of which the stage has not yet; it has `here` items already."""

    there: int
    here: int
    new: int


def quote(stage: Stage) -> Quote:
    """Reads all that the recipe draws from. Raises DrawRefusedError."""
    drawn = {item.key for item in _drawn(stage, ALL)}
    here = set(stage.items.values_list("key", flat=True))
    return Quote(len(drawn), len(here), len(drawn - here))


def draw(stage: Stage, count: int) -> int:
    """Make the sample's items; returns how many are new. The same rows, seed and count draw the same items.

    What the stage has already stays as it is and is not drawn twice.

    Raises DrawRefusedError.
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


def _drawn(stage: Stage, count: int) -> list[NextItem]:
    steps = recipe_of(stage.project).steps
    of = stage.input.get("stage")
    if not stage.draws or stage.input.get("each") == inputs.KNOWN or not (of or hasattr(steps, "draw")):
        raise DrawRefusedError("This stage gets its items from the stage before it, not by a draw.")
    if count < 1:
        raise DrawRefusedError("Draw at least one item.")
    rows = Rows(stage.project)
    if of:
        drawn = inputs.drawn(stage.key, stage.input["each"], of, rows, count)
    else:
        drawn = list(steps.draw(stage.key, rows, count, seed=stage.project.seed))
    if not drawn:
        raise DrawRefusedError("There is nothing to draw from yet: items have to come through the stages before.")
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
