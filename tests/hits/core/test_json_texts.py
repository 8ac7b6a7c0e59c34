"""Columns of JSON, read as texts and decoded together, say the same as read one by one."""

from __future__ import annotations

import pytest

from hits.core.reading import decoded, text_of
from hits.models import Item
from tests.hits import factories as make

VALUES = [{"b": 1, "a": [1.5, None, True]}, {}, {"text": 'a "quote", a line\n, \u05e9 and \U0001f600'}, {"n": 2**70}]


@pytest.mark.django_db
def test_many_values_decoded_together_are_what_each_row_holds() -> None:
    stage = make.stage(make.project())
    pks = [make.item(stage, data=value).pk for value in VALUES]
    texts = Item.objects.filter(pk__in=pks).order_by("pk").values_list(text_of("data"), flat=True)
    assert decoded(texts) == VALUES == [Item.objects.get(pk=pk).data for pk in pks]


def test_what_is_not_there_is_none_and_nothing_gives_nothing() -> None:
    assert decoded([None, '"a"', "null"]) == [None, "a", None] and decoded([]) == []
