"""The worker's page: who may open it, what it shows, what it keeps until the answer is sent.

Security: no cookie and no session. A HIT's address holds a signed token that names its row; the page holds a second
one, bound to HIT, assignment and worker, which the check and the drafts go by. The ids come from the page's address,
where anybody can write any: they decide what this page shows, never what another one shows or what is paid. Answers
enter by harvesting alone, and only those keep a worker from other HITs. Drafts are bounded by HIT, and by HIT and
network address in a minute.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from urllib.parse import urlencode

from django.conf import settings
from django.core import signing
from django.db.models import Count
from django.utils import timezone
from django.utils.formats import date_format

from common import request_id
from hits.answers.rules import drafts, eligibility, feedback, item_answers, task_words
from hits.answers.rules.eligibility import Cause
from hits.answers.rules.hits_to_harvest import mark_due
from hits.answers.rules.item_answers import ON_SCREEN, fields_by_item, kept_fields, number_on_screen
from hits.answers.rules.task_links import hit_pk, task_path
from hits.answers.rules.task_pages import Page, Practice, page_of
from hits.core.jobs.failures import note
from hits.core.rate_limits import allow, first_in
from hits.models import Assignment, Draft, Hit, Item, Stage
from hits.people.rules import terms
from hits.pools import rules as pools
from hits.projects.rules.plugins import protocol_of, settings_of, stage_fault
from hits.protocols.base import AnswerRefusedError, Move, Step, StepwiseProtocol
from hits.protocols.optional import SizedProtocol
from hits.publishing.rules.hit_items import all_item_pks, hits_of, items_of
from hits.publishing.rules.hit_questions import has_own_page
from hits.text.wording import _, gettext_noop
from hits.workers.rules import screening

log = logging.getLogger(__name__)
PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
PRACTICE_NUMBER = "practice_number"
# Of a draft of any task; one whose answers can be longer keeps more, and nothing more than the second.
DRAFT_CHARACTERS, MOST_DRAFT_CHARACTERS = 20_000, 1_000_000
# What every page posts beside the protocol's own fields: a remark, the step, times and pastes.
BESIDE_CHARACTERS = 10_000
# For each assignment of a HIT; a page saves at most every 1.5 seconds.
DRAFTS_A_MINUTE = 60
# A class of students may share an address.
DRAFTS_A_MINUTE_FROM_AN_ADDRESS = 1200
# Announced answers of a HIT that have it looked at.
ANNOUNCED_A_MINUTE = 20
# From the check to the answer at the marketplace; a look that comes before it is repeated.
ON_ITS_WAY_SECONDS = 3
# Another look at the same HIT is arranged only for an answer that the one before could come too early for.
APART_SECONDS = 2
# Looks that pages arrange, of a stage's HITs and of all together; what is beyond them waits for the beat.
LOOKS_A_MINUTE_IN_A_STAGE = 60
LOOKS_A_MINUTE = 240
_PAGE_SALT = "hits.task.page"
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
_NOT_THE_ANSWER = ("assignmentId", "hitId", "workerId", "turkSubmitTo", request_id.HEADER, terms.FIELD)
_WHY = {
    Cause.BLOCKED: gettext_noop("This project does not offer you its tasks any more."),
    Cause.ANSWERED: gettext_noop(
        "You have answered this question before. This time we need somebody who sees it for the first time."
    ),
    Cause.LACKING: gettext_noop(
        "This task is for workers whom the project chose for it, and you are not among them yet."
    ),
    Cause.OTHER_PART: gettext_noop(
        "You have done the other part of this task already. This part needs somebody who has not."
    ),
    Cause.KEPT_OUT: gettext_noop("The project keeps this task for other workers than you."),
}
_HEADINGS = {
    Cause.ANSWERED: gettext_noop("You already answered this item"),
    Cause.OTHER_PART: gettext_noop("You already answered another part of this task"),
}
_OTHERWISE = gettext_noop("You cannot work on this HIT")


class TaskRefusedError(Exception):
    """The page cannot be served, or a draft not kept. The message says what happened, in words for the worker.

    `status` is 404 for an address or a token that is not good for it, 400 for a frame of another site, 413 for a draft
    that is too long, 429 for too many drafts.
    """

    def __init__(self, message: str, status: int = 404) -> None:
        self.status = status
        super().__init__(message)


class NotEligibleError(TaskRefusedError):
    """This worker may not answer this item; `heading` says so in a few words."""

    def __init__(self, message: str, contact_email: str, heading: str) -> None:
        self.contact_email, self.heading = contact_email, heading
        super().__init__(message, 403)


@dataclass(frozen=True)
class Visit:
    """One worker with one assignment of one HIT."""

    hit: Hit
    assignment_id: str
    worker_id: str


def resolve(token: str) -> Hit:
    """The HIT of an address. Raises TaskRefusedError."""
    try:
        return _hit(hit_pk(token))
    except (signing.BadSignature, ValueError) as error:
        raise TaskRefusedError(_("This address is incomplete or was changed, so the task cannot be found.")) from error


def open_page(hit: Hit, query: Mapping[str, str]) -> Page:
    """The page of a HIT for what the frame says of itself. Writes nothing.

    A page of a lead's own is never served here: its scripts would run at our address.
    Raises TaskRefusedError.
    """
    _refuse_unusable(hit)
    if has_own_page(hit.stage):
        raise TaskRefusedError(_("The marketplace itself shows this task. Open it there."))
    if query.get("assignmentId", PREVIEW) == PREVIEW:
        return _page(Visit(hit, "", ""), "", {})
    visit = _visit(hit, query)
    origin = _submit_origin(query)
    draft = Draft.objects.filter(assignment_id=visit.assignment_id, worker_id=visit.worker_id, hit=hit).first()
    refuse_ineligible(visit, begun=draft is not None)
    if draft is None and (practised := _practice_page(visit, origin, query.get("practice", "1"))):
        return replace(practised, first_visit=query.get("practice", "1") == "1" and not _was_here(visit))
    page = _page(visit, origin, draft.fields if draft else {})
    return replace(page, first_visit=draft is None and not _was_here(visit))


def _practice_page(visit: Visit, origin: str, wanted: str) -> Page | None:
    """The practice item of that number; None where there is none, and after the last."""
    if not visit.hit.stage.practice_items:
        return None
    items = screening.drawn_for(visit.hit.stage, visit.worker_id)
    number = int(wanted) if wanted.isascii() and wanted.isdigit() and len(wanted) <= 2 else 0
    return _practising(visit, origin, items, number) if 1 <= number <= len(items) else None


def _practising(visit: Visit, origin: str, items: Sequence[Item], number: int) -> Page:
    return page_of(
        visit.hit,
        items[number - 1],
        worker_id=visit.worker_id,
        assignment_id=visit.assignment_id,
        origin=origin,
        token=page_token(visit),
        practice=Practice(number, len(items), f"{_address(visit, origin)}&practice={number + 1}"),
    )


def practise(token: str, fields: Mapping[str, str], query: Mapping[str, str]) -> Page:
    """The same item again with what was right, or with the reasons where it is not answered. Writes nothing.

    Of items that are kept for practice alone: they are in no test, so what is right of them gives nothing away.
    Raises TaskRefusedError.
    """
    visit, origin = read_page_token(token), _submit_origin(query)
    _refuse_unusable(visit.hit)
    refuse_ineligible(visit)
    items = screening.drawn_for(visit.hit.stage, visit.worker_id) if visit.hit.stage.practice_items else []
    said = fields.get(PRACTICE_NUMBER, "")
    number = int(said) if said.isascii() and said.isdigit() and len(said) <= 2 else 0
    if not 1 <= number <= len(items):
        raise TaskRefusedError(_("This item is not there to practise on any more. Reload the page: the test begins."))
    own = {name: value for name, value in answer_fields(fields).items() if name != PRACTICE_NUMBER}
    page = replace(_practising(visit, origin, items, number), draft=own, first_visit=False, moved=True)
    assert page.practice
    try:
        told = feedback.told(visit.hit.stage, items[number - 1], own, visit.worker_id)
    except AnswerRefusedError as refusal:
        return replace(page, reasons=refusal.reasons)
    return replace(page, practice=replace(page.practice, told=told))


def _refuse_unusable(hit: Hit) -> None:
    """Raises TaskRefusedError where the code of the task is gone or broken. The lead is told on the stage's page."""
    if stage_fault(hit.stage):
        raise TaskRefusedError(
            _(
                "This task cannot be shown now, through no fault of yours. Return this HIT, or come back later: "
                "neither counts against you."
            )
        )


def _page(visit: Visit, origin: str, draft: dict[str, str], step: Step | None = None) -> Page:
    """Without an assignment, the preview. Where the task has steps and none is given, the one that the draft led to."""
    hit = visit.hit
    asked = terms.asked(hit, visit.worker_id, draft)
    draft = terms.without(draft)
    number = number_on_screen(draft, hit.item_count) if draft else 1
    said = fields_by_item(draft, hit.item_count)
    shown = items_of([hit])[hit.pk][number - 1]
    if isinstance(protocol_of(hit.stage), StepwiseProtocol) and step is None:
        step = _step(visit, draft, "stay")
    return page_of(
        hit,
        shown,
        worker_id=visit.worker_id,
        step=step,
        assignment_id=visit.assignment_id,
        origin=origin,
        token=page_token(visit) if visit.assignment_id else "",
        draft=said[number - 1],
        number=number,
        kept=kept_fields(said, number),
        terms=asked,
    )


def page_token(visit: Visit) -> str:
    return signing.dumps([visit.hit.pk, visit.assignment_id, visit.worker_id], salt=_PAGE_SALT)


def read_page_token(token: str) -> Visit:
    """Raises TaskRefusedError."""
    try:
        pk, assignment_id, worker_id = signing.loads(token, salt=_PAGE_SALT)
    except (signing.BadSignature, ValueError) as error:
        raise TaskRefusedError(_("This page has lost its key. Reload it: what you entered is kept.")) from error
    return Visit(_hit(pk), assignment_id, worker_id)


def check(token: str, fields: Mapping[str, str]) -> int | None:
    """The last word before the answer goes to the marketplace; leaves word that one is on its way.

    Returns the HIT that is to be fetched ON_ITS_WAY_SECONDS from now; None where it can wait for the beat.
    Raises TaskRefusedError, and AnswerRefusedError from the protocol.
    """
    visit = read_page_token(token)
    refuse_ineligible(visit)
    last = number_on_screen(fields, visit.hit.item_count) == visit.hit.item_count
    log.info("An answer is checked.", extra={"hit_id": visit.hit.hit_id, "assignment_id": visit.assignment_id})
    _check_screen(visit, fields)
    if not last:
        return None
    return visit.hit.pk if _announce(visit, fields) and _may_look(visit.hit) else None


def _check_screen(visit: Visit, fields: Mapping[str, str]) -> None:
    """The terms, and the item on screen; with the last one also those before it. Raises AnswerRefusedError."""
    missing = terms.faults(visit.hit, fields)
    try:
        _check_items(visit, fields)
    except AnswerRefusedError as refusal:
        # Names of fields stand in the order of the reasons.
        names = [*(terms.FIELD for _reason in missing), *refusal.fields]
        raise AnswerRefusedError([*missing, *refusal.reasons], names) from refusal
    if missing:
        raise AnswerRefusedError(missing, [terms.FIELD])


def _check_items(visit: Visit, fields: Mapping[str, str]) -> None:
    hit = visit.hit
    items, posted = items_of([hit])[hit.pk], answer_fields(fields)
    number = number_on_screen(posted, hit.item_count)
    own = fields_by_item(posted, hit.item_count)[number - 1]
    try:
        protocol, options = protocol_of(hit.stage), settings_of(hit.stage)
        # By itself first: its reasons name the fields that are on screen.
        item_answers.check_item(protocol, options, items[number - 1], own, visit.worker_id)
        if hit.item_count > 1 and number == hit.item_count:
            item_answers.check(protocol, options, items, posted, visit.worker_id)
    except AnswerRefusedError:
        raise
    except Exception as error:
        # Nothing that the worker could change: the answer goes to the marketplace and waits there for a lead.
        note(error, f"an answer to item {items[number - 1].pk}")


def take_step(token: str, fields: Mapping[str, str], query: Mapping[str, str], address: str = "") -> Page:
    """The next screen of a task that asks one thing at a time or about several items, or the one before it where the
    query says `go=back`.

    What was said so far is kept as a draft; the form carries it too, so it goes on also where no draft can be kept.
    A step that is not answered comes back with the reasons and keeps nothing.
    Raises TaskRefusedError.
    """
    visit, origin = read_page_token(token), _submit_origin(query)
    _refuse_unusable(visit.hit)
    refuse_ineligible(visit)
    back = query.get("go") == "back"
    if visit.hit.item_count > 1:
        return _take_item(visit, origin, fields, back, address)
    try:
        if not back and (missing := terms.faults(visit.hit, fields)):
            raise AnswerRefusedError(missing)
        step = _step(visit, fields, "back" if back else "on")
    except AnswerRefusedError as refusal:
        page = _page(visit, origin, dict(fields), _step(visit, fields, "stay"))
        return replace(page, first_visit=False, moved=True, reasons=refusal.reasons)
    draft = {**step.kept, **step.said, "step": str(step.number), "seconds_open": fields.get("seconds_open", "")}
    draft |= terms.posted(fields)
    with suppress(TaskRefusedError):
        _keep(visit, draft, address)
    return replace(_page(visit, origin, draft, step), first_visit=False, moved=True)


def _take_item(visit: Visit, origin: str, posted: Mapping[str, str], back: bool, address: str) -> Page:
    count = visit.hit.item_count
    fields, agreed = answer_fields(posted), terms.posted(posted)
    number = number_on_screen(fields, count)
    if not back:
        try:
            _check_screen(visit, posted)
        except AnswerRefusedError as refusal:
            page = _page(visit, origin, {**fields, **agreed})
            return replace(page, first_visit=False, moved=True, reasons=refusal.reasons)
    shown = min(max(number + (-1 if back else 1), 1), count)
    said = fields_by_item(fields, count)
    draft = {**kept_fields(said, shown), **said[shown - 1], ON_SCREEN: str(shown), **agreed}
    page = replace(_page(visit, origin, draft), first_visit=False, moved=True)
    with suppress(TaskRefusedError):
        _keep(visit, draft, address)
        # A reload shows the draft again; that of a posted form would put it back to what it was before.
        return replace(page, shown_at=_address(visit, origin))
    return page


def _address(visit: Visit, origin: str) -> str:
    frame = {"assignmentId": visit.assignment_id, "workerId": visit.worker_id, "turkSubmitTo": origin}
    return f"{task_path(visit.hit.pk)}?{urlencode(frame)}"


def _step(visit: Visit, fields: Mapping[str, str], move: Move) -> Step:
    stage, item = visit.hit.stage, visit.hit.item
    protocol = protocol_of(stage)
    if not isinstance(protocol, StepwiseProtocol):
        raise TaskRefusedError(_("This task has no steps."))
    options = settings_of(stage)
    return protocol.step(item.document.data, item.data, options, terms.without(fields), visit.worker_id, move)


def _announce(visit: Visit, fields: Mapping[str, str]) -> bool:
    """A hint, never an answer: with the last one that a HIT wants, or a late one, it is to be fetched by the beat.

    So is any answer on which other HITs depend, and that one without waiting for the beat: returns whether. Assignments
    are counted, not workers: an assignment id is passed on when its worker returns it.
    """
    hit, now = visit.hit, timezone.now()
    if not allow(f"announced:{hit.pk}", ANNOUNCED_A_MINUTE * hit.max_assignments):
        return False
    drafts.keep(hit, visit.assignment_id, visit.worker_id, sent_at=now, terms_id=terms.named(hit, fields))
    sent = Draft.objects.filter(hit=hit, sent_at__isnull=False).aggregate(n=Count("assignment_id", distinct=True))["n"]
    # Who answers this HIT may not answer those: the sooner the answer is recorded, the sooner they know.
    items = all_item_pks([hit])
    beside, drawn = hits_of(items).exclude(pk=hit.pk), Item.objects.filter(parent__in=items)
    needed = bool(hit.stage.grants) or beside.exists() or drawn.exists()
    if needed or sent >= hit.max_assignments or (hit.expires_at and hit.expires_at <= now):
        mark_due(Hit.objects.filter(pk=hit.pk), ON_ITS_WAY_SECONDS)
    return needed


def _may_look(hit: Hit) -> bool:
    """Not when a look is arranged already, nor without end: anybody can announce answers."""
    return (
        first_in(f"look:{hit.pk}", APART_SECONDS)
        and allow(f"looks:{hit.stage_id}", LOOKS_A_MINUTE_IN_A_STAGE)
        and allow("looks", LOOKS_A_MINUTE)
    )


def save_draft(token: str, fields: Mapping[str, str], address: str = "") -> None:
    """Keep an unfinished answer; the last one saved stands. `address` is the network address that it comes from.

    Raises TaskRefusedError.
    """
    _keep(read_page_token(token), fields, address)


def _keep(visit: Visit, fields: Mapping[str, str], address: str) -> None:
    # PostgreSQL's JSON cannot hold the character NUL.
    kept = {name.replace("\0", ""): value.replace("\0", "") for name, value in answer_fields(fields).items()}
    kept |= terms.posted(fields)
    length = sum(len(name) + len(value) for name, value in kept.items())
    if length > DRAFT_CHARACTERS and length > _most_characters(visit.hit):
        raise TaskRefusedError(_("The draft is too long to be kept. Shorten what you wrote."), 413)
    hit = visit.hit
    if hit.state == Hit.State.CLOSED or hit.stage.project.archived_at:
        raise TaskRefusedError(_("This task is closed, so that no draft of it is kept."), 429)
    if not (
        # A long draft counts as often as it could hold ordinary ones.
        allow(f"drafts-from:{address}", DRAFTS_A_MINUTE_FROM_AN_ADDRESS, 1 + length // DRAFT_CHARACTERS)
        and allow(f"drafts:{hit.pk}", DRAFTS_A_MINUTE * hit.max_assignments)
    ):
        raise TaskRefusedError(_("Too many drafts came at once. Your next change is saved again."), 429)
    if not drafts.keep(hit, visit.assignment_id, visit.worker_id, fields=kept):
        full = _("There is no room for another draft of this task. You can still submit your answer here.")
        raise TaskRefusedError(full, 429)


def _most_characters(hit: Hit) -> int:
    """Of a draft: as many as an answer to this task can have, so that none is lost for its length alone."""
    if stage_fault(hit.stage):
        return DRAFT_CHARACTERS
    protocol, options = protocol_of(hit.stage), settings_of(hit.stage)
    if not isinstance(protocol, SizedProtocol):
        return DRAFT_CHARACTERS * hit.item_count
    longest = (
        protocol.longest_answer(item.document.data, item.data, options) + BESIDE_CHARACTERS
        for item in items_of([hit])[hit.pk]
    )
    return min(max(sum(longest), DRAFT_CHARACTERS), MOST_DRAFT_CHARACTERS)


def answer_fields(fields: Mapping[str, str]) -> dict[str, str]:
    """The protocol's own fields, without those that belong to the marketplace, to the log or to the terms."""
    return {name: value for name, value in fields.items() if name not in _NOT_THE_ANSWER}


def refuse_ineligible(visit: Visit, *, begun: bool = True) -> None:
    """Raises NotEligibleError for a blocked worker, one who has judged this item before, and one whom the stage's own
    qualifications keep out. Scoring asks the same of the recorded answer. A paused one finishes what was begun."""
    claim = eligibility.Claim(visit.hit, visit.worker_id, visit.assignment_id)
    [found] = eligibility.judge(visit.hit.stage, [claim])
    if found and found.cause == Cause.LACKING and pools.may_have_joined(visit.hit.stage, found.about):
        # The marketplace has let them in. Before the answer is scored, it is asked.
        return
    if found and not (begun and found.cause == Cause.PAUSED):
        heading, why = _refusal(found, visit.hit.stage)
        raise NotEligibleError(why, visit.hit.stage.project.contact_email, heading)


def _refusal(found: eligibility.Ineligible, stage: Stage) -> tuple[str, str]:
    """(heading, why)."""
    if found.cause == Cause.OTHER_PART and stage.screening_share and found.about == stage.grants:
        again = _("You have taken it already. Its result comes to you as a message.")
        return _("You cannot take this test again"), again
    heading = _(_HEADINGS.get(found.cause, _OTHERWISE))
    return heading, _paused(found) if found.cause == Cause.PAUSED else _(_WHY[found.cause])


def _paused(found: eligibility.Ineligible) -> str:
    until = datetime.fromisoformat(found.about)
    return _(
        "The project has paused its tasks for you until %(time)s UTC. What you have submitted counts and is paid.",
        time=date_format(until, "j F Y, H:i"),
    )


def _hit(pk: int) -> Hit:
    # Without what the item was made from: few stages ask for it, and then it costs a query a generation.
    rows = terms.with_standing(Hit.objects.select_related("stage__project", "item__document"))
    hit = rows.filter(pk=pk).first()
    if hit is None:
        raise TaskRefusedError(_("This task was taken down by the project that made it."))
    task_words.prefer(hit.stage.page_language)
    return hit


def _visit(hit: Hit, query: Mapping[str, str]) -> Visit:
    assignment_id, worker_id = query.get("assignmentId", ""), query.get("workerId", "")
    if not _ID.fullmatch(assignment_id) or not _ID.fullmatch(worker_id):
        raise TaskRefusedError(
            _("The marketplace did not say whose task this is, so no answer could be credited."), 400
        )
    # Until the marketplace's reply is recorded, a HIT that workers already see has no id here.
    if hit.hit_id and query.get("hitId", hit.hit_id) != hit.hit_id:
        raise TaskRefusedError(_("This page belongs to another HIT than the one that you accepted."), 400)
    return Visit(hit, assignment_id, worker_id)


def _submit_origin(query: Mapping[str, str]) -> str:
    origin = query.get("turkSubmitTo", "")
    if origin not in settings.MTURK_SUBMIT_ORIGINS:
        raise TaskRefusedError(
            _("This page was opened from a site that we do not know, so your answer would be lost."), 400
        )
    return origin


def _was_here(visit: Visit) -> bool:
    """Whether the worker has answered or begun anything in this project."""
    project = visit.hit.stage.project_id
    answered = Assignment.objects.filter(worker__worker_id=visit.worker_id, stage__project=project)
    begun = Draft.objects.filter(worker_id=visit.worker_id, hit__stage__project=project)
    return answered.exists() or begun.exists()
