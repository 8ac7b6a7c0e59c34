"""The variables of the marketplace, beside those that both projects read: see common/env.py."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from common.env import URL, DatabaseUrl, Shared, Switch, Words, readable
from marketplace.rules.throttling import parse as parse_rate


def _origin(value: str) -> str:
    """Scheme, host and port, without a trailing slash."""
    parts = urlsplit(value.rstrip("/"))
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path or parts.query:
        raise ValueError("write an origin such as https://crowd.example.org")
    return value.rstrip("/")


Origin = Annotated[str, AfterValidator(_origin), URL]


class Marketplace(Shared):
    MARKETPLACE_SECRET_KEY: str
    """Signs sessions and links in letters. At least 32 random characters, as for the other side."""
    MARKETPLACE_PUBLIC_URL: Origin = "http://127.0.0.1:8001"
    """The address of the worker site, the operator's site and the API; https on a server."""
    MARKETPLACE_FRAMES_URL: Origin = ""
    """The same service under another host name, for pages that requesters wrote (HTMLQuestion, QuestionForm, layouts).
    Without it such pages are refused, except on loopback, where the machine's other name serves."""
    MARKETPLACE_ALLOWED_HOSTS: Words = []
    """Further host names to which it answers, beside those of its addresses and loopback."""
    MARKETPLACE_DATABASE_URL: DatabaseUrl = ""
    """As `DATABASE_URL`."""
    MARKETPLACE_SIGN_UP: Literal["open", "invitation", ""] = ""
    """Who may sign up as a worker: anybody, or who has an invitation. Where nothing is set: `open` on loopback, else
    `invitation`."""
    MARKETPLACE_POOL_LINKS: Switch = True
    """Whether requesters may let people in by links of their pools, also where others need an invitation."""
    MARKETPLACE_CONTACT: str = ""
    """Whom workers ask when the site cannot help, such as: Dana Doe (dana@example.org)."""
    MARKETPLACE_STARTING_BALANCE: Annotated[
        Decimal, Field(ge=0, decimal_places=2, json_schema_extra={"unit": "USD"})
    ] = Decimal(10_000)
    """What a requester has who was made by command or by an unknown key."""
    MARKETPLACE_THROTTLE: Annotated[str, readable(parse_rate)] = ""
    """Calls that one requester may make: `20,5/s` is 20 at once, 5 a second in the long run; without it, any."""
    MARKETPLACE_SQS_ENDPOINT_URL: Origin = ""
    """Where notifications to queues go; without it they are undeliverable."""
    MARKETPLACE_SNS_ENDPOINT_URL: Origin = ""
    """Where notifications to topics go; without it they are undeliverable."""
    MARKETPLACE_AWS_ACCESS_KEY_ID: str = ""
    """A key pair with the right to send to these queues and topics alone."""
    MARKETPLACE_AWS_SECRET_ACCESS_KEY: str = ""
    """The secret half of the key pair."""
    MARKETPLACE_AWS_REGION: str = "us-east-1"
    """The region of queues and topics."""
    MARKETPLACE_SANDBOX: Switch = False
    """Sample log-ins (`seed_sandbox`), and workers who set their own standing."""
    MARKETPLACE_ACCEPT_ANY_KEY: Switch = False
    """An unknown key makes a requester. Taken on loopback only."""
    MARKETPLACE_TEST_CONTROLS: Switch = False
    """Faults on demand and a clock that tests move. Taken on loopback only."""
