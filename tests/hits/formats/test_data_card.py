"""What the card of a release makes of notes; how loaders read it is tested with the recipes."""

from __future__ import annotations

import pytest

from hits.formats.outputs.data_card import Card, written


@pytest.mark.parametrize(
    ("note", "line"),
    [
        (
            "`decided_by` is `people`, or the model: *see* <b>.",
            "* `decided_by` is `people`, or the model: \\*see\\* &lt;b>.",
        ),
        ("A lone ` of a text", "* A lone \\` of a text"),
        ("`id`", "* `id`"),
    ],
)
def test_names_in_a_note_are_code_and_the_rest_is_text(note: str, line: str) -> None:
    card = Card("River", "choice", "One question.", {}, {}, {}, [note], [])
    assert line in written(card).decode().splitlines()
