"""Batches, HITs, and what was restored."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from hits.core.models.fields import DollarField
from hits.core.models.intents import Intent
from hits.items.models import Item
from hits.stages.models import Stage


class Batch(models.Model):
    """Calls that belong together: the items of a stage published at once, or their HITs closed or extended."""

    class State(models.TextChoices):
        PUBLISHING = "publishing", "Publishing"
        PAUSED = "paused", "Paused"
        PUBLISHED = "published", "Published"
        WAITING = "waiting", "Waiting for the marketplace"

    class Kind(models.TextChoices):
        FIRST = "first", "First answers"
        AGAIN = "again", "Answers to be given again"
        EXPIRE = "expire", "Closing early"
        EXTEND = "extend", "Staying open longer"
        DELETE = "delete", "Deleting finished HITs"

    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="batches")
    kind = models.CharField(max_length=8, choices=Kind.choices, default=Kind.FIRST)
    state = models.CharField(max_length=12, choices=State.choices, default=State.PUBLISHING)
    until = models.DateTimeField(null=True, help_text="The new expiry, when this closes or extends HITs.")
    total = models.PositiveIntegerField(help_text="Calls that this batch makes: new HITs and extended ones.")
    done = models.PositiveIntegerField(default=0)
    refused = models.PositiveIntegerField(default=0)
    message = models.TextField(blank=True, help_text="What the marketplace said last, when it was not yes.")
    confirmation = models.CharField(  # noqa: DJ001 (unique where it is there)
        max_length=64, unique=True, null=True, help_text="The confirmed page's own key: a double click finds it taken."
    )
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)
    end_told = models.BooleanField(
        default=False, db_default=False, help_text="A notice says that its last HIT has ended."
    )

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["stage"], condition=models.Q(end_told=False), name="batch_to_tell")]

    def __str__(self) -> str:
        return f"batch {self.pk} of {self.stage}"


class Hit(Intent):
    """Items published: one, or several that are asked about one after another. `item` is the first of them, the others
    are its HitItems; `hits.publishing.rules.hit_items` reads both. `slot` counts the HITs that its items needed, from
    1.
    """

    class State(models.TextChoices):
        PLANNED = "planned", "Planned"
        SENT = "sent", "Sent, outcome unknown"
        LIVE = "live", "Published"
        CLOSED = "closed", "Closed"
        REFUSED = "refused", "Refused by the marketplace"

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="hits", db_index=False)
    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="hits", db_index=False)
    batch = models.ForeignKey(Batch, on_delete=models.CASCADE, related_name="hits", db_index=False)
    item_count = models.PositiveSmallIntegerField(default=1, help_text="Items that it asks about.")
    slot = models.PositiveSmallIntegerField(default=1)
    token = models.CharField(max_length=64, unique=True, help_text="Unique request token and RequesterAnnotation.")
    state = models.CharField(max_length=8, choices=State.choices, default=State.PLANNED)
    hit_id = models.CharField(max_length=64, unique=True, null=True)  # noqa: DJ001 (unique where it is there)
    max_assignments = models.PositiveSmallIntegerField()
    created_with = models.PositiveSmallIntegerField(
        help_text="Assignments at creation: decides the fee and the 9-limit."
    )
    reward = DollarField(help_text="Of one assignment, $: what workers of this HIT see, whatever the stage pays later.")
    unit_cost = DollarField(help_text="Reward and fee of one assignment, $.")
    assignment_seconds = models.PositiveIntegerField(help_text="Time for one assignment of this HIT.")
    harvested = models.PositiveSmallIntegerField(default=0)
    expires_at = models.DateTimeField(null=True)
    due_at = models.DateTimeField(
        null=True, help_text="From then on its answers are to be fetched; empty: nothing new."
    )
    short_since = models.DateTimeField(
        null=True, help_text="Since when it is finished at the marketplace and lists fewer answers than wanted."
    )
    closed_early = models.BooleanField(default=False, help_text="A lead closed it before its time.")
    unwanted = models.BooleanField(
        default=False, help_text="Its item wants none of the answers that may still come: it is to be closed."
    )
    deleted_at = models.DateTimeField(null=True, help_text="Deleted at the marketplace.")

    class Meta:
        constraints = [models.UniqueConstraint("item", "slot", name="hit_slot_once_an_item")]
        indexes = [
            models.Index(fields=["stage", "due_at"], condition=models.Q(due_at__isnull=False), name="hit_to_harvest"),
            models.Index(fields=["stage", "id"], condition=~models.Q(error=""), name="hit_with_error"),
            models.Index(fields=["stage", "id"], condition=models.Q(unwanted=True), name="hit_unwanted"),
            models.Index(fields=["batch", "state", "id"], name="hit_by_batch_state"),
            models.Index(fields=["stage", "id"], name="hit_by_stage"),
            models.Index(fields=["stage", "state", "id"], name="hit_by_stage_state"),
        ]

    def __str__(self) -> str:
        return self.hit_id or self.token


class HitItem(models.Model):
    """A further item of a HIT; `number` is its place among the items of the HIT, from 2."""

    hit = models.ForeignKey(Hit, on_delete=models.CASCADE, related_name="further", db_index=False)
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="further_hits")
    number = models.PositiveSmallIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint("hit", "number", name="item_number_once_a_hit"),
            models.UniqueConstraint("hit", "item", name="item_once_a_hit"),
        ]

    def __str__(self) -> str:
        return f"{self.hit_id}/{self.number}"


class Extension(Intent):
    """More assignments for a live HIT: the intent row of CreateAdditionalAssignmentsForHIT."""

    class State(models.TextChoices):
        PLANNED = "planned", "Planned"
        DONE = "done", "Done"
        REFUSED = "refused", "Refused by the marketplace"
        DROPPED = "dropped", "No longer wanted"

    # What was reserved for these was released at once.
    RELEASED = (State.REFUSED, State.DROPPED)
    hit = models.ForeignKey(Hit, on_delete=models.CASCADE, related_name="extensions")
    batch = models.ForeignKey(Batch, on_delete=models.CASCADE, related_name="extensions")
    number = models.PositiveSmallIntegerField(help_text="Counts the extensions of this HIT, from 1.")
    assignments = models.PositiveSmallIntegerField(
        default=1, help_text="0 only opens the HIT again for places that nobody took."
    )
    places = models.PositiveSmallIntegerField(default=1, help_text="Answers that its reservation pays for.")
    token = models.CharField(max_length=64, unique=True)
    state = models.CharField(max_length=8, choices=State.choices, default=State.PLANNED)

    class Meta:
        constraints = [models.UniqueConstraint("hit", "number", name="extension_number_once_a_hit")]

    def __str__(self) -> str:
        return self.token


class Restoration(models.Model):
    """Until it is reconciled no call is made to the marketplace: see `hits.publishing.rules.restorations`."""

    backup_at = models.DateTimeField(help_text="The moment of the backup: what was written later is lost here.")
    restored_at = models.DateTimeField(auto_now_add=True)
    reconciled_at = models.DateTimeField(null=True, help_text="When the two sides agreed; empty: not yet.")

    class Meta:
        indexes = [models.Index(fields=["id"], condition=models.Q(reconciled_at=None), name="restoration_open")]

    def __str__(self) -> str:
        return f"restored to {self.backup_at:%Y-%m-%d %H:%M:%S} UTC"


class ClosedHit(models.Model):
    """A HIT that `reconcile --close-unknown` closed, for its items were not here: see
    `hits.publishing.rules.restorations`.
    """

    project = models.ForeignKey("hits.Project", on_delete=models.CASCADE, related_name="closed_hits")
    hit_id = models.CharField(max_length=64, unique=True)
    annotation = models.CharField(
        max_length=255, help_text="What it asks about: see `hits.publishing.rules.hit_tokens`."
    )
    deleted = models.BooleanField(help_text="Nobody had answered, and it is gone.")
    closed_at = models.DateTimeField(auto_now_add=True)
    adopted_at = models.DateTimeField(null=True, help_text="When its items were here again, and it got its row.")

    class Meta:
        indexes = [
            models.Index(
                fields=["project"], condition=models.Q(adopted_at=None, deleted=False), name="closed_hit_waiting"
            )
        ]

    def __str__(self) -> str:
        return f"closed {self.hit_id}"
