"""Terms that workers agree to: versions, which answers count under them, and what goes out with them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from decimal import Decimal
from threading import Barrier
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from hits.answers.rules import eligibility
from hits.answers.verbs import harvesting, reviewing
from hits.judging.rules.summaries import refresh_summary
from hits.judging.verbs import deciding, scoring
from hits.models import Assignment, Item, Project, Stage, Terms
from hits.people.models import LONGEST
from hits.people.rules import terms
from hits.people.verbs import terms as flow
from hits.projects.rules.archived import ArchivedError
from hits.projects.verbs import project_files
from hits.publishing.verbs import publishing
from hits.releases.verbs import exporting, releasing
from hits.workers.verbs import personal_data
from ops.waiting import PATIENCE_SECONDS
from tests.hits import factories as make
from tests.hits.doing import refused
from tests.hits.market import Marketplace
from tests.hits.payments.test_two_leads import database_with_connections
from tests.hits.record_project import fields
from tests.hits.said import say

__all__ = ["database_with_connections"]

pytestmark = pytest.mark.django_db(transaction=True)
ACCEPTED = make.NOON
SUBMITTED = make.NOON + timedelta(seconds=38)
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


def conclude(stage: Stage) -> None:
    harvesting.harvest(stage)
    scoring.score(stage)
    deciding.decide(stage)


def held(*rows: Assignment) -> list[str]:
    chosen = Assignment.objects.filter(pk__in=[row.pk for row in rows]).select_related("stage", "hit__item", "worker")
    found = eligibility.held(chosen)
    return [found[row.pk].held for row in rows]


# Versions


@pytest.mark.on_postgresql
def test_each_save_makes_a_version_and_the_earlier_ones_stay_as_they_were() -> None:
    project, lena = make.project(), make.user("lena")
    first, is_new = flow.save(project, "Read this.\r\n\r\n* one", lena)
    assert is_new and (first.version, first.text, first.made_by) == (1, "Read this.\n\n* one", lena)
    same, is_new = flow.save(project, "\nRead this.\n\n* one\n", None)
    assert (same.pk, is_new) == (first.pk, False)
    second, _ = flow.save(project, "Read that.", None)
    first.refresh_from_db()
    assert (second.version, first.text, first.ended_at) == (2, "Read this.\n\n* one", second.made_at)
    assert terms.standing(project.pk) == second
    said = [(row.verb, row.about) for row in project.actions.order_by("id")]
    assert said == [("changed the terms for workers", f"version {number}") for number in (1, 2)]


@pytest.mark.on_postgresql
def test_withdrawn_terms_stay_readable_and_the_next_ones_count_on() -> None:
    project = make.project()
    with refused("no_terms"):
        flow.withdraw(project, None)
    flow.save(project, "Read this.", None)
    assert flow.withdraw(project, None).version == 1
    assert terms.standing(project.pk) is None
    with refused("no_terms"):
        flow.withdraw(project, None)
    made, is_new = flow.save(project, "Read this.", None)
    assert (made.version, is_new) == (2, True)
    assert [row.version for row, _ in terms.answers_by_version(project)] == [2, 1]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "Write the text"),
        (" \n\t\n ", "Write the text"),
        ("x" * (LONGEST + 1), "at most 20,000"),
        ("Read\0this", "cannot be shown"),
        ("Read\u2028this", "cannot be shown"),
        ("\x1b[31mRed", "cannot be shown"),
    ],
)
def test_what_is_no_text_is_refused_and_makes_no_version(text: str, said: str) -> None:
    project = make.project()
    with refused("terms_refused", match=said):
        flow.save(project, text, None)
    assert not Terms.objects.exists() and not project.actions.exists()


def test_an_archived_project_keeps_its_terms() -> None:
    project = make.project(archived_at=timezone.now())
    make.terms(project)
    for change in (lambda: flow.save(project, "Other.", None), lambda: flow.withdraw(project, None)):
        with pytest.raises(ArchivedError):
            change()
    assert project.terms.standing().count() == 1


def test_there_are_so_many_versions_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flow, "MOST_VERSIONS", 2)
    project = make.project()
    for text in ("One.", "Two."):
        flow.save(project, text, None)
    with refused("terms_refused", match="at most 2 versions"):
        flow.save(project, "Three.", None)
    standing = terms.standing(project.pk)
    assert standing and standing.text == "Two."


@pytest.mark.on_postgresql
def test_of_two_versions_of_one_project_one_stands() -> None:
    first = make.terms()
    with pytest.raises(IntegrityError), transaction.atomic():
        Terms.objects.create(project=first.project, version=2, text="Another.")


@pytest.mark.on_postgresql
def test_two_leads_who_save_at_once_make_two_versions_of_which_one_stands(database_with_connections: None) -> None:
    project, start = make.project(), Barrier(2)

    def save(text: str) -> int:
        connection.ensure_connection()
        start.wait(PATIENCE_SECONDS)
        try:
            return flow.save(project, text, None)[0].version
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(save, ["One.", "Two."])) == [1, 2]
    assert project.terms.standing().get().version == 2


@pytest.mark.on_postgresql
def test_a_project_goes_with_its_terms_and_answers() -> None:
    answer = make.assignment()
    answer.terms = make.terms(answer.stage.project)
    answer.save()
    answer.stage.project.delete()
    assert not Terms.objects.exists() and not Assignment.objects.exists()


# Answers


def test_an_answer_posted_without_an_agreement_is_paid_and_counts_once_a_lead_approves_it(
    market: Marketplace, bring: Callable[..., Any], stage: Stage, publish: Callable[..., Any]
) -> None:
    make.terms(stage.project)
    bring(1)
    publish(stage)
    hit = stage.hits.get()
    sent = market.answer(market.sign_up_worker(), hit.hit_id, **fields(hit, "Linden"))
    conclude(stage)
    row = stage.assignments.get()
    assert row.held == "Its worker did not agree to the project's terms, of which version 1 stood."
    assert (row.held_for, row.terms, row.problem, row.admitted) == ("terms", None, "", None)
    assert market.status(sent)["status"] == "Approved"
    assert not stage.labels.counting().exists()
    assert Item.objects.get(pk=hit.item_id).state == Item.State.AGAIN
    assert reviewing.approve(stage, [row.pk], None) == 1
    assert stage.labels.counting().count() == 1


def test_an_answer_with_an_agreement_counts_and_keeps_the_version_beside_what_was_posted(
    market: Marketplace, bring: Callable[..., Any], stage: Stage, publish: Callable[..., Any]
) -> None:
    make.terms(stage.project)
    version = make.terms(stage.project)
    bring(1)
    publish(stage)
    hit = stage.hits.get()
    market.answer(market.sign_up_worker(), hit.hit_id, **fields(hit, "Linden"), **{terms.FIELD: "2"})
    conclude(stage)
    row = stage.assignments.get()
    assert (row.terms, row.held, row.answer) == (version, "", fields(hit, "Linden"))
    assert stage.labels.counting().count() == 1
    found = exporting.of_stage(stage, exporting.Choices())
    head = next(csv.reader(io.StringIO(b"".join(found.pieces).decode(), newline="")))
    assert [name for name in head if name.startswith("Answer.")] == ["Answer.answer", "Answer.text"]


@pytest.mark.parametrize("forged", ["3", "0", "-1", "²", "1 OR 1=1", "9" * 400, "", "01", " 2"])
def test_a_version_that_does_not_exist_is_no_agreement(
    forged: str, market: Marketplace, bring: Callable[..., Any], stage: Stage, publish: Callable[..., Any]
) -> None:
    make.terms(stage.project)
    make.terms(stage.project)
    other = make.terms()
    make.terms(other.project)
    make.terms(other.project)
    bring(1)
    publish(stage)
    hit = stage.hits.get()
    market.answer(market.sign_up_worker(), hit.hit_id, **fields(hit, "Linden"), **{terms.FIELD: forged})
    conclude(stage)
    row = stage.assignments.get()
    assert (row.terms, row.held_for, row.problem) == (None, "terms", "")
    assert terms.FIELD not in row.answer


def answered(stage: Stage, version: Terms | None, **columns: Any) -> Assignment:
    return make.assignment(make.hit(make.item(stage), expires_at=None), terms=version, **columns)


@pytest.mark.on_postgresql
@pytest.mark.parametrize(
    ("changed_at", "counts"),
    [
        (SUBMITTED + HOUR, True),
        (SUBMITTED - timedelta(seconds=9), True),
        (ACCEPTED + timedelta(seconds=1), True),
        (ACCEPTED - timedelta(seconds=30), True),
        (ACCEPTED - 2 * MINUTE, False),
        (ACCEPTED - HOUR, False),
    ],
    ids=["later", "while it was answered", "just after", "within what clocks differ", "before", "long before"],
)
def test_an_older_version_counts_if_it_stood_when_the_hit_was_accepted(changed_at: datetime, counts: bool) -> None:
    stage = make.stage()
    old = make.terms(stage.project, made_at=ACCEPTED - 24 * HOUR)
    make.terms(stage.project, made_at=changed_at)
    why = "Its worker agreed to version 1 of the project's terms, which did not stand when it was accepted: "
    expected = "" if counts else f"{why}version 2 did."
    assert held(answered(stage, old)) == [expected]


@pytest.mark.on_postgresql
def test_the_version_that_was_made_while_it_was_answered_counts_and_one_of_the_future_does_not() -> None:
    stage = make.stage()
    make.terms(stage.project, made_at=ACCEPTED - HOUR)
    meanwhile = make.terms(stage.project, made_at=SUBMITTED - timedelta(seconds=9))
    later = make.terms(stage.project, made_at=SUBMITTED + HOUR)
    fits, invented = held(answered(stage, meanwhile), answered(stage, later))
    assert fits == "" and "version 3 of the project's terms, which did not stand" in invented


@pytest.mark.on_postgresql
def test_nothing_is_asked_of_who_accepted_before_there_were_terms_or_after_they_were_withdrawn() -> None:
    before, after = make.stage(), make.stage()
    make.terms(before.project, made_at=ACCEPTED)
    make.terms(after.project, made_at=ACCEPTED - 3 * HOUR, ended_at=ACCEPTED - HOUR)
    assert held(answered(before, None), answered(after, None), answered(make.stage(), None)) == ["", "", ""]


def test_a_worker_who_did_not_agree_has_seen_the_item_all_the_same() -> None:
    """Such an answer keeps its worker from the item, as one that was too fast does."""
    stage = make.stage()
    make.terms(stage.project, made_at=ACCEPTED - HOUR)
    row = answered(stage, None)
    eligibility.recheck([row.pk])
    row.refresh_from_db()
    assert (row.held_for, Assignment.objects.filter(eligibility.ELIGIBLE).count()) == ("terms", 1)
    row.hit.stage.settings = {"min_seconds": 50}
    row.hit.stage.save()
    eligibility.recheck([row.pk])
    row.refresh_from_db()
    assert (row.held_for, Assignment.objects.filter(eligibility.ELIGIBLE).count()) == ("untimely terms", 1)


def test_an_answer_on_a_page_of_a_leads_own_is_not_asked_and_the_quote_says_so(market: Marketplace) -> None:
    stage = make.stage(make.project(recipe="html_page"), protocol="html_page", settings={})
    assert not any("terms" in warning for warning in publishing.quote(stage).warnings)
    make.terms(stage.project, made_at=ACCEPTED - HOUR)
    assert held(answered(stage, None)) == [""]
    assert terms.by_field(stage) == {}, "A field of the lead's own of that name stays in the answer."
    assert [found.key for found in terms.not_asked_in(stage.project)] == [stage.key]
    (warning,) = [one for one in publishing.quote(stage).warnings if "terms" in one]
    assert "cannot ask workers to agree" in warning


# What goes out


@pytest.fixture
def released() -> Project:
    """Three answers, two of them under the second of three versions, of which the first has none."""
    project = make.project(recipe="choice", slug="river", owner=make.user("lena"))
    stage = make.stage(project, key="choose", title="Choose", protocol="multiple_choice")
    versions = [make.terms(project, made_at=ACCEPTED + number * HOUR, text=f"Text {number}.") for number in range(3)]
    say(stage, [{"ann": "yes", "ben": "yes", "cat": "yes"}])
    stage.items.update(state=Item.State.KEPT)
    for item in stage.items.all():
        make.verdict(item)
    Assignment.objects.exclude(worker__worker_id="ACAT").update(terms=versions[1])
    refresh_summary(stage)
    return project


def test_card_and_manifest_say_how_many_answers_were_given_under_which_version(released: Project) -> None:
    made, _ = releasing.release(released, None)
    found = {row.name: b"".join(row.blob.read_chunks()) for row in made.files.select_related("blob")}
    manifest = json.loads(found["manifest.json"])["worker_terms"]
    assert [(row["version"], row["answers"], row["until"] is None) for row in manifest["versions"]] == [
        (2, 2, False),
        (3, 0, True),
    ]
    assert manifest["answers_under_none"] == 1
    assert found["worker-terms-2.md"] == b"Text 1.\n" and "worker-terms-1.md" not in found
    card = found["README.md"].decode()
    assert "## What workers agreed to" in card
    assert "| Version 2, 2026-11-19 to 2026-11-19 (worker-terms-2.md) | 2 |" in card
    assert "| Version 3, from 2026-11-19 on (worker-terms-3.md) | 0 |" in card and "| No version | 1 |" in card
    assert releasing.preview(released)["worker_terms"] == manifest


def test_a_release_of_a_project_without_terms_says_nothing_of_them(released: Project) -> None:
    Assignment.objects.update(terms=None)
    released.terms.all().delete()
    made, _ = releasing.release(released, None)
    assert "worker_terms" not in made.manifest and releasing.preview(released)["worker_terms"] is None
    card = b"".join(made.files.get(name="README.md").blob.read_chunks()).decode()
    assert "agreed" not in card


@pytest.mark.parametrize("layout", ["csv", "jsonl", "mturk"])
def test_tables_of_results_have_no_column_of_the_terms(released: Project, layout: str) -> None:
    found = exporting.of_project(released, exporting.Choices(layout))
    assert b"terms" not in b"".join(found.pieces).lower()


def test_the_data_of_a_worker_name_the_version_and_deleting_what_they_told_leaves_it(released: Project) -> None:
    worker = personal_data.find("AANN")
    assert [row["terms_version"] for row in personal_data.export(worker)["answers"]] == [2]
    personal_data.erase(worker)
    assert worker.assignments.get().terms.version == 2


def test_a_clone_and_a_file_take_the_text_that_stands_along(released: Project) -> None:
    lena = released.owners.get()
    made = project_files.clone(released, "Again", Decimal("5.00"), lena)
    assert [(row.version, row.text, row.made_by) for row in made.terms.all()] == [(1, "Text 2.", lena)]
    flow.withdraw(released, None)
    assert not project_files.clone(released, "Third", Decimal("5.00"), lena).terms.exists()
    for wrong, said in (("terms = 7", "terms must be a text"), ('terms = " "', "terms: Write the text")):
        with refused("project_file_refused", match=said):
            project_files.read(f"{wrong}\n{project_files.written(made)}".replace('terms = "Text 2."', "").encode())
