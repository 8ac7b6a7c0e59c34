import secrets

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from common.second_factor import RecoveryCodeRow
from common.sessions import SessionRow
from common.tries import TriesRow
from marketplace.models.accounts import Worker
from marketplace.models.hits import HitType
from marketplace.models.qualifications import QualificationType


def invitation_token() -> str:
    """192 random bits, fit for an address."""
    return secrets.token_urlsafe(24)


class Invitation(models.Model):
    """A link by which people may sign up. Without `uses` it serves any number, without `expires_at` for good."""

    token = models.CharField(max_length=64, unique=True, default=invitation_token)
    note = models.CharField(max_length=200, blank=True)
    # Only this address may join, when there is one.
    email = models.EmailField(blank=True)
    uses = models.PositiveIntegerField(null=True, blank=True, default=1)
    used = models.PositiveIntegerField(default=0)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    # Granted to whoever joins.
    qualification_type = models.ForeignKey(
        QualificationType, models.SET_NULL, null=True, blank=True, related_name="invitations"
    )
    qualification_value = models.IntegerField(default=1)
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="invitation_used_within_uses", condition=Q(uses__isnull=True) | Q(used__lte=F("uses"))
            )
        ]

    def __str__(self) -> str:
        return self.note or f"Invitation {self.pk}"

    @property
    def url(self) -> str:
        return f"{settings.MARKETPLACE_PUBLIC_URL}/join/{self.token}/"


class Panel(models.Model):
    """Where people are recruited: its link brings them in, its completion address takes them back.

    The addresses may hold {outside_id} and the name of any parameter that came with the person.
    """

    slug = models.SlugField(max_length=50, unique=True)
    name = models.CharField(max_length=100)
    # The parameter of the link that carries the outside id.
    parameter = models.CharField(max_length=50, default="PARTICIPANT_ID")
    # The parameter whose new value begins another visit; empty: another begins after the end of the last only.
    visit_parameter = models.CharField(max_length=50, default="SESSION_ID", blank=True)
    terms = models.TextField()
    hit_type = models.ForeignKey(HitType, models.SET_NULL, null=True, blank=True, related_name="panels")
    country = models.CharField(max_length=2, blank=True)
    completion_url = models.CharField(max_length=1000)
    screened_out_url = models.CharField(max_length=1000, blank=True)
    # After so many HITs the person is done; without a number, when the person says so.
    finish_after = models.PositiveIntegerField(null=True, blank=True)
    # Whether HITs count that the requester approved; else those that were submitted, whatever was in them.
    counts_approved = models.BooleanField(default=True, db_default=False)
    # When set, a link counts only with `sig`: see marketplace.rules.panels.sign.
    secret = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return self.name

    @property
    def url(self) -> str:
        """The link to give to the panel; the panel puts the person's id at its end."""
        return f"{settings.MARKETPLACE_PUBLIC_URL}/panel/{self.slug}/?{self.parameter}="


class PanelEntry(models.Model):
    """One person of a panel and the account made for that person. The outside id is personal data."""

    panel = models.ForeignKey(Panel, models.PROTECT, related_name="entries")
    worker = models.OneToOneField(Worker, models.CASCADE, related_name="panel_entry")
    outside_id = models.CharField(max_length=200)
    # Where links are not signed: a hash of the cookie of the browser that comes in with this id. Empty: the next one.
    browser_key = models.CharField(max_length=64, blank=True, default="", db_default="")
    # The ids of the visits that links began, newest last; those that a signature left out do not count.
    visits = models.JSONField(default=list)
    # What else the link carried, such as a study's id; it goes back with the completion address.
    parameters = models.JSONField(default=dict)
    consented_at = models.DateTimeField()
    last_seen_at = models.DateTimeField()
    # The visit under way: when the link began it (empty: the first one), and what the worker had submitted before.
    came_at = models.DateTimeField(null=True, blank=True)
    submitted_before = models.PositiveIntegerField(default=0)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["panel", "outside_id"], name="one_account_per_person_of_a_panel")
        ]

    def __str__(self) -> str:
        return f"{self.panel_id} {self.worker_id}"


class Attempts(TriesRow):
    """Tries of signing in, signing up, asking for letters and the like."""


class OperatorSession(SessionRow):
    """A browser in which an operator is signed in. Of workers' sessions nothing is kept."""


class RecoveryCode(RecoveryCodeRow):
    """Signs an operator in, once, in the place of a code of the app."""


class Letter(models.Model):
    """An e-mail about an account that still has to go out; gone, or given up, it is deleted."""

    worker = models.ForeignKey(Worker, models.CASCADE, related_name="letters")
    address = models.EmailField()
    subject = models.CharField(max_length=200)
    text = models.TextField()
    due_at = models.DateTimeField(db_index=True)
    attempts = models.PositiveSmallIntegerField(default=0)

    def __str__(self) -> str:
        return self.subject
