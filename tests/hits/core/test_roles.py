"""What a refusal by the table of roles says, and what goes on in a project that is archived."""

from __future__ import annotations

import pytest
from django.utils import timezone

from hits.core.roles import (
    LOOK,
    MANAGER,
    OWNER,
    READER,
    REVIEWER,
    RoleRefusedError,
    gained,
    may,
    may_in,
    page_verb,
    refuse_unless_allowed,
    route_verb,
    table,
)
from hits.models import Membership
from hits.projects.rules.archived import ArchivedError
from tests.hits import factories as make

pytestmark = pytest.mark.django_db
WHILE_ARCHIVED = {
    "Look at everything",
    "Download what is there: releases, results, answers, the ledger, the recipe",
    "Remove a member",
    "Revoke an invitation",
    "Restore an archived project",
    "Clone a project",
    "Try an aggregation rule",
    "See what models would decide",
    "Revoke an invitation link of a pool",
    "End a webhook",
    "Score predictions against a release",
}
PUBLISH, SCORE = page_verb("publish", "POST"), page_verb("evaluate-release", "POST")


def project_as(role: str, **columns):
    """A project as it is asked for by a member of this role."""
    found = make.project(name="River", owner=make.user("alice"), **columns)
    found.role = role
    return found


@pytest.mark.parametrize(
    ("role", "words"),
    [
        (READER, "This takes the role manager or owner. You are a reader of River. Its owner: alice."),
        (REVIEWER, "You are a reviewer of River."),
    ],
)
def test_a_refusal_names_the_roles_that_may_and_whom_to_ask(role, words):
    with pytest.raises(RoleRefusedError) as refused:
        refuse_unless_allowed(project_as(role), PUBLISH)
    assert words in str(refused.value)
    assert refused.value.details() == {"role": role, "needed": MANAGER}


def test_what_the_table_does_not_name_is_refused_to_an_owner_with_no_role_to_ask_for():
    with pytest.raises(RoleRefusedError, match="^No role may do this. You are an owner of River.") as refused:
        refuse_unless_allowed(project_as(OWNER), page_verb("no-such-page", "POST"))
    assert refused.value.details() == {"role": OWNER, "needed": ""}


@pytest.mark.parametrize(
    ("owners", "words"),
    [
        (2, "Its owners: alice, bob0."),
        (5, "Its owners: alice, bob0, bob1, bob2, bob3."),
        (6, "Its owners: alice, bob0, bob1, bob2, bob3 and others."),
    ],
)
def test_five_owners_are_named(owners, words):
    project = project_as(READER)
    for number in range(owners - 1):
        make.member(project, make.user(f"bob{number}"), Membership.Role.OWNER)
    with pytest.raises(RoleRefusedError) as refused:
        refuse_unless_allowed(project, PUBLISH)
    assert words in str(refused.value)


def test_an_archived_project_is_looked_at_and_left_and_nothing_else():
    archived = project_as(OWNER, archived_at=timezone.now())
    assert may_in(archived, LOOK) and may_in(archived, SCORE)
    assert not may_in(archived, PUBLISH) and not may_in(archived, None)
    refuse_unless_allowed(archived, SCORE)
    with pytest.raises(ArchivedError):
        refuse_unless_allowed(archived, PUBLISH)
    # Whoever may not do it at all learns that, archived or not.
    archived.role = READER
    with pytest.raises(RoleRefusedError):
        refuse_unless_allowed(archived, PUBLISH)


def test_a_project_that_is_not_archived_lets_a_role_do_what_the_table_says():
    project = project_as(MANAGER)
    assert may_in(project, PUBLISH)
    project.role = REVIEWER
    assert not may_in(project, PUBLISH)


def test_what_goes_on_in_an_archived_project_takes_access_away_or_changes_nothing_there():
    assert {verb.name for verb in table() if verb.while_archived} == WHILE_ARCHIVED


def test_a_head_is_a_look_and_another_method_is_not():
    assert page_verb("members", "GET") == page_verb("members", "HEAD") == LOOK
    assert page_verb("members", "DELETE") is None
    assert route_verb("terms", "HEAD") == route_verb("terms", "GET") == LOOK
    assert route_verb("terms", "PATCH") is None


def test_each_role_gains_what_the_role_before_may_not():
    names = dict(gained())
    assert list(names) == [READER, REVIEWER, MANAGER, OWNER]
    assert "Publish" in names[MANAGER] and "Approve" in names[REVIEWER]
    assert sum(len(verbs) for verbs in names.values()) == len(table())


def test_a_role_may_what_takes_its_own_rank():
    assert may(MANAGER, PUBLISH) and may(OWNER, PUBLISH) and not may(REVIEWER, PUBLISH)
    assert not may(OWNER, None)
