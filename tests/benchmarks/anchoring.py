"""How often the report on suggestions finds what simulated workers did: `python -m tests.benchmarks.anchoring`.

Thirty workers who follow a suggestion in 30 % of their doubts, and thirty who never do, each in ROUNDS projects of 200
items with nine answers. Every step is a real verb on PostgreSQL, the marketplace is one in memory.
ROUNDS changes how many projects there are, TEST_DATABASE_URL names the PostgreSQL server.
"""

from __future__ import annotations

import logging
import os
import sys

from tests.benchmarks.databases import own_database

ROUNDS = int(os.environ.get("ROUNDS", "10"))
FOLLOWS = (0.3, 0.0)


def main() -> int:
    with own_database("bench_anchoring"):
        return run()


def run() -> int:
    from django.contrib.auth import get_user_model

    from hits.publishing.rules import marketplace_account
    from tests.hits.jobs import jobs_run_here
    from tests.hits.model_assist.anchored_crowd import Outcome, Setup, simulate, table
    from tests.hits.stand_in import StandIn

    logging.disable(logging.WARNING)
    lead = get_user_model().objects.create_user("bench")
    market = StandIn()
    marketplace_account.Gateway = lambda *_, **__: market  # type: ignore[assignment,misc]
    marketplace_account.gateway.cache_clear()
    setups = [Setup(follows, seed=100 + number) for follows in FOLLOWS for number in range(ROUNDS)]
    outcomes: list[tuple[Setup, Outcome]] = []
    with jobs_run_here():
        for setup in setups:
            outcomes.append((setup, simulate(market, setup, lead)))
    print(table(outcomes))
    for follows in FOLLOWS:
        rights = [
            line.found
            for setup, outcome in outcomes
            for line in outcome.found.fields[0].lines
            if setup.follows == follows and line.kind == "right"
        ]
        has = sum(bool(one.followed_interval and one.followed_interval.has(follows)) for one in rights)
        claimed = sum(one.is_followed for one in rights)
        print(
            f"{follows:.0%} of doubts: the interval of right suggestions has it in {has} of {len(rights)} projects; "
            f"that workers follow is claimed in {claimed}."
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
