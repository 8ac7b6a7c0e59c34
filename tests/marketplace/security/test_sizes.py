"""How much a page of the site sends, with full lists and texts as long as they may be."""

from collections.abc import Callable
from copy import copy
from typing import Any

from django.db import models
from django.test import Client

from common.cutting import LONGEST_VALUES
from marketplace.models import (
    AccessKey,
    Assignment,
    Concern,
    Hit,
    HitLayout,
    HitType,
    Invitation,
    Message,
    Notification,
    OperatorAction,
    Panel,
    QualificationType,
    Requester,
    Worker,
)
from marketplace.rules import limits
from marketplace.rules.question import answer_xml
from tests.marketplace.security.addresses import ADDRESSES
from tests.marketplace.security.test_matrix import RIGHT_ONE

LARGEST = 2_000_000
# What is to be whole, whatever its size.
DOWNLOADS = {"site:privacy_data", "site:earnings_file", "operator:payout_csv", "operator:worker_export"}
WORDS = "It’s <b>“long”</b> & goes on, isn't it? "
# A page shows no more rows.
ROWS = 51


def text(length: int) -> str:
    return (WORDS * (length // len(WORDS) + 1))[:length]


# The largest that a form may have, and one of as many fields as there may be.
ANSWERS = ({"answer": [text(2_500_000)]}, {f"box-{number}": ["<yes>"] for number in range(20_000)})
LONG: dict[type[models.Model], dict[str, int]] = {
    AccessKey: {"label": 100},
    Assignment: {"requester_feedback": limits.FEEDBACK},
    Concern: {"text": limits.CONCERN, "resolution": limits.CONCERN},
    HitLayout: {"html": limits.QUESTION_BYTES, "name": limits.LAYOUT_NAME},
    HitType: {"title": limits.TITLE, "description": limits.DESCRIPTION, "keywords": limits.KEYWORDS},
    Invitation: {"note": 200},
    Message: {"subject": 200, "text": 4096},
    Notification: {"reason": 500, "body": 10_000},
    OperatorAction: {"about": 500},
    Panel: {"name": 100, "terms": 10_000},
    QualificationType: {"description": limits.DESCRIPTION, "keywords": limits.KEYWORDS},
    Requester: {"name": 200},
}


def test_no_page_is_larger_than_it_may_be(
    visit: Callable[..., Client],
    world: dict[str, Any],
    hit_type: HitType,
    worker: Worker,
    make_hit: Callable[..., Hit],
    make_worker: Callable[..., Worker],
) -> None:
    _fill(world, hit_type, worker, make_hit, make_worker)
    for answer in ANSWERS:
        Assignment.objects.filter(status=Assignment.Status.REJECTED).update(answer=answer_xml(answer))
        sizes = {}
        for name in ADDRESSES.keys() - DOWNLOADS:
            address = ADDRESSES[name]
            reply = visit(RIGHT_ONE[address.who]).get(address.path(name, world), address.filled(world))
            assert reply.status_code < 500, name
            sizes[name] = len(reply.content)
        assert {name: size for name, size in sizes.items() if size > LARGEST} == {}
        # Else it would ask about an empty marketplace.
        assert sizes["operator:concern"] > 50_000 and sizes["site:my_work"] > 50_000


def test_of_an_answer_beyond_all_measure_an_operator_sees_the_beginning_and_how_much_is_missing(
    visit: Callable[..., Client], world: dict[str, Any]
) -> None:
    told = []
    for answer in ANSWERS:
        Assignment.objects.filter(pk=world["rejected"]).update(answer=answer_xml(answer))
        address = ADDRESSES["operator:concern"].path("operator:concern", world)
        told.append(visit("operator").get(address).content.decode())
    assert " more characters were cut off]" in told[0] and len(told[0]) < 4 * LONGEST_VALUES
    assert "box-999<" in told[1] and "box-1000<" not in told[1] and "19,000 more fields" in told[1]


def _fill(
    world: dict[str, Any],
    hit_type: HitType,
    worker: Worker,
    make_hit: Callable[..., Hit],
    make_worker: Callable[..., Worker],
) -> None:
    rejected, done = (Assignment.objects.get(pk=world[name]) for name in ("rejected", "done"))
    message = Message.objects.get(pk=world["message"])
    for number in range(ROWS):
        hit = make_hit(hit_type, max_assignments=3)
        _again(rejected, hit=hit, assignment_id=f"3{number:029d}")
        _again(done, hit=hit, assignment_id=f"4{number:029d}", worker=make_worker(f"worker-{number}"))
        _again(message, worker=worker)
    for model, columns in LONG.items():
        model._base_manager.update(**{name: text(longest) for name, longest in columns.items()})


def _again(row: models.Model, **columns: Any) -> None:
    again = copy(row)
    again.pk, again._state = None, copy(row._state)
    again._state.adding = True
    for name, value in columns.items():
        setattr(again, name, value)
    again.save()
