"""Adding a layout: what is wrong with the page is listed, and a corrected copy is a button away."""

from collections.abc import Callable

import pytest
from django.test import Client

from marketplace.models import Requester
from marketplace.rules.questions.layouts import check_layout
from tests.marketplace.rules.questions.test_correcting import LINES, text_of

NAMES = sorted(LINES)


@pytest.fixture
def address(requester: Requester) -> str:
    return f"/operator/requesters/{requester.customer_id}/layouts/new/"


def field(shown: str) -> str:
    """What stands in the field for the HTML."""
    return str(shown.split("<textarea", 1)[1].split("</textarea>", 1)[0])


@pytest.mark.parametrize("name", NAMES)
def test_an_old_template_is_corrected_and_added(
    desk: Client, requester: Requester, token_of: Callable[[str], str], address: str, name: str
) -> None:
    sent = {"name": "Old", "html": text_of(name).replace("\n", "\r\n"), "token": token_of(address)}
    refused = desk.post(address, sent)
    report = refused.context["report"]
    assert refused.status_code == 400 and [fault.line for fault in report.faults] == LINES[name]
    assert refused.content.decode().count('<td class="mono">') == 2 * len(LINES[name])
    corrected = desk.post(address, sent | {"correct": "1"})
    assert corrected.status_code == 200 and not requester.layouts.exists()
    html = corrected.context["form"]["html"].value()
    assert html == report.corrected and corrected.context["form"]["name"].value() == "Old"
    added = desk.post(address, {"name": "Old", "html": html, "token": corrected.context["form_token"]}, follow=True)
    assert added.status_code == 200
    layout = requester.layouts.get()
    assert layout.html == report.corrected and check_layout(layout.html) is not None


def test_a_page_that_is_too_large_is_told_what_takes_the_space(
    desk: Client, requester: Requester, token_of: Callable[[str], str], address: str
) -> None:
    html = f"<form><p>${{a}}</p><img alt='' src='data:image/png;base64,{'A' * 70_000}'></form>"
    answer = desk.post(address, {"name": "Big", "html": html, "token": token_of(address)})
    shown = answer.content.decode()
    assert answer.status_code == 400 and not requester.layouts.exists()
    assert f"It has {len(html):,} bytes; at most 65,535 are allowed." in shown
    assert "70,022" in shown and "pictures and other files inside the page" in shown
    assert "No corrected copy can be offered" in shown and 'name="correct"' not in shown
    assert desk.post(address, {"name": "Big", "html": html, "correct": "1"}).status_code == 400


def test_line_ends_of_a_browser_do_not_count_as_size(
    desk: Client, requester: Requester, token_of: Callable[[str], str], address: str
) -> None:
    html = "<form>" + "<p>x</p>\r\n" * 7_000 + "</form>"
    desk.post(address, {"name": "Lines", "html": html, "token": token_of(address)})
    assert requester.layouts.get().html == html.replace("\r\n", "\n")


def test_a_raw_layout_is_added_and_called_so(
    desk: Client, requester: Requester, token_of: Callable[[str], str], address: str
) -> None:
    sent = {"name": "Raw", "html": "<table>${rows}</table>", "raw": "on", "token": token_of(address)}
    shown = desk.post(address, sent, follow=True).content.decode()
    assert requester.layouts.get().raw
    assert "markup and entities count" in shown and "added around the page, with a Submit button" in shown
