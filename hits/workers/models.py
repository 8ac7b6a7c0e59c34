"""Workers, blocks, qualifications and their tests."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable

from django.conf import settings
from django.db import models

from hits.core.models.fields import DollarField
from hits.items.models import Item
from hits.projects.models import Project
from hits.stages.models import Stage


class Worker(models.Model):
    """Somebody of the marketplace; or of a file of results, who is known in one project and to no marketplace."""

    worker_id = models.CharField(
        max_length=100, unique=True, help_text="As the marketplace has it; of imported answers `imported-1:ID`."
    )

    imported_into = models.ForeignKey(
        Project,
        on_delete=models.CASCADE,
        null=True,
        related_name="imported_workers",
        help_text="The project whose files of results name this worker; empty: one of the marketplace.",
    )

    def __str__(self) -> str:
        return self.worker_id


class WorkerStat(models.Model):
    """A worker's figures in one stage, recomputed from the labels when new ones come.

    Those that need the answers of all workers, from `compared` on, are written by `hits.workers.verbs.comparing`, now
    and then and of all workers at once.
    """

    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="worker_stats")
    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="stats")
    answers = models.PositiveIntegerField(default=0)
    approved = models.PositiveIntegerField(default=0, db_default=0, help_text="Answers that stand approved.")
    rejected = models.PositiveIntegerField(default=0, db_default=0, help_text="Answers that stand rejected.")
    scored = models.PositiveIntegerField(default=0)
    correct = models.PositiveIntegerField(default=0)
    median_seconds = models.FloatField(null=True)
    earned = DollarField(default=0, help_text="Approved rewards, $.")
    fees = DollarField(default=0, help_text="The marketplace's, for the approved answers, $.")
    compared = models.PositiveIntegerField(default=0, help_text="Answers with a counting one of another worker beside.")
    agreed = models.FloatField(default=0, help_text="Of these, the sum of the shares of the others who say the same.")
    agreed_by_chance = models.FloatField(default=0, help_text="What chance would give of `agreed`.")
    right_by_chance = models.FloatField(default=0, help_text="What chance would give of `correct`.")
    repeats = models.PositiveIntegerField(default=0, help_text="Answers that say what the worker's one before said.")
    longest_run = models.PositiveIntegerField(default=0, help_text="Of equal answers one after another.")
    followed = models.PositiveIntegerField(
        default=0, db_default=0, help_text="Answers to items that follow one of the worker's."
    )
    timed = models.PositiveIntegerField(
        default=0, db_default=0, help_text="Answers of which it is known how long they took."
    )
    hurried = models.PositiveIntegerField(
        default=0, db_default=0, help_text="Of these, those in much less time than the crowd's."
    )
    notices = models.PositiveSmallIntegerField(default=0, help_text="How many sentences `why` has.")
    why = models.TextField(blank=True, help_text="What stands out, as sentences; empty for most workers.")
    competence = models.FloatField(null=True, help_text="0 to 1, as a run of the stage's statistics estimates it.")
    competence_run = models.ForeignKey(
        "hits.ComputationRun", on_delete=models.SET_NULL, null=True, related_name="+", db_index=False
    )

    class Meta:
        constraints = [models.UniqueConstraint("stage", "worker", name="one_stat_a_stage_and_worker")]
        indexes = [models.Index(fields=["stage", "-answers", "id"], name="stat_by_answers")]

    def __str__(self) -> str:
        return f"{self.worker} in {self.stage_id}"


class Qualification(models.Model):
    """A qualification type that the project made at the marketplace, such as "poor-quality"."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="qualifications")
    key = models.SlugField(max_length=60)
    qualification_type_id = models.CharField(max_length=64)

    class Meta:
        constraints = [models.UniqueConstraint("project", "key", name="qualification_key_once_a_project")]

    def __str__(self) -> str:
        return self.key


class Grant(models.Model):
    """A qualification of the project that a worker has, given by a lead or by having answered in a stage.

    The row is the intent of the calls: "intended" and "withdrawing" are written before the marketplace is asked.
    """

    class State(models.TextChoices):
        INTENDED = "intended", "Being granted"
        GRANTED = "granted", "Granted"
        WITHDRAWING = "withdrawing", "Being withdrawn"
        WITHDRAWN = "withdrawn", "Withdrawn"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="grants")
    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="grants")
    key = models.SlugField(max_length=60, help_text="The qualification, as stages name it.")
    state = models.CharField(max_length=11, choices=State.choices, default=State.INTENDED)
    stage = models.ForeignKey(
        Stage, on_delete=models.SET_NULL, null=True, help_text="Where the worker answered; empty: a lead gave it."
    )
    value = models.PositiveSmallIntegerField(
        default=1, db_default=1, help_text="At the marketplace: 1 or, from a test, the percentage of right answers."
    )
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    withdrawn_at = models.DateTimeField(null=True)
    error = models.TextField(blank=True, help_text="Why the marketplace did not grant or withdraw it.")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                "project", "key", "worker", condition=~models.Q(state="withdrawn"), name="one_standing_grant_a_worker"
            )
        ]

    def __str__(self) -> str:
        return f"{self.key} of {self.worker}: {self.get_state_display()}"


class BlockQuerySet(models.QuerySet["Block"]):
    def standing(self) -> BlockQuerySet:
        """The blocks and pauses that are not undone yet: one at most of a worker in a project."""
        return self.exclude(state=Block.State.UNDONE)

    def blocks(self) -> BlockQuerySet:
        """Without the pauses."""
        return self.filter(until=None)

    def keeping_out(self) -> BlockQuerySet:
        """The blocks and pauses that keep their workers out: all but those that ended.

        While the marketplace is not told yet of the end of one, it stands and keeps nobody out any more.
        """
        return self.filter(state__in=Block.KEEPS_OUT)

    def in_force(self) -> BlockQuerySet:
        """The blocks that keep their workers out and make their labels void; a pause makes none void."""
        return self.keeping_out().blocks()

    def of_workers(self, project: int, workers: Iterable[int]) -> set[int]:
        """Which of these workers a block of the project keeps out."""
        found = self.in_force().filter(project=project, worker__in=set(workers))
        return set(found.values_list("worker__pk", flat=True))


class Block(models.Model):
    """A granted "poor quality" qualification, with the evidence for it. Never CreateWorkerBlock.

    With `until` it is a pause: it takes no answer away, and ends by itself. It may become a block, never the other way.
    """

    class State(models.TextChoices):
        INTENDED = "intended", "Being granted"
        GRANTED = "granted", "Blocked"
        LIFTING = "lifting", "Being undone"
        UNDONE = "undone", "Undone"

    KEEPS_OUT = (State.INTENDED, State.GRANTED)

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="blocks")
    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="blocks")
    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="blocks")
    state = models.CharField(max_length=8, choices=State.choices, default=State.INTENDED)
    evidence = models.JSONField(help_text="Figures, policy or reason at the time.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    until = models.DateTimeField(null=True, help_text="When a pause ends; empty: a block.")
    undone_at = models.DateTimeField(null=True)
    error = models.TextField(blank=True, help_text="Why the marketplace did not grant or revoke it.")

    objects = BlockQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                "project", "worker", condition=~models.Q(state="undone"), name="one_standing_block_a_worker"
            )
        ]

    def __str__(self) -> str:
        return f"{self.worker}: {self.in_words}"

    @property
    def is_in_force(self) -> bool:
        """Whether it is one of `in_force`."""
        return self.state in self.KEEPS_OUT and self.until is None

    @property
    def in_words(self) -> str:
        """Its state as a lead reads it."""
        if self.state == self.State.INTENDED:
            return "Block pending" if self.until is None else "Pause pending"
        if self.until is None or self.state == self.State.LIFTING:
            return str(self.get_state_display())
        return "Pause over" if self.state == self.State.UNDONE else "Paused"


def by_blocked_worker() -> models.Exists:
    """Of answers, whether a block keeps their worker out: then they count for nothing."""
    rows = Block.objects.in_force().filter(project=models.OuterRef("stage__project"), worker=models.OuterRef("worker"))
    return models.Exists(rows)


class QualificationTest(models.Model):
    """Offered at the marketplace as a qualification that it grades by itself. It is edited only while it is a draft.

    The row is the intent of the calls: "offering" and "withdrawing" are written before the marketplace is asked.
    """

    class State(models.TextChoices):
        DRAFT = "draft", "Draft"
        OFFERING = "offering", "Being offered"
        OFFERED = "offered", "Offered"
        WITHDRAWING = "withdrawing", "Being withdrawn"
        WITHDRAWN = "withdrawn", "Withdrawn"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="qualification_tests")
    key = models.SlugField(max_length=60, help_text="Names the test in stages and recipes, such as reading-test.")
    title = models.CharField(max_length=80)
    description = models.TextField(help_text="Workers read it before they begin.")
    questions = models.JSONField(default=list, help_text="[{text, question, choices, right}, ...], right from 0.")
    drawn = models.ManyToManyField(
        Item, related_name="qualification_tests", help_text="The items whose questions it asks: no check questions."
    )
    pass_mark = models.PositiveSmallIntegerField(default=80, help_text="Percent of the questions.")
    minutes = models.PositiveSmallIntegerField(default=15)
    retry_days = models.PositiveSmallIntegerField(null=True, help_text="Days until another attempt; empty: never.")
    state = models.CharField(max_length=12, choices=State.choices, default=State.DRAFT)
    qualification_type_id = models.CharField(max_length=64, blank=True)
    error = models.TextField(blank=True, help_text="What the marketplace said last, when it was not yes.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    offered_at = models.DateTimeField(null=True)
    withdrawn_at = models.DateTimeField(null=True)
    scores_at = models.DateTimeField(null=True, help_text="As of when the scores were fetched.")

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint("project", "key", name="test_key_once_a_project")]

    def __str__(self) -> str:
        return f"{self.key} of {self.project}"

    @property
    def remote_name(self) -> str:
        """The qualification's name at the marketplace: of this row alone, so that it is found again by it."""
        return f"{f'{self.title}: {self.project.name}'[:170]} ({self.project.namespace[:6]}-{self.pk})"

    @property
    def fingerprint(self) -> str:
        """Of everything that workers see and that grades them."""
        seen = [self.title, self.description, self.questions, self.pass_mark, self.minutes, self.retry_days]
        return hashlib.sha256(json.dumps(seen, sort_keys=True).encode()).hexdigest()[:16]


class QualificationScore(models.Model):
    """A worker's value, as the marketplace held it when it was last asked."""

    test = models.ForeignKey(QualificationTest, on_delete=models.CASCADE, related_name="scores", db_index=False)
    worker_id = models.CharField(max_length=64, help_text="The marketplace's id; the worker may have no answer here.")
    value = models.IntegerField(help_text="Percent of the questions that were right.")
    granted_at = models.DateTimeField()
    seen_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint("test", "worker_id", name="one_score_a_test_and_worker")]
        indexes = [models.Index(fields=["test", "-id"], name="score_by_test")]

    def __str__(self) -> str:
        return f"{self.worker_id}: {self.value}"
