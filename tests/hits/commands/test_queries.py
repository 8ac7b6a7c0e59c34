"""Queries of articles on the command line: counted, shown, dropped, annotated from outside, made again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError

from tests.hits import factories
from tests.hits.commands.conftest import Run
from tests.hits.flow.articles import SAMPLES, article_project, generate


@pytest.fixture
def slug(db: None) -> str:
    return article_project(factories.user("lena"), "clock-tower", "night-train").slug


def test_articles_are_counted_and_one_is_shown(run: Run, slug: str) -> None:
    said = run("queries", slug)
    assert "2 articles, 16 sentences after their leads:" in said and "10 queries" in said
    assert "s1-e3: A firm from @placeholder has sent" in run("queries", slug, "clock-tower")
    with pytest.raises(CommandError, match="There is no article 'nobody'"):
        run("queries", slug, "nobody")


def test_a_query_is_taken_out_put_back_and_undone(run: Run, slug: str) -> None:
    assert "s1-e3 (taken out)" in run("queries", slug, "clock-tower", "--take-out", "s1-e3")
    assert "s1-e3:" in run("queries", slug, "clock-tower", "--put-back", "s1-e3")
    assert "s1-e3 (taken out)" in run("queries", slug, "clock-tower", "--undo")
    with pytest.raises(CommandError, match="There is no query"):
        run("queries", slug, "clock-tower", "--take-out", "s99-e3")


def test_annotations_go_out_and_come_in_and_back(run: Run, slug: str, tmp_path: Path) -> None:
    file = tmp_path / "out.jsonl"
    assert "2 articles written" in run("annotations", slug, "--to", file)
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    rows[0]["removed"] = ["s1-e3"]
    file.write_text("\n".join(map(json.dumps, rows)))
    said = run("annotations", slug, "--from", file, "--yes")
    assert "1 articles would change." in said and "1 articles changed, as changes" in said
    number = said.split()[-1].rstrip(".")
    assert "1 articles as before." in run("annotations", slug, "--undo", number)
    file.write_text("{}\n")
    with pytest.raises(CommandError, match="1 fault in out.jsonl. Nothing was changed."):
        run("annotations", slug, "--from", file)


def test_queries_are_made_again(run: Run, slug: str, monkeypatch: Any) -> None:
    with pytest.raises(CommandError, match="Run `manage.py compute"):
        run("annotations", slug, "--again")
    run("options", slug, "--set", "sentence_tokens=30")
    run("compute", slug, "generate-again")
    assert "2 articles changed" in run("annotations", slug, "--again", "--yes")
    from hits.models import Project

    assert generate(Project.objects.get(slug=slug)).summary.made["kept"] < 10


def test_a_folder_of_articles_is_imported_as_one_and_says_what_it_left_out(run: Run, slug: str, tmp_path: Path) -> None:
    said = run("import_file", slug, SAMPLES)
    assert "Imported 3 items of 3 documents" in said
    assert "2 texts were left out: the same text, or nearly the same, came before" in said
    with pytest.raises(CommandError, match="There is no .story file in this folder"):
        run("import_file", slug, tmp_path)
