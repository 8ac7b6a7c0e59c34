from __future__ import annotations

from xml.etree import ElementTree

from hits.recipes.cosmos.charting import prefix_chart
from hits.text.figures.set_statistics import Prefix

NAMESPACE = "{http://www.w3.org/2000/svg}"


def test_the_chart_of_beginnings_has_a_block_for_each_prefix_and_says_the_first_words() -> None:
    tree = (Prefix("why", 60, (Prefix("did", 30, (Prefix("she", 30),)),)), Prefix("what", 40))
    svg = ElementTree.fromstring(prefix_chart(tree))
    blocks = [part.findtext(f"{NAMESPACE}title") for part in svg.findall(f"{NAMESPACE}svg")]
    assert blocks == ["why: 60", "did: 30", "she: 30", "what: 40"]
    description = svg.findtext(f"{NAMESPACE}desc") or ""
    assert "100 questions" in description and "why 60 %, what 40 %" in description


def test_without_a_question_there_is_no_chart() -> None:
    assert prefix_chart(()) == ""
