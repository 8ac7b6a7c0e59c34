"""Lists of items and answers: texts first, votes in words, filters and orders in the address, files of the same."""

from __future__ import annotations

import csv
import io
import json
import re
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from hits import protocols
from hits.core import keyset
from hits.judging.verbs.deciding import decide
from hits.models import Assignment, ComputationResult, Hit, Item, Label, Project, Stage
from tests.hits import factories as make
from tests.markup import squeezed

pytestmark = pytest.mark.django_db
FORM = {
    "show": [{"kind": "text", "text": "{review}"}],
    "ask": [
        {"kind": "one", "key": "mood", "question": "How does it sound?", "choices": ["Glad", "Sad", "Angry", "Calm"]},
        {"kind": "any", "key": "about", "question": "About what?", "choices": ["Food", "Staff"], "required": False},
    ],
}
TEXTS = ("The soup was cold and nobody cared.", "Ein schöner Abend\nam Fluss.", "=SUM(A1) of all evenings.")
SAID = (("glad", "sad", "sad", "calm"), ("glad", "glad", "glad"), ("angry",))


@pytest.fixture
def stage(alice: Any) -> Stage:
    """Three reviews: one disputed, one agreed upon, one answered once."""
    project = make.project(owner=alice, recipe="form", slug="reviews")
    stage = make.stage(
        project,
        key="moods",
        protocol="form",
        settings={"form": FORM},
        answers=4,
        rule={"name": "measured", "version": 1, "params": {"answers": 4}},
    )
    for number, (text, said) in enumerate(zip(TEXTS, SAID, strict=True)):
        columns = {"review": text, "city": f"Linden {number}"}
        document = make.document(project, key=f"row-{number}", data={"columns": columns})
        item = make.item(stage, key=f"review-{number}", document=document, data={}, stale=True, state=Item.State.OPEN)
        for turn, mood in enumerate(said):
            _answer(item, mood, f"A{turn}")
    decide(stage)
    return stage


def _answer(item: Item, mood: str, worker: str) -> None:
    person = make.Worker.objects.filter(worker_id=worker).first() or make.worker(worker)
    hit = make.hit(item, slot=item.hits.count() + 1)
    answer = make.assignment(hit, person, answer={"mood": mood}, seconds=10.0 + len(mood))
    make.label(answer, unit="mood", value=mood, correct=mood == "glad")


def _url(name: str, stage: Stage, **query: str) -> str:
    address = reverse(name, args=[stage.project.slug, stage.key])
    return f"{address}?{'&'.join(f'{key}={value}' for key, value in query.items())}"


def _keys(client: Client, stage: Stage, **query: str) -> list[str]:
    return [item.key for item in client.get(_url("items", stage, **query)).context["page"].rows]


def _file(client: Client, name: str, stage: Stage, **query: str) -> list[dict[str, str]]:
    reply = client.get(_url(name, stage, **query))
    return list(csv.DictReader(io.StringIO(b"".join(reply.streaming_content).decode())))  # type: ignore[attr-defined]


def test_a_row_begins_with_what_workers_read_and_has_the_votes_in_words(lead_client: Client, stage: Stage) -> None:
    reply = lead_client.get(_url("items", stage))
    first, second, third = reply.context["rows"]
    assert first.text == TEXTS[0] and second.text == "Ein schöner Abend am Fluss."
    assert first.votes.shown == (("Sad", 2), ("Glad", 1), ("Calm", 1)) and first.votes.others == 0
    assert [row.item.disagreement for row in (first, second, third)] == [pytest.approx(5 / 6), 0.0, None]
    page = reply.content.decode()
    assert "The soup was cold" in page and "Sad: <span" in page and "83 %" in page


def test_bullets_of_a_passage_stand_in_its_line(lead_client: Client, alice: Any) -> None:
    item = make.item(make.stage(make.project(owner=alice), key="cloze"))
    (row,) = lead_client.get(_url("items", item.stage)).context["rows"]
    assert row.text.endswith("had promised it twice. • Linden has a ferry again")
    assert row.asked == "People in ____ can cross the river by boat once more."


def test_more_than_three_values_are_told_as_others(lead_client: Client, stage: Stage) -> None:
    item = stage.items.get(key="review-0")
    _answer(item, "angry", "A9")
    (row, *_) = lead_client.get(_url("items", stage)).context["rows"]
    assert (row.votes.others, row.votes.of) == (1, 5)
    assert "1 other\n" in lead_client.get(_url("items", stage)).content.decode()


def test_the_question_that_divides_the_workers_is_the_one_that_is_shown(lead_client: Client, stage: Stage) -> None:
    item = stage.items.get(key="review-1")
    for answer in Assignment.objects.filter(hit__item=item):
        said = [answer.worker.worker_id]
        make.label(answer, unit="about", value=said, correct=None)
    row = lead_client.get(_url("items", stage)).context["rows"][1]
    assert (row.votes.question, row.votes.further, row.votes.of) == ("About what?", 1, 3)


def test_units_that_tell_of_one_question_are_not_told_as_further_ones(lead_client: Client, alice: Any) -> None:
    folder = protocols.HOME / "protocols" / "spans"
    sample = json.loads((folder / "sample.json").read_text(encoding="utf-8"))
    stage = make.stage(make.project(owner=alice), protocol="spans", settings={})
    hit = make.hit(
        make.item(stage, document=make.document(stage.project, data=sample["document"]), data=sample["item"])
    )
    protocol, answer = protocols.get("spans", [protocols.HOME]), make.assignment(hit)
    for label in protocol.check(sample["document"], sample["item"], protocol.settings({}), sample["fields"]).labels:
        make.label(answer, unit=label.unit, value=label.value, correct=label.correct)
    (row,) = lead_client.get(_url("items", stage)).context["rows"]
    assert answer.labels.count() > 1 and (row.votes.question, row.votes.further) == ("", 0)
    assert row.votes.shown == (("Ilse Brandt (Person); Linden (Place); Water Board (Organisation)", 1),)


def test_items_are_ordered_by_disagreement_and_those_without_are_left_out_and_told(
    lead_client: Client, stage: Stage
) -> None:
    assert _keys(lead_client, stage, sort="-disagreement") == ["review-0", "review-1"]
    assert _keys(lead_client, stage, sort="disagreement") == ["review-1", "review-0"]
    page = lead_client.get(_url("items", stage, sort="disagreement")).content.decode()
    assert "Items without two answers to the same question are not in this order." in page
    assert _keys(lead_client, stage, sort="nonsense") == ["review-0", "review-1", "review-2"]


def test_items_are_ordered_by_the_confidence_of_the_newest_computation(lead_client: Client, stage: Stage) -> None:
    assert _keys(lead_client, stage, sort="confidence") == []
    for sure in (0.9, 0.2):
        run = make.computation_run(stage.project, key="moods-agreement")
        for number, item in enumerate(stage.items.order_by("id")[:2]):
            ComputationResult.objects.create(run=run, item=item, data={}, confidence=abs(sure - number / 2))
    assert _keys(lead_client, stage, sort="confidence") == ["review-0", "review-1"]
    assert _keys(lead_client, stage, sort="-confidence", state="kept") == ["review-0"]
    assert "20 %" in lead_client.get(_url("items", stage)).content.decode()


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("SOUP was  cold", ["review-0"]), ("SCHÖNER abend am", ["review-1"]), ("columns", []),
        ("linden", ["review-0", "review-1", "review-2"]),
        ("review-2", ["review-2"]), ("row-1", ["review-1"]), ("100%", []),
    ],
)  # fmt: skip
def test_a_search_looks_in_texts_columns_and_ids(
    lead_client: Client, stage: Stage, words: str, found: list[str]
) -> None:
    assert _keys(lead_client, stage, find=words) == found
    assert [row["item"] for row in _file(lead_client, "items-csv", stage, find=words)] == found


def test_a_search_says_how_many_items_it_looked_through_and_goes_on(
    lead_client: Client, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keyset, "WINDOW", 2)
    reply = lead_client.get(_url("items", stage, find="sum("))
    assert reply.context["rows"] == []
    page = " ".join(reply.content.decode().split())
    assert "2 items were looked through for this page; the stage has" in page and "None of them fits" in page
    assert _keys(lead_client, stage, find="sum(", after=reply.context["page"].after) == ["review-2"]
    assert [row["item"] for row in _file(lead_client, "items-csv", stage, find="sum(")] == ["review-2"]


def test_the_file_of_items_is_what_the_page_chooses_and_holds_no_formula(lead_client: Client, stage: Stage) -> None:
    everything = _file(lead_client, "items-csv", stage)
    assert [row["text"] for row in everything] == [TEXTS[0], "Ein schöner Abend am Fluss.", f"'{TEXTS[2]}"]
    assert (everything[0]["votes"], everything[0]["answers"]) == ("Sad: 2; Glad: 1; Calm: 1", "4")
    kept = _file(lead_client, "items-csv", stage, state="kept", sort="-disagreement")
    assert [row["item"] for row in kept] == ["review-0"]
    assert "Download\n    these items as CSV" in lead_client.get(_url("items", stage, state="kept")).content.decode()


def _workers(client: Client, stage: Stage, **query: str) -> list[tuple[str, str]]:
    rows = client.get(_url("answers", stage, **query)).context["page"].rows
    return [(row.about.key[-1], row.worker.worker_id) for row in rows]


def test_answers_are_chosen_by_worker_by_being_right_and_by_what_was_answered(
    lead_client: Client, stage: Stage
) -> None:
    assert _workers(lead_client, stage, worker="A2") == [("1", "A2"), ("0", "A2")]
    assert _workers(lead_client, stage, worker="A2", compared="wrong") == [("0", "A2")]
    assert _workers(lead_client, stage, compared="right", sort="id") == [
        ("0", "A0"),
        ("1", "A0"),
        ("1", "A1"),
        ("1", "A2"),
    ]
    assert _workers(lead_client, stage, find="ANGRY") == [("2", "A0")]
    chosen = _file(lead_client, "answers-csv", stage, worker="A2", compared="wrong")
    assert [(row["item"], row["worker_id"]) for row in chosen] == [("review-0", "A2")]
    assert [row["item"] for row in _file(lead_client, "answers-csv", stage, find="angry")] == ["review-2"]


def test_answers_are_ordered_by_how_long_they_took(lead_client: Client, stage: Stage) -> None:
    assert _workers(lead_client, stage, sort="-seconds")[0] == ("2", "A0")
    assert _workers(lead_client, stage, sort="seconds")[-1] == ("2", "A0")


def test_an_answer_stands_beside_the_text_that_it_is_about(lead_client: Client, stage: Stage) -> None:
    page = lead_client.get(_url("answers", stage, worker="A3")).content.decode()
    assert TEXTS[0] in page and "review-0" in page


def test_the_page_of_a_worker_has_texts_money_and_a_link_to_all_answers(lead_client: Client, stage: Stage) -> None:
    answer = Assignment.objects.filter(worker__worker_id="A3").get()
    make.worker_stat(stage, answer.worker, answers=1, earned="0.04")
    make.bonus(answer, state="paid", amount=Decimal("0.75"))
    make.figures(stage, median_seconds=21.0)
    page = lead_client.get(reverse("worker", args=["reviews", "A3"])).content.decode()
    assert TEXTS[0] in page and f"{_url('answers', stage)}worker=A3" in page
    assert "$0.75" in page and "of all: 21 s" in page


def _grow(stage: Stage, count: int) -> None:
    rows = make.items(stage, count, state=Item.State.OPEN, document=stage.project.documents.first(), disagreement=0.5)
    answers = make.assignments(make.hits(rows), make.worker(), answer={"mood": "glad"})
    Label.objects.bulk_create(
        Label(
            assignment=row, item=row.hit.item, stage=stage, worker=row.worker, unit="mood", value="glad", correct=True
        )
        for row in answers
    )


LISTS = (
    ("items", {}), ("items", {"find": "nowhere"}), ("items", {"sort": "-disagreement", "state": "kept"}),
    ("items", {"sort": "confidence"}), ("items", {"sort": "-changed", "find": "soup"}),
    ("answers", {}), ("answers", {"compared": "wrong", "sort": "seconds"}), ("answers", {"find": "nowhere"}),
    ("answers", {"worker": "A2", "show": "rejected", "conclusion": "valid"}),
)  # fmt: skip


def test_each_filter_order_and_search_costs_the_same_with_few_and_with_many_rows(
    lead_client: Client, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keyset, "WINDOW", 500)
    _grow(stage, 60)
    costs = []
    for _ in range(2):
        costs.append([])
        for name, query in LISTS:
            with CaptureQueriesContext(connection) as queries:
                lead_client.get(_url(name, stage, **query))
            costs[-1].append((name, query, len(queries)))
        _grow(stage, 2000)
    assert costs[0] == costs[1]


def test_others_see_neither_list(stage: Stage, charlie: Any) -> None:
    outsider = Client()
    outsider.force_login(charlie)
    assert [outsider.get(_url(name, stage)).status_code for name in ("items-csv", "answers")] == [404, 404]
    assert Project.objects.count() == 1


def test_an_item_stands_between_its_neighbours_under_the_tabs_of_its_stage(lead_client: Client, stage: Stage) -> None:
    first, second, third = stage.items.order_by("pk")

    def page(item: Item) -> str:
        return squeezed(lead_client.get(reverse("item", args=["reviews", "moods", item.pk])))

    def links(item: Item) -> list[str]:
        return re.findall(r'<a rel="(\w+)" href="[^"]*/items/(\d+)/">', page(item))

    assert links(second) == [("prev", str(first.pk)), ("next", str(third.pk))]
    assert links(first) == [("next", str(second.pk))] and links(third) == [("prev", str(second.pk))]
    assert '<nav class="tabs scrolls" aria-label="Pages of this stage">' in page(second)


def test_a_verdict_names_its_rule_in_words_and_leaves_out_what_is_zero(lead_client: Client, stage: Stage) -> None:
    item = stage.items.order_by("pk")[0]
    assert item.verdicts.exists()
    item.verdicts.update(rule="matches_reference", detail={"right": 4, "wrong": 1, "void": 0})
    page = squeezed(lead_client.get(reverse("item", args=["reviews", "moods", item.pk])))
    assert "4 match gold" in page and "1 does not match gold" in page
    assert "not count" not in page.partition("4 match gold")[2].partition("</span>")[0]


def test_a_blank_in_an_item_is_shown_as_workers_see_it(lead_client: Client, alice: Any) -> None:
    item = make.item(make.stage(make.project(owner=alice), protocol="clickable_entity"))
    item.data = {"query": "It is @placeholder who sails.", "answers": []}
    item.save()
    page = squeezed(lead_client.get(reverse("item", args=[item.stage.project.slug, item.stage.key, item.pk])))
    assert "It is ____ who sails." in page and "@placeholder" not in page


@pytest.mark.parametrize("own", [True, False])
def test_the_page_of_an_item_says_gold_by_the_text_of_the_choice(lead_client: Client, alice: Any, own: bool) -> None:
    choices = [{"id": "c1", "text": "Timetable"}, {"id": "c2", "text": "Lost property"}]
    settings = protocols.get("multiple_choice").settings({"choices": choices})
    asked = make.stage(make.project(owner=alice), protocol="multiple_choice", settings=settings)
    brought = {"question": "What is it about?", "choices": choices} if own else {}
    item = make.item(asked, data={**brought, "gold": ["c2"]})
    page = squeezed(lead_client.get(reverse("item", args=[asked.project.slug, asked.key, item.pk])))
    assert "<dt>Gold</dt><dd>Lost property</dd>" in page
    # As a word: tokens of forms hold it by chance.
    assert not re.search(r"\bc2\b", page)
    assert ("<dt>Question</dt>" in page, "<dt>Choices</dt><dd>Timetable · Lost property</dd>" in page) == (own, own)


def test_a_closed_hit_says_nothing_of_closing_and_one_that_was_extended_how_it_began(
    lead_client: Client, stage: Stage
) -> None:
    stage.hits.all().delete()
    closes = timezone.now() + timedelta(days=7)
    make.hit(
        stage.items.first(), state=Hit.State.CLOSED, expires_at=closes, max_assignments=7, created_with=5, harvested=7
    )
    page = squeezed(lead_client.get(reverse("hits", args=["reviews", "moods"])))
    assert '<td class="none" data-label="Closes">–</td>' in page and 'Closed <span class="num">1</span>' in page
    assert '7 of 7 <br><span class="small">5 at first</span>' in page.replace("7<br>", "7 <br>")


def test_the_page_of_an_item_says_the_closing_time_of_its_open_hits_alone(lead_client: Client, stage: Stage) -> None:
    item = stage.items.order_by("pk")[0]
    stage.hits.all().delete()
    hit = make.hit(item, state=Hit.State.CLOSED, expires_at=timezone.now() + timedelta(days=7))
    address = reverse("item", args=["reviews", "moods", item.pk])
    assert "· closes" not in squeezed(lead_client.get(address))
    Hit.objects.filter(pk=hit.pk).update(state=Hit.State.LIVE)
    assert "· closes" in squeezed(lead_client.get(address))
