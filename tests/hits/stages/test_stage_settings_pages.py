"""The page "Settings" of a stage: everything on one page, the recipe's value beside it, faults at their fields."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from lxml import html
from playwright.sync_api import expect

from hits.models import Project, Stage
from hits.projects.verbs import projects
from hits.recipes.stage_settings import BEFORE_PUBLISHING, SETTINGS
from hits.stages.pages.stage_settings import COLUMNS
from hits.stages.verbs import stage_settings
from tests.hits import factories as make
from tests.hits.lead_pages import Opener, cut_selects
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


def test_a_growing_number_of_answers_is_set_with_its_condition(lead_client: Client, stage: Stage) -> None:
    changes = {"answers": "2", "most_answers": "7", "enough": "at least 2 agree on entity"}
    reply = lead_client.post(address(stage), typed(lead_client, stage, **changes), follow=True)
    stage.refresh_from_db()
    assert (stage.answers, stage.most_answers, stage.enough) == (2, 7, "at least 2 agree on entity")
    assert stage.rule["params"]["answers"] == 7
    assert "This task asks: entity." in squeezed(reply)
    assert "Saved: Answers an item, Most answers an item, An item has enough answers when." in squeezed(reply)
    reply = lead_client.post(address(stage), typed(lead_client, stage, enough="two agree"))
    assert reply.status_code == 400
    assert "“An item has enough answers when” is wrong: line 1, column 1: &#x27;two&#x27; does not say how many" in (
        squeezed(reply)
    )


def test_approval_by_a_lead_is_chosen_alone_or_with_a_time_and_a_fault_stands_at_the_time(
    lead_client: Client, stage: Stage
) -> None:
    Stage.objects.filter(pk=stage.pk).update(approval="automatic", auto_approval_seconds=0)
    lead_client.post(address(stage), typed(lead_client, stage, approval="review"))
    stage.refresh_from_db()
    assert (stage.approval, stage.auto_approval_seconds) == ("review", 259_200)
    refused = lead_client.post(address(stage), typed(lead_client, stage, auto_approval_seconds_0="0"))
    assert refused.status_code == 400
    assert "must be more than 0 s" in refused.context["form"].errors["auto_approval_seconds"][0]
    assert "approval" not in refused.context["form"].errors


def test_everything_is_changed_on_one_page(lead_client: Client, stage: Stage) -> None:
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
    reply = lead_client.post(address(stage), typed(lead_client, stage, **changes), follow=True)
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


def test_a_form_that_nobody_touched_changes_nothing(lead_client: Client, stage: Stage) -> None:
    before = Stage.objects.values().get(pk=stage.pk)
    reply = lead_client.post(address(stage), typed(lead_client, stage), follow=True)
    assert "These settings stood already" in reply.content.decode()
    assert Stage.objects.values().get(pk=stage.pk) == before
    assert not stage.actions.exists()


def test_one_click_sets_the_recipes_value_and_keeps_what_else_was_typed(lead_client: Client, stage: Stage) -> None:
    stage_settings.change(stage, {"reward": "0.30"}, None)
    lead_client.post(address(stage), typed(lead_client, stage, title="Typed", recipe_value="reward"))
    stage.refresh_from_db()
    assert (stage.reward, stage.title) == (Decimal("0.04"), "Typed")


def test_values_that_were_there_for_another_comparison_are_left_out(lead_client: Client, stage: Stage) -> None:
    row = {"qualification": "invited-workers", "comparator": "Exists", "values": "95"}
    typed_row = {f"requirement-0-{name}": value for name, value in row.items()}
    reply = lead_client.post(address(stage), typed(lead_client, stage, **typed_row))
    assert reply.status_code == 302
    stage.refresh_from_db()
    asked = {"qualification": "invited-workers", "comparator": "Exists", "guards": "PreviewAndAccept"}
    assert stage.requirements[0] == asked


def test_as_usual_a_pool_is_held_and_hides_the_hits_from_others(lead_client: Client, stage: Stage) -> None:
    pool = make.pool(stage.project)
    row = {"qualification": pool.key, "comparator": "", "values": "", "guards": ""}
    lead_client.post(
        address(stage), typed(lead_client, stage, **{f"requirement-3-{name}": value for name, value in row.items()})
    )
    stage.refresh_from_db()
    asked = {"qualification": pool.key, "comparator": "Exists", "guards": "DiscoverPreviewAndAccept"}
    assert stage.requirements[3] == asked


def test_a_requirement_that_does_not_fit_is_told_at_its_field_in_the_words_of_the_form(
    lead_client: Client, stage: Stage
) -> None:
    pool, before = make.pool(stage.project), stage.requirements
    row = {"qualification": pool.key, "comparator": "GreaterThanOrEqualTo", "values": "", "guards": ""}
    wrong = {f"requirement-3-{name}": value for name, value in row.items()}
    # A row without a qualification before it is none, and shifts those behind it.
    reply = lead_client.post(address(stage), typed(lead_client, stage, **wrong, **{"requirement-1-qualification": ""}))
    assert reply.status_code == 400
    said = f"does not fit: {pool.key} is a pool, which takes “held” or “not held”."
    assert reply.context["form"].requirements.forms[3].errors == {"comparator": [said]}
    assert f"Requirement 4: {said}" in squeezed(reply)
    stage.refresh_from_db()
    assert stage.requirements == before


def test_every_fault_is_told_and_nothing_is_saved(lead_client: Client, stage: Stage) -> None:
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
    reply = lead_client.post(address(stage), typed(lead_client, stage, **wrong))
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


def test_after_publishing_what_is_fixed_is_shown_with_the_reason(lead_client: Client, stage: Stage) -> None:
    Stage.objects.filter(pk=stage.pk).update(hit_type_id="3TYPE")
    text = squeezed(lead_client.get(address(stage)))
    fixed = text[text.index("Fixed since publishing</h2>") :]
    assert "Items were published for this many answers" in fixed and 'name="answers"' not in text
    assert "Items were published for this many answers" not in text[: text.index("Fixed since publishing</h2>")]
    assert "Workers have the qualification already" not in fixed and "Workers were told when they pass" not in fixed
    assert "For the next HITs; those that are published keep theirs." in text
    reply = lead_client.post(address(stage), typed(lead_client, stage, reward="0.20", answers="9"), follow=True)
    stage.refresh_from_db()
    assert (stage.reward, stage.answers, stage.hit_types) == (Decimal("0.20"), 1, ["3TYPE"]), reply.content.decode()


def test_of_what_is_fixed_only_what_is_in_use_is_listed(lead_client: Client, stage: Stage) -> None:
    Stage.objects.filter(pk=stage.pk).update(hit_type_id="3TYPE", grants="part-one")
    text = squeezed(lead_client.get(address(stage)))
    assert 'id="setting-grants"' in text and "Workers have the qualification already" in text
    for name in ("screening_share", "screening_retries", "screening_hours", "practice_items", "most_answers", "enough"):
        assert f'id="setting-{name}"' not in text, name
    Stage.objects.filter(pk=stage.pk).update(screening_share=0.75, screening_retries=1)
    assert 'id="setting-screening_hours"' in squeezed(lead_client.get(address(stage)))


@pytest.mark.django_db(transaction=True)
def test_the_limit_of_unchecked_answers_is_asked_only_where_nobody_reviews_and_saving_stays_in_sight(
    opened: Opener, lead_client: Client, stage: Stage
) -> None:
    page = opened(address(stage))
    limit, delay = (
        page.get_by_label("Unchecked answers of one worker"),
        page.get_by_label("Approved automatically after"),
    )
    save = page.get_by_role("button", name="Save the set")
    expect(save).to_be_in_viewport()
    page.locator("[name=approval][value=review]").check()
    expect(limit).to_be_hidden()
    page.locator("[name=approval][value=automatic]").check()
    expect(limit).to_be_visible()
    expect(delay.first).to_be_visible()
    expect(save).to_be_in_viewport()


def test_the_wage_of_what_is_typed_is_told_and_nothing_saved(lead_client: Client, stage: Stage) -> None:
    part = reverse("stage-wage", args=[stage.project.slug, stage.key])
    text = squeezed(lead_client.get(part, {"reward": "0.10", "expected_seconds_0": "1", "expected_seconds_1": "60"}))
    assert "$6.00 an hour" in text and "$0.13 an answer reaches your floor" in text
    for odd in ("", "a lot", "-3", "9" * 30, "NaN"):
        assert (
            lead_client.get(part, {"reward": odd, "expected_seconds_0": odd, "expected_seconds_1": odd}).status_code
            == 200
        )
    stage.refresh_from_db()
    assert stage.reward == Decimal("0.04")


def test_the_share_of_check_questions_is_typed_and_stays_where_it_is_not(lead_client: Client, alice: Any) -> None:
    project = projects.create_project("Weather", "choice", Decimal("20.00"), "lab@example.org", alice, seed=3)
    stage = project.stages.get()
    lead_client.post(address(stage), typed(lead_client, stage, gold_share="0.15"))
    stage.refresh_from_db()
    assert stage.gold_share == 0.15
    lead_client.post(address(stage), typed(lead_client, stage, gold_share=None, title="Choose"))
    stage.refresh_from_db()
    assert (stage.gold_share, stage.title) == (0.15, "Choose")
    text = lead_client.post(address(stage), typed(lead_client, stage, gold_share="0.6")).content.decode()
    assert "“Share of check questions” must be a number from 0 to 0.5" in text


def test_a_policy_by_agreement_is_typed(lead_client: Client, stage: Stage) -> None:
    policy = {"quality_measure": "agreement", "quality_relative": "on", "quality_floor": "0.5"}
    lead_client.post(address(stage), typed(lead_client, stage, has_policy="on", **policy))
    stage.refresh_from_db()
    assert stage.quality["measure"] == "agreement" and stage.quality["relative"] and stage.quality["floor"] == 0.5


def test_every_setting_is_in_a_section_of_the_page_and_says_why_it_is_fixed_where_it_is() -> None:
    assert {setting.section for setting in SETTINGS.values()} == {title for titles in COLUMNS for title in titles}
    assert all(bool(setting.why_fixed) == (setting.when == BEFORE_PUBLISHING) for setting in SETTINGS.values())


def test_a_large_raise_is_asked_about_with_its_amounts_and_saved_by_the_button_that_repeats_them(
    lead_client: Client, stage: Stage
) -> None:
    stage.summary.waiting = 1_000
    stage.summary.save()
    given = typed(lead_client, stage, reward="0.50", answers="12", title="Dear")
    page = lead_client.post(address(stage), given)
    text = squeezed(page)
    assert "Raise “Answers an item” from 1 to 12 and the reward from $0.04 to $0.50?" in text
    assert "would cost up to $8,400.00 with fees, instead of $50.00" in text and "Nothing was saved yet" in text
    stage.refresh_from_db()
    assert (stage.reward, stage.answers, stage.title) == (Decimal("0.04"), 1, "Second validation")
    [button] = html.fromstring(page.content).xpath('//button[@name="confirmed"]')
    # What was typed is still in the form, so that the button sends it once more.
    assert html.fromstring(page.content).xpath('//input[@name="title"]/@value') == ["Dear"]
    lower = {**given, "reward": "0.60", "confirmed": button.get("value")}
    assert "to $0.60" in squeezed(lead_client.post(address(stage), lower))
    lead_client.post(address(stage), {**given, "confirmed": button.get("value")})
    stage.refresh_from_db()
    assert (stage.reward, stage.answers, stage.title) == (Decimal("0.50"), 12, "Dear")


CUT = """() => [...document.querySelectorAll(".requirement select[name$=qualification]")].filter(one => {
  const shown = one.offsetWidth;
  one.style.width = "max-content";
  return shown < one.offsetWidth && shown < one.parentElement.clientWidth;
}).length"""


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("width", [1280, 360])
def test_the_name_of_a_qualification_is_not_cut(opened: Opener, stage: Stage, width: int) -> None:
    page = opened(address(stage), width)
    first = page.locator(".requirement select[name$=qualification]").first
    assert first.evaluate("one => one.offsetWidth <= one.parentElement.clientWidth")
    assert page.evaluate(CUT) == 0
    page.locator(".requirement select[name$=qualification]").last.select_option("poor-quality")
    assert cut_selects(page) == []
    if width == 1280:
        assert first.evaluate("one => one.offsetWidth > one.closest('.requirement').clientWidth / 2")
