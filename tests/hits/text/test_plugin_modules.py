"""Modules of a folder of plug-ins import one another, and none of another folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from hits.text.plugin_modules import load


def put(root: Path, file: str, source: str) -> None:
    (root / file).parent.mkdir(parents=True, exist_ok=True)
    (root / file).write_text(source)


def test_a_module_imports_one_beside_it_and_one_of_another_plug_in(tmp_path: Path) -> None:
    put(tmp_path, "protocols/sorting/marking.py", "KINDS = ['a', 'b']\n")
    put(tmp_path, "protocols/sorting/protocol.py", "from .marking import KINDS\n")
    put(tmp_path, "recipes/sorted/steps.py", "from ...protocols.sorting.marking import KINDS\n")
    protocol, steps = load(tmp_path, "protocols.sorting.protocol"), load(tmp_path, "recipes.sorted.steps")
    assert protocol.KINDS == ["a", "b"]
    assert steps.KINDS is protocol.KINDS
    assert load(tmp_path, "protocols.sorting.protocol") is protocol


def test_equal_names_in_two_folders_stay_apart(tmp_path: Path) -> None:
    for name in ("one", "two"):
        put(tmp_path / name, "protocols/sorting/marking.py", f"KIND = {name!r}\n")
        put(tmp_path / name, "protocols/sorting/protocol.py", "from .marking import KIND\n")
    assert [load(tmp_path / name, "protocols.sorting.protocol").KIND for name in ("one", "two")] == ["one", "two"]


def test_what_failed_is_read_anew_with_all_that_it_imported(tmp_path: Path) -> None:
    put(tmp_path, "protocols/sorting/marking.py", "KIND = 'a'\n")
    put(tmp_path, "protocols/sorting/protocol.py", "from .marking import KINDS\n")
    for _ in range(2):
        with pytest.raises(ImportError, match="ImportError: cannot import name 'KINDS'"):
            load(tmp_path, "protocols.sorting.protocol")
    put(tmp_path, "protocols/sorting/marking.py", "KINDS = ['a', 'b']\n")
    assert load(tmp_path, "protocols.sorting.protocol").KINDS == ["a", "b"]


@pytest.mark.parametrize(
    ("source", "why"),
    [("1 / 0", "ZeroDivisionError"), ("raise SystemExit(3)", "SystemExit: 3"), ("(", "SyntaxError")],
)
def test_any_failure_of_a_module_is_one_error(tmp_path: Path, source: str, why: str) -> None:
    put(tmp_path, "protocols/sorting/protocol.py", source)
    with pytest.raises(ImportError, match=why):
        load(tmp_path, "protocols.sorting.protocol")
