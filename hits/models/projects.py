"""Project > Stage > Item, and the Document that an item asks about."""

from __future__ import annotations

import secrets
from datetime import datetime
from decimal import Decimal

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models.functions import Now
from django.utils import timezone

from hits.models.fields import DollarField

LONGEST_SEARCH = 120
MOST_TAGS, LONGEST_TAG = 10, 30


def new_pseudonym_key() -> str:
    return secrets.token_hex(32)


class ProjectQuerySet(models.QuerySet["Project"]):
    def matching(self, text: str, state: str = "") -> ProjectQuerySet:
        """Those of which each word of the text is in the name, the slug, the recipe, a tag or an owner's name.

        With a state: those that have it. Archived ones are found with the state `archived` alone.
        """
        found = self.filter(archived_at__isnull=state != Project.State.ARCHIVED)
        for word in text[:LONGEST_SEARCH].split():
            owned = Membership.objects.owning().filter(project=models.OuterRef("pk"), user__username__icontains=word)
            columns = ("name", "slug", "recipe", "tags")
            named = models.Q(*((f"{column}__icontains", word) for column in columns), _connector=models.Q.OR)
            found = found.filter(named | models.Exists(owned))
        return found if state in ("", Project.State.ARCHIVED) else found.with_state().filter(models.Q(("state", state)))

    def with_state(self) -> ProjectQuerySet:
        """Each with its `state`, a `Project.State`, which is that of its stages with a crowd.

        It is finished when something came of it and nothing is under way; a stage that takes a sample and has none yet
        is under way too, until a release was made without it. It is paused where a stage is, and none that is live
        has anything under way.
        """
        stages = Stage.objects.filter(project=models.OuterRef("pk"), crowd=True)
        started = stages.filter(~models.Q(state=Stage.State.DRAFT) | models.Q(summary__imported__gt=0))
        columns = (models.Q(**{f"summary__{name}__gt": 0}) for name in UNFINISHED)
        under_way = models.Q(*columns, _connector=models.Q.OR)
        released = self.model.objects.filter(pk=models.OuterRef("pk"), releases__isnull=False)
        finished = (
            models.Exists(stages.filter(summary__items__gt=0))
            & ~models.Exists(stages.filter(under_way))
            & (~models.Exists(stages.filter(draws__gt=0, summary__items=0)) | models.Exists(released))
        )
        paused = models.Exists(stages.filter(state=Stage.State.PAUSED))
        going = models.Exists(stages.filter(under_way, state=Stage.State.LIVE))
        return self.annotate(
            state=models.Case(
                models.When(archived_at__isnull=False, then=models.Value(Project.State.ARCHIVED)),
                models.When(~models.Exists(started), then=models.Value(Project.State.NOT_STARTED)),
                models.When(finished, then=models.Value(Project.State.FINISHED)),
                models.When(paused & ~going, then=models.Value(Project.State.PAUSED)),
                default=models.Value(Project.State.RUNNING),
                output_field=models.CharField(),
            )
        )

    def visible_to(self, user) -> ProjectQuerySet:
        """The projects that the user is a member of, each with the user's `role`; also a superuser sees no others."""
        # The annotation reads the membership that the filter found.
        return self.filter(memberships__user=user).annotate(role=models.F("memberships__role"))


class Project(models.Model):
    class State(models.TextChoices):
        """What `with_state` says of a project."""

        NOT_STARTED = "draft", "Not started"
        RUNNING = "live", "Running"
        PAUSED = "paused", "Paused"
        FINISHED = "finished", "Finished"
        ARCHIVED = "archived", "Archived"

    name = models.CharField(max_length=120)
    slug = models.SlugField(max_length=120, unique=True)
    recipe = models.CharField(max_length=60)
    options = models.JSONField(default=dict, help_text="The recipe's options, such as eval_share.")
    namespace = models.CharField(
        max_length=16, unique=True, help_text="Begins every request token, so that no two installations share one."
    )
    seed = models.BigIntegerField(help_text="Seeds everything that is drawn at random in this project.")
    # Of the answers of test, too, it decides the order.
    pseudonym_key = models.CharField(
        max_length=64,
        default=new_pseudonym_key,
        help_text="Workers' pseudonyms are made with it. Never published: whoever has it can try ids until one fits.",
    )
    contact_email = models.EmailField(help_text="Shown to workers on every task page.")
    mapping = models.JSONField(
        default=dict,
        help_text="The column of an imported file by field, as it was confirmed last; empty for a field left out.",
    )
    tags = models.CharField(
        max_length=MOST_TAGS * (LONGEST_TAG + 1), blank=True, help_text="Words to find it by, in their order, spaced."
    )
    card = models.JSONField(
        default=dict, help_text="What a lead states for the card of releases; see hits.domain.release_cards."
    )
    is_sample = models.BooleanField(
        default=False, db_default=False, help_text="Made to look at: a simulated crowd of a sandbox may answer it."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    archived_at = models.DateTimeField(null=True, help_text="Since when nothing in it changes; empty: it is in use.")

    # Of the person who asks; there where the rows came through `visible_to`.
    role: str
    # There where the rows came through `with_state`.
    state: str

    objects = ProjectQuerySet.as_manager()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def state_in_words(self) -> str:
        return Project.State(self.state).label

    @property
    def is_archived(self) -> bool:
        return self.archived_at is not None

    @property
    def owners(self) -> models.QuerySet[User]:
        """The people with the role owner, by name."""
        owning = Membership.objects.owning().filter(project=self)
        return get_user_model().objects.filter(pk__in=owning.values("user")).order_by("username")


class MembershipQuerySet(models.QuerySet["Membership"]):
    def owning(self) -> MembershipQuerySet:
        return self.filter(role=Membership.Role.OWNER)


class Membership(models.Model):
    """What one person is in one project. `hits.domain.roles` says what each role may do."""

    class Role(models.TextChoices):
        OWNER = "owner", "Owner"
        MANAGER = "manager", "Manager"
        REVIEWER = "reviewer", "Reviewer"
        READER = "reader", "Reader"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="memberships", db_index=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=8, choices=Role.choices)
    since = models.DateTimeField(auto_now_add=True)
    notices_seen_at = models.DateTimeField(
        default=timezone.now, db_default=Now(), help_text="The person has seen the project's notices up to then."
    )

    may_budget = DollarField(
        default=0,
        db_default=Decimal(0),
        help_text="How high somebody who is no owner may set the project's budget, $; 0: not at all.",
    )

    objects = MembershipQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint("project", "user", name="member_once_a_project")]

    def __str__(self) -> str:
        return f"{self.user_id} is {self.role} of {self.project_id}"


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


# Columns of a stage's summary: what is still to be published, answered, approved or rejected.
UNFINISHED = ("waiting", "open", "to_review", "held")


class StageSummary(models.Model):
    """Figures of a stage, recomputed from the rows by the flow module that changed them.

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


class Item(models.Model):
    """One unit to be judged or written.

    In the state "check" it is a check question, published or not: its known answer shows how good workers are, it has
    no verdict, and it is in no release. `hits.domain.check_questions` alone makes one of an item, before it has a HIT.
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
