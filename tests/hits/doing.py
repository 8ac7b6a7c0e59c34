"""Declared verbs as the API and pages do them, and what they refuse."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from hits.core.verbs import REGISTRY, Unchanged, perform
from hits.refusals import Refusal


def do(name: str, row: Any, user: Any = None, /, **values: Any) -> Any:
    """What the verb returned. Raises ValidationError, Refused and ArchivedError."""
    verb = REGISTRY[name]
    if takes := verb.confirmed():
        read = takes(data=values, context={"row": row})
        read.is_valid(raise_exception=True)
        values = dict(read.validated_data)
    result = perform(verb, row, user, values)
    return result.result if isinstance(result, Unchanged) else result


@contextmanager
def refused(code: str, match: str | None = None) -> Iterator[pytest.ExceptionInfo[Refusal]]:
    """What is done inside is refused with this code, by a sentence in which `match` is found."""
    with pytest.raises(Refusal, match=match) as caught:
        yield caught
    assert caught.value.error_code == code


@contextmanager
def may_refuse(*codes: str) -> Iterator[None]:
    """What is done inside may be refused with one of these codes."""
    try:
        yield
    except Refusal as refusal:
        if refusal.error_code not in codes:
            raise
