"""docs/verbs.md says how each verb is called: a new route or page fails here until it stands there."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.conf import settings
from django.core.management import get_commands, load_command_class
from django.urls import URLPattern, URLResolver
from drf_spectacular.generators import SchemaGenerator

from annotate_client.cli.description import Description
from hits import urls
from hits.core import roles
from hits.core.verbs import REGISTRY
from tests.hits.api.test_guard import routes

# Without the table of declared verbs, which `python -m tests.golden` writes.
WHOLE = (settings.ROOT / "docs" / "verbs.md").read_text(encoding="utf-8")
DOCUMENT = WHOLE.partition("## Declared verbs")[0]
ROW = re.compile(
    r"^\| (?!verb )(?P<verb>[^|]+) \| (?P<api>[^|]+) \| (?P<command>[^|]+) \| (?P<page>[^|]+) \| (?P<role>[^|]+) \|$",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Verb:
    name: str
    api: frozenset[str]
    commands: frozenset[str]
    pages: frozenset[str]


def quoted(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"`([^`]+)`", text))


def verbs(document: str = DOCUMENT) -> list[Verb]:
    rows = ROW.finditer(document)
    return [Verb(row["verb"], quoted(row["api"]), quoted(row["command"]), quoted(row["page"])) for row in rows]


def address(route: URLPattern, method: str) -> str:
    """Such as `PUT …/budget/`, as the document says it."""
    path = re.sub(r"<\w+:(\w+)>", r"{\1}", str(route.pattern))
    return f"{method.upper()} {re.sub('^projects/{slug}/', '…/', path)}"


def test_every_verb_of_the_api_stands_in_the_document() -> None:
    told = [one for verb in verbs() for one in verb.api]
    assert sorted(told) == sorted(address(route, method) for route, method in routes() if method != "get")


def test_every_page_that_takes_a_form_stands_in_the_document() -> None:
    told = {page for verb in verbs(WHOLE) for page in verb.pages if page not in REGISTRY}
    apart = quoted(DOCUMENT.partition("## Pages that change nothing")[2])
    assert told | apart == {
        page.name for page in pages(urls.urlpatterns) if takes_forms(page.callback) and page.name not in REGISTRY
    }


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


@pytest.fixture(scope="module")
def subcommands() -> dict[str, str]:
    """Such as `budget change` of `PUT …/budget/`, parts of the address without names, as `annotate` makes them."""
    description = Description(SchemaGenerator().get_schema(request=None, public=True))
    return {without_names(f"{one.method} {one.path}"): " ".join(one.words) for one in description.operations.values()}


def without_names(route: str) -> str:
    return re.sub(r"{\w+}", "{}", route.replace("…/", "projects/{}/"))


@pytest.mark.parametrize("verb", verbs(WHOLE), ids=lambda verb: verb.name)
def test_each_route_has_its_subcommand_and_what_has_none_a_command_of_the_server(
    verb: Verb, subcommands: dict[str, str]
) -> None:
    if verb.api:
        assert verb.commands == {subcommands[without_names(route)] for route in verb.api}
        return
    for told in verb.commands:
        program, name, *words = told.split()
        assert (program, get_commands().get(name)) == ("manage.py", "hits")
        parser = load_command_class("hits", name).create_parser(program, name)
        assert set(words) <= set(parser._option_string_actions)


def test_the_table_of_roles_has_each_verb_of_a_project_with_its_pages_and_routes() -> None:
    told = {(verb.name, verb.pages | verb.api) for verb in verbs() if any("…" in route for route in verb.api)}
    table = [verb for verb in roles.TABLE if verb.routes and verb not in (roles.LOOK, roles.EXPORT)]
    assert {(verb.name, addresses_of(verb)) for verb in table} == told


def addresses_of(verb: roles.Verb) -> frozenset[str]:
    """Its pages that take forms, and its routes as the document writes them."""
    taking = {page.name for page in pages(urls.urlpatterns) if takes_forms(page.callback)}
    previews = quoted(DOCUMENT.partition("## Pages that change nothing")[2])
    changing = [(route, method) for route, method in routes() if method != "get"]
    called = {address(route, method) for route, method in changing if f"{method.upper()} {route.name}" in verb.routes}
    return (verb.pages & taking) - previews | called


def test_each_verb_of_a_project_stands_with_the_lowest_role_that_may_do_it() -> None:
    written = {row["verb"]: row["role"] for row in ROW.finditer(WHOLE)}
    of_projects = {verb.name: str(verb.least) for verb in roles.table() if verb not in (roles.LOOK, roles.EXPORT)}
    assert {name: written.get(name) for name in of_projects} == of_projects
