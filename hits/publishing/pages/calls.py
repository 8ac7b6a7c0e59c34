"""The page of the marketplace account's calls: how many, how fast, how they ended. It belongs to no project."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from hits import charts
from hits.mturk.calls import Report, Window
from hits.mturk.errors import MarketplaceError
from hits.mturk.limiter import Pace
from hits.publishing.rules.marketplace_account import gateway
from hits.views.guard import PAGE, guarded

WINDOWS = [(Window.HOUR, "Last hour"), (Window.DAY, "24 hours"), (Window.WEEK, "7 days")]


@dataclass(frozen=True)
class Account:
    """What Redis knows of the account; `problem` says why there is nothing, in a sentence."""

    pace: Pace | None = None
    report: Report | None = None
    problem: str = ""


def look(window: Window) -> Account:
    """Without a call of the marketplace."""
    try:
        market = gateway()
    except MarketplaceError as error:
        return Account(problem=str(error))
    return Account(market.pace(), market.calls(window))


@guarded(PAGE)
def calls(request: HttpRequest) -> HttpResponse:
    asked = request.GET.get("window", "")
    window = Window(asked) if asked in {found.value for found in Window} else Window.HOUR
    account = look(window)
    context = {
        "endpoint": settings.MTURK_ENDPOINT_URL,
        "most": settings.MTURK_MOST_CALLS_A_SECOND,
        "window": window.value,
        "windows": [(found.value, name) for found, name in WINDOWS],
        "account": account,
        **(_plots(account.report) if account.report else {}),
        # With a script the balance comes after the page; without one it is asked for.
        **(_balance() if "balance" in request.GET else {}),
    }
    return render(request, "publishing/calls/index.html", context)


def _plots(report: Report) -> dict[str, object]:
    unit = "minute" if report.window is Window.HOUR else "hour"
    made = [(point.at, float(point.calls)) for point in report.timeline]
    rates = [(point.at, point.rate) for point in report.timeline if point.rate is not None]
    return {
        "unit": unit,
        "calls_rows": charts.curve_rows(made),
        "rate_rows": charts.curve_rows(rates),
        "calls_plot": charts.curve(made, f"Calls a {unit}", f"in the last {unit}") if report.total.calls else "",
        "rate_plot": charts.curve(rates, "Most calls a second", "now") if len(rates) > 1 else "",
    }


@guarded(PAGE)
def balance(request: HttpRequest) -> HttpResponse:
    """A part of its own: it asks the marketplace, which may take seconds."""
    return render(request, "publishing/calls/_balance.html", _balance())


def _balance() -> dict[str, object]:
    try:
        return {"balance": gateway().balance()}
    except MarketplaceError as error:
        return {"problem": str(error)}
