"""The signed address at which a worker answers one message: it names the message and opens nothing else."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.core import signing

from hits.answers.rules import task_words
from hits.models import WorkerMessage
from hits.people.models import LONGEST_TEXT
from hits.text.wording import _

_SALT = "hits.reply"
# From when the message was written.
OPEN_FOR = timedelta(days=90)


def reply_path(message_pk: int) -> str:
    return f"/task/reply/{signing.Signer(salt=_SALT).sign(str(message_pk))}/"


def message_pk(token: str) -> int:
    """The message that an address names. Raises django.core.signing.BadSignature."""
    return int(signing.Signer(salt=_SALT).unsign(token))


def with_link(message: WorkerMessage) -> str:
    """The text as it is sent: with the link at its end, in the language of the stage's pages.

    A text that is too long for both goes without the link.
    """
    with task_words.spoken(message.stage.page_language or task_words.ENGLISH):
        words = _("To answer this message, open:")
    text = f"{message.text}\n\n{words}\n{settings.PUBLIC_URL}{reply_path(message.pk)}"
    return text if len(text) <= LONGEST_TEXT else message.text
