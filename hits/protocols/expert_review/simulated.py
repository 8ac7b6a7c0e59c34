"""Reviewing a story and its questions: by the key, and by what anybody can see who looks twice.

Stories that nobody of the key tells are thrown out where the key knows their scenario; questions that are none or that
are asked twice go, and answers that are wrong or say nothing of the story are exchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from hits.crowd.answering import Answer
from hits.crowd.html import Node
from hits.crowd.key import AnswerKey, squeezed
from hits.crowd.people import Person
from hits.crowd.task_page import NotATaskError, Screen
from hits.text.language.words import content_words
from hits.text.written import alike

ANSWERS = ("correct", "incorrect")
INDISTINCT = "Its two answers cannot be told apart."


@dataclass
class Card:
    """One question as the page shows it; `offered` are other answers of the crowd by their values, `fields` what to
    send beyond what stands there.
    """

    ident: str
    answerable: bool
    texts: dict[str, str]
    offered: dict[str, dict[str, str]]
    fields: dict[str, str] = field(default_factory=dict)

    @property
    def goes(self) -> bool:
        return f"{self.ident}_delete" in self.fields

    def delete(self, reason: str, **more: str) -> None:
        self.fields = {f"{self.ident}_{name}": value for name, value in {"delete": reason, **more}.items()}

    def take(self, slot: str, value: str) -> None:
        self.texts[slot] = self.offered[slot][value]
        self.fields.pop(f"{self.ident}_{slot}", None)
        self.fields[f"{self.ident}_{slot}_from"] = value

    def write(self, slot: str, text: str) -> None:
        self.texts[slot] = text
        self.fields[f"{self.ident}_{slot}"] = text


def answer(person: Person, screen: Screen, key: AnswerKey) -> Answer | None:
    if not screen.page.all("select", id="text_delete"):
        raise NotATaskError("The page has no text to keep or to delete.")
    story = "".join(paragraph.text() for paragraph in screen.page.all("p", "data-paragraph-of"))
    item = f"review {story[:80]}"
    if not person.writes_junk and not _told(screen, story, key):
        return Answer(item, {"text_delete": "incoherent", "confirm_empty": "yes"})
    cards = [_card(part) for part in screen.page.all("fieldset", "data-question")]
    if not person.writes_junk:
        _delete(cards)
        for card in cards:
            _correct(card, story, key)
    for card in cards:
        _make_distinct(card)
    fields = {name: text for card in cards for name, text in card.fields.items()}
    if not any(card.answerable and not card.goes for card in cards):
        fields["confirm_empty"] = "yes"
    return Answer(item, fields)


def _told(screen: Screen, story: str, key: AnswerKey) -> bool:
    """Whether the story hangs together: of a scenario that the key knows, it has to be one of the key's."""
    scenario = screen.page.first("bdi", "data-scenario")
    known = key.stories(scenario.text()) if scenario else ()
    return not known or squeezed(story) in map(squeezed, known)


def _card(part: Node) -> Card:
    areas = {area.attributes["data-slot"]: area for area in part.all("textarea")}
    lists = {select.attributes["data-pick"]: select for select in part.all("select", "data-pick")}
    offered = {}
    for slot in ANSWERS:
        select = lists.get(areas[slot].attributes["name"])
        options = select.all("option") if select else []
        offered[slot] = {one.attributes["value"]: one.text().strip() for one in options if one.attributes["value"]}
    return Card(
        ident=part.attributes["data-id"],
        answerable=part.attributes["data-answerable"] == "yes",
        texts={slot: area.text().strip() for slot, area in areas.items()},
        offered=offered,
    )


def _delete(cards: Sequence[Card]) -> None:
    """What is no question, and what is asked once more."""
    asked: dict[str, Card] = {}
    for card in cards:
        if not card.texts["text"].rstrip().endswith("?"):
            card.delete("nonsensical")
            continue
        first = asked.setdefault(alike(card.texts["text"]), card)
        if first is not card:
            card.delete("duplicate", duplicate_of=first.ident)


def _correct(card: Card, story: str, key: AnswerKey) -> None:
    """Exchange what the key knows to be wrong, and what has no word of the story where the key knows nothing."""
    if card.goes:
        return
    known = key.question(story, card.texts["text"])
    if known is None or known.junk:
        here = set(content_words(story))
        _exchange(card, "correct", lambda text: bool(here & set(content_words(text))))
        return
    correct = set(map(alike, known.correct))
    _exchange(card, "correct", lambda text: alike(text) in correct, known.correct)
    _exchange(card, "incorrect", lambda text: alike(text) not in correct, known.incorrect)


def _exchange(card: Card, slot: str, fits: Callable[[str], bool], own: Sequence[str] = ()) -> None:
    """Another answer where the one that stands there does not fit: of the crowd's, or else one's own."""
    if card.texts[slot] and fits(card.texts[slot]):
        return
    value = next((value for value, text in card.offered[slot].items() if fits(text)), None)
    if value is not None:
        card.take(slot, value)
    elif own:
        card.write(slot, own[0])


def _make_distinct(card: Card) -> None:
    """Two answers that say the same, or one that is missing, no page takes: then another one, or the question goes."""
    correct, incorrect = (card.texts[slot] for slot in ANSWERS)
    if card.goes or (card.texts["text"] and correct and incorrect and alike(correct) != alike(incorrect)):
        return
    for value, text in card.offered["incorrect"].items():
        if correct and alike(text) != alike(correct):
            card.take("incorrect", value)
            return
    card.delete("other", words=INDISTINCT)
