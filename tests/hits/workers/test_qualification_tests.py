"""Qualification tests at the real marketplace: a worker takes one on the worker's site, and is let in or not."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from hits.crowd.browser import Allowance, Browser
from hits.crowd.html import read_form
from hits.formats.inputs.qualification_test import Details
from hits.models import Item, LedgerEntry, Project, QualificationTest, Stage
from hits.mturk.errors import RefusedError, UnreachableError
from hits.publishing.rules.marketplace_account import gateway
from hits.publishing.verbs import publishing, sending
from hits.workers.verbs import qualification_tests
from tests.hits import factories as make
from tests.hits.doing import refused
from tests.hits.market import Marketplace

pytestmark = pytest.mark.django_db
State = QualificationTest.State
DETAILS = Details("reading-test", "Reading <b>closely</b>", "Opens “Validate” & pays.", 80, 15, None)


@pytest.fixture
def river(db: None) -> Project:
    return make.project(budget="100.00")


def offered(project: Project, **columns: Any) -> QualificationTest:
    row = make.qualification_test(project, key="reading-test", **columns)
    qualification_tests.offer(row, row.fingerprint, None)
    assert qualification_tests.finish(project) == 1
    row.refresh_from_db()
    assert (row.state, row.error) == (State.OFFERED, "")
    return row


class Person:
    """A worker at the worker's site, with a browser of their own."""

    def __init__(self, market: Marketplace) -> None:
        self.home = market.url
        name = f"reader-{secrets.token_hex(6)}"
        self.worker_id = str(market.do("sign_up", username=name, attributes={"country": "US", "adult": True}))
        self.browser = Browser(Allowance(50), cookies=True)
        page = self.browser.get(f"{self.home}/accounts/login/")
        form = page.page.first("form", action="/accounts/login/")
        assert form is not None
        assert self.browser.send(read_form(form), page.url, username=name, password="worker").status == 200

    def take(self, test: QualificationTest, picks: Sequence[int]) -> tuple[str, str]:
        """Begin the test, pick these choices, hand in; the test's page as it is written, and the words after it."""
        page = self.browser.get(f"{self.home}/worker/qualifications/{test.qualification_type_id}/")
        begin = page.page.first("form", action=f"/worker/qualifications/{test.qualification_type_id}/ask/")
        assert begin is not None
        sheet = self.browser.send(read_form(begin), page.url)
        form = next(form for form in sheet.page.all("form") if "/test/" in form.attributes.get("action", ""))
        answers = {f"q{number}": f"c{pick}" for number, pick in enumerate(picks, start=1)}
        return sheet.body, self.browser.send(read_form(form), sheet.url, **answers).page.text()

    def sees(self, stage: Stage) -> bool:
        page = self.browser.get(f"{self.home}/projects/{stage.hit_type_id}/tasks")
        return any("/accept" in form.attributes.get("action", "") for form in page.page.all("form"))


def test_who_passes_gets_in_and_who_fails_does_not(market: Marketplace, river: Project) -> None:
    test = offered(river)
    stage = make.stage(river, hit_title="Click the name")
    make.items(stage, 1)
    qualification_tests.require(stage, test, None)
    assert stage.requirements[-1]["integers"] == [80]
    batch = publishing.publish(stage, 1, Decimal("0.05"), "page-1", None)
    assert sending.send(batch.pk) == 1
    stage.refresh_from_db()
    good, bad = Person(market), Person(market)
    sheet, said = good.take(test, [0, 1])
    assert "Reading &lt;b&gt;closely" in sheet and "<b>closely" not in sheet
    assert "You pass with 80 % right answers." in sheet and "Submitted: 100 %" in said
    assert "Submitted: 50 %" in bad.take(test, [0, 2])[1]
    assert good.sees(stage) and not bad.sees(stage)
    held = stage.hits.get()
    assert market.accept(good.worker_id, hit_id=held.hit_id).worker_id == good.worker_id
    assert qualification_tests.fetch_scores(test.pk) == 2
    test.refresh_from_db()
    found = qualification_tests.results(test)
    assert (found.passed, found.failed, found.at is not None) == (1, 1, True)
    assert dict(test.scores.values_list("worker_id", "value")) == {good.worker_id: 100, bad.worker_id: 50}
    gateway().revoke(test.qualification_type_id, bad.worker_id, "Shared the answers.")
    assert qualification_tests.fetch_scores(test.pk) == 1


def test_a_stage_whose_test_nobody_can_take_is_not_published(market: Marketplace, river: Project) -> None:
    stage = make.stage(river)
    (item,) = make.items(stage, 1)
    row = make.qualification_test(river, key="reading-test")
    qualification_tests.require(stage, row, None)
    with refused("test_not_offered", match="”, which is still a draft: offer it to workers first"):
        publishing.publish(stage, 1, Decimal("0.05"), "page-1", None)
    assert any("still a draft" in problem for problem in publishing.quote(stage).problems)
    Item.objects.filter(pk=item.pk).update(parent=make.item(make.stage(river)))
    assert publishing.publish_arrivals(stage) is None
    assert any("still a draft" in said for said in publishing.held_up(stage))
    assert not stage.batches.exists() and not LedgerEntry.objects.exists()
    stage.requirements = [{"qualification": "other-test", "comparator": "GreaterThan", "integers": [5]}]
    with refused("test_not_offered", match="which this project does not have"):
        publishing.publish(stage, 1, Decimal("0.05"), "page-1", None)
    qualification_tests.offer(row, row.fingerprint, None)
    qualification_tests.finish(river)
    stage.refresh_from_db()
    assert publishing.publish_arrivals(stage) is not None


def test_a_crash_after_the_call_finds_the_test_by_its_name(market: Marketplace, river: Project) -> None:
    row = offered(river)
    made = row.qualification_type_id
    QualificationTest.objects.filter(pk=row.pk).update(state=State.OFFERING, qualification_type_id="", offered_at=None)
    assert qualification_tests.unfinished() == [river.pk]
    assert qualification_tests.finish(river) == 1
    row.refresh_from_db()
    assert (row.state, row.qualification_type_id) == (State.OFFERED, made)
    assert qualification_tests.unfinished() == [] and qualification_tests.finish(river) == 0
    twin = make.qualification_test(river, key="second-test", title=row.title)
    qualification_tests.offer(twin, twin.fingerprint, None)
    qualification_tests.finish(river)
    twin.refresh_from_db()
    assert twin.qualification_type_id not in ("", made)


def test_withdrawing_and_offering_again_keep_the_one_qualification(market: Marketplace, river: Project) -> None:
    row = offered(river)
    made = row.qualification_type_id
    qualification_tests.withdraw(row, None)
    qualification_tests.withdraw(row, None)
    assert qualification_tests.finish(river) == 1
    row.refresh_from_db()
    assert row.state == State.WITHDRAWN and row.withdrawn_at
    person = Person(market)
    page = person.browser.get(f"{person.home}/worker/qualifications/{made}/")
    assert page.page.first("form", action=f"/worker/qualifications/{made}/ask/") is None
    with refused("wrong_test_state", match="withdrawn"):
        qualification_tests.require(make.stage(river), row, None)
    qualification_tests.offer(row, row.fingerprint, None)
    assert qualification_tests.finish(river) == 1
    row.refresh_from_db()
    assert (row.state, row.qualification_type_id) == (State.OFFERED, made)
    assert "Submitted: 100 %" in person.take(row, [0, 1])[1]


def test_a_silent_marketplace_is_waited_for_and_a_refusal_gives_the_draft_back(
    market: Marketplace, river: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = make.qualification_test(river)
    qualification_tests.offer(row, row.fingerprint, None)
    for error, state in (
        (UnreachableError("The marketplace does not answer: gone"), State.OFFERING),
        (RefusedError("ParameterValidationError", "No such thing."), State.DRAFT),
    ):
        monkeypatch.setattr(gateway(), "ensure_qualification_type", _raising(error))
        assert qualification_tests.finish(river) == 0
        row.refresh_from_db()
        assert row.state == state and str(error) in row.error
    monkeypatch.undo()
    qualification_tests.change(row, DETAILS, None, make.known_questions(1))
    assert (row.title, row.error, len(row.questions)) == (DETAILS.title, "", 1)


def _raising(error: Exception) -> Any:
    def call(*arguments: Any) -> str:
        raise error

    return call


def test_only_a_draft_changes_and_only_what_was_confirmed_is_offered(river: Project) -> None:
    row = qualification_tests.create(river, DETAILS, None, make.known_questions(3))
    confirmed = row.fingerprint
    qualification_tests.change(row, DETAILS, None, make.known_questions(2))
    with refused("test_changed"):
        qualification_tests.offer(row, confirmed, None)
    qualification_tests.offer(row, row.fingerprint, None)
    qualification_tests.offer(row, row.fingerprint, None)
    for verb in (
        lambda: qualification_tests.change(row, DETAILS, None, []),
        lambda: qualification_tests.remove(row, None),
        lambda: qualification_tests.withdraw(row, None),
    ):
        with refused("wrong_test_state"):
            verb()
    row.refresh_from_db()
    assert (row.state, len(row.questions)) == (State.OFFERING, 2)


def test_what_is_no_test_is_refused_and_changes_nothing(river: Project) -> None:
    row = qualification_tests.create(river, DETAILS, None)
    with pytest.raises(qualification_tests.RefusedTestError, match="no question yet"):
        qualification_tests.offer(row, row.fingerprint, None)
    with pytest.raises(qualification_tests.RefusedTestError, match="a test of this name"):
        qualification_tests.create(river, DETAILS, None)
    with pytest.raises(qualification_tests.RefusedTestError, match="grants a qualification of this name"):
        qualification_tests.create(river, replace(DETAILS, key="poor-quality"), None)
    make.stage(river, grants="part-one")
    with pytest.raises(qualification_tests.RefusedTestError, match="grants a qualification of this name"):
        qualification_tests.create(river, replace(DETAILS, key="part-one"), None)
    long = {"text": "é" * 9_000, "question": "Who?", "choices": ["a", "b"], "right": 0}
    with pytest.raises(qualification_tests.RefusedTestError, match="at most 65,535"):
        qualification_tests.change(row, DETAILS, None, [long] * 4)
    with pytest.raises(qualification_tests.RefusedTestError) as caught:
        qualification_tests.change(
            row, replace(DETAILS, title=""), None, [{"question": "", "choices": ["a"], "right": 3}]
        )
    assert caught.value.count == 4
    row.refresh_from_db()
    assert (row.title, row.questions) == (DETAILS.title, [])


def test_questions_are_drawn_from_known_answers_alike_each_time(river: Project) -> None:
    stage = make.stage(river, key="human")
    text = make.document(river, data={"text": "Mara stayed."})
    choices = [{"id": "c0", "text": "Mara"}, {"id": "c1", "text": "Nobody"}]
    for number in range(8):
        data = {"question": f"Who stayed, {number % 6}?", "candidates": choices, "intended": "c1"}
        make.item(stage, document=text, data=data, state=Item.State.DROPPED if number == 5 else Item.State.KEPT)
    make.item(stage)
    row = qualification_tests.create(river, DETAILS, None)
    assert qualification_tests.replace_by_known(row, 3, None) == 3
    first = row.questions
    assert qualification_tests.replace_by_known(row, 3, None, "human") == 3 and row.questions == first
    assert qualification_tests.replace_by_known(row, 50, None) == 5, (
        "the same question twice and a dropped one do not count"
    )
    assert all(one["right"] == 1 and one["text"] == "Mara stayed." for one in row.questions)
    with refused("nothing_known"):
        qualification_tests.replace_by_known(row, 3, None, "elsewhere")


def test_a_requirement_follows_the_pass_mark_until_the_stage_is_published(river: Project) -> None:
    row = qualification_tests.create(river, DETAILS, None, make.known_questions())
    stage, strict = make.stage(river), make.stage(river)
    others = [{"qualification": "locale", "comparator": "In", "locales": ["US"], "guards": "Accept"}]
    strict.requirements = [{"qualification": row.key, "comparator": "EqualTo", "integers": [100]}, *others]
    strict.save()
    qualification_tests.require(stage, row, None)
    qualification_tests.require(stage, row, None)
    qualification_tests.change(row, replace(DETAILS, pass_mark=60), None)
    stage.refresh_from_db()
    strict.refresh_from_db()
    assert [one["integers"] for one in stage.requirements] == [[60]] and strict.requirements[0]["integers"] == [100]
    with refused("test_required", match="Take the requirement out"):
        qualification_tests.remove(row, None)
    qualification_tests.drop_requirement(strict, row, None)
    assert strict.requirements == others
    make.hit(make.item(stage))
    with refused("stage_frozen"):
        qualification_tests.drop_requirement(stage, row, None)
    Stage.objects.filter(pk=strict.pk).update(requirements=others * 10)
    with refused("test_required", match="at most 10"):
        qualification_tests.require(strict, row, None)
