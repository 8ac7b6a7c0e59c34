from __future__ import annotations

from hits.text.language.amounts import amount, amount_is


def test_one_is_said_in_the_singular() -> None:
    assert [amount(number, "worker") for number in (0, 1, 2000)] == ["0 workers", "1 worker", "2,000 workers"]
    assert [amount_is(number, "message") for number in (1, 2)] == ["1 message is", "2 messages are"]
    assert [amount_is(number) for number in (1, 0)] == ["1 is", "0 are"]
