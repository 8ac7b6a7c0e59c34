"""Who of a crowd is blocked, after how many answers and at what cost: with check questions and without.

`python -m tests.benchmarks.judged_crowd`. Twenty workers: fifteen who look at nine items of ten, two who look at a
third of them, three who choose by chance. Every step is a real verb on PostgreSQL, the marketplace is one in
memory.
CROWD_ITEMS changes how many items there are, TEST_DATABASE_URL names the PostgreSQL server.
"""

from __future__ import annotations

import logging
import os
import sys

from tests.benchmarks.databases import own_database

ITEMS = int(os.environ.get("CROWD_ITEMS", "240"))


def main() -> int:
    with own_database("bench_crowd"):
        return run()


def run() -> int:
    from django.contrib.auth import get_user_model

    from hits.publishing.rules import marketplace_account
    from tests.hits.jobs import jobs_run_here
    from tests.hits.stand_in import StandIn
    from tests.hits.workers import judged_crowd

    logging.disable(logging.WARNING)
    lead = get_user_model().objects.create_user("bench")
    setups = [judged_crowd.NOBODY_BLOCKED, judged_crowd.WITH_GOLD, judged_crowd.WITHOUT_GOLD]
    market = StandIn()
    marketplace_account.Gateway = lambda *_, **__: market  # type: ignore[assignment,misc]
    marketplace_account.gateway.cache_clear()
    with jobs_run_here():
        outcomes = [judged_crowd.simulate(market, setup, lead, ITEMS) for setup in setups]
    print(judged_crowd.table(outcomes))
    judged = outcomes[1:]
    fine = all(len(one.blocked_of("spammer")) == 3 and not one.blocked_of("honest") for one in judged)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
