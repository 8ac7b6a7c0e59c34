"""A stage as a table of `stages.toml`, the columns that such a table gives a stage, and what fits no other stage."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet

from hits.answers.rules.written_texts import fault_without_texts
from hits.projects.rules.plugins import options_of, protocol_named, usable_recipe
from hits.protocols.base import SettingsRefusedError, StepwiseProtocol
from hits.protocols.optional import ComparingProtocol, GoldProtocol, OwnPageProtocol, SuggestedProtocol
from hits.recipes import StageSettings
from hits.stages.models import Stage


def order_faults(earlier: QuerySet[Stage], keys: Any) -> list[str]:
    """Of `asks_other_workers_than`; `earlier` are the stages before this one. What is no list is told elsewhere."""
    known = set(earlier.filter(crowd=True).values_list("key", flat=True))
    wrong = [key for key in keys if key not in known] if isinstance(keys, list | tuple) else []
    return [f"asks_other_workers_than must name earlier stages, not {key!r:.60}." for key in wrong]


def title_faults(others: QuerySet[Stage], hit_title: Any) -> list[str]:
    """`others` are the project's stages without this one."""
    if isinstance(hit_title, str) and others.filter(hit_title=hit_title).exists():
        return ["hit_title is that of another stage of this project: workers could not tell the two apart."]
    return []


MOST_REQUIREMENTS = 10
# The recipe's file alone says them, or they name the stage.
_NO_COLUMN = frozenset(("key", "feeds", "group"))


def column_of(setting: str) -> str:
    """The column of `Stage` that holds a setting."""
    return "not_workers_of" if setting == "asks_other_workers_than" else setting


def columns_of(spec: StageSettings) -> dict[str, Any]:
    """The columns of a stage with these values, key and position apart. Raises hits.protocols errors for settings."""
    _refuse_several(spec)
    _refuse_check_questions(spec)
    _refuse_screening(spec)
    _refuse_text_evidence(spec)
    _refuse_suggestions(spec)
    return {column_of(name): getattr(spec, name) for name in StageSettings.model_fields if name not in _NO_COLUMN} | {
        "settings": protocol_named(spec.protocol).settings(spec.settings),
        "requirements": _requirements(spec),
        "rule": spec.rule.to_dict() if spec.rule else {},
        "quality": spec.quality.to_dict() if spec.quality else {},
        "not_workers_of": list(spec.asks_other_workers_than),
        "input": spec.input.model_dump() if spec.input else {},
    }


def _refuse_several(spec: StageSettings) -> None:
    """Raises SettingsRefusedError where one HIT cannot ask about several items."""
    if not spec.crowd or spec.items_per_hit == 1:
        return
    protocol = protocol_named(spec.protocol)
    if isinstance(protocol, StepwiseProtocol | OwnPageProtocol | ComparingProtocol):
        raise SettingsRefusedError([f"items_per_hit must be 1: a HIT of “{protocol.title}” asks about one item."])


def _refuse_check_questions(spec: StageSettings) -> None:
    """Raises SettingsRefusedError where the task compares no answer with a known one."""
    if spec.crowd and spec.gold_share and not isinstance(protocol := protocol_named(spec.protocol), GoldProtocol):
        raise SettingsRefusedError([f"gold_share must be 0: the items of “{protocol.title}” bring no gold answers."])


def _refuse_screening(spec: StageSettings) -> None:
    """Raises SettingsRefusedError where the task compares no answer with a known one, or cannot show a practice."""
    if not spec.crowd or not spec.screening_share:
        return
    protocol = protocol_named(spec.protocol)
    faults = []
    if not isinstance(protocol, GoldProtocol):
        faults.append(f"screening_share must be 0: the items of “{protocol.title}” bring no gold answers.")
    if spec.practice_items and isinstance(protocol, OwnPageProtocol | StepwiseProtocol):
        faults.append(f"practice_items must be 0: a page of “{protocol.title}” cannot show what was right.")
    if len(_requirements(spec)) > MOST_REQUIREMENTS:
        faults.append(
            f"requirements must leave room for one of at most {MOST_REQUIREMENTS}: that the test is taken once."
        )
    if faults:
        raise SettingsRefusedError(faults)


def _refuse_text_evidence(spec: StageSettings) -> None:
    """Raises SettingsRefusedError where workers write no text on the page."""
    if not spec.crowd or not spec.text_evidence:
        return
    protocol = protocol_named(spec.protocol)
    if fault := fault_without_texts(protocol, protocol.settings(spec.settings)):
        raise SettingsRefusedError([f"text_evidence must be false: {fault}"])


def _refuse_suggestions(spec: StageSettings) -> None:
    """Raises SettingsRefusedError where the task cannot show any."""
    shown = spec.crowd and spec.suggestions != Stage.Suggestions.HIDDEN
    if shown and not isinstance(protocol := protocol_named(spec.protocol), SuggestedProtocol):
        raise SettingsRefusedError([f"suggestions must be hidden: the task “{protocol.title}” takes none."])


def _requirements(spec: StageSettings) -> list[dict[str, Any]]:
    """Those that are stated and, of a test, that its result is not there yet: so nobody takes it twice."""
    stated = [requirement.to_dict() for requirement in spec.requirements]
    if not spec.screening_share or any(one["qualification"] == spec.grants for one in stated):
        return stated
    return [*stated, {"qualification": spec.grants, "comparator": "DoesNotExist", "guards": "PreviewAndAccept"}]


def table_of(stage: Stage) -> dict[str, Any]:
    """The table that says of a stage with a crowd what its columns say; only values that JSON holds.

    `feeds` is of the recipe, which stands behind every project of its own.
    """
    rule = stage.rule
    params = {name: value for name, value in rule["params"].items() if name != "answers"}
    names = [name for name in StageSettings.model_fields if name not in {*_NO_COLUMN, "crowd", "input"}]
    return {
        "key": stage.key,
        **{name: getattr(stage, column_of(name)) for name in names},
        "rule": {"name": rule["name"], "version": rule["version"], **params},
        "reward": f"{stage.reward:.2f}",
        "most_answers": stage.most_answers or 0,
        "expected_seconds": stage.expected_seconds or 0,
        # Of a member of an enumeration, its text.
        "approval": str(stage.approval),
        "suggestions": str(stage.suggestions),
        **({"input": stage.input} if stage.input else {}),
    }


def recipe_table(stage: Stage) -> dict[str, Any] | None:
    """The same of the recipe's stage with this key; None where the recipe has none, or cannot be used."""
    recipe = usable_recipe(stage.project)
    specs = recipe.stages_with(options_of(stage.project)) if recipe else ()
    spec = next((one for one in specs if one.key == stage.key and one.crowd), None)
    return table_of(Stage(key=stage.key, **columns_of(spec))) if spec else None


def is_added(stage: Stage) -> bool:
    """Whether a lead added the stage: the recipe's steps know nothing of it."""
    return bool(stage.input) and recipe_table(stage) is None
