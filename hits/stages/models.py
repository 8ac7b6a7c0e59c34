"""Stages, the figures of each, and the editions of their rules."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils import timezone

from hits.core.models.fields import DollarField
from hits.projects.models import UNFINISHED, Project


class StageQuerySet(models.QuerySet["Stage"]):
    def visible_to(self, user) -> StageQuerySet:
        """The stages of the projects that the user is a member of, each with the user's `role` there."""
        return self.filter(project__memberships__user=user).annotate(role=models.F("project__memberships__role"))

    def buying(self) -> StageQuerySet:
        """Those from which something may go out by itself: not paused, and in no archived project."""
        return self.exclude(state=Stage.State.PAUSED).filter(project__archived_at=None)


# Of a stage, for readers: it is stored as live.
FINISHED = "finished"


class Stage(models.Model):
    """One protocol with its settings. Its pay and requirements freeze when its HIT type is made.

    Positions count from 1 at the first stage with a crowd; the one before it without a crowd has 0. Of that one nothing
    is published, answered, voted on or closed.
    """

    class State(models.TextChoices):
        DRAFT = "draft", "Not started"
        LIVE = "live", "Live"
        PAUSED = "paused", "Paused"

    class Approval(models.TextChoices):
        AUTOMATIC = "automatic", "Approved once checked"
        REVIEW = "review", "Approved by a lead"

    class Suggestions(models.TextChoices):
        HIDDEN = "hidden", "Nobody sees them"
        SHOWN = "shown", "Everybody sees them"
        HALF = "half", "A seeded half of the answers is given with them in sight"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="stages")
    key = models.SlugField(max_length=60)
    title = models.CharField(max_length=120)
    position = models.PositiveSmallIntegerField()
    protocol = models.CharField(max_length=60)
    crowd = models.BooleanField(
        default=True, help_text="People are asked; else a program makes the items and leads correct them."
    )
    state = models.CharField(max_length=10, choices=State.choices, default=State.DRAFT)
    reward = DollarField(validators=[MinValueValidator(0)])
    answers = models.PositiveSmallIntegerField(
        default=1, validators=[MinValueValidator(1), MaxValueValidator(100)], help_text="Answers wanted an item."
    )
    most_answers = models.PositiveSmallIntegerField(
        null=True, help_text="An item gets more answers than `answers`, up to so many, until `enough` holds."
    )
    enough = models.CharField(
        max_length=500, blank=True, help_text="When an item has enough answers, in the language of vote rules."
    )
    approval = models.CharField(max_length=10, choices=Approval.choices, default=Approval.AUTOMATIC)
    auto_approval_seconds = models.PositiveIntegerField(
        default=0, help_text="What waits for a lead is approved after that; 0: the marketplace approves all at once."
    )
    unchecked_answers = models.PositiveSmallIntegerField(
        default=5,
        db_default=5,
        help_text="So many answers of one worker that did not pass are approved by time; further ones wait.",
    )
    assignment_seconds = models.PositiveIntegerField(default=600)
    lifetime_seconds = models.PositiveIntegerField(default=604_800)
    expected_seconds = models.PositiveIntegerField(
        null=True, help_text="Time that one answer is expected to take; empty: as the description says."
    )
    hit_title = models.CharField(max_length=128)
    hit_description = models.CharField(max_length=2000)
    keywords = models.CharField(max_length=1000, blank=True)
    settings = models.JSONField(default=dict, help_text="The protocol's settings, such as min_seconds.")
    gold_share = models.FloatField(
        default=0, help_text="Of the answers that a batch buys: so many to check questions, 0 to 0.5."
    )
    requirements = models.JSONField(default=list)
    rule = models.JSONField(default=dict, help_text="The vote rule as data: name, version, params.")
    rule_edition = models.PositiveIntegerField(default=1, help_text="Counts the rules that this stage has had.")
    input = models.JSONField(
        default=dict,
        help_text="Where items come from without a word of the recipe's steps: stage, each; empty where steps say it.",
    )
    items_per_hit = models.PositiveSmallIntegerField(
        default=1, help_text="Items that one HIT asks about, for one reward."
    )
    draws = models.PositiveIntegerField(default=0, help_text="Items that a draw brings by default; 0: none is drawn.")
    grants = models.SlugField(
        max_length=60,
        blank=True,
        db_index=False,
        help_text="A qualification that everybody gets who has answered here.",
    )
    quality = models.JSONField(default=dict, help_text="The blocking policy; empty for none.")
    not_workers_of = models.JSONField(
        default=list, help_text="Keys of stages whose workers are excluded, item by item."
    )
    screening_share = models.FloatField(
        default=0,
        db_default=0,
        help_text="Above 0 it is a test: who has that share of a HIT's known answers right passes.",
    )
    practice_items = models.PositiveSmallIntegerField(
        default=0, db_default=0, help_text="Of a test: items with feedback before it, for each worker."
    )
    screening_retries = models.PositiveSmallIntegerField(default=0, db_default=0, help_text="After a test was failed.")
    screening_hours = models.PositiveSmallIntegerField(default=24, db_default=24, help_text="Until another try.")
    page_language = models.CharField(
        max_length=2,
        blank=True,
        default="",
        db_default="",
        help_text="Of buttons and hints on the workers' page: en, de or es; empty: that of the worker's browser.",
    )
    text_evidence = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Pages count what is typed and pasted, and texts are compared; workers are told.",
    )
    suggestions = models.CharField(
        max_length=6,
        choices=Suggestions.choices,
        default=Suggestions.HIDDEN,
        db_default=Suggestions.HIDDEN,
        help_text="Whether workers see what a model suggests for an item.",
    )
    auto_publish = models.BooleanField(
        default=True, help_text="Items that arrive from the stage before go out by themselves."
    )
    auto_block = models.BooleanField(
        default=False, help_text="The check after every so many answers blocks by itself; else a lead does."
    )
    advance_approved = models.BooleanField(
        default=True, help_text="Where a lead approves answers: only approved ones go on to later stages."
    )
    hit_type_id = models.CharField(max_length=64, blank=True, help_text="Of the next HITs; empty until it is made.")
    earlier_hit_types = models.JSONField(
        default=list, help_text="Those of HITs that were published before the reward, a time or a requirement changed."
    )
    events_to = models.CharField(max_length=500, blank=True, help_text="Where the marketplace sends its events.")
    swept_at = models.DateTimeField(null=True, help_text="When the list of reviewable HITs was last read.")
    idle_sweeps = models.PositiveSmallIntegerField(default=0, help_text="Readings in a row that told nothing new.")
    quality_checked_at = models.PositiveIntegerField(default=0, help_text="Scored answers at the last quality check.")
    # Of the person who asks; there where the rows came through `visible_to`.
    role: str

    objects = StageQuerySet.as_manager()

    class Meta:
        ordering = ["project", "position"]
        constraints = [
            models.UniqueConstraint("project", "key", name="stage_key_once_a_project"),
            models.CheckConstraint(condition=models.Q(reward__gte=0), name="stage_reward_not_negative"),
        ]

    def __str__(self) -> str:
        return f"{self.project} / {self.title}"

    @property
    def approval_hours(self) -> int:
        """The time for a lead as workers read it: never shorter than it is."""
        return -(-self.auto_approval_seconds // 3600)

    @property
    def state_shown(self) -> str:
        """Its state; of a live stage "finished" where nothing of it is to be published, answered or decided."""
        return FINISHED if self.state == Stage.State.LIVE and self.summary.is_finished else self.state

    @property
    def state_in_words(self) -> str:
        return "Finished" if self.state_shown == FINISHED else Stage.State(self.state).label

    @property
    def screening_mark(self) -> int:
        """The percentage of right answers with which workers pass, where the stage is a test."""
        return round(100 * self.screening_share)

    @property
    def answers_at_most(self) -> int:
        """The answers that an item can want."""
        return self.most_answers or self.answers

    @property
    def hit_types(self) -> list[str]:
        """All that were made for this stage, oldest first."""
        # The marketplace gives equal values the same type again.
        return list(dict.fromkeys(found for found in (*self.earlier_hit_types, self.hit_type_id) if found))

    @property
    def numbered(self) -> str:
        """The title with the stage's number; one without a crowd has none."""
        return f"{self.position} {self.title}" if self.crowd else self.title


def to_come(moment: datetime | None) -> datetime | None:
    """None where it is past."""
    return moment if moment and moment > timezone.now() else None


class StageSummary(models.Model):
    """Figures of a stage, recomputed from the rows by the verb that changed them.

    Pages read this one row, so their cost does not grow with the batch.
    """

    stage = models.OneToOneField(Stage, on_delete=models.CASCADE, related_name="summary")
    items = models.PositiveIntegerField(default=0)
    waiting = models.PositiveIntegerField(default=0, help_text="Imported, not published.")
    published = models.PositiveIntegerField(default=0, help_text="Items that have or had a HIT.")
    open = models.PositiveIntegerField(default=0, help_text="At the marketplace, no verdict yet.")
    again = models.PositiveIntegerField(default=0, help_text="Of the open ones: need another answer published.")
    answered = models.PositiveIntegerField(default=0, help_text="Items with at least one answer that counts.")
    kept = models.PositiveIntegerField(default=0)
    dropped = models.PositiveIntegerField(default=0)
    withdrawn = models.PositiveIntegerField(default=0, help_text="Made from an answer that does not count.")
    check_questions = models.PositiveIntegerField(default=0, help_text="Published or not; not among the items.")
    answers = models.PositiveIntegerField(default=0, help_text="Harvested and imported.")
    imported = models.PositiveIntegerField(default=0, help_text="Of the answers: came with files of results.")
    to_review = models.PositiveIntegerField(default=0)
    invalid = models.PositiveIntegerField(default=0, help_text="Answers that the protocol refused.")
    rejected = models.PositiveIntegerField(default=0, help_text="Answers that stand rejected.")
    held = models.PositiveIntegerField(default=0, help_text="Answers that do not count until a lead approves them.")
    reported = models.PositiveIntegerField(default=0, help_text="Answers with a report or a comment.")
    reported_told = models.PositiveIntegerField(
        default=0, db_default=0, help_text="Of the reported ones, so many are in notices."
    )
    taken_back = models.PositiveIntegerField(
        default=0, db_default=0, help_text="Rejections that the marketplace took back, as after a dispute."
    )
    taken_back_told = models.PositiveIntegerField(
        default=0, db_default=0, help_text="Of the ones taken back, so many are in notices."
    )
    finished_told = models.BooleanField(
        default=False, db_default=False, help_text="Webhooks were told that the stage is finished."
    )
    scored = models.PositiveIntegerField(default=0)
    correct = models.PositiveIntegerField(default=0)
    median_seconds = models.FloatField(null=True)
    next_auto_approval = models.DateTimeField(null=True)
    answers_an_hour = models.FloatField(default=0, help_text="Over the last hour in which answers came.")
    timeline = models.JSONField(default=list, help_text="[[ISO hour, answers], ...], oldest first.")
    histogram = models.JSONField(default=list, help_text="20 counts of workers by accuracy, 5 % steps.")
    scores = models.JSONField(default=dict, help_text="em, f1, n where the protocol measures them.")
    conclusions = models.JSONField(default=list, help_text="[[outcome, the rule's own word, items], ...], most first.")
    answers_taken = models.JSONField(
        default=list,
        help_text="[[answers, decided items that wanted so many], ...] where the number grows, fewest first.",
    )
    made = models.JSONField(default=dict, help_text="Where a program makes the items: sums of their figures by name.")
    decided_by_models = models.PositiveIntegerField(
        default=0,
        db_default=0,
        help_text="Items whose standing verdict is that of models, not of people.",
    )
    kept_by_models = models.PositiveIntegerField(
        default=0, db_default=0, help_text="Of the items that models decided, so many are kept."
    )
    terms = models.JSONField(
        default=dict, null=True, help_text="Answers by the version of the project's terms that they name, as text."
    )
    compared_at = models.DateTimeField(null=True, help_text="When the workers were last compared with one another.")
    compared_answers = models.PositiveIntegerField(default=0, help_text="The answers that were there then.")
    updated_at = models.DateTimeField(auto_now=True, help_text="When the figures were counted.")
    count_seconds = models.FloatField(default=0, db_default=0, help_text="How long it took to count them.")
    is_old = models.BooleanField(
        default=False, db_default=False, help_text="Rows have changed since, and the figures wait to be counted again."
    )

    def __str__(self) -> str:
        return f"summary of {self.stage_id}"

    @property
    def approval_to_come(self) -> datetime | None:
        """When the first answer that waits is approved by itself; None while one that was due is not fetched yet."""
        return to_come(self.next_auto_approval)

    @property
    def decided(self) -> int:
        """Items with a verdict."""
        return self.kept + self.dropped

    @property
    def kept_by_people(self) -> int:
        """Kept items of which people's answers say so: a share of the answered ones, as those of models are not."""
        return self.kept - self.kept_by_models

    @property
    def is_finished(self) -> bool:
        """Items are there, and none of what it has is still to be published, answered, approved or rejected."""
        return self.items > 0 and not any(getattr(self, name) for name in UNFINISHED)


class RuleEdition(models.Model):
    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="rule_editions")
    number = models.PositiveIntegerField()
    rule = models.JSONField(help_text="name, version, params.")
    note = models.CharField(max_length=200, blank=True, help_text="Why the lead changed it.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-number"]
        constraints = [models.UniqueConstraint("stage", "number", name="rule_edition_once_a_stage")]

    def __str__(self) -> str:
        return f"rule {self.number} of {self.stage_id}"
