"""A stage as a table of `stages.toml`, the columns that such a table gives a stage, and what fits no other stage."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet

from hits.answers.rules.written_texts import fault_without_texts
from hits.projects.rules.plugins import options_of, protocol_named, usable_recipe
from hits.protocols.base import SettingsRefusedError, StepwiseProtocol
from hits.protocols.optional import ComparingProtocol, GoldProtocol, OwnPageProtocol, SuggestedProtocol
from hits.recipes import StageSpec
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


def columns_of(spec: StageSpec) -> dict[str, Any]:
    """The columns of a stage with these values, key and position apart. Raises hits.protocols errors for settings."""
    _refuse_several(spec)
    _refuse_check_questions(spec)
    _refuse_screening(spec)
    _refuse_text_evidence(spec)
    _refuse_suggestions(spec)
    return {
        "title": spec.title,
        "protocol": spec.protocol,
        "crowd": spec.crowd,
        "reward": spec.reward,
        "answers": spec.answers,
        "most_answers": spec.most_answers,
        "enough": spec.enough,
        "items_per_hit": spec.items_per_hit,
        "gold_share": spec.gold_share,
        "approval": spec.approval,
        "auto_approval_seconds": spec.auto_approval_seconds,
        "unchecked_answers": spec.unchecked_answers,
        "assignment_seconds": spec.assignment_seconds,
        "lifetime_seconds": spec.lifetime_seconds,
        "expected_seconds": spec.expected_seconds,
        "hit_title": spec.hit_title,
        "hit_description": spec.hit_description,
        "keywords": spec.keywords,
        "settings": protocol_named(spec.protocol).settings(spec.settings),
        "requirements": _requirements(spec),
        "rule": spec.rule.to_dict() if spec.rule else {},
        "quality": spec.quality.to_dict() if spec.quality else {},
        "not_workers_of": list(spec.asks_other_workers_than),
        "input": spec.input.model_dump() if spec.input else {},
        "draws": spec.draws,
        "grants": spec.grants,
        "screening_share": spec.screening_share,
        "practice_items": spec.practice_items,
        "screening_retries": spec.screening_retries,
        "screening_hours": spec.screening_hours,
        "page_language": spec.page_language,
        "text_evidence": spec.text_evidence,
        "suggestions": spec.suggestions,
        # Nobody has confirmed what a sample costs before it is drawn: a lead publishes it.
        "auto_publish": spec.auto_publish,
        "auto_block": spec.auto_block,
        "advance_approved": spec.advance_approved,
    }


def _refuse_several(spec: StageSpec) -> None:
    """Raises SettingsRefusedError where one HIT cannot ask about several items."""
    if not spec.crowd or spec.items_per_hit == 1:
        return
    protocol = protocol_named(spec.protocol)
    if isinstance(protocol, StepwiseProtocol | OwnPageProtocol | ComparingProtocol):
        raise SettingsRefusedError([f"items_per_hit must be 1: a HIT of “{protocol.title}” asks about one item."])


def _refuse_check_questions(spec: StageSpec) -> None:
    """Raises SettingsRefusedError where the task compares no answer with a known one."""
    if spec.crowd and spec.gold_share and not isinstance(protocol := protocol_named(spec.protocol), GoldProtocol):
        raise SettingsRefusedError([f"gold_share must be 0: the items of “{protocol.title}” bring no gold answers."])


def _refuse_screening(spec: StageSpec) -> None:
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


def _refuse_text_evidence(spec: StageSpec) -> None:
    """Raises SettingsRefusedError where workers write no text on the page."""
    if not spec.crowd or not spec.text_evidence:
        return
    protocol = protocol_named(spec.protocol)
    if fault := fault_without_texts(protocol, protocol.settings(spec.settings)):
        raise SettingsRefusedError([f"text_evidence must be false: {fault}"])


def _refuse_suggestions(spec: StageSpec) -> None:
    """Raises SettingsRefusedError where the task cannot show any."""
    shown = spec.crowd and spec.suggestions != Stage.Suggestions.HIDDEN
    if shown and not isinstance(protocol := protocol_named(spec.protocol), SuggestedProtocol):
        raise SettingsRefusedError([f"suggestions must be hidden: the task “{protocol.title}” takes none."])


def _requirements(spec: StageSpec) -> list[dict[str, Any]]:
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
    return {
        "key": stage.key,
        "title": stage.title,
        "protocol": stage.protocol,
        "answers": stage.answers,
        "most_answers": stage.most_answers or 0,
        "enough": stage.enough,
        "items_per_hit": stage.items_per_hit,
        "gold_share": stage.gold_share,
        "rule": {"name": rule["name"], "version": rule["version"], **params},
        "reward": f"{stage.reward:.2f}",
        "expected_seconds": stage.expected_seconds or 0,
        "assignment_seconds": stage.assignment_seconds,
        "lifetime_seconds": stage.lifetime_seconds,
        "approval": str(stage.approval),
        "auto_approval_seconds": stage.auto_approval_seconds,
        "unchecked_answers": stage.unchecked_answers,
        "hit_title": stage.hit_title,
        "hit_description": stage.hit_description,
        "keywords": stage.keywords,
        "settings": stage.settings,
        "requirements": stage.requirements,
        "quality": stage.quality,
        "asks_other_workers_than": stage.not_workers_of,
        "draws": stage.draws,
        "grants": stage.grants,
        "screening_share": stage.screening_share,
        "practice_items": stage.practice_items,
        "screening_retries": stage.screening_retries,
        "screening_hours": stage.screening_hours,
        "page_language": stage.page_language,
        "text_evidence": stage.text_evidence,
        "suggestions": str(stage.suggestions),
        "auto_publish": stage.auto_publish,
        "auto_block": stage.auto_block,
        "advance_approved": stage.advance_approved,
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
