"""The corrected copy of an old template is the same page to a browser: same forms, same answers, same words."""

from typing import Any

import pytest
from playwright.sync_api import Page

from common.html_correcting import look_at
from tests.marketplace.rules.questions.test_correcting import LINES, text_of

# Elements closed in themselves: browsers read on inside them, the corrected copy closes them as their author meant.
CLOSED = {
    "crowd_empty.html": ["first", "last", "unsure"],
    "xhtml.html": ["heard", "sure", None],
}
READ = """() => {
  const controls = [...document.querySelectorAll("input, select, textarea, button")];
  return {
    forms: [...document.forms].map((form) => [form.getAttribute("action"), ...new FormData(form)]),
    controls: controls.map((each) => [each.tagName, each.name, each.value, [...document.forms].indexOf(each.form)]),
    pictures: [...document.images].map((each) => each.getAttribute("src")),
    links: [...document.links].map((each) => each.getAttribute("href")),
    words: document.body.innerText.split(/\\s+/).filter(Boolean),
    title: document.title,
  };
}"""


@pytest.fixture
def read(page: Page) -> Any:
    """What a browser makes of a page; nothing is fetched."""
    page.route("**", lambda route: route.abort())

    def make(html: str) -> dict[str, Any]:
        page.set_content(html)
        return dict(page.evaluate(READ))

    return make


@pytest.mark.parametrize("name", sorted(LINES.keys() - CLOSED.keys()))
def test_a_browser_finds_the_same_in_the_corrected_copy(read: Any, name: str) -> None:
    html = text_of(name)
    found = read(html)
    assert found["words"] and found["controls"]
    assert read(look_at(html).corrected) == found


@pytest.mark.parametrize("name", sorted(CLOSED))
def test_what_was_closed_in_itself_stands_beside_what_follows(page: Page, read: Any, name: str) -> None:
    read(look_at(text_of(name)).corrected)
    fields = page.locator("input, textarea, crowd-input, crowd-checkbox")
    assert [field.get_attribute("name") for field in fields.all()] == CLOSED[name]
    assert all(field.locator("input, textarea, crowd-input, p").count() == 0 for field in fields.all())
