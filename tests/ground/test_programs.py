"""The programs of one machine, and those that further machines run beside them."""

from __future__ import annotations

from pathlib import Path

from ops import programs
from ops.surroundings import Ports

HERE = {program.name: program for program in programs.programs(Path(), Ports.free(), with_broker=True)}


def test_those_that_take_jobs_are_told_apart_from_the_others() -> None:
    assert {name for name, program in HERE.items() if program.is_worker} == {"worker", "long-worker"}


def test_a_further_worker_takes_the_same_jobs_under_a_name_of_its_own() -> None:
    further = programs.worker("worker-2", "second")
    assert further.is_worker
    changed = [(old, new) for old, new in zip(HERE["worker"].command, further.command, strict=True) if old != new]
    assert changed == [("celery@%h", "second@%h")]


def test_a_further_site_listens_at_a_port_of_its_own() -> None:
    for make, module in ((programs.web, "annotate.wsgi"), (programs.marketplace, "marketplace.wsgi")):
        command = make("second", 8123).command
        assert module in command and "127.0.0.1:8123" in command
