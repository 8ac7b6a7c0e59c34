"""Answers, what they say, drafts, verdicts, and how texts came about."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from hits.items.models import Item, Upload
from hits.publishing.models import Hit
from hits.stages.models import Stage
from hits.workers.models import Worker


class AssignmentQuerySet(models.QuerySet["Assignment"]):
    def from_marketplace(self) -> AssignmentQuerySet:
        """Those that were given here: paid, on HITs, by workers of the marketplace."""
        return self.filter(imported_from=None)

    def imported(self) -> AssignmentQuerySet:
        """Those that came in with a file of results: they count, and nobody is paid, told or kept out for them."""
        return self.exclude(imported_from=None)

    def held(self) -> AssignmentQuerySet:
        """The answers that do not count yet: no lead has said whether they do."""
        return self.filter(HELD)

    def evidence(self) -> AssignmentQuerySet:
        """What tells of a worker: also answers that count for nothing, but none that is held."""
        return self.filter(models.Q(held="") | models.Q(admitted=True))

    def to_review(self) -> AssignmentQuerySet:
        """The answers about which a lead may decide: those that wait for approval, and those held though paid."""
        return self.filter(models.Q(state=Assignment.State.SUBMITTED, decision="") | HELD)


class Assignment(models.Model):
    """One worker's answer, as the marketplace holds it. Ids are reused after a return.

    Or an answer that came in with a file of results, `imported_from`: it has no HIT, its state is `Imported`, which no
    verb changes, and its worker is one of that file's. A constraint holds the two apart.

    `hits.answers.rules.eligibility` alone writes `held` and `held_for`.
    """

    class State(models.TextChoices):
        SUBMITTED = "Submitted", "Waiting for review"
        APPROVED = "Approved", "Approved"
        REJECTED = "Rejected", "Rejected"
        IMPORTED = "Imported", "Imported"

    # Whoever reads it has chosen answers of the marketplace.
    hit: models.ForeignKey[Hit, Hit] = models.ForeignKey(  # type: ignore[misc]
        Hit, on_delete=models.CASCADE, null=True, related_name="assignments"
    )
    item = models.ForeignKey(
        Item,
        on_delete=models.CASCADE,
        null=True,
        related_name="imported_answers",
        help_text="Of an imported answer, what it is about; of others their HIT says it.",
    )
    imported_from = models.ForeignKey(
        Upload, on_delete=models.CASCADE, null=True, related_name="answers", help_text="The file that it came in with."
    )
    row = models.JSONField(
        null=True, help_text="Of an imported answer, its cells in the file, as the file's `columns`."
    )
    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="assignments", db_index=False)
    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="assignments", db_index=False)
    assignment_id = models.CharField(max_length=64)
    state = models.CharField(max_length=10, choices=State.choices)
    accepted_at = models.DateTimeField()
    submitted_at = models.DateTimeField()
    auto_approval_at = models.DateTimeField(null=True)
    approve_at = models.DateTimeField(
        null=True, help_text="It did not pass, and is approved then unless a lead decides; empty: not by time."
    )
    seconds = models.FloatField(null=True, help_text="From accepting to submitting; empty where a file does not say.")
    answer = models.JSONField(help_text="Form field to value, as the worker posted it.")
    problem = models.TextField(blank=True, help_text="Why the protocol refused it; empty for a valid answer.")
    remark = models.TextField(blank=True, help_text="The worker's reports and comment, as readable text.")
    held = models.TextField(
        blank=True, default="", help_text="Why it counts only when a lead says so; empty: it counts without that."
    )
    held_for = models.CharField(
        max_length=60, blank=True, default="", help_text="The causes of that, as codes with a space between them."
    )
    admitted = models.BooleanField(
        null=True, help_text="What a lead said of an answer with `held`: it counts, or it does not; empty: nothing yet."
    )
    terms = models.ForeignKey(
        "hits.Terms",
        # Goes with its project alone: who agreed to what shall be known as long as the answer is.
        on_delete=models.RESTRICT,
        null=True,
        related_name="answers",
        db_index=False,
        help_text="The version that its worker agreed to, as the answer says; empty: none.",
    )
    scored = models.BooleanField(default=False)
    decision = models.CharField(
        max_length=10, blank=True, choices=State.choices, help_text="Approve or reject, decided and not yet confirmed."
    )
    feedback = models.TextField(blank=True)
    not_before = models.DateTimeField(null=True, help_text="The decision's call waits until then.")
    signs = models.PositiveSmallIntegerField(
        null=True,
        help_text="Of its text evidence, the unusual ones, for readers' lists alone; empty: none is collected.",
    )
    adopted = models.TextField(blank=True, help_text="How its state came about when it was not our decision.")

    objects = AssignmentQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint("assignment_id", "worker", name="assignment_once_a_worker"),
            models.CheckConstraint(
                condition=models.Q(hit__isnull=False, item=None, imported_from=None, seconds__isnull=False, row=None)
                & ~models.Q(state="Imported")
                | models.Q(
                    hit=None,
                    item__isnull=False,
                    imported_from__isnull=False,
                    row__isnull=False,
                    state="Imported",
                    scored=True,
                    decision="",
                    auto_approval_at=None,
                ),
                name="assignment_is_paid_or_imported",
            ),
        ]
        indexes = [
            models.Index(fields=["stage", "submitted_at", "id"], name="assignment_by_time"),
            models.Index(
                fields=["stage", "seconds", "id"],
                condition=models.Q(seconds__isnull=False),
                name="assignment_by_seconds",
            ),
            models.Index(fields=["stage", "id"], condition=models.Q(scored=False), name="assignment_to_score"),
            models.Index(
                "stage", "auto_approval_at", condition=models.Q(state="Submitted"), name="assignment_to_review"
            ),
            models.Index(fields=["stage", "id"], condition=models.Q(state="Submitted"), name="assignment_next"),
            models.Index(
                fields=["stage", "worker"],
                condition=models.Q(approve_at__isnull=False),
                name="assignment_by_time_limit",
            ),
            models.Index(fields=["stage", "-id"], condition=~models.Q(feedback=""), name="assignment_with_feedback"),
            models.Index(fields=["stage", "id"], name="assignment_by_stage"),
            models.Index(fields=["stage", "id"], condition=~models.Q(remark=""), name="assignment_reported"),
            models.Index(fields=["stage", "id"], condition=~models.Q(problem=""), name="assignment_invalid"),
            models.Index(fields=["stage", "id"], condition=~models.Q(held=""), name="assignment_held"),
            models.Index(fields=["stage", "id"], condition=~models.Q(decision=""), name="assignment_decided"),
            models.Index(fields=["stage", "id"], condition=~models.Q(adopted=""), name="assignment_adopted"),
            models.Index(
                fields=["stage", "signs", "id"], condition=models.Q(signs__isnull=False), name="assignment_by_signs"
            ),
            models.Index(fields=["stage", "id"], condition=models.Q(signs__gt=0), name="assignment_with_signs"),
            models.Index(fields=["stage", "worker"], name="assignment_by_stage_worker"),
            models.Index(fields=["worker", "id"], name="assignment_by_worker"),
            models.Index(fields=["terms"], condition=models.Q(terms__isnull=False), name="assignment_by_terms"),
        ]

    def __str__(self) -> str:
        return f"{self.assignment_id} by {self.worker_id}"

    @property
    def about(self) -> Item:
        """The item; of a HIT about several, the first of them."""
        return self.item or self.hit.item


# A rejection ends the wait too.
HELD = ~models.Q(held="") & models.Q(admitted=None) & ~models.Q(state=Assignment.State.REJECTED)


# Of a label: its answer is not held, or a lead said that it counts.
NOT_HELD = models.Q(assignment__held="") | models.Q(assignment__admitted=True)


class LabelQuerySet(models.QuerySet["Label"]):
    def counting(self) -> LabelQuerySet:
        """The labels that count: of answers that count, and not taken back by a lead. For reading what was said."""
        return self.of_counting_answers().filter(undone_at=None)

    def of_counting_answers(self) -> LabelQuerySet:
        """Also labels that a lead took back: the answer was given all the same. For counting answers."""
        return self.filter(void=False)

    def evidence(self) -> LabelQuerySet:
        """What tells of a worker: also labels that count for nothing since the answer was rejected or its worker
        blocked, but none of an answer that is held.
        """
        return self.filter(NOT_HELD)


class Label(models.Model):
    """What an answer says about one unit of the item. A void label counts for nothing.

    `hits.judging.rules.counting.recount` alone writes `void`.
    """

    assignment = models.ForeignKey(Assignment, on_delete=models.CASCADE, related_name="labels", db_index=False)
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="labels")
    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="labels", db_index=False)
    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="labels")
    unit = models.CharField(max_length=60)
    value = models.JSONField()
    correct = models.BooleanField(null=True, help_text="Against the reference; empty where there is none.")
    void = models.BooleanField(
        default=False, help_text="Its answer is rejected, invalid or not counted yet (`held`), or its worker blocked."
    )
    undone_at = models.DateTimeField(null=True, help_text="When a lead took it back: then it counts for nothing.")
    undone_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")

    objects = LabelQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint("assignment", "item", "unit", name="label_once_a_unit")]
        indexes = [models.Index(fields=["stage", "worker"], name="label_by_worker")]

    def __str__(self) -> str:
        return f"{self.unit}={self.value}"


class VerdictQuerySet(models.QuerySet["Verdict"]):
    def by_models(self, stage: Stage) -> VerdictQuerySet:
        """Those of the stage that stand and that models gave, without an answer of people."""
        return self.filter(item__stage=stage, superseded_at=None, routing__isnull=False)


class Verdict(models.Model):
    """What the stage's rule concludes for an item, and which version of which rule it was."""

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="verdicts")
    outcome = models.CharField(max_length=20)
    rule = models.CharField(max_length=60)
    rule_version = models.PositiveSmallIntegerField()
    rule_edition = models.PositiveIntegerField(default=1)
    conclusion = models.CharField(max_length=40, blank=True, help_text="The rule's own word, such as valid.")
    parts = models.JSONField(default=dict, help_text="A conclusion for each group, where the rule judges groups.")
    detail = models.JSONField(default=dict)
    decided_at = models.DateTimeField(auto_now_add=True)
    computation = models.ForeignKey(
        "hits.ComputationRun",
        on_delete=models.SET_NULL,
        null=True,
        db_index=False,
        related_name="verdicts",
        help_text="By whose values it concludes, where its rule or its number of answers goes by computed ones.",
    )
    routing = models.ForeignKey(
        "hits.Routing",
        on_delete=models.SET_NULL,
        null=True,
        db_index=False,
        related_name="verdicts",
        help_text="By which models decided it, without an answer of people; empty: people did.",
    )
    superseded_at = models.DateTimeField(null=True)
    advanced = models.BooleanField(default=False, help_text="What follows from it has been made.")

    objects = VerdictQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint("item", condition=models.Q(superseded_at=None), name="one_verdict_stands")
        ]
        indexes = [
            models.Index(fields=["item"], condition=models.Q(advanced=False), name="verdict_to_advance"),
            models.Index(
                fields=["computation"], condition=models.Q(computation__isnull=False), name="verdict_by_computation"
            ),
            models.Index(fields=["routing"], condition=models.Q(routing__isnull=False), name="verdict_by_routing"),
        ]

    def __str__(self) -> str:
        return f"{self.outcome} ({self.rule} v{self.rule_version})"


class Draft(models.Model):
    """A worker's unfinished answer, saved so that a lost connection loses nothing. Never an answer.

    Whose it is, is claimed by the page's address and confirmed by nobody: a draft decides nothing about a worker.
    """

    hit = models.ForeignKey(Hit, on_delete=models.CASCADE, related_name="drafts")
    assignment_id = models.CharField(max_length=64)
    worker_id = models.CharField(max_length=64)
    fields = models.JSONField(default=dict)
    saved_at = models.DateTimeField(auto_now=True)
    sent_at = models.DateTimeField(
        null=True, help_text="The page was about to post the answer: a hint that one can be fetched, nothing more."
    )
    terms = models.ForeignKey(
        "hits.Terms",
        on_delete=models.SET_NULL,
        null=True,
        db_index=False,
        related_name="+",
        help_text="The version that the answer agreed to when its page was about to post it: the next page ticks it.",
    )

    class Meta:
        # The HIT belongs to it: the ids come from the page's address, so another HIT's page may claim the same ones.
        constraints = [models.UniqueConstraint("hit", "assignment_id", "worker_id", name="one_draft_a_claim")]
        indexes = [models.Index(fields=["worker_id"], name="draft_by_worker")]

    def __str__(self) -> str:
        return f"draft of {self.assignment_id}"


class TextEvidence(models.Model):
    """Of one answer. The row is there from harvesting on; `read_at` says when its texts were read.

    `hits.workers.verbs.comparing_texts` alone writes what is behind `read_at`, and `Assignment.signs` with it.
    """

    class Noted(models.TextChoices):
        NOTHING = "nothing", "The page counted nothing"
        COUNTED = "counted", "Counted"
        UNREADABLE = "unreadable", "Not what a page posts"

    assignment = models.OneToOneField(Assignment, on_delete=models.CASCADE, related_name="text_evidence")
    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="+", db_index=False)
    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="text_evidence", db_index=False)
    noted = models.CharField(max_length=10, choices=Noted.choices)
    counts = models.JSONField(
        default=dict, help_text="By form field: typed, pasted, pastes, deletions, pauses, seconds of typing."
    )
    read_at = models.DateTimeField(null=True)
    characters = models.PositiveIntegerField(default=0, help_text="Of the texts, outer space left out.")
    words = models.PositiveIntegerField(default=0)
    copied = models.FloatField(null=True, help_text="Share of its passages that stand in the item's text, 0 to 1.")
    phrases = models.JSONField(default=dict, help_text="Stock phrases in it, with how often each is there.")
    sentences = models.PositiveIntegerField(default=0)
    length_squares = models.PositiveIntegerField(default=0, help_text="Of its sentences' lengths in words, summed.")
    sketch = models.BinaryField(default=bytes, help_text="Of its passages: whole numbers of 8 bytes each, rising.")
    near = models.ForeignKey(
        Assignment, on_delete=models.SET_NULL, null=True, related_name="+", help_text="An answer with the same wording."
    )
    near_share = models.FloatField(null=True, help_text="Of the passages of both, those that both have, 0 to 1.")

    class Meta:
        indexes = [
            models.Index(fields=["stage", "assignment"], name="text_evidence_by_stage"),
            models.Index(fields=["stage", "worker"], name="text_evidence_by_worker"),
            models.Index(fields=["stage", "id"], condition=models.Q(read_at=None), name="text_evidence_unread"),
        ]

    def __str__(self) -> str:
        return f"of answer {self.assignment_id}"


class TextFigures(models.Model):
    """Of all written answers of a stage together: where each stands is looked up here, without reading the others."""

    stage = models.OneToOneField(Stage, on_delete=models.CASCADE, related_name="text_figures")
    answers = models.PositiveIntegerField(default=0, help_text="That were compared.")
    compared_at = models.DateTimeField(help_text="When that began.")
    figures = models.JSONField(default=dict, help_text="Quantiles by name, and how many stock phrases and words.")

    def __str__(self) -> str:
        return f"of stage {self.stage_id}"
