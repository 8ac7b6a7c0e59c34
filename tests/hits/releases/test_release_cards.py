"""What a lead states of licence and citation: by page, API, command and project file, in card and manifest."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
import yaml
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from hits.judging.rules.summaries import refresh_summary
from hits.models import Item, Project
from hits.projects.rules.archived import ArchivedError
from hits.projects.verbs import project_files, projects
from hits.releases.rules.release_cards import DATASHEET, FIELDS, LONGEST
from hits.releases.verbs import releasing
from hits.releases.verbs.withdrawing import change_card
from tests.hits import factories as make
from tests.hits.doing import refused
from tests.hits.said import say

pytestmark = pytest.mark.django_db
BIBTEX = "@misc{river2026,\n  title = {River},\n}"


@pytest.fixture
def project() -> Project:
    found = make.project(recipe="choice", slug="river", owner=make.user("lena"))
    stage = make.stage(found, key="choose", title="Choose", protocol="multiple_choice")
    say(stage, [{"ann": "yes", "ben": "yes"}])
    stage.items.update(state=Item.State.KEPT)
    for item in stage.items.all():
        make.verdict(item)
    refresh_summary(stage)
    return found


def files_of(project: Project) -> dict[str, str]:
    made, _ = releasing.release(project, None)
    rows = made.files.select_related("blob").exclude(name__endswith=".parquet")
    return {row.name: b"".join(row.blob.read_chunks()).decode() for row in rows}


def head_of(card: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(card.split("\n---\n")[0])
    return found


def test_without_a_licence_card_and_manifest_say_so(project: Project) -> None:
    files = files_of(project)
    assert "license" not in head_of(files["README.md"]) and "LICENSE" not in files
    assert "## Licence\n\nNot stated." in files["README.md"] and "## Citation\n\nNot stated." in files["README.md"]
    manifest = json.loads(files["manifest.json"])
    assert (manifest["licence"], manifest["citation"], manifest["description"]) == (None, None, None)


def test_a_usual_licence_is_named_as_the_hub_names_it_and_makes_a_new_release(project: Project) -> None:
    before, _ = releasing.release(project, None)
    change_card(
        project, {"licence": "ODC-By-1.0", "citation": BIBTEX, "description": "Boats.\r\n\r\nAnd rivers."}, None
    )
    files = files_of(project)
    assert head_of(files["README.md"])["license"] == "odc-by"
    for said in ("[ODC-By-1.0](https://opendatacommons.org/", f"```bibtex\n{BIBTEX}\n```", "\nBoats.\n\nAnd rivers.\n"):
        assert said in files["README.md"]
    manifest = json.loads(files["manifest.json"])
    assert manifest["licence"]["spdx"] == "ODC-By-1.0" and manifest["citation"] == BIBTEX
    assert manifest["description"] == "Boats.\n\nAnd rivers."
    assert project.releases.count() == 2 and before.manifest["licence"] is None
    assert project.actions.get(verb="changed the card of releases").detail == {
        "changed": ["licence", "citation", "description"]
    }


def test_terms_of_ones_own_are_a_file_beside_the_card(project: Project) -> None:
    change_card(project, {"licence": "own", "terms": "For research.\n```\n# Nothing else"}, None)
    files = files_of(project)
    head = head_of(files["README.md"])
    assert (head["license"], head["license_name"], head["license_link"]) == ("other", "own-terms", "LICENSE")
    assert files["LICENSE"] == "For research.\n```\n# Nothing else\n"
    assert "````\nFor research.\n```\n# Nothing else\n````" in files["README.md"]
    assert "LICENSE" in [file["name"] for file in json.loads(files["manifest.json"])["files"]]
    # The terms go with the licence that they are.
    change_card(project, {"licence": "MIT"}, None)
    assert project.card == {"licence": "MIT"}
    change_card(project, {"licence": ""}, None)
    assert project.card == {}


MARKUP = [
    "---\nlicense: mit\n---", "# Big", "1. one", "<script>x</script>", "[a](javascript:b)", "a: b\n\n- c", "***x***",
    "````\n# Out", "&lt;b&gt;", "> q", "| a | b |",
]  # fmt: skip


@pytest.mark.parametrize("text", MARKUP)
def test_nothing_that_is_stated_is_markup_or_breaks_the_head(project: Project, text: str) -> None:
    asked = {name: text for name in ("citation", "description", *DATASHEET)}
    change_card(project, {"licence": "own", "terms": text, **asked}, None)
    card = files_of(project)["README.md"]
    assert head_of(card)["license"] == "other" and set(head_of(card)) == {
        "pretty_name", "license", "license_name", "license_link", "task_categories", "size_categories",
        "dataset_info", "configs"}  # fmt: skip
    outside, fence = [], ""
    for line in card.split("\n---\n", 1)[1].split("\n"):
        if fence:
            fence = "" if line == fence else fence
        elif line.startswith("```"):
            fence = line[: len(line) - len(line.lstrip("`"))]
        else:
            outside.append(line)
    own = [line for line in outside if line.startswith("#")]
    assert all(line.startswith(("# ", "## ")) and "Big" not in line and "Out" not in line for line in own)
    assert not any("<script" in line or "[a](" in line.replace("\\[a", "") for line in outside)
    begun = outside[outside.index(own[0]) + 2]
    assert begun[:1] not in ("#", "-", ">", "|", "*", "`", "<") and not begun.startswith("1.")


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({"licence": "CC-BY-9"}, "licence must be one of"),
        ({"language": "English: all of it"}, "language must hold codes such as en"),
        ({"licence": "own"}, "terms must hold the text"),
        ({"terms": "Mine."}, "terms are stated with the licence own only"),
        ({"citation": "x" * (LONGEST["citation"] + 1)}, "citation has 5,001 characters; at most 5,000"),
        ({"description": "a\x00b"}, "description has a character that cannot be shown"),
        ({"description": 3}, "description must be a text"),
        ({"author": "me"}, "author is unknown"),
    ],
)
def test_what_cannot_be_stated_is_refused_and_changes_nothing(project: Project, given: Any, fault: str) -> None:
    change_card(project, {"citation": "River 2026."}, None)
    with refused("release_card_refused", match=fault):
        change_card(project, given, None)
    project.refresh_from_db()
    assert project.card == {"citation": "River 2026."}


def test_an_archived_project_states_what_it_stated(project: Project) -> None:
    Project.objects.update(archived_at=timezone.now())
    with pytest.raises(ArchivedError):
        change_card(project, {"licence": "MIT"}, None)


def test_a_project_file_and_a_clone_have_it() -> None:
    lead = make.user()
    project = projects.create_project("River", "form", Decimal("5"), "lab@example.org", lead)
    change_card(project, {"licence": "own", "terms": "Mine.", "citation": BIBTEX}, None)
    text = project_files.written(project)
    assert project_files.clone(project, "Again", Decimal("5"), lead).card == project.card
    assert project_files.create_from(project_files.read(text.encode()), "C", Decimal("5"), "a@b.org", lead).card
    wrong = text.replace('licence = "own"', 'licence = "free"\nauthor = "me"')
    with refused("project_file_refused") as told:
        project_files.read(wrong.encode())
    assert [fault.split(" is ")[0].split(" must ")[0] for fault in told.value.details()["faults"]] == [
        "card.author",
        "card.licence",
    ]


def test_the_page_says_what_is_missing_and_takes_it(project: Project) -> None:
    client = Client()
    client.force_login(project.owners.get())
    address = "/projects/river/releases/"
    assert "No licence is stated" in client.get(address).content.decode()
    sent = {"licence": "own", "terms": "For <b>research</b>.", "citation": "R.\r\nS.", "description": ""}
    assert client.post(f"{address}card/", sent).status_code == 302
    project.refresh_from_db()
    assert project.card == {"licence": "own", "terms": "For <b>research</b>.", "citation": "R.\nS."}
    page = client.get(address).content.decode()
    assert "No licence is stated" not in page and "For &lt;b&gt;research" in page and "<b>research" not in page
    refused = client.post(f"{address}card/", {**sent, "licence": "free"})
    assert refused.status_code == 400 and "free" in refused.content.decode()
    # The terms in the form go with the licence that they are.
    assert client.post(f"{address}card/", {**sent, "licence": "CC0-1.0"}).status_code == 302
    project.refresh_from_db()
    assert project.card == {"licence": "CC0-1.0", "citation": "R.\nS."}
    made, _ = releasing.release(project, None)
    assert "Creative Commons Zero" in client.get(f"{address}{made.number}/").content.decode()


def test_the_api_takes_it_field_by_field(project: Project) -> None:
    api = APIClient()
    api.force_authenticate(project.owners.get())
    address = "/api/projects/river/release-card/"
    assert api.patch(address, {"licence": "CC-BY-4.0"}, format="json").json()["licence"] == "CC-BY-4.0"
    assert api.patch(address, {"citation": "River."}, format="json").json()["citation"] == "River."
    assert api.patch(address, {"language": "en, de"}, format="json").json()["language"] == "en, de"
    assert api.get(address).json() == dict.fromkeys(FIELDS, "") | {
        "licence": "CC-BY-4.0", "citation": "River.", "language": "en, de"}  # fmt: skip
    answer = api.patch(address, {"licence": "free"}, format="json")
    assert answer.status_code == 400 and answer.json()["error"]["code"] == "release_card_refused"
    assert api.get("/api/projects/river/release-preview/").json()["licence"]["title"].startswith("Creative Commons")
