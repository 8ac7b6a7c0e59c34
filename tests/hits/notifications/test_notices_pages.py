"""The page of notices: who sees what, what is new, and the choices."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.core import mail
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Page, expect

from hits.models import Membership, Notice, NoticeChoice, Project
from hits.notifications.rules import notices
from tests.axe import faults_in_both_looks
from tests.hits import factories as make
from tests.hits.lead_pages import Opener
from tests.markup import squeezed

pytestmark = pytest.mark.django_db
ADDRESS = re.compile(r"/notices/address/\S+/")


@pytest.fixture
def project(alice: Any) -> Project:
    return make.project(owner=alice, name="River", slug="river")


def shown(client: Client, **query: str) -> str:
    return squeezed(client.get(reverse("notices"), query))


def test_the_header_of_each_page_says_how_many_are_new_and_leads_there(lead_client: Client, project: Project) -> None:
    assert 'href="/notices/">Notices</a>' in squeezed(lead_client.get(reverse("projects")))
    make.notice(project, "One.")
    make.notice(project, "Two.")
    make.notice(project, "Later.", told_at=timezone.now() + timedelta(minutes=5))
    page = squeezed(lead_client.get(reverse("project", args=["river"])))
    assert re.search(r'Notices <span class="chip">2<span class="unit"> new</span></span></a>', page)


def test_what_is_new_or_over_is_said_in_words(lead_client: Client, project: Project) -> None:
    make.notice(project, "Old.", told_at=timezone.now() - timedelta(days=1))
    make.notice(project, "Ended.", ended_at=timezone.now(), is_event=False)
    make.notice(project, "Fresh.", more="Because of this.")
    page = shown(lead_client)
    items = re.findall(r"<li class=\"tight stack\">(.*?)</li>", page)
    assert [re.findall(r"chip[^>]*>(\w+)<", item) for item in items] == [["New"], ["Over"], []]
    assert 'href="/projects/river/">Fresh.</a>' in items[0] and "Because of this." in items[0]
    assert page.index("Fresh.") < page.index("Ended.") < page.index("Old.")


def test_marking_as_seen_takes_a_post_and_leaves_what_came_after_the_page(
    lead_client: Client, project: Project, alice: Any
) -> None:
    make.notice(project, "Fresh.")
    until = lead_client.get(reverse("notices")).context["until"]
    make.notice(project, "Later.")
    assert lead_client.get(reverse("notices-seen"), {"until": until}).status_code == 405
    assert notices.new_count(alice) == 2
    lead_client.post(reverse("notices-seen"), {"until": until, "project": ""})
    assert [row.words for row in notices.seen_by(alice) if row.is_new] == ["Later."]
    assert "Mark all as seen" in shown(lead_client)
    reply = lead_client.post(reverse("notices-seen"), {"until": "yesterday"}, follow=True)
    assert "nothing was changed" in squeezed(reply)
    assert notices.new_count(alice) == 1


def test_the_list_of_one_project_is_marked_alone(lead_client: Client, project: Project, alice: Any) -> None:
    lake = make.project(owner=alice, name="Lake", slug="lake")
    make.notice(project, "Of the river.")
    make.notice(lake, "Of the lake.")
    page = shown(lead_client, project="lake")
    assert "Of the lake." in page and "Of the river." not in page
    assert '<option value="lake" selected>Lake</option>' in page
    until = lead_client.get(reverse("notices"), {"project": "lake"}).context["until"]
    reply = lead_client.post(reverse("notices-seen"), {"until": until, "project": "lake"})
    assert reply.headers["Location"] == "/notices/?project=lake"
    assert [row.words for row in notices.seen_by(alice) if row.is_new] == ["Of the river."]


def test_an_outsider_sees_nothing_and_a_reader_what_the_others_see(project: Project, charlie: Any, bob: Any) -> None:
    make.notice(project, "Of the river.")
    make.member(project, bob, "reader")
    pages = {}
    for person in (charlie, bob):
        browser_ = Client()
        browser_.force_login(person)
        pages[person.username] = shown(browser_)
        assert "Of the river." not in shown(browser_, project="elsewhere")
    assert "Of the river." not in pages["charlie"] and "you have no project in use" in pages["charlie"]
    assert "Of the river." in pages["bob"]
    Membership.objects.filter(user=bob).delete()
    assert notices.seen_by(bob).count() == 0


def test_the_page_costs_the_same_queries_with_many_and_comes_in_pages(lead_client: Client, project: Project) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as found:
            lead_client.get(reverse("notices"))
        return len(found)

    make.notice(project, "First.", told_at=timezone.now() - timedelta(hours=1))
    queries()
    before = queries()
    for number in range(60):
        make.notice(project, f"Notice {number}.")
    # The number beside the pages: where this one begins.
    assert queries() <= before + 1
    page = lead_client.get(reverse("notices")).context["page"]
    assert len(page.rows) == 50
    rest = lead_client.get(reverse("notices"), {"after": page.after})
    assert [row.words for row in rest.context["page"].rows][-1] == "First."
    assert "Mark all as seen" not in squeezed(rest)


def test_without_a_mail_server_no_e_mail_can_be_chosen_and_what_was_chosen_stays(
    lead_client: Client, project: Project, alice: Any
) -> None:
    page = shown(lead_client)
    assert page.count('name="email"') == page.count('" disabled>') == len(Notice.Kind)
    before = {one.kind: one.by_email for one in notices.choices_of(alice)}
    lead_client.post(reverse("notices-choose"), {"page": ["budget"]})
    assert {one.kind: one.by_email for one in notices.choices_of(alice)} == before and any(before.values())


def test_kinds_are_switched_for_the_person_alone(
    lead_client: Client, project: Project, alice: Any, bob: Any, settings: Any
) -> None:
    settings.MAIL = True
    make.member(project, bob)
    make.notice(project, "Fresh.")
    lead_client.post(reverse("notices-choose"), {"page": ["budget", "review"], "email": ["stuck"]})
    wanted = {one.kind: (one.on_page, one.by_email) for one in notices.choices_of(alice)}
    assert wanted["budget"] == (True, False)
    assert wanted["stuck"] == (False, True)
    assert wanted["block"] == (False, False)
    assert (notices.new_count(alice), notices.new_count(bob)) == (0, 1)
    assert not NoticeChoice.objects.filter(user=bob).exists()


def test_the_page_says_why_no_e_mail_comes(lead_client: Client, project: Project, alice: Any, settings: Any) -> None:
    assert "has no mail server" in shown(lead_client)
    settings.MAIL = True
    assert "Your account has no e-mail address" in shown(lead_client)
    alice.email = "alice@example.org"
    alice.save()
    page = shown(lead_client)
    assert "Notices are sent to alice@example.org" in page and "no e-mail address" not in page


PASSWORD = "a-long-enough-password-7"


@pytest.fixture
def with_password(lead_client: Client, alice: Any, settings: Any) -> str:
    """Alice's: an open session alone changes no address."""
    settings.MAIL = True
    alice.set_password(PASSWORD)
    alice.save()
    lead_client.force_login(alice)
    return PASSWORD


def test_an_open_session_alone_changes_no_address(lead_client: Client, alice: Any, with_password: str) -> None:
    get_user_model().objects.update(email="alice@example.org")
    replies = [
        lead_client.post(reverse("notices-ask-address"), {"email": email, "password": password}).status_code
        for email, password in (("new@example.org", ""), ("new@example.org", "guess"), ("", "guess"))
    ]
    assert replies == [400, 403, 403]
    for _ in range(10):
        reply = lead_client.post(reverse("notices-ask-address"), {"email": "new@example.org", "password": "guess"})
    assert reply.status_code == 429 and "Too many tries" in squeezed(reply)
    assert lead_client.post(reverse("notices-ask-address"), {"email": "", "password": with_password}).status_code == 429
    alice.refresh_from_db()
    assert (alice.email, mail.outbox) == ("alice@example.org", [])


def test_a_new_password_ends_a_link_and_the_old_address_hears_of_it(
    lead_client: Client, alice: Any, with_password: str
) -> None:
    get_user_model().objects.update(email="alice@example.org")
    lead_client.post(reverse("notices-ask-address"), {"email": "new@example.org", "password": with_password})
    link, warning = mail.outbox
    assert (link.to, warning.to) == (["new@example.org"], ["alice@example.org"])
    found = ADDRESS.search(str(link.body))
    alice.refresh_from_db()
    alice.set_password("another-long-password-8")
    alice.save()
    lead_client.force_login(alice)
    assert found and lead_client.post(found[0]).status_code == 404
    alice.refresh_from_db()
    assert alice.email == "alice@example.org"


def test_an_address_is_confirmed_by_the_link_and_opening_it_changes_nothing(
    lead_client: Client, alice: Any, charlie: Any, with_password: str
) -> None:
    lead_client.post(reverse("notices-ask-address"), {"email": "new@example.org", "password": with_password})
    [letter] = mail.outbox
    found = ADDRESS.search(letter.body)
    assert found and letter.to == ["new@example.org"]
    assert "Use this address" in squeezed(lead_client.get(found[0]))
    alice.refresh_from_db()
    assert alice.email == ""
    other = Client()
    other.force_login(charlie)
    assert (other.get(found[0]).status_code, other.post(found[0]).status_code) == (404, 404)
    assert Client().get(found[0]).headers["Location"].startswith(reverse("login"))
    lead_client.post(found[0])
    alice.refresh_from_db()
    assert alice.email == "new@example.org"
    assert lead_client.get(found[0]).status_code == 404
    lead_client.post(reverse("notices-ask-address"), {"email": "", "password": with_password})
    alice.refresh_from_db()
    assert alice.email == ""
    assert "removed this address" in str(mail.outbox[-1].body)


@pytest.mark.parametrize("wrong", ["nobody", "a@example.org\r\nBcc: b@example.org", f"{'a' * 300}@example.org"])
def test_a_wrong_address_is_refused_beside_the_field(lead_client: Client, settings: Any, wrong: str) -> None:
    settings.MAIL = True
    reply = lead_client.post(reverse("notices-ask-address"), {"email": wrong})
    assert (reply.status_code, "errorlist" in reply.content.decode()) == (400, True)
    assert mail.outbox == []


def test_markup_in_a_notice_is_text(lead_client: Client, project: Project) -> None:
    make.notice(project, "<script>alert(1)</script>.csv was not imported", more="<b>no</b>")
    page = shown(lead_client)
    assert "<script>alert" not in page and "<b>no</b>" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;.csv was not imported" in page


@pytest.mark.django_db(transaction=True)
def test_the_page_is_accessible_and_works_by_keyboard(opened: Opener, project: Project, alice: Any) -> None:
    make.project(owner=alice, name="A second project with a long name, of which a phone shows a part")
    make.notice(
        project, "14 answers wait for review in Validate", more="the first is approved automatically on 1 Dec 2026"
    )
    make.notice(project, f"{'long' * 30}.csv was not imported", more="The file is broken. " * 20)
    make.notice(project, "Less than 10 % of the budget is left", ended_at=timezone.now(), is_event=False)
    page: Page = opened(reverse("notices"))
    assert faults_in_both_looks(page) == []
    page.get_by_role("button", name="Mark all as seen").press("Enter")
    expect(page.get_by_role("status")).to_contain_text("marked as seen")
    expect(page.get_by_text("New", exact=True)).to_have_count(0)
    page.get_by_label("Little of the budget is left: by e-mail").press("Space")
    page.get_by_role("button", name="Save").press("Enter")
    expect(page.get_by_label("Little of the budget is left: by e-mail")).not_to_be_checked()
