"""Addresses, the API's description and the activity's sentences change on purpose only."""

from tests import golden


def test_what_others_build_on_is_as_written_down() -> None:
    """A wanted change: run `python -m tests.golden` and read the diff."""
    assert golden.differences(golden.of_requester()) == []


def test_the_tables_of_declared_verbs_and_of_roles_are_as_declared() -> None:
    for name, text in golden.documents().items():
        assert (golden.ROOT / "docs" / name).read_text() == text, f"docs/{name}: run `python -m tests.golden`"
