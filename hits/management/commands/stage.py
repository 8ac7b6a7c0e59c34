from __future__ import annotations

import json
from argparse import ArgumentParser, BooleanOptionalAction
from typing import Any

from django.core.management.base import CommandError
from django.db import transaction

from hits.domain.large_changes import LargeChangeError
from hits.flow.people import blocking
from hits.flow.pipeline import advancing, publishing
from hits.flow.setup import stage_settings
from hits.flow.setup.stage_settings import StageSetting
from hits.management.commands._base import StageCommand, agreed
from hits.models import Stage
from hits.text.cells import as_text

_SWITCHES = {
    "auto-publish": "items that arrive from the stage before go out automatically",
    "auto-block": "the check of workers blocks automatically",
    "advance-approved": "of answers that are held for review, only approved ones go on to later stages",
}


class Command(StageCommand):
    help = "The settings of a stage as stages.toml names them, beside the recipe's own; with options, change them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--set",
            action="append",
            default=[],
            type=assignment,
            metavar="NAME=VALUE",
            help="such as reward=0.06 or 'requirements=[...]': a text, or JSON; may be given several times",
        )
        parser.add_argument("--yes", action="store_true", help="do not ask about a large raise of reward or answers")
        parser.add_argument(
            "--recipe-value", action="append", default=[], metavar="NAME", help="set this one to the recipe's own value"
        )
        for name, told in _SWITCHES.items():
            parser.add_argument(f"--{name}", action=BooleanOptionalAction, help=told)

    def changes(self, options: dict[str, Any]) -> bool:
        switches = [options[name.replace("-", "_")] for name in _SWITCHES]
        return bool(options["set"] or options["recipe_value"]) or any(value is not None for value in switches)

    def run(self, options: dict[str, Any]) -> None:
        stage = self.stage(options)
        try:
            _change(stage, options)
        except LargeChangeError as error:
            # Nothing is locked while somebody thinks.
            if not agreed(f"{error}\nChange it? [y/N] "):
                raise
            _change(stage, {**options, "yes": True})
        stage.refresh_from_db()
        for setting in stage_settings.shown(stage):
            self.say(_line(setting))
        for name in _SWITCHES:
            self.say(f"{name:<24} {'yes' if getattr(stage, name.replace('-', '_')) else 'no'}")


def assignment(text: str) -> tuple[str, Any]:
    """Of `reward=0.06` the name and the value; the reward stays a text, as in stages.toml."""
    name, equals, value = text.partition("=")
    if not equals:
        raise CommandError(f"--set takes NAME=VALUE, such as reward=0.06, not {text!r}.")
    if name == "reward":
        return name, value
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


@transaction.atomic
def _change(stage: Stage, options: dict[str, Any]) -> None:
    given = {name: stage_settings.recipe_value(stage, name) for name in options["recipe_value"]} | dict(options["set"])
    if given:
        stage_settings.change(stage, given, None, confirmed=given if options["yes"] else None)
    if options["auto_publish"] is not None:
        publishing.publish_by_itself(stage, options["auto_publish"])
    if options["auto_block"] is not None:
        blocking.block_by_itself(stage, options["auto_block"], None)
    if options["advance_approved"] is not None:
        advancing.only_approved(stage, options["advance_approved"], None)


def _line(setting: StageSetting) -> str:
    recipe = f" (recipe: {as_text(setting.recipe)})" if setting.differs else ""
    when = "" if setting.when == "any time" else f" [{setting.when}]"
    return f"{setting.name:<24} {as_text(setting.value)}{recipe}{when}"
