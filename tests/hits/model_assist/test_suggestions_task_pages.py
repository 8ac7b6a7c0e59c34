"""What a worker sees of a suggestion: the same after a reload, in the language of the page, by a screen reader and on a
narrow screen.
"""

from __future__ import annotations

from typing import Any

import pytest

from hits import protocols
from hits.model_assist.rules import suggestions
from hits.models import Hit, Stage, Suggestion
from tests.hits import factories as make

FORM = {
    "show": [{"kind": "text", "text": "{text}"}],
    "ask": [
        {"kind": "one", "key": "mood", "question": "How?", "choices": ["Glad", "Sad"], "help": "As a whole."},
        {"kind": "number", "key": "people", "question": "How many?"},
    ],
}


@pytest.fixture
def hit(db: None) -> Hit:
    stage = make.stage(protocol="form", settings=protocols.get("form").settings({"form": FORM}), suggestions="half")
    document = make.document(stage.project, data={"columns": {"text": "Rain fell on the quay."}})
    item = make.item(stage, key="rain", document=document, data={})
    Suggestion.objects.create(item=item, field="mood", value="sad", score=0.5, model="moods-1")
    Suggestion.objects.create(item=item, field="people", value=3)
    return make.hit(item, max_assignments=9)


def workers(stage: Stage) -> tuple[str, str]:
    """One who sees suggestions for the item, and one who does not."""
    names = [f"AWORKER{number}" for number in range(100)]
    arms = {suggestions.is_shown(stage, "rain", name): name for name in names}
    return arms[True], arms[False]


def test_each_sees_the_same_after_a_reload(hit: Hit, open_task: Any) -> None:
    sees, does_not = workers(hit.stage)
    for _ in range(3):
        assert "A model suggests" in open_task(hit, workerId=sees).content.decode()
        assert "A model suggests" not in open_task(hit, workerId=does_not).content.decode()
    page = open_task(hit, workerId=sees).content.decode()
    assert "Sad" in page and "moods-1" not in page
    assert 'aria-describedby="help-mood suggestion-mood"' in page
    assert 'aria-describedby="suggestion-people"' in page
    assert " checked" not in page and 'value="3"' not in page


def test_a_preview_shows_none_where_half_of_the_answers_is_given_without(hit: Hit, open_task: Any) -> None:
    assert "A model suggests" not in open_task(hit, assignmentId="ASSIGNMENT_ID_NOT_AVAILABLE").content.decode()
    Stage.objects.update(suggestions="shown")
    assert "A model suggests" in open_task(hit, assignmentId="ASSIGNMENT_ID_NOT_AVAILABLE").content.decode()


@pytest.mark.parametrize(
    "language, said",
    [("de", "Ein Modell schlägt vor:"), ("es", "Un modelo sugiere:")],
)
def test_it_is_said_in_the_language_of_the_page(hit: Hit, open_task: Any, language: str, said: str) -> None:
    Stage.objects.update(page_language=language)
    hit.refresh_from_db()
    page = open_task(hit, workerId=workers(hit.stage)[0]).content.decode()
    assert said in page and "A model suggests" not in page


def test_what_a_model_says_never_becomes_markup(hit: Hit, open_task: Any) -> None:
    form = {"ask": [{"kind": "short_text", "key": "name", "question": "Who?"}]}
    Stage.objects.update(settings=protocols.get("form").settings({"form": form}), suggestions="shown")
    Suggestion.objects.create(item=hit.item, field="name", value={"text": "<script>alert(1)</script>"})
    page = open_task(hit).content.decode()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page and "<script>alert" not in page
