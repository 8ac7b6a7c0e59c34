"""Publishing from the dashboard: the quote, then one button that says it again."""

from __future__ import annotations

import uuid
from typing import Any, cast

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from hits import tasks
from hits.judging.rules import required_answers
from hits.models import BudgetExceededError, Stage
from hits.payments.rules.commitments import BalanceTooLowError
from hits.payments.verbs import requesting_budget
from hits.publishing.verbs import publishing
from hits.refusals import Refused
from hits.stages.pages import overview
from hits.stages.pages.stages import frame
from hits.stages.verbs import aggregation_rule
from hits.views import jobs, navigation, words
from hits.views.guard import FORM, LeadRequest, for_stage
from hits.workers.rules.project_qualifications import unoffered

MOST_ITEMS = 10_000_000


class PublishForm(forms.Form):
    """What the quote page showed: the verb refuses when it is no longer so."""

    items = forms.IntegerField(min_value=1, max_value=MOST_ITEMS)
    total = forms.DecimalField(max_digits=12, decimal_places=2)
    confirmation = forms.UUIDField()


class HowManyForm(forms.Form):
    items = forms.IntegerField(min_value=1, max_value=MOST_ITEMS, required=False)


@for_stage(FORM)
def publish(request: LeadRequest, stage: Stage) -> HttpResponse:
    """GET quotes and changes nothing; POST publishes exactly what the page said or says what is different now."""
    if request.method != "POST":
        return _quote(request, stage)
    form = PublishForm(request.POST)
    if not form.is_valid():
        messages.error(request, "This confirmation is incomplete. Here is the quote as it stands.")
        return _quote(request, stage, 400)
    given = form.cleaned_data
    try:
        batch = publishing.publish(stage, given["items"], given["total"], str(given["confirmation"]), request.user)
    except BudgetExceededError as error:
        if requesting_budget.ask_for_batch(
            stage, request.user, given["items"], given["total"], str(given["confirmation"])
        ):
            said = (
                "The budget has no room for this, so an owner was asked. It is published when the request is approved."
            )
            messages.success(request, said)
            return redirect("budget-requests", stage.project.slug)
        messages.error(request, f"{error} Nothing was published.")
        return _quote(request, stage, 409)
    except (Refused, BalanceTooLowError) as error:
        level = messages.WARNING if error.error_code == "quote_changed" else messages.ERROR
        messages.add_message(request, level, f"{error} Nothing was published.")
        return _quote(request, stage, 409)
    said = f"Publishing {batch.total:,} HIT{'' if batch.total == 1 else 's'}. You may close this page: it goes on."
    jobs.start(request, tasks.publish_batch, batch.pk, said=said)
    return redirect("stage", stage.project.slug, stage.key)


def _quote(request: HttpRequest, stage: Stage, status: int = 200) -> HttpResponse:
    form = HowManyForm(request.GET if request.method == "GET" and "items" in request.GET else None)
    limit = form.cleaned_data["items"] if form.is_valid() else None
    stage.refresh_from_db(fields=["reward", "state"])
    stage.project.account.refresh_from_db()
    quote = publishing.quote(stage, limit)
    # Nothing but the budget is in the way, and this person may not raise it so far.
    account = stage.project.account
    beyond = quote.items and quote.total > account.left and len(quote.problems) == 1
    has_to_ask = beyond and requesting_budget.has_to_ask(account, cast(User, request.user), quote.total)
    context: dict[str, Any] = {
        **frame(stage),
        "form": form,
        "quote": quote,
        "requirements": words.requirements(stage.requirements, navigation.qualification_titles(stage.project)),
        "unoffered": unoffered(stage),
        **overview.pay(stage),
        "affordable": _affordable(quote),
        "has_to_ask": has_to_ask,
        "rule": aggregation_rule.text_of(stage),
        "expectation_measured": required_answers.is_measured(stage),
        "confirmation": uuid.uuid4(),
    }
    return render(request, "publishing/publish.html", context, status=status)


def _affordable(quote: publishing.Quote) -> int | None:
    """How many items budget and balance cover, when they do not cover all that was asked for."""
    means = quote.budget_left if quote.balance is None else min(quote.budget_left, quote.balance - quote.planned)
    if not quote.items or quote.total <= means:
        return None
    return max(0, int(means / (quote.total / quote.items)))
