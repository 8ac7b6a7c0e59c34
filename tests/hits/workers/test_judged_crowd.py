"""Twenty workers, three of whom choose by chance and two hardly look: with check questions and without."""

from __future__ import annotations

from typing import Any

import pytest

from hits.models import Block, Label
from tests.hits.stand_in import StandIn
from tests.hits.workers.judged_crowd import WITH_GOLD, WITHOUT_GOLD, Setup, simulate, table

# The draw of check questions depends on the numbers of the rows, so these begin at 1 whatever ran before.
pytestmark = [pytest.mark.django_db(transaction=True, reset_sequences=True), pytest.mark.usefixtures("eager")]
ITEMS = 240


@pytest.mark.parametrize("setup", [WITH_GOLD, WITHOUT_GOLD], ids=lambda setup: setup.title)
@pytest.mark.long
def test_all_who_choose_by_chance_are_blocked_and_nobody_honest(stand_in: StandIn, lead: Any, setup: Setup) -> None:
    found = simulate(stand_in, setup, lead, ITEMS)
    print("\n" + table([found]))
    assert len(found.blocked_of("spammer")) == 3
    assert found.blocked_of("honest") == []
    # A worker who does not answer as much as the policy asks for is never named.
    assert all(answers >= setup.policy["min_answers"] for _, _, answers in found.blocked)
    assert len(found.p_values) > 10 and min(found.p_values.values()) > setup.policy["alpha"]
    # What they answered is asked again, and nothing is left open.
    assert found.bought_again > 0 and found.short == 0
    # Nine in ten are right where nobody is blocked.
    assert found.right > 0.95
    blocked = Block.objects.values("worker")
    assert not Label.objects.of_counting_answers().filter(worker__in=blocked).exists()
    assert Label.objects.filter(worker__in=blocked, void=True).exists()
