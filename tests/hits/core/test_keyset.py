from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.db.models import Q, QuerySet

from hits.core import keyset
from hits.core.keyset import Order, Page, Search
from hits.items.rules import item_lists
from hits.items.rules.item_lists import ItemFilter
from hits.judging.rules import stage_statistics
from hits.models import Item, Stage
from tests.hits import factories as make

pytestmark = [pytest.mark.django_db, pytest.mark.on_postgresql]
BY_DISAGREEMENT = Order("disagreement", read=keyset.share)


@pytest.fixture
def stage() -> Stage:
    return make.stage()


def _disputed(stage: Stage, count: int) -> QuerySet[Item]:
    """Items with three different figures, so that many rows have the same one."""
    rows = make.items(stage, count)
    for number, row in enumerate(rows):
        row.disagreement = number % 3 / 3
        row.state = Item.State.KEPT if number % 10 == 0 else Item.State.OPEN
    Item.objects.bulk_update(rows, ["disagreement", "state"])
    return stage.items.filter(disagreement__isnull=False)


def _walk(rows: QuerySet[Item], order: Order, **wanted: Any) -> list[Page[Item]]:
    pages = [keyset.page(rows, order, size=7, **wanted)]
    while pages[-1].after:
        pages.append(keyset.page(rows, order, size=7, after=pages[-1].after, **wanted))
    return pages


def _ids(pages: list[Page[Item]]) -> list[int]:
    return [row.pk for page in pages for row in page.rows]


@pytest.mark.parametrize("order", [BY_DISAGREEMENT, BY_DISAGREEMENT.turned()])
def test_rows_with_the_same_figure_come_once_each_in_order(stage: Stage, order: Order) -> None:
    rows = _disputed(stage, 30)
    assert _ids(_walk(rows, order)) == list(order.sorted(rows).values_list("pk", flat=True))


@pytest.mark.parametrize("order", [Order(), BY_DISAGREEMENT.turned()])
def test_going_back_gives_the_page_before(stage: Stage, order: Order) -> None:
    first, second, third, *_ = _walk(rows := _disputed(stage, 30), order)
    back = keyset.page(rows, order, size=7, before=third.before)
    assert ([row.pk for row in back.rows], back.before, back.after) == (_ids([second]), second.before, second.after)
    assert keyset.page(rows, order, size=7, before=second.before).before is None


@pytest.mark.parametrize("order", [Order(), BY_DISAGREEMENT.turned()])
def test_what_no_index_gives_is_looked_for_a_window_at_a_time(
    stage: Stage, order: Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, kept = _disputed(stage, 60), Q(state=Item.State.KEPT)
    monkeypatch.setattr(keyset, "WINDOW", 20)
    pages = _walk(rows, order, narrow=kept)
    assert [page.looked for page in pages] == [20, 20, None]
    assert _ids(pages) == list(order.sorted(rows.filter(kept)).values_list("pk", flat=True))


def test_a_search_stops_after_so_many_characters_and_goes_on_behind_them(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = make.items(stage, 12)
    monkeypatch.setattr(keyset, "MOST_CHARACTERS", len(rows[0].key) * 4)
    last = Search(("key",), lambda texts: texts[0] == rows[-1].key)
    pages = _walk(stage.items.all(), Order(), search=last)
    assert [page.looked for page in pages] == [5, 5, None]
    assert _ids(pages) == [rows[-1].pk]


@pytest.mark.parametrize("nonsense", ["", "x", "-3", "٣", "9" * 40, "nan_3", "inf_3", "1_", "_3", "one_3"])
def test_an_unreadable_place_is_the_first_page(stage: Stage, nonsense: str) -> None:
    rows = _disputed(stage, 3)
    assert _ids([keyset.page(rows, BY_DISAGREEMENT, after=nonsense)]) == _ids([keyset.page(rows, BY_DISAGREEMENT)])


def test_each_part_of_a_list_is_a_range_of_an_index(stage: Stage) -> None:
    rows = _disputed(stage, 9)
    start, end = keyset.Place(0.1, 5), keyset.Place(0.5, 7)
    plans = [BY_DISAGREEMENT.sorted(rows.filter(part)).explain() for part in BY_DISAGREEMENT.between(start, end)]
    ranges = ("disagreement=? AND id>?", "disagreement>? AND disagreement<?", "disagreement=? AND id<?")
    if connection.vendor == "sqlite":
        assert [part in plan for part, plan in zip(ranges, plans, strict=True)] == [True] * 3, plans
        assert "TEMP B-TREE" not in "".join(plans)


@pytest.mark.parametrize("sort", item_lists.SORTS)
def test_every_order_has_its_index(stage: Stage, sort: str) -> None:
    make.computation_run(stage.project, key=stage_statistics.key_of(stage))
    rows, *_ = item_lists._rows(stage, ItemFilter(sort=sort))
    if connection.vendor == "sqlite":
        assert "TEMP B-TREE" not in ItemFilter(sort=sort).order.sorted(rows).explain()
