"""Celery: reload the row, call one function, return a count. `hits.pipeline` has the chain that most of them run.

A task may run twice at the same time or again after a crash; every one of these functions allows that.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator

from celery import Task, shared_task
from celery.exceptions import SoftTimeLimitExceeded
from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.utils import timezone

from hits import pipeline
from hits.accounts.verbs import passwords
from hits.answers.rules import drafts
from hits.answers.rules.hits_to_harvest import live_stages, unconcluded_stages
from hits.answers.verbs import marketplace_events, reviewing
from hits.core.action_log import acting_from
from hits.core.jobs import queue
from hits.items.verbs import importing
from hits.judging.rules import stage_statistics, summaries
from hits.judging.verbs import advancing, computing, deciding, scoring
from hits.models import (
    Action,
    ApiToken,
    Batch,
    Block,
    Hit,
    Project,
    Release,
    SignInTries,
    Stage,
)
from hits.mturk.errors import MarketplaceError
from hits.mturk.events import EventQueueError
from hits.notifications.jobs import pending_notices
from hits.notifications.verbs import notice_letters, writing_notices
from hits.payments.verbs import bonuses, checking_ledger, compensating, ordering_bonuses
from hits.people.verbs import messaging
from hits.pools import jobs as pools
from hits.projects.jobs import sample_crowd
from hits.projects.jobs.sample_crowd import SampleCrowd
from hits.projects.rules.plugins import UNUSABLE
from hits.publishing.rules import marketplace_account, restorations
from hits.publishing.rules.reconciliation import Report
from hits.publishing.verbs import adopting_hits, closing, publishing, topping_up
from hits.refusals import Refusal, Refused
from hits.releases.verbs import evaluating
from hits.webhooks import jobs as webhooks
from hits.workers.verbs import blocking, comparing, comparing_texts, granting, qualification_tests, screening

log = logging.getLogger(__name__)
SAMPLE_SECONDS = 1800
# The most that reading and storing one file may take, so that a file does not hold a process for long jobs for good.
IMPORT_SECONDS = 1800
# The most that a computation may take: a lead lets it go on from its checkpoint, so a longer one is not lost.
COMPUTE_SECONDS = 6 * 3600
# How often a job without a row of its own begins, where its process ends each time.
MOST_BEGINNINGS = 3
# Once a second, where nobody could answer: what another process began comes to its end.
SAMPLE_LOOKS = 60
RETRY = {"autoretry_for": (MarketplaceError,), "retry_backoff": 2, "retry_backoff_max": 60, "max_retries": 10}


def _user(pk: int | None) -> User | None:
    return None if pk is None else User.objects.filter(pk=pk).first()


# A worker that does not come back within a minute after its time is killed; the row counts the attempt.
@shared_task(queue=queue.LONG, soft_time_limit=IMPORT_SECONDS, time_limit=IMPORT_SECONDS + 60)
def import_upload(upload_pk: int) -> int:
    try:
        return pipeline.import_file(upload_pk)
    except SoftTimeLimitExceeded:
        importing.fail(upload_pk, _took_too_long("an import", IMPORT_SECONDS, "Split the file and import its parts."))
        return 0
    finally:
        for pk in importing.waiting_for(upload_pk):
            queue.start(import_upload, pk)
        for stage in importing.answered_by(upload_pk):
            queue.start(conclude_stage, stage)


def _took_too_long(what: str, seconds: int, remedy: str) -> str:
    return f"It took more than {seconds / 60:,.0f} minutes, the most that {what} may take. {remedy}"


@shared_task(queue=queue.LONG)
def publish_batch(batch_pk: int) -> int:
    return pipeline.publish(batch_pk)


@shared_task
def harvest_stage(stage_pk: int, sweep: bool = True) -> int:
    """Collect a stage's answers and take them as far as they lead without a person.

    Somebody asked for it: then the list of reviewable HITs is read too, whether or not it is time for that.
    """
    stage = Stage.objects.select_related("project__account").get(pk=stage_pk)
    new = pipeline.harvest(stage, sweep)
    conclude_stage(stage_pk)
    return new


@shared_task(queue=queue.HINTS)
def fetch_announced(hit_pk: int) -> int:
    """The answers of one HIT whose page has announced one on which other HITs depend; returns how many were new.

    When the marketplace does not answer, the HIT stays due, and `harvest_all` comes back to it.
    """
    hit = Hit.objects.select_related("stage__project__account").filter(pk=hit_pk).first()
    try:
        new = pipeline.harvest_announced(hit) if hit else 0
    except MarketplaceError as error:
        log.warning("HIT %s is fetched later: %s", hit_pk, error)
        return 0
    if hit and new:
        conclude_stage(hit.stage_id)
    return new


@shared_task
def count_figures(stage_pk: int) -> None:
    """Of a large stage, where they are old and have rested."""
    deciding.refresh_figures(Stage.objects.select_related("project").get(pk=stage_pk))


@shared_task
def conclude_stage(stage_pk: int) -> int:
    """From harvested answers to verdicts, blocks, further answers and the next stage's items."""
    stage = Stage.objects.select_related("project__account").get(pk=stage_pk)
    try:
        return pipeline.conclude(stage)
    except UNUSABLE as error:
        # The pages of the stage and the project say so. What waits goes on when the code can be used again.
        log.warning("%s waits: %s", stage, error)
        return 0


@shared_task
def close_unwanted(stage_pk: int) -> int:
    """What the marketplace does not answer to stays written down, and `resume_all` comes back to it."""
    stage = Stage.objects.select_related("project__account").get(pk=stage_pk)
    try:
        return closing.close_unwanted(stage)
    except MarketplaceError as error:
        log.warning("HITs of %s stay open for now: %s", stage, error)
        return 0


@shared_task(queue=queue.LONG)
def adopt_returned(project_pk: int) -> int:
    """HITs that were closed after a restore and whose items are here again: their answers come before new ones are
    bought; returns how many of the HITs have rows now.
    """
    project = Project.objects.select_related("account").get(pk=project_pk)
    report = Report()
    try:
        adopting_hits.adopt_returned(marketplace_account.gateway(), project, report)
    except MarketplaceError as error:
        log.warning("Items of %s that are here again wait: %s", project, error)
    for line in report.unknown:
        log.warning("Items of %s that are here again wait: %s", project, line.said)
    if report.changes:
        for stage in project.stages.filter(crowd=True):
            queue.start(harvest_stage, stage.pk)
    return len(report.changes)


@shared_task
def publish_arrivals(stage_pk: int) -> int:
    """What came from the stage before goes out by itself; returns how many items."""
    batch = pipeline.publish_arrivals(Stage.objects.select_related("project__account").get(pk=stage_pk))
    return batch.total if batch else 0


@shared_task
def top_up(stage_pk: int) -> None:
    pipeline.top_up(Stage.objects.select_related("project__account").get(pk=stage_pk))


@shared_task
def compare_workers(stage_pk: int) -> int:
    """Where something changed after the last answers were concluded, such as a block."""
    return comparing.compare_when_due(Stage.objects.get(pk=stage_pk))


@shared_task(queue=queue.LONG)
def compare_texts(stage_pk: int) -> int:
    """How texts came about, for people to look at: nothing follows from it."""
    return comparing_texts.compare_when_due(Stage.objects.select_related("project").get(pk=stage_pk))


@shared_task
def finish_blocks(stage_pk: int) -> int:
    """What the marketplace does not answer to stays written down, and `resume_all` comes back to it."""
    stage = Stage.objects.select_related("project").get(pk=stage_pk)
    try:
        done = blocking.finish(stage)
    except MarketplaceError as error:
        log.warning("Blocks of %s wait: %s", stage, error)
        return 0
    finally:
        webhooks.announce()
    if stage.project_id in messaging.unfinished():
        queue.start(send_messages, stage.project_id)
    queue.start(conclude_project, stage.project_id)
    return done


@shared_task(**RETRY)
def undo_block(block_pk: int, user_pk: int | None = None, origin: str = Action.Origin.ITSELF) -> None:
    row = Block.objects.select_related("stage__project", "project", "worker").get(pk=block_pk)
    if row.project.is_archived:
        return
    with acting_from(origin):
        blocking.undo(row, _user(user_pk))
    queue.start(conclude_project, row.project_id)


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
    stages = list(Stage.objects.filter(project=project_pk).order_by("position").values_list("pk", flat=True))
    done = sum(conclude_stage(pk) for pk in stages)
    for pk in stages:
        queue.start(compute_statistics_again, pk)
    return done


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
        queue.start(conclude_stage, stage_pk)


@shared_task(queue=queue.LONG, soft_time_limit=IMPORT_SECONDS, time_limit=IMPORT_SECONDS + 60)
def work_bonus_file(pk: int) -> None:
    """Check a large file, or order it; what was ordered is paid."""
    try:
        row = ordering_bonuses.work_file(pk)
    except SoftTimeLimitExceeded:
        ordering_bonuses.fail_file(
            pk, _took_too_long("a file of bonuses", IMPORT_SECONDS, "Split the file and order its parts.")
        )
        return
    if row.order_id:
        queue.start(send_bonuses, row.project_id)


@shared_task(queue=queue.LONG)
def send_bonuses(project_pk: int) -> int:
    return bonuses.send(Project.objects.select_related("account").get(pk=project_pk))


@shared_task(queue=queue.LONG)
def send_compensations(project_pk: int) -> int:
    """Offer what is ordered, and look what became of the offers."""
    return compensating.finish(Project.objects.select_related("account").get(pk=project_pk))


@shared_task
def finish_tests(project_pk: int) -> int:
    """Qualification tests that are to be offered or withdrawn at the marketplace."""
    return qualification_tests.finish(Project.objects.get(pk=project_pk))


@shared_task(**RETRY)
def fetch_scores(test_pk: int) -> int:
    return qualification_tests.fetch_scores(test_pk)


@shared_task(queue=queue.LONG)
def check_ledger(check_pk: int) -> int:
    """Returns how many differences stay."""
    try:
        return len(checking_ledger.run(check_pk).faults)
    except SoftTimeLimitExceeded:
        remedy = "Compare again when the marketplace is less busy."
        checking_ledger.fail(check_pk, _took_too_long("a comparison", settings.JOB_SECONDS, remedy))
        return 0


@shared_task(queue=queue.LONG, soft_time_limit=COMPUTE_SECONDS, time_limit=COMPUTE_SECONDS + 60)
def compute(run_pk: int) -> int:
    try:
        done = computing.run(run_pk)
    except SoftTimeLimitExceeded:
        # The page puts the full stop.
        remedy = "Let it go on from where it was"
        computing.fail(run_pk, _took_too_long("a computation", COMPUTE_SECONDS, remedy))
        return 0
    for pk in computing.waiting_for(run_pk):
        queue.start(conclude_stage, pk)
    return done


@shared_task
def compute_statistics(stage_pk: int) -> None:
    """Where enough answers came, or items wait for values."""
    if run := computing.start_when_due(Stage.objects.select_related("project").get(pk=stage_pk)):
        queue.start(compute, run.pk)


@shared_task
def compute_statistics_again(stage_pk: int) -> None:
    """Where there are some, and other answers count now, as after a block: old ones would still tell of its worker."""
    if run := computing.start_again_when_older(Stage.objects.select_related("project").get(pk=stage_pk)):
        queue.start(compute, run.pk)


@shared_task(queue=queue.LONG, bind=True)
def make_release(self: Task, project_pk: int, user_pk: int | None) -> int:
    project = Project.objects.get(pk=project_pk)
    if project.is_archived:
        return 0
    try:
        _refuse_another_beginning(self.request.id)
        return pipeline.release(project, _user(user_pk)).number
    except SoftTimeLimitExceeded:
        remedy = "Make it again when less is under way."
        said = _took_too_long("a release", settings.JOB_SECONDS, remedy)
        writing_notices.tell(pending_notices.failed_release(project, Refused("release_cut_off", said)))
        return 0
    except Exception as error:
        # It has no page and no row of its own, and whoever asked for it has left.
        writing_notices.tell(pending_notices.failed_release(project, error))
        raise


@shared_task(queue=queue.LONG, bind=True)
def run_baselines(self: Task, release_pk: int, user_pk: int | None, seed: int | None = None) -> int:
    release = Release.objects.select_related("project").get(pk=release_pk)
    project = release.project
    if project.is_archived:
        return 0
    try:
        _refuse_another_beginning(self.request.id)
        return len(evaluating.baselines(release, _user(user_pk), seed))
    except SoftTimeLimitExceeded:
        remedy = "Run them again when less is under way."
        error: Exception = Refused("release_cut_off", _took_too_long("the baselines", settings.JOB_SECONDS, remedy))
    except Refusal as refusal:
        error = refusal
    writing_notices.tell(
        pending_notices.failed_release(project, error, f"The baselines of release {release.number} were not run")
    )
    return 0


def _refuse_another_beginning(job: str | None) -> None:
    """Raises Refused (release_cut_off) where the process of this job ended each time, as for want of memory."""
    if job is None:
        return
    key = f"begun:{job}"
    if not cache.add(key, 1, timeout=86_400) and cache.incr(key) > MOST_BEGINNINGS:
        raise Refused(
            "release_cut_off",
            f"It began {MOST_BEGINNINGS} times, and its process ended each time. The memory of the machine may be too "
            "small for it: tell the operator, whose log says more.",
        )


# A crowd takes some minutes for a sample, and is not let go on for ever.
@shared_task(queue=queue.LONG, soft_time_limit=SAMPLE_SECONDS, time_limit=SAMPLE_SECONDS + 60)
def let_crowd_answer(project_pk: int) -> int:
    """Have a sample project answered as far as its HITs are open; how many answers came in, 0 where it works already.

    Only a sample project of a sandbox: `hits.projects.jobs.sample_crowd` refuses every other one.
    """
    project = Project.objects.get(pk=project_pk)
    with sample_crowd.at_work(project) as crowd:
        return sum(_answers_of(crowd)) if crowd else 0


def _answers_of(crowd: SampleCrowd) -> Iterator[int]:
    """Round by round: what does not count, as of a worker whom the rule blocks, is asked again."""
    _settle_sample(crowd.project)
    while answers := crowd.answer():
        _settle_sample(crowd.project)
        yield answers


def _settle_sample(project: Project) -> None:
    """From the answers to all that follows of them by itself, in this process: nothing is waited for."""
    for stage in project.stages.filter(crowd=True, summary__published__gt=0):
        harvest_stage(stage.pk)
        finish_blocks(stage.pk)
        conclude_stage(stage.pk)
    for batch in Batch.objects.filter(stage__project=project, state=Batch.State.PUBLISHING):
        publish_batch(batch.pk)


@shared_task(queue=queue.LONG, soft_time_limit=SAMPLE_SECONDS, time_limit=SAMPLE_SECONDS + 60)
def finish_sample(project_pk: int) -> int:
    """Have a sample project answered to its end, compare the answers, and release it; the number of the release.

    What was done before an interruption stays. 0 where the crowd works already, or where it cannot go on: what is
    still under way has not moved for a minute.
    """
    project = Project.objects.get(pk=project_pk)
    with sample_crowd.at_work(project) as crowd:
        return _finish_sample(crowd) if crowd else 0


def _finish_sample(crowd: SampleCrowd) -> int:
    found = Project.objects.filter(pk=crowd.project.pk).with_state()
    for _ in range(SAMPLE_LOOKS):
        answers = sum(_answers_of(crowd))
        _approve_what_is_held(crowd.project)
        if found.get().state == Project.State.FINISHED and _compare_sample(crowd.project):
            return make_release(crowd.project.pk, None)
        if not answers:
            time.sleep(1)
    return 0


def _approve_what_is_held(project: Project) -> None:
    """Nobody reads the answers of a finished sample: one whose worker was blocked while they gave it would wait for
    ever. It is paid, and counts for nothing while the block stands.
    """
    for stage in project.stages.filter(crowd=True, summary__held__gt=0):
        reviewing.approve(stage, stage.assignments.held().values_list("pk", flat=True), None)
        finish_reviews(stage.pk)


def _compare_sample(project: Project) -> bool:
    """Compute the agreement over all answers; False where another process is still at it."""
    stages = list(project.stages.filter(crowd=True))
    for stage in stages:
        if run := stage_statistics.going_on(stage) or computing.start_when_older(stage):
            computing.run(run.pk)
    return not any(map(stage_statistics.going_on, stages))


@shared_task
def harvest_all() -> int:
    """Beat: every stage with something to fetch, and those whose answers a crash left without a verdict."""
    pks = live_stages()
    for pk in pks:
        queue.offer(harvest_stage, pk, False)
    for pk in set(unconcluded_stages()) - set(pks):
        queue.start(conclude_stage, pk)
    return len(pks)


@shared_task
def receive_events() -> int:
    """Beat, where a queue is configured: what the marketplace tells marks HITs for the next round."""
    try:
        return marketplace_events.receive()
    except EventQueueError as error:
        # Nothing is lost: the queue keeps its messages, and answers are looked for anyway.
        log.warning("%s", error)
        return 0


@shared_task(**RETRY)
def ensure_events(stage_pk: int) -> bool:
    return marketplace_events.ensure_events(Stage.objects.get(pk=stage_pk))


@shared_task
def resume_all() -> int:
    """Beat: what a crash, or a queue or marketplace that was away, left unfinished goes on by itself; pauses end."""
    blocking.end_pauses()
    screening.let_try_again()
    taken_up = queue.take_up()
    left = [
        *((publish_batch, pk) for pk in publishing.unfinished()),
        *((ensure_events, pk) for pk in marketplace_events.unsubscribed_stages()),
        *((import_upload, pk) for pk in importing.unfinished()),
        *((compare_workers, pk) for pk in comparing.due_stages()),
        *((compare_texts, pk) for pk in comparing_texts.due_stages()),
        *((finish_blocks, pk) for pk in blocking.unfinished()),
        *((close_unwanted, pk) for pk in closing.unfinished()),
        *((finish_grants, pk) for pk in granting.unfinished()),
        *((pools.fetch_pool, pk) for pk in pools.due()),
        *((send_messages, pk) for pk in messaging.unfinished()),
        *((finish_reviews, pk) for pk in reviewing.unfinished()),
        *((conclude_stage, pk) for pk in _unconcluded()),
        *((count_figures, pk) for pk in summaries.due()),
        *((top_up, pk) for pk in topping_up.unfinished()),
        *((adopt_returned, pk) for pk in restorations.projects()),
        *((publish_arrivals, pk) for pk in publishing.unpublished()),
        *((work_bonus_file, pk) for pk in ordering_bonuses.unfinished_files()),
        *((send_bonuses, pk) for pk in bonuses.unfinished()),
        *((send_compensations, pk) for pk in compensating.unfinished()),
        *((finish_tests, pk) for pk in qualification_tests.unfinished()),
        *((check_ledger, pk) for pk in checking_ledger.unfinished()),
        *((compute, pk) for pk in computing.unfinished()),
        *((compute_statistics, pk) for pk in computing.awaited()),
    ]
    for task, pk in left:
        # While every worker is busy, one of each is enough in the queue.
        queue.offer(task, pk, expires=60)
    webhooks.announce()
    return taken_up + len(left)


@shared_task
def tell_members() -> int:
    """Beat: write notices of what is new in all projects, and send them to those who want letters; how many are new."""
    new = writing_notices.write_all(pending_notices.of_projects)
    webhooks.announce()
    notice_letters.send()
    return new


@shared_task
def send_password_links(email: str) -> int:
    """To each account with this address; how many were sent."""
    return passwords.send_to_address(email)


@shared_task
def forget_drafts() -> int:
    """Beat: drafts to which no assignment can come back; returns how many went."""
    return sum(drafts.forget_old(stage) for stage in Stage.objects.filter(hits__drafts__isnull=False).distinct())


@shared_task
def forget_text_evidence() -> int:
    """Beat: what is known of how old texts came about; returns of how many answers it went."""
    return comparing_texts.forget_old()


@shared_task
def forget_tries() -> int:
    """Beat: counts of sign-ins that have run out, sessions and tokens that have expired, and messages to webhooks that
    were done with long ago; how many rows went.
    """
    expired = Session.objects.filter(expire_date__lte=timezone.now()).delete()[0]
    tries = SignInTries.objects.forget(timezone.now()) + ApiToken.objects.expired().delete()[0]
    return expired + tries + webhooks.forget()


def _unconcluded() -> list[int]:
    """Stages with answers, labels or verdicts that nothing has taken up: a crash came between two of them."""
    return sorted({*scoring.unfinished(), *deciding.unfinished(), *advancing.unfinished()})
