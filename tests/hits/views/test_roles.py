"""Each role on each page: what the table of roles allows answers, all else is refused with 403 and changes nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import pytest
from django.db import transaction
from django.test import Client, RequestFactory
from django.urls import Resolver404, resolve, reverse

from hits import urls
from hits.core.roles import IN_SHORT, MANAGER, OWNER, RANKS, READER, REVIEWER, TABLE, may, page_verb, table
from hits.core.verbs import REGISTRY
from hits.models import Membership
from hits.projects.pages import projects
from tests.hits import factories as make
from tests.hits.api.test_guard import _everything
from tests.hits.commands.test_verbs import methods_of
from tests.hits.market import Marketplace
from tests.hits.world import PAGES, VERBS, World

pytestmark = pytest.mark.django_db

NAMES = [*PAGES, *VERBS]
FORMS = {pattern.name: methods_of(pattern.callback) for pattern in [*urls.project_urls, *urls.stage_urls]}


@pytest.fixture
def everywhere(world: World) -> World:
    """Carl is to have one role in both projects of the world."""
    carl = make.user("carl")
    for project in (world.project, world.table.project):
        make.member(project, carl, READER)
    return world


def browser_of(role: str) -> Client:
    Membership.objects.filter(user__username="carl").update(role=role)
    client = Client()
    client.force_login(Membership.objects.filter(user__username="carl")[0].user)
    return client


def calls() -> Iterator[tuple[str, str]]:
    """Every page with every method that it answers."""
    for name in NAMES:
        for method in FORMS[name]:
            if method != "HEAD":
                yield name, method


def test_every_page_with_each_of_its_methods_stands_in_the_table() -> None:
    assert [call for call in calls() if page_verb(*call) is None] == []
    told = {page for verb in table() for page in verb.pages} - set(REGISTRY)
    assert told == set(NAMES)


@pytest.mark.parametrize(
    ("role", "may_do", "may_not"),
    [
        (MANAGER, {"publish", "pay-bonus", "change-budget"}, {"approve-request", "members.add", "members.remove"}),
        (REVIEWER, {"approve", "reject", "change-mention"}, {"publish", "pay-bonus", "block", "make-release"}),
        (READER, {"evaluate-release", "rule-preview"}, {"approve", "harvest", "import", "clone-project"}),
    ],
)
def test_the_table_says_what_the_roles_are_for(role: str, may_do: set[str], may_not: set[str]) -> None:
    allowed = {name for name, _ in calls() if may(role, page_verb(name, "POST"))}
    assert may_do <= allowed
    assert not may_not & allowed


def test_an_owner_may_do_everything() -> None:
    assert all(may(OWNER, verb) for verb in TABLE)


def test_a_page_that_the_table_does_not_name_is_refused_to_an_owner_too(world: World, alice: Any) -> None:
    request = RequestFactory().get("/somewhere/")
    request.user = alice
    # As the middleware of the second factor leaves whoever has none.
    alice.is_verified = lambda: False
    assert projects.done(request, slug="river-news").status_code == 403


class Doing(HTMLParser):
    """Of a page: (method, address) of its links and of its forms; no address where a form sends to its own page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "a" and given.get("href"):
            self.found.append(("GET", str(given["href"])))
        if tag == "form" and given.get("method") == "post":
            self.found.append(("POST", given.get("action") or ""))
        self.found += [("POST", str(given[name])) for name in ("formaction", "hx-post") if given.get(name)]
        if given.get("hx-get"):
            self.found.append(("GET", str(given["hx-get"])))


def offered(page: str, text: str) -> Iterator[tuple[str, str]]:
    """(name of a page, method) of what this page leads to within a project."""
    reader = Doing()
    reader.feed(text)
    for method, address in reader.found:
        path = re.split("[?#]", address)[0]
        try:
            name = resolve(path).url_name if path else page
        except Resolver404:
            continue
        if name in FORMS:
            yield name, method


@pytest.mark.parametrize("role", RANKS)
def test_a_role_is_offered_and_may_do_on_pages_what_the_table_says(
    everywhere: World, role: str, market: Marketplace
) -> None:
    """What is refused says so, says who may, and changes nothing."""
    client, wrong, doing = browser_of(role), [], set()
    before = _everything()
    for name, method in calls():
        allowed = may(role, page_verb(name, method))
        with transaction.atomic():
            reply = client.generic(method, everywhere.url(name))
            text = b"".join(reply).decode(errors="replace")
            transaction.set_rollback(allowed)
        # Whoever may withdraw requests still may not withdraw another member's.
        refused = not allowed or name == "withdraw-request"
        if (reply.status_code == 403) is not refused:
            wrong.append((name, method, reply.status_code))
        said = (f"You are a {role} of", "alice, bob", "Nothing was changed")
        if not allowed and not all(part in text for part in said):
            wrong.append((name, method, "does not say who may"))
        if allowed and method == "GET":
            found = set(offered(name, text))
            doing |= {verb for verb, method in found if method == "POST"}
            wrong += [(name, *call) for call in found if not may(role, page_verb(*call))]
    assert wrong == []
    after = _everything()
    assert {name for name, rows in after.items() if rows != before[name]} <= {"Session", "User"}
    if role == OWNER:
        assert {"change-budget", "pause", "add-media", "block"} <= doing


def test_the_members_page_says_each_role_in_a_sentence_and_its_acts_in_a_fold(lead_client: Client, alice: Any) -> None:
    page = lead_client.get(reverse("members", args=[make.project(owner=alice).slug])).content.decode()
    for sentence in IN_SHORT.values():
        assert f"<dd>{sentence}</dd>" in page
    fold = page[page.index("<details><summary>In full") :]
    assert "<li>Publish</li>" in fold and "<li>Publish</li>" not in page[: page.index("<details><summary>In full")]
