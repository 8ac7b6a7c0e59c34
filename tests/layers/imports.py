"""Reads the imports of the source tree and holds them against the table of layers. Nothing is executed."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROJECTS = ("annotate", "common", "hits", "marketplace")


@dataclass(frozen=True)
class Import:
    """`module` (dotted, as is `target`) imports `target` at `line` of its file."""

    module: str
    target: str
    line: int

    def __str__(self) -> str:
        return f"{self.module}, line {self.line}, imports {self.target}"


def within(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


def modules(root: Path = ROOT) -> tuple[tuple[str, ast.Module], ...]:
    """Dotted name and syntax tree of every module of ours, migrations left out: Django writes those."""
    return _parsed(root)


@cache
def _parsed(root: Path) -> tuple[tuple[str, ast.Module], ...]:
    """One entry a tree: a cache takes `f()` and `f(ROOT)` for two questions."""
    return tuple(_modules(root))


def _modules(root: Path) -> Iterator[tuple[str, ast.Module]]:
    for project in PROJECTS:
        for file in sorted((root / project).rglob("*.py")):
            parts = file.relative_to(root).with_suffix("").parts
            if "migrations" not in parts:
                yield ".".join(parts), ast.parse(file.read_text(), str(file))


@cache
def imports(root: Path = ROOT) -> tuple[Import, ...]:
    """`from a import b` is an import of `a.b`: whether b is a module or a name makes no difference to a layer."""
    return tuple(_imports(root))


def _imports(root: Path) -> Iterator[Import]:
    for module, tree in modules(root):
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield Import(module, alias.name, node.lineno)
            elif isinstance(node, ast.ImportFrom):
                base = _absolute(module, node)
                for alias in node.names:
                    yield Import(module, f"{base}.{alias.name}", node.lineno)


def _absolute(module: str, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    parent = module.split(".")[: -node.level]
    return ".".join([*parent, *([node.module] if node.module else [])])


def circles(root: Path = ROOT) -> list[list[str]]:
    """Modules that import one another, each group sorted; imports inside functions count as well."""
    graph: dict[str, set[str]] = {name: set() for name, _ in modules(root)}
    for found in imports(root):
        if (target := _module_of(found.target, graph)) and target != found.module:
            graph[found.module].add(target)
    reached = {name: _reachable(name, graph) for name in graph}
    groups = {tuple(sorted(other for other in reached[name] if name in reached[other])) for name in graph}
    return [list(group) for group in sorted(groups) if group]


def _module_of(target: str, known: Container[str]) -> str:
    """The module that `from x import y` reads: x.y where that is one, else x; empty where it is not ours."""
    while target and target not in known and f"{target}.__init__" not in known:
        target = target.rpartition(".")[0]
    return target if target in known else f"{target}.__init__" if target else ""


def _reachable(start: str, graph: Mapping[str, set[str]]) -> set[str]:
    """All modules that `start` leads to; itself only where a way leads back."""
    found: set[str] = set()
    todo = list(graph[start])
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo.extend(graph[name])
    return found
