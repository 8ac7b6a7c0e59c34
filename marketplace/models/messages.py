from django.db import models

from marketplace.models.accounts import Requester, Worker


class Message(models.Model):
    """One text in a worker's inbox; without a sender it comes from the marketplace itself."""

    worker = models.ForeignKey(Worker, models.CASCADE, related_name="messages")
    sender = models.ForeignKey(Requester, models.CASCADE, null=True, related_name="messages")
    subject = models.CharField(max_length=200)
    text = models.TextField()
    created_at = models.DateTimeField()
    read_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=["worker", "-id"], name="message_of_worker")]

    def __str__(self) -> str:
        return self.subject
