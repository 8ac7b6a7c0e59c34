"""Texts that messages begin with, and one text to many workers."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from hits.models import MessageTemplate, Stage, Worker, WorkerMessage
from hits.people.models import LONGEST_WRITTEN
from hits.people.rules import message_templates, recipients
from hits.people.rules.message_templates import filled, unknown_fault
from hits.people.verbs import message_templates as flow
from hits.people.verbs import messaging
from tests.hits import factories as make
from tests.hits.doing import do, refused
from tests.hits.stand_in import StandIn

pytestmark = [pytest.mark.django_db, pytest.mark.on_postgresql]
GIVEN = {
    "name": "New texts",
    "subject": "New in {stage}",
    "text": "Hello {worker},\n\nthere are new texts in {project}.",
}


@pytest.fixture
def stage() -> Stage:
    return make.stage(make.project(name="River {worker}"), hit_title="Was it wet?")


def workers(stage: Stage, number: int) -> list[Any]:
    made = [make.worker(f"A{letter}") for letter in "CBADEFGH"[:number]]
    for one in made:
        make.worker_stat(stage, one)
    return made


def test_a_template_is_kept_changed_and_removed(stage: Stage) -> None:
    lena = make.user("lena")
    row = do("message_templates.make", stage.project, lena, **GIVEN)
    assert (row.subject, row.text, row.changed_by) == (GIVEN["subject"], GIVEN["text"], lena)
    changed = do("message_templates.change", row, **{**GIVEN, "name": "Newest", "text": "  Look. "})
    assert (changed.pk, changed.name, changed.text) == (row.pk, "Newest", "Look.")
    do("message_templates.remove", row, lena)
    assert not MessageTemplate.objects.exists()
    said = [(one.verb, one.about) for one in stage.project.actions.order_by("id")]
    assert said == [
        ("saved a message template", "New texts"),
        ("saved a message template", "Newest"),
        ("removed a message template", "Newest"),
    ]


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"name": ""}, ["name"]),
        ({"name": "x" * 61}, ["name"]),
        ({"subject": "x" * 201}, ["subject"]),
        ({"text": "x" * (LONGEST_WRITTEN + 1)}, ["text"]),
        ({"name": " ", "subject": "\u200b", "text": "\n"}, ["name", "subject", "text"]),
        ({"subject": "For {nobody}"}, ["subject"]),
        ({"text": "{project} {Worker} {x} {x}"}, ["text"]),
    ],
)
def test_what_is_no_template_is_refused_with_every_fault_at_its_field(
    stage: Stage, changes: dict[str, str], fields: list[str]
) -> None:
    with refused("template_refused") as caught:
        message_templates.checked({**GIVEN, **changes})
    assert list(caught.value.details()["faults"]) == fields
    assert not MessageTemplate.objects.exists()


def test_unknown_placeholders_are_named_once_each_and_other_braces_stand_for_themselves() -> None:
    assert unknown_fault("Hello {name}, {name} of {town}") == (
        "There is no placeholder {name}, {town}. There are {project}, {stage}, {worker}, {email}."
    )
    assert unknown_fault("f(x) = {x | x > 0} and {} and {{ and { a }") == ""
    assert filled("{worker}: {a b} {{worker}}", {"worker": "{stage}"}) == "{stage}: {a b} {{stage}}"


def test_a_value_that_looks_like_a_placeholder_stays_as_it_is(stage: Stage) -> None:
    worker = make.worker("A1")
    found = message_templates.values(stage, worker)
    assert filled("{project} {stage} {worker} {email}", found) == "River {worker} Was it wet? A1 lab@example.org"


def test_a_name_is_there_once_in_a_project_and_a_project_has_so_many(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flow, "MOST_TEMPLATES", 2)
    do("message_templates.make", stage.project, **GIVEN)
    second = do("message_templates.make", stage.project, **{**GIVEN, "name": "Second"})
    with refused("template_refused", match="has this name"):
        do("message_templates.change", second, **GIVEN)
    with refused("template_refused", match="at most 2 templates"):
        do("message_templates.make", stage.project, **{**GIVEN, "name": "Third"})
    do("message_templates.make", make.project(), **GIVEN)
    assert MessageTemplate.objects.count() == 3


# One text to many


def write_to(stage: Stage, way: str = "stage", **changes: Any) -> int:
    given = {"subject": "New in {stage}", "text": "Hello {worker}.", "confirmation": "page-0001", **changes}
    return messaging.write_to(stage, way, user=None, **given)


def test_everybody_of_the_stage_gets_the_text_with_their_own_values_once(stage: Stage, stand_in: StandIn) -> None:
    workers(stage, 3)
    make.worker_stat(make.stage(stage.project), make.worker("AELSEWHERE"))
    make.worker_stat(stage, make.worker("imported-1:X"))
    Worker.objects.filter(worker_id="imported-1:X").update(imported_into=stage.project)
    assert (write_to(stage), write_to(stage)) == (3, 0)
    assert messaging.send(stage.project) == 3
    assert [(to, about, text.split("\n")[0]) for to, about, text in stand_in.notes] == [
        (f"A{letter}", "New in Was it wet?", f"Hello A{letter}.") for letter in "ABC"
    ]
    links = {text.rpartition("/task/reply/")[2] for _, _, text in stand_in.notes}
    assert len(links) == 3, "Each has a link of its own."
    [row] = stage.project.actions.all()
    assert (row.verb, row.detail) == ("wrote to workers", {"workers": 3, "subject": "New in {stage}"})


def test_of_a_used_confirmation_other_words_are_refused_and_whoever_is_new_gets_the_same(stage: Stage) -> None:
    workers(stage, 3)
    assert write_to(stage) == 3
    for changes in ({"subject": "Old in {stage}"}, {"text": "Good bye {worker}."}):
        with refused("confirmation_used"):
            write_to(stage, **changes)
    make.worker_stat(stage, make.worker("ALATE"))
    assert write_to(stage) == 1
    assert WorkerMessage.objects.count() == 4


def test_who_is_kept_out_is_left_out_where_that_was_chosen(stage: Stage) -> None:
    blocked, paused, free, *_ = workers(stage, 3)
    make.block(stage, blocked)
    make.block(stage, paused, until=timezone.now() + timedelta(hours=5))
    assert list(recipients.found(stage, "unblocked")) == [free]
    assert recipients.found(stage, "stage").count() == 3


def test_everybody_in_a_pool_that_the_stage_asks_for_can_be_written_to(stage: Stage) -> None:
    inside, left, *_ = workers(stage, 3)
    pool = make.pool(stage.project, inside, left)
    make.pool(stage.project, make.worker("ANOTHER"))
    stage.project.grants.filter(worker=left).update(state="withdrawn")
    assert list(recipients.found(stage, "pools")) == []
    stage.requirements = [{"qualification": pool.key, "comparator": "Exists"}]
    assert list(recipients.found(stage, "pools")) == [inside]
    stage.requirements = [{"qualification": pool.key, "comparator": "DoesNotExist"}]
    assert list(recipients.found(stage, "pools")) == []


def test_every_fault_is_named_and_nothing_is_written(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    with refused("message_refused") as caught:
        write_to(stage, subject=" ", text="{name}", confirmation="test-17-4")
    assert len(caught.value.details()["faults"]) == 4
    workers(stage, 3)
    for changes, said in (
        ({"text": "{worker}" * LONGEST_WRITTEN}, "a text of at most"),
        ({"subject": "{stage}" * 40}, "a subject of at most"),
    ):
        with refused("message_refused", match=said):
            write_to(stage, **changes)
    monkeypatch.setattr(messaging, "MOST_OF_STAGE", 2)
    with refused("message_refused", match="1 to 2 workers"):
        write_to(stage)
    with refused("unknown_recipients", match="There are: stage, pools, unblocked"):
        write_to(stage, "everybody on earth")
    assert not WorkerMessage.objects.exists()
