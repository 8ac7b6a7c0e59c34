"""A project through any order of what leads, workers and chance do: money, labels and verdicts hold at every step.

HYPOTHESIS_PROFILE=thorough tries many more orders, other ones each time.
"""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from hypothesis import HealthCheck, seed
from hypothesis import settings as hypothesis_settings
from hypothesis.stateful import run_state_machine_as_test

from hits.judging.rules import stage_statistics
from hits.mturk.gateway import Gateway
from hits.workers.verbs import blocking
from tests.hits.broken_calls import BrokenCalls
from tests.hits.market import Marketplace
from tests.hits.pipeline.stage_machine import StageMachine, anybody
from tests.hits.stand_in import StandIn

# So many times four orders as it takes to see every move.
FEWEST, MOST = 3, 12
MOVES = {
    "answer", "answer to several", "return", "submit late", "publish", "approve", "reject", "take back", "block",
    "undo", "expire", "extend", "pause", "resume", "delete", "bonus", "compensation", "take a compensation up",
    "want more", "want few", "withdraw", "dispute", "late read", "a day", "make of answers", "replace", "sweep",
    "wait for values", "computed values", "undo a decision", "undo too late",
}  # fmt: skip


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch, settings: Any) -> BrokenCalls:
    monkeypatch.setattr(blocking, "proposals", anybody)
    settings.MTURK_SETTLE_SECONDS = 0
    monkeypatch.setattr(stage_statistics, "_rested", lambda run: True)
    StageMachine.calls = BrokenCalls()
    StageMachine.seen.clear()
    return StageMachine.calls


@pytest.fixture
def in_memory(stand_in: StandIn, calls: BrokenCalls, monkeypatch: pytest.MonkeyPatch) -> type[StageMachine]:
    calls.install(StandIn, monkeypatch)
    StageMachine.market, StageMachine.workers = stand_in, [stand_in.sign_up_worker() for _ in range(6)]
    StageMachine.payments = lambda _: [*stand_in.paid, *(row.reason for row in stand_in.bonuses_paid)]
    StageMachine.least_seconds = 20
    return StageMachine


@pytest.fixture
def real(market: Marketplace, calls: BrokenCalls, monkeypatch: pytest.MonkeyPatch) -> type[StageMachine]:
    """Its balance tells what it has paid."""
    calls.install(Gateway, monkeypatch)
    StageMachine.market, StageMachine.workers = market, [market.sign_up_worker() for _ in range(6)]
    StageMachine.payments = lambda _: []
    StageMachine.least_seconds = 0
    return StageMachine


def run(machine: type[StageMachine], examples: int, steps: int) -> None:
    times = hypothesis_settings().max_examples // hypothesis_settings.get_profile("quick").max_examples
    run_state_machine_as_test(
        machine,
        settings=hypothesis_settings(
            max_examples=examples * times,
            stateful_step_count=steps,
            deadline=None,
            derandomize=times == 1,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.on_postgresql
@pytest.mark.django_db
def test_some_sequences_leave_money_labels_and_verdicts_right(in_memory: type[StageMachine]) -> None:
    run(seed(0)(in_memory), 1 if connection.vendor == "postgresql" else 3, steps=60)


@pytest.mark.long
@pytest.mark.django_db
def test_sequences_with_every_move_leave_money_labels_and_verdicts_right(in_memory: type[StageMachine]) -> None:
    left: set[str] = set()
    for number in range(MOST):
        run(seed(number)(in_memory), examples=4, steps=60)
        # A broken one names what broke it as well.
        left = MOVES - {what.partition(",")[0] for what in in_memory.seen}
        if number + 1 >= FEWEST and not left:
            break
    assert not left


@pytest.mark.django_db(transaction=True)
def test_any_sequence_ends_with_the_same_figures_at_the_marketplace(real: type[StageMachine]) -> None:
    run(real, examples=2, steps=30)
