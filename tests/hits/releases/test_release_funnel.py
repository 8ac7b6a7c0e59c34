"""How a collection came about, in the card and the manifest of its release: from what was asked to what was kept."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from hits.judging.rules.summaries import refresh_summary, refresh_worker_stats
from hits.judging.verbs import deciding
from hits.models import Assignment, Project, Stage, StageSummary
from hits.releases.verbs import releasing
from hits.stages.verbs import aggregation_rule
from tests.hits import factories as make
from tests.hits.said import say

pytestmark = pytest.mark.django_db
RULE = "yes: at least 2 choice = yes\nno: at least 2 choice = no\notherwise: drop tie\n"


@pytest.fixture
def stage() -> Stage:
    """Of five items two are kept, one is dropped for a tie, and two wait for answers."""
    project = make.project(recipe="choice", slug="river", owner=make.user("lena"))
    rule = {"name": "measured", "version": 1, "params": {"answers": 2}}
    found = make.stage(project, key="choose", title="Choose", protocol="multiple_choice", answers=2, rule=rule)
    said: list[dict[str, Any]] = [
        {"ann": "yes", "ben": "yes"}, {"ann": "no", "ben": "no"}, {"ann": "yes", "ben": "no"}, {"ann": "yes"},
    ]  # fmt: skip
    say(found, said)
    make.item(found, key="nobody")
    aggregation_rule.save(found, aggregation_rule.written(found, RULE), found.rule_edition, "", None)
    found.items.update(stale=True)
    deciding.decide(found)
    make.block(found, make.worker("ACLEO"))
    refresh_worker_stats(found, Assignment.objects.values_list("worker", flat=True))
    refresh_summary(found)
    return found


def facts_of(project: Project) -> dict[str, str]:
    made, _ = releasing.release(project, None)
    card = made.files.get(name="README.md").blob.read().decode()
    section = card.split("## Stage: Choose")[1].split("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| ")]
    return {row[0]: row[1] for row in rows if len(row) == 2}


def test_the_card_says_what_became_of_every_item_and_who_answered_at_what_wage(stage: Stage) -> None:
    facts = facts_of(stage.project)
    assert {name: facts[name] for name in facts if name not in ("Workers read", "Description")} == {
        "Reward for an answer": "$0.04",
        "Median time": "38.0 s",
        "Wage an hour": "$3.79",
        "Answers wanted an item": "2",
        "Answers": "7",
        "Workers": "2",
        "Blocked workers": "1",
        "Items": "5",
        "Items asked about": "4",
        "Items answered": "4",
        "Items kept": "2 of 5",
        "Items dropped": "1 (tie 1)",
        "Items not decided": "2",
    }


def test_the_wage_of_a_release_is_that_of_the_stage_s_page_where_answers_came_implausibly_fast(stage: Stage) -> None:
    Stage.objects.filter(pk=stage.pk).update(expected_seconds=60)
    StageSummary.objects.filter(stage=stage).update(median_seconds=2.0)
    doubt = "The measured median of 2 s is implausible: less than a fifth of the 60 s that are expected."
    note = f"{doubt} The wage is that of 60 s an answer, as expected."
    facts = facts_of(stage.project)
    assert (facts["Median time"], facts["Wage an hour"]) == ("2.0 s", f"$2.40 ({note})")
    client = Client()
    client.force_login(stage.project.owners.get())
    page = " ".join(client.get(reverse("stage", args=[stage.project.slug, stage.key])).content.decode().split())
    assert "$2.40 an hour" in page and doubt in page
    (row,) = stage.project.releases.get().manifest["collection"]
    assert (row["median_seconds"], row["wage_an_hour"], row["wage_note"]) == (2.0, "2.40", note)
    content = client.get(reverse("release", args=[stage.project.slug, stage.project.releases.get().number]))
    assert note in content.content.decode()


def test_manifest_and_page_have_the_same_funnel(stage: Stage) -> None:
    made, _ = releasing.release(stage.project, None)
    (row,) = made.manifest["collection"]
    told = {name: row[name] for name in ("asked", "answered", "kept", "dropped", "open", "workers", "blocked_workers")}
    assert told == {"asked": 4, "answered": 4, "kept": 2, "dropped": 1, "open": 2, "workers": 2, "blocked_workers": 1}
    assert (row["dropped_by_reason"], row["median_seconds"], row["wage_an_hour"]) == ({"tie": 1}, 38.0, "3.79")
    client = Client()
    client.force_login(stage.project.owners.get())
    page = client.get("/projects/river/releases/1/").content.decode()
    assert '<th scope="col" class="n">Answered</th>' in page and "tie 1" in page
    # A release of an earlier version does not say how many items were answered.
    del made.manifest["collection"][0]["answered"]
    made.save()
    assert client.get("/projects/river/releases/1/").status_code == 200
