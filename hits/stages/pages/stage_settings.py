"""The page "Settings" of a stage: all that its recipe states of it, with the recipe's own value beside each."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any
from urllib.parse import parse_qsl, urlencode

from django.contrib import messages
from django.db import transaction
from django.forms import BoundField
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from hits.model_assist.rules.suggestions import takes_suggestions
from hits.models import Stage
from hits.payments.rules.large_changes import LargeChangeError
from hits.protocols.base import SettingsRefusedError
from hits.publishing.rules import hit_plans
from hits.publishing.verbs import publishing
from hits.recipes.stage_settings import (
    BEFORE_PUBLISHING,
    FINDING,
    ITEMS,
    PAY,
    QUALITY,
    SETTINGS,
    TEST,
    TIMES,
    WHO,
)
from hits.recipes.stage_settings import PAGE as PAGE_OF_WORKERS
from hits.refusals import Refused
from hits.stages.pages import overview
from hits.stages.pages.settings_form import SettingsForm, value_in_words
from hits.stages.pages.stages import frame
from hits.stages.rules.stage_tables import is_added
from hits.stages.verbs import custom_stages, stage_settings
from hits.stages.verbs.stage_settings import StageSetting
from hits.views.guard import FORM, PAGE, LeadRequest, for_stage
from hits.workers.verbs import blocking

# Two columns of sections.
COLUMNS = ((PAY, FINDING, PAGE_OF_WORKERS, QUALITY), (TIMES, WHO, TEST, ITEMS))


@dataclass(frozen=True)
class Row:
    """A setting on the page. `field` is None where it is fixed, and for requirements and policy, which have several."""

    setting: StageSetting
    label: str
    said: str
    recipe: str
    field: BoundField | None

    @property
    def is_fixed(self) -> bool:
        return self.setting.when == BEFORE_PUBLISHING

    @property
    def section(self) -> str:
        return SETTINGS[self.setting.name].section


@for_stage(FORM)
def stage_settings_page(request: LeadRequest, stage: Stage) -> HttpResponse:
    settings = stage_settings.shown(stage)
    if request.method != "POST":
        return _page(request, stage, SettingsForm(stage, settings))
    form = SettingsForm(stage, settings, request.POST)
    if not form.is_valid():
        return _page(request, stage, form, 400)
    try:
        changed = _save(request, stage, form)
    except SettingsRefusedError as refusal:
        form.add_faults(refusal)
        return _page(request, stage, form, 400)
    except LargeChangeError as error:
        return _page(request, stage, form, large=_asked(error))
    except Refused as refusal:
        form.add_error(None, str(refusal))
        return _page(request, stage, form, 409)
    names = ", ".join(SETTINGS[name].label for name in changed)
    messages.success(request, f"Saved: {names}." if changed else "Saved. These settings stood already.")
    return redirect("stage-settings", stage.project.slug, stage.key)


def _save(request: LeadRequest, stage: Stage, form: SettingsForm) -> list[str]:
    """All or nothing. With `recipe_value`, the setting of this name gets the recipe's own."""
    wanted = dict(form.given)
    if name := request.POST.get("recipe_value", ""):
        wanted[name] = stage_settings.recipe_value(stage, name)
    with transaction.atomic():
        confirmed = dict(parse_qsl(request.POST.get("confirmed", "")))
        changed = stage_settings.change(stage, wanted, request.user, confirmed=confirmed)
        publishing.publish_by_itself(stage, form.cleaned_data["auto_publish"])
        blocking.block_by_itself(stage, form.cleaned_data["auto_block"], request.user)
    return changed


def _asked(error: LargeChangeError) -> dict[str, Any]:
    """A large raise in words, and what the button sends that confirms it."""
    labels = {name: f"“{SETTINGS[name].label}”" for name in error.changes}
    words = {name: (f"{{}} as {label}", f"{label} from {{}} to {{}}") for name, label in labels.items()}
    words["reward"] = ("a reward of ${}", "the reward from ${} to ${}")
    return {
        "raises": [words[name][1].format(*pair) for name, pair in error.changes.items()],
        "wanted": [words[name][0].format(value) for name, value in error.wanted.items()],
        "confirmed": urlencode(error.wanted),
        "before": error.before,
        "after": error.after,
    }


def _page(
    request: HttpRequest, stage: Stage, form: SettingsForm, status: int = 200, large: dict[str, Any] | None = None
) -> HttpResponse:
    """`large` is a raise that waits for a second click, which has the same page ask for it."""
    has_earlier = stage.project.stages.filter(crowd=True, position__lt=stage.position).exists()
    left_out = [] if has_earlier else ["asks_other_workers_than"]
    left_out += [] if takes_suggestions(stage) else ["suggestions"]
    rows = [_row(stage, form, name) for name in SETTINGS if name not in left_out]
    context = {
        **frame(stage),
        **overview.pay(stage),
        **_prices(stage),
        "form": form,
        "large": large,
        "recipe_value": request.POST.get("recipe_value", ""),
        "columns": [
            [(title, [row for row in rows if row.section == title and not row.is_fixed]) for title in titles]
            for titles in COLUMNS
        ],
        "fixed": [row for row in rows if row.is_fixed and _is_used(row, stage)],
        "published": hit_plans.is_published(stage),
        "added": is_added(stage),
        "removal_fault": custom_stages.removal_fault(stage),
    }
    return render(request, "stages/settings.html", context, status=status)


def _is_used(row: Row, stage: Stage) -> bool:
    """Some are stated of every stage, also where they say nothing."""
    if row.setting.name == "screening_hours":
        return bool(stage.screening_share and stage.screening_retries)
    if row.setting.name == "suggestions":
        return bool(row.setting.value != Stage.Suggestions.HIDDEN)
    return bool(row.setting.value)


def _row(stage: Stage, form: SettingsForm, name: str) -> Row:
    setting = form.settings[name]
    said = value_in_words(name, setting.value, stage)
    recipe = value_in_words(name, setting.recipe, stage) if setting.differs else ""
    return Row(setting, SETTINGS[name].label, said, recipe, form[name] if name in form.fields else None)


def _prices(stage: Stage) -> dict[str, Any]:
    wanted = overview.answers_to_buy(stage)
    return {"pay_choices": overview.pay_choices(stage, wanted), "pay_answers": wanted}


@for_stage(PAGE)
def wage(request: HttpRequest, stage: Stage) -> HttpResponse:
    """The part that says what a typed reward and expected time make an hour; saves nothing."""
    tried = Stage.objects.select_related("summary", "project").get(pk=stage.pk)
    number, unit = request.GET.get("expected_seconds_0", ""), request.GET.get("expected_seconds_1", "1")
    if _is_count(number) and _is_count(unit):
        tried.expected_seconds = int(number) * int(unit) or None
    try:
        reward = Decimal(request.GET.get("reward", "").strip().removeprefix("$")).quantize(Decimal("0.01"))
    except InvalidOperation:
        reward = tried.reward
    tried.reward = reward if reward.is_finite() and 0 <= reward < 1_000_000 else tried.reward
    context = {**frame(stage), "stage": tried, **overview.pay(tried), **_prices(tried)}
    return render(request, "stages/_wage.html", context)


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 9
