"""A cloze over a news passage, answered by clicking an entity mention.

Source: Zhang et al. (2018), ReCoRD, section 3.4 and appendix A.2. Document: {"text", "entities": [[start, inclusive
end], ...]}; item: {"query" with @placeholder, "answers": [{"start", "end" (inclusive), "text"}]}, where the answers
may be absent. An answer is one mention; any mention of an entity stands for that entity.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from common.cutting import cut
from hits.protocols.base import AnswerRefusedError, CheckedAnswer, Json, LabelValue, SettingsRefusedError
from hits.protocols.choosing import COMMENT
from hits.protocols.given_settings import EARLY, LEAST_TIME, MAX_SECONDS
from hits.protocols.lines import written
from hits.protocols.optional import Line, Setting
from hits.text.figures.squad import macro, normalise
from hits.text.language.passages import Part, mention_groups, passage_parts
from hits.text.wording import _

PLACEHOLDER = "@placeholder"
BLANK = "_____"
DEFAULTS: Json = {"min_seconds": 30, "early_submit": "notice"}
MAX_REMARK = 2000
REPORTS = {"ambiguous": "More than one name fits.", "guessed": "It was not obvious, I guessed."}

_OFFSETS = re.compile(r"([0-9]{1,9})-([0-9]{1,9})", re.ASCII)
_NOT_PRINTED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")

Span = tuple[int, int]


class ClickableEntity:
    name = "clickable_entity"
    title = "Fill the blank by clicking a name"
    fields = (
        Setting("min_seconds", "Minimum time", "number", LEAST_TIME, unit="seconds"),
        Setting(
            "early_submit",
            "If submitted too early",
            "choice",
            EARLY,
            options=(("notice", "say so, and let the worker decide"), ("hold", "let the worker wait")),
        ),
    )
    example = (
        {
            "text": "Greta Lund has sold the mill in Arvika. Its new owner is her neighbour, Jonas Berg.",
            "entities": [[0, 9], [32, 37], [72, 81]],
        },
        {"query": "It is @placeholder who will grind the flour from now on."},
    )

    def settings(self, given: Mapping[str, Any]) -> Json:
        """`min_seconds` 0 to 600; `early_submit` is "notice" (say so, let the worker decide) or "hold" (wait)."""
        settings = {**DEFAULTS, **given}
        faults = [
            f"There is no setting {name!r}; there are {', '.join(DEFAULTS)}." for name in settings.keys() - DEFAULTS
        ]
        seconds = settings["min_seconds"]
        if not isinstance(seconds, int) or isinstance(seconds, bool) or not 0 <= seconds <= MAX_SECONDS:
            faults.append(f"min_seconds must be a whole number from 0 to {MAX_SECONDS}, not {seconds!r}.")
        if settings["early_submit"] not in ("notice", "hold"):
            faults.append(f'early_submit must be "notice" or "hold", not {settings["early_submit"]!r}.')
        if faults:
            raise SettingsRefusedError(faults)
        return settings

    def page(self, document: Json, item: Json, settings: Json, worker: str = "") -> Json:
        """{"blocks": [{"bullets": bool, "lines": [[piece, ...], ...]}, ...], "statement": [text, ...], "max_comment"}.

        A piece is {"text"} or {"text", "value": "start-end", "group"}; the statement is cut at its blanks. Only the
        text, the mentions and the query are read here, so nothing can hint at the references.
        """
        return {
            "blocks": _blocks(document),
            "statement": item["query"].split(PLACEHOLDER),
            "max_comment": MAX_REMARK - sum(len(sentence) + 1 for sentence in REPORTS.values()),
        }

    def check(
        self, document: Json, item: Json, settings: Json, fields: Mapping[str, str], worker: str = ""
    ) -> CheckedAnswer:
        span = _chosen(document, fields)
        start, end = span
        label = LabelValue(
            unit="entity",
            value={"start": start, "end": end, "text": document["text"][start : end + 1]},
            correct=_is_correct(document, item.get("answers") or [], span),
        )
        said = [sentence for name, sentence in REPORTS.items() if fields.get(name)]
        if comment := _NOT_PRINTED.sub("", str(fields.get(COMMENT, ""))).strip():
            said.append(comment)
        return CheckedAnswer((label,), cut(" ".join(said), MAX_REMARK))

    def levels(self, settings: Json) -> dict[str, str]:
        return {"entity": "nominal"}

    def comparable(self, unit: str, value: Any) -> Any:
        """The name, whichever of its mentions was clicked, as exact match compares it."""
        return normalise(value["text"].casefold())

    def in_lines(self, document: Json, item: Json, settings: Json, said: Mapping[str, Any]) -> list[Line]:
        """The statement with its blank, and the name."""
        asked = str(item.get("query", "")).replace(PLACEHOLDER, BLANK)
        known = " or ".join(dict.fromkeys(answer["text"] for answer in item.get("answers") or []))
        return list(written(asked, "entity", said, known))

    def known_values(self, document: Json, item: Json, settings: Json) -> Json:
        """The reference, or all of them where there are several."""
        known = item.get("answers") or []
        return {"entity": known[0] if len(known) == 1 else known} if known else {}

    def scores(self, answers: Iterable[tuple[Json, Json, Any]]) -> Json:
        """{"em", "f1" in percent, "n"} over the answers whose item has references; empty if there are none."""
        judged = [(item["answers"], value) for _, item, value in answers if item.get("answers")]
        if not judged:
            return {}
        said = {str(number): value["text"] for number, (_, value) in enumerate(judged)}
        wanted = {str(number): [answer["text"] for answer in known] for number, (known, _) in enumerate(judged)}
        scores = macro(said, wanted)
        return {"em": scores.em, "f1": scores.f1, "n": scores.n}


def _spans(document: Json) -> list[Span]:
    return sorted((int(start), int(end)) for start, end in document["entities"])


def _blocks(document: Json) -> list[Json]:
    text, spans = document["text"], _spans(document)
    groups = dict(zip(spans, mention_groups(text, spans), strict=True))
    shown = _without_overlaps(spans)
    return [
        {"bullets": kind == "bullet", "lines": [_pieces(text, part, shown, groups) for part in parts]}
        for kind, parts in groupby(passage_parts(text), key=lambda part: part.kind)
    ]


def _pieces(text: str, part: Part, shown: Sequence[Span], groups: Mapping[Span, int]) -> list[Json]:
    pieces: list[Json] = []
    at = part.start
    for start, end in shown:
        if part.start <= start and end < part.end:
            pieces.append({"text": text[at:start]})
            pieces.append({"text": text[start : end + 1], "value": f"{start}-{end}", "group": groups[start, end]})
            at = end + 1
    pieces.append({"text": text[at : part.end]})
    return [piece for piece in pieces if piece["text"]]


def _without_overlaps(spans: Sequence[Span]) -> list[Span]:
    """Where mentions overlap, the longest is shown: one spot of the text can be clicked for one name only."""
    kept: list[Span] = []
    for span in sorted(set(spans), key=lambda span: (span[0] - span[1], span[0])):
        if all(span[1] < other[0] or other[1] < span[0] for other in kept):
            kept.append(span)
    return sorted(kept)


def _chosen(document: Json, fields: Mapping[str, str]) -> Span:
    answer = str(fields.get("answer", "")).strip()
    if not answer:
        raise AnswerRefusedError([_("No name is chosen yet. Click a highlighted name in the passage.")])
    offsets = _OFFSETS.fullmatch(answer)
    span = (int(offsets[1]), int(offsets[2])) if offsets else None
    if span is None or span not in _spans(document):
        raise AnswerRefusedError([_("The answer is no highlighted name of this passage. Click one of them.")])
    sent = str(fields.get("text", ""))
    if sent and sent.split() != document["text"][span[0] : span[1] + 1].split():
        raise AnswerRefusedError([_("The name and its place in the passage do not agree. Click the name once more.")])
    return span


def _is_correct(document: Json, references: Sequence[Json], chosen: Span) -> bool | None:
    if not references:
        return None
    text, spans = document["text"], _spans(document)
    groups = dict(zip(spans, mention_groups(text, spans), strict=True))
    wanted = {groups.get((answer["start"], answer["end"])) for answer in references}
    surface = normalise(text[chosen[0] : chosen[1] + 1].casefold())
    return groups[chosen] in wanted or surface in {normalise(answer["text"].casefold()) for answer in references}


protocol = ClickableEntity()
