"""Projects, their members, and invitations to them."""

from __future__ import annotations

import secrets
from decimal import Decimal

from django.apps import apps
from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from hits.core.models.fields import DollarField

LONGEST_SEARCH = 120
MOST_TAGS, LONGEST_TAG = 10, 30
# Columns of a stage's summary: what is still to be published, answered, approved or rejected.
UNFINISHED = ("waiting", "open", "to_review", "held")


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
        # The module of stages imports this one.
        Stage = apps.get_model("hits", "Stage")
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
        default=dict, help_text="What a lead states for the card of releases; see hits.releases.rules.release_cards."
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

    def with_users(self) -> MembershipQuerySet:
        """By name."""
        return self.select_related("user").order_by("user__username")


class Membership(models.Model):
    """What one person is in one project. `hits.core.roles` says what each role may do."""

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


class InvitationQuerySet(models.QuerySet["Invitation"]):
    def living(self) -> InvitationQuerySet:
        """Those that can be accepted at this moment."""
        return self.filter(used_at=None, revoked_at=None, expires_at__gt=timezone.now())

    def ended(self) -> InvitationQuerySet:
        return self.filter(~Q(used_at=None) | ~Q(revoked_at=None) | Q(expires_at__lte=timezone.now()))


class Invitation(models.Model):
    """Whoever has its link may become a member, once. Only the link's digest is kept."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="invitations")
    role = models.CharField(max_length=8, choices=Membership.Role.choices)
    email = models.EmailField(blank=True, help_text="Where the link was sent; empty: an owner handed it over.")
    digest = models.CharField(max_length=64, unique=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)
    used_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    revoked_at = models.DateTimeField(null=True)

    objects = InvitationQuerySet.as_manager()

    def __str__(self) -> str:
        return f"invitation {self.pk} into {self.project_id}"


class Guest(models.Model):
    """An account that an invitation made: it works in the projects that let it in and starts none of its own."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="guest")
    since = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"guest {self.user_id}"
