"""Answers that stand at the marketplace and here, for tests of what is paid beside the reward."""

from __future__ import annotations

from decimal import Decimal

from hits.models import Assignment, Project
from hits.mturk.gateway import HitTypeSpec
from hits.mturk.question import one_choice_form
from hits.publishing.rules.marketplace_account import gateway
from tests.hits import factories as make
from tests.hits.market import Marketplace


def answered(project: Project, market: Marketplace, count: int = 1) -> list[Assignment]:
    """So many answers to one HIT, each by a worker of its own, approved."""
    spec = HitTypeSpec("Say yes", "One word", "word", Decimal("0.04"), 600, 0, ())
    made = gateway().create_hit(
        gateway().create_hit_type(spec),
        question=one_choice_form("Say yes", ["A word is wanted."], "Which?", "Yes"),
        max_assignments=count,
        lifetime_seconds=3600,
        token=f"{project.namespace}.answered.{count}",
    )
    for _ in range(count):
        market.answer(market.sign_up_worker(), made.hit_id, choice="yes")
    stage = make.stage(project, answers=count)
    hit = make.hit(make.item(stage), hit_id=made.hit_id)
    return [
        make.assignment(hit, make.worker(remote.worker_id), assignment_id=remote.assignment_id)
        for remote in gateway().assignments(made.hit_id)
    ]


def spent() -> Decimal:
    """What the marketplace has taken or holds, in dollars."""
    return Decimal("10000.00") - gateway().balance().available


def money_of(project: Project) -> tuple[Decimal, Decimal]:
    """(reserved, paid) of the account, which must be the sums of its entries."""
    account = type(project.account).objects.get(project=project)
    assert (account.reserved, account.paid) == account.sums()
    return account.reserved, account.paid
