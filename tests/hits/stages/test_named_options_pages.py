"""Each option of a recipe, setting of a protocol and setting of a stage: its name, its unit, and what it does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from django import forms
from django.test import Client
from django.urls import reverse
from lxml import html

from hits import protocols, recipes
from hits.models import Stage
from hits.projects.verbs.projects import create_project
from hits.protocols.optional import Setting, WrittenProtocol
from hits.stages.pages.settings_form import SettingsForm
from hits.stages.verbs import stage_settings

# A field below which a sentence stands that another line of the page gives it.
EXPLAINED_TOGETHER = {"requirement"}


def faults(place: str, key: str, label: str, unit: str | None, effect: str) -> list[str]:
    """`unit` is None for what is no number."""
    found = []
    if not label or label == key or "_" in label:
        found.append(f"{place}: {label!r} is a key")
    if unit is not None and not unit:
        found.append(f"{place}: {label!r} has no unit")
    if not re.search(r"\w+ \w+.*[.!)]$", effect, re.DOTALL):
        found.append(f"{place}: {label!r} does not say what it does: {effect!r}")
    return found


def test_the_check_notices_a_key_a_number_without_unit_and_a_missing_sentence() -> None:
    assert len(faults("here", "eval_share", "", "", "0 to 1")) == 3
    assert len(faults("here", "eval_share", "eval_share", None, "They go to dev and test.")) == 1
    assert faults("here", "eval_share", "Held back for dev", "share", "They go to dev and test.") == []


@pytest.mark.parametrize("name", recipes.available())
def test_every_option_and_parameter_of_a_recipe_has_name_unit_and_effect(name: str) -> None:
    recipe = recipes.load(name)
    computed = getattr(recipe.steps, "computations", ())
    groups = [(name, recipe.options, recipe.described)]
    groups += [(f"{name}, {one.key}", one.params, one.options) for one in computed]
    found = []
    for place, values, described in groups:
        for key, value in values.items():
            option = described[key]
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            found += faults(f"{place}: {key}", key, option.label, option.unit if is_number else None, option.help)
    assert found == []


def _all_settings(settings: tuple[Setting, ...]) -> Iterator[Setting]:
    for setting in settings:
        yield setting
        if editor := setting.editor:
            yield from _all_settings(editor.settings)
            for parts in editor.lists:
                for kind in parts.kinds:
                    yield from _all_settings(kind.settings)


@pytest.mark.parametrize("name", protocols.available())
def test_every_setting_of_a_protocol_has_name_unit_and_effect(name: str) -> None:
    protocol = protocols.get(name)
    written = protocol.fields if isinstance(protocol, WrittenProtocol) else ()
    found = []
    for setting in _all_settings(written):
        unit = setting.unit if setting.kind == "number" else None
        found += faults(f"{name}: {setting.name}", setting.name, setting.label, unit, setting.help)
    assert found == []
    assert all(setting.unit.lower() in setting.titled.lower() for setting in _all_settings(written))


@pytest.mark.django_db
@pytest.mark.parametrize("recipe", recipes.available())
def test_every_setting_of_a_stage_has_name_unit_and_effect(recipe: str, alice: Any) -> None:
    project = create_project("Named", recipe, Decimal(5), "lab@example.org", alice)
    found = []
    for stage in project.stages.filter(crowd=True):
        for name, field in SettingsForm(stage, stage_settings.shown(stage)).fields.items():
            is_number = isinstance(field, forms.IntegerField | forms.FloatField | forms.DecimalField)
            unit = _unit(str(field.label)) if is_number else None
            found += faults(f"{stage.key}: {name}", name, str(field.label), unit, str(field.help_text))
    assert found == []


def _unit(label: str) -> str:
    """In brackets, or a plural in the label, such as "Answers an item"."""
    bracketed = re.search(r"\((.+)\)$", label)
    plural = re.search(r"\b(answers|items|tries|hours)\b", label.lower())
    return next((found.group(1) for found in (bracketed, plural) if found), "")


@pytest.mark.django_db
def test_the_pages_show_the_sentence_of_each_field_and_tie_it_to_the_field(lead_client: Client, alice: Any) -> None:
    project = create_project("Shown", "record", Decimal(5), "lab@example.org", alice)
    stage: Stage = project.stages.filter(crowd=True).order_by("position")[0]
    for address in (
        reverse("options", args=[project.slug]),
        reverse("stage-settings", args=[project.slug, stage.key]),
        reverse("task-settings", args=[project.slug, stage.key]),
    ):
        page = html.fromstring(lead_client.get(address).content)
        ids = {one.get("id"): one.text_content() for one in page.xpath("//main//*[@id]")}
        fields = page.xpath("//main//form//*[self::input or self::select or self::textarea][not(@type='hidden')]")
        assert len(fields) >= 4
        silent = [
            field.get("name")
            for field in fields
            if not field.get("name").startswith(tuple(EXPLAINED_TOGETHER))
            and field.get("aria-label") != "Unit"
            and not field.xpath("ancestor::fieldset//p[contains(@class, 'small')]")
            and len(ids.get(field.get("aria-describedby"), "").split()) < 3
        ]
        assert silent == [], address
