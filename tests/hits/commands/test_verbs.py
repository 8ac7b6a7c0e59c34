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
from hits.domain import roles
from tests.hits.api.test_guard import routes

DOCUMENT = settings.ROOT / "docs" / "verbs.md"
ROW = re.compile(
    r"^\| (?!verb )(?P<verb>[^|]+) \| (?P<api>[^|]+) \| (?P<command>[^|]+) \| (?P<page>[^|]+) \|$", re.MULTILINE
)
# Commands that change nothing of a project, that make or run the whole installation, or that are read elsewhere.
OTHER_COMMANDS = {
    *("check_plugin", "new_protocol", "new_recipe"),
    *("create_lead", "crowd", "demo", "load_sample"),
    *("ledger", "marketplace_calls", "payments", "projects", "quote", "recipe_file", "results", "screening", "status"),
    *("workers", "text_evidence", "backup", "restore", "reconcile", "export_worker"),
}


@dataclass(frozen=True)
class Verb:
    name: str
    api: frozenset[str]
    commands: frozenset[str]
    pages: frozenset[str]


def quoted(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"`([^`]+)`", text))


def verbs() -> list[Verb]:
    rows = ROW.finditer(DOCUMENT.read_text(encoding="utf-8"))
    return [Verb(row["verb"], quoted(row["api"]), quoted(row["command"]), quoted(row["page"])) for row in rows]


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
    return hasattr(view, "view_class") or "POST" in methods_of(view)


def methods_of(view: Any) -> tuple[str, ...]:
    """Of a function behind `require_http_methods`."""
    while view:
        allowed = inspect.getclosurevars(view).nonlocals.get("request_method_list")
        if allowed:
            return tuple(allowed)
        view = getattr(view, "__wrapped__", None)
    return ()


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


def test_the_table_of_roles_has_each_verb_of_a_project_with_its_pages_and_routes() -> None:
    told = {(verb.name, verb.pages | verb.api) for verb in verbs() if any("…" in route for route in verb.api)}
    assert {(verb.name, addresses_of(verb)) for verb in roles.TABLE if verb not in (roles.LOOK, roles.EXPORT)} == told


def addresses_of(verb: roles.Verb) -> frozenset[str]:
    """Its pages that take forms, and its routes as the document writes them."""
    taking = {page.name for page in pages(urls.urlpatterns) if takes_forms(page.callback)}
    previews = quoted(DOCUMENT.read_text(encoding="utf-8").partition("## Pages that change nothing")[2])
    changing = [(route, method) for route, method in routes() if method != "get"]
    called = {address(route, method) for route, method in changing if f"{method.upper()} {route.name}" in verb.routes}
    return (verb.pages & taking) - previews | called


MATRIX = settings.ROOT / "docs" / "roles.md"


def test_the_page_of_roles_shows_the_table() -> None:
    rows = [
        f"| {name} | {' | '.join('yes' if allowed[role] else '–' for role in allowed)} |"
        for name, allowed in roles.matrix()
    ]
    written = [line for line in MATRIX.read_text(encoding="utf-8").splitlines() if re.match(r"\| (?!verb )[A-Z]", line)]
    assert written == rows
