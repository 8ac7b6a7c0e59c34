"""The two addresses that the page's script calls: the last check, and the drafts."""

from datetime import timedelta

import pytest
from django.core import signing
from django.test import Client
from django.utils import timezone

from hits import protocols
from hits.answers.rules.task_links import task_url
from hits.answers.verbs import serving
from hits.models import Draft
from tests.hits import factories as make
from tests.hits.answers import story
from tests.hits.task_page import ASSIGNMENT, WORKER

pytestmark = [pytest.mark.django_db, pytest.mark.on_postgresql]
ANSWER = story.places("Annika de Wit")[0]


@pytest.fixture
def post(settings):
    """Post to one of the two addresses, from a client that would be refused wherever CSRF is checked."""
    client = Client(enforce_csrf_checks=True)

    def post(name: str, token: str, **fields: str):
        return client.post(f"/task/{name}/", {"page": token, "assignmentId": "x", "workerId": "y", **fields})

    return post


@pytest.fixture
def token(hit) -> str:
    return serving.page_token(serving.Visit(hit, ASSIGNMENT, WORKER))


def test_a_good_answer_passes_the_check(post, token):
    response = post("check", token, answer=ANSWER, text="Annika de Wit")
    assert response.json() == {"ok": True}


def test_the_check_does_not_tell_whether_the_answer_is_right(post, token):
    right, wrong = (post("check", token, answer=story.places(name)[0]) for name in ("Annika de Wit", "Rotterdam"))
    assert right.content == wrong.content


@pytest.mark.parametrize("answer", ["", "7", "0-1", "-1-5", "1-99999999999999999999", "x" * 50_000, "１-２"])
def test_a_bad_answer_comes_back_with_a_sentence(post, token, answer):
    response = post("check", token, answer=answer)
    assert response.status_code == 422
    assert all(reason.endswith(".") for reason in response.json()["reasons"])


def test_a_worker_blocked_meanwhile_is_refused_at_the_check(hit, post, token):
    make.block(hit.stage, make.worker(WORKER))
    response = post("check", token, answer=ANSWER)
    assert response.status_code == 403
    assert "return this HIT" in response.json()["reasons"][0]


def test_a_worker_paused_meanwhile_sends_what_was_begun(hit, post, token):
    make.block(hit.stage, make.worker(WORKER), until=timezone.now() + timedelta(hours=5))
    assert post("check", token, answer=ANSWER).status_code == 200


def test_a_worker_who_answered_the_item_elsewhere_meanwhile_is_refused(hit, post, token):
    make.assignment(make.hit(hit.item, slot=2), make.worker(WORKER))
    assert post("check", token, answer=ANSWER).status_code == 403


def changed_tokens(hit, token: str) -> list[str]:
    foreign = signing.dumps([hit.pk, ASSIGNMENT, WORKER], salt="another")
    other_body = serving.page_token(serving.Visit(hit, "3OTHER", WORKER)).split(":")[0]
    return ["", "x", token[:-1], foreign, ":".join([other_body, *token.split(":")[1:]])]


def test_a_changed_page_token_is_refused(hit, post, token):
    for changed in changed_tokens(hit, token):
        assert post("check", changed, answer=ANSWER).status_code == 400
        assert post("draft", changed, answer=ANSWER).status_code == 400
    assert not Draft.objects.exists()


def test_an_address_token_is_no_page_token(hit, post):
    assert post("check", task_url(hit.pk).split("/")[-2], answer=ANSWER).status_code == 400


def test_a_draft_is_kept_for_the_worker_and_assignment_of_the_page(hit, post, token):
    assert post("draft", token, answer=ANSWER, comment="Later").json() == {"ok": True}
    draft = Draft.objects.get()
    assert (draft.hit, draft.assignment_id, draft.worker_id) == (hit, ASSIGNMENT, WORKER)
    assert draft.fields == {"answer": ANSWER, "comment": "Later"}


def test_the_last_draft_stands(post, token):
    post("draft", token, answer=ANSWER, comment="Later")
    post("draft", token, comment="Even later")
    assert Draft.objects.get().fields == {"comment": "Even later"}


def test_a_draft_comes_back_on_the_next_opening_to_its_own_worker_alone(hit, post, token, open_task):
    post("draft", token, answer=ANSWER, comment="Both are <engineers>", guessed="yes")
    page = open_task(hit).content.decode()
    assert f'value="{ANSWER}" checked' in page
    assert 'name="guessed" value="yes" checked' in page
    assert "Both are &lt;engineers&gt;" in page
    # The marketplace gives the id of a returned assignment to the next worker.
    assert "engineers" not in open_task(hit, workerId="ANEXT").content.decode()


def test_a_draft_too_long_to_keep_is_refused(post, token):
    response = post("draft", token, comment="x" * 20_001)
    assert response.status_code == 400
    assert not Draft.objects.exists()


TEXTS = [{"kind": "long_text", "key": f"q{n}", "question": "?", "most": 10_000} for n in range(40)]


@pytest.fixture
def post_draft(post):
    """Post the draft of a form that asks for so many long texts; returns the reply."""

    def post_draft(asked: int, fields: dict[str, str]):
        form = protocols.get("form").settings({"form": {"ask": TEXTS[:asked]}})
        stage = make.stage(protocol="form", settings=form)
        hit = make.hit(make.item(stage, document=make.document(stage.project, data={"columns": {}}), data={}))
        return post("draft", serving.page_token(serving.Visit(hit, ASSIGNMENT, WORKER)), **fields)

    return post_draft


@pytest.mark.parametrize("asked", [1, 5, 40])
def test_a_draft_is_kept_as_long_as_an_answer_to_the_task_can_be(post_draft, asked):
    longest = {field["key"]: "word\r\n" * 1666 for field in TEXTS[:asked]} | {"comment": "x" * 2000}
    assert post_draft(asked, longest).json() == {"ok": True}
    assert Draft.objects.get().fields == longest


@pytest.mark.parametrize(("asked", "characters"), [(1, 31_000), (5, 120_000), (40, 1_000_001)])
def test_a_draft_longer_than_any_answer_to_the_task_is_refused(post_draft, asked, characters):
    response = post_draft(asked, {"q0": "x" * characters})
    assert response.status_code == 400 and "too long" in response.json()["reasons"][0]
    assert not Draft.objects.exists()


def test_a_draft_may_hold_any_character(post, token):
    post("draft", token, comment="nul \0 snow \u2603 face \U0001f600")
    assert Draft.objects.get().fields["comment"] == "nul  snow \u2603 face \U0001f600"


def test_both_addresses_take_posts_alone_and_no_cookie(post, token, client):
    for name in ("check", "draft"):
        assert client.get(f"/task/{name}/").status_code == 405
        response = post(name, token, answer=ANSWER)
        assert not response.cookies
        assert "Cookie" not in response.get("Vary", "")
