"""The page "Settings" of a stage: everything on one page, the recipe's value beside it, faults at their fields."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from lxml import html

from hits.flow.setup import projects, stage_settings
from hits.models import Project, Stage
from hits.views.stage_settings import GROUPS
from tests.markup import squeezed

pytestmark = pytest.mark.django_db


@pytest.fixture
def project(alice: Any) -> Project:
    return projects.create_project("River", "record", Decimal("20.00"), "lab@example.org", alice, seed=3)


@pytest.fixture
def stage(project: Project) -> Stage:
    return project.stages.get(key="revalidate")


def address(stage: Stage) -> str:
    return reverse("stage-settings", args=[stage.project.slug, stage.key])


def typed(client: Client, stage: Stage, **changes: Any) -> dict[str, Any]:
    """The form as a browser would send it, with these fields typed over; None leaves a field out."""
    [form] = [one for one in html.fromstring(client.get(address(stage)).content).forms if "reward" in one.fields]
    sent: dict[str, Any] = dict(form.form_values())
    return {name: value for name, value in (sent | changes).items() if value is not None}


def test_a_growing_number_of_answers_is_set_with_its_condition(client: Client, stage: Stage) -> None:
    changes = {"answers": "2", "most_answers": "7", "enough": "at least 2 agree on entity"}
    reply = client.post(address(stage), typed(client, stage, **changes), follow=True)
    stage.refresh_from_db()
    assert (stage.answers, stage.most_answers, stage.enough) == (2, 7, "at least 2 agree on entity")
    assert stage.rule["params"]["answers"] == 7
    assert "This task asks: entity." in squeezed(reply)
    assert "Saved: Answers an item, Most answers an item, An item has enough answers when." in squeezed(reply)
    reply = client.post(address(stage), typed(client, stage, enough="two agree"))
    assert reply.status_code == 400
    assert "“An item has enough answers when” is wrong: line 1, column 1: &#x27;two&#x27; does not say how many" in (
        squeezed(reply)
    )


def test_everything_is_changed_on_one_page(client: Client, stage: Stage) -> None:
    changes = {
        "title": "Second look",
        "answers": "3",
        "reward": "$0.12",
        "expected_seconds_0": "2",
        "expected_seconds_1": "60",
        "lifetime_seconds_0": "3",
        "lifetime_seconds_1": "86400",
        "keywords": "river",
        "requirement-0-values": "90 %",
        "requirement-1-qualification": "",
        "requirement-2-values": "us, de",
        "has_policy": "",
        "auto_block": None,
        "asks_other_workers_than": None,
        "grants": "second-look",
    }
    reply = client.post(address(stage), typed(client, stage, **changes), follow=True)
    stage.refresh_from_db()
    assert (stage.title, stage.answers, stage.reward, stage.expected_seconds) == (
        "Second look",
        3,
        Decimal("0.12"),
        120,
    )
    assert (stage.lifetime_seconds, stage.keywords, stage.grants) == (3 * 86_400, "river", "second-look")
    assert (stage.quality, stage.auto_block, stage.not_workers_of) == ({}, False, [])
    asked = {one["qualification"]: one.get("integers") or one.get("locales") for one in stage.requirements}
    assert asked == {"percent_approved": [90], "locale": ["US", "DE"], "poor-quality": None}
    text = squeezed(reply)
    assert (
        "Saved: " in text and "Recipe: 1 <button" in text and "$10.80 an hour" not in text and "$3.60 an hour" in text
    )


def test_a_form_that_nobody_touched_changes_nothing(client: Client, stage: Stage) -> None:
    before = Stage.objects.values().get(pk=stage.pk)
    reply = client.post(address(stage), typed(client, stage), follow=True)
    assert "These settings stood already" in reply.content.decode()
    assert Stage.objects.values().get(pk=stage.pk) == before
    assert not stage.actions.exists()


def test_one_click_sets_the_recipes_value_and_keeps_what_else_was_typed(client: Client, stage: Stage) -> None:
    stage_settings.change(stage, {"reward": "0.50"}, None)
    client.post(address(stage), typed(client, stage, title="Typed", recipe_value="reward"))
    stage.refresh_from_db()
    assert (stage.reward, stage.title) == (Decimal("0.04"), "Typed")


def test_values_that_were_there_for_another_comparison_are_left_out(client: Client, stage: Stage) -> None:
    row = {"qualification": "invited-workers", "comparator": "Exists", "values": "95"}
    typed_row = {f"requirement-0-{name}": value for name, value in row.items()}
    reply = client.post(address(stage), typed(client, stage, **typed_row))
    assert reply.status_code == 302
    stage.refresh_from_db()
    asked = {"qualification": "invited-workers", "comparator": "Exists", "guards": "PreviewAndAccept"}
    assert stage.requirements[0] == asked


def test_every_fault_is_told_and_nothing_is_saved(client: Client, stage: Stage) -> None:
    before = Stage.objects.values().get(pk=stage.pk)
    wrong = {
        "answers": "0",
        "assignment_seconds_0": "3",
        "assignment_seconds_1": "1",
        "hit_title": "",
        "quality_floor": "3",
        "requirement-0-values": "ninety",
        "grants": "Not A Name",
    }
    reply = client.post(address(stage), typed(client, stage, **wrong))
    assert reply.status_code == 400
    text = squeezed(reply)
    for said in (
        "“Answers an item” must be a whole number from 1 to 100, not 0",
        "“Time for an assignment” must be a whole number from 30",
        "“Title” must be a text that is not blank",
        "floor must be a number above 0",
        "must be a list of whole numbers",
        "qualification of the project",
    ):
        assert said in text, said
    assert 'value="Not A Name"' in text, "what was typed stays"
    assert Stage.objects.values().get(pk=stage.pk) == before


def test_after_publishing_what_is_fixed_is_shown_with_the_reason(client: Client, stage: Stage) -> None:
    Stage.objects.filter(pk=stage.pk).update(hit_type_id="3TYPE")
    text = squeezed(client.get(address(stage)))
    assert "Fixed. Items were published for this many answers" in text and 'name="answers"' not in text
    assert "For the next HITs; those that are published keep theirs." in text
    reply = client.post(address(stage), typed(client, stage, reward="0.20", answers="9"), follow=True)
    stage.refresh_from_db()
    assert (stage.reward, stage.answers, stage.hit_types) == (Decimal("0.20"), 1, ["3TYPE"]), reply.content.decode()


def test_the_wage_of_what_is_typed_is_told_and_nothing_saved(client: Client, stage: Stage) -> None:
    part = reverse("stage-wage", args=[stage.project.slug, stage.key])
    text = squeezed(client.get(part, {"reward": "0.10", "expected_seconds_0": "1", "expected_seconds_1": "60"}))
    assert "$6.00 an hour" in text and "$0.13 an answer reaches your floor" in text
    for odd in ("", "a lot", "-3", "9" * 30, "NaN"):
        assert (
            client.get(part, {"reward": odd, "expected_seconds_0": odd, "expected_seconds_1": odd}).status_code == 200
        )
    stage.refresh_from_db()
    assert stage.reward == Decimal("0.04")


def test_the_share_of_check_questions_is_typed_and_stays_where_it_is_not(client: Client, alice: Any) -> None:
    project = projects.create_project("Weather", "choice", Decimal("20.00"), "lab@example.org", alice, seed=3)
    stage = project.stages.get()
    client.post(address(stage), typed(client, stage, gold_share="0.15"))
    stage.refresh_from_db()
    assert stage.gold_share == 0.15
    client.post(address(stage), typed(client, stage, gold_share=None, title="Choose"))
    stage.refresh_from_db()
    assert (stage.gold_share, stage.title) == (0.15, "Choose")
    text = client.post(address(stage), typed(client, stage, gold_share="0.6")).content.decode()
    assert "“Share of check questions” must be a number from 0 to 0.5" in text


def test_a_policy_by_agreement_is_typed(client: Client, stage: Stage) -> None:
    policy = {"quality_measure": "agreement", "quality_relative": "on", "quality_floor": "0.5"}
    client.post(address(stage), typed(client, stage, has_policy="on", **policy))
    stage.refresh_from_db()
    assert stage.quality["measure"] == "agreement" and stage.quality["relative"] and stage.quality["floor"] == 0.5


def test_every_setting_has_a_place_on_the_page() -> None:
    shown = {name for groups in GROUPS for _, names in groups for name in names}
    assert shown == set(stage_settings.NAMES)
