"""Items, the documents that they ask about, uploads, media, and changes by hand."""

from __future__ import annotations

from decimal import Decimal

from django.conf import settings
from django.db import models
from django.db.models import Q

from hits.core.models.blobs import Blob
from hits.core.models.fields import DollarField
from hits.projects.models import Project
from hits.stages.models import Stage


class Document(models.Model):
    """A text that items ask about: stored once, however many items or stages use it."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="documents", db_index=False)
    key = models.CharField(max_length=200)
    origin = models.CharField(max_length=20)
    purpose = models.CharField(max_length=10, help_text="train or eval: where its items may end up.")
    data = models.JSONField(help_text="The format's own fields: text, entities, source ...")
    came_with = models.ForeignKey(
        "hits.Upload",
        on_delete=models.SET_NULL,
        null=True,
        related_name="documents",
        help_text="The file of results that brought it, and takes it away again where nothing else needs it.",
    )

    class Meta:
        constraints = [models.UniqueConstraint("project", "key", name="document_key_once_a_project")]

    def __str__(self) -> str:
        return self.key


class Item(models.Model):
    """One unit to be judged or written.

    In the state "check" it is a check question, published or not: its known answer shows how good workers are, it has
    no verdict, and it is in no release. `hits.publishing.rules.check_questions` alone makes one of an item, before it
    has a HIT.
    """

    class State(models.TextChoices):
        NEW = "new", "To be published"
        OPEN = "open", "Open"
        AGAIN = "again", "To be answered again"
        KEPT = "kept", "Kept"
        DROPPED = "dropped", "Dropped"
        WITHDRAWN = "void", "Taken back"
        CHECK = "check", "Check question"

    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="items", db_index=False)
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="items")
    parent = models.ForeignKey("self", on_delete=models.CASCADE, null=True, related_name="children")
    source = models.ForeignKey(
        "hits.Assignment",
        on_delete=models.SET_NULL,
        null=True,
        related_name="made",
        help_text="The answer that it was made from, such as a written question: it stands as long as that counts.",
    )
    key = models.CharField(max_length=300)
    data = models.JSONField(help_text="What the protocol asks: for a cloze item {query, answers, ...}.")
    state = models.CharField(max_length=8, choices=State.choices, default=State.NEW)
    stale = models.BooleanField(default=False, help_text="Something happened that no verdict has seen yet.")
    conclusion = models.CharField(max_length=40, blank=True, help_text="The rule's own word, such as valid.")
    ballots = models.TextField(
        blank=True, help_text="What the votes say, in one spelling, so that a rule is tried on each kind of item once."
    )
    ballots_at = models.DateTimeField(
        null=True, help_text="When its answers were last found to be others than before; empty where nobody knows."
    )
    disagreement = models.FloatField(
        null=True,
        help_text="How far its answers differ, 0..1, written with `ballots`; empty where nothing was answered twice.",
    )
    waits_for_values = models.BooleanField(
        default=False, db_default=False, help_text="Its answers are there; its verdict hangs on values to be computed."
    )
    figures = models.JSONField(
        null=True, help_text="Where a program makes the items: counts by name, so that pages need not read `data`."
    )
    wanted = models.PositiveSmallIntegerField(
        null=True, help_text="Answers that it wants, where its stage lets that grow; empty: the stage's `answers`."
    )
    for_practice = models.BooleanField(
        default=False, db_default=False, help_text="Of a test: shown with its known answer before it, and never in it."
    )
    further = models.PositiveSmallIntegerField(
        default=0, db_default=0, help_text="Answers beyond those that it wants now, for which money is set aside."
    )
    further_cost = DollarField(
        default=0, db_default=Decimal(0), help_text="Set aside for one of them, with its fee, $."
    )
    priority = models.FloatField(
        null=True, help_text="Items with a higher one are published first; empty: after those that have one."
    )

    class Meta:
        constraints = [models.UniqueConstraint("stage", "key", name="item_key_once_a_stage")]
        indexes = [
            # Lists are paged by id; the ones below hold the stage's own index too.
            models.Index(fields=["stage", "id"], name="item_by_stage"),
            models.Index(fields=["stage", "state", "id"], name="item_by_state"),
            models.Index(fields=["stage", "id"], condition=models.Q(stale=True), name="item_to_decide"),
            models.Index(fields=["stage", "id"], condition=models.Q(further__gt=0), name="item_set_aside"),
            models.Index(fields=["stage", "id"], condition=models.Q(waits_for_values=True), name="item_to_compute"),
            models.Index(
                fields=["stage", "conclusion", "id"], condition=~models.Q(conclusion=""), name="item_by_conclusion"
            ),
            models.Index(
                fields=["stage", "disagreement", "id"],
                condition=models.Q(disagreement__isnull=False),
                name="item_by_disagreement",
            ),
            models.Index(
                fields=["stage", "ballots_at", "id"],
                condition=models.Q(ballots_at__isnull=False),
                name="item_by_change",
            ),
            # For lists; and for publishing, which takes the highest first and of equal ones those that came first.
            models.Index(
                fields=["stage", "priority", "id"],
                condition=models.Q(priority__isnull=False),
                name="item_by_priority",
            ),
            models.Index(
                fields=["stage", "state", "-priority", "id"],
                condition=models.Q(priority__isnull=False),
                name="item_to_publish_first",
            ),
        ]

    def __str__(self) -> str:
        return self.key


class Upload(models.Model):
    """A file that a lead sent in, and how its import went.

    It holds items, or media: then its `items` are the files that came in, and its content is kept in those. Or answers
    to a stage: then its `items` are the answers that came in.
    """

    class Kind(models.TextChoices):
        ITEMS = "items", "Items"
        MEDIA = "media", "Media"
        RESULTS = "results", "Results"

    class State(models.TextChoices):
        MAPPING = "mapping", "Waits for its columns"
        QUEUED = "queued", "Waiting"
        READING = "reading", "Reading and checking"
        STORING = "storing", "Storing"
        DONE = "done", "Imported"
        REFUSED = "refused", "Refused, nothing imported"
        STOPPED = "stopped", "Stopped, nothing imported"
        FAILED = "failed", "Failed, nothing imported"
        REMOVED = "removed", "Removed"

    RUNNING = (State.QUEUED, State.READING, State.STORING)
    UNFINISHED = (State.MAPPING, *RUNNING)

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="uploads")
    kind = models.CharField(max_length=7, choices=Kind.choices, default=Kind.ITEMS)
    media = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, help_text="Media that came with it, which are imported before it."
    )
    stage = models.ForeignKey(
        Stage, on_delete=models.CASCADE, null=True, related_name="result_files", help_text="Whose answers it holds."
    )
    name = models.CharField(max_length=200)
    origin = models.CharField(max_length=20)
    blob = models.ForeignKey(Blob, on_delete=models.PROTECT)
    state = models.CharField(max_length=8, choices=State.choices, default=State.QUEUED)
    mapping = models.JSONField(
        null=True,
        help_text="The column of the file by field, as a lead confirmed it; null: by the names of the columns.",
    )
    columns = models.JSONField(default=list, help_text="Of answers: the columns whose cells are kept, in their order.")
    done = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(default=0)
    items = models.PositiveIntegerField(default=0)
    faults = models.JSONField(default=list, help_text="[{line, place, message}], the first 1,000.")
    fault_count = models.PositiveIntegerField(default=0)
    notes = models.JSONField(default=list, help_text="Sentences on texts that were left out.")
    attempts = models.PositiveSmallIntegerField(default=0, help_text="How often its import began.")
    error = models.TextField(blank=True, help_text="Why it failed, as a sentence.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.name

    @property
    def is_running(self) -> bool:
        return self.state in self.RUNNING

    @property
    def holds_results(self) -> bool:
        return self.kind == self.Kind.RESULTS

    @property
    def holds_media(self) -> bool:
        return self.kind == self.Kind.MEDIA


LONGEST_NAME = 200


class MediaQuerySet(models.QuerySet["MediaFile"]):
    def ready(self) -> MediaQuerySet:
        """Those of uploads that are done. The others are being stored, or are what a crash left."""
        return self.filter(Q(upload=None) | Q(upload__state=Upload.State.DONE))


class MediaFile(models.Model):
    """`name` may have folders; `base` is its last part. Copies in cloned projects share the bytes."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="media")
    name = models.CharField(max_length=LONGEST_NAME)
    base = models.CharField(max_length=LONGEST_NAME)
    blob = models.ForeignKey(Blob, on_delete=models.PROTECT, related_name="media")
    content_type = models.CharField(max_length=40)
    width = models.PositiveIntegerField(default=0, help_text="Of a picture, in pixels; 0 where it is not known.")
    height = models.PositiveIntegerField(default=0)
    upload = models.ForeignKey(
        Upload, on_delete=models.SET_NULL, null=True, related_name="media_files", help_text="Null for a copy."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = MediaQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint("project", "name", name="media_name_once_a_project")]
        indexes = [models.Index(fields=["project", "base"], name="media_by_base")]

    def __str__(self) -> str:
        return self.name

    @property
    def kind(self) -> str:
        """image, audio or video."""
        return self.content_type.partition("/")[0]


class ChangeSet(models.Model):
    """Changes of many items that are shown, confirmed and undone together: a file of annotations, or a run anew."""

    class State(models.TextChoices):
        SHOWN = "shown", "To be confirmed"
        DONE = "done", "Done"
        UNDONE = "undone", "Undone"

    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="change_sets")
    state = models.CharField(max_length=6, choices=State.choices, default=State.SHOWN)
    name = models.CharField(max_length=200, help_text="Of the file; empty where a run made the changes.")
    blob = models.ForeignKey(Blob, on_delete=models.PROTECT, null=True, related_name="+")
    run = models.ForeignKey("hits.ComputationRun", on_delete=models.CASCADE, null=True, related_name="+")
    effect = models.JSONField(
        default=dict, help_text="items, left_out by reason, before and after: sums of the changed items' figures."
    )
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    done_at = models.DateTimeField(null=True)
    undone_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    undone_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"changes {self.pk} of {self.stage_id}"


class ItemChange(models.Model):
    """One change of an item's data: who, when, before and after. The newest one can be undone, then the one before."""

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="changes")
    before = models.JSONField()
    after = models.JSONField()
    together = models.ForeignKey(ChangeSet, on_delete=models.CASCADE, null=True, related_name="changes")
    changed_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    changed_at = models.DateTimeField(auto_now_add=True)
    undone_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    undone_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"change {self.pk} of {self.item_id}"
