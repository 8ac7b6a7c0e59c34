"""Processes of one model at the same moment, and tasks of other kinds than a choice."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from hits import protocols
from hits.model_assist.verbs import model_answering
from hits.model_assist.verbs.model_answering import Given
from hits.models import ModelAnswer, Stage
from hits.refusals import Refused
from tests.hits import factories as make
from tests.hits import models_that_answer as asked
from tests.hits.doing import refused
from tests.hits.protocols.test_contract import WITH_CROWD, folder, name, protocol, roots, sample

__all__ = ["folder", "name", "protocol", "roots", "sample"]
# What it asks depends on what was said before.
ON_SEVERAL_SCREENS = "staged_choice"
ITS_SCRIPTS_POST_WHAT_THEY_LIKE = "html_page"
OURS = [one for one in WITH_CROWD if one not in ("yes_or_no", ON_SEVERAL_SCREENS)]


def at_once(calls: list[Callable[[], Any]]) -> list[Any]:
    """What each returned, or the refusal that it raised."""
    found: list[Any] = [None] * len(calls)
    start = threading.Barrier(len(calls))

    def run(number: int) -> None:
        start.wait(timeout=60)
        try:
            found[number] = calls[number]()
        except Refused as refusal:
            found[number] = refusal
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=[number]) for number in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    return found


@pytest.mark.on_postgresql
@pytest.mark.django_db(transaction=True)
def test_two_processes_that_take_at_once_are_given_different_items() -> None:
    stage = asked.stage()
    asked.items(stage, 40)
    model = asked.model(stage.project)
    found = at_once([lambda: model_answering.take(model, stage, 10, 60)] * 4)
    given = [lent.item.pk for one in found for lent in one]
    assert len(given) == len(set(given)) == 40


@pytest.mark.on_postgresql
@pytest.mark.django_db(transaction=True)
def test_of_two_different_answers_at_once_one_is_stored_and_the_other_a_conflict() -> None:
    stage = asked.stage()
    (row,) = asked.items(stage, 1)
    model = asked.model(stage.project)
    model_answering.take(model, stage, 1, 60)
    said = [Given(row.pk, {"choice": choice}) for choice in ("yes", "no")]
    found = at_once([lambda one=one: model_answering.answer(model, stage, [one]) for one in said])  # type: ignore[misc]
    (refusal,) = (one for one in found if isinstance(one, Refused))
    assert (refusal.http_status, refusal.error_code) == (409, "answered_otherwise")
    assert ModelAnswer.objects.count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize("name", OURS, indirect=True)
def test_a_task_of_each_kind_is_given_as_data_and_takes_the_answer_of_its_sample(
    name: str, protocol: Any, sample: dict[str, Any]
) -> None:
    stage: Stage = make.stage(protocol=name, settings=protocol.settings({}), key="ask")
    document = make.document(stage.project, data=sample["document"])
    row = make.item(stage, document=document, data=sample["item"])
    model = asked.model(stage.project)
    told = model_answering.described(model, stage)
    assert told.fields and len({one.name for one in told.fields}) == len(told.fields)
    (lent,) = model_answering.take(model, stage, 5, 60)
    worker = model_answering.worker_name(model)
    assert lent.task == protocol.page(document.data, row.data, protocol.settings({}), worker)
    sent = {**sample["fields"], **({"order": lent.task["order"]} if lent.task.get("order") else {})}
    if name != ITS_SCRIPTS_POST_WHAT_THEY_LIKE:
        with refused("model_answers_refused", match="1 of the answers is not accepted") as caught:
            model_answering.answer(model, stage, [Given(row.pk, {**sent, "zzz": "more"})])
        assert [fault["code"] for fault in caught.value.details()["faults"]] == ["unknown_field"]
    assert model_answering.answer(model, stage, [Given(row.pk, sent)]).new == 1
    stored = ModelAnswer.objects.get()
    assert stored.labels and stored.fields == sent


def test_every_kind_of_task_with_a_crowd_is_among_them() -> None:
    assert set(OURS) == {one for one in protocols.available([protocols.HOME])} - {"passage_queries", ON_SEVERAL_SCREENS}


@pytest.mark.django_db
def test_a_task_of_several_screens_is_not_for_models() -> None:
    stage = make.stage(protocol=ON_SEVERAL_SCREENS)
    model = asked.model(stage.project)
    for call in (
        lambda: model_answering.described(model, stage),
        lambda: model_answering.take(model, stage, 5, 60),
    ):
        with refused("several_screens", match="asks on several screens"):
            call()
