"""Notices: what is to be told, who sees it and what of it is new to them. `hits.notifications.verbs.writing_notices`
writes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import BooleanField, Case, Exists, F, OuterRef, Q, QuerySet, Value, When
from django.utils import timezone

from hits.notifications.models import Notice, NoticeChoice, NoticeLetter

# Of the rows of `seen_by`: not seen yet, and not over.
NEW = Q(told_at__gt=F("seen_at"), ended_at=None)
# The header counts no further.
MOST_COUNTED = 99


@dataclass(frozen=True)
class Mark:
    """The column that says up to where something was told: the notice is written together with it, or not at all."""

    rows: QuerySet[Any]
    column: str
    before: Any
    after: Any

    def move(self) -> bool:
        """Whether nobody else has moved it meanwhile."""
        return self.rows.filter(**{self.column: self.before}).update(**{self.column: self.after}) == 1


@dataclass(frozen=True)
class Due:
    """What members of a project are to be told now. `words` and `more` are one line each.

    It is a state, unless `is_event`. What `passes` by itself, such as a marketplace that is silent for a while, is told
    once it has lasted. Without words only the mark is moved. `event` is what webhooks are told when the notice is
    written or the mark is moved (`Webhook.Event`), with these `facts`.
    """

    project: int
    kind: str
    key: str
    words: str
    address: str
    more: str = ""
    stage: int | None = None
    is_event: bool = False
    passes: bool = False
    mark: Mark | None = None
    event: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Choice:
    """Where one person wants notices of a kind."""

    kind: str
    title: str
    on_page: bool
    by_email: bool


def choices_of(user: User) -> list[Choice]:
    """Of every kind, in their order."""
    rows = {row.kind: row for row in NoticeChoice.objects.filter(user=user)}
    return [_choice(kind, rows) for kind in Notice.Kind]


def _choice(kind: Notice.Kind, rows: Mapping[str, NoticeChoice]) -> Choice:
    row = rows.get(kind) or NoticeChoice()
    return Choice(kind.value, kind.label, row.on_page, row.by_email)


def standing() -> QuerySet[Notice]:
    """What members may see now: nothing of archived projects, and nothing that has not lasted yet."""
    return Notice.objects.filter(told_at__lte=timezone.now(), project__archived_at=None)


def seen_by(user: User, project: str = "") -> QuerySet[Notice]:
    """The notices on the person's page, each with `is_new`; with a slug, those of that project."""
    mine = Q(project__memberships__user=user)
    if project:
        mine &= Q(project__slug=project)
    off = NoticeChoice.objects.filter(user=user, kind=OuterRef("kind"), on_page=False)
    # The annotation reads the membership that the filter found.
    found = standing().filter(mine).annotate(seen_at=F("project__memberships__notices_seen_at"))
    new = When(NEW, then=Value(True))
    return found.filter(~Exists(off)).annotate(is_new=Case(new, default=Value(False), output_field=BooleanField()))


def new_count(user: User) -> int:
    """How many are new to the person, counted up to one more than MOST_COUNTED."""
    return len(seen_by(user).filter(NEW).order_by().values_list("pk")[: MOST_COUNTED + 1])


def why_no_email(user: User) -> str:
    """As a sentence; empty where e-mail is sent."""
    if not settings.MAIL:
        return "This installation has no mail server, so notices are on this page alone."
    if not user.email:
        return "Your account has no e-mail address, so you get no e-mail."
    last = NoticeLetter.objects.filter(user=user).order_by("-created_at", "-pk").first()
    if last and last.state == NoticeLetter.State.FAILED:
        return f"The last e-mail to you could not be sent. {last.error}"
    return ""


def in_full(notice: Notice | Due) -> str:
    """Words and what stands behind them, as one line of plain text."""
    text = f"{notice.words}: {notice.more}" if notice.more else notice.words
    return one_line(text)


def one_line(text: str) -> str:
    """Without line breaks and other control characters: names and sentences from data begin no line of their own."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def moment(value: datetime) -> str:
    return f"{value:%-d %b %Y, %H:%M} UTC"
