"""The pages "Suggestions" and "Priorities" of a stage, and the same by the commands."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from hits import protocols
from hits.judging.rules.summaries import refresh_summary
from hits.model_assist.rules import anchoring
from hits.models import Label, Membership, Stage, SuggestedAnswer, Suggestion
from hits.stats.anchoring import compare
from tests.hits import factories as make
from tests.markup import squeezed

pytestmark = pytest.mark.django_db


@pytest.fixture
def stage(alice: Any) -> Stage:
    project = make.project(owner=alice, slug="weather")
    options = protocols.get("multiple_choice").settings({"question": "Wet?", "choices": ["Yes", "No"]})
    row = make.stage(project, key="choose", title="Choose", protocol="multiple_choice", settings=options,
                     hit_title="Was it wet?", suggestions="half")  # fmt: skip
    for number in range(4):
        document = make.document(project, data={"text": f"Text {number}."})
        make.item(row, key=f"row-{number}", document=document, data={})
    refresh_summary(row)
    return row


def address(stage: Stage, name: str = "suggestions") -> str:
    return reverse(name, args=[stage.project.slug, stage.key])


def file(text: str) -> dict[str, Any]:
    return {"file": SimpleUploadedFile("rows.csv", text.encode())}


def answered(stage: Stage, item: str, shown: bool, agrees: bool, count: int, workers: list[Any]) -> None:
    """So many answers with labels that count, each by the next of the workers."""
    row = stage.items.get(key=item)
    suggestion, _ = Suggestion.objects.get_or_create(item=row, field="choice", defaults={"value": "yes"})
    for number in range(count):
        hit = make.hit(row, slot=row.hits.count() + 1)
        answer = make.assignment(hit, workers[number % len(workers)], answer={"choice": "yes"})
        make.label(answer, unit="choice", value="yes" if agrees else "no", correct=None)
        SuggestedAnswer.objects.create(
            stage=stage, assignment=answer, suggestion=suggestion, shown=shown, agrees=agrees
        )


def test_a_lead_adds_suggestions_and_sees_them_with_the_item(stage: Stage, lead_client: Client) -> None:
    page = squeezed(lead_client.get(address(stage)))
    assert "0 for 0 items" in page and "A seeded half of the answers" in page
    given = file("item,field,value,score,model\nrow-0,choice,Yes,0.75,wet-1\nrow-1,choice,no,,\n")
    page = squeezed(lead_client.post(address(stage), given, follow=True))
    assert "2 new suggestions." in page and "2 for 2 items" in page and "No answer that counts is in yet." in page
    item = squeezed(lead_client.get(reverse("item", args=["weather", "choose", stage.items.get(key="row-0").pk])))
    assert "Suggested: choice" in item and "score 0.75" in item and "by wet-1" in item


def test_all_faults_of_a_file_stand_on_the_page_and_nothing_is_kept(stage: Stage, lead_client: Client) -> None:
    given = file(
        "item,field,value,score\nrow-0,choice,perhaps,2\nrow-9,choice,yes,\nrow-1,mood,yes,\n<b>,choice,yes,\n"
    )
    reply = lead_client.post(address(stage), given)
    page = squeezed(reply)
    assert reply.status_code == 400 and "Nothing was changed." in page
    for said in ("is none of the answers to choose from", "must be a number from 0 to 1", "is no item of this stage",
                 "is no field that takes a suggestion"):  # fmt: skip
        assert said in page
    assert "<b>" not in page and not Suggestion.objects.exists()
    reply = lead_client.post(address(stage), file("item,value\nrow-0,yes\n"))
    assert reply.status_code == 400 and "No column is field" in squeezed(reply)
    assert lead_client.post(address(stage), {}).status_code == 400


def test_the_page_says_that_workers_follow_and_by_how_much(stage: Stage, lead_client: Client) -> None:
    workers = [make.worker() for _ in range(12)]
    for shown, agrees, count in [(True, True, 96), (True, False, 24), (False, True, 60), (False, False, 60)]:
        answered(stage, "row-0", shown, agrees, count, workers)
    page = squeezed(lead_client.get(address(stage)))
    assert "Workers follow the suggestions:" in page
    told = page.replace("\u202f", " ").replace("\xa0", " ")
    assert '80.0 % <span class="small">of 120</span>' in told and '50.0 % <span class="small">of 120</span>' in told
    assert "30.0 %" in told and "60.0 %" in told
    assert "(12 workers)" in page


def test_of_few_answers_the_page_keeps_the_counts_and_says_that_they_are_too_few(
    stage: Stage, lead_client: Client
) -> None:
    workers = [make.worker() for _ in range(12)]
    for shown, agrees, count in [(True, True, 4), (True, False, 19), (False, True, 8), (False, False, 2)]:
        answered(stage, "row-0", shown, agrees, count, workers)
    page = squeezed(lead_client.get(address(stage)))
    assert "Too few answers to tell: 23 in sight and 10 out of sight." in page
    assert '<span class="small">of 23</span>' in page and '<span class="small">of 10</span>' in page
    assert "may be chance" not in page and "300" not in page
    # Enough for the difference, below nothing, and too few that disagree for the share that follows.
    answered(stage, "row-0", False, True, 20, workers)
    page = squeezed(lead_client.get(address(stage)))
    assert "−75.9 %" in page and "-" not in re.findall(r'data-label="Difference">(.*?)</td>', page)[0].partition("<")[0]
    assert "Too few answers that were given without the suggestion disagree with it" in page
    assert 'Doubtful answers that follow">–' in page


def test_a_second_view_of_the_same_answers_draws_nothing_anew(
    stage: Stage, lead_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = []
    monkeypatch.setattr(anchoring, "compare", lambda *given: drawn.append(given) or compare(*given))
    workers = [make.worker() for _ in range(12)]
    for shown, agrees, count in [(True, True, 41), (True, False, 24), (False, True, 30), (False, False, 30)]:
        answered(stage, "row-0", shown, agrees, count, workers)
    first, second = (squeezed(lead_client.get(address(stage))) for _ in range(2))
    assert "(12 workers)" in first and "(12 workers)" in second and len(drawn) == 1
    answered(stage, "row-0", True, True, 1, workers)
    lead_client.get(address(stage))
    assert len(drawn) == 2


def test_a_suggestion_may_be_the_number_of_a_choice_as_a_gold_answer_may(stage: Stage, lead_client: Client) -> None:
    lead_client.post(address(stage), file("item,field,value\nrow-0,choice,2\nrow-1,choice,Yes\n"))
    assert list(Suggestion.objects.order_by("item").values_list("value", flat=True)) == ["no", "yes"]
    reply = lead_client.post(address(stage), file("item,field,value\nrow-2,choice,3\n"))
    assert reply.status_code == 400 and "is none of the answers to choose from" in squeezed(reply)


def test_where_nothing_is_shown_nothing_is_claimed_and_rejected_answers_are_left_out(
    stage: Stage, lead_client: Client
) -> None:
    workers = [make.worker() for _ in range(12)]
    for shown, agrees, count in [(True, True, 30), (True, False, 30), (False, True, 29), (False, False, 31)]:
        answered(stage, "row-0", shown, agrees, count, workers)
    page = squeezed(lead_client.get(address(stage)))
    assert "the difference may be chance" in page and "Workers follow" not in page
    Label.objects.update(void=True)
    page = squeezed(lead_client.get(address(stage)))
    assert "120, 0 compared" in page and "No answer that counts is in yet." in page


def test_the_number_of_queries_does_not_grow_with_the_answers(stage: Stage, lead_client: Client) -> None:
    counts = []
    workers = [make.worker() for _ in range(15)]
    for number in range(2):
        answered(stage, f"row-{number}", True, True, 20, workers)
        answered(stage, f"row-{number}", False, False, 20, workers)
        lead_client.get(address(stage))
        with CaptureQueriesContext(connection) as queries:
            lead_client.get(address(stage))
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_a_reader_sees_the_figures_and_no_form_and_cannot_send_one(stage: Stage, bob: Any) -> None:
    make.member(stage.project, bob, Membership.Role.READER)
    reader = Client()
    reader.force_login(bob)
    for name in ("suggestions", "priorities"):
        page = reader.get(address(stage, name))
        assert page.status_code == 200 and 'type="file"' not in page.content.decode()
        assert reader.post(address(stage, name), file("item,field,value\nrow-0,choice,yes\n")).status_code == 403
    assert not Suggestion.objects.exists()


def test_a_task_that_takes_none_has_no_tab_and_says_so(stage: Stage, lead_client: Client) -> None:
    other = make.stage(stage.project, key="click")
    assert address(other) not in lead_client.get(address(other, "stage")).content.decode()
    assert "takes no suggestions" in squeezed(lead_client.get(address(other)))
    assert lead_client.post(address(other), file("item,field,value\na,choice,yes\n")).status_code == 400
    assert "Suggestions of a model" not in squeezed(lead_client.get(address(other, "stage-settings")))
    assert "Suggestions of a model" in squeezed(lead_client.get(address(stage, "stage-settings")))


def test_what_is_published_first_is_shown_and_changed(stage: Stage, lead_client: Client) -> None:
    page = squeezed(lead_client.get(address(stage, "priorities")))
    assert page.index("row-0") < page.index("row-3")
    page = squeezed(
        lead_client.post(address(stage, "priorities"), file("item,priority\nrow-3,0.5\nrow-2,7\n"), follow=True)
    )
    assert "2 items have another priority now." in page
    assert page.index("row-2") < page.index("row-3") < page.index("row-0")
    page = squeezed(lead_client.get(address(stage, "items") + "?sort=-priority"))
    assert page.index("row-2") < page.index("row-3") and "row-0" not in page
    assert "Items without a priority are not in this order." in page
    reply = lead_client.post(address(stage, "priorities"), file("item,priority\nrow-3,soon\nrow-9,1\n"))
    assert reply.status_code == 400
    assert "must be a number" in squeezed(reply) and "is no item of this stage" in squeezed(reply)


def test_the_page_of_priorities_says_of_how_many_it_shows_the_next_and_how_columns_are_called(
    stage: Stage, lead_client: Client
) -> None:
    assert "Published next" in squeezed(lead_client.get(address(stage, "priorities")))
    for number in range(4, 30):
        make.item(stage, key=f"row-{number}", data={})
    refresh_summary(stage)
    assert "The next 20 of 30" in squeezed(lead_client.get(address(stage, "priorities")))
    reply = lead_client.post(address(stage, "priorities"), file("item,urgency\nrow-3,5\n"))
    assert "No column is priority, which every row needs: rename one of item, urgency." in squeezed(reply)
    page = squeezed(lead_client.post(address(stage, "priorities"), file("item,priority\nrow-3,0.996\n"), follow=True))
    assert "1 item has another priority now." in page and 'data-label="Priority">0.996<' in page
