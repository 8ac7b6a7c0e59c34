"""The signed address of a task page. It names the HIT's row, which exists before the HIT does."""

from __future__ import annotations

from django.conf import settings
from django.core import signing

_SALT = "hits.task"


def task_url(hit_pk: int) -> str:
    """The ExternalURL of a HIT, a function of its row alone."""
    return f"{settings.PUBLIC_URL}{task_path(hit_pk)}"


def task_path(hit_pk: int) -> str:
    """The same within this site."""
    return f"/task/{signing.Signer(salt=_SALT).sign(str(hit_pk))}/"


def hit_pk(token: str) -> int:
    """The row that an address names. Raises django.core.signing.BadSignature."""
    return int(signing.Signer(salt=_SALT).unsign(token))
