"""What every protocol must do, run on each that is found: those of the package and one in a temporary folder.

With PLUGIN_DIRS in the environment it is run on the protocols of these folders instead; see `manage.py check_plugin`.
"""

from __future__ import annotations

import itertools
import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from hits import protocols
from hits.answers.verbs import serving
from hits.crowd.html import Node, parse, read_form
from hits.mturk.question import html_question
from hits.protocols.base import AnswerRefusedError, CheckedAnswer, CrowdlessProtocol, SettingsRefusedError
from hits.protocols.optional import (
    CorrectableProtocol,
    OwnPageProtocol,
    RowsProtocol,
    SizedProtocol,
    SuggestedProtocol,
    WordedProtocol,
    cards_of,
)
from hits.protocols.pages import Page
from hits.text.cells import as_text

GUEST = Path(__file__).parent / "guest"
# Of the picture of a card: several stand on one page.
MOST_BYTES = 30_000
GARBAGE = ["", " ", "\0", "x" * 100_000, "-1", "9" * 40, "null", "[]", "<script>", "\u2603", "0-0-0", "../../etc"]


@pytest.fixture(scope="session")
def roots(tmp_path_factory) -> list[Path]:
    """The package and a folder elsewhere that brings one more protocol."""
    if settings.PLUGIN_DIRS:
        return settings.PLUGIN_ROOTS
    elsewhere = tmp_path_factory.mktemp("plugins")
    shutil.copytree(GUEST, elsewhere / "protocols" / "yes_or_no")
    return [protocols.HOME, elsewhere]


NAMES = protocols.available(settings.PLUGIN_DIRS or [protocols.HOME])
WITHOUT_CROWD = [name for name in NAMES if isinstance(protocols.get(name, settings.PLUGIN_ROOTS), CrowdlessProtocol)]
WITH_CROWD = [name for name in NAMES if name not in WITHOUT_CROWD]
WITH_OWN_PAGE = [name for name in WITH_CROWD if isinstance(protocols.get(name, settings.PLUGIN_ROOTS), OwnPageProtocol)]
WITH_PAGES = [name for name in NAMES if protocols.pages(name, settings.PLUGIN_ROOTS)]
if not settings.PLUGIN_DIRS:
    WITH_CROWD.append("yes_or_no")
    WITH_PAGES.append("yes_or_no")
# Those without a page for workers have a shorter contract: it is at the end.
of_all = pytest.mark.parametrize("name", [*WITHOUT_CROWD, *WITH_CROWD], indirect=True)
of_those_with_a_page_here = pytest.mark.parametrize(
    "name", [name for name in WITH_CROWD if name not in WITH_OWN_PAGE], indirect=True
)
of_those_with_own_page = pytest.mark.parametrize("name", WITH_OWN_PAGE, indirect=True)
of_those_without_a_crowd = pytest.mark.parametrize("name", WITHOUT_CROWD, indirect=True)
of_those_with_pages = pytest.mark.parametrize("name", WITH_PAGES, indirect=True)


@pytest.fixture(params=WITH_CROWD)
def name(request) -> str:
    return request.param


@pytest.fixture
def protocol(name, roots):
    return protocols.get(name, roots)


@pytest.fixture
def folder(name, roots) -> Path:
    return next(root / "protocols" / name for root in roots if (root / "protocols" / name).is_dir())


@pytest.fixture
def sample(folder):
    """{"document", "item", "other_references" (the item with other answers), "fields" (a good answer)}.

    Of a protocol without a crowd: {"item", "other" (an item of another kind)}.
    """
    return json.loads((folder / "sample.json").read_text(encoding="utf-8"))


@of_all
def test_it_has_a_name_and_a_title(protocol, name):
    assert protocol.name == name
    assert protocol.title.strip()


@of_all
def test_the_cards_among_which_leads_choose_say_what_they_are_and_have_small_pictures(protocol, folder):
    cards = cards_of(protocol)
    assert len({card.name for card in cards}) == len({card.title for card in cards}) == len(cards) > 0
    for card in cards:
        assert card.title.strip() and card.about.strip().endswith(".") and "/" not in card.name
        assert protocol.settings(protocol.settings(card.settings)) == protocol.settings(card.settings)
        assert all(0 < (folder / "static" / name).stat().st_size <= MOST_BYTES for name in card.files)


@of_all
def test_its_settings_have_defaults_that_stand(protocol):
    defaults = protocol.settings({})
    assert protocol.settings(defaults) == defaults
    assert json.loads(json.dumps(defaults)) == defaults


@of_all
def test_it_refuses_a_setting_that_it_does_not_know(protocol):
    with pytest.raises(SettingsRefusedError) as refused:
        protocol.settings({"no_such_setting": 1})
    assert all(reason.endswith(".") for reason in refused.value.reasons)


def test_a_draft_of_its_good_answer_is_kept_whatever_its_length(protocol, sample):
    length = sum(len(name) + len(value) for name, value in sample["fields"].items())
    longest = serving.DRAFT_CHARACTERS
    if isinstance(protocol, SizedProtocol):
        longest = protocol.longest_answer(sample["document"], sample["item"], protocol.settings({}))
    assert length <= longest + serving.BESIDE_CHARACTERS


def test_its_page_does_not_depend_on_the_references(protocol, sample):
    settings = protocol.settings({})
    page = protocol.page(sample["document"], sample["item"], settings)
    assert page == protocol.page(sample["document"], sample["other_references"], settings)
    assert json.loads(json.dumps(page)) == page


def test_it_takes_a_good_answer_and_turns_it_into_labels(protocol, sample):
    checked = protocol.check(sample["document"], sample["item"], protocol.settings({}), sample["fields"])
    assert isinstance(checked, CheckedAnswer)
    assert checked.labels
    assert len({label.unit for label in checked.labels}) == len(checked.labels)
    for label in checked.labels:
        assert label.unit and len(label.unit) <= 60
        assert label.correct in (True, False, None)
        assert json.loads(json.dumps(label.value)) == label.value


def test_it_tells_a_good_answer_in_the_words_of_its_page(protocol, sample):
    """Neither names of fields nor keys of labels are read by people; what was written is told as it is."""
    assert isinstance(protocol, WordedProtocol)
    document, item, settings, fields = sample["document"], sample["item"], protocol.settings({}), sample["fields"]
    labels = protocol.check(document, item, settings, fields).labels
    lines = protocol.in_lines(document, item, settings, {label.unit: label.value for label in labels})
    told = [text for line in lines for text in (line.asked, line.said)]
    assert all(line.said.strip() for line in lines)
    keys = {key for key in (*fields, *(label.unit for label in labels)) if re.search("[-_/0-9]", key)}
    assert [key for key in keys for text in told if key in text and key not in _own_words(sample)] == []
    assert [text for text in told if any(sign in text for sign in ("{", "}", "['", "None", "True", "False"))] == []
    asked = [line for line in lines if not line.is_note]
    assert asked and {unit for line in asked for unit in line.units} <= {label.unit for label in labels}
    compared = {label.unit for label in labels if label.correct is not None}
    assert compared <= {unit for line in asked for unit in line.units}
    typed = {name: value for name, value in fields.items() if name != "comment" and not name.endswith("order")}
    written = [value for value in typed.values() if value[:1].isalpha() and " " in value.strip()]
    assert [text for text in written if not any(text in line or text in _own_words(sample) for line in told)] == []


def test_it_tells_each_label_alone_too(protocol, sample):
    document, item, settings = sample["document"], sample["item"], protocol.settings({})
    for label in protocol.check(document, item, settings, sample["fields"]).labels:
        for line in protocol.in_lines(document, item, settings, {label.unit: label.value}):
            assert line.said.strip() and set(line.units) <= {label.unit}


def test_it_tells_labels_that_it_never_gave_by_saying_nothing(protocol, sample):
    settings = protocol.settings({})
    assert protocol.in_lines(sample["document"], sample["item"], settings, {"no such unit": "x", "9/nothing": 1}) == []


def test_it_takes_a_suggestion_that_a_worker_could_have_given_and_words_it_as_an_answer(protocol, sample):
    if not isinstance(protocol, SuggestedProtocol):
        assert "suggestions" not in sample
        return
    document, item, settings = sample["document"], sample["item"], protocol.settings({})
    assert set(sample["suggestions"]) <= set(protocol.suggestible(document, item, settings))
    units = {label.unit for label in protocol.check(document, item, settings, sample["fields"]).labels}
    for field, text in sample["suggestions"].items():
        value = protocol.suggestion(document, item, settings, field, text)
        assert json.loads(json.dumps(value)) == value
        # Kept values are read again when the task has changed since.
        assert protocol.suggestion(document, item, settings, field, as_text(value)) == value
        labels = protocol.suggested_labels(document, item, settings, field, value)
        assert labels and set(labels) <= units
        assert all(line.said.strip() for line in protocol.in_lines(document, item, settings, labels))


def test_a_suggestion_that_is_garbage_is_refused_with_the_end_of_a_sentence(protocol, sample):
    if not isinstance(protocol, SuggestedProtocol):
        return
    document, item, settings = sample["document"], sample["item"], protocol.settings({})
    # An empty list may say that there is nothing to mark.
    garbage_here = [garbage for garbage in GARBAGE if garbage != "[]"]
    for field, garbage in itertools.product(protocol.suggestible(document, item, settings), garbage_here):
        with pytest.raises(AnswerRefusedError) as refused:
            protocol.suggestion(document, item, settings, field, garbage)
        assert all(reason and len(reason) < 300 for reason in refused.value.reasons)


def test_its_page_shows_a_suggestion_and_chooses_nothing_beforehand(
    name, installed, protocol, sample, settings, client
):
    """To workers who are to see it, and to no others."""
    if not isinstance(protocol, SuggestedProtocol):
        return
    from hits.answers.rules.task_links import task_url
    from hits.models import Suggestion
    from tests.hits import factories as make

    stage = make.stage(protocol=name, suggestions="shown")
    item = make.item(stage, document=make.document(stage.project, data=sample["document"]), data=sample["item"])
    options = protocol.settings({})
    for field, text in sample["suggestions"].items():
        value = protocol.suggestion(sample["document"], sample["item"], options, field, text)
        Suggestion.objects.create(item=item, field=field, value=value, score=0.125, model="<b>secret</b>")
    hit = make.hit(item)
    query = {"assignmentId": "3A", "workerId": "AW", "turkSubmitTo": settings.MTURK_SUBMIT_ORIGINS[0]}
    address = "/task/" + task_url(hit.pk).split("/task/")[1]
    page = client.get(address, query).content.decode()
    for field, text in sample["suggestions"].items():
        value = protocol.suggestion(sample["document"], sample["item"], options, field, text)
        labels = protocol.suggested_labels(sample["document"], sample["item"], options, field, value)
        said = "; ".join(line.said for line in protocol.in_lines(sample["document"], sample["item"], options, labels))
        (box,) = parse(page).all("p", id=f"suggestion-{field}")
        assert said in box.text() and "A model suggests:" in box.text()
        described = [
            node
            for node in parse(page).walk()
            if box.attributes["id"] in node.attributes.get("aria-describedby", "").split()
        ]
        assert described
    assert "secret" not in page and "0.125" not in page
    stage.suggestions = "hidden"
    stage.save()
    hidden = client.get(address, query).content.decode()
    assert "A model suggests" not in hidden
    forms = [read_form(next(iter(parse(one).all("form")))).fields for one in (page, hidden)]
    ours = [{key: value for key, value in fields.items() if key != "X-Request-ID"} for fields in forms]
    assert ours[0] == ours[1]


def _own_words(sample):
    """What the item itself says: it may hold whatever a lead wrote."""
    return json.dumps([sample["document"], sample["item"]], ensure_ascii=False)


def test_an_item_without_a_column_that_its_task_names_has_a_fault(protocol, sample):
    if not isinstance(protocol, RowsProtocol):
        return
    settings = protocol.settings({})
    columns = protocol.columns(sample["document"], sample["item"])
    for name in protocol.named_columns(settings):
        assert name in columns
        rest = {key: value for key, value in columns.items() if key != name}
        assert protocol.item_faults({"columns": rest}, {}, settings), name


def test_it_refuses_no_answer_at_all(protocol, sample):
    with pytest.raises(AnswerRefusedError) as refused:
        protocol.check(sample["document"], sample["item"], protocol.settings({}), {})
    assert refused.value.reasons


@pytest.mark.parametrize("garbage", GARBAGE, ids=range(len(GARBAGE)))
def test_it_refuses_garbage_in_every_field_with_sentences(protocol, sample, garbage):
    with pytest.raises(AnswerRefusedError) as refused:
        protocol.check(
            sample["document"], sample["item"], protocol.settings({}), dict.fromkeys(sample["fields"], garbage)
        )
    for reason in refused.value.reasons:
        assert reason[0].isupper() and reason.endswith(".")
        assert len(reason) < 300


def test_its_remark_is_bounded_and_printable(protocol, sample):
    fields = {**sample["fields"], "comment": "long \0" * 10_000}
    remark = protocol.check(sample["document"], sample["item"], protocol.settings({}), fields).remark
    assert len(remark) <= 2000
    assert "\0" not in remark


def test_its_scores_are_numbers_and_nothing_without_answers(protocol, sample):
    checked = protocol.check(sample["document"], sample["item"], protocol.settings({}), sample["fields"])
    scores = protocol.scores([(sample["document"], sample["item"], checked.labels[0].value)])
    assert all(isinstance(value, int | float) for value in scores.values())
    assert protocol.scores([]) == {}


@of_those_with_a_page_here
def test_it_brings_a_template_for_the_task_page(folder, name):
    assert (folder / "templates" / name / "task.html").is_file()


@pytest.fixture
def installed(roots, folder, settings, db):
    """What a start with the folder in PLUGIN_DIRS would have found."""
    settings.PLUGIN_ROOTS = roots
    settings.TEMPLATES = [{**settings.TEMPLATES[0], "DIRS": [*settings.TEMPLATES[0]["DIRS"], folder / "templates"]}]


@of_those_with_a_page_here
def test_its_page_is_served_from_wherever_it_is(name, installed, sample, settings, client):
    from hits.answers.rules.task_links import task_url
    from hits.answers.verbs import serving
    from tests.hits import factories as make

    stage = make.stage(protocol=name)
    document = make.document(stage.project, data=sample["document"])
    hit = make.hit(make.item(stage, document=document, data=sample["item"]))
    origin = settings.MTURK_SUBMIT_ORIGINS[0]
    query = {"assignmentId": "3A", "workerId": "AW", "hitId": hit.hit_id, "turkSubmitTo": origin}
    response = client.get("/task/" + task_url(hit.pk).split("/task/")[1], query)
    assert response.status_code == 200
    assert f'action="{origin}/mturk/externalSubmit"' in response.content.decode()
    token = serving.page_token(serving.Visit(hit, "3A", "AW"))
    assert client.post("/task/check/", {"page": token, **sample["fields"]}).json() == {"ok": True}


@of_those_with_own_page
def test_a_page_of_its_own_fits_into_a_question_and_is_never_served_here(
    name, installed, protocol, sample, settings, client
):
    from hits.answers.rules.task_links import task_url
    from tests.hits import factories as make

    page = protocol.own_page(sample["document"], sample["item"], protocol.settings({}))
    assert protocol.page(sample["document"], sample["item"], protocol.settings({})) == vars(page)
    assert len(html_question(page.html, page.frame_height).encode()) <= 65_535
    stage = make.stage(protocol=name)
    hit = make.hit(make.item(stage, document=make.document(stage.project, data=sample["document"])))
    reply = client.get("/task/" + task_url(hit.pk).split("/task/")[1])
    assert reply.status_code == 404 and "The marketplace itself shows this task" in reply.content.decode()


@of_those_without_a_crowd
def test_without_a_crowd_it_brings_no_page_for_workers(protocol, folder):
    assert not (folder / "templates").exists()
    assert not hasattr(protocol, "check") and not hasattr(protocol, "page")


@of_those_without_a_crowd
def test_without_a_crowd_it_counts_the_same_things_of_every_item_and_says_what_kind_it_is(protocol, sample):
    counted = [protocol.figures(item) for item in (sample["item"], sample["other"])]
    assert counted[0].keys() == counted[1].keys()
    assert all(type(value) is int for figures in counted for value in figures.values())
    assert protocol.word(sample["item"]) != protocol.word(sample["other"])
    assert all(len(protocol.word(item)) <= 40 for item in (sample["item"], sample["other"]))


@dataclass(frozen=True)
class Dashboard:
    """The sample as an item that waits to be published, and the addresses of the protocol's pages about it."""

    item: Any
    lead: Client
    outsider: Client
    pages: tuple[Page, ...]

    def address(self, page: Page, name: str = "protocol-page") -> str:
        own = [] if name == "protocol-page" else [self.item.pk]
        return reverse(name, args=[self.item.stage.project.slug, self.item.stage.key, page.slug, *own])

    @property
    def addresses(self) -> list[str]:
        return [
            *(self.address(page) for page in self.pages),
            *(self.address(page, "protocol-page-item") for page in self.pages if page.item),
        ]

    @property
    def correcting(self) -> list[str]:
        """The addresses of pages with a form."""
        return [self.address(page, "protocol-page-item") for page in self.pages if page.corrects]

    def form(self, address: str) -> Node:
        """The one that corrects the item."""
        forms = parse(self.lead.get(address).content.decode()).all("form", method="post")
        return next(form for form in forms if form.first("input", name="seen"))


@pytest.fixture
def dashboard(name, roots, installed, protocol, sample) -> Dashboard:
    from tests.hits import factories as make

    without = {"crowd": False, "rule": {}} if isinstance(protocol, CrowdlessProtocol) else {}
    stage = make.stage(make.project(owner=make.user("lead")), protocol=name, **without)
    document = make.document(stage.project, data=sample.get("document", {}))
    item = make.item(stage, document=document, data=sample["item"])
    lead, outsider = Client(), Client()
    lead.force_login(stage.project.owners.get())
    outsider.force_login(make.user("outsider"))
    return Dashboard(item, lead, outsider, protocols.pages(name, roots))


@of_those_with_pages
def test_its_pages_of_the_dashboard_open_for_leads_alone(dashboard):
    for address in dashboard.addresses:
        reply = dashboard.lead.get(address)
        assert reply.status_code == 200
        assert "<main" in reply.content.decode()
        assert dashboard.outsider.get(address).status_code == 404
        assert Client().get(address).headers["Location"].startswith(reverse("login"))


@of_those_with_pages
def test_its_pages_of_the_dashboard_are_linked_from_the_stage_and_the_list(dashboard):
    stage = dashboard.lead.get(reverse("items", args=[dashboard.item.stage.project.slug, dashboard.item.stage.key]))
    for page in dashboard.pages:
        assert f'href="{dashboard.address(page)}"' in stage.content.decode()
        if page.item:
            listed = dashboard.lead.get(dashboard.address(page)).content.decode()
            assert f'href="{dashboard.address(page, "protocol-page-item")}"' in listed


@of_those_with_pages
def test_opening_its_pages_of_the_dashboard_writes_nothing(dashboard):
    with CaptureQueriesContext(connection) as queries:
        for address in dashboard.addresses:
            dashboard.lead.get(address)
    assert [q["sql"] for q in queries if q["sql"].split()[0] in ("INSERT", "UPDATE", "DELETE")] == []


@of_those_with_pages
def test_its_forms_change_nothing_that_was_not_touched_and_nothing_for_others(dashboard, protocol):
    before = dashboard.item.data
    for address in dashboard.correcting:
        assert isinstance(protocol, CorrectableProtocol)
        fields = read_form(dashboard.form(address)).fields
        for garbage in GARBAGE:
            assert dashboard.outsider.post(address, dict.fromkeys(fields, garbage)).status_code == 404
        assert dashboard.outsider.post(f"{address}undo/").status_code == 404
        assert dashboard.lead.post(address, fields).status_code == 302
    dashboard.item.refresh_from_db()
    assert dashboard.item.data == before
    assert not dashboard.item.changes.exists()


@of_those_with_pages
def test_garbage_in_its_forms_is_refused_or_can_be_undone(dashboard):
    before = dashboard.item.data
    for address, garbage in itertools.product(dashboard.correcting, GARBAGE):
        form = dashboard.form(address)
        names = {node.attributes["name"] for node in form.walk() if node.attributes.get("name")}
        posted = {**dict.fromkeys(names, garbage), "seen": read_form(form).fields["seen"]}
        assert dashboard.lead.post(address, posted).status_code in (302, 400), garbage[:20]
        dashboard.lead.post(f"{address}undo/")
        assert dashboard.lead.get(address).status_code == 200
        dashboard.item.refresh_from_db()
        assert dashboard.item.data == before, garbage[:20]
