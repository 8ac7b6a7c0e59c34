from datetime import datetime
from decimal import Decimal

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from marketplace.models.accounts import Requester
from marketplace.models.fields import MoneyField
from marketplace.rules import lifecycle
from marketplace.rules.ids import entity_id
from marketplace.rules.question import ExternalQuestion, parse_external


class HitType(models.Model):
    """What the HITs of one group have in common; never changed, the same values give the same row."""

    requester = models.ForeignKey(Requester, models.CASCADE, related_name="hit_types")
    hit_type_id = models.CharField(max_length=64, unique=True, default=entity_id)
    hit_group_id = models.CharField(max_length=64, unique=True, default=entity_id)
    title = models.CharField(max_length=128)
    description = models.CharField(max_length=2000)
    keywords = models.CharField(max_length=1000, blank=True)
    reward = MoneyField()
    assignment_duration_seconds = models.PositiveIntegerField()
    auto_approval_delay_seconds = models.PositiveIntegerField()
    # A list of requirements in the API's form, as marketplace.rules.qualifications.normalise makes it.
    requirements = models.JSONField(default=list)
    # Empty, or the specification as marketplace.rules.notifications has checked it.
    notification = models.JSONField(default=dict)
    notification_active = models.BooleanField(default=False)
    fingerprint = models.CharField(max_length=64)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["requester", "fingerprint"], name="one_hit_type_per_values")]

    def __str__(self) -> str:
        return self.title


class HitQuerySet(models.QuerySet["Hit"]):
    def assignable(self, now: datetime) -> "HitQuerySet":
        """HITs with a free slot that have not expired."""
        return self.filter(state=lifecycle.ASSIGNABLE, expires_at__gt=now)

    def reviewable(self, now: datetime, status: str = lifecycle.REVIEWABLE) -> "HitQuerySet":
        """HITs that wait for review, or (status Reviewing) that are under review.

        Exact once marketplace.verbs.assignments.sweep(now) has run; the query itself never
        looks at the clock, so that one index answers it whatever the number of HITs.
        """
        return self.filter(state=status)


class Hit(models.Model):
    """One unit of work, offered `max_assignments` times.

    `pending` are accepted, `submitted` wait for review, `completed` are approved or rejected.
    `state` is the status as of the last write or sweep and serves the indexes; ask `status(now)`.
    """

    class ReviewStatus(models.TextChoices):
        """Whether the HIT itself is fit to be shown: marked when a worker reports it, judged by the operator."""

        NOT_REVIEWED = "NotReviewed"
        MARKED = "MarkedForReview"
        APPROPRIATE = "ReviewedAppropriate"
        INAPPROPRIATE = "ReviewedInappropriate"

    requester = models.ForeignKey(Requester, models.CASCADE, related_name="hits")
    hit_type = models.ForeignKey(HitType, models.CASCADE, related_name="hits")
    hit_id = models.CharField(max_length=64, unique=True, default=entity_id)
    question = models.TextField()
    # One of the kinds in marketplace.rules.questions.kinds.
    question_kind = models.CharField(max_length=20, default="external")
    hit_layout_id = models.CharField(max_length=64, blank=True, default="")
    max_assignments = models.PositiveIntegerField()
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    requester_annotation = models.CharField(max_length=255, blank=True)
    # In the API's form, as marketplace.rules.review_policies has checked them.
    assignment_review_policy = models.JSONField(null=True)
    hit_review_policy = models.JSONField(null=True)
    # The HIT has become reviewable and its policy has not looked at it yet.
    review_due = models.BooleanField(default=False)
    review_status = models.CharField(max_length=21, choices=ReviewStatus.choices, default=ReviewStatus.NOT_REVIEWED)
    pending = models.PositiveIntegerField(default=0)
    submitted = models.PositiveIntegerField(default=0)
    completed = models.PositiveIntegerField(default=0)
    reviewing = models.BooleanField(default=False)
    disposed_at = models.DateTimeField(null=True, blank=True)
    fee = MoneyField()
    state = models.CharField(max_length=12, default=lifecycle.ASSIGNABLE)

    objects = HitQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["requester", "state", "id"], name="hit_requester_state"),
            models.Index(fields=["hit_type", "state", "id"], name="hit_type_state"),
            models.Index(fields=["requester", "id"], name="hit_not_disposed", condition=Q(disposed_at__isnull=True)),
            models.Index(fields=["state", "expires_at"], name="hit_state_expiry"),
            models.Index(fields=["id"], name="hit_review_due", condition=Q(review_due=True)),
        ]
        constraints = [
            models.CheckConstraint(
                name="hit_counters_fit",
                condition=Q(max_assignments__gte=F("pending") + F("submitted") + F("completed")),
            )
        ]

    def __str__(self) -> str:
        return self.hit_id

    def status(self, now: datetime) -> str:
        return lifecycle.hit_status(self, now)

    @property
    def available(self) -> int:
        return lifecycle.available(self)

    @property
    def cost(self) -> Decimal:
        """Reward and fee of one assignment. Reads the HIT type."""
        return self.hit_type.reward + self.fee

    def external_question(self) -> ExternalQuestion:
        return parse_external(self.question, settings.MARKETPLACE_HTTP_QUESTION_HOSTS)


class RequestToken(models.Model):
    """An idempotency token that was used; it protects for 24 hours."""

    requester = models.ForeignKey(Requester, models.CASCADE)
    # Creating and extending are told apart: their answers to a repeated token differ.
    purpose = models.CharField(max_length=10)
    token = models.CharField(max_length=64)
    hit = models.ForeignKey(Hit, models.CASCADE, null=True)
    created_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["requester", "purpose", "token"], name="one_request_per_token")]

    def __str__(self) -> str:
        return self.token


class HitLayout(models.Model):
    """A page with ${placeholders}; never changed, because HITs are told apart by its id."""

    requester = models.ForeignKey(Requester, models.CASCADE, related_name="layouts")
    layout_id = models.CharField(max_length=64, unique=True, default=entity_id)
    name = models.CharField(max_length=128)
    html = models.TextField()
    # Values are put in as they are, so that markup and entities in them count; else they are escaped.
    raw = models.BooleanField(default=False)
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name


class GroupSummary(models.Model):
    """What the list of work says about a group, measured now and then by marketplace.verbs.summaries.

    `seconds` is the median time of recent answers, which stays when the group is quiet; None where nobody takes
    so little.
    """

    hit_type = models.OneToOneField(HitType, models.CASCADE, primary_key=True, related_name="summary")
    open_hits = models.PositiveIntegerField(default=0)
    seconds = models.FloatField(null=True)

    def __str__(self) -> str:
        return f"{self.open_hits} open"


class RequesterSummary(models.Model):
    """How a requester judges: percent of recent judged answers approved, mean seconds from submit to judgement."""

    requester = models.OneToOneField(Requester, models.CASCADE, primary_key=True, related_name="summary")
    approval = models.PositiveSmallIntegerField()
    seconds = models.FloatField()

    def __str__(self) -> str:
        return f"{self.approval} % approved"


class ReviewLine(models.Model):
    """One line of a review policy's report, in the order in which the lines came to be.

    A result says something about a HIT or an assignment (`name` is its key, `value` what was found);
    an action was taken on one (`name` says which, `value` how it ended). Rows are only ever added.
    """

    class Level(models.TextChoices):
        ASSIGNMENT = "Assignment"
        HIT = "HIT"

    class Kind(models.TextChoices):
        RESULT = "result"
        ACTION = "action"

    class Status(models.TextChoices):
        SUCCEEDED = "Succeeded"
        FAILED = "Failed"

    hit = models.ForeignKey(Hit, models.CASCADE, related_name="review_lines")
    level = models.CharField(max_length=10, choices=Level.choices)
    kind = models.CharField(max_length=6, choices=Kind.choices)
    # The results of one reading carry the id of its action "review".
    action_id = models.CharField(max_length=64)
    subject_id = models.CharField(max_length=64)
    subject_type = models.CharField(max_length=10, choices=Level.choices)
    question_id = models.TextField(blank=True)
    name = models.CharField(max_length=40)
    value = models.TextField()
    status = models.CharField(max_length=9, choices=Status.choices, blank=True)
    error_code = models.CharField(max_length=100, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["hit", "id"], name="review_line_of_hit")]

    def __str__(self) -> str:
        return f"{self.kind} {self.name} of {self.subject_id}"
