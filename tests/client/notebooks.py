"""Run a notebook: its cells of code in order, in one namespace. `python -m tests.client.notebooks FILE`.

A cell that fails ends it, with the number of the cell and its traceback.
"""

from __future__ import annotations

import ast
import json
import sys
import traceback
from pathlib import Path
from typing import Any


def cells(file: Path, kind: str) -> list[str]:
    """The sources of its cells of that kind, `code` or `markdown`, in order."""
    found = json.loads(file.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in found if cell["cell_type"] == kind]


def run(file: Path) -> int:
    """0, or the number of the cell that failed."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, source in enumerate(cells(file, "code"), 1):
        try:
            _run_cell(source, f"cell {number}", names)
        except Exception:
            traceback.print_exc()
            print(f"Cell {number} of {file.name} failed:\n{source}", file=sys.stderr)
            return number
    return 0


def _run_cell(source: str, name: str, names: dict[str, Any]) -> None:
    """What its last expression is worth is printed, as a notebook shows it."""
    tree = ast.parse(source, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec"), names)
    if last is not None:
        shown = eval(compile(ast.Expression(last.value), name, "eval"), names)
        if shown is not None:
            print(shown)


if __name__ == "__main__":
    sys.exit(run(Path(sys.argv[1])))
