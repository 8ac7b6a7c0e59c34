"""Run the contract of protocols and recipes on a folder of plug-ins: `manage.py check_plugin FOLDER`."""

from __future__ import annotations

import os
import subprocess
import sys
from argparse import ArgumentParser
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from hits import protocols, recipes
from hits.management.scaffold import HITS

CONTRACTS = {"protocols": "tests/hits/protocols/test_contract.py", "recipes": "tests/hits/recipes/test_contract.py"}


class Command(BaseCommand):
    requires_system_checks = ()
    help = "Check a folder of plug-ins: that each can be used, and that it does what every protocol and recipe must do."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, help="holds protocols/ or recipes/, or both")

    def handle(self, *args: Any, **options: Any) -> None:
        folder = options["folder"].resolve()
        found = [kind for kind in CONTRACTS if (folder / kind).is_dir()]
        if not found:
            raise CommandError(f"{folder} holds neither protocols/ nor recipes/.")
        broken = [*protocols.faults([protocols.HOME, folder]), *recipes.faults([folder / "recipes"])]
        if broken:
            raise CommandError("\n".join(str(getattr(error, "in_full", error)) for error in broken))
        if find_spec("pytest") is None or not (HITS.parent / "tests").is_dir():
            raise CommandError("The tests are needed for this: run it in a checkout after `make check`.")
        self._test(folder, [CONTRACTS[kind] for kind in found])

    def _test(self, folder: Path, contracts: list[str]) -> None:
        environment = os.environ | {"PLUGIN_DIRS": str(folder), "DJANGO_SETTINGS_MODULE": "tests.settings.annotate"}
        command = [sys.executable, "-m", "pytest", *contracts, "-p", "no:cacheprovider"]
        if subprocess.run(command, cwd=HITS.parent, env=environment).returncode:
            raise CommandError("What failed is named above.")
        self.stdout.write(f"{folder} does what every protocol and recipe must do.")
