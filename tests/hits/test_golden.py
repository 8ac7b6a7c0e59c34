"""Addresses, the API's description and the activity's sentences change on purpose only."""

from tests import golden


def test_what_others_build_on_is_as_written_down() -> None:
    """A wanted change: run `python -m tests.golden` and read the diff."""
    assert golden.differences(golden.of_requester()) == []
