"""People recruited elsewhere, from the panel's link to its completion address."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
from django.test import Client

from common import patience as rules
from marketplace.models import Hit, HitType, Panel, PanelEntry, Worker
from marketplace.rules.panels import sign
from marketplace.verbs import panels
from tests.markup import squeezed

LINK = "/panel/spring/?PARTICIPANT_ID=pid-1&SESSION_ID=s%261"
AGREED = {"agreed": "yes"}


@pytest.fixture
def make_panel(db: None, now: datetime) -> Callable[..., Panel]:
    def make(**values: Any) -> Panel:
        return panels.make_panel(
            **{
                "name": "The panel",
                "slug": "spring",
                "terms": "You read texts.\n\n<b>Nobody</b> sees your id.",
                "completion_url": "https://panel.example.org/done?cc=C0DE&p={outside_id}&s={SESSION_ID}",
                "counts_approved": False,
                "now": now,
            }
            | values
        )

    return make


def test_opening_the_link_shows_the_terms_and_makes_nothing(make_panel: Callable[..., Panel]) -> None:
    make_panel()
    answer = Client().get(LINK)
    assert "&lt;b&gt;Nobody&lt;/b&gt;" in answer.text
    assert Client().post(LINK).status_code == 400
    assert not Worker.objects.exists()


def test_from_the_link_to_work_and_back_again(
    make_panel: Callable[..., Panel], hit_type: HitType, hit: Hit, requester: Any
) -> None:
    make_panel(hit_type=hit_type, finish_after=1)
    person = Client()
    arrived = person.post(LINK, AGREED)
    assert arrived.headers["Location"] == f"/mturk/preview?groupId={hit_type.hit_group_id}"
    preview = squeezed(person.get(arrived.headers["Location"]))
    assert "0 of 1" in preview and "pid-1" not in preview
    work = person.post("/mturk/accept", {"groupId": hit_type.hit_group_id}).headers["Location"]
    held = Worker.objects.get().assignments.get()
    person.post("/mturk/externalSubmit", {"assignmentId": held.assignment_id, "answer": "x"})
    assert work.endswith(f"/{held.pk}/")
    assert person.get("/").headers["Location"] == "/worker/finish/"
    finish = person.get("/worker/finish/")
    assert "You are done" in finish.text
    assert "https://panel.example.org" in finish.headers["Content-Security-Policy"].partition("form-action")[2]
    back = person.post("/worker/finish/")
    assert back.headers["Location"] == "https://panel.example.org/done?cc=C0DE&p=pid-1&s=s%261"
    assert PanelEntry.objects.get().finished_at is not None
    assert person.get("/").status_code == 302


def take(person: Client, hit_type: HitType) -> Any:
    return person.post("/mturk/accept", {"groupId": hit_type.hit_group_id})


def answer_all(person: Client) -> None:
    for held in Worker.objects.get().assignments.filter(status="Accepted"):
        person.post("/mturk/externalSubmit", {"assignmentId": held.assignment_id, "answer": "x"})


def test_a_person_submits_no_more_than_the_panel_asked_for(
    make_panel: Callable[..., Panel], hit_type: HitType, make_hit: Callable[..., Hit]
) -> None:
    """The next HIT that comes by itself is a form that is posted, and passes no page that looks for work."""
    make_panel(hit_type=hit_type, finish_after=2)
    for _ in range(5):
        make_hit(hit_type)
    person = Client()
    person.post(LINK, AGREED)
    for _ in range(2):
        assert take(person, hit_type).headers["Location"].startswith("/mturk/work/")
        answer_all(person)
    assert take(person, hit_type).headers["Location"] == "/worker/finish/"
    assert person.head("/").headers["Location"] == "/worker/finish/"
    assert Worker.objects.get().assignments.count() == 2


def test_what_is_in_hand_counts_too(
    make_panel: Callable[..., Panel], hit_type: HitType, make_hit: Callable[..., Hit]
) -> None:
    make_panel(hit_type=hit_type, finish_after=2)
    for _ in range(5):
        make_hit(hit_type)
    person = Client()
    person.post(LINK, AGREED)
    first = take(person, hit_type).headers["Location"]
    take(person, hit_type)
    refused = take(person, hit_type)
    assert refused.status_code == 409 and "you have 2 of them in hand" in refused.text
    person.post(f"{first}return/")
    assert take(person, hit_type).status_code == 302
    answer_all(person)
    assert Worker.objects.get().submitted_count == 2


@pytest.fixture
def person(make_panel: Callable[..., Panel], hit_type: HitType, make_hit: Callable[..., Hit]) -> Client:
    """Somebody who has answered the one HIT that their visit asked for; four more are there."""
    make_panel(hit_type=hit_type, finish_after=1)
    for _ in range(5):
        make_hit(hit_type)
    person = Client()
    person.post(LINK, AGREED)
    take(person, hit_type)
    answer_all(person)
    return person


def test_another_visit_is_counted_from_its_own_start(person: Client, hit_type: HitType) -> None:
    for same_link in range(2):  # before and after the person goes back
        assert person.post(LINK).headers["Location"] == "/worker/finish/", same_link
        assert "You have submitted 1 HIT," in person.get("/worker/finish/").text
        person.post("/worker/finish/")
    later = LINK.replace("s%261", "another")
    assert person.post(later).headers["Location"].startswith("/mturk/preview")
    assert "0 of 1" in squeezed(person.get("/"))
    assert "Stop before you are done?" in person.get("/worker/finish/").text
    take(person, hit_type)
    answer_all(person)
    assert take(person, hit_type).headers["Location"] == "/worker/finish/"
    assert "s=another" in person.post("/worker/finish/").headers["Location"]


def test_no_other_parameter_begins_a_visit_and_an_earlier_link_none(person: Client, hit_type: HitType) -> None:
    bare = "/panel/spring/?PARTICIPANT_ID=pid-1"
    for link in (f"{LINK}&STUDY_ID=other", bare, f"{bare}&a=b"):
        assert person.post(link).headers["Location"] == "/worker/finish/", link
        person.post("/worker/finish/")
    person.post(LINK.replace("s%261", "another"))
    take(person, hit_type)
    answer_all(person)
    assert person.post(LINK).headers["Location"] == "/worker/finish/"
    assert "s=another" in person.post("/worker/finish/").headers["Location"]
    assert Worker.objects.get().submitted_count == 2


def test_where_links_are_signed_nobody_begins_a_visit_by_hand(
    make_panel: Callable[..., Panel], hit_type: HitType, make_hit: Callable[..., Hit]
) -> None:
    panel = make_panel(hit_type=hit_type, finish_after=1, signed=True)
    for _ in range(3):
        make_hit(hit_type)
    person, signature = Client(), sign(panel.secret, "pid-1", "s&1")
    person.post(f"{LINK}&sig={signature}", AGREED)
    take(person, hit_type)
    answer_all(person)
    person.post("/worker/finish/")
    by_hand = LINK.replace("s%261", "another")
    for changed in (by_hand, "/panel/spring/?PARTICIPANT_ID=pid-1"):
        assert person.post(f"{changed}&sig={signature}").status_code == 403
    assert person.post(f"{LINK}&sig={signature}").headers["Location"] == "/worker/finish/"
    signed = f"{by_hand}&sig={sign(panel.secret, 'pid-1', 'another')}"
    assert person.post(signed).headers["Location"].startswith("/mturk/preview")


def test_a_link_without_a_session_begins_another_visit_after_the_end_of_the_last(
    make_panel: Callable[..., Panel], hit_type: HitType, make_hit: Callable[..., Hit]
) -> None:
    make_panel(hit_type=hit_type, finish_after=1)
    for _ in range(3):
        make_hit(hit_type)
    person, link = Client(), "/panel/spring/?PARTICIPANT_ID=pid-1"
    person.post(link, AGREED)
    take(person, hit_type)
    answer_all(person)
    assert person.post(link).headers["Location"] == "/worker/finish/"
    person.post("/worker/finish/")
    assert person.post(link).headers["Location"].startswith("/mturk/preview")
    assert take(person, hit_type).headers["Location"].startswith("/mturk/work/")


def test_who_stops_early_gets_no_completion(make_panel: Callable[..., Panel]) -> None:
    make_panel(finish_after=2)
    person = Client()
    person.post(LINK, AGREED)
    assert "Stop before you are done?" in person.get("/worker/finish/").text
    assert "You have stopped" in person.post("/worker/finish/").text
    Panel.objects.update(screened_out_url="https://panel.example.org/out?p={outside_id}")
    person.post(LINK)
    assert person.post("/worker/finish/").headers["Location"] == "https://panel.example.org/out?p=pid-1"
    assert PanelEntry.objects.get().finished_at is None


def test_a_second_visit_leads_to_the_same_account_without_the_terms(make_panel: Callable[..., Panel]) -> None:
    make_panel()
    again = Client()
    again.post(LINK, AGREED)
    again.post("/accounts/logout/")
    assert "Welcome back" in again.get(LINK).text
    assert again.post(LINK).headers["Location"] == "/"
    assert "The panel" in again.get("/").text
    assert Worker.objects.count() == 1


def test_who_knows_an_id_is_not_let_in_from_another_browser_until_the_operator_says_so(
    make_panel: Callable[..., Panel], django_user_model: Any
) -> None:
    make_panel()
    first, other = Client(), Client()
    first.post(LINK, AGREED)
    refused = other.post(LINK)
    assert refused.status_code == 403 and "came from another browser" in refused.text
    assert "_auth_user_id" not in other.session
    operator = Client()
    operator.force_login(django_user_model.objects.create_user("op", is_staff=True))
    for outside_id, words in (("pid-9", "Nobody with this ID"), ("pid-1", "The next browser")):
        assert words in operator.post("/operator/panels/spring/release/", {"outside_id": outside_id}, follow=True).text
    assert other.post(LINK).status_code == 302
    assert first.post(LINK).status_code == 403


def test_a_closed_panel_sends_new_people_to_its_other_address(make_panel: Callable[..., Panel], now: datetime) -> None:
    panel = make_panel(screened_out_url="https://panel.example.org/out?p={outside_id}")
    panels.close_panel(panel, now)
    for answer in (Client().get(LINK), Client().post(LINK, AGREED)):
        assert answer.status_code == 410
        assert "https://panel.example.org/out?p=pid-1" in answer.text
    assert not Worker.objects.exists()


def test_a_signed_panel_takes_signed_links_only(make_panel: Callable[..., Panel]) -> None:
    panel = make_panel(signed=True)
    assert Client().post(LINK, AGREED).status_code == 403
    assert Client().post(f"{LINK}&sig={sign(panel.secret, 'pid-1')}", AGREED).status_code == 302
    assert Client().post(f"{LINK}x&sig={sign(panel.secret, 'pid-2')}", AGREED).status_code == 403


def test_going_in_as_another_person_is_said_and_signs_the_first_out(
    client: Client, worker: Worker, make_panel: Callable[..., Panel]
) -> None:
    make_panel()
    assert "signed in as “walter”" in client.get(LINK).text
    client.post(LINK, AGREED)
    assert client.get("/").context["worker"] != worker
    assert PanelEntry.objects.get().worker != worker


def test_entries_from_one_place_are_slowed(make_panel: Callable[..., Panel]) -> None:
    make_panel()
    answers = [Client().post(f"{LINK}&PARTICIPANT_ID=P{n}", AGREED).status_code for n in range(62)]
    assert answers == [302] * rules.PANEL_FROM_ADDRESS.free + [429] * 2


def test_a_link_with_odd_signs_in_it_breaks_nothing(make_panel: Callable[..., Panel]) -> None:
    make_panel()
    for link in ("/panel/spring/", "/panel/spring/?PARTICIPANT_ID=a%00b", "/panel/spring/?PARTICIPANT_ID=%ED%A0%80"):
        assert Client().get(link).status_code in (200, 400, 403)
    assert Client().post(f"{LINK}&X=%0A&Y=%ED%A0%80", AGREED).status_code == 302
    assert Client().get("/panel/none/?PARTICIPANT_ID=pid-1").status_code == 404


def test_only_people_of_a_panel_go_back_to_one(client: Client) -> None:
    assert client.get("/worker/finish/").status_code == 404
    assert client.post("/worker/finish/").status_code == 404


def test_an_account_of_a_panel_gets_no_password(make_panel: Callable[..., Panel]) -> None:
    make_panel()
    person = Client()
    person.post(LINK, AGREED)
    assert "Change password" not in person.get("/worker/profile/").text
    for path in ("/worker/profile/password/", "/worker/profile/email/"):
        assert person.post(path, {}).status_code == 409
