"""A stage's vote rule: its text, what another text would conclude, saving an edition, judging again."""

from __future__ import annotations

from datetime import UTC, datetime
from math import isfinite
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone

from hits import tasks
from hits.answers.rules.answer_words import DIFFER
from hits.judging.rules.crowd_answers import levels_of
from hits.models import RuleEdition, Stage
from hits.refusals import Refused
from hits.stages.pages import forms
from hits.stages.pages.stages import frame
from hits.stages.verbs import aggregation_rule
from hits.stats.vote_rules.votes import Rule
from hits.views import jobs
from hits.views.guard import PAGE, VERB, LeadRequest, for_stage

EXAMPLES_SHOWN = 20


@for_stage(PAGE)
def rule(request: HttpRequest, stage: Stage) -> HttpResponse:
    """`template` in the query puts the text of a published collection's rule into the field; that saves nothing."""
    return _page(request, stage, _asked_text(request, stage))


def _page(request: HttpRequest, stage: Stage, text: str, status: int = 200, **more: Any) -> HttpResponse:
    units = aggregation_rule.units(stage)
    texts, differ = aggregation_rule.texts(stage, units)
    context = {
        **frame(stage),
        "text": text,
        "note": "",
        "units": [
            (unit, values and [(value, texts.get(unit, {}).get(value, "")) for value in values])
            for unit, values in units.items()
        ],
        "differ": DIFFER if differ else "",
        "asked": list(levels_of(stage)),
        "templates": aggregation_rule.templates(stage),
        "editions": aggregation_rule.editions(stage),
        **_progress(request, stage),
        **more,
    }
    return render(request, "stages/rules/rule.html", context, status=status)


def _asked_text(request: HttpRequest, stage: Stage) -> str:
    titles = {known.title: known.text for known in aggregation_rule.templates(stage)}
    return titles.get(request.GET.get("template", "")) or aggregation_rule.text_of(stage)


@for_stage(VERB)
def preview(request: HttpRequest, stage: Stage) -> HttpResponse:
    """What the posted text would conclude, or its faults; a part of the page that changes nothing."""
    text = request.POST.get("text", "")
    context: dict[str, Any] = {"project": stage.project, "stage": stage}
    try:
        wanted = aggregation_rule.written(stage, text)
    except Refused as error:
        context |= error.details()
    else:
        context["preview"] = aggregation_rule.preview(stage, wanted)
    context["unheard"] = aggregation_rule.unheard(text, aggregation_rule.units(stage))
    return render(request, "stages/rules/_preview.html", context)


@for_stage(VERB)
def confirm(request: HttpRequest, stage: Stage) -> HttpResponse:
    """Says what saving would do; `again` names an edition to go back to. Nothing is changed yet."""
    text, again = request.POST.get("text", ""), request.POST.get("again", "")
    try:
        wanted = _wanted(stage, text, again)
    except Refused as error:
        note = request.POST.get("note", "")
        return _page(request, stage, text or aggregation_rule.text_of(stage), 400, note=note, **error.details())
    if wanted.to_dict() == stage.rule:
        messages.info(request, "The stage goes by this very rule already.")
        return redirect("rule", stage.project.slug, stage.key)
    found = aggregation_rule.preview(stage, wanted)
    context = {
        **frame(stage),
        "wanted": wanted,
        "text": wanted.params.get("text", ""),
        "again": again,
        "note": request.POST.get("note", "") or (f"Rule {again} again" if again else ""),
        "next_edition": stage.rule_edition + 1,
        "preview": found,
        "sentence": _sentence(found),
        "later_items": aggregation_rule.later_items(stage),
    }
    return render(request, "stages/rules/confirm.html", context)


def _wanted(stage: Stage, text: str, again: str) -> Rule:
    if not again:
        return aggregation_rule.written(stage, text)
    number = int(again) if again.isascii() and again.isdigit() and len(again) < 6 else 0
    return aggregation_rule.rule_of(stage, get_object_or_404(RuleEdition, stage=stage, number=number))


def _sentence(found: aggregation_rule.Preview) -> str:
    if not found.moves:
        return "no item moves"
    first = found.moves[0]
    if len(found.moves) == 1:
        return f"{_items(first.items)} from {first.before} to {first.after}"
    return f"{_items(found.moved)} to another conclusion"


def _items(count: int) -> str:
    return "1 item moves" if count == 1 else f"{count:,} items move"


@for_stage(VERB)
def save(request: LeadRequest, stage: Stage) -> HttpResponse:
    form = forms.RuleForm(request.POST)
    if not form.is_valid():
        messages.error(request, "This page was incomplete. Nothing was saved.")
        return redirect("rule", stage.project.slug, stage.key)
    given, began = form.cleaned_data, timezone.now()
    try:
        wanted = _wanted(stage, given["text"], given["again"])
        made = aggregation_rule.save(stage, wanted, given["seen"], given["note"], request.user)
    except Refused as error:
        if error.error_code == "rule_unchanged":
            messages.info(request, str(error))
            return redirect("rule", stage.project.slug, stage.key)
        text = given["text"]
        if error.error_code == "rule_changed":
            messages.error(request, str(error))
            text = text or aggregation_rule.text_of(stage)
        return _page(request, stage, text, error.http_status, note=given["note"], **error.details())
    said = f"Rule {made.number} is saved. Every item with answers is judged by it now."
    jobs.start(request, tasks.conclude_stage, stage.pk, said=said)
    return _since(stage, began)


@for_stage(VERB)
def judge_again(request: HttpRequest, stage: Stage) -> HttpResponse:
    began = timezone.now()
    count = aggregation_rule.mark(stage)
    said = f"{count:,} item{'' if count == 1 else 's'} with answers {'is' if count == 1 else 'are'} judged again."
    jobs.start(request, tasks.conclude_stage, stage.pk, said=said)
    return _since(stage, began)


def _since(stage: Stage, moment: datetime) -> HttpResponse:
    address = reverse("rule", args=[stage.project.slug, stage.key])
    return redirect(f"{address}?since={moment.timestamp():.6f}#judging")


@for_stage(PAGE)
def progress(request: HttpRequest, stage: Stage) -> HttpResponse:
    context = {"project": stage.project, "stage": stage, "polled": True, **_progress(request, stage)}
    return render(request, "stages/rules/_progress.html", context)


def _progress(request: HttpRequest, stage: Stage) -> dict[str, Any]:
    """How far judging is and, where the query names a moment, what stands otherwise since then."""
    left, since = aggregation_rule.left_to_judge(stage), _moment(request.GET.get("since", ""))
    found = aggregation_rule.differences(stage, since) if since and not left else []
    total = max(stage.summary.answered, left)
    return {
        "left": left,
        "total": total,
        "judged": total - left,
        "since": request.GET.get("since", "") if since else "",
        "since_moment": since,
        "moves": aggregation_rule.moves_of(found),
        "changed": found[:EXAMPLES_SHOWN],
        "changed_count": len(found),
    }


def _moment(text: str) -> datetime | None:
    """Seconds since 1970 as a moment; None for anything else."""
    try:
        seconds = float(text)
    except ValueError:
        return None
    return datetime.fromtimestamp(seconds, UTC) if isfinite(seconds) and 0 <= seconds < 4e9 else None
