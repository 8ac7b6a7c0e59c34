"""A short run of `make fuzz` on the tests' own database."""

import pytest

from tests.fuzz.report import Report
from tests.fuzz.run import fuzz

pytestmark = pytest.mark.on_postgresql

ENOUGH = 400


@pytest.mark.usefixtures("transactional_db")
def test_nothing_that_is_sent_breaks_it(market: str) -> None:
    report = fuzz(market, "tests", lambda so_far: so_far.requests >= ENOUGH, threads=3)
    print("\n".join(report.lines()))
    assert report.failures == []
    assert {status for _, _, status in report.counts} >= {200, 302, 400, 404}


def test_a_failure_is_told_with_what_was_sent() -> None:
    report = Report()
    report.count("wire", "GetHIT", 500)
    report.fail("GetHIT", "status 500\n  sent b'{}'")
    text = "\n".join(report.lines())
    assert "1 failures" in text and "sent b'{}'" in text and "500: 1" in text
