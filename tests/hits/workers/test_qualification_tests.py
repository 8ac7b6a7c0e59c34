"""Qualification tests at the real marketplace: a worker takes one on the worker's site, and is let in or not."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
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
from tests.hits.doing import do, refused
from tests.hits.market import Marketplace

pytestmark = pytest.mark.django_db
State = QualificationTest.State
DETAILS = Details("reading-test", "Reading <b>closely</b>", "Opens “Validate” & pays.", 80, 15, None)


@pytest.fixture
def river(db: None) -> Project:
    return make.project(budget="100.00")


def create(project: Project, **columns: Any) -> QualificationTest:
    made: QualificationTest = do("qualification_tests.create", project, **{**vars(DETAILS), **columns})
    return made


def change(row: QualificationTest, **columns: Any) -> None:
    do("qualification_tests.change", row, **columns)
    row.refresh_from_db()


def draw(row: QualificationTest, count: int, stage: str = "") -> int:
    do("qualification_tests.draw", row, count=count, stage=stage)
    row.refresh_from_db()
    return len(row.questions)


def offered(project: Project, **columns: Any) -> QualificationTest:
    row = make.qualification_test(project, key="reading-test", **columns)
    do("qualification_tests.offer", row, fingerprint=row.fingerprint)
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
    do("qualification_tests.offer", row, fingerprint=row.fingerprint)
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
    do("qualification_tests.offer", twin, fingerprint=twin.fingerprint)
    qualification_tests.finish(river)
    twin.refresh_from_db()
    assert twin.qualification_type_id not in ("", made)


def test_withdrawing_and_offering_again_keep_the_one_qualification(market: Marketplace, river: Project) -> None:
    row = offered(river)
    made = row.qualification_type_id
    do("qualification_tests.withdraw", row)
    do("qualification_tests.withdraw", row)
    assert qualification_tests.finish(river) == 1
    row.refresh_from_db()
    assert row.state == State.WITHDRAWN and row.withdrawn_at
    person = Person(market)
    page = person.browser.get(f"{person.home}/worker/qualifications/{made}/")
    assert page.page.first("form", action=f"/worker/qualifications/{made}/ask/") is None
    with refused("wrong_test_state", match="withdrawn"):
        qualification_tests.require(make.stage(river), row, None)
    do("qualification_tests.offer", row, fingerprint=row.fingerprint)
    assert qualification_tests.finish(river) == 1
    row.refresh_from_db()
    assert (row.state, row.qualification_type_id) == (State.OFFERED, made)
    assert "Submitted: 100 %" in person.take(row, [0, 1])[1]


def test_a_silent_marketplace_is_waited_for_and_a_refusal_gives_the_draft_back(
    market: Marketplace, river: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = make.qualification_test(river)
    do("qualification_tests.offer", row, fingerprint=row.fingerprint)
    for error, state in (
        (UnreachableError("The marketplace does not answer: gone"), State.OFFERING),
        (RefusedError("ParameterValidationError", "No such thing."), State.DRAFT),
    ):
        monkeypatch.setattr(gateway(), "ensure_qualification_type", _raising(error))
        assert qualification_tests.finish(river) == 0
        row.refresh_from_db()
        assert row.state == state and str(error) in row.error
    monkeypatch.undo()
    change(row, title=DETAILS.title, questions=make.known_questions(1))
    assert (row.title, row.error, len(row.questions)) == (DETAILS.title, "", 1)


def _raising(error: Exception) -> Any:
    def call(*arguments: Any) -> str:
        raise error

    return call


def test_only_a_draft_changes_and_only_what_was_confirmed_is_offered(river: Project) -> None:
    row = create(river, questions=make.known_questions(3))
    confirmed = row.fingerprint
    change(row, questions=make.known_questions(2))
    with refused("test_changed"):
        do("qualification_tests.offer", row, fingerprint=confirmed)
    do("qualification_tests.offer", row, fingerprint=row.fingerprint)
    do("qualification_tests.offer", row, fingerprint=row.fingerprint)
    for verb in (
        lambda: change(row, questions=[]),
        lambda: do("qualification_tests.remove", row),
        lambda: do("qualification_tests.withdraw", row),
    ):
        with refused("wrong_test_state"):
            verb()
    row.refresh_from_db()
    assert (row.state, len(row.questions)) == (State.OFFERING, 2)


def test_what_is_no_test_is_refused_and_changes_nothing(river: Project) -> None:
    row = create(river)
    with pytest.raises(qualification_tests.RefusedTestError, match="no question yet"):
        do("qualification_tests.offer", row, fingerprint=row.fingerprint)
    with pytest.raises(qualification_tests.RefusedTestError, match="a test of this name"):
        create(river)
    with pytest.raises(qualification_tests.RefusedTestError, match="grants a qualification of this name"):
        create(river, key="poor-quality")
    make.stage(river, grants="part-one")
    with pytest.raises(qualification_tests.RefusedTestError, match="grants a qualification of this name"):
        create(river, key="part-one")
    long = {"text": "é" * 9_000, "question": "Who?", "choices": ["a", "b"], "right": 0}
    with pytest.raises(qualification_tests.RefusedTestError, match="at most 65,535"):
        change(row, questions=[long] * 4)
    with pytest.raises(qualification_tests.RefusedTestError) as caught:
        qualification_tests.change(row, None, title="", questions=[{"question": "", "choices": ["a"], "right": 3}])
    assert caught.value.count == 4
    row.refresh_from_db()
    assert (row.title, row.questions) == (DETAILS.title, [])


def test_a_title_and_a_choice_that_nobody_can_see_are_refused(river: Project) -> None:
    question = {"text": "", "question": "Who?", "choices": ["Mara", "\u3164"], "right": 0}
    with pytest.raises(qualification_tests.RefusedTestError) as caught:
        create(river, title="Reading \u202e", description="\u3164", questions=[question])
    assert sorted(fault.place for fault in caught.value.errors) == ["description", "question 1, choice 2", "title"]


def test_questions_are_drawn_from_known_answers_alike_each_time(river: Project) -> None:
    stage = make.stage(river, key="human")
    text = make.document(river, data={"text": "Mara stayed."})
    choices = [{"id": "c0", "text": "Mara"}, {"id": "c1", "text": "Nobody"}]
    for number in range(8):
        data = {"question": f"Who stayed, {number % 6}?", "candidates": choices, "intended": "c1"}
        make.item(stage, document=text, data=data, state=Item.State.DROPPED if number == 5 else Item.State.KEPT)
    make.item(stage)
    row = create(river)
    assert draw(row, 3) == 3
    first = row.questions
    assert draw(row, 3, "human") == 3 and row.questions == first
    assert draw(row, 50) == 5, "the same question twice and a dropped one do not count"
    assert all(one["right"] == 1 and one["text"] == "Mara stayed." for one in row.questions)
    with refused("nothing_known"):
        draw(row, 3, "elsewhere")


def test_a_requirement_follows_the_pass_mark_until_the_stage_is_published(river: Project) -> None:
    row = create(river, questions=make.known_questions())
    stage, strict = make.stage(river), make.stage(river)
    others = [{"qualification": "locale", "comparator": "In", "locales": ["US"], "guards": "Accept"}]
    strict.requirements = [{"qualification": row.key, "comparator": "EqualTo", "integers": [100]}, *others]
    strict.save()
    qualification_tests.require(stage, row, None)
    qualification_tests.require(stage, row, None)
    change(row, pass_mark=60)
    stage.refresh_from_db()
    strict.refresh_from_db()
    assert [one["integers"] for one in stage.requirements] == [[60]] and strict.requirements[0]["integers"] == [100]
    with refused("test_required", match="Take the requirement out"):
        do("qualification_tests.remove", row)
    qualification_tests.drop_requirement(strict, row, None)
    assert strict.requirements == others
    make.hit(make.item(stage))
    with refused("stage_frozen"):
        qualification_tests.drop_requirement(stage, row, None)
    Stage.objects.filter(pk=strict.pk).update(requirements=others * 10)
    with refused("test_required", match="at most 10"):
        qualification_tests.require(strict, row, None)
