"""The workers table, a worker's page, blocking and undoing."""

from __future__ import annotations

from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse

from hits import tasks
from hits.judging.rules.summaries import refresh_summary
from hits.models import Block, Label, Stage, StageSummary, Worker, WorkerMessage, WorkerStat
from hits.workers.rules.worker_table import WorkerRow
from tests.hits import factories as make
from tests.hits.market import Marketplace
from tests.hits.world import World
from tests.markup import squeezed

pytestmark = pytest.mark.django_db


def _shown(client: Client, world: World, **query: str) -> list[str]:
    return [row.stat.worker.worker_id for row in client.get(world.url("stage"), query).context["workers"]]


def test_workers_sort_by_answers_and_by_accuracy(world: World, lead_client: Client) -> None:
    assert _shown(lead_client, world)[:2] == ["AGOOD00000001", "ALOW000000001"]
    assert _shown(lead_client, world, sort="accuracy")[:2] == ["AREADER000001", "AGOOD00000001"]
    assert _shown(lead_client, world, sort="worst")[0] == "ALOW000000001"


def test_workers_are_found_by_a_part_of_their_id(world: World, lead_client: Client) -> None:
    assert _shown(lead_client, world, worker="good") == ["AGOOD00000001"]
    empty = lead_client.get(world.url("stage"), {"worker": "<nobody>"}).content.decode()
    assert "&lt;nobody&gt;" in empty


def test_figures_that_take_a_comparison_are_not_there_before_it(world: World, lead_client: Client) -> None:
    StageSummary.objects.filter(stage=world.stage).update(compared_at=None)
    WorkerStat.objects.filter(stage=world.stage).update(longest_run=0, repeats=0, compared=0)
    text = squeezed(lead_client.get(reverse("workers", args=[world.project.slug, world.stage.key])))
    assert "of gold answers right" in text and "(chance" not in text
    assert ">0 %</td>" not in text
    stat = WorkerStat.objects.filter(stage=world.stage, answers__gt=1).earliest("pk")
    assert (WorkerRow(stat).repeats, WorkerRow(stat).longest_run) == (None, None)


def test_workers_are_paged(world: World, lead_client: Client) -> None:
    for _ in range(30):
        make.worker_stat(world.stage)
    first, second = _shown(lead_client, world), _shown(lead_client, world, page="2")
    assert (len(first), len(second)) == (25, 9)
    assert not set(first) & set(second)
    assert _shown(lead_client, world, page="-1") == first


def test_a_workers_page_shows_accuracy_with_its_interval_and_the_evidence(world: World, lead_client: Client) -> None:
    poor = reverse("worker", args=[world.project.slug, "APOOR00000001"])
    text = lead_client.get(poor).content.decode()
    assert "5.0 %" in text
    assert "1.4 to 16.5 %" in text
    assert "2 of 40 scored answers were right" in text
    assert "Undo the block" in text


def test_a_worker_who_never_answered_here_has_no_page(world: World, lead_client: Client) -> None:
    make.worker("ASTRANGER0001")
    assert lead_client.get(reverse("worker", args=[world.project.slug, "ASTRANGER0001"])).status_code == 404


@pytest.fixture
def low(world: World) -> Worker:
    """The worker who would be blocked, with 60 answers that count, 6 of them to items that two others answered too."""
    worker = Worker.objects.get(worker_id="ALOW000000001")
    Stage.objects.filter(pk=world.stage.pk).update(answers=2)
    world.stage.refresh_from_db()
    hits = make.hits(make.items(world.stage, 60))
    for answer in make.assignments(hits, worker):
        make.label(answer)
    for other in (make.worker(), make.worker()):
        for answer in make.assignments(hits[:6], other):
            make.label(answer)
    return worker


def test_the_preview_says_who_how_many_and_for_how_much(world: World, low: Worker, lead_client: Client) -> None:
    text = squeezed(lead_client.get(world.url("block")))
    assert "ALOW000000001" in text
    assert "AGOOD00000001" not in text
    assert "60 answers stop counting" in text
    assert "At most 54 answers are bought again for $2.70" in text
    assert "1.7 to 13.7 %" in text and "below 0.0001" in text
    assert "Block 1 worker and ask again for at most $2.70</button>" in text


def test_the_loss_counts_every_stage_of_the_project(world: World, low: Worker, lead_client: Client) -> None:
    later = world.project.stages.get(key="revalidate")
    for answer in make.assignments(make.hits(make.items(later, 10)), low):
        make.label(answer)
    text = lead_client.get(world.url("block")).content.decode()
    assert "70 answers stop counting" in text and "at most $3.20</button>" in text


def test_looking_blocks_nobody_and_what_was_confirmed_is_the_most_that_it_costs(
    world: World, low: Worker, lead_client: Client, market: Marketplace, eager: None
) -> None:
    lead_client.get(world.url("block"))
    assert not Block.objects.filter(worker=low).exists()
    reply = lead_client.post(world.url("block"), {"workers": [low.worker_id], "cost": "2.69"})
    assert reply.status_code == 400 and "Look at the preview again" in reply.content.decode()
    assert not Block.objects.filter(worker=low).exists()
    assert lead_client.post(world.url("block"), {"workers": [low.worker_id], "cost": "2.70"}).status_code == 302
    assert Block.objects.get(worker=low).created_by == world.project.owners.get(username="alice")
    assert not Label.objects.of_counting_answers().filter(worker=low).exists()


def test_a_stage_says_who_blocks_and_a_lead_switches_it(world: World, lead_client: Client) -> None:
    text = squeezed(lead_client.get(world.url("stage")))
    assert "blocked only by you" in text and "1 worker would be blocked" in text
    lead_client.post(world.url("auto-block"), {"by_itself": "yes"})
    assert "blocked automatically, after every 1,000 answers" in squeezed(lead_client.get(world.url("stage")))
    lead_client.post(world.url("auto-block"), {"by_itself": "no"})
    assert not Stage.objects.get(pk=world.stage.pk).auto_block


def test_who_is_blocked_by_the_policy_is_written_to_once_when_the_box_is_ticked(
    world: World, low: Worker, lead_client: Client, market: Marketplace, eager: None
) -> None:
    text = squeezed(lead_client.get(world.url("block")))
    assert 'name="tell" checked' in text and "What was approved stays paid. Your answers that still wait" in text
    for _ in range(2):
        lead_client.post(world.url("block"), {"workers": [low.worker_id], "cost": "2.70", "tell": "on"})
    (letter,) = WorkerMessage.objects.filter(worker=low)
    assert "3 of 60 scored answers were right (5.0 %)" in letter.text and "approved by itself" in letter.text
    assert world.project.contact_email in letter.text


def test_who_is_blocked_without_the_tick_is_written_nothing(
    world: World, low: Worker, lead_client: Client, market: Marketplace, eager: None
) -> None:
    lead_client.post(world.url("block"), {"workers": [low.worker_id], "cost": "2.70"})
    assert Block.objects.filter(worker=low).exists() and not WorkerMessage.objects.filter(worker=low).exists()


def test_the_reason_of_a_block_by_hand_is_told_in_words_for_the_worker(
    world: World, low: Worker, lead_client: Client, market: Marketplace, eager: None
) -> None:
    given = {"worker": low.worker_id, "cost": "2.70", "reason": "Clicks through.", "tell": "on", "told": ""}
    refused = lead_client.post(world.url("block-chosen"), given)
    assert refused.status_code == 400 and "Write why, for the workers to read" in squeezed(refused)
    assert not Block.objects.filter(worker=low).exists()
    lead_client.post(world.url("block-chosen"), {**given, "told": "Your answers do not depend on the text."})
    (letter,) = WorkerMessage.objects.filter(worker=low)
    assert "Why: Your answers do not depend on the text." in letter.text and "Clicks through" not in letter.text


def test_a_live_stage_leads_to_the_worker_site(world: World, lead_client: Client) -> None:
    link = f'<a href="{settings.MTURK_SUBMIT_ORIGINS[0]}">See its HITs at the worker site</a>'
    for state, there in ((Stage.State.LIVE, True), (Stage.State.DRAFT, False)):
        Stage.objects.filter(pk=world.stage.pk).update(state=state)
        assert (link in squeezed(lead_client.get(world.url("stage")))) is there


def test_all_pages_and_files_say_alike_who_would_be_blocked(world: World, low: Worker, lead_client: Client) -> None:
    said = "Would be blocked by the policy of"
    stage = squeezed(lead_client.get(world.url("stage")))
    assert '<span class="chip warn" title="Would be blocked by the policy of' in stage
    table = squeezed(lead_client.get(reverse("workers", args=[world.project.slug, world.stage.key])))
    own = squeezed(lead_client.get(reverse("worker", args=[world.project.slug, low.worker_id])))
    assert '<span class="chip warn">would be blocked</span>' in table and "scored answers were right" in table
    assert '<span class="chip warn">Would be blocked</span>' in own and '<span class="chip good">Working' not in own
    assert said in table and said in own
    first, *others = [row.stat.worker.worker_id for row in lead_client.get(world.url("workers")).context["rows"]]
    assert first == low.worker_id
    reply = lead_client.get(world.url("workers-csv"))
    lines = b"".join(reply.streaming_content).decode().splitlines()  # type: ignore[attr-defined]
    (line,) = [one for one in lines if low.worker_id in one]
    assert ",would be blocked," in line and said in line
    assert ">Block by the policy…</a>" in own and "for “Block by hand…” you write the reason" in own
    good = squeezed(lead_client.get(reverse("worker", args=[world.project.slug, others[0]])))
    assert said not in good and "Block by the policy" not in good and "Block by hand…" in good


def test_the_table_says_why_a_worker_is_blocked_where_nothing_else_stands_out(
    world: World, lead_client: Client
) -> None:
    def why() -> str:
        rows = lead_client.get(world.url("workers")).context["rows"]
        return next(row.why for row in rows if row.stat.worker.worker_id == "APOOR00000001")

    assert why().startswith("Blocked: 2 of 40 scored answers were right, 5.0%; the crowd")
    block = Block.objects.get(worker__worker_id="APOOR00000001")
    block.evidence = {"by_hand": True, "worker": "APOOR00000001", "reason": "Always the first.", "figures": {"why": ""}}
    block.save()
    assert why() == "Blocked by hand: “Always the first.”"
    WorkerStat.objects.filter(worker=block.worker).update(why="Median of 2.0 s.", notices=1)
    assert why() == "Median of 2.0 s."


def test_an_unticked_worker_is_counted_out(world: World, lead_client: Client) -> None:
    text = lead_client.get(world.url("block"), {"chosen": "yes"}).content.decode()
    assert "Nobody is ticked" in text


def test_confirming_blocks_the_named_workers_only(
    world: World, lead_client: Client, alice: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[Any, ...]] = []
    monkeypatch.setattr(tasks.finish_blocks, "delay", lambda *arguments: asked.append(arguments))
    assert lead_client.post(world.url("block"), {"workers": ["AGOOD00000001"], "cost": "0"}).status_code == 400
    assert asked == []
    lead_client.post(world.url("block"), {"workers": ["ALOW000000001"], "cost": "0.00"})
    assert asked == [(world.stage.pk,)]
    assert list(Block.objects.filter(state="intended").values_list("worker__worker_id", flat=True)) == ["ALOW000000001"]


def test_undoing_says_what_happens_and_then_does_it(
    world: World, lead_client: Client, alice: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[Any, ...]] = []
    monkeypatch.setattr(tasks.undo_block, "delay", lambda *arguments: asked.append(arguments))
    for answer in make.assignments(make.hits(make.items(world.stage, 40)), world.block.worker):
        make.label(answer, void=True)
    text = lead_client.get(world.url("undo-block")).content.decode()
    assert "40 answers count again" in text
    lead_client.post(world.url("undo-block"))
    assert asked == [(world.block.pk, alice.pk, "page")]


def test_a_block_that_is_undone_already_is_left_alone(
    world: World, lead_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks.undo_block, "delay", lambda *arguments: pytest.fail("asked again"))
    Block.objects.update(state=Block.State.UNDONE)
    assert "undone already" in lead_client.post(world.url("undo-block"), follow=True).content.decode()


def test_a_lead_lets_answers_go_on_before_their_review(world: World, lead_client: Client) -> None:
    assert "once they are approved" not in lead_client.get(world.url("stage")).content.decode()
    Stage.objects.filter(pk=world.stage.pk).update(approval=Stage.Approval.REVIEW)
    assert "go on to later stages once they are approved" in lead_client.get(world.url("stage")).content.decode()
    lead_client.post(world.url("advance-approved"), {"only_approved": "no"})
    assert "that nobody has reviewed are published and paid for" in lead_client.get(world.url("stage")).content.decode()
    lead_client.post(world.url("advance-approved"), {"only_approved": "yes"})
    assert Stage.objects.get(pk=world.stage.pk).advance_approved


def test_a_stage_says_why_items_are_taken_back(world: World, lead_client: Client) -> None:
    make.items(world.stage, 2, state="void")
    refresh_summary(world.stage)
    text = " ".join(lead_client.get(world.url("stage")).content.decode().split())
    assert "2 items taken back</a>: the answer that they were made from does not count" in text
    page = lead_client.get(world.url("items"), {"state": "void"}).content.decode()
    assert page.count("Taken back") >= 2


# The table of all workers, and blocks by hand


def _table(client: Client, world: World, **query: str) -> list[str]:
    return [row.stat.worker.worker_id for row in client.get(world.url("workers"), query).context["rows"]]


def test_the_table_of_workers_sorts_by_the_column_of_the_address(world: World, lead_client: Client) -> None:
    WorkerStat.objects.filter(worker__worker_id="ALOW000000001").update(why="Others: 20 % agreed with.", notices=1)
    assert _table(lead_client, world)[0] == "ALOW000000001"
    assert _table(lead_client, world, sort="-answers")[0] == "AGOOD00000001"
    assert _table(lead_client, world, sort="known")[:2] == ["ALOW000000001", "APOOR00000001"]
    assert _table(lead_client, world, sort="nonsense") == _table(lead_client, world)
    text = lead_client.get(world.url("workers"), {"sort": "known"}).content.decode()
    assert 'aria-sort="ascending"' in text and "?sort=-known" in text
    assert "Others: 20 % agreed with." in text


def test_the_table_of_workers_is_paged_and_searched(world: World, lead_client: Client) -> None:
    for _ in range(60):
        make.worker_stat(world.stage)
    assert (len(_table(lead_client, world)), len(_table(lead_client, world, page="2"))) == (50, 14)
    assert _table(lead_client, world, worker="good") == ["AGOOD00000001"]


def test_the_table_of_workers_comes_as_csv(world: World, lead_client: Client) -> None:
    reply = lead_client.get(world.url("workers-csv"), {"sort": "worker"})
    lines = b"".join(reply.streaming_content).decode().splitlines()  # type: ignore[attr-defined]
    assert lines[0].startswith("worker_id,answers,known_answers,known_right,known_share,known_low")
    assert len(lines) == 5 and lines[1].startswith("AGOOD00000001,400,400,300,0.75,")


def test_chosen_workers_are_blocked_by_hand_with_a_reason(
    world: World, low: Worker, lead_client: Client, market: Marketplace, eager: None, alice: Any
) -> None:
    address = world.url("block-chosen")
    page = squeezed(lead_client.get(address, {"worker": [low.worker_id, "APOOR00000001"]}))
    assert "60 answers stop counting" in page and "Block 1 worker and ask again for at most $2.70" in page
    assert "APOOR00000001" not in page
    form = {"worker": [low.worker_id], "cost": "2.70", "reason": ""}
    refused = lead_client.post(address, form)
    assert refused.status_code == 400 and not Block.objects.filter(worker=low).exists()
    form["reason"] = "Always the first name."
    assert lead_client.post(address, {**form, "cost": "2.69"}).status_code == 400
    assert lead_client.post(address, {**form, "worker": ["ANOBODY"]}).status_code == 302
    assert not Block.objects.filter(worker=low).exists()
    assert lead_client.post(address, form)["Location"] == world.url("workers")
    block = Block.objects.get(worker=low)
    assert block.created_by == alice and block.evidence["reason"] == "Always the first name."
    assert not Label.objects.of_counting_answers().filter(worker=low).exists()
    detail = squeezed(lead_client.get(reverse("worker", args=[world.project.slug, low.worker_id])))
    assert "By hand: “Always the first name.”" in detail


def test_a_stage_without_a_policy_has_blocks_by_hand(world: World, low: Worker, lead_client: Client) -> None:
    Stage.objects.filter(pk=world.stage.pk).update(quality={})
    assert "by hand in the" in squeezed(lead_client.get(world.url("block")))
    assert lead_client.get(world.url("block-chosen"), {"worker": low.worker_id}).status_code == 200


def test_a_policy_by_agreement_is_shown_in_words_and_with_its_evidence(world: World, lead_client: Client) -> None:
    policy = {"check_every": 100, "min_answers": 20, "floor": 0.5, "alpha": 0.01}
    Stage.objects.filter(pk=world.stage.pk).update(quality={**policy, "measure": "agreement", "relative": True})
    low = WorkerStat.objects.filter(worker__worker_id="ALOW000000001")
    low.update(compared=60, agreed=12.5, agreed_by_chance=15)
    WorkerStat.objects.filter(worker__worker_id="AGOOD00000001").update(compared=400, agreed=320, agreed_by_chance=120)
    page = squeezed(lead_client.get(world.url("block")))
    assert "Agreement" in page and "12.50" in page and "20.8 %" in page
    shown = lead_client.get(world.url("stage-settings"))
    assert "the other workers&#x27; answers" in shown.content.decode()


def test_a_policy_by_speed_shows_how_many_answers_were_not_hurried(world: World, lead_client: Client) -> None:
    policy = {"measure": "speed", "check_every": 100, "min_answers": 20, "floor": 0.5, "alpha": 0.01}
    Stage.objects.filter(pk=world.stage.pk).update(quality=policy)
    WorkerStat.objects.filter(worker__worker_id="ALOW000000001").update(timed=60, hurried=48)
    WorkerStat.objects.filter(worker__worker_id="AGOOD00000001").update(timed=400, hurried=4)
    page = squeezed(lead_client.get(world.url("block")))
    assert "Not hurried" in page and ">12</td>" in page and "20.0 %" in page


def test_chosen_workers_are_paused_and_their_pause_ended(
    world: World, low: Worker, lead_client: Client, market: Marketplace, eager: None
) -> None:
    address = world.url("pause-workers")
    page = squeezed(lead_client.get(address, {"worker": low.worker_id}))
    assert "No answer stops counting" in page and "Pause 1 worker</button>" in page
    assert lead_client.post(address, {"worker": [low.worker_id], "hours": "0"}).status_code == 400
    assert not Block.objects.filter(worker=low).exists()
    lead_client.post(address, {"worker": [low.worker_id], "hours": "48", "reason": "Too fast."})
    pause = Block.objects.get(worker=low)
    assert pause.until and not Label.objects.filter(worker=low, void=True).exists()
    assert "paused" in squeezed(lead_client.get(world.url("workers")))
    undo = reverse("undo-block", args=[world.project.slug, pause.pk])
    assert "End the pause of" in squeezed(lead_client.get(undo))
    lead_client.post(undo)
    assert Block.objects.get(worker=low).state in ("lifting", "undone")


def test_workers_are_written_to_with_a_text_that_was_edited(
    world: World, lead_client: Client, market: Marketplace, eager: None
) -> None:
    address = world.url("message-workers")
    page = lead_client.get(address, {"worker": "ALOW000000001"})
    form = {"worker": ["ALOW000000001"], "confirmation": page.context["confirmation"], "subject": "Please look again"}
    assert lead_client.post(address, {**form, "text-ALOW000000001": ""}).status_code == 400
    written = WorkerMessage.objects.filter(worker__worker_id="ALOW000000001")
    assert not written.exists()
    for _ in range(2):
        assert lead_client.post(address, {**form, "text-ALOW000000001": "Read the whole text."}).status_code == 302
    row = written.get()
    assert row.text == "Read the whole text." and row.state == "refused" and "has no work" in row.error
    log = squeezed(lead_client.get(reverse("worker", args=[world.project.slug, "ALOW000000001"])))
    assert "Please look again" in log and "Refused by the marketplace" in log


def test_a_workers_page_has_what_was_written_to_them_and_by_them_with_the_answers_it_goes_with(
    world: World, lead_client: Client
) -> None:
    reader = world.worker
    world.answer.feedback = "Please read to the <end>."
    world.answer.save()
    message = {"project": world.project, "stage": world.stage, "worker": reader, "confirmation": "x" * 12}
    WorkerMessage.objects.create(**message, subject="Please look again", text="Linden is a town.", state="unknown")
    # Of others, and of other projects, nothing stands here.
    other = {**message, "worker": make.worker("AOTHER0000001"), "confirmation": "y" * 12}
    WorkerMessage.objects.create(**other, subject="Not for you", text="Nothing.")
    make.assignment(worker_row=reader, remark="Elsewhere.", state="Approved")
    page = lead_client.get(world.url("worker"))
    text = squeezed(page)
    assert [(one.kind, one.from_worker) for one in page.context["letters"]].count(("remark", True)) == 1
    assert {one.kind for one in page.context["letters"]} == {"remark", "reply", "message", "feedback", "bonus"}
    assert "More than one name fits." in text and "Please read to the &lt;end&gt;." in text and "Well done." in text
    assert "Please look again" in text and "Linden is a town." in text and "Perhaps sent" in text
    assert "Not for you" not in text and "Elsewhere." not in text
    item = reverse("item", args=[world.project.slug, world.stage.key, world.answer.about.pk])
    anchor = f"answer-{world.answer.pk}"
    assert f'href="{item}#{anchor}"' in text and f'id="{anchor}"' in lead_client.get(item).content.decode()
    write = reverse("message-workers", args=[world.project.slug, world.stage.key]) + f"?worker={reader.worker_id}"
    assert f'href="{write}"' in text and lead_client.get(write).status_code == 200


def test_a_worker_to_whom_nothing_was_written_has_a_sentence_that_says_so(world: World, lead_client: Client) -> None:
    text = squeezed(lead_client.get(reverse("worker", args=[world.project.slug, "AGOOD00000001"])))
    assert "Nothing was written yet" in text
