"""Workers' pages in other languages; everything else stays in English."""

import re
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import html5lib
import pytest
from django.conf import settings
from django.core import mail
from django.core.management import call_command
from django.test import Client
from django.utils import translation
from django.utils.translation import trans_real

from marketplace.models import Assignment, Hit, HitType, Requester, Worker
from marketplace.rules.errors import RequestError
from marketplace.rules.qualifications import ADULT, LOCALE, NUMBER_APPROVED, PERCENT_APPROVED, explain
from marketplace.site import frames, places, words
from marketplace.site.saying import said
from marketplace.verbs import access, assignments, bonuses, messages, panels, qualification_requests
from marketplace.verbs import qualifications as types
from tests.marketplace.rules.questions.test_forms import REQUIRED, TEXT, choices, form_xml, question, text_with
from tests.marketplace.site.conftest import requirement
from tests.marketplace.site.test_frames import FRAMES, path_of

ROOT = Path(settings.BASE_DIR)
GERMAN = {"HTTP_ACCEPT_LANGUAGE": "de-AT, en;q=0.5"}
# What nobody translates: names of things, of languages and zones, and the parameter of a link.
NAMES = {"Commons", "HIT", "HITs", "UTC", "CSV", "English", "Deutsch", "Español", "PARTICIPANT", "ID"}
_KEPT = re.compile(r"(%\(\w+\)s|%%|%s|<[^>]*>|&\w+;)")
_WORD = re.compile(r"[A-Za-zñ]{2,}")
_HEARD = {"alt", "aria-label", "data-label", "placeholder", "title"}


# Choosing


def test_a_page_speaks_the_browsers_language_and_the_chosen_one_before_it(db: None) -> None:
    visitor = Client(**GERMAN)
    first = visitor.get("/accounts/login/?next=/worker/")
    assert '<html lang="de" dir="ltr">' in first.text and "Anmelden" in first.text
    assert Client().get("/accounts/login/").context["LANGUAGE_CODE"] == "en"
    chosen = visitor.post("/language/", {"language": "es", "next": "/accounts/login/?next=/worker/"})
    assert chosen.headers["Location"] == "/accounts/login/?next=/worker/"
    again = visitor.get(chosen.headers["Location"])
    assert '<html lang="es" dir="ltr">' in again.text and "Iniciar sesión" in again.text


def test_the_choice_leads_to_no_other_site_and_knows_its_languages_only(db: None) -> None:
    visitor = Client()
    assert visitor.post("/language/", {"language": "de", "next": "https://bad.example/"}).headers["Location"] == "/"
    visitor.post("/language/", {"language": "xx", "next": "/"})
    assert visitor.get("/accounts/login/").context["LANGUAGE_CODE"] == "de"


def test_the_choice_stands_on_every_page_but_the_one_with_a_task(client: Client, held: Assignment) -> None:
    for path in ("/", "/worker/", "/worker/nothing/"):
        assert f'name="next" value="{path}"' in client.get(path).text
    # The frame would be loaded anew, and what was written there would be gone.
    assert 'name="language"' not in client.get(f"/mturk/work/{held.pk}/").text


def test_scripts_get_their_words_from_a_script_of_the_site(db: None) -> None:
    page = Client(**GERMAN).get("/accounts/login/").text
    assert "/language/de/words.js" in page and "unsafe-inline" not in page
    assert "die Zeit ist vorbei" in Client().get("/language/de/words.js").text
    assert Client().get("/language/xx/words.js").status_code == 404
    assert "words.js" in Client().get("/accounts/login/").text
    assert "/language/" not in Client().get("/accounts/login/").text.partition("</head>")[0]


# What stays in English


def test_the_wire_and_the_operators_pages_stay_in_english(admin_client: Client, hit_type: HitType) -> None:
    assert "Workers" in admin_client.get("/operator/workers/", **GERMAN).text
    assert "Deutsch" not in admin_client.get("/operator/workers/", **GERMAN).text
    assert Client(**GERMAN).get("/accounts/login/").context["LANGUAGE_CODE"] == "de"
    answer = Client(**GERMAN).post("/", b"{}", "application/json")
    assert b"validation" in answer.content or b"Missing" in answer.content or b"Unknown" in answer.content
    assert translation.get_language() == "en"


def test_a_refusal_is_english_where_it_is_raised_and_translated_where_a_worker_reads_it(
    db: None, now: datetime
) -> None:
    with translation.override("de"), pytest.raises(RequestError) as refusal:
        access.open_invitation("0", now)
    assert refusal.value.message == "This link is no invitation. Look whether it was copied whole."
    assert "Dieser Link ist keine Einladung." in Client(**GERMAN).get("/join/0/").text


def test_a_sentence_keeps_its_parts_and_says_them_in_both_languages() -> None:
    asked = requirement(
        "NotIn", type_id=LOCALE, LocaleValues=[{"Country": "US", "Subdivision": "CA"}, {"Country": "AT"}]
    )
    sentence = explain(asked)
    assert sentence == "Not living in: California (United States) or Austria"
    with translation.override("de"):
        assert said(sentence) == "Wohnt nicht in: Kalifornien (Vereinigte Staaten) oder Österreich"
        many = explain(requirement("GreaterThanOrEqualTo", type_id=PERCENT_APPROVED, IntegerValues=[95]))
        assert said(many) == "Mindestens 95 % Ihrer Antworten genehmigt"
        assert list(places.countries().values())[:3] == ["Afghanistan", "Ägypten", "Åland-Inseln"]
        assert said("a requester's words") == "a requester's words"


WRITTEN = {"en": "$1,234.50", "de": "1.234,50\xa0$", "es": "1\xa0234,50\xa0US$"}


@pytest.mark.parametrize("language", list(WRITTEN))
def test_money_is_always_dollars_and_written_as_the_language_does_it(
    client: Client, worker: Worker, make_hit_type: Any, make_hit: Any, language: str
) -> None:
    make_hit(make_hit_type(reward=Decimal("1234.50")))
    assert WRITTEN[language] in client.get("/", HTTP_ACCEPT_LANGUAGE=language).text
    with translation.override(language):
        assert words.dollars(Decimal("-1234.5")) == f"−{WRITTEN[language]}"
        assert words.grouped(1234) in words.dollars(Decimal("1234.5"))


def test_no_page_of_workers_writes_an_amount_by_itself() -> None:
    """One author: the filter `dollars`. Pages of operators are in English."""
    pages = [page for page in (ROOT / "templates/marketplace").rglob("*.html") if "operator" not in page.parts]
    code = [file for file in (ROOT / "marketplace/site").rglob("*.py") if "operator" not in file.parts]
    assert len(pages) > 30 and len(code) > 20
    for file in pages + code:
        assert not re.search(r"\$(\{\{|\{[a-z]+[.:])", file.read_text(encoding="utf-8")), file.name


def test_letters_to_workers_are_in_the_language_of_the_page(client: Client, settings: Any) -> None:
    settings.MARKETPLACE_MAIL = True
    for language in ("de", "en"):
        fields = {"email": f"{language}@example.org", "password": "worker"}
        client.post("/worker/profile/email/", fields, HTTP_ACCEPT_LANGUAGE=language)
    call_command("tick", "--once")
    assert [letter.subject for letter in mail.outbox] == [
        "Bestätigen Sie Ihre E-Mail-Adresse",
        "Confirm your e-mail address",
    ]


def test_the_frame_of_a_task_speaks_the_language_of_the_page_around_it(
    client: Client, make_hit_type: Any, make_hit: Any, worker: Worker, now: datetime
) -> None:
    kind = make_hit_type()
    make_hit(kind, question=form_xml(question(TEXT, more=REQUIRED)))
    held = assignments.accept(kind, worker, now)
    with translation.override("es"):
        german = frames.work_frame(held, worker).url
    assert german.endswith("&lang=es")
    assert '<html lang="es"' in FRAMES.get(path_of(german), **GERMAN).text
    assert '<html lang="en"' in FRAMES.get(path_of(frames.work_frame(held, worker).url), **GERMAN).text


# No word is left in English


def disguised(text: str) -> str:
    """The text with another letter in place of each of its own: what a page shows in English was never translated."""
    parts = _KEPT.split(text.rpartition("\x04")[2])
    return "".join(part if _KEPT.fullmatch(part) else re.sub("[A-Za-z]", "ж", part) for part in parts)


class _Disguise(trans_real.DjangoTranslation):
    """A language made of one letter."""

    def gettext(self, message: str) -> str:
        return disguised(message)

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return disguised(msgid1 if n == 1 else msgid2)


@pytest.fixture
def disguise(monkeypatch: pytest.MonkeyPatch) -> None:
    """German is made of one letter."""
    monkeypatch.setitem(trans_real._translations, "de", _Disguise("de"))


def left_in_english(page: str) -> list[str]:
    """Words that a reader sees or hears, without those of lists of countries."""
    tree = html5lib.parse(page, namespaceHTMLElements=False)
    found: list[str] = []

    def walk(element: Any) -> None:
        if element.tag in ("script", "style") or element.get("name") in ("country", "subdivision"):
            return
        heard = [value for name, value in element.items() if name in _HEARD]
        for text in [element.text or "", *heard]:
            found.extend(word for word in _WORD.findall(text) if word not in NAMES)
        for child in element:
            walk(child)
            found.extend(word for word in _WORD.findall(child.tail or "") if word not in NAMES)

    walk(tree)
    return found


@pytest.fixture
def world(
    requester: Requester,
    make_worker: Callable[..., Worker],
    make_hit_type: Callable[..., HitType],
    make_hit: Callable[..., Hit],
    answer_hits: Callable[..., Any],
    settings: Any,
    now: datetime,
) -> dict[str, Any]:
    """Something to show on every page; nothing of it is written in Latin letters."""
    settings.MARKETPLACE_MAIL = True
    Requester.objects.update(name="Αλίκη")
    requester.refresh_from_db()
    worker = make_worker("ωμ")
    Worker.objects.filter(pk=worker.pk).update(worker_id="1234567890", email_confirmed_at=now)
    worker.refresh_from_db()
    worker.user.email = "1@2.34"
    worker.user.save()
    greek = {"title": "Τίτλος", "description": "Περιγραφή", "keywords": "λ"}
    group = make_hit_type(**greek, assignment_duration_seconds=600)
    asking = [
        requirement("EqualTo", "PreviewAndAccept", LOCALE, LocaleValues=[{"Country": "CA"}]),
        requirement("GreaterThan", "Accept", NUMBER_APPROVED, IntegerValues=[1000]),
        requirement("In", "Accept", PERCENT_APPROVED, IntegerValues=[1, 2, 3]),
        requirement("EqualTo", "Accept", ADULT, IntegerValues=[1]),
    ]
    guarded = make_hit_type(**greek, requirements=asking[1:])
    over = make_hit_type(**greek, reward=Decimal("0.02"))
    formed = make_hit_type(**greek, reward=Decimal("0.03"))
    for kind in (group,) * 6 + (guarded,):
        make_hit(kind)
    test = form_xml(_questions())
    make_hit(formed, question=test)
    approved, rejected, waiting = answer_hits(group, worker, 3)
    assignments.approve(requester, approved.assignment_id, now, "Εύγε")
    assignments.reject(requester, rejected.assignment_id, now, "Λάθος")
    bonuses.pay(requester, worker.worker_id, approved.assignment_id, Decimal("0.25"), "Ευχαριστώ", now)
    held, other = assignments.accept(group, worker, now), assignments.accept(group, worker, now)
    returned = assignments.give_back(other, worker, now)
    form = assignments.accept(formed, worker, now)
    details = {"description": "Περιγραφή", "status": "Active", "now": now}
    tested = types.create_type(requester, name="Σκάκι", test=types.NewTest(test, 1800), **details)
    attempt = qualification_requests.ask(worker, tested.qualification_type_id, now)
    asked = types.create_type(requester, name="Ρήμα", retry_delay_seconds=60, **details)
    refused = qualification_requests.ask(worker, asked.qualification_type_id, now)
    qualification_requests.reject(requester, refused.request_id, now, "Όχι")
    given = types.create_type(requester, name="Γ", auto_granted=True, auto_granted_value=5, **details)
    worker.messages.all().delete()
    message = messages.send(worker, sender=requester, subject="Γεια", text="Γεια", now=now)
    panel = panels.make_panel(name="Π", slug="p", terms="Όροι", completion_url="https://π.example.org/", now=now)
    return {
        "user": worker.user,
        "worker": worker,
        "held": held.pk,
        "hit": held.hit.hit_id,
        "held_id": held.assignment_id,
        "form_id": form.assignment_id,
        "form": form,
        "waiting": waiting.pk,
        "rejected": rejected.pk,
        "returned": returned.pk,
        "group": group.hit_group_id,
        "guarded": guarded.hit_group_id,
        "over": over.hit_group_id,
        "tested": tested.qualification_type_id,
        "asked": asked.qualification_type_id,
        "given": given.qualification_type_id,
        "attempt": attempt.request_id,
        "message": message.pk if message else 0,
        "invitation": access.invite(now=now).token,
        "confirmation": access.confirmation_link(worker, "5@6.78", now).split("/")[-2],
        "reset": "/".join(access.reset_link(worker, now).split("/")[-3:-1]),
        "panel": panel.slug,
    }


def _questions() -> str:
    content = "<Text>Τι;</Text>"
    texts = [
        TEXT,
        text_with('<IsNumeric minValue="1" maxValue="5"/>'),
        text_with('<Length minLength="2" maxLength="9"/>'),
    ]
    several = "<MinSelectionCount>2</MinSelectionCount><MaxSelectionCount>2</MaxSelectionCount>"
    lists = [choices("1", "2", "3", before=several + "<StyleSuggestion>checkbox</StyleSuggestion>"), choices("1", "2")]
    answers = enumerate([*texts, *lists], start=1)
    return "".join(question(answer, f"q{at}", more=REQUIRED, content=content) for at, answer in answers)


PAGES = [
    "/", "/?filtered=1", "/?q=0", "/?sort=most&filtered=1", "/mturk/preview?groupId={group}",
    "/mturk/preview?groupId={guarded}", "/mturk/preview?groupId={over}", "/mturk/preview?groupId=0",
    "/mturk/work/{held}/", "/mturk/work/{waiting}/after/", "/mturk/work/{rejected}/after/",
    "/mturk/work/{returned}/after/", "/mturk/finished?groupId={over}", "/mturk/finished?groupId={group}",
    "/mturk/report?hitId={hit}", "/worker/", "/worker/?state=approved", "/worker/?returned=2", "/worker/return-all/",
    "/worker/dispute/{rejected}/", "/worker/dispute/{waiting}/", "/worker/earnings/", "/worker/earnings/?view=bonuses",
    "/worker/earnings/?view=payments", "/worker/qualifications/", "/worker/qualifications/offered/",
    "/worker/qualifications/offered/?q=0", "/worker/qualifications/asked/", "/worker/qualifications/{tested}/",
    "/worker/qualifications/{asked}/", "/worker/qualifications/{given}/", "/worker/qualifications/test/{attempt}/",
    "/worker/messages/", "/worker/messages/{message}/", "/worker/profile/", "/worker/profile/?done=letter",
    "/worker/profile/?saved=1", "/worker/profile/email/", "/worker/profile/password/", "/worker/privacy/",
    "/worker/privacy/delete/", "/mturk/externalSubmit", "/panel/{panel}/?PARTICIPANT_ID=1", "/panel/{panel}/",
    "/join/{invitation}/", "/accounts/confirm/{confirmation}/", "/accounts/confirm/0/",
]  # fmt: skip
SIGNED_OUT = [
    "/accounts/login/", "/accounts/login/?reset=1&next=/worker/", "/accounts/signup/", "/accounts/forgot/",
    "/accounts/forgot/?sent=1", "/accounts/reset/{reset}/", "/accounts/reset/0/1-2/", "/join/{invitation}/", "/join/0/",
    "/panel/{panel}/?PARTICIPANT_ID=1", "/nothing/",
]  # fmt: skip
# Forms as they are sent back.
REFUSED = [
    ("/worker/profile/", {"percent_approved_override": "101", "subdivision": "1234"}),
    ("/worker/profile/email/", {"email": "1", "password": "1"}),
    ("/worker/profile/password/", {"old_password": "1", "new_password1": "1", "new_password2": "2"}),
    ("/worker/profile/place/", {"country": "00"}),
    ("/worker/privacy/delete/", {"secret": "1"}),
    ("/mturk/report", {"hitId": "{hit}", "reason": "other"}),
    ("/worker/dispute/{rejected}/", {"text": ""}),
    ("/worker/qualifications/test/{attempt}/", {"q1": "", "q2": "9", "q3": "1", "q4": ["1"], "q5": ["1", "2"]}),
    ("/mturk/auto-accept/", {"auto": "1"}),
    ("/mturk/accept", {"groupId": "{guarded}"}),
    ("/mturk/externalSubmit", {"assignmentId": "{held_id}"}),
    ("/mturk/externalSubmit", {"assignmentId": "0", "1": "2"}),
    ("/mturk/externalSubmit", {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "1": "2"}),
    ("/mturk/externalSubmit", {"assignmentId": "{form_id}", "q1": "", "q2": "9", "q4": ["1", "2", "3"]}),
    ("/mturk/externalSubmit", {"assignmentId": "{held_id}", "1": "2"}),
    ("/mturk/externalSubmit", {"assignmentId": "{held_id}", "1": "2"}),
    ("/mturk/externalSubmit", {"assignmentId": "{held_id}", "1": "3"}),
]
REFUSED_OUTSIDE = [
    ("/accounts/signup/", {"username": "ωμ", "password": "12345678", "email": "1@2.34", "country": ""}),
    ("/accounts/login/", {"username": "ωμ", "password": "1"}),
    ("/panel/{panel}/?PARTICIPANT_ID=1", {}),
]


def test_no_page_says_a_word_that_no_translation_reaches(disguise: None, world: dict[str, Any]) -> None:
    inside, outside = Client(**GERMAN), Client(**GERMAN)
    inside.force_login(world["user"])
    left = {}
    for browser, paths, forms in ((inside, PAGES, REFUSED), (outside, SIGNED_OUT, REFUSED_OUTSIDE)):
        for path in paths:
            page = browser.get(path.format(**world), follow=True)
            assert page.status_code != 500
            left[path] = left_in_english(page.text)
        for path, fields in forms:
            filled = {
                name: value.format(**world) if isinstance(value, str) else value for name, value in fields.items()
            }
            page = browser.post(path.format(**world), filled)
            assert page.status_code not in (302, 500), path
            left[f"{path} {fields}"] = left_in_english(page.text)
    with translation.override("de"):
        framed = frames.work_frame(world["form"], world["worker"]).url
    left["frame"] = left_in_english(FRAMES.get(path_of(framed)).text)
    left["no frame"] = left_in_english(FRAMES.get("/frame/0/?lang=de").text)
    assert {path: words for path, words in left.items() if words} == {}
