"""A lease ends with its holder, and with time where nobody can see the holder."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import timedelta

import psutil
import pytest
from django.utils import timezone

from hits.core.jobs.leases import Holder, LeaseLostError, lease
from hits.models import Lease

pytestmark = [pytest.mark.django_db, pytest.mark.on_postgresql]


@pytest.fixture
def process() -> Iterator[subprocess.Popen[bytes]]:
    """Another process of this machine, which holds a lease for an hour."""
    running = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
    started = psutil.Process(running.pid).create_time()
    _held_by(Holder(Holder.here().machine, running.pid, started, "word"))
    yield running
    running.kill()
    running.wait()


def _held_by(holder: Holder | str) -> None:
    Lease.objects.create(name="job", holder=str(holder), until=timezone.now() + timedelta(hours=1))


def _is_free() -> bool:
    with lease("job") as held:
        return held is not None


def test_two_do_not_hold_one_lease() -> None:
    with lease("job") as held:
        assert held is not None
        assert not _is_free()
    assert _is_free()


def test_a_living_process_keeps_its_lease(process: subprocess.Popen[bytes]) -> None:
    assert not _is_free()


def test_the_lease_of_a_killed_process_is_taken_over_at_once(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    assert _is_free()


def test_a_process_that_is_dead_and_not_yet_buried_holds_nothing(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    # Its parent has not asked how it ended.
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert _is_free()


def test_a_later_process_with_the_same_number_is_another_one() -> None:
    own = Holder.here()
    _held_by(Holder(own.machine, own.pid, own.started - 3600, "word"))
    assert _is_free()


@pytest.mark.parametrize("holder", [Holder("elsewhere/boot/pid", 1, 0.0, "word"), "b75f0c1d6b8e4a0f", "a|b|c|d"])
def test_of_a_holder_that_cannot_be_seen_only_time_tells(holder: Holder | str) -> None:
    _held_by(holder)
    assert not _is_free()
    Lease.objects.update(until=timezone.now())
    assert _is_free()


def test_who_lost_the_lease_learns_it_at_the_next_renewal() -> None:
    with lease("job") as held:
        assert held is not None
        held.renew()
        Lease.objects.update(holder="somebody else")
        with pytest.raises(LeaseLostError):
            held.renew()


@pytest.mark.django_db(transaction=True)
def test_a_lease_is_renewed_while_the_work_runs_however_long_a_step_takes() -> None:
    with lease("job", seconds=1) as held:
        assert held is not None
        first, end = Lease.objects.get().until, time.monotonic() + 30
        # The work does nothing but wait, for longer than its term.
        while Lease.objects.get().until < first + timedelta(seconds=2) and time.monotonic() < end:
            time.sleep(0.05)
        assert Lease.objects.get().until >= first + timedelta(seconds=2)
        assert not _is_free()
    assert _is_free()
    assert not [thread for thread in threading.enumerate() if thread.name == "lease job"]


@pytest.mark.django_db(transaction=True)
def test_a_lease_that_somebody_else_took_is_not_taken_back_by_the_timer() -> None:
    with lease("job", seconds=1):
        Lease.objects.update(holder="somebody else")
        until = Lease.objects.get().until
        end = time.monotonic() + 30
        while [t for t in threading.enumerate() if t.name == "lease job"] and time.monotonic() < end:
            time.sleep(0.05)
    assert (Lease.objects.get().holder, Lease.objects.get().until) == ("somebody else", until)
