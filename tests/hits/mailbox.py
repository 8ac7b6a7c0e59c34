"""A real mail server on this machine, which keeps what it is sent."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

from aiosmtpd.controller import Controller


class Mailbox:
    """`refused` are addresses that the server does not take, each as often as its number says."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.letters: list[tuple[list[str], EmailMessage]] = []
        self.refused: dict[str, int] = {}

    async def handle_RCPT(self, server: Any, session: Any, envelope: Any, address: str, options: Any) -> str:
        if self.refused.get(address, 0) > 0:
            self.refused[address] -= 1
            return "550 No such mailbox here"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        letter = message_from_bytes(envelope.content, policy=policy.default)
        self.letters.append((envelope.rcpt_tos, letter))  # type: ignore[arg-type]
        return "250 OK"

    def texts(self, address: str) -> list[str]:
        """Of the letters to this address, as people read them."""
        return [read(letter) for to, letter in self.letters if to == [address]]


def read(letter: EmailMessage) -> str:
    return "\n".join(str(letter.get_content()).split("\r\n"))


@contextmanager
def mail_server() -> Iterator[Mailbox]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    mailbox = Mailbox(port)
    server = Controller(mailbox, hostname="127.0.0.1", port=port)
    server.start()
    try:
        yield mailbox
    finally:
        server.stop()
