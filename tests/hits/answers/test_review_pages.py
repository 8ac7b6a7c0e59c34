"""Review, one answer a screen."""

from __future__ import annotations

import html
import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from hits import protocols, tasks
from hits.answers.verbs import reviewing
from hits.judging.rules.summaries import refresh_summary, refresh_worker_stats
from hits.models import Assignment, Block, Worker
from hits.protocols.base import CrowdlessProtocol
from tests.hits import factories as make
from tests.hits.views.test_costs import BIG_TABLES
from tests.hits.world import World
from tests.markup import squeezed

pytestmark = pytest.mark.django_db
PART = {"HX-Request": "true"}
PROTOCOLS = [
    name
    for name in protocols.available(settings.PLUGIN_ROOTS)
    if not isinstance(protocols.get(name, settings.PLUGIN_ROOTS), CrowdlessProtocol)
]


@pytest.fixture
def queued(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """What was asked of the job that carries decisions to the marketplace."""
    asked: list[tuple[Any, ...]] = []
    monkeypatch.setattr(tasks.finish_reviews, "delay", lambda *arguments: asked.append(arguments))
    return asked


@pytest.fixture
def worker(world: World) -> Worker:
    Assignment.objects.filter(stage=world.stage, state="Submitted").delete()
    return world.worker


@pytest.fixture
def waiting(world: World, worker: Worker) -> list[Assignment]:
    """Three answers that wait, each wrong by the reference."""
    return grow(world, worker, 3)


def grow(world: World, worker: Worker, count: int) -> list[Assignment]:
    hits = make.hits(make.items(world.stage, count, state="open"))
    due = timezone.now() + timedelta(days=2, hours=23, minutes=5)
    rows = make.assignments(hits, worker, state=Assignment.State.SUBMITTED, auto_approval_at=due)
    for row in rows:
        make.label(row, value={"start": 10, "end": 15, "text": "Reyes"}, correct=False)
    refresh_worker_stats(world.stage, [worker.pk])
    refresh_summary(world.stage)
    return rows


def address(world: World, name: str = "review", *more: int) -> str:
    return reverse(name, args=[world.project.slug, world.stage.key, *more])


def decided(row: Assignment) -> tuple[str, str]:
    row.refresh_from_db()
    return row.decision, row.feedback


# What it shows


def test_an_answer_is_shown_with_its_text_what_was_asked_and_what_is_right(
    world: World, lead_client: Client, waiting: list[Assignment]
) -> None:
    text = squeezed(lead_client.get(address(world)))
    assert "Mara Okafor reopened the old ferry station" in text
    assert "A boat lands in _____. Reyes" in re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", text))
    assert "wrong" in text and "Gold answer: Linden" in text
    assert "3 left" in text and "auto-approved in 2 d 23 h" in text


@pytest.mark.parametrize("name", PROTOCOLS)
def test_of_each_task_the_text_and_what_was_answered_are_shown_in_words(
    name: str, lead_client: Client, alice: Any
) -> None:
    folder = next(root / "protocols" / name for root in settings.PLUGIN_ROOTS if (root / "protocols" / name).is_dir())
    sample = json.loads((folder / "sample.json").read_text(encoding="utf-8"))
    document, fields = sample["document"], sample["fields"]
    protocol = protocols.get(name, settings.PLUGIN_ROOTS)
    stage = make.stage(make.project(owner=alice), protocol=name, settings={})
    hit = make.hit(make.item(stage, document=make.document(stage.project, data=document), data=sample["item"]))
    answers = [make.assignment(hit, make.worker(), state="Submitted", answer=fields) for _ in range(2)]
    for label in protocol.check(document, sample["item"], protocol.settings({}), fields).labels:
        for answer in answers:
            make.label(answer, unit=label.unit, value=label.value, correct=label.correct)
    reply = lead_client.get(reverse("review", args=[stage.project.slug, stage.key]))
    text = " ".join(html.unescape(re.sub("<[^>]*>", " ", squeezed(reply))).split())
    (shown,) = reply.context["items"]
    read = [*(words for _, words in shown.passage), *(column.value for column in shown.columns)]
    assert read and all(" ".join(part.split()) in text for part in read) and "no text of its own" not in text
    told = [one.line.said for one in shown.lines]
    assert told and all(" ".join(said.split()) in text for said in told)
    assert shown.lines and [other.lines for other in shown.others] == [shown.lines]


def test_what_others_answered_to_the_same_item_stands_beside_it_with_its_state(
    world: World, lead_client: Client, waiting: list[Assignment]
) -> None:
    other = make.assignment(waiting[0].hit, make.worker("AOTHER0000001"))
    make.label(other, value={"start": 46, "end": 51, "text": "<b>Linden</b>"})
    make.assignment(waiting[1].hit, make.worker("AELSEWHERE001"))
    (item,) = lead_client.get(address(world)).context["items"]
    assert [(one.answer.worker.worker_id, one.lines[0].line.said) for one in item.others] == [
        ("AOTHER0000001", "<b>Linden</b>")
    ]
    assert "<b>Linden" not in squeezed(lead_client.get(address(world)))


def test_the_worker_has_a_record_with_intervals_and_a_link(
    world: World, lead_client: Client, waiting: list[Assignment]
) -> None:
    text = re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", squeezed(lead_client.get(address(world)))))
    assert "1 approved, 0 rejected (100.0 % approved)" in text
    Assignment.objects.filter(pk=waiting[-1].pk).update(worker=waiting[0].worker, decision="Rejected")
    text = re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", squeezed(lead_client.get(address(world)))))
    assert "1 approved, 1 rejected (50.0 % approved)" in text, "a decision that can still be undone is one"
    assert "1 of 4, 25.0 % ( 4.6 to 69.9 % )" in text.replace("(4.6 to 69.9 %)", "( 4.6 to 69.9 % )")
    assert f"/workers/{world.worker.worker_id}/" in squeezed(lead_client.get(address(world)))


def test_an_answer_that_took_much_less_time_than_others_says_so(
    world: World, lead_client: Client, waiting: list[Assignment]
) -> None:
    assert "less than a third of the median" not in squeezed(lead_client.get(address(world)))
    Assignment.objects.filter(pk=waiting[0].pk).update(seconds=5.0)
    assert "less than a third of the median of 38 s" in squeezed(lead_client.get(address(world)))


def test_a_hit_about_several_items_shows_each_with_its_answer(
    world: World, worker: Worker, lead_client: Client
) -> None:
    items = make.items(world.stage, 3)
    row = make.assignment(make.hit_about(items), worker, state="Submitted")
    for item in items:
        make.label(row, item=item, value={"start": 1, "end": 2, "text": f"about {item.key}"})
    shown = lead_client.get(address(world)).context["items"]
    assert [one.lines[0].line.said for one in shown] == [f"about {item.key}" for item in items]


def test_the_next_and_the_one_before_come_without_a_decision(
    world: World, lead_client: Client, waiting: list[Assignment]
) -> None:
    first, second, third = (row.pk for row in waiting)

    def shown(**query: int) -> int:
        return lead_client.get(address(world), query).context["answer"].pk

    assert [shown(), shown(after=first), shown(before=third), shown(after=third), shown(before=first)] == [
        first, second, second, first, third,
    ]  # fmt: skip
    assert not Assignment.objects.exclude(decision="").exists()


def test_it_takes_the_same_queries_whatever_waits_and_counts_no_rows(
    world: World, lead_client: Client, waiting: list[Assignment], queued: list[Any]
) -> None:
    def asked(row: Assignment) -> list[list[str]]:
        found = []
        for act in (
            lambda: lead_client.get(address(world), {"answer": row.pk}, headers=PART),
            lambda: lead_client.post(address(world, "review-approve", row.pk), headers=PART),
        ):
            with CaptureQueriesContext(connection) as queries:
                assert act().status_code == 200
            found.append([query["sql"] for query in queries])
        return found

    asked(waiting[0])
    few = asked(waiting[1])
    many = asked(grow(world, world.worker, 600)[300])
    assert [len(queries) for queries in few] == [len(queries) for queries in many]
    assert [query for queries in many for query in queries if BIG_TABLES.search(query)] == []


# Decisions


def test_after_an_approval_comes_the_next_answer_and_a_line_to_undo_it(
    world: World, lead_client: Client, waiting: list[Assignment], queued: list[Any]
) -> None:
    reply = lead_client.post(address(world, "review-approve", waiting[0].pk), headers=PART)
    text = squeezed(reply)
    assert reply.context["answer"].pk == waiting[1].pk and "<html" not in text
    assert reply.headers["HX-Push-Url"].endswith(f"?answer={waiting[1].pk}")
    assert "Approved the answer of" in text and f'action="{address(world, "review-undo", waiting[0].pk)}"' in text
    assert "2 left · 1 decided in this sitting" in text
    assert decided(waiting[0]) == ("Approved", "")


def test_without_scripts_a_decision_leads_to_the_next_page(
    world: World, lead_client: Client, waiting: list[Assignment], queued: list[Any]
) -> None:
    reply = lead_client.post(address(world, "review-approve", waiting[0].pk), follow=True)
    assert reply.context["answer"].pk == waiting[1].pk
    assert "Approved the answer of" in squeezed(reply) and "<html" in reply.content.decode()


def test_a_decision_waits_half_a_minute_for_an_undo_and_then_goes_out(
    world: World, lead_client: Client, waiting: list[Assignment], queued: list[Any]
) -> None:
    lead_client.post(address(world, "review-approve", waiting[0].pk), headers=PART)
    assert reviewing.unfinished() == [] and queued == []
    Assignment.objects.filter(pk=waiting[0].pk).update(not_before=timezone.now())
    assert reviewing.unfinished() == [world.stage.pk]


def test_an_undone_decision_is_never_sent_and_its_answer_is_shown_again(
    world: World, lead_client: Client, waiting: list[Assignment], queued: list[Any]
) -> None:
    row = waiting[0]
    lead_client.post(address(world, "review-reject", row.pk), {"reason": "Part of it is missing."}, headers=PART)
    assert decided(row) == ("Rejected", "Part of it is missing.")
    reply = lead_client.post(address(world, "review-undo", row.pk), headers=PART)
    assert reply.context["answer"].pk == row.pk and "Undone" in squeezed(reply)
    assert decided(row) == ("", "") and row.not_before is None
    assert reply.context["sitting"].decided == 0


def test_an_undo_after_the_call_may_have_been_made_changes_nothing_and_says_why(
    world: World, lead_client: Client, waiting: list[Assignment], queued: list[Any]
) -> None:
    lead_client.post(address(world, "review-approve", waiting[0].pk), headers=PART)
    for columns in ({"not_before": timezone.now()}, {"adopted": "It is asked again by itself."}):
        later = {"not_before": timezone.now() + timedelta(seconds=20), "adopted": "", **columns}
        Assignment.objects.filter(pk=waiting[0].pk).update(**later)
        reply = lead_client.post(address(world, "review-undo", waiting[0].pk), headers=PART)
        assert "went to the marketplace meanwhile" in squeezed(reply)
        assert decided(waiting[0]) == ("Approved", "")


def test_an_undo_has_an_answer_that_did_not_count_wait_again(
    world: World, lead_client: Client, waiting: list[Assignment], queued: list[Any]
) -> None:
    row = waiting[0]
    Assignment.objects.filter(pk=row.pk).update(held="It was submitted too fast.")
    row.labels.update(void=True)
    lead_client.post(address(world, "review-approve", row.pk), headers=PART)
    row.refresh_from_db()
    assert (row.admitted, row.labels.get().void) == (True, False)
    lead_client.post(address(world, "review-undo", row.pk), headers=PART)
    row.refresh_from_db()
    assert (row.admitted, row.labels.get().void, row.decision) == (None, True, "")


def test_a_rejection_does_not_wait_where_the_marketplace_would_approve_meanwhile(
    world: World, lead_client: Client, waiting: list[Assignment], queued: list[Any]
) -> None:
    Assignment.objects.filter(pk=waiting[0].pk).update(auto_approval_at=timezone.now() + timedelta(seconds=40))
    lead_client.post(address(world, "review-reject", waiting[0].pk), {"feedback": "Not this name."}, headers=PART)
    assert queued == [(world.stage.pk,)] and reviewing.unfinished() == [world.stage.pk]


def test_before_a_rejection_it_says_what_it_costs_whom(
    world: World, lead_client: Client, waiting: list[Assignment], queued: list[Any]
) -> None:
    text = squeezed(lead_client.get(address(world, "review-reject", waiting[0].pk)))
    assert "The worker is not paid $0.04." in text
    assert "goes from 100.0 % to 50.0 % (1 answer decided so far)" in text
    assert "another answer costs $0.05 ($0.04 and $0.01 fee)" in text
    assert decided(waiting[0]) == ("", "")


def test_a_rejection_needs_a_reason_and_offers_those_that_the_lead_gave_before(
    world: World, lead_client: Client, waiting: list[Assignment], queued: list[Any], bob: Any
) -> None:
    refused = lead_client.post(address(world, "review-reject", waiting[0].pk), {"feedback": "  "})
    assert refused.status_code == 400 and "Choose a reason or write one" in squeezed(refused)
    assert decided(waiting[0]) == ("", "")
    lead_client.post(
        address(world, "review-reject", waiting[0].pk), {"feedback": "Reyes is the mayor.", "reason": "Stock."}
    )
    assert decided(waiting[0]) == ("Rejected", "Reyes is the mayor.")
    reviewing.reject(world.stage, [waiting[1].pk], "What Bob says.", bob)
    offered = lead_client.get(address(world, "review-reject", waiting[2].pk)).context["rejecting"]["reasons"]
    assert offered[0] == "Reyes is the mayor." and "What Bob says." not in offered and len(offered) > 3


def test_an_answer_that_somebody_else_decided_is_passed_and_not_counted(
    world: World, lead_client: Client, waiting: list[Assignment], queued: list[Any], bob: Any
) -> None:
    reviewing.approve(world.stage, [waiting[0].pk], bob)
    reply = lead_client.post(address(world, "review-approve", waiting[0].pk), headers=PART)
    assert "was decided before" in squeezed(reply) and reply.context["sitting"].decided == 0


def test_at_the_end_it_says_what_was_decided(
    world: World, lead_client: Client, waiting: list[Assignment], queued: list[Any]
) -> None:
    for row in waiting[:2]:
        lead_client.post(address(world, "review-approve", row.pk), headers=PART)
    reply = lead_client.post(address(world, "review-reject", waiting[2].pk), {"reason": "No."}, headers=PART)
    text = squeezed(reply)
    assert "Nothing waits for review" in text and "You approved 2 answers and rejected 1 in this sitting." in text


# Many at once


def test_the_other_answers_of_a_worker_are_approved_after_a_price(
    world: World, lead_client: Client, waiting: list[Assignment], queued: list[Any]
) -> None:
    foreign = make.assignment(make.hits(make.items(world.stage, 1))[0], make.worker(), state="Submitted")
    assert "Approve the other 2 answers" in squeezed(lead_client.get(address(world)))
    page = lead_client.get(address(world, "review-rest", waiting[0].pk))
    assert "Approve 2 answers for $0.10" in squeezed(page)
    lead_client.post(address(world, "review-rest", waiting[0].pk), {"count": 2, "cost": "0.10", "until": waiting[2].pk})
    assert [decided(row)[0] for row in [*waiting, foreign]] == ["", "Approved", "Approved", ""]
    assert queued == [(world.stage.pk,)]


def test_other_answers_than_were_shown_are_never_approved(
    world: World, lead_client: Client, waiting: list[Assignment], queued: list[Any], bob: Any
) -> None:
    later = grow(world, world.worker, 1)[0]
    shown = {"count": 2, "cost": "0.10", "until": waiting[2].pk}
    reviewing.approve(world.stage, [waiting[1].pk], bob)
    reply = lead_client.post(address(world, "review-rest", waiting[0].pk), shown)
    assert "Nothing was approved" in squeezed(reply) and decided(waiting[2])[0] == ""
    lead_client.post(address(world, "review-rest", waiting[0].pk), {**shown, "count": 1, "cost": "0.05"})
    assert (decided(waiting[2])[0], decided(later)[0]) == ("Approved", "")


def test_all_but_the_ticked_answers_are_approved_after_a_price(
    world: World, lead_client: Client, waiting: list[Assignment], queued: list[Any]
) -> None:
    ticked = {"answers": [waiting[1].pk]}
    page = lead_client.post(address(world, "approve-others"), ticked)
    assert "Approve 2 answers for $0.10" in squeezed(page) and decided(waiting[0])[0] == ""
    confirmed = {**ticked, "count": 2, "cost": "0.10", "until": waiting[2].pk}
    lead_client.post(address(world, "approve-others"), confirmed)
    assert [decided(row)[0] for row in waiting] == ["Approved", "", "Approved"]


def test_the_answers_say_where_one_approves_and_how_many_are_rejected(
    world: World, lead_client: Client, waiting: list[Assignment]
) -> None:
    Assignment.objects.filter(pk=waiting[0].pk).update(state=Assignment.State.REJECTED)
    refresh_summary(world.stage)
    text = squeezed(lead_client.get(address(world, "answers")))
    assert "2 answers wait for your decision:" in text and f'href="{address(world)}">Review one by one</a>' in text
    assert 'Rejected <span class="num">1</span>' in text
    assert "for your decision" not in squeezed(lead_client.get(address(world, "answers"), {"show": "review"}))


@pytest.fixture
def of_blocked(world: World, waiting: list[Assignment]) -> Assignment:
    """One more answer that waits, of a worker who is blocked since."""
    poor = make.worker("ABLOCKED00001")
    row = grow(world, poor, 1)[0]
    make.block(world.stage, poor, state=Block.State.GRANTED)
    return row


def test_answers_of_blocked_workers_are_marked_where_they_are_reviewed(
    world: World, lead_client: Client, waiting: list[Assignment], of_blocked: Assignment
) -> None:
    for show in ("", "review"):
        text = squeezed(lead_client.get(address(world, "answers"), {"show": show}))
        assert text.count('<span class="chip bad">blocked</span>') == 1
    warned = "The worker is blocked. Approving pays this answer, and it counts for nothing while the block stands."
    assert warned in squeezed(lead_client.get(address(world), {"answer": of_blocked.pk}))
    assert warned not in squeezed(lead_client.get(address(world), {"answer": waiting[0].pk}))
    reply = lead_client.get(address(world, "answers-csv"), {"show": "review"})
    lines = b"".join(reply.streaming_content).decode().splitlines()  # type: ignore[attr-defined]
    assert [line.endswith(",True") for line in lines[1:]] == [False, False, False, True]


def test_ticked_answers_of_blocked_workers_are_paid_after_their_number_was_read(
    world: World, lead_client: Client, waiting: list[Assignment], of_blocked: Assignment, queued: list[Any]
) -> None:
    ticked = {"answers": [waiting[0].pk, of_blocked.pk], "show": "review"}
    page = squeezed(lead_client.post(address(world, "approve"), ticked))
    assert "1 of the 2 ticked answers is from a blocked worker." in page
    assert "Approve and pay 2 answers, 1 of blocked workers" in page
    assert decided(waiting[0])[0] == decided(of_blocked)[0] == "" and not queued
    lead_client.post(address(world, "approve"), {**ticked, "of_blocked": "1"})
    assert decided(waiting[0])[0] == decided(of_blocked)[0] == "Approved"


def test_approving_all_others_says_how_many_are_from_blocked_workers(
    world: World, lead_client: Client, waiting: list[Assignment], of_blocked: Assignment, queued: list[Any]
) -> None:
    page = squeezed(lead_client.post(address(world, "approve-others"), {"answers": [waiting[0].pk]}))
    assert "1 of them is from a blocked worker: it is paid too and counts for nothing" in page
    shown = {"answers": [waiting[0].pk], "count": 3, "cost": "0.15", "until": of_blocked.pk}
    assert "Nothing was approved" in squeezed(lead_client.post(address(world, "approve-others"), shown))
    lead_client.post(address(world, "approve-others"), {**shown, "of_blocked": 1})
    assert decided(of_blocked)[0] == "Approved"


def test_deciding_about_many_takes_as_many_queries_as_about_few(
    world: World, waiting: list[Assignment], alice: Any
) -> None:
    more = grow(world, world.worker, 40)
    found = []
    for rows in (waiting[:2], more):
        with CaptureQueriesContext(connection) as queries:
            reviewing.approve(world.stage, [row.pk for row in rows], alice)
        found.append(len(queries))
    assert found[0] == found[1]
