"""Commands as a lead types them, on a project that was made and filled by them."""

from __future__ import annotations

import getpass
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from hits.flow.setup import projects
from hits.models import Action, Hit, Project, Stage
from tests.hits import factories
from tests.hits.flow.conftest import example, fields, lines
from tests.hits.market import Marketplace

Run = Callable[..., str]


def logged(project: Project) -> list[str]:
    """The verbs of the project's action log, all of which the account of this machine did on the command line."""
    rows = list(project.actions.order_by("id"))
    assert {(row.origin, row.name, row.user) for row in rows} <= {(Action.Origin.COMMAND, getpass.getuser(), None)}
    return [row.verb for row in rows]


@pytest.fixture
def run() -> Run:
    """`run("publish", "river", "validate", "--yes")` returns what was printed. Raises CommandError."""

    def go(name: str, *arguments: Any) -> str:
        out = io.StringIO()
        call_command(name, *map(str, arguments), stdout=out, stderr=out)
        return out.getvalue()

    return go


@pytest.fixture
def project(run: Run, db: None) -> Project:
    factories.user("lena")
    common = ["--recipe", "record", "--budget", "20", "--email", "lab@example.org", "--owner", "lena", "--seed", "3"]
    slug = run("create_project", "River", *common, "--option", "eval_share=0").strip()
    made = Project.objects.get(slug=slug)
    # Workers of these tests answer at once.
    projects.want_seconds(made, 0)
    return made


@pytest.fixture
def stage(project: Project) -> Stage:
    return project.stages.get(key="validate")


@pytest.fixture
def filled(run: Run, project: Project, tmp_path: Path) -> Project:
    """The project with three items."""
    file = tmp_path / "river.jsonl"
    file.write_bytes(lines([example(n) for n in range(3)]))
    run("import_file", project.slug, file)
    return project


@pytest.fixture
def published(run: Run, filled: Project, market: Marketplace) -> Project:
    """The project with three items at the marketplace."""
    run("publish", "river", "validate", "--yes")
    return filled


@pytest.fixture
def answered(published: Project, market: Marketplace) -> list[Hit]:
    """One worker answered all three: two right, the last one wrong. Nothing is harvested."""
    worker = market.sign_up_worker()
    hits = list(Hit.objects.order_by("id"))
    for hit, name in zip(hits, ["Linden", "Linden", "Tomas Reyes"], strict=True):
        market.answer(worker, hit.hit_id, **fields(hit, name))
    return hits
