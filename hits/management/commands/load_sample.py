"""A project to look at on a laptop: `manage.py load_sample`. Running it again changes nothing."""

from __future__ import annotations

import os
from argparse import ArgumentParser
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from common.configuration import is_home
from hits.domain import wages
from hits.flow.pipeline import importing, publishing, sending
from hits.flow.setup import projects, stage_settings
from hits.models import Batch, Project, Upload
from hits.mturk.errors import MarketplaceError

NAME = "Sample: harbour news"
FILE = settings.ROOT / "samples" / "record.jsonl"
BUDGET = Decimal("50.00")
LEAD = "lead"
# Known to everybody who can read this, so it is good for this machine alone: `_refuse_in_earnest`.
PASSWORD = "lead-sample-password"


class Command(BaseCommand):
    help = "Create the lead 'lead' (password SAMPLE_LEAD_PASSWORD) and a published sample project, if not there yet."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--least-seconds", type=int, help="what its tasks ask for; 0 where a simulated crowd works")

    def handle(self, *args: Any, **options: Any) -> None:
        _refuse_in_earnest()
        user = _lead()
        project = _project(user)
        if options["least_seconds"] is not None:
            projects.want_seconds(project, options["least_seconds"])
        _import(project, user)
        batch = _publish(project, user)
        self.stdout.write(f"{NAME}: {project.documents.count()} news texts. {_said(batch)}")


def _refuse_in_earnest() -> None:
    if not settings.DEBUG:
        raise CommandError("The sample has a known password, so it is for DEBUG=True only.")
    if not is_home(settings.PUBLIC_URL):
        raise CommandError(
            f"The sample has a known password, so it is for this machine only, not for {settings.PUBLIC_URL}."
        )


def _lead() -> User:
    user, is_new = get_user_model().objects.get_or_create(username=LEAD)
    if is_new:
        user.set_password(os.environ.get("SAMPLE_LEAD_PASSWORD") or PASSWORD)
        user.save(update_fields=["password"])
    return user


def _project(user: User) -> Project:
    """The recipe pays what was paid in 2018; a sample pays what a lead should."""
    found = Project.objects.filter(name=NAME, memberships__user=user).first()
    if found is None:
        found = projects.create_project(NAME, "record", BUDGET, "lead@annotate.invalid", user, seed=1)
        for stage in found.stages.all():
            if time := wages.answer_time(stage):
                fair = max(stage.reward, time.reward_for(wages.wage_floor(stage)))
                stage_settings.change(stage, {"reward": f"{fair:.2f}"}, None)
    return found


def _import(project: Project, user: User) -> None:
    """What an earlier run began it goes on with."""
    if project.documents.exists():
        return
    upload = project.uploads.filter(state__in=[*Upload.RUNNING, Upload.State.DONE]).first() or importing.create_upload(
        project, FILE.name, FILE.read_bytes(), "public", user
    )
    importing.import_upload(upload.pk)


def _publish(project: Project, user: User) -> Batch:
    """Publish everything once and send it here and now: no worker has to run."""
    stage = project.stages.get(position=1)
    confirmation = f"sample:{project.pk}"
    batch = Batch.objects.filter(confirmation=confirmation).first()
    if batch is None:
        quote = publishing.quote(stage)
        batch = publishing.publish(stage, quote.items, quote.total, confirmation, user)
    if batch.state in (Batch.State.PUBLISHING, Batch.State.WAITING):
        _send(batch)
        batch.refresh_from_db()
    return batch


def _send(batch: Batch) -> None:
    try:
        sending.send(batch.pk)
    except MarketplaceError as error:
        raise CommandError(f"The sample is imported, but could not be published: {error}") from error


def _said(batch: Batch) -> str:
    if batch.state == Batch.State.PUBLISHED:
        return f"{batch.done} HITs published."
    return f"{batch.done} of {batch.total} HITs published, the rest later: {batch.message}"
