"""Addresses of pool links as a requester's program writes them: botocore signs, which shares no code with the check."""

from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import patch
from urllib.parse import urlencode

from botocore.auth import SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from django.utils import timezone

HOST = "testserver"


def signed(
    type_id: str,
    *,
    key: str = "alice",
    secret: str = "secret-of-alice",
    host: str = HOST,
    at: datetime | None = None,
    expires: int = 3600,
    region: str = "us-east-1",
    **changes: Any,
) -> str:
    """The query string; `changes` are other values of its own parameters."""
    ends_at = (timezone.now() + timedelta(days=1)).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    says = {"QualificationTypeId": type_id, "LinkId": "link-of-alice", "Uses": "2", "Value": "3", "EndsAt": ends_at}
    request = AWSRequest(method="GET", url=f"http://{host}/pool/?{urlencode(says | changes)}")
    signer = SigV4QueryAuth(Credentials(key, secret), "mturk-requester", region, expires=expires)
    with patch("botocore.auth.get_current_datetime", return_value=(at or timezone.now()).replace(tzinfo=None)):
        signer.add_auth(request)
    return str(request.url).partition("?")[2]
