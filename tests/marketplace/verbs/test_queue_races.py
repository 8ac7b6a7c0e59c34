"""One worker with many windows: the limits hold, whatever happens at the same moment."""

from collections import Counter
from typing import Any

import pytest
from django.utils import timezone

from marketplace.models import Assignment, Concern, Hit, HitType
from marketplace.rules.errors import NotAdmitted, RequestError
from marketplace.verbs import assignments, concerns
from tests.marketplace.verbs.test_concurrency import at_once

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.on_postgresql]
WINDOWS = 6


def test_nobody_holds_more_than_the_limit(
    settings: Any, requester: Any, worker: Any, hit_type: HitType, make_hit: Any
) -> None:
    settings.MARKETPLACE_QUEUE_LIMIT = 2
    for _ in range(WINDOWS):
        make_hit(hit_type)
    results = at_once([lambda: assignments.accept(hit_type, worker, timezone.now()) for _ in range(WINDOWS)])
    assert Counter(type(result) for result in results) == {Assignment: 2, NotAdmitted: WINDOWS - 2}
    assert sum(Hit.objects.values_list("pending", flat=True)) == 2


def test_a_hit_is_reported_once(requester: Any, worker: Any, hit: Hit) -> None:
    results = at_once([lambda: concerns.report(worker, hit, "broken", "", timezone.now()) for _ in range(WINDOWS)])
    assert Counter(type(result) for result in results) == {Concern: 1, RequestError: WINDOWS - 1}


def test_a_concern_is_resolved_once(requester: Any, worker: Any, hit: Hit) -> None:
    concern = concerns.report(worker, hit, "broken", "", timezone.now())
    results = at_once([lambda: concerns.resolve(concern, "Corrected", timezone.now()) for _ in range(WINDOWS)])
    assert sorted(results) == [False] * (WINDOWS - 1) + [True]
