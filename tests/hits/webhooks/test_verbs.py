"""Webhooks of a project: what is refused, and what is written down for them when something happens."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from ipaddress import ip_network
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.serializers import ValidationError

from hits.judging.rules.summaries import refresh_summary
from hits.judging.verbs import deciding
from hits.models import Account, Block, Item, Label, Project, Stage, Webhook, WebhookDelivery
from hits.notifications.jobs import pending_notices
from hits.notifications.verbs import writing_notices
from hits.projects.rules.archived import ArchivedError
from hits.refusals import Refused
from hits.releases.verbs import releasing
from hits.webhooks.verbs import MOST_WEBHOOKS
from hits.workers.verbs import blocking
from tests.hits import factories as make
from tests.hits.doing import do

pytestmark = pytest.mark.django_db
Event = Webhook.Event
# Of the internet at large, so that no name is looked up.
ADDRESS = "https://93.184.216.34/hook"
Looked = Callable[..., None]


@pytest.fixture
def alice() -> Any:
    return make.user("alice")


@pytest.fixture
def project(alice: Any) -> Project:
    return make.project(owner=alice, name="River", slug="river")


@pytest.fixture
def name_leads_to(monkeypatch: pytest.MonkeyPatch) -> Looked:
    """From now on each name leads to these addresses."""

    def lead(*addresses: str) -> None:
        entries = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 443)) for address in addresses]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *given, **named: entries)

    return lead


def told(hook: Webhook, event: str) -> list[dict[str, Any]]:
    """What was written down for it: the `data` of each message of this event."""
    return [json.loads(row.body)["data"] for row in hook.deliveries.filter(event=event).order_by("pk")]


# Added, changed, ended


def test_a_webhook_is_added_with_a_secret_that_is_not_told_again(project: Project, alice: Any) -> None:
    events = [Event.RELEASE_MADE, Event.ITEM_DECIDED, Event.ITEM_DECIDED]
    row = do("webhooks.add", project, alice, address=ADDRESS, events=events)
    assert (row.state, row.events) == ("on", ["item.decided", "release.made"]) and row.secret.startswith("whsec_")
    action = project.actions.get()
    assert (action.verb, action.about, action.user) == ("added a webhook", "93.184.216.34", alice)


@pytest.mark.parametrize(
    ("address", "events", "fields", "why"),
    [
        ("http://example.org/hook", ["item.decided"], ["address"], "must begin with https://"),
        ("https://10.0.0.8/hook", ["item.decided"], ["address"], "internal network"),
        ("https://169.254.169.254/latest", ["item.decided"], ["address"], "internal network"),
        ("https://localhost/hook", ["item.decided"], ["address"], "internal network"),
        ("https://nobody.invalid/hook", ["item.decided"], ["address"], "has no address"),
        ("https://example.org/" + "a" * 500, ["item.decided"], ["address"], "no more than"),
        (ADDRESS, [], ["events"], "at least one event"),
        (ADDRESS, ["item.decided", "rain.fell"], ["events"], '"rain.fell" is not a valid choice'),
        ("no address", ["rain.fell"], ["address", "events"], '"rain.fell" is not a valid choice'),
    ],
)
def test_what_is_wrong_is_named_at_once_and_nothing_is_added(
    project: Project, address: str, events: list[str], fields: list[str], why: str
) -> None:
    with pytest.raises(ValidationError, match=why) as caught:
        do("webhooks.add", project, address=address, events=events)
    assert sorted(caught.value.detail) == fields
    assert not Webhook.objects.exists() and not project.actions.exists()


def test_a_name_that_leads_to_this_machine_is_refused(project: Project, name_leads_to: Looked) -> None:
    name_leads_to("93.184.216.34", "127.0.0.1")
    with pytest.raises(ValidationError, match=r"hooks\.example\.org is on an internal network: 127\.0"):
        do("webhooks.add", project, address="https://hooks.example.org/", events=["item.decided"])


@pytest.mark.parametrize(
    ("address", "is_here"),
    [
        ("https://annotate.example.org/events/", True),
        ("https://ANNOTATE.example.org.:8443/", True),
        ("https://tasks.example.org/", True),
        ("https://hooks.example.org/", False),
        ("https://annotate.example.org.uk/", False),
    ],
)
def test_an_address_of_annotate_itself_is_refused(
    project: Project, settings: Any, name_leads_to: Looked, address: str, is_here: bool
) -> None:
    settings.PUBLIC_URL = "https://annotate.example.org"
    settings.ALLOWED_HOSTS = ["annotate.example.org", "tasks.example.org"]
    name_leads_to("93.184.216.34")
    if is_here:
        with pytest.raises(ValidationError, match="Annotate's own"):
            do("webhooks.add", project, address=address, events=["item.decided"])
    else:
        do("webhooks.add", project, address=address, events=["item.decided"])


def test_on_one_s_own_machine_the_port_tells_annotate_from_a_listener(project: Project, settings: Any) -> None:
    settings.PUBLIC_URL, settings.ALLOWED_HOSTS = "http://localhost:8000", ["localhost", "127.0.0.1"]
    settings.WEBHOOK_HTTP, settings.WEBHOOK_NETWORKS = True, [ip_network("127.0.0.0/8")]
    for address in ("http://127.0.0.1:8000/", "http://localhost:8000/x"):
        with pytest.raises(ValidationError, match="Annotate's own"):
            do("webhooks.add", project, address=address, events=["item.decided"])
    do("webhooks.add", project, address="http://127.0.0.1:9000/", events=["item.decided"])


def test_a_project_has_ten_webhooks_at_most_and_ended_ones_do_not_count(project: Project) -> None:
    made = [do("webhooks.add", project, address=ADDRESS, events=["item.decided"]) for _ in range(MOST_WEBHOOKS)]
    with pytest.raises(Refused, match="has 10 webhooks"):
        do("webhooks.add", project, address=ADDRESS, events=["item.decided"])
    do("webhooks.end", made[0])
    do("webhooks.end", made[0])
    assert project.actions.filter(verb="ended a webhook").count() == 1
    do("webhooks.add", project, address=ADDRESS, events=["item.decided"])


def test_another_address_begins_anew_and_keeps_the_secret(project: Project, alice: Any) -> None:
    row = do("webhooks.add", project, alice, address=ADDRESS, events=["item.decided"])
    secret = row.secret
    Webhook.objects.update(failures=7, failing_since=timezone.now(), error="Nobody.", not_before=timezone.now())
    row = do("webhooks.change", row, alice, address="https://93.184.216.35/hook")
    row.refresh_from_db()
    assert (row.failures, row.failing_since, row.not_before, row.error) == (0, None, None, "") and row.secret == secret
    do("webhooks.change", row, alice, active=False)
    do("webhooks.change", row, alice, active=False)
    assert [action.detail.get("fields") for action in project.actions.all()] == [None, ["address"], ["active"]]


def test_after_a_rotation_the_earlier_secret_is_kept_for_a_day(project: Project) -> None:
    row = do("webhooks.add", project, address=ADDRESS, events=["item.decided"])
    first = row.secret
    second = do("webhooks.rotate", row).secret
    row.refresh_from_db()
    assert first != second == row.secret and row.earlier_secret == first
    assert row.earlier_until and timedelta(hours=23) < row.earlier_until - timezone.now() <= timedelta(hours=24)


def test_an_ended_webhook_gives_up_what_waits_and_takes_nothing(project: Project) -> None:
    row = do("webhooks.add", project, address=ADDRESS, events=["item.decided"])
    waiting, done = make.webhook_delivery(row), make.webhook_delivery(row, state="delivered")
    do("webhooks.end", row)
    waiting.refresh_from_db()
    assert (waiting.state, waiting.error) == ("given_up", "The webhook was ended.")
    row.refresh_from_db()
    for name, values in (("rotate", {}), ("test", {}), ("change", {"active": True})):
        with pytest.raises(Refused, match="was ended"):
            do(f"webhooks.{name}", row, **values)
    with pytest.raises(Refused, match="was ended"):
        do("webhooks.send_again", done)


def test_one_test_event_waits_at_a_time_and_none_while_it_is_off(project: Project) -> None:
    row = do("webhooks.add", project, address=ADDRESS, events=["release.made"])
    do("webhooks.test", row)
    with pytest.raises(Refused, match="waits already"):
        do("webhooks.test", row)
    assert len(told(row, "test")) == 1
    do("webhooks.change", row, active=False)
    WebhookDelivery.objects.update(state="delivered")
    with pytest.raises(Refused, match="is off"):
        do("webhooks.test", row)


def test_a_message_that_still_waits_is_not_sent_again(project: Project) -> None:
    row = make.webhook_delivery(make.webhook(project))
    with pytest.raises(Refused, match="still to be sent"):
        do("webhooks.send_again", row)
    WebhookDelivery.objects.update(state="given_up", attempts=80, since=timezone.now() - timedelta(days=9))
    do("webhooks.send_again", row)
    row.refresh_from_db()
    assert (row.state, row.attempts) == ("waiting", 80) and timezone.now() - row.since < timedelta(minutes=1)


def test_an_archived_project_keeps_its_webhooks_and_ends_them_alone(project: Project) -> None:
    row = make.webhook(project)
    Project.objects.update(archived_at=timezone.now())
    with pytest.raises(ArchivedError):
        do("webhooks.add", project, address=ADDRESS, events=["item.decided"])
    for name in ("webhooks.rotate", "webhooks.test"):
        with pytest.raises(ArchivedError):
            do(name, row)
    do("webhooks.end", row)
    row.refresh_from_db()
    assert row.state == "ended"


# What happens in the project


@pytest.fixture
def stage(project: Project) -> Stage:
    return make.stage(project, key="validate", answers=1)


def answered(stage: Stage, number: int) -> list[Item]:
    """Items with one answer each, right, that nobody has decided."""
    rows = make.items(stage, number, state=Item.State.OPEN, stale=True)
    answers = make.assignments(make.hits(rows, harvested=1), make.worker())
    Label.objects.bulk_create(
        Label(
            assignment=answer, item=item, stage=stage, worker=answer.worker, unit="entity", value={"text": "Linden"},
            correct=True,
        )
        for answer, item in zip(answers, rows, strict=True)
    )  # fmt: skip
    return rows


def test_a_decided_item_is_told_with_what_was_concluded(stage: Stage) -> None:
    hook, deaf = make.webhook(stage.project), make.webhook(stage.project, events=["release.made"])
    (item,) = answered(stage, 1)
    deciding.decide(stage)
    (row,) = hook.deliveries.all()
    body = json.loads(row.body)
    assert (body["type"], body["version"], body["project"], body["event"]) == ("item.decided", 1, "river", row.event_id)
    assert body["data"] == {
        "stage": "validate",
        "item": item.key,
        "id": item.pk,
        "outcome": "kept",
        "conclusion": "",
        "parts": {},
        "revision": 1,
        "see": f"http://localhost:8000/api/projects/river/stages/validate/items/{item.pk}/",
    }
    assert not deaf.deliveries.exists()
    assert set(body) == {"type", "timestamp", "version", "event", "project", "data"}


def test_each_time_that_an_item_is_decided_otherwise_its_revision_grows(stage: Stage) -> None:
    hook = make.webhook(stage.project)
    (item,) = answered(stage, 1)

    def decide(**label: Any) -> None:
        Label.objects.update(**label)
        Item.objects.filter(pk=item.pk).update(stale=True)
        deciding.decide(stage)

    decide()
    decide()
    decide(correct=False)
    decide(void=True)
    decide(void=False)
    found = [(data["outcome"], data["revision"]) for data in told(hook, "item.decided")]
    assert [outcome for outcome, _ in found] == ["kept", "dropped", "open", "dropped"]
    numbers = [number for _, number in found]
    assert numbers == sorted(set(numbers)) and numbers[0] == 1


def test_a_hundred_items_take_as_many_queries_as_ten_and_none_is_written_where_nobody_listens(stage: Stage) -> None:
    def queries(number: int) -> int:
        answered(stage, number)
        with CaptureQueriesContext(connection) as caught:
            deciding.decide(stage)
        return len([one for one in caught if "webhook" in one["sql"]])

    assert queries(100) == 1
    assert not WebhookDelivery.objects.exists()
    hook = make.webhook(stage.project)
    inserts = 1 if connection.vendor == "postgresql" else 100
    # SQLite takes some dozens of rows a statement, whatever they are.
    assert queries(10) <= 3 and queries(100) <= 2 + inserts
    assert hook.deliveries.count() == 110


@pytest.mark.on_postgresql
def test_two_webhooks_are_told_of_one_event_under_its_one_id(stage: Stage) -> None:
    first, second = make.webhook(stage.project), make.webhook(stage.project)
    answered(stage, 3)
    deciding.decide(stage)
    events = [list(hook.deliveries.order_by("pk").values_list("event_id", flat=True)) for hook in (first, second)]
    assert events[0] == events[1] and len(set(events[0])) == 3
    assert WebhookDelivery.objects.values("message_id").distinct().count() == 6


def test_what_is_off_ended_or_another_project_s_is_told_nothing(stage: Stage) -> None:
    make.webhook(stage.project, active=False)
    make.webhook(stage.project, ended_at=timezone.now())
    make.webhook()
    answered(stage, 1)
    deciding.decide(stage)
    assert not WebhookDelivery.objects.exists()


def test_what_is_taken_back_with_its_transaction_was_not_told(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    make.webhook(stage.project)
    answered(stage, 2)

    def fail(*given: Any) -> None:
        raise RuntimeError

    monkeypatch.setattr(deciding, "refresh_figures", fail)
    with pytest.raises(RuntimeError):
        deciding.decide(stage)
    assert not WebhookDelivery.objects.exists()


def test_a_block_is_told_with_the_worker_s_id_and_a_pause_is_not(stage: Stage, alice: Any) -> None:
    hook = make.webhook(stage.project)
    stat = make.worker_stat(stage)
    worker = stat.worker.worker_id
    blocking.pause(stage, [worker], 5, "Too fast.", alice)
    assert told(hook, "worker.blocked") == []
    blocking.intend_by_hand(stage, [worker], "Copies the first sentence.", alice)
    block = Block.objects.get()
    expected = {"worker": worker, "stage": "validate", "block": block.pk, "by_hand": True}
    assert told(hook, "worker.blocked") == [expected]
    assert "Copies" not in hook.deliveries.get().body


def test_a_release_is_told_once(project: Project) -> None:
    hook = make.webhook(project)
    stage = make.stage(project, key="validate")
    item = make.item(stage, state=Item.State.KEPT)
    make.verdict(item)
    make.label(make.assignment(make.hit(item)))
    refresh_summary(stage)
    made, _ = releasing.release(project, None)
    again, new = releasing.release(project, None)
    assert (again, new) == (made, False)
    (data,) = told(hook, "release.made")
    assert (data["number"], data["digest"]) == (1, made.digest)
    assert data["see"].endswith("/api/projects/river/releases/1/")


def write(project: Project) -> None:
    projects = list(Project.objects.filter(pk=project.pk).with_state().select_related("account"))
    writing_notices.write(projects, pending_notices.of_projects(projects))


def test_little_budget_is_told_when_it_begins_and_when_it_begins_again(project: Project) -> None:
    hook = make.webhook(project)
    make.stage(project, state=Stage.State.LIVE, summary={"items": 3, "imported": 3, "open": 3})
    for paid in ("95.00", "96.00", "10.00", "92.50"):
        Account.objects.update(paid=Decimal(paid))
        write(project)
    assert told(hook, "budget.low") == [
        {"budget": "100.00", "left": "5.00", "currency": "USD"},
        {"budget": "100.00", "left": "7.50", "currency": "USD"},
    ]


def test_a_finished_stage_is_told_and_again_after_more_came(project: Project) -> None:
    hook = make.webhook(project)
    stage = make.stage(
        project, key="validate", state=Stage.State.LIVE, summary={"items": 3, "open": 1, "kept": 2, "answers": 4}
    )
    for opened in (1, 0, 0, 2, 0):
        stage.summary.open = opened
        stage.summary.save(update_fields=["open"])
        write(project)
    expected = {"stage": "validate", "items": 3, "kept": 2, "dropped": 0, "answers": 4}
    assert told(hook, "stage.finished") == [expected, expected]
    assert not project.notices.filter(words="").exists()
