"""A folder with a protocol that works at once: `manage.py new_protocol spot_the_error`."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from hits import protocols
from hits.management.scaffold import HITS, create


class Command(BaseCommand):
    requires_system_checks = ()
    help = "Make a folder for a new kind of task, with a page, checks, a sample and simulated answers to start from."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="lower-case words joined by underscores")
        parser.add_argument("--into", type=Path, default=HITS, help="a folder of plug-ins; without it, this package")

    def handle(self, *args: Any, **options: Any) -> None:
        name, root = options["name"], options["into"].resolve()
        folder = create("protocol", name, root / "protocols", protocols.available([*settings.PLUGIN_ROOTS, root]))
        self.stdout.write(f"{folder} holds the protocol {name}: it asks a question that is answered with yes or no.")
        self.stdout.write("Change protocol.py, the page in templates/, sample.json and simulated.py.")
        if root != HITS:
            self.stdout.write(f"Check it:  manage.py check_plugin {root}")
            self.stdout.write(f"Use it:    PLUGIN_DIRS={root} in the environment of every program")
        else:
            self.stdout.write("Check it:  pytest tests/hits/protocols/test_contract.py")
        self.stdout.write(f"Next:      manage.py new_recipe NAME --protocol {name}")
