"""`manage.py load_sample`, against a real marketplace."""

from __future__ import annotations

from decimal import Decimal
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth import authenticate
from django.core.management import CommandError, call_command

from hits.domain import wages
from hits.models import Hit, Project
from tests.hits.market import Marketplace

NAME = "Sample: harbour news"


def load() -> str:
    said = StringIO()
    call_command("load_sample", stdout=said)
    return said.getvalue()


@pytest.fixture
def laptop(db: None, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    settings.DEBUG = True
    settings.PUBLIC_URL = "http://localhost:8000"
    monkeypatch.delenv("SAMPLE_LEAD_PASSWORD", raising=False)
    return settings


def test_it_publishes_a_project_that_its_lead_can_look_at(laptop: Any, market: Marketplace) -> None:
    assert "47 HITs published" in load()
    project = Project.objects.get(name=NAME)
    lead = authenticate(username="lead", password="lead-sample-password")
    assert list(project.owners.all()) == [lead]
    assert project.account.budget == 50
    assert project.account.reserved == 47 * Hit.objects.first().unit_cost  # type: ignore[union-attr]
    assert set(Hit.objects.values_list("state", flat=True)) == {Hit.State.LIVE}


def test_every_stage_of_the_sample_pays_what_a_lead_should(laptop: Any, market: Marketplace) -> None:
    load()
    for stage in Project.objects.get(name=NAME).stages.filter(crowd=True):
        time = wages.answer_time(stage)
        assert time and time.hourly(stage.reward) >= wages.wage_floor(stage), stage.key
    assert Hit.objects.values_list("stage__reward", flat=True).distinct().get() == Decimal("0.09")


def test_a_second_time_changes_nothing(laptop: Any, market: Marketplace) -> None:
    load()
    ids = set(Hit.objects.values_list("hit_id", flat=True))
    assert "47 HITs published" in load()
    assert Project.objects.filter(name=NAME).count() == 1
    assert set(Hit.objects.values_list("hit_id", flat=True)) == ids


def test_without_a_marketplace_it_says_so_and_goes_on_later(laptop: Any, market: Marketplace) -> None:
    market.stop()
    try:
        assert "the rest later" in load()
    finally:
        market.start()
    assert "47 HITs published" in load()


def test_the_password_comes_from_the_environment(
    laptop: Any, market: Marketplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAMPLE_LEAD_PASSWORD", "one that only this test knows")
    load()
    assert authenticate(username="lead", password="one that only this test knows")


@pytest.mark.parametrize(("name", "value"), [("DEBUG", False), ("PUBLIC_URL", "https://annotate.example.org")])
def test_a_server_is_refused(laptop: Any, name: str, value: object) -> None:
    setattr(laptop, name, value)
    with pytest.raises(CommandError, match="known password"):
        load()
    assert not Project.objects.exists()
