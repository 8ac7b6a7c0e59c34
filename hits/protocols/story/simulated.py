"""Telling a story: one of the key's, or what careless people send: somebody else's, or too little and then padding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from hits.crowd.answering import Answer
from hits.crowd.key import AnswerKey
from hits.crowd.people import Person, happens, one_of
from hits.crowd.task_page import Screen
from hits.text.language.sentences import sentences
from hits.text.language.words import words

FIELD = "story"
COPIES = 0.5  # of the careless ones; the others pad
BEGUN = 2  # sentences, when somebody hopes that they will do


def answer(person: Person, screen: Screen, key: AnswerKey) -> Answer | None:
    field = screen.node("textarea", name=FIELD).attributes["name"]
    count = screen.node("p", "data-count").attributes
    scenario = screen.node("strong", "data-scenario").text()
    stories = key.stories(scenario)
    if not stories:
        return None
    item = f"tell {' '.join(scenario.split())}"
    if not person.writes_junk:
        return Answer(item, {field: one_of(stories, person, item, "story")})
    if happens(person, item, "copy", COPIES):
        return Answer(item, {field: stories[0]})  # what every copier finds first
    story = one_of(stories, person, item, "begin")
    begun = _sentences(story)[:BEGUN]
    padding = [*key.other_stories(scenario), *(other for other in stories if other != story)]
    # The first sentence of every story, then the second of every one: nothing that hangs together.
    spread = (sentence for nth in zip_longest(*map(_sentences, padding)) for sentence in nth if sentence is not None)
    padded = _padded(begun, spread, int(count["data-shortest"]))
    return Answer(item, {field: padded}, tries=({field: " ".join(begun)},))


def _sentences(story: str) -> list[str]:
    return [sentence.text for sentence in sentences(story)]


def _padded(begun: Sequence[str], padding: Iterator[str], shortest: int) -> str:
    """As many sentences more as there have to be."""
    told = list(begun)
    for sentence in padding:
        if len(words(" ".join(told))) >= shortest:
            break
        told.append(sentence)
    return " ".join(told)
