"""What every declared verb and list keeps, whichever it is: a new one is tested by being declared.

Each test goes over the whole registry, by the API and by the page's form; what a call changed is taken back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection, transaction
from django.http import Http404
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from rest_framework.test import APIClient

from hits.core import lists
from hits.core.checks import check_declarations
from hits.core.lists import List
from hits.core.pages import FIELDS
from hits.core.roles import RANKS
from hits.core.verbs import REGISTRY, Verb, placeholders
from hits.models import Action, Project
from tests.hits import factories as make
from tests.hits.api_calls import signed_in
from tests.hits.core.examples import ROWS, VALUES
from tests.hits.doing import do

# Some verbs ask the marketplace before they write.
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("market")]
VERBS = list(REGISTRY.values())
OFTEN = 5
# One that pays sums up what all calls on their way cost.
MOST_QUERIES = 34


@pytest.fixture
def project() -> Project:
    return make.project(owner=make.user("alice"), slug="river")


@contextmanager
def taken_back() -> Iterator[None]:
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def member(project: Project, role: str) -> Any:
    user = make.user(f"a-{role}")
    make.member(project, user, role)
    return user


def by_api(verb: Verb, row: Any, client: APIClient, values: dict[str, Any]) -> Any:
    parts = iter(verb.on.arguments(row)[1:])
    path = re.sub(r"<\w+:\w+>", lambda found: str(next(parts)), verb.path)
    address = f"/api/projects/{verb.on.project_of(row).slug}/{path}"
    return getattr(client, verb.method.lower())(
        address, _unread(values), format="multipart" if verb.takes_file else "json"
    )


def _unread(values: dict[str, Any]) -> dict[str, Any]:
    for value in values.values():
        if isinstance(value, SimpleUploadedFile):
            value.seek(0)
    return values


def by_page(verb: Verb, row: Any, client: Client, values: dict[str, Any]) -> Any:
    sent = {name: value for name, value in _unread(values).items() if value not in (None, False)}
    return client.post(reverse(verb.name, args=verb.on.arguments(row)), {FIELDS: " ".join(values), **sent})


def browser(user: Any) -> Client:
    client = Client()
    client.force_login(user)
    return client


def row_for(verb: Verb, project: Project) -> Any:
    return ROWS.get(verb.name, ROWS[verb.on.name])(project)


def each(project: Project) -> Iterator[tuple[Verb, Any, dict[str, Any]]]:
    """Every verb with a row of its own and its values; all is taken back before the next."""
    for verb in VERBS:
        with taken_back():
            yield verb, row_for(verb, project), dict(VALUES[verb.name])


def test_every_verb_has_an_example_and_is_declared_rightly() -> None:
    assert set(VALUES) == set(REGISTRY)
    assert check_declarations() == []


def test_nobody_who_is_not_signed_in_does_any(project: Project) -> None:
    for verb, row, values in each(project):
        assert by_api(verb, row, APIClient(), values).status_code == 401, verb.name
        if verb.has_form:
            page = by_page(verb, row, Client(), values)
            assert page.status_code == 302 and "/sign-in/" in page["Location"], verb.name
        assert not Action.objects.exists(), verb.name


def test_an_outsider_finds_nothing(project: Project) -> None:
    bob = make.user("bob")
    for verb, row, values in each(project):
        assert by_api(verb, row, signed_in(bob), values).status_code == 404, verb.name
        assert not verb.has_form or by_page(verb, row, browser(bob), values).status_code == 404, verb.name


def test_a_row_of_another_project_is_not_reached_through_one_s_own(project: Project) -> None:
    bob = make.user("bob")
    mine = make.project(owner=bob, slug="own", namespace="own")
    for verb, row, _ in each(project):
        if verb.on.owner and verb.has_form:
            address = reverse(verb.name, args=[mine.slug, *verb.on.arguments(row)[1:]])
            assert browser(bob).post(address).status_code == 404, verb.name


def test_a_token_of_too_small_a_scope_is_refused(project: Project) -> None:
    alice = project.owners.get()
    for verb, row, values in each(project):
        for scope in ("read", "write") if verb.pays else ("read",):
            answer = by_api(verb, row, signed_in(alice, scope), values)
            assert answer.status_code == 403 and "this takes" in answer.json()["error"]["message"], verb.name


def test_a_row_that_is_deleted_meanwhile_is_not_found(project: Project) -> None:
    for verb, row, values in each(project):
        if verb.on.owner:
            type(row).objects.filter(pk=row.pk).delete()
            with pytest.raises(Http404):
                do(verb.name, row, **values)


@pytest.mark.parametrize("role", RANKS)
def test_a_role_does_what_it_may_and_leaves_one_row_of_the_log(project: Project, role: str) -> None:
    user = member(project, role)
    for verb, row, values in each(project):
        enough = RANKS.index(role) >= RANKS.index(verb.role)
        for way, call, client in (("api", by_api, signed_in(user)), ("page", by_page, browser(user))):
            with taken_back():
                if way == "page" and not verb.has_form:
                    continue
                answer = call(verb, row, client, values)
                done = list(project.actions.values_list("verb", "origin", "name"))
                if not enough:
                    assert (answer.status_code, done) == (403, []), (verb.name, way)
                    continue
                expected = (202 if verb.see else verb.status) if way == "api" else 302
                assert answer.status_code == expected, (verb.name, way, answer.content)
                assert done == [(verb.words, way, user.username)], (verb.name, way)
                action = project.actions.get()
                assert all(action.detail.get(name) for name in placeholders(verb.activity)), verb.name


def test_in_an_archived_project_only_those_go_on_that_say_so(project: Project) -> None:
    client = signed_in(project.owners.get())
    for verb, row, values in each(project):
        Project.objects.update(archived_at=timezone.now())
        answer = by_api(verb, row, client, values)
        if verb.while_archived:
            assert answer.status_code < 300, verb.name
        else:
            assert (answer.status_code, answer.json()["error"]["code"]) == (409, "archived"), verb.name


def test_an_unknown_field_is_named_and_nothing_is_changed(project: Project) -> None:
    alice = project.owners.get()
    for verb, row, values in each(project):
        answer = by_api(verb, row, signed_in(alice), {**values, "colour": "red"})
        assert (answer.status_code, list(answer.json()["error"]["details"])) == (400, ["colour"]), verb.name
        if not verb.has_form:
            continue
        address = reverse(verb.name, args=verb.on.arguments(row))
        assert "Unknown field" in browser(alice).post(address, {"colour": "red"}).content.decode(), verb.name
        assert not Action.objects.exists(), verb.name


def test_a_value_of_another_type_is_named_and_nothing_is_changed(project: Project) -> None:
    client = signed_in(project.owners.get())
    for verb, row, values in each(project):
        for name in () if verb.takes_file else verb.fields():
            answer = by_api(verb, row, client, {**values, name: {"an": "object"}})
            assert answer.status_code == 400 and name in answer.json()["error"]["details"], (verb.name, name)
        assert not Action.objects.exists(), verb.name


# Of a row that the first one removed.
GONE = (404, "not_found")
# What the second one gets where it is no conflict.
TWICE = {
    "invitations.resend": (404, "no_invitation"),
    "invitations.revoke": (404, "no_invitation"),
    "members.remove": GONE,
    "message_templates.make": (400, "template_refused"),
    "message_templates.remove": GONE,
    "qualification_tests.create": (400, "test_refused"),
    "qualification_tests.remove": GONE,
}


def test_what_is_sent_twice_is_done_again_or_refused_with_a_declared_code(project: Project) -> None:
    client = signed_in(project.owners.get())
    for verb, row, values in each(project):
        answers = [by_api(verb, row, client, values) for _ in range(2)]
        for answer in answers:
            if answer.status_code >= 300:
                error = answer.json()["error"]
                expected = TWICE.get(verb.name, (409, error["code"]))
                assert (answer.status_code, error["code"]) == expected, (verb.name, error)
                assert error["code"] in verb.refuses or expected == GONE, (verb.name, error)
                assert error["message"].endswith("."), verb.name
        assert project.actions.count() <= sum(answer.status_code < 300 for answer in answers), verb.name


def test_a_form_that_is_refused_keeps_what_was_typed(project: Project) -> None:
    client = browser(project.owners.get())
    for verb, row, _ in each(project):
        texts = {name: "typed <b>" for name, one in verb.fields().items() if one.__class__.__name__ == "CharField"}
        if verb.has_form and texts and set(texts) < set(verb.fields()):
            for headers in ({}, {"HX-Request": "true"}):
                address = reverse(verb.name, args=verb.on.arguments(row))
                wrong = {name: "?" for name in verb.fields() if name not in texts}
                page = client.post(address, {FIELDS: " ".join(verb.fields()), **texts, **wrong}, headers=headers)
                assert page.status_code == (422 if headers else 400), verb.name
                assert "typed &lt;b&gt;" in page.content.decode(), verb.name


def test_a_verb_costs_as_many_queries_with_many_rows_as_with_one(project: Project) -> None:
    client = signed_in(project.owners.get())
    for verb, row, values in each(project):

        def queries(row: Any = row, verb: Verb = verb, values: dict[str, Any] = values) -> int:
            with taken_back(), CaptureQueriesContext(connection) as caught:
                assert by_api(verb, row, client, values).status_code < 300
            return len(caught)

        first = queries()
        if verb.on.owner:
            for _ in range(OFTEN):
                row_for(verb, project)
        assert queries() <= first <= MOST_QUERIES, verb.name


def test_lists_are_paged_by_the_api_and_downloaded_as_csv_with_the_same_columns(project: Project) -> None:
    alice = project.owners.get()
    for found in lists.REGISTRY.values():
        if not isinstance(found, List):
            continue
        with taken_back():
            row = ROWS[found.on.name](project)
            address = reverse(f"api:{found.name}", args=found.on.arguments(row))
            answer = signed_in(alice).get(address)
            assert answer.status_code == 200 and set(answer.json()) == {"results", "next"}, found.name
            table = browser(alice).get(reverse(f"{found.name}.csv", args=found.on.arguments(row)))
            head = b"".join(table.streaming_content).decode().splitlines()[0].lstrip("\ufeff")
            assert head.split(",") == list(found.gives().fields), found.name
            assert signed_in(make.user("bob")).get(address).status_code == 404, found.name
