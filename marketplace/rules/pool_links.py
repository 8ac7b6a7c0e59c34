"""The address by which a requester lets people into one of its qualification types: what it says, and its signature.

It is signed as requests of the API are (SigV4, in the query string), with the requester's own key pair. Nobody else can
write one, or change anything in it.
"""

import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl, quote

# The path that is signed, whichever of its pages is open.
PATH = "/pool/"
ALGORITHM = "AWS4-HMAC-SHA256"
# The service had this region only.
SERVICE, REGION = "mturk-requester", "us-east-1"
# An address is good for so long at most, whatever it says.
LONGEST = timedelta(hours=1)
CLOCK_SKEW = timedelta(minutes=15)
MOST_USES = 10_000
_LONGEST_QUERY = 4000
_MOST_PARAMETERS = 20
_SIGNATURE = "X-Amz-Signature"
_CREDENTIAL = re.compile(
    rf"(?P<key>[^/\s,]{{1,128}})/(?P<date>\d{{8}})/{REGION}/{SERVICE}/aws4_request", re.ASCII
)  # fmt: skip
_SHAPES = {
    "QualificationTypeId": r"[A-Z0-9]{1,64}",
    "LinkId": r"[A-Za-z0-9_-]{8,64}",
    "Uses": r"[1-9][0-9]{0,4}",
    "Value": r"[1-9][0-9]{0,4}",
    "EndsAt": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ",
    "X-Amz-Algorithm": ALGORITHM,
    "X-Amz-Date": r"\d{8}T\d{6}Z",
    "X-Amz-Expires": r"[1-9][0-9]{0,5}",
    "X-Amz-SignedHeaders": "host",
    _SIGNATURE: r"[0-9a-f]{64}",
}


@dataclass(frozen=True)
class SignedLink:
    """What an address says, nothing of it checked against a secret yet. `parameters` is all that stands in it."""

    access_key_id: str
    date: str
    type_id: str
    link_id: str
    uses: int
    value: int
    ends_at: datetime
    signed_at: datetime
    good_for: timedelta
    signature: str
    parameters: Mapping[str, str]

    def is_fresh(self, now: datetime) -> bool:
        return self.signed_at - CLOCK_SKEW <= now < self.signed_at + min(self.good_for, LONGEST)

    def is_signed_with(self, secret: str, host: str) -> bool:
        """Whether whoever has the secret signed all of it, for this host."""
        return hmac.compare_digest(_signature(self, secret, host), self.signature)


def read(query: str) -> SignedLink:
    """The query string of an address. Raises ValueError where something is missing, there twice or of another form."""
    parameters = _parameters(query)
    for name, shape in _SHAPES.items():
        if not re.fullmatch(shape, parameters.get(name, ""), re.ASCII):
            raise ValueError(name)
    credential = _CREDENTIAL.fullmatch(parameters.get("X-Amz-Credential", ""))
    uses = int(parameters["Uses"])
    if credential is None or not parameters["X-Amz-Date"].startswith(credential["date"]) or uses > MOST_USES:
        raise ValueError("X-Amz-Credential")
    return SignedLink(
        access_key_id=credential["key"],
        date=credential["date"],
        type_id=parameters["QualificationTypeId"],
        link_id=parameters["LinkId"],
        uses=uses,
        value=int(parameters["Value"]),
        ends_at=_moment(parameters["EndsAt"], "%Y-%m-%dT%H:%M:%SZ"),
        signed_at=_moment(parameters["X-Amz-Date"], "%Y%m%dT%H%M%SZ"),
        good_for=timedelta(seconds=int(parameters["X-Amz-Expires"])),
        signature=parameters[_SIGNATURE],
        parameters=parameters,
    )


def _parameters(query: str) -> dict[str, str]:
    if len(query) > _LONGEST_QUERY:
        raise ValueError("length")
    pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=True, max_num_fields=_MOST_PARAMETERS)
    found = dict(pairs)
    # Of two values of one name, the one that was read might not be the one that was signed.
    if len(found) < len(pairs):
        raise ValueError("twice")
    return found


def _moment(text: str, form: str) -> datetime:
    return datetime.strptime(text, form).replace(tzinfo=UTC)


def _signature(link: SignedLink, secret: str, host: str) -> str:
    signed = sorted((_quoted(name), _quoted(value)) for name, value in link.parameters.items() if name != _SIGNATURE)
    canonical = "\n".join((
        "GET", PATH, "&".join(f"{name}={value}" for name, value in signed), f"host:{host}", "", "host", _digest(""),
    ))  # fmt: skip
    scope = f"{link.date}/{REGION}/{SERVICE}/aws4_request"
    key = f"AWS4{secret}".encode()
    for part in scope.split("/"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    text = "\n".join((ALGORITHM, link.parameters["X-Amz-Date"], scope, _digest(canonical)))
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def _quoted(text: str) -> str:
    return quote(text, safe="-_.~")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
