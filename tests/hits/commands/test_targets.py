"""Sentences and phrases that are asked about, corrected on the command line."""

from __future__ import annotations

import pytest
from django.core.management.base import CommandError

from hits.models import Item, ItemChange
from hits.protocols.phrase_questions.protocol import protocol
from tests.hits import factories as make
from tests.hits.commands.conftest import Run, logged
from tests.hits.protocols.phrases import DOCUMENT, FIRST, NP, VP

pytestmark = pytest.mark.django_db
TEXT = DOCUMENT["text"]
STORY = ("targets", "river", "np-short", "story-1")


@pytest.fixture
def np() -> Item:
    stage = make.stage(make.project(slug="river"), protocol="phrase_questions", key="np-short", title="Things")
    return make.item(stage, document=make.document(stage.project, data=DOCUMENT), data=NP, key="story-1")


@pytest.fixture(autouse=True)
def vp(np: Item) -> Item:
    stage = make.stage(np.stage.project, protocol="phrase_questions", key="vp-short", title="Happenings")
    return make.item(stage, document=np.document, data=VP, key="story-1")


def asked(item: Item) -> dict[str, list[str]]:
    """The phrases of each sentence, in words."""
    item.refresh_from_db()
    return {
        TEXT[one.start : one.end]: [TEXT[slice(*span)] for span in one.phrases] for one in protocol.marked(item.data)
    }


def test_texts_are_listed_and_one_is_shown_with_its_places(run: Run, np: Item) -> None:
    second = make.item(np.stage, document=np.document, data=NP, key="story-2")
    said = run("targets", "river", "np-short")
    assert "story-1" in said and said.count(" 2 ") == 2 and said.count("6\n") == 2
    assert "story-1" not in run("targets", "river", "np-short", "--after", "story-1")
    start = TEXT.index(FIRST)
    said = run("targets", "river", "np-short", second.key)
    assert TEXT in said and f"\n{start}-{start + len(FIRST)}  {FIRST}\n" in said and "    130-136  a bowl\n" in said
    assert not ItemChange.objects.exists()


def test_phrases_are_corrected_in_one_part_and_taken_back(run: Run, np: Item, vp: Item) -> None:
    before = asked(vp)
    said = run(*STORY, "--remove", "the flour", "--remove", "warm water", "--add-phrase", "of warm water")
    assert said.startswith("Done.\n")
    assert asked(np)[FIRST] == ["a bowl", "a bowl", "of warm water"]
    assert asked(vp) == before
    assert ItemChange.objects.get().changed_by is None
    assert run(*STORY, "--undo").startswith("Done.\n")
    np.refresh_from_db()
    assert np.data == NP
    assert logged(np.stage.project) == ["corrected a text", "took a correction back"]


def test_a_sentence_comes_and_goes_in_both_parts(run: Run, np: Item, vp: Item) -> None:
    said = run(*STORY, "--remove", FIRST, "--add-sentence", "It smelled wonderful.", "--add-phrase", "wonderful")
    assert "in the other part of this text too" in said
    assert list(asked(np)) == list(asked(vp)) and FIRST not in asked(vp)
    assert asked(np)["It smelled wonderful."] == ["wonderful"]
    assert "in the other part of this text too" in run(*STORY, "--undo")
    np.refresh_from_db()
    vp.refresh_from_db()
    assert (np.data, vp.data) == (NP, VP)


def test_words_that_stand_twice_are_named_by_their_place(run: Run, np: Item) -> None:
    places = [f"{one['start']}-{one['end']}" for one in NP["targets"][0]["phrases"][1:3]]
    with pytest.raises(CommandError, match=f"stands there 2 times: name one of {', '.join(places)}. Nothing"):
        run(*STORY, "--remove", "a bowl")
    assert np.data == NP
    run(*STORY, "--remove", places[1])
    assert asked(np)[FIRST] == ["the flour", "a bowl", "warm water"]


def test_what_is_there_already_changes_nothing(run: Run, np: Item) -> None:
    assert run(*STORY, "--add-sentence", FIRST).startswith("Nothing was different.\n")
    assert logged(np.stage.project) == []


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--remove", "the sea"), "'the sea' does not stand there. Nothing was changed"),
        (("--remove", "0-4"), "'0-4' does not stand there"),
        (("--remove", "the flour", "--add-phrase", "the village"), "'the village' does not stand there"),
        (("--remove", "the flour", "--add-phrase", "0-4"), "in no sentence that is asked about"),
        (("--remove", "the flour", "--add-phrase", "loaf into"), "have words in common"),
        (("--add-sentence", "5000-5010"), "There is no sentence from 5,000 to 5,010"),
        (("--remove", "the flour", "--undo"), "--undo goes alone"),
        (("--undo",), "No change of this text is left to undo"),
    ],
)
def test_a_refusal_changes_nothing(run: Run, np: Item, arguments: tuple[str, ...], reason: str) -> None:
    with pytest.raises(CommandError, match=reason):
        run(*STORY, *arguments)
    np.refresh_from_db()
    assert np.data == NP and logged(np.stage.project) == []


def test_what_is_published_stays(run: Run, np: Item, vp: Item) -> None:
    Item.objects.filter(pk=vp.pk).update(state=Item.State.OPEN)
    with pytest.raises(CommandError, match="“Happenings” is published"):
        run(*STORY, "--remove", FIRST)
    Item.objects.filter(pk=np.pk).update(state=Item.State.OPEN)
    with pytest.raises(CommandError, match="This text is published"):
        run(*STORY, "--remove", "the flour")
    assert "It is published, so its sentences and phrases can no longer change." in run(*STORY)
    np.refresh_from_db()
    vp.refresh_from_db()
    assert (np.data, vp.data, logged(np.stage.project)) == (NP, VP, [])


def test_a_text_and_a_stage_that_are_not_there_are_said_to_be(run: Run, np: Item) -> None:
    with pytest.raises(CommandError, match="There is no text 'story-9' in np-short"):
        run("targets", "river", "np-short", "story-9")
    with pytest.raises(CommandError, match="Say which text"):
        run("targets", "river", "np-short", "--undo")
    make.stage(np.stage.project, key="validate")
    with pytest.raises(CommandError, match="no sentences and phrases to correct"):
        run("targets", "river", "validate")
