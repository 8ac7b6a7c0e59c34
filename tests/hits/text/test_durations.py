from __future__ import annotations

import pytest

from hits.text.language.durations import longest_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("Click the name. About 40 seconds.", 40),
        ("It takes about 2 minutes.", 120),
        ("About three minutes.", 180),
        ("Less than a minute.", 60),
        ("2-3 minutes", 180),
        ("2 to 3 min.", 180),
        ("Half a minute, no more", 30),
        ("1.5 hours", 5400),
        ("A 10-minute task", 600),
        ("Spend at least 30 seconds reading. About 2 minutes in all.", 120),
        ("90s", 90),
        ("Read five texts of 300 words for $2.", None),
        ("The first second reader", None),
        ("Kept for 30 days", None),
        ("0 seconds", None),
        ("A story of 99999 hours", None),
        ("", None),
    ],
)
def test_the_longest_time_that_a_text_names_is_found(text: str, seconds: int | None) -> None:
    assert longest_duration(text) == seconds


def test_a_long_text_is_read_in_time_that_grows_with_its_length() -> None:
    assert longest_duration("a " * 100_000 + "1" * 100_000) is None
