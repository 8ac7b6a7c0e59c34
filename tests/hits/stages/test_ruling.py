"""Rules as editions: what another one would conclude is what it concludes, and nothing of the old ones is lost."""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from hits.judging.verbs import deciding
from hits.models import Item, RuleEdition, Stage, StageSummary, Verdict
from hits.stages.verbs import aggregation_rule
from hits.stats.vote_rules.known_rules import COSMOS_VALIDATION, COSMOS_VALIDATION_TO_THE_LETTER, MCSCRIPT_LABELS
from tests.hits import factories
from tests.hits.doing import refused
from tests.hits.small_recipe import answered

pytestmark = pytest.mark.django_db

GOOD = "good: at least 2 picked.correct = yes\notherwise: drop\n"
STRICT = (
    "fine: all picked.correct = yes and all paragraph = good\ndrop bad: at least 2 paragraph = bad\notherwise: drop\n"
)
EAGER = "answers missing: judge what is there\ngood: at least 1 picked.correct = yes\notherwise: drop\n"


INSERT = """
INSERT INTO hits_item (stage_id, document_id, key, data, state, stale, conclusion, ballots)
WITH RECURSIVE numbers(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < 35587)
SELECT %s, %s, 'k' || n, '{}', 'dropped', false, '', CASE n % 4 WHEN 0 THEN %s WHEN 1 THEN %s WHEN 2 THEN %s ELSE %s END
FROM numbers
""".replace("n % 4", "n %% 4")


def rule(text: str, answers: int = 3) -> dict[str, Any]:
    return {"name": "conditions", "version": 1, "params": {"answers": answers, "text": text}}


def vote(picked: str, right: bool, paragraph: str = "good") -> dict[str, Any]:
    return {"paragraph": paragraph, "picked": picked, "picked.correct": right}


RIGHT, WRONG, BAD = vote("c1", True), vote("c2", False), vote("c1", True, "bad")


@pytest.fixture
def stage(db: None) -> Stage:
    return factories.stage(answers=3, key="judge", rule=rule(GOOD))


def standing(stage: Stage) -> Counter[aggregation_rule.Ending]:
    """How the items stand, by their verdicts alone."""
    rows = Verdict.objects.filter(item__stage=stage, superseded_at=None).values_list("outcome", "conclusion")
    found = Counter(aggregation_rule.Ending(*row) for row in rows)
    return found + Counter({aggregation_rule.OPEN: stage.items.count() - found.total()})


@pytest.mark.parametrize("text", [STRICT, EAGER, COSMOS_VALIDATION.text, COSMOS_VALIDATION_TO_THE_LETTER.text])
def test_the_preview_tells_what_saving_then_does(stage: Stage, text: str) -> None:
    drawn = random.Random(5)
    for _ in range(25):
        answered(stage, *drawn.choices([RIGHT, WRONG, BAD], k=drawn.choice([1, 3, 3])))
    deciding.decide(stage)
    before, began = standing(stage), timezone.now()
    found = aggregation_rule.preview(stage, aggregation_rule.written(stage, text))
    assert {e: now for e, now, _ in found.counts if now} == before
    aggregation_rule.save(stage, aggregation_rule.written(stage, text), 1, "", None)
    deciding.decide(stage)
    assert {e: then for e, _, then in found.counts if then} == standing(stage)
    happened = aggregation_rule.moves_of(aggregation_rule.differences(stage, began))
    moves = {(move.before, move.after): move.items for move in found.moves}
    assert moves == {(move.before, move.after): move.items for move in happened} and moves


def test_a_large_collection_is_previewed_by_one_query_and_each_kind_of_ballots_once(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = factories.document(stage.project)
    # Straight in the database: 35,588 rows through the models would take longer than all that is tested here.
    ballots = [json.dumps([RIGHT] * n + [WRONG] * (3 - n)) for n in range(4)]
    with connection.cursor() as cursor:
        cursor.execute(INSERT, [stage.pk, document.pk, *ballots])
    asked: list[int] = []
    judge = aggregation_rule.apply_rule
    monkeypatch.setattr(aggregation_rule, "apply_rule", lambda *given: asked.append(1) or judge(*given))
    with CaptureQueriesContext(connection) as queries:
        found = aggregation_rule.preview(stage, aggregation_rule.written(stage, GOOD))
    assert len(asked) == 4 == found.kinds
    assert [query["sql"] for query in queries if "GROUP BY" in query["sql"]] == [queries[0]["sql"]]
    # Beside it, the keys of the examples of the one move.
    assert len(queries) == 2
    assert (found.items, found.moved) == (35_588, 17_794)
    assert [key for _, key in found.moves[0].examples] == ["k2", "k3", "k35586"]


def test_every_move_names_up_to_three_items(stage: Stage) -> None:
    items = [answered(stage, RIGHT, RIGHT, BAD) for _ in range(5)]
    deciding.decide(stage)
    move = aggregation_rule.preview(stage, aggregation_rule.written(stage, STRICT)).moves[0]
    assert (move.items, str(move.before), str(move.after)) == (5, "good", "dropped")
    assert move.examples == tuple((item.pk, item.key) for item in items[:3])


def test_items_whose_answers_are_missing_stay_open_unless_the_rule_judges_what_is_there(stage: Stage) -> None:
    answered(stage, RIGHT)
    factories.item(stage)
    deciding.decide(stage)
    assert aggregation_rule.preview(stage, aggregation_rule.written(stage, STRICT)).moved == 0
    found = aggregation_rule.preview(stage, aggregation_rule.written(stage, EAGER))
    assert [(str(e), now, then) for e, now, then in found.counts] == [("good", 0, 1), ("open", 2, 1)]
    aggregation_rule.save(stage, aggregation_rule.written(stage, EAGER), 1, "", None)
    deciding.decide(stage)
    assert aggregation_rule.preview(stage, aggregation_rule.written(stage, GOOD)).reopened == 1


def test_a_verdict_from_before_ballots_were_kept_stands_in_every_preview(stage: Stage) -> None:
    factories.item(stage, state=Item.State.KEPT, conclusion="good")
    found = aggregation_rule.preview(stage, aggregation_rule.written(stage, STRICT))
    assert (found.moved, found.unread) == (0, 1)


def test_a_rule_for_groups_is_previewed_group_by_group(db: None) -> None:
    stage = factories.stage(answers=5, rule=rule(MCSCRIPT_LABELS.text, 5))
    answered(
        stage, *[{"q1/label": "text", "q2/label": label} for label in ("text", "text", "script", "script", "text")]
    )
    deciding.decide(stage)
    other = "each question:\nsure: all label = text\nmixed: at least 1 label = text\notherwise: drop\n"
    assert aggregation_rule.preview(stage, aggregation_rule.written(stage, other)).parts == (
        ("mixed", 0, 1),
        ("sure", 0, 1),
        ("text", 2, 0),
    )


def test_saving_keeps_both_editions_and_each_verdict_names_its_own(stage: Stage) -> None:
    kept, lost = answered(stage, RIGHT, RIGHT, RIGHT), answered(stage, RIGHT, RIGHT, BAD)
    deciding.decide(stage)
    lead = factories.user("lena")
    made = aggregation_rule.save(stage, aggregation_rule.written(stage, STRICT), 1, "All have to agree", lead)
    deciding.decide(stage)
    assert [(row.number, row.note, row.created_by) for row in RuleEdition.objects.all()] == [
        (2, "All have to agree", lead),
        (1, "From the recipe ReCoRD", None),
    ]
    assert (made.number, stage.rule, RuleEdition.objects.get(number=1).rule) == (2, rule(STRICT), rule(GOOD))
    history = lost.verdicts.order_by("id").values_list("outcome", "conclusion", "rule_edition", "superseded_at")
    assert [row[:3] for row in history] == [("kept", "good", 1), ("dropped", "", 2)]
    assert [row[3] is None for row in history] == [False, True]
    assert kept.verdicts.get(superseded_at=None).conclusion == "fine"
    standing = Verdict.objects.filter(item__stage=stage, superseded_at=None)
    assert list(standing.values_list("rule_edition", flat=True)) == [2, 2]


def test_the_second_of_two_leads_is_told_and_changes_nothing(stage: Stage) -> None:
    other = Stage.objects.get(pk=stage.pk)
    aggregation_rule.save(stage, aggregation_rule.written(stage, STRICT), 1, "", None)
    with refused("rule_changed", match="Somebody saved another rule"):
        aggregation_rule.save(other, aggregation_rule.written(other, EAGER), 1, "", None)
    assert Stage.objects.get(pk=stage.pk).rule == rule(STRICT)
    assert RuleEdition.objects.count() == 2
    with refused("rule_unchanged"):
        aggregation_rule.save(stage, aggregation_rule.written(stage, STRICT), 2, "", None)


def test_a_crash_while_marking_leaves_the_old_rule(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    answered(stage, RIGHT, RIGHT, RIGHT)
    deciding.decide(stage)
    monkeypatch.setattr(aggregation_rule, "mark", lambda stage: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        aggregation_rule.save(stage, aggregation_rule.written(stage, STRICT), 1, "", None)
    assert (Stage.objects.get(pk=stage.pk).rule, RuleEdition.objects.count()) == (rule(GOOD), 0)


def test_judging_that_began_before_a_rule_was_saved_goes_on_by_the_new_one(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deciding, "CHUNK", 1)
    for _ in range(2):
        answered(stage, RIGHT, RIGHT, BAD)
    lead = Stage.objects.get(pk=stage.pk)
    chunk, saved = deciding._decide_chunk, []

    def save_behind_the_first(*given: Any) -> None:
        chunk(*given)
        if not saved:
            saved.append(aggregation_rule.save(lead, aggregation_rule.written(lead, STRICT), 1, "", None))

    monkeypatch.setattr(deciding, "_decide_chunk", save_behind_the_first)
    assert deciding.decide(stage) == 3
    assert standing(stage) == {aggregation_rule.Ending("dropped"): 2}


def test_marking_reaches_every_item_with_an_answer_and_no_other(stage: Stage) -> None:
    judged, waiting = answered(stage, RIGHT, RIGHT, RIGHT), answered(stage, RIGHT)
    factories.items(stage, 3)
    deciding.decide(stage)
    assert aggregation_rule.mark(stage) == aggregation_rule.left_to_judge(stage) == 2
    assert set(stage.items.filter(stale=True)) == {judged, waiting}


def test_an_older_edition_can_be_used_again(stage: Stage) -> None:
    aggregation_rule.save(stage, aggregation_rule.written(stage, STRICT), 1, "", None)
    first = aggregation_rule.edition(stage, 1)
    assert first is not None
    made = aggregation_rule.save(stage, aggregation_rule.rule_of(stage, first), 2, "Rule 1 again", None)
    assert (made.number, stage.rule) == (3, rule(GOOD))


def test_units_are_those_of_answers_and_of_the_rule_in_force(stage: Stage) -> None:
    assert aggregation_rule.units(stage) == {"picked.correct": ("yes",)}
    for number in range(20):
        answered(stage, {**vote(f"c{number}", number % 2 == 0), "seconds": 3})
    deciding.decide(stage)
    assert aggregation_rule.units(stage) == {
        "paragraph": ("good",), "picked": None, "picked.correct": ("no", "yes"), "seconds": ("3",)
    }  # fmt: skip


def test_a_slip_in_a_unit_is_pointed_out_with_its_place(stage: Stage) -> None:
    answered(stage, RIGHT, RIGHT, BAD)
    deciding.decide(stage)
    known = aggregation_rule.units(stage)
    slips = aggregation_rule.unheard("good: all pargraph = good and all paragraph = god\notherwise: drop", known)
    assert [(slip.line, slip.column) for slip in slips] == [(1, 11), (1, 47)]
    assert "did you mean paragraph?" in slips[0].message
    grouped = {"q1/label": ("text",), "q2/label": ("script",), "note": None}
    assert (
        aggregation_rule.unheard("each question:\na: all label = script and all note = x\notherwise: drop", grouped)
        == []
    )


def test_all_faults_of_a_text_come_at_once_with_line_and_column(stage: Stage) -> None:
    with refused("rule_refused") as caught:
        aggregation_rule.written(stage, "\ngood: at least 4 picked = c1\nfine: picked = c1\n")
    assert [(fault["line"], fault["column"]) for fault in caught.value.details()["faults"]] == [(2, 7), (3, 1), (3, 7)]


@pytest.mark.parametrize(
    ("name", "params"), [("matches_reference", {"need": 2, "answers": 3}), ("measured", {"answers": 3})]
)
def test_no_item_moves_by_the_lines_offered_for_a_rule_that_has_none(db: None, name: str, params: dict) -> None:
    rule = {"name": name, "version": 1, "params": params}
    stage = factories.stage(protocol="multiple_choice", answers=3, rule=rule)
    right, wrong = ({"choice": "yes", "choice.correct": is_right} for is_right in (True, False))
    for votes in ([right, right, wrong], [wrong, wrong, right], [right]):
        answered(stage, *votes)
    deciding.decide(stage)
    found = aggregation_rule.preview(stage, aggregation_rule.written(stage, aggregation_rule.text_of(stage)))
    assert found.moved == 0
    assert sum(now for ending, now, _ in found.counts if ending.outcome != "open") == 2


TIES = "yes: at least 2 choice = yes\nno: at least 2 choice = no\notherwise: drop tie\n"


def test_the_measured_accuracy_is_of_the_same_items_whether_a_rule_drops_ties_or_not(db: None) -> None:
    """One right majority, one wrong, two ties, and one item of which an answer is missing."""
    rule = {"name": "measured", "version": 1, "params": {"answers": 3}}
    stage = factories.stage(protocol="multiple_choice", answers=3, rule=rule)
    for votes in (["yes", "yes", "no"], ["no", "no", "yes"], ["yes", "no", "maybe"], ["maybe", "no", "yes"], ["yes"]):
        answered(stage, *({"choice": vote, "choice.correct": vote == "yes"} for vote in votes))
    deciding.decide(stage)
    before = StageSummary.objects.get(stage=stage).scores
    assert before == {"accuracy": 500 / 12, "majority": 25.0, "ties": 2, "answers": 12, "n": 4}
    aggregation_rule.save(stage, aggregation_rule.written(stage, TIES), stage.rule_edition, "", None)
    deciding.decide(stage)
    summary = StageSummary.objects.get(stage=stage)
    assert (summary.kept, summary.dropped) == (2, 2)
    assert summary.scores == before


def test_later_stages_keep_what_came_from_this_one(stage: Stage) -> None:
    item = answered(stage, RIGHT, RIGHT, RIGHT)
    later = factories.stage(stage.project, title="Human score")
    factories.item(later, parent=item)
    assert aggregation_rule.later_items(stage) == [("Human score", 1)]
