from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from hits.domain.hit_plans import is_published
from hits.flow.setup import setting_up
from hits.management.commands._base import StageCommand
from hits.management.commands.create_project import option
from hits.models import Stage


def held(value: Any) -> Any:
    """A value that begins with @ is what the file of that name holds. Raises CommandError."""
    if not isinstance(value, str) or not value.startswith("@"):
        return value
    try:
        return option(f"value={Path(value[1:]).read_text(encoding='utf-8')}")[1]
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{value[1:]} cannot be read: {error}") from error


class Command(StageCommand):
    changing = ("hit_title", "hit_description", "set")
    help = (
        "What a stage asks of its workers: the HIT's title and description, and the settings of the task with what "
        "they mean. With options, change them; once something is published, they stay."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--title", dest="hit_title", help="workers see it in the list of HITs")
        parser.add_argument("--description", dest="hit_description", help="workers read it before they accept")
        parser.add_argument(
            "--set",
            type=option,
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help="a setting; lists and numbers are JSON, @FILE is what a file holds. May be given several times",
        )

    def run(self, options: dict[str, Any]) -> None:
        stage = self.stage(options)
        given = {name: options[name] for name in setting_up.LONGEST if options[name] is not None}
        if options["set"]:
            given["settings"] = {name: held(value) for name, value in options["set"]}
        if given:
            setting_up.change_task(stage, given, None)
        self._show(stage)

    def _show(self, stage: Stage) -> None:
        self.say(f"{stage.title}: {stage.protocol}")
        self.say(f"title = {stage.hit_title}")
        self.say(f"description = {stage.hit_description}")
        described = {one.name: one for one in setting_up.fields_of(stage)}
        for name, value in setting_up.shown_settings(stage).items():
            self.say(f"{name} = {json.dumps(value, ensure_ascii=False)}")
            if one := described.get(name):
                self.say(f"    {one.label}. {one.help}".rstrip())
        if is_published(stage):
            self.say("It is published, so it can no longer change.")
