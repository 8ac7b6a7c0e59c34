"""Choosing all answers that are plausible, or none of them.

Document: {"text"}. Item: {"question", "candidates": [{"id", "text", "systems"?: names}, ...]}; the candidates may have
been written by machines, whose names no page shows. Source: Huang et al. (2019), Cosmos QA, section 5.4 and appendix E,
the evaluation of generated answers: four answers and "None of the above", in another order for each worker; an answer
counts as correct if all three workers selected it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hits.protocols import choosing
from hits.protocols.base import AnswerRefusedError, CheckedAnswer, Json, LabelValue
from hits.protocols.choosing import yes_no
from hits.protocols.given_settings import CLOSING, COMMON, INSTRUCTIONS, LONGEST_QUESTION, Given, paragraphs
from hits.protocols.lines import ticked
from hits.protocols.optional import Line, Setting
from hits.stats.intervals import wilson
from hits.text.wording import _

# The id of "none of the above", which no candidate may have.
NONE = "none"
DEFAULTS: Json = {**COMMON, "task": "Tick every answer that is plausible.", "none_text": "None of the above"}


class SelectAll:
    name = "select_all"
    title = "Select all plausible answers, or none"
    fields = (
        INSTRUCTIONS,
        Setting("task", "What to select", "text", "Stands between the question and its answers."),
        Setting(
            "none_text", "The last line, for no answer at all", "text", "Who selects nothing else has to select it."
        ),
        *CLOSING,
    )
    example = (
        {
            "text": "We had packed everything for the lake when the first thunder rolled over the hills. Tom put the"
            " boat back on its rack and began to slice bread for sandwiches in the kitchen."
        },
        {
            "question": "Why did Tom put the boat back?",
            "candidates": [
                {"id": "c0", "text": "It was about to rain."},
                {"id": "c1", "text": "A storm was coming, so they stayed at home."},
                {"id": "c2", "text": "The boat had a hole."},
                {"id": "c3", "text": "Tom was boat the."},
            ],
        },
    )

    def settings(self, given: Mapping[str, Any]) -> Json:
        found = Given(given, DEFAULTS)
        found.text("task", LONGEST_QUESTION)
        found.text("none_text", LONGEST_QUESTION)
        return found.done()

    def page(self, document: Json, item: Json, settings: Json, worker: str = "") -> Json:
        """{"blocks", "instructions", "question", "choices": [{"id", "text", "help", "field"}], "order"}."""
        shown = _shown(document, item, worker)
        return {
            "blocks": choosing.blocks(document.get("text", "")),
            "instructions": paragraphs(settings["instructions"]),
            "question": item["question"],
            "choices": choosing.boxes(shown, "selected"),
            "order": choosing.order_of(shown),
        }

    def check(
        self, document: Json, item: Json, settings: Json, fields: Mapping[str, str], worker: str = ""
    ) -> CheckedAnswer:
        """Labels: `<id>/selected` for each candidate and `none/selected`, each yes or no."""
        shown = _shown(document, item, worker)
        faults = choosing.order_faults(fields, shown)
        lines = [*shown, {"id": NONE, "text": settings["none_text"]}]
        selected = choosing.ticked(fields, "selected", lines, faults)
        none = settings["none_text"][:100]
        if not selected and not faults:
            faults.append(_("Nothing is selected yet. Tick every answer that fits, or “%(none)s”.", none=none))
        if NONE in selected and len(selected) > 1:
            faults.append(_("“%(none)s” cannot stand beside another answer. Untick one of them.", none=none))
        if faults:
            raise AnswerRefusedError(faults)
        lines = [*item["candidates"], lines[-1]]
        labels = [LabelValue(f"{line['id']}/selected", yes_no(line["id"] in selected), None) for line in lines]
        return CheckedAnswer(tuple(labels), choosing.remark(fields))

    def levels(self, settings: Json) -> dict[str, str]:
        """Each line is compared by itself."""
        return {"selected": "nominal"}

    def in_lines(self, document: Json, item: Json, settings: Json, said: Mapping[str, Any]) -> list[Line]:
        """The question with everything that was selected."""
        lines = [*choosing.choices_of(item, {}), {"id": NONE, "text": settings["none_text"]}]
        return list(ticked(str(item.get("question", "")), "selected", lines, said))

    def suggestible(self, document: Json, item: Json, settings: Json) -> list[str]:
        return ["selected"]

    def suggestion(self, document: Json, item: Json, settings: Json, field: str, text: str) -> list[str]:
        """Ids of candidates from ids or texts, or `none` alone."""
        if text == settings["none_text"]:
            return [NONE]
        lines = [*item["candidates"], {"id": NONE, "text": settings["none_text"]}]
        chosen = choosing.choices_named(lines, text)
        if not chosen:
            raise AnswerRefusedError([f"names no answer: write {NONE} where none of them fits"])
        if NONE in chosen and len(chosen) > 1:
            raise AnswerRefusedError([f"names {NONE} beside another answer: keep one of them"])
        return chosen

    def suggested_labels(self, document: Json, item: Json, settings: Json, field: str, value: Any) -> Json:
        idents = [*(one["id"] for one in item["candidates"]), NONE]
        return {f"{ident}/selected": yes_no(ident in value) for ident in idents}

    def scores(self, answers: Iterable[tuple[Json, Json, Any]]) -> Json:
        """Single answers measure nothing: see `item_scores`."""
        return {}

    def item_scores(self, items: Iterable[tuple[Json, Json, Sequence[Mapping[str, Any]]]], settings: Json) -> Json:
        """{"selected_by_all": percent of the candidates that every worker selected, "candidates", "n" items}.

        Where candidates name the `systems` that wrote them, also {"systems": [{"system", "count" selected by all,
        "candidates", "share" of 1, "low", "high"}, ...]}, by name, with the 95 % interval of the share.
        """
        answered, chosen = 0, Counter[bool]()
        by_system: dict[str, Counter[bool]] = defaultdict(Counter)
        for _document, item, given in items:
            if not given:
                continue
            answered += 1
            for candidate in item["candidates"]:
                by_all = all(said.get(f"{candidate['id']}/selected") == choosing.YES for said in given)
                chosen[by_all] += 1
                # One that several systems wrote counts for each.
                for system in filter(None, candidate.get("systems", ())):
                    by_system[system][by_all] += 1
        if not chosen:
            return {}
        percent = choosing.percent(chosen[True], chosen.total())
        found = {"selected_by_all": percent, "candidates": chosen.total(), "n": answered}
        systems = [_share(system, counts) for system, counts in sorted(by_system.items())]
        return {**found, "systems": systems} if systems else found


def _share(system: str, chosen: Counter[bool]) -> Json:
    count, total = chosen[True], chosen.total()
    low, high = wilson(count, total)
    return {"system": system, "count": count, "candidates": total, "share": count / total, "low": low, "high": high}


def _shown(document: Json, item: Json, worker: str) -> list[Json]:
    return choosing.shuffled(item["candidates"], worker, document.get("text", ""), item["question"])


protocol = SelectAll()
