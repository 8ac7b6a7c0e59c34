"""A worker's page in a browser that asks for German, and read from right to left."""

from __future__ import annotations

import json

import pytest
from django.conf import settings

from hits.models import Hit
from tests.hits import factories as make

pytestmark = pytest.mark.django_db(transaction=True)
ARABIC = {"text": "وصل القطار الليلي إلى الساحل متأخرا ساعة.", "question": "متى وصل القطار؟"}


def hit_of(name: str, **columns) -> Hit:
    file = next(root / "protocols" / name / "sample.json" for root in settings.PLUGIN_ROOTS)
    sample = json.loads(file.read_text(encoding="utf-8"))
    stage = make.stage(protocol=name, **columns)
    return make.hit(
        make.item(stage, document=make.document(stage.project, data=sample["document"]), data=sample["item"])
    )


def test_its_scripts_speak_german(new_page, task_address):
    page = new_page(locale="de-DE")
    page.goto(task_address(hit_of("spans")))
    page.locator(".word").first.click()
    page.get_by_text("„Ilse“ ist gewählt. Wählen Sie jetzt das Label.").first.wait_for()
    page.get_by_role("button", name="Person").click()
    page.get_by_text("Markiert (1)").wait_for()
    page.get_by_text("Entwurf gespeichert").first.wait_for()


def test_where_the_words_of_the_scripts_do_not_come_they_are_english(new_page, task_address):
    page = new_page(locale="de-DE")
    page.route("**/task/words/**", lambda route: route.abort())
    page.goto(task_address(hit_of("multiple_choice")))
    page.locator(".choice input").first.check()
    page.get_by_text("Draft saved").first.wait_for()


@pytest.mark.parametrize("name", ["multiple_choice", "answer_writing"])
def test_read_from_right_to_left_it_fits_and_the_answer_is_on_the_other_side(name, new_page, task_address):
    page = new_page(360, 640)
    page.goto(task_address(hit_of(name)))
    page.evaluate("document.documentElement.dir = 'rtl'")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.set_viewport_size({"width": 1280, "height": 800})
    text, answer = (page.locator(part).bounding_box() for part in (".reading", ".answer"))
    assert answer["x"] + answer["width"] <= text["x"]


def test_an_arabic_text_on_a_german_page_reads_from_right_to_left(new_page, task_address):
    stage = make.stage(protocol="multiple_choice")
    document = make.document(stage.project, data={"text": ARABIC["text"]})
    hit = make.hit(make.item(stage, document=document, data={"question": ARABIC["question"]}))
    page = new_page(locale="de-DE")
    page.goto(task_address(hit))
    sides = "element => getComputedStyle(element).direction"
    assert page.locator(".reading p").first.evaluate(sides) == "rtl"
    assert page.locator("legend").first.evaluate(sides) == "rtl"
    assert page.locator("html").evaluate(sides) == "ltr"
