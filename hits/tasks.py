"""Celery: reload, call one function of `hits.flow`, return a count. The only place where they are chained.

A task may run twice at the same time or again after a crash; every one of these functions allows that.
"""

from __future__ import annotations

import logging

from celery import shared_task
from celery.exceptions import SoftTimeLimitExceeded
from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from hits.domain import drafts, results_forms
from hits.domain.action_log import acting_from
from hits.domain.due_hits import live_stages, unconcluded_stages
from hits.domain.plugins import UNUSABLE
from hits.flow.data import releasing
from hits.flow.payments import auditing, bonuses, compensating, ordering
from hits.flow.people import blocking, comparing, granting, messaging, reviewing, screening, testing
from hits.flow.pipeline import (
    advancing,
    closing,
    computing,
    deciding,
    harvesting,
    importing,
    listening,
    publishing,
    scoring,
    sending,
    topping_up,
)
from hits.flow.setup import own_stages, setting_up
from hits.models import Action, ApiToken, Block, Hit, Project, SignInTries, Stage, Upload
from hits.mturk.errors import MarketplaceError
from hits.mturk.events import EventQueueError

log = logging.getLogger(__name__)
RETRY = {"autoretry_for": (MarketplaceError,), "retry_backoff": 2, "retry_backoff_max": 60, "max_retries": 10}


def _user(pk: int | None) -> User | None:
    return None if pk is None else User.objects.filter(pk=pk).first()


# A worker that does not come back within a minute after its time is killed; the row counts the attempt.
@shared_task(soft_time_limit=settings.IMPORT_SECONDS, time_limit=settings.IMPORT_SECONDS + 60)
def import_upload(upload_pk: int) -> int:
    try:
        return importing.import_upload(upload_pk)
    except SoftTimeLimitExceeded:
        importing.fail(upload_pk, _took_too_long("an import", "Split the file and import its parts."))
        return 0
    finally:
        for pk in importing.waiting_for(upload_pk):
            import_upload.delay(pk)
        for stage in importing.answered_by(upload_pk):
            conclude_stage.delay(stage)


@transaction.atomic
def make_form(upload: Upload, proposal: results_forms.Proposal, title: str, user: User | None) -> Stage | None:
    """Make the proposed questionnaire and let the file, which waits for its columns, be imported into it.

    The stage to which the file was sent becomes it where it was never published nor answered; else a new stage with
    this title asks it about the rows that are there. None for a file that does not wait any more. Raises NoFormError,
    SettingsRefusedError, MappingRefusedError and ArchivedError; then nothing was changed.
    """
    settings_, stage = results_forms.checked(proposal), upload.stage
    assert stage is not None
    if results_forms.can_be_rewritten(stage):
        setting_up.change_task(stage, {"settings": settings_}, user)
    else:
        results_forms.refuse_without_rows(stage)
        table = {"title": title, "protocol": results_forms.FORM, "settings": settings_}
        stage = own_stages.add_stage(stage.project, table, user)
    if not importing.confirm_results(upload, proposal.mapping, stage):
        transaction.set_rollback(True)
        return None
    return stage


@transaction.atomic
def send_in_with_form(
    stage: Stage, name: str, content: bytes, proposal: results_forms.Proposal, title: str, user: User | None
) -> Upload:
    """Keep the file and make the proposed questionnaire, see `make_form`: the import is to be started then."""
    upload = importing.create_results_upload(stage, name, content, user, ask=True)
    make_form(upload, proposal, title or name.rpartition(".")[0][:100] or name[:100], user)
    upload.refresh_from_db()
    return upload


def _took_too_long(what: str, remedy: str) -> str:
    return f"It took more than {settings.IMPORT_SECONDS / 60:,.0f} minutes, the most that {what} may take. {remedy}"


@shared_task
def publish_batch(batch_pk: int) -> int:
    return sending.send(batch_pk)


@shared_task
def harvest_stage(stage_pk: int, sweep: bool = True) -> int:
    """Collect a stage's answers and take them as far as they lead without a person.

    Somebody asked for it: then the list of reviewable HITs is read too, whether or not it is time for that.
    """
    stage = Stage.objects.select_related("project__account").get(pk=stage_pk)
    new = harvesting.harvest(stage, sweep=sweep)
    conclude_stage(stage_pk)
    return new


@shared_task
def fetch_announced(hit_pk: int) -> int:
    """The answers of one HIT whose page has announced one on which other HITs depend; returns how many were new.

    When the marketplace does not answer, the HIT stays due, and `harvest_all` comes back to it.
    """
    hit = Hit.objects.select_related("stage__project__account").filter(pk=hit_pk).first()
    try:
        new = harvesting.harvest_announced(hit) if hit else 0
    except MarketplaceError as error:
        log.warning("HIT %s is fetched later: %s", hit_pk, error)
        return 0
    if hit and new:
        conclude_stage(hit.stage_id)
    return new


@shared_task
def conclude_stage(stage_pk: int) -> int:
    """From harvested answers to verdicts, blocks, further answers and the next stage's items."""
    stage = Stage.objects.select_related("project__account").get(pk=stage_pk)
    try:
        return _conclude(stage)
    except UNUSABLE as error:
        # The pages of the stage and the project say so. What waits goes on when the code can be used again.
        log.warning("%s waits: %s", stage, error)
        return 0


def _conclude(stage: Stage) -> int:
    scoring.score(stage)
    # Before verdicts: until scored answers have led to them, a crash brings this back.
    if granting.grant_for_answers(stage) + screening.grade(stage):
        finish_grants.delay(stage.project_id)
        send_messages.delay(stage.project_id)
    comparing.compare_when_due(stage)
    blocking.check_when_due(stage)
    concluded = deciding.decide(stage)
    if stage.pk in closing.unfinished():
        close_unwanted.delay(stage.pk)
    _top_up(stage)
    if advancing.advance(stage):
        _publish_arrivals(stage)
    compute_statistics(stage.pk)
    return concluded


@shared_task
def close_unwanted(stage_pk: int) -> int:
    """What the marketplace does not answer to stays written down, and `resume_all` comes back to it."""
    stage = Stage.objects.select_related("project__account").get(pk=stage_pk)
    try:
        return closing.close_unwanted(stage)
    except MarketplaceError as error:
        log.warning("HITs of %s stay open for now: %s", stage, error)
        return 0


def _top_up(stage: Stage) -> None:
    batch = topping_up.top_up(stage)
    if batch:
        publish_batch.delay(batch.pk)


def _publish_arrivals(stage: Stage) -> None:
    for later in stage.project.stages.filter(position__gt=stage.position, auto_publish=True):
        publish_arrivals(later.pk)


@shared_task
def publish_arrivals(stage_pk: int) -> int:
    """What came from the stage before goes out by itself; returns how many items."""
    batch = publishing.publish_arrivals(Stage.objects.select_related("project__account").get(pk=stage_pk))
    if batch:
        publish_batch.delay(batch.pk)
    return batch.total if batch else 0


@shared_task
def top_up(stage_pk: int) -> None:
    _top_up(Stage.objects.select_related("project__account").get(pk=stage_pk))


@shared_task
def compare_workers(stage_pk: int) -> int:
    """Where something changed after the last answers were concluded, such as a block."""
    return comparing.compare_when_due(Stage.objects.get(pk=stage_pk))


@shared_task
def finish_blocks(stage_pk: int) -> int:
    """What the marketplace does not answer to stays written down, and `resume_all` comes back to it."""
    stage = Stage.objects.select_related("project").get(pk=stage_pk)
    try:
        done = blocking.finish(stage)
    except MarketplaceError as error:
        log.warning("Blocks of %s wait: %s", stage, error)
        return 0
    conclude_project.delay(stage.project_id)
    return done


@shared_task(**RETRY)
def undo_block(block_pk: int, user_pk: int | None = None, origin: str = Action.Origin.ITSELF) -> None:
    row = Block.objects.select_related("stage__project", "project", "worker").get(pk=block_pk)
    if row.project.is_archived:
        return
    with acting_from(origin):
        blocking.undo(row, _user(user_pk))
    conclude_project.delay(row.project_id)


@shared_task
def finish_grants(project_pk: int) -> int:
    """What the marketplace does not answer to stays written down, and `resume_all` comes back to it."""
    project = Project.objects.get(pk=project_pk)
    try:
        return granting.finish(project)
    except MarketplaceError as error:
        log.warning("Qualifications of %s wait: %s", project, error)
        return 0


@shared_task
def send_messages(project_pk: int) -> int:
    """What the marketplace does not answer to stays written down, and `resume_all` comes back to it."""
    project = Project.objects.get(pk=project_pk)
    try:
        return messaging.send(project)
    except MarketplaceError as error:
        log.warning("Messages of %s wait: %s", project, error)
        return 0


@shared_task
def conclude_project(project_pk: int) -> int:
    """A block changes labels in every stage of its project."""
    stages = Stage.objects.filter(project=project_pk).order_by("position")
    return sum(conclude_stage(pk) for pk in stages.values_list("pk", flat=True))


@shared_task
def finish_reviews(stage_pk: int) -> int:
    """What the marketplace does not answer to stays written down, and `resume_all` comes back to it."""
    stage = Stage.objects.select_related("project__account").get(pk=stage_pk)
    try:
        return reviewing.finish(stage)
    except MarketplaceError as error:
        log.warning("Decisions of %s wait: %s", stage, error)
        return 0
    finally:
        conclude_stage.delay(stage_pk)


@shared_task(soft_time_limit=settings.IMPORT_SECONDS, time_limit=settings.IMPORT_SECONDS + 60)
def work_bonus_file(pk: int) -> None:
    """Check a large file, or order it; what was ordered is paid."""
    try:
        row = ordering.work_file(pk)
    except SoftTimeLimitExceeded:
        ordering.fail_file(pk, _took_too_long("a file of bonuses", "Split the file and order its parts."))
        return
    if row.order_id:
        send_bonuses.delay(row.project_id)


@shared_task
def send_bonuses(project_pk: int) -> int:
    return bonuses.send(Project.objects.select_related("account").get(pk=project_pk))


@shared_task
def send_compensations(project_pk: int) -> int:
    """Offer what is ordered, and look what became of the offers."""
    return compensating.finish(Project.objects.select_related("account").get(pk=project_pk))


@shared_task
def finish_tests(project_pk: int) -> int:
    """Qualification tests that are to be offered or withdrawn at the marketplace."""
    return testing.finish(Project.objects.get(pk=project_pk))


@shared_task(**RETRY)
def fetch_scores(test_pk: int) -> int:
    return testing.fetch_scores(test_pk)


@shared_task
def check_ledger(check_pk: int) -> int:
    """Returns how many differences stay."""
    return len(auditing.run(check_pk).faults)


@shared_task
def compute(run_pk: int) -> int:
    done = computing.run(run_pk)
    for pk in computing.waiting_for(run_pk):
        conclude_stage.delay(pk)
    return done


@shared_task
def compute_statistics(stage_pk: int) -> None:
    """Where enough answers came, or items wait for values."""
    if run := computing.start_when_due(Stage.objects.select_related("project").get(pk=stage_pk)):
        compute.delay(run.pk)


@shared_task
def make_release(project_pk: int, user_pk: int | None) -> int:
    project = Project.objects.get(pk=project_pk)
    if project.is_archived:
        return 0
    made, _ = releasing.release(project, _user(user_pk))
    return made.number


@shared_task
def harvest_all() -> int:
    """Beat: every stage with something to fetch, and those whose answers a crash left without a verdict."""
    pks = live_stages()
    for pk in pks:
        harvest_stage.delay(pk, sweep=False)
    for pk in set(unconcluded_stages()) - set(pks):
        conclude_stage.delay(pk)
    return len(pks)


@shared_task
def receive_events() -> int:
    """Beat, where a queue is configured: what the marketplace tells marks HITs for the next round."""
    try:
        return listening.receive()
    except EventQueueError as error:
        # Nothing is lost: the queue keeps its messages, and answers are looked for anyway.
        log.warning("%s", error)
        return 0


@shared_task(**RETRY)
def ensure_events(stage_pk: int) -> bool:
    return listening.ensure_events(Stage.objects.get(pk=stage_pk))


@shared_task
def resume_all() -> int:
    """Beat: whatever a crash or an absent marketplace left unfinished goes on by itself, and pauses end."""
    blocking.end_pauses()
    screening.let_try_again()
    left = [
        *(publish_batch.s(pk) for pk in publishing.unfinished()),
        *(ensure_events.s(pk) for pk in listening.deaf_stages()),
        *(import_upload.s(pk) for pk in importing.unfinished()),
        *(compare_workers.s(pk) for pk in comparing.due_stages()),
        *(finish_blocks.s(pk) for pk in blocking.unfinished()),
        *(close_unwanted.s(pk) for pk in closing.unfinished()),
        *(finish_grants.s(pk) for pk in granting.unfinished()),
        *(send_messages.s(pk) for pk in messaging.unfinished()),
        *(finish_reviews.s(pk) for pk in reviewing.unfinished()),
        *(conclude_stage.s(pk) for pk in _unconcluded()),
        *(top_up.s(pk) for pk in topping_up.unfinished()),
        *(publish_arrivals.s(pk) for pk in publishing.unpublished()),
        *(work_bonus_file.s(pk) for pk in ordering.unfinished_files()),
        *(send_bonuses.s(pk) for pk in bonuses.unfinished()),
        *(send_compensations.s(pk) for pk in compensating.unfinished()),
        *(finish_tests.s(pk) for pk in testing.unfinished()),
        *(check_ledger.s(pk) for pk in auditing.unfinished()),
        *(compute.s(pk) for pk in computing.unfinished()),
        *(compute_statistics.s(pk) for pk in computing.awaited()),
    ]
    for signature in left:
        # While every worker is busy, one of each is enough in the queue.
        signature.apply_async(expires=60)
    return len(left)


@shared_task
def forget_drafts() -> int:
    """Beat: drafts to which no assignment can come back; returns how many went."""
    return sum(drafts.forget_old(stage) for stage in Stage.objects.filter(hits__drafts__isnull=False).distinct())


@shared_task
def forget_tries() -> int:
    """Beat: counts of sign-ins that have run out, and tokens that have expired; returns how many rows went."""
    return SignInTries.objects.forget(timezone.now()) + ApiToken.objects.expired().delete()[0]


def _unconcluded() -> list[int]:
    """Stages with answers, labels or verdicts that no flow module has taken up: a crash came between two of them."""
    return sorted({*scoring.unfinished(), *deciding.unfinished(), *advancing.unfinished()})
