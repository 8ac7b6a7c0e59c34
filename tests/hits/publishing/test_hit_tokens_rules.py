"""What an annotation of the marketplace says, which anybody with the account may have written."""

from __future__ import annotations

import pytest

from hits.publishing.rules import hit_tokens
from hits.publishing.rules.restorations import asked_items
from tests.hits import factories as make

MARK = hit_tokens.mark("validate", "one")


@pytest.mark.parametrize("era", ["", "r12"])
def test_a_token_is_read_as_it_was_made(era: str) -> None:
    for item, slot in ((1, 1), (hit_tokens.MOST_ITEM, hit_tokens.MOST_SLOT)):
        made = hit_tokens.token("river", item, slot, MARK, era)
        found = hit_tokens.read(hit_tokens.annotation(made, [MARK, MARK]), "river")
        assert found == hit_tokens.Named(made, item, slot, MARK, (MARK, MARK))


@pytest.mark.django_db
@pytest.mark.on_postgresql
@pytest.mark.parametrize(
    "numbers", [f"{2**63}.1", f"1.{2**15}", f"{'9' * 5000}.1", f"1.{'9' * 5000}", f"1.1r{'9' * 5000}"]
)
def test_numbers_that_no_row_can_have_are_none_of_ours(numbers: str) -> None:
    project = make.project()
    item = make.item(make.stage(project, key="validate"))
    of_item = hit_tokens.mark("validate", item.key)
    ours = hit_tokens.token(project.namespace, hit_tokens.MOST_ITEM, hit_tokens.MOST_SLOT, of_item)
    [strange, known] = asked_items(project, [f"{project.namespace}.{numbers}.{of_item}", ours])
    assert strange == (None, None) and known[1] == [item]
