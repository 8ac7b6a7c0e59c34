"""Accounts that were made through an invitation: they start no projects, for a project can spend the group's money."""

from __future__ import annotations

from django.contrib.auth.models import User

from hits.projects.models import Guest
from hits.refusals import Refused


def may_start_projects(user: User) -> bool:
    return not Guest.objects.filter(user=user).exists()


def refuse_guest(user: User) -> None:
    """Raises Refused (guest)."""
    if not may_start_projects(user):
        raise Refused(
            "guest",
            f"The account {user.get_username()} was made through an invitation and starts no projects. Whoever runs "
            f"this server allows it: manage.py create_lead {user.get_username()} --allow",
            status=403,
        )
