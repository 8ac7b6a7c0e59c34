"""The environment variables of both projects, each declared once: its type, default, unit and a sentence.

`Shared` has those that both projects read; hits/environment.py and marketplace/environment.py add their own. A variable
is read where its class is asked for it: `Shared.DEBUG`. An empty value counts as not set; a wrong one ends the start,
with the name and a remedy. `python -m ops.settings_reference` makes docs/settings.md and the examples from here.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Any, Generic, TypeVar
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from common import logs
from common.configuration import SHORTEST_TOKEN
from common.mail import mail_settings

Value = TypeVar("Value")
REQUIRED = "needed"
HTTP = ("http", "https")
DATABASES = ("sqlite", "postgres", "postgresql")
# What earlier versions read. Constants have taken the place of those without a variable of the same name in `Shared`.
_REMOVED = """
    ALLOWED_HOSTS BEHIND_PROXY COMPUTE_SECONDS DATABASE_CONNECT_SECONDS DATABASE_IDLE_SECONDS DATABASE_JOB_SECONDS
    DATABASE_STATEMENT_SECONDS HARVEST_SECONDS HARVEST_SWEEP_SECONDS HSTS_SECONDS IMPORT_SECONDS INVITATION_DAYS
    JOB_SECONDS MAX_IMPORT_MB MAX_MEDIA_MB MAX_READER_UPLOAD_MB MAX_REVIEWER_UPLOAD_MB MTURK_CALLS_A_SECOND
    MTURK_CONNECTIONS MTURK_DEADLINE_SECONDS MTURK_EVENTS_QUEUE_ENDPOINT_URL MTURK_MOST_CALLS_A_SECOND MTURK_REGION
    MTURK_SETTLE_SECONDS MTURK_TIMEOUT_SECONDS NOTICES_SECONDS PASSWORD_LINK_HOURS RESUME_SECONDS STATIC_ROOT
    WEBHOOK_HOURS WEBHOOK_KEPT_DAYS WEBHOOK_RETRY_SECONDS WEBHOOK_TIMEOUT_SECONDS WORKER_MEMORY_MB
    MARKETPLACE_DATABASE_CONNECT_SECONDS MARKETPLACE_DATABASE_IDLE_SECONDS MARKETPLACE_DATABASE_JOB_SECONDS
    MARKETPLACE_DATABASE_STATEMENT_SECONDS MARKETPLACE_DATA_DIR MARKETPLACE_DEBUG MARKETPLACE_EMAIL_FROM
    MARKETPLACE_EMAIL_URL MARKETPLACE_HSTS_SECONDS MARKETPLACE_HTTP_QUESTION_HOSTS MARKETPLACE_LOG_FORMAT
    MARKETPLACE_MAX_FORM_MB MARKETPLACE_METRICS_TOKEN MARKETPLACE_PROXIES MARKETPLACE_QUEUE_LIMIT
    MARKETPLACE_REQUESTER_NAMES MARKETPLACE_REQUIRE_SECOND_FACTOR MARKETPLACE_SENTRY_DSN
"""
REMOVED = tuple(_REMOVED.split())


@dataclass
class Variable(Generic[Value]):
    """`read` raises ValueError with what a value must be. `shown` is the default where it depends on other variables;
    a `secret` value is not repeated.
    """

    kind: str
    read: Callable[[str], Value]
    default: str
    meaning: str
    unit: str = ""
    shown: str = ""
    secret: bool = False
    name: str = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type) -> Value:
        value = os.environ.get(self.name) or self.default
        if value == REQUIRED:
            raise ImproperlyConfigured(f"Set {self.name} in the environment.")
        try:
            return self.read(value)
        except ValueError as error:
            told = "" if self.secret else f", not {value!r}"
            raise ImproperlyConfigured(f"{self.name} must be {error}{told}.") from None


def text(default: str, meaning: str, **more: Any) -> Variable[str]:
    return Variable("text", str, default, meaning, **more)


def switch(meaning: str, default: bool = False) -> Variable[bool]:
    def read(value: str) -> bool:
        if value not in ("True", "False"):
            raise ValueError("True or False")
        return value == "True"

    return Variable("`True` or `False`", read, str(default), meaning)


def whole(low: int, high: int, default: int | None, meaning: str, **more: Any) -> Variable[int]:
    """Without a default, -1 stands for a variable that is not set."""

    def read(value: str) -> int:
        if not value:
            return -1
        if not value.isascii() or not value.isdigit() or not low <= int(value) <= high:
            raise ValueError(f"a whole number from {low} to {high}")
        return int(value)

    return Variable(f"{low} to {high}", read, "" if default is None else str(default), meaning, **more)


def choice(among: tuple[str, ...], default: str, meaning: str, **more: Any) -> Variable[str]:
    def read(value: str) -> str:
        if value and value not in among:
            raise ValueError(" or ".join(among))
        return value

    return Variable(" or ".join(f"`{word}`" for word in among), read, default, meaning, **more)


def words(meaning: str, **more: Any) -> Variable[list[str]]:
    return Variable("list, commas between", _words, "", meaning, **more)


def networks(meaning: str) -> Variable[list[IPv4Network | IPv6Network]]:
    def read(value: str) -> list[IPv4Network | IPv6Network]:
        try:
            return [ip_network(word) for word in _words(value)]
        except ValueError:
            raise ValueError("networks such as 10.0.0.0/8, with commas") from None

    return Variable("networks, commas between", read, "", meaning)


def url(default: str, meaning: str, *, schemes: tuple[str, ...] = HTTP, **more: Any) -> Variable[str]:
    """Without a trailing slash; empty where none is set and there is no default."""

    def read(value: str) -> str:
        parts = urlsplit(value)
        if value and (parts.scheme not in schemes or not (parts.hostname or parts.scheme == "sqlite")):
            raise ValueError(f"a URL that starts with {' or '.join(schemes)}")
        return value.rstrip("/")

    return Variable(" or ".join(f"`{scheme}://`" for scheme in schemes), read, default, meaning, **more)


def _words(value: str) -> list[str]:
    return [word.strip() for word in value.split(",") if word.strip()]


def _token(value: str) -> str:
    if 0 < len(value) < SHORTEST_TOKEN:
        raise ValueError(f"at least {SHORTEST_TOKEN} characters")
    return value


def _constants(value: str) -> dict[str, Any]:
    try:
        return dict(json.loads(value or "{}"))
    except ValueError:
        raise ValueError("an object of JSON") from None


class Shared:
    """What both projects read. Where each has an environment of its own, each may have its own values."""

    DATA_DIR = text("", "The folder of SQLite databases, logs and generated secrets.", shown="`data`")
    DEBUG = switch("Errors show the source. Taken only where the public address is on loopback.")
    PROXIES = whole(
        0,
        10,
        None,
        "Proxies of yours in front, which end TLS, buffer requests and responses and add to `X-Forwarded-For`: the "
        "address behind them is whose tries of signing in are counted.",
        shown="1 under https, else 0",
    )
    GUNICORN_WORKERS = whole(1, 100, 3, "How many a web server has, each with four threads.", unit="processes")
    LOG_LEVEL = choice(("DEBUG", "INFO", "WARNING", "ERROR"), "INFO", "The least that is written to the log.")
    LOG_FORMAT = choice(logs.FORMATS, logs.LINES, "Lines for people, or one JSON object a line, as in the image.")
    METRICS_TOKEN = Variable(
        f"text of {SHORTEST_TOKEN} characters or more",
        _token,
        "",
        "A random token with which Prometheus reads `/metrics`; without one nobody can.",
        secret=True,
    )
    SENTRY_DSN = text("", "Where errors are reported; without one nothing is sent.", secret=True)
    EMAIL_URL = Variable(
        "`smtp://`, `smtp+tls://` (STARTTLS) or `smtps://`",
        mail_settings,
        "",
        "The mail server, such as `smtp+tls://user:password@mail.example.org:587`, name and password quoted as in an "
        "address. Without one no letters are sent, and addresses are not confirmed.",
        secret=True,
    )
    EMAIL_FROM = text("", "The sender of letters.", shown="a name at the host of the public address")
    REQUIRE_SECOND_FACTOR = switch("Leads, or operators, set up a second factor before they see anything.")
    ANNOTATE_TEST_SETTINGS = Variable(
        "JSON", _constants, "", "For tests of whole processes alone: constants of the settings with other values."
    )


def variables(owner: type, *, inherited: bool = True) -> dict[str, Variable[Any]]:
    """By name, those of `Shared` last."""
    classes = owner.__mro__ if inherited else (owner,)
    return {name: each for one in classes for name, each in vars(one).items() if isinstance(each, Variable)}


def proxies(public_url: str) -> int:
    """TLS ends at a proxy, so there is one unless the environment says otherwise."""
    given = Shared.PROXIES
    return int(public_url.startswith("https://")) if given < 0 else given


def origin(address: str) -> str:
    """Scheme, host and port: what browsers compare."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"


def removed_variables(app_configs: Any, **kwargs: Any) -> Iterator[Any]:
    """A system check of both projects."""
    from django.core.checks import Warning

    for name in filter(os.environ.get, REMOVED):
        new = name.removeprefix("MARKETPLACE_")
        now = f"{new} has taken its place" if new in vars(Shared) else "its value is fixed now, see CHANGELOG.md"
        yield Warning(f"{name} is no longer read: {now}.", hint=f"Take {name} out of the environment.", id="env.W001")
