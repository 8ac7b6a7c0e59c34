"""Correcting sentences and phrases by a program."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from hits.models import Item, ItemChange, Project
from tests.hits import factories
from tests.hits.api.test_errors import refused
from tests.hits.api_calls import HOME, STAGE, logged
from tests.hits.protocols.phrases import DOCUMENT, NP, VP

ASK = HOME + "stages/np/targets/"


@pytest.fixture
def np(river: Project) -> Item:
    document = factories.document(river, data=DOCUMENT)
    for part, data in (("np", NP), ("vp", VP)):
        stage = factories.stage(river, key=part, title=part, protocol="phrase_questions")
        factories.item(stage, key=f"story/{part}", document=document, data=data)
    return Item.objects.get(stage__key="np")


def test_a_text_is_read_corrected_and_taken_back(api: APIClient, np: Item, alice: Any) -> None:
    (row,) = api.get(ASK).json()["results"]
    assert row == api.get(f"{ASK}{np.pk}/").json()
    assert (row["text"], len(row["sentences"]), row["state"]) == (DOCUMENT["text"], 2, "new")
    fewer = {"fingerprint": row["fingerprint"], "sentences": row["sentences"][:1]}
    corrected = api.put(f"{ASK}{np.pk}/", fewer, format="json")
    assert corrected.status_code == 200 and corrected.json()["sentences"] == row["sentences"][:1]
    other = api.get(HOME + "stages/vp/targets/").json()["results"][0]
    assert len(other["sentences"]) == 1
    assert set(ItemChange.objects.values_list("changed_by", flat=True)) == {alice.pk}
    refused(api.put(f"{ASK}{np.pk}/", fewer, format="json"), 409, "item_changed")
    assert api.post(f"{ASK}{np.pk}/undo/").json() == row
    refused(api.post(f"{ASK}{np.pk}/undo/"), 409, "nothing_to_undo")
    assert logged(np.stage.project) == ["corrected a text", "took a correction back"]


def test_what_cannot_be_asked_about_is_refused_with_its_places(api: APIClient, np: Item) -> None:
    row = api.get(f"{ASK}{np.pk}/").json()
    wrong = [{"start": 0, "end": 43, "phrases": [{"start": 9, "end": 3}, {"start": 50, "end": 55}]}]
    asked = {"fingerprint": row["fingerprint"], "sentences": wrong}
    error = refused(api.put(f"{ASK}{np.pk}/", asked, format="json"), 400, "targets_refused")
    assert error["details"]["places"] == ["0.0", "0.1"]
    refused(api.put(f"{ASK}{np.pk}/", {"sentences": [{"start": "x"}]}, format="json"), 400, "invalid")
    Item.objects.filter(pk=np.pk).update(state=Item.State.OPEN)
    same = {"fingerprint": row["fingerprint"], "sentences": row["sentences"][1:]}
    refused(api.put(f"{ASK}{np.pk}/", same, format="json"), 409, "item_published")
    np.refresh_from_db()
    assert np.data == NP


def test_a_stage_of_another_kind_has_none(api: APIClient, np: Item, river_stage: Any) -> None:
    refused(api.get(STAGE + "targets/"), 404, "not_correctable")
