"""Every page in a real browser: accessible, within its width, alive with and without a script."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone
from lxml import html
from playwright.sync_api import Browser, expect

from hits.judging.verbs import deciding
from hits.models import Batch, Stage, StageSummary
from hits.projects.verbs.projects import create_project
from tests.axe import faults_in_both_looks, field_contrasts, violations
from tests.hits import factories as make
from tests.hits.formats.test_rows import workbook
from tests.hits.lead_pages import Opener
from tests.hits.market import Marketplace
from tests.hits.small_recipe import answered
from tests.hits.world import FREE, PAGES, World, build_world

pytestmark = pytest.mark.django_db(transaction=True)

NO_PAGE = {
    "results-file", "project-results-file",
    "answers-csv", "payments-progress", "ledger-csv", "ledger-check-progress", "release-file",
    "release-archive",
    "workers-csv", "items-csv",
    "stage-progress", "upload-progress", "rule-progress", "computation-progress", "options-split",
    "changes-csv", "agreement-csv", "kept-bonus-file-progress", "qualification-test-row", "grants-progress",
    "pool-progress",
    "people-and-models-csv",
    "suggestions-csv",
    "annotations-file", "computation-files", "sample-file", "recipe-file", "stage-wage", "project-card",
    "simulated-crowd-progress", "recipe-sample", "marketplace-balance",
}  # fmt: skip


@pytest.fixture
def world(alice: Any, bob: Any) -> World:
    """With figures enough for every plot, bar and warning."""
    found = build_world([alice, bob])
    hours = [[f"2026-11-{day}T{hour:02d}:00:00+00:00", hour] for day in (19, 20) for hour in range(24)]
    StageSummary.objects.filter(stage=found.stage).update(
        items=24_400, waiting=6_160, published=18_240, open=2_464, again=127, answered=15_903, kept=8_121,
        dropped=7_655, answers=16_020, scored=15_903, correct=8_121, answers_an_hour=412, median_seconds=38.8,
        timeline=hours, histogram=[2, 3, 0, 0, 1, 4, 9, 14, 22, 31, 30, 24, 11, 6, 2, 0, 0, 0, 0, 0],
    )  # fmt: skip
    make.batch(found.stage, total=6_160, done=412, state=Batch.State.PAUSED)
    return found


# Of each table of a page at a phone's width: whether it scrolls without a sign or, of cards, lies beside the screen;
# and cells of cards without a name.
UNREADABLE_TABLES = r"""() => [...document.querySelectorAll("main table")].flatMap(table => {
  const box = table.closest(".table"), name = (box && box.getAttribute("aria-label")) || table.className;
  if (!table.classList.contains("cards") && box && box.scrollWidth > box.clientWidth) {
    const style = getComputedStyle(box);
    const signed = style.backgroundImage.includes("gradient") && style.overflowX === "auto";
    return signed ? [] : [`${name}: no sign that it scrolls`];
  }
  const beside = box ? box.scrollWidth - box.clientWidth : 0;
  const wide = beside > 0 ? [`${name}: ${beside} px beside its box`] : [];
  if (!table.classList.contains("cards")) return wide;
  const heads = [...table.querySelectorAll("thead th")].map(
    head => [...head.childNodes].filter(node => node.className !== "hidden").map(node => node.textContent).join("")
      .replace(/[↑↓]/g, "").replace(/\s+/g, " ").trim());
  const named = row => [...row.cells].slice(row.querySelector(".tick") ? 2 : 1);
  const unnamed = [...table.querySelectorAll("tbody tr")].flatMap(row => named(row)
    .filter(cell => cell.innerText.trim() && !cell.dataset.label && heads[cell.cellIndex])
    .map(cell => `${name}: ${heads[cell.cellIndex]} has no name beside it`));
  const wrong = [...table.querySelectorAll("tbody td[data-label]")]
    .filter(cell => cell.colSpan === 1 && heads[cell.cellIndex] !== cell.dataset.label)
    .map(cell => `${name}: ${cell.dataset.label} stands under ${heads[cell.cellIndex]}`);
  return [...wide, ...new Set(unnamed), ...new Set(wrong)];
})"""


# Charts beside which no table has the same numbers.
WITHOUT_TABLE = """() => [...document.querySelectorAll("main svg.plot")]
  .filter(plot => !plot.closest("section").querySelector("table.of-chart"))
  .map(plot => plot.getAttribute("aria-label"))"""


# Words of a page that tell the time of day and are in no element of a time: with the text around each.
CLOCKS = r"""() => {
  const found = [], walk = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const parent = walk.currentNode.parentElement;
    if (parent.closest("time, script, textarea, pre")) continue;
    const around = (parent.closest("table, svg, div") || parent).textContent;
    for (const clock of walk.currentNode.data.matchAll(/\b\d{1,2}:\d{2}\b.{0,12}/g)) found.push([clock[0], around]);
  }
  return found;
}"""


def test_every_page_is_accessible_fits_shows_its_tables_and_names_its_zone(
    world: World, opened: Opener, market: Marketplace, live_server: Any
) -> None:
    """On a wide screen and on a phone, of somebody in Tokyo; the zone also as the page comes, without a script."""
    faults, seen = [], 0
    page = opened(reverse("projects"), timezone_id="Asia/Tokyo")
    for name in sorted({*PAGES, *FREE} - NO_PAGE):
        reply = page.goto(live_server.url + world.url(name))
        found = faults_in_both_looks(page)
        times = page.locator("time[datetime]").all_text_contents()
        sent = [time.text_content() for time in html.fromstring(reply.body()).xpath("//time[@datetime]")]
        seen += len(times) + len(sent)
        found += [f"{text!r} does not say GMT+9" for text in times if "GMT+9" not in text]
        found += [f"{text!r} does not say UTC" for text in sent if "UTC" not in text]
        # Hours of the day are those of one zone, which the table and the chart of them name.
        clocks = page.evaluate(CLOCKS)
        found += [repr(clock) for clock, around in clocks if "UTC" not in around and "GMT+9" not in around]
        page.locator("details").evaluate_all("all => all.forEach(one => { one.open = true; })")
        found += page.evaluate(UNREADABLE_TABLES)
        found += [f"no table of “{chart}”" for chart in page.evaluate(WITHOUT_TABLE)]
        faults += [f"{name}: {fault}" for fault in found]
    assert seen > 100 and faults == [], "\n".join(faults)
    page.goto(live_server.url + world.url("worker"))
    titles = [text for text in page.locator("svg title").all_text_contents() if ":" in text]
    assert titles and all("UTC" not in title for title in titles), titles


def test_pages_without_a_project_are_accessible(opened: Opener, browser: Browser, live_server: Any) -> None:
    for address in (reverse("projects"), reverse("marketplace-calls"), "/no/such/page/"):
        assert faults_in_both_looks(opened(address)) == []
    visitor = browser.new_page()
    visitor.goto(live_server.url + reverse("login"))
    assert faults_in_both_looks(visitor) == []
    visitor.close()


@pytest.mark.parametrize("recipe", ["cosmos", "mcscript"])
def test_the_options_of_a_recipe_are_accessible_and_keep_within_the_width(
    opened: Opener, alice: Any, recipe: str
) -> None:
    project = create_project("Stories", recipe, Decimal(5), "lab@example.org", alice)
    page = opened(reverse("options", args=[project.slug]))
    assert faults_in_both_looks(page) == []
    page.get_by_role("button", name="Save options").click()
    expect(page.get_by_role("status")).to_contain_text("Saved")


def test_a_workbook_with_columns_of_its_own_names_is_imported(
    opened: Opener, live_server: Any, alice: Any, eager: None
) -> None:
    project = create_project("Rain", "choice", Decimal(5), "lab@example.org", alice)
    lines = [["doc", "Passage", "source"], *([f"r{n}", f"Rain fell on quay {n}.", "Gazette"] for n in range(7))]
    page = opened(reverse("project", args=[project.slug]))
    page.get_by_label("File, or several").set_input_files(
        {"name": "rain.xlsx", "mimeType": "application/octet-stream", "buffer": workbook(lines)}
    )
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_role("cell", name="Rain fell on quay 4.")).to_be_visible()
    expect(page.get_by_role("cell", name="Rain fell on quay 5.")).to_have_count(0)
    assert faults_in_both_looks(page) == []
    unused = page.locator("[data-unused]")
    expect(unused).to_have_text("doc, Passage, source")
    page.get_by_label("text").select_option("Passage")
    expect(unused).to_have_text("doc, source")
    page.get_by_role("button", name="Import 7 rows").click()
    expect(page.get_by_role("alert")).to_contain_text("No column is id, which every row needs")
    expect(page.get_by_label("text")).to_have_value("Passage")
    assert faults_in_both_looks(page) == []
    page.get_by_label("id").select_option("doc")
    page.get_by_role("button", name="Import 7 rows").click()
    expect(page.get_by_role("main")).to_contain_text("7 items from 7 texts")
    page.goto(live_server.url + reverse("items", args=[project.slug, "choose"]))
    page.get_by_label("Find in texts").fill("gazette")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("row")).to_have_count(8)
    page.get_by_role("link", name="Rain fell on quay 3.").click()
    expect(page.get_by_role("definition").filter(has_text="Gazette")).to_be_visible()


def test_filtered_lists_are_accessible(world: World, opened: Opener) -> None:
    for name in ("answers", "items"):
        for query in ("?show=review", "?show=reported", "?state=dropped"):
            assert violations(opened(world.url(name) + query)) == []


def test_a_page_that_reports_what_was_done_is_accessible(world: World, opened: Opener) -> None:
    page = opened(world.url("stage"))
    page.get_by_role("button", name="Pause").first.click()
    expect(page.get_by_role("status")).to_contain_text("Paused")
    assert violations(page) == []


def test_progress_moves_by_itself_and_the_figures_with_it(world: World, opened: Opener) -> None:
    batch = Batch.objects.get(total=6_160)
    Batch.objects.filter(pk=batch.pk).update(state=Batch.State.PUBLISHING)
    page = opened(world.url("stage"))
    expect(page.locator("#progress")).to_contain_text("412 of 6,160")
    expect(page.locator("#stage-head")).to_contain_text("Publish 6,160 more")
    page.locator("#pause").focus()
    StageSummary.objects.filter(stage=world.stage).update(published=24_400, waiting=0, answered=15_904, kept=8_122)
    make.ledger_entry(world.stage, reserved=Decimal(0), paid=Decimal("1.25"))
    Batch.objects.filter(pk=batch.pk).update(done=6_160, state=Batch.State.PUBLISHED)
    expect(page.locator("#progress")).to_contain_text("6,160 of 6,160")
    expect(page.locator("#funnel")).to_contain_text("24,400")
    expect(page.locator("#stage-head")).not_to_contain_text("Publish")
    expect(page.get_by_role("navigation", name="Stages")).to_contain_text("15,777 of 24,400 decided")
    expect(page.locator("#stage-money")).to_contain_text("paid $1.25")
    expect(page.locator("#pause")).to_be_focused()
    assert page.locator("[id]").evaluate_all("all => all.length === new Set(all.map(one => one.id)).size")
    assert page.locator("#progress").get_attribute("hx-trigger") is None


def test_times_are_shown_in_the_viewers_zone_also_after_a_swap(world: World, opened: Opener) -> None:
    Batch.objects.filter(total=6_160).update(state=Batch.State.PUBLISHING)
    page = opened(world.url("stage"), timezone_id="Asia/Tokyo")
    # Open HITs and a rate give an expected end, which comes anew with every poll.
    for _ in range(2):  # the second is asked for when the first has been put in its place
        with page.expect_response(lambda reply: "/progress/" in reply.url):
            pass
    expect(page.locator("#funnel time")).not_to_contain_text("UTC")


OVERLAPPING = """plot => {
  const boxes = selector => [...plot.querySelectorAll(selector)].map(one => one.getBoundingClientRect());
  const drawn = boxes("polyline, rect"), names = boxes("text:not([class])");
  return names.filter(n => drawn.some(d => d.left < n.right - 0.5 && n.left < d.right - 0.5
    && d.top < n.bottom - 0.5 && n.top < d.bottom - 0.5)).length;
}"""


@pytest.mark.parametrize("width", [1280, 360])
def test_nothing_is_drawn_over_the_numbers_of_a_chart(world: World, opened: Opener, width: int) -> None:
    hours = [[f"2026-11-20T{hour:02d}:00:00+00:00", 7000 + hour] for hour in range(24)]
    for known in (hours[:1], hours[:2], hours[:3], hours):
        StageSummary.objects.filter(stage=world.stage).update(timeline=known, histogram=[2] * 20)
        page = opened(world.url("stage"), width)
        charts = page.locator("svg.plot")
        expect(charts).to_have_count(3)
        assert [chart.evaluate(OVERLAPPING) for chart in charts.all()] == [0, 0, 0]
        assert page.evaluate("document.documentElement.scrollWidth") <= width


APART = """plot => {
  const boxes = [...plot.querySelectorAll("text")].map(one => one.getBoundingClientRect());
  return boxes.every((a, at) => boxes.slice(at + 1).every(
    b => a.right <= b.left || b.right <= a.left || a.bottom <= b.top + 2 || b.bottom <= a.top + 2));
}"""


@pytest.mark.parametrize("answers", [1, 40, 9_000, 100_000, 3_000_000])
def test_the_numbers_beside_points_keep_apart_on_a_phone(world: World, opened: Opener, answers: int) -> None:
    world.stage.worker_stats.update(answers=answers)
    page = opened(world.url("workers"), 360)
    assert page.locator("svg.plot").evaluate(APART)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_a_card_is_as_tall_as_what_it_holds(world: World, opened: Opener) -> None:
    """Beside a tall one too; the space below the last line is the card's own padding."""
    page = opened(world.url("stage"))
    page.get_by_text("What other rewards would cost").click()
    slack = page.locator(".two > .card, .three > .card").evaluate_all(
        """cards => cards.map(card => card.getBoundingClientRect().bottom
           - Math.max(...[...card.children].map(child => child.getBoundingClientRect().bottom)))"""
    )
    assert len(slack) == 4 and max(slack) <= 20, slack


def test_the_release_page_of_a_small_project_fetches_its_preview(world: World, opened: Opener) -> None:
    StageSummary.objects.filter(stage=world.stage).update(items=400)
    page = opened(world.url("releases"))
    expect(page.locator("main")).to_contain_text("There is nothing to release: 6,160 of 400 items")
    assert not page.get_by_role("button", name="Make release").count()


def test_the_release_page_of_a_large_project_waits_until_it_is_asked(world: World, opened: Opener) -> None:
    page = opened(world.url("releases"))
    assert not page.get_by_text("There is nothing to release").count()
    page.get_by_role("link", name="Preview a release").click()
    expect(page.locator("main")).to_contain_text("There is nothing to release")


def test_one_box_ticks_all_answers(world: World, opened: Opener) -> None:
    page = opened(world.url("answers") + "?show=review")
    page.get_by_label("Tick all").check()
    boxes = page.locator("tbody input[type=checkbox]")
    expect(boxes).to_have_count(1)
    expect(boxes.first).to_be_checked()


def test_another_number_of_items_needs_its_own_price_before_it_is_published(
    world: World, opened: Opener, market: Marketplace
) -> None:
    page = opened(world.url("publish"))
    publish, number = page.get_by_role("button", name="Publish"), page.get_by_label("How many items")
    quoted = number.input_value()
    number.fill("99")
    expect(publish).to_be_disabled()
    expect(page.get_by_text("You changed the number")).to_be_visible()
    number.fill(quoted)
    expect(publish).to_be_enabled()
    expect(page.get_by_text("You changed the number")).to_be_hidden()


def test_publishing_works_by_keyboard_and_without_a_script(
    world: World, opened: Opener, market: Marketplace, eager: None
) -> None:
    page = opened(world.url("publish"), java_script_enabled=False)
    page.get_by_label("How many items").fill("2")
    page.keyboard.press("Enter")
    button = page.get_by_role("button", name="Publish 2 items for $0.10")
    button.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".messages")).to_contain_text("Publishing 2 HITs")
    assert world.stage.hits.filter(batch__total=2).count() == 2


@pytest.fixture
def judged(world: World) -> Stage:
    """A stage with a rule in lines: one item is kept, one that another rule would keep is dropped."""
    text = "valid: at least 2 label = good\notherwise: drop\n"
    rule = {"name": "conditions", "version": 1, "params": {"answers": 3, "text": text}}
    stage = make.stage(world.project, key="judge", title="Judge", answers=3, rule=rule)
    for labels in (["good"] * 3, ["good", "bad", "bad"]):
        answered(stage, *[{"label": label} for label in labels])
    deciding.decide(stage)
    return stage


def test_a_rule_is_counted_while_it_is_typed_and_saved_after_saying_what_it_changes(
    judged: Stage, opened: Opener, eager: None
) -> None:
    page = opened(reverse("rule", args=[judged.project.slug, judged.key]))
    counted = page.locator("#rule-preview")
    expect(counted).to_contain_text("No item would move")
    page.get_by_label("Aggregation rule", exact=True).fill("valid: at least 1 label = good")
    expect(counted).to_contain_text("the last line is missing")
    assert faults_in_both_looks(page) == []
    page.get_by_label("Aggregation rule", exact=True).fill("valid: at least 1 label = good\notherwise: drop")
    expect(counted).to_contain_text("1 of 2 items would move")
    assert faults_in_both_looks(page) == []
    page.get_by_role("button", name="See what it changes, then save").press("Enter")
    save = page.get_by_role("button", name="Save rule 2: 1 item moves from dropped to valid")
    expect(save).to_be_visible()
    assert faults_in_both_looks(page) == []
    save.press("Enter")
    expect(page.locator("#judging")).to_contain_text("1 item changed label")
    assert faults_in_both_looks(page) == []


def test_the_table_of_answers_is_not_cut_whatever_its_cells_say(world: World, opened: Opener) -> None:
    hits = make.hits(make.items(world.stage, 4, state="open"))
    poor = make.worker("AVERYPOORWORKER0001")
    make.block(world.stage, poor)
    reason = (
        "It took 3 s; this stage asks for 30 s at least. The worker answered the same document in “Write questions”."
    )
    states = ((None, "Submitted", ""), (False, "Approved", ""), (True, "Approved", ""), (None, "Submitted", "Approved"))
    for hit, (admitted, state, decision) in zip(hits, states, strict=True):
        row = make.assignment(
            hit, poor, state=state, decision=decision, held=reason, held_for="fast", admitted=admitted,
            not_before=timezone.now() if decision else None, auto_approval_at=timezone.now(), seconds=84_400,
        )  # fmt: skip
        make.label(row, void=True, correct=False)
    page = opened(world.url("answers"), 1280)
    beside = "() => { const box = document.querySelector('main .table'); return box.scrollWidth - box.clientWidth; }"
    for show in ("", "review", "held"):
        page.goto(page.url.split("?")[0] + f"?show={show}")
        assert page.evaluate(beside) == 0, show


def test_a_field_that_can_hardly_be_seen_is_noticed(world: World, opened: Opener) -> None:
    page = opened(world.url("workers"))
    assert field_contrasts(page) == []
    page.evaluate("document.querySelector('#worker').style.borderColor = 'color-mix(in srgb, black 20%, white)'")
    page.evaluate("document.styleSheets[0].insertRule('#worker::placeholder { color: #999 !important }')")
    assert [fault.rsplit(" ", 1)[0] for fault in field_contrasts(page)] == ["border of worker", "placeholder of worker"]


@pytest.mark.parametrize("name", ["items", "answers"])
def test_fields_that_filter_a_list_and_their_labels_stand_on_one_line(world: World, opened: Opener, name: str) -> None:
    page = opened(reverse(name, args=[world.project.slug, world.stage.key]))
    fields = page.locator("form.inline[role=search] .field")
    assert fields.count() >= 2
    for part in ("label", "input, select"):
        boxes = [field.locator(part).first.bounding_box() for field in fields.all()]
        assert len({(box["y"], box["height"]) for box in boxes if box}) == 1, part


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_button_or_a_box_that_can_hardly_be_seen_is_noticed(world: World, opened: Opener, scheme: str) -> None:
    page = opened(world.url("answers") + "?show=review", scheme=scheme)
    assert field_contrasts(page) == []
    faint = "main :is(button, input[type=checkbox]) { border-color: var(--line) !important }"
    page.evaluate("rule => document.styleSheets[0].insertRule(rule)", faint)
    found = [fault.rsplit(" ", 1)[0] for fault in field_contrasts(page)]
    assert "border of Show" in found and "border of answers" in found
