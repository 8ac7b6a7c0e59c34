"""HITReviewStatus speaks of the HIT itself: reported by a worker, judged by the operator."""

from datetime import datetime
from typing import Any

import pytest

from marketplace.models import Concern, Hit, Worker
from marketplace.verbs import accounts, concerns, resolutions


@pytest.mark.parametrize(("take_down", "judged"), [(False, "ReviewedAppropriate"), (True, "ReviewedInappropriate")])
def test_a_report_marks_a_hit_and_the_operator_judges_it(
    mturk: Any, hit: Hit, worker: Worker, now: datetime, take_down: bool, judged: str
) -> None:
    def shown() -> str:
        return mturk.get_hit(HITId=hit.hit_id)["HIT"]["HITReviewStatus"]

    assert shown() == "NotReviewed"
    report = concerns.report(worker, hit, Concern.Reason.OTHER, "It asks for a password", now)
    assert shown() == "MarkedForReview"
    operator = accounts.create_operator("oscar", "operator")
    resolutions.resolve(operator, report, "Looked at it", now, take_down=take_down)
    assert shown() == judged
