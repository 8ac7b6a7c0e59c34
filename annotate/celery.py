"""The Celery application: broker from the settings, tasks from `hits.tasks`."""

import logging.config
import os
from typing import Any

from celery import Celery, signals
from django.conf import settings

from common.env import Shared
from common.logs import JSON

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "annotate.settings")

app = Celery("annotate")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["hits"])


def log_as_the_settings_say(**more: Any) -> None:
    """Celery sets up no logging of its own where somebody listens to this signal."""
    logging.config.dictConfig(settings.LOGGING)


if Shared.read().LOG_FORMAT == JSON:
    signals.setup_logging.connect(log_as_the_settings_say)


@signals.worker_init.connect
def bound_statements(**_: Any) -> None:
    """Before the processes of the pool begin, which take it over."""
    from common.database_limits import bound_jobs

    bound_jobs()


@signals.worker_init.connect
@signals.beat_init.connect
def refuse_other_tables(**_: Any) -> None:
    """Worker and beat end where the database is behind or beyond their code."""
    from common.migrations import exit_on_fault

    exit_on_fault()
