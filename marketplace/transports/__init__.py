"""How a notification gets to its destination: one module per transport. No database here.

`send` raises TransportError when a message has not arrived for sure; one that came twice is the
receiver's to know by its document id.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from marketplace.rules import notifications
from marketplace.transports import aws, mail, webhook
from marketplace.transports.errors import TransportError

__all__ = ["Letter", "TransportError", "send"]


@dataclass(frozen=True)
class Letter:
    """One message. `secret` signs what goes to a webhook; `sent_at` is the machine's own time."""

    transport: str
    destination: str
    body: str
    sent_at: datetime
    secret: str = ""
    loopback: bool = False


_SENDERS: dict[str, Callable[[Letter], None]] = {
    notifications.SQS: lambda letter: aws.send_to_queue(letter.destination, letter.body),
    notifications.SNS: lambda letter: aws.publish(letter.destination, letter.body, letter.sent_at),
    notifications.EMAIL: lambda letter: mail.send(letter.destination, letter.body),
    notifications.WEBHOOK: lambda letter: webhook.post(
        letter.destination, letter.body, letter.secret, letter.sent_at, loopback=letter.loopback
    ),
}


def send(letter: Letter) -> None:
    _SENDERS[letter.transport](letter)
