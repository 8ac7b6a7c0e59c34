"""Declared verbs as the API and pages do them: the values are checked, then the verb is performed."""

from __future__ import annotations

from typing import Any

from hits.core.verbs import REGISTRY, Unchanged, perform


def do(name: str, row: Any, user: Any = None, /, **values: Any) -> Any:
    """What the verb returned. Raises ValidationError, Refused and ArchivedError."""
    verb = REGISTRY[name]
    if takes := verb.confirmed():
        read = takes(data=values, context={"row": row})
        read.is_valid(raise_exception=True)
        values = dict(read.validated_data)
    result = perform(verb, row, user, values)
    return result.result if isinstance(result, Unchanged) else result
