"""The address at which somebody joins a pool: a page that the marketplace of this repository has, and no other.

It is signed with the requester's own key pair, as calls are (SigV4, in the query string). So the marketplace knows who
lets people in, and nobody can change what the address says.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import HTTPRedirectHandler, Request, build_opener

from botocore.auth import SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import ReadOnlyCredentials

from hits.mturk.errors import UnreachableError

PATH = "/pool/"
ABOUT = "/pool/links/"
SERVICE = "mturk-requester"
# Long enough to sign up meanwhile.
GOOD_FOR_SECONDS = 3600
_TIMEOUT_SECONDS = 5
_MOST_BYTES = 1000


@dataclass(frozen=True)
class Joining:
    """What an address offers: to `uses` people, counted under `link`, the qualification with this value."""

    qualification_type_id: str
    link: str
    uses: int
    value: int
    ends_at: datetime


def signed_address(site: str, joining: Joining, credentials: ReadOnlyCredentials, region: str) -> str:
    """`site` is the origin of the marketplace's worker site."""
    says = {
        "QualificationTypeId": joining.qualification_type_id,
        "LinkId": joining.link,
        "Uses": str(joining.uses),
        "Value": str(joining.value),
        "EndsAt": joining.ends_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    query = "&".join(f"{name}={quote(value, safe='-_.~')}" for name, value in says.items())
    request = AWSRequest(method="GET", url=f"{site}{PATH}?{query}")
    SigV4QueryAuth(credentials, SERVICE, region, expires=GOOD_FOR_SECONDS).add_auth(request)
    return str(request.url)


class _Stay(HTTPRedirectHandler):
    def redirect_request(self, *args: object) -> None:
        """What answers from elsewhere is not the marketplace."""


def lets_people_in(endpoint: str) -> bool | None:
    """Whether the marketplace lets people in by such addresses; None where it has no page for them.

    Raises UnreachableError.
    """
    request = Request(f"{endpoint.rstrip('/')}{ABOUT}", headers={"Accept": "application/json"})
    try:
        with build_opener(_Stay).open(request, timeout=_TIMEOUT_SECONDS) as answer:
            said = json.loads(answer.read(_MOST_BYTES))
    except HTTPError as error:
        if error.code >= 500:
            raise UnreachableError(f"The marketplace did not answer: {error.code}.") from error
        return None
    except (OSError, HTTPException) as error:
        raise UnreachableError("The marketplace did not answer. Try again in a minute.") from error
    except ValueError:
        return None
    found = said.get("pool_links") if isinstance(said, dict) else None
    return None if found not in ("on", "off") else found == "on"
