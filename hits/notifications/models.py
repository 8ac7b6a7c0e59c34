"""Notices: what the members of a project are told without being asked, on a page and by e-mail."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from hits.core.models.intents import Intent
from hits.projects.models import Project
from hits.stages.models import Stage

LONGEST_KEY = 200


class Notice(models.Model):
    """Something that happened once, or a state that stands until `ended_at`: then it may come, and be told, again.

    `hits.notifications.verbs.writing_notices` alone writes them, the same for all members.
    """

    class Kind(models.TextChoices):
        FINISHED = "finished", "A batch is finished"
        REVIEW = "review", "Answers are approved automatically soon"
        BUDGET = "budget", "Little of the budget is left"
        BLOCK = "block", "A worker would be blocked"
        REPORT = "report", "A worker reports something, or a rejection was taken back"
        MONEY = "money", "Money is asked for, or such a request is decided"
        STUCK = "stuck", "Something failed or does not go on"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="notices", db_index=False)
    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, null=True, related_name="notices")
    kind = models.CharField(max_length=8, choices=Kind.choices)
    key = models.CharField(max_length=LONGEST_KEY, help_text="What it is about: one standing notice of its kind each.")
    words = models.TextField(help_text="One line.")
    more = models.TextField(blank=True, help_text="What stands behind the words, in one line.")
    is_event = models.BooleanField(default=False, help_text="It happened, and does not end; else it is a state.")
    address = models.CharField(max_length=500, help_text="The page of its rows, from the first slash on.")
    told_at = models.DateTimeField(
        help_text="From then on members see it: what may pass by itself is told once it has lasted."
    )
    ended_at = models.DateTimeField(null=True, help_text="Of a state, when it was found to be over.")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                "project", "kind", "key", condition=models.Q(ended_at=None), name="notice_once_while_it_stands"
            )
        ]
        indexes = [
            models.Index(fields=["project", "told_at", "id"], name="notice_by_project"),
            models.Index(fields=["told_at", "id"], name="notice_by_time"),
        ]

    def __str__(self) -> str:
        return self.words


class NoticeChoice(models.Model):
    """Where one person wants notices of one kind. Without a row: on the page and by e-mail."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="notice_choices", db_index=False
    )
    kind = models.CharField(max_length=8, choices=Notice.Kind.choices)
    on_page = models.BooleanField(default=True)
    by_email = models.BooleanField(default=True)

    class Meta:
        constraints = [models.UniqueConstraint("user", "kind", name="one_choice_a_kind")]

    def __str__(self) -> str:
        return f"{self.kind} for {self.user_id}"


class NoticeLetter(Intent):
    """One e-mail to one person about one notice or many. The row exists before the mail server is asked."""

    class State(models.TextChoices):
        PLANNED = "planned", "To be sent"
        SENT = "sent", "Sent"
        FAILED = "failed", "Given up"
        DROPPED = "dropped", "No longer wanted"

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="notice_letters", db_index=False
    )
    state = models.CharField(max_length=7, choices=State.choices, default=State.PLANNED)
    attempts = models.PositiveSmallIntegerField(default=0)
    not_before = models.DateTimeField(null=True, help_text="The next attempt waits until then.")
    created_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True)
    notices = models.ManyToManyField(Notice, through="LetterNotice", related_name="letters")

    class Meta:
        indexes = [
            models.Index(fields=["user", "created_at"], name="letter_by_user"),
            models.Index(fields=["id"], condition=models.Q(state="planned"), name="letter_to_send"),
        ]

    def __str__(self) -> str:
        return f"letter {self.pk} to {self.user_id}: {self.get_state_display()}"


class LetterNotice(models.Model):
    """A notice in a letter. The constraint says that nobody is sent a notice twice."""

    letter = models.ForeignKey(NoticeLetter, on_delete=models.CASCADE, related_name="told")
    notice = models.ForeignKey(Notice, on_delete=models.CASCADE, related_name="told", db_index=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint("notice", "user", name="notice_once_a_person")]

    def __str__(self) -> str:
        return f"{self.notice_id} in letter {self.letter_id}"
