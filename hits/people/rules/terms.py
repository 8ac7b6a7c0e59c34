"""Terms of a project: which version stands, what a task's page asks of a worker, and what an answer says about it.

The page carries the version as a field of its form, and the answer takes it to the marketplace, as all of it. Worker
pages have no session: that somebody agreed before is known from a recorded answer that names the version, and until it
is recorded, the box is ticked by what the check of the answer's page wrote down (`Draft.terms`).

An answer has to name a version that stood at some moment between its accepting and its submitting, if one stood when it
was accepted: who began under an older version may finish under it. Otherwise it is held
(`hits.answers.rules.eligibility`). A page of a lead's own (`hits.publishing.rules.hit_questions.has_own_page`) cannot
ask, and nothing is asked of its answers.
"""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Exists, Min, OuterRef, QuerySet
from django.utils import timezone

from hits.models import Assignment, Draft, Hit, Project, Stage, StageSummary, Terms, Worker
from hits.people.models import LONGEST
from hits.projects.rules.plugins import usable_protocol
from hits.protocols.optional import OwnPageProtocol
from hits.refusals import Refused
from hits.text.markdown import rendered
from hits.text.wording import _

# No key of a form holds a colon, and none of ours begins so.
FIELD = "project:terms"
# The marketplace's clock and ours differ by less: in doubt the worker is believed.
CLOCKS = timedelta(minutes=1)
# Control characters, halves of surrogate pairs, and signs that some readers take for the end of a line.
_UNSHOWN = frozenset({"Cc", "Cs", "Zl", "Zp"})


@dataclass(frozen=True)
class Asked:
    """What a page shows. `agreed_at` is when the worker first sent an answer that names this version; None: never.

    `ticked` says that the box was ticked on the screen before, or in the draft; `ticked_before` that it was in another
    answer, which is on its way. That is claimed and not confirmed, so the worker sees the box and may empty it.
    """

    version: int
    html: str
    agreed_at: datetime | None = None
    ticked: bool = False
    ticked_before: bool = False


def checked(text: str) -> str:
    """With line ends of one kind, without empty lines around it. Raises Refused (terms_refused)."""
    wanted = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n").rstrip()
    faults = []
    if not wanted.strip():
        faults.append("Write the text of the terms. To ask for no agreement any more, withdraw them.")
    if len(wanted) > LONGEST:
        faults.append(f"The text has {len(wanted):,} characters; at most {LONGEST:,} are taken.")
    if any(sign not in "\n\t" and unicodedata.category(sign) in _UNSHOWN for sign in wanted):
        faults.append("The text has a character that cannot be shown: write it as plain text.")
    if faults:
        raise Refused("terms_refused", " ".join(faults), status=400, faults=faults)
    return wanted


def standing(project_pk: int) -> Terms | None:
    return Terms.objects.standing().filter(project=project_pk).first()


def can_ask(stage: Stage) -> bool:
    """Whether the page of the stage's task is ours; a task whose code cannot be used asks nothing meanwhile."""
    return not isinstance(usable_protocol(stage), OwnPageProtocol)


def not_asked_in(project: Project) -> list[Stage]:
    """The stages with a crowd whose pages cannot ask, in their order."""
    return [stage for stage in project.stages.filter(crowd=True).order_by("position") if not can_ask(stage)]


def warnings(stage: Stage) -> list[str]:
    """What a lead is told before publishing: that the project has terms and this stage cannot ask for them."""
    if can_ask(stage) or standing(stage.project_id) is None:
        return []
    return [
        "The project has terms, and this stage shows a page of your own, which cannot ask workers to agree to them: "
        "its answers are given under no terms. Put what workers shall agree to on that page itself."
    ]


# Pages


def with_standing(hits: QuerySet[Hit]) -> QuerySet[Hit]:
    """Each with `has_terms`, so that a page of a project without terms takes no query more."""
    return hits.annotate(has_terms=Exists(Terms.objects.standing().filter(project=OuterRef("stage__project"))))


def _standing_of(hit: Hit) -> Terms | None:
    return standing(hit.stage.project_id) if getattr(hit, "has_terms", True) else None


def asked(hit: Hit, worker_id: str, fields: Mapping[str, str]) -> Asked | None:
    """What the page asks of this worker, by the fields of the draft or of the screen before; None: nothing.

    `worker_id` is empty in a preview. Three queries at most, none where the HIT is known to have no terms.
    """
    found = _standing_of(hit)
    if found is None:
        return None
    mine = Assignment.objects.filter(terms=found, worker__worker_id=worker_id)
    since = mine.aggregate(first=Min("submitted_at"))["first"] if worker_id else None
    ticked, on_its_way = fields.get(FIELD) == str(found.version), False
    # With a draft of its own the page shows what that says.
    if worker_id and since is None and not fields:
        on_its_way = Draft.objects.filter(worker_id=worker_id, terms=found, sent_at__isnull=False).exists()
    return Asked(found.version, rendered(found.text), since, ticked, on_its_way)


def posted(fields: Mapping[str, str]) -> dict[str, str]:
    """The field of the terms alone, where there is one that can be a version: for drafts, and from screen to screen."""
    said = fields.get(FIELD, "")
    return {FIELD: said} if said.isascii() and said.isdigit() and len(said) <= 9 else {}


def named(hit: Hit, fields: Mapping[str, str]) -> int | None:
    """Key of the standing version, where the fields name it."""
    found = _standing_of(hit) if FIELD in fields else None
    return found.pk if found and fields[FIELD] == str(found.version) else None


def without(fields: Mapping[str, str]) -> dict[str, str]:
    """The fields as the protocol takes them."""
    return {name: value for name, value in fields.items() if name != FIELD}


def faults(hit: Hit, fields: Mapping[str, str]) -> list[str]:
    """Why an answer with these fields would be held, as a sentence for the worker; empty where nothing is missing.

    When the worker accepted the HIT, the page does not know: an older version is taken that may have stood then.
    """
    found = _standing_of(hit)
    if found is None:
        return []
    since = timezone.now() - timedelta(seconds=hit.assignment_seconds) - CLOCKS
    versions = [found, *Terms.objects.filter(project=hit.stage.project_id, ended_at__gte=since)]
    if fields.get(FIELD) in {str(one.version) for one in versions}:
        return []
    return [
        _(
            "Please read the terms of this project and tick that you agree to them. If you see no box for that, reload "
            "the page: what you entered is kept."
        )
    ]


# Recorded answers


def by_field(stage: Stage) -> dict[str, int]:
    """Keys of the project's versions by what the field of an answer says; empty where no page of ours asks."""
    if not can_ask(stage):
        return {}
    rows = Terms.objects.filter(project=stage.project_id).values_list("version", "pk")
    return {str(version): pk for version, pk in rows}


def unagreed(rows: Sequence[Assignment]) -> dict[int, list[str]]:
    """Of those of these answers, with their stages, that lack an agreement: why, for a lead. One query."""
    versions: dict[int, list[Terms]] = defaultdict(list)
    projects = {row.stage.project_id for row in rows}
    for one in Terms.objects.filter(project__in=projects).defer("text"):
        versions[one.project_id].append(one)
    asking = {stage for stage in {row.stage for row in rows} if versions[stage.project_id] and can_ask(stage)}
    found = ((row.pk, _lacking(row, versions[row.stage.project_id])) for row in rows if row.stage in asking)
    return {pk: [why] for pk, why in found if why}


def _lacking(row: Assignment, versions: Iterable[Terms]) -> str:
    """Empty where nothing is missing."""
    wanted = next((one for one in versions if _stood(one, row.accepted_at - CLOCKS, row.accepted_at - CLOCKS)), None)
    if wanted is None:
        return ""
    agreed = next((one for one in versions if one.pk == row.terms_id), None)
    if agreed is None:
        return f"Its worker did not agree to the project's terms, of which version {wanted.version} stood."
    if _stood(agreed, row.accepted_at - CLOCKS, row.submitted_at + CLOCKS):
        return ""
    return (
        f"Its worker agreed to version {agreed.version} of the project's terms, which did not stand when it was "
        f"accepted: version {wanted.version} did."
    )


def _stood(one: Terms, since: datetime, until: datetime) -> bool:
    """At some moment from `since` to `until`."""
    return one.made_at <= until and (one.ended_at is None or one.ended_at > since)


# Figures


def answers_by_version(project: Project) -> list[tuple[Terms, int]]:
    """Every version, newest first, with the number of recorded answers that name it, by the figures of the stages."""
    counts: Counter[str] = Counter()
    for named in _summaries(project).values_list("terms", flat=True):
        counts.update(named or {})
    rows = project.terms.defer("text").select_related("made_by")
    return [(one, counts[str(one.version)]) for one in rows]


def agreed_to(project: Project, worker: Worker) -> list[tuple[int, datetime]]:
    """(version, when the worker first sent an answer that names it), newest first. One query."""
    mine = Assignment.objects.filter(stage__project=project, worker=worker).exclude(terms=None)
    rows = mine.order_by().values_list("terms__version")
    return list(rows.annotate(first=Min("submitted_at")).order_by("-terms__version"))


def without_version(project: Project) -> int:
    """Recorded answers of the marketplace that name none, by the figures of the stages."""
    rows = _summaries(project).values_list("answers", "imported", "terms")
    return sum(answers - imported - sum((named or {}).values()) for answers, imported, named in rows)


def _summaries(project: Project) -> QuerySet[StageSummary]:
    return StageSummary.objects.filter(stage__project=project)


def facts(project: Project) -> dict[str, Any]:
    """For releases: `versions`, oldest first, those that answers name or that stand, with the `file` that has the text,
    and `answers_under_none`. Empty where there are none. Times are ISO 8601 in UTC.
    """
    told = [(one, n) for one, n in reversed(answers_by_version(project)) if n or one.ended_at is None]
    if not told:
        return {}
    versions = [
        {
            "version": one.version,
            "file": f"worker-terms-{one.version}.md",
            "from": one.made_at.isoformat(),
            "until": one.ended_at.isoformat() if one.ended_at else None,
            "answers": answers,
        }
        for one, answers in told
    ]
    return {"versions": versions, "answers_under_none": without_version(project)}


def files(project: Project, found: Mapping[str, Any]) -> dict[str, bytes]:
    """The text of each version that `facts` names, by the name of its file."""
    names = {row["version"]: row["file"] for row in found.get("versions", ())}
    rows = project.terms.filter(version__in=names).values_list("version", "text")
    return {names[version]: f"{text}\n".encode() for version, text in rows}
