"""Small things that leads read: faults of a file in groups, amounts that are refused, and colours that can be seen."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse

from hits.formats.files.faults import Fault, Faults, grouped
from hits.models import Upload
from hits.projects.pages import forms
from tests.hits import factories as make


def test_faults_that_say_the_same_are_one_row_with_their_lines() -> None:
    blank = [Fault(line, f"choices[{line % 3}]", "must not be blank") for line in range(3, 120)]
    taken = Fault(4, "id", "'a' is taken")
    found = grouped([*blank, Fault(None, "", "holds no row"), taken, taken])
    assert [(group.where, group.place, group.message) for group in found] == [
        ("3, 4, 5, 6, 7 and 112 more", "choices[…]", "must not be blank"),
        ("", "", "holds no row"),
        ("4", "id", "'a' is taken"),
    ]
    assert list(map(str, found)) == [
        "`choices[…]` must not be blank in 117 lines: 3, 4, 5, 6, 7 and 112 more",
        "holds no row",
        "line 4, id: 'a' is taken",
    ]


def test_the_lines_of_a_fault_with_a_remedy_stand_after_it_in_brackets() -> None:
    twice = [
        Fault(line, "", "2 cells where the first line has 3: quote a text that holds separators") for line in (2, 9)
    ]
    (group,) = grouped(twice)
    assert str(group).endswith("has 3: quote a text that holds separators (2 lines: 2, 9)")


def test_a_kind_of_fault_that_comes_after_a_thousand_of_another_is_listed_too() -> None:
    faults = Faults()
    for line in range(1, 1501):
        faults.add(line, "text", "must not be blank")
    faults.add(1501, "id", "'a' is taken")
    faults.add(1502, "gold", "is none of them")
    faults.add(1503, "gold", "is none of them")
    assert (len(faults.listed), faults.count) == (1000, 1503)
    assert [(group.place, group.count) for group in grouped(faults.listed)] == [("text", 998), ("id", 1), ("gold", 1)]


@pytest.mark.django_db
def test_the_page_of_a_refused_file_shows_the_groups(alice: Any, lead_client: Client) -> None:
    faults = [vars(Fault(line, "gold", "is none of them")) for line in range(2, 122)]
    project = make.project(owner=alice)
    row = make.upload(project, state=Upload.State.REFUSED, faults=faults, fault_count=120)
    text = lead_client.get(reverse("upload", args=[project.slug, row.pk])).content.decode()
    assert "120 faults. Nothing was imported." in text
    assert (text.count("is none of them"), text.count("2, 3, 4, 5, 6 and 115 more")) == (1, 1)


@pytest.mark.parametrize(
    ("form", "said"),
    [
        (forms.BudgetForm({"budget": "-5"}), "Enter a budget of $0 or more."),
        (forms.BudgetForm({"budget": "much"}), "Enter a budget in dollars and cents, such as 12.50."),
    ],
)
def test_an_amount_that_is_refused_says_what_to_enter(form: Any, said: str) -> None:
    assert [text for texts in form.errors.values() for text in texts] == [said]


TOKENS = (settings.ROOT / "static" / "shell" / "tokens.css").read_text(encoding="utf-8")


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(one: str, other: str) -> float:
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_borders_and_placeholders_of_fields_can_be_seen(theme: int) -> None:
    """WCAG 2.2: 3:1 for the border of a field (1.4.11), 4.5:1 for its placeholder (1.4.3)."""
    block = TOKENS.split("prefers-color-scheme: dark")[theme]
    colours = dict(re.findall(r"--([a-z0-9-]+):\s*(#[0-9a-f]{6})", block))
    assert "border: 1px solid var(--field-line)" in TOKENS and "::placeholder { color: var(--ink-2)" in TOKENS
    for ground in ("surface", "ground"):
        assert _contrast(colours["field-line"], colours[ground]) >= 3
        assert _contrast(colours["ink-2"], colours[ground]) >= 4.5


@pytest.mark.django_db
def test_a_block_that_the_marketplace_was_not_told_yet_is_pending(lead_client: Client, alice: Any) -> None:
    stage = make.stage(make.project(owner=alice))
    block = make.block(stage, make.worker("APOOR00000001"), state="intended")
    make.worker_stat(stage, block.worker)
    page = lead_client.get(reverse("worker", args=[stage.project.slug, "APOOR00000001"])).content.decode()
    assert "Block pending" in page and "Being granted" not in page
    block.until = block.created_at
    assert block.in_words == "Pause pending"
