"""What a run is judged by, without one."""

from __future__ import annotations

import base64
import hmac
import json
import time
from types import SimpleNamespace
from typing import Any

import pytest

from tests.faults.installation import WorkerPages
from tests.faults.scenarios import Outcome
from tests.faults.tally import Tally
from tests.faults.verdict import _needs_no_row

DELETED = {"hit_id": "3A", "created_at": "2026-11-24 10:00:00", "disposed_at": "2026-11-24 11:00:00"}
LOST = {"backup_at": "2026-11-24 09:00:00", "restored_at": "2026-11-24 12:00:00"}


@pytest.mark.parametrize(
    ("change", "answers", "closed", "lost", "said"),
    [
        ({}, [], {"3A"}, [], "reconciling deleted it"),
        ({}, [], set(), [LOST], "made and deleted between"),
        ({}, [], set(), [], ""),
        ({"created_at": "2026-11-24 08:00:00"}, [], set(), [LOST], ""),
        ({"disposed_at": None}, [], {"3A"}, [LOST], ""),
        ({}, [{"hit_id": "3A"}], {"3A"}, [LOST], ""),
    ],
)
def test_a_hit_without_a_row_is_accounted_for_by_what_deleted_it(
    change: dict[str, Any], answers: list[Any], closed: set[str], lost: list[Any], said: str
) -> None:
    there, here = SimpleNamespace(answers=answers), SimpleNamespace(closed=closed, restorations=lost)
    found = _needs_no_row({**DELETED, **change}, there, here)  # type: ignore[arg-type]
    assert said in found and bool(said) == bool(found)


@pytest.mark.parametrize(
    ("pages", "fine"),
    [((40, 14.9, 0), True), ((40, 15.1, 0), False), ((40, 0.2, 1), False), ((0, 0.0, 0), False)],
)
def test_a_page_that_takes_too_long_and_one_without_an_answer_fail_a_run(
    pages: tuple[int, float, int], fine: bool
) -> None:
    count, slowest, silent = pages
    outcome = Outcome("small", always_answers=True)
    outcome.judge_pages(WorkerPages(count, slowest, "/task/", silent))
    assert outcome.fine == fine
    assert f"the slowest after {slowest:.2f} s (/task/) of 15 s" in outcome.notes[0]


SECRET = "whsec_" + base64.b64encode(b"a key of this test").decode()


def told(name: str, attempt: int, item: int, revision: int, conclusion: str = "valid") -> dict[str, Any]:
    """A request as a receiver writes it down."""
    data = {"id": item, "revision": revision, "outcome": "kept", "conclusion": conclusion}
    body, now = json.dumps({"data": data}), str(int(time.time()))
    signed = hmac.digest(b"a key of this test", f"{name}.{now}.{body}".encode(), "sha256")
    signature = "v1," + base64.b64encode(signed).decode()
    headers = {
        "webhook-id": name,
        "webhook-attempt": str(attempt),
        "webhook-timestamp": now,
        "webhook-signature": signature,
    }
    return {"headers": headers, "body": body}


STANDING = [{"item": 1, "conclusion": "valid"}, {"item": 2, "conclusion": "broken"}]
IN_ORDER = [told("a", 1, 1, 1), told("b", 1, 2, 1), told("c", 1, 2, 2, "broken")]


@pytest.mark.parametrize(
    ("got", "said"),
    [
        (IN_ORDER, ""),
        ([IN_ORDER[2], told("a", 1, 1, 1), told("a", 2, 1, 1), IN_ORDER[1]], ""),
        ([*IN_ORDER, IN_ORDER[0]], "said that it came for the first time"),
        (IN_ORDER[:2], "item 2 is decided “broken”, the receiver knows 'valid'"),
        (IN_ORDER[1:], "item 1 is decided “valid”, the receiver knows 'nothing'"),
        ([*IN_ORDER, told("d", 1, 3, 1)], "item 3, of which no decision stands"),
        ([*IN_ORDER, {**told("d", 1, 2, 2, "broken"), "body": IN_ORDER[0]["body"]}], "no right signature"),
    ],
)
def test_a_receiver_that_lacks_a_decision_or_gets_one_twice_untold_fails_a_run(got: list[Any], said: str) -> None:
    wrong = Tally.of(got, SECRET).wrong(STANDING)
    assert bool(said) == bool(wrong) and said in "".join(wrong)
