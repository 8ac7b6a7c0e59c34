"""The pages of pools."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from playwright.sync_api import expect

from hits.models import Grant, Pool, PoolLink, Project
from tests.axe import violations
from tests.hits import factories as make
from tests.hits.doing import do
from tests.hits.lead_pages import Opener, cut_selects
from tests.hits.market import Marketplace

pytestmark = pytest.mark.django_db
LINK = {"form_fields": "uses days note"}


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


def test_a_first_pool_is_made_on_the_page(lead_client: Client, project: Project) -> None:
    assert "No pool yet" in text(lead_client, "pools", "river")
    answer = lead_client.post("/projects/river/pools/create/", {"form_fields": "name", "name": "Students 2026"})
    assert answer.headers["Location"] == "/projects/river/pools/pool-students-2026/"
    assert "Nobody is in it yet" in text(lead_client, "pool", "river", "pool-students-2026")
    assert "Students 2026" in text(lead_client, "pools", "river")
    again = lead_client.post("/projects/river/pools/create/", {"form_fields": "name", "name": "Students 2026"})
    assert (again.status_code, "has a pool “Students 2026” already" in again.content.decode()) == (409, True)


def test_workers_are_added_by_ids_by_a_file_or_by_both(
    lead_client: Client, pool: Pool, eager: None, market: Marketplace
) -> None:
    ids = [market.sign_up_worker() for _ in range(3)]
    file = SimpleUploadedFile("ids.csv", f"worker_id,group\n{ids[1]},x\n{ids[2]},y\n".encode())
    form = {"form_fields": "worker_ids", "worker_ids": f" {ids[0]},\n", "worker_ids_file": file}
    assert send(lead_client, "pools.add", pool, **form).status_code == 302
    held = dict(pool.members.values_list("worker__worker_id", "state"))
    assert {one: held[one] for one in ids} == dict.fromkeys(ids, Grant.State.GRANTED)


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"worker_ids": "bob"}, "is no worker id"),
        ({}, "at least one worker id"),
        ({"worker_ids_file": SimpleUploadedFile("ids.txt", b"A1\nA\xff2")}, "text neither in UTF-8"),
    ],
)
def test_a_wrong_list_changes_nothing_and_says_why(
    lead_client: Client, pool: Pool, form: dict[str, Any], said: str
) -> None:
    answer = send(lead_client, "pools.add", pool, form_fields="worker_ids", **form)
    assert (answer.status_code, said in answer.content.decode()) == (400, True)
    assert pool.members.count() == 1


def test_a_worker_is_taken_out_and_put_in_again(lead_client: Client, pool: Pool) -> None:
    row = pool.members.get()
    send(lead_client, "pools.remove", pool, row.pk)
    row.refresh_from_db()
    assert row.state == Grant.State.WITHDRAWING
    assert "Put in again" in text(lead_client, "pool", "river", pool.key, show="waiting")
    assert send(lead_client, "pools.remove", pool, row.pk).status_code == 302
    assert "took a worker out of a pool" in text(lead_client, "pool", "river", pool.key).lower()


def test_what_a_project_writes_is_text_on_the_page(lead_client: Client, project: Project) -> None:
    do("pools.create", project, None, name="<b>bold</b> & 1 < 2")
    row = Pool.objects.get()
    for page in (text(lead_client, "pools", "river"), text(lead_client, "pool", "river", row.key)):
        assert "<b>bold</b>" not in page
        assert "&lt;b&gt;bold&lt;/b&gt; &amp; 1 &lt; 2" in page


def test_the_best_are_shown_before_they_are_added(lead_client: Client, pool: Pool, project: Project) -> None:
    stage = make.stage(project, key="validate", title="Validate")
    for name, correct in (("AGOOD", 38), ("ABEST", 40)):
        make.worker_stat(stage, make.worker(name), scored=40, correct=correct, answers=40)
    query = {"stage": "validate", "by": "known", "least": "30", "top": "5"}
    page = text(lead_client, "best-for-pool", "river", pool.key, **query)
    assert page.index("ABEST") < page.index("AGOOD")
    assert pool.members.count() == 1
    assert send(lead_client, "pools.add_best", pool, **query, worker_ids=["", "ABEST"]).status_code == 302
    assert set(pool.members.values_list("worker__worker_id", flat=True)) == {"AINSIDE", "ABEST"}
    wrong = send(lead_client, "pools.add_best", pool, **query, worker_ids=["", "AINSIDE"])
    assert (wrong.status_code, "not among the best any more" in wrong.content.decode()) == (409, True)
    nobody = send(lead_client, "pools.add_best", pool, **query, worker_ids="")
    assert nobody.status_code == 400
    assert lead_client.get(reverse("best-for-pool", args=["river", pool.key]), {**query, "top": "x"}).status_code == 400


def test_a_link_is_shown_once_and_can_be_revoked(lead_client: Client, pool: Pool, market: Marketplace) -> None:
    led_to = send(lead_client, "pools.make_link", pool, **LINK, uses="40", days="30", note="Mondays").headers[
        "Location"
    ]
    page = lead_client.get(led_to).content.decode()
    link = PoolLink.objects.get(note="Mondays")
    [address] = [part for part in page.replace("<", " ").replace(">", " ").split() if "/join/" in part]
    assert len(address.rpartition("/join/")[2]) > 40
    again = lead_client.get(led_to).content.decode()
    assert "/join/" not in again and "The link was shown already" in again
    after = text(lead_client, "pool", "river", pool.key)
    assert "/join/" not in after
    assert "0 of 40" in after
    send(lead_client, "pools.revoke_link", pool, link.pk)
    link.refresh_from_db()
    assert link.ending == "revoked"
    assert send(lead_client, "pools.revoke_link", pool, link.pk).status_code == 302


@pytest.mark.parametrize("form", [{"uses": "0"}, {"uses": "1001"}, {"days": "366"}, {"days": ""}, {"note": "x" * 81}])
def test_a_wrong_link_is_not_made(lead_client: Client, pool: Pool, form: dict[str, str]) -> None:
    before = PoolLink.objects.count()
    assert send(lead_client, "pools.make_link", pool, **LINK, **{"uses": "1", "days": "1", **form}).status_code == 400
    assert PoolLink.objects.count() == before


def test_without_a_marketplace_the_lead_is_told(lead_client: Client, pool: Pool, settings: Any) -> None:
    from hits.publishing.rules import marketplace_account

    settings.MTURK_ENDPOINT_URL = "http://127.0.0.1:9"
    marketplace_account.gateway.cache_clear()
    answer = send(lead_client, "pools.make_link", pool, **LINK, uses="1", days="1")
    marketplace_account.gateway.cache_clear()
    assert (answer.status_code, "marketplace" in answer.content.decode()) == (503, True)


def test_another_project_sees_its_pool_by_role_and_changes_nothing(alice: Any, pool: Pool) -> None:
    carl = make.user("carl")
    other = make.project(owner=alice, name="Lake news", slug="lake")
    membership = make.member(other, carl, "reviewer")
    do("pools.share", pool, alice, project=other.slug)
    browser = Client()
    browser.force_login(carl)
    page = text(browser, "pool", "lake", pool.key)
    assert "AINSIDE" not in page
    assert "It belongs to River news" in page
    assert browser.get(reverse("pools.workers.csv", args=["lake", pool.key])).status_code == 403
    membership.role = "manager"
    membership.save()
    page = text(browser, "pool", "lake", pool.key)
    assert "AINSIDE" in page
    assert "Take out" not in page
    row = pool.members.get()
    for name, more in (
        *(
            (one, [])
            for one in ("pools.rename", "pools.archive", "pools.take_up", "pools.add", "pools.share", "pools.make_link")
        ),
        *(("pools.fetch", []), ("pools.add_best", []), ("pools.remove", [row.pk])),
        ("pools.revoke_link", [pool.links.get().pk]),
    ):
        answer = browser.post(reverse(name, args=["lake", pool.key, *more]), {"name": "Mine"})
        assert answer.status_code == 404, name
    assert browser.get("/projects/river/pools/").status_code == 404
    row.refresh_from_db()
    assert row.state == Grant.State.GRANTED
    browser.post(reverse("pools.stop_sharing", args=["lake", pool.key]))
    assert browser.get(reverse("pool", args=["lake", pool.key])).status_code == 404


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("width", [1280, 360])
def test_what_is_chosen_for_the_best_is_shown_in_full(opened: Opener, pool: Pool, width: int) -> None:
    make.stage(pool.project)
    for name in ("pool", "best-for-pool"):
        page = opened(reverse(name, args=["river", pool.key]), width)
        assert page.locator("#best-by").is_visible() and cut_selects(page) == [], name


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("width", [1280, 360])
def test_it_is_filled_archived_and_taken_up_in_a_browser(opened: Opener, pool: Pool, width: int) -> None:
    page = opened(reverse("pool", args=["river", pool.key]), width)
    page.get_by_role("textbox", name="Workers", exact=True).fill("bob")
    page.get_by_role("button", name="Add to the pool").click()
    expect(page.locator("form", has_text="Or a file")).to_contain_text("is no worker id")
    assert page.get_by_role("textbox", name="Workers", exact=True).input_value() == "bob"
    page.get_by_label("Or a file").set_input_files(
        {"name": "ids.csv", "mimeType": "text/csv", "buffer": b"worker_id\nA7FILE\n"}
    )
    page.get_by_role("textbox", name="Workers", exact=True).fill("A7TYPED")
    page.get_by_role("button", name="Add to the pool").click()
    expect(page.locator(".messages")).to_contain_text("2 workers are being put in the pool.")
    page.get_by_role("button", name="Archive the pool").click()
    expect(page.locator(".messages > div")).to_contain_text("The pool is archived")
    assert page.locator(".messages > div").count() == 1
    assert violations(page) == [] and page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator(".messages").get_by_role("button", name="Undo").click()
    expect(page.locator(".messages")).to_contain_text("Stages can ask for the pool again")
    pool.refresh_from_db()
    assert pool.archived_at is None


def test_a_pool_of_nobody_s_business_is_not_found(alice: Any, pool: Pool) -> None:
    make.project(owner=alice, slug="lake")
    browser = Client()
    browser.force_login(alice)
    assert browser.get(f"/projects/lake/pools/{pool.key}/").status_code == 404
    mine = make.pool(Project.objects.get(slug="lake"), make.worker(), key="pool-mine")
    # Rows of one pool are not reached through another.
    assert send(browser, "pools.remove", pool, mine.members.get().pk).status_code == 404
    send(browser, "pools.revoke_link", pool, mine.links.get().pk)
    assert mine.links.get().revoked_at is None
    # Nor through the pages of the project's other qualifications.
    row = mine.members.get()
    assert browser.post(f"/projects/lake/qualifications/{mine.key}/{row.pk}/withdraw/").status_code == 404


def test_pages_cost_the_same_with_many_workers_links_and_pools(
    lead_client: Client, pool: Pool, project: Project
) -> None:
    def queries(name: str, *more: str) -> int:
        with CaptureQueriesContext(connection) as found:
            lead_client.get(reverse(name, args=["river", *more]))
        return len(found)

    before = queries("pools"), queries("pool", pool.key)
    for number in range(30):
        make.grant(project, make.worker(f"A{number}"), key=pool.key, value=number % 5 + 1)
        make.pool_link(pool)
    for number in range(10):
        make.pool(project, key=f"pool-more-{number}")
    assert (queries("pools"), queries("pool", pool.key)) == before


def test_pools_are_among_the_requirements_on_the_page_settings(
    lead_client: Client, pool: Pool, project: Project
) -> None:
    stage = make.stage(project, key="validate", requirements=[{"qualification": pool.key, "comparator": "Exists"}])
    page = text(lead_client, "stage-settings", "river", stage.key)
    assert "Pool: Students" in page
    assert "Only workers in" in text(lead_client, "stage", "river", stage.key)
    assert f"{stage.title}</a> of River news" in text(lead_client, "pool", "river", pool.key)
