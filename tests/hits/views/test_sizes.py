"""How much a page sends, in a project whose lists are full and whose texts are as long as they may be."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from hits.answers.rules.answer_words import BESIDE, SaidLine, beginning
from hits.models import Assignment
from hits.protocols.optional import Line
from hits.recipes.source import UNUSED
from tests.hits import factories as make
from tests.hits import long_texts
from tests.hits.market import Marketplace
from tests.hits.world import FREE, PAGES, World

pytestmark = pytest.mark.django_db
LARGEST = 2_000_000
# What workers wrote stands a second time on their page, among the messages.
LETTER = '<p class="own-words">{}</p>'
# What is to be whole, whatever its size.
DOWNLOADS = {
    "agreement-csv", "annotations-file", "answers-csv", "changes-csv", "computation-files", "items-csv",
    "ledger-csv", "people-and-models-csv", "project-results-file", "recipe-file", "recipe-sample", "release-file",
    "release-archive", "results-file", "sample-file", "suggestions-csv", "workers-csv",
}  # fmt: skip


def test_no_page_is_larger_than_it_may_be(world: World, lead_client: Client, alice: Any, market: Marketplace) -> None:
    long_texts.fill(world.stage, world.item, alice)
    sizes, strange = {}, {}
    for name in sorted({*PAGES, *FREE} - DOWNLOADS):
        reply = lead_client.get(world.url(name))
        sizes[name] = len(reply.content)
        if reply.status_code != 200 or "Content-Disposition" in reply.headers:
            strange[name] = reply.status_code
    assert strange == {}
    assert {name: size for name, size in sizes.items() if size > LARGEST} == {}
    assert b"The first 100;" in lead_client.get(world.url("item")).content
    # Else it would ask about an empty project.
    assert sizes["answers"] > 200_000 and sizes["item"] > 200_000 and sizes["upload"] > 1_000_000


def test_of_a_long_answer_lists_show_the_beginning_and_a_link_to_all_of_it(world: World, lead_client: Client) -> None:
    remark = "The mayor is named twice. " * 300 + "So I chose the first."
    posted = {"text": "x" * 3000 + " is the end"}
    Assignment.objects.filter(pk=world.waiting.pk).update(answer=posted, remark=remark)
    whole = f"{reverse('review', args=[world.project.slug, world.stage.key])}?answer={world.waiting.pk}"
    item = reverse("item", args=[world.project.slug, world.stage.key, world.waiting.hit.item_id])
    for address in (world.url("answers"), world.url("worker"), item):
        page = lead_client.get(address).content.decode()
        assert "The mayor is named twice." in page and f'href="{whole}"' in page, address
        assert "So I chose the first." not in page.replace(LETTER.format(remark), "") and "is the end" not in page
    page = lead_client.get(whole).content.decode()
    assert "So I chose the first." in page and "is the end" in page


def test_of_many_long_lines_the_first_are_shown_and_the_last_of_them_is_cut() -> None:
    lines = [SaidLine(Line("", "x" * 1000), None) for _ in range(4)]
    shown = [one.line.said for one in beginning(lines, 2000)]
    assert shown == ["x" * 1000, "x" * (2000 - 1000 - BESIDE - 1) + "…"]
    assert beginning(lines[:1]) == lines[:1]


def test_a_row_of_endless_cells_makes_no_page_of_one_item_larger(world: World, lead_client: Client) -> None:
    stage = make.stage(world.project, key="own", protocol="html_page")
    columns = {f"column {number}": long_texts.text(130_000) for number in range(30)}
    document = make.document(world.project, data={"columns": columns, UNUSED: columns})
    item = make.item(stage, document=document, data={"columns": {}, "more": [long_texts.text(500_000)]})
    answer = make.assignment(make.hit(item), world.worker, answer={"text": "x"})
    start = [world.project.slug, stage.key]
    pages = [reverse("item", args=[*start, item.pk]), f"{reverse('review', args=start)}?answer={answer.pk}"]
    for address in pages:
        content = lead_client.get(address).content
        assert 300_000 < len(content) < LARGEST, address
