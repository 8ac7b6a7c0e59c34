from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import CommandError
from django.db import transaction

from hits.flow.setup import projects
from hits.management.commands._base import ProjectCommand, agreed
from hits.management.commands.create_project import lead_named
from hits.models import Project


class Command(ProjectCommand):
    help = "List who owns a project; let others own it too, or take it from owners. All is done or nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--add", action="append", default=[], metavar="NAME", help="a lead's user name")
        parser.add_argument("--remove", action="append", default=[], metavar="NAME", help="the last owner stays")
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def run(self, options: dict[str, Any]) -> None:
        project = self.project(options)
        coming = [lead_named(name) for name in options["add"]]
        leaving = [_owner(project, name) for name in options["remove"]]
        question = f"Take {project.slug} from {', '.join(options['remove'])}? [y/N] "
        if leaving and not options["yes"] and not agreed(question):
            raise CommandError("Nothing was changed.")
        with transaction.atomic():
            for owner in coming:
                projects.add_owner(project, owner, None)
            for owner in leaving:
                projects.remove_owner(project, owner, None)
        for name in project.owners.order_by("username").values_list("username", flat=True):
            self.say(name)


def _owner(project: Project, name: str) -> User:
    found = project.owners.filter(username=name).first()
    if found is None:
        there = ", ".join(project.owners.order_by("username").values_list("username", flat=True))
        raise CommandError(f"{name} does not own {project.slug}. Its owners: {there}. Nothing was changed.")
    return found
