"""A task that asks one thing at a time, as its pages and its address `task/step/` serve it."""

import re

import pytest
from django.template.loader import render_to_string
from django.test import Client

from hits.answers.verbs import serving
from hits.judging.verbs import scoring
from hits.models import Assignment, Draft, Hit, Label
from hits.stages.verbs import task_settings
from tests.hits import factories as make
from tests.hits.answers.question_set import CANDIDATES, DOCUMENT, SET, fields, order
from tests.hits.task_page import ASSIGNMENT, WORKER, address
from tests.markup import squeezed

pytestmark = pytest.mark.django_db


@pytest.fixture
def hit(db) -> Hit:
    """A question set of stage `validate`, made of what a worker wrote in stage `write`, whom `validate` excludes."""
    write = make.stage(key="write")
    validate = make.stage(write.project, key="validate", protocol="staged_choice", not_workers_of=["write"])
    document = make.document(write.project, data=DOCUMENT)
    return make.hit(make.item(validate, parent=make.item(write, document=document), document=document, data=SET))


@pytest.fixture
def take(hit, recording_marketplace):
    """Post a screen, from a client that would be refused wherever CSRF is checked."""
    client = Client(enforce_csrf_checks=True)

    def take(said, *, back=False, part=False, worker=WORKER, **changes):
        token = serving.page_token(serving.Visit(hit, ASSIGNMENT, worker))
        query = {"turkSubmitTo": recording_marketplace.origin, **({"go": "back"} if back else {})}
        query |= changes.pop("query", {})
        headers = {"HX-Request": "true"} if part else {}
        posted = {"page": token, "assignmentId": ASSIGNMENT, "workerId": worker, **said, **changes}
        return client.post("/task/step/", posted, query_params=query, headers=headers)

    return take


def html(response) -> str:
    return response.content.decode()


def heading(response) -> str:
    found = re.search(r'<h2 id="step-heading" tabindex="-1"( autofocus)?>(.*?)</h2>', html(response))
    return found[2] if found else ""


def progress(response) -> str:
    return re.search(r"<p class=\"small\" data-progress>(.*?)</p>", html(response))[1]


def hidden(response) -> dict[str, str]:
    return dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', html(response)))


def test_it_opens_with_the_first_step_and_nothing_of_the_later_ones(hit, open_task):
    page = open_task(hit)
    assert (progress(page), heading(page)) == ("Step 1 of 5", "Is the paragraph inappropriate or nonsensical?")
    assert "parrot never spoke" in html(page)
    assert SET["question"] not in html(page)
    assert 'type="submit" name="page"' in html(page)
    assert "Submit answer" not in html(page)


def test_a_preview_shows_the_first_step_and_takes_nothing(hit, client):
    page = client.get(address(hit), {"assignmentId": serving.PREVIEW, "hitId": hit.hit_id})
    assert progress(page) == "Step 1 of 5"
    assert '<fieldset class="task" disabled>' in html(page)
    assert '<details class="instructions" open>' in html(page)
    assert 'type="submit"' not in html(page)
    assert 'type="hidden"' not in html(page)


def test_a_lead_sees_the_first_step_of_our_example_with_instructions_of_their_own(hit):
    Hit.objects.all().delete()
    hit.stage.items.all().delete()
    hit.stage.settings = {"instructions": "Read <slowly>.\n\nThen judge."}
    page = serving.open_page(task_settings.example(hit.stage), {})
    shown = render_to_string(page.template, {"page": page, "project": hit.stage.project})
    assert "The night train" in shown
    assert "Read &lt;slowly&gt;.</p>" in shown
    assert "The five steps" not in shown


def test_without_scripts_the_whole_page_comes_back_with_the_next_step(take):
    page = take({"paragraph": "good", "step": "1"})
    assert page.status_code == 200
    assert (progress(page), "<!doctype html>" in html(page)) == ("Step 2 of 5", True)
    assert "parrot never spoke" in html(page)
    assert hidden(page) == {
        "assignmentId": ASSIGNMENT,
        "workerId": WORKER,
        "seconds_open": "",
        "paragraph": "good",
        "step": "2",
    }
    assert '<details class="instructions">' in html(page)
    assert re.search(r"<h2[^>]* autofocus>", html(page))


def test_htmx_gets_the_step_alone(take):
    page = take({"paragraph": "good", "step": "1"}, part=True)
    assert html(page).startswith('<section class="answer step" id="step"')
    assert "parrot never spoke" not in html(page)


def test_every_step_is_kept_and_a_later_opening_resumes_there(hit, take, open_task):
    take(fields(WORKER, step="3", seconds_open="41"))
    assert Draft.objects.get().fields["seconds_open"] == "41"
    page = open_task(hit)
    assert progress(page) == "Step 4 of 5"
    assert hidden(page)["seconds_open"] == "41"
    assert hidden(page)["order"] == order(WORKER)
    assert 'value="yes" checked' in html(page)
    assert progress(open_task(hit, workerId="ANEXT")) == "Step 1 of 5"


def test_what_was_chosen_but_not_sent_on_comes_back_on_its_own_step(hit, client, open_task):
    token = serving.page_token(serving.Visit(hit, ASSIGNMENT, WORKER))
    client.post("/task/draft/", {"page": token, "paragraph": "good", "question": "bad", "step": "2"})
    page = open_task(hit)
    assert progress(page) == "Step 2 of 5"
    assert 'value="bad" checked' in html(page)


def test_one_step_back_shows_what_was_said(take):
    page = take(fields(WORKER, step="4"), back=True)
    assert progress(page) == "Step 3 of 5"
    assert 'name="picked" value="c1" checked' in squeezed(page)
    assert "picked" not in hidden(page)


def test_an_unanswered_step_comes_back_with_its_reason_in_focus_and_keeps_nothing(take):
    page = take({"paragraph": "good", "step": "2"})
    assert (page.status_code, progress(page)) == (422, "Step 2 of 5")
    notice = re.search(
        r'<div class="notice bad" data-notice role="alert" tabindex="-1" autofocus>(.*?)</div>', squeezed(page)
    )
    assert "Step 2 is not answered yet" in notice[1]
    assert not re.search(r"<h2[^>]* autofocus>", html(page))
    assert not Draft.objects.exists()


def test_a_tampered_order_and_a_foreign_candidate_come_back_with_reasons(take):
    tampered = take(fields(WORKER, step="3", order="c0 c1 c2 c3"))
    assert tampered.status_code == 422
    assert "in the order in which you saw them" in html(tampered)
    foreign = take(fields(WORKER, step="3", picked="c7"), part=True)
    assert foreign.status_code == 422
    assert "does not offer" in html(foreign)
    assert not Draft.objects.exists()


@pytest.mark.parametrize("said", [{"paragraph": "bad", "step": "1"}, fields(WORKER, step="3", picked="none")])
def test_the_last_screen_goes_to_the_marketplace_and_takes_no_key_along(take, recording_marketplace, said):
    page = take(said)
    assert heading(page) == "Nothing more to ask"
    assert f'action="{recording_marketplace.origin}/mturk/externalSubmit"' in html(page)
    assert '<button class="primary submit" type="submit">Submit answer</button>' in html(page)
    assert not {"page", "turkSubmitTo", "step", "needs_context"} & hidden(page).keys()


def test_the_answer_and_the_order_in_which_it_was_seen_are_stored_and_scored(hit, take):
    page = take(fields(WORKER, step="4"))
    answer = {**hidden(page), "needs_context": "no"}
    make.assignment(hit, make.worker(WORKER), answer=answer, scored=False)
    assert scoring.score(hit.stage) == 1
    stored = Assignment.objects.get()
    assert (stored.answer["order"], stored.problem) == (order(WORKER), "")
    seen = order(WORKER).split()
    assert dict(Label.objects.values_list("unit", "value")) == {**fields(WORKER, needs_context="no"), "order": seen}


def test_an_answer_with_the_order_of_another_worker_gives_no_label(hit):
    make.assignment(hit, make.worker(WORKER), answer=fields("ANOTHER"), scored=False)
    scoring.score(hit.stage)
    assert "in the order in which you saw them" in Assignment.objects.get().problem
    assert not Label.objects.exists()


def test_the_check_names_the_step_that_is_missing(hit, client):
    token = serving.page_token(serving.Visit(hit, ASSIGNMENT, WORKER))
    response = client.post("/task/check/", {"page": token, **fields(WORKER, picked="")})
    assert response.status_code == 422
    assert response.json()["reasons"][0].startswith("Step 3 is not answered yet")


def test_who_wrote_the_question_never_validates_it(hit, open_task, take):
    make.assignment(make.hit(hit.item.parent), make.worker("AWRITER"))
    assert open_task(hit, workerId="AWRITER").status_code == 403
    assert take({"paragraph": "good", "step": "1"}, worker="AWRITER").status_code == 403
    assert open_task(hit).status_code == 200
    assert not Draft.objects.exists()


def test_nobody_judges_one_set_twice(hit, open_task, take):
    make.assignment(make.hit(hit.item, slot=2), make.worker(WORKER))
    assert open_task(hit).status_code == 403
    refused = take({"paragraph": "good", "step": "1"}, part=True)
    # htmx cannot show a page of refusal, so it is told to load the task again.
    assert (refused.status_code, refused["HX-Refresh"]) == (403, "true")
    assert take({"paragraph": "good", "step": "1"}, worker="AANOTHER").status_code == 200


def test_a_step_needs_the_pages_own_key_and_a_marketplace_that_is_known(take):
    assert take({"paragraph": "good"}, page="forged").status_code == 404
    assert take({"paragraph": "good"}, query={"turkSubmitTo": "https://evil.example"}).status_code == 400
    assert not Draft.objects.exists()


def test_a_task_without_steps_has_no_next_one(take, hit):
    hit.stage.protocol = "clickable_entity"
    hit.stage.save()
    assert take({"answer": "1-2"}).status_code == 404


def test_steps_are_posted_alone_and_use_no_cookie(take, client):
    assert client.get("/task/step/").status_code == 405
    response = take({"paragraph": "good", "step": "1"})
    assert not response.cookies
    assert "Cookie" not in response.get("Vary", "")
    assert "no-store" in response["Cache-Control"]
    assert "unsafe" not in response["Content-Security-Policy"]


def test_markup_in_the_data_stays_text_and_each_text_has_its_own_direction(hit, take):
    evil = [{**CANDIDATES[0], "text": "<img src=x onerror=alert(1)>"}, {**CANDIDATES[1], "text": "لأن الكلمة محرجة 🦜"}]
    hit.item.data = {**SET, "candidates": evil, "question": "<b>Why?</b>"}
    hit.item.save()
    page = html(take({"paragraph": "good", "question": "good", "step": "2"}))
    assert "<img" not in page
    assert "&lt;b&gt;Why?&lt;/b&gt;" in page
    assert '<span dir="auto">لأن الكلمة محرجة 🦜</span>' in page


def test_nothing_on_any_step_depends_on_the_intended_answer_or_tells_the_writer(hit, take):
    pages = []
    for intended in ("c1", "c3"):
        hit.item.data = {**SET, "intended": intended}
        hit.item.save()
        steps = [html(take(fields(WORKER, step=str(number)), part=True)) for number in range(1, 6)]
        pages.append([re.sub(r'name="page" value="[^"]+"', "", step) for step in steps])
    assert pages[0] == pages[1]
    assert "AWRITER" not in "".join(pages[0])


def test_a_step_costs_the_same_few_queries_however_large_the_project_is(hit, take, django_assert_max_num_queries):
    make.assignments(make.hits(make.items(hit.stage, 40)), make.worker(WORKER))
    with django_assert_max_num_queries(9):
        assert take({"paragraph": "good", "step": "1"}).status_code == 200
