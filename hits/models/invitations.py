"""Invitations into a project, and the accounts that were made through one."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from hits.models.projects import Membership, Project


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
