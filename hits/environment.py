"""The variables of the requester's side, beside those that both projects read: see common/env.py."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, IPvAnyNetwork

from common.env import URL, DatabaseUrl, Shared, Switch, Url, Words, url, words


class Requester(Shared):
    SECRET_KEY: str
    """Signs sessions and the addresses of task pages: keep a copy of it. At least 32 random characters, such as those
    of `python3 -c 'import secrets; print(secrets.token_urlsafe(48))'`."""
    PUBLIC_URL: Url = "http://localhost:8000"
    """The address of the leads' site and of task pages; https on a server."""
    DATABASE_URL: DatabaseUrl = ""
    """`postgres://user:password@host:port/name`, or `sqlite:///file`; SQLite in `DATA_DIR` where none is set."""
    REDIS_URL: Annotated[str, url("redis", "rediss"), URL] = "redis://127.0.0.1:6390/0"
    """The broker."""
    MTURK_ENDPOINT_URL: Url = "http://127.0.0.1:8001"
    """Where the marketplace's API is."""
    MTURK_SUBMIT_ORIGINS: Words = []
    """Origins of the marketplace's worker site, to which task pages submit; that of `MTURK_ENDPOINT_URL` where none is
    set."""
    AWS_ACCESS_KEY_ID: str = ""
    """A requester's key pair at the marketplace. boto3 reads it: `AWS_PROFILE` and its other places serve too."""
    AWS_SECRET_ACCESS_KEY: str = ""
    """The secret half of the key pair."""
    MTURK_WEBHOOK_SECRET: Annotated[str, Field(min_length=16)] = ""
    """What the marketplace made up for its webhook, which tells of answers at `PUBLIC_URL/events/`. Without it and
    without a queue, answers are looked for."""
    MTURK_EVENTS_QUEUE_URL: Url = ""
    """A queue for events in place of the webhook: SQS, or what speaks its API."""
    MTURK_EVENTS_ACCESS_KEY_ID: str = ""
    """A key pair that may receive from the queue and delete; the marketplace's where none is set."""
    MTURK_EVENTS_SECRET_ACCESS_KEY: str = ""
    """The secret half of the queue's key pair."""
    WEBHOOK_HTTP: Switch = False
    """Webhooks of projects may be http; otherwise they are https."""
    WEBHOOK_NETWORKS: Annotated[list[IPvAnyNetwork], words] = []
    """Internal networks in which webhooks may be, such as `10.20.0.0/16`."""
    TEXT_EVIDENCE_DAYS: Annotated[int, Field(ge=0, le=3650, json_schema_extra={"unit": "days"})] = 180
    """How long after an answer what its page counted, and figures of its texts, are deleted; 0 for never."""
    PLUGIN_DIRS: Words = []
    """Folders with protocols and recipes of yours."""
