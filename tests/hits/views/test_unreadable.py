"""What no database can keep is refused before a view sees it."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from tests import unreadable

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("address", ["/projects/", "/api/projects/"])
@unreadable.every_case
def test_a_request_that_no_view_can_use_is_refused(lead_client: Client, address: str, case: Any) -> None:
    found = unreadable.answer(lead_client, address, case)
    # A filter that the API does not know is refused by its name: so it was read.
    named = found.status_code == 400 and b'"code":"invalid"' in found.content
    assert found.status_code == 400 and not named if case[3] else named or found.status_code not in (400, 500)


def test_the_refusal_has_the_shape_of_pages_and_of_the_api(lead_client: Client) -> None:
    page, said = lead_client.get("/projects/a%00b/"), lead_client.get("/api/projects/a%00b/")
    assert "could not be read" in page.content.decode() and "Content-Security-Policy" in page.headers
    assert said.json()["error"]["code"] == "unreadable"


def test_a_file_of_the_site_with_such_a_name_is_not_there(lead_client: Client) -> None:
    lead_client.raise_request_exception = False
    assert lead_client.get("/static/shell/%00tokens.css").status_code in (400, 404)
