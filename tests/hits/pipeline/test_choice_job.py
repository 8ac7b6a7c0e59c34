"""A task of one's own from end to end: written on a page, imported, answered by three, released with its votes."""

import csv
import io
import json
from decimal import Decimal

import datasets
import pytest

from hits.answers.verbs import harvesting
from hits.items.verbs import importing
from hits.judging.verbs import deciding, scoring
from hits.models import Item, Worker
from hits.projects.verbs import projects
from hits.publishing.verbs import publishing, sending
from hits.recipes.table_rows import pseudonym
from hits.releases.verbs import releasing
from hits.stages.verbs import task_settings

pytestmark = pytest.mark.django_db(transaction=True)
# `votes` is a column of the release too.
FILE = (
    b"id,text,question,choice1,choice2,gold,votes\n"
    b"n1,Rain fell all day.,,,,Yes,12\nn2,The sun shone.,Who won?,Ada,Ben,Ben,\n"
)
TASK = {"hit_title": "Was it wet?", "settings": {"question": "Was it wet?", "choices": ["Yes", "No"], "shuffle": True}}


@pytest.fixture
def stage(lead, market):
    project = projects.create_project("Weather", "choice", Decimal("5.00"), "lab@example.org", lead, seed=3)
    upload = importing.create_upload(project, "w.csv", FILE, "public", None)
    assert importing.import_upload(upload.pk) == 2
    found = project.stages.get()
    task_settings.change_task(found, TASK, None)
    found.requirements = []
    found.save(update_fields=["requirements"])
    return found


def answered(stage, market, said):
    """Three workers say these choices, by the item's key."""
    quote = publishing.quote(stage)
    sending.send(publishing.publish(stage, quote.items, quote.total, "page", None).pk)
    workers = [market.sign_up_worker() for _ in range(3)]
    for hit in stage.hits.select_related("item"):
        for worker, choice in zip(workers, said[hit.item.key], strict=True):
            market.answer(worker, hit.hit_id, choice=choice)
    stage.refresh_from_db()
    harvesting.harvest(stage)
    scoring.score(stage)
    deciding.decide(stage)
    stage.summary.refresh_from_db()


def imported(stage, content):
    upload = importing.create_upload(stage.project, "more.csv", content, "public", None)
    importing.import_upload(upload.pk)
    upload.refresh_from_db()
    return upload


def test_gold_that_is_none_of_the_answers_is_refused_at_import_with_every_line(stage):
    upload = imported(stage, b"id,text,gold\na,Wet.,Yes\nb,Dry.,yes|no\nc,Dry.,Maybe\nd,Wet.,Often\ne,Wet.,Maybe\n")
    assert (upload.state, upload.fault_count) == ("refused", 3)
    assert [fault["line"] for fault in upload.faults] == [4, 5, 6]
    assert upload.faults[0]["place"] == "gold"
    assert upload.faults[0]["message"].startswith("'Maybe' is none of the answers to choose from: 'Yes', 'No'.")
    assert stage.items.count() == 2


def test_gold_that_another_task_no_longer_offers_is_named_at_the_quote(stage):
    assert publishing.quote(stage).warnings == []
    task_settings.change_task(stage, {"settings": {"choices": ["Wet", "Dry"]}}, None)
    (warning,) = publishing.quote(stage).warnings
    assert warning.startswith("1 item has a gold answer that nobody can choose, such as n1: 'Yes' is none of")
    assert "counts for no accuracy" in warning


def test_votes_are_released_and_measured_against_gold(stage, market, lead):
    answered(stage, market, {"n1": ["yes", "yes", "no"], "n2": ["c1", "c1", "c2"]})
    assert set(stage.items.values_list("state", flat=True)) == {Item.State.KEPT}
    assert stage.summary.scores == {"accuracy": 50.0, "majority": 50.0, "ties": 0, "answers": 6, "n": 2}
    made, _ = releasing.release(stage.project, lead)
    files = {file.name: file.blob.read() for file in made.files.all()}
    first, second = map(json.loads, files["items.jsonl"].splitlines())
    assert first == {
        "id": "n1", "text": "Rain fell all day.", "question": "Was it wet?", "answers": 3,
        "votes": {"Yes": 2, "No": 1}, "majority": ["Yes"], "share": 0.6667, "conclusion": "", "gold": ["Yes"],
        "words": [], "Input.votes": "12",
    }  # fmt: skip
    assert (second["question"], second["votes"], second["gold"]) == ("Who won?", {"Ada": 2, "Ben": 1}, ["Ben"])
    rows = list(csv.DictReader(io.StringIO(files["items.csv"].decode(), newline="")))
    assert [row["votes"] for row in rows] == ["Yes: 2 | No: 1", "Ada: 2 | Ben: 1"]
    assert ([row["Input.votes"] for row in rows], second["Input.votes"]) == (["12", ""], None)
    assert releasing.release(stage.project, lead) == (made, False)


def test_the_folder_of_a_release_is_loaded_as_it_is_and_its_card_says_what_was_asked(stage, market, lead, tmp_path):
    answered(stage, market, {"n1": ["yes", "yes", "no"], "n2": ["c1", "c1", "c2"]})
    made, _ = releasing.release(stage.project, lead)
    for file in made.files.all():
        (tmp_path / file.name).parent.mkdir(exist_ok=True)
        (tmp_path / file.name).write_bytes(file.blob.read())
    items = datasets.load_dataset(str(tmp_path), cache_dir=str(tmp_path / "cache"))["train"]
    assert items.column_names[-1] == "Input.votes" and list(items["votes"]) == ["Yes: 2 | No: 1", "Ada: 2 | Ben: 1"]
    answers = datasets.load_dataset(str(tmp_path), "annotations", cache_dir=str(tmp_path / "cache"))["train"]
    assert sorted(answers["value"]) == ["c1", "c1", "c2", "no", "yes", "yes"]
    card = (tmp_path / "README.md").read_text()
    for said in (
        "# Weather",
        "## Stage: Choice",
        "| Workers read | Was it wet? |",
        "| Answers | 6 |",
        "| Workers | 3 |",
    ):
        assert said in card
    assert "| Reward for an answer | $0.05 |" in card and "| Items kept | 2 of 2 |" in card
    assert "README.md" in [file["name"] for file in made.manifest["files"]]
    # What is published tells nobody how pseudonyms are made.
    published = b"".join(file.blob.read() for file in made.files.all())
    assert stage.project.pseudonym_key.encode() not in published and str(stage.project.seed).encode() in published
    seed = str(stage.project.seed)
    known = {pseudonym(worker, seed) for worker in Worker.objects.values_list("worker_id", flat=True)}
    assert known.isdisjoint(answers["worker"]) and len(set(answers["worker"])) == 3


def test_an_answer_that_chose_nothing_counts_for_nothing_and_is_told_in_a_release(stage, market):
    answered(stage, market, {"n1": ["yes", "yes", "maybe"], "n2": ["c1", "c2", "c2"]})
    assert stage.summary.invalid == 1
    content = releasing.preview(stage.project)
    assert (content["counts"], content["left_out"]) == ({"items": 1}, {"answers are missing": 1})
    assert stage.summary.scores["n"] == 1
