from collections.abc import Callable
from datetime import datetime

import pytest
from django.test import Client

from marketplace.models import Assignment, Hit, HitType, Worker
from marketplace.rules.qualifications import LOCALE
from marketplace.verbs import assignments
from tests.marketplace.site.conftest import requirement


def in_canada(guarded: str) -> dict[str, object]:
    return requirement("EqualTo", guarded, LOCALE, LocaleValues=[{"Country": "CA"}])


@pytest.mark.parametrize("address", ["/mturk/preview?groupId={}", "/projects/{}/tasks"])
@pytest.mark.parametrize("which", ["hit_type_id", "hit_group_id"])
def test_both_links_open_the_preview_by_either_id(
    client: Client, hit: Hit, hit_type: HitType, address: str, which: str
) -> None:
    page = client.get(address.format(getattr(hit_type, which)))
    assert page.status_code == 200
    assert "assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&amp;hitId=" + hit.hit_id in page.text
    assert "workerId" not in page.text


def test_the_frame_is_sandboxed_and_as_high_as_asked(client: Client, hit: Hit, hit_type: HitType) -> None:
    page = client.get(f"/mturk/preview?groupId={hit_type.hit_group_id}").text
    assert 'height="600"' in page
    flags = "allow-scripts allow-forms allow-same-origin allow-modals allow-popups allow-popups-to-escape-sandbox"
    assert f'sandbox="{flags} allow-top-navigation-by-user-activation"' in page


def test_looking_takes_nothing(client: Client, hit: Hit, hit_type: HitType) -> None:
    client.get(f"/mturk/preview?groupId={hit_type.hit_group_id}")
    assert not Assignment.objects.exists()


@pytest.mark.parametrize(
    ("guarded", "listed", "status", "framed"),
    [
        ("Accept", True, 200, True),
        ("PreviewAndAccept", True, 200, False),
        ("DiscoverPreviewAndAccept", False, 404, False),
    ],
)
def test_a_guard_hides_as_much_as_it_says(
    client: Client,
    make_hit_type: Callable[..., HitType],
    make_hit: Callable[..., Hit],
    guarded: str,
    listed: bool,
    status: int,
    framed: bool,
) -> None:
    kind = make_hit_type(title="Guarded", requirements=[in_canada(guarded)])
    make_hit(kind)
    assert ("Guarded" in client.get("/?filtered=1").text) == listed
    preview = client.get(f"/mturk/preview?groupId={kind.hit_group_id}")
    assert preview.status_code == status
    assert ("<iframe" in preview.text) == framed
    assert "/mturk/accept" not in preview.text
    assert ("Living in: Canada" in preview.text) == listed
    accept = client.post("/mturk/accept", {"groupId": kind.hit_group_id})
    assert accept.status_code == (403 if listed else 404)
    assert not Assignment.objects.exists()


def test_who_qualifies_sees_that_and_can_accept(
    client: Client, make_hit_type: Callable[..., HitType], make_hit: Callable[..., Hit], worker: object
) -> None:
    kind = make_hit_type(requirements=[in_canada("DiscoverPreviewAndAccept")])
    make_hit(kind)
    worker.country = "CA"  # type: ignore[attr-defined]
    worker.save()  # type: ignore[attr-defined]
    page = client.get(f"/mturk/preview?groupId={kind.hit_group_id}").text
    assert "/mturk/accept" in page
    assert "<iframe" in page


def test_a_group_without_hits_says_so(client: Client, hit_type: HitType, now: datetime) -> None:
    page = client.get(f"/mturk/preview?groupId={hit_type.hit_group_id}").text
    assert "No HITs are left in this group" in page
    assert "<iframe" not in page


@pytest.mark.parametrize(
    "path",
    [
        "/mturk/preview",
        "/mturk/preview?groupId=",
        "/mturk/preview?hitId=3NONE",
        "/projects/3NONE/tasks",
        "/worker/dispute/99999999999999999999/",
        "/mturk/work/99999999999999999999/after/",
    ],
)
def test_an_unknown_group_is_not_found(client: Client, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert "Nothing here" in answer.text


@pytest.mark.parametrize(
    "address",
    [
        "/mturk/preview?groupId={0}",
        "/projects/{0}/tasks?ref=mail",
        "/projects/{0}/tasks/accept_random?ref=mail",
        "/mturk/previewandaccept?groupId={0}",
    ],
)
def test_a_signed_out_visitor_comes_to_the_link_after_signing_in(
    worker: Worker, hit: Hit, hit_type: HitType, address: str
) -> None:
    visitor = Client()
    wanted = address.format(hit_type.hit_type_id)
    sent = visitor.get(wanted, follow=True)
    signed_in = visitor.post(
        "/accounts/login/", {"username": "walter", "password": "worker", "next": sent.context["next"]}, follow=True
    )
    assert signed_in.redirect_chain[-1][0] == wanted
    assert "<iframe" in signed_in.text
    assert not Assignment.objects.exists()


def test_a_link_to_one_hit_shows_and_accepts_that_one(
    client: Client, hit_type: HitType, make_hit: Callable[..., Hit]
) -> None:
    make_hit(hit_type)
    second = make_hit(hit_type)
    page = client.get(f"/mturk/preview?hitId={second.hit_id}").text
    assert f"hitId={second.hit_id}" in page
    assert f'name="hitId" value="{second.hit_id}"' in page
    client.post("/mturk/accept", {"groupId": hit_type.hit_group_id, "hitId": second.hit_id})
    assert Assignment.objects.get().hit == second


def test_a_link_to_a_hit_that_is_taken_offers_another_of_its_group(
    client: Client, other_worker: Worker, hit_type: HitType, make_hit: Callable[..., Hit], now: datetime
) -> None:
    taken, free = make_hit(hit_type), make_hit(hit_type)
    assignments.accept(hit_type, other_worker, now, taken)
    page = client.get(f"/mturk/preview?hitId={taken.hit_id}").text
    assert "The HIT of that link is not free" in page
    assert f"hitId={free.hit_id}" in page
    assert 'name="hitId"' not in page


def test_a_link_to_a_hit_in_hand_leads_back_to_it(
    client: Client, worker: Worker, hit_type: HitType, hit: Hit, now: datetime
) -> None:
    held = assignments.accept(hit_type, worker, now)
    answer = client.get(f"/mturk/preview?hitId={hit.hit_id}")
    assert answer.headers["Location"] == f"/mturk/work/{held.pk}/"


def test_a_preview_says_which_devices_the_task_uses(
    client: Client, make_hit_type: Callable[..., HitType], make_hit: Callable[..., Hit]
) -> None:
    group = make_hit_type(keywords="speech, allow-microphone, allow-camera, allow-fullscreen")
    make_hit(group)
    shown = client.get(f"/mturk/preview?groupId={group.hit_group_id}").text
    assert "your microphone and camera" in shown
    assert "allow=" not in shown
