"""Items with a higher priority are published first, and a program rewrites it between two partial publications."""

from __future__ import annotations

import io
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from hits.formats.files.faults import FormatErrors
from hits.formats.inputs.item_values import MOST_ROWS, Place, PriorityRow, read_priorities
from hits.items.rules import item_lists, unsuitable_items
from hits.items.rules.item_lists import ItemFilter
from hits.items.verbs import importing, prioritizing
from hits.judging.rules.required_answers import by_priority, in_order
from hits.models import Action, Batch, Extension, Hit, Item, Project, Stage
from hits.projects.rules.archived import ArchivedError
from hits.projects.verbs import projects
from hits.publishing.verbs import publishing, sending, topping_up
from hits.stages.verbs import stage_settings
from tests.hits import factories as make
from tests.hits.stand_in import StandIn

pytestmark = pytest.mark.django_db(transaction=True)


def row(item: str, priority: str, line: int = 2) -> PriorityRow:
    return PriorityRow(item, priority, Place(line))


def bring(stage: Stage, rows: dict[str, str]) -> None:
    """Rows of (id, priority)."""
    lines = [f"{key},Text {key}.,{priority}" for key, priority in rows.items()]
    content = "\n".join(["id,text,priority", *lines, ""]).encode()
    upload = importing.create_upload(stage.project, "rows.csv", content, "public", None)
    importing.import_upload(upload.pk)
    upload.refresh_from_db()
    assert upload.state == "done", upload.faults


@pytest.fixture
def stage(lead: Any) -> Stage:
    project = projects.create_project("Wind", "choice", Decimal(50), "lab@example.org", lead, seed=3)
    stage = project.stages.get()
    stage_settings.change(stage, {"requirements": [], "answers": 1, "quality": {}}, None)
    stage.refresh_from_db()
    return stage


def publish(stage: Stage, count: int | None = None) -> list[str]:
    """The items of the new batch in the order in which their HITs were made."""
    quote = publishing.quote(stage, count)
    batch = publishing.publish(stage, quote.items, quote.total, f"page-{stage.hits.count()}", None)
    sending.send(batch.pk)
    return list(batch.hits.order_by("pk").values_list("item__key", flat=True))


@pytest.mark.on_postgresql
def test_the_highest_goes_first_and_those_without_one_come_last_as_they_came(stage: Stage, stand_in: StandIn) -> None:
    bring(stage, {"a": "", "b": "1", "c": "2.5", "d": "", "e": "1", "f": "-3", "g": "0"})
    assert publish(stage, 3) == ["c", "b", "e"]
    assert publish(stage, 2) == ["g", "f"]
    assert publish(stage) == ["a", "d"]


def test_without_any_the_order_is_that_of_the_file(stage: Stage, stand_in: StandIn) -> None:
    bring(stage, {"b": "", "a": "", "c": ""})
    assert publish(stage, 2) == ["b", "a"]


@pytest.mark.on_postgresql
def test_a_pipeline_that_rewrites_them_changes_who_goes_next_and_nothing_of_what_is_out(
    stage: Stage, stand_in: StandIn, lead: Any
) -> None:
    bring(stage, {"a": "5", "b": "4", "c": "3", "d": "2", "e": "1"})
    assert publish(stage, 2) == ["a", "b"]
    out = list(Hit.objects.order_by("pk").values())
    items = list(stage.items.filter(key__in="ab").order_by("pk").values())
    # What a model is least sure of now.
    assert prioritizing.prioritize(stage, [row("e", "9"), row("c", "", 3), row("d", "2", 4)], lead) == 2
    assert publish(stage, 2) == ["e", "d"]
    assert list(Hit.objects.filter(item__key__in="ab").order_by("pk").values()) == out
    assert list(stage.items.filter(key__in="ab").order_by("pk").values()) == items
    assert publish(stage) == ["c"]
    (told,) = Action.objects.filter(verb=prioritizing.CHANGED).values_list("user", "stage", "detail")
    assert told == (lead.pk, stage.pk, {"items": 2})


def test_all_that_is_wrong_is_named_at_once_and_nothing_is_changed(stage: Stage, stand_in: StandIn) -> None:
    bring(stage, {"a": "5", "b": "4", "c": "3"})
    publish(stage, 1)
    rows = [row("a", "1", 2), row("b", "7", 3), row("b", "8", 4), row("z", "1", 5), row("c", "soon", 6),
            row("a", "inf", 7)]  # fmt: skip
    with pytest.raises(FormatErrors) as refused:
        prioritizing.prioritize(stage, rows, None)
    told = [(fault.line, fault.place, fault.message) for fault in refused.value.errors]
    assert [(line, place) for line, place, _ in told] == [
        (2, "item"), (4, "item"), (5, "item"), (6, "priority"), (7, "item"),
    ]  # fmt: skip
    assert "published already" in told[0][2] and "line 3" in told[1][2] and "no item of this stage" in told[2][2]
    assert "'soon'" in told[3][2]
    assert list(stage.items.order_by("pk").values_list("priority", flat=True)) == [5, 4, 3]
    for wrong in ("nan", "inf", "1e30", "-1e300"):
        with pytest.raises(FormatErrors, match="a number from -1,000,000,000,000,000 to 1,000,000,000,000,000, or"):
            prioritizing.prioritize(stage, [row("b", wrong)], None)
    with pytest.raises(FormatErrors, match="the limit is 20,000"):
        prioritizing.prioritize(stage, [row("b", "1")] * (MOST_ROWS + 1), None)
    Project.objects.update(archived_at=timezone.now())
    with pytest.raises(ArchivedError):
        prioritizing.prioritize(stage, [row("b", "1")], None)


def test_a_file_of_them_is_any_table() -> None:
    (first, second) = read_priorities(io.BytesIO(b"item;priority\na;1.5\nb;\n"), "p.csv")
    assert (first.item, first.priority, second.priority) == ("a", "1.5", "")
    with pytest.raises(FormatErrors, match="No column is priority"):
        read_priorities(io.BytesIO(b"item\na\n"), "p.csv")


def test_a_column_priority_that_the_task_names_stays_a_column_of_the_task(lead: Any) -> None:
    project = projects.create_project("Tickets", "form", Decimal(50), "lab@example.org", lead, seed=3)
    stage = project.stages.get()
    form = {
        "show": [{"kind": "text", "text": "{priority}: {text}"}],
        "ask": [{"kind": "one", "key": "fits", "question": "Fits?", "choices": ["Yes", "No"]}],
    }
    Stage.objects.filter(pk=stage.pk).update(settings={"form": form})
    content = b"id,text,priority\na,A fire.,high\n"
    upload = importing.create_upload(project, "rows.csv", content, "public", None)
    importing.import_upload(upload.pk)
    item = stage.items.get()
    assert item.priority is None and item.document.data["columns"]["priority"] == "high"


def test_items_that_are_asked_again_do_not_wait_in_the_line(stage: Stage, stand_in: StandIn) -> None:
    bring(stage, {"a": "", "b": "", "c": ""})
    publish(stage)
    stage.items.filter(key="b").update(state=Item.State.AGAIN)
    stage.items.filter(key="c").update(state=Item.State.AGAIN, priority=9)
    Hit.objects.update(state=Hit.State.CLOSED)
    assert topping_up.top_up(stage)
    again = Extension.objects.filter(batch__kind=Batch.Kind.AGAIN).order_by("pk")
    assert list(again.values_list("hit__item__key", flat=True)) == ["b", "c"]


def test_what_is_looked_through_before_publishing_is_what_goes_first(lead: Any) -> None:
    project = projects.create_project("Moods", "form", Decimal(50), "lab@example.org", lead, seed=3)
    stage = project.stages.get()
    form = {
        "show": [{"kind": "text", "text": "{text}"}],
        "ask": [{"kind": "one", "key": "fits", "question": "Fits?", "choices": ["Yes", "No"]}],
    }
    Stage.objects.filter(pk=stage.pk).update(settings={"form": form})
    stage.refresh_from_db()
    for key, columns, priority in [("a", {"text": "A"}, None), ("b", {}, 1.0)]:
        make.item(stage, key=key, data={}, priority=priority,
                  document=make.document(project, data={"columns": columns}))  # fmt: skip
    (found,) = unsuitable_items.of_waiting(stage, 1)
    assert found.first == "b"


# Lists, and how much is read


def test_lists_can_be_ordered_by_it(stage: Stage) -> None:
    bring(stage, {"a": "1", "b": "", "c": "3", "d": "2"})
    falling = item_lists.page(stage, ItemFilter(sort="-priority"), size=2)
    assert [item.key for item in falling.rows] == ["c", "d"]
    rest = item_lists.page(stage, ItemFilter(sort="-priority"), size=2, after=falling.after)
    assert [item.key for item in rest.rows] == ["a"]
    rising = item_lists.page(stage, ItemFilter(sort="priority"))
    assert [item.key for item in rising.rows] == ["a", "d", "c"]


@pytest.mark.on_postgresql
def test_the_next_items_come_from_an_index_without_sorting_those_that_wait(stage: Stage) -> None:
    make.items(stage, 3000)
    Item.objects.filter(pk__in=list(stage.items.values_list("pk", flat=True)[:1500])).update(priority=1)
    waiting = stage.items.filter(state=Item.State.NEW)
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE hits_item")
    for part in by_priority(waiting):
        plan = part.values_list("id")[:20].explain().casefold()
        assert "sort" not in plan and "temp b-tree" not in plan, plan
    with CaptureQueriesContext(connection) as queries:
        assert len(in_order(waiting, 20)) == 20
    assert len(queries) == 1
    assert len(in_order(waiting)) == 3000
