"""Which module may import which, by the contracts in pyproject.toml, and what import-linter cannot say."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter

import grimp
import pytest
from importlinter.cli import lint_imports

from ops.surroundings import ROOT

PROJECTS = ("annotate", "common", "hits", "marketplace")
# Words that say something else than they mean here, and the field's word for each.
WORDS = {
    "misfit": "unsuitable, or what does not fit",
    "surplus": "excess",
    "stretch": "span of a text, interval of time",
    "spoil": "make invalid",
    "deaf": "unsubscribed",
    "correspondence": "messages",
    "book_differences": "ledger differences",
}
TEXTS = ("annotate", "client", "common", "docs", "hits", "marketplace", "ops", "static", "templates")


def models() -> Iterator[tuple[str, ast.Module]]:
    """Path and syntax tree of every module of tables."""
    for project in PROJECTS:
        for file in sorted((ROOT / project).rglob("*.py")):
            path = file.relative_to(ROOT)
            if "models" in path.with_suffix("").parts:
                yield str(path), ast.parse(file.read_text(), str(path))


def saves(tree: ast.AST) -> list[str]:
    return [
        f"{node.name}.save, line {inner.lineno}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for inner in node.body
        if isinstance(inner, ast.FunctionDef) and inner.name == "save"
    ]


def fields_with_choices(tree: ast.AST, model: str, field: str) -> list[str]:
    return [
        ast.unparse(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and node.name == model
        for inner in node.body
        if isinstance(inner, ast.Assign)
        and ast.unparse(inner.targets[0]) == field
        and any(keyword.arg == "choices" for keyword in getattr(inner.value, "keywords", []))
    ]


def test_imports_keep_the_contracts(capsys: pytest.CaptureFixture[str]) -> None:
    broken = lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True)
    assert not broken, capsys.readouterr().out


def test_no_modules_import_one_another() -> None:
    """Imports inside functions count as well; Django's migrations are its own."""
    graph = grimp.build_graph(*PROJECTS, cache_dir=None)
    imported = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    try:
        TopologicalSorter({name: found - {name} for name, found in imported.items()}).prepare()
    except CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])))


def test_code_pages_and_documents_use_the_words_of_the_field() -> None:
    files = [
        file for folder in TEXTS for file in (ROOT / folder).rglob("*") if file.suffix in (".py", ".html", ".js", ".md")
    ]
    files = [file for file in files if not {"vendor", "migrations", "node_modules"} & set(file.parts)]
    found = [
        f"{file.relative_to(ROOT)}: {word}; write: {WORDS[word]}"
        for file in files
        for text in [file.read_text(encoding="utf-8").lower()]
        for word in WORDS
        if re.search(rf"(?<![a-z]){word}(e?s|ed|ing|t)?(?![a-z])", text)
    ]
    assert not found, "\n".join(found)


def test_save_only_saves() -> None:
    """Updates in bulk pass an overridden save() by, without a word."""
    found = {path: saves(tree) for path, tree in models()}
    assert len(found) > 20 and not any(found.values()), found
    assert saves(ast.parse("class Hit(Model):\n    def save(self): ..."))


def test_no_module_listens_to_saved_rows() -> None:
    """A row is the message between two steps, not a hook that runs unseen at each save."""
    hooks = re.compile(r"\b(pre|post)_(save|delete)\b|\bm2m_changed\b")
    files = [file for project in PROJECTS for file in (ROOT / project).rglob("*.py")]
    assert [str(file) for file in files if hooks.search(file.read_text())] == []


def test_a_new_kind_of_task_needs_no_migration() -> None:
    """choices on Stage.protocol would be written into a migration."""
    assert [path for path, tree in models() if fields_with_choices(tree, "Stage", "protocol")] == []
    planted = "class Stage(Model):\n    protocol = CharField(max_length=50, choices=KINDS)"
    assert fields_with_choices(ast.parse(planted), "Stage", "protocol")
