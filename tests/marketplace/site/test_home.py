from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client

from marketplace.models import Hit, HitType, Requester, Worker
from marketplace.rules.qualifications import NUMBER_APPROVED
from marketplace.site import queries
from marketplace.site.queries import Group
from marketplace.verbs import assignments, blocks, qualifications
from tests.marketplace.site.conftest import requirement
from tests.markup import squeezed

EXPERIENCED = requirement("GreaterThan", type_id=NUMBER_APPROVED, IntegerValues=[100])


def groups(client: Client, query: str = "") -> list[Group]:
    return list(client.get("/" + query).context["page"].object_list)


def test_it_shows_what_a_group_pays_and_how_many_hits_it_has(
    client: Client, hit_type: HitType, make_hit: Callable[..., Hit]
) -> None:
    for _ in range(3):
        make_hit(hit_type)
    page = client.get("/").text
    for part in (
        "Pick the entity",
        "Alice",
        "pays in 1 hour",
        "3 HITs",
        "$0.50",
        "no typical time yet",
        "new requester",
    ):
        assert part in page


@pytest.mark.on_postgresql
def test_it_measures_the_wage_by_the_median_time(
    client: Client,
    other_worker: Worker,
    hit_type: HitType,
    make_hit: Callable[..., Hit],
    answer_hits: Callable[..., Any],
) -> None:
    for _ in range(4):
        make_hit(hit_type)
    answer_hits(hit_type, other_worker, 2)
    answer_hits(hit_type, other_worker, 1, took=timedelta(seconds=500))
    (group,) = groups(client)
    assert (group.hourly, group.takes) == (Decimal(50), "36 s")


def test_it_tells_how_much_of_the_work_a_requester_approves(
    client: Client,
    requester: Requester,
    other_worker: Worker,
    hit_type: HitType,
    make_hit: Callable[..., Hit],
    answer_hits: Callable[..., Any],
    now: datetime,
) -> None:
    for _ in range(5):
        make_hit(hit_type)
    first, second, third, _ = answer_hits(hit_type, other_worker, 4)
    for kept in (first, second):
        assignments.approve(requester, kept.assignment_id, now)
    assignments.reject(requester, third.assignment_id, now, "Not read")
    (group,) = groups(client)
    assert group.reputation == "66 % approved"


@pytest.mark.on_postgresql
def test_it_counts_only_hits_that_this_worker_can_still_take(
    client: Client, worker: Worker, hit_type: HitType, make_hit: Callable[..., Hit], answer_hits: Callable[..., Any]
) -> None:
    for _ in range(3):
        make_hit(hit_type, max_assignments=2)
    answer_hits(hit_type, worker, 1)
    assert [group.available for group in groups(client)] == [2]
    answer_hits(hit_type, worker, 2)
    assert groups(client) == []


def test_expired_hits_are_gone(client: Client, hit_type: HitType, make_hit: Callable[..., Hit], now: datetime) -> None:
    make_hit(hit_type, now=now - timedelta(hours=2))
    assert groups(client) == []


def test_an_overdue_hit_of_somebody_else_is_offered_again(
    client: Client, hit: Hit, hit_type: HitType, other_worker: Worker, now: datetime
) -> None:
    assignments.accept(hit_type, other_worker, now - timedelta(seconds=700))
    assert [group.available for group in groups(client)] == [1]


def test_only_work_that_one_qualifies_for_is_shown_at_first(
    client: Client, make_hit_type: Callable[..., HitType], make_hit: Callable[..., Hit]
) -> None:
    make_hit(make_hit_type(title="For experts", requirements=[EXPERIENCED]))
    page = client.get("/").text
    assert "For experts" not in page
    assert "No work that you qualify for right now" in page
    everything = client.get("/?filtered=1").text
    assert "For experts" in everything
    assert "More than 100 of your answers approved" in everything
    assert "Start" not in everything


def test_a_sandbox_leads_who_does_not_qualify_to_the_profile_where_it_can_be_set(
    client: Client, settings: Any, make_hit_type: Callable[..., HitType], make_hit: Callable[..., Hit]
) -> None:
    kind = make_hit_type(title="For experts", requirements=[EXPERIENCED])
    make_hit(kind)
    link = '<a href="/worker/profile/#sandbox">'
    pages = ("/?filtered=1", f"/mturk/preview?groupId={kind.hit_group_id}")
    for sandbox in (True, False):
        settings.MARKETPLACE_SANDBOX = sandbox
        assert [link in client.get(page).text for page in pages] == [sandbox, sandbox]
    settings.MARKETPLACE_SANDBOX = True
    assert 'id="sandbox"' in client.get("/worker/profile/").text


def test_no_profile_sets_what_a_requester_grants(
    client: Client,
    settings: Any,
    requester: Requester,
    make_hit_type: Callable[..., HitType],
    make_hit: Callable[..., Hit],
    now: datetime,
) -> None:
    settings.MARKETPLACE_SANDBOX = True
    kind = qualifications.create_type(requester, name="Insider", description="Knows us", status="Active", now=now)
    make_hit(make_hit_type(title="For insiders", requirements=[requirement(type_id=kind.qualification_type_id)]))
    page = client.get("/?filtered=1").text
    assert "not qualified" in page and "#sandbox" not in page


def test_a_group_that_guards_its_discovery_is_hidden_from_the_unqualified(
    client: Client,
    requester: Requester,
    worker: Worker,
    make_hit_type: Callable[..., HitType],
    make_hit: Callable[..., Hit],
    now: datetime,
) -> None:
    kind = qualifications.create_type(requester, name="Insider", description="Knows us", status="Active", now=now)
    insiders = requirement(guarded="DiscoverPreviewAndAccept", type_id=kind.qualification_type_id)
    make_hit(make_hit_type(title="Secret", requirements=[insiders]))
    assert "Secret" not in client.get("/?filtered=1").text
    qualifications.grant(requester, kind.qualification_type_id, worker.worker_id, now)
    assert "Secret" in client.get("/").text


@pytest.fixture
def three_groups(
    make_hit_type: Callable[..., HitType],
    make_hit: Callable[..., Hit],
    other_worker: Worker,
    answer_hits: Callable[..., Any],
) -> None:
    """Rich pays most, Quick pays most an hour, Plenty has the most HITs and is the newest."""
    rich, quick, plenty = (
        make_hit_type(title=title, keywords=words, reward=Decimal(reward))
        for title, words, reward in (
            ("Rich", "writing", "2.00"),
            ("Quick", "reading", "0.10"),
            ("Plenty", "reading, names", "0.05"),
        )
    )
    for kind, count in ((rich, 3), (quick, 3), (plenty, 9)):
        for _ in range(count):
            make_hit(kind)
    answer_hits(rich, other_worker, 1, took=timedelta(seconds=600))
    answer_hits(quick, other_worker, 1, took=timedelta(seconds=3))


@pytest.mark.parametrize(
    ("sort", "titles"),
    [
        ("hourly", ["Quick", "Rich", "Plenty"]),
        ("reward", ["Rich", "Quick", "Plenty"]),
        ("newest", ["Plenty", "Quick", "Rich"]),
        ("most", ["Plenty", "Quick", "Rich"]),
        ("time", ["Quick", "Rich", "Plenty"]),
        ("nonsense", ["Quick", "Rich", "Plenty"]),
    ],
)
@pytest.mark.on_postgresql
def test_groups_are_sorted_as_asked(client: Client, three_groups: None, sort: str, titles: list[str]) -> None:
    assert [group.title for group in groups(client, f"?sort={sort}")] == titles


@pytest.mark.parametrize(
    ("search", "titles"), [("READING", ["Quick", "Plenty"]), ("names read", ["Plenty"]), ("alice", 3), ("passage", 3)]
)
@pytest.mark.on_postgresql
def test_search_looks_at_titles_descriptions_keywords_and_requesters(
    client: Client, three_groups: None, search: str, titles: list[str] | int
) -> None:
    found = [group.title for group in groups(client, f"?q={search}")]
    assert found == titles or len(found) == titles


def test_an_empty_search_says_how_to_go_on(client: Client, three_groups: None) -> None:
    page = client.get("/?q=%3Cb%3Enothing").text
    assert "Nothing matches “&lt;b&gt;nothing”" in page
    assert "Clear the search" in page


def test_a_search_tells_of_what_it_found_and_the_worker_cannot_take(
    client: Client, make_hit_type: Callable[..., HitType], make_hit: Callable[..., Hit]
) -> None:
    make_hit(make_hit_type(title="Translate", requirements=[EXPERIENCED]))
    page = squeezed(client.get("/?q=translate"))
    assert "Nothing that you qualify for matches “translate”" in page and "1 group of HITs matches" in page
    assert 'href="/?filtered=1&amp;q=translate"' in page
    assert [group.title for group in groups(client, "?filtered=1&q=translate")] == ["Translate"]


def test_no_work_at_all_is_said_calmly(client: Client) -> None:
    assert "No work right now" in client.get("/").text


def test_the_list_is_paged_and_keeps_its_filters(
    client: Client, make_hit_type: Callable[..., HitType], make_hit: Callable[..., Hit]
) -> None:
    for number in range(30):
        make_hit(make_hit_type(title=f"Group {number}"))
    page = client.get("/?sort=newest&q=group")
    assert len(page.context["page"].object_list) == 25
    assert "?sort=newest&amp;q=group&amp;page=2" in page.text
    assert len(groups(client, "?sort=newest&q=group&page=2")) == 5


def test_the_bar_sums_up_the_day_of_the_viewer(
    client: Client, worker: Worker, hit_type: HitType, make_hit: Callable[..., Hit], now: datetime
) -> None:
    for _ in range(2):
        make_hit(hit_type)
    assignment = assignments.accept(hit_type, worker, now - timedelta(minutes=9))
    assignments.submit(assignment.assignment_id, {"answer": ["x"]}, now)
    assignments.accept(hit_type, worker, now)
    client.cookies["tz"] = "Europe%2FBerlin"
    page = client.get("/")
    assert "Today $0.50 · 9 min" in page.text
    assert page.context["day"].in_hand == 1


@pytest.mark.parametrize("cookie", ["Nowhere/Atlantis", "../../etc/passwd", "%00"])
def test_a_wrong_time_zone_counts_as_utc(client: Client, cookie: str) -> None:
    client.cookies["tz"] = cookie
    assert client.get("/").status_code == 200


def test_large_numbers_are_about(
    client: Client, hit_type: HitType, make_hit: Callable[..., Hit], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "MOST_COUNTED", 3)
    for _ in range(5):
        make_hit(hit_type)
    assert "about 5 HITs" in client.get("/").text


def test_a_group_of_which_the_worker_returned_all_that_is_left_is_not_listed_as_qualified(
    client: Client, other_client: Client, worker: Worker, hit_type: HitType, make_hit: Callable[..., Hit], now: datetime
) -> None:
    """Who validated an item may not revalidate it: the requester's page says so, and the worker returns the HIT."""
    for _ in range(2):
        make_hit(hit_type)
    first = assignments.accept(hit_type, worker, now)
    assignments.give_back(first, worker, now)
    assert "qualified<" in client.get("/").text
    second = assignments.accept(hit_type, worker, now)
    assert second.hit != first.hit
    assignments.give_back(second, worker, now)
    listed = client.get("/").text
    assert "Pick the entity" not in listed and "only HITs that you returned" in listed
    everything = client.get("/?filtered=1").text
    assert "returned by you" in everything and "Take again" in everything and "qualified<" not in everything
    left = client.get(f"/mturk/work/{second.pk}/after/").text
    assert "Take the next HIT" not in left and "HITs that you returned" in left
    finished = client.get(f"/mturk/finished?groupId={hit_type.hit_group_id}").text
    assert "That was the last one" in finished and "Take one of them again" in finished
    assert "qualified<" in other_client.get("/").text


def test_what_was_returned_is_not_handed_out_again_by_itself(
    client: Client, worker: Worker, hit_type: HitType, make_hit: Callable[..., Hit], now: datetime
) -> None:
    for _ in range(2):
        make_hit(hit_type)
    assignments.give_back(assignments.accept(hit_type, worker, now), worker, now)
    done = assignments.accept(hit_type, worker, now)
    assignments.submit(done.assignment_id, {"answer": ["x"]}, now)
    group = {"groupId": hit_type.hit_group_id}
    answer = client.post("/mturk/accept", group | {"after": done.pk})
    assert answer.headers["Location"].startswith("/mturk/finished")
    assert client.post("/mturk/accept", group).headers["Location"].startswith("/mturk/work/")


def test_a_group_that_this_worker_has_finished_is_not_offered(
    client: Client,
    other_client: Client,
    worker: Worker,
    hit_type: HitType,
    make_hit: Callable[..., Hit],
    answer_hits: Callable[..., Any],
) -> None:
    for _ in range(2):
        make_hit(hit_type, max_assignments=5)
    answer_hits(hit_type, worker, 2)
    assert groups(client) == []
    assert [group.available for group in groups(other_client)] == [2]


def test_a_blocked_worker_does_not_see_the_requesters_work(
    client: Client, requester: Requester, worker: Worker, hit: Hit, hit_type: HitType, now: datetime
) -> None:
    blocks.block(requester, worker.worker_id, "Answers at random", now)
    assert groups(client) == []
    assert client.get(f"/mturk/preview?groupId={hit_type.hit_group_id}").status_code == 404
    assert "at random" not in client.get("/").text


def test_how_long_a_requester_takes_to_decide_is_told(
    client: Client,
    requester: Requester,
    other_worker: Worker,
    hit_type: HitType,
    make_hit: Callable[..., Hit],
    answer_hits: Callable[..., Any],
    now: datetime,
) -> None:
    for _ in range(3):
        make_hit(hit_type)
    first, second = answer_hits(hit_type, other_worker, 2)
    assignments.approve(requester, first.assignment_id, now + timedelta(minutes=10))
    assignments.reject(requester, second.assignment_id, now + timedelta(minutes=30), "Not read")
    page = client.get(f"/mturk/preview?groupId={hit_type.hit_group_id}").text
    assert "50 % approved, decides in about 20 min" in page
