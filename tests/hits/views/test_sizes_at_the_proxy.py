"""Which pages and calls the configuration of the proxy lets large files through to."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse

from ops.proxy import UPLOADS

PROJECT, STAGE = {"slug": "river"}, {"slug": "river", "key": "write"}
FILES = [
    *(
        (name, PROJECT)
        for name in ("import", "add-media", "bonus_files.create", "media", "api:uploads", "api:upload-columns")
    ),
    *((name, PROJECT) for name in ("api:media", "api:bonus_files.list")),
    *((name, STAGE) for name in ("import-results", "annotations", "task-settings", "preview-task", "api:annotations")),
    *((name, STAGE) for name in ("api:results", "api:results-columns", "api:results-form")),
    *((name, {**PROJECT, "computation": "c"}) for name in ("import-computation", "api:computation-answers")),
    *((name, {**PROJECT, "number": 1}) for name in ("evaluate-release", "api:evaluate-release")),
    ("fill-qualification-test", {**PROJECT, "test": "t"}),
    ("new-project", {}),
]


@pytest.mark.parametrize(("name", "arguments"), FILES, ids=[name for name, _ in FILES])
def test_every_page_and_call_that_takes_files_may_be_sent_large_ones(name: str, arguments: dict[str, object]) -> None:
    assert re.search(UPLOADS, reverse(name, kwargs=arguments))
