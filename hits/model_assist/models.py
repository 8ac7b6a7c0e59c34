"""Models that answer, what they answered, and what they suggest."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from hits.answers.models import Assignment
from hits.core.models.fields import DollarField, MicroDollarField
from hits.items.models import Item
from hits.projects.models import Project
from hits.stages.models import Stage


class ModelAnnotatorQuerySet(models.QuerySet["ModelAnnotator"]):
    def living(self) -> ModelAnnotatorQuerySet:
        """Those whose token still opens the API for models."""
        return self.filter(ended_at=None)


class ModelAnnotator(models.Model):
    """A model in one version. Of its token only the digest is kept: whoever reads this table cannot use it."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="model_annotators")
    name = models.CharField(max_length=60)
    version = models.CharField(max_length=40)
    digest = models.CharField(max_length=64, unique=True)
    start = models.CharField(max_length=16, help_text="The token's first characters, by which a person recognises it.")
    cost_per_answer = MicroDollarField(null=True, help_text="$, of an answer that states no cost; empty: not known.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    last_used_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True, help_text="Its token opens nothing since then; its answers stay.")

    objects = ModelAnnotatorQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                "project", "name", "version", condition=Q(ended_at=None), name="one_living_model_of_a_version"
            ),
            models.CheckConstraint(
                condition=Q(cost_per_answer=None) | Q(cost_per_answer__gte=0), name="model_cost_not_negative"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


class ModelLease(models.Model):
    """An item that a model was given and has not answered. After `until` it may be given again."""

    annotator = models.ForeignKey(ModelAnnotator, on_delete=models.CASCADE, related_name="leases", db_index=False)
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="model_leases")
    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="model_leases", db_index=False)
    until = models.DateTimeField()
    times = models.PositiveSmallIntegerField(default=1, help_text="How often it was given.")

    class Meta:
        constraints = [models.UniqueConstraint("annotator", "item", name="one_lease_a_model")]
        indexes = [models.Index(fields=["stage", "annotator", "until"], name="lease_by_end")]

    def __str__(self) -> str:
        return f"{self.annotator_id}: {self.item_id} until {self.until:%H:%M:%S}"


class ModelAnswer(models.Model):
    """What a model answered about an item, as its stage's task reads it."""

    annotator = models.ForeignKey(ModelAnnotator, on_delete=models.CASCADE, related_name="answers", db_index=False)
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="model_answers")
    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="model_answers", db_index=False)
    fields = models.JSONField(help_text="Form field to value, as the model posted it.")
    labels = models.JSONField(help_text="[{unit, value, correct}, ...]; `correct` is null where nothing is known.")
    scored = models.PositiveIntegerField(default=0, help_text="Labels that were compared with a known answer.")
    correct = models.PositiveIntegerField(default=0, help_text="Of these, those that match it.")
    confidence = models.FloatField(null=True, help_text="0..1, as the model states it; empty where it states none.")
    milliseconds = models.PositiveIntegerField(null=True)
    cost = MicroDollarField(null=True, help_text="$; empty where nobody stated it.")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint("annotator", "item", name="one_answer_a_model"),
            models.CheckConstraint(
                condition=Q(confidence=None) | Q(confidence__gte=0, confidence__lte=1), name="confidence_is_a_share"
            ),
            models.CheckConstraint(condition=Q(cost=None) | Q(cost__gte=0), name="answer_cost_not_negative"),
        ]
        indexes = [models.Index(fields=["stage", "annotator"], name="model_answer_by_stage")]

    def __str__(self) -> str:
        return f"{self.annotator_id} about {self.item_id}"


class Routing(models.Model):
    """A lead's decision that items on which these models agree, sure enough, are decided by them and not published.

    A random share of those items, the audit, goes to people all the same: it shows how often the models are wrong.
    """

    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="routings")
    annotators = models.ManyToManyField(ModelAnnotator, related_name="routings")
    least = models.PositiveSmallIntegerField(help_text="So many of the models say the same.")
    confidence = models.FloatField(help_text="Each of these states at least this, 0..1.")
    audit_share = models.FloatField(help_text="Of the items on which they agree, drawn at random, 0..1.")
    seed = models.CharField(max_length=120, help_text="The draw of the audit is a function of it and of the items.")
    decided = models.PositiveIntegerField(help_text="Items that the models decided, when it was made.")
    audited = models.PositiveIntegerField()
    saved = DollarField(help_text="What publishing the decided items would have cost then, $.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    undone_at = models.DateTimeField(null=True, help_text="When its items were sent to people after all.")
    undone_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")

    def __str__(self) -> str:
        return f"routing {self.pk}: {self.decided} decided, {self.audited} audited"


class RoutedItemQuerySet(models.QuerySet["RoutedItem"]):
    def standing(self) -> RoutedItemQuerySet:
        """Those that were not sent to people after all."""
        return self.filter(undone_at=None)

    def deciding(self) -> RoutedItemQuerySet:
        """Those that the models decide, unless answers of people are there: these win."""
        return self.standing().filter(is_audited=False)


class RoutedItem(models.Model):
    """An item on which the models of a routing agree; `answer` is the one of them that is most sure."""

    routing = models.ForeignKey(Routing, on_delete=models.CASCADE, related_name="items", db_index=False)
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="routed")
    answer = models.ForeignKey(ModelAnswer, on_delete=models.CASCADE, related_name="routed")
    confidence = models.FloatField(help_text="The least that one of the agreeing models states.")
    is_audited = models.BooleanField(default=False, help_text="It goes to people as any other item.")
    undone_at = models.DateTimeField(null=True)

    objects = RoutedItemQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint("item", condition=Q(undone_at=None), name="one_routing_stands")]
        indexes = [models.Index(fields=["routing", "is_audited"], name="routed_by_audit")]

    def __str__(self) -> str:
        return f"{self.item_id} by {self.answer_id}"


class Suggestion(models.Model):
    """The value that a model proposes for one field of an item. It changes only until the item is published."""

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="suggestions", db_index=False)
    field = models.CharField(max_length=60, help_text="As the protocol calls it, such as choice.")
    value = models.JSONField(help_text="As the protocol keeps it; see SuggestedProtocol.")
    score = models.FloatField(null=True, help_text="How sure the model is, 0 to 1; empty where it does not say.")
    model = models.CharField(max_length=120, blank=True, help_text="Its name, perhaps with a version.")

    class Meta:
        constraints = [
            models.UniqueConstraint("item", "field", name="suggestion_once_a_field"),
            models.CheckConstraint(
                condition=models.Q(score=None) | models.Q(score__gte=0, score__lte=1), name="suggestion_score_is_share"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.field}={self.value} for {self.item_id}"


class SuggestedAnswer(models.Model):
    """One answer to an item with a suggestion, whether or not its page showed that.

    Written when the answer is fetched: the server computes once more what the page showed. `agrees` and `right` are
    there once the answer is scored.
    """

    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="suggested_answers", db_index=False)
    assignment = models.ForeignKey(
        Assignment, on_delete=models.CASCADE, related_name="suggested_answers", db_index=False
    )
    suggestion = models.ForeignKey(Suggestion, on_delete=models.CASCADE, related_name="answers")
    shown = models.BooleanField(help_text="The worker's page showed it.")
    agrees = models.BooleanField(
        null=True,
        help_text="The answer says what it says; empty before scoring, and where it says nothing of the field.",
    )
    right = models.BooleanField(null=True, help_text="It is the known answer; empty where none is known.")

    class Meta:
        constraints = [models.UniqueConstraint("assignment", "suggestion", name="suggestion_once_an_answer")]
        indexes = [models.Index(fields=["stage", "agrees"], name="suggested_by_stage")]

    def __str__(self) -> str:
        return f"{self.suggestion_id} in {self.assignment_id}"
