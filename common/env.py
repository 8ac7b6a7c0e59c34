"""The environment variables of both projects, each declared once: its type, default, unit and a sentence.

`Shared` has those that both projects read; hits/environment.py and marketplace/environment.py add their own. An empty
value counts as not set; a wrong one ends the start, with the name and a remedy, and is never repeated: it may be a
secret. `python -m ops.settings_reference` makes docs/settings.md and the examples from here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, Json, ValidationError

from common.configuration import debug_fault, secret_fault
from common.mail import mail_settings

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


def _switch(value: object) -> object:
    if value not in ("True", "False"):
        raise ValueError("write True or False")
    return value


def url(*schemes: str) -> AfterValidator:
    """An address without a trailing slash."""

    def read(value: str) -> str:
        parts = urlsplit(value)
        if parts.scheme not in schemes or not (parts.hostname or parts.scheme == "sqlite"):
            raise ValueError(f"write a URL that starts with {' or '.join(schemes)}")
        return value.rstrip("/")

    return AfterValidator(read)


def readable(read: Callable[[str], object]) -> AfterValidator:
    """Text that the function takes; it raises ValueError."""

    def kept(value: str) -> str:
        read(value)
        return value

    return AfterValidator(kept)


Switch = Annotated[bool, BeforeValidator(_switch)]
words = BeforeValidator(lambda value: [word.strip() for word in value.split(",") if word.strip()])
Words = Annotated[list[str], words]
# What the reference says of their type.
URL = Field(json_schema_extra={"format": "URL"})
Url = Annotated[str, url("http", "https"), URL]
DatabaseUrl = Annotated[str, url("sqlite", "postgres", "postgresql"), URL]


class Shared(BaseModel):
    """What both projects read. Where each has an environment of its own, each may have its own values."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)

    DATA_DIR: str = ""
    """The folder of SQLite databases, logs and generated secrets; `data` where none is named."""
    DEBUG: Switch = False
    """Errors show the source. Taken only where the public address is on loopback."""
    PROXIES: Annotated[int, Field(ge=0, le=10, json_schema_extra={"unit": "proxies"})] = -1
    """How many of yours are in front, end TLS, buffer requests and responses and add to `X-Forwarded-For`: the address
    behind them is whose tries of signing in are counted. Where nothing is set: 1 under https, else 0."""
    GUNICORN_WORKERS: Annotated[int, Field(ge=1, le=100, json_schema_extra={"unit": "processes"})] = 3
    """How many a web server has, each with four threads."""
    LOG_LEVEL: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    """The least that is written to the log."""
    LOG_FORMAT: Literal["lines", "json"] = "lines"
    """Lines for people, or one JSON object a line, as in the image."""
    METRICS_TOKEN: Annotated[str, Field(min_length=16)] = ""
    """A random token with which Prometheus reads `/metrics`; without one nobody can."""
    SENTRY_DSN: str = ""
    """Where errors are reported; without one nothing is sent."""
    EMAIL_URL: Annotated[str, readable(mail_settings), URL] = ""
    """The mail server, such as `smtp+tls://user:password@mail.example.org:587` (STARTTLS; or `smtp://`, `smtps://`),
    name and password quoted as in an address. Without one no letters are sent, and addresses are not confirmed."""
    EMAIL_FROM: str = ""
    """The sender of letters; a name at the host of the public address where none is set."""
    REQUIRE_SECOND_FACTOR: Switch = False
    """Leads, or operators, set up a second factor before they see anything."""
    ANNOTATE_TEST_SETTINGS: Json[dict[str, Any]] = {}
    """For tests of whole processes alone: constants of the settings with other values."""

    @classmethod
    def read(cls) -> Self:
        """Raises ImproperlyConfigured with a line for each variable that is wrong."""
        try:
            return cls.model_validate({name: os.environ[name] for name in cls.model_fields if os.environ.get(name)})
        except ValidationError as error:
            raise ImproperlyConfigured("\n".join(map(_told, error.errors()))) from None

    def refuse_unsafe(self, secret: str, public_url: str) -> None:
        """Not a system check: no process of any kind starts with these faults. `secret` is the name of a variable."""
        fault = secret_fault(secret, getattr(self, secret), public_url) or debug_fault("DEBUG", self.DEBUG, public_url)
        if fault:
            raise ImproperlyConfigured(fault)

    def proxies(self, public_url: str) -> int:
        """TLS ends at a proxy, so there is one unless the environment says otherwise."""
        return int(public_url.startswith("https://")) if self.PROXIES < 0 else self.PROXIES


def _told(error: Any) -> str:
    name = error["loc"][0]
    if error["type"] == "missing":
        return f"Set {name} in the environment."
    return f"{name}: {error['msg'].removeprefix('Value error, ')}."


def origin(address: str) -> str:
    """Scheme, host and port: what browsers compare."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"


def removed_variables(app_configs: Any, **kwargs: Any) -> Iterator[Any]:
    """A system check of both projects."""
    from django.core.checks import Warning

    for name in filter(os.environ.get, REMOVED):
        new = name.removeprefix("MARKETPLACE_")
        now = f"{new} has taken its place" if new in Shared.model_fields else "its value is fixed now, see CHANGELOG.md"
        yield Warning(f"{name} is no longer read: {now}.", hint=f"Take {name} out of the environment.", id="env.W001")
