"""NextToken: where the last page ended, sealed so that only the same list can be continued with it.

A token comes with every page that holds something; the end is an empty page without a token.
Pages continue behind a key, never at an offset, so that rows that appear or go move nothing.
"""

import base64
import hashlib
import hmac
import json
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.db import models

from marketplace.models import Assignment, Hit
from marketplace.operations import Call, staleness
from marketplace.rules.errors import RequestError

DEFAULT_PAGE = 10
MOST_ANSWER_BYTES, ROWS_AT_ONCE = 10_000_000, 10
_SEAL_BYTES = 18


def page(
    call: Call,
    parameters: dict[str, Any],
    rows: models.QuerySet[Any],
    member: str,
    shape: Callable[[Any], dict[str, Any]],
    *,
    newest_first: bool = False,
    key: str = "pk",
) -> dict[str, Any]:
    """One page of `rows`, shaped into `member`, with NumResults and NextToken.

    `key` names what the list is sorted by: a whole number of its own for each row, at least 0. A page of assignments
    ends with the one whose answer makes it `MOST_ANSWER_BYTES` long: an answer may have 2.5 MB.
    """
    token = parameters.get("NextToken")
    if token is not None:
        last = _open(token, call, parameters)
        rows = rows.filter(**{f"{key}__lt" if newest_first else f"{key}__gt": last})
    if call.lag:
        rows = staleness.visible(call, rows)
    size = parameters.get("MaxResults", DEFAULT_PAGE)
    ordered = rows.order_by(f"-{key}" if newest_first else key)[:size]
    found: list[Any] = _by_length(ordered) if rows.model is Assignment else list(ordered)
    if call.lag and rows.model is Hit:
        found = staleness.rewound(call, found)
    result: dict[str, Any] = {"NumResults": len(found), member: [shape(row) for row in found]}
    if found:
        result["NextToken"] = _seal(getattr(found[-1], key), call, parameters)
    return result


def _by_length(rows: models.QuerySet[Assignment]) -> list[Assignment]:
    found, length = [], 0
    for row in rows.iterator(chunk_size=ROWS_AT_ONCE):
        found.append(row)
        length += len(row.answer)
        if length >= MOST_ANSWER_BYTES:
            break
    return found


def _signature(last: int, call: Call, parameters: dict[str, Any]) -> bytes:
    filters = {name: value for name, value in parameters.items() if name not in ("NextToken", "MaxResults")}
    message = json.dumps([last, call.operation, call.requester.pk, filters], sort_keys=True)
    key = f"marketplace.paging:{settings.SECRET_KEY}"
    return hmac.digest(key.encode(), message.encode(), hashlib.sha256)[:_SEAL_BYTES]


def _seal(last: int, call: Call, parameters: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(last.to_bytes(9) + _signature(last, call, parameters)).decode()


def _open(token: str, call: Call, parameters: dict[str, Any]) -> int:
    try:
        raw = base64.b64decode(token.encode(), altchars=b"-_", validate=True)
    except ValueError as error:
        raise RequestError("The NextToken is not one of this service.") from error
    last = int.from_bytes(raw[:9])
    if not hmac.compare_digest(raw[9:], _signature(last, call, parameters)):
        raise RequestError("The NextToken belongs to another list.")
    return last
