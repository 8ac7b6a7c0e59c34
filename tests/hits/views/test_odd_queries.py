"""Lists with what no link of theirs asks for: the stricter database is asked, where there is one."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from django.test import Client

from tests.hits.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.on_postgresql]
ODD = [
    "%",
    "_",
    "\\",
    "'",
    '"',
    "(a+)+$",
    "[",
    "\u202e",
    "\ufeff",
    "\U0001f6f3",
    "e\u0301",
    "\ud7ff",
    "İ",
    "ß" * 100,
    "🛳" * 4000,
]
CURSORS = [
    "0001-01-01T00:00:00+14:00_5", "9999-12-31T23:59:59-14:00_5", "2026-01-01_5", "2026-01-01T00:00:00_5", "1e400_5",
    "-1e308_5", "nan_5", "5", "0.5_9223372036854775808", "0.5_9223372036854775807", "x" * 5000, "_", "0_0", "٣_٣",
]  # fmt: skip
# A list with one order of each kind of value; the last is of the other list.
ORDERS = {"items": ("id", "disagreement", "-confidence", "changed", "-submitted"), "answers": ("-submitted", "seconds")}


def test_a_place_of_another_list_or_of_none_breaks_nothing(world: World, lead_client: Client) -> None:
    for name, sorts in ORDERS.items():
        for query in [{"sort": sort, "after": cursor} for sort in sorts for cursor in CURSORS]:
            assert lead_client.get(world.url(name), query).status_code == 200, (name, query)
        # They are read by the same lines.
        for cursor in CURSORS[::4]:
            query = {"sort": sorts[-2], "before": cursor}
            assert lead_client.get(world.url(name), query).status_code == 200, (name, query)
            query = {"sort": sorts[-2], "after": cursor}
            assert lead_client.get(world.url(f"{name}-csv"), query).status_code == 200, (name, query)


@pytest.mark.parametrize("name", ["items", "answers", "items-csv", "answers-csv"])
def test_whatever_is_sought_is_sought_as_it_is(world: World, lead_client: Client, name: str) -> None:
    for words in ODD:
        reply = lead_client.get(
            f"{world.url(name)}?find={quote(words)}&worker={quote(words)}&conclusion={quote(words)}"
        )
        assert reply.status_code == 200
        b"".join(reply.streaming_content) if reply.streaming else reply.content
    assert lead_client.get(f"{world.url(name)}?find=%00").status_code == 400
    assert lead_client.get(f"{world.url(name)}?find=%ED%A0%80").status_code in (200, 400)
