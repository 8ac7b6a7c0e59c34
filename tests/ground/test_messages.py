"""Words that a worker can see are translated, in each language, and the catalogues hold them all."""

from __future__ import annotations

import shutil

import pytest

from ops.messages import CATALOGUES, LANGUAGES, faults
from ops.surroundings import ROOT
from tests.translations import untranslated


def test_every_word_of_a_workers_page_can_be_translated() -> None:
    templates = {file for one in CATALOGUES for file in one.files() if file.suffix == ".html"}
    left = {str(file.relative_to(ROOT)): untranslated(file.read_text(encoding="utf-8")) for file in sorted(templates)}
    assert {file: words for file, words in left.items() if words} == {}


@pytest.mark.skipif(not shutil.which("xgettext"), reason="GNU gettext is missing, so the catalogues were not compared")
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_catalogues_have_a_translation_of_every_text(language: str) -> None:
    assert [fault for catalogue in CATALOGUES for fault in faults(catalogue, language)] == []


@pytest.mark.parametrize(
    ("template", "found"),
    [
        ("<p>Submit</p>", ["Submit"]),
        ('<p>{% translate "Submit" %}</p>', []),
        ("{% blocktranslate count n=found %}One answer{% plural %}{{ n }} answers{% endblocktranslate %}", []),
        ('<input aria-label="Your answer">', ["Your answer"]),
        ('<input aria-label="{% translate "Your answer" %}">', []),
        ('<button data-busy="Please wait">{{ word }}</button>', ["Please wait"]),
        ('<a{% if here %} class="now"{% endif %} href="/work/">{{ name }} · 3</a>', []),
        ('<kbd translate="no">Enter</kbd>', []),
        ('{{ name|default:"No name" }}', ["No name"]),
        ('{{ name|default:_("No name") }}', []),
        ('{{ day|date:"j M" }}', []),
        ('{% include "part.html" with heading="Your work" tab="own-work" %}', ["Your work"]),
        ("{{ n }} HIT{{ n|pluralize }}", ["{{ n|pluralize }}: write {% blocktranslate count %}"]),
        ("<script>const word = 1;</script>", []),
    ],
)
def test_what_no_translation_reaches_is_found(template: str, found: list[str]) -> None:
    assert untranslated(template) == found
