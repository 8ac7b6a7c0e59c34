"""docs/architecture.md names files that are there."""

from __future__ import annotations

import re

import pytest

from tests.layers.imports import ROOT

TEXT = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`((?:annotate|hits|marketplace|tests)/[\w./]*)`", TEXT)))
CALLED = sorted(set(re.findall(r"`((?:hits|marketplace)/[\w/]+\.py)`,? \(`(\w+)`", TEXT)))


@pytest.mark.parametrize("path", NAMED)
def test_each_file_that_the_document_names_is_there(path: str) -> None:
    assert (ROOT / path).exists()


@pytest.mark.parametrize(("path", "function"), CALLED)
def test_each_function_that_the_document_names_in_a_file_is_there(path: str, function: str) -> None:
    assert re.search(rf"^def {function}\(", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)
