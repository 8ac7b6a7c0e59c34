"""Workers read their task's page in the language of their browser; what is stored and what leads read is English.

Whether a text can be translated is found with a language of our own: all letters of what is translated are "ж" in it.
A letter of the Latin alphabet is then of the item's data or of the stage's own texts, or was forgotten.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from django.utils.translation import trans_real

from hits import protocols
from hits.answers.rules import task_words
from hits.answers.verbs import serving
from hits.judging.verbs import scoring
from hits.models import Assignment, Draft, Hit
from hits.protocols.base import AnswerRefusedError, CrowdlessProtocol, SettingsRefusedError, StepwiseProtocol
from hits.protocols.optional import OwnPageProtocol, cards_of
from hits.releases.rules.saved_pages import files_of
from hits.stages.pages.settings_form import value_in_words
from hits.stages.verbs import stage_settings
from hits.text import wording
from tests.hits import factories as make
from tests.hits.doing import refused
from tests.hits.task_page import ASSIGNMENT, WORKER, address
from tests.translations import SPOKEN

pytestmark = pytest.mark.django_db
ORIGIN = "http://market.example"
GERMAN = {"Accept-Language": "de-AT,de;q=0.9,en;q=0.5"}
_PROTOCOLS = {name: protocols.get(name, settings.PLUGIN_ROOTS) for name in protocols.available(settings.PLUGIN_ROOTS)}
# A plug-in may speak one language only: then its protocol says so with `english_only = True`.
SERVED = [
    name
    for name, protocol in _PROTOCOLS.items()
    if not isinstance(protocol, CrowdlessProtocol | OwnPageProtocol) and not getattr(protocol, "english_only", False)
]
of_each = pytest.mark.parametrize("name", SERVED)
_KEPT = re.compile(r"%\(\w+\)s|%%|<[^>]*>|&\w+;")
_WORD = re.compile(r"[A-Za-z]{2,}")


def made_up(text: str) -> str:
    """The text with other letters, except where a value comes in and in markup."""
    pieces = _KEPT.split(text)
    kept = [*_KEPT.findall(text), ""]
    return "".join(re.sub("[A-Za-z]", "ж", piece) + more for piece, more in zip(pieces, kept, strict=True))


class MadeUp(trans_real.DjangoTranslation):
    """Takes the place of German."""

    def __init__(self) -> None:
        super().__init__("de")

    def gettext(self, message: str) -> str:
        return made_up(message.partition("\x04")[2] or message)

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return made_up(msgid1 if n == 1 else msgid2)


def is_sentence(attribute: str, text: str) -> bool:
    """Of what scripts read, what they may show: neither a key nor a list of ids."""
    return attribute.startswith("data-") and " " in text and attribute != "data-if-values"


class Seen(HTMLParser):
    """What a reader of a page sees or hears, without what is said not to be translated."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.texts: list[str] = []
        self._open: list[tuple[str, bool]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        hidden = tag in ("script", "style") or ("translate", "no") in attrs or self._hidden()
        if not hidden:
            told = [(name, value or "") for name, value in attrs]
            # A key or a number that a script reads has no space.
            self.texts += [text for name, text in told if name in SPOKEN or is_sentence(name, text)]
        if tag not in ("input", "meta", "link", "img", "br", "hr"):
            self._open.append((tag, hidden))

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not self._hidden():
            self.texts.append(data)

    def _hidden(self) -> bool:
        return bool(self._open) and self._open[-1][1]


def words_of(data: Any) -> set[str]:
    """Every word of texts in data, however deep."""
    return set(_WORD.findall(json.dumps(data, ensure_ascii=False).replace("\\n", " ").lower()))


def left_in_english(page: str, *known: Any) -> list[str]:
    own = words_of(known)
    return [text.strip() for text in Seen(page).texts if has_more(text, own)]


def has_more(text: str, own: set[str]) -> bool:
    return any(word not in own for word in _WORD.findall(text.lower()))


def sample_of(name: str) -> dict[str, Any]:
    folder = next(root / "protocols" / name for root in settings.PLUGIN_ROOTS if (root / "protocols" / name).is_dir())
    return dict(json.loads((Path(folder) / "sample.json").read_text(encoding="utf-8")))


@pytest.fixture(autouse=True)
def _market(settings) -> None:
    settings.MTURK_SUBMIT_ORIGINS = [ORIGIN]


@pytest.fixture
def made_up_german(monkeypatch) -> None:
    monkeypatch.setitem(trans_real._translations, "de", MadeUp())


def hit_of(name: str, document: Any = None, item: Any = None, **columns: Any) -> Hit:
    sample = sample_of(name)
    stage = make.stage(protocol=name, **columns)
    kept = make.document(stage.project, data=sample["document"] if document is None else document)
    return make.hit(make.item(stage, document=kept, data=sample["item"] if item is None else item))


def query_of(hit: Hit) -> dict[str, str]:
    return {"assignmentId": ASSIGNMENT, "workerId": WORKER, "hitId": hit.hit_id or "", "turkSubmitTo": ORIGIN}


def opened(hit: Hit, client: Client, query: dict[str, str] | None = None, **headers: str) -> str:
    found = client.get(address(hit), query_of(hit) if query is None else query, headers={**GERMAN, **headers})
    return found.content.decode()


def known_of(hit: Hit) -> list[Any]:
    stage = hit.stage
    options = _PROTOCOLS[stage.protocol].settings(stage.settings)
    return [hit.item.data, hit.item.document.data, options, stage.hit_title, stage.project.contact_email]


def shapes_of(name: str) -> Iterator[Hit]:
    """The protocol's sample, and what each of its ready-made tasks shows."""
    yield hit_of(name)
    yield hit_of(name, settings={"min_seconds": 30})
    for card in cards_of(_PROTOCOLS[name]):
        if card.name:
            document, item = card.example
            yield hit_of(name, document, item, settings=card.settings)


# Every page


@of_each
def test_no_english_is_left_on_its_page_and_in_its_preview(name, made_up_german, client):
    for hit in shapes_of(name):
        for query in (query_of(hit), {}):
            page = opened(hit, client, query)
            assert '<html lang="de" dir="ltr">' in page
            assert left_in_english(page, *known_of(hit)) == []


@of_each
def test_no_english_is_left_where_its_answer_is_refused(name, made_up_german):
    sample, protocol = sample_of(name), _PROTOCOLS[name]
    options = protocol.settings({})
    known = [sample["document"], sample["item"], options]
    garbage = [{}, dict.fromkeys(sample["fields"], "x" * 5000), dict.fromkeys(sample["fields"], "-1")]
    for fields in garbage:
        with task_words.spoken("de"), pytest.raises(AnswerRefusedError) as refused:
            protocol.check(sample["document"], sample["item"], options, fields)
        said = [reason.replace("x" * 20, "") for reason in refused.value.reasons]
        own = words_of(known) | {"x" * length for length in range(1, 5001)}
        assert [reason for reason in said if has_more(reason, own)] == []


@pytest.mark.parametrize("name", [name for name in SERVED if isinstance(_PROTOCOLS[name], StepwiseProtocol)])
def test_no_english_is_left_on_any_of_its_steps(name, made_up_german, client):
    hit, fields = hit_of(name), sample_of(name)["fields"]
    token = serving.page_token(serving.Visit(hit, ASSIGNMENT, WORKER))
    for step in ("1", "2", "3", "4", "5"):
        for said in (fields, {}):
            posted = {**said, "page": token, "step": step}
            reply = client.post(f"{reverse('task-step')}?turkSubmitTo={ORIGIN}", posted, headers=GERMAN)
            assert left_in_english(reply.content.decode(), *known_of(hit), fields) == []


@pytest.mark.parametrize("cause", ["blocked", "answered", "unknown", "frame"])
def test_no_english_is_left_where_a_worker_is_turned_away(cause, made_up_german, client):
    hit = hit_of("multiple_choice")
    query = query_of(hit)
    if cause == "blocked":
        make.block(hit.stage, make.worker(WORKER))
    elif cause == "answered":
        make.assignment(hit, make.worker(WORKER), assignment_id="3BEFORE")
    elif cause == "frame":
        query["turkSubmitTo"] = "http://elsewhere.example"
    place = "/task/unknown/" if cause == "unknown" else address(hit)
    reply = client.get(place, query, headers=GERMAN)
    assert reply.status_code in (400, 403, 404)
    assert left_in_english(reply.content.decode(), hit.stage.project.contact_email) == []


def test_no_english_is_left_where_several_items_are_asked_about(made_up_german, client):
    first = hit_of("multiple_choice")
    other = make.item(first.stage, document=first.item.document, data=first.item.data)
    hit = make.hit_about([make.item(first.stage, document=first.item.document, data=first.item.data), other])
    page = opened(hit, client)
    assert "2" in page and left_in_english(page, *known_of(hit)) == []


# In real German


def test_a_page_is_in_the_language_of_the_browser(client):
    hit = hit_of("multiple_choice")
    german, spanish, french = (opened(hit, client, **{"Accept-Language": code}) for code in ("de", "es-MX,en", "fr"))
    assert '<html lang="de"' in german and "Antwort absenden" in german
    assert '<html lang="es"' in spanish and "Enviar respuesta" in spanish
    assert '<html lang="en"' in french and "Submit answer" in french


def test_faults_of_an_answer_are_told_in_german_with_its_numbers(client):
    hit = hit_of("multiple_choice", settings={"free_text": "optional"})
    token = serving.page_token(serving.Visit(hit, ASSIGNMENT, WORKER))
    fields = {"page": token, "text": "x" * 2500}
    reply = client.post(reverse("task-check"), fields, headers=GERMAN)
    assert reply.status_code == 422
    assert reply.json()["reasons"] == [
        "Noch ist keine Antwort gewählt. Wählen Sie eine davon.",
        "Der Text hat 2.500 Zeichen. Kürzen Sie ihn auf 2.000.",
    ]


def test_a_draft_that_is_refused_says_so_in_german(client):
    reply = client.post(reverse("task-draft"), {"page": "changed"}, headers=GERMAN)
    assert reply.json()["reasons"] == [
        "Diese Seite hat ihren Schlüssel verloren. Laden Sie sie neu: Was Sie eingegeben haben, bleibt erhalten."
    ]


# The words of the scripts


def test_the_scripts_have_a_catalogue_in_german_and_none_in_english(client):
    hit = hit_of("multiple_choice")
    [place] = re.findall(r'<script src="(/task/words/[^"]+)">', opened(hit, client))
    reply = client.get(place)
    assert reply.headers["Content-Type"].startswith("text/javascript")
    assert "immutable" in reply.headers["Cache-Control"] and "max-age=2592000" in reply.headers["Cache-Control"]
    assert b"Entwurf gespeichert" in reply.content
    assert len(reply.content) < 20_000
    assert "/task/words/" not in opened(hit, client, **{"Accept-Language": "en"})
    assert client.get("/task/words/de-0123456789ab.js").status_code == 404
    assert client.get("/task/words/fr-.js").status_code == 404


SENTENCE = re.compile(
    r"""(?<![\w.])(?:"[A-Z][a-z]+ [a-z][^"\n]*"|"[^"\n]* [a-z]+ [a-z]+[^"\n]*"|`[^`\n]*[a-z]+ [a-z]+[^`\n]*`)"""
)


def test_every_sentence_of_a_script_is_given_to_gettext():
    root = Path(settings.BASE_DIR) if hasattr(settings, "BASE_DIR") else Path(__file__).resolve().parents[3]
    found = {}
    for file in sorted([*root.glob("static/task/*.js"), *root.glob("hits/protocols/*/static/*.js")]):
        for line in file.read_text(encoding="utf-8").splitlines():
            code = re.sub(r"(^|\s)//.*", "", line)
            code = re.sub(r"""n?gettext\("[^"]*"(, "[^"]*")?""", "", code)
            sentences = [one for one in SENTENCE.findall(code) if not re.search(r"use strict|[\[\]#>$.]|var\(", one)]
            if sentences:
                found[file.name, line.strip()] = sentences
    assert found == {}


# What stays English


def test_what_is_stored_of_a_refused_answer_is_english(settings):
    hit = hit_of("multiple_choice")
    answer = make.assignment(hit, make.worker(), answer={"choice": ""}, scored=False)
    with task_words.spoken("de"):
        scoring.score(hit.stage)
    assert Assignment.objects.get(pk=answer.pk).problem == "No answer is chosen yet. Choose one of them."


def test_the_label_of_a_good_answer_and_its_remark_are_those_of_an_english_page(settings):
    sample = sample_of("clickable_entity")
    fields = {**sample["fields"], "ambiguous": "yes"}
    protocol = _PROTOCOLS["clickable_entity"]
    english = protocol.check(sample["document"], sample["item"], protocol.settings({}), fields)
    with task_words.spoken("de"):
        german = protocol.check(sample["document"], sample["item"], protocol.settings({}), fields)
    assert german == english and english.remark.startswith("More than one name fits.")


@of_each
def test_an_answer_has_the_same_labels_in_every_language(name, made_up_german):
    sample, protocol = sample_of(name), _PROTOCOLS[name]
    options = protocol.settings({})
    english = protocol.check(sample["document"], sample["item"], options, sample["fields"])
    with task_words.spoken("de"):
        assert protocol.check(sample["document"], sample["item"], options, sample["fields"]) == english


def test_a_draft_is_kept_as_it_was_written(client):
    hit = hit_of("multiple_choice")
    token = serving.page_token(serving.Visit(hit, ASSIGNMENT, WORKER))
    client.post(reverse("task-draft"), {"page": token, "choice": "yes", "comment": "gut"}, headers=GERMAN)
    assert Draft.objects.get().fields == {"choice": "yes", "comment": "gut"}


def test_a_job_that_a_check_begins_speaks_english(client, monkeypatch):
    heard = []
    monkeypatch.setattr("hits.answers.pages.task.fetch_soon", lambda pk: heard.append(wording._("Nothing more to ask")))
    monkeypatch.setattr(serving, "check", lambda token, fields: 1)
    assert client.post(reverse("task-check"), {"page": "x"}, headers=GERMAN).json() == {"ok": True}
    assert heard == ["Nothing more to ask"]


def test_the_page_in_a_release_is_english(hit):
    stage = hit.stage
    stage.summary.answers = 1
    stage.summary.save()
    item = hit.item
    with task_words.spoken("de"):
        files, _facts = files_of(stage.project, {stage.key: lambda: iter([item])})
    [page] = files.values()
    assert b"How this task works" in page and b"Aufgabe" not in page


def test_leads_see_their_task_and_their_pages_in_english():
    hit = hit_of("multiple_choice", project_row=make.project(owner=make.user("lead")))
    lead = Client()
    lead.force_login(hit.stage.project.owners.get())
    place = [hit.stage.project.slug, hit.stage.key]
    for name in ("preview-task", "task-settings"):
        page = lead.get(reverse(name, args=place), headers=GERMAN).content.decode()
        assert '<html lang="en"' in page and "Antwort" not in page


# A language that the stage says


def test_a_stage_may_say_the_language_of_its_pages_whatever_the_browser_asks_for(client):
    hit = hit_of("multiple_choice", page_language="es")
    assert '<html lang="es"' in opened(hit, client) and '<html lang="es"' in opened(hit, client, {})
    token = serving.page_token(serving.Visit(hit, ASSIGNMENT, WORKER))
    reply = client.post(reverse("task-check"), {"page": token}, headers=GERMAN)
    assert reply.json()["reasons"] == ["Aún no se ha elegido ninguna respuesta. Elija una de ellas."]
    assert '<html lang="de"' in opened(hit_of("multiple_choice"), client)


def test_the_preview_for_a_lead_is_in_the_language_that_the_stage_says():
    hit = hit_of("multiple_choice", project_row=make.project(owner=make.user("lead")), page_language="de")
    lead = Client()
    lead.force_login(hit.stage.project.owners.get())
    place = [hit.stage.project.slug, hit.stage.key]
    assert '<html lang="de"' in lead.get(reverse("preview-task", args=place)).content.decode()
    assert '<html lang="en"' in lead.get(reverse("stage-settings", args=place), headers=GERMAN).content.decode()


def test_a_page_in_a_release_is_english_also_where_the_stage_says_another_language(hit):
    stage = hit.stage
    stage.page_language = "de"
    stage.save()
    stage.summary.answers = 1
    stage.summary.save()
    item = hit.item
    files, _facts = files_of(stage.project, {stage.key: lambda: iter([item])})
    [page] = files.values()
    assert b"How this task works" in page


def test_the_language_is_a_setting_that_stays_once_workers_saw_it():
    stage = make.stage()
    assert stage_settings.change(stage, {"page_language": "de"}, None) == ["page_language"]
    assert stage.page_language == "de"
    with pytest.raises(SettingsRefusedError):
        stage_settings.change(stage, {"page_language": "fr"}, None)
    assert value_in_words("page_language", "", stage) == "that of each worker's browser"
    assert value_in_words("page_language", stage.page_language, stage) == "Deutsch"
    make.hit(make.item(stage))
    with refused("settings_fixed"):
        stage_settings.change(stage, {"page_language": "es"}, None)


@pytest.mark.parametrize("accepted", ["de;q=0, *", "fr, de;q=0.0", "*", "", "de;q=none"])
def test_a_language_that_the_browser_refuses_is_not_spoken(accepted: str) -> None:
    assert task_words.of_browser(accepted) == "en"
