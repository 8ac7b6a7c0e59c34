"""What simulated people decide, and that only the seed decides it."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

import pytest

from hits.crowd.key import Truth
from hits.crowd.people import Person, draw, gather, gives_back
from hits.protocols.clickable_entity.simulated import Choice, choose

CHOICES = [
    Choice("0-4", "Brael", "0"),
    Choice("10-14", "Odesk", "1"),
    Choice("20-24", "Brael", "0"),
    Choice("30-33", "Mira", "2"),
    Choice("40-43", "Lund", "3"),
]
TRUTH = Truth("q-1", frozenset({"0-4", "20-24"}), frozenset({"Brael"}))
ITEMS = [f"item-{number}" for number in range(4000)]
HONEST = Person("anna", "careful", 7, 0.85, 30.0, 0.05)
SPAMMER = replace(HONEST, name="rob", kind="spammer")


def share(hits: int, wanted: float, tries: int) -> bool:
    """Whether the count lies within four standard errors of what was wanted."""
    return abs(hits / tries - wanted) < 4 * sqrt(wanted * (1 - wanted) / tries)


def is_right(choice: Choice) -> bool:
    return choice.value in TRUTH.spans


def test_a_worker_is_right_as_often_as_its_accuracy_says() -> None:
    right = sum(is_right(choose(HONEST, item, CHOICES, TRUTH)) for item in ITEMS)
    assert share(right, 0.85, len(ITEMS))


def test_a_wrong_answer_is_never_another_mention_of_the_right_one() -> None:
    dunce = replace(HONEST, accuracy=0.0)
    chosen = {choose(dunce, item, CHOICES, TRUTH).group for item in ITEMS}
    assert chosen == {"1", "2", "3"}


def test_a_spammer_picks_every_name_equally_often_however_often_it_is_mentioned() -> None:
    right = sum(is_right(choose(SPAMMER, item, CHOICES, TRUTH)) for item in ITEMS)
    assert share(right, 1 / 4, len(ITEMS))


def test_the_order_of_the_items_changes_nothing() -> None:
    forwards = {item: choose(HONEST, item, CHOICES, TRUTH) for item in ITEMS}
    backwards = {item: choose(HONEST, item, CHOICES, TRUTH) for item in reversed(ITEMS)}
    assert forwards == backwards


def test_another_seed_gives_other_answers() -> None:
    other = replace(HONEST, seed=8)
    same = sum(choose(HONEST, item, CHOICES, TRUTH) == choose(other, item, CHOICES, TRUTH) for item in ITEMS)
    assert same < 0.9 * len(ITEMS)


def test_an_answer_that_cannot_be_clicked_at_its_place_is_known_by_its_name() -> None:
    sure = replace(HONEST, accuracy=1.0)
    elsewhere = Truth("q-1", frozenset({"90-94"}), frozenset({"Brael"}))
    assert choose(sure, "q-1", CHOICES, elsewhere).text == "Brael"


def test_hits_are_returned_as_often_as_asked_and_never_by_a_spammer_of_the_crowd() -> None:
    assert share(sum(gives_back(HONEST, item) for item in ITEMS), 0.05, len(ITEMS))
    spammer, *_ = gather(7, 3, 1, 0.85, 0.5)
    assert not any(gives_back(spammer, item) for item in ITEMS)


def test_draws_spread_evenly() -> None:
    below = sum(draw(1, item) < 0.3 for item in ITEMS)
    assert share(below, 0.3, len(ITEMS))


def test_a_crowd_has_its_spammers_first_and_they_are_fast() -> None:
    people = gather(7, 12, 2, 0.85, 0.05)
    assert [person.kind for person in people] == ["spammer"] * 2 + ["careful"] * 10
    assert max(person.seconds for person in people[:2]) < min(person.seconds for person in people[2:])
    assert all(0.8 <= person.accuracy <= 0.9 for person in people)
    assert len({person.name for person in people}) == 12


def test_a_crowd_has_as_many_of_each_kind_as_asked() -> None:
    people = gather(7, 6, 1, 0.85, 0.05, careless=2, blind=1)
    assert [person.kind for person in people] == ["spammer", "careless", "careless", "random", "careful", "careful"]
    assert [person.writes_junk for person in people] == [True, True, True, False, False, False]
    assert [person.chooses_blindly for person in people] == [True, False, False, True, False, False]


def test_nobody_is_more_than_always_right() -> None:
    assert all(person.accuracy <= 1 for person in gather(7, 50, 0, 1.0, 0.0))


def test_it_refuses_more_careless_people_than_there_are() -> None:
    with pytest.raises(ValueError, match="1 spammers, 1 careless and 1 blind ones among 2 workers"):
        gather(7, 2, 1, 0.85, 0.05, careless=1, blind=1)


@pytest.mark.parametrize(
    ("workers", "spammers", "accuracy", "returns"), [(0, 0, 0.8, 0), (2, 3, 0.8, 0), (2, 0, 1.2, 0), (2, 0, 0.8, -1)]
)
def test_it_refuses_impossible_crowds(workers: int, spammers: int, accuracy: float, returns: float) -> None:
    with pytest.raises(ValueError, match="spammers|share"):
        gather(7, workers, spammers, accuracy, returns)
