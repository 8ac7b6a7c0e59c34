"""The page of a stage that shows what experts changed, and lets a lead take it back."""

from __future__ import annotations

import csv
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from playwright.sync_api import expect

from hits.models import Label, Stage
from tests.axe import violations
from tests.hits import factories as make
from tests.hits.lead_pages import Opener
from tests.hits.reviews import review
from tests.markup import squeezed

pytestmark = pytest.mark.django_db
ALL = {f"q{number}_delete": "nonsensical" for number in (1, 2, 3)} | {"confirm_empty": "yes"}


@pytest.fixture
def stage(alice: Any) -> Stage:
    project = make.project(owner=alice, slug="stories")
    return make.stage(project, key="review", title="Review", protocol="expert_review")


def address(stage: Stage, name: str = "changes", *more: Any) -> str:
    return reverse(name, args=[stage.project.slug, stage.key, *more])


def shown(client: Client, stage: Stage, query: str = "") -> str:
    return squeezed(client.get(address(stage) + query))


def test_a_change_is_shown_word_by_word_with_who_and_when_and_why(lead_client: Client, stage: Stage) -> None:
    expert = make.worker("AEXPERT000001")
    review(stage, expert, key="story-1", q1_correct="a hand whisk", q2_delete="duplicate", q2_duplicate_of="q1")
    html = shown(lead_client, stage)
    assert '<ins><span class="hidden">inserted: </span>hand </ins>' in html
    assert '<del><span class="hidden">deleted: </span>When did the butter hiss?</del>' in html
    assert "it asks the same as question 1" in html
    assert expert.worker_id in html and "19 Nov 2026" in html
    assert "Left out of the release" not in html
    assert f'href="{address(stage)}"' in lead_client.get(address(stage, "stage")).content.decode()


def test_what_experts_write_is_never_markup(lead_client: Client, stage: Stage) -> None:
    review(stage, q1_correct="<script>alert(1)</script>", q2_delete="other", q2_words="<b>no</b>")
    html = shown(lead_client, stage)
    assert "<script>alert" not in html and "<b>no" not in html
    assert "&lt;b&gt;no&lt;/b&gt;" in html


def test_texts_without_a_question_come_first(lead_client: Client, stage: Stage) -> None:
    review(stage, key="story-left", q1_correct="a fork")
    review(stage, key="story-gone", **ALL)
    html = shown(lead_client, stage)
    first, second = html.index("Left out of the release"), html.index('aria-label="Which changes"')
    assert html.count("No question is left.") == 1
    assert first < html.index("story-gone") < second < html.index("story-left")


def test_undo_and_take_up_again_go_back_to_where_one_was(lead_client: Client, stage: Stage, alice: Any) -> None:
    review(stage, q1_correct="a fork")
    row = Label.objects.get(unit="q1")
    reply = lead_client.post(address(stage, "undo-change", row.pk) + "?show=edit")
    assert reply.headers["Location"] == f"{address(stage)}?show=edit#change-{row.pk}"
    row.refresh_from_db()
    assert row.undone_by == alice
    assert "Taken back</span>" in shown(lead_client, stage, "?show=undone")
    assert "by alice" in shown(lead_client, stage)
    assert lead_client.get(address(stage, "answers")).content.decode().count("taken back</span>") == 1
    lead_client.post(address(stage, "undo-change", row.pk))
    assert "was taken back before" in shown(lead_client, stage)
    lead_client.post(address(stage, "redo-change", row.pk))
    row.refresh_from_db()
    assert row.undone_at is None
    assert "No change here" in shown(lead_client, stage, "?show=undone")


def test_only_changes_of_this_very_stage_can_be_taken_back(lead_client: Client, stage: Stage) -> None:
    review(stage, q1_correct="a fork")
    kept = Label.objects.get(unit="text")
    assert lead_client.post(address(stage, "undo-change", kept.pk)).status_code == 404
    other = make.stage(stage.project, protocol="expert_review")
    change = Label.objects.get(unit="q1")
    assert lead_client.post(address(other, "undo-change", change.pk)).status_code == 404
    assert Label.objects.filter(undone_at__isnull=False).count() == 0


def test_the_filters_choose_by_what_was_done(lead_client: Client, stage: Stage) -> None:
    review(stage, key="story-edit", q1_correct="a fork")
    review(stage, key="story-cut", q1_delete="nonsensical")
    assert "story-cut" not in shown(lead_client, stage, "?show=edit")
    assert "story-edit" not in shown(lead_client, stage, "?show=delete")
    assert "No change here" in shown(lead_client, stage, "?show=nothing")


def test_the_csv_holds_every_change_and_whether_it_counts(lead_client: Client, stage: Stage) -> None:
    review(stage, key="story-gone", **ALL)
    review(stage, key="=story", q1_correct="a fork")
    lead_client.post(address(stage, "undo-change", Label.objects.get(unit="q1", item__key="=story").pk))
    reply = lead_client.get(address(stage, "changes-csv"))
    text = b"".join(reply.streaming_content).decode()  # type: ignore[attr-defined]
    rows = list(csv.DictReader(text.splitlines()))
    assert [(row["item"], row["action"], row["counts"]) for row in rows] == [
        *[("story-gone", "delete", "yes")] * 3,
        ("'=story", "edit", "no"),
    ]
    assert rows[0]["left_out"] == "No question is left." and rows[3]["left_out"] == ""
    assert '"Correct answer": "a fork"' in rows[3]["after"]
    assert (rows[3]["taken_back_by"], rows[0]["taken_back_by"]) == ("alice", "")


def test_a_page_holds_fifty_and_costs_the_same_for_many(lead_client: Client, stage: Stage) -> None:
    expert = make.worker()

    def queries() -> int:
        with CaptureQueriesContext(connection) as found:
            assert lead_client.get(address(stage)).status_code == 200
        return len(found)

    review(stage, expert, **ALL)
    lead_client.get(address(stage))
    before = queries()
    for _ in range(20):
        review(stage, expert, **ALL)
    assert queries() == before
    page = lead_client.get(address(stage)).context
    assert len(page["rows"]) == 50 and page["page"].after
    second = lead_client.get(f"{address(stage)}?after={page['page'].after}").context
    assert len(second["rows"]) == 13 and second["left_out"] == []


def test_a_stage_that_changes_nothing_says_so_and_has_no_link(lead_client: Client, stage: Stage) -> None:
    plain = make.stage(stage.project)
    assert "change nothing in its items" in lead_client.get(address(plain)).content.decode()
    assert address(plain) not in lead_client.get(address(plain, "stage")).content.decode()
    assert "appears here as soon as" in shown(lead_client, stage)


@pytest.mark.django_db(transaction=True)
def test_the_page_is_accessible_and_works_by_keyboard_at_every_width(stage: Stage, opened: Opener) -> None:
    review(stage, make.worker("AEXPERT000001"), key="pancakes/1", **ALL)
    review(stage, make.worker("AEXPERT000002"), key="pancakes/2", q1_correct="a hand whisk", q1_text="With what?")
    taken = review(stage, make.worker("AEXPERT000003"), key="pancakes/3", q3_delete="duplicate", q3_duplicate_of="q1")
    taken.labels.filter(unit="q3").update(undone_at=make.NOON)
    for width, scheme in ((1280, "light"), (360, "dark")):
        page = opened(address(stage), width, scheme)
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.get_by_role("button", name="Undo Question 1 of pancakes/2").press("Enter")
    expect(page.get_by_role("status")).to_contain_text("Taken back")
    page.get_by_role("button", name="Take up again Question 1 of pancakes/2").press("Enter")
    expect(page.get_by_role("status")).to_contain_text("Taken up again")
