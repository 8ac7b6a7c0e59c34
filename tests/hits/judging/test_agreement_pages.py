"""The page "Agreement" of a stage: what it shows, when, to whom, and at what cost."""

from __future__ import annotations

import csv
import io
import random
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from hits.judging.pages.agreement import meaning
from hits.judging.rules import stage_statistics
from hits.judging.verbs import computing
from hits.models import Item, Membership, Project, Stage, StageSummary
from tests.hits import factories as make
from tests.hits.said import computed, say

pytestmark = pytest.mark.django_db


@pytest.fixture
def project(alice: Any) -> Project:
    return make.project(owner=alice)


@pytest.fixture
def stage(project: Project) -> Stage:
    return make.stage(project, key="judge", title="Judge", protocol="multiple_choice")


def address(stage: Stage, name: str = "agreement") -> str:
    return reverse(name, args=[stage.project.slug, stage.key])


def page(client: Client, stage: Stage) -> str:
    answer = client.get(address(stage))
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def answered(stage: Stage, items: int = 12, *, seed: int = 3) -> None:
    draw = random.Random(seed)
    workers = ["ann", "ben", "cleo", "dan"]
    rows = []
    for _ in range(items):
        truth = draw.choice(["yes", "no"])
        wrong = "no" if truth == "yes" else "yes"
        rows.append({worker: truth if worker != "dan" and draw.random() < 0.8 else wrong for worker in workers})
    say(stage, rows)
    stage.summary.answers = 4 * items
    stage.summary.save()


def test_without_answers_it_says_what_to_do(lead_client: Client, stage: Stage) -> None:
    said = page(lead_client, stage)
    assert (
        "There is no answer yet. Publish items" in said
        and '<form method="post" action' not in said.partition("<h1>")[2]
    )


def test_with_answers_that_nothing_was_computed_of_it_offers_to(lead_client: Client, stage: Stage) -> None:
    answered(stage)
    said = page(lead_client, stage)
    assert "Not computed yet" in said and "48 answers came. Compute it now" in said
    started = lead_client.post(reverse("start-computation", args=[stage.project.slug, "judge-agreement"]),
                          {"judge-agreement-method": "dawid_skene"})  # fmt: skip
    run = stage.project.computation_runs.get()
    assert started["Location"] == reverse("computation", args=[stage.project.slug, run.pk])
    assert run.params == {"method": "dawid_skene"} and run.created_by
    computing.run(run.pk)
    assert "See the agreement" in lead_client.get(started["Location"]).content.decode()
    assert "values of items by Dawid-Skene" in page(lead_client, stage)


def test_while_it_is_computed_it_says_so(lead_client: Client, stage: Stage) -> None:
    answered(stage)
    run = computing.start(stage.project, "judge-agreement", {}, None)
    assert f'href="{reverse("computation", args=[stage.project.slug, run.pk])}">It is being computed' in page(
        lead_client, stage
    )


def test_figures_have_their_intervals_and_words(lead_client: Client, stage: Stage) -> None:
    answered(stage, 40)
    report = computed(stage)
    alpha = report["units"][0]["figures"]["alpha"]
    said = page(lead_client, stage)
    for figure in (f"{alpha['value']:.3f}", f"{alpha['low']:.3f} to {alpha['high']:.3f}"):
        assert figure in said
    assert "Not defined: it is for two annotators, and there are 4." in said
    assert "Computed when 160 answers had come" in said and "of them are compared" not in said
    assert "no answer came since" in said
    assert f"Recommended: {report['units'][0]['recommended']['title']}." in said and "There is no gold answer." in said
    assert "Half of the workers gave" not in said and "All values are equally common" in said
    assert "Low: below 0.667" in said or "About as by chance" in said


def test_answers_that_are_not_compared_are_told_apart_from_those_that_had_come(
    lead_client: Client, stage: Stage
) -> None:
    answered(stage, 40)
    stage.summary.answers = 170
    stage.summary.save()
    computed(stage)
    said = page(lead_client, stage)
    assert "Computed when 170 answers had come" in said
    assert "160 of them are compared. The rest did not count then, such as answers of blocked workers" in said


def test_several_units_stand_in_one_table_that_leads_to_each(lead_client: Client, project: Project) -> None:
    stage = make.stage(project, key="staged", protocol="staged_choice")
    rows = {"paragraph": "good", "picked": "c1"}
    say(stage, [{"ann": rows, "ben": {**rows, "picked": "c2"}}] * 5 + [{"ann": rows, "ben": rows}] * 5)
    report = computed(stage)
    text = page(lead_client, stage)
    assert "All units" in text
    for number, unit in enumerate(report["units"], 1):
        assert f'<a href="#u-{number}">{unit["unit"]}</a>' in text and f'<h2 id="u-{number}"' in text


@pytest.mark.parametrize(
    ("alpha", "words"),
    [
        (None, ""),
        (0.9, "Reliable"),
        (0.8, "Reliable"),
        (0.7, "Fair"),
        (0.5, "Low"),
        (0.01, "by chance"),
        (-0.4, "by chance"),
    ],
)
def test_alpha_is_told_in_words(alpha: float | None, words: str) -> None:
    assert words in meaning(alpha) and bool(meaning(alpha)) == (alpha is not None)


@pytest.mark.parametrize(("low", "words"), [(0.8, "Reliable"), (0.79, "Not certain yet"), (None, "Reliable")])
def test_alpha_is_reliable_where_its_whole_interval_is(low: float | None, words: str) -> None:
    assert meaning(0.9, low).startswith(words)


def test_with_few_items_it_says_that_figures_may_change(lead_client: Client, stage: Stage) -> None:
    answered(stage, 19)
    computed(stage)
    assert "it may still change much" in page(lead_client, stage)
    answered(stage, 1)
    computed(stage)
    assert "it may still change much" not in page(lead_client, stage)


def test_answers_that_came_since_are_counted(lead_client: Client, stage: Stage) -> None:
    answered(stage)
    computed(stage)
    stage.summary.answers += 7
    stage.summary.save()
    assert "7 answers came since" in page(lead_client, stage)


def test_after_answers_were_removed_the_figures_are_out_of_date_and_due_again(
    lead_client: Client, stage: Stage
) -> None:
    answered(stage, 40)
    computed(stage)
    assert not stage_statistics.is_due(stage)
    StageSummary.objects.filter(stage=stage).update(answers=159)
    assert stage_statistics.is_due(stage)
    assert "1 answer removed since: the figures are out of date" in page(lead_client, stage)


def test_items_that_divide_workers_and_workers_who_differ_have_links(lead_client: Client, stage: Stage) -> None:
    answered(stage)
    (unit,) = computed(stage)["units"]
    said = page(lead_client, stage)
    worst = unit["worst"][0]["item"]
    assert reverse("item", args=[stage.project.slug, stage.key, worst]) in said
    assert unit["differences"][0]["worker"] == "ADAN"
    assert reverse("worker", args=[stage.project.slug, "ADAN"]) in said
    first = said.partition("Workers who differ most")[2]
    assert first.index("ADAN") < first.index("ABEN")


def test_the_confusion_matrix_has_its_numbers_and_shades(lead_client: Client, stage: Stage) -> None:
    say(stage, [{"ann": "yes", "ben": "yes"}] * 3 + [{"ann": "yes", "ben": "no"}])
    computed(stage)
    said = page(lead_client, stage)
    assert '<td class="n shade-4">6</td>' in said and '<td class="n shade-1">1</td>' in said
    assert '<td class="n shade-5">1</td>' in said and '<td class="n shade-0">0</td>' in said


def test_methods_stand_beside_one_another(lead_client: Client, stage: Stage) -> None:
    answered(stage)
    stage.labels.filter(value="yes").update(correct=True)
    stage.labels.filter(value="no").update(correct=False)
    computed(stage)
    said = page(lead_client, stage)
    for method in ("Majority", "Weighted majority", "Dawid-Skene", "MACE", "GLAD"):
        assert f"<td>{method}</td>" in said
    assert " of 12, " in said and "no gold answer" not in said


def test_texts_have_no_agreement_and_the_page_says_so(lead_client: Client, project: Project) -> None:
    stage = make.stage(project, protocol="story")
    said = page(lead_client, stage)
    assert "Nothing to compare" in said and "Two texts are never the same" in said


def test_texts_beside_other_units_are_named(lead_client: Client, project: Project) -> None:
    stage = make.stage(project, protocol="multiple_choice", settings={"free_text": "optional"})
    assert "Not compared, since they are texts: text." in page(lead_client, stage)


def test_values_come_as_csv(lead_client: Client, stage: Stage) -> None:
    say(stage, [{"ann": "yes", "ben": "yes", "cleo": "no"}, {"ann": "=1+1", "ben": "=1+1"}])
    Item.objects.filter(key="item-2").update(data={"columns": {"text": "=It rains.", "n": 2}})
    (empty,) = csv.reader(io.StringIO(read(lead_client, stage)))
    head = ["item", "unit", "value", "value_text", "confidence", "entropy", "answers", "low", "high"]
    assert empty[:9] == head
    assert {"Input.n", "Input.text"} < set(empty[9:]) and empty[9:] == sorted(empty[9:])
    computed(stage)
    rows = list(csv.DictReader(io.StringIO(read(lead_client, stage))))
    assert [(row["item"], row["unit"], row["value"], row["value_text"], row["answers"]) for row in rows] == [
        ("item-1", "choice", "yes", "Yes", "3"), ("item-2", "choice", "'=1+1", "'=1+1", "2")
    ]  # fmt: skip
    assert float(rows[0]["confidence"]) == pytest.approx(2 / 3)
    first = Item.objects.get(key="item-1").document.data["text"]
    assert [(row["Input.text"], row["Input.n"]) for row in rows] == [(first, ""), ("'=It rains.", "2")]


def read(client: Client, stage: Stage) -> str:
    return b"".join(client.get(address(stage, "agreement-csv")).streaming_content).decode()  # type: ignore[attr-defined]


def test_a_reader_sees_it_and_cannot_start_it(stage: Stage, charlie: Any) -> None:
    make.member(stage.project, charlie, Membership.Role.READER)
    reader = Client()
    reader.force_login(charlie)
    answered(stage)
    computed(stage)
    said = page(reader, stage)
    assert "Computed when" in said and "Compute again" not in said
    assert reader.post(reverse("start-computation", args=[stage.project.slug, "judge-agreement"])).status_code == 403
    assert reader.get(address(stage, "agreement-csv")).status_code == 200


def test_an_outsider_finds_nothing(stage: Stage, charlie: Any) -> None:
    outsider = Client()
    outsider.force_login(charlie)
    assert outsider.get(address(stage)).status_code == 404
    assert outsider.get(address(stage, "agreement-csv")).status_code == 404


def test_the_page_costs_as_many_queries_with_many_answers_and_units(
    lead_client: Client, project: Project, django_assert_max_num_queries: Any
) -> None:
    queries = []
    for items, labels in ((3, 2), (60, 9)):
        stage = make.stage(project, key=f"many-{items}", protocol="multiple_choice", settings={"several": True})
        row = {f"{number}/chosen": "yes" for number in range(labels)}
        say(stage, [{"ann": row, "ben": {unit: "no" for unit in row}}] * items)
        computed(stage)
        with django_assert_max_num_queries(40) as captured:
            page(lead_client, stage)
        queries.append(len(captured))
    assert queries[0] == queries[1]


def test_the_list_of_computations_is_that_of_the_recipe(lead_client: Client, stage: Stage) -> None:
    said = lead_client.get(reverse("computations", args=[stage.project.slug])).content.decode()
    assert "Agreement of Judge" not in said


def test_a_log_does_not_show_the_report(lead_client: Client, stage: Stage) -> None:
    answered(stage)
    computed(stage)
    run = stage_statistics.newest(stage)
    assert run
    said = lead_client.get(reverse("computation", args=[stage.project.slug, run.pk])).content.decode()
    assert "differences" not in said and "See the agreement" in said
