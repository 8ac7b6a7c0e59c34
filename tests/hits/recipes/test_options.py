"""What a lead reads of a recipe's options, and what an option may be."""

from __future__ import annotations

from pathlib import Path

import pytest

from hits.recipes import Option, OptionError, load
from hits.text.language.linking import LINKERS
from hits.text.questions.passage_queries import LEAD_BY, TOKENS
from tests.hits.recipes.test_loader import HEAD, STAGE, faults_of, put

DESCRIBED = """
[options.rest]
value = "drop"
label = "What happens to the rest"
unit = "choice"
help = "Counts for the next release."
paper = "drop (section 3)"
choices = { drop = "Drop it", keep = "Keep it" }

[options.every]
value = 4
least = 1

[options]
plain = 0.5
"""


@pytest.mark.parametrize("name", ["record", "cosmos", "mcscript", "choice"])
def test_every_option_and_parameter_has_a_name_a_unit_the_papers_value_and_what_it_changes(name: str) -> None:
    recipe = load(name)
    assert recipe.described.keys() == recipe.options.keys()
    said = list(recipe.described.items())
    for computation in getattr(recipe.steps, "COMPUTATIONS", ()):
        assert computation.options.keys() == computation.params.keys()
        said += computation.options.items()
    assert [key for key, one in said if not (one.label and one.unit and one.help and one.paper)] == []
    assert len({one.label for _, one in said}) == len(said)


def test_an_option_is_a_value_or_a_table_that_says_what_it_means(tmp_path: Path) -> None:
    recipe = load("ours", [put(tmp_path, HEAD + DESCRIBED + STAGE)])
    assert recipe.options == {"rest": "drop", "every": 4, "plain": 0.5}
    assert recipe.described["rest"] == Option(
        "What happens to the rest", "choice", "Counts for the next release.", "drop (section 3)",
        {"drop": "Drop it", "keep": "Keep it"},
    )  # fmt: skip
    assert recipe.options_with({"rest": "keep"})["rest"] == "keep"
    with pytest.raises(OptionError, match="rest must be one of drop, keep, not 'sell'"):
        recipe.options_with({"rest": "sell"})
    with pytest.raises(OptionError, match="every must be 1 or more, not 0"):
        recipe.options_with({"every": 0})


@pytest.mark.parametrize(
    ("described", "fault"),
    [
        ('label = "No value"', "options.x.value must be a number, true, false or a text, not None"),
        ('value = "a"\nchoices = { b = "B" }', "options.x.value must be one of the choices b, not 'a'"),
        ('value = "b"\nchoices = { b = 3 }', "options.x.choices must have words for each value"),
        ('value = 1\nleast = "2"', "options.x.least must be a number, not '2'"),
        ("value = 1\nlongest = 2", "options.x.longest is unknown"),
        ('value = ["a"]\nchoices = { b = "B" }', "options.x.value must be a number, true, false or a text, not ['a']"),
    ],
)
def test_what_a_table_of_an_option_cannot_be_is_a_fault(tmp_path: Path, described: str, fault: str) -> None:
    assert any(fault in said for said in faults_of(tmp_path, f"{HEAD}[options.x]\n{described}\n{STAGE}"))


# Stages that stand for several


REPEATED = HEAD + "[options.readers]\nvalue = 2\nleast = 1\nmost = 4\n" + STAGE


OWN = 'title = "Reader {number}"\nrequirements = [{ qualification = "reader-{number}", comparator = "Exists" }]'


def repeated(tmp_path: Path) -> Path:
    toml = REPEATED.replace('key = "first"', 'key = "reader"\nrepeat = "readers"').replace('title = "First"', OWN)
    return put(tmp_path, toml)


def test_a_stage_stands_for_as_many_as_an_option_says(tmp_path: Path) -> None:
    recipe = load("ours", [repeated(tmp_path)])
    assert [(stage.key, stage.title) for stage in recipe.stages] == [
        ("reader-1", "Reader 1"),
        ("reader-2", "Reader 2"),
    ]
    assert recipe.stages[1].requirements[0].qualification == "reader-2"
    assert [stage.key for stage in recipe.stages_with({"readers": 3})] == ["reader-1", "reader-2", "reader-3"]
    assert recipe.repeats() == {"readers": 2}
    with pytest.raises(OptionError, match="readers must be 4 or less, not 5"):
        recipe.options_with({"readers": 5})


def test_a_stage_that_repeats_by_no_number_is_a_fault(tmp_path: Path) -> None:
    toml = HEAD + STAGE.replace('key = "first"', 'key = "first"\nrepeat = "readers"')
    assert faults_of(tmp_path, toml) == ("stages[0].repeat must name an option from 1 to 50, not 'readers'",)


# Qualification tests


TESTS = """
[[tests]]
key = "our-test"
title = "Ours"
description = "Two questions."
pass_mark = 50
minutes = 5
questions = "asked.csv"
"""
ASKED = "question,right,choice1,choice2\nWhich is wet?,1,Rain,Sand\n"


def test_a_recipe_brings_tests_whose_questions_lie_beside_it(tmp_path: Path) -> None:
    (put(tmp_path, HEAD + TESTS + STAGE) / "ours" / "asked.csv").write_text(ASKED)
    (test,) = load("ours", [tmp_path]).tests
    assert (test.details.key, test.details.pass_mark, test.details.retry_days) == ("our-test", 50, None)
    assert test.questions == ({"text": "", "question": "Which is wet?", "choices": ["Rain", "Sand"], "right": 0},)


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("asked.csv", "other.csv", "tests[0].questions cannot be read"),
        ("pass_mark = 50", "pass_mark = 500", "tests[0].pass_mark is wrong: Write a whole number from 1 to 100."),
        ('key = "our-test"', 'key = "ours"', "tests[0].key is wrong: Write lower-case words"),
        ('title = "Ours"', "", "tests[0].title is wrong: This must be a text, not None."),
        ('key = "our-test"', "", "tests[0].key must be a text, not None"),
        ("minutes = 5", "minutes = 5\nhours = 1", "tests[0].hours is unknown"),
        ("[[tests]]", f"{TESTS}[[tests]]", "tests must have different keys"),
    ],
)
def test_what_no_test_can_be_is_a_fault_of_the_recipe(tmp_path: Path, old: str, new: str, fault: str) -> None:
    (tmp_path / "ours").mkdir()
    (tmp_path / "ours" / "asked.csv").write_text(ASKED)
    assert any(fault in said for said in faults_of(tmp_path, HEAD + TESTS.replace(old, new, 1) + STAGE))


def test_the_test_of_cosmos_is_passed_with_the_mark_that_its_stages_ask_for() -> None:
    recipe = load("cosmos")
    (test,) = recipe.tests
    assert len(test.questions) >= 5 and {one["right"] for one in test.questions} == {0, 1, 2, 3}
    for stage in recipe.stages:
        marks = [one.integers for one in stage.requirements if one.qualification == test.details.key]
        assert marks == ([(test.details.pass_mark,)] if stage.key in ("write", "validate", "human") else [])


def test_the_choices_of_how_queries_are_made_are_those_that_there_are() -> None:
    described = load("record").described
    assert [*described["linker"].choices] == [*LINKERS]
    assert [*described["tokens"].choices] == [*TOKENS]
    assert [*described["lead_by"].choices] == [*LEAD_BY]
