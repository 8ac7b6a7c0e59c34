"""A small installation for tests, on SQLite."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.faults.installation import WATCHED, Installation
from tests.faults.job import Job
from tests.faults.proxy import Cut, Moment, Plan
from tests.faults.scenarios import HOLD, every
from tests.migrated import bring

ITEMS, WORKERS = 12, 6
CUTS = [
    Cut("CreateHITWithHITType", Moment.DAY, 2),
    Cut("ListAssignmentsForHIT", Moment.LATE),
    Cut("ApproveAssignment", Moment.AFTER, 1),
]
DROPS = [
    {"kind": "drop_after", "operation": name, "count": 2} for name in ("CreateHITWithHITType", "ApproveAssignment")
]


@pytest.fixture(scope="package")
def finished(it: Installation) -> Installation:
    """The worker was killed at every one of CUTS, replies were lost, the broker was killed: the job went through."""
    it.proxy.plan = Plan(CUTS)
    it.controls.turn(faults=DROPS)
    job = Job(it, ITEMS, parts=1, review=True, workers=WORKERS)
    job.begin()
    # The worker holds tasks for later when its broker goes.
    it.stack.manage("shell", "-v", "0", "-c", HOLD)
    job.drive(every(2, ["broker"], it.kill))
    return it


@pytest.fixture(scope="package")
def it(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """Running and watched, with a crowd to be started; one for all tests of this folder."""
    with Installation(bring(tmp_path_factory.mktemp("faults")), WATCHED) as running:
        yield running
