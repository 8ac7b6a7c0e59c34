"""The description of the API is complete, and the page that shows it runs under the strict policy."""

from __future__ import annotations

import io
from typing import Any

import pytest
import yaml
from django.core.management import call_command
from playwright.sync_api import sync_playwright
from rest_framework.test import APIClient

from hits.api.urls import urlpatterns
from tests.browser import launch_options


@pytest.fixture
def schema() -> dict[str, Any]:
    text = io.StringIO()
    call_command("spectacular", "--validate", "--fail-on-warn", stdout=text)
    return dict(yaml.safe_load(text.getvalue()))


def test_it_is_generated_without_a_warning_and_names_every_address(schema: dict[str, Any]) -> None:
    described = {name for path in schema["paths"].values() for name in path}
    assert described <= {"get", "post", "put", "patch", "delete"}
    assert len(schema["paths"]) == len(urlpatterns) - len({"schema", "docs", "nowhere"})


def test_money_is_text(schema: dict[str, Any]) -> None:
    total = schema["components"]["schemas"]["QuoteShape"]["properties"]["total"]
    assert (total["type"], total["format"]) == ("string", "decimal")


def test_every_operation_refuses_in_the_one_shape(schema: dict[str, Any]) -> None:
    for path in schema["paths"].values():
        for operation in path.values():
            for code, answer in operation["responses"].items():
                if int(code) >= 400:
                    assert answer["content"]["application/json"]["schema"] == {"$ref": "#/components/schemas/Error"}


def test_it_is_served_to_everybody(db: None) -> None:
    answer = APIClient().get("/api/schema/")
    assert answer.status_code == 200
    assert b"operationId: publish" in answer.content


def test_the_page_shows_in_a_browser_and_breaks_no_policy(live_server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # Playwright runs an event loop in this thread; the database is used by the server's threads.
    monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
    said: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(**launch_options())
        page = browser.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        answer = page.goto(f"{live_server.url}/api/docs/")
        assert answer is not None
        policy = answer.headers["content-security-policy"]
        # Of many operations only those in sight are in the page.
        page.locator(".opblock").first.get_by_role("button").first.click()
        page.get_by_role("button", name="Try it out").wait_for()
        browser.close()
    assert said == []
    assert "default-src 'self'" in policy and "unsafe" not in policy
