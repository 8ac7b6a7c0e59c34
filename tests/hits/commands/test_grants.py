"""`manage.py grants` against the real marketplace."""

from __future__ import annotations

import pytest
from django.core.management.base import CommandError

from tests.hits import factories as make
from tests.hits.commands.conftest import Run
from tests.hits.market import Marketplace

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_qualification_is_given_listed_and_taken_back(run: Run, market: Marketplace, stranger_refused: None) -> None:
    requirement = {"qualification": "trusted-reader", "comparator": "Exists"}
    make.stage(make.project(slug="river"), key="review", requirements=[requirement])
    worker = market.sign_up_worker()
    said = run("grants", "river", "trusted-reader", "add", worker, "A000NOTTHERE")
    assert "2 workers had not" in said and f"{worker}  Granted" in said and "does not exist." in said
    assert "trusted-reader  opens review        2" in run("grants", "river")
    with pytest.raises(CommandError, match="do not have trusted-reader: A1"):
        run("grants", "river", "trusted-reader", "withdraw", worker, "A1")
    assert worker in run("grants", "river", "trusted-reader", "list")
    assert worker not in run("grants", "river", "trusted-reader", "withdraw", worker)
    with pytest.raises(CommandError, match="There are: trusted-reader"):
        run("grants", "river", "part-one", "add", worker)
    with pytest.raises(CommandError, match="no worker id"):
        run("grants", "river", "trusted-reader", "add", "nobody")
