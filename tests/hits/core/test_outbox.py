"""The outbox makes calls round by round, writes down what came of them, and stops where the marketplace is silent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from hits.core.jobs.leases import Held, LeaseLostError, lease
from hits.core.jobs.outbox import carry_out, is_due, longer_wait, mark_sent, standing, why_it_waits
from hits.core.models.intents import TOKEN_LIFE
from hits.models import Bonus, Hit, Lease
from hits.mturk.errors import InsufficientFundsError, MarketplaceError, NotYetError, RefusedError, UnreachableError
from hits.publishing.rules.marketplace_account import gateway
from tests.hits import factories as make

pytestmark = pytest.mark.django_db
Outcomes = Sequence[tuple[str, str | MarketplaceError]]


@pytest.fixture
def held() -> Iterator[Held]:
    with lease("outbox") as taken:
        assert taken is not None
        yield taken


def run(held: Held, rounds: list[list[str]], seen: list[Any], **options: Any) -> Iterator[int]:
    """Each row is called with itself; one that is an error's name raises it."""
    errors = {error.__name__: error("Code", "No.") for error in (UnreachableError, NotYetError, RefusedError)}

    def call(row: str) -> str:
        if row in errors:
            raise errors[row]
        return row.upper()

    def record(outcomes: Outcomes) -> int:
        seen.extend(outcome if isinstance(outcome, str) else type(outcome).__name__ for _, outcome in outcomes)
        return sum(isinstance(outcome, str) for _, outcome in outcomes)

    return carry_out(gateway(), held, rows=lambda: rounds.pop(0) if rounds else [], call=call, record=record, **options)


def test_rounds_go_on_until_no_row_waits(held: Held) -> None:
    seen: list[Any] = []
    assert list(run(held, [["a", "b"], ["RefusedError", "c"]], seen)) == [2, 1]
    assert seen == ["A", "B", "RefusedError", "C"]


def test_an_error_that_stops_it_is_raised_after_its_round_was_written_down(held: Held) -> None:
    seen: list[Any] = []
    rounds = run(held, [["a", "NotYetError", "b"], ["c"]], seen, stop_at=(NotYetError,))
    assert next(rounds) == 2
    with pytest.raises(NotYetError):
        next(rounds)
    assert "C" not in seen


def test_an_error_that_says_nothing_about_the_others_stops_nothing(held: Held) -> None:
    assert list(run(held, [["NotYetError"], ["c"]], [])) == [0, 1]


def test_a_lost_lease_stops_it_between_two_rounds(held: Held) -> None:
    rounds = run(held, [["a"], ["b"]], [])
    assert next(rounds) == 1
    Lease.objects.update(holder="another process")
    with pytest.raises(LeaseLostError):
        next(rounds)


def test_the_first_sending_is_kept_and_tells_when_the_token_is_too_old() -> None:
    hit = make.hit(state=Hit.State.PLANNED, attempted_at=None)
    mark_sent(Hit.objects.all(), state=Hit.State.SENT)
    hit.refresh_from_db()
    assert (hit.state, hit.outlives_its_token) == (Hit.State.SENT, False)
    assert hit.attempted_at is not None and timezone.now() - hit.attempted_at < timedelta(minutes=1)
    Hit.objects.update(attempted_at=timezone.now() - TOKEN_LIFE - timedelta(seconds=1))
    mark_sent(Hit.objects.all())
    hit.refresh_from_db()
    assert hit.outlives_its_token


def test_a_row_that_another_process_recorded_stands_no_longer() -> None:
    waiting, recorded = make.hit(state=Hit.State.SENT), make.hit(state=Hit.State.LIVE)
    make.hit(state=Hit.State.SENT)  # of another round
    assert list(standing(Hit.objects.filter(state=Hit.State.SENT), [waiting.pk, recorded.pk])) == [waiting.pk]


def test_waits_grow_with_the_time_waited_within_bounds() -> None:
    waits = [longer_wait(timedelta(seconds=waited)).total_seconds() for waited in (0, 60, 3600)]
    assert waits == [5, 60, 240]


def test_waits_are_never_shorter_than_five_seconds_nor_longer_than_four_minutes() -> None:
    waits = [longer_wait(timedelta(seconds=waited)).total_seconds() for waited in (4, 5, 6, 239, 240, 241)]
    assert waits == [5, 5, 6, 239, 240, 240]


def test_a_row_is_due_that_waits_for_no_time_or_for_one_that_is_over() -> None:
    now = timezone.now()
    times = (None, now - timedelta(seconds=1), now + timedelta(hours=1))
    rows = [make.bonus(not_before=time) for time in times]
    assert set(Bonus.objects.filter(is_due())) == set(rows[:2])


def test_what_waits_says_what_makes_it_go_on() -> None:
    poor, silent = InsufficientFundsError("Code", "Too little."), UnreachableError("Code", "No answer.")
    assert why_it_waits(poor).endswith("Add money to the marketplace account: it goes on by itself then.")
    assert why_it_waits(silent).endswith("It goes on by itself when the marketplace is back.")


def test_sending_again_keeps_when_it_was_sent_first_and_changes_nothing_else() -> None:
    first, other = make.hit(state=Hit.State.PLANNED, attempted_at=make.NOON), make.hit(state=Hit.State.LIVE)
    mark_sent(Hit.objects.filter(pk=first.pk))
    first.refresh_from_db()
    assert (first.state, first.attempted_at) == (Hit.State.PLANNED, make.NOON)
    mark_sent(Hit.objects.filter(pk=first.pk), state=Hit.State.SENT)
    first.refresh_from_db()
    other.refresh_from_db()
    assert (first.state, first.attempted_at, other.state) == (Hit.State.SENT, make.NOON, Hit.State.LIVE)


def test_a_silent_marketplace_stops_it_where_nothing_else_is_said(held: Held) -> None:
    seen: list[Any] = []
    rounds = run(held, [["UnreachableError"], ["b"]], seen)
    assert next(rounds) == 0
    with pytest.raises(UnreachableError):
        next(rounds)
    assert seen == ["UnreachableError"]
