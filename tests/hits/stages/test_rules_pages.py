"""The rule's page: nothing is saved by looking, everything is said before saving."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from hits.judging.rules.summaries import refresh_summary
from hits.judging.verbs import deciding
from hits.models import Item, RuleEdition, Stage
from tests.hits import factories as make
from tests.hits.small_recipe import answered
from tests.markup import squeezed as said

pytestmark = pytest.mark.django_db

OLD = "valid: at least 2 label = good\notherwise: drop\n"
NEW = "valid: at least 1 label = good\notherwise: drop\n"
GOOD, BAD = {"label": "good"}, {"label": "bad"}


@pytest.fixture
def stage(alice: Any) -> Stage:
    """Two items valid, one dropped that the new rule would keep, and one that waits for an answer."""
    project = make.project(owner=alice, slug="river")
    rule = {"name": "conditions", "version": 1, "params": {"answers": 3, "text": OLD}}
    stage = make.stage(project, key="judge", answers=3, rule=rule)
    for number, votes in enumerate([[GOOD] * 3, [GOOD, GOOD, BAD], [GOOD, BAD, BAD], [GOOD]]):
        answered(stage, *votes, key=f"set-{number}")
    deciding.decide(stage)
    return stage


def url(name: str, stage: Stage) -> str:
    return reverse(name, args=[stage.project.slug, stage.key])


def test_the_page_shows_the_rule_with_units_and_editions(lead_client: Client, stage: Stage) -> None:
    text = said(lead_client.get(url("rule", stage)))
    assert "valid: at least 2 label = good" in text
    assert '<th scope="row" class="mono">label</th>' in text and '<span class="mono">bad</span>' in text
    assert "From the recipe ReCoRD" in text
    assert not RuleEdition.objects.exists()


def test_before_the_first_answer_the_page_names_what_the_task_asks(lead_client: Client, alice: Any) -> None:
    choices = [{"id": "wet", "text": "Wet"}, {"id": "dry", "text": "Dry"}]
    project = make.project(owner=alice, slug="lake")
    stage = make.stage(project, key="judge", protocol="multiple_choice", settings={"question": "?", "choices": choices})
    text = said(lead_client.get(url("rule", stage)))
    assert 'The task asks: <span class="mono">choice</span>.' in text and "values appear with the first ones" in text


def test_a_published_rule_can_be_put_into_the_field(lead_client: Client, stage: Stage) -> None:
    Stage.objects.filter(pk=stage.pk).update(protocol="multiple_choice")
    text = said(lead_client.get(url("rule", stage) + "?template=Cosmos QA: human performance by majority"))
    assert "right: at least 2 choice.correct = yes" in text
    stage.refresh_from_db()
    assert stage.rule["params"]["text"] == OLD


def test_typing_counts_at_once_what_would_be_kept_and_saves_nothing(lead_client: Client, stage: Stage) -> None:
    text = said(lead_client.post(url("rule-preview", stage), {"text": NEW}))
    assert "1 of 4 items would move" in text
    assert '<td class="n">2</td><td class="n"><strong>3</strong></td>' in text
    assert f'<a href="{reverse("item", args=["river", "judge", Item.objects.get(key="set-2").pk])}">set-2</a>' in text
    stage.refresh_from_db()
    assert (stage.rule["params"]["text"], RuleEdition.objects.count()) == (OLD, 0)


def test_faults_come_all_at_once_with_their_places_and_nothing_of_data_is_markup(
    lead_client: Client, stage: Stage
) -> None:
    text = said(lead_client.post(url("rule-preview", stage), {"text": "<b>x</b>: 1\nvalid: at least 9 label = good"}))
    assert "Line 1, column 1" in text and "Line 2, column 8" in text
    assert "the last line is missing" in text
    assert "<b>x" not in text
    slip = said(lead_client.post(url("rule-preview", stage), {"text": "valid: all lable = good\notherwise: drop"}))
    assert "No answer so far says this" in slip and "did you mean label?" in slip


def test_saving_says_first_what_it_changes(lead_client: Client, stage: Stage) -> None:
    make.item(make.stage(stage.project, title="Human score"), parent=Item.objects.get(key="set-0"))
    text = said(lead_client.post(url("confirm-rule", stage), {"text": NEW, "note": "One is enough"}))
    assert "Save rule 2: 1 item moves from dropped to valid" in text
    assert "“Human score” has 1 item from this stage already" in text
    stage.refresh_from_db()
    assert stage.rule["params"]["text"] == OLD


def test_a_saved_rule_judges_at_once_and_the_page_tells_what_changed(
    lead_client: Client, stage: Stage, eager: None
) -> None:
    given = {"text": NEW.replace("\n", "\r\n"), "again": "", "note": "One is enough", "seen": "1"}
    reply = lead_client.post(url("save-rule", stage), given)
    assert reply.status_code == 302 and "?since=" in reply["Location"]
    stage.refresh_from_db()
    assert (stage.rule["params"]["text"], stage.rule_edition) == (NEW, 2)
    assert Item.objects.get(key="set-2").conclusion == "valid"
    text = said(lead_client.get(reply["Location"]))
    assert "1 item changed label" in text
    assert "set-2: dropped to valid" in text and "One is enough" in text
    assert RuleEdition.objects.get(number=2).created_by.username == "alice"


def test_of_two_leads_the_second_sees_what_the_first_saved(lead_client: Client, stage: Stage, eager: None) -> None:
    lead_client.post(url("save-rule", stage), {"text": NEW, "seen": "1"})
    reply = lead_client.post(url("save-rule", stage), {"text": "valid: all label = good\notherwise: drop", "seen": "1"})
    assert reply.status_code == 409
    assert "Somebody saved another rule" in said(reply)
    assert "valid: all label = good" in said(reply)
    assert RuleEdition.objects.count() == 2


@pytest.mark.parametrize("name", ["confirm-rule", "save-rule"])
def test_a_text_that_is_no_rule_comes_back_with_its_faults(lead_client: Client, stage: Stage, name: str) -> None:
    reply = lead_client.post(url(name, stage), {"text": "valid: perhaps", "note": "Why not", "seen": "1"})
    assert reply.status_code == 400
    assert "This text is no rule yet" in said(reply) and "valid: perhaps" in said(reply) and "Why not" in said(reply)
    assert not RuleEdition.objects.exists()


def test_an_older_rule_is_used_again_by_the_same_way(lead_client: Client, stage: Stage, eager: None) -> None:
    lead_client.post(url("save-rule", stage), {"text": NEW, "seen": "1"})
    text = said(lead_client.post(url("confirm-rule", stage), {"again": "1"}))
    assert "Save rule 3: 1 item moves from valid to dropped" in text and "Rule 1 again" in text
    lead_client.post(url("save-rule", stage), {"again": "1", "seen": "2", "note": "Rule 1 again"})
    stage.refresh_from_db()
    assert (stage.rule["params"]["text"], stage.rule_edition) == (OLD, 3)
    assert lead_client.post(url("confirm-rule", stage), {"again": "99"}).status_code == 404
    assert lead_client.post(url("save-rule", stage), {"text": OLD}).status_code == 302


def test_judging_again_shows_how_far_it_is_and_then_the_difference(
    lead_client: Client, stage: Stage, eager: None
) -> None:
    Item.objects.filter(key="set-0").update(stale=True)
    refresh_summary(stage)
    waiting = said(lead_client.get(url("rule-progress", stage)))
    assert "3 of 4 items judged" in waiting and "hx-get" in waiting
    reply = lead_client.post(url("judge-again", stage))
    text = said(lead_client.get(reply["Location"]))
    assert "No item changed label" in text and "4 items with answers are judged again" in text
    for wrong in ("never", "nan", "-1", "1e300", ""):
        assert lead_client.get(url("rule", stage) + f"?since={wrong}").status_code == 200


def test_items_and_answers_are_filtered_by_what_the_rule_concluded(lead_client: Client, stage: Stage) -> None:
    items = said(lead_client.get(url("items", stage) + "?conclusion=valid"))
    assert "set-0" in items and "set-1" in items and "set-2" not in items
    answers = said(lead_client.get(url("answers", stage) + "?conclusion=valid"))
    assert "set-1" in answers and "set-2" not in answers
    lines = b"".join(lead_client.get(url("answers-csv", stage) + "?conclusion=valid").streaming_content).decode()
    assert lines.count("set-") == 6
    assert "No item here" in said(lead_client.get(url("items", stage) + "?conclusion=nothing"))


def test_the_funnel_counts_each_conclusion_and_an_item_names_its_edition(lead_client: Client, stage: Stage) -> None:
    assert stage.summary.conclusions == []
    refresh_summary(stage)
    stage.summary.refresh_from_db()
    assert stage.summary.conclusions == [["kept", "valid", 2]]
    assert "?conclusion=valid" in said(lead_client.get(url("stage", stage)))
    page = said(lead_client.get(reverse("item", args=["river", "judge", Item.objects.get(key="set-0").pk])))
    assert "<strong>valid</strong>" in page and "rule 1</a> (in lines)" in page
