from __future__ import annotations

import json
from argparse import ArgumentParser, ArgumentTypeError
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError
from django.core.validators import validate_email
from django.db import transaction

from hits.flow.people import testing
from hits.flow.setup import project_files, projects
from hits.management.commands._base import FlowCommand
from hits.models import Project, Stage
from hits.quality.votes import RuleError


def money(text: str) -> Decimal:
    """Dollars and cents; argparse shows the refusal."""
    try:
        amount = Decimal(text)
    except InvalidOperation as error:
        raise ArgumentTypeError(f"{text!r} is no amount of money") from error
    if not amount.is_finite() or not 0 <= amount < 10**10 or amount != round(amount, 2):
        raise ArgumentTypeError(f"{text!r} is not dollars and cents")
    return amount


def option(text: str) -> tuple[str, Any]:
    """`name=value`; the value is JSON where it can be read so, otherwise text."""
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise ArgumentTypeError(f"{text!r} is not of the form name=value")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value


def lead_named(name: str) -> User:
    """Raises CommandError."""
    found: User | None = get_user_model().objects.filter(username=name, is_active=True).first()
    if found is None:
        raise CommandError(f"There is no user {name!r}. Create one: manage.py create_lead NAME")
    return found


class Command(FlowCommand):
    help = "Start a project from a recipe; nothing is published. Prints its slug."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name")
        recipe = parser.add_mutually_exclusive_group(required=True)
        recipe.add_argument("--recipe")
        recipe.add_argument("--file", type=Path, metavar="FILE.toml", help="what `recipe_file` of a project printed")
        recipe.add_argument("--clone", metavar="SLUG", help="of this project, with its settings")
        parser.add_argument("--items", action="store_true", help="with --clone: what was imported there comes with it")
        parser.add_argument("--splits", action="store_true", help="with --clone: what was released keeps its split")
        parser.add_argument("--budget", type=money, required=True, help="dollars, fees included")
        parser.add_argument("--email", required=True, help="workers see it on every task page")
        parser.add_argument("--owner", required=True, help="user name of a lead")
        parser.add_argument("--seed", type=int, help="of everything drawn at random; drawn itself by default")
        parser.add_argument("--option", type=option, action="append", default=[], metavar="NAME=VALUE")
        parser.add_argument("--answers", type=int, help="answers an item in the first stage")
        parser.add_argument("--need", type=int, help="how many of them must be right; all by default")

    def run(self, options: dict[str, Any]) -> None:
        if options["need"] and not options["answers"]:
            raise CommandError("--need goes with --answers.")
        if options["items"] and not options["clone"]:
            raise CommandError("--items goes with --clone.")
        if options["splits"] and not options["clone"]:
            raise CommandError("--splits goes with --clone.")
        if options["option"] and not options["recipe"]:
            raise CommandError("--option goes with --recipe.")
        owner = lead_named(options["owner"])
        check_email(options["email"])
        with transaction.atomic():
            project = _create(options, owner)
            if options["answers"]:
                _want(project.stages.get(position=1), options["answers"], options["need"] or options["answers"])
        # An absent marketplace is told later, by the worker of the installation.
        testing.finish(project)
        self.say(project.slug)


def _create(options: dict[str, Any], owner: User) -> Project:
    name, budget, email = options["name"], options["budget"], options["email"]
    if options["clone"]:
        source = Project.objects.filter(slug=options["clone"]).first()
        if source is None:
            raise CommandError(f"There is no project {options['clone']!r}.")
        kept = {"items": options["items"], "splits": options["splits"]}
        return project_files.clone(source, name, budget, owner, **kept, contact_email=email, limited=False)
    if options["file"]:
        file = project_files.read(_content(options["file"]))
        return project_files.create_from(file, name, budget, email, owner, options["seed"], limited=False)
    return projects.create_project(
        name, options["recipe"], budget, email, owner, dict(options["option"]), options["seed"], limited=False
    )


def _content(path: Path) -> bytes:
    """Not more of it than is taken, and a byte."""
    try:
        with path.open("rb") as file:
            return file.read(project_files.MOST_BYTES + 1)
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error}") from error


def check_email(address: str) -> None:
    try:
        validate_email(address)
    except ValidationError as error:
        raise CommandError(f"{address!r} is no e-mail address.") from error


def _want(stage: Stage, answers: int, need: int) -> None:
    if not 1 <= answers <= 100:
        raise CommandError("--answers must be from 1 to 100.")
    try:
        projects.want_answers(stage, answers, need)
    except RuleError as error:
        raise CommandError(str(error)) from error
