from datetime import datetime

from django.db import models
from django.db.models import Case, ExpressionWrapper, F, Q, Value, When

from marketplace.models.accounts import Requester, Worker
from marketplace.models.hits import HitType
from marketplace.rules import limits
from marketplace.rules.ids import entity_id

LONGEST_NAME = 200
# A search looks at so many words and no further: each is three comparisons with every type.
MOST_WORDS = 20
# More than any key of a row.
_BEHIND_ALL = 2**62


class QualificationTypeQuerySet(models.QuerySet["QualificationType"]):
    def alive(self) -> "QualificationTypeQuerySet":
        """Types that nobody has deleted."""
        return self.filter(deleted_at__isnull=True)

    def requestable(self) -> "QualificationTypeQuerySet":
        """Types that workers can ask for."""
        return self.alive().filter(is_requestable=True, status=QualificationType.Status.ACTIVE)

    def matching(self, query: str) -> "QualificationTypeQuerySet":
        """Types that have every word of the query in their name, description or keywords."""
        rows = self
        words = query.split()[:MOST_WORDS]
        # SQLite refuses a pattern of 50,000 bytes, and no text here is as long as this.
        if any(len(word) > limits.DESCRIPTION for word in words):
            return self.none()
        for word in words:
            rows = rows.filter(Q(name__icontains=word) | Q(description__icontains=word) | Q(keywords__icontains=word))
        return rows

    def placed(self, query: str) -> "QualificationTypeQuerySet":
        """With the `place` of each in a list of what was found: those of exactly that name come first.

        Programs look for a type by its name, and at the first page only.
        """
        behind = ExpressionWrapper(F("pk") + Value(_BEHIND_ALL), output_field=models.BigIntegerField())
        # Cut behind the longest name: a longer query is nobody's name, and may be too long for a pattern.
        named = When(name__iexact=query[: LONGEST_NAME + 1], then=F("pk"))
        return self.annotate(place=Case(named, default=behind, output_field=models.BigIntegerField()))


class QualificationType(models.Model):
    """A property that workers can hold. System types have no requester and no Qualification rows.

    A deleted type keeps its row, its name and its holders until the last HIT that requires it is gone.
    """

    class Status(models.TextChoices):
        ACTIVE = "Active"
        INACTIVE = "Inactive"

    requester = models.ForeignKey(Requester, models.CASCADE, null=True, related_name="qualification_types")
    qualification_type_id = models.CharField(max_length=64, unique=True, default=entity_id)
    name = models.CharField(max_length=LONGEST_NAME)
    description = models.CharField(max_length=2000)
    keywords = models.CharField(max_length=1000, blank=True)
    status = models.CharField(max_length=8, choices=Status.choices, default=Status.ACTIVE)
    is_requestable = models.BooleanField(default=True)
    auto_granted = models.BooleanField(default=False)
    auto_granted_value = models.IntegerField(null=True)
    retry_delay_seconds = models.PositiveBigIntegerField(null=True)
    # What is asked today; requests keep the test that their worker was shown.
    test = models.ForeignKey("QualificationTest", models.SET_NULL, null=True, related_name="+")
    # The HIT types that have a requirement on this type.
    required_by = models.ManyToManyField(HitType, related_name="required_types")
    created_at = models.DateTimeField()
    deleted_at = models.DateTimeField(null=True)

    objects = QualificationTypeQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["requester", "name"], name="one_qualification_type_per_name")]

    def __str__(self) -> str:
        return self.name


class QualificationTest(models.Model):
    """One edition of a type's test; never changed. Without an `answer_key` the requester grades by hand."""

    type = models.ForeignKey(QualificationType, models.CASCADE, related_name="tests")
    questions = models.TextField()
    answer_key = models.TextField(blank=True)
    duration_seconds = models.PositiveIntegerField()
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"test {self.pk} of {self.type_id}"


class Qualification(models.Model):
    class Status(models.TextChoices):
        GRANTED = "Granted"
        REVOKED = "Revoked"

    type = models.ForeignKey(QualificationType, models.CASCADE, related_name="qualifications")
    # None for an id that nobody has.
    worker = models.ForeignKey(Worker, models.CASCADE, null=True, related_name="qualifications")
    unknown_id = models.CharField(max_length=64, blank=True, default="", db_default="")
    integer_value = models.IntegerField(default=1)
    status = models.CharField(max_length=7, choices=Status.choices, default=Status.GRANTED)
    granted_at = models.DateTimeField()
    reason = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["type", "worker"], name="one_qualification_per_worker"),
            models.UniqueConstraint(
                fields=["type", "unknown_id"], condition=~Q(unknown_id=""), name="one_qualification_per_unknown_id"
            ),
        ]
        indexes = [
            models.Index(fields=["worker"], name="qualification_held", condition=Q(status="Granted")),
            models.Index(fields=["type", "status", "id"], name="qualification_of_type"),
        ]

    def __str__(self) -> str:
        return f"{self.type_id} {self.worker_id or self.unknown_id} {self.status}"


class QualificationRequest(models.Model):
    """A worker asks for a qualification; with a test, from the moment in which the worker saw its questions.

    Started > Submitted | TimedOut; Submitted > Granted | Rejected. Without a test, it begins Submitted.
    Requesters see it from Submitted on.
    """

    class Status(models.TextChoices):
        STARTED = "Started"
        SUBMITTED = "Submitted"
        GRANTED = "Granted"
        REJECTED = "Rejected"
        TIMED_OUT = "TimedOut"

    OPEN = (Status.STARTED, Status.SUBMITTED)

    request_id = models.CharField(max_length=64, unique=True, default=entity_id)
    type = models.ForeignKey(QualificationType, models.CASCADE, related_name="requests")
    worker = models.ForeignKey(Worker, models.CASCADE, related_name="qualification_requests")
    test = models.ForeignKey(QualificationTest, models.CASCADE, null=True, related_name="requests")
    status = models.CharField(max_length=9, choices=Status.choices, default=Status.SUBMITTED)
    asked_at = models.DateTimeField()
    deadline = models.DateTimeField(null=True)
    submitted_at = models.DateTimeField(null=True)
    decided_at = models.DateTimeField(null=True)
    answer = models.TextField(blank=True)
    integer_value = models.IntegerField(null=True)
    reason = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["type", "worker"],
                condition=Q(status__in=["Started", "Submitted"]),
                name="one_open_request_per_worker",
            )
        ]
        indexes = [
            models.Index(fields=["type", "status", "id"], name="request_of_type"),
            models.Index(fields=["type", "worker", "id"], name="request_of_type_and_worker"),
            models.Index(fields=["worker", "id"], name="request_of_worker"),
            models.Index(fields=["deadline"], name="request_deadline", condition=Q(status="Started")),
        ]

    def __str__(self) -> str:
        return f"{self.request_id} {self.status}"

    @property
    def attempt_ended_at(self) -> datetime:
        """When the worker was done asking: the delay before the next time counts from here."""
        return self.submitted_at or self.deadline or self.asked_at
