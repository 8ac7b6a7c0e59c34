"""A folder with a recipe that works at once: `manage.py new_recipe errors --protocol spot_the_error`."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings

from hits import protocols, recipes
from hits.management.base import OperatorCommand
from hits.management.scaffold import HITS, create


class Command(OperatorCommand):
    requires_system_checks = ()
    help = "Make a folder for a new data set: one stage, whose file is JSON Lines and whose labels are released."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="lower-case words joined by underscores")
        parser.add_argument("--protocol", default="multiple_choice", help="what workers do (multiple_choice)")
        parser.add_argument("--into", type=Path, default=HITS, help="a folder of plug-ins; without it, this package")

    def run(self, options: dict[str, Any]) -> None:
        name, root, protocol = options["name"], options["into"].resolve(), options["protocol"]
        roots = [*settings.PLUGIN_ROOTS, root]
        protocols.get(protocol, roots)
        taken = recipes.available(found / "recipes" for found in roots)
        title = name.replace("_", " ").capitalize()
        folder = create("recipe", name, root / "recipes", taken, protocol=protocol, title=title)
        recipes.load(name, [root / "recipes"])
        self.say(f"{folder} holds the recipe {name}: each item is answered by three workers.")
        self.say("Change stages.toml (pay, times, requirements, rule) and steps.py (import and release).")
        contract = "pytest tests/hits/recipes/test_contract.py" if root == HITS else f"manage.py check_plugin {root}"
        self.say(f"Check it:  {contract}")
