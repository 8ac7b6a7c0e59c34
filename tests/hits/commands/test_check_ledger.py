"""`manage.py check_ledger` against the real marketplace."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from django.core.management.base import CommandError

from hits import tasks
from hits.models import Account, Hit, Project, Stage
from hits.publishing.rules.marketplace_account import gateway
from tests.hits.commands.conftest import Run
from tests.hits.market import Marketplace


@pytest.fixture
def published(bring: Callable[..., Any], publish: Callable[..., Any], stage: Stage, market: Marketplace) -> Stage:
    """Three items are at the marketplace."""
    bring(3)
    publish(stage)
    return stage


@pytest.fixture
def answered(published: Stage, market: Marketplace, answer: Callable[..., None]) -> Stage:
    """One worker answered all three; nothing is harvested."""
    worker = market.sign_up_worker()
    for hit in Hit.objects.order_by("id"):
        answer(worker, hit)
    return published


def test_books_agree_at_every_step(run: Run, answered: Stage, eager: None) -> None:
    said = run("check_ledger", "river")
    assert "3 x Answers are there that are fetched soon." in said and said.rstrip().endswith("The books agree.")
    with pytest.raises(CommandError, match="do not agree: answers_coming"):
        run("check_ledger", "river", "--strict")
    tasks.harvest_stage(answered.pk)
    assert "The books agree." in run("check_ledger", "river", "--strict", "--deep")


def test_a_changed_sum_is_found(run: Run, answered: Stage, eager: None) -> None:
    tasks.harvest_stage(answered.pk)
    Account.objects.update(paid=Decimal("0.16"))
    with pytest.raises(CommandError, match="account_sums"):
        run("check_ledger", "river")


def test_books_are_compared_without_the_marketplace_unless_it_is_wanted(
    run: Run, published: Stage, settings: Any
) -> None:
    settings.MTURK_ENDPOINT_URL = "http://127.0.0.1:9"
    gateway.cache_clear()
    said = run("check_ledger", "river")
    assert "The marketplace does not answer" in said and "own books agree" in said
    with pytest.raises(CommandError, match="marketplace was not compared"):
        run("check_ledger", "river", "--strict")


def test_a_project_that_is_not_there_is_said_to_be(run: Run, project: Project) -> None:
    with pytest.raises(CommandError, match="There is no project 'lake'"):
        run("check_ledger", "lake")
