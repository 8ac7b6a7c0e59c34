"""A short run of `make fuzz` on the requester's side."""

from __future__ import annotations

import pytest

from tests.fuzz.leads import fuzz
from tests.hits.market import Marketplace

pytestmark = pytest.mark.on_postgresql

ENOUGH = 500


@pytest.mark.usefixtures("transactional_db")
def test_nothing_that_is_sent_breaks_it_or_opens_a_project_to_others(market: Marketplace) -> None:
    report = fuzz("tests", lambda so_far: so_far.requests >= ENOUGH)
    print("\n".join(report.lines()))
    assert report.failures == []
    assert {status for _, _, status in report.counts} >= {200, 302, 400, 404}
