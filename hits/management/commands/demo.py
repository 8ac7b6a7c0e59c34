"""The requester's part of `make demo`, one step a process: `manage.py demo STEP`."""

from __future__ import annotations

import json
import shutil
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from dataclasses import asdict
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError
from django.db.models import Exists, OuterRef

from common.configuration import is_home
from hits.answers.rules.eligibility import ELIGIBLE
from hits.answers.verbs import reviewing
from hits.core.jobs import queue
from hits.crowd.scaling import numbers_for
from hits.formats.files.faults import counted
from hits.items.verbs import importing, sampling
from hits.judging.rules.required_answers import waiting
from hits.judging.verbs import computing
from hits.management.commands import load_sample
from hits.models import (
    Assignment,
    Batch,
    Block,
    ComputationRun,
    Hit,
    Item,
    Project,
    QualificationTest,
    Stage,
    Upload,
    Verdict,
)
from hits.projects.verbs import projects
from hits.publishing.verbs import publishing
from hits.releases.rules import release_folders
from hits.releases.verbs import evaluating, releasing
from hits.tasks import compute, finish_reviews, import_upload, publish_arrivals, publish_batch
from hits.workers.verbs import blocking, granting, qualification_tests

LOOK_SECONDS = 1.0
SAY_SECONDS = 5.0
# Of a terminal: to the beginning of the line, which is emptied.
FROM_THE_LEFT = "\r\033[2K"
# A busy machine is slow, and what moves comes to its end: given up is only what has not moved for so long.
UNCHECKED_SECONDS = 20
PATIENCE_SECONDS = 600.0


class Patience:
    """Ends when what is waited for has not moved for so many seconds."""

    def __init__(self, seconds: float = PATIENCE_SECONDS) -> None:
        self.seconds = seconds
        self._sign: object = None
        self._end = time.monotonic() + seconds

    def is_over(self, sign: object) -> bool:
        """`sign` differs from the last one where something has moved."""
        if sign != self._sign:
            self._sign, self._end = sign, time.monotonic() + self.seconds
        return time.monotonic() > self._end


class Command(BaseCommand):
    help = "Start a demonstration project, wait until its crowd is through, release it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        steps = parser.add_subparsers(dest="step", required=True)
        start = steps.add_parser("start")
        start.add_argument("input", type=Path)
        start.add_argument("--recipe", default="record")
        start.add_argument("--options", type=json.loads, default={}, help="the recipe's options that differ, as JSON")
        start.add_argument("--seed", type=int, default=7)
        start.add_argument("--budget", type=Decimal, default=Decimal("1000.00"))
        start.add_argument("--answers", type=int, help="how many workers do each item of the first stage")
        start.add_argument("--grants", type=json.loads, default={}, help="worker ids by qualification, as JSON")
        start.add_argument("--only-import", action="store_true", help="publish nothing yet: a program makes the items")
        send = steps.add_parser("send")
        send.add_argument("project", type=int)
        wait = steps.add_parser("wait")
        wait.add_argument("project", type=int)
        wait.add_argument("--seconds", type=float, default=PATIENCE_SECONDS, help="give up when nothing moves so long")
        compute = steps.add_parser("compute")
        compute.add_argument("project", type=int)
        compute.add_argument("computation")
        compute.add_argument("--params", type=json.loads, default={}, help="parameters that differ, as JSON")
        draw = steps.add_parser("draw")
        draw.add_argument("project", type=int)
        draw.add_argument("stage")
        release = steps.add_parser("release")
        release.add_argument("project", type=int)
        release.add_argument("folder", type=Path)
        baselines = steps.add_parser("baselines", help="of the newest release")
        baselines.add_argument("project", type=int)

    def handle(self, *args: Any, **options: Any) -> None:
        steps: dict[str, Callable[[dict[str, Any]], None]] = {
            "start": self._start,
            "send": self._send,
            "wait": self._wait,
            "compute": self._compute,
            "draw": self._draw,
            "release": self._release,
            "baselines": self._baselines,
        }
        steps[options["step"]](options)

    def _start(self, options: dict[str, Any]) -> None:
        """Prints JSON: project, slug, namespace, items, price, and the first stage's numbers."""
        user = _lead()
        project = projects.create_project(
            f"Demonstration {options['seed']}",
            options["recipe"],
            options["budget"],
            "lead@annotate.invalid",
            user,
            options=options["options"],
            seed=options["seed"],
            limited=False,
        )
        _offer_tests(project)
        # The simulated people are faster than people.
        projects.want_seconds(project, 0)
        # Who took up a HIT before the qualification came that closes it to them is paid soon, and does not count.
        project.stages.update(unchecked_answers=1000)
        project.stages.filter(approval=Stage.Approval.AUTOMATIC).update(auto_approval_seconds=UNCHECKED_SECONDS)
        upload = importing.create_upload(project, options["input"].name, options["input"].read_bytes(), "public", user)
        queue.start(import_upload, upload.pk)
        items = _imported(upload)
        report = {"project": project.pk, "slug": project.slug, "namespace": project.namespace}
        report |= {"items": items, "notes": upload.notes}
        if not options["only_import"]:
            report |= self._publish(project, user, items, options)
        self.stdout.write(json.dumps(report))

    def _send(self, options: dict[str, Any]) -> None:
        """Draw all that was made into the first stage with a crowd, and publish it. Prints JSON as start does."""
        project = Project.objects.get(pk=options["project"])
        items = sampling.draw(project.stages.get(position=1), sampling.ALL)
        report = self._publish(project, _lead(), items, {"answers": None, "grants": {}})
        self.stdout.write(json.dumps({"items": items, **report}))

    def _publish(self, project: Project, user: User, items: int, options: dict[str, Any]) -> dict[str, Any]:
        first = project.stages.get(position=1)
        # Other numbers are for answers that are compared with references.
        numbers = numbers_for(items) if first.quality else None
        if numbers:
            projects.want_answers(first, numbers.answers, numbers.need)
            project.stages.exclude(quality={}).update(quality=asdict(numbers.policy))
        elif options["answers"]:
            projects.want_answers(first, options["answers"], options["answers"])
        for key, workers in options["grants"].items():
            granting.grant(project, key, workers, user)
        # Those that the import brought items for and that people are asked in.
        with_items = project.stages.filter(Exists(Item.objects.filter(stage=OuterRef("pk"))), crowd=True)
        price = sum((_publish(stage, user) for stage in list(with_items.order_by("position"))), Decimal(0))
        if not Hit.objects.filter(stage__project=project).exists():
            # The crowd would wait for work that never comes.
            name = project.uploads.values_list("name", flat=True).first()
            raise CommandError(f"Nothing was published: the import of {name} brought no item that could be.")
        return {
            "answers": first.answers,
            "need": first.rule["params"].get("need"),
            "numbers": numbers.in_words() if numbers else "",
            "price": str(price),
        }

    def _wait(self, options: dict[str, Any]) -> None:
        project = Project.objects.get(pk=options["project"])
        patience = Patience(options["seconds"])
        said = 0.0
        while left := list(unfinished(project)):
            _refuse_unpublished(project)
            if patience.is_over((left, *_counts(project))):
                raise CommandError(f"Nothing moved for {options['seconds']:g} seconds: {'; '.join(left)}.")
            _approve(project)
            # What waits for a lead's look goes out.
            for stage in project.stages.filter(crowd=True, auto_publish=False, items__state=Item.State.NEW).distinct():
                queue.start(publish_arrivals, stage.pk)
            if time.monotonic() - said > SAY_SECONDS:
                said = time.monotonic()
                self._say(project)
            time.sleep(LOOK_SECONDS)
        self._say(project, last=True)

    def _say(self, project: Project, *, last: bool = False) -> None:
        """On a terminal one line that is written again and again, and in the end all of them."""
        lines = list(_told(project))
        if not self.stdout.isatty():
            self.stdout.write("\n".join(lines))
        elif last:
            self.stdout.write(FROM_THE_LEFT + "\n".join(lines))
        else:
            width = shutil.get_terminal_size().columns
            self.stdout.write(FROM_THE_LEFT + " ·".join(reversed(lines))[: width - 1], ending="")
        self.stdout.flush()

    def _compute(self, options: dict[str, Any]) -> None:
        """Prints JSON: how many items got a result, whichever process took it up."""
        project = Project.objects.get(pk=options["project"])
        run = computing.start(project, options["computation"], options["params"], _lead())
        queue.start(compute, run.pk)
        self.stdout.write(json.dumps({"items": _computed(run)}))

    def _draw(self, options: dict[str, Any]) -> None:
        """As many as the recipe says, published as they come. Prints JSON: how many."""
        stage = Stage.objects.get(project=options["project"], key=options["stage"])
        drawn = sampling.draw(stage, stage.draws)
        queue.start(publish_arrivals, stage.pk)
        self.stdout.write(json.dumps({"items": drawn}))

    def _release(self, options: dict[str, Any]) -> None:
        """Writes the files; prints JSON: number, whether it is new, digest, counts, notes, scores."""
        project = Project.objects.get(pk=options["project"])
        found, is_new = releasing.release(project, _lead())
        folder = options["folder"]
        for path, blob in release_folders.paths(found, folder.name).items():
            (folder.parent / path).parent.mkdir(parents=True, exist_ok=True)
            (folder.parent / path).write_bytes(blob.read())
        report = {"number": found.number, "is_new": is_new, "digest": found.digest}
        report |= {name: found.manifest[name] for name in ("counts", "left_out", "notes", "scores")}
        self.stdout.write(json.dumps(report))

    def _baselines(self, options: dict[str, Any]) -> None:
        """Prints the table of the recipe's simple systems."""
        release = Project.objects.get(pk=options["project"]).releases.latest("number")
        evaluating.baselines(release, None, None)
        self.stdout.write(release_folders.markdown(release))


def _told(project: Project) -> Iterator[str]:
    """A line for each stage, and one for the project."""
    for stage in project.stages.select_related("summary").filter(summary__items__gt=0):
        found = stage.summary
        words = "".join(f", {count} {word}" for _, word, count in found.conclusions)
        yield (
            f"  {stage.title}: {found.items} items, {found.open} at workers, {found.kept} kept, "
            f"{found.dropped} dropped{words}; {found.answers} answers"
        )
    blocks = project.blocks.standing().count()
    project.account.refresh_from_db()
    account = project.account
    yield f"  {blocks} workers blocked; ${account.paid:,.2f} paid, ${account.reserved:,.2f} reserved"


def _offer_tests(project: Project) -> None:
    """Nobody could answer in a stage whose test is not on offer yet. Raises CommandError."""
    patience = Patience()
    while waiting := list(project.qualification_tests.exclude(state=QualificationTest.State.OFFERED)):
        qualification_tests.finish(project)
        if patience.is_over(None):
            raise CommandError(f"The test {waiting[0].key} could not be offered. {waiting[0].error}")
        if project.qualification_tests.filter(state=QualificationTest.State.OFFERING).exists():
            time.sleep(LOOK_SECONDS)


def _refuse_unpublished(project: Project) -> None:
    """Raises CommandError when all that was to be published was refused, with the marketplace's reason."""
    hits = Hit.objects.filter(stage__project=project)
    if hits.exclude(state=Hit.State.REFUSED).exists():
        return
    said = hits.exclude(error="").values_list("error", flat=True).first() or "There is no HIT."
    raise CommandError(f"Nothing was published. {said}")


def _counts(project: Project) -> tuple[int, ...]:
    """What grows while anything goes on."""
    answers = Assignment.objects.filter(stage__project=project)
    verdicts = Verdict.objects.filter(item__stage__project=project)
    made = Hit.objects.filter(stage__project=project).exclude(hit_id=None)
    return answers.count(), verdicts.count(), made.count(), project.ledger.count()


def _publish(stage: Stage, user: User) -> Decimal:
    """Returns the price, in dollars."""
    quote = publishing.quote(stage)
    batch = publishing.publish(stage, quote.items, quote.total, f"demo:{stage.pk}", user)
    queue.start(publish_batch, batch.pk)
    return quote.total


def _lead() -> User:
    """The lead of the samples on a machine of one's own; elsewhere one without a password, as whom nobody signs in."""
    if settings.DEBUG and is_home(settings.PUBLIC_URL):
        return load_sample.lead()
    user, is_new = get_user_model().objects.get_or_create(username="demonstration")
    if is_new:
        user.set_unusable_password()
        user.save()
    return user


def _imported(upload: Upload) -> int:
    patience = Patience()
    while not patience.is_over((upload.state, upload.done, upload.attempts)):
        upload.refresh_from_db()
        if upload.state == Upload.State.DONE:
            return upload.items
        if upload.state == Upload.State.REFUSED:
            faults = "; ".join(f"line {fault['line']}: {fault['message']}" for fault in upload.faults[:5])
            raise CommandError(f"{upload.name} was refused with {counted(upload.fault_count, 'fault')}. {faults}")
        if not upload.is_running:
            raise CommandError(f"{upload.name}: {upload.get_state_display()}. {upload.error}")
        time.sleep(0.1)
    raise CommandError(
        f"The import of {upload.name} did not move for {patience.seconds:g} seconds: does the worker run?"
    )


def _computed(run: ComputationRun) -> int:
    patience = Patience()
    while not patience.is_over((run.state, run.done, len(run.log))):
        run.refresh_from_db()
        if run.state == ComputationRun.State.DONE:
            return run.items
        if run.state == ComputationRun.State.FAILED:
            raise CommandError(f"{run.key} failed: {run.error}")
        time.sleep(0.1)
    raise CommandError(f"{run.key} stood for {patience.seconds:g} seconds: does the worker run?")


def _approve(project: Project) -> None:
    """What waits for a lead is paid and counts: what was written as it comes, and what did not pass of workers who were
    eligible to give it.
    """
    for stage in project.stages.filter(crowd=True):
        held = stage.assignments.filter(ELIGIBLE, state=Assignment.State.SUBMITTED, decision="", scored=True)
        if reviewing.approve(stage, held.values_list("pk", flat=True), _lead()):
            queue.start(finish_reviews, stage.pk)


def unfinished(project: Project) -> Iterator[str]:
    """What keeps the project from being through, as words."""
    for stage in project.stages.order_by("position"):
        yield from (f"{stage.title}: {what}" for what in _unfinished(stage))
    waits = project.blocks.filter(state__in=[Block.State.INTENDED, Block.State.LIFTING]).count()
    if waits:
        yield f"{waits} blocks not granted yet"


def _unfinished(stage: Stage) -> Iterator[str]:
    counts = {
        "items to be published": len(waiting(stage, None)),
        "items at workers": stage.items.filter(state=Item.State.OPEN).count(),
        "items to be answered again": stage.items.filter(state=Item.State.AGAIN).count(),
        "items to be decided": stage.items.filter(stale=True).count(),
        "HITs open": stage.hits.filter(state__in=[Hit.State.PLANNED, Hit.State.SENT, Hit.State.LIVE]).count(),
        "answers to be scored": stage.assignments.filter(scored=False).count(),
        "answers to be paid": stage.assignments.filter(state=Assignment.State.SUBMITTED).count(),
        "batches to be sent": stage.batches.exclude(state=Batch.State.PUBLISHED).count(),
        "verdicts to be taken up": stage.items.filter(verdicts__superseded_at=None, verdicts__advanced=False).count(),
        "quality check due": int(blocking.is_due(stage)),
    }
    yield from (f"{count} {what}" for what, count in counts.items() if count)
