"""Words on a lead's pages: one word for gold, names of stages in quotes, defaults that fit a lead's own file."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from hits.models import Item
from hits.projects.verbs.projects import create_project
from hits.stats.blocking import SUGGESTED
from hits.templatetags.figures import vote_counts
from tests.hits import factories as make

pytestmark = pytest.mark.django_db
# Pages of workers have words of their own.
ELSEWHERE = {"task", "marketplace"}


def test_pages_say_gold_and_no_other_word_for_it() -> None:
    other = re.compile(r"known answer|against the reference|matches the reference|no\s+reference", re.IGNORECASE)
    pages = [path for path in Path("templates").rglob("*.html") if not ELSEWHERE & set(path.parts)]
    assert len(pages) > 100 and [str(path) for path in pages if other.search(path.read_text())] == []


def test_counts_of_a_verdict_are_told_in_words() -> None:
    counts = {"right": 2, "wrong": 1, "unscored": 0, "void": 1, "missing": 3}
    said = "of the answers 2 match gold, 1 does not match gold, 1 does not count, 3 are still to come"
    assert vote_counts(counts) == said
    assert vote_counts(dict.fromkeys(counts, 0)) == "no answer"


def test_a_stage_without_a_policy_is_proposed_one_that_names_who_guesses(lead_client: Client, alice: Any) -> None:
    """Of four choices a guesser is right in a quarter, and the crowd in 85 %: the floor lies between the two."""
    assert 0.25 < SUGGESTED.floor_of(0.85, 0.25) == 0.55 and SUGGESTED.check_every <= 100
    stage = make.stage(make.project(owner=alice), protocol="multiple_choice", quality={})
    page = lead_client.get(reverse("stage-settings", args=[stage.project.slug, stage.key])).content.decode()
    typed = {name: re.search(rf'name="quality_{name}" value="([^"]*)"', page) for name in ("floor", "check_every")}
    assert {name: found and found[1] for name, found in typed.items()} == {"floor": "0.5", "check_every": "100"}
    assert re.search(r'name="quality_relative"[^>]* checked', page) and "below 55 %" in page


def test_an_import_of_a_lead_s_own_file_has_a_fitting_default(lead_client: Client, alice: Any) -> None:
    project = create_project("Own", "choice", Decimal("10"), "lab@example.org", alice, seed=1)
    page = lead_client.get(reverse("project", args=[project.slug])).content.decode()
    assert "Your own, or public" in page and "Public corpus" not in page
    item = make.item(project.stages.get(key="choose"), state=Item.State.NEW)
    for of in (["items", project.slug, "choose"], ["item", project.slug, "choose", item.pk]):
        assert "· public" not in lead_client.get(reverse(of[0], args=of[1:])).content.decode()


def test_headings_quote_the_names_of_stages_and_a_release_s_count_is_a_button(lead_client: Client, alice: Any) -> None:
    stage = make.stage(make.project(owner=alice), title="Choice", protocol="multiple_choice", summary={"items": 60_000})
    of = [stage.project.slug, stage.key]
    assert "Publish “Choice”" in lead_client.get(reverse("publish", args=of)).content.decode()
    assert "Choice: Aggregation rule" in lead_client.get(reverse("rule", args=of)).content.decode()
    page = lead_client.get(reverse("releases", args=of[:1])).content.decode()
    assert re.search(r'<a class="button[^"]*" href="[^"]*preview[^"]*">Preview a release', page)


def test_the_page_says_why_items_that_were_kept_are_to_be_answered_again(lead_client: Client, alice: Any) -> None:
    stage = make.stage(
        make.project(owner=alice), protocol="multiple_choice", summary={"items": 4, "kept": 1, "again": 2}
    )
    said = lead_client.get(reverse("stage", args=[stage.project.slug, stage.key])).content.decode()
    said = " ".join(re.sub(r"<[^>]+>", "", said).split())
    assert "2 to be answered again: an answer stopped to count, as after a block" in said
