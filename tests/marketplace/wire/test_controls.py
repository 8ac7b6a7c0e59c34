"""The address at which tests turn the controls: there only when asked for, and only for this machine's programs."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from marketplace.checks import test_controls_stay_at_home as stay_at_home
from marketplace.models import Controls, Fault
from tests.marketplace.controls import TestControls

PATH = "/test-controls/"


@pytest.fixture
def controls(live_server: Any, settings: Any) -> TestControls:
    settings.MARKETPLACE_TEST_CONTROLS = True
    return TestControls(live_server.url)


@pytest.mark.django_db
def test_without_the_switch_there_is_no_such_address(client: Client) -> None:
    assert client.get(PATH).status_code == 404
    answer = client.post(PATH, {"advance_seconds": 60}, content_type="application/json")
    assert answer.status_code in (403, 404)
    assert not Controls.objects.exists()


def test_the_clock_can_be_moved_and_set_right_again(controls: TestControls, mturk: Any) -> None:
    controls.advance(3 * 86_400)
    moved = datetime.fromisoformat(controls.state()["now"]) - timezone.now()
    assert abs(moved - timedelta(days=3)) < timedelta(seconds=20)
    with pytest.raises(ValueError, match="advance_seconds"):
        controls.advance(-1)
    assert controls.turn(reset=True)["offset_seconds"] == 0


def test_a_moved_clock_still_takes_the_signatures_of_those_whose_clock_is_right(
    controls: TestControls, mturk: Any, hit: Any, settings: Any
) -> None:
    settings.MARKETPLACE_ACCEPT_ANY_KEY = False
    assert mturk.get_hit(HITId=hit.hit_id)["HIT"]["HITStatus"] == "Assignable"
    controls.advance(2 * 3600)
    assert mturk.get_hit(HITId=hit.hit_id)["HIT"]["HITStatus"] == "Reviewable"


@pytest.mark.parametrize(
    "wanted",
    [
        {"speed": 2},
        {"advance_seconds": "60"},
        {"advance_seconds": True},
        {"event_copies": 1000},
        {"throttle": "fast"},
        {"faults": {}},
        {"faults": [{"kind": "fire"}]},
        {"faults": [{"kind": "throttle", "colour": "red"}]},
        {"faults": [{"kind": "throttle", "probability": 2}]},
        {"stale_seconds": 30, "faults": [{"kind": "fire"}]},
        {"reset": 1},
    ],
)
def test_what_it_does_not_understand_changes_nothing(controls: TestControls, wanted: dict[str, Any]) -> None:
    controls.turn(faults=[{"kind": "latency", "milliseconds": 1}], throttle="9,9/s")
    with pytest.raises(ValueError):
        controls.turn(**wanted)
    assert (Fault.objects.count(), Controls.objects.get().throttle) == (1, "9,9/s")
    assert Controls.objects.get().stale_seconds == 0


@pytest.mark.django_db
def test_neither_pages_nor_other_machines_can_turn_them(client: Client, settings: Any) -> None:
    settings.MARKETPLACE_TEST_CONTROLS = True
    assert client.post(PATH, '{"advance_seconds": 60}', content_type="text/plain").status_code == 415
    assert client.get(PATH, REMOTE_ADDR="192.168.1.7").status_code == 403
    assert client.get(PATH, headers={"Host": "rebound.example.org"}).status_code == 403
    assert client.get(PATH).status_code == 200


def test_a_public_server_refuses_to_start_with_them(settings: Any) -> None:
    settings.MARKETPLACE_TEST_CONTROLS = True
    for home in ("http://127.0.0.1:8001", "http://127.0.0.2:8001", "http://crowd.localhost:8001"):
        settings.MARKETPLACE_PUBLIC_URL = home
        assert list(stay_at_home(None)) == []
    settings.MARKETPLACE_PUBLIC_URL = "https://crowd.example.org"
    assert [error.id for error in stay_at_home(None)] == ["marketplace.E010"]
