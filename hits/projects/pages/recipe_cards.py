"""Recipes as cards of the page "New project": what they collect, stage by stage, from what, and for how much."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from hits.mturk.fees import unit_cost
from hits.recipes import Recipe, StageSpec

PRICED_ITEMS = 100


@dataclass(frozen=True)
class Card:
    """`cost` is what PRICED_ITEMS items cost in the first stage with a crowd, fees included; the `later` stages cost by
    what comes through.
    """

    recipe: Recipe
    stages: tuple[StageSpec, ...]
    first: StageSpec
    cost: Decimal
    later: int


def cards(recipes: Sequence[Recipe]) -> list[Card]:
    return [_card(recipe) for recipe in recipes]


def _card(recipe: Recipe) -> Card:
    first = next(stage for stage in recipe.stages if stage.crowd)
    hits = -(-PRICED_ITEMS // first.items_per_hit)
    cost = hits * first.answers * unit_cost(first.reward, first.answers)
    return Card(recipe, recipe.stages, first, cost, sum(stage.crowd for stage in recipe.stages) - 1)
