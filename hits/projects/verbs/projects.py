"""Starting a project from a recipe, and the few things of it that change later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max, Q

from hits import recipes
from hits.accounts.rules.lead_limits import refuse_above
from hits.core.action_log import record
from hits.judging.rules.recipe_rows import Rows
from hits.models import Account, Action, BudgetExceededError, Project, Stage
from hits.payments.rules.budget_requests import BUDGET_CHANGED, refuse_above_limit
from hits.payments.rules.large_changes import RULE, is_large
from hits.projects.rules.plugins import load_recipe, options_of, usable_recipe
from hits.projects.rules.project_rows import create, create_stage
from hits.refusals import Refused
from hits.stats.vote_rules.votes import Rule

CHANGES_SHOWN = 20


@dataclass(frozen=True)
class BudgetChange:
    """`action` says who, when and from where; amounts in dollars."""

    action: Action
    before: Decimal
    after: Decimal


def create_project(
    name: str,
    recipe: str,
    budget: Decimal,
    contact_email: str,
    owner: User,
    options: dict[str, Any] | None = None,
    seed: int | None = None,
    *,
    limited: bool = True,
) -> Project:
    """A project with the stages of its recipe, nothing published, and its qualification tests about to be offered.

    `options` may override the recipe's options; not `limited` as in `hits.projects.rules.project_rows.create`. Raises
    recipes.RecipeError, hits.protocols errors for settings that do not fit, recipes.OptionError for an option that the
    recipe does not know or a value of the wrong kind, and Refused (above_lead_limit).
    """
    found = load_recipe(recipe)
    wanted = found.options_with(options or {})
    return create(
        found,
        name=name,
        budget=budget,
        contact_email=contact_email,
        owner=owner,
        options=wanted,
        stages=found.stages_with(wanted),
        tests=found.tests,
        seed=seed,
        limited=limited,
    )


def want_answers(stage: Stage, answers: int, need: int) -> None:
    """Ask `answers` workers an item and keep it when `need` of them are right; before publishing only."""
    params = {**stage.rule["params"], "answers": answers}
    if "need" in params:
        params["need"] = need
    rule = Rule(stage.rule["name"], stage.rule["version"], params)
    stage.answers, stage.most_answers, stage.enough, stage.rule = answers, None, "", rule.to_dict()
    stage.save(update_fields=["answers", "most_answers", "enough", "rule"])


def want_seconds(project: Project, seconds: int) -> None:
    """Ask workers for this least time in every stage that asks for one; before publishing only.

    0 for simulated workers: what is submitted faster than asked counts only once approved.
    """
    for stage in project.stages.filter(settings__has_key="min_seconds"):
        stage.settings["min_seconds"] = seconds
        stage.save(update_fields=["settings"])


def change_options(project: Project, given: Mapping[str, Any]) -> None:
    """Replace some of the recipe's options; the next release goes by them.

    Raises recipes.OptionError that names every wrong one; then nothing is changed.
    """
    if faults := option_faults(project, given):
        raise recipes.OptionError("; ".join(faults.values()))
    with transaction.atomic():
        locked = Project.objects.select_for_update().get(pk=project.pk)
        _fit_stages(locked, given)
        locked.options = {**locked.options, **given}
        locked.save(update_fields=["options"])
    project.options = locked.options


def _fit_stages(project: Project, given: Mapping[str, Any]) -> None:
    """Add and remove the copies of stages that the options count. Raises recipes.OptionError."""
    before, after = _specs(project, {}), _specs(project, given)
    if fault := _stages_fault(project, given):
        raise recipes.OptionError(fault)
    project.stages.filter(key__in=before.keys() - after.keys()).delete()
    last = project.stages.aggregate(last=Max("position"))["last"] or 0
    there = set(project.stages.values_list("key", flat=True))
    new = [spec for key, spec in after.items() if key not in before and key not in there]
    for position, spec in enumerate(new, start=last + 1):
        create_stage(project, position, spec)


def _stages_fault(project: Project, given: Mapping[str, Any]) -> str:
    """Why there cannot be fewer copies of a stage."""
    gone = _specs(project, {}).keys() - _specs(project, given).keys()
    used = project.stages.filter(key__in=gone).filter(Q(items__isnull=False) | ~Q(hit_type_id="")).distinct()
    titles = [stage.title for stage in used.order_by("position")]
    return f"{', '.join(titles)} has items already, so there cannot be fewer." if titles else ""


def _specs(project: Project, given: Mapping[str, Any]) -> dict[str, recipes.StageSettings]:
    """The stages that a project with these options has, by key."""
    stages = load_recipe(project.recipe).stages_with({**options_of(project), **given})
    return {stage.key: stage for stage in stages}


def option_faults(project: Project, given: Mapping[str, Any]) -> dict[str, str]:
    """Option to what is wrong with its value."""
    found = load_recipe(project.recipe)
    faults = {}
    for name, value in given.items():
        try:
            found.options_with({name: value})
        except recipes.OptionError as error:
            faults[name] = str(error)
        else:
            if name in found.repeats() and (fault := _stages_fault(project, {name: value})):
                faults[name] = fault
    return faults


def described_options(project: Project) -> dict[str, recipes.Option]:
    """What a lead reads of the project's options, by name; none where the recipe cannot be used."""
    recipe = usable_recipe(project)
    return dict(recipe.described) if recipe else {}


def tells_split(project: Project) -> bool:
    """Whether the recipe can tell what the split would be."""
    return hasattr(load_recipe(project.recipe).steps, "split_preview")


def split_preview(project: Project, options: Mapping[str, Any]) -> dict[str, Any]:
    """What the split would be with these options (`hits.recipes` has the shape); reads all that was judged."""
    steps = load_recipe(project.recipe).steps
    found: dict[str, Any] = steps.split_preview(Rows(project), {**options_of(project), **options})
    return found


def change_budget(project: Project, budget: Decimal, user: User | None, confirmed: Decimal | None = None) -> Decimal:
    """Set the budget; returns what it was before.

    Raises BudgetExceededError when more than that is reserved or paid already, AboveLimitError for somebody who is no
    owner and may not set it so high, Refused (above_lead_limit) where an owner may not budget so much in all, and
    Refused (budget_not_confirmed) for a large change unless `confirmed` is the same.
    """
    with transaction.atomic():
        # Entries that are posted meanwhile wait, so that the database's own constraint can refuse nothing here.
        account = Account.objects.select_for_update().get(project=project)
        before, bound = account.budget, account.reserved + account.paid
        if bound > budget:
            said = f"${bound:,.2f} is reserved or paid already: the budget cannot be lower."
            raise BudgetExceededError(bound, budget, said)
        refuse_above_limit(project, user, budget)
        refuse_above(project.owners, budget - before, user)
        if is_large(before, budget) and confirmed != budget:
            raise Refused(
                "budget_not_confirmed",
                f"This changes the budget from ${before:,.2f} to ${budget:,.2f}. {RULE} Nothing was changed.",
                before=f"{before:.2f}",
                budget=f"{budget:.2f}",
                confirm=f"{budget:.2f}",
            )
        if budget != before:
            Account.objects.filter(pk=account.pk).update(budget=budget)
            record(project, user, BUDGET_CHANGED, detail={"from": f"{before:.2f}", "to": f"{budget:.2f}"})
    return before


def budget_changes(project: Project) -> list[BudgetChange]:
    """The newest changes of the budget, newest first."""
    rows = project.actions.filter(verb=BUDGET_CHANGED).order_by("-id")[:CHANGES_SHOWN]
    return [BudgetChange(row, Decimal(row.detail["from"]), Decimal(row.detail["to"])) for row in rows]
