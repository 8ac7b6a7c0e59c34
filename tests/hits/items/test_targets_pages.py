"""The pages where a lead corrects what a text is asked about."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from playwright.sync_api import Page, expect

from hits.items.rules.item_changes import fingerprint
from hits.items.verbs import correcting
from hits.models import Item, ItemChange
from hits.protocols.optional import MarkedSentence
from hits.protocols.phrase_questions.protocol import protocol
from tests.axe import violations
from tests.hits import factories as make
from tests.hits.lead_pages import Opener
from tests.hits.protocols.phrases import DOCUMENT, NP, VP
from tests.markup import squeezed

pytestmark = pytest.mark.django_db(transaction=True)
TEXT = DOCUMENT["text"]


@pytest.fixture
def np(alice: Any) -> Item:
    stage = make.stage(
        make.project(owner=alice, slug="river"), key="np", title="Things", protocol="phrase_questions", answers=2
    )
    data = {**DOCUMENT, "scenario": "baking <b>bread</b>"}
    return make.item(stage, key="story-1/np", document=make.document(stage.project, data=data), data=NP)


@pytest.fixture
def vp(np: Item) -> Item:
    stage = make.stage(np.stage.project, key="vp", title="Happenings", protocol="phrase_questions")
    return make.item(stage, key="story-1/vp", document=np.document, data=VP)


def url(item: Item, name: str = "protocol-page-item") -> str:
    return reverse(name, args=["river", item.stage.key, "targets", item.pk])


def list_url(stage: str) -> str:
    return reverse("protocol-page", args=["river", stage, "targets"])


def said(item: Item) -> list[list[str]]:
    """The words of each sentence's phrases."""
    item.refresh_from_db()
    return [[TEXT[start:end] for start, end in one.phrases] for one in protocol.marked(item.data)]


def form(item: Item, **changes: str) -> dict[str, str]:
    """What the page posts when nothing was touched but this."""
    return {"seen": fingerprint(item), **changes}


def test_the_list_counts_sentences_and_phrases(lead_client: Client, np: Item, vp: Item) -> None:
    correcting.correct(np, protocol.marked(NP)[:1], fingerprint(np), None)
    address = list_url("np")
    reply = lead_client.get(address)
    assert [(row.pk, *counts) for row, *counts in reply.context["listed"]] == [(np.pk, 1, 4)]
    page = reply.content.decode()
    assert "corrected</span>" in page and "baking &lt;b&gt;bread" in page
    Item.objects.update(state=Item.State.OPEN)
    assert "No text here" in lead_client.get(address + "?show=waiting").content.decode()
    assert f'href="{address}"' in lead_client.get(reverse("stage", args=["river", "np"])).content.decode()
    plain = make.stage(np.stage.project, key="plain")
    assert lead_client.get(list_url("plain")).status_code == 404
    assert "/pages/" not in lead_client.get(reverse("stage", args=["river", plain.key])).content.decode()


def test_a_form_that_was_not_touched_saves_nothing(lead_client: Client, np: Item, vp: Item) -> None:
    first = protocol.marked(NP)[0]
    start, end = first.phrases[0]
    # Not at the edges of words, as a parser may have it.
    odd = MarkedSentence(first.start, first.end, ((start + 1, end - 1),))
    np.data = protocol.correct(DOCUMENT, NP, [odd])
    np.save()
    page = squeezed(lead_client.get(url(np)))
    assert '<option value="3" selected>4 the</option>' in page and '<option value="4" selected>5 flour</option>' in page
    untouched = form(np, **{"s0p0-first": "3", "s0p0-last": "4", "s0new-first": "", "s0new-last": ""})
    assert "nothing was saved" in lead_client.post(url(np), untouched, follow=True).content.decode()
    assert said(np) == [["he flou"]] and not ItemChange.objects.exists()


def test_phrases_and_sentences_change_together_and_are_undone_together(lead_client: Client, np: Item, vp: Item) -> None:
    start = TEXT.index("It smelled")
    change = form(
        np,
        **{"s0p0-first": "1", "s0p0-last": "4", "s0p1-remove": "on", "s0new-first": "0", "s1-remove": "on"},
        add=f"{start}-{len(TEXT)}",
    )
    reply = lead_client.post(url(np), change, follow=True)
    assert "in the other part of this text too" in reply.content.decode()
    assert said(np) == [["First", "I put the flour", "a bowl", "warm water"], []]
    assert said(vp) == [["put the flour into a bowl"], []]
    page = squeezed(lead_client.get(url(np)))
    assert "<del>the flour</del>" in page and "by alice" in page and "No phrase yet" in page
    assert "in the other part" in lead_client.post(url(np, "undo-on-page"), follow=True).content.decode()
    assert (said(np), said(vp)) == (_said_of(NP), _said_of(VP))
    assert "No change of this text is left" in lead_client.post(url(np, "undo-on-page"), follow=True).content.decode()


def _said_of(data: dict[str, Any]) -> list[list[str]]:
    return [[TEXT[start:end] for start, end in one.phrases] for one in protocol.marked(data)]


def test_faults_stand_beside_their_fields_and_nothing_is_lost(lead_client: Client, np: Item, vp: Item) -> None:
    wrong = form(np, **{"s0p0-first": "4", "s0p0-last": "3", "s1new-first": "7", "s1new-last": "7"})
    reply = lead_client.post(url(np), wrong)
    assert reply.status_code == 400
    sentence, second = reply.context["sentences"]
    assert ["other way round" in fault for fault in sentence.rows[0].faults] == [True]
    assert (second.rows[-1].first, second.rows[-1].last) == (7, 7)
    assert ["have words in common" in fault for fault in second.rows[1].faults] == [True]
    all_out = form(np, **{"s0-remove": "on", "s1-remove": "on"})
    reply = lead_client.post(url(np), all_out)
    assert "Nothing would be left to ask about" in reply.content.decode() and 'role="alert"' in reply.content.decode()
    assert said(np) == _said_of(NP)


@pytest.mark.parametrize("invented", ["0-9", "5-2", "x", f"0-{len(TEXT)}", "9999999999999-99999999999999"])
def test_only_sentences_of_the_text_can_be_added(lead_client: Client, np: Item, invented: str) -> None:
    lead_client.post(
        url(np), form(np, add=invented, **{"s9-remove": "on", "s0p77-first": "999999", "s0p0-first": "-1"})
    )
    assert said(np) == _said_of(NP) and not ItemChange.objects.exists()


def test_what_is_published_is_shown_and_stays(lead_client: Client, np: Item, vp: Item) -> None:
    Item.objects.filter(pk=vp.pk).update(state=Item.State.OPEN)
    page = lead_client.get(url(np)).content.decode()
    assert "published in “Happenings”, so no sentence can come or go" in page
    assert "-remove" in page and 'name="s0-remove"' not in page and 'name="add"' not in page
    page = lead_client.get(url(vp)).content.decode()
    assert "stays as workers saw it" in page and "<form method" not in page.split("</header>")[1]
    reply = lead_client.post(url(vp), form(vp, **{"s0p0-remove": "on"}))
    assert reply.status_code == 409 and "Nothing was saved" in reply.content.decode()
    stale = lead_client.post(url(np), {"seen": "another", "s0p0-remove": "on"})
    assert stale.status_code == 409 and "Somebody has changed this text" in stale.content.decode()
    assert (said(np), said(vp)) == (_said_of(NP), _said_of(VP))


def test_markup_in_a_story_stays_text(lead_client: Client, np: Item) -> None:
    np.document.data = {"text": "<script>alert(1)</script> baked <b>bread</b> at home.", "scenario": ""}
    np.document.save()
    np.data = {"part": "np", "targets": [{"start": 0, "end": 52, "phrases": [{"id": "p1", "start": 32, "end": 44}]}]}
    np.save()
    page = lead_client.get(url(np)).content.decode()
    assert "<script>alert" not in page and "<u>&lt;b&gt;bread&lt;/b&gt;</u>" in page


def test_a_note_says_that_a_text_stays_in_its_stage(lead_client: Client, np: Item) -> None:
    cuts = [one for one in range(len(TEXT)) if TEXT.startswith("I", one)][:4]
    four = [MarkedSentence(at, at + 6, ((at, at + 1),)) for at in cuts]
    np.data = protocol.correct(DOCUMENT, NP, four)
    np.save()
    assert "stays in this stage" not in lead_client.get(url(np)).content.decode()
    lead_client.post(url(np), form(np, **{"s0-remove": "on"}))
    assert "came with 4 target sentences and now has 3" in lead_client.get(url(np)).content.decode()


def test_it_is_done_by_keyboard_without_a_script_on_every_width(opened: Opener, np: Item, vp: Item) -> None:
    page = opened(url(np), 360, "dark", java_script_enabled=False)
    page.locator("#s0new-first").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    page.get_by_role("button", name="Save").press("Enter")
    expect(page.get_by_role("status")).to_contain_text("Saved")
    assert said(np)[0][0] == "First"
    _is_sound(opened(url(np), 360, "dark"), 360)
    _is_sound(opened(url(np), 1280), 1280)


def _is_sound(page: Page, width: int) -> None:
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
