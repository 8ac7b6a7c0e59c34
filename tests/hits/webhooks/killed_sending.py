"""A process that posts to a webhook, to be killed: `python -m tests.hits.webhooks.killed_sending begin|resume ADDRESS`.

`begin` makes a project with a webhook at the address and three events, and posts them. `resume` posts what is left, and
prints (id, state, attempts) of each message.
"""

from __future__ import annotations

import json
import sys

from tests.benchmarks.machine_filtering import tables


def begin(address: str) -> None:
    tables()
    from hits.webhooks import jobs
    from tests.hits import factories as make

    hook = make.webhook(address=address)
    for _ in range(3):
        make.webhook_delivery(hook)
    jobs.send()


def resume(address: str) -> None:
    import django

    django.setup()
    from hits.models import WebhookDelivery
    from hits.webhooks import jobs

    jobs.send()
    rows = WebhookDelivery.objects.order_by("pk").values_list("message_id", "state", "attempts")
    print(json.dumps(list(rows)))


if __name__ == "__main__":
    {"begin": begin, "resume": resume}[sys.argv[1]](sys.argv[2])
