"""Lines of templates. Faults in templates are found by `make check`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ops.surroundings import ROOT

LONGEST = 160


def too_long(files: Iterable[Path]) -> list[str]:
    return [
        f"{file}:{number}: {len(line)} characters"
        for file in files
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1)
        if len(line) > LONGEST
    ]


def test_no_line_of_a_template_is_too_long() -> None:
    files = [file for folder in ("templates", "hits") for file in sorted((ROOT / folder).rglob("*.html"))]
    assert any(file.is_relative_to(ROOT / "hits" / "protocols") for file in files)
    assert too_long(files) == []


def test_a_line_that_is_too_long_is_named(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(f"<p>\n{'x' * LONGEST}\n{'x' * (LONGEST + 1)}\n</p>\n", encoding="utf-8")
    assert too_long([file]) == [f"{file}:3: 161 characters"]
