"""Imports point down only. The tables below are the architecture; the tests hold the source tree against them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.layers.imports import PROJECTS, Import, circles, imports, modules, within

# What each package may import of its own project, itself apart. What stands lower in the list is higher up.
PURE = ("hits.quality", "hits.text")
BELOW_MODELS = (*PURE, "hits.protocols", "hits.formats", "hits.mturk")
RECIPES = (*PURE, "hits.formats")
FLOW = (*BELOW_MODELS, "hits.recipes", "hits.models", "hits.domain")
MAY_IMPORT: dict[str, tuple[str, ...]] = {
    "common": (),
    "hits.refusals": (),
    "hits.quality": (),
    "hits.text": (),
    # What recipes draw for files, and pages for the screen.
    "hits.charts": (),
    "hits.protocols": PURE,
    "hits.formats": PURE,
    "hits.mturk": (),
    # What a protocol's answers hold is written in its folder, and the recipe that asks for them reads it there.
    "hits.recipes": (*RECIPES, "hits.charts", "hits.protocols"),
    # The simulated crowd sees what workers see: the marketplace's site, over HTTP, and the file with the answers.
    "hits.crowd": RECIPES,
    "hits.models": BELOW_MODELS,
    "hits.domain": (*BELOW_MODELS, "hits.recipes", "hits.models"),
    "hits.flow": FLOW,
    "marketplace.rules": (),
    "marketplace.models": ("marketplace.rules",),
    "marketplace.transports": ("marketplace.rules",),
    "marketplace.verbs": ("marketplace.rules", "marketplace.models", "marketplace.transports"),
    "marketplace.operations": ("marketplace.rules", "marketplace.models", "marketplace.verbs"),
    "marketplace.wire": ("marketplace.rules", "marketplace.models", "marketplace.verbs", "marketplace.operations"),
    "marketplace.site": ("marketplace.rules", "marketplace.models", "marketplace.verbs"),
}
# Each package of the requester's side may raise a refusal.
EVERYWHERE = "hits.refusals"
# Modules of a protocol's folder that are read by another package, which they may know.
BESIDE = {"simulated": ("hits.crowd",)}
# The topmost: they may import whatever their own project has.
TOP = {
    "annotate",
    "hits.api",
    "hits.apps",
    "hits.forms",
    "hits.due_notices",
    "hits.management",
    "hits.needs",
    "hits.queue",
    "hits.reconciling",
    "hits.sample_crowd",
    "hits.sessions",
    "hits.sign_in",
    "hits.tasks",
    "hits.templatetags",
    "hits.urls",
    "hits.views",
    "marketplace.__main__",
    "marketplace.apps",
    "marketplace.checks",
    "marketplace.figures",
    "marketplace.readiness",
    "marketplace.management",
    "marketplace.settings",
    "marketplace.templatetags",
    "marketplace.urls",
    "marketplace.wsgi",
}

# What both projects share. It knows neither.
COMMON_WITHOUT_DJANGO = tuple(
    f"common.{name}"
    for name in (
        *("addresses", "fees", "names", "patience", "configuration", "spreadsheet"),
        *("html_tags", "html_pages", "html_templates"),
    )
)
WITHOUT_DJANGO = (
    *BELOW_MODELS,
    "hits.charts",
    "hits.recipes",
    "hits.crowd",
    "marketplace.rules",
    *COMMON_WITHOUT_DJANGO,
)
WITHOUT_NETWORK = (
    *PURE,
    "hits.charts",
    "hits.protocols",
    "hits.formats",
    "hits.recipes",
    "hits.models",
    "marketplace.rules",
    "common",
)
# Of what both projects share, the one module that calls an address that somebody chose.
CALLS_OUT = "common.outgoing"
NETWORK = ("socket", "ssl", "asyncio", "http.client", "urllib.request", "requests", "httpx", "urllib3", "redis")
STRANGERS = (
    *(("annotate", "marketplace"), ("hits", "marketplace"), ("marketplace", "annotate"), ("marketplace", "hits")),
    *(("common", "annotate"), ("common", "hits"), ("common", "marketplace")),
)
# Who speaks with the service's own library, and who reads its model.
ONLY_IN = {
    # The marketplace's transports hand notifications to queues and topics; it never calls itself.
    "boto3": ("hits.mturk", "marketplace.transports"),
    "botocore": ("hits.mturk", "marketplace.transports", "marketplace.wire"),
    # Charts are drawn in one module. The marketplace reads the questions of requesters.
    "xml.etree": ("hits.charts", "marketplace"),
}
SAVE_SIGNALS = {"pre_save", "post_save", "pre_delete", "post_delete", "m2m_changed", "receiver"}


def upward(found: Import) -> bool:
    """A package reaches into one that is not below it."""
    home = next((package for package in MAY_IMPORT if within(found.module, package)), None)
    if home is None or not within(found.target, home.split(".")[0]):
        return False
    below = (home, EVERYWHERE, *MAY_IMPORT[home], *(BESIDE.get(found.module.split(".")[-1], ())))
    return not any(within(found.target, package) for package in below)


def between_flow_modules(found: Import) -> bool:
    """One verb imports another. What two verbs share belongs to hits.domain."""
    return within(found.module, "hits.flow") and within(found.target, "hits.flow")


def reads_the_wiring_around_it(found: Import) -> bool:
    """hits imports the wiring around it, which belongs to a deployment."""
    return within(found.module, "hits") and within(found.target, "annotate")


def between_strangers(found: Import) -> bool:
    return any(within(found.module, one) and within(found.target, other) for one, other in STRANGERS)


def impure(found: Import) -> bool:
    return any(within(found.module, package) for package in WITHOUT_DJANGO) and within(found.target, "django")


def networked(found: Import) -> bool:
    return (
        found.module != CALLS_OUT
        and any(within(found.module, package) for package in WITHOUT_NETWORK)
        and any(within(found.target, library) for library in NETWORK)
    )


def misplaced_library(found: Import) -> bool:
    return any(
        within(found.target, library) and not any(within(found.module, package) for package in homes)
        for library, homes in ONLY_IN.items()
    )


def signal_handler(found: Import) -> bool:
    """A row is the message between stages, not a hook that runs unseen at each save."""
    return found.target.split(".")[-1] in SAVE_SIGNALS or found.target.endswith("db.models.signals")


RULES = [
    upward,
    between_flow_modules,
    reads_the_wiring_around_it,
    between_strangers,
    impure,
    networked,
    misplaced_library,
    signal_handler,
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_no_import_breaks_the_rule(rule) -> None:
    assert [str(found) for found in imports() if rule(found)] == []


PLANTED = [
    (upward, "hits/text/a.py", "from hits.models import Item"),
    (upward, "hits/quality/a.py", "def f():\n    from hits import text"),
    (upward, "hits/mturk/a.py", "import hits.models.projects"),
    (upward, "hits/models/a.py", "from hits import flow"),
    (upward, "hits/models/a.py", "from hits.domain import counting"),
    (upward, "hits/domain/a.py", "from hits.flow.pipeline import scoring"),
    (upward, "hits/flow/a.py", "from ..views import stages"),
    (upward, "hits/formats/a.py", "from hits.mturk import fees"),
    (upward, "hits/text/a.py", "from hits import charts"),
    (upward, "hits/charts.py", "from hits.text import words"),
    (upward, "hits/protocols/kind/marked.py", "from hits.recipes.kind import steps"),
    (upward, "hits/recipes/kind/steps.py", "from hits.models import Item"),
    (upward, "marketplace/rules/a.py", "from marketplace.models import Hit"),
    (upward, "marketplace/site/a.py", "from marketplace.wire import view"),
    (between_flow_modules, "hits/flow/people/a.py", "from hits.flow.pipeline import scoring"),
    (between_flow_modules, "hits/flow/pipeline/a.py", "from . import scoring"),
    (between_flow_modules, "hits/flow/pipeline/a.py", "from hits.flow.pipeline.scoring import score"),
    (reads_the_wiring_around_it, "hits/tasks.py", "from annotate import settings"),
    (between_strangers, "marketplace/wire/a.py", "from hits.mturk import fees"),
    (between_strangers, "hits/crowd/a.py", "import marketplace.models"),
    (impure, "hits/text/a.py", "from django.conf import settings"),
    (impure, "hits/charts.py", "from django.utils.html import format_html"),
    (networked, "hits/protocols/kind/protocol.py", "import urllib.request"),
    (networked, "common/incoming.py", "import socket"),
    (misplaced_library, "hits/flow/a.py", "import boto3"),
    (misplaced_library, "hits/text/a.py", "from xml.etree import ElementTree"),
    (misplaced_library, "marketplace/operations/a.py", "from botocore import auth"),
    (signal_handler, "hits/models/a.py", "from django.db.models.signals import post_save"),
    (signal_handler, "marketplace/verbs/a.py", "from django.db.models import signals"),
]


@pytest.mark.parametrize(("rule", "file", "source"), PLANTED)
def test_the_rule_catches_a_planted_import(rule, file: str, source: str, tmp_path: Path) -> None:
    planted = tmp_path / file
    planted.parent.mkdir(parents=True)
    planted.write_text(source)
    assert any(rule(found) for found in imports(tmp_path))


def test_the_rules_let_ordinary_imports_through() -> None:
    ordinary = [
        Import("hits.flow.pipeline.scoring", "hits.models.Item", 1),
        Import("hits.flow.pipeline.scoring", "hits.domain.plugins.protocol_of", 1),
        Import("hits.recipes.kind.steps", "hits.protocols.kind.marked.Span", 1),
        Import("hits.tasks", "hits.flow.pipeline.scoring.score", 1),
        Import("hits.formats.record", "urllib.parse", 1),
        Import("hits.mturk.gateway", "boto3", 1),
    ]
    assert [str(found) for found in ordinary if any(rule(found) for rule in RULES)] == []


def test_no_modules_import_one_another() -> None:
    assert circles() == []


def test_a_planted_circle_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "hits" / "text"
    folder.mkdir(parents=True)
    for name, imported in {"a": "b", "b": "c", "c": "a", "d": "a"}.items():
        (folder / f"{name}.py").write_text(f"def f():\n    from hits.text import {imported}\n")
    assert circles(tmp_path) == [["hits.text.a", "hits.text.b", "hits.text.c"]]


def test_every_package_has_its_place_in_the_tables() -> None:
    places = set(MAY_IMPORT) | TOP
    homeless = {name for name, _ in modules() if not any(within(name, place) for place in places)}
    assert homeless - {f"{project}.__init__" for project in PROJECTS} == set()


def overridden_saves(tree: ast.AST) -> list[str]:
    return [
        f"{node.name}.save, line {inner.lineno}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for inner in node.body
        if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef) and inner.name == "save"
    ]


def test_save_only_saves() -> None:
    """Updates in bulk pass an overridden save() by, without a word."""
    tables = [(name, tree) for name, tree in modules() if ".models" in name]
    assert tables
    assert {name: overridden_saves(tree) for name, tree in tables if overridden_saves(tree)} == {}


def test_an_overridden_save_is_noticed() -> None:
    assert overridden_saves(ast.parse("class Hit(Model):\n    def save(self): ..."))


def fields_with_choices(tree: ast.AST, model: str, field: str) -> list[str]:
    return [
        field
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and node.name == model
        for inner in node.body
        if isinstance(inner, ast.Assign | ast.AnnAssign)
        and isinstance(inner.value, ast.Call)
        and field in ast.unparse(inner).split("=")[0]
        and any(keyword.arg == "choices" for keyword in inner.value.keywords)
    ]


def test_a_new_kind_of_task_needs_no_migration() -> None:
    """choices on Stage.protocol would be written into a migration."""
    assert [name for name, tree in modules() if fields_with_choices(tree, "Stage", "protocol")] == []


def test_choices_on_the_protocol_are_noticed() -> None:
    planted = ast.parse("class Stage(Model):\n    protocol = CharField(max_length=50, choices=KINDS)")
    assert fields_with_choices(planted, "Stage", "protocol")
