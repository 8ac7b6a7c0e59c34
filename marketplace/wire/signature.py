"""Who is calling: the access key of a SigV4-signed request, and whether the signature is true."""

import hmac
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from django.conf import settings
from django.db import IntegrityError
from django.http import HttpRequest

from marketplace.models import AccessKey, Requester
from marketplace.rules.errors import InvalidSignature, MissingAuthenticationToken, UnrecognizedClient
from marketplace.verbs import accounts

SERVICE = "mturk-requester"
CLOCK_SKEW = timedelta(minutes=15)
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
    region: str
    service: str
    signed_headers: tuple[str, ...]
    signature: str


def caller(request: HttpRequest, now: datetime) -> Requester:
    """The requester who signed; raises one of the authentication errors.

    With MARKETPLACE_ACCEPT_ANY_KEY signatures are not looked at, and a new key makes a new requester.
    """
    claim = _claim(request)
    key = AccessKey.objects.filter(access_key_id=claim.access_key_id).select_related("requester").first()
    if settings.MARKETPLACE_ACCEPT_ANY_KEY:
        return key.requester if key is not None else _welcome(claim.access_key_id, now)
    if key is None or not key.active:
        raise UnrecognizedClient("The security token included in the request is invalid.")
    _verify(request, claim, key.secret, now)
    return key.requester


def _claim(request: HttpRequest) -> Claim:
    header = request.headers.get("Authorization", "")
    if not header:
        raise MissingAuthenticationToken("Request is missing Authentication Token")
    match = _AUTHORIZATION.fullmatch(header.strip())
    if match is None:
        raise InvalidSignature("The Authorization header is not in the form of AWS4-HMAC-SHA256.")
    return Claim(
        match["key"], match["region"], match["service"], tuple(match["headers"].split(";")), match["signature"]
    )


def _welcome(access_key_id: str, now: datetime) -> Requester:
    try:
        key = accounts.create_requester(
            f"Requester {access_key_id}", settings.MARKETPLACE_STARTING_BALANCE, now, access_key_id=access_key_id
        )
    except IntegrityError:
        # Its first two calls came at once.
        key = AccessKey.objects.select_related("requester").get(access_key_id=access_key_id)
    return key.requester


def _verify(request: HttpRequest, claim: Claim, secret: str, now: datetime) -> None:
    stamp = request.headers.get("X-Amz-Date", "")
    _check_clock(stamp, now)
    if claim.service != SERVICE:
        raise InvalidSignature(f"Credential should be scoped to correct service: '{SERVICE}'.")
    if not {"host", "x-amz-date", "x-amz-target"} <= set(claim.signed_headers):
        raise InvalidSignature("The host, x-amz-date and x-amz-target headers must be signed.")
    signed = AWSRequest(
        method="POST",
        url=request.build_absolute_uri(),
        headers={name: request.headers.get(name, "") for name in claim.signed_headers},
        data=request.body,
    )
    signed.context["timestamp"] = stamp
    signer = SigV4Auth(Credentials(claim.access_key_id, secret), claim.service, claim.region)
    expected = signer.signature(signer.string_to_sign(signed, signer.canonical_request(signed)), signed)
    if not hmac.compare_digest(expected, claim.signature):
        raise InvalidSignature(
            "The request signature we calculated does not match the signature you provided. "
            "Check your secret access key and signing method."
        )


def _check_clock(stamp: str, now: datetime) -> None:
    try:
        signed_at = datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError as error:
        raise InvalidSignature("The X-Amz-Date header is missing or not in the form 20170117T000000Z.") from error
    if abs(now - signed_at) > CLOCK_SKEW:
        raise InvalidSignature(
            f"Signature expired: {stamp} is more than 15 minutes away from {now:%Y%m%dT%H%M%SZ}. Check your clock."
        )
