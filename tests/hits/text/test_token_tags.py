"""Spans become tags of tokens, and tags the same spans again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as some

from hits.text.language.token_tags import flat, tagged, tokens, untagged

TEXT = "Mara, of Port Linden: 東京 (1850)."
PLACES = tokens(TEXT)


def test_tags_are_those_of_the_tokens_that_a_span_covers_in_whole_or_in_part() -> None:
    spans = [(0, 4, "person"), (10, 20, "place")]
    assert [tag for tag in tagged(PLACES, spans) if tag != "O"] == ["B-person", "B-place", "I-place"]
    assert untagged(PLACES, tagged(PLACES, spans)) == ((0, 4, "person"), (9, 20, "place"))


def test_a_tag_that_cannot_go_on_begins_a_span() -> None:
    places = [(0, 1), (2, 3), (4, 5), (6, 7)]
    assert untagged(places, ["I-x", "I-x", "I-y", "B-y"]) == ((0, 3, "x"), (4, 5, "y"), (6, 7, "y"))
    assert untagged(places, ["B-x", "O", "I-x", "O"]) == ((0, 1, "x"), (4, 5, "x"))
    assert untagged(places, ["O", "I-", "I-", "O"]) == ((2, 5, ""),)
    assert untagged([], []) == ()


@given(some.lists(some.tuples(*[some.integers(0, len(PLACES) - 1)] * 2, some.sampled_from(["x", "y", ""])), max_size=6))
def test_spans_of_whole_tokens_come_back(chosen: list[tuple[int, int, str]]) -> None:
    whole = [(PLACES[min(one, other)][0], PLACES[max(one, other)][1], label) for one, other, label in chosen]
    spans = flat(whole)
    assert untagged(PLACES, tagged(PLACES, spans)) == tuple(spans)
    assert all(any(span[0] < kept[1] and kept[0] < span[1] for kept in spans) for span in whole)
