from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from common.html_templates import placeholder_names
from marketplace.models import Requester
from marketplace.rules.errors import ParameterValidationError
from marketplace.verbs import clock, layouts


class Command(BaseCommand):
    help = "Register a page with ${placeholders} as a HIT layout and print its HITLayoutId."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("requester", help="the requester's customer id, or its name where only one has it")
        parser.add_argument("name", help="what the layout is called")
        parser.add_argument("file", type=Path, help="the HTML, in UTF-8")
        parser.add_argument("--raw", action="store_true", help="put values in as they are: their markup counts")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            html = options["file"].read_text(encoding="utf-8")
            requester = _requester(options["requester"])
            layout = layouts.register(requester, options["name"], html, clock.now(), options["raw"])
        except (OSError, UnicodeDecodeError, ParameterValidationError) as error:
            raise CommandError(f"Nothing was registered. {error}") from error
        self.stdout.write(f"HITLayoutId={layout.layout_id}")
        self.stdout.write(f"Placeholders: {', '.join(placeholder_names(html)) or 'none'}")


def _requester(wanted: str) -> Requester:
    found = list(Requester.objects.filter(customer_id=wanted)[:1]) or list(Requester.objects.filter(name=wanted)[:2])
    if len(found) != 1:
        many = "several requesters have" if found else "no requester has"
        raise CommandError(f"Nothing was registered: {many} the name or customer id {wanted!r}.")
    return found[0]
