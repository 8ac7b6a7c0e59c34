"""Simulated people with a HIT about several items, at the page that the product really renders."""

from __future__ import annotations

import pytest

from hits.crowd.key import AnswerKey
from hits.crowd.people import Person
from hits.protocols.form.protocol import protocol
from tests.hits import factories as make
from tests.hits.crowd.pages import filled_in

FORM = {
    "show": [{"kind": "text", "text": "{text}"}],
    "ask": [{"kind": "one", "key": "mood", "question": "How does it sound?", "choices": ["Glad", "Sad"]}],
}


@pytest.mark.django_db
def test_a_person_answers_each_item_and_sends_them_together() -> None:
    stage = make.stage(protocol="form", settings=protocol.settings({"form": FORM}))
    items = [
        make.item(stage, document=make.document(stage.project, data={"columns": {"text": text}}), data={})
        for text in ("One.", "Two.", "Three.")
    ]
    hit = make.hit_about(items)
    fields = filled_in(hit, "3A", "ANNA", Person("anna", "careful", 7, 1.0, 30.0, 0.0), AnswerKey())
    assert fields is not None
    assert {fields[name] for name in ("item1:mood", "item2:mood", "mood")} <= {"glad", "sad"}
    assert (fields["item_number"], "page" in fields) == ("3", False)
