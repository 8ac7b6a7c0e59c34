"""`manage.py draw` asks before it draws, and says how many items it will be."""

from __future__ import annotations

import pytest
from django.core.management import CommandError

from hits.models import Stage
from tests.hits import factories
from tests.hits.commands.conftest import Run
from tests.hits.small_recipe import small_project, small_recipe

pytestmark = pytest.mark.django_db
__all__ = ["small_recipe"]


def test_it_asks_about_as_many_items_as_there_are(run: Run, small_recipe: str, monkeypatch: pytest.MonkeyPatch) -> None:
    project = small_project(factories.user("lena"))
    asked: list[str] = []
    monkeypatch.setattr("builtins.input", lambda question: asked.append(question) or "n")
    with pytest.raises(CommandError, match="Nothing was sampled"):
        run("draw", project.slug, "sample", "--items", "1000000")
    assert asked == ["Sample 2 items? [y/N] "]
    assert not Stage.objects.get(project=project, key="sample").items.exists()
    assert "2 new items sampled" in run("draw", project.slug, "sample", "--items", "1000000", "--yes")
