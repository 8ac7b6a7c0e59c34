"""What workers write to the leads of a project, and whether somebody has answered it."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from hits.models.answers import Assignment
from hits.models.messages import WorkerMessage
from hits.models.projects import Project, Stage
from hits.models.workers import Worker

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
