"""Who is calling: the access key of a SigV4-signed request, and whether the signature is true."""

import hashlib
import hmac
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.compat import HTTPHeaders
from botocore.credentials import Credentials
from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.db import IntegrityError
from django.http import HttpRequest

from marketplace.models import AccessKey, Requester
from marketplace.rules.errors import WireError
from marketplace.rules.pool_links import REGION, SERVICE
from marketplace.verbs import accounts

CLOCK_SKEW = timedelta(minutes=15)
# What workers read as the name of the requester whose key `make run` makes up.
_KNOWN_NAMES = {"LOCALREQUESTER": "Sample reading lab"}
_AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256 Credential=(?P<key>[^/\s,]{1,128})/(?P<date>\d{8})/(?P<region>[\w-]{1,40})/"
    r"(?P<service>[\w-]{1,40})/aws4_request,\s*SignedHeaders=(?P<headers>[\w;.-]{1,500}),\s*"
    r"Signature=(?P<signature>[0-9a-f]{64})",
    re.ASCII,
)


@dataclass(frozen=True)
class Claim:
    """What the Authorization header says."""

    access_key_id: str
    date: str
    region: str
    service: str
    signed_headers: tuple[str, ...]
    signature: str


def caller(request: HttpRequest, now: datetime) -> Requester:
    """The requester who signed; raises one of the authentication errors.

    `now` is the time on the machine's own clock. A signed call may be sent again while its signature is
    fresh: two equal calls within one second carry the same signature, so the second cannot be told from a
    copy. With MARKETPLACE_ACCEPT_ANY_KEY signatures are not looked at, and a new key makes a new requester;
    service and region must be right there too, so that what works there works on a server.
    """
    claim = _claim(request)
    _check_host(request)
    if claim.service != SERVICE:
        raise _invalid(f"Credential should be scoped to correct service: '{SERVICE}'.")
    if claim.region != REGION:
        raise _invalid(f"Credential should be scoped to a valid region, not '{claim.region}': use '{REGION}'.")
    key = AccessKey.objects.filter(access_key_id=claim.access_key_id).select_related("requester").first()
    # A key that was revoked stays refused, also where new ones are welcome.
    if (key is None and not settings.MARKETPLACE_ACCEPT_ANY_KEY) or (key is not None and not key.active):
        raise WireError("UnrecognizedClientException", "The security token included in the request is invalid.", 403)
    if key is None:
        return _welcome(claim.access_key_id, now)
    if not settings.MARKETPLACE_ACCEPT_ANY_KEY:
        _verify(request, claim, key.secret, now)
    accounts.note_use(key, now)
    return key.requester


def _claim(request: HttpRequest) -> Claim:
    header = request.headers.get("Authorization", "")
    if not header:
        raise WireError("MissingAuthenticationTokenException", "Request is missing Authentication Token", 403)
    match = _AUTHORIZATION.fullmatch(header.strip())
    if match is None:
        raise _invalid("The Authorization header is not in the form of AWS4-HMAC-SHA256.")
    headers = tuple(match["headers"].lower().split(";"))
    return Claim(match["key"], match["date"], match["region"], match["service"], headers, match["signature"])


def _check_host(request: HttpRequest) -> None:
    """A signature for another server, or a page that calls itself this machine, gets nothing here."""
    try:
        request.get_host()
    except DisallowedHost as error:
        raise _invalid("The Host header does not name this service.") from error


def _welcome(access_key_id: str, now: datetime) -> Requester:
    name = _KNOWN_NAMES.get(access_key_id) or f"Requester {access_key_id}"
    balance = settings.MARKETPLACE_STARTING_BALANCE
    try:
        key = accounts.create_requester(name, balance, now, access_key_id=access_key_id)
    except IntegrityError:
        # Its first two calls came at once.
        key = AccessKey.objects.select_related("requester").get(access_key_id=access_key_id)
    return key.requester


def _verify(request: HttpRequest, claim: Claim, secret: str, now: datetime) -> None:
    stamp = request.headers.get("X-Amz-Date", "")
    _check_clock(stamp, now)
    if claim.date != stamp[:8]:
        raise _invalid("The date in the Credential does not match that of X-Amz-Date.")
    _check_coverage(request, claim)
    signed = AWSRequest(
        method="POST",
        url=f"https://{request.get_host()}{request.get_full_path()}",
        headers={name: request.headers.get(name, "") for name in claim.signed_headers},
        data=request.body,
    )
    signed.context["timestamp"] = stamp
    signer = _Signer(Credentials(claim.access_key_id, secret), claim.service, claim.region)
    expected = signer.signature(signer.string_to_sign(signed, signer.canonical_request(signed)), signed)
    if not hmac.compare_digest(expected, claim.signature):
        raise _invalid(
            "The request signature we calculated does not match the signature you provided. "
            "Check your secret access key and signing method."
        )


def _invalid(message: str) -> WireError:
    return WireError("InvalidSignatureException", message, 403)


class _Signer(SigV4Auth):
    """Signs exactly the headers that the client says it signed: other libraries choose others than botocore."""

    def headers_to_sign(self, request: AWSRequest) -> HTTPHeaders:
        chosen = HTTPHeaders()
        for name, value in request.headers.items():
            chosen[name.lower()] = value
        return chosen


def _check_clock(stamp: str, now: datetime) -> None:
    try:
        signed_at = datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError as error:
        raise _invalid("The X-Amz-Date header is missing or not in the form 20170117T000000Z.") from error
    if abs(now - signed_at) > CLOCK_SKEW:
        raise _invalid(
            f"Signature expired: {stamp} is more than 15 minutes away from {now:%Y%m%dT%H%M%SZ}. Check your clock."
        )


def _check_coverage(request: HttpRequest, claim: Claim) -> None:
    """Everything that decides what the call does must be under the signature."""
    own = {name.lower() for name in request.headers if name.lower().startswith("x-amz-")}
    missing = ({"host", "x-amz-date", "x-amz-target"} | own) - set(claim.signed_headers)
    if missing:
        raise _invalid(f"These headers must be signed: {', '.join(sorted(missing))}.")
    # botocore would believe this header instead of looking at the body.
    said = request.headers.get("X-Amz-Content-Sha256")
    if said is not None and said != hashlib.sha256(request.body).hexdigest():
        raise _invalid("The X-Amz-Content-Sha256 header is not the hash of this body.")
