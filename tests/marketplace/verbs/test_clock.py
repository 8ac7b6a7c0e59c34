from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from marketplace.verbs import clock

pytestmark = pytest.mark.django_db


def test_the_clock_moves_forward_only_and_back_by_a_reset(settings: Any) -> None:
    settings.MARKETPLACE_TEST_CONTROLS = True
    clock.advance(timedelta(days=2))
    clock.advance(timedelta(seconds=1.5))
    assert timedelta(0) <= clock.now() - timezone.now() - timedelta(days=2) <= timedelta(seconds=1.5)
    with pytest.raises(ValueError, match="forward"):
        clock.advance(timedelta(seconds=-1))
    assert clock.wall() - timezone.now() < timedelta(seconds=1)
    clock.reset()
    assert abs(clock.now() - timezone.now()) < timedelta(seconds=1)


def test_without_the_switch_nothing_moves_it_and_it_asks_nobody(django_assert_num_queries: Any) -> None:
    clock.advance(timedelta(days=2))
    with django_assert_num_queries(0):
        assert abs(clock.now() - timezone.now()) < timedelta(seconds=1)
