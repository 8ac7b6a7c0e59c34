"""What runs in workers' browsers says the same as the server."""

import unicodedata
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from playwright.sync_api import Browser, Page

from hits.text.language.words import FUNCTION_WORDS, content_words, words
from hits.text.questions.overlap import Limits, advice
from hits.text.written import kept_lines

ROOT = Path(__file__).resolve().parents[3]
SCRIPTS = [
    ROOT / "static" / "task" / "language.js",
    ROOT / "static" / "task" / "words.js",
    ROOT / "hits" / "protocols" / "question_writing" / "static" / "advice.js",
]
# Later characters may be letters to one side only.
KNOWN = some.characters(exclude_categories=("Cs", "Cn")).filter(lambda letter: unicodedata.category(letter) != "Cn")
ODD = [
    *["don't", "Don’t", "dog's", "dog", "DOG’S", "’s", "n't", "'", "’", "’’", "a'b'c", "rock", "wo", "nt"],
    *[
        "ΟΔΟΣ",
        "ὈΔΥΣΣΕΎΣ",
        "İstanbul",
        "ISTANBUL",
        "ẞ",
        "straße",
        "ǅ",
        "e\u0301te",
        "éte",
        "Ａ１",
        "٣٤",
        "½",
        "x²",
        "\ufb01re",
    ],
    *[
        "שָׁלוֹם",
        "مرحبا",
        "\u200fabc\u200e",
        "नमस्ते",
        "日本語",
        "👩‍👩‍👧",
        "❤️",
        "1️⃣",
        "🇳🇱",
        "a\u0301\u0327",
        "\u0301",
        "\ufeff",
    ],
    *[
        "24",
        "3.50",
        "old-fashioned",
        "snake_case",
        "\x00",
        "\x85",
        "\u2028",
        "\n",
        "a\x07b",
        "c\td\x1ce",
        "\u3164",
        "\r\n",
        "the",
        "garden",
        "kettle",
        "train",
    ],
]
texts = some.lists(some.sampled_from(ODD) | some.text(KNOWN, max_size=6), max_size=12).map(" ".join)
candidates = some.lists(texts, max_size=3)
limits = some.builds(
    Limits, *[some.sampled_from([0.0, 0.3, 0.4, 0.7, 1.0])] * 2, some.sampled_from([1.0, 1.1, 2.0, 3.3])
)


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 360, "height": 740}, color_scheme="dark")
    yield context.new_page()
    context.close()


def load(page: Page) -> None:
    for script in SCRIPTS:
        page.evaluate(script.read_text(encoding="utf-8"))


def handed(limit):
    """As the task page is given them."""
    return {**asdict(limit), "function_words": sorted(FUNCTION_WORDS)}


def some_cases():
    cases = []

    @settings(max_examples=60, database=None, derandomize=True)
    @given(some.tuples(texts, candidates, candidates, limits))
    def collect(case):
        cases.append(case)

    collect()
    return cases


def test_the_browser_gives_the_same_advice_as_the_server_on_any_text(page):
    load(page)
    cases = some_cases()
    given_ones = [[paragraph, right, wrong, handed(limit)] for paragraph, right, wrong, limit in cases]
    computed = page.evaluate(
        """cases => cases.map(([paragraph, right, wrong, limits]) => [
            words(paragraph), words.count(paragraph), advice.contentWords(paragraph, new Set(limits.function_words)),
            advice.advice(paragraph, right, wrong, limits)])""",
        given_ones,
    )
    for (paragraph, right, wrong, limit), found in zip(cases, computed, strict=True):
        told = advice(paragraph, right, wrong, limits=limit)
        counted = len(words(kept_lines(paragraph)))
        assert found == [words(paragraph), counted, content_words(paragraph), told]
    levels = {(hint["kind"], hint["level"]) for found in computed for hint in found[3]}
    assert len(levels) == 4  # the cases had both kinds of advice, well and not
