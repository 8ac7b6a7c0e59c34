"""The signed address of a task page. It names the HIT's row, which exists before the HIT does."""

from __future__ import annotations

from django.conf import settings
from django.core import signing

SALT = "hits.task"


class TokenRefusedError(Exception):
    """The address was altered or is not one of ours."""


def task_url(hit_pk: int) -> str:
    return f"{settings.PUBLIC_URL}/task/{signing.dumps(hit_pk, salt=SALT)}/"


def hit_pk(token: str) -> int:
    """The row that a task token names. Raises TokenRefusedError."""
    try:
        return int(signing.loads(token, salt=SALT))
    except (signing.BadSignature, TypeError, ValueError) as error:
        raise TokenRefusedError("This address is incomplete or was changed.") from error
