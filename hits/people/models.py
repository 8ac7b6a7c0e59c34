"""Messages to workers and from them, and the terms."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from hits.answers.models import Assignment
from hits.core.models.intents import Intent
from hits.projects.models import Project
from hits.stages.models import Stage
from hits.workers.models import Worker

LONGEST_SUBJECT, LONGEST_TEXT = 200, 4096
# Of what a lead writes: the link to reply stands behind it.
LONGEST_WRITTEN = LONGEST_TEXT - 400
# Of a template.
LONGEST_NAME = 60
# What confirmations of results of tests begin with, those of blocks, and no other.
OF_TESTS, OF_BLOCKS = "test-", "block-"


class MessageTemplate(models.Model):
    """A text that messages to workers begin with; `hits.people.rules.message_templates` has its placeholders."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="message_templates", db_index=False)
    name = models.CharField(max_length=LONGEST_NAME)
    subject = models.CharField(max_length=LONGEST_SUBJECT)
    text = models.TextField(max_length=LONGEST_WRITTEN)
    changed_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    changed_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint("project", "name", name="template_name_once_a_project")]

    def __str__(self) -> str:
        return self.name


class WorkerMessage(Intent):
    """One message to one worker. The marketplace takes no token for it: what may have gone out is not sent again."""

    class State(models.TextChoices):
        PLANNED = "planned", "To be sent"
        SENT = "sent", "Sent"
        UNKNOWN = "unknown", "Perhaps sent"
        REFUSED = "refused", "Refused by the marketplace"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="worker_messages")
    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="worker_messages")
    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="messages")
    subject = models.CharField(max_length=LONGEST_SUBJECT)
    text = models.TextField(max_length=LONGEST_TEXT)
    state = models.CharField(max_length=8, choices=State.choices, default=State.PLANNED)
    confirmation = models.CharField(max_length=64, help_text="The confirmed page's own key: a double click finds it.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    sent_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        constraints = [models.UniqueConstraint("confirmation", "worker", name="one_message_a_confirmation")]
        indexes = [
            models.Index(fields=["project"], condition=models.Q(state="planned"), name="message_to_send"),
            models.Index(fields=["project", "state", "id"], name="message_by_state"),
            models.Index(fields=["project", "id"], name="message_by_project"),
        ]

    def __str__(self) -> str:
        return f"{self.subject} to {self.worker}: {self.get_state_display()}"


LONGEST_REPLY = 4000


class InboxEntryQuerySet(models.QuerySet["InboxEntry"]):
    def open(self) -> InboxEntryQuerySet:
        return self.filter(answered_at=None)


class InboxEntry(models.Model):
    """A remark with an answer, whose text that answer has, or a reply to a message, whose text stands here."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="inbox", db_index=False)
    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="+")
    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="inbox")
    assignment = models.OneToOneField(
        Assignment, on_delete=models.CASCADE, null=True, related_name="inbox_entry", help_text="Of a remark."
    )
    message = models.ForeignKey(
        WorkerMessage, on_delete=models.CASCADE, null=True, related_name="replies", help_text="Of a reply."
    )
    text = models.TextField(blank=True, max_length=LONGEST_REPLY, help_text="Of a reply.")
    at = models.DateTimeField(default=timezone.now)
    answered_at = models.DateTimeField(null=True, help_text="Empty: it is open.")
    answered_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    answered_with = models.ForeignKey(
        WorkerMessage,
        on_delete=models.SET_NULL,
        null=True,
        related_name="+",
        help_text="The message that answered it; empty: it was marked as answered.",
    )

    objects = InboxEntryQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(assignment__isnull=False, message=None, text="")
                | models.Q(assignment=None, message__isnull=False),
                name="inbox_entry_is_a_remark_or_a_reply",
            )
        ]
        indexes = [
            models.Index(fields=["project", "id"], name="inbox_by_project"),
            models.Index(fields=["project", "id"], condition=models.Q(answered_at=None), name="inbox_open"),
            models.Index(fields=["project", "at", "id"], name="inbox_by_time"),
            models.Index(
                fields=["project", "at", "id"], condition=models.Q(answered_at=None), name="inbox_open_by_time"
            ),
        ]

    def __str__(self) -> str:
        return f"{'reply' if self.message_id else 'remark'} of {self.worker_id}"

    @property
    def said(self) -> str:
        return self.assignment.remark if self.assignment else self.text


# Of the text of a version.
LONGEST = 20_000


class TermsQuerySet(models.QuerySet["Terms"]):
    def standing(self) -> TermsQuerySet:
        """Those that workers are asked to agree to now: one of a project at most."""
        return self.filter(ended_at=None)


class Terms(models.Model):
    """One version. It stands from `made_at` until another one is made or the project withdraws its terms."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="terms", db_index=False)
    version = models.PositiveIntegerField(help_text="Counts the versions of the project, from 1.")
    text = models.TextField(max_length=LONGEST, help_text="In Markdown.")
    made_at = models.DateTimeField(default=timezone.now)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    ended_at = models.DateTimeField(null=True, help_text="Since when nobody is asked to agree to it; empty: it stands.")

    objects = TermsQuerySet.as_manager()

    class Meta:
        ordering = ["-version"]
        constraints = [
            models.UniqueConstraint("project", "version", name="terms_version_once_a_project"),
            models.UniqueConstraint("project", condition=models.Q(ended_at=None), name="one_version_of_terms_stands"),
        ]

    def __str__(self) -> str:
        return f"version {self.version} of the terms of {self.project_id}"
