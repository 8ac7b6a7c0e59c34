"""Ids of generated queries in files without their answers: `ARTICLE/s3-e1` names the entity that answers it."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace

from hits.formats.inputs import record

_TELLING = re.compile(r"(.+)/s[0-9]+-e[0-9]+")


def untelling(id: str, secret: str) -> str:
    """The same id for the same secret, which stands in no file. Ids that came with imported queries stay."""
    found = _TELLING.fullmatch(id)
    if not found:
        return id
    return f"{found[1]}/{hashlib.blake2b(id.encode(), key=secret.encode(), digest_size=6).hexdigest()}"


def without_hints(document: record.Document, secret: str) -> record.Document:
    """The passage with such ids, in their order: queries are made in the order of the entities that answer them."""
    asked = [replace(query, key=untelling(query.key, secret)) for query in document.queries]
    if [query.key for query in asked] == [query.key for query in document.queries]:
        return document
    return replace(document, queries=tuple(sorted(asked, key=lambda query: query.key)))
