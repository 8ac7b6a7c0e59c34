"""How far the workers of a stage agree, which method of aggregation is right how often, and the values of its items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from hits import charts
from hits.answers.rules.answer_words import DIFFER, ValueWords
from hits.judging.rules import crowd_answers, stage_statistics
from hits.models import Item, Stage
from hits.stages.pages.stages import frame
from hits.stats.agreement.confusion import PULL
from hits.views import spreadsheet
from hits.views.forms import ValuesForm
from hits.views.guard import PAGE, for_stage

FIGURES = {
    "alpha": "Krippendorff’s alpha",
    "pairwise": "Pairs of answers that are the same",
    "fleiss": "Fleiss’ kappa",
    "cohen": "Cohen’s kappa",
}
LEVELS = {
    "nominal": "Values without an order: two answers are the same or not.",
    "ordinal": "Values in an order: answers differ more, the more answers lie between them.",
    "interval": "Numbers: answers differ by the square of their distance.",
    "set": "Sets: answers differ by how much of them they share (MASI distance).",
    "span": "Spans of a text: answers differ by 1 less the F1 of spans with one label that overlap.",
    "ranking": "Rankings: they are compared place by place, as units of their own.",
}
# (when it was computed, the summary of what was found)
Summaries = Sequence[tuple[datetime, Mapping[str, Any]]]
# With fewer items that two workers answered, figures say little.
FEW_ITEMS = 20


@for_stage(PAGE)
def agreement(request: HttpRequest, stage: Stage) -> HttpResponse:
    run = stage_statistics.newest(stage)
    report = stage_statistics.report_of(run) if run else {}
    of = stage_statistics.computation_of(stage)
    context = {
        **frame(stage),
        "run": run,
        "of": of,
        "form": ValuesForm({**of.params, **(run.params if run else {})}, prefix=of.key, described=of.options)
        if of
        else None,
        "going_on": stage_statistics.going_on(stage),
        "computed": stage_statistics.computed(stage),
        "compared": _compared(stage, report),
        "method": of.options["method"].choices.get(report.get("method", ""), "") if of else "",
        "units": _units(stage, report.get("units", []), stage_statistics.figures_over_time(stage)),
        "texts": [unit for unit, level in crowd_answers.levels_of(stage).items() if level == crowd_answers.TEXT],
        "fewest_new": stage_statistics.FEWEST_NEW,
        "pull": PULL,
        "differ": DIFFER,
    }
    return render(request, "judging/agreement.html", context)


def _compared(stage: Stage, report: Mapping[str, Any]) -> int | None:
    """Answers to the unit that has most of them, where some of those that had come are not among them. None of HITs
    with several items, which are one answer each.
    """
    most = max((unit.get("answers", 0) for unit in report.get("units", [])), default=0)
    return most if stage.items_per_hit == 1 and most < report.get("harvested", 0) else None


def _units(stage: Stage, units: Sequence[Mapping[str, Any]], summaries: Summaries) -> list[dict[str, Any]]:
    """The items of all units are read at once."""
    pks = {row["item"] for unit in units for row in unit.get("worst", [])}
    items = Item.objects.filter(stage=stage, pk__in=pks).select_related("document").in_bulk()
    courses, values = _courses(summaries), ValueWords(stage)
    return [{**_unit(unit, items, values), **course(unit["unit"], courses.get(unit["unit"], []))} for unit in units]


def _courses(summaries: Summaries) -> dict[str, list[dict[str, Any]]]:
    """The figures of each unit by the time of their run: {"at", "harvested", and each figure by its name}."""
    found: dict[str, list[dict[str, Any]]] = {}
    for at, summary in summaries:
        for unit in summary["units"]:
            row = {"at": at, "harvested": summary["harvested"], **unit["figures"]}
            found.setdefault(unit["unit"], []).append(row)
    return found


def course(unit: str, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The chart of a unit's alpha over time and its rows, oldest first; of pairs where no run has an alpha."""

    def known(name: str) -> list[dict[str, Any]]:
        return [{**row, **row[name]} for row in rows if row.get(name, {}).get("value") is not None]

    name = "alpha" if known("alpha") else "pairwise"
    percent, found = name == "pairwise", known(name)
    moments = []
    for row in found:
        value = f"{100 * row['value']:.1f} %" if percent else f"{row['value']:.3f}"
        answers = f"{row['harvested']:,} answer{'' if row['harvested'] == 1 else 's'}"
        title = f"{row['at']:%-d %b %Y, %H:%M} UTC: {value} over {answers}"
        moments.append(charts.Moment(row["at"], row["value"], title))
    what = f"{FIGURES[name]} of {unit}"
    plot = charts.figures_over_time(moments, what, charts.percent if percent else None)
    return {"course": found, "course_plot": plot, "course_of": FIGURES[name], "course_percent": percent}


def _unit(unit: Mapping[str, Any], items: Mapping[int, Item], values: ValueWords) -> dict[str, Any]:
    figures, name = unit.get("figures", {}), unit["unit"]
    return {
        **unit,
        "warned": any(one.get("warnings") for one in unit.get("methods", [])),
        "levelled": LEVELS[unit["level"]],
        "shown": [{"name": FIGURES[name], "percent": name == "pairwise", **figures[name]} for name in figures],
        "alpha": figures.get("alpha", {}),
        "means": meaning(figures.get("alpha", {}).get("value"), figures.get("alpha", {}).get("low")),
        "few": 0 < unit.get("paired", 0) < FEW_ITEMS,
        "asked": _asked(unit.get("confusion"), name, values),
        "matrix": _matrix(unit.get("confusion"), name, values),
        "differences": [
            {
                **one,
                "mistaken": [
                    (values.text(name, right), values.text(name, said), n) for right, said, n in one["mistaken"]
                ],
            }
            for one in unit.get("differences", [])
        ],
        "divided": [
            {
                **row,
                "row": items[row["item"]],
                "text": _text(items[row["item"]]),
                "part": values.part(items[row["item"]], row["group"]),
            }
            for row in unit.get("worst", [])
            if row["item"] in items
        ],
        "on_scale": unit["level"] in ("ordinal", "interval"),
    }


def _text(item: Item) -> dict[str, Any]:
    """What of an item is shown in a line: its own words or columns, or those of its document."""
    own = {name: value for name, value in item.data.items() if name not in ("key", "key_field", "gold")}
    shown = own or {name: value for name, value in item.document.data.items() if name in ("text", "columns", "title")}
    columns = shown.pop("columns", {})
    return {**columns, **shown}


def meaning(alpha: float | None, low: float | None = None) -> str:
    """As Krippendorff advises for conclusions that matter (Content analysis, 2004, chapter 11); `low` is the lower end
    of the 95 % interval.
    """
    if alpha is None:
        return ""
    if alpha >= 0.8 and low is not None and low < 0.8:
        return "Not certain yet: it is above 0.8, and its interval begins below. Answers to more items narrow it."
    if alpha >= 0.8:
        return "Reliable: from 0.8 on, conclusions can be drawn from these answers."
    if alpha >= 0.667:
        return "Fair: from 0.667 on, conclusions are tentative."
    if alpha > 0.05:
        return "Low: below 0.667 single answers are not reliable. See which items and labels divide the workers."
    return "About as by chance: workers agree no more than if they had not looked."


def _asked(confusion: Mapping[str, Any] | None, unit: str, values: ValueWords) -> str:
    """What the unit's task asks, in its words; empty where it is not known, or differs from item to item."""
    return values.asked(unit, confusion["labels"][0]) if confusion and confusion["labels"] else ""


def _matrix(confusion: Mapping[str, Any] | None, unit: str, values: ValueWords) -> dict[str, Any] | None:
    if not confusion or len(confusion["labels"]) < 2:
        return None
    labels = [values.text(unit, label) for label in confusion["labels"]]
    rows = [(label, charts.shaded(cells)) for label, cells in zip(labels, confusion["table"], strict=True)]
    return {
        "labels": labels,
        "rows": rows,
        "left_out": confusion["left_out"],
        "differ": values.differ(unit, confusion["labels"]),
    }


@for_stage(PAGE)
def agreement_csv(request: HttpRequest, stage: Stage) -> HttpResponse:
    """The value and confidence of each unit of each item by the newest run; only the head where none has run."""
    run = stage_statistics.newest(stage)
    name = f"{stage.project.slug}-{stage.key}-values.csv"
    return spreadsheet.csv_response(name, *stage_statistics.value_table(stage, run))
