"""Projects, owners, budgets and imports."""

from __future__ import annotations

import csv
import io
import json
import re
from decimal import Decimal
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from hits.models import Account, LedgerEntry, Project, Upload
from hits.projects.verbs import projects
from hits.recipes import available
from tests.hits import factories as make
from tests.hits.record_project import example
from tests.hits.world import World
from tests.markup import squeezed

pytestmark = pytest.mark.django_db


def _new(client: Client, **changes: str) -> Any:
    fields = {"name": "Ferry", "recipe": "record", "budget": "$1,200.00", "contact_email": "lab@example.org"}
    return client.post(reverse("new-project"), fields | changes)


def test_a_lead_without_projects_reads_what_to_do(lead_client: Client) -> None:
    text = lead_client.get(reverse("projects")).content.decode()
    assert "No project yet" in text
    assert reverse("new-project") in text


def test_a_project_starts_from_a_recipe_with_its_stages_and_budget(lead_client: Client, alice: Any) -> None:
    reply = _new(lead_client)
    project = Project.objects.get(name="Ferry")
    assert reply.headers["Location"] == reverse("project", args=[project.slug])
    keys = project.stages.order_by("position").values_list("key", flat=True)
    assert list(keys) == ["generate", "validate", "revalidate", "human", "reasoning"]
    assert (project.account.budget, project.options["eval_share"]) == (Decimal("1200.00"), 0.18)
    assert list(project.owners.all()) == [alice]


@pytest.mark.parametrize("wrong", [{"budget": "-1"}, {"budget": "1.005"}, {"recipe": "nope"}, {"contact_email": "x"}])
def test_a_wrong_field_starts_nothing_and_says_why(lead_client: Client, wrong: dict[str, str]) -> None:
    reply = _new(lead_client, **wrong)
    assert reply.status_code == 400
    assert b"errorlist" in reply.content
    assert not Project.objects.exists()


def test_recipes_are_cards_with_their_stages_cost_and_sample(lead_client: Client) -> None:
    text = squeezed(lead_client.get(reverse("new-project")))
    assert text.count('name="recipe"') == len(available())
    # 100 items for three answers each, at 5 cents and a fee of 1 cent.
    assert "100 items of “Choice”: $18.00, fees included" in text
    assert "First stage alone, 100 items of “Writing”: $84.00, fees included. 4 stages behind it cost by what" in text
    assert "Mark: 3 × $" in text
    for name in available():
        sample = lead_client.get(reverse("recipe-sample", args=[name]))
        assert (sample.status_code, bool(sample.content)) == (200, True)
        assert sample["Content-Disposition"].startswith(f'attachment; filename="{name}-sample.')
    assert lead_client.get(reverse("recipe-sample", args=["nothing"])).status_code == 404


@pytest.mark.parametrize("recipe", available())
def test_every_recipe_can_be_started_from_its_page(lead_client: Client, recipe: str) -> None:
    assert _new(lead_client, recipe=recipe).status_code == 302
    assert lead_client.get(reverse("project", args=["ferry"])).status_code == 200


def test_two_projects_of_one_name_have_two_addresses(lead_client: Client) -> None:
    _new(lead_client)
    _new(lead_client)
    assert Project.objects.values("slug").distinct().count() == 2


def test_a_member_is_added_by_name_gets_another_role_and_is_removed(
    world: World, lead_client: Client, charlie: Any
) -> None:
    def role() -> str | None:
        return world.project.memberships.filter(user=charlie).values_list("role", flat=True).first()

    lead_client.post(reverse("members.add", args=[world.project.slug]), {"username": "charlie", "role": "reader"})
    assert role() == "reader"
    lead_client.post(reverse("members.change_role", args=[world.project.slug, "charlie"]), {"role": "reviewer"})
    assert role() == "reviewer"
    lead_client.post(reverse("members.remove", args=[world.project.slug, "charlie"]))
    assert role() is None
    assert list(world.project.actions.order_by("id").values_list("verb", "detail"))[-3:] == [
        ("added a member", {"member": "charlie", "role": "reader"}),
        ("changed a role", {"member": "charlie", "before": "reader", "role": "reviewer", "fields": ["role"]}),
        ("removed a member", {"member": "charlie", "role": "reviewer"}),
    ]


def test_an_unknown_name_is_refused_beside_its_field(world: World, lead_client: Client) -> None:
    reply = lead_client.post(
        reverse("members.add", args=[world.project.slug]), {"username": "nobody", "role": "reader"}
    )
    assert reply.status_code == 400
    assert "Nobody here has this user name" in reply.content.decode()


def test_the_last_owner_stays(lead_client: Client, alice: Any) -> None:
    project = make.project(owner=alice)
    for verb, given in (("members.remove", {}), ("members.change_role", {"role": "manager"})):
        reply = lead_client.post(reverse(verb, args=[project.slug, "alice"]), given)
        assert "needs an owner" in reply.content.decode()
    assert alice in project.owners.all()


def test_the_budget_can_rise_and_cannot_fall_below_what_is_bound(world: World, lead_client: Client) -> None:
    lead_client.post(world.url("change-budget"), {"budget": "2000"})
    world.project.account.refresh_from_db()
    assert world.project.account.budget == Decimal("2000.00")
    reply = lead_client.post(world.url("change-budget"), {"budget": "4.99"})
    assert reply.status_code == 400
    assert "cannot be lower" in reply.content.decode()
    world.project.account.refresh_from_db()
    assert world.project.account.budget == Decimal("2000.00")


def test_a_large_change_of_the_budget_is_shown_with_both_amounts_before_it_is_made(
    world: World, lead_client: Client, alice: Any
) -> None:
    Account.objects.update(budget=50)
    reply = lead_client.post(world.url("change-budget"), {"budget": "$100,000"})
    text = " ".join(reply.content.decode().split())
    assert reply.status_code == 200
    assert "$50.00" in text and "Change the budget to $100,000.00</button>" in text
    assert Account.objects.get(project=world.project).budget == Decimal("50.00")
    # What the page showed is what is confirmed: meanwhile somebody else changed it.
    Account.objects.update(budget=40)
    asked = dict(re.findall(r'type="hidden" name="(budget|before)" value="([^"]*)"', text))
    reply = lead_client.post(world.url("change-budget"), asked)
    assert reply.status_code == 200 and "$40.00" in reply.content.decode()
    assert Account.objects.get(project=world.project).budget == Decimal("40.00")
    asked = dict(re.findall(r'type="hidden" name="(budget|before)" value="([^"]*)"', reply.content.decode()))
    assert lead_client.post(world.url("change-budget"), asked).status_code == 302
    assert Account.objects.get(project=world.project).budget == Decimal("100000.00")
    for page in ("project", "ledger"):
        text = " ".join(lead_client.get(world.url(page)).content.decode().split())
        assert "$40.00 to $100,000.00, by alice, <time" in text, page
    row = world.project.actions.get(verb=projects.BUDGET_CHANGED)
    assert (row.user, row.origin, row.detail) == (alice, "page", {"from": "40.00", "to": "100000.00"})


@pytest.mark.parametrize(
    ("before", "after", "asks"),
    [("50", "499.99", False), ("50", "500", True), ("500", "1500", False), ("500", "1500.01", True),
     ("5000", "3999.99", True), ("5000", "4000", False), ("0", "5", True)],
)  # fmt: skip
def test_ten_times_as_much_or_a_thousand_dollars_is_a_large_change(
    world: World, lead_client: Client, before: str, after: str, asks: bool
) -> None:
    LedgerEntry.objects.all().delete()
    Account.objects.update(budget=Decimal(before), reserved=0, paid=0)
    assert lead_client.post(world.url("change-budget"), {"budget": after}).status_code == (200 if asks else 302)
    assert Account.objects.get(project=world.project).budget == Decimal(before if asks else after)


def test_an_imported_file_fills_the_first_stage(lead_client: Client, eager: None) -> None:
    _new(lead_client)
    project = Project.objects.get()
    content = "\n".join(json.dumps(example(number)) for number in range(3)).encode()
    file = SimpleUploadedFile("articles.jsonl", content)
    reply = lead_client.post(reverse("import", args=[project.slug]), {"file": file, "origin": "public"}, follow=True)
    assert "3 items from 3 texts" in reply.content.decode()
    assert project.stages.get(position=1).items.count() == 3


def test_a_wrong_file_shows_every_fault_with_its_line_and_imports_nothing(lead_client: Client, eager: None) -> None:
    _new(lead_client)
    project = Project.objects.get()
    rows = [example(0), example(1) | {"passage": {"text": "x", "entities": [{"start": 5, "end": 9}]}}, example(2)]
    rows[2]["qas"][0]["query"] = "No blank here."
    file = SimpleUploadedFile("articles.jsonl", "\n".join(json.dumps(row) for row in rows).encode())
    reply = lead_client.post(reverse("import", args=[project.slug]), {"file": file, "origin": "public"}, follow=True)
    upload = Upload.objects.get()
    text = squeezed(reply)
    assert upload.state == Upload.State.REFUSED
    assert text.count("<tr><td") == len(upload.faults) >= 2
    assert {fault["line"] for fault in upload.faults} == {2, 3}
    assert "Nothing was imported" in text
    assert project.documents.count() == 0


def test_an_empty_or_oversized_file_is_refused_at_the_door(world: World, lead_client: Client, settings: Any) -> None:
    for content, said in ((b"", "empty"), (b"x" * 2000, "MB")):
        settings.MAX_IMPORT_BYTES = 1000
        file = SimpleUploadedFile("a.json", content)
        reply = lead_client.post(world.url("import"), {"file": file, "origin": "public"})
        assert reply.status_code == 400
        assert said in reply.content.decode()
    assert world.project.uploads.count() == 1


def test_a_running_import_asks_again_and_a_finished_one_does_not(world: World, lead_client: Client) -> None:
    Upload.objects.update(state=Upload.State.READING, done=5, total=9)
    running = squeezed(lead_client.get(world.url("upload-progress")))
    assert 'hx-trigger="every 2s"' in running
    assert "5 of 9 texts" in running
    Upload.objects.update(state=Upload.State.DONE)
    assert "hx-trigger" not in lead_client.get(world.url("upload-progress")).content.decode()


def test_the_ledger_shows_the_sums_of_its_entries(world: World, lead_client: Client) -> None:
    make.ledger_entry(
        world.stage,
        kind=LedgerEntry.Kind.SETTLE,
        reserved=Decimal("-0.05"),
        paid=Decimal("0.05"),
        fee=Decimal("0.01"),
        hit=world.hit,
        assignment=world.answer,
    )
    text = lead_client.get(world.url("ledger")).content.decode()
    for said in ("$1,000.00", "$0.05", "$7.05", "$992.90", "−$0.05", "+$5.00"):
        assert said in text


def test_the_exported_ledger_holds_every_entry_and_no_formula(world: World, lead_client: Client) -> None:
    make.ledger_entry(world.stage, kind=LedgerEntry.Kind.RELEASE, reserved=Decimal("-1.00"), note="=1+1")
    reply = lead_client.get(world.url("ledger-csv"))
    rows = list(csv.DictReader(io.StringIO(b"".join(reply.streaming_content).decode())))
    assert [row["kind"] for row in rows] == ["reserve", "reserve", "reserve", "release"]
    assert sum(Decimal(row["reserved"]) for row in rows) == Decimal("6.10")
    assert rows[3]["note"] == "'=1+1"


def test_an_empty_stage_says_whether_it_is_imported_fed_or_drawn(lead_client: Client, alice: Any) -> None:
    made = projects.create_project("Cosmos", "cosmos", Decimal("5.00"), "lab@example.org", alice)
    page = lead_client.get(reverse("project", args=[made.slug])).content.decode()
    assert page.count("Import a file</a> to fill it") == 2
    assert page.count("if nothing comes to it through an earlier stage") == 1
    assert page.count("Not sampled yet") == 2
    assert "Receives items kept in “Writing”" in page
    said = {
        "write": "Import a file of texts",
        "validate": "What comes through “Writing” and is meant for this stage",
        "human": "Not sampled yet",
        "generative": "Import a file of texts",
        "reasoning": "Not sampled yet",
    }
    for key, sentence in said.items():
        assert sentence in lead_client.get(reverse("stage", args=[made.slug, key])).content.decode()


def test_a_file_of_texts_leads_to_every_stage_that_it_filled_and_says_what_of_it_is_not_used(
    lead_client: Client, alice: Any, eager: None
) -> None:
    made = projects.create_project("Stories", "mcscript", Decimal("5.00"), "lab@example.org", alice)
    story = "I rose. We dug a hole behind the shed. I ate."
    answers = '<answer id="0" text="I" correct="True"/><answer id="1" text="You" correct="False"/>'
    asked = f'<question id="0" text="Who?" type="text">{answers}</question>'
    texts = [("1", story), ("2", "I rose.")]
    instances = "".join(
        f'<instance id="{key}" scenario="digging"><text>{text}</text><questions>{asked}</questions></instance>'
        for key, text in texts
    )
    file = SimpleUploadedFile("texts.xml", f"<data>{instances}</data>".encode())
    reply = lead_client.post(reverse("import", args=[made.slug]), {"file": file, "origin": "public"}, follow=True)
    text = reply.content.decode()
    assert "Not used of 1 text: the questions that the file has. Workers ask new ones." in text
    assert "Target sentences a text: 0.50 (1 in 2 texts, of which 1 have none)." in text
    assert "1 text was left out: no sentence is a target with a phrase to ask about." in text
    for key in ("np-short", "vp-short"):
        assert reverse("publish", args=[made.slug, key]) in text
    assert reverse("publish", args=[made.slug, "story"]) not in text


def test_a_lead_stops_an_import_that_runs(world: World, lead_client: Client) -> None:
    Upload.objects.update(state=Upload.State.READING, done=5, total=0)
    assert "Stop the import" in lead_client.get(world.url("upload")).content.decode()
    page = lead_client.post(world.url("stop-import"), follow=True).content.decode()
    assert world.project.uploads.get().state == Upload.State.STOPPED
    assert "Somebody stopped it" in page and "hx-trigger" not in page
    assert "had ended already" in lead_client.post(world.url("stop-import"), follow=True).content.decode()


def test_a_failed_import_says_why(world: World, lead_client: Client) -> None:
    Upload.objects.update(state=Upload.State.FAILED, error="It took too long.")
    page = lead_client.get(world.url("upload")).content.decode()
    assert "It took too long." in page and "Stop the import" not in page
