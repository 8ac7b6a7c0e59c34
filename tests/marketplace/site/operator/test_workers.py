from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client

from marketplace.models import HitType, OperatorAction, Requester, Worker
from marketplace.rules.errors import MarketplaceError
from marketplace.verbs import assignments, blocks, qualifications
from tests.marketplace.site.operator.conftest import text_of


def page(worker: Worker, more: str = "") -> str:
    return f"/operator/workers/{worker.worker_id}/{more}"


def test_workers_are_found_by_id_name_and_address(desk: Client, worker: Worker, make_worker: Any) -> None:
    make_worker("olga")
    worker.user.email = "w.alter@example.org"
    worker.user.save()
    for search in (worker.worker_id[:8].lower(), "WALT", "alter@exa"):
        found = text_of(desk.get("/operator/workers/", {"q": search}))
        assert worker.worker_id in found and "olga" not in found
    assert "No worker matches" in text_of(desk.get("/operator/workers/?q=nobody"))


def test_lists_are_sorted_and_paged(desk: Client, make_worker: Callable[..., Worker]) -> None:
    for number in range(55):
        make_worker(f"w{number:02}", earned=Decimal(number), submitted_count=number)
    for sort in ("owed", "earned", "submitted"):
        first = desk.get("/operator/workers/", {"sort": sort})
        assert [row.user.username for row in first.context["page"].object_list][:2] == ["w54", "w53"]
    second = desk.get("/operator/workers/?sort=owed&page=2")
    assert [row.user.username for row in second.context["page"].object_list] == ["w04", "w03", "w02", "w01", "w00"]


def test_one_worker_s_page_says_all(desk: Client, worker: Worker, requester: Requester, now: datetime) -> None:
    kind = qualifications.create_type(requester, name="Trained", description="x", status="Active", now=now)
    qualifications.grant(requester, kind.qualification_type_id, worker.worker_id, now, value=90)
    blocks.block(requester, worker.worker_id, "answers at random", now)
    Worker.objects.filter(pk=worker.pk).update(earned=Decimal("3.50"), paid=Decimal("1.25"))
    said = text_of(desk.get(page(worker)))
    for words in ("Trained", "90", "answers at random", "Alice", "$2.25", "walter"):
        assert words in said


def test_a_suspended_worker_takes_nothing_until_it_is_lifted(
    desk: Client, worker: Worker, hit: Any, hit_type: HitType, now: datetime
) -> None:
    at_home = Client()
    at_home.force_login(worker.user)
    assert "Suspend walter?" in text_of(desk.get(page(worker, "suspend/")))
    assert "suspended" in text_of(desk.post(page(worker, "suspend/"), {"do": "suspend"}, follow=True))
    assert at_home.get("/worker/").status_code == 302
    assert desk.post(page(worker, "suspend/"), {"do": "suspend"}).status_code == 409
    assert worker.worker_id in text_of(desk.get("/operator/workers/?suspended=1"))
    worker.refresh_from_db()
    with pytest.raises(MarketplaceError):
        assignments.accept(hit_type, worker, now)
    desk.post(page(worker, "suspend/"), {"do": "lift"})
    worker.refresh_from_db()
    assert assignments.accept(hit_type, worker, now)
    assert [action.about for action in OperatorAction.objects.filter(worker=worker)] == [
        "Suspended",
        "Lifted the suspension",
    ]


def test_standing_is_set_and_counters_that_move_meanwhile_are_kept(desk: Client, worker: Worker) -> None:
    wrong = desk.post(page(worker, "standing/"), {"country": "XX", "subdivision": "CAL"})
    assert wrong.status_code == 400
    desk.post(page(worker, "standing/"), {"country": "US", "subdivision": "ca", "masters": "on"})
    worker.refresh_from_db()
    assert (worker.country, worker.subdivision, worker.masters, worker.adult) == ("US", "CA", True, False)
    action = OperatorAction.objects.get()
    assert action.about == "Set adult content off, Masters on, location"


def test_the_form_says_whom_it_is_about_and_the_page_who_set_a_percentage(desk: Client, worker: Worker) -> None:
    assert "Country and qualifications of walter" in text_of(desk.get(page(worker, "standing/")))
    assert "sandbox profile" not in text_of(desk.get(page(worker)))
    Worker.objects.filter(pk=worker.pk).update(percent_approved_override=99)
    assert "99 % by sandbox profile" in text_of(desk.get(page(worker)))


def test_every_form_can_be_left_without_sending_it(desk: Client, worker: Worker, requester: Requester) -> None:
    of_worker = [page(worker, f"{name}/") for name in ("standing", "suspend", "erase", "reset")]
    address = f"/operator/requesters/{requester.customer_id}/"
    of_requester = [f"{address}{name}/" for name in ("deposit", "keys/new", "webhook", "layouts/new")]
    others = ["password", "requesters/new", "invitations/new", "panels/new"]
    for path in of_worker + of_requester + [f"/operator/{name}/" for name in others]:
        assert "Cancel" in text_of(desk.get(path)), path
