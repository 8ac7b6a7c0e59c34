"""What a worker gets when the marketplace opens a HIT's address."""

import re
from datetime import timedelta

import pytest
from django.core import signing
from django.test import Client
from django.utils import timezone

from hits.answers.rules.task_links import task_url
from hits.answers.verbs import serving
from hits.models import Assignment, Block, Draft
from tests.hits import factories as make
from tests.hits.answers import story
from tests.hits.task_page import ASSIGNMENT, WORKER, address
from tests.markup import squeezed

pytestmark = pytest.mark.django_db


def html(response) -> str:
    return response.content.decode()


def instructions_are_open(response) -> bool:
    return '<details class="instructions" open>' in html(response)


def test_it_shows_the_passage_the_statement_and_every_mention(hit, open_task):
    page = html(open_task(hit))
    assert page.count('class="mention"') == len(story.MENTIONS)
    assert "it was fishermen who saved us" in page
    assert "<li>Gate in " in page
    assert "@highlight" not in page
    assert "@placeholder" not in page
    assert hit.stage.project.contact_email in page


def test_its_form_posts_to_the_marketplace_that_opened_it(hit, open_task, recording_marketplace):
    page = html(open_task(hit))
    assert f'action="{recording_marketplace.origin}/mturk/externalSubmit"' in page
    assert f'name="assignmentId" value="{ASSIGNMENT}"' in page
    assert f'name="workerId" value="{WORKER}"' in page


def test_the_answer_can_be_chosen_and_sent_without_scripts(hit, open_task):
    page = squeezed(open_task(hit))
    values = re.findall(r'<input type="radio" name="answer" value="([^"]+)"', page)
    assert values == [f"{start}-{end}" for start, end in story.MENTIONS]


def test_nothing_on_the_page_depends_on_the_references(hit, open_task):
    own = r'data-page="[^"]+"|name="X-Request-ID" value="[^"]+"'
    first = re.sub(own, "", html(open_task(hit)))
    hit.item.data = {"query": story.QUERY, "answers": story.answers("Rotterdam")}
    hit.item.save()
    second = re.sub(own, "", html(open_task(hit)))
    assert first == second


def test_markup_in_the_data_stays_text(hit, open_task):
    hit.item.data = {"query": "<script>alert(1)</script> says @placeholder", "answers": []}
    hit.item.save()
    hit.item.document.data = {"text": "<b>Ann</b> left.", "entities": [[3, 5]]}
    hit.item.document.save()
    page = html(open_task(hit))
    assert "<script>alert" not in page
    assert "<b>" not in page
    assert "&lt;b&gt;" in page


def test_a_preview_takes_no_answer(hit, client):
    page = html(client.get(address(hit), {"assignmentId": serving.PREVIEW, "hitId": hit.hit_id}))
    assert "Preview:" in page
    assert '<fieldset class="task" disabled>' in page
    assert "externalSubmit" not in page
    assert 'type="submit"' not in page
    assert "data-page" not in page
    assert '<details class="instructions" open>' in page


def test_an_address_opened_outside_a_frame_is_a_preview(hit, client):
    assert "Preview:" in html(client.get(address(hit)))


def test_a_tampered_address_finds_nothing(hit, client):
    token = address(hit).split("/")[2]
    response = client.get(f"/task/{token.replace(str(hit.pk), str(hit.pk + 1), 1)}/")
    assert response.status_code == 404
    assert "Return" in html(response)


def test_a_token_made_for_another_purpose_finds_nothing(hit, client):
    assert client.get(f"/task/{signing.Signer(salt='another').sign(str(hit.pk))}/").status_code == 404
    assert client.get(f"/task/{serving.page_token(serving.Visit(hit, ASSIGNMENT, WORKER))}/").status_code == 404


def test_the_address_of_a_hit_that_is_gone_finds_nothing(hit, client):
    gone = address(hit)
    hit.delete()
    response = client.get(gone)
    assert response.status_code == 404
    assert "taken down" in html(response)


def test_the_address_is_short_and_a_function_of_the_row(hit):
    assert task_url(hit.pk) == task_url(hit.pk)
    assert len(task_url(hit.pk)) < 120
    assert serving.resolve(task_url(hit.pk).rstrip("/").rsplit("/", 1)[1]) == hit


STRANGERS = ["https://evil.example", "", "javascript:alert(1)", "{known}.evil.example", "{known}/x"]
NOBODY = [{"workerId": ""}, {"workerId": "A" * 65}, {"assignmentId": "a b"}, {"workerId": "A\0"}]


@pytest.mark.parametrize("origin", STRANGERS)
def test_an_unknown_submit_origin_is_refused(hit, open_task, recording_marketplace, origin):
    origin = origin.replace("{known}", recording_marketplace.origin)
    response = open_task(hit, turkSubmitTo=origin)
    assert response.status_code == 400
    assert "wrong place" in html(response)
    assert "<form" not in html(response)


@pytest.mark.parametrize("ids", NOBODY)
def test_ids_that_name_nobody_are_refused(hit, open_task, ids):
    assert open_task(hit, **ids).status_code == 400


def test_the_page_of_one_hit_does_not_serve_another(hit, open_task):
    response = open_task(hit, hitId="3ANOTHERHIT")
    assert response.status_code == 400
    assert "another HIT" in html(response)


def test_a_hit_whose_id_is_not_recorded_yet_is_served(hit, open_task):
    hit.hit_id = None
    hit.save()
    assert open_task(hit, hitId="3JUSTMADE").status_code == 200


@pytest.mark.parametrize("state", [Block.State.INTENDED, Block.State.GRANTED])
def test_a_blocked_worker_is_told_to_return_the_hit(hit, open_task, state):
    make.block(hit.stage, make.worker(WORKER), state=state)
    response = open_task(hit)
    assert response.status_code == 403
    assert "does not count against you" in squeezed(response)
    assert hit.stage.project.contact_email in html(response)
    assert "<form" not in html(response)


@pytest.mark.parametrize("state", [Block.State.LIFTING, Block.State.UNDONE])
def test_an_undone_block_blocks_nobody(hit, open_task, state):
    make.block(hit.stage, make.worker(WORKER), state=state)
    assert open_task(hit).status_code == 200


def test_a_block_of_another_project_blocks_nobody_here(hit, open_task):
    make.block(make.stage(), make.worker(WORKER))
    assert open_task(hit).status_code == 200


def pause(hit, hours):
    return make.block(hit.stage, make.worker(WORKER), until=timezone.now() + timedelta(hours=hours))


def test_a_paused_worker_is_told_until_when_and_comes_back_after_it(hit, open_task):
    row = pause(hit, 5)
    response = open_task(hit)
    assert response.status_code == 403
    assert f"has paused its tasks for you until {row.until:%-d %B %Y, %H:%M} UTC" in squeezed(response)
    Block.objects.update(until=timezone.now() - timedelta(seconds=1))
    assert open_task(hit).status_code == 200


def test_a_paused_worker_finishes_what_was_begun(hit, open_task):
    pause(hit, 5)
    Draft.objects.create(hit=hit, assignment_id=ASSIGNMENT, worker_id=WORKER, fields={})
    assert open_task(hit).status_code == 200


def second_pass(hit):
    """A HIT of a later stage that excludes the workers of the first, and of a stage after that one."""
    project = hit.stage.project
    second = make.stage(project, key="second", not_workers_of=[hit.stage.key])
    item = make.item(second, parent=hit.item, document=hit.item.document)
    third = make.stage(project, key="third", not_workers_of=[hit.stage.key, "second"])
    return make.hit(item), make.hit(make.item(third, parent=item, document=hit.item.document))


def test_a_worker_of_an_excluded_stage_is_refused_item_by_item(hit, open_task):
    make.assignment(hit, make.worker(WORKER))
    second, third = second_pass(hit)
    for later in (second, third):
        response = open_task(later)
        assert response.status_code == 403
        assert "for the first time" in html(response)
        assert open_task(later, workerId="AANOTHER").status_code == 200
    unrelated = make.hit(make.item(second.stage, document=hit.item.document))
    assert open_task(unrelated).status_code == 200


def test_a_worker_whose_answers_went_into_the_item_beside_its_parent_is_refused(hit, open_task):
    project, document = hit.stage.project, hit.item.document
    beside = make.hit(make.item(make.stage(project, key="beside"), document=document))
    make.assignment(beside, make.worker(WORKER))
    joined = make.stage(project, key="joined", not_workers_of=[hit.stage.key, "beside"])
    assert open_task(make.hit(make.item(joined, parent=hit.item, document=document))).status_code == 403
    about_another = make.item(hit.stage, document=make.document(project))
    other = make.hit(make.item(joined, parent=about_another, document=about_another.document))
    assert open_task(other).status_code == 200


def test_a_worker_of_a_stage_that_is_not_excluded_is_welcome(hit, open_task):
    make.assignment(hit, make.worker(WORKER))
    second, _ = second_pass(hit)
    second.stage.not_workers_of = []
    second.stage.save()
    assert open_task(second).status_code == 200


def test_nobody_answers_one_item_in_two_hits(hit, open_task):
    make.assignment(hit, make.worker(WORKER), assignment_id=ASSIGNMENT)
    again = make.hit(hit.item, slot=2)
    assert open_task(again, assignmentId="3ANOTHER").status_code == 403
    assert open_task(hit).status_code == 200


def test_the_instructions_are_open_at_the_first_visit_and_closed_later(hit, open_task):
    assert instructions_are_open(open_task(hit))
    assert instructions_are_open(open_task(hit))
    earlier = make.hit(make.item(hit.stage, document=hit.item.document))
    make.assignment(earlier, make.worker(WORKER))
    assert not instructions_are_open(open_task(hit))
    assert instructions_are_open(open_task(hit, workerId="AANOTHER"))


def test_a_draft_of_another_hit_counts_as_an_earlier_visit(hit, open_task):
    Draft.objects.create(hit=make.hit(make.item(hit.stage)), assignment_id="3OTHER", worker_id=WORKER)
    assert not instructions_are_open(open_task(hit))


def test_opening_a_page_writes_nothing(hit, open_task, django_assert_max_num_queries):
    with django_assert_max_num_queries(6) as seen:
        open_task(hit)
    assert {query["sql"].lstrip("(").split()[0] for query in seen.captured_queries} <= {"SELECT"}


def test_its_queries_do_not_grow_with_the_project(hit, open_task, django_assert_max_num_queries):
    second, third = second_pass(hit)
    rows = make.hits(make.items(hit.stage, 40))
    make.assignments(rows, make.worker(WORKER))
    # One of them for each generation of what the item was made from.
    with django_assert_max_num_queries(7):
        assert open_task(third).status_code == 200


def test_no_page_sets_or_reads_a_cookie(hit, open_task, client):
    refused = [open_task(hit, turkSubmitTo="x"), client.get("/task/nonsense/")]
    for response in [open_task(hit), client.get(address(hit)), *refused]:
        assert not response.cookies
        assert "Cookie" not in response.get("Vary", "")


def test_only_the_marketplaces_may_frame_it(hit, open_task, recording_marketplace, client):
    for response in (open_task(hit), open_task(hit, workerId=""), client.get("/task/nonsense/")):
        policy = response["Content-Security-Policy"]
        assert "X-Frame-Options" not in response
        assert f"frame-ancestors {recording_marketplace.origin};" in policy + ";"
        assert f"form-action 'self' {recording_marketplace.origin};" in policy + ";"
        assert "unsafe" not in policy


def test_there_is_no_inline_script_or_style(hit, open_task):
    page = html(open_task(hit))
    assert not re.search(r"<script(?![^>]*\ssrc=)|<style|\sstyle=|\son[a-z]+=", page)


def test_a_page_is_never_kept_by_a_cache(hit, open_task):
    assert "no-store" in open_task(hit)["Cache-Control"]


def test_a_page_is_opened_by_get_alone(hit):
    assert Client(enforce_csrf_checks=True).post(address(hit)).status_code in (403, 405)
    assert not Assignment.objects.exists()
