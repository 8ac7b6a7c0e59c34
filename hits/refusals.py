"""What all refusals share. It imports nothing, so that every package below and above can raise one.

A refusal is a sentence for people that says what to do next, with what a program needs beside it. The API turns it
into an answer and a command into one line on stderr; any other exception is a fault of ours.
"""

from __future__ import annotations

from typing import Any


class Refusal(Exception):
    """The base of everything that a verb refuses. Nothing was changed.

    `error_code` is a stable word for programs, `http_status` what the API answers with.
    """

    error_code = "refused"
    http_status = 409

    def details(self) -> dict[str, Any]:
        """What a program may want to know beside the sentence, ready for JSON."""
        return {}
