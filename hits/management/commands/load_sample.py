"""Projects to look at on a laptop: `manage.py load_sample`. Running it again goes on where it broke off."""

from __future__ import annotations

import json
import os
import time
from argparse import ArgumentParser
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from common.configuration import is_home
from hits import tasks
from hits.accounts.models import token_digest
from hits.accounts.verbs import api_tokens
from hits.core.jobs import queue
from hits.items.verbs import importing
from hits.models import ApiToken, Batch, Project, Upload
from hits.mturk.errors import MarketplaceError
from hits.payments.rules import wages
from hits.projects.jobs import sample_crowd
from hits.projects.verbs import projects
from hits.publishing.verbs import publishing, sending
from hits.refusals import Refused
from hits.releases.verbs import withdrawing
from hits.stages.verbs import stage_settings
from hits.workers.rules.project_qualifications import own
from hits.workers.verbs import blocking

SAMPLES = settings.ROOT / "samples"
BUDGET = Decimal("50.00")
LEAD = "lead"
# Where the command line looks for a server of this machine: annotate_client/cli/session.py.
LOCAL_LOGIN, TOKEN_NAME = "command-line.json", "command line on this machine"
# The files are small; a busy machine is slow.
IMPORT_SECONDS = 120
# Known to everybody who can read this, so it is good for this machine alone: `_refuse_in_earnest`.
PASSWORD = "lead-sample-password"


@dataclass(frozen=True)
class Sample:
    """A project of a recipe with a file of our own writing; `changed` are other values of its first stage."""

    name: str
    recipe: str
    file: Path
    # Simulated people are faster than people, and so is who only looks.
    least_seconds: int
    changed: Mapping[str, Any] = field(default_factory=dict)
    description: str = ""


LIVE = Sample("Sample: harbour news", "record", SAMPLES / "record.jsonl", least_seconds=5)
FINISHED = Sample(
    "Sample: letters to a ferry line",
    "choice",
    SAMPLES / "messages.csv",
    least_seconds=0,
    changed={
        "answers": 5,
        "hit_title": "Say what a short letter to a ferry line is about",
        "quality": {"check_every": 5, "min_answers": 8, "floor": 0.5, "alpha": 0.01},
    },
    description="48 invented letters to a ferry line, each sorted by five simulated workers. Nobody was asked.",
)


class Command(BaseCommand):
    help = "Create the lead 'lead' (password SAMPLE_LEAD_PASSWORD) and a published sample project, if not there yet."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--least-seconds", type=int, help="what its tasks ask for; 0 where a simulated crowd works")
        parser.add_argument(
            "--finished", action="store_true", help="and a second one, which a simulated crowd answers to its end"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        _refuse_in_earnest()
        user = lead()
        self.stdout.write(f"The command line signs in as {LEAD} by {leave_token(user)}.")
        project, batch = _load(LIVE, user, options["least_seconds"])
        self.stdout.write(f"{project.name}: {project.documents.count()} news texts. {_said(batch)}")
        if options["finished"]:
            project, batch = _load(FINISHED, user)
            self.stdout.write(f"{project.name}: {project.documents.count()} letters. {_finish(project, batch)}")


def _load(sample: Sample, user: User, least_seconds: int | None = None) -> tuple[Project, Batch]:
    project = _project(sample, user, sample.least_seconds if least_seconds is None else least_seconds)
    _import(project, sample, user)
    return project, _publish(project, user)


def _refuse_in_earnest() -> None:
    if not settings.DEBUG:
        raise CommandError("The sample has a known password, so it is for DEBUG=True only.")
    if not is_home(settings.PUBLIC_URL):
        raise CommandError(
            f"The sample has a known password, so it is for this machine only, not for {settings.PUBLIC_URL}."
        )


def lead() -> User:
    """Their owner, made where there is none."""
    # With the account's password or not at all: without one, nobody could ever sign in.
    with transaction.atomic():
        user, is_new = get_user_model().objects.get_or_create(username=LEAD)
        if is_new:
            user.set_password(os.environ.get("SAMPLE_LEAD_PASSWORD") or PASSWORD)
            user.save(update_fields=["password"])
    return user


def leave_token(user: User) -> Path:
    """The file by which the command line on this machine signs in as this person, with a token that may pay. It is made
    anew where it is missing, or its token or the server's address are others by now.
    """
    file = settings.DATA_DIR / LOCAL_LOGIN
    kept = json.loads(file.read_text()) if file.exists() else {}
    is_known = ApiToken.objects.living().filter(user=user, digest=token_digest(kept.get("token", ""))).exists()
    if not is_known or kept["address"] != settings.PUBLIC_URL:
        for row in user.api_tokens.filter(name=TOKEN_NAME):
            api_tokens.revoke_token(user, row.pk)
        _, token = api_tokens.make_token(user, TOKEN_NAME, ApiToken.Scope.PAY, api_tokens.MOST_DAYS)
        file.unlink(missing_ok=True)
        # Nobody else on this machine may read it, from its first moment.
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as target:
            json.dump({"address": settings.PUBLIC_URL, "token": token}, target)
    return file


def _project(sample: Sample, user: User, least_seconds: int) -> Project:
    """The recipe pays what was paid in 2018; a sample pays what a lead should."""
    found = Project.objects.filter(name=sample.name, memberships__user=user).first()
    if found is None:
        found = projects.create_project(
            sample.name, sample.recipe, BUDGET, "lead@annotate.invalid", user, seed=1, limited=False
        )
    if not Batch.objects.filter(stage__project=found).exists():
        _set_up(found, sample, least_seconds)
    return found


def _set_up(project: Project, sample: Sample, least_seconds: int) -> None:
    Project.objects.filter(pk=project.pk).update(is_sample=True)
    for stage in project.stages.filter(crowd=True):
        # Whoever tries it has just signed up: no approved answers yet, and perhaps no country.
        wanted: dict[str, Any] = {"requirements": own(stage.requirements)}
        if time := wages.answer_time(stage):
            fair = max(stage.reward, time.reward_for(wages.wage_floor(stage)))
            wanted["reward"] = f"{fair:.2f}"
        stage_settings.change(stage, wanted, None, confirmed=wanted)
    if sample.changed:
        stage = project.stages.get(position=1)
        stage_settings.change(stage, sample.changed, None, confirmed=sample.changed)
        blocking.block_by_itself(stage, True, None)
    if sample.description:
        withdrawing.change_card(project, {"licence": "CC0-1.0", "description": sample.description}, None)
    projects.want_seconds(project, least_seconds)


def _import(project: Project, sample: Sample, user: User) -> None:
    """What an earlier run began it goes on with."""
    if project.documents.exists():
        return
    upload = project.uploads.filter(state__in=[*Upload.RUNNING, Upload.State.DONE]).first() or importing.create_upload(
        project, sample.file.name, sample.file.read_bytes(), "public", user
    )
    importing.import_upload(upload.pk)
    _wait_for(upload)


def _wait_for(upload: Upload) -> None:
    """A worker may have taken up what an earlier run left. Raises CommandError."""
    end = time.monotonic() + IMPORT_SECONDS
    while True:
        upload.refresh_from_db()
        if upload.state == Upload.State.DONE:
            return
        if not upload.is_running or time.monotonic() > end:
            raise CommandError(f"{upload.name}: {upload.get_state_display()}. {upload.error} Start it again.")
        time.sleep(0.2)


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


def _finish(project: Project, batch: Batch) -> str:
    """Queue what a simulated crowd and a release still lack."""
    if project.releases.exists():
        return "Answered and released."
    try:
        sample_crowd.refuse_without_accounts()
    except Refused as refusal:
        return f"{_said(batch)} {refusal}"
    if not queue.start(tasks.finish_sample, project.pk):
        return f"{_said(batch)} The job queue does not answer: a simulated crowd answers them when it is back."
    return "A simulated crowd answers them now, which takes some minutes; a release follows."
