"""What a stage's kind of task has beyond the ordinary, for the links to pages that only some stages have."""

from __future__ import annotations

from django import template

from hits.items.verbs import undoing_changes
from hits.model_assist.rules import suggestions
from hits.models import Project, Stage
from hits.projects.rules.plugins import pages_of, usable_protocol, usable_recipe
from hits.protocols.pages import Page
from hits.views import words

register = template.Library()


@register.filter
def changes_items(stage: Stage) -> bool:
    """Whether its answers change the items that they are about, so that a lead may take that back."""
    return undoing_changes.changing(stage) is not None


@register.filter
def takes_suggestions(stage: Stage) -> bool:
    """Whether its task can show what a model suggests."""
    return suggestions.takes_suggestions(stage)


@register.filter
def own_pages(stage: Stage) -> tuple[Page, ...]:
    """The pages that its protocol brings; none where it cannot be used, which the stage's page says."""
    return pages_of(stage) if usable_protocol(stage) else ()


@register.filter
def recipe_title(project: Project) -> str:
    """What its recipe is called; the recipe's name where it cannot be used."""
    recipe = usable_recipe(project)
    return recipe.title if recipe else project.recipe


@register.filter
def rule_words(name: str) -> str:
    """What a rule goes by, such as “matches the reference”."""
    return words.rule_name(name)
