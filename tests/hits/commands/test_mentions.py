"""Mentions of an article, corrected on the command line."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.management.base import CommandError

from hits.models import Item, ItemChange
from tests.hits import factories as make
from tests.hits.commands.conftest import Run, logged
from tests.hits.protocols.articles import DOCUMENT, ITEM, TEXT

pytestmark = pytest.mark.django_db
OTTERS = ("mentions", "river", "otters")


@pytest.fixture(autouse=True)
def article() -> Item:
    project = make.project(slug="river")
    stage = make.stage(project, key="generate", protocol="passage_queries", crowd=False, rule={})
    return make.item(stage, document=make.document(project, data=DOCUMENT), data=ITEM, figures={}, key="otters")


def mentions(article: Item, sentence: int | None = None) -> list[tuple[str, str, Any]]:
    article.refresh_from_db()
    own = article.data if sentence is None else article.data["sentences"][sentence]
    return [(own["text"][one["start"] : one["end"]], one["type"], one["entity"]) for one in own["mentions"]]


def test_mentions_are_listed_with_their_places(run: Run, article: Item) -> None:
    lines = [line.split() for line in run(*OTTERS).splitlines()]
    assert ["passage", "0-11", "PERSON", "e0", "Ruth", "Pascoe"] in lines
    assert ["s1", "3-9", "GPE", "none", "London"] in lines
    assert TEXT in run(*OTTERS) and not ItemChange.objects.exists()


def test_a_mention_is_added_changed_and_removed(run: Run, article: Item) -> None:
    run(*OTTERS, "--add", "Otters", "--type", "ORG")
    assert ("Otters", "ORG", 2) in mentions(article)
    run(*OTTERS, "--in", "s0", "--add", "the animal", "--type", "ORG", "--entity", "e2")
    assert mentions(article, 0) == [("Plymouth", "GPE", 1), ("the animal", "ORG", 2)]
    run(*OTTERS, "--in", "s1", "--change", "London", "--to", "In London", "--type", "LOC", "--entity", "e1")
    assert mentions(article, 1) == [("In London", "LOC", 1)]
    run(*OTTERS, "--in", "s1", "--change", "In London", "--entity", "none")
    assert mentions(article, 1) == [("In London", "LOC", None)]
    run(*OTTERS, "--change", "0-11", "--entity", "new")
    assert mentions(article)[0] == ("Ruth Pascoe", "PERSON", 3)
    run(*OTTERS, "--in", "s1", "--remove", "In London")
    assert mentions(article, 1) == []
    assert logged(article.stage.project) == ["corrected a text"] * 6
    run("queries", "river", "otters", "--undo")
    assert mentions(article, 1) == [("In London", "LOC", None)]
    assert logged(article.stage.project)[-1] == "took a correction back"


def test_nothing_different_is_said_to_be(run: Run, article: Item) -> None:
    assert run(*OTTERS, "--change", "0-11", "--type", "PERSON").startswith("Nothing was different.\n")
    assert not ItemChange.objects.exists() and logged(article.stage.project) == []


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--remove", "Plymouth"), "'Plymouth' stands there 2 times: name one of 46-54, 86-94. Nothing was changed"),
        (("--remove", "Otters"), "'Otters' does not stand there"),
        (("--change", "0-11", "--to", "nowhere"), "'nowhere' does not stand there"),
        (("--add", "Otters"), "Say with --type"),
        (("--add", "Pascoe hung", "--type", "ORG"), "verlaps"),
        (("--add", "Otters", "--type", "ORG", "--entity", "e9"), "e9 is no entity here. There are: e0, e1, or 'new'"),
        (("--add", "Otters", "--type", "ORG", "--entity", "none"), "none is no entity here"),
        (
            ("--in", "s1", "--change", "London", "--entity", "new"),
            "new is no entity here. There are: e0, e1, or 'none'",
        ),
        (("--in", "s1", "--change", "London", "--entity", "one"), "'one' is not of the form e0"),
        (("--in", "s2", "--remove", "London"), "There is no sentence s2"),
        (("--remove", "0-11", "--to", "Ruth"), "--to goes with --change"),
        (("--type", "ORG"), "--type goes with --add and --change"),
    ],
)
def test_a_refusal_changes_nothing(run: Run, article: Item, arguments: tuple[str, ...], reason: str) -> None:
    with pytest.raises(CommandError, match=reason):
        run(*OTTERS, *arguments)
    article.refresh_from_db()
    assert article.data == ITEM and logged(article.stage.project) == []


def test_an_article_that_went_on_stays(run: Run, article: Item) -> None:
    make.item(make.stage(article.stage.project), parent=article, document=article.document)
    with pytest.raises(CommandError, match="went on to the next stage"):
        run(*OTTERS, "--remove", "0-11")
    article.refresh_from_db()
    assert article.data == ITEM and logged(article.stage.project) == []


def test_an_article_that_is_not_there_is_said_to_be(run: Run) -> None:
    with pytest.raises(CommandError, match="There is no article 'nobody'"):
        run("mentions", "river", "nobody")
