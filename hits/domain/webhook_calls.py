"""One attempt to post a message to a webhook: what it came to, and how long to wait when it was in vain. No table."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings

from common import outgoing
from common.addresses import AddressError
from hits.domain import webhook_addresses, webhook_signatures
from hits.domain.outbox import Result, Row
from hits.domain.webhook_addresses import WebhookAddressError
from hits.models.webhooks import LONGEST_ERROR
from hits.mturk.errors import MarketplaceError

log = logging.getLogger(__name__)
GONE = 410
# Said by a proxy whose receiver is away, or by one that wants to be left alone for a while.
NOT_NOW = (429, 502, 503, 504)
LONGEST_WAIT = timedelta(hours=1)
BEAT_SECONDS = 5.0


@dataclass(frozen=True)
class Outcome:
    """`error` is empty where the message arrived. `silent`: it says nothing of this message, the others wait too.

    `at_least` is how long the receiver asked to be left alone.
    """

    status: int | None = None
    error: str = ""
    silent: bool = False
    at_least: timedelta = timedelta()

    @property
    def arrived(self) -> bool:
        return not self.error

    @property
    def gone(self) -> bool:
        """The receiver wants nothing any more."""
        return self.status == GONE


def attempt(address: str, secrets: Sequence[str], message_id: str, body: str, number: int) -> Outcome:
    """Post it; the `number` of the attempt counts from 1. Never raises."""
    headers = webhook_signatures.headers(secrets, message_id, int(time.time()), body, number)
    seconds = settings.WEBHOOK_TIMEOUT_SECONDS
    try:
        webhook_addresses.refuse(address)
        answer = outgoing.post(
            address,
            body.encode(),
            headers,
            webhook_addresses.reach(),
            total_seconds=seconds,
            read_seconds=seconds,
        )
    except (WebhookAddressError, AddressError, outgoing.NoAnswerError) as error:
        return Outcome(error=_shown(str(error)), silent=True)
    except Exception as error:
        # One message that trips over a mistake of ours must not stop all the others.
        log.exception("The message %s could not be posted", message_id)
        return Outcome(error=f"{type(error).__name__} while posting: the log of the installation says more.")
    return _outcome(answer)


def _shown(error: str) -> str:
    """Of a receiver's own bytes only what can be shown: they may stand in the error, and PostgreSQL takes no NUL."""
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in error)[:LONGEST_ERROR]


def _outcome(answer: outgoing.Answer) -> Outcome:
    status = answer.status
    if 200 <= status <= 299:
        return Outcome(status)
    why = " Redirects are not followed." if 300 <= status <= 399 else ""
    return Outcome(status, f"The receiver answered {status}.{why}", status in NOT_NOW, _seconds(answer.retry_after))


def _seconds(text: str) -> timedelta:
    """Of a header Retry-After; a date, or what cannot be read, is as none."""
    known = text.isascii() and text.isdigit() and len(text) <= 6
    return min(timedelta(seconds=int(text)), LONGEST_WAIT) if known else timedelta()


def wait_after(failures: int, at_least: timedelta = timedelta()) -> timedelta:
    """How long to wait after so many attempts in vain: twice as long each time, up to an hour."""
    usual = settings.WEBHOOK_RETRY_SECONDS * 2 ** min(failures - 1, 12)
    return max(min(timedelta(seconds=usual), LONGEST_WAIT), at_least)


class SideBySide:
    """Makes calls side by side, at most `at_once`. A runner of `hits.domain.outbox.carry_out`."""

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once

    def run(
        self, work: Callable[[Row], Result], rows: Sequence[Row], *, beat: Callable[[], object] | None = None
    ) -> list[tuple[Row, Result | MarketplaceError]]:
        with ThreadPoolExecutor(min(self._at_once, max(1, len(rows)))) as pool:
            futures = [pool.submit(work, row) for row in rows]
            while wait(futures, timeout=BEAT_SECONDS).not_done:
                if beat:
                    beat()
        return [(row, future.result()) for row, future in zip(rows, futures, strict=True)]
