"""A marketplace with a mail server, where whoever signs up confirms an e-mail address."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from hits import tasks
from hits.models import Hit, Project, Stage
from tests.hits import factories as make
from tests.hits.mailbox import Mailbox, mail_server
from tests.hits.market import Marketplace

pytestmark = pytest.mark.django_db
SAMPLE = Path(__file__).resolve().parents[3] / "samples" / "record.jsonl"
WHAT_TO_DO = "Start the marketplace without EMAIL_URL"


@pytest.fixture(scope="module")
def mailbox() -> Iterator[Mailbox]:
    with mail_server() as running:
        yield running


@pytest.fixture(scope="module")
def with_mail(tmp_path_factory: pytest.TempPathFactory, mailbox: Mailbox) -> Iterator[Marketplace]:
    mail = {"EMAIL_URL": f"smtp://127.0.0.1:{mailbox.port}"}
    running = Marketplace(tmp_path_factory.mktemp("with-mail"), **mail)
    running.start()
    yield running
    running.close()


@pytest.fixture
def sample(settings: Any, with_mail: Marketplace, monkeypatch: pytest.MonkeyPatch) -> Project:
    settings.DEBUG = True
    settings.PUBLIC_URL, settings.MTURK_SUBMIT_ORIGINS = "http://localhost:8000", [with_mail.url]
    project = make.project(owner=make.user("alice"), slug="fog", is_sample=True)
    stage = make.stage(project, state=Stage.State.LIVE)
    make.hits(make.items(stage, 1, state="open"))
    Hit.objects.update(state=Hit.State.LIVE, expires_at=timezone.now() + timedelta(days=1))
    monkeypatch.setattr(tasks.let_crowd_answer, "delay", lambda pk: pytest.fail("It was started."))
    return project


def test_the_button_says_beforehand_what_to_do(sample: Project) -> None:
    client = Client()
    client.force_login(sample.owners.get())
    page = client.post(reverse("simulated-crowd", args=["fog"]), follow=True).content.decode()
    assert WHAT_TO_DO in page and "Nothing was started" in page


def test_a_crowd_of_one_s_own_says_it_before_anything_is_answered(with_mail: Marketplace, mailbox: Mailbox) -> None:
    with pytest.raises(CommandError, match=WHAT_TO_DO):
        call_command("crowd", "--key", str(SAMPLE), "--marketplace", with_mail.url, "--workers", "2", "--spammers", "0")
    assert mailbox.letters == []


def test_without_a_mail_server_nothing_keeps_it_away(
    sample: Project, marketplace: Marketplace, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.MTURK_SUBMIT_ORIGINS = [marketplace.url]
    started: list[int] = []
    monkeypatch.setattr(tasks.let_crowd_answer, "delay", started.append)
    client = Client()
    client.force_login(sample.owners.get())
    client.post(reverse("simulated-crowd", args=["fog"]))
    assert started == [sample.pk]
