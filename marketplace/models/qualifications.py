from django.db import models
from django.db.models import Q

from marketplace.models.accounts import Requester, Worker
from marketplace.rules.ids import entity_id


class QualificationType(models.Model):
    """A property that workers can hold. System types have no requester and no Qualification rows."""

    class Status(models.TextChoices):
        ACTIVE = "Active"
        INACTIVE = "Inactive"

    requester = models.ForeignKey(Requester, models.CASCADE, null=True, related_name="qualification_types")
    qualification_type_id = models.CharField(max_length=64, unique=True, default=entity_id)
    name = models.CharField(max_length=200)
    description = models.CharField(max_length=2000)
    keywords = models.CharField(max_length=1000, blank=True)
    status = models.CharField(max_length=8, choices=Status.choices, default=Status.ACTIVE)
    is_requestable = models.BooleanField(default=True)
    auto_granted = models.BooleanField(default=False)
    auto_granted_value = models.IntegerField(null=True)
    retry_delay_seconds = models.PositiveBigIntegerField(null=True)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["requester", "name"], name="one_qualification_type_per_name")]

    def __str__(self) -> str:
        return self.name


class Qualification(models.Model):
    class Status(models.TextChoices):
        GRANTED = "Granted"
        REVOKED = "Revoked"

    type = models.ForeignKey(QualificationType, models.CASCADE, related_name="qualifications")
    worker = models.ForeignKey(Worker, models.CASCADE, related_name="qualifications")
    integer_value = models.IntegerField(default=1)
    status = models.CharField(max_length=7, choices=Status.choices, default=Status.GRANTED)
    granted_at = models.DateTimeField()
    reason = models.TextField(blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["type", "worker"], name="one_qualification_per_worker")]
        indexes = [
            models.Index(fields=["worker"], name="qualification_held", condition=Q(status="Granted")),
            models.Index(fields=["type", "status", "id"], name="qualification_of_type"),
        ]

    def __str__(self) -> str:
        return f"{self.type_id} {self.worker_id} {self.status}"
