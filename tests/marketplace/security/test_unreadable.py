"""What no database can keep is refused before a view sees it."""

from typing import Any

import pytest
from django.test import Client

from tests import unreadable

pytestmark = pytest.mark.django_db


@unreadable.every_case
def test_a_request_that_no_view_can_use_is_refused(client: Client, case: Any) -> None:
    found = unreadable.answer(client, "/accounts/login/", case)
    assert found.status_code == 400 if case[3] else found.status_code not in (400, 500)
