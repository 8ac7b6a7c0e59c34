"""The menu of a project and its stages: one place for each, on every page, also with fourteen stages."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from hits.models import Project, Stage, StageSummary
from hits.projects.verbs.projects import create_project
from hits.views import navigation
from tests.hits import factories as make
from tests.hits.market import Marketplace
from tests.hits.world import PAGES, World
from tests.markup import squeezed

pytestmark = pytest.mark.django_db
HUMAN = "Human upper bound"


@pytest.fixture
def stories(alice: Any) -> Project:
    """A project with the most stages."""
    return create_project("Stories", "mcscript", Decimal(100), "lab@example.org", alice)


def _finish(project: Project, *keys: str) -> None:
    StageSummary.objects.filter(stage__project=project, stage__key__in=keys).update(items=8, published=8, kept=8)


def _strip(client: Client, project: Project, key: str) -> str:
    page = squeezed(client.get(reverse("stage", args=[project.slug, key])))
    return re.findall(r'<nav aria-label="Stages">.*?</nav>', page)[0]


def _entries(strip: str) -> list[str]:
    """The names of single stages and of groups, as they follow one another."""
    inside = re.sub(r"<details.*?</details>", lambda group: re.findall(r"<summary>.*?</summary>", group[0])[0], strip)
    return re.findall(r'class="label">([^<]+)<', inside)


def test_stages_that_belong_together_are_one_entry_and_that_of_the_page_is_open(
    lead_client: Client, stories: Project
) -> None:
    strip = _strip(lead_client, stories, "story")
    assert _entries(strip) == ["1 Stories", "Questions", "6 Answers", "7 Review by experts", HUMAN]
    assert "<details open>" not in strip and "5 stages" in strip
    strip = _strip(lead_client, stories, "human-3")
    opened = re.findall(r"<details open>.*?</details>", strip)
    assert len(opened) == 1 and HUMAN in opened[0] and opened[0].count("<a ") == 5
    assert re.findall(r'aria-current="page"><span class="label">([^<]+)<', opened[0]) == ["10 annotator 3"]


def test_more_annotators_than_the_recipe_has_are_in_the_group_too(alice: Any) -> None:
    project = create_project("More", "mcscript", Decimal(1), "lab@example.org", alice, options={"annotators": 7})
    assert [len(entry.stages) for entry in navigation.entries(project)] == [1, 4, 1, 1, 7]


def test_finished_stages_are_folded_and_the_current_one_is_not(lead_client: Client, stories: Project) -> None:
    _finish(stories, "story", "np-long", "np-short", "vp-long", "vp-short")
    assert _entries(_strip(lead_client, stories, "answers"))[:2] == ["5 finished", "6 Answers"]
    assert _entries(_strip(lead_client, stories, "story"))[:3] == ["1 Stories", "Questions", "6 Answers"]


def test_the_row_of_stages_counts_decided_items_not_answered_ones(lead_client: Client, stories: Project) -> None:
    summaries = StageSummary.objects.filter(stage__project=stories, stage__key="story")
    summaries.update(items=48, published=48, answered=48, open=7, kept=40, dropped=1)
    assert "41 of 48 decided" in _strip(lead_client, stories, "story")
    summaries.update(open=0, kept=47)
    assert "finished: 48 items" in _strip(lead_client, stories, "story")


def test_one_stage_alone_has_no_row_of_stages(lead_client: Client, alice: Any) -> None:
    project = create_project("Single", "choice", Decimal(1), "lab@example.org", alice)
    page = squeezed(lead_client.get(reverse("stage", args=[project.slug, "choose"])))
    assert '<nav aria-label="Stages">' not in page


def test_few_stages_are_not_folded(lead_client: Client, world: World) -> None:
    StageSummary.objects.filter(stage__project=world.project).update(items=3, waiting=0, open=0, to_review=0)
    assert len(_entries(_strip(lead_client, world.project, "validate"))) == world.project.stages.count()


@pytest.mark.parametrize("column", ["waiting", "open", "to_review", "held"])
def test_a_stage_with_something_to_do_is_not_finished(column: str) -> None:
    assert StageSummary(items=3).is_finished and not StageSummary().is_finished
    assert not StageSummary(items=3, **{column: 1}).is_finished


def test_every_page_of_a_project_has_the_same_menu(world: World, lead_client: Client, market: Marketplace) -> None:
    menus: dict[str, set[str]] = {}
    for name in sorted(PAGES):
        reply = lead_client.get(world.url(name), follow=True)
        page = "" if reply.streaming or reply["Content-Type"][:9] != "text/html" else squeezed(reply)
        if 'class="brand"' not in page:
            continue
        found = re.findall(r'<nav class="menu".*?</nav>', page)
        assert len(found) == 1, name
        menus.setdefault(world.arguments(name)[0], set()).add(found[0].replace(' aria-current="page"', ""))
    assert {slug: len(of_project) for slug, of_project in menus.items()} == dict.fromkeys(menus, 1)


@pytest.mark.parametrize(
    ("page", "place"),
    [
        *(
            ("releases", "Releases"),
            ("ledger", "Ledger"),
            ("payments", "Bonuses"),
            ("grants-of", "Qualifications held"),
        ),
        # What has no place of its own belongs to the project.
        *((name, "Project") for name in ("project", "stage", "item", "hits", "task-settings", "worker", "undo-block")),
    ],
)
def test_the_menu_says_which_page_this_is(world: World, lead_client: Client, page: str, place: str) -> None:
    menu = re.findall(r'<nav class="menu".*?</nav>', squeezed(lead_client.get(world.url(page))))[0]
    assert re.findall(r'aria-current="page">([^<]+)<', menu) == [place]


def test_the_project_page_opens_the_groups_in_which_something_goes_on(lead_client: Client, stories: Project) -> None:
    StageSummary.objects.filter(stage__key="vp-long").update(items=8, published=8, open=2)
    page = squeezed(lead_client.get(reverse("project", args=[stories.slug])))
    assert re.findall(r"<details open><summary><h2>([^<]+)<", page) == ["Questions"]
    assert page.count("/stages/human-") >= 5


def test_while_a_stage_is_published_only_the_figures_of_the_stages_are_sent_again(
    world: World, lead_client: Client
) -> None:
    Stage.objects.filter(pk=world.stage.pk).update(state=Stage.State.LIVE)
    page = squeezed(lead_client.get(world.url("stage-progress")))
    assert 'id="figure-validate" hx-swap-oob="true"' in page and 'id="figure-revalidate"' in page
    assert "<details" not in re.sub(r"(?s)<section.*?</section>", "", page) and 'aria-label="Stages"' not in page


def test_a_page_of_a_stage_is_headed_by_the_stage_and_leads_back_to_it(world: World, lead_client: Client) -> None:
    back = reverse("stage", args=[world.project.slug, world.stage.key])
    for name in ("items", "answers", "hits", "workers", "task-settings", "stage-settings", "rule", "results"):
        page = squeezed(lead_client.get(world.url(name)))
        assert f"<h1>{world.stage.title}: " in page, name
        crumbs = re.findall(r'<nav class="crumbs".*?</nav>', page)[0]
        assert re.findall(r'href="([^"]+)"', crumbs)[-1] == back, name


def test_what_needs_a_decision_comes_first_and_holds_no_switch(world: World, lead_client: Client) -> None:
    Stage.objects.filter(pk=world.stage.pk).update(position=9, draws=0)
    page = squeezed(lead_client.get(world.url("stage")))
    decisions, switches = (page.index(f'id="stage-{name}"') for name in ("needs", "switches"))
    assert decisions < page.index('id="funnel"') < page.index('id="stage-money"') < switches
    needs = page[decisions : page.index("</section>", decisions)]
    assert "<button" not in needs and 'id="hold-arrivals"' in page[switches:]


def test_a_project_with_one_stage_is_sent_no_figures_of_stages(lead_client: Client, alice: Any) -> None:
    """Its pages have no row of stages, so these would have no place."""
    stage = make.stage(make.project(owner=alice, slug="alone"), key="choose")
    assert 'id="figure-' not in lead_client.get(reverse("stage", args=["alone", "choose"])).content.decode()
    assert 'id="figure-' not in lead_client.get(reverse("stage-progress", args=["alone", stage.key])).content.decode()
