"""Settings of a stage: each value that `stages.toml` states of it, changed by a lead and judged by the same reader.

What goes on by itself (`auto_publish`, `auto_block`) has verbs of its own, as have the task and the rule of votes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from hits.core.action_log import record
from hits.judging.rules import aggregated_values, required_answers
from hits.judging.rules.summaries import refresh_summary
from hits.models import Hit, Stage
from hits.payments.rules import large_changes
from hits.pools import rules as pools
from hits.projects.rules.plugins import refuse_without_crowd
from hits.protocols.base import SettingsRefusedError
from hits.publishing.rules import check_questions, hit_plans
from hits.recipes.spec import stage_spec
from hits.recipes.stage_settings import ANY_TIME, BEFORE_PUBLISHING, NEXT_HITS, SETTINGS, StageSettings
from hits.refusals import Refused
from hits.stages.rules.stage_tables import column_of, columns_of, order_faults, recipe_table, table_of, title_faults
from hits.workers.rules import screening
from hits.workers.rules.project_qualifications import own

CHANGED = "changed the settings"
# Of a HIT type: another value makes another type. Lifetime and items are of each HIT.
_OF_HIT_TYPE = frozenset(("reward", "assignment_seconds", "auto_approval_seconds", "keywords", "requirements"))
_ELSEWHERE = {
    "settings": "is changed with the task",
    "rule": "is changed on the page of the rule",
    "auto_publish": "is a switch of its own",
    "auto_block": "is a switch of its own",
    "advance_approved": "is a switch of its own",
    "key": "names the stage in addresses and files, so it stays",
    "protocol": "stays: another task is another stage",
    "feeds": "stays as the recipe says",
    "input": "stays: other items are for another stage",
    "crowd": "stays as the recipe says",
}
# Until answers are approved automatically, where a lead approves and nobody says how long that may take.
TIME_FOR_LEADS = 3 * 86_400
_SCREENING = frozenset(("screening_share", "practice_items", "items_per_hit", "grants"))


@dataclass(frozen=True)
class StageSetting:
    """One setting with its value as `stages.toml` writes it; `recipe` is the recipe's own, None where it has no stage.

    `when` is one of ANY_TIME, NEXT_HITS and BEFORE_PUBLISHING; `why` says why it is fixed.
    """

    name: str
    value: Any
    recipe: Any
    when: str
    why: str = ""

    @property
    def differs(self) -> bool:
        return self.recipe is not None and self.value != self.recipe


def shown(stage: Stage) -> list[StageSetting]:
    """All settings of a stage with a crowd."""
    refuse_without_crowd(stage)
    own, of_recipe = table_of(stage), recipe_table(stage) or {}
    published = hit_plans.is_published(stage)
    shown = []
    for name in (name for name in own if name in SETTINGS):
        when = SETTINGS[name].when if published else ANY_TIME
        why = SETTINGS[name].why_fixed if when == BEFORE_PUBLISHING else ""
        shown.append(StageSetting(name, own[name], of_recipe.get(name), when, why))
    return shown


def change(
    stage: Stage, given: Mapping[str, Any], user: User | None, confirmed: Mapping[str, Any] | None = None
) -> list[str]:
    """Set these values, named and written as in `stages.toml`; returns the names of those that are new.

    Where leads approve from now on and the time until then was 0 s and is not named, they get TIME_FOR_LEADS.

    Raises SettingsRefusedError with every fault, Refused (settings_fixed) for what is published, (still_sending) while
    HITs with the present values are on their way, and LargeChangeError for a large raise of reward or answers,
    unless `confirmed` has the same values.
    """
    refuse_without_crowd(stage)
    with transaction.atomic():
        locked = hit_plans.locked(stage)
        given = _with_time_for_leads(locked, given)
        columns = columns_of(_tried(locked, given))
        changed = [name for name in given if columns[column_of(name)] != getattr(locked, column_of(name))]
        if not changed:
            return []
        _refuse_fixed(locked, changed, columns)
        large_changes.refuse_unconfirmed(locked, {name: columns[column_of(name)] for name in changed}, confirmed or {})
        written = {column_of(name): columns[column_of(name)] for name in changed}
        if {"answers", "most_answers"}.intersection(changed):
            # The same rule for as many answers.
            written["rule"] = columns["rule"]
        if "screening_share" in changed or (locked.screening_share and "grants" in changed):
            # That the test is taken once.
            written["requirements"] = columns["requirements"]
        if locked.hit_type_id and _OF_HIT_TYPE.intersection(changed):
            written |= {"hit_type_id": "", "earlier_hit_types": locked.hit_types}
        Stage.objects.filter(pk=stage.pk).update(**written)
        if {"gold_share", "screening_share"}.intersection(changed):
            check_questions.mark(Stage.objects.select_related("project").get(pk=stage.pk))
            refresh_summary(stage)
        if _SCREENING.intersection(changed):
            _refuse_too_few(stage)
            _move_marks(locked, columns)
        before = table_of(locked)
        values = {name: [before[name], given[name]] for name in changed}
        detail = {"settings": ", ".join(changed), "values": values}
        record(stage.project, user, CHANGED, [stage], detail)
    stage.refresh_from_db()
    return changed


def _with_time_for_leads(stage: Stage, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Who has leads approve from now on, and says nothing of the time that they have, gives them three days."""
    if given.get("approval") == Stage.Approval.REVIEW and "auto_approval_seconds" not in given:
        return {**given, "auto_approval_seconds": time_for_leads(stage)}
    return given


def time_for_leads(stage: Stage) -> int:
    """Seconds until answers are approved automatically where leads approve, or once they do and nobody says a time."""
    if stage.approval == Stage.Approval.REVIEW:
        return stage.auto_approval_seconds
    return stage.auto_approval_seconds or TIME_FOR_LEADS


def _refuse_too_few(stage: Stage) -> None:
    """Raises SettingsRefusedError where the imported items do not make a test. Before anything is imported they may."""
    now = Stage.objects.select_related("project").get(pk=stage.pk)
    fault = screening.too_few(now, screening.usable(now).count()) if now.screening_share else ""
    if fault and now.items.exists():
        raise SettingsRefusedError([f"screening_share must be 0: {fault[0].lower()}{fault[1:]}"])


def _move_marks(before: Stage, columns: Mapping[str, Any]) -> None:
    """Stages that ask for a pass in this test go on to ask for that, where it is another one now."""
    mark = round(100 * columns["screening_share"])
    if not before.screening_share or not mark:
        return
    old = {"qualification": before.grants, "comparator": "GreaterThanOrEqualTo", "integers": [before.screening_mark]}
    for other in before.project.stages.exclude(pk=before.pk):
        if any(old.items() <= one.items() for one in other.requirements) and not hit_plans.is_published(other):
            new = {"qualification": columns["grants"], "integers": [mark]}
            given = [{**one, **new} if old.items() <= one.items() else one for one in other.requirements]
            Stage.objects.filter(pk=other.pk).update(requirements=given)


def recipe_value(stage: Stage, name: str) -> Any:
    """The recipe's own value of the setting. Raises SettingsRefusedError where the recipe has no such stage."""
    table = recipe_table(stage)
    if table is None or name not in SETTINGS:
        raise SettingsRefusedError([f"{name} has no value in the recipe {stage.project.recipe}."])
    return table[name]


def _tried(stage: Stage, given: Mapping[str, Any]) -> StageSettings:
    """The stage with these values. Raises SettingsRefusedError."""
    table = table_of(stage)
    faults = [f"{name} {_ELSEWHERE[name]}." for name in given if name in _ELSEWHERE]
    wanted = {name: value for name, value in given.items() if name not in _ELSEWHERE}
    if wanted.get("expected_seconds", 0) is None:
        # As the description says.
        wanted["expected_seconds"] = 0
    found: list[str] = []
    spec = stage_spec({**table, **wanted}, "", found)
    faults += [f"{fault}." for fault in found]
    stages = stage.project.stages.exclude(pk=stage.pk)
    faults += order_faults(stages.filter(position__lt=stage.position), wanted.get("asks_other_workers_than"))
    faults += title_faults(stages, wanted.get("hit_title"))
    if "requirements" in wanted and spec is not None:
        faults += pools.requirement_faults(stage.project, [one.to_dict() for one in spec.requirements])
    if spec is not None and {"most_answers", "enough"}.intersection(wanted):
        faults += _unknown_units(stage, spec)
    if spec is None or faults:
        raise SettingsRefusedError(faults)
    return spec


def _unknown_units(stage: Stage, spec: StageSettings) -> list[str]:
    tried = copy(stage)
    tried.most_answers, tried.enough = spec.most_answers, spec.enough
    asked, units = ", ".join(required_answers.units_asked(tried)), required_answers.unknown_units(tried)
    faults = [f"enough names {unit!r}, which the task does not ask; it asks: {asked}." for unit in units]
    return faults or [f"enough {fault}." for fault in aggregated_values.unknown_to_condition(tried)]


def _refuse_fixed(stage: Stage, changed: Sequence[str], columns: Mapping[str, Any]) -> None:
    if not hit_plans.is_published(stage):
        return
    fixed = {name: SETTINGS[name].why_fixed for name in changed if SETTINGS[name].when == BEFORE_PUBLISHING}
    if own(columns["requirements"]) != own(stage.requirements):
        fixed["requirements"] = "Answers are judged by the project's own qualifications that the stage asks for."
    if fixed:
        reasons = [f"{name} is fixed: {why}" for name, why in fixed.items()]
        said = " ".join([*reasons, "Nothing was changed."])
        raise Refused("settings_fixed", said, settings=list(fixed), reasons=reasons)
    on_their_way = stage.hits.filter(state__in=[Hit.State.PLANNED, Hit.State.SENT])
    if any(SETTINGS[name].when == NEXT_HITS for name in changed) and on_their_way.exists():
        raise Refused(
            "still_sending",
            "HITs of this stage are being published with the present values. Wait until they are at the marketplace. "
            "Nothing was changed.",
        )
