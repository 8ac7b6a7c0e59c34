"""The pages where a lead looks at the queries of articles and corrects them."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from playwright.sync_api import Page, expect

from hits.items.rules.item_changes import fingerprint
from hits.items.verbs import annotating, sampling
from hits.models import ChangeSet, Item, Stage
from hits.text.questions.passage_queries import queries
from tests.axe import faults_in_both_looks
from tests.hits.items.record_articles import article_project, generate
from tests.hits.lead_pages import Opener
from tests.markup import squeezed

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def stage(alice: Any) -> Stage:
    return generate(article_project(alice, "harbour-bridge", "seed-library"))


@pytest.fixture
def item(stage: Stage) -> Item:
    found = stage.items.get(key="harbour-bridge")
    found.stage = stage
    return found


def url(stage: Stage, name: str, *more: Any) -> str:
    return reverse(name, args=[stage.project.slug, stage.key, *more])


def test_the_stage_leads_to_its_queries_which_say_what_dropped_each_sentence(lead_client: Client, stage: Stage) -> None:
    reply = lead_client.get(url(stage, "stage"), follow=True)
    page = reply.content.decode()
    assert reply.redirect_chain == [(url(stage, "queries"), 302)]
    assert {row["name"]: row["count"] for row in reply.context["conditions"]} == {
        "too short": stage.summary.made["short"],
        "a question": 0,
        "repeats the passage": 1,
        "names no entity": 4,
        "an entity is not in the passage": 1,
        "shows its answer": 0,
        "kept": 9,
    }
    assert sum(row["count"] for row in reply.context["conditions"]) == stage.summary.made["sentences"]
    assert 'aria-label="Sentences: kept ' in page and ">harbour-bridge</a>" in page
    assert "Sample queries for “Validation”" in page


def test_the_lists_show_what_was_corrected_sent_or_has_no_query(lead_client: Client, stage: Stage, item: Item) -> None:
    def shown(show: str) -> list[str]:
        return [row.key for row in lead_client.get(url(stage, "queries"), {"show": show}).context["page"].rows]

    assert shown("") == ["harbour-bridge", "seed-library"] and shown("corrected") == shown("sent") == []
    for query in queries(item.data):
        annotating.drop(item, query.id, fingerprint(item), None)
    assert shown("corrected") == ["harbour-bridge"] == shown("without a query")
    sampling.draw(stage.project.stages.get(key="validate"), 100)
    assert shown("sent") == ["seed-library"]


def test_the_cost_of_the_list_does_not_grow_with_the_articles(lead_client: Client, stage: Stage, item: Item) -> None:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(
        connection,
    ) as few:
        lead_client.get(url(stage, "queries"))
    Item.objects.bulk_create(
        Item(stage=stage, document=item.document, key=f"more-{n}", data=item.data, figures=item.figures)
        for n in range(30)
    )
    with CaptureQueriesContext(connection) as many:
        lead_client.get(url(stage, "queries"))
    assert len(many) == len(few)
    assert not any('"hits_item"."data"' in one["sql"] for one in many.captured_queries)


def test_an_article_shows_its_mentions_by_number_and_why_each_sentence_was_dropped(
    lead_client: Client, stage: Stage, item: Item
) -> None:
    page = squeezed(lead_client.get(url(stage, "article", item.pk)))
    assert 'href="?mention=p0#form">Hull<sub><span class="hidden">entity </span>1</sub></a>' in page
    assert "too short</span>" in page and "names no entity</span>" in page and "kept</span>" in page
    assert page.count("____") == len(queries(item.data))


def test_a_lead_takes_a_query_out_and_puts_it_back_and_undoes(lead_client: Client, stage: Stage, item: Item) -> None:
    first = queries(item.data)[0].id
    sent = {"query": first, "seen": fingerprint(item)}
    reply = lead_client.post(url(stage, "drop-query", item.pk), sent, follow=True)
    assert "The query is taken out." in reply.content.decode()
    item.refresh_from_db()
    assert item.data["removed"] == [first]
    stale = lead_client.post(url(stage, "drop-query", item.pk), sent, follow=True)
    assert "Somebody has changed this text" in stale.content.decode()
    lead_client.post(url(stage, "drop-query", item.pk), {"query": first, "seen": fingerprint(item), "back": "yes"})
    item.refresh_from_db()
    assert item.data["removed"] == []
    page = lead_client.post(url(stage, "undo-article", item.pk), follow=True).content.decode()
    item.refresh_from_db()
    assert item.data["removed"] == [first] and "Undone." in page


def words_of(reply: Any) -> list[str]:
    return [word for _, word in reply.context["form"].words]


def test_a_lead_corrects_the_span_and_the_entity_of_a_mention(lead_client: Client, stage: Stage, item: Item) -> None:
    reply = lead_client.get(url(stage, "article", item.pk), {"mention": "p2"})
    form = reply.context["form"]
    assert form.text == "Helen Carter" and words_of(reply)[form.first : form.last + 1] == ["Helen", "Carter"]
    sent = {"mention": "p2", "seen": fingerprint(item), "type": "PERSON"}
    wide = {**sent, "first": form.first - 1, "last": form.last, "entity": form.entity}
    assert lead_client.post(url(stage, "change-mention", item.pk), wide).status_code == 302
    item.refresh_from_db()
    one = item.data["mentions"][2]
    assert item.data["text"][one["start"] : one["end"]] == "Mayor Helen Carter"
    moved = {**wide, "seen": fingerprint(item), "entity": "new"}
    lead_client.post(url(stage, "change-mention", item.pk), moved)
    item.refresh_from_db()
    assert item.data["mentions"][2]["entity"] == 6


def test_a_lead_adds_a_mention_and_removes_one(lead_client: Client, stage: Stage, item: Item) -> None:
    number = next(n for n, one in enumerate(item.data["sentences"]) if one["dropped"] == "no_entity")
    reply = lead_client.get(url(stage, "article", item.pk), {"add": f"s{number}"})
    first = words_of(reply).index("Engineers")
    sent = {"add": f"s{number}", "first": first, "last": first, "type": "ORG", "entity": "4"}
    lead_client.post(url(stage, "change-mention", item.pk), {**sent, "seen": fingerprint(item)})
    item.refresh_from_db()
    assert item.data["sentences"][number]["dropped"] == ""
    assert f"s{number}-e4" in [query.id for query in queries(item.data)]
    gone = {"mention": f"s{number}-0", "remove": "yes", "seen": fingerprint(item)}
    lead_client.post(url(stage, "change-mention", item.pk), gone)
    item.refresh_from_db()
    assert item.data["sentences"][number]["dropped"] == "no_entity"


@pytest.mark.parametrize(
    "sent",
    [
        {"mention": "p999"},
        {"mention": "x1"},
        {"add": "s-1"},
        {"mention": "p2", "first": "5", "last": "1", "type": "GPE", "entity": "0"},
        {"mention": "p2", "first": "0", "last": "0", "type": "DATE", "entity": "0"},
        {"mention": "p2", "first": "0", "last": "0", "type": "GPE", "entity": "77"},
        {"mention": "s2-0", "first": "0", "last": "0", "type": "GPE", "entity": "new"},
        {},
    ],
)
def test_what_does_not_fit_is_refused_with_a_sentence(lead_client: Client, stage: Stage, item: Item, sent: Any) -> None:
    reply = lead_client.post(url(stage, "change-mention", item.pk), {**sent, "seen": fingerprint(item)})
    assert reply.status_code == 400 and reply.context["faults"]
    assert not item.changes.exists()


def test_a_published_article_shows_no_form(lead_client: Client, stage: Stage, item: Item) -> None:
    sampling.draw(stage.project.stages.get(key="validate"), 100)
    page = lead_client.get(url(stage, "article", item.pk), {"mention": "p0"}).content.decode()
    assert "so they stay as people see them" in page and "Take out" not in page and "First word" not in page


def lines_of(client: Client, stage: Stage) -> list[dict[str, Any]]:
    reply = client.get(url(stage, "annotations-file"))
    return [json.loads(line) for line in b"".join(reply.streaming_content).splitlines()]


def file_of(rows: list[dict[str, Any]]) -> io.BytesIO:
    found = io.BytesIO("\n".join(json.dumps(row) for row in rows).encode())
    found.name = "corrected.jsonl"
    return found


def test_annotations_go_out_and_come_in_by_way_of_a_preview(lead_client: Client, stage: Stage) -> None:
    rows = lines_of(lead_client, stage)
    rows[0]["removed"] = [queries(rows[0])[0].id]
    reply = lead_client.post(url(stage, "annotations"), {"file": file_of(rows)}, follow=True)
    assert "1 article</strong> would change" in squeezed(reply)
    found = ChangeSet.objects.get()
    lead_client.post(url(stage, "confirm-change-set", found.pk))
    assert stage.items.first().data["removed"] == rows[0]["removed"]
    page = lead_client.post(url(stage, "undo-change-set", found.pk), follow=True).content.decode()
    assert "Undone: 1 article as before." in page and stage.items.first().data["removed"] == []
    assert "corrected.jsonl" in lead_client.get(url(stage, "annotations")).content.decode()


def test_a_wrong_file_of_annotations_is_refused_with_every_fault(lead_client: Client, stage: Stage) -> None:
    rows = lines_of(lead_client, stage)
    rows[0]["text"], rows[1]["id"] = "Another text.", "nobody"
    reply = lead_client.post(url(stage, "annotations"), {"file": file_of(rows)})
    assert reply.status_code == 400
    assert "2 faults. Nothing was changed." in reply.content.decode()


def test_the_page_of_the_draw_says_that_no_reader_filtered_the_queries(lead_client: Client, stage: Stage) -> None:
    page = lead_client.get(reverse("draw", args=[stage.project.slug, "validate"])).content.decode()
    assert "Not filtered by any reader" in page and "Queries of 2 articles" in page


def test_the_pages_pass_axe_and_fit(opened: Opener, stage: Stage, item: Item) -> None:
    first = queries(item.data)[0].id
    annotating.drop(item, first, fingerprint(item), None)
    for address in (
        url(stage, "queries"),
        url(stage, "article", item.pk) + "?mention=p2",
        url(stage, "annotations"),
        reverse("draw", args=[stage.project.slug, "validate"]),
    ):
        page: Page = opened(address)
        expect(page.locator("h1")).to_be_visible()
        assert faults_in_both_looks(page) == []


def test_several_files_at_once_are_taken_as_one(lead_client: Client, stage: Stage, market: Any) -> None:
    from hits.items.verbs import importing
    from hits.models import Upload
    from tests.hits.items.record_articles import SAMPLES

    files = [(SAMPLES / f"{name}.story").open("rb") for name in ("clock-tower", "night-train")]
    lead_client.post(reverse("import", args=[stage.project.slug]), {"file": files, "origin": "public"})
    upload = Upload.objects.order_by("-id").first()
    assert upload and upload.name == "2 files.zip"
    importing.import_upload(upload.pk)
    upload.refresh_from_db()
    assert (upload.state, upload.items, stage.items.count()) == (Upload.State.DONE, 2, 4)


def test_the_last_mention_of_an_entity_goes_and_its_sentences_have_no_antecedent(
    lead_client: Client, stage: Stage, item: Item
) -> None:
    at = next(n for n, one in enumerate(item.data["mentions"]) if one["entity"] == 5)
    gone = {"mention": f"p{at}", "remove": "yes", "seen": fingerprint(item)}
    assert lead_client.post(url(stage, "change-mention", item.pk), gone).status_code == 302
    item.refresh_from_db()
    assert item.figures["no_antecedent"] == 1 and "s8-e5" not in [one.id for one in queries(item.data)]
    lead_client.post(url(stage, "undo-article", item.pk))
    item.refresh_from_db()
    assert "s8-e5" in [one.id for one in queries(item.data)]
