"""Answers that wait, and the answers lists."""

from __future__ import annotations

import csv
import io
import json
import re
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.html import escape

from hits import tasks
from hits.judging.rules.summaries import refresh_summary
from hits.models import Assignment, Stage
from tests.hits import factories as make
from tests.hits.world import World
from tests.markup import squeezed

pytestmark = pytest.mark.django_db


@pytest.fixture
def queued(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """What was asked of the job that carries decisions to the marketplace."""
    asked: list[tuple[Any, ...]] = []
    monkeypatch.setattr(tasks.finish_reviews, "delay", lambda *arguments: asked.append(arguments))
    return asked


@pytest.fixture
def waiting(world: World) -> list[Assignment]:
    hits = make.hits(make.items(world.stage, 3))
    return make.assignments(hits, world.worker, state=Assignment.State.SUBMITTED, auto_approval_at=make.NOON)


def _post(client: Client, world: World, verb: str, answers: list[Assignment], **fields: str) -> Any:
    return client.post(world.url(verb), {"answers": [str(row.pk) for row in answers], **fields}, follow=True)


def _decisions(rows: list[Assignment]) -> list[str]:
    return list(Assignment.objects.filter(pk__in=[row.pk for row in rows]).values_list("decision", flat=True))


def test_the_ticked_answers_are_approved_and_the_others_wait(
    world: World, lead_client: Client, waiting: list[Assignment], queued: list[Any]
) -> None:
    reply = _post(lead_client, world, "approve", waiting[:2])
    assert sorted(_decisions(waiting)) == ["", "Approved", "Approved"]
    assert queued == [(world.stage.pk,)]
    assert "2 answers will be approved and paid" in reply.content.decode()


def test_a_rejection_without_a_reason_rejects_nothing(
    world: World, lead_client: Client, waiting: list[Assignment], queued: list[Any]
) -> None:
    reply = _post(lead_client, world, "reject", waiting, feedback="  ")
    assert reply.status_code == 400
    assert "needs a reason" in reply.content.decode()
    assert _decisions(waiting) == ["", "", ""]
    assert queued == []


@pytest.fixture
def held(world: World) -> list[Assignment]:
    """Two answers that the marketplace paid by itself and that do not count yet."""
    hits = make.hits(make.items(world.stage, 2))
    rows = make.assignments(hits, world.worker, held="It was submitted 0.4 s after it was accepted.")
    for row in rows:
        make.label(row, void=True)
    refresh_summary(world.stage)
    return rows


def test_held_answers_are_counted_and_listed_with_their_reason(
    world: World, lead_client: Client, held: list[Assignment]
) -> None:
    assert "Held until approved: 2" in lead_client.get(world.url("stage")).content.decode()
    page = lead_client.get(world.url("answers"), {"show": "held"}).content.decode()
    assert page.count("It was submitted 0.4 s after it was accepted.") == 2
    assert 'Held until approved <span class="num">2</span>' in page
    assert page.count('name="answers"') == 2


def test_a_lead_approves_one_held_answer_and_leaves_another_out(
    world: World, lead_client: Client, held: list[Assignment], queued: list[Any]
) -> None:
    reply = _post(lead_client, world, "approve", held[:1], show="held")
    assert reply.redirect_chain[-1][0].endswith("?show=held")
    _post(lead_client, world, "reject", held[1:], feedback="Nobody reads that fast.", show="held")
    rows = Assignment.objects.filter(pk__in=[row.pk for row in held]).order_by("pk")
    assert [(row.state, row.admitted, row.decision) for row in rows] == [
        ("Approved", True, ""),
        ("Approved", False, ""),
    ]
    assert [row.labels.get().void for row in rows] == [False, True]
    assert lead_client.get(world.url("answers"), {"show": "held"}).content.decode().count('name="answers"') == 0


def test_a_rejection_keeps_its_reason(
    world: World, lead_client: Client, waiting: list[Assignment], queued: list[Any]
) -> None:
    _post(lead_client, world, "reject", waiting[:1], feedback="The name is not in the text.")
    row = Assignment.objects.get(pk=waiting[0].pk)
    assert (row.decision, row.feedback) == ("Rejected", "The name is not in the text.")


@pytest.mark.parametrize(("verb", "said"), [("approve", "Nothing was approved."), ("reject", "Nothing was rejected.")])
def test_ticking_nothing_decides_nothing_and_says_so_beside_the_buttons(
    world: World, lead_client: Client, waiting: list[Assignment], queued: list[Any], verb: str, said: str
) -> None:
    reply = _post(lead_client, world, verb, [], feedback="The name is not in the text.")
    text = reply.content.decode()
    assert reply.status_code == 400
    fault = text.split('role="alert"')[1].split("</div>")[0]
    assert "No answer is ticked" in fault and said in fault
    assert text.index('role="alert"') > text.index("</table>")
    assert ">The name is not in the text.</textarea>" in text
    assert queued == []


def test_all_faults_of_a_rejection_come_at_once_and_the_ticks_stay(
    world: World, lead_client: Client, waiting: list[Assignment], queued: list[Any]
) -> None:
    both = _post(lead_client, world, "reject", []).content.decode()
    assert "No answer is ticked" in both and "needs a reason" in both
    kept = _post(lead_client, world, "reject", waiting[:1], feedback="  ").content.decode()
    assert "No answer is ticked" not in kept
    assert re.findall(r'name="answers" value="([0-9]+)"[^>]* checked>', kept) == [str(waiting[0].pk)]


@pytest.mark.parametrize(("name", "feedback"), [("approve", ""), ("reject", "Please read the text."), ("reject", "")])
def test_a_decision_leads_back_to_the_list_of_the_same_worker(
    world: World, lead_client: Client, waiting: list[Assignment], queued: list[Any], name: str, feedback: str
) -> None:
    chosen = {"show": "review", "worker": waiting[0].worker.worker_id}
    page = lead_client.get(reverse("answers", args=[world.project.slug, world.stage.key]), chosen).content.decode()
    address = f"{reverse(name, args=[world.project.slug, world.stage.key])}?show=review&worker={chosen['worker']}"
    assert f'action="{escape(address)}"' in page
    reply = lead_client.post(address, {"answers": [waiting[0].pk], "show": "review", "feedback": feedback}, follow=True)
    assert {row.worker.worker_id for row in reply.context["page"].rows} <= {chosen["worker"]}
    assert reply.context["wanted"].worker == chosen["worker"]


def test_an_answer_of_another_project_cannot_be_decided_here(
    world: World, lead_client: Client, queued: list[Any]
) -> None:
    foreign = make.assignment(make.hit(), state=Assignment.State.SUBMITTED)
    _post(lead_client, world, "approve", [foreign])
    assert _decisions([foreign]) == [""]


def test_each_filter_shows_its_answers_and_the_deadline(world: World, lead_client: Client) -> None:
    address = reverse("answers", args=[world.project.slug, world.stage.key])
    review = lead_client.get(address, {"show": "review"})
    assert [row.state for row in review.context["page"].rows] == [Assignment.State.SUBMITTED]
    assert "approved and paid automatically" in review.content.decode()
    assert [row.pk for row in lead_client.get(address, {"show": "reported"}).context["page"].rows] == [world.answer.pk]
    assert [row.problem for row in lead_client.get(address, {"show": "invalid"}).context["page"].rows] != [""]
    assert len(lead_client.get(address, {"show": "no such"}).context["page"].rows) == 2


def test_what_a_worker_wrote_is_text_and_never_markup(world: World, lead_client: Client) -> None:
    row = make.assignment(world.hit, make.worker(), remark="<script>alert(1)</script>", answer={"text": "<img src=x>"})
    make.label(row, value={"text": "<b>Linden</b>"})
    for name in ("answers", "item"):
        text = lead_client.get(world.url(name)).content.decode()
        assert "<script>alert" not in text
        assert "<b>Linden" not in text
        assert "<img" not in text


def test_the_stage_page_says_first_what_needs_a_decision(world: World, lead_client: Client) -> None:
    refresh_summary(Stage.objects.get(pk=world.stage.pk))
    make.batch(world.stage, refused=2)
    text = squeezed(lead_client.get(world.url("stage")))
    for said in (
        "1 answer waits for review",
        "the first is approved automatically",
        "1 worker would be blocked",
        "1 answer with a report",
        "1 invalid answer",
        "2 HITs refused",
    ):
        assert said in text


def test_the_stage_page_reckons_pay_and_cost(world: World, lead_client: Client) -> None:
    figures = lead_client.get(world.url("stage")).context
    stats = world.stage.worker_stats.all()
    paid = sum((stat.earned + stat.fees for stat in stats), Decimal(0))
    assert figures["money"].paid == paid > 0
    assert figures["hourly"] == Decimal("3.79")
    assert [choice.reward for choice in figures["pay_choices"] if choice.current] == [Decimal("0.04")]
    fair = figures["pay_choices"][-1]
    assert fair.hourly >= Decimal("7.25")
    assert fair.total == fair.unit_cost * 3


def test_the_exported_answers_are_those_of_the_filter_and_hold_no_formula(world: World, lead_client: Client) -> None:
    Assignment.objects.filter(pk=world.answer.pk).update(remark="=1+1")
    told = []
    for show in ("", "?show=reported"):
        reply = lead_client.get(world.url("answers-csv") + show)
        told.append(list(csv.DictReader(io.StringIO(b"".join(reply.streaming_content).decode()))))
    everything, reported = told
    assert (len(everything), len(reported)) == (Assignment.objects.filter(stage=world.stage).count(), 1)
    (row,) = reported
    assert (row["assignment_id"], row["worker_id"]) == (world.answer.assignment_id, world.worker.worker_id)
    assert (json.loads(row["answer"]), row["remark"]) == (world.answer.answer, "'=1+1")
