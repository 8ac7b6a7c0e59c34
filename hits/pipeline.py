"""The life of an item, from a file to a release. Read this page first: each step is one call of a verb.

1. Import: a lead's file becomes documents and items (`import_file`).
2. Publish: a lead confirms the price; HITs become rows (`hits.publishing.verbs.publishing`), and `publish` sends them.
3. Serve: workers open the task page (`hits.answers.verbs.serving`) and submit to the marketplace.
4. Harvest: recorded answers are fetched from the marketplace (`harvest`).
5. Conclude: answers become labels, labels verdicts, and what a verdict leads to goes to the next stage (`conclude`).
6. Release: kept items become files (`release`).

`hits.tasks` runs all of it in the background, repeats what failed, and takes up what a crash left.
"""

from __future__ import annotations

import logging

from django.contrib.auth.models import User

from hits.answers.verbs import harvesting, reviewing
from hits.core.jobs import queue
from hits.items.verbs import importing
from hits.judging.verbs import advancing, computing, deciding, scoring
from hits.models import Batch, Hit, Project, Release, Stage
from hits.mturk.errors import MarketplaceError, UnreachableError
from hits.pools import jobs as pools
from hits.publishing.verbs import closing, publishing, sending, topping_up
from hits.releases.verbs import releasing
from hits.webhooks import jobs as webhooks
from hits.workers.verbs import blocking, comparing, granting, screening

log = logging.getLogger(__name__)


def import_file(upload_pk: int) -> int:
    """Read and check a file as a whole, then store it as a whole; returns the number of new items."""
    return importing.import_upload(upload_pk)


def publish(batch_pk: int) -> int:
    """Create the HITs of a confirmed batch at the marketplace; returns how many there are."""
    return sending.send(batch_pk)


def harvest(stage: Stage, sweep: bool = True) -> int:
    """Fetch the answers of a stage; with `sweep` the list of reviewable HITs is read too. Returns how many are new."""
    return harvesting.harvest(stage, sweep=sweep)


def harvest_announced(hit: Hit) -> int:
    """Fetch the answers of one HIT whose page has announced one. Returns how many are new."""
    return harvesting.harvest_announced(hit)


def conclude(stage: Stage) -> int:
    """From harvested answers to labels, blocks, verdicts, additional answers and the items of the next stage.

    Returns the number of verdicts. Where pools of workers cannot be asked, everything waits.
    """
    if not know_who_joined(stage):
        return 0
    if scoring.score(stage) and stage.pk in reviewing.unfinished():
        # What passed is approved now; where the marketplace is away, `resume_all` comes back to it.
        queue.start_named("finish_reviews", stage.pk)
    # Before verdicts: until scored answers have led to them, a crash brings this back.
    if granting.grant_for_answers(stage) + screening.grade(stage):
        queue.start_named("finish_grants", stage.project_id)
        queue.start_named("send_messages", stage.project_id)
    comparing.compare_when_due(stage)
    blocking.check_when_due(stage)
    verdicts = deciding.decide(stage)
    webhooks.announce()
    if stage.pk in closing.unfinished():
        queue.start_named("close_unwanted", stage.pk)
    top_up(stage)
    if advancing.advance(stage):
        for later in stage.project.stages.filter(position__gt=stage.position, auto_publish=True):
            publish_arrivals(later)
    if run := computing.start_when_due(stage):
        queue.start_named("compute", run.pk)
    if stage.text_evidence:
        queue.start_named("compare_texts", stage.pk)
    return verdicts


def know_who_joined(stage: Stage) -> bool:
    """Ask who joined the pools of the stage where new answers depend on it; False while the marketplace is away."""
    for pool in pools.to_fetch(stage):
        try:
            if pools.fetch(pool) is None:
                # Another process gives qualifications. `resume_all` comes back to the answers.
                return False
        except UnreachableError as error:
            log.warning("Answers of %s wait: %s", stage, error)
            return False
        except MarketplaceError as error:
            log.warning("Nobody knows who joined %s: %s", pool, error)
    return True


def top_up(stage: Stage) -> None:
    """Publish HITs for answers that items have come to require."""
    if batch := topping_up.top_up(stage):
        queue.start_named("publish_batch", batch.pk)


def publish_arrivals(stage: Stage) -> Batch | None:
    """Publish what came from the stage before, where the stage publishes by itself."""
    batch = publishing.publish_arrivals(stage)
    if batch:
        queue.start_named("publish_batch", batch.pk)
    return batch


def release(project: Project, user: User | None) -> Release:
    """Make the files of what the project has kept, and announce them to webhooks."""
    made, _ = releasing.release(project, user)
    webhooks.announce()
    return made
