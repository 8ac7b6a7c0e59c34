"""What a model elsewhere answered by id."""

import io

import pytest

from hits.formats.files.faults import FormatErrors
from hits.formats.inputs import by_id


@pytest.mark.parametrize("score", ["9" * 400, "-" + "9" * 400, "1e999", "NaN"])
def test_a_score_that_is_no_usable_number_is_a_fault_of_its_line(score):
    found = by_id.read_lines(io.BytesIO(f'{{"id": "a", "score": {score}}}\n'.encode()), "score", by_id.check_number)
    with pytest.raises(FormatErrors, match="line 1.*its score must be a finite number"):
        found.refuse("is unknown")


def test_brackets_nested_as_deep_as_can_just_be_read_are_read_or_a_fault():
    for depth in range(800, 1001):
        nested = "[" * depth + "]" * depth
        try:
            found = by_id.read_object(io.BytesIO(f'{{"a": {nested}}}'.encode()))
            assert found.take("a", "answer") is not None
        except FormatErrors:
            continue
    with pytest.raises(FormatErrors, match="nested too deep"):
        by_id.read_object(io.BytesIO(f'{{"a": {nested}}}'.encode()))
