"""Setting up: a lead writes what a stage asks of its workers. Once it is published it stays as they saw it."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from hits.core.action_log import record
from hits.judging.rules.summaries import refresh_summary
from hits.models import Document, Hit, Item, Stage
from hits.projects.rules.plugins import protocol_of, settings_of
from hits.protocols.base import Json, SettingsRefusedError
from hits.protocols.given_settings import printed
from hits.protocols.optional import Setting, VariedProtocol, WrittenProtocol
from hits.publishing.rules import check_questions
from hits.publishing.rules.hit_plans import is_published, locked
from hits.refusals import Refused

MOST_EXAMPLES = 20
LONGEST = {"hit_title": 128, "hit_description": 2000}


def fields_of(stage: Stage) -> tuple[Setting, ...]:
    """The settings that can be written on a page; none where the protocol does not describe them."""
    protocol = protocol_of(stage)
    if isinstance(protocol, VariedProtocol):
        return protocol.fields_for(stage.settings)
    return protocol.fields if isinstance(protocol, WrittenProtocol) else ()


def shown_settings(stage: Stage) -> Json:
    """The stage's settings with the defaults of those that are not stored, also where the protocol refuses them."""
    try:
        return settings_of(stage)
    except SettingsRefusedError:
        return dict(stage.settings)


def tried(stage: Stage, given: Mapping[str, Any]) -> Stage:
    """The stage as it would be with `hit_title`, `hit_description` and `settings`; it is not saved.

    What is not given, of the settings too, stays as it is. Raises SettingsRefusedError with every fault.
    """
    found = copy.copy(stage)
    faults = [fault for name in LONGEST if name in given for fault in _write(found, name, given[name])]
    try:
        found.settings = protocol_of(stage).settings({**stage.settings, **given.get("settings", {})})
    except SettingsRefusedError as refusal:
        faults += refusal.reasons
    if faults:
        raise SettingsRefusedError(faults)
    return found


def change_task(stage: Stage, given: Mapping[str, Any], user: User | None) -> None:
    """See `tried`. Raises SettingsRefusedError and, once anything of the stage is published, Refused (task_frozen)."""
    found = tried(stage, given)
    written = {name: getattr(found, name) for name in (*LONGEST, "settings")}
    with transaction.atomic():
        if is_published(locked(stage)):
            raise Refused(
                "task_frozen", "This task is published as it stands, so it can no longer change. Nothing was changed."
            )
        if "settings" in written and stage.assignments.imported().exists():
            raise Refused(
                "task_frozen",
                "Imported answers were checked with this task as it stands, so it can no longer change. Remove them "
                "on the page “Results” and import them again afterwards. Nothing was changed.",
            )
        Stage.objects.filter(pk=stage.pk).update(**written)
        changed = [name for name, value in written.items() if value != getattr(stage, name)]
        if stage.gold_share or stage.screening_share:
            check_questions.mark(Stage.objects.select_related("project").get(pk=stage.pk))
            refresh_summary(stage)
        if changed:
            record(stage.project, user, "changed the task", [stage], {"changed": changed})
    stage.refresh_from_db()


def example(stage: Stage, key: str = "") -> Hit:
    """A HIT that exists nowhere, about the item of that key, else the stage's first, else the protocol's own example.

    Raises Refused (no_example).
    """
    items = stage.items.select_related("document").order_by("id")
    item = (items.filter(key=key).first() if key else None) or items.first() or _invented(stage)
    item.stage = stage
    return Hit(stage=stage, item=item)


def example_keys(stage: Stage) -> list[str]:
    """The keys of the first items of the stage, which can be looked at in the task."""
    return list(stage.items.order_by("id").values_list("key", flat=True)[:MOST_EXAMPLES])


def _write(stage: Stage, name: str, value: str) -> list[str]:
    """Sets the text and returns what is wrong with it."""
    text = printed(value)
    setattr(stage, name, text)
    if not text:
        return [f"{name} must not be blank."]
    if len(text) > LONGEST[name]:
        return [f"{name} has {len(text):,} characters; the marketplace takes {LONGEST[name]:,}."]
    others = Stage.objects.filter(project=stage.project_id).exclude(pk=stage.pk)
    if name == "hit_title" and others.filter(hit_title=text).exists():
        return [f"{name} is that of another stage of this project: workers could not tell the two apart."]
    return []


def _invented(stage: Stage) -> Item:
    protocol = protocol_of(stage)
    if not isinstance(protocol, WrittenProtocol):
        raise Refused("no_example", "There is no item to show yet. Import a file: its first item is shown here.")
    found = protocol.example_for(stage.settings) if isinstance(protocol, VariedProtocol) else protocol.example
    document, item = found
    return Item(stage=stage, document=Document(project=stage.project, data=document), data=item)
