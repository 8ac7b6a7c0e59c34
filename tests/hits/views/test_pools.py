"""The pages of pools."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from hits.domain import pools
from hits.flow.people import pooling
from hits.models import Grant, Pool, PoolLink, Project
from tests.hits import factories as make
from tests.hits.market import Marketplace
from tests.hits.views.test_browser import Opener, browser, cut_selects, opened

__all__ = ["browser", "opened"]

pytestmark = pytest.mark.django_db


@pytest.fixture
def project(alice: Any) -> Project:
    return make.project(owner=alice, name="River news", slug="river")


@pytest.fixture
def pool(project: Project) -> Pool:
    return make.pool(project, make.worker("AINSIDE"), key="pool-students", name="Students")


def text(client: Client, name: str, *arguments: object, **query: str) -> str:
    answer = client.get(reverse(name, args=arguments), query)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def send(client: Client, name: str, pool: Pool, *more: object, **form: Any) -> Any:
    return client.post(reverse(name, args=["river", pool.key, *more]), form)


def test_a_first_pool_is_made_on_the_page(client: Client, project: Project) -> None:
    assert "No pool yet" in text(client, "pools", "river")
    answer = client.post("/projects/river/pools/new/", {"name": "Students 2026"})
    assert answer.headers["Location"] == "/projects/river/pools/pool-students-2026/"
    assert "Nobody is in it yet" in text(client, "pool", "river", "pool-students-2026")
    assert "Students 2026" in text(client, "pools", "river")
    again = client.post("/projects/river/pools/new/", {"name": "Students 2026"})
    assert (again.status_code, "has a pool “Students 2026” already" in again.content.decode()) == (400, True)


def test_workers_are_added_by_ids_by_a_file_or_by_both(
    client: Client, pool: Pool, eager: None, market: Marketplace
) -> None:
    ids = [market.sign_up_worker() for _ in range(3)]
    file = SimpleUploadedFile("ids.csv", f"worker_id,group\n{ids[1]},x\n{ids[2]},y\n".encode())
    assert send(client, "add-to-pool", pool, workers=ids[0], file=file).status_code == 302
    held = dict(pools.members(pool).values_list("worker__worker_id", "state"))
    assert {one: held[one] for one in ids} == dict.fromkeys(ids, Grant.State.GRANTED)


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"workers": "bob"}, "is no worker id"),
        ({}, "at least one worker id"),
        ({"file": SimpleUploadedFile("ids.txt", b"A1\nA\xff2")}, "text neither in UTF-8"),
    ],
)
def test_a_wrong_list_changes_nothing_and_says_why(client: Client, pool: Pool, form: dict[str, Any], said: str) -> None:
    answer = send(client, "add-to-pool", pool, **form)
    assert (answer.status_code, said in answer.content.decode()) == (400, True)
    assert pools.members(pool).count() == 1


def test_a_worker_is_taken_out_and_put_in_again(client: Client, pool: Pool) -> None:
    row = pools.members(pool).get()
    send(client, "remove-from-pool", pool, row.pk)
    row.refresh_from_db()
    assert row.state == Grant.State.WITHDRAWING
    assert "Put in again" in text(client, "pool", "river", pool.key, show="waiting")
    assert send(client, "remove-from-pool", pool, row.pk).status_code == 302
    assert "took a worker out of a pool" in text(client, "pool", "river", pool.key).lower()


def test_what_a_project_writes_is_text_on_the_page(client: Client, project: Project) -> None:
    pooling.create(project, "<b>bold</b> & 1 < 2", None)
    row = Pool.objects.get()
    for page in (text(client, "pools", "river"), text(client, "pool", "river", row.key)):
        assert "<b>bold</b>" not in page
        assert "&lt;b&gt;bold&lt;/b&gt; &amp; 1 &lt; 2" in page


def test_the_best_are_shown_before_they_are_added(client: Client, pool: Pool, project: Project) -> None:
    stage = make.stage(project, key="validate", title="Validate")
    for name, correct in (("AGOOD", 38), ("ABEST", 40)):
        make.worker_stat(stage, make.worker(name), scored=40, correct=correct, answers=40)
    query = {"stage": "validate", "by": "known", "least": "30", "top": "5"}
    page = text(client, "best-for-pool", "river", pool.key, **query)
    assert page.index("ABEST") < page.index("AGOOD")
    assert pools.members(pool).count() == 1
    assert send(client, "best-for-pool", pool, **query, workers=["ABEST"]).status_code == 302
    assert set(pools.members(pool).values_list("worker__worker_id", flat=True)) == {"AINSIDE", "ABEST"}
    wrong = send(client, "best-for-pool", pool, **query, workers=["AINSIDE"])
    assert (wrong.status_code, "not among the best any more" in wrong.content.decode()) == (400, True)
    nobody = send(client, "best-for-pool", pool, **query)
    assert nobody.status_code == 400
    assert client.get(reverse("best-for-pool", args=["river", pool.key]), {**query, "top": "x"}).status_code == 400


def test_a_link_is_shown_once_and_can_be_revoked(client: Client, pool: Pool, market: Marketplace) -> None:
    led_to = send(client, "pool-link", pool, uses="40", days="30", note="Mondays").headers["Location"]
    page = client.get(led_to).content.decode()
    link = PoolLink.objects.get(note="Mondays")
    [address] = [part for part in page.replace("<", " ").replace(">", " ").split() if "/join/" in part]
    assert len(address.rpartition("/join/")[2]) > 40
    again = client.get(led_to).content.decode()
    assert "/join/" not in again and "The link was shown already" in again
    after = text(client, "pool", "river", pool.key)
    assert "/join/" not in after
    assert "0 of 40" in after
    send(client, "revoke-pool-link", pool, link.pk)
    link.refresh_from_db()
    assert link.ending == "revoked"
    assert send(client, "revoke-pool-link", pool, link.pk).status_code == 302


@pytest.mark.parametrize("form", [{"uses": "0"}, {"uses": "1001"}, {"days": "366"}, {"days": ""}, {"note": "x" * 81}])
def test_a_wrong_link_is_not_made(client: Client, pool: Pool, form: dict[str, str]) -> None:
    before = PoolLink.objects.count()
    assert send(client, "pool-link", pool, **{"uses": "1", "days": "1", **form}).status_code == 400
    assert PoolLink.objects.count() == before


def test_without_a_marketplace_the_lead_is_told(client: Client, pool: Pool, settings: Any) -> None:
    from hits.domain import marketplace_account

    settings.MTURK_ENDPOINT_URL = "http://127.0.0.1:9"
    marketplace_account.gateway.cache_clear()
    answer = send(client, "pool-link", pool, uses="1", days="1")
    marketplace_account.gateway.cache_clear()
    assert (answer.status_code, "No link was made" in answer.content.decode()) == (503, True)


def test_another_project_sees_its_pool_by_role_and_changes_nothing(alice: Any, pool: Pool) -> None:
    carl = make.user("carl")
    other = make.project(owner=alice, name="Lake news", slug="lake")
    membership = make.member(other, carl, "reviewer")
    pooling.share(pool, other, alice)
    browser = Client()
    browser.force_login(carl)
    page = text(browser, "pool", "lake", pool.key)
    assert "AINSIDE" not in page
    assert "It belongs to River news" in page
    membership.role = "manager"
    membership.save()
    page = text(browser, "pool", "lake", pool.key)
    assert "AINSIDE" in page
    assert "Take out" not in page
    row = pools.members(pool).get()
    for name, more in (
        *(
            (one, [])
            for one in ("rename-pool", "archive-pool", "take-up-pool", "add-to-pool", "share-pool", "pool-link")
        ),
        *(("fetch-pool", []), ("best-for-pool", []), ("remove-from-pool", [row.pk])),
        ("revoke-pool-link", [pool.links.get().pk]),
    ):
        answer = browser.post(reverse(name, args=["lake", pool.key, *more]), {"name": "Mine", "workers": "A1"})
        assert answer.status_code == 404, name
    assert browser.get("/projects/river/pools/").status_code == 404
    row.refresh_from_db()
    assert row.state == Grant.State.GRANTED
    browser.post(reverse("unshare-pool", args=["lake", pool.key]))
    assert browser.get(reverse("pool", args=["lake", pool.key])).status_code == 404


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("width", [1280, 360])
def test_what_is_chosen_for_the_best_is_shown_in_full(opened: Opener, pool: Pool, width: int) -> None:
    make.stage(pool.project)
    for name in ("pool", "best-for-pool"):
        page = opened(reverse(name, args=["river", pool.key]), width)
        assert page.locator("#id_by").is_visible() and cut_selects(page) == [], name


def test_a_pool_of_nobody_s_business_is_not_found(alice: Any, pool: Pool) -> None:
    make.project(owner=alice, slug="lake")
    browser = Client()
    browser.force_login(alice)
    assert browser.get(f"/projects/lake/pools/{pool.key}/").status_code == 404
    mine = make.pool(Project.objects.get(slug="lake"), make.worker(), key="pool-mine")
    # Rows of one pool are not reached through another.
    assert send(browser, "remove-from-pool", pool, pools.members(mine).get().pk).status_code == 404
    send(browser, "revoke-pool-link", pool, mine.links.get().pk)
    assert mine.links.get().revoked_at is None
    # Nor through the pages of the project's other qualifications.
    row = pools.members(mine).get()
    assert browser.post(f"/projects/lake/qualifications/{mine.key}/{row.pk}/withdraw/").status_code == 404


def test_pages_cost_the_same_with_many_workers_links_and_pools(client: Client, pool: Pool, project: Project) -> None:
    def queries(name: str, *more: str) -> int:
        with CaptureQueriesContext(connection) as found:
            client.get(reverse(name, args=["river", *more]))
        return len(found)

    before = queries("pools"), queries("pool", pool.key)
    for number in range(30):
        make.grant(project, make.worker(f"A{number}"), key=pool.key, value=number % 5 + 1)
        make.pool_link(pool)
    for number in range(10):
        make.pool(project, key=f"pool-more-{number}")
    assert (queries("pools"), queries("pool", pool.key)) == before


def test_pools_are_among_the_requirements_on_the_page_settings(client: Client, pool: Pool, project: Project) -> None:
    stage = make.stage(project, key="validate", requirements=[{"qualification": pool.key, "comparator": "Exists"}])
    page = text(client, "stage-settings", "river", stage.key)
    assert "Pool: Students" in page
    assert "Only workers in" in text(client, "stage", "river", stage.key)
    assert f"{stage.title}</a> of River news" in text(client, "pool", "river", pool.key)
