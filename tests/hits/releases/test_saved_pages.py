"""The page of every task as a file of a release: it is read by itself, runs and loads nothing, and names nobody."""

from __future__ import annotations

import json
import re
from typing import Any

import html5lib
import pytest

from hits import protocols
from hits.formats.outputs.saved_page import saved
from hits.judging.rules.summaries import refresh_summary
from hits.models import Item, Stage
from hits.protocols.base import CrowdlessProtocol
from hits.recipes.source import ToldItem
from hits.releases.rules import saved_pages
from hits.releases.verbs import releasing
from tests.hits import factories as make
from tests.hits.said import say

pytestmark = pytest.mark.django_db
PAGE = """<html><head>
<style>p { color: red; background: url(https://a.example/b.png) } @import "https://a.example/c.css";</style>
<script>alert(1)</script><link rel="stylesheet" href="https://a.example/s.css"></head><body onload="alert(2)">
<crowd-form><p style="background:url(//a.example)">Is <b>${text}</b> good?</p>
<img src="https://a.example/p.png" alt="A boat">
<crowd-classifier name="mood" categories="['good', 'bad']" header="Mood?"></crowd-classifier>
<crowd-image-classifier-multi-select name="on" categories="['Mast']" src="https://a.example/b.png" header="On it?">
</crowd-image-classifier-multi-select><crowd-entity-annotation labels="[{'label': 'person'}]" text="Anna sails.">
</crowd-entity-annotation><crowd-tabs><crowd-tab header="First tab"></crowd-tab></crowd-tabs>
<crowd-input name="why" label="Why?"></crowd-input>
<a href="https://a.example/more">more</a><a href="javascript:alert(3)">x</a>
<form action="https://www.mturk.com/mturk/externalSubmit"><input type="hidden" name="assignmentId" value="3ABC">
<button formaction="https://a.example/f">Go</button></form>
<iframe src="https://a.example/i"></iframe></crowd-form></body></html>"""


def stage_of(name: str) -> tuple[Stage, Item]:
    """A stage with the protocol's own sample as its released item."""
    folder = protocols.HOME / "protocols" / name
    sample = json.loads((folder / "sample.json").read_text(encoding="utf-8"))
    settings = sample.get("settings", {})
    stage = make.stage(make.project(), key="ask", protocol=name, settings=settings, summary={"answers": 3})
    document = make.document(stage.project, data=sample["document"])
    return stage, make.item(stage, document=document, data=sample["item"], state=Item.State.KEPT)


def written(stage: Stage, *keys: str) -> str:
    files, facts = saved_pages.files_of(stage.project, {stage.key: lambda: (ToldItem(key, "train") for key in keys)})
    assert [row.get("why", "") for row in facts] == [""]
    return files[f"task-pages/{stage.key}.html"].decode()


def refuse_live(html: str) -> None:
    """Fails where anything of the page runs, is loaded or sent."""
    tree = html5lib.parse(html, treebuilder="etree", namespaceHTMLElements=False)
    names = {element.tag for element in tree.iter()}
    assert not names & {"script", "form", "iframe", "link", "object", "embed", "base", "noscript"}
    for element in tree.iter():
        for name, value in element.items():
            assert not name.startswith("on") and name not in ("action", "formaction", "srcset", "data-page"), name
            assert name not in ("src", "href", "poster") or value.startswith(("data:", "#")), (name, value)
            assert name != "style" or "url(" not in value
        if element.tag == "style":
            assert not re.search(r"url\(|@import|https?:", element.text or "")
        assert not (element.tag == "input" and element.get("type") == "hidden")


WITH_PAGES = [name for name in protocols.available() if not isinstance(protocols.get(name), CrowdlessProtocol)]


@pytest.mark.parametrize("name", WITH_PAGES)
def test_the_page_of_every_task_is_read_by_itself(name: str) -> None:
    stage, item = stage_of(name)
    html = written(stage, item.key)
    refuse_live(html)
    assert item.key in html and "<style>" in html and "Preview:" not in html and "Scripts are off" not in html
    for secret in ("A1WORKER", 'value="saved"', "turkSubmitTo", "externalSubmit"):
        assert secret not in html
    # The same release has the same bytes.
    assert written(stage, item.key) == html


def test_a_page_of_a_leads_own_loses_what_runs_and_shows_crowd_elements_and_what_was_left_out() -> None:
    html = saved(PAGE, title="T </title>", note="N", styles=[".a{}</style><script>"], medium=lambda address: None)
    refuse_live(html)
    for said in ("alert", "javascript", "3ABC", "externalSubmit", "s.css", "c.css"):
        assert said not in html
    assert "[picture, not in this file: A boat: https://a.example/p.png]" in html and "(https://a.example/more)" in html
    assert re.findall(r'type="radio"[^>]*value="(\w+)"|value="(\w+)"[^>]*type="radio"', html)
    assert all(said in html for said in ("On it?", "Mast", "[picture, ", "person", "Anna sails.", "First tab"))
    assert "Mood?" in html and "Why?" in html and "color: red" in html


def test_media_of_the_project_are_in_the_file_and_large_or_foreign_ones_are_not(monkeypatch: Any) -> None:
    form = {"show": [{"kind": "image", "column": "picture", "description": "A pet"}],
            "ask": [{"kind": "one", "key": "mood", "question": "Mood?", "choices": ["good", "bad"]}]}  # fmt: skip
    stage = make.stage(make.project(recipe="form"), key="ask", protocol="form", settings={"form": form},
                       summary={"answers": 3})  # fmt: skip
    file = make.media_file(stage.project, b"x" * 300, name="cat.png")
    of = [
        make.item(stage, key=key, document=make.document(stage.project, data={"columns": {"picture": name}}), data={})
        for key, name in (("own", "cat.png"), ("foreign", "https://a.example/dog.png"))
    ]
    html = written(stage, "own")
    assert f"data:{file.content_type};base64,eHh4" in html and "/media/" not in html
    foreign = written(stage, "foreign")
    refuse_live(foreign)
    assert "[picture, not in this file" in foreign and "https://a.example/dog.png]" in foreign
    monkeypatch.setattr(saved_pages, "MOST_MEDIUM", 200)
    assert "[picture, not in this file" in written(stage, "own") and len(of) == 2


def test_the_example_is_a_released_item_and_never_one_of_a_hidden_split() -> None:
    first, item = stage_of("multiple_choice")
    hidden = make.item(
        first, key="hidden", document=make.document(first.project, data=item.document.data), data=item.data
    )
    later = make.stage(first.project, key="later", protocol="multiple_choice", summary={"answers": 2})
    make.item(later, key="also-hidden", document=hidden.document, data=item.data)
    files, facts = saved_pages.files_of(first.project, {"ask": lambda: iter([ToldItem(item.key, "train")])})
    assert list(files) == ["task-pages/ask.html"]
    assert facts[1] == {"stage": "later", "why": "no released item of it may be shown"}
    shown = make.item(later, key="shown", document=item.document, data=item.data)
    _, facts = saved_pages.files_of(first.project, {"ask": lambda: iter([ToldItem(item.key, "train")])})
    assert facts[1]["item"] == shown.key
    assert saved_pages.files_of(first.project, {})[0] == {}


def test_a_page_that_cannot_be_made_or_is_too_long_leaves_the_release_whole(monkeypatch: Any) -> None:
    stage, item = stage_of("multiple_choice")
    told = {"ask": lambda: iter([ToldItem(item.key, "train")])}
    monkeypatch.setattr(saved_pages, "MOST_BYTES", 100)
    assert saved_pages.files_of(stage.project, told) == ({}, [
        {"stage": "ask", "why": "its page has more than 100 bytes"}])  # fmt: skip
    monkeypatch.setattr(saved_pages, "page_of", lambda *args, **more: 1 / 0)
    assert saved_pages.files_of(stage.project, told)[1] == [{"stage": "ask", "why": "its page could not be made"}]


def test_a_release_has_the_pages_with_their_sums() -> None:
    stage = make.stage(make.project(recipe="choice"), key="choose", title="Choose", protocol="multiple_choice")
    say(stage, [{"ann": "yes", "ben": "yes"}])
    for item in stage.items.all():
        item.document.data = {"text": "It rained."}
        item.document.save()
    stage.items.update(state=Item.State.KEPT)
    refresh_summary(stage)
    made, _ = releasing.release(stage.project, None)
    name = "task-pages/choose.html"
    assert made.manifest["task_pages"] == [{"stage": "choose", "file": name, "item": "item-1"}]
    assert name in [file["name"] for file in made.manifest["files"]]
    page = made.files.get(name=name).blob.read().decode()
    assert "It rained." in page and "AANN" not in page
    assert f"| Choose | {name}, about item item-1 |" in made.files.get(name="README.md").blob.read().decode()
    assert releasing.release(stage.project, None) == (made, False)
