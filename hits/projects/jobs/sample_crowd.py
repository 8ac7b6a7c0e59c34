"""A simulated crowd answers what a sample project asks, over HTTP at the marketplace's site, as people do.

Security behavior: only where DEBUG is on and both sites have addresses of this machine alone, and only projects that
`load_sample` marked. What the people know is read from the project's own items; they leave what others ask.

`ask` notes that a lead wants it. A job then has the crowd from `at_work`, and lets it `answer` as often as something is
to be answered.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, Sum
from django.utils import timezone

from common.configuration import is_home
from hits import protocols
from hits.core.action_log import record
from hits.core.jobs.leases import lease
from hits.crowd.browser import Allowance
from hits.crowd.crowd import Crowd
from hits.crowd.key import AnswerKey, Truth, Written, squeezed
from hits.crowd.people import gather
from hits.crowd.worker import NO_ACCOUNTS, Worker, takes_no_simulated_people
from hits.models import Hit, Item, Lease, Project
from hits.projects.rules.archived import refuse_archived
from hits.refusals import Refused

# An honest person takes 6 to 15 seconds for a HIT.
TIME_SCALE = 0.25
PEOPLE = {"workers": 22, "spammers": 1, "blind": 1, "accuracy": 0.88, "returns": 0.02}
MOST_REQUESTS = 50_000
# Longer than anybody takes for a HIT, on a busy machine too.
UNTIL_IDLE = 90.0
PASSWORD = "simulated crowd of a sandbox"
# Somebody waits for the page that says whether it was started.
LOOK_SECONDS = 10
# So long a worker may take to begin what was asked for; then it is as if nobody had asked.
ASKED_FOR = timedelta(seconds=30)


@dataclass(frozen=True)
class Progress:
    """What a page says: `answers` have come in, and open HITs take `wanted` more."""

    is_working: bool
    is_asked: bool
    answers: int
    wanted: int

    @property
    def is_under_way(self) -> bool:
        return self.is_working or self.is_asked

    @property
    def total(self) -> int:
        return self.answers + self.wanted


def _no_sample() -> Refused:
    return Refused(
        "no_sample", "A simulated crowd answers the sample projects of `make run` alone, on one's own machine."
    )


def is_open_to(project: Project) -> bool:
    """Not to archived ones, in which nothing changes."""
    return project.is_sample and not project.is_archived and is_sandbox()


def is_sandbox() -> bool:
    """Whether a simulated crowd may work here at all."""
    return settings.DEBUG and all(map(is_home, (settings.PUBLIC_URL, *settings.MTURK_SUBMIT_ORIGINS)))


def progress_of(project: Project) -> Progress | None:
    """None where no simulated crowd may answer."""
    if not is_open_to(project):
        return None
    answers = project.stages.filter(crowd=True).aggregate(sum=Sum("summary__answers"))["sum"] or 0
    held = Lease.objects.filter(name__in=_names(project), until__gt=timezone.now())
    names = set(held.values_list("name", flat=True))
    return Progress(_name(project) in names, _asked(project) in names, answers, wanted_of(project))


def under_way(projects: Iterable[Project]) -> set[int]:
    """Keys of those that a simulated crowd answers, or was asked to."""
    names = {name: project.pk for project in projects if is_open_to(project) for name in _names(project)}
    if not names:
        return set()
    held = Lease.objects.filter(name__in=names, until__gt=timezone.now()).values_list("name", flat=True)
    return {names[name] for name in held}


def wanted_of(project: Project) -> int:
    """How many answers its open HITs still take."""
    hits = Hit.objects.filter(stage__project=project, state=Hit.State.LIVE, unwanted=False)
    places = hits.filter(expires_at__gt=timezone.now(), harvested__lt=F("max_assignments"))
    return places.aggregate(sum=Sum(F("max_assignments") - F("harvested")))["sum"] or 0


def ask(project: Project, user: User | None) -> bool:
    """Note that somebody wants the answers; whether the job is to be started, for it may be at work.

    Raises Refused (no_sample), ArchivedError, Refused (nothing_to_answer, no_crowd_accounts).
    """
    if not project.is_sample or not is_sandbox():
        raise _no_sample()
    refuse_archived(project)
    found = progress_of(project)
    assert found is not None
    if found.is_working:
        return False
    if not found.wanted:
        raise Refused(
            "nothing_to_answer",
            f"No HIT of {project.name} is open for an answer. Publish items first. Nothing was started.",
        )
    refuse_without_accounts()
    with transaction.atomic():
        note = {"holder": "", "until": timezone.now() + ASKED_FOR}
        Lease.objects.update_or_create(name=_asked(project), defaults=note)
        record(project, user, "asked a simulated crowd to answer")
    return True


def refuse_without_accounts() -> None:
    """Raises Refused (no_crowd_accounts)."""
    if takes_no_simulated_people(settings.MTURK_SUBMIT_ORIGINS[0], LOOK_SECONDS):
        raise Refused("no_crowd_accounts", f"{NO_ACCOUNTS} Nothing was started.")


@contextmanager
def at_work(project: Project) -> Iterator[SampleCrowd | None]:
    """Yields the crowd, or None where it works already. Raises Refused (no_sample)."""
    if not is_open_to(project):
        raise _no_sample()
    with lease(_name(project), seconds=30) as held:
        if held is None:
            yield None
            return
        Lease.objects.filter(name=_asked(project)).delete()
        yield SampleCrowd(project, _workers(project))


@dataclass(frozen=True)
class SampleCrowd:
    """Its people stay signed in from one time to the next."""

    project: Project
    workers: list[Worker]

    def answer(self) -> int:
        """Give the answers that open HITs take now; how many came in.

        Raises SiteError where the marketplace's site does not answer as it should.
        """
        wanted, before = wanted_of(self.project), sum(worker.tally.answers for worker in self.workers)
        if not wanted:
            return 0
        most = before + wanted
        crowd = Crowd(self.workers, until_idle=UNTIL_IDLE, max_answers=most, threads=4, say=lambda line: None)
        with _stopped_at_the_end(crowd):
            crowd.run()
        return crowd.answers - before


def _name(project: Project) -> str:
    return f"sample-crowd:{project.pk}"


def _asked(project: Project) -> str:
    return f"sample-crowd-asked:{project.pk}"


def _names(project: Project) -> tuple[str, str]:
    return _name(project), _asked(project)


@contextmanager
def _stopped_at_the_end(crowd: Crowd) -> Iterator[None]:
    """Its threads end also where this one is interrupted."""
    try:
        yield
    finally:
        crowd.stop("interrupted")


def _workers(project: Project) -> list[Worker]:
    asked = set(project.stages.values_list("protocol", flat=True))
    found = protocols.simulated(settings.PLUGIN_ROOTS)
    answering = {name: way for name, way in found.items() if name in asked}
    key, allowance = key_of(project), Allowance(MOST_REQUESTS)
    return [
        Worker(person, settings.MTURK_SUBMIT_ORIGINS[0], key, allowance, PASSWORD, answering, time_scale=TIME_SCALE)
        # Other people in each project: two crowds may be at work at once.
        for person in gather(project.pk, **PEOPLE)  # type: ignore[arg-type]
    ]


def key_of(project: Project) -> AnswerKey:
    """What is right, of items that bring it: a cloze query's answers, the gold of a choice."""
    truths: dict[tuple[str, str], Truth] = {}
    written: dict[str, list[Written]] = {}
    for item in Item.objects.filter(stage__project=project).select_related("document"):
        text, data = item.document.data.get("text", ""), item.data
        if "query" in data:
            truths[squeezed(text), squeezed(data["query"])] = _truth(item.key, data["answers"])
        elif "gold" in data:
            written.setdefault(text, []).append(_written(data))
    return AnswerKey(truths, written)


def _truth(name: str, answers: list[dict[str, Any]]) -> Truth:
    spans = frozenset(f"{one['start']}-{one['end']}" for one in answers)
    return Truth(name, spans, frozenset(one["text"] for one in answers))


def _written(data: dict[str, Any]) -> Written:
    texts = {choice["id"]: choice["text"] for choice in data["choices"]}
    right = [text for ident, text in texts.items() if ident in data["gold"]]
    wrong = [text for ident, text in texts.items() if ident not in data["gold"]]
    return Written(data["question"], "", tuple(right), tuple(wrong))
