"""How written answers came about: kept apart from the answers, compared, told in sentences, and deleted again."""

from __future__ import annotations

import ast
import json
import random
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from hits import tasks
from hits.answers.pages.review import _next
from hits.answers.rules import answer_lists, text_evidence
from hits.answers.rules.answer_lists import AnswerFilter
from hits.answers.verbs import harvesting
from hits.items.verbs import importing
from hits.judging.verbs import deciding, scoring
from hits.models import Assignment, Stage, TextEvidence, TextFigures
from hits.projects.rules.plugins import protocol_named
from hits.projects.verbs import projects
from hits.protocols.base import SettingsRefusedError
from hits.publishing.verbs import publishing, sending
from hits.releases.verbs import exporting
from hits.stages.verbs import aggregation_rule, stage_settings
from hits.stats.blocking import Policy, PolicyError
from hits.text.originality.typing_counts import NAME
from hits.workers.verbs import comparing_texts, personal_data
from tests.hits import factories as make
from tests.hits.answers.written_answers import crowd, finish, scenario, stage_of_stories, story, told, typed
from tests.hits.doing import refused
from tests.hits.protocols.telling import STORY

pytestmark = pytest.mark.django_db


@pytest.fixture
def stage() -> Stage:
    return stage_of_stories()


def by_signs(stage: Stage) -> list[Assignment]:
    return answer_lists.page(stage, AnswerFilter(sort="-signs")).rows


def sentences(row: Assignment) -> dict[str, tuple[str, bool]]:
    row.refresh_from_db()
    found = text_evidence.of_answers(row.stage, [row])[row.pk]
    return {one.kind: (one.text, one.is_sign) for one in found.sentences}


# A crowd


def test_who_pastes_and_copies_is_listed_first_and_neither_a_fast_typist_nor_who_dictates_has_a_sign(
    stage: Stage,
) -> None:
    people = crowd(stage)
    assert comparing_texts.compare_when_due(stage) == 72
    first = by_signs(stage)[:6]
    assert {row.worker for row in first} == {people["APASTES"]} and all(row.signs for row in first)
    assert not stage.assignments.exclude(worker=people["APASTES"]).exclude(signs=0).exists()
    copied = [row for row in first if row.signs == 2]
    assert copied and all("earlier answer of AHONEST3" in sentences(row)["near_duplicate"][0] for row in copied)
    share, is_sign = sentences(first[0])["pasted"]
    assert is_sign and share.startswith("100 % of ") and share.endswith("more than in 92 % of the answers here.")
    pastes = text_evidence.of_worker_in(stage, people["APASTES"])
    assert pastes.with_signs == 6 and {one.kind for one in pastes.sentences} == {
        "pasted", "near_duplicate", "stock_phrases"
    }  # fmt: skip
    for name in ("AFAST", "ADICTATES", *(f"AHONEST{at}" for at in range(9))):
        found = text_evidence.of_worker_in(stage, people[name])
        assert found.with_signs == 0 and not any(one.is_sign for one in found.sentences)
    dictated = stage.assignments.filter(worker=people["ADICTATES"]).earliest("pk")
    assert "dictates" in sentences(dictated)["other_input"][0]


@pytest.mark.on_postgresql
def test_comparing_again_finds_the_same_and_a_few_new_answers_wait(stage: Stage) -> None:
    crowd(stage)
    comparing_texts.compare_when_due(stage)
    before = list(TextEvidence.objects.order_by("pk").values("near", "near_share", "assignment__signs"))
    assert comparing_texts.compare(stage) == 72
    assert list(TextEvidence.objects.order_by("pk").values("near", "near_share", "assignment__signs")) == before
    item, draw = scenario(stage), random.Random(1)
    for _ in range(3):
        told(item, make.worker(), text := story(draw), typed(text))
    assert comparing_texts.compare_when_due(stage) == 0, "three in seventy-two are few"
    assert not TextEvidence.objects.filter(read_at=None).exists(), "but each is read"
    TextFigures.objects.update(compared_at=timezone.now() - timedelta(minutes=11))
    finish(stage)
    assert comparing_texts.due_stages() == [stage.pk]
    assert tasks.compare_texts(stage.pk) == 75
    assert comparing_texts.due_stages() == []


def test_a_page_of_answers_costs_the_same_however_many_have_evidence(stage: Stage) -> None:
    def cost(rows: list[Assignment]) -> int:
        with CaptureQueriesContext(connection) as queries:
            assert len(text_evidence.of_answers(stage, rows)) == len(rows)
        return len(queries)

    crowd(stage)
    comparing_texts.compare_when_due(stage)
    rows = by_signs(stage)
    assert cost(rows[:2]) == cost(rows) == 2


def test_an_answer_whose_source_is_gone_has_no_source(stage: Stage) -> None:
    crowd(stage)
    comparing_texts.compare_when_due(stage)
    Assignment.objects.filter(worker__worker_id="AHONEST3").delete()
    comparing_texts.compare(stage)
    assert not TextEvidence.objects.exclude(near=None).exists()
    assert not stage.assignments.filter(signs=2).exists()


# One answer


def test_forged_counts_are_evidence_and_no_error(stage: Stage) -> None:
    item = scenario(stage)
    forged = [
        told(item, make.worker(), STORY, counts)
        for counts in (
            '{"story":[-5,0,0,0,0,0]}',
            "[" * 3000,
            "x" * 9000,
            [900_000, 0, 0, 0, 0, 3],
            [1, 500, 0, 0, 0, 1],
        )
    ]
    absent = told(item, make.worker(), STORY, None)
    assert comparing_texts.read_new(stage) == 6
    assert [set(sentences(row)) >= {"wrong_counts"} for row in forged] == [True] * 5
    assert "no_counts" in sentences(absent)
    absent.refresh_from_db()
    assert absent.signs == 0
    assert all(NAME not in row.answer for row in stage.assignments.all())


def test_of_a_form_about_several_items_each_item_s_counts_are_kept() -> None:
    ask = [{"kind": "long_text", "key": "why", "question": "Why?"}]
    stage = make.stage(
        protocol="form", settings={"form": {"show": [], "ask": ask}}, items_per_hit=2, text_evidence=True
    )
    rows = [
        make.item(stage, document=make.document(stage.project, data={"columns": {}}), data={"columns": {}})
        for _ in range(2)
    ]
    hit = make.hit_about(rows)
    answer = {
        "item1:why": "Because the ferry was late.", f"item1:{NAME}": '{"why":[27,0,0,0,0,8]}',
        "item_number": "2", "why": "No idea.", NAME: '{"why":[0,8,1,0,0,0]}',
    }  # fmt: skip
    row = make.assignment(hit, answer=answer)
    TextEvidence.objects.bulk_create(text_evidence.take_counts(stage, row, 2))
    assert row.answer == {"item1:why": "Because the ferry was late.", "item_number": "2", "why": "No idea."}
    row.save()
    comparing_texts.read_new(stage)
    kept = TextEvidence.objects.get()
    assert kept.counts == {"item1:why": [27, 0, 0, 0, 0, 8], "item2:why": [0, 8, 1, 0, 0, 0]}
    assert kept.characters == len("Because the ferry was late.\n\nNo idea.")


def test_what_a_form_quotes_of_its_row_is_told_apart_from_shared_wording() -> None:
    ask = [{"kind": "long_text", "key": "why", "question": "Which sentence says so?"}]
    show = [{"kind": "text", "text": "{text}"}]
    stage = make.stage(protocol="form", settings={"form": {"show": show, "ask": ask}}, text_evidence=True, answers=3)
    passage = story(random.Random(3), 4)
    item = make.item(
        stage, document=make.document(stage.project, data={"columns": {"text": passage}}), data={"columns": {}}
    )
    hit = make.hit(item)
    for _ in range(2):
        counts = json.dumps({"why": [0, len(passage), 1, 0, 0, 0]})
        row = make.assignment(hit, answer={"why": passage, NAME: counts})
        TextEvidence.objects.bulk_create(text_evidence.take_counts(stage, row, 1))
        row.save()
    assert comparing_texts.compare_when_due(stage) == 2
    assert not TextEvidence.objects.exclude(near=None).exists()
    row.refresh_from_db()
    assert row.signs == 0, "who quotes pastes"
    assert sentences(row)["copied_from_item"][0].startswith("100 % of its passages stand in the item's own text")


def test_an_answer_on_which_the_task_s_code_fails_holds_up_no_other(stage: Stage) -> None:
    item = scenario(stage)
    broken = told(item, make.worker(), STORY, typed(STORY))
    other = scenario(stage)
    other.document.data = {}
    other.document.save()
    told(other, make.worker(), STORY, typed(STORY))
    assert comparing_texts.compare_when_due(stage) == 2
    assert "near_duplicate" not in sentences(broken)


# Where it comes from


@pytest.mark.on_postgresql
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("collects", [True, False])
def test_harvesting_takes_the_counts_out_of_the_answer(market: Any, collects: bool) -> None:
    project = projects.create_project("Why", "form", Decimal("10.00"), "lab@example.org", make.user())
    stage = project.stages.get()
    ask = [{"kind": "long_text", "key": "why", "question": "Why?"}]
    Stage.objects.filter(pk=stage.pk).update(
        settings={"form": {"show": [{"kind": "text", "text": "{text}"}], "ask": ask}},
        text_evidence=collects,
        answers=1,
    )
    upload = importing.create_upload(project, "rows.csv", b"id,text\n1,The ferry sails again.\n", "public", None)
    assert importing.import_upload(upload.pk) == 1
    stage.refresh_from_db()
    quote = publishing.quote(stage)
    sending.send(publishing.publish(stage, quote.items, quote.total, "word of confirmation", None).pk)
    hit = stage.hits.get()
    said = {"why": "It was repaired.", NAME: '{"why":[16,0,0,2,1,1]}'}
    market.answer(market.sign_up_worker(), hit.hit_id, **said)
    stage.refresh_from_db()
    assert harvesting.harvest(stage) == 1
    scoring.score(stage)
    comparing_texts.compare_when_due(stage)
    row = stage.assignments.get()
    assert row.answer == {"why": "It was repaired."} and not row.problem
    found = list(TextEvidence.objects.values_list("noted", "counts"))
    assert found == ([("counted", {"why": [16, 0, 0, 2, 1, 1]})] if collects else [])
    assert row.signs == (0 if collects else None)
    harvesting.harvest(stage)
    assert TextEvidence.objects.count() == collects


# The setting


def test_it_is_off_unless_a_lead_switches_it_on_also_while_answers_come(stage: Stage) -> None:
    other = make.stage(protocol="story", hit_title="Another one")
    assert not other.text_evidence
    make.hit(scenario(other))
    assert stage_settings.change(other, {"text_evidence": True}, None) == ["text_evidence"]
    other.refresh_from_db()
    assert other.text_evidence


@pytest.mark.parametrize(
    ("protocol", "settings_", "why"),
    [
        ("clickable_entity", {}, "has no text to be written"),
        ("html_page", None, "has no text to be written"),
        ("form", {}, "no question that is answered by a text"),
    ],
)
def test_a_task_without_texts_refuses_it_with_the_reason(protocol: str, settings_: Any, why: str) -> None:
    found = protocol_named(protocol).settings(settings_ or {})
    stage = make.stage(protocol=protocol, settings=found, hit_title=protocol)
    with pytest.raises(SettingsRefusedError, match=f"text_evidence must be false: .*{why}"):
        stage_settings.change(stage, {"text_evidence": True}, None)


# Its end


@pytest.mark.on_postgresql
def test_it_is_handed_over_and_deleted_with_what_else_is_kept_of_a_worker(stage: Stage) -> None:
    crowd(stage)
    comparing_texts.compare_when_due(stage)
    worker = stage.assignments.filter(worker__worker_id="APASTES")[0].worker
    found = personal_data.export(worker)["text_evidence"]
    assert len(found) == 6 and found[0]["counts"]["story"][2] == 1
    others = TextEvidence.objects.count() - 6
    assert personal_data.erasable(worker).text_evidence == personal_data.erase(worker).text_evidence == 6
    assert personal_data.export(worker)["text_evidence"] == [] and TextEvidence.objects.count() == others
    assert not stage.assignments.filter(worker=worker).exclude(signs=None).exists()
    assert comparing_texts.read_new(stage) == 0 and TextEvidence.objects.count() == others, "it does not come back"


def test_it_goes_after_its_days_and_the_answers_stay(stage: Stage, settings: Any) -> None:
    item = scenario(stage)
    old = told(item, make.worker(), STORY, typed(STORY), submitted_at=timezone.now() - timedelta(days=31))
    new = told(item, make.worker(), STORY, typed(STORY), submitted_at=timezone.now() - timedelta(days=29))
    comparing_texts.compare_when_due(stage)
    settings.TEXT_EVIDENCE_DAYS = 0
    assert tasks.forget_text_evidence() == 0
    settings.TEXT_EVIDENCE_DAYS = 30
    assert tasks.forget_text_evidence() == 1
    assert [row.assignment_id for row in TextEvidence.objects.all()] == [new.pk]
    old.refresh_from_db()
    assert old.signs is None and old.answer["story"] == STORY


# In files


@pytest.mark.on_postgresql
def test_a_file_of_results_has_it_where_it_is_asked_for(stage: Stage) -> None:
    item = scenario(stage)
    told(item, make.worker(), STORY, [12, 700, 2, 1, 3, 5])
    told(item, make.worker(), STORY, None)
    comparing_texts.compare_when_due(stage)

    def rows(**more: bool) -> list[dict[str, Any]]:
        file = exporting.of_stage(stage, exporting.Choices("jsonl", **more))
        return [json.loads(line) for line in b"".join(file.pieces).splitlines()]

    assert not set(text_evidence.COLUMNS) & set(rows()[0])
    first, second = ({name: row[name] for name in text_evidence.COLUMNS} for row in rows(text_evidence=True))
    counts = {"typed": 12, "pasted": 700, "pastes": 2, "deletions": 1, "pauses": 3, "seconds": 5}
    figures = {"shared_wording": 1.0, "copied_from_item": 0.0}
    assert first == {**{f"text_{name}": value for name, value in counts.items()}, **figures, "signs": 1}
    assert second == {**dict.fromkeys(f"text_{name}" for name in counts), **figures, "signs": 1}


# Never automatic


def test_no_rule_can_name_it(stage: Stage) -> None:
    for name in ("text_evidence", NAME):
        for line in (f"keep: none {name} = 1", f"keep: not (most {name} = 1)", f"drop: confidence {name} >= 0.5"):
            with refused("rule_refused", match=f"{name} decides nothing"):
                aggregation_rule.written(stage, f"{line}\notherwise: keep")
        with pytest.raises(SettingsRefusedError, match=f"{name} decides nothing"):
            stage_settings.change(stage, {"most_answers": 30, "enough": f"at least 2 agree on {name}"}, None)
    crowd(stage)
    comparing_texts.compare_when_due(stage)
    deciding.decide(stage)
    assert not {"signs", "text_evidence", NAME} & set(aggregation_rule.units(stage)), "no vote holds it"


def test_no_blocking_policy_can_name_it(stage: Stage) -> None:
    policy = {"check_every": 10, "min_answers": 5, "floor": 0.5, "alpha": 0.01}
    for more in ({"measure": "signs"}, {"measure": "text_evidence"}, {"signs": 1}, {"pasted": 0.9}):
        with pytest.raises(PolicyError):
            Policy.from_dict({**policy, **more})
        with pytest.raises(SettingsRefusedError):
            stage_settings.change(stage, {"quality": {**policy, **more}}, None)


# Those who collect it, show it or delete it; whoever is added must show it to people, and decide nothing.
READERS = {
    "hits/answers/api/shapes.py", "hits/answers/api/answers.py", "hits/workers/api/workers.py",
    "hits/answers/rules/text_evidence.py", "hits/answers/rules/written_texts.py", "hits/releases/verbs/exporting.py",
    "hits/workers/verbs/comparing_texts.py",
    "hits/workers/verbs/personal_data.py", "hits/answers/verbs/harvesting.py",
    "hits/models.py", "hits/tasks.py", "hits/answers/pages/answers.py",
    "hits/answers/pages/review.py", "hits/workers/pages/workers.py",
}  # fmt: skip


def test_nothing_that_decides_reads_it() -> None:
    """Approving, rejecting, blocking, counting, deciding and releasing import none of it, and read no `signs`."""
    found = {str(file.relative_to(settings.ROOT)) for file in _modules() if _names_it(file)}
    assert found == READERS


def _modules() -> Iterator[Path]:
    folder = settings.ROOT / "hits"
    yield from (file for file in folder.rglob("*.py") if "migrations" not in file.parts and "text" not in file.parts)


def _names_it(file: Path) -> bool:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    imported = {
        name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for name in (node.module, *_names(node))
    }
    modules = {
        "hits.answers.rules.text_evidence",
        "TextEvidence",
        "TextFigures",
        "text_evidence",
        "comparing_texts",
    }
    return bool(modules & imported)


def _names(node: ast.ImportFrom) -> list[str]:
    return [one.name for one in node.names]


def test_approving_rejecting_and_reviewing_go_on_in_the_same_order_with_and_without_signs(stage: Stage) -> None:
    item = scenario(stage)
    waiting = {"state": Assignment.State.SUBMITTED}
    rows = [told(item, make.worker(), STORY, typed(STORY), **waiting) for _ in range(3)]
    comparing_texts.compare_when_due(stage)
    assert [row.signs for row in stage.assignments.order_by("pk")] == [0, 1, 1], "copies of the first"
    following = [_next(stage, 0), _next(stage, rows[0].pk), _next(stage, rows[1].pk)]
    assert [row and row.pk for row in following] == [row.pk for row in rows]
    assert set(stage.assignments.values_list("state", "decision")) == {("Submitted", "")}
