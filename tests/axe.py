"""axe-core's rules for accessible pages, run inside a page."""

from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Frame, Page

_AXE = Axe().axe_script
# Details of what is well, and sending them here, would take longer than looking.
_RUN = """async options => {
    const found = await axe.run({resultTypes: ["violations"], ...options});
    return found.violations.map(({id, nodes}) => `${id} ${JSON.stringify(nodes.map(node => node.target))}`);
}"""


def violations(page: Page | Frame, **options: Any) -> list[str]:
    """One line for each rule that the page breaks, with the places; `options` are those of axe.run."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(_AXE)
    found: list[str] = page.evaluate(_RUN, options)
    return found
