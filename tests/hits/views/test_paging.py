from __future__ import annotations

import pytest

from hits.models import Item
from hits.views import paging
from tests.hits import factories as make

pytestmark = pytest.mark.django_db


def _walk(newest_first: bool) -> list[list[int]]:
    pages, query = [], {}
    while True:
        page = paging.by_id(Item.objects.all(), query, newest_first=newest_first)
        pages.append([row.pk for row in page.rows])
        if page.after is None:
            return pages
        query = {"after": page.after}


@pytest.mark.parametrize("newest_first", [False, True])
def test_walking_forward_gives_every_row_once_in_order(newest_first: bool) -> None:
    rows = make.items(make.stage(), 120)
    wanted = sorted((row.pk for row in rows), reverse=newest_first)
    pages = _walk(newest_first)
    assert [len(page) for page in pages] == [50, 50, 20]
    assert [pk for page in pages for pk in page] == wanted


@pytest.mark.parametrize("newest_first", [False, True])
def test_going_back_gives_the_page_before(newest_first: bool) -> None:
    make.items(make.stage(), 120)
    first, second, third = _walk(newest_first)
    page = paging.by_id(Item.objects.all(), {"before": str(third[0])}, newest_first=newest_first)
    assert [row.pk for row in page.rows] == second
    assert page.before == str(second[0])
    first_again = paging.by_id(Item.objects.all(), {"before": str(second[0])}, newest_first=newest_first)
    assert [row.pk for row in first_again.rows] == first
    assert first_again.before is None


@pytest.mark.parametrize("nonsense", ["", "x", "-3", "٣", "9" * 40])
def test_an_unreadable_place_is_the_first_page(nonsense: str) -> None:
    rows = make.items(make.stage(), 3)
    page = paging.by_id(Item.objects.all(), {"after": nonsense})
    assert [row.pk for row in page.rows] == [row.pk for row in rows]
    assert (page.before, page.after) == (None, None)
