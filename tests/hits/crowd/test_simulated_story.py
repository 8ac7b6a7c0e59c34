"""Simulated people who tell stories, at the page that the product renders and at a real marketplace."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hits.crowd.browser import Allowance, Reply, UnreachableError
from hits.crowd.key import AnswerKey
from hits.crowd.people import Person, happens
from hits.crowd.worker import Tally, Worker
from hits.models import Hit, Stage
from hits.protocols import simulated
from hits.protocols.story.protocol import protocol
from hits.protocols.story.simulated import COPIES
from hits.publishing.verbs import publishing, sending
from tests.hits import factories as make
from tests.hits.crowd.pages import filled_in
from tests.hits.market import Marketplace
from tests.hits.protocols.telling import DOCUMENT, OTHER, STORY

WASHING = (
    "The cups were brown inside. I let warm water run into the bowl. Soap made it white with foam. Each cup got a turn"
    " with the brush. I rinsed them under the tap, one by one. They dried upside down on a towel."
)
KEY = AnswerKey(stories={"taking the bus  to town": [STORY, OTHER], "washing": [WASHING, "I rinse it."]})
CAREFUL = Person("anna", "careful", 7, 1.0, 30.0, 0.0)
CARELESS = [replace(CAREFUL, name=f"c{number}", kind="careless") for number in range(12)]
WorkerMaker = Callable[[Person], Worker]


def hit_of(stage: Stage, document: dict[str, Any] = DOCUMENT) -> Hit:
    return make.hit(make.item(stage, document=make.document(stage.project, data=document), data={}))


@pytest.fixture
def told(db: None) -> Callable[[Person], str]:
    """What a person's answer tells after the page has taken it."""
    stage = make.stage(protocol="story", settings=protocol.settings({}), answers=20)
    hit = hit_of(stage)

    def tell(person: Person) -> str:
        fields = filled_in(hit, f"3{person.name}", f"A{person.name}", person, KEY)
        assert fields is not None
        return str(protocol.check(DOCUMENT, {}, stage.settings, fields).labels[0].value["text"])

    return tell


def test_a_careful_person_tells_a_story_of_the_key(told: Callable[[Person], str]) -> None:
    found = {told(replace(CAREFUL, name=f"p{number}")) for number in range(8)}
    assert found == {STORY, OTHER}


def test_careless_people_send_one_and_the_same_story_or_pad_what_was_refused(told: Callable[[Person], str]) -> None:
    found = [told(person) for person in CARELESS]
    copies = [text for text in found if text == STORY]
    padded = [text for text in found if text != STORY]
    assert len(copies) > 2 and len(padded) > 2
    for text in padded:
        assert text.startswith((STORY[:60], OTHER[:60]))
        assert "I rinse it." in text and WASHING[:27] in text


def test_a_scenario_that_the_key_does_not_hold_is_left(db: None) -> None:
    hit = hit_of(make.stage(protocol="story"), {"scenario": "flying to the moon"})
    assert filled_in(hit, "3A", "AANNA", CAREFUL, KEY) is None


def test_stories_and_questions_stand_in_one_key_file(tmp_path: Path) -> None:
    file = tmp_path / "key.jsonl"
    question = {"question": "Why?", "correct": ["So."], "incorrect": ["No."]}
    rows = [
        {"scenario": "washing", "stories": ["I wash.", "I rinse."]},
        {"opening": "I wash.", "questions": [question]},
    ]
    file.write_text("\n".join(map(json.dumps, rows)))
    key = AnswerKey.read(file)
    assert key.stories("wash ing") == ("I wash.", "I rinse.")
    assert key.about("I wash. Then I go.") is not None
    assert len(key) == 3
    file.write_text(json.dumps({"scenario": "washing"}))
    with pytest.raises(ValueError, match="line 1: KeyError"):
        AnswerKey.read(file)


@pytest.fixture
def worker_at_the_page(transactional_db: None, market: Marketplace, live_server: Any, settings: Any) -> WorkerMaker:
    """A simulated worker at a marketplace with one HIT that asks for a story."""
    settings.PUBLIC_URL = live_server.url
    settings.MTURK_SUBMIT_ORIGINS = [market.url]
    market.end_open_hits()
    stage = make.stage(protocol="story", requirements=[])
    make.item(stage, document=make.document(stage.project, data=DOCUMENT), data={})
    quote = publishing.quote(stage)
    sending.send(publishing.publish(stage, quote.items, quote.total, "page-1", None).pk)
    return lambda person: Worker(
        person, market.url, KEY, Allowance(80), "simulated crowd of a sandbox", simulated(), time_scale=0.0
    )


def test_somebody_whose_story_the_page_sends_back_changes_it_and_is_done(
    market: Marketplace, worker_at_the_page: WorkerMaker
) -> None:
    person = next(one for one in CARELESS if not happens(one, "tell taking the bus to town", "copy", COPIES))
    worker = worker_at_the_page(person)
    for _ in range(6):
        worker.step()
        if worker.tally.answers:
            break
    assert (worker.tally.answers, worker.tally.sent_back) == (1, 1)
    assert market.hit(Hit.objects.get().hit_id)["status"] == "Reviewable"


def test_an_answer_that_was_kept_before_counts_as_given_and_another_one_as_lost(
    worker_at_the_page: WorkerMaker,
) -> None:
    worker = worker_at_the_page(CAREFUL)
    while worker._in_hand is None:
        worker.step()
    held = worker._in_hand
    other = next(story for story in (STORY, OTHER) if story not in held.answer.fields.values())
    name = next(name for name, value in held.answer.fields.items() if value in (STORY, OTHER))
    told = replace(held, answer=replace(held.answer, fields={**held.answer.fields, name: other}))
    for sent, counted in ((held, Tally(answers=1)), (held, Tally(answers=1)), (told, Tally(lost=1))):
        worker.tally, worker._in_hand = Tally(), sent
        worker.step()
        assert worker.tally == counted


@pytest.mark.parametrize("lost", ["the task page", "the answer"])
def test_a_hit_whose_reply_was_lost_is_taken_up_again(
    worker_at_the_page: WorkerMaker, monkeypatch: pytest.MonkeyPatch, lost: str
) -> None:
    worker = worker_at_the_page(CAREFUL)
    name = "get" if lost == "the task page" else "post"
    asks = getattr(worker._frame, name)

    def silent(*_: Any, **__: Any) -> Reply:
        monkeypatch.setattr(worker._frame, name, asks)
        raise UnreachableError("timed out")

    monkeypatch.setattr(worker._frame, name, silent)
    for _ in range(10):
        worker.step()
    assert worker.tally == Tally(answers=1)
