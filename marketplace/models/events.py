from django.db import models
from django.db.models import Q

from marketplace.models.accounts import Requester
from marketplace.rules.notifications import WEBHOOK


class Webhook(models.Model):
    """Where all events of one requester's HITs go, signed with `secret`. Requester.webhook_active repeats `active`."""

    requester = models.OneToOneField(Requester, models.CASCADE, related_name="webhook")
    url = models.CharField(max_length=500)
    secret = models.CharField(max_length=64)
    active = models.BooleanField(default=True)
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.url


class Transport(models.TextChoices):
    EMAIL = "Email"
    SQS = "SQS"
    SNS = "SNS"
    WEBHOOK = WEBHOOK


class Event(models.Model):
    """Something that happened, for one destination, not yet packed into a notification.

    Written in the transaction of the change, so that it is there exactly when the change is.
    """

    requester = models.ForeignKey(Requester, models.CASCADE, related_name="+")
    transport = models.CharField(max_length=7, choices=Transport.choices)
    destination = models.CharField(max_length=500)
    # An entry of "Events" in the notification.
    content = models.JSONField()

    def __str__(self) -> str:
        return f"{self.content['EventType']} for {self.destination}"


class Notification(models.Model):
    """One message to one destination, with one or several events; sent again until it arrives or is given up.

    It waits while `done_at` is null. After that `delivered` tells how it ended, and `reason` why it did not arrive.
    """

    requester = models.ForeignKey(Requester, models.CASCADE, related_name="notifications")
    transport = models.CharField(max_length=7, choices=Transport.choices)
    destination = models.CharField(max_length=500)
    document_id = models.CharField(max_length=40)
    body = models.TextField()
    created_at = models.DateTimeField()
    due_at = models.DateTimeField()
    attempts = models.PositiveSmallIntegerField(default=0)
    done_at = models.DateTimeField(null=True, blank=True)
    delivered = models.BooleanField(default=False)
    reason = models.CharField(max_length=500, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["due_at"], name="notification_waiting", condition=Q(done_at__isnull=True)),
            models.Index(fields=["delivered", "done_at"], name="notification_done"),
        ]

    def __str__(self) -> str:
        return f"{self.document_id} to {self.destination}"
