"""What was made from an answer that no longer counts: taken back, and left out where somebody answered it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from hits.answers.verbs import harvesting, reviewing
from hits.items.verbs import importing
from hits.judging.rules.recipe_rows import Rows
from hits.judging.verbs import advancing, deciding, scoring
from hits.models import Assignment, Hit, Item, Project, Stage
from hits.projects.verbs import projects
from hits.publishing.rules.marketplace_account import gateway
from hits.publishing.verbs import closing, publishing, sending, topping_up
from hits.recipes import available
from hits.recipes.cosmos import steps
from hits.releases.verbs import releasing
from hits.workers.verbs import qualification_tests
from tests.hits import factories as make
from tests.hits.crowd.pages import filled_in
from tests.hits.doing import do, refused
from tests.hits.pipeline.test_cosmos_job import CAREFUL, KEY, STORIES
from tests.hits.publishing.test_closing import agrees

REASON = "written in an answer that does not count"


@pytest.fixture(autouse=True)
def nothing_lags(settings: Any) -> None:
    settings.MTURK_SETTLE_SECONDS = 0
    settings.HARVEST_SWEEP_SECONDS = 0


@pytest.fixture
def project(lead: Any) -> Project:
    """One story to write about."""
    made = projects.create_project("Stories", "cosmos", Decimal(90), "lab@example.org", lead, seed=7)
    upload = importing.create_upload(made, "stories.txt", STORIES.split("\n\n")[0].encode(), "public", lead)
    assert importing.import_upload(upload.pk) == 1
    return made


def passed(market: Any, project: Project) -> str:
    """A new worker who holds the recipe's test."""
    worker: str = market.sign_up_worker()
    gateway().grant(project.qualification_tests.get().qualification_type_id, worker, 100)
    return worker


def of(project: Project, key: str) -> Stage:
    return Stage.objects.select_related("project__account").get(project=project, key=key)


def publish(stage: Stage) -> None:
    quote = publishing.quote(stage)
    batch = publishing.publish(stage, quote.items, quote.total, f"page-{timezone.now()}", None)
    sending.send(batch.pk)


def answer(market: Any, hit: Hit, worker: str) -> None:
    held = market.accept(worker, hit_id=hit.hit_id)
    fields = filled_in(hit, held.assignment_id, worker, CAREFUL, KEY)
    assert fields is not None and market.submit(held, **fields).status_code == 200


def conclude(project: Project, rounds: int = 1) -> None:
    """As the beat does, stage by stage; nothing is published by itself."""
    for _ in range(rounds):
        for stage in project.stages.select_related("project__account").order_by("position"):
            Hit.objects.filter(stage=stage, hit_id__isnull=False).update(due_at=timezone.now())
            harvesting.harvest(stage)
            scoring.score(stage)
            deciding.decide(stage)
            closing.close_unwanted(stage)
            advancing.advance(stage)


def decide(project: Project, verb: str) -> None:
    write, row = of(project, "write"), Assignment.objects.get(stage__key="write")
    if verb == "reject":
        reviewing.reject(write, [row.pk], "Copied from the story.", None)
    else:
        {"approve": reviewing.approve, "take back": reviewing.take_back}[verb](write, [row.pk], None)
    reviewing.finish(write)


@pytest.fixture
def written(project: Project, market: Any) -> Project:
    """The story was written about; the answer waits for review."""
    write = of(project, "write")
    assert qualification_tests.finish(project) == 1
    publish(write)
    answer(market, write.hits.get(), passed(market, project))
    conclude(project)
    return project


@pytest.fixture
def gone_on(written: Project) -> list[Item]:
    """A lead let answers go on before their review: the question sets are at validation, not published."""
    advancing.only_approved(of(written, "write"), False, None)
    conclude(written)
    found = list(of(written, "validate").items.order_by("pk"))
    assert len(found) >= 2 and {item.state for item in found} == {Item.State.NEW}
    return found


def states(project: Project) -> set[str]:
    return set(of(project, "validate").items.values_list("state", flat=True))


def test_nothing_that_awaits_review_goes_on_until_it_is_approved(written: Project) -> None:
    assert not of(written, "validate").items.exists()
    assert advancing.unfinished() == []
    decide(written, "approve")
    assert advancing.unfinished() == [of(written, "write").pk]
    conclude(written)
    assert states(written) == {Item.State.NEW}


def test_what_was_rejected_before_its_review_never_goes_on(written: Project) -> None:
    decide(written, "reject")
    conclude(written)
    assert not of(written, "validate").items.exists()


def test_unpublished_questions_of_rejected_writing_are_taken_back_and_come_back(
    written: Project, gone_on: list[Item]
) -> None:
    decide(written, "reject")
    conclude(written)
    assert states(written) == {Item.State.WITHDRAWN}
    assert publishing.quote(of(written, "validate")).items == 0
    assert publishing.publish_arrivals(of(written, "validate")) is None
    summary = of(written, "validate").summary
    assert (summary.withdrawn, summary.waiting, summary.published) == (len(gone_on), 0, 0)
    decide(written, "take back")
    conclude(written)
    assert states(written) == {Item.State.NEW}
    assert publishing.quote(of(written, "validate")).items == len(gone_on)


def test_published_questions_that_nobody_accepted_are_closed_released_and_come_back(
    written: Project, gone_on: list[Item], market: Any
) -> None:
    validate = of(written, "validate")
    publish(validate)
    price = sum(hit.unit_cost * hit.max_assignments for hit in validate.hits.all())
    before = of(written, "validate").project.account.reserved
    decide(written, "reject")
    conclude(written, rounds=6)
    assert {market.hit(hit.hit_id)["status"] for hit in validate.hits.all()} == {"Reviewable"}
    rejected = of(written, "write").hits.get().unit_cost
    assert of(written, "validate").project.account.reserved == before - price - rejected
    agrees(of(written, "validate"))
    decide(written, "take back")
    conclude(written)
    assert states(written) == {Item.State.AGAIN}
    batch = topping_up.top_up(of(written, "validate"))
    assert batch is not None
    sending.send(batch.pk)
    assert {market.hit(hit.hit_id)["status"] for hit in validate.hits.all()} == {"Assignable"}
    agrees(of(written, "validate"))


def test_questions_that_were_answered_stay_paid_and_are_left_out_with_the_reason(
    written: Project, gone_on: list[Item], market: Any
) -> None:
    validate = of(written, "validate")
    publish(validate)
    workers = [passed(market, written) for _ in range(3)]
    for hit in validate.hits.select_related("item__document", "stage"):
        for worker in workers:
            answer(market, hit, worker)
    conclude(written)
    kept = states(written)
    assert Item.State.WITHDRAWN not in kept and validate.assignments.count() == 3 * len(gone_on)
    paid = of(written, "validate").project.account.paid
    decide(written, "reject")
    conclude(written)
    assert states(written) == {Item.State.WITHDRAWN}
    assert of(written, "validate").project.account.paid == paid
    assert releasing.preview(written)["left_out"] == {REASON: len(gone_on)}
    assert list(steps.draw("human", Rows(written), 9, seed=1)) == []
    agrees(of(written, "validate"))
    decide(written, "take back")
    conclude(written)
    assert states(written) == kept
    assert REASON not in releasing.preview(written)["left_out"]
    agrees(of(written, "validate"))


def test_what_was_drawn_from_it_goes_and_comes_with_it(written: Project, gone_on: list[Item]) -> None:
    human = of(written, "human")
    drawn = Item.objects.create(
        stage=human, document=gone_on[0].document, parent=gone_on[0], key="drawn", data=gone_on[0].data
    )
    decide(written, "reject")
    conclude(written)
    drawn.refresh_from_db()
    assert drawn.state == Item.State.WITHDRAWN
    decide(written, "take back")
    conclude(written)
    drawn.refresh_from_db()
    assert drawn.state == Item.State.NEW


def test_questions_made_while_their_answer_is_rejected_do_not_stand(written: Project, monkeypatch: Any) -> None:
    """The rejection comes between reading the answer and making what follows from it."""
    advancing.only_approved(of(written, "write"), False, None)
    make_items = advancing.make_items

    def rejected_meanwhile(*arguments: Any) -> int:
        decide(written, "reject")
        return make_items(*arguments)

    monkeypatch.setattr(advancing, "make_items", rejected_meanwhile)
    advancing.advance(of(written, "write"))
    conclude(written)
    assert states(written) == {Item.State.WITHDRAWN}


@pytest.mark.parametrize("recipe", available())
def test_answers_that_a_lead_approves_go_on_only_then_unless_somebody_says_otherwise(lead: Any, recipe: str) -> None:
    made = projects.create_project("New", recipe, Decimal(1), "lab@example.org", lead)
    assert all(made.stages.values_list("advance_approved", flat=True))
    written = {"question_writing", "story"} & set(made.stages.values_list("protocol", flat=True))
    held = set(made.stages.filter(approval=Stage.Approval.REVIEW).values_list("protocol", flat=True))
    assert written <= held, "whatever else is written is bought as it comes, and can be rejected by nobody"


def test_a_draft_of_a_test_takes_no_question_of_writing_that_was_rejected(
    written: Project, gone_on: list[Item]
) -> None:
    draft = make.qualification_test(written, key="own-test", questions=[])
    assert len(do("qualification_tests.draw", draft, count=9).questions) >= 2
    decide(written, "reject")
    conclude(written)
    with refused("nothing_known"):
        do("qualification_tests.draw", draft, count=9)
