"""docs/verbs.md says how each verb is called: a new route, command or page fails here until it stands there."""

from __future__ import annotations

import inspect
import re
from argparse import ArgumentParser
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.conf import settings
from django.core.management import get_commands, load_command_class
from django.urls import URLPattern, URLResolver

from hits import urls
from tests.hits.api.test_guard import routes

DOCUMENT = settings.ROOT / "docs" / "verbs.md"
ROW = re.compile(
    r"^\| (?!verb )(?P<verb>[^|]+) \| (?P<api>[^|]+) \| (?P<command>[^|]+) \| (?P<page>[^|]+) \|$", re.MULTILINE
)
# Commands that change nothing of a project, that make or run the whole installation, or that are read elsewhere.
OTHER_COMMANDS = {
    *("check_plugin", "new_protocol", "new_recipe"),
    *("create_lead", "crowd", "demo", "load_sample"),
    *("ledger", "marketplace_calls", "payments", "projects", "quote", "recipe_file", "status"),
}


@dataclass(frozen=True)
class Verb:
    api: frozenset[str]
    commands: frozenset[str]
    pages: frozenset[str]


def quoted(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"`([^`]+)`", text))


def verbs() -> list[Verb]:
    rows = ROW.finditer(DOCUMENT.read_text(encoding="utf-8"))
    return [Verb(quoted(row["api"]), quoted(row["command"]), quoted(row["page"])) for row in rows]


def address(route: URLPattern, method: str) -> str:
    """Such as `PUT …/budget/`, as the document says it."""
    path = re.sub(r"<\w+:(\w+)>", r"{\1}", str(route.pattern))
    return f"{method.upper()} {re.sub('^projects/{slug}/', '…/', path)}"


def test_every_verb_of_the_api_stands_in_the_document() -> None:
    told = [one for verb in verbs() for one in verb.api]
    assert sorted(told) == sorted(address(route, method) for route, method in routes() if method != "get")


def test_every_command_stands_in_the_document() -> None:
    ours = {name for name, app in get_commands().items() if app == "hits"}
    assert ours - {command.split()[0] for verb in verbs() for command in verb.commands} == OTHER_COMMANDS


def test_every_page_that_takes_a_form_stands_in_the_document() -> None:
    told = {page for verb in verbs() for page in verb.pages}
    apart = quoted(DOCUMENT.read_text(encoding="utf-8").partition("## Pages that change nothing")[2])
    assert told | apart == {page.name for page in pages(urls.urlpatterns) if takes_forms(page.callback)}


def pages(patterns: list[URLPattern | URLResolver]) -> Iterator[URLPattern]:
    for found in patterns:
        if isinstance(found, URLPattern):
            yield found
        elif str(found.pattern) != "api/":
            yield from pages(found.url_patterns)


def takes_forms(view: Any) -> bool:
    """Whether it answers to POST: a class of Django's, or a function behind `require_http_methods`."""
    if hasattr(view, "view_class"):
        return True
    while view:
        allowed = inspect.getclosurevars(view).nonlocals.get("request_method_list")
        if allowed:
            return "POST" in allowed
        view = getattr(view, "__wrapped__", None)
    return False


def test_the_readme_says_that_every_verb_is_a_route_and_a_command() -> None:
    readme = " ".join((settings.ROOT / "README.md").read_text(encoding="utf-8").split())
    assert "Every verb of a project on the dashboard is a REST route and a command." in readme


@pytest.mark.parametrize("told", sorted({command for verb in verbs() for command in verb.commands}))
def test_each_of_these_commands_is_there_with_its_option_or_action(told: str) -> None:
    name, *words = told.split()
    known = get_commands()
    assert known.get(name) == "hits"
    parser = load_command_class("hits", name).create_parser("manage.py", name)
    assert set(words) <= _words(parser)


def _words(parser: ArgumentParser) -> set[str]:
    """The options, and the actions that a positional argument takes."""
    options = set(parser._option_string_actions)
    return options.union(*(action.choices or () for action in parser._actions if not action.option_strings))
