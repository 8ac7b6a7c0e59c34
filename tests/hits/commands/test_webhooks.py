"""`manage.py webhooks` with a real receiver in another process."""

from __future__ import annotations

from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from django.core.management.base import CommandError

from hits.models import Webhook, WebhookDelivery
from tests.hits import factories as make
from tests.hits.commands.conftest import Run, logged
from tests.receiver import is_signed, receiver

pytestmark = pytest.mark.django_db(transaction=True)


def test_one_is_added_tried_changed_and_ended(run: Run, settings: Any, tmp_path: Path) -> None:
    settings.WEBHOOK_HTTP, settings.WEBHOOK_NETWORKS = True, [ip_network("127.0.0.0/8")]
    project = make.project(slug="river")
    with receiver(tmp_path) as listener:
        listener.begin()
        said = run("webhooks", "river", "--add", listener.address, "--event", "item.decided")
        row = Webhook.objects.get()
        assert row.secret in said and listener.address in said
        assert row.secret not in run("webhooks", "river")
        said = run("webhooks", "river", "--test", row.pk)
        sent = WebhookDelivery.objects.get()
        assert f"Message {sent.pk} (test): delivered. The answer was 204." in said
        assert "delivered. The answer was 204." in run("webhooks", "river", "--again", sent.pk)
        assert [number for _, number in listener.attempts] == [1, 2]
        assert is_signed(listener.got[0], row.secret)
    said = run("webhooks", "river", "--deliveries", row.pk, "--state", "delivered")
    assert "test" in said and "Delivered" in said
    assert "Delivered" not in run("webhooks", "river", "--deliveries", row.pk, "--before", sent.pk)
    said = run("webhooks", "river", "--change", row.pk, "--event", "budget.low", "--off")
    assert "off" in said and "budget.low" in said
    assert "whsec_" in run("webhooks", "river", "--rotate", row.pk)
    assert listener.address not in run("webhooks", "river", "--end", row.pk)
    assert logged(project) == [
        "added a webhook", "sent a test event", "sent a message again", "changed a webhook",
        "rotated the secret of a webhook", "ended a webhook",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--add", "https://127.0.0.1/", "--event", "item.decided"], "not on an internal network"),
        (["--add", "https://93.184.216.34/"], "at least one event"),
        (["--change", "{pk}"], "Say what to change"),
        (["--change", "{pk}", "--on", "--off"], "not both"),
        (["--end", "99"], "has no webhook 99. There are: {pk}"),
        (["--again", "99"], "has no message 99"),
        (["--test", "{other}"], "has no webhook"),
    ],
)
def test_what_cannot_be_done_says_why(run: Run, arguments: list[str], why: str) -> None:
    row, other = make.webhook(make.project(slug="river")), make.webhook()
    given = [one.format(pk=row.pk, other=other.pk) for one in arguments]
    with pytest.raises(CommandError, match=why.format(pk=row.pk)):
        run("webhooks", "river", *given)
    assert not row.project.actions.exists()
