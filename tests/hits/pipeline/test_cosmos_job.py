"""Cosmos QA from stories to the human score, with simulated people at the real pages and a real marketplace.

What comes of it is checked by the same `tests.demo.checks_cosmos` as a demonstration, on the tables of this test; and
that those checks see what is wrong, by changing the tables.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, transaction

from hits.answers.verbs import harvesting, reviewing
from hits.crowd.key import AnswerKey
from hits.crowd.people import Person
from hits.items.verbs import importing, sampling
from hits.judging.verbs import advancing, computing, deciding, scoring
from hits.models import Project, Stage
from hits.projects.verbs import projects
from hits.publishing.rules.marketplace_account import gateway
from hits.publishing.verbs import publishing, sending
from hits.releases.rules import release_folders
from hits.releases.verbs import releasing
from hits.workers.verbs import qualification_tests
from tests.demo import checks, checks_cosmos
from tests.demo.checks import CheckFailedError, Demonstration
from tests.hits.crowd.pages import filled_in
from tests.hits.market import Marketplace

pytestmark = pytest.mark.django_db(transaction=True)
SAMPLES = Path(__file__).resolve().parents[3] / "samples"
KEY = AnswerKey.read(SAMPLES / "cosmos-key.jsonl")
STORIES = "\n\n".join((SAMPLES / "cosmos-stories.txt").read_text(encoding="utf-8").split("\n\n")[5:9])
OPTIONS = {"best_written": 1, "best_kept_share": 0.5, "test_sets": 2, "dev_sets": 2, "held_out_share": 1.0}
CAREFUL = Person("anna", "careful", 7, 1.0, 30.0, 0.0)


@dataclass
class People:
    """Workers of the marketplace and who they are; each HIT is offered to another one first."""

    market: Marketplace
    of: dict[str, Person]
    turn: int = -1

    def work(self, stage: Stage) -> None:
        """Answer all HITs of a stage, then let the verbs conclude it."""
        for hit in stage.hits.select_related("item__document", "stage"):
            self._answer(hit)
        stage.refresh_from_db()
        harvesting.harvest(stage)
        reviewing.approve(stage, stage.assignments.values_list("pk", flat=True), None)
        reviewing.finish(stage)
        scoring.score(stage)
        deciding.decide(stage)
        advancing.advance(stage)

    def _answer(self, hit: Any) -> None:
        self.turn += 1
        workers = [*list(self.of)[self.turn % len(self.of) :], *list(self.of)[: self.turn % len(self.of)]]
        wanted = hit.max_assignments
        for worker in workers:
            if not wanted:
                return
            held = self.market.accept(worker, hit_id=hit.hit_id)
            fields = filled_in(hit, held.assignment_id, worker, self.of[worker], KEY)
            if fields is None:
                self.market.give_back(held)
            else:
                assert self.market.submit(held, **fields).status_code == 200
                wanted -= 1
        assert not wanted, "nobody may answer it"


@pytest.fixture
def people(market: Marketplace) -> People:
    kinds = ["careless", *["careful"] * 6]
    persons = [replace(CAREFUL, name=f"p{number}", kind=kind) for number, kind in enumerate(kinds)]
    return People(market, {market.sign_up_worker(): person for person in persons})


@pytest.fixture
def demonstration(people: People, lead: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Demonstration:
    """As `make demo RECIPE=cosmos` goes, step by step."""
    settings = wire(people.market)
    before, _ = checks.balance(settings)
    project = projects.create_project(
        "Stories", "cosmos", Decimal(90), "lab@example.org", lead, options=OPTIONS, seed=7
    )
    let_pass(project, people.of)
    upload = importing.create_upload(project, "stories.txt", STORIES.encode(), "public", lead)
    assert importing.import_upload(upload.pk) == 4
    write, validate, human = (project.stages.get(key=key) for key in ("write", "validate", "human"))
    quote = publishing.quote(write)
    sending.send(publishing.publish(write, quote.items, quote.total, "page", lead).pk)
    people.work(write)
    send_arrivals(validate)
    people.work(validate)
    computing.run(computing.start(project, "least-challenging", {}, lead).pk)
    releases = [released(project, tmp_path / "1")]
    assert sampling.draw(human, human.draws)
    send_arrivals(human)
    people.work(human)
    releases += [released(project, tmp_path / name) for name in ("2", "3")]
    monkeypatch.setattr(checks.Evidence, "ours", in_this_database)
    kinds = {worker: person.kind for worker, person in people.of.items()}
    started = {"project": project.pk, "namespace": project.namespace}
    return Demonstration(settings, SAMPLES, started, kinds, before, releases)


def let_pass(project: Project, workers: Iterable[str]) -> None:
    """The recipe's test is on offer and these workers hold it, as if they had passed it."""
    assert qualification_tests.finish(project) == 1
    for worker in workers:
        gateway().grant(project.qualification_tests.get().qualification_type_id, worker, 100)


def wire(market: Marketplace) -> dict[str, str]:
    names = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
    there = {"MTURK_ENDPOINT_URL": market.url, "MARKETPLACE_DATABASE_URL": market.database_url}
    return {**there, "DATA_DIR": "", **{name: os.environ[name] for name in names}}


def send_arrivals(stage: Stage) -> None:
    batch = publishing.publish_arrivals(stage)
    assert batch is not None
    sending.send(batch.pk)


def released(project: Project, folder: Path) -> checks.Release:
    found, is_new = releasing.release(Project.objects.get(pk=project.pk), None)
    for path, blob in release_folders.paths(found, folder.name).items():
        (folder.parent / path).parent.mkdir(parents=True, exist_ok=True)
        (folder.parent / path).write_bytes(blob.read())
    report = {"is_new": is_new, "digest": found.digest, "counts": found.manifest["counts"]}
    return checks.Release(report, folder)


def in_this_database(evidence: checks.Evidence, sql: str) -> list[checks.Row]:
    with connection.cursor() as cursor:
        cursor.execute(sql.format(project=evidence.found.started["project"]))
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


WRONG = [
    ("UPDATE hits_item SET state = 'dropped' WHERE conclusion = 'valid'", "verdicts that the answers do not give"),
    ("UPDATE hits_item SET conclusion = 'valid' WHERE conclusion = 'unanswerable'", "verdicts that the answers"),
    ("UPDATE hits_item SET key = key || 'x' WHERE conclusion = 'valid'", "sets that are missing or that nobody wrote"),
    ("UPDATE hits_item SET conclusion = 'wrong' WHERE conclusion = 'right'", "majority of"),
    ("DELETE FROM hits_computationresult", "replacements: 0 and"),
    ("UPDATE hits_ledgerentry SET paid = paid + 1 WHERE paid > 0", "entries and account, paid"),
]


def refuse_what_was_changed(
    run: Callable[[Demonstration], Iterator[object]],
    demonstration: Demonstration,
    wrong: Iterable[tuple[str, str]],
    *,
    field: str,
    other_file: str,
) -> None:
    """Each statement changes the tables, and the checks say so; then a field of a released file, which `other_file`
    belies.
    """
    for statement, message in wrong:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute(statement)
            with pytest.raises(CheckFailedError, match=message):
                list(run(demonstration))
            transaction.set_rollback(True)
    test = demonstration.releases[-1].folder / "test.jsonl"
    test.write_text(test.read_text(encoding="utf-8").replace(f'"{field}": "', f'"{field}": "1', 1), encoding="utf-8")
    with pytest.raises(CheckFailedError, match=re.escape(other_file)):
        list(run(demonstration))


def test_the_whole_job_holds_before_the_checks_and_they_notice_what_is_wrong(demonstration: Demonstration) -> None:
    checked = dict(checks_cosmos.run(demonstration))
    assert len(checked) == 12
    assert checked["Rubbish mostly gone"].startswith("0% of 2 sets of careless writers kept")
    assert checked["Score of people recomputed"].endswith("100.0%")
    refuse_what_was_changed(checks_cosmos.run, demonstration, WRONG, field="question", other_file="test.csv")
