"""MCScript2.0 from scenarios to the human upper bound, with simulated people at the real pages and a real marketplace.

What comes of it is checked by the same `tests.demo.checks_mcscript` as a demonstration, on the tables of this test; and
that those checks see what is wrong, by changing the tables.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from hits.crowd.key import AnswerKey
from hits.items.verbs import importing, sampling
from hits.judging.verbs import computing
from hits.models import Project
from hits.projects.verbs import projects
from hits.publishing.verbs import publishing, sending
from hits.workers.verbs import granting
from tests.demo import checks, checks_mcscript
from tests.demo.checks import Demonstration
from tests.hits.crowd.pages import filled_in
from tests.hits.market import Marketplace, VerbRefusedError
from tests.hits.pipeline.test_cosmos_job import (
    CAREFUL,
    SAMPLES,
    People,
    in_this_database,
    refuse_what_was_changed,
    released,
    send_arrivals,
    wire,
)

pytestmark = pytest.mark.django_db(transaction=True)
KEY = AnswerKey.read(SAMPLES / "mcscript-key.jsonl")
SCENARIOS = "\n".join((SAMPLES / "mcscript-scenarios.txt").read_text(encoding="utf-8").splitlines()[:2])
OPTIONS = {"test_scenarios": 1, "test_share": 0.5, "dev_share": 0.2, "common_texts": 1, "most_questions": 6}
QUESTION_STAGES = ("np-long", "np-short", "vp-long", "vp-short")


@dataclass
class Qualified(People):
    """The marketplace turns away who has not the qualification, the page who had a part in it before."""

    def _answer(self, hit: Any) -> None:
        self.turn += 1
        names = list(self.of)
        wanted = hit.max_assignments
        for worker in [*names[self.turn % len(names) :], *names[: self.turn % len(names)]]:
            if wanted and self._took(worker, hit):
                wanted -= 1
        assert not wanted, "nobody may answer it"

    def _took(self, worker: str, hit: Any) -> bool:
        try:
            held = self.market.accept(worker, hit_id=hit.hit_id)
        except VerbRefusedError:
            return False
        fields = filled_in(hit, held.assignment_id, worker, self.of[worker], KEY)
        if fields is None:
            self.market.give_back(held)
            return False
        assert self.market.submit(held, **fields).status_code == 200
        return True


@pytest.fixture
def people(market: Marketplace) -> People:
    kinds = ["careless", "random", *["careful"] * 9]
    persons = [replace(CAREFUL, name=f"p{number}", kind=kind, accuracy=0.9) for number, kind in enumerate(kinds)]
    return Qualified(market, {market.sign_up_worker(): person for person in persons})


@pytest.fixture
def demonstration(people: People, lead: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Demonstration:
    """As `make demo RECIPE=mcscript` goes, step by step."""
    settings = wire(people.market)
    before, _ = checks.balance(settings)
    project = projects.create_project(
        "Stories", "mcscript", Decimal(200), "lab@example.org", lead, options=OPTIONS, seed=7
    )
    stage = {row.key: row for row in project.stages.all()}
    projects.want_answers(stage["story"], 2, 2)
    upload = importing.create_upload(project, "scenarios.txt", SCENARIOS.encode(), "public", lead)
    assert importing.import_upload(upload.pk) == 2
    give_qualifications(project, people)
    quote = publishing.quote(stage["story"])
    sending.send(publishing.publish(stage["story"], quote.items, quote.total, "page", lead).pk)
    people.work(stage["story"])
    for key in QUESTION_STAGES:
        if stage[key].items.exists():
            send_arrivals(stage[key])
            people.work(stage[key])
            granting.grant_for_answers(stage[key])
            granting.finish(project)
    draw_and_work(people, stage["answers"])
    computing.run(computing.start(project, "select", {"batch": 2, "most_iterations": 2}, lead).pk)
    draw_and_work(people, stage["review"])
    releases = [released(project, tmp_path / "1")]
    for number in range(1, 6):
        draw_and_work(people, stage[f"human-{number}"])
    releases += [released(project, tmp_path / name) for name in ("2", "3")]
    monkeypatch.setattr(checks.Evidence, "ours", in_this_database)
    kinds = {worker: person.kind for worker, person in people.of.items()}
    started = {"project": project.pk, "namespace": project.namespace}
    return Demonstration(settings, SAMPLES, started, kinds, before, releases)


def give_qualifications(project: Project, people: People) -> None:
    careful = [worker for worker, person in people.of.items() if person.kind == "careful"]
    # Enough people for each part; everybody else takes what is offered first.
    granting.grant(project, "part-np", careful[:3], None)
    granting.grant(project, "part-vp", careful[3:6], None)
    granting.grant(project, "expert-reviewer", careful[6:7], None)
    for number in range(1, 6):
        granting.grant(project, f"annotator-{number}", [careful[number]], None)


def draw_and_work(people: People, stage: Any) -> None:
    assert sampling.draw(stage, stage.draws)
    send_arrivals(stage)
    people.work(stage)


WRONG = [
    ("UPDATE hits_document SET data = '{\"text\": \"Another.\"}' WHERE key LIKE '%/%'", "differ from what was told"),
    ("DELETE FROM hits_grant WHERE key = 'part-np'", "workers of the part np without its qualification"),
    ("UPDATE hits_verdict SET parts = '{}'", "the verdicts on"),
    ("DELETE FROM hits_computationresult", "has no answers, though there are some"),
    ("DELETE FROM hits_label WHERE unit = 'text'", "texts without a review"),
    (
        'UPDATE hits_label SET value = \'{"action": "delete", "reason": ""}\' WHERE unit = \'text\'',
        "question .* and None",
    ),
    ("UPDATE hits_ledgerentry SET paid = paid + 1 WHERE paid > 0", "entries and account, paid"),
]


def test_the_whole_job_holds_before_the_checks_and_they_notice_what_is_wrong(
    demonstration: Demonstration, lead: Any, client: Client
) -> None:
    checked = dict(checks_mcscript.run(demonstration))
    assert len(checked) == 16
    assert checked["Texts are the stories that were told"].startswith("4 stories, 4 of them")
    assert checked["Human upper bound recomputed"].startswith("5 annotators")
    client.force_login(lead)
    project = Project.objects.get()
    shown = client.get(reverse("release", args=[project.slug, 2])).content.decode()
    assert "Human accuracy" in shown and "question-labels.svg" in shown
    refuse_what_was_changed(checks_mcscript.run, demonstration, WRONG, field="answer0", other_file="test.parquet")
