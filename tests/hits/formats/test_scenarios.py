"""Lists of scenarios, as a lead types them."""

from __future__ import annotations

import io
from typing import Any

import pytest

from hits.formats.inputs.scenarios import FormatErrors, Scenario, read


def read_text(text: str | bytes, **options: Any) -> list[Scenario]:
    return read(io.BytesIO(text.encode() if isinstance(text, str) else text), **options)


def faults(text: str | bytes, **options: Any) -> list[tuple[int | None, str, str]]:
    with pytest.raises(FormatErrors) as caught:
        read_text(text, **options)
    return [(fault.line, fault.place, fault.message) for fault in caught.value.errors]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_each_line_is_a_scenario_perhaps_with_a_hint(end):
    lines = ["\ufeffbaking a cake | Think of one, at home | or not.", "  Planting a tree  ", "Kuchen für Opa|", "", " "]
    found = read_text(end.join(lines))
    assert found == [
        Scenario("baking-a-cake", "baking a cake", "Think of one, at home | or not."),
        Scenario("planting-a-tree", "Planting a tree"),
        Scenario("kuchen-für-opa", "Kuchen für Opa"),
    ]
    assert [one.line for one in found] == [1, 2, 3]


def test_all_faults_come_at_once_each_with_its_line():
    lines = [
        "baking a cake",
        "",
        "| a hint",
        "Baking  a CAKE!",
        "x" * 101,
        "...",
        f"a | {'y' * 501}",
        "b\x07c",
        "\u0390" * 99,
    ]
    found = faults("\n".join(lines))
    assert [(line, place) for line, place, _ in found] == [
        (2, ""),
        (3, "scenario"),
        (4, "scenario"),
        (5, "scenario"),
        (6, "scenario"),
        (7, "hint"),
        (8, "scenario"),
        (9, "scenario"),
    ]
    # A key is made of letters without regard to case, and this one has three of them for each.
    assert found[-1][2].endswith("is too long without regard to case: shorten it")
    assert [message for _, _, message in found[:-1]] == [
        "is blank: write a scenario in it, or remove it",
        "must not be blank",
        "'Baking  a CAKE!' is the same as that of line 1: remove one of the two",
        "has 101 characters, the limit is 100",
        "'...' holds no word",
        "has 501 characters, the limit is 500",
        "holds a control character, U+0007, at character 1: remove it",
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the file holds no scenario"),
        ("\n \n", "the file holds no scenario"),
        ("<data><instance/></data>", "looks like XML or JSON"),
        ('\ufeff {"id": "a"}', "looks like XML or JSON"),
        (b"PK\x03\x04", "is a ZIP archive"),
        (b"caf\xe9", "is not UTF-8: byte 0xe9"),
    ],
)
def test_it_refuses_a_file_that_is_no_list(text, words):
    ((_, _, message),) = faults(text)
    assert words in message


def test_it_refuses_a_file_above_the_limit_and_tells_its_progress():
    text, told = "\n".join(f"day {number}" for number in range(1200)), []
    assert len(read_text(text, max_bytes=len(text), progress=told.append)) == 1200 and told == [1000, 1200]
    assert "split it into several files" in faults(text, max_bytes=99)[0][2]
