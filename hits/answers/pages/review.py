"""Review: one answer a screen, with what a lead needs to decide about it. The table for many at once is `answers`."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.db.models import Prefetch, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from hits import tasks
from hits.answers.pages import forms
from hits.answers.pages.likeness import likenesses
from hits.answers.rules import answer_review, text_evidence
from hits.answers.verbs import reviewing
from hits.core.jobs import queue
from hits.models import Assignment, Label, Stage
from hits.refusals import Refused
from hits.stages.models import to_come
from hits.stages.pages.stages import frame
from hits.views import jobs, paging
from hits.views.guard import FORM, PAGE, VERB, LeadRequest, for_stage

# After such a pause a new sitting begins.
SITTING = timedelta(hours=1)
# So many decisions of a sitting can be undone one after another, each in its time.
REMEMBERED = 20
# Beyond so many the other answers of a worker are not counted on the page.
MOST_COUNTED = 100
NO_REASON = "Choose a reason or write one, of at most 1,000 characters: the worker reads it."
DECIDED_BEFORE = "This answer was decided before. Nothing changed."


# A sitting


@dataclass(frozen=True)
class Decision:
    """What was decided about one answer: approved or rejected."""

    answer: int
    worker: str
    what: str


@dataclass(frozen=True)
class Newest:
    """Of the decision made last: whether it can be undone, and whether its call waits for nothing."""

    undoable: bool
    sent: bool


@dataclass(frozen=True)
class Sitting:
    """What this lead decided in this stage without a longer pause. `last` are the newest decisions, oldest first."""

    approved: int = 0
    rejected: int = 0
    last: tuple[Decision, ...] = ()

    @classmethod
    def of(cls, request: HttpRequest, stage: Stage) -> Sitting:
        kept: Mapping[str, Any] = request.session.get(_key(stage)) or {}
        at = parse_datetime(kept.get("at", ""))
        if at is None or at < timezone.now() - SITTING:
            return cls()
        return cls(kept["approved"], kept["rejected"], tuple(Decision(**one) for one in kept["last"]))

    @property
    def decided(self) -> int:
        return self.approved + self.rejected

    @property
    def newest(self) -> Decision | None:
        return self.last[-1] if self.last else None

    def plus(self, decision: Decision) -> Sitting:
        return self._counting(decision, 1, (*self.last, decision)[-REMEMBERED:])

    def without(self, decision: Decision) -> Sitting:
        return self._counting(decision, -1, tuple(one for one in self.last if one != decision))

    def _counting(self, decision: Decision, by: int, last: tuple[Decision, ...]) -> Sitting:
        approved = decision.what == "approved"
        return Sitting(max(0, self.approved + by * approved), max(0, self.rejected + by * (not approved)), last)

    def keep(self, request: HttpRequest, stage: Stage) -> None:
        request.session[_key(stage)] = {**asdict(self), "at": timezone.now().isoformat()}


def _key(stage: Stage) -> str:
    return f"review-{stage.pk}"


# Look


@for_stage(PAGE)
def review(request: LeadRequest, stage: Stage) -> HttpResponse:
    """The answer that `?answer=<id>` names, or the next that waits after `?after=<id>` or before `?before=<id>`."""
    return _shown(request, stage, _wanted(stage, request.GET))


def _wanted(stage: Stage, query: Mapping[str, Any]) -> Assignment | None:
    """After the last one comes the first again. None where no answer waits."""
    at = {name: paging.id_of(query.get(name)) for name in ("answer", "after", "before")}
    if at["answer"] is not None:
        return _answer(stage, at["answer"])
    if at["before"] is not None:
        back = _whole(reviewing.undecided(stage)).order_by("-pk")
        return back.filter(pk__lt=at["before"]).first() or back.first()
    return _next(stage, at["after"] or 0)


def _next(stage: Stage, after: int) -> Assignment | None:
    rows = _whole(reviewing.undecided(stage)).order_by("pk")
    return rows.filter(pk__gt=after).first() or (rows.first() if after else None)


def _answer(stage: Stage, pk: int) -> Assignment:
    return get_object_or_404(_whole(stage.assignments.from_marketplace()), pk=pk)


def _whole(rows: QuerySet[Assignment]) -> QuerySet[Assignment]:
    """With all that the page of an answer shows."""
    labels = Prefetch("labels", Label.objects.order_by("pk"))
    return rows.select_related("hit__item__document", "worker").prefetch_related(labels, "actions")


def _decidable(stage: Stage, pk: int) -> Assignment:
    """The answer without what only its page shows."""
    rows = stage.assignments.from_marketplace().select_related("hit", "worker").defer("answer")
    return get_object_or_404(rows, pk=pk)


def _shown(
    request: LeadRequest,
    stage: Stage,
    answer: Assignment | None,
    *,
    said: str = "",
    announces: bool = False,
    moves_focus: bool = False,
    fault: str = "",
    rejecting: Mapping[str, Any] | None = None,
    newest: Newest | None = None,
    status: int = 200,
) -> HttpResponse:
    """What was decided last, or `said` in its place, is told to screen readers where this `announces` it; with
    `moves_focus` what had the focus is gone. With `rejecting` the form of a rejection stands in place of the buttons.
    `newest` is the decision that this request made.
    """
    sitting = Sitting.of(request, stage)
    newest = newest or _newest(stage, sitting.newest)
    context = {
        "project": stage.project,
        "stage": stage,
        "summary": stage.summary,
        "sitting": sitting,
        "newest": newest,
        "left": reviewing.left_of([stage])[stage.pk],
        "said": said,
        "announces": announces,
        "moves_focus": moves_focus,
        "fault": fault,
        "rejecting": rejecting,
        **(_about(stage, answer) if answer else {}),
    }
    if not _is_part(request):
        return render(request, "answers/review.html", {**frame(stage), **context}, status=status)
    # As an answer without a fault, for htmx shows no other.
    reply = render(request, "answers/_review_swapped.html", {**context, "swapped": True})
    reply["HX-Push-Url"] = _address(stage, answer=answer.pk) if answer else _address(stage)
    return reply


def _newest(stage: Stage, decision: Decision | None) -> Newest:
    answer = stage.assignments.defer("answer").filter(pk=decision.answer).first() if decision else None
    if answer is None:
        return Newest(undoable=False, sent=False)
    return Newest(reviewing.can_be_undone(answer), reviewing.is_sent_at_once(answer))


def _about(stage: Stage, answer: Assignment) -> dict[str, Any]:
    rest = reviewing.others_waiting(answer, MOST_COUNTED)
    return {
        "answer": answer,
        "waits": reviewing.waits(answer),
        "due": to_come(answer.approve_at or answer.auto_approval_at),
        "undoable": reviewing.can_be_undone(answer),
        "items": answer_review.items_with_words(stage, answer),
        "record": answer_review.record_of(stage, answer.worker),
        "hurried": answer_review.was_hurried(stage, answer),
        "like": likenesses(stage, [answer]).get(answer.pk),
        "evidence": text_evidence.of_answers(stage, [answer]).get(answer.pk),
        "texts_of_worker": text_evidence.of_worker_in(stage, answer.worker) if stage.text_evidence else None,
        "rest": min(rest, MOST_COUNTED),
        "more_rest": rest > MOST_COUNTED,
    }


def _is_part(request: HttpRequest) -> bool:
    """Whether htmx asks for what it puts in place of the answer; the whole page, where it goes back in history."""
    return request.headers.get("HX-Request") == "true" and "HX-History-Restore-Request" not in request.headers


def _address(stage: Stage, **query: int) -> str:
    address = reverse("review", args=[stage.project.slug, stage.key])
    return f"{address}?{urlencode(query)}" if query else address


# Decide


@for_stage(VERB)
def approve(request: LeadRequest, stage: Stage, pk: int) -> HttpResponse:
    answer = _decidable(stage, pk)
    if not reviewing.waits(answer):
        return _gone_on(request, stage, pk, DECIDED_BEFORE)
    return _decided(request, stage, answer, "approved", reviewing.approve(stage, [pk], request.user, undoable=True))


@for_stage(FORM)
def reject(request: LeadRequest, stage: Stage, pk: int) -> HttpResponse:
    """GET says what a rejection costs whom, with reasons to choose from; POST rejects."""
    answer = _decidable(stage, pk)
    if not reviewing.waits(answer):
        return _again(request, stage, pk, DECIDED_BEFORE)
    form = forms.ReasonForm(request.POST)
    if request.method != "POST":
        return _shown(request, stage, _answer(stage, pk), rejecting=_rejection(request, stage, answer))
    if not form.is_valid():
        rejecting = _rejection(request, stage, answer)
        return _shown(request, stage, _answer(stage, pk), rejecting=rejecting, fault=NO_REASON, status=400)
    count = reviewing.reject(stage, [pk], form.cleaned_data["feedback"], request.user, undoable=True)
    return _decided(request, stage, answer, "rejected", count)


def _rejection(request: LeadRequest, stage: Stage, answer: Assignment) -> dict[str, Any]:
    return {
        "reasons": answer_review.reasons(stage, request.user),
        "chosen": request.POST.get("reason", ""),
        "feedback": request.POST.get("feedback", ""),
        "fee": answer.hit.unit_cost - answer.hit.reward,
        "undo_seconds": 0 if reviewing.goes_at_once(answer) else reviewing.UNDO.seconds,
    }


def _decided(request: LeadRequest, stage: Stage, answer: Assignment, what: str, count: int) -> HttpResponse:
    if not count:
        return _gone_on(request, stage, answer.pk, DECIDED_BEFORE)
    Sitting.of(request, stage).plus(Decision(answer.pk, answer.worker.worker_id, what)).keep(request, stage)
    at_once = reviewing.goes_at_once(answer)
    if at_once:
        queue.start(tasks.finish_reviews, stage.pk)
    # The decision is a moment old, so its row, read again, would say nothing else.
    newest = Newest(undoable=not at_once, sent=at_once)
    return _gone_on(request, stage, answer.pk, "", moves_focus=what == "rejected", newest=newest)


def _gone_on(
    request: LeadRequest,
    stage: Stage,
    after: int,
    said: str,
    *,
    moves_focus: bool = False,
    newest: Newest | None = None,
) -> HttpResponse:
    """The next answer by itself."""
    if _is_part(request):
        following = _next(stage, after)
        return _shown(request, stage, following, said=said, announces=True, moves_focus=moves_focus, newest=newest)
    if said:
        messages.info(request, said)
    return redirect(_address(stage, after=after))


@for_stage(VERB)
def undo(request: LeadRequest, stage: Stage, pk: int) -> HttpResponse:
    """The answer waits again, and is shown."""
    answer = _decidable(stage, pk)
    try:
        reviewing.undo(stage, [pk], request.user)
    except Refused as error:
        return _again(request, stage, pk, str(error))
    sitting = Sitting.of(request, stage)
    for decision in (one for one in sitting.last if one.answer == pk):
        sitting = sitting.without(decision)
    sitting.keep(request, stage)
    return _again(request, stage, pk, f"Undone: the answer of {answer.worker.worker_id} waits again.")


def _again(request: LeadRequest, stage: Stage, pk: int, said: str) -> HttpResponse:
    if _is_part(request):
        return _shown(request, stage, _answer(stage, pk), said=said, announces=True, moves_focus=True)
    messages.info(request, said)
    return redirect(_address(stage, answer=pk))


# Many at once


@for_stage(FORM)
def approve_rest(request: LeadRequest, stage: Stage, pk: int) -> HttpResponse:
    """GET says how many other answers of this answer's worker wait and what they cost; POST approves exactly those."""
    return _many(request, stage, "review-rest", worker=_decidable(stage, pk).worker.worker_id, but=[pk], pk=pk)


@for_stage(VERB)
def approve_others(request: LeadRequest, stage: Stage) -> HttpResponse:
    """All that wait but the ticked ones: first the page that says how many and how much, then exactly those."""
    form = forms.AnswersForm(request.POST)
    if form.is_unreadable:
        messages.error(request, "Not every tick could be read. Nothing was approved: tick the answers once more.")
        return redirect(reverse("answers", args=[stage.project.slug, stage.key]) + "?show=review")
    return _many(request, stage, "approve-others", but=form.cleaned_data["answers"] if form.is_valid() else [])


def _many(
    request: LeadRequest, stage: Stage, page: str, *, but: list[int], worker: str = "", pk: int | None = None
) -> HttpResponse:
    """`pk` is the answer from whose page this one was opened."""
    form = forms.ApproveManyForm(request.POST)
    if request.method == "POST" and form.is_valid():
        found = reviewing.waiting(stage, worker=worker, but=but, until=form.cleaned_data["until"])
        given = form.cleaned_data
        shown = given["count"], given["cost"], given["of_blocked"] or 0
        # A worker may be blocked between this look and the approval: that asks again.
        with suppress(Refused):
            if (len(found.pks), found.cost, found.of_blocked) == shown:
                count = reviewing.approve(stage, found.pks, request.user, of_blocked=found.of_blocked)
                said = f"{count:,} answer{'' if count == 1 else 's'} will be approved and paid."
                jobs.start(request, tasks.finish_reviews, stage.pk, said=said)
                return redirect(_address(stage))
        messages.info(request, "Other answers wait now than were shown. Nothing was approved: look once more.")
    found = reviewing.waiting(stage, worker=worker, but=but)
    start = [stage.project.slug, stage.key]
    context = {
        "found": found,
        "worker": worker,
        "but": but,
        "action": reverse(page, args=[*start, pk] if pk else start),
        "back": _address(stage, answer=pk) if pk else reverse("answers", args=start) + "?show=review",
    }
    return render(request, "answers/approve_many.html", {**frame(stage), **context})
