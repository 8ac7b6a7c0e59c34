"""The language of the pages on which workers answer. Nothing that is stored, and no page of a lead, is in it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path

from django.apps import apps
from django.conf import settings
from django.utils import formats, translation
from django.utils.translation.trans_real import parse_accept_lang_header

from hits.text import wording

ENGLISH = "en"
LANGUAGES = tuple(code for code, _ in settings.LANGUAGES)


class _Django:
    """Django's translations of the language that is active."""

    def gettext(self, text: str) -> str:
        return translation.gettext(text)

    def ngettext(self, one: str, many: str, count: int) -> str:
        return translation.ngettext(one, many, count)

    def number(self, value: int) -> str:
        return formats.number_format(value, use_l10n=True, force_grouping=True)


def of_browser(accepted: str) -> str:
    """The first of our languages in a header Accept-Language, most wanted first; English where there is none."""
    # With 0 a browser names what is not wanted.
    wanted = (tag.partition("-")[0] for tag, quality in parse_accept_lang_header(accepted) if quality)
    return next((code for code in wanted if code in LANGUAGES), ENGLISH)


_of_worker: ContextVar[bool] = ContextVar("of_worker", default=False)


@contextmanager
def spoken(language: str) -> Iterator[None]:
    """Templates and sentences are in this language, one of LANGUAGES; afterwards in the one before."""
    with translation.override(language), wording.spoken_by(_translations(language)):
        yield


@contextmanager
def spoken_to_worker(accepted: str) -> Iterator[None]:
    """As `spoken`, in the language of a header Accept-Language, unless `prefer` names another."""
    with spoken(of_browser(accepted)):
        before = _of_worker.set(True)
        try:
            yield
        finally:
            _of_worker.reset(before)


def prefer(language: str) -> None:
    """What a worker sees is in this language from here on, whatever the browser asks for; "" leaves it as it is."""
    if language in LANGUAGES and _of_worker.get():
        translation.activate(language)
        wording.speak(_translations(language))


def _translations(language: str) -> wording.Translations | None:
    return None if language == ENGLISH else _Django()


def english() -> AbstractContextManager[None]:
    """For what is stored or read by a lead, wherever it is made."""
    return spoken(ENGLISH)


@cache
def catalogue_version(language: str) -> str:
    """Changes with the words of the scripts; empty in English, which they have by themselves."""
    file = Path(apps.get_app_config("hits").path) / "locale" / language / "LC_MESSAGES" / "djangojs.mo"
    return hashlib.sha256(file.read_bytes()).hexdigest()[:12] if file.is_file() else ""
