"""What the demonstration recounts of the marketplace's money."""

from __future__ import annotations

from typing import Any, cast

from tests.demo.checks import Evidence, cents_moved


class Tables:
    """Two HITs with five places at 5 cents: one was answered by all, one closed after four."""

    hits = [{"id": 1, "places": 5, "completed": 5}, {"id": 2, "places": 5, "completed": 4}]

    def __init__(self, *more: tuple[str, int, int]) -> None:
        charges = [("charge", 5, hit) for hit, times in ((1, 5), (2, 4)) for _ in range(times)]
        self.rows = [("hold", 25, 1), ("hold", 25, 2), ("hold", 99, 3), *charges, *more]

    def theirs(self, sql: str) -> list[dict[str, Any]]:
        return [{"kind": kind, "amount": amount, "hit": hit} for kind, amount, hit in self.rows]


def moved(*more: tuple[str, int, int]) -> list[dict[str, int]]:
    return [dict(each) for each in cents_moved(cast(Evidence, Tables(*more)))]


def test_places_of_a_closed_hit_that_nobody_took_stay_on_hold_until_it_is_deleted() -> None:
    assert moved() == [{"hold": 25, "charge": 25, "empty": 0}, {"hold": 25, "charge": 20, "empty": 5}]
    assert moved(("release", 5, 2))[1] == {"hold": 25, "charge": 20, "release": 5, "empty": 0}


def test_a_charge_too_many_leaves_a_difference() -> None:
    (_, hit) = moved(("charge", 5, 2))
    assert hit["hold"] != hit["charge"] + hit["empty"]
