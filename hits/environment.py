"""The variables of the requester's side, beside those that both projects read: see common/env.py."""

from __future__ import annotations

from common import env


class Requester(env.Shared):
    SECRET_KEY = env.text(
        env.REQUIRED,
        "Signs sessions and the addresses of task pages: keep a copy of it. At least 32 random characters, such as "
        "those of `python3 -c 'import secrets; print(secrets.token_urlsafe(48))'`.",
        secret=True,
    )
    PUBLIC_URL = env.url("http://localhost:8000", "Address of the leads' site and of task pages; https on a server.")
    DATABASE_URL = env.url("", "The database.", schemes=env.DATABASES, secret=True, shown="SQLite in `DATA_DIR`")
    REDIS_URL = env.url("redis://127.0.0.1:6390/0", "The broker.", schemes=("redis", "rediss"), secret=True)
    MTURK_ENDPOINT_URL = env.url("http://127.0.0.1:8001", "Where the marketplace's API is.")
    MTURK_SUBMIT_ORIGINS = env.words(
        "Origins of the marketplace's worker site, to which task pages submit.", shown="that of `MTURK_ENDPOINT_URL`"
    )
    # boto3 reads these two, and has other places for them, such as AWS_PROFILE.
    AWS_ACCESS_KEY_ID = env.text(
        "", "A requester's key pair at the marketplace. A profile of `AWS_PROFILE` serves too.", shown="needed"
    )
    AWS_SECRET_ACCESS_KEY = env.text("", "Its secret half.", secret=True, shown="needed")
    MTURK_WEBHOOK_SECRET = env.text(
        "",
        "What the marketplace made up for its webhook, which tells of answers at `PUBLIC_URL/events/`. Without it and "
        "without a queue, answers are looked for.",
        secret=True,
    )
    MTURK_EVENTS_QUEUE_URL = env.url("", "A queue for events in place of the webhook: SQS, or what speaks its API.")
    MTURK_EVENTS_ACCESS_KEY_ID = env.text(
        "", "A key pair that may receive from the queue and delete.", shown="the marketplace's"
    )
    MTURK_EVENTS_SECRET_ACCESS_KEY = env.text("", "Its secret half.", secret=True)
    WEBHOOK_HTTP = env.switch("Webhooks of projects may be http; otherwise they are https.")
    WEBHOOK_NETWORKS = env.networks("Internal networks in which webhooks may be, such as `10.20.0.0/16`.")
    TEXT_EVIDENCE_DAYS = env.whole(
        0,
        3650,
        180,
        "How long after an answer what its page counted, and figures of its texts, are deleted; 0 for never.",
        unit="days",
    )
    PLUGIN_DIRS = env.words("Folders with protocols and recipes of yours.")
