from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest

from marketplace.models import HitType, Panel, PanelEntry, Worker
from marketplace.rules.errors import NotAdmitted, ParameterValidationError, RequestError
from marketplace.rules.panels import sign
from marketplace.verbs import accounts, assignments, panels
from tests.marketplace.verbs.test_concurrency import at_once

pytestmark = pytest.mark.on_postgresql

PANEL: dict[str, Any] = {
    "name": "The panel",
    "slug": "spring",
    "terms": "You read texts and answer questions.",
    "completion_url": "https://panel.example.org/done?cc=C0DE&p={outside_id}&s={SESSION_ID}",
    "counts_approved": False,
}


@pytest.fixture
def panel(db: None, now: datetime) -> Panel:
    return panels.make_panel(**PANEL, now=now)


def test_one_person_of_a_panel_has_one_account(panel: Panel, now: datetime) -> None:
    first = panels.enter(panel, "pid-1", {"SESSION_ID": "s 1"}, now)
    again = panels.enter(panel, "pid-1", {"SESSION_ID": "s&2"}, now)
    assert first.worker == again.worker != panels.enter(panel, "pid-2", {}, now).worker
    assert panels.finish(again, now) == "https://panel.example.org/done?cc=C0DE&p=pid-1&s=s%262"
    assert not first.worker.user.has_usable_password()
    assert "pid-1" not in first.worker.user.username + first.worker.worker_id


@pytest.mark.django_db(transaction=True)
def test_clicking_twice_makes_no_second_account(now: datetime) -> None:
    panel = panels.make_panel(**PANEL, now=now)
    entries = at_once([lambda: panels.enter(panel, "pid-1", {}, now)] * 6)
    assert len({entry.worker_id for entry in entries}) == Worker.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_clicks_at_once_take_no_more_than_the_panel_asked_for(now: datetime, make_hit_type: Any, make_hit: Any) -> None:
    kinds = [make_hit_type(title=f"Group {number}") for number in range(6)]
    for kind in kinds:
        make_hit(kind)
    panel = panels.make_panel(**PANEL, finish_after=2, now=now)
    worker = panels.enter(panel, "pid-1", {}, now).worker

    def take(kind: HitType) -> None:
        with suppress(NotAdmitted):
            assignments.accept(kind, worker, now)

    at_once([partial(take, kind) for kind in kinds])
    assert worker.assignments.count() == 2


def test_a_closed_panel_takes_nobody_new_but_lets_people_back(panel: Panel, now: datetime) -> None:
    worker = panels.enter(panel, "pid-1", {}, now).worker
    panels.close_panel(panel, now)
    panel.refresh_from_db()
    assert panels.enter(panel, "pid-1", {}, now).worker == worker
    with pytest.raises(RequestError, match="nobody new"):
        panels.enter(panel, "pid-2", {}, now)
    panels.reopen_panel(panel)


def test_a_link_never_opens_an_account_with_a_password(panel: Panel, now: datetime) -> None:
    entry = panels.enter(panel, "pid-1", {}, now)
    entry.worker.user.set_password("long-enough-7")
    entry.worker.user.save()
    with pytest.raises(RequestError, match="Sign in with its name"):
        panels.enter(panel, "pid-1", {}, now)
    walter = accounts.create_worker("walter", "worker")
    PanelEntry.objects.filter(pk=entry.pk).update(worker=walter)
    with pytest.raises(RequestError, match="Sign in with its name"):
        panels.enter(panel, "pid-1", {}, now)


def test_a_panel_with_a_secret_wants_signed_links(now: datetime, db: None) -> None:
    panel = panels.make_panel(**PANEL, signed=True, now=now)
    panels.check_link(panel, "pid-1", {}, sign(panel.secret, "pid-1"))
    for signature in ("", sign(panel.secret, "pid-2"), sign("guessed", "pid-1")):
        with pytest.raises(RequestError, match="not signed"):
            panels.check_link(panel, "pid-1", {}, signature)


def test_what_a_signature_leaves_out_begins_no_visit(now: datetime, db: None) -> None:
    panel, visit = panels.make_panel(**PANEL, signed=True, now=now), {"SESSION_ID": "s1"}
    whole, of_person = sign(panel.secret, "pid-1", "s1"), sign(panel.secret, "pid-1")
    assert panels.check_link(panel, "pid-1", visit, whole) == "s1"
    # As panels signed before there was a parameter of the visit.
    assert panels.check_link(panel, "pid-1", visit, of_person) == ""
    for changed in ({}, {"SESSION_ID": "s2"}):
        with pytest.raises(RequestError, match="not signed"):
            panels.check_link(panel, "pid-1", changed, whole)


def test_a_visit_begins_by_its_own_parameter_alone_and_only_once(panel: Panel, now: datetime) -> None:
    def came_at(minute: int, visit: str, **parameters: str) -> datetime | None:
        session = {"SESSION_ID": visit} if visit else {}
        return panels.enter(panel, "pid-1", session | parameters, now + timedelta(minutes=minute), visit).came_at

    assert came_at(0, "s1") == now
    assert came_at(1, "s1", STUDY_ID="other") == now
    assert came_at(2, "") == now
    second = now + timedelta(minutes=3)
    assert came_at(3, "s2") == second
    for earlier in ("s1", "s2", ""):
        assert came_at(4, earlier) == second
    entry = panels.find_entry(panel, "pid-1")
    assert entry is not None and (entry.visits, entry.parameters) == (["s1", "s2"], {"SESSION_ID": "s2"})


def test_an_entry_from_before_visits_were_kept_goes_on_with_its_visit(panel: Panel, now: datetime) -> None:
    entry = panels.enter(panel, "pid-1", {"SESSION_ID": "s1"}, now)
    assert (entry.visits, entry.came_at) == ([], None)
    assert panels.enter(panel, "pid-1", {"SESSION_ID": "s1"}, now, "s1").came_at is None
    PanelEntry.objects.update(visits=[])
    later = now + timedelta(minutes=1)
    assert panels.enter(panel, "pid-1", {"SESSION_ID": "s2"}, later, "s2").came_at == later
    assert panels.enter(panel, "pid-1", {"SESSION_ID": "s1"}, later, "s1").visits == ["s1", "s2"]


def test_the_visits_that_are_known_are_bounded(panel: Panel, now: datetime) -> None:
    for number in range(205):
        entry = panels.enter(panel, "pid-1", {"SESSION_ID": str(number)}, now, str(number))
    assert (len(entry.visits), entry.visits[-1]) == (200, "204")


@pytest.mark.parametrize("outside_id", ["", "x" * 201, "a\x00b", "a\nb"])
def test_a_link_without_a_proper_id_lets_nobody_in(panel: Panel, outside_id: str) -> None:
    with pytest.raises(RequestError, match="PARTICIPANT_ID"):
        panels.check_link(panel, outside_id, {}, "")


@pytest.mark.django_db
@pytest.mark.parametrize(
    "wrong",
    [
        {"slug": "Spring 1"},
        {"name": " "},
        {"terms": ""},
        {"completion_url": "http://panel.example.org/"},
        {"screened_out_url": "javascript:alert(1)"},
        {"parameter": "sig"},
        {"parameter": "<id>"},
        {"visit_parameter": "PARTICIPANT_ID"},
        {"visit_parameter": "sig"},
        {"finish_after": 0},
    ],
)
def test_a_panel_that_cannot_work_is_refused(now: datetime, wrong: dict[str, Any]) -> None:
    with pytest.raises(ParameterValidationError):
        panels.make_panel(**(PANEL | wrong), now=now)
    assert not Panel.objects.exists()


def test_two_panels_never_share_a_link(panel: Panel, now: datetime) -> None:
    with pytest.raises(ParameterValidationError, match="already"):
        panels.make_panel(**PANEL, now=now)


def test_answers_that_nobody_approved_earn_no_completion(now: datetime, make_hit_type: Any, make_hit: Any) -> None:
    kind = make_hit_type(auto_approval_delay_seconds=86_400)
    for _ in range(4):
        make_hit(kind)
    panel = panels.make_panel(**(PANEL | {"counts_approved": True}), finish_after=2, now=now)
    entry = panels.enter(panel, "pid-1", {}, now)

    def answer() -> Any:
        held = assignments.accept(kind, entry.worker, now)
        assignments.submit(held.assignment_id, {"comment": ["x"]}, now, entry.worker.worker_id)
        entry.worker.refresh_from_db()
        return held

    first, second = answer(), answer()
    assert (panels.is_done(entry), panels.is_being_checked(entry), panels.finish(entry, now)) == (False, True, "")
    with pytest.raises(NotAdmitted, match="submitted or hold"):
        assignments.accept(kind, entry.worker, now)
    requester = first.hit.requester
    assignments.reject(requester, first.assignment_id, now, "Nothing was answered.")
    assignments.approve(requester, second.assignment_id, now)
    assert (panels.is_done(entry), panels.is_being_checked(entry)) == (False, False)
    assignments.approve(requester, answer().assignment_id, now)
    assert panels.is_done(entry) and "C0DE" in panels.finish(entry, now)
