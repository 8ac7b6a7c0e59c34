"""Stages that a lead adds to a project, behind those of its recipe, and removes while they have no items.

Such a stage asks about rows of columns: those of the imported file, or what an earlier stage kept.
`hits.recipes.inputs` makes its items.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any, cast

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, Max
from django.utils.text import slugify

from hits.answers.rules import task_words
from hits.core.action_log import record
from hits.judging.rules.summaries import refresh_summary
from hits.models import Item, Project, Stage, Verdict
from hits.payments.rules.wages import expected_seconds
from hits.pools import rules as pools
from hits.projects.rules.plugins import protocol_named, settings_of, usable_protocols
from hits.projects.rules.project_rows import create_stage
from hits.protocols.base import SettingsRefusedError
from hits.protocols.optional import Card, RowsProtocol, cards_of
from hits.publishing.rules import check_questions
from hits.publishing.rules.hit_plans import is_published, locked
from hits.recipes.inputs import KNOWN
from hits.recipes.spec import stage_spec
from hits.recipes.stage_settings import StageSettings
from hits.refusals import Refused
from hits.stages.rules.stage_tables import MOST_REQUIREMENTS, is_added, order_faults, title_faults
from hits.text.wording import _, ngettext
from hits.workers.rules import known_answers, screening

MOST_STAGES = 30
COPIED_AT_ONCE = 2000
# What a lead has not stated yet. Nothing goes out by itself before somebody has seen its price.
DEFAULTS: Mapping[str, Any] = {
    "answers": 3,
    "rule": {"name": "measured", "version": 1},
    "reward": "0.10",
    "assignment_seconds": 1800,
    "lifetime_seconds": 7 * 86_400,
    "approval": "automatic",
    "auto_approval_seconds": 259_200,
    "hit_description": "Look at what is shown and answer the questions about it. About 30 seconds.",
    "input": {"stage": "", "each": "item"},
    "auto_publish": False,
}


# Of a test of another stage's workers.
SECONDS_OF_TEST = 300
TEST: Mapping[str, Any] = {
    "answers": 9,
    "items_per_hit": 8,
    "screening_share": 0.75,
    "practice_items": 0,
    "assignment_seconds": 3600,
}


def add_stage(project: Project, given: Mapping[str, Any], user: User | None) -> Stage:
    """Add a stage behind the others; `given` is its table as in `stages.toml`, `DEFAULTS` are what it may leave out.
    `ready` in it names a ready-made task of the protocol, whose settings the stage begins with.

    Its items are made from what is there already; later ones come by themselves, unless the stage draws them. Nothing
    is published. Raises SettingsRefusedError with every fault.
    """
    with transaction.atomic():
        # Two leads who add stages at once get different positions.
        project = Project.objects.select_for_update().get(pk=project.pk)
        stages = list(project.stages.order_by("position"))
        spec = _spec(given, project, stages)
        last = project.stages.aggregate(last=Max("position"))["last"] or 0
        made = create_stage(project, last + 1, spec)
        if made.input["each"] == KNOWN:
            _test_workers_of(next(stage for stage in stages if stage.key == made.input["stage"]), made)
        elif not made.draws:
            _fill(made, stages)
        refresh_summary(made)
        record(project, user, "added a stage", detail={"stage": made.key})
    return made


def remove_stage(stage: Stage, user: User | None) -> None:
    """Remove a stage that a lead has added and that has no published items. Raises Refused (stage_not_removable)."""
    with transaction.atomic():
        project = Project.objects.select_for_update().get(pk=stage.project_id)
        if fault := removal_fault(stage):
            raise Refused("stage_not_removable", f"{fault} Nothing was changed.")
        if stage.input.get("each") == KNOWN:
            known_answers.give_back(stage)
        project.stages.filter(position__gt=stage.position).update(position=F("position") - 1)
        record(project, user, "removed a stage", detail={"stage": stage.key})
        stage.delete()


def removal_fault(stage: Stage) -> str:
    """Why the stage cannot be removed, as a sentence; empty where it can."""
    if not is_added(stage):
        return f"“{stage.title}” is a stage of the recipe, whose steps need it."
    if stage.hits.exists() or stage.batches.exists():
        return f"“{stage.title}” was published. Pause it instead."
    if stage.assignments.exists():
        return f"“{stage.title}” has imported answers: remove them first, on its page “Results”."
    others = stage.project.stages.exclude(pk=stage.pk)
    users = [one.title for one in others if stage.key in (one.input.get("stage"), *one.not_workers_of)]
    return f"“{stage.title}” is named by “{'”, “'.join(users)}”: remove it there first." if users else ""


def row_protocols() -> list[str]:
    """Names of the protocols that ask about rows of columns, which is what a stage of a lead's own has."""
    return [protocol.name for protocol in usable_protocols() if isinstance(protocol, RowsProtocol)]


def cards() -> list[tuple[str, Card]]:
    """What a lead can choose from for a new stage, each with the name of its protocol."""
    offered = [protocol for protocol in usable_protocols() if isinstance(protocol, RowsProtocol)]
    return [(protocol.name, card) for protocol in offered for card in cards_of(protocol)]


def _spec(given: Mapping[str, Any], project: Project, stages: list[Stage]) -> StageSettings:
    """Raises SettingsRefusedError."""
    given, ready_faults = _with_ready(given)
    given = _with_task_of_tested(given, stages)
    title = given.get("title")
    own = {"key": slugify(title)[:60].strip("-") if isinstance(title, str) else "", "hit_title": title}
    found: list[str] = []
    spec = stage_spec({**DEFAULTS, **own, **given}, "", found)
    faults = [*ready_faults, *(f"{fault}." for fault in found)]
    if spec:
        faults += _place_faults(spec, project, stages)
    if len(stages) >= MOST_STAGES:
        faults.append(f"A project has at most {MOST_STAGES} stages.")
    if spec is None or faults:
        raise SettingsRefusedError(faults)
    return spec


def _with_ready(given: Mapping[str, Any]) -> tuple[Mapping[str, Any], list[str]]:
    """The table with the settings of the ready-made task that it names, and what is wrong with that name."""
    name, table = given.get("ready", ""), {key: value for key, value in given.items() if key != "ready"}
    if name == "":
        return table, []
    if "settings" in table:
        return table, ["ready brings settings of its own: leave it out, or settings."]
    there = {card.name: card for protocol, card in cards() if card.name and protocol == table.get("protocol")}
    if not isinstance(name, str) or name not in there:
        names = ", ".join(there) or "none"
        return table, [f"ready must be a ready-made task of this protocol, not {name!r:.60}. There are: {names}."]
    return {**table, "settings": there[name].settings}, []


def _place_faults(spec: StageSettings, project: Project, stages: list[Stage]) -> list[str]:
    """What does not fit the project's other stages, or is not for a stage that a lead adds."""
    crowds = {stage.key for stage in stages if stage.crowd}
    faults = title_faults(project.stages.all(), spec.hit_title)
    faults += order_faults(project.stages.all(), spec.asks_other_workers_than)
    faults += pools.requirement_faults(project, [one.to_dict() for one in spec.requirements])
    if spec.key in {stage.key for stage in stages}:
        faults.append(f"key {spec.key!r} is that of another stage of this project: choose another title.")
    if spec.input and spec.input.each == KNOWN:
        faults += _screening_faults(spec, stages)
    elif spec.protocol not in row_protocols():
        faults.append(f"protocol must be one that asks about rows: {', '.join(row_protocols())}.")
    if spec.feeds is not None:
        faults.append("feeds is for a recipe's stages: the later stage names this one as its input.")
    if spec.input and spec.input.stage and spec.input.stage not in crowds:
        faults.append(f"input.stage must be the key of a stage of this project, not {spec.input.stage!r}.")
    if spec.draws and not (spec.input and spec.input.stage):
        faults.append("draws needs input.stage: the rows of a file are not drawn.")
    return faults


def _with_task_of_tested(given: Mapping[str, Any], stages: list[Stage]) -> Mapping[str, Any]:
    """Of a test of a stage's workers: it asks what that stage asks, with its requirements, and passes to it."""
    source = given.get("input")
    if not isinstance(source, Mapping) or source.get("each") != KNOWN:
        return given
    tested = next((stage for stage in stages if stage.crowd and stage.key == source.get("stage")), None)
    if tested is None:
        return given
    own = {
        **TEST,
        "protocol": tested.protocol,
        "settings": tested.settings,
        "requirements": tested.requirements,
        "keywords": tested.keywords,
        "grants": f"{tested.key}-test"[:60],
        "title": f"Test for {tested.title}"[:120],
        "page_language": tested.page_language,
    }
    table = {**own, **given}
    seconds = table.setdefault("expected_seconds", _seconds_of_test(tested, table))
    language = table["page_language"] if table["page_language"] in task_words.LANGUAGES else task_words.ENGLISH
    with task_words.spoken(language):
        table.setdefault("hit_title", _("Test: %(title)s", title=tested.hit_title)[:128])
        table.setdefault("hit_description", _told_of_test(tested, seconds))
    return table


def _told_of_test(tested: Stage, seconds: object) -> str:
    minutes = -(-seconds // 60) if isinstance(seconds, int) and seconds > 0 else SECONDS_OF_TEST // 60
    return " ".join((
        _("Whoever passes may work on “%(title)s”.", title=tested.hit_title),
        _("Paid whatever the result."),
        ngettext("%(count)s minute.", "%(count)s minutes.", minutes),
    ))  # fmt: skip


def _seconds_of_test(tested: Stage, table: Mapping[str, Any]) -> int:
    """As long as that stage takes for so many items, those for practice among them; five minutes where nobody knows."""
    items = [table.get(name) for name in ("items_per_hit", "practice_items")]
    known = expected_seconds(tested)
    if not known or not all(isinstance(number, int) for number in items):
        # What is no number is refused later.
        return SECONDS_OF_TEST
    return round(known / tested.items_per_hit * sum(cast(list[int], items)))


def _screening_faults(spec: StageSettings, stages: list[Stage]) -> list[str]:
    source = spec.input.stage if spec.input else ""
    tested = next((stage for stage in stages if stage.crowd and stage.key == source), None)
    if tested is None:
        return []
    faults = []
    if not spec.screening_share:
        faults.append("screening_share must be more than 0: a test says what share of right answers passes.")
    if (spec.protocol, protocol_named(spec.protocol).settings(spec.settings)) != (tested.protocol, settings_of(tested)):
        faults.append(f"protocol and settings must be those of “{tested.title}”, whose workers are tested.")
    if tested.screening_share:
        faults.append(f"input.stage must not be a test itself, as “{tested.title}” is.")
    if is_published(tested):
        faults.append(f"“{tested.title}” is published, so what it asks of its workers can no longer change.")
    if len(tested.requirements) >= MOST_REQUIREMENTS:
        faults.append(f"“{tested.title}” has {MOST_REQUIREMENTS} requirements already: take one out first.")
    return faults


def _test_workers_of(tested: Stage, made: Stage) -> None:
    """Take the items with a known answer for the test, and let in who passes it. Raises SettingsRefusedError."""
    tested = locked(tested)
    if is_published(tested):
        raise SettingsRefusedError([f"“{tested.title}” is published, so what it asks can no longer change."])
    if (taken := known_answers.take(tested, made)) and (fault := screening.too_few(made, taken)):
        raise SettingsRefusedError([fault.replace("the stage has", f"“{tested.title}” has")])
    if not taken and tested.items.exists():
        raise SettingsRefusedError([f"“{tested.title}” has no item with a gold answer: import rows that have one."])
    asked = {
        "qualification": made.grants,
        "comparator": "GreaterThanOrEqualTo",
        "guards": "PreviewAndAccept",
        "integers": [made.screening_mark],
    }
    Stage.objects.filter(pk=tested.pk).update(requirements=[*tested.requirements, asked])
    refresh_summary(tested)


def _fill(made: Stage, stages: list[Stage]) -> None:
    """Have its items made of what is there: of the file's rows now, of what was kept by the next round."""
    if of := made.input["stage"]:
        Verdict.objects.filter(item__stage__project=made.project_id, item__stage__key=of, superseded_at=None).update(
            advanced=False
        )
        return
    first = next(stage for stage in stages if stage.crowd)
    kind = check_questions.kind_of(made)
    rows = first.items.filter(parent=None).select_related("document").order_by("id")
    stream = rows.iterator(chunk_size=COPIED_AT_ONCE)
    while part := list(islice(stream, COPIED_AT_ONCE)):
        copies = [
            Item(stage=made, document=row.document, key=row.key, data=row.data, state=state)
            for row in part
            if check_questions.is_for_added(row.state, state := kind(row.document.data, row.data))
        ]
        Item.objects.bulk_create(copies)
