"""Practice before a test: what is right is told of the items that are kept for it, and of no other."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from hits import protocols
from hits.answers.rules import feedback, task_words
from hits.answers.verbs import serving
from hits.models import Draft, Hit, Item, Stage
from hits.protocols import lines
from hits.workers.rules import screening
from tests.hits import factories as make
from tests.hits.task_page import ASSIGNMENT, WORKER

pytestmark = pytest.mark.django_db
CHOICES = {"question": "Wet?", "choices": ["Yes", "No"]}


@pytest.fixture
def test_hit(db: None) -> Hit:
    """A HIT about two items, of a test with two items of practice out of three."""
    options = protocols.get("multiple_choice").settings(CHOICES)
    stage = make.stage(protocol="multiple_choice", settings=options, hit_title="Test")
    Stage.objects.filter(pk=stage.pk).update(screening_share=0.5, practice_items=2, grants="wet-test", items_per_hit=2)
    stage.refresh_from_db()
    items = [
        make.item(
            stage,
            document=make.document(stage.project, data={"text": f"Text {n}."}),
            data={"gold": ["Yes"], "columns": {"explanation": f"Because of <i>{n}</i>."}},
            state=Item.State.CHECK,
        )
        for n in range(5)
    ]
    Item.objects.filter(pk__in=[item.pk for item in items[2:]]).update(for_practice=True)
    return make.hit_about(items[:2])


def token(hit: Hit, worker: str = WORKER) -> str:
    return serving.page_token(serving.Visit(hit, ASSIGNMENT, worker))


def post(client: Client, hit: Hit, marketplace: Any, **fields: str) -> Any:
    address = f"{reverse('task-practice')}?turkSubmitTo={marketplace.origin}"
    return client.post(address, {"page": token(hit), "choice": "yes", "practice_number": "1", **fields})


def test_it_comes_first_and_says_that_nothing_of_it_counts(open_task: Any, test_hit: Hit) -> None:
    text = " ".join(open_task(test_hit).content.decode().split())
    assert "Practice 1 of 2:" in text and "nothing of this is sent or counted" in text
    assert "Because" not in text and "externalSubmit" not in text
    assert "Practice 2 of 2:" in " ".join(open_task(test_hit, practice="2").content.decode().split())
    for number in ("3", "0", "-1", "99", "²", "x" * 500):
        text = open_task(test_hit, practice=number).content.decode()
        assert "item 1 of 2" in text and "Practice" not in text.split("<form")[1]
    assert "You pass with 50 %" in " ".join(text.split()) and "It can be taken once." in text
    assert not Draft.objects.exists()


def test_what_was_right_is_told_with_the_reason_and_nothing_is_kept(
    client: Client, test_hit: Hit, recording_marketplace: Any
) -> None:
    right = post(client, test_hit, recording_marketplace).content.decode()
    assert "That is right." in right and "Because of &lt;i&gt;" in right and "Next item to practise on" in right
    wrong = post(client, test_hit, recording_marketplace, choice="no", practice_number="2").content.decode()
    assert "That is not right." in wrong and "Right is “Yes”." in wrong and "Begin the test" in wrong
    assert not Draft.objects.exists()
    blank = post(client, test_hit, recording_marketplace, choice="")
    assert blank.status_code == 422 and "No answer is chosen yet" in blank.content.decode()
    assert "Because" not in blank.content.decode()


@pytest.mark.parametrize("number", ["0", "3", "-1", "", "1.0", "²", "9" * 400])
def test_no_other_number_is_told_anything(
    client: Client, test_hit: Hit, recording_marketplace: Any, number: str
) -> None:
    reply = post(client, test_hit, recording_marketplace, practice_number=number)
    assert reply.status_code == 404 and "Because" not in reply.content.decode()


def test_the_page_of_a_test_item_is_told_nothing_whatever_is_posted(
    client: Client, test_hit: Hit, recording_marketplace: Any
) -> None:
    workers = [WORKER, *(f"A{number}" for number in range(30))]
    shown = {item.pk for worker in workers for item in screening.drawn_for(test_hit.stage, worker)}
    asked = {test_hit.item_id, *test_hit.further.values_list("item", flat=True)}
    assert not shown & asked
    for fields in ({"item_number": "1"}, {"item": str(test_hit.item_id)}, {"item1:choice": "yes"}):
        text = post(client, test_hit, recording_marketplace, **fields).content.decode()
        assert "Text 0." not in text and "Text 1." not in text
    forged = client.post(
        f"{reverse('task-practice')}?turkSubmitTo={recording_marketplace.origin}", {"page": "x", "practice_number": "1"}
    )
    assert forged.status_code == 404
    away = client.post(f"{reverse('task-practice')}?turkSubmitTo=https://evil.example", {"page": token(test_hit)})
    assert away.status_code == 400
    assert client.get(reverse("task-practice")).status_code == 405


def test_a_stage_without_practice_has_none(
    client: Client, test_hit: Hit, recording_marketplace: Any, open_task: Any
) -> None:
    Stage.objects.filter(pk=test_hit.stage_id).update(practice_items=0)
    assert post(client, test_hit, recording_marketplace).status_code == 404
    assert "Practice 1" not in open_task(test_hit, practice="1").content.decode()


def test_a_worker_who_may_not_answer_may_not_practise(
    client: Client, test_hit: Hit, recording_marketplace: Any
) -> None:
    worker = make.worker(WORKER)
    make.block(test_hit.stage, worker)
    assert post(client, test_hit, recording_marketplace).status_code == 403


def told_by_form(ask: list[dict[str, Any]], columns: dict[str, str], said: dict[str, str]) -> feedback.Told:
    form = {"show": [{"kind": "text", "text": "{note}"}], "ask": ask}
    stage = make.stage(protocol="form", settings=protocols.get("form").settings({"form": form}))
    item = make.item(stage, document=make.document(stage.project, data={}), data={"columns": columns})
    return feedback.told(stage, item, protocols.get("form").posted({}, item.data, stage.settings, said, WORKER), WORKER)


def test_beside_marked_spans_the_other_known_answers_of_a_form_are_told() -> None:
    labels = [{"id": "place", "text": "A place"}]
    choices = [{"id": "y", "text": "Yes"}, {"id": "n", "text": "No"}]
    ask = [
        {"kind": "spans", "key": "places", "question": "Places?", "column": "note", "choices": labels, "gold": "where"},
        {"kind": "one", "key": "wet", "question": "Wet?", "choices": choices, "gold": "rain"},
    ]
    columns = {"note": "Rain in Lund.", "where": '[[8, 12, "place"]]', "rain": "y"}
    told = told_by_form(ask, columns, {"places": columns["where"], "wet": "n"})
    assert [(unit.said, unit.is_right) for unit in told.units] == [("Lund (A place)", True), ("No", False)]
    assert not told.is_right


def test_what_is_better_of_two_is_told_by_its_text() -> None:
    ask = [
        {"kind": "pair", "key": "better", "question": "?", "a": "{note}", "b": "Snow.", "tie": True, "gold": "right"}
    ]
    told = told_by_form(ask, {"note": "Rain.", "right": "a"}, {"better": "b"})
    assert [(unit.said, unit.right) for unit in told.units] == [("Snow.", "Rain.")]


def test_marked_spans_and_form_answers_are_told_in_words() -> None:
    stage = make.stage(protocol="spans", settings=protocols.get("spans").settings({"labels": ["place"]}))
    document = make.document(stage.project, data={"text": "The ferry left Lund."})
    item = make.item(stage, document=document, data={"gold": [[15, 19, "place"]]})
    import json

    wrong = feedback.told(stage, item, {"spans": json.dumps([[4, 9, "place"]])}, WORKER)
    (unit,) = wrong.units
    assert (unit.said, unit.right, unit.is_right) == ("ferry (place)", "Lund (place)", False)
    form = {
        "show": [{"kind": "text", "text": "{text}"}],
        "ask": [
            {
                "kind": "one",
                "key": "mood",
                "question": "Mood?",
                "choices": [{"id": "g", "text": "Glad"}, {"id": "s", "text": "Sad"}],
                "gold": "right_mood",
            }
        ],
    }
    asked = make.stage(
        stage.project, key="ask", protocol="form", settings=protocols.get("form").settings({"form": form})
    )
    columns = {"columns": {"text": "Rain.", "right_mood": "s"}}
    told = feedback.told(asked, make.item(asked, document=make.document(asked.project, data={}), data=columns),
                         {"mood": "g"}, WORKER)  # fmt: skip
    (unit,) = told.units
    assert unit == feedback.ToldUnit("", "Glad", "Sad", False) and told.why == ""


@pytest.mark.parametrize(("language", "nothing", "no"), [("de", "nichts", "nicht „Wet“"), ("es", "nada", "no «Wet»")])
def test_what_was_said_is_told_in_the_language_of_the_page(language: str, nothing: str, no: str) -> None:
    choices = [{"id": "c0", "text": "Wet"}, {"id": "c1", "text": "Cold"}]
    assert [line.said for line in lines.ticked("?", "chosen", choices, {"c0/chosen": "no"})] == ["not “Wet”"]
    with task_words.spoken(language):
        assert [line.said for line in lines.ticked("?", "chosen", choices, {"c0/chosen": "no"})] == [no]
        assert lines.plain([]) == lines.plain("") == nothing
        ask = [{"kind": "any", "key": "wet", "question": "Wet?", "choices": choices, "gold": "rain", "least": 0}]
        told = told_by_form(ask, {"note": "Rain.", "rain": "c0"}, {})
    assert [unit.said for unit in told.units] == [nothing]
    assert lines.plain([]) == "nothing"
