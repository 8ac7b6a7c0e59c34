"""Texts as they are kept, in lines."""

from hypothesis import given
from hypothesis import strategies as some

from hits.text.written import kept, kept_lines


def test_lines_and_paragraphs_stay_and_what_nobody_sees_goes():
    text = "\r\n\u200b\n First\tI woke\x07 up.  \r\rThen\u2028I ate.\n\n\u3164\n\x00\n\nThe end.\n \n"
    assert kept_lines(text) == "First I woke up.\n\nThen\nI ate.\n\nThe end."


@given(some.text(max_size=60))
def test_what_is_kept_is_kept_as_it_is(text):
    once = kept_lines(text)
    assert kept_lines(once) == once
    assert bool(once) == bool(kept(text))
