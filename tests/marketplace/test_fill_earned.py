"""The migration that gives workers of an older database what they have earned."""

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from importlib import import_module
from typing import Any

import pytest
from django.apps import apps

from marketplace.models import Hit, Requester, Worker
from marketplace.verbs import assignments

pytestmark = pytest.mark.on_postgresql


def test_approved_rewards_count_as_earned_and_nothing_else(
    requester: Requester,
    make_hit_type: Callable[..., Any],
    make_hit: Callable[..., Hit],
    make_worker: Callable[..., Worker],
    now: datetime,
) -> None:
    busy, _, current = make_worker("busy"), make_worker("idle"), make_worker("current", earned=Decimal("9.00"))
    for worker, cents, end in ((busy, 50, "a"), (busy, 25, "a"), (busy, 10, "r"), (busy, 5, ""), (current, 1, "a")):
        kind = make_hit_type(reward=Decimal(cents) / 100)
        held = assignments.accept(kind, worker, now, make_hit(kind))
        assignments.submit(held.assignment_id, {"answer": ["x"]}, now)
        if end == "a":
            assignments.approve(requester, held.assignment_id, now)
        elif end == "r":
            assignments.reject(requester, held.assignment_id, now, "no")
    Worker.objects.filter(pk=busy.pk).update(earned=0)
    migration = import_module("marketplace.migrations.0003_fill_earned")
    migration.fill_earned(apps, None)
    earned = dict(Worker.objects.values_list("user__username", "earned"))
    assert earned == {"busy": Decimal("0.75"), "idle": 0, "current": Decimal("9.01")}
