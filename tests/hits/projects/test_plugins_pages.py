"""One broken folder of plug-ins is named, and harms nothing but the projects that use it."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from hits import tasks
from hits.answers.verbs import serving
from hits.items.verbs import importing
from hits.judging.verbs import scoring
from hits.models import Hit, Project, Stage, Upload
from hits.projects.rules.plugins import UNUSABLE, faults_of, in_full
from hits.projects.verbs import projects
from hits.publishing.verbs import publishing
from tests.hits import factories as make
from tests.hits.api_calls import signed_in
from tests.hits.pipeline.test_new_kind import PROTOCOL, STAGES, STEPS
from tests.hits.world import build_world

pytestmark = pytest.mark.django_db
FILES = {
    "protocols/yes_or_no/protocol.py": PROTOCOL,
    "recipes/claims/steps.py": STEPS,
    "recipes/claims/stages.toml": STAGES,
}
BROKEN = {
    "a syntax error": ("protocols/yes_or_no/protocol.py", "protocol = (", "SyntaxError"),
    "an error at its import": ("protocols/yes_or_no/protocol.py", "1 / 0", "ZeroDivisionError"),
    "no protocol.py": ("protocols/yes_or_no/protocol.py", None, "protocol.py is missing"),
    "no toml": ("recipes/claims/stages.toml", "title =", "is not TOML"),
    "no stages": ("recipes/claims/stages.toml", None, "the file is missing"),
    "steps that fail": ("recipes/claims/steps.py", "import juggling_tools", "juggling_tools"),
}


# A fault of any kind leaves the folder out; what then happens to its projects is the same for each.
OF_EACH_FOLDER = pytest.mark.parametrize("what", ["a syntax error", "steps that fail"], indirect=True)


@pytest.fixture
def plugins(tmp_path: Path, settings: Any) -> Path:
    for name, text in FILES.items():
        (tmp_path / "one" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "one" / name).write_text(text)
    settings.PLUGIN_DIRS = [tmp_path / "one"]
    settings.PLUGIN_ROOTS = [*settings.PLUGIN_ROOTS, tmp_path / "one"]
    return tmp_path / "one"


def start_anew(settings: Any) -> Path:
    """What this process has imported stays imported: to it a folder of another name is new, as to a new process."""
    [folder] = settings.PLUGIN_DIRS
    renamed = folder.with_name("another")
    folder.rename(renamed)
    settings.PLUGIN_DIRS = [renamed]
    settings.PLUGIN_ROOTS = [*settings.PLUGIN_ROOTS[:-1], renamed]
    return Path(renamed)


def break_folder(settings: Any, what: str) -> str:
    """One thing of the plug-in is broken when the program starts; returns what is wrong with it."""
    name, text, why = BROKEN[what]
    file = start_anew(settings) / name
    if text is None:
        file.unlink()
    else:
        file.write_text(text)
    return why


def where(what: str) -> str:
    """The plug-in's folder as leads are told it: from its plug-in directory on."""
    return BROKEN[what][0].rpartition("/")[0]


@pytest.fixture(params=BROKEN)
def what(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_the_page_of_new_projects_offers_the_others_and_names_the_folder(lead_client, plugins, what, settings) -> None:
    broken = break_folder(settings, what)
    reply = lead_client.get(reverse("new-project"))
    text = reply.content.decode()
    assert reply.status_code == 200
    offered = [name for name, _ in reply.context["form"].fields["recipe"].choices]
    assert {"record", "cosmos", "mcscript", "choice"} <= set(offered) and "claims" not in offered
    assert any(broken in fault and where(what) in fault for fault in reply.context["faults"])
    assert str(settings.PLUGIN_DIRS[0]) not in text
    given = {"name": "River", "recipe": "record", "budget": "5.00", "contact_email": "lab@example.org"}
    assert lead_client.post(reverse("new-project"), given).status_code == 302


def test_the_api_offers_the_others_and_names_the_folder(alice, plugins, what, settings) -> None:
    broken = break_folder(settings, what)
    api = signed_in(alice)
    names = [row["name"] for row in api.get("/api/recipes/").json()]
    assert "record" in names and "claims" not in names
    faults = api.get("/api/plugin-faults/").json()["faults"]
    assert any(broken in fault and where(what) in fault for fault in faults)
    assert not any(str(settings.PLUGIN_DIRS[0]) in fault for fault in faults)
    body = {"name": "Claims", "recipe": "claims", "budget": "1.00", "contact_email": "lab@example.org"}
    refused = api.post("/api/projects/", body, format="json")
    assert 400 <= refused.status_code < 500 and broken in refused.json()["error"]["message"]


def test_without_a_fault_nothing_is_said(lead_client: Client, alice: Any, plugins: Path) -> None:
    assert "Left out" not in lead_client.get(reverse("new-project")).content.decode()
    assert "claims" in [row["name"] for row in signed_in(alice).get("/api/recipes/").json()]
    assert signed_in(alice).get("/api/plugin-faults/").json() == {"faults": []}


def test_a_folder_that_is_not_there_is_named(lead_client: Client, settings: Any, tmp_path: Path) -> None:
    settings.PLUGIN_DIRS = [tmp_path / "gone"]
    text = lead_client.get(reverse("new-project")).content.decode()
    assert "gone: PLUGIN_DIRS names this folder" in text and str(tmp_path) not in text


@pytest.fixture
def claims(plugins: Path, alice: Any) -> Project:
    """A project that uses the plug-in, made while it was whole."""
    project = projects.create_project("Claims", "claims", Decimal("1.00"), "lab@example.org", alice)
    hit = make.hit(make.item(project.stages.get(), data={"claim": "Snow is cold", "truth": "yes"}))
    row = make.assignment(hit, scored=False, state="Submitted", answer={"choice": "yes"})
    make.worker_stat(hit.stage, row.worker)
    return project


@OF_EACH_FOLDER
def test_every_page_of_a_project_that_uses_it_says_so_or_works(claims, lead_client, what, settings) -> None:
    broken = break_folder(settings, what)
    stage = claims.stages.get()
    row = stage.assignments.get()
    of_project, of_stage = [claims.slug], [claims.slug, stage.key]
    readable = {
        **dict.fromkeys(["project", "ledger"], of_project),
        **dict.fromkeys(["stage", "stage-progress", "items", "answers", "hits"], of_stage),
        "item": [*of_stage, row.hit.item_id],
        "worker": [*of_project, row.worker.worker_id],
    }
    texts = {name: lead_client.get(reverse(name, args=given)) for name, given in readable.items()}
    assert {name: reply.status_code for name, reply in texts.items()} == dict.fromkeys(readable, 200)
    assert broken in texts["project"].content.decode()
    others = {
        **dict.fromkeys(["releases", "release-preview", "options", "computations", "qualification-tests"], of_project),
        **dict.fromkeys(["rule", "task-settings", "publish", "draw", "extend", "changes"], of_stage),
        "protocol-page": [*of_stage, "targets"],
        "take-back": [*of_stage, row.pk],
    }
    codes = {name: lead_client.get(reverse(name, args=given)).status_code for name, given in others.items()}
    assert {name: code for name, code in codes.items() if code not in (200, 302, 404, 409)} == {}


@OF_EACH_FOLDER
def test_jobs_of_a_project_that_uses_it_wait_and_say_why(claims, alice, what, eager, settings) -> None:
    broken = break_folder(settings, what)
    assert tasks.conclude_stage(claims.stages.get().pk) == 0
    upload = importing.create_upload(claims, "c.txt", b"a|Fire is cold|no", "public", None)
    importing.import_upload(upload.pk)
    upload.refresh_from_db()
    assert upload.state == Upload.State.FAILED and broken in upload.error
    found = signed_in(alice).get(f"/api/projects/{claims.slug}/").json()
    assert any(broken in fault for fault in found["faults"])


@OF_EACH_FOLDER
def test_projects_that_do_not_use_it_have_all_their_pages(lead_client, alice, bob, plugins, what, settings) -> None:
    broken = break_folder(settings, what)
    world = build_world([alice, bob])
    for name in ("project", "stage", "items", "answers", "publish", "rule"):
        reply = lead_client.get(world.url(name))
        assert reply.status_code == 200 and broken not in reply.content.decode(), name


@OF_EACH_FOLDER
def test_the_whole_path_is_told_to_the_log_once_and_to_the_command_line_alone(
    claims, lead_client, alice, what, settings, caplog
) -> None:
    broken = break_folder(settings, what)
    whole = str(settings.PLUGIN_DIRS[0] / where(what))
    stage = claims.stages.get()
    for name, given in {"new-project": [], "project": [claims.slug], "stage": [claims.slug, stage.key]}.items():
        for _ in range(2):
            assert whole not in lead_client.get(reverse(name, args=given)).content.decode()
    api = signed_in(alice)
    body = {"name": "Claims", "recipe": "claims", "budget": "1.00", "contact_email": "lab@example.org"}
    replies = [api.get(f"/api/projects/{claims.slug}/"), api.post("/api/projects/", body, format="json")]
    assert not any(whole in reply.content.decode() for reply in replies)
    [logged] = [row.getMessage() for row in caplog.records if whole in row.getMessage()]
    assert broken in logged
    assert any(whole in fault for fault in faults_of(claims, [stage], in_full))


def test_what_an_import_says_of_other_folders_stays_out_of_pages(
    plugins: Path, settings: Any, lead_client: Client
) -> None:
    folder = start_anew(settings) / "recipes" / "claims"
    (folder / "steps.py").write_text("open('/srv/lab data/secret/words.txt')")
    text = lead_client.get(reverse("new-project")).content.decode()
    assert "words.txt" in text and "/srv" not in text and "secret" not in text


@pytest.fixture
def without_task(claims: Project, settings: Any) -> Stage:
    break_folder(settings, "a syntax error")
    return claims.stages.get()


def test_nothing_is_lost_while_a_task_cannot_be_used(without_task: Stage, settings: Any, lead_client: Client) -> None:
    stage = without_task
    assert tasks.conclude_stage(stage.pk) == 0
    assert scoring.unfinished() == [stage.pk]
    page = lead_client.get(reverse("stage", args=[stage.project.slug, stage.key])).content.decode()
    assert "cannot be used: its answers wait unread" in page and "SyntaxError" in page
    (settings.PLUGIN_DIRS[0] / "protocols/yes_or_no/protocol.py").write_text(PROTOCOL)
    scoring.score(Stage.objects.get(pk=stage.pk))
    assert scoring.unfinished() == [] and stage.labels.count() == 1


def test_a_worker_is_told_and_what_is_filled_in_can_be_sent(without_task: Stage) -> None:
    hit = Hit.objects.select_related("stage__project", "item__document").get()
    with pytest.raises(serving.TaskRefusedError, match="no fault of yours"):
        serving.open_page(hit, {})
    serving.check(serving.page_token(serving.Visit(hit, "3ASSIGNMENT", "AWORKER")), {"choice": "yes"})


def test_nothing_is_published_that_workers_could_not_be_shown(without_task: Stage) -> None:
    make.item(without_task, state="new", data={"claim": "Fire is cold", "truth": "no"})
    quote = publishing.quote(without_task)
    assert any("cannot be used" in problem for problem in quote.problems)
    with pytest.raises(UNUSABLE):
        publishing.publish(without_task, quote.items, quote.total, "page-1", None)
    assert Hit.objects.count() == 1
