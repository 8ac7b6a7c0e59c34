"""Simulated people at the pages that the product really renders, from the first screen to a form that is taken."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hits import protocols
from hits.crowd import answering
from hits.crowd.html import parse
from hits.crowd.key import AnswerKey, Written
from hits.crowd.people import Person
from hits.crowd.task_page import NotATaskError, read_screen
from hits.models import Suggestion
from hits.protocols import available, get
from hits.protocols.base import CrowdlessProtocol
from hits.protocols.staged_choice.simulated import NOTICES_JUNK
from tests.hits import factories
from tests.hits.crowd.pages import filled_in

STORY = (
    "The bus was late. Ilse ran the last mile with the cake on her head. Everybody at the party had cake in the end."
)
GOOD = Written(
    "Why did she run?", "causes", ("To be in time.",), ("For sport.", "To eat.", "From a bus."), kinds=("Clear",)
)
TWO = Written(
    "Was the cake eaten?", "facts", ("It was.", "By all."), ("No.", "By the bus.", "By Ilse."), {"needs_context": "no"}
)
JUNK = [
    Written(f"Bus bus {number}?", "facts", (f"Bus {number}.",), ("A bus.", "No bus.", "Two."), junk=True)
    for number in (1, 2, 3)
]
KEY = AnswerKey(written={"The bus was late.": [GOOD, TWO]}, junk=JUNK)
SURE = Person("anna", "careful", 7, 1.0, 30.0, 0.0)
Said = dict[str, str]


def question_set(question: Written) -> dict[str, Any]:
    texts = [question.incorrect[0], question.correct[-1], *question.incorrect[1:]]
    candidates = [{"id": f"c{number}", "text": text} for number, text in enumerate(texts)]
    return {
        "question": question.question,
        "candidates": candidates,
        "intended": "c1",
        "author": "",
        "set": question.question,
    }


@pytest.fixture
def do(db: None) -> Callable[..., Said]:
    """Let a person do a task of a kind; the labels that come of it, none where it is left."""

    def go(protocol: str, data: dict[str, Any], person: Person = SURE, text: str = STORY, key: AnswerKey = KEY) -> Said:
        task = get(protocol)
        stage = factories.stage(protocol=protocol, settings=task.settings({}))
        document = factories.document(stage.project, data={"text": text})
        hit = factories.hit(factories.item(stage, document=document, data=data))
        fields = filled_in(hit, "3A", "AANNA", person, key)
        if fields is None:
            return {}
        labels = task.check(document.data, data, stage.settings, fields, "AANNA").labels
        return {label.unit: label.value for label in labels}

    return go


def people(count: int, **changes: Any) -> list[Person]:
    return [replace(SURE, name=f"p{number}", **changes) for number in range(count)]


def test_every_kind_of_task_with_a_crowd_has_simulated_answers() -> None:
    asked = {name for name in available() if not isinstance(get(name), CrowdlessProtocol)}
    assert asked and asked <= set(protocols.simulated())


def test_a_careful_person_writes_what_the_key_has(do: Callable[..., Said]) -> None:
    said = do("question_writing", {})
    assert said["questions"] == 2
    assert said["question1"]["correct"] == ["To be in time."]
    assert said["question2"] == {
        "question": "Was the cake eaten?",
        "category": "facts",
        "correct": ["It was.", "By all."],
        "incorrect": ["No.", "By the bus.", "By Ilse."],
    }


def test_a_careless_one_writes_rubbish_that_the_page_takes(do: Callable[..., Said]) -> None:
    said = do("question_writing", {}, replace(SURE, kind="careless"))
    assert {said["question1"]["question"], said["question2"]["question"]} < {one.question for one in JUNK}


def test_a_careful_person_takes_every_step_to_the_intended_answer(do: Callable[..., Said]) -> None:
    said = do("staged_choice", question_set(TWO))
    assert (said["paragraph"], said["question"], said["picked"]) == ("good", "good", "c1")
    assert (said["needs_common_sense"], said["needs_context"]) == ("yes", "no")


def test_who_does_not_know_follows_a_suggestion_in_sight_as_often_as_it_is_like_them(db: None) -> None:
    """The key says “To be in time.”; a model suggests “From a bus.”"""
    task = get("multiple_choice")
    stage = factories.stage(protocol="multiple_choice", settings=task.settings({}), suggestions="shown")
    document = factories.document(stage.project, data={"text": STORY})
    texts = [*GOOD.correct, *GOOD.incorrect]
    data = {"question": GOOD.question, "choices": [{"id": f"c{at}", "text": text} for at, text in enumerate(texts)]}
    item = factories.item(stage, document=document, data=data)
    Suggestion.objects.create(item=item, field="choice", value="c3")
    hit = factories.hit(item)

    def chosen(**changes: Any) -> Counter[str]:
        said = (filled_in(hit, "3A", "AANNA", person, KEY) for person in people(40, **changes))
        return Counter(fields["choice"] for fields in said if fields)

    assert chosen(accuracy=1.0, follows=1.0) == {"c0": 40}
    assert chosen(accuracy=0.0, follows=1.0) == {"c3": 40}
    alone, half = chosen(accuracy=0.0, follows=0.0), chosen(accuracy=0.0, follows=0.5)
    assert alone["c3"] < 22 < half["c3"] < 36
    stage.suggestions = "hidden"
    stage.save()
    hit.refresh_from_db()
    assert chosen(accuracy=0.0, follows=1.0) == alone


def test_rubbish_is_told_from_a_question_at_the_second_step(do: Callable[..., Said]) -> None:
    found = Counter(do("staged_choice", question_set(JUNK[0]), person)["question"] for person in people(8))
    assert found["bad"] > 8 * NOTICES_JUNK - 3


def test_who_never_knows_picks_a_wrong_answer_and_who_does_not_look_any(do: Callable[..., Said]) -> None:
    wrong = do("staged_choice", question_set(GOOD), replace(SURE, accuracy=0.0))
    assert wrong["picked"] in ("c0", "c2", "c3")
    blind = [do("staged_choice", question_set(GOOD), person)["paragraph"] for person in people(12, kind="random")]
    assert set(blind) == {"good", "bad"}


def test_one_answer_is_chosen_also_where_none_of_the_above_is_right(do: Callable[..., Said]) -> None:
    assert do("multiple_choice", question_set(GOOD))["choice"] == "c1"
    data = question_set(GOOD)
    for text in ("None of the above", "None of the above choices ."):
        data["candidates"][1]["text"] = text
        assert do("multiple_choice", data)["choice"] == "c1"


def test_all_plausible_answers_are_ticked_or_none(do: Callable[..., Said]) -> None:
    assert [unit for unit, value in do("select_all", question_set(TWO)).items() if value == "yes"] == ["c1/selected"]
    nothing = {**question_set(TWO), "candidates": [{"id": "c0", "text": "No."}, {"id": "c1", "text": "By Ilse."}]}
    assert do("select_all", nothing)["none/selected"] == "yes"


def test_a_question_gets_the_label_that_the_key_gives_it(do: Callable[..., Said]) -> None:
    assert do("labelling", question_set(GOOD))["label"] == "clear"
    assert do("labelling", question_set(TWO)) == {}


@pytest.mark.parametrize("protocol", ["staged_choice", "multiple_choice", "select_all", "labelling"])
def test_a_question_that_the_key_does_not_hold_is_left(do: Callable[..., Said], protocol: str) -> None:
    assert do(protocol, question_set(replace(GOOD, question="Who baked it?"))) == {}


def test_a_page_of_no_known_kind_is_no_task() -> None:
    page = parse('<form method="post" action="/s" data-page="p" data-check="/c"><p>Draw a picture.</p></form>')
    with pytest.raises(NotATaskError, match="none of"):
        answering.answer(SURE, read_screen(page, "http://ours.example/"), KEY, protocols.simulated())


def test_the_same_seed_gives_the_same_answer_to_the_same_item(do: Callable[..., Said]) -> None:
    unsure = replace(SURE, accuracy=0.5)
    assert do("staged_choice", question_set(GOOD), unsure) == do("staged_choice", question_set(GOOD), unsure)


ASKED = "What is it about?"
LETTERS = [f"Letter {number} about the boat." for number in range(12)]


@pytest.mark.parametrize("protocol", ["multiple_choice", "select_all", "labelling"])
def test_who_errs_about_one_text_is_right_about_another_with_the_same_question(
    do: Callable[..., Said], protocol: str
) -> None:
    question = replace(GOOD, question=ASKED)
    key = AnswerKey(written={text: [question] for text in LETTERS})
    unsure = replace(SURE, accuracy=0.5)
    said = {str(do(protocol, question_set(question), unsure, text, key)) for text in LETTERS}
    assert len(said) > 1


def test_the_sample_key_is_read() -> None:
    key = AnswerKey.read(Path(__file__).resolve().parents[3] / "samples" / "cosmos-key.jsonl")
    assert len(key) == 48
    assert all(one.junk for one in key.junk) and len(key.junk) >= 4
