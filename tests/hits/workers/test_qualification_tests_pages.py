"""Building a qualification test on screen, offering it, and requiring it of a stage's workers."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from playwright.sync_api import expect

from hits.models import Project, QualificationScore, QualificationTest
from tests.axe import violations
from tests.hits import factories as make
from tests.hits.lead_pages import Opener
from tests.hits.market import Marketplace
from tests.hits.world import World

pytestmark = pytest.mark.django_db
State = QualificationTest.State
DETAILS = {"title": "Reading", "description": "Opens a stage.", "pass_mark": "70", "minutes": "10", "retry_days": ""}


@pytest.fixture
def river(alice: Any) -> Project:
    return make.project(owner=alice, slug="river")


@pytest.fixture
def test(river: Project) -> QualificationTest:
    return make.qualification_test(river, key="reading-test")


def address(name: str, *more: str) -> str:
    return reverse(name, args=["river", *more])


def row(number: int, question: str, choices: list[str], right: int | None, **more: str) -> dict[str, str]:
    """The fields of a question as a browser sends them."""
    slots = {f"q{number}-choice{slot}": text for slot, text in enumerate(choices)}
    picked = {} if right is None else {f"q{number}-right": str(right)}
    return {f"q{number}-question": question, f"q{number}-text": "", **slots, **picked, **more}


def save(client: Client, *rows: dict[str, str], **more: str) -> HttpResponse:
    fields = {**DETAILS, **more}
    for one in rows:
        fields |= one
    return client.post(address("qualification-test", "reading-test"), fields)  # type: ignore[return-value]


def test_a_draft_is_made_and_its_faults_stand_at_their_fields(lead_client: Client, river: Project) -> None:
    refused = lead_client.post(address("new-qualification-test"), {**DETAILS, "key": "reading", "pass_mark": "101"})
    assert refused.status_code == 400 and not river.qualification_tests.exists()
    assert "joined by hyphens" in refused.text and "from 1 to 100" in refused.text
    made = lead_client.post(address("new-qualification-test"), {**DETAILS, "key": "reading-test"})
    assert made.headers["Location"] == address("qualification-test", "reading-test")
    assert river.qualification_tests.get().created_by.get_username() == "alice"


def test_questions_are_saved_without_blanks_and_removed_ones(lead_client: Client, test: QualificationTest) -> None:
    reply = save(
        lead_client,
        row(1, "<i>Who?</i>", ["", "Mara", "Nobody"], 2),
        row(2, "Gone?", ["yes", "no"], 0, **{"q2-remove": "on"}),
        row(3, "", ["", ""], None),
    )
    assert reply.status_code == 302
    test.refresh_from_db()
    assert (test.title, test.pass_mark, test.retry_days) == ("Reading", 70, None)
    assert test.questions == [{"text": "", "question": "<i>Who?</i>", "choices": ["Mara", "Nobody"], "right": 1}]
    for name in ("qualification-test", "preview-qualification-test"):
        page = lead_client.get(address(name, "reading-test")).text
        assert "&lt;i&gt;Who?" in page and "<i>Who?" not in page


def test_faults_are_named_at_once_and_what_was_typed_stays(lead_client: Client, test: QualificationTest) -> None:
    reply = save(
        lead_client, row(1, "Who?", ["Mara", "mara"], 0), row(2, "Where?", ["here", "there"], None), minutes="0"
    )
    assert reply.status_code == 400
    text = reply.content.decode()
    for said in ("Two choices read the same", "No right answer is named", "from 1 to 1,440", 'value="there"'):
        assert said in text
    before = test.title
    test.refresh_from_db()
    assert test.title == before and len(test.questions) == 2


def test_a_question_is_added_without_a_script_and_with_one(lead_client: Client, test: QualificationTest) -> None:
    more = save(lead_client, row(1, "Who?", ["Mara", "Nobody"], 0), add="yes").content.decode()
    assert 'value="Who?"' in more and 'name="q2-question"' in more
    assert len(QualificationTest.objects.get().questions) == 2
    part = lead_client.get(address("qualification-test-row", "reading-test") + "?number=7").text
    assert 'name="q7-question"' in part and "?number=8" in part and "<html" not in part


def test_a_file_replaces_the_questions_or_is_refused_as_a_whole(lead_client: Client, test: QualificationTest) -> None:
    fill = address("fill-qualification-test", "reading-test")
    bad = SimpleUploadedFile("<b>.csv", b"question,right,choice1,choice2\nWho?,1,a,b\nWhere?,3,a,b\n")
    refused = lead_client.post(fill, {"file": bad})
    assert refused.status_code == 400 and "line 3, right" in refused.text and "&lt;b&gt;.csv" in refused.text
    good = SimpleUploadedFile("good.csv", b"question,right,choice1,choice2\nWho?,1,a,b\nWhere?,2,a,b\nWhen?,1,x,y\n")
    assert lead_client.post(fill, {"file": good}).status_code == 302
    test.refresh_from_db()
    assert [one["right"] for one in test.questions] == [0, 1, 0]
    assert lead_client.post(fill).status_code == 400
    draw = address("qualification_tests.draw", "reading-test")
    drawn = {"form_fields": "count stage", "count": "5"}
    assert lead_client.post(draw, {**drawn, "count": "0"}).status_code == 400
    assert "gold answer" in lead_client.post(draw, drawn).text


def test_offering_says_what_happens_and_takes_only_what_the_page_showed(
    lead_client: Client, test: QualificationTest, market: Marketplace, eager: None
) -> None:
    page = lead_client.get(address("offer-qualification-test", "reading-test")).text
    assert "cannot be changed" in page and test.fingerprint in page
    stale = lead_client.post(address("qualification_tests.offer", "reading-test"), {"fingerprint": "0"})
    assert stale.status_code == 409 and "Nothing was offered" in stale.text
    lead_client.post(address("qualification_tests.offer", "reading-test"), {"fingerprint": test.fingerprint})
    test.refresh_from_db()
    assert test.state == State.OFFERED and test.qualification_type_id
    assert "can no longer be changed" in lead_client.post(
        address("qualification-test", "reading-test"), {**DETAILS, **row(1, "Who?", ["a", "b"], 0)}, follow=True
    ).text  # fmt: skip
    lead_client.post(address("qualification_tests.fetch", "reading-test"))
    assert (
        "Nobody has taken the test yet" in lead_client.get(address("qualification-test-results", "reading-test")).text
    )
    lead_client.post(address("qualification_tests.withdraw", "reading-test"))
    test.refresh_from_db()
    assert test.state == State.WITHDRAWN
    assert "Offer again" in lead_client.get(address("qualification-test", "reading-test")).text


def test_a_stage_requires_a_test_until_it_is_published(
    lead_client: Client, test: QualificationTest, market: Any
) -> None:
    stage = make.stage(test.project, key="validate")
    item = make.item(stage)
    verb = address("required-test", "validate")
    assert "now have to pass" in lead_client.post(verb, {"add": test.key}, follow=True).text
    quote = lead_client.get(address("publish", "validate")).text
    assert "still a draft" in quote and address("qualification-test", test.key) in quote
    asked = {"items": "1", "total": "0.05", "confirmation": "0" * 32}
    refused = lead_client.post(address("publish", "validate"), asked)
    assert refused.status_code == 409 and "Nothing was published" in refused.text and not stage.batches.exists()
    lead_client.post(verb, {"remove": test.key})
    stage.refresh_from_db()
    assert stage.requirements == []
    make.hit(item)
    assert "can no longer change" in lead_client.post(verb, {"add": test.key}, follow=True).text
    assert lead_client.post(verb, {"add": "nothing-here"}).status_code == 404


def scores(test: QualificationTest) -> None:
    QualificationTest.objects.filter(pk=test.pk).update(
        state=State.OFFERED, qualification_type_id="3TYPE", scores_at=make.NOON, offered_at=make.NOON
    )
    QualificationScore.objects.bulk_create(
        QualificationScore(test=test, worker_id=f"AREADER{n:03d}", value=n, granted_at=make.NOON, seen_at=make.NOON)
        for n in range(60, 100)
    )


def test_results_count_against_the_pass_mark(lead_client: Client, test: QualificationTest) -> None:
    scores(test)
    page = lead_client.get(address("qualification-test-results", test.key)).text
    assert "20 of 40 passed" in page and "50.0 %" in page
    failed = lead_client.get(address("qualification-test-results", test.key) + "?show=failed").text
    assert "AREADER079" in failed and "AREADER080" not in failed


def test_a_draft_is_removed_for_good(lead_client: Client, test: QualificationTest) -> None:
    assert lead_client.post(address("qualification_tests.remove", test.key)).status_code == 302
    assert not QualificationTest.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_pages_with_contents_are_accessible_and_a_question_is_added_in_place(world: World, opened: Opener) -> None:
    page = opened(world.url("qualification-test"), 360, "dark")
    add = page.get_by_role("button", name="Add a question")
    add.click()
    expect(page.get_by_role("textbox", name="Choice 1 of question 3")).to_be_visible()
    add.click()
    page.locator("#q4-question").fill("Where?")
    page.get_by_role("textbox", name="Choice 1 of question 4").fill("here")
    page.get_by_role("textbox", name="Choice 2 of question 4").fill("there")
    page.get_by_role("radio", name="choice 2 of question 4").check()
    assert violations(page) == [] and page.evaluate("document.documentElement.scrollWidth") <= 360
    page.get_by_role("button", name="Save the draft").click()
    expect(page.get_by_role("status")).to_contain_text("Saved, with 3 questions")
    scores(world.test)
    for name in (
        "qualification-tests",
        "qualification-test",
        "qualification-test-results",
        "offer-qualification-test",
    ):
        page.goto(page.url.split("/projects/")[0] + world.url(name))
        assert violations(page) == [] and page.evaluate("document.documentElement.scrollWidth") <= 360, name
