"""A simulated worker arrives at a real marketplace."""

from __future__ import annotations

from pathlib import Path

from hits.crowd.browser import Allowance
from hits.crowd.key import AnswerKey
from hits.crowd.people import gather
from hits.crowd.worker import Worker
from hits.protocols import simulated
from tests.hits.market import Marketplace

SAMPLE = Path(__file__).resolve().parents[3] / "samples" / "record.jsonl"


def test_a_worker_whose_sign_up_was_answered_by_nobody_is_in_at_the_next_try(marketplace: Marketplace) -> None:
    (person,) = gather(seed=20_261, workers=1, spammers=0, accuracy=0.9, returns=0)
    worker = Worker(
        person, marketplace.url, AnswerKey.read(SAMPLE), Allowance(50), "simulated crowd of a sandbox", simulated()
    )
    worker.step()
    arrived, worker.worker_id = worker.worker_id, ""
    worker.step()
    assert worker.worker_id == arrived != ""
