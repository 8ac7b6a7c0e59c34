"""The pages that protocols bring: what is refused whatever they declare. The rest is in their contract."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from hits.protocols.phrase_questions.pages import PAGES
from hits.protocols.phrase_questions.protocol import protocol
from hits.stages.pages import protocol_pages
from tests.hits.world import World

pytestmark = pytest.mark.django_db
(TARGETS,) = PAGES
assert TARGETS.item


def declare(monkeypatch: pytest.MonkeyPatch, **changes: Any) -> None:
    monkeypatch.setattr(protocol_pages, "pages_of", lambda stage: (replace(TARGETS, **changes),))


def test_a_page_that_is_not_declared_is_not_there(world: World, lead_client: Client) -> None:
    where = [world.project.slug, world.text.stage.key, "sources"]
    assert lead_client.get(reverse("protocol-page", args=where)).status_code == 404
    assert lead_client.post(reverse("undo-on-page", args=[*where, world.text.pk])).status_code == 404


def test_an_item_of_another_stage_is_not_there(world: World, lead_client: Client) -> None:
    where = [world.project.slug, world.text.stage.key, "targets", world.item.pk]
    assert lead_client.get(reverse("protocol-page-item", args=where)).status_code == 404
    assert lead_client.post(reverse("undo-on-page", args=where)).status_code == 404


def test_a_page_without_a_form_takes_no_post(
    world: World, lead_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    declare(monkeypatch, item=replace(TARGETS.item, form=None))
    assert lead_client.get(world.url("protocol-page-item")).status_code == 200
    assert lead_client.post(world.url("protocol-page-item"), {"s0-remove": "on"}).status_code == 405
    assert lead_client.post(world.url("undo-on-page")).status_code == 404
    world.text.refresh_from_db()
    assert len(protocol.marked(world.text.data)) == 2


def test_a_list_without_pages_of_single_items_leads_to_none(
    world: World, lead_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    declare(monkeypatch, item=None)
    assert lead_client.get(world.url("protocol-page")).status_code == 200
    for reply in (lead_client.get(world.url("protocol-page-item")), lead_client.post(world.url("undo-on-page"))):
        assert reply.status_code == 404


def test_what_a_page_shows_cannot_take_the_place_of_what_every_page_shows(
    world: World, lead_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    declare(monkeypatch, context=lambda rows: {"project": None, "stage": None, "listed": []})
    assert lead_client.get(world.url("protocol-page")).context["stage"] == world.text.stage
