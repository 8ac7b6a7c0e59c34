"""Cloze queries that a program makes of a news article, and that leads correct before anybody is asked.

There is no worker page. Document: {"title", "paragraphs", "highlights", "source"}. Item: see
`hits.text.questions.passage_queries`; ends are exclusive. Source: Zhang et al. (2018), section 3.2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hits.protocols.base import AnswerRefusedError, Json, SettingsRefusedError
from hits.protocols.optional import MentionCorrection
from hits.text.questions import passage_queries
from hits.text.questions.query_corrections import (
    CorrectionError,
    Wrong,
    add_mention,
    change_mention,
    drop_query,
    move_mention,
    remove_mention,
    restore_query,
    validate,
)
from hits.text.questions.query_options import rule_of

WITHOUT_QUERY = "without a query"


class PassageQueries:
    name = "passage_queries"
    title = "Cloze queries from articles"

    def settings(self, given: Mapping[str, Any]) -> Json:
        """There is none: what queries are made by are options of the recipe."""
        if given:
            raise SettingsRefusedError([f"There is no setting {name!r}." for name in given])
        return {}

    def figures(self, item: Json) -> dict[str, int]:
        return {**passage_queries.figures(item), "mentions": len(item["mentions"])}

    def word(self, item: Json) -> str:
        return "" if passage_queries.queries(item) else WITHOUT_QUERY

    def annotations(self, item: Json) -> Json:
        return {
            "mentions": item["mentions"],
            "sentences": [{"mentions": one["mentions"]} for one in item["sentences"]],
            "removed": item["removed"],
        }

    def annotate(self, item: Json, given: Mapping[str, Any], options: Mapping[str, Any]) -> Json:
        told, own, wrong = given.get("sentences"), item["sentences"], []
        if type(told) is not list or len(told) != len(own) or not all(type(one) is dict for one in told):
            wrong = [Wrong("sentences", f"there must be a list of {len(own)} objects, one for each sentence")]
            told = own
        sentences = [{**one, "mentions": said.get("mentions")} for one, said in zip(own, told, strict=True)]
        removed = given.get("removed", [])
        made = {**item, "mentions": given.get("mentions"), "sentences": sentences, "removed": removed}
        _refuse([*validate(made, item), *wrong])
        return _without_gone(passage_queries.judged(made, rule_of(options)))

    def correct(self, item: Json, correction: MentionCorrection, options: Mapping[str, Any]) -> Json:
        place, at, wanted, rule = correction.place, correction.at, correction.wanted, rule_of(options)
        try:
            if wanted is None:
                assert at is not None
                return _without_gone(remove_mention(item, rule, place, at))
            start, end, kind, entity = wanted
            if at is None:
                return _without_gone(add_mention(item, rule, place, start, end, type=kind, entity=entity))
            found = change_mention(item, rule, place, at, start, end, type=kind)
            return _without_gone(move_mention(found, rule, place, start, entity))
        except CorrectionError as error:
            _refuse(error.wrong)
            raise

    def drop(self, item: Json, query: str, *, back: bool) -> Json:
        try:
            return restore_query(item, query) if back else drop_query(item, query)
        except CorrectionError as error:
            _refuse(error.wrong)
            raise


def _refuse(wrong: Sequence[Wrong]) -> None:
    if wrong:
        sentences = [f"{one.message[0].upper()}{one.message[1:].rstrip('.')}." for one in wrong]
        raise AnswerRefusedError(sentences, [one.place for one in wrong])


def _without_gone(data: Json) -> Json:
    """A query that is there no more is no longer listed as taken out either."""
    there = [query.id for query in passage_queries.queries(data, with_removed=True)]
    removed = set(data["removed"])
    return {**data, "removed": [one for one in there if one in removed]}


protocol = PassageQueries()
