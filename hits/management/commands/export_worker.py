from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder

from hits.management.base import OperatorCommand
from hits.workers.verbs import personal_data


class Command(OperatorCommand):
    help = "Print everything that is kept about a worker in all projects, as JSON."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("worker", help="the id at the marketplace")

    def run(self, options: dict[str, Any]) -> None:
        found = personal_data.export(personal_data.find(options["worker"]))
        self.say(json.dumps(found, ensure_ascii=False, indent=1, cls=DjangoJSONEncoder))
