"""Messages to workers. The row exists before the marketplace is asked to pass it on."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from hits.models.intents import Intent
from hits.models.projects import Project, Stage
from hits.models.workers import Worker

LONGEST_SUBJECT, LONGEST_TEXT = 200, 4096
# Of what a lead writes: the link to reply stands behind it.
LONGEST_WRITTEN = LONGEST_TEXT - 400
# Of a template.
LONGEST_NAME = 60
# What confirmations of results of tests begin with, those of blocks, and no other.
OF_TESTS, OF_BLOCKS = "test-", "block-"


class MessageTemplate(models.Model):
    """A text that messages to workers begin with; `hits.domain.message_templates` has its placeholders."""

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
