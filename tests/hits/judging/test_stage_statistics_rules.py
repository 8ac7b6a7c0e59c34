"""Statistics of a stage from its labels: which are read, by which level, what each item gets, and when they are due."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hits.judging.rules import crowd_answers, stage_statistics
from hits.judging.rules.summaries import refresh_worker_stats
from hits.judging.verbs import computing
from hits.models import ComputationResult, ComputationRun, Item, Label, Stage, Worker, WorkerStat
from hits.stats.aggregation.dawid_skene import dawid_skene
from hits.stats.aggregation.mace import mace
from hits.stats.answers import Answers
from hits.workers.rules.worker_table import COLUMNS, all_rows
from tests.hits import factories as make
from tests.hits.said import computed, say

pytestmark = pytest.mark.django_db


def choice_stage(**settings: Any) -> Stage:
    return make.stage(key="judge", title="Judge", protocol="multiple_choice", settings=settings)


def results(stage: Stage) -> dict[str, Any]:
    run = stage_statistics.newest(stage)
    assert run
    return dict(ComputationResult.objects.filter(run=run).values_list("item__key", "data"))


def test_a_stage_of_any_recipe_has_its_agreement_and_values() -> None:
    stage = choice_stage()
    say(stage, [{"ann": "yes", "ben": "yes", "cleo": "no"}, {"ann": "no", "ben": "no"}, {"ann": "yes"}])
    report = computed(stage)
    (unit,) = report["units"]
    assert (unit["unit"], unit["level"], unit["items"], unit["answers"], unit["workers"]) == (
        "choice",
        "nominal",
        3,
        6,
        3,
    )
    assert unit["figures"]["pairwise"]["value"] == pytest.approx(4 / 8)
    # Five answers to items with two or more: three say no. Within: 1/2 of 6 pairs differ twice; 12 of 20 by chance.
    assert unit["figures"]["alpha"]["value"] == pytest.approx(1 - 4 * 2 / 12)
    assert "two annotators" in unit["figures"]["cohen"]["why"]
    assert unit["worst"][0] == {
        "item": Item.objects.get(key="item-1").pk, "group": "", "disagreement": pytest.approx(2 / 3)
    }  # fmt: skip
    assert [row["worker"] for row in unit["differences"]][0] == "ACLEO"
    assert results(stage)["item-1"] == {
        "units": {"choice": {"value": "yes", "confidence": 2 / 3, "entropy": pytest.approx(0.918296), "answers": 3}}
    }
    assert results(stage)["item-3"]["units"]["choice"]["entropy"] == 0
    assert set(ComputationResult.objects.values_list("item__key", "confidence")) == {
        ("item-1", 2 / 3), ("item-2", 1.0), ("item-3", 1.0)
    }  # fmt: skip
    assert [row["method"] for row in unit["methods"]][:2] == ["majority", "majority_seeded"]
    json.dumps(report)


def test_labels_that_do_not_count_are_not_read() -> None:
    stage = choice_stage()
    say(stage, [{"ann": "yes", "ben": "yes"}, {"ann": "no", "ben": "no"}])
    Label.objects.filter(worker__worker_id="ABEN").update(void=True)
    (unit,) = computed(stage)["units"]
    assert (unit["answers"], unit["figures"]["alpha"]["why"]) == (2, "no item has two answers")


def test_units_with_groups_are_compared_group_by_group_under_their_bare_name() -> None:
    stage = choice_stage(several=True)
    row = {"ann": {"yes/chosen": "yes", "no/chosen": "no"}, "ben": {"yes/chosen": "yes", "no/chosen": "yes"}}
    say(stage, [row])
    (unit,) = computed(stage)["units"]
    assert (unit["unit"], unit["items"]) == ("chosen", 2)
    assert unit["worst"] == [{"item": stage.items.get().pk, "group": "no", "disagreement": 1.0}]
    found = results(stage)["item-1"]["units"]
    assert found["yes/chosen"]["value"] == "yes" and found["no/chosen"]["value"] is None


def test_methods_are_right_as_often_as_known_answers_say() -> None:
    stage = choice_stage()
    for known in ("yes", "no", "yes"):
        say(stage, [{"ann": "yes", "ben": "yes", "cleo": "no"}])
        item = stage.items.order_by("-pk")[0]
        for label in item.labels.all():
            label.correct = label.value == known
            label.save()
    # Of the fourth nothing is known: it is not counted.
    say(stage, [{"ann": "yes", "ben": "yes", "cleo": "no"}])
    (unit,) = computed(stage, method="weighted_majority")["units"]
    by_name = {row["method"]: row for row in unit["methods"]}
    assert by_name["majority"]["accuracy"]["right"] == 2 and by_name["majority"]["accuracy"]["of"] == 3
    assert by_name["majority"]["accuracy"]["low"] < 2 / 3 < by_name["majority"]["accuracy"]["high"]
    assert by_name["dawid_skene"]["iterations"] > 0 and by_name["dawid_skene"]["converged"]
    # Ann and Ben expect to be right in 3 of 5, Cleo in 2 of 5; without the first item, each in a half.
    confidence = [results(stage)[f"item-{number}"]["units"]["choice"]["confidence"] for number in (1, 4)]
    assert confidence == pytest.approx([2 / 3, 1.2 / 1.6])


def test_a_field_without_known_answers_is_weighted_by_those_to_the_field_that_checks_attention() -> None:
    form = {"form": {"show": [{"kind": "text", "text": "Read this."}], "ask": [
        {"kind": "one", "key": "check", "question": "Choose good.", "choices": ["good", "bad"]},
        {"kind": "one", "key": "tone", "question": "Tone?", "choices": ["good", "bad"]},
    ]}}  # fmt: skip
    stage = make.stage(key="ask", title="Ask", protocol="form", settings=form)
    careful, careless = {"check": "good", "tone": "good"}, {"check": "bad", "tone": "bad"}
    say(stage, [{"ann": careful, "ben": careless, "cleo": careless}] * 4)
    for label in stage.labels.filter(unit="check"):
        label.correct = label.value == "good"
        label.save()
    computed(stage, method="weighted_majority")
    found = results(stage)["item-1"]["units"]
    # Ann expects to be right in 5 of 6, the others in 1 of 6 each.
    assert found["tone"]["value"] == found["check"]["value"] == "good"
    assert found["tone"]["confidence"] == pytest.approx(5 / 7)


def test_the_method_that_was_chosen_gives_the_values_where_it_fits() -> None:
    form = {
        "form": {
            "show": [{"kind": "text", "text": "Read this."}],
            "ask": [
                {"kind": "one", "key": "tone", "question": "Tone?", "choices": ["good", "bad"]},
                {"kind": "scale", "key": "fluency", "question": "Fluent?", "points": 5},
                {"kind": "number", "key": "minutes", "question": "How long?"},
                {"kind": "ranking", "key": "rank", "question": "Rank.", "choices": ["a", "b", "c"]},
                {"kind": "any", "key": "topics", "question": "Topics?", "choices": ["x", "y"]},
                {"kind": "long_text", "key": "why", "question": "Why?"},
            ],
        }
    }
    stage = make.stage(key="ask", title="Ask", protocol="form", settings=form)
    first, second = (
        {"tone": tone, "fluency": point, "minutes": minutes, "rank": rank, "topics": topics, "why": "words"}
        for tone, point, minutes, rank, topics in (
            ("good", 4, 10, ["a", "b", "c"], ["x"]),
            ("good", 5, 14, ["b", "a", "c"], ["x", "y"]),
        )
    )
    say(stage, [{"ann": first, "ben": second, "cleo": second}])
    report = computed(stage, method="dawid_skene")
    assert {unit["unit"]: unit["level"] for unit in report["units"]} == {
        "tone": "nominal", "fluency": "ordinal", "minutes": "interval", "rank": "ranking", "topics": "set"
    }  # fmt: skip
    # A database may keep the names of a JSON object in an order of its own.
    figures = {unit["unit"]: set(unit.get("figures", {})) for unit in report["units"]}
    assert figures["tone"] == {"alpha", "pairwise", "fleiss", "cohen"} and figures["rank"] == set()
    assert figures["fluency"] == figures["minutes"] == figures["topics"] == {"alpha", "pairwise"}
    found = results(stage)["item-1"]["units"]
    assert found["tone"]["value"] == "good" and found["fluency"]["value"] == 5
    assert (
        found["minutes"]["value"] == pytest.approx(38 / 3) and found["minutes"]["low"] < 12 < found["minutes"]["high"]
    )
    assert found["minutes"]["confidence"] is None
    assert found["rank"]["value"] == ["b", "a", "c"] and found["topics"]["value"] == ["x", "y"]
    json.dumps(report)


def test_spans_are_compared_by_their_overlap() -> None:
    stage = make.stage(key="mark", title="Mark", protocol="spans", settings={})
    one, other = [[0, 4, "p"]], [[2, 6, "p"]]
    say(
        stage,
        [{"ann": {"spans": one}, "ben": {"spans": other}}, {"ann": {"spans": [[9, 12, "p"]]}, "ben": {"spans": []}}],
    )
    (unit,) = computed(stage)["units"]
    assert unit["level"] == "span" and unit["figures"]["pairwise"]["value"] == 0
    assert unit["figures"]["alpha"]["value"] < 1
    assert results(stage)["item-1"]["units"]["spans"]["value"] == []


def test_a_name_is_the_same_whichever_of_its_mentions_was_clicked() -> None:
    stage = make.stage(key="click", title="Click")
    say(stage, [{"ann": {"entity": {"start": 46, "end": 51, "text": "Linden"}},
                 "ben": {"entity": {"start": 122, "end": 127, "text": "Linden"}}}])  # fmt: skip
    (unit,) = crowd_answers.read(stage)
    assert {value for _, _, value in unit.rows} == {"linden"}


def test_texts_have_no_agreement() -> None:
    stage = make.stage(key="story", title="Story", protocol="story")
    assert not crowd_answers.is_compared(stage)
    assert stage_statistics.computations_of(stage.project) == []


def test_a_unit_that_cannot_be_compared_says_so_and_harms_no_other() -> None:
    form = {"form": {"show": [{"kind": "text", "text": "Read this."}], "ask": [
        {"kind": "number", "key": "minutes", "question": "How long?"},
        {"kind": "one", "key": "tone", "question": "Tone?", "choices": ["good", "bad"]},
    ]}}  # fmt: skip
    stage = make.stage(key="ask", title="Ask", protocol="form", settings=form)
    say(stage, [{"ann": {"minutes": "ten", "tone": "good"}, "ben": {"minutes": 10, "tone": "good"}}])
    minutes, tone = computed(stage)["units"]
    assert "'ten' is not a number" in minutes["why"] and tone["why"] == ""
    assert results(stage)["item-1"]["units"].keys() == {"tone"}


def test_it_is_computed_by_itself_after_thirty_answers_and_then_after_a_tenth_more() -> None:
    stage = choice_stage()
    say(stage, [{"ann": "yes", "ben": "yes"}])

    def due(answers: int) -> bool:
        stage.summary.answers = answers
        stage.summary.save()
        return stage_statistics.is_due(stage)

    assert [due(29), due(30)] == [False, True]
    run = computing.start_when_due(stage)
    assert run and run.created_by is None
    assert not due(900)
    ComputationRun.objects.update(state="running", log=[{"answers": 30}])
    assert not due(900)
    ComputationRun.objects.update(state="queued", log=[])
    assert not due(30)
    computing.run(run.pk)
    assert [due(30), due(59), due(60)] == [False, False, True]
    due(1000)
    computed(stage, method="mace")
    assert [due(1099), due(1100)] == [False, True]
    again = computing.start_when_due(stage)
    assert again and again.params == {"method": "mace"}
    computing.stop(again, None)
    assert not due(9000)


def test_a_stage_whose_answers_cannot_be_compared_is_never_due() -> None:
    stage = make.stage(protocol="story", summary={"answers": 500})
    assert not stage_statistics.is_due(stage) and computing.start_when_due(stage) is None


def test_a_release_reads_figures_without_names_of_workers() -> None:
    stage = choice_stage()
    assert stage_statistics.for_release(stage) == []
    say(stage, [{"ann": "yes", "ben": "yes", "cleo": "no"}, {"ann": "no", "ben": "no"}])
    computed(stage)
    (unit,) = stage_statistics.for_release(stage)
    assert unit.keys() == {"unit", "level", "items", "paired", "answers", "workers", "figures"}
    assert "ACLEO" not in json.dumps(unit)


def test_a_long_key_of_a_stage_leaves_room_for_the_computation() -> None:
    stage = make.stage(key="s" * 60, title="Long", protocol="multiple_choice")
    say(stage, [{"ann": "yes", "ben": "yes"}])
    assert len(stage_statistics.key_of(stage)) == 60
    assert stage_statistics.key_for("s" * 59) != stage_statistics.key_for("s" * 60)
    assert computed(stage)["units"]


def test_reading_takes_as_many_queries_for_many_answers(django_assert_num_queries: Any) -> None:
    stage = choice_stage()
    for items in (2, 40):
        say(stage, [{"ann": "yes", "ben": "no"}] * items)
        fresh = Stage.objects.get(pk=stage.pk)
        with django_assert_num_queries(1):
            crowd_answers.read(fresh)


SAID = [{"ann": "yes", "ben": "yes", "cleo": "no"}, {"ann": "no", "ben": "no", "cleo": "no"}, {"ann": "yes"}] * 4


def competences_of(stage: Stage) -> dict[str, tuple[Any, ...]]:
    refresh_worker_stats(stage, Worker.objects.values_list("pk", flat=True))
    names = ("competence", "competence_method", "competence_at", "competence_missing")
    places = [COLUMNS.index(name) for name in names]
    return {row.stat.worker.worker_id: tuple(row.cells()[at] for at in places) for row in all_rows(stage)}


@pytest.mark.parametrize(("chosen", "title"), [("majority", "Dawid-Skene"), ("mace", "MACE"), ("glad", "Dawid-Skene")])
def test_the_newest_run_estimates_the_competence_of_each_worker(chosen: str, title: str) -> None:
    stage = choice_stage()
    say(stage, SAID)
    assert {row[0] for row in competences_of(stage).values()} == {None}
    assert all("not been aggregated yet" in row[3] for row in competences_of(stage).values())
    computed(stage, method=chosen)
    (read,) = crowd_answers.read(stage)
    answers = Answers.of(read.rows)
    wanted = mace(answers, seed=stage.project.seed) if title == "MACE" else dawid_skene(answers)
    found = competences_of(stage)
    run = stage_statistics.newest(stage)
    assert run and run.finished_at
    assert {worker: row[0] for worker, row in found.items()} == pytest.approx(wanted.workers, abs=1e-5)
    assert {row[1:] for row in found.values()} == {(title, run.finished_at.isoformat(), "")}
    assert found["AANN"][0] > found["ACLEO"][0]


def test_the_competence_weighs_confusions_by_the_shares_of_the_values() -> None:
    """Two who agree make the truth; the third says no to everything, and no is the value of one item in two."""
    stage = choice_stage()
    say(stage, SAID[:2] * 10)
    competences_of(stage)
    computed(stage)
    assert competences_of(stage)["ACLEO"][0] == pytest.approx(0.5, abs=1e-3)


def test_several_units_give_the_mean_by_answers() -> None:
    found = stage_statistics.competences.Collected("dawid_skene")
    for rows in ([("1", "ann", "a"), ("2", "ann", "a"), ("3", "ann", "b")], [("1", "ann", "a"), ("1", "ben", "b")]):
        answers = Answers.of(rows)
        found.add(answers, {"dawid_skene": ("Dawid-Skene", dawid_skene(answers))})
    ben = dawid_skene(answers).workers["ben"]
    name, title, values = found.concluded()
    assert (name, title, values["ben"]) == ("dawid_skene", "Dawid-Skene", pytest.approx(ben))
    assert values["ann"] == pytest.approx((3 * 1.0 + dawid_skene(answers).workers["ann"]) / 4, abs=1e-6)


def test_who_has_no_estimate_is_told_why() -> None:
    stage = choice_stage()
    say(stage, SAID)
    competences_of(stage)
    Label.objects.filter(worker__worker_id="ABEN").update(void=True)
    computed(stage)
    found = competences_of(stage)
    assert found["ABEN"] == (None, None, None, "No answer of this worker counted when it was computed.")
    assert found["AANN"][0] is not None
    run = stage_statistics.newest(stage)
    assert run
    for entry in run.log:
        entry.get("report", {}).pop("competence", None)
    run.save(update_fields=["log"])
    assert "before estimates of workers were kept" in competences_of(stage)["ABEN"][3]


def test_answers_that_are_no_labels_have_no_competence() -> None:
    stage = make.stage(key="mark", title="Mark", protocol="spans", settings={"labels": ["one"]})
    span = [{"start": 0, "end": 4, "label": "one"}]
    say(stage, [{"ann": {"spans": span}, "ben": {"spans": span}}])
    computed(stage)
    assert "fit labels, and no unit" in competences_of(stage)["AANN"][3]


def test_a_run_that_is_stopped_at_its_end_leaves_the_estimates_as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = choice_stage()
    say(stage, SAID)
    competences_of(stage)
    computed(stage)
    before = competences_of(stage)
    say(stage, [{"ann": "no", "cleo": "yes"}])
    summary_of = stage_statistics.summary_of

    def stopped(report: Any) -> Any:
        computing.stop(ComputationRun.objects.get(state=ComputationRun.State.RUNNING), None)
        return summary_of(report)

    monkeypatch.setattr(stage_statistics, "summary_of", stopped)
    run = computing.start(stage.project, stage_statistics.key_of(stage), {}, None)
    computing.run(run.pk)
    run.refresh_from_db()
    assert run.state == ComputationRun.State.STOPPED
    assert competences_of(stage) == before


def test_as_many_rows_stay_however_often_it_is_computed() -> None:
    stage = choice_stage()
    say(stage, SAID)
    for _ in range(2):
        competences_of(stage)
        computed(stage)
    assert WorkerStat.objects.filter(stage=stage).count() == 3
    assert {row.competence_run for row in WorkerStat.objects.all()} == {stage_statistics.newest(stage)}
