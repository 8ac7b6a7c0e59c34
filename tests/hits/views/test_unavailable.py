"""A statement that the database cancelled is a page, or an answer of the API, that says what to do."""

from __future__ import annotations

import psycopg2.errors
import pytest
from django.db import OperationalError
from django.test import Client

from hits.models import Project

pytestmark = pytest.mark.django_db


class Cancelled(psycopg2.errors.QueryCanceled):
    pgcode = "57014"


def _cancel(*given: object, **more: object) -> None:
    raise OperationalError("canceling statement due to statement timeout") from Cancelled()


def test_page_and_api_say_which_limit_was_reached(
    lead_client: Client, django_user_model: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    lead_client.force_login(django_user_model.objects.create_user("lead"))
    monkeypatch.setattr(Project.objects, "visible_to", _cancel)
    page, called = lead_client.get("/"), lead_client.get("/api/projects/")
    assert page.status_code == called.status_code == 503
    assert "more than 25 seconds" in page.content.decode() and "Nothing was changed" in page.content.decode()
    assert called.json()["error"]["code"] == "database_too_long" and called["Retry-After"] == page["Retry-After"]
