"""A simulated crowd for sandboxes: `manage.py crowd --key samples/record.jsonl`."""

from __future__ import annotations

import os
import signal
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from common.configuration import is_home
from hits import protocols
from hits.crowd.browser import TIMEOUT_SECONDS, Allowance, RemoteRefusedError, refuse_remote
from hits.crowd.crowd import Crowd
from hits.crowd.key import AnswerKey
from hits.crowd.people import Person, gather
from hits.crowd.worker import SiteError, Worker
from hits.formats.files.faults import FormatErrors

OF_PEOPLE = ("seed", "workers", "spammers", "careless", "blind", "accuracy", "returns", "follows")
SCALE = "seconds waited for one simulated second; answers faster than the task's least time do not count until approved"
KEY = (
    "a ReCoRD file with its answers, or JSON Lines such as "
    '{"opening": "words of the text", "questions": [{"question": "…", "correct": ["…"], "incorrect": ["…"]}]}; '
    "docs/commands.md, “An answer key”, has all fields"
)
SANDBOX_PASSWORD = "simulated crowd of a sandbox"


class Command(BaseCommand):
    help = "Let simulated workers of known accuracy work on a marketplace's site, over HTTP, as a browser would."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add = parser.add_argument
        add("--key", type=Path, required=True, help=KEY)
        add("--tests", type=Path, help="a file of the questions of a qualification test, which they take and pass")
        add("--marketplace", default=settings.MTURK_SUBMIT_ORIGINS[0], help="address of the worker site")
        add("--workers", type=int, default=12, help="how many people, spammers included")
        add("--spammers", type=int, default=2, help="how many of them click at random and write rubbish, and fast")
        add("--careless", type=int, default=0, help="how many of them write rubbish")
        add("--blind", type=int, default=0, help="how many of them choose at random, and take their time")
        add("--accuracy", type=float, default=0.85, help="share that the others get right, give or take 0.05")
        add("--returns", type=float, default=0.05, help="share of HITs that a worker returns at first sight")
        add(
            "--follows",
            type=float,
            default=0.0,
            help="share of what they do not know in which they follow a suggestion",
        )
        add("--seed", type=int, default=7, help="the same seed gives each worker the same answer to each item")
        add("--time-scale", type=float, default=0.02, help=SCALE)
        add("--until-idle", type=float, default=30, help="end after so many seconds without an answer")
        add("--max-answers", type=int, help="end after so many answers")
        add("--max-requests", type=int, default=100_000, help="end after so many HTTP requests")
        add("--patience", type=float, default=TIMEOUT_SECONDS, help="seconds that they wait for a page")
        add("--threads", type=int, default=4, help="how many workers may be served at once")
        add("--allow-remote", action="store_true", help="go to other machines; CROWD_PASSWORD must be set")

    def handle(self, *args: Any, **options: Any) -> None:
        allowance = Allowance(options["max_requests"])
        crowd = Crowd(
            self._workers(options, allowance),
            until_idle=options["until_idle"],
            max_answers=options["max_answers"],
            threads=max(1, options["threads"]),
            say=self._say,
        )
        # A shell lets what it starts in the background ignore Ctrl-C; the table comes at the end all the same.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            crowd.run()
        except (SiteError, RemoteRefusedError) as error:
            raise CommandError(str(error)) from error
        finally:
            self._say(f"The crowd ends: {crowd.ended}.")
            self._say(table(crowd))
            self._say(allowance.times.sentence())

    def _workers(self, options: dict[str, Any], allowance: Allowance) -> list[Worker]:
        try:
            refuse_remote(options["marketplace"], allow_remote=options["allow_remote"])
            key = AnswerKey.read(options["key"], options["tests"])
            people = gather(**{name: options[name] for name in OF_PEOPLE})
        except FormatErrors as error:
            raise CommandError(f"{options['key']} is no ReCoRD file, or --tests no test: {error}") from error
        except (RemoteRefusedError, OSError, ValueError) as error:
            raise CommandError(str(error)) from error
        if options["time_scale"] < 0:
            raise CommandError("--time-scale must be 0 or more.")
        password = _password(options["marketplace"])
        answering = protocols.simulated(settings.PLUGIN_ROOTS)
        self._say(f"{len(people)} workers at {options['marketplace']}, {len(key)} answers known.")
        return [
            Worker(
                person,
                options["marketplace"],
                key,
                allowance,
                password,
                answering,
                time_scale=options["time_scale"],
                allow_remote=options["allow_remote"],
                patience=options["patience"],
            )
            for person in people
        ]

    def _say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()


def _password(marketplace: str) -> str:
    """A password that everybody can read here is good enough for this machine alone."""
    given = os.environ.get("CROWD_PASSWORD", "")
    if not given and not is_home(marketplace):
        raise CommandError("Set CROWD_PASSWORD: the simulated workers get accounts on another machine.")
    return given or SANDBOX_PASSWORD


def table(crowd: Crowd) -> str:
    """One line a worker: worker id, kind, answers, returns."""
    head = f"{'worker id':<16} {'kind':<8} {'answers':>7} {'returns':>7} {'refused':>7} {'unknown':>7} {'lost':>5}"
    return "\n".join([head, *(_line(worker.worker_id, worker.person, worker) for worker in crowd.workers)])


def _line(worker_id: str, person: Person, worker: Worker) -> str:
    tally = worker.tally
    counts = f"{tally.answers:>7} {tally.returns:>7} {tally.refused:>7} {tally.unknown:>7} {tally.lost:>5}"
    return f"{worker_id or '(not there)':<16} {person.kind:<8} {counts}"
