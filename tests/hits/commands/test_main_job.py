"""The main job by commands alone, with a real marketplace and no broker."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from celery import current_app
from django.core.management.base import CommandError
from kombu import Connection

from hits.domain.marketplace_account import gateway
from hits.flow.people import blocking
from hits.flow.setup import projects
from hits.models import (
    Account,
    Assignment,
    Batch,
    Block,
    Hit,
    Item,
    Label,
    Project,
    Stage,
    Verdict,
    Worker,
    WorkerMessage,
)
from tests.hits import factories
from tests.hits.commands.conftest import Run
from tests.hits.flow.conftest import fields
from tests.hits.market import Marketplace


@pytest.fixture(autouse=True)
def no_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command that would queue a job fails."""
    monkeypatch.setattr(Connection, "_establish_connection", lambda self: pytest.fail("it asked for the broker"))


def test_the_quote_says_the_price_and_changes_nothing(run: Run, filled: Project, market: Marketplace) -> None:
    said = run("quote", "river", "validate", "--items", 2)
    assert "Items         2" in said and "Total         $0.10" in said and "Balance       $10,000.00" in said
    assert not Batch.objects.exists()


def test_publishing_asks_first(run: Run, filled: Project, market: Marketplace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("builtins.input", lambda question: "")
    with pytest.raises(CommandError, match="Nothing was published"):
        run("publish", "river", "validate")
    assert not Batch.objects.exists()
    monkeypatch.setattr("builtins.input", lambda question: "y")
    assert "3 of 3 done, 0 refused, published" in run("publish", "river", "validate")
    assert len(list(gateway().all_hits())) == 3


def test_publishing_stops_at_a_problem(run: Run, filled: Project, market: Marketplace) -> None:
    Account.objects.update(budget=Decimal("0.01"))
    with pytest.raises(CommandError, match="Nothing was published"):
        run("publish", "river", "validate", "--yes")
    assert not Hit.objects.exists()


def test_waiting_goes_on_when_the_marketplace_is_back(
    run: Run, filled: Project, market: Marketplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    market.stop()
    monkeypatch.setattr("hits.management.commands.publish.sleep", lambda seconds: market.start())
    said = run("publish", "river", "validate", "--yes", "--wait")
    assert "waiting" in said and said.rstrip().endswith("3 of 3 done, 0 refused, published.")


def test_a_pause_holds_and_resume_goes_on(run: Run, published: Project, stage: Stage) -> None:
    # As after a crash: the last reply is not recorded.
    Batch.objects.update(state=Batch.State.PUBLISHING, finished_at=None)
    Hit.objects.filter(pk=stage.hits.first().pk).update(state=Hit.State.SENT, hit_id=None)
    run("pause", "river", "validate")
    assert Batch.objects.get().state == Batch.State.PAUSED
    assert "validate is live" in run("resume", "river", "validate")
    assert Batch.objects.get().state == Batch.State.PUBLISHED


def test_hits_are_extended_and_closed(run: Run, published: Project, market: Marketplace) -> None:
    hit_id = Hit.objects.first().hit_id
    # HITs are created one after the other, and all stay open as long as the one that ends last.
    before = max(gateway().hit(hit.hit_id).expires_at for hit in Hit.objects.all())
    assert "3 of 3 done" in run("extend", "river", "validate", 1)
    later = (before + timedelta(hours=1)).replace(microsecond=0)
    assert gateway().hit(hit_id).expires_at == later
    with pytest.raises(CommandError, match="from 1 to 8,760"):
        run("extend", "river", "validate", 0)
    with pytest.raises(CommandError, match="Close early"):
        run("extend", "river", "validate", "--until", before.isoformat())
    with pytest.raises(CommandError, match="either the hours or --until"):
        run("extend", "river", "validate")
    with pytest.raises(CommandError, match="2026-12-31T18:00"):
        run("extend", "river", "validate", "--until", "soon")
    until = later + timedelta(days=1)
    assert "3 of 3 done" in run("extend", "river", "validate", "--until", f"{until:%Y-%m-%dT%H:%M:%S}")
    assert gateway().hit(hit_id).expires_at == until
    assert "3 of 3 done" in run("expire", "river", "validate")
    assert market.hit(hit_id)["status"] == "Reviewable"


def test_harvesting_leads_to_verdicts(run: Run, answered: list[Hit]) -> None:
    said = run("harvest", "river")
    assert "validate: 3 new answers; 2 kept, 1 dropped, 0 open, 0 waiting" in said
    assert "validate: 0 new answers" in run("harvest", "river", "validate")
    assert not current_app.conf.task_always_eager


def test_items_for_dev_and_test_go_on_to_the_next_stage_and_out(run: Run, filled: Project, market: Marketplace) -> None:
    filled.documents.update(purpose="eval")
    run("publish", "river", "validate", "--yes")
    worker = market.sign_up_worker()
    for hit in list(Hit.objects.all()):
        market.answer(worker, hit.hit_id, **fields(hit, "Linden"))
    run("harvest", "river", "validate")
    later = Hit.objects.filter(stage__key="revalidate")
    assert [hit.state for hit in later] == [Hit.State.LIVE] * 3


def test_the_main_job_ends_in_files_whose_checksums_are_printed(run: Run, answered: list[Hit], tmp_path: Path) -> None:
    run("harvest", "river")
    said = run("release", "river", "--to", tmp_path / "out")
    assert said.startswith("Release 1 is new.")
    for line in said.splitlines()[1:]:
        checksum, name = line.split("  ")
        assert hashlib.sha256((tmp_path / "out" / name).read_bytes()).hexdigest() == checksum
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["counts"]["train"] == 2
    assert (tmp_path / "out-test-key.json").exists() and not list((tmp_path / "out").rglob("*key*"))
    assert "`test-key.json`, which lies beside the folder as FOLDER-test-key.json" in (
        (tmp_path / "out" / "README.md").read_text()
    )
    assert "key" not in run("release", "river", "--to", tmp_path / "public", "--without-keys")
    assert [path.name for path in tmp_path.rglob("*key*")] == ["out-test-key.json"]
    assert "Release 1 is as it was" in run("release", "river")
    with pytest.raises(CommandError, match="is there already"):
        run("release", "river", "--to", tmp_path / "out")


def test_predictions_are_scored_against_a_file_of_a_release(run: Run, answered: list[Hit], tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="River has no release yet. Make one"):
        run("evaluate", "river", tmp_path / "said.json")
    run("harvest", "river")
    run("release", "river", "--to", tmp_path / "out")
    released = json.loads((tmp_path / "out" / "train.json").read_text())["data"]
    said = tmp_path / "said.json"
    said.write_text(json.dumps({query["id"]: "the Linden" for one in released for query in one["qas"]}))
    assert run("evaluate", "river", said, "--file", "train.json", "--keep", "Linden").splitlines() == [
        "release: 1", "file: train.json", "n: 2", "exact_match: 100.0", "f1: 100.0",
        "exact_match (2): 100.0 % (100.0 to 100.0)", "f1 (2): 100.0 % (100.0 to 100.0)",
    ]  # fmt: skip
    assert "0.0 points compared with Linden, p = 1.0000" in run("evaluate", "river", said, "--file", "train.json")
    with pytest.raises(CommandError, match="Nothing can be compared with test-key.json: the file holds no example"):
        run("evaluate", "river", said)
    said.write_text('{"q": "Linden"}')
    with pytest.raises(CommandError, match="is the id of no query of this file"):
        run("evaluate", "river", said, "--file", "train.json")
    with pytest.raises(CommandError, match="Nothing is compared with dev.xml. Name one of test-key.json, dev.json"):
        run("evaluate", "river", said, "--file", "dev.xml")
    with pytest.raises(CommandError, match="River has no release 7"):
        run("evaluate", "river", said, "--release", 7)


def test_a_release_that_cannot_be_written_leaves_no_file_of_it(run: Run, answered: list[Hit], tmp_path: Path) -> None:
    run("harvest", "river")
    in_the_way = tmp_path / "out" / ".train.json.part"
    in_the_way.mkdir(parents=True)
    with pytest.raises(CommandError, match="cannot be written: Is a directory. Nothing was left there"):
        run("release", "river", "--to", tmp_path / "out")
    assert list(in_the_way.parent.iterdir()) == [in_the_way]


def test_answers_that_came_too_fast_are_held_and_approved_by_a_command(
    run: Run, filled: Project, market: Marketplace
) -> None:
    projects.want_seconds(filled, 30)
    run("publish", "river", "validate", "--yes")
    hit = Hit.objects.order_by("pk")[0]
    market.answer(market.sign_up_worker(), hit.hit_id, **fields(hit, "Linden"))
    run("harvest", "river", "validate")
    assert json.loads(run("status", "river", "--json"))["stages"][1]["held"] == 1
    assert "0 answers decided" in run("approve", "river", "validate", "--all")
    with pytest.raises(CommandError, match="--all or --held"):
        run("approve", "river", "validate", "--all", "--held")
    assert "1 answer decided" in run("approve", "river", "validate", "--held")
    assert json.loads(run("status", "river", "--json"))["stages"][1]["held"] == 0
    assert hit.item.labels.counting().count() == 1


def test_there_is_nothing_to_release_before_a_verdict(run: Run, filled: Project) -> None:
    with pytest.raises(CommandError, match="nothing to release: 3 of 3 items of .* are not published. Publish them"):
        run("release", "river")


def test_the_ledger_is_listed_and_checked_against_the_marketplace(run: Run, answered: list[Hit]) -> None:
    run("harvest", "river")
    assert "paid $0.15, left $19.85" in run("ledger", "river")
    rows = list(csv.DictReader(io.StringIO(run("ledger", "river", "--csv"))))
    assert sum(Decimal(row["paid"]) for row in rows) == Decimal("0.15")
    assert [row["kind"] for row in rows] == ["reserve", "settle", "settle", "settle"]
    assert "The books agree." in run("check_ledger", "river", "--strict")


def test_books_agree_at_every_step(run: Run, answered: list[Hit], market: Marketplace) -> None:
    said = run("check_ledger", "river")
    assert "3 x Answers are there that are fetched soon." in said and said.rstrip().endswith("The books agree.")
    with pytest.raises(CommandError, match="do not agree: answers_coming"):
        run("check_ledger", "river", "--strict")
    run("expire", "river", "validate")
    run("harvest", "river")
    run("check_ledger", "river", "--strict", "--deep")


def test_a_changed_sum_is_found(run: Run, answered: list[Hit]) -> None:
    run("harvest", "river")
    Account.objects.update(paid=Decimal("0.16"))
    with pytest.raises(CommandError, match="account_sums"):
        run("check_ledger", "river")


def test_books_are_compared_without_the_marketplace_unless_it_is_wanted(
    run: Run, published: Project, settings: Any
) -> None:
    settings.MTURK_ENDPOINT_URL = "http://127.0.0.1:9"
    gateway.cache_clear()
    said = run("check_ledger", "river")
    assert "The marketplace does not answer" in said and "own books agree" in said
    with pytest.raises(CommandError, match="marketplace was not compared"):
        run("check_ledger", "river", "--strict")


def test_judging_again_shows_what_a_changed_label_changes(run: Run, answered: list[Hit], stage: Stage) -> None:
    run("harvest", "river")
    before = list(Verdict.objects.order_by("id").values_list("id", "outcome"))
    assert "3 items judged with matches_reference 1, 0 differ" in run("rejudge", "river", "validate")
    assert list(Verdict.objects.order_by("id").values_list("id", "outcome")) == before
    key = answered[2].item.key
    Label.objects.filter(item__key=key).update(correct=True)
    said = run("rejudge", "river", "validate")
    assert f"{key}: dropped -> kept" in said and "1 dropped -> kept" in said


@pytest.fixture
def held(run: Run, filled: Project, market: Marketplace) -> list[Assignment]:
    """Three answers that wait for review."""
    Stage.objects.update(auto_approval_seconds=86_400, approval=Stage.Approval.REVIEW)
    run("publish", "river", "validate", "--yes")
    worker = market.sign_up_worker()
    for hit in list(Hit.objects.all()):
        market.answer(worker, hit.hit_id, **fields(hit, "Linden"))
    run("harvest", "river")
    return list(Assignment.objects.order_by("id"))


def test_held_answers_are_approved_and_rejected(run: Run, held: list[Assignment], market: Marketplace) -> None:
    assert "1 answer decided" in run("approve", "river", "validate", held[0].assignment_id)
    run("reject", "river", "validate", held[1].assignment_id, "--feedback", "Not a name.")
    assert gateway().assignment(held[1].assignment_id).status == "Rejected"
    run("approve", "river", "validate", "--all")
    states = list(Assignment.objects.order_by("id").values_list("state", flat=True))
    assert states == ["Approved", "Rejected", "Approved"]
    # The rejected answer's item is asked again, here and now.
    assert Hit.objects.filter(item=held[1].hit.item, state=Hit.State.LIVE).exists()
    run("check_ledger", "river", "--strict")


def test_answers_of_blocked_workers_are_asked_about_before_they_are_paid(
    run: Run, held: list[Assignment], monkeypatch: pytest.MonkeyPatch
) -> None:
    factories.block(held[0].stage, held[0].worker)
    asked: list[str] = []
    monkeypatch.setattr("builtins.input", lambda question: asked.append(question) or "no")
    with pytest.raises(CommandError, match="Nothing was approved"):
        run("approve", "river", "validate", "--all")
    assert asked == ["Of 3 answers 3 are from blocked workers and count for nothing. Pay them? [y/N] "]
    assert not Assignment.objects.exclude(state="Submitted", decision="").exists()
    assert "3 answers decided" in run("approve", "river", "validate", "--all", "--yes")


def test_a_wrong_assignment_decides_nothing(run: Run, held: list[Assignment]) -> None:
    with pytest.raises(CommandError, match="Not waiting in validate: nope"):
        run("approve", "river", "validate", held[0].assignment_id, "nope")
    with pytest.raises(CommandError, match="Name assignments, or say --all"):
        run("approve", "river", "validate")
    with pytest.raises(CommandError, match="--feedback"):
        run("reject", "river", "validate", held[0].assignment_id)
    with pytest.raises(CommandError, match="Tell the workers why"):
        run("reject", "river", "validate", held[0].assignment_id, "--feedback", " ")
    assert set(Assignment.objects.values_list("state", "decision")) == {("Submitted", "")}


@pytest.fixture
def spammer(published: Project, stage: Stage, market: Marketplace) -> str:
    """A worker with 2 of 40 right among others with 36 of 40."""
    found = market.sign_up_worker()
    text = factories.document(stage.project, key="of-the-crowd")
    for worker_id, right in ((found, 2), (market.sign_up_worker(), 36)):
        row = factories.worker(worker_id)
        items = factories.items(stage, 40, document=text, state=Item.State.KEPT)
        hits = factories.hits(items, state=Hit.State.CLOSED)
        for number, answer in enumerate(factories.assignments(hits, row)):
            factories.label(answer, correct=number < right)
        factories.worker_stat(stage, row, answers=40, scored=40, correct=right)
    return found


def test_a_command_tells_those_whom_it_blocks_when_asked(run: Run, stage: Stage, spammer: str) -> None:
    run("quality", "river", "validate", "--apply", "--yes", "--tell")
    (letter,) = WorkerMessage.objects.all()
    assert letter.worker.worker_id == spammer and "2 of 40 scored answers were right" in letter.text
    # The marketplace passes nothing on to workers of whom no answer was approved or rejected.
    assert letter.state == WorkerMessage.State.REFUSED and letter.error


def test_quality_shows_then_blocks_and_a_block_is_undone(
    run: Run, stage: Stage, spammer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = run("quality", "river", "validate")
    assert spammer in said and "5.0%" in said and "Nobody was blocked: this is a preview." in said
    assert not Block.objects.exists()
    assert "40 answers would stop counting; at most 40 would be bought again for $2.00, of $19.85 left" in said
    monkeypatch.setattr("builtins.input", lambda question: "")
    with pytest.raises(CommandError, match="Nobody was blocked"):
        run("quality", "river", "validate", "--apply")
    assert not Block.objects.exists()
    assert "1 workers blocked" in run("quality", "river", "validate", "--apply", "--yes")
    assert "blocks nobody automatically" in run("quality", "river", "validate", "--auto-block", "off")
    assert "blocks automatically" in run("quality", "river", "validate", "--auto-block", "on")
    assert Block.objects.get().state == Block.State.GRANTED
    assert Label.objects.filter(worker=Worker.objects.get(worker_id=spammer), void=False).count() == 0
    assert "Nobody is below the floor" in run("quality", "river", "validate")
    assert "40 answers count again; 0 HITs" in run("unblock", "river", spammer, "--preview")
    assert Block.objects.standing().exists()
    assert "1 blocks undone" in run("unblock", "river", spammer)
    assert blocking.proposals(stage)[0].worker == spammer
    with pytest.raises(CommandError, match="Not blocked in river"):
        run("unblock", "river", spammer)


def test_a_stage_without_a_policy_says_so(run: Run, project: Project) -> None:
    with pytest.raises(CommandError, match="no blocking policy"):
        run("quality", "river", "reasoning")


def test_an_absent_marketplace_is_one_sentence(
    run: Run, published: Project, market: Marketplace, settings: Any
) -> None:
    market.stop()
    try:
        with pytest.raises(CommandError, match="The marketplace does not answer"):
            run("harvest", "river", "validate")
    finally:
        market.start()
