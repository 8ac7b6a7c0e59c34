"""A stage offers what has an effect in its state, and its verbs refuse what has none."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from hits.models import Batch, Hit, Item, Stage
from hits.publishing.rules.stage_actions import offered
from hits.publishing.verbs import publishing
from tests.hits import factories as make
from tests.hits.doing import refused

pytestmark = [pytest.mark.django_db, pytest.mark.on_postgresql]


def stage_with(state: str, hit_state: str, **summary: int) -> Stage:
    stage = make.stage(state=state, summary={"items": 1, "published": 1, **summary})
    make.hit(make.item(stage, state=Item.State.OPEN), state=hit_state)
    return stage


def finished() -> Stage:
    return stage_with(Stage.State.LIVE, Hit.State.CLOSED, kept=1)


def test_a_stage_with_open_hits_can_be_paused_extended_and_closed() -> None:
    assert offered(stage_with(Stage.State.LIVE, Hit.State.LIVE, open=1)) == {"pause", "extend", "expire"}
    assert offered(stage_with(Stage.State.PAUSED, Hit.State.LIVE, open=1)) == {"resume", "extend", "expire"}


def test_of_a_finished_stage_the_hits_can_be_deleted_and_nothing_else() -> None:
    stage = finished()
    assert offered(stage) == {"delete-hits"}
    stage.hits.update(deleted_at=stage.project.created_at)
    assert offered(stage) == set()


def test_one_that_publishes_what_arrives_can_be_paused_while_an_earlier_stage_is_under_way() -> None:
    earlier = make.stage(position=1, summary={"items": 1, "open": 1})
    later = make.stage(earlier.project, position=2, state=Stage.State.LIVE, auto_publish=True, summary={"items": 1})
    assert offered(later) == {"pause"}
    earlier.summary.open = 0
    earlier.summary.save()
    assert offered(later) == set()


def test_a_batch_under_way_can_be_paused_also_where_all_is_answered() -> None:
    stage = finished()
    make.batch(stage, kind=Batch.Kind.DELETE, state=Batch.State.PUBLISHING)
    assert "pause" in offered(stage)


def test_the_page_of_a_finished_stage_shows_no_button_without_an_effect_and_the_verbs_refuse(client: Client) -> None:
    stage, lead = finished(), make.user("lead")
    make.member(stage.project, lead)
    client.force_login(lead)
    of = [stage.project.slug, stage.key]
    said = client.get(reverse("stage", args=of)).content.decode()
    assert "to-delete-hits" in said
    assert not any(f'id="{name}"' in said for name in ("pause", "resume", "to-extend", "to-close-early"))
    for verb in (
        lambda: publishing.pause(stage),
        lambda: publishing.expire(stage, None),
        lambda: publishing.extend(stage, 3600, None),
    ):
        with refused("no_effect", match="Nothing was changed"):
            verb()
    client.post(reverse("pause", args=of))
    client.post(reverse("expire", args=of))
    assert client.post(reverse("extend", args=of), {"hours": 72}).status_code == 400
    for name in ("pause", "expire"):
        answer = client.post(reverse(f"api:{name}", args=of), content_type="application/json")
        assert (answer.status_code, answer.json()["error"]["code"]) == (409, "no_effect")
    stage.refresh_from_db()
    assert stage.state == Stage.State.LIVE and not stage.batches.exclude(kind=Batch.Kind.FIRST).exists()
