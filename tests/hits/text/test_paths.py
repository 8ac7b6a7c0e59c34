"""Sentences for leads name files, not where they lie on the server's disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from hits.text.paths import without_folders

CASES = [
    ("/srv/plugins/recipes/a/steps.py: wrong.", "recipes/a/steps.py: wrong."),
    ("No such file or directory: '/srv/lab data/secret/words.txt'", "No such file or directory: 'words.txt'"),
    ("cannot import name 'x' from 'y' (/usr/lib/python3/y.py)", "cannot import name 'x' from 'y' (y.py)"),
    ("/usr/lib/y.py has the same name", "y.py has the same name"),
    ("name it as [a-z][a-z0-9_]* and/or look at https://example.org/docs/a", None),
    ("1 / 0 and 'no/such/module'", None),
]


@pytest.mark.parametrize(("said", "shown"), CASES)
def test_only_absolute_paths_lose_their_folders(said: str, shown: str | None) -> None:
    assert without_folders(said, Path("/srv/plugins")) == (shown or said)
